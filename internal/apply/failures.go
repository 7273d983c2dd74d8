package apply

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// explain turns an answer of the API server about a child into a kind of failure. Conflicts stay
// recognisable by apierrors.IsConflict.
func explain(ref Ref, doing string, err error) error {
	err = fmt.Errorf("%s %s: %w", doing, ref, err)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &status.Waiting{For: "namespace " + ref.Namespace + " to be gone: it is being deleted", After: retry}
	case meta.IsNoMatchError(err):
		return &status.Waiting{For: "kind " + ref.Kind.GroupKind().String() + " to be installed in the cluster", After: 6 * retry}
	case apierrors.IsNotFound(err) && ref.Namespace != "":
		return &status.Waiting{For: "namespace " + ref.Namespace + " to exist", After: retry}
	case apierrors.IsForbidden(err):
		return &status.Stalled{Reason: status.ReasonAccessDenied, Message: err.Error(), Cause: err}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return &status.Stalled{Reason: status.ReasonInvalidSpec, Message: err.Error(), Cause: err}
	case apierrors.IsTooManyRequests(err):
		return &status.Retrying{Reason: status.ReasonThrottled, Cause: err}
	default:
		return err
	}
}
