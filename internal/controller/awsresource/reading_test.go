// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// The operator's role of an earlier version may lack the right to read an object: the message must say so, and not that a
// call to AWS failed.
func TestExplain_KeepsWhatTheAPIServerSaid(t *testing.T) {
	vpcs := schema.GroupResource{Group: "aws-infra-operator.runner.codes", Resource: "vpcs"}
	refused := &engine.StepError{Action: "ec2:DeleteVpc", Err: apierrors.NewForbidden(vpcs, "network", errors.New("no right"))}
	if got := (&pass{}).Explain(refused, "ec2:DeleteVpc"); !apierrors.IsForbidden(got) || !strings.Contains(got.Error(), "no right") ||
		!strings.Contains(got.Error(), "ec2:DeleteVpc") {
		t.Errorf("%v", got)
	}
	changed := apierrors.NewConflict(vpcs, "network", errors.New("it changed"))
	if got := (&pass{}).Explain(changed, "ec2:DeleteVpc"); !apierrors.IsConflict(got) {
		t.Errorf("no conflict any more: %v", got)
	}
}
