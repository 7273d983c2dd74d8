// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/engine"
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

// AnnotationDeleteData is that of wellknown.
const AnnotationDeleteData = wellknown.AnnotationDeleteData

// MayDeleteData reports whether an object's annotation names a store.
func MayDeleteData(o client.Object, store string) bool {
	return engine.MayDeleteData(o, store)
}

// Terminating reports whether a namespace is being deleted, and with it everything in it.
func Terminating(ctx context.Context, live client.Reader, namespace string) (bool, error) {
	ns := &corev1.Namespace{}
	err := live.Get(ctx, client.ObjectKey{Name: namespace}, ns)
	return ns.DeletionTimestamp != nil, err
}
