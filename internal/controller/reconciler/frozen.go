// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// IsPaused reports whether the annotation nexus.ai/paused freezes the object.
func IsPaused(obj client.Object) bool {
	return obj.GetAnnotations()[wellknown.AnnotationPaused] == "true"
}

// CapabilityOf returns the capability that controls an object, nil when none does.
func (e Environment) CapabilityOf(ctx context.Context, obj client.Object) (*nexusv1.NexusAICapability, error) {
	owner := metav1.GetControllerOf(obj)
	if owner == nil || owner.Kind != "NexusAICapability" {
		return nil, nil
	}
	c := &nexusv1.NexusAICapability{}
	if err := e.Client.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: owner.Name}, c); err != nil || c.UID != owner.UID {
		return nil, client.IgnoreNotFound(err)
	}
	return c, nil
}

// Frozen reports whether the capability that made the object freezes it: the object then stays as it is, in AWS and
// in Kubernetes, until the capability resumes.
func (e Environment) Frozen(ctx context.Context, obj client.Object) (bool, error) {
	c, err := e.CapabilityOf(ctx, obj)
	return c != nil && Freezes(c), err
}

// Freezes reports whether nothing that the capability made is written. spec.suspend ends with the capability's
// deletion; the annotation nexus.ai/paused holds the deletion too.
func Freezes(c *nexusv1.NexusAICapability) bool {
	return IsPaused(c) || c.Spec.Suspend && c.DeletionTimestamp == nil
}

// Resumed passes the events that end the freezing of a capability's objects.
type Resumed struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (Resumed) Create(event.CreateEvent) bool { return false }

// Update implements predicate.Predicate.
func (Resumed) Update(e event.UpdateEvent) bool {
	was, okWas := e.ObjectOld.(*nexusv1.NexusAICapability)
	is, okIs := e.ObjectNew.(*nexusv1.NexusAICapability)
	return okWas && okIs && Freezes(was) && !Freezes(is)
}

// Delete implements predicate.Predicate.
func (Resumed) Delete(e event.DeleteEvent) bool { return true }
