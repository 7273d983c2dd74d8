// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// draft is one plan in the making. It leads each object to the part of the planner that knows its kind.
type draft struct {
	kinds        entries
	operator     Operator
	ahead        ahead
	gate         gate
	resources    *resources
	bindings     *bindings
	capabilities *capabilities
}

// plan adds the operator's actions for each object to the items.
func (d *draft) plan(ctx context.Context, items []Item, after []*unstructured.Unstructured) ([]Item, error) {
	var out []Item
	for i := range items {
		if after[i] == nil {
			out = append(out, items[i])
			continue
		}
		follow, err := d.consequences(ctx, &items[i], after[i])
		if err != nil {
			return nil, err
		}
		items[i].tellWhatStays()
		out = append(append(out, items[i]), follow...)
	}
	return out, nil
}

// tellWhatStays adds a note if a manifest drops fields and AWS keeps their values.
func (it *Item) tellWhatStays() {
	if it.Action != Update || it.AWS == nil || it.AWS.Action != None || it.AWS.Reason != "" {
		return
	}
	for _, f := range it.Fields {
		if f.Want == "" && strings.HasPrefix(f.Path, "spec.") {
			it.AWS.Reason = "AWS keeps the values of fields that are no longer declared: they are not managed any more"
		}
	}
}

// consequences completes the item of an object, and returns the items of the objects that the operator makes for it.
func (d *draft) consequences(ctx context.Context, it *Item, u *unstructured.Unstructured) ([]Item, error) {
	if reason := frozen(u); reason != "" {
		it.Waits = reason
		return nil, nil
	}
	switch gvk := u.GroupVersionKind(); {
	case gvk.Group == nexusv1.GroupVersion.Group && gvk.Kind == "NexusAICapability":
		c := &nexusv1.NexusAICapability{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c); err != nil {
			return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
		}
		if err := d.gate.awaitApproval(ctx, it, c); err != nil {
			return nil, err
		}
		return d.capabilities.plan(ctx, it, c)
	case !d.operator.Serves(gvk): // an operator that plans has no entry of such a kind
		return nil, problemOf(it, d.operator.MayApply(gvk, u.GetName()))
	case gvk.Group == v1alpha1.GroupName && d.kinds.entry(gvk.Kind) != nil:
		return nil, d.resources.plan(ctx, it, u, false)
	case gvk.Group == intentv1alpha1.GroupName:
		return d.bindings.intention(ctx, it, u)
	default:
		return nil, nil
	}
}

// frozen returns why the operator leaves an object alone.
func frozen(u *unstructured.Unstructured) string {
	switch {
	case isPaused(u):
		return "annotation " + wellknown.AnnotationPaused + " to be removed: it freezes the object"
	case u.GetDeletionTimestamp() != nil:
		return "the object to be gone: it is being deleted"
	default:
		return ""
	}
}

// isPaused reports whether an annotation freezes an object. It freezes none of the security intents.
func isPaused(u *unstructured.Unstructured) bool {
	return u.GetAnnotations()[wellknown.AnnotationPaused] == "true" && u.GroupVersionKind().Group != intentv1alpha1.GroupName
}

// entries are the kinds of AWS objects that the operator has.
type entries []engine.Entry

// entry returns the kind of a name; nil for one that the operator does not have.
func (es entries) entry(kind string) engine.Entry {
	for _, e := range es {
		if e.Name() == kind {
			return e
		}
	}
	return nil
}

func itemOf(u *unstructured.Unstructured, a Action) Item {
	return Item{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Action: a}
}

// problemOf puts a failure that a person must resolve, or the condition that the object waits for, into the item. It returns errors of
// other kinds.
func problemOf(it *Item, err error) error {
	if _, ok := errors.AsType[*AccessError](err); ok {
		return err
	}
	if s, ok := status.AsStalled(err); ok {
		if it.Problem != nil { // the first one comes before it
			return nil
		}
		it.Problem = &Problem{Reason: s.Reason, Code: status.CodeOf(s.Reason), Field: s.Field, Message: s.Message}
		return nil
	}
	if w, ok := status.AsWaiting(err); ok {
		it.Waits = w.For
		return nil
	}
	return err
}

// toTyped reads an object through the Go type of its kind.
func toTyped(e engine.Entry, u *unstructured.Unstructured) (v1alpha1.Resource, error) {
	obj := e.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	return obj, nil
}

// plannedDeletion marks an object as one that is being deleted; no decision depends on the time.
func plannedDeletion() *metav1.Time { return &metav1.Time{Time: metav1.Unix(1, 0).Time} }
