// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Serves reports whether the operator reads and writes objects of a kind: it does unless --kinds leaves the kind out.
func (s Settings) Serves(kind schema.GroupVersionKind) bool {
	return kind.Group != v1alpha1.GroupName || kind.Kind == "AWSProvider" || s.Kinds.Serves(kind.Kind)
}

// Served returns the kinds of a list that Serves accepts.
func (s Settings) Served(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k schema.GroupVersionKind) bool { return !s.Serves(k) })
}

// MayApply refuses an object of a kind that --kinds leaves out: the error is a *status.Stalled.
func (s Settings) MayApply(kind schema.GroupVersionKind, name string) error {
	if s.Serves(kind) {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonKindNotServed,
		Message: kind.Kind + "/" + name + " cannot be managed, because --kinds of the operator leaves " +
			kind.Kind + " out: an administrator adds the kind to --kinds, or remove what needs it from the declaration"}
}
