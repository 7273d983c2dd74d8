// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestAStrangersObjectMakesNoCallsThroughACapability(t *testing.T) {
	owned := func(uid types.UID) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", OwnerReferences: []metav1.OwnerReference{{Kind: "NexusAICapability", UID: uid, Controller: ptr.To(true)}}}
	}
	for name, c := range map[string]struct {
		allowed []string
		of      metav1.ObjectMeta
		refused bool
	}{
		"a person's":           {nil, metav1.ObjectMeta{Namespace: "ns"}, true},
		"another capability's": {nil, owned("b"), true},
		"the capability's":     {nil, owned("a"), false},
		"allowed to everybody": {[]string{"ns"}, metav1.ObjectMeta{Namespace: "ns"}, false},
	} {
		a := accounts{reservation: awssession.Guards{AmbientNamespaces: c.allowed}.Reservation}
		opened := false
		a.open = func(context.Context, string, string) (*awsclient.Session, error) {
			opened = true
			return &awsclient.Session{}, nil
		}
		_, _, err := a.session(t.Context(), &v1alpha1.AWSProvider{ObjectMeta: owned("a")}, &v1alpha1.S3Bucket{ObjectMeta: c.of}, false)
		if s, stalled := status.AsStalled(err); stalled != c.refused || opened == c.refused || stalled && s.Reason != status.ReasonNotPermitted {
			t.Errorf("%s: %v, AWS was opened: %v", name, err, opened)
		}
	}
}
