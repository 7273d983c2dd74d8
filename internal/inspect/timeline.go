// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Timeline lists the events and writes of objects, the newest first.
type Timeline struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Items      []Happening `json:"items"`
	// Unread names the sources that could not be read, because the caller lacks the right.
	Unread []string `json:"unread,omitempty"`
}

// The sources of a Happening.
const (
	// FromEvent is an event of the operator.
	FromEvent = "Event"
	// FromFields is the last write of a field manager to an object.
	FromFields = "Write"
	// FromHistory is a change of phase of a capability.
	FromHistory = "Phase"
)

// Happening is one thing that happened to an object.
type Happening struct {
	Time metav1.Time `json:"time"`
	// Source is Event, Write or Phase.
	Source string `json:"source"`
	// Object is Kind/name, and Namespace its namespace.
	Object    string `json:"object"`
	Namespace string `json:"namespace,omitempty"`
	// Who names the component that reported the event, or the field manager that wrote.
	Who string `json:"who"`
	// Reason is that of the event or of the phase, or the operation of a write.
	Reason string `json:"reason"`
	// Message describes the event, and its reason.
	Message string `json:"message,omitempty"`
	// Warning is true for a Warning event.
	Warning bool `json:"warning,omitempty"`
	// AWS is true when the operator wrote to AWS.
	AWS bool `json:"aws,omitempty"`
	// Count is the number of times that the event occurred.
	Count int32 `json:"count,omitempty"`
}

// awsWrites are the reasons of events about writes to AWS.
var awsWrites = []string{status.ReasonCreated, status.ReasonUpdated, status.ReasonDriftCorrected, status.ReasonDeleted,
	status.ReasonAdopted}

// OperatorTimeline returns the actions of the operator in a namespace, or in all when it is empty: its events, and the last writes to its
// objects.
func (r *Reader) OperatorTimeline(ctx context.Context, namespace string, limit int) (*Timeline, error) {
	out := newTimeline()
	if err := out.addEvents(ctx, r.Client, namespace, "reportingComponent="+reporter); err != nil {
		return nil, err
	}
	for _, k := range r.OwnKinds() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(k)
		err := r.Client.List(ctx, list, client.InNamespace(namespace))
		switch {
		case apierrors.IsForbidden(err), isAbsent(err):
			out.Unread = append(out.Unread, k.Kind)
			continue
		case err != nil:
			return nil, fmt.Errorf("listing %s objects: %w", k.Kind, err)
		}
		for i := range list.Items {
			out.addObject(&list.Items[i])
		}
	}
	return out.sorted(limit), nil
}

// ObjectTimeline returns the history of one object, by events of any component and by its managed fields.
func (r *Reader) ObjectTimeline(ctx context.Context, u *unstructured.Unstructured, limit int) (*Timeline, error) {
	out := newTimeline()
	selector := fields.Set{"involvedObject.kind": u.GetKind(), "involvedObject.name": u.GetName()}.AsSelector().String()
	if err := out.addEvents(ctx, r.Client, u.GetNamespace(), selector); err != nil {
		return nil, err
	}
	out.addObject(u)
	return out.sorted(limit), nil
}

func newTimeline() *Timeline {
	return &Timeline{APIVersion: APIVersion, Kind: "Timeline", Items: []Happening{}}
}

// addEvents adds the events that a field selector matches. Without the right to list events, it notes that.
func (t *Timeline) addEvents(ctx context.Context, c client.Reader, namespace, selector string) error {
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return err
	}
	list := &corev1.EventList{}
	err = c.List(ctx, list, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: parsed})
	if apierrors.IsForbidden(err) {
		t.Unread = append(t.Unread, "Event")
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing events: %w", err)
	}
	for _, e := range list.Items {
		t.Items = append(t.Items, happeningOf(e))
	}
	return nil
}

func happeningOf(e corev1.Event) Happening {
	read := eventOf(e)
	who := cmp.Or(e.ReportingController, e.Source.Component)
	return Happening{Time: read.Last, Source: FromEvent, Object: read.Object, Namespace: read.Namespace, Who: who, Reason: read.Reason,
		Message: read.Message,
		Warning: e.Type == corev1.EventTypeWarning, AWS: who == reporter && e.Type != corev1.EventTypeWarning &&
			slices.Contains(awsWrites, e.Reason), Count: read.Count}
}

// addObject adds the writes that the managed fields of an object record, and its history of phases.
func (t *Timeline) addObject(u *unstructured.Unstructured) {
	object := u.GetKind() + "/" + u.GetName()
	for _, f := range u.GetManagedFields() {
		if f.Time == nil {
			continue
		}
		t.Items = append(t.Items,
			Happening{Time: *f.Time, Source: FromFields, Object: object, Namespace: u.GetNamespace(), Who: f.Manager, Reason: string(f.Operation),
				Message: writtenBy(f)})
	}
	history, _, _ := unstructured.NestedSlice(u.Object, "status", "history")
	for _, h := range history {
		entry, ok := h.(map[string]any)
		if !ok {
			continue
		}
		phase, _, _ := unstructured.NestedString(entry, "phase")
		reason, _, _ := unstructured.NestedString(entry, "reason")
		text, _, _ := unstructured.NestedString(entry, "time")
		var at metav1.Time
		if at.UnmarshalQueryParameter(text) == nil {
			t.Items = append(t.Items,
				Happening{Time: at, Source: FromHistory, Object: object, Namespace: u.GetNamespace(), Who: reporter, Reason: phase, Message: reason})
		}
	}
}

// writtenBy says which part of an object a field manager wrote last.
func writtenBy(f metav1.ManagedFieldsEntry) string {
	if f.Subresource != "" {
		return "wrote the " + f.Subresource
	}
	var parts []string
	if f.FieldsV1 != nil {
		for _, part := range []string{"metadata", "spec", "data"} {
			if strings.Contains(f.FieldsV1.GetRawString(), `"f:`+part+`":`) {
				parts = append(parts, part)
			}
		}
	}
	if len(parts) == 0 {
		return "wrote the object"
	}
	return "wrote " + strings.Join(parts, " and ")
}

// sorted orders the newest first, and drops entries beyond the limit.
func (t *Timeline) sorted(limit int) *Timeline {
	slices.SortStableFunc(t.Items, func(a, b Happening) int {
		return cmp.Or(b.Time.Compare(a.Time.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Object, b.Object))
	})
	t.Items = t.Items[:min(limit, len(t.Items))]
	return t
}
