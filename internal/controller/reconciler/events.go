// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxNote bounds the note of an event, in bytes. The API server accepts 1024.
const maxNote = 1000

// Events records events with notes that the API server accepts.
type Events struct {
	Recorder events.EventRecorder

	related runtime.Object
}

// RelatedTo returns Events that name a second object. Events about one object with one reason are counted as one unless the second object
// distinguishes them.
func (e Events) RelatedTo(o runtime.Object) Events {
	e.related = o
	return e
}

// Normal records that the operator did something to an object.
func (e Events) Normal(about runtime.Object, reason, action, note string) {
	e.Recorder.Eventf(about, e.related, corev1.EventTypeNormal, reason, action, "%s", status.Truncate(note, maxNote))
}

// Warning records a failure, or a state that needs a person. The note ends with the stable code of the reason, as the message
// of a condition does.
func (e Events) Warning(about runtime.Object, reason, action, note string) {
	e.Recorder.Eventf(about, e.related, corev1.EventTypeWarning, reason, action, "%s", status.WithCode(reason, note, maxNote))
}

// StalledFor reports whether an object is Stalled for this reason already.
func StalledFor(conds []metav1.Condition, reason string) bool {
	for _, c := range conds {
		if c.Type == status.Stall && c.Status == metav1.ConditionTrue && c.Reason == reason {
			return true
		}
	}
	return false
}

// ReasonOf returns the reason that a condition gives for a failure.
func ReasonOf(err error) string {
	if s, ok := status.AsStalled(err); ok {
		return s.Reason
	}
	if w, ok := status.AsWaiting(err); ok && w.Reason != "" {
		return w.Reason
	}
	if r, ok := status.AsRetrying(err); ok && r.Reason == status.ReasonWebhookFailing {
		return r.Reason
	}
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return status.ReasonInvalidSpec
	}
	return status.ReasonRetrying
}
