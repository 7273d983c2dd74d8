// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestProviderInDeletionRefusesCreatesOnly(t *testing.T) {
	going := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}
	steps := []kind.Step{{Action: "s3:CreateBucket"}}
	for _, c := range []struct {
		provider *v1alpha1.AWSProvider
		plan     engine.Plan
		refused  bool
	}{
		{going, engine.Plan{Cause: engine.New, Steps: steps}, true},
		{going, engine.Plan{Cause: engine.Deleting, Steps: steps}, false},
		{going, engine.Plan{Cause: engine.Drifted, Steps: steps}, false},
		{going, engine.Plan{Cause: engine.InSync}, false},
		{&v1alpha1.AWSProvider{}, engine.Plan{Cause: engine.New, Steps: steps}, false},
	} {
		if err := refuseCreate(c.provider, c.plan); (err != nil) != c.refused {
			t.Errorf("%s, provider in deletion %v: %v", c.plan.Cause, c.provider.DeletionTimestamp != nil, err)
		}
	}
}
