// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// MaxNote bounds the note of an event, in bytes. The API server accepts 1024.
const MaxNote = 1000

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
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return status.ReasonInvalidSpec
	}
	return status.ReasonRetrying
}
