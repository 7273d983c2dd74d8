// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// orphanPolicies takes back the claims in the statuses of policies that outlived their binding, which was deleted with --cascade=orphan:
// their objects are not kept as written any more. The objects stay, as the user asked for.
func (r *Reconciler) orphanPolicies(ctx context.Context, binding reconcile.Request) error {
	kind := "SecurityIntentBinding/" + binding.Namespace + "/"
	if binding.Namespace == "" {
		kind = "ClusterSecurityIntentBinding/"
	}
	list, over := &v1alpha1.NimbusPolicyList{}, &v1alpha1.ClusterNimbusPolicyList{}
	if err := r.kinds.derived.List(ctx, list, client.InNamespace(binding.Namespace)); err != nil {
		return err
	}
	if err := r.kinds.derived.List(ctx, over); err != nil {
		return err
	}
	var orphans []client.Object
	for i := range list.Items {
		orphans = append(orphans, &list.Items[i])
	}
	for i := range over.Items {
		orphans = append(orphans, &over.Items[i])
	}
	for _, o := range orphans {
		if o.GetAnnotations()[apply.AnnotationOwner] != kind+binding.Name || metav1.GetControllerOf(o) != nil || o.GetDeletionTimestamp() != nil {
			continue
		}
		if err := r.takeBack(ctx, o, kind+binding.Name); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// takeBack writes into a policy's status that its claims hold no more.
func (r *Reconciler) takeBack(ctx context.Context, o client.Object, owner string) error {
	was := o.DeepCopyObject().(client.Object)
	s := CommonOf(o)
	message := fmt.Sprintf("%s is gone and left this policy behind: nothing keeps its objects as written; delete it, or make the binding again", owner)
	s.Coverage = nil
	for _, c := range s.Conditions {
		if c.Type != status.Stall && c.Type != status.Reconciling {
			status.Set(&s.Conditions, o.GetGeneration(), r.Clock.Now(), metav1.Condition{Type: c.Type, Status: metav1.ConditionFalse, Reason: status.ReasonAbandoned, Message: message})
		}
	}
	if meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionEnforced) == nil {
		return nil
	}
	return r.patchStatus(ctx, o, was)
}
