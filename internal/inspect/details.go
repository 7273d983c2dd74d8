// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxHappenings bounds the timeline of one object.
const maxHappenings = 50

// Details is one object with everything that a person asks of it.
type Details struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Object is the object without its children.
	Object *Node `json:"object"`
	// Conditions lists the conditions of the object, with the cause and the remedy of their reasons.
	Conditions []ExplainedCondition `json:"conditions"`
	// Drift lists where AWS differs from the declaration; nil for objects without drift.
	Drift *ObjectDrift `json:"drift,omitempty"`
	// Recovery says until when the deletion of a capability can be undone, and which objects are kept; nil for all other objects.
	Recovery *nexusv1.RecoveryStatus `json:"recovery,omitempty"`
	// Console is the address of the AWS resource in the AWS console.
	Console  string    `json:"console,omitempty"`
	Timeline *Timeline `json:"timeline"`
	// Manifest is the object as YAML, without managed fields.
	Manifest string `json:"manifest"`
}

// ExplainedCondition is a condition with the text of its error code.
type ExplainedCondition struct {
	metav1.Condition
	Code   string `json:"code,omitempty"`
	Cause  string `json:"cause,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// WithheldError says that an object is not shown, because it holds secret values.
type WithheldError struct{ Kind string }

// Error implements error.
func (e *WithheldError) Error() string {
	return "objects of kind " + e.Kind + " hold secret values and are not shown"
}

// Details reads one object. It refuses Secrets with a WithheldError.
func (r *Reader) Details(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey) (*Details, error) {
	if kind.Group == "" && kind.Kind == "Secret" {
		return nil, &WithheldError{Kind: kind.Kind}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	if err := r.Client.Get(ctx, key, u); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind.Kind, key, err)
	}
	obj, err := typed(r.Client.Scheme(), u)
	if err != nil {
		return nil, err
	}
	n, err := r.nodes().of(ctx, kind, obj)
	if err != nil {
		return nil, err
	}
	out := &Details{APIVersion: APIVersion, Kind: "Details", Object: n, Conditions: explainedConditions(u), Console: ConsoleURL(n.ARN)}
	if c, ok := obj.(*nexusv1.NexusAICapability); ok {
		out.Recovery = c.Status.Recovery
	}
	if res, ok := obj.(v1alpha1.Resource); ok {
		if d := driftOf(kind.Kind, res); len(d.Fields) > 0 || d.Message != "" {
			out.Drift = &d
		}
	}
	if out.Timeline, err = r.ObjectTimeline(ctx, u, maxHappenings); err != nil {
		return nil, err
	}
	out.Manifest, err = manifestOf(u)
	return out, err
}

// explainedConditions are the conditions of an object in the usual order.
func explainedConditions(u *unstructured.Unstructured) []ExplainedCondition {
	out := []ExplainedCondition{}
	for _, c := range Statuses([]*unstructured.Unstructured{u}).Objects[0].Conditions {
		e := ExplainedCondition{Condition: c}
		if _, id := status.SplitCode(c.Message); id != "" {
			e.Code = id
		} else if isEvidence(c) {
			e.Code = status.CodeOf(c.Reason)
		}
		if code, known := status.LookupCode(e.Code); known {
			e.Cause, e.Remedy = code.Cause, code.Remedy
		}
		out = append(out, e)
	}
	return out
}

// manifestOf is an object as YAML. The last applied configuration repeats the object, and managed fields are for machines.
func manifestOf(u *unstructured.Unstructured) (string, error) {
	u = u.DeepCopy()
	u.SetManagedFields(nil)
	if a := u.GetAnnotations(); a != nil {
		delete(a, "kubectl.kubernetes.io/last-applied-configuration")
		u.SetAnnotations(a)
	}
	b, err := yaml.Marshal(u.Object)
	return string(b), err
}
