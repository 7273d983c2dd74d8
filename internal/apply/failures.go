// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// explain turns an answer of the API server about a child into a kind of failure. Conflicts stay
// recognizable by apierrors.IsConflict.
func explain(ref Ref, doing string, err error) error {
	err = fmt.Errorf("%s %s: %w", doing, ref, err)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &status.Waiting{For: "namespace " + ref.Namespace + " to be gone: it is being deleted", After: retry}
	case meta.IsNoMatchError(err):
		return kindMissing(ref)
	case apierrors.IsNotFound(err) && ref.Namespace != "":
		return &status.Waiting{For: "namespace " + ref.Namespace + " to exist", After: retry}
	case otherUID(err):
		return apierrors.NewConflict(schema.GroupResource{Group: ref.Kind.Group, Resource: ref.Kind.Kind}, ref.Name, err)
	case apierrors.IsForbidden(err):
		return &status.Stalled{Reason: status.ReasonAccessDenied, Message: err.Error(), Cause: err}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err), isUnappliable(err):
		return &status.Stalled{Reason: status.ReasonInvalidSpec, Message: err.Error(), Cause: err}
	case apierrors.IsTooManyRequests(err):
		return &status.Retrying{Reason: status.ReasonThrottled, Cause: err}
	}
	if r, ok := status.AsRetrying(err); ok { // a webhook of another controller
		return r
	}
	return err
}

// kindMissing waits for a kind to be installed, and says how where people are known to lack it.
func kindMissing(ref Ref) *status.Waiting {
	w := &status.Waiting{For: "kind " + ref.Kind.GroupKind().String() + " to be installed in the cluster", After: 6 * retry}
	switch ref.Kind.Group {
	case "gateway.networking.k8s.io":
		w.Reason = status.ReasonGatewayAPIMissing
		w.For += ": kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/latest/download/standard-install.yaml"
	case "gateway.k8s.aws":
		w.Reason = status.ReasonGatewayAPIMissing
		w.For += ": it belongs to the AWS Load Balancer Controller, from version 2.14, with its definitions for the Gateway API"
	}
	return w
}

// otherUID reports whether an apply hit another object than the one meant: the server takes the UID in an
// apply for an attempt to change it, except where the object is gone, which it calls a conflict.
func otherUID(err error) bool {
	cause, ok := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return apierrors.IsInvalid(err) && ok && cause.Field == "metadata.uid"
}

// isUnappliable reports whether a manifest does not fit its kind's schema: a wrong type, an unknown field, two
// elements of a list with one key. The server answers 500 and no reason.
// https://github.com/kubernetes/kubernetes/blob/v1.35.0/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/structuredmerge.go#L143
func isUnappliable(err error) bool {
	return strings.Contains(err.Error(), "failed to create typed patch object")
}
