// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationAbandon with the object's own UID as its value lets an object in deletion go without AWS:
// the way out where the account or its credentials are gone for good. The UID keeps a copied manifest
// from abandoning anything.
const AnnotationAbandon = wellknown.Prefix + "abandon"

// RequestedAt returns the value of an object's annotation for requests, cut to the length of a status field.
func RequestedAt(o client.Object) string {
	const most = 64
	return status.Truncate(o.GetAnnotations()[wellknown.AnnotationReconcileAt], most)
}

// AnnotationDeleteData lists, separated by commas, the names of stores whose data may be deleted with them. On a
// capability it lets an edit that drops these stores delete them; on a store's object, which names itself, it
// lets the deletion of that object go on.
const AnnotationDeleteData = wellknown.Prefix + "delete-data"

// MayDeleteData reports whether an object's annotation names a store.
func MayDeleteData(o client.Object, store string) bool {
	names := strings.Split(o.GetAnnotations()[AnnotationDeleteData], ",")
	return slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == store })
}

// Terminating reports whether a namespace is being deleted, and with it everything in it.
func Terminating(ctx context.Context, live client.Reader, namespace string) (bool, error) {
	ns := &corev1.Namespace{}
	err := live.Get(ctx, client.ObjectKey{Name: namespace}, ns)
	return ns.DeletionTimestamp != nil, err
}
