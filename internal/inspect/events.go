// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// reporter is the component that reports the operator's events.
const reporter = wellknown.OperatorName

// Event is a Warning event.
type Event struct {
	// Namespace and Object name the object of the event; Object is Kind/name.
	Namespace string      `json:"namespace,omitempty"`
	Object    string      `json:"object"`
	Reason    string      `json:"reason"`
	Message   string      `json:"message"`
	Count     int32       `json:"count"`
	Last      metav1.Time `json:"last"`
}

// warnings returns the Warning events of a namespace, or of all when it is empty, that a field selector matches.
func warnings(ctx context.Context, c client.Reader, namespace, selector string) ([]Event, error) {
	selector = strings.TrimSuffix("type=Warning,"+selector, ",")
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return nil, err
	}
	list := &corev1.EventList{}
	if err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: parsed}); err != nil {
		return nil, fmt.Errorf("listing events: %w", err)
	}
	var out []Event
	for _, e := range list.Items {
		out = append(out, eventOf(e))
	}
	return out, nil
}

// warningsAbout returns the Warning events about one object, the newest first.
func warningsAbout(ctx context.Context, c client.Reader, n *Node) ([]Event, error) {
	selector := fields.Set{"involvedObject.kind": n.Kind, "involvedObject.name": n.Name}.AsSelector().String()
	out, err := warnings(ctx, c, n.Namespace, selector)
	return newest(out, maxWarnings), err
}

// eventOf reads an event of either API. Their recorders fill different fields.
func eventOf(e corev1.Event) Event {
	out := Event{Namespace: e.InvolvedObject.Namespace, Object: e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name, Reason: e.Reason,
		Message: e.Message,
		Count:   max(e.Count, 1), Last: e.LastTimestamp}
	if e.Series != nil {
		out.Count, out.Last = e.Series.Count, metav1.Time{Time: e.Series.LastObservedTime.Time}
	}
	if out.Last.IsZero() {
		out.Last = metav1.Time{Time: e.EventTime.Time}
	}
	if out.Last.IsZero() {
		out.Last = e.CreationTimestamp
	}
	return out
}

// newest returns at most n events, the newest first.
func newest(events []Event, n int) []Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return b.Last.Compare(a.Last.Time) })
	return events[:min(n, len(events))]
}
