// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// Resource holds the status of an AWS resource of any type, as its object reports it.
type Resource struct {
	// Type is its resource type, such as AWS::Kinesis::Stream.
	Type string `json:"type"`
	// Identifier is its primary identifier, and ARN its ARN; empty while they are not known, or where it has none.
	Identifier string `json:"identifier,omitempty"`
	ARN        string `json:"arn,omitempty"`
	// Request is the request that AWS carries out; nil for none.
	Request *v1alpha1.AWSResourceRequest `json:"request,omitempty"`
	// Drift lists the differences between AWS and the spec, and Ignored the properties that the object leaves alone.
	Drift   []v1alpha1.DriftEntry `json:"drift,omitempty"`
	Ignored []string              `json:"ignored,omitempty"`
	// Deprecated says which declared properties AWS deprecates; empty for none.
	Deprecated string `json:"deprecated,omitempty"`
}

// resourceOf returns an object's report on its resource of any type; nil for an object of another kind.
func resourceOf(o client.Object) *Resource {
	r, ok := o.(*v1alpha1.AWSResource)
	if !ok {
		return nil
	}
	st := r.Status
	return &Resource{Type: r.Spec.TypeName, Identifier: st.Identifier, ARN: st.ARN, Request: st.Request, Drift: st.Drift,
		Ignored: r.Spec.Ignore, Deprecated: deprecatedIn(st.Conditions)}
}

func deprecatedIn(conditions []metav1.Condition) string {
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionPropertiesCurrent); c != nil && c.Status == metav1.ConditionFalse {
		return c.Message
	}
	return ""
}
