// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
)

// IntentIndex holds the names of the SecurityIntents of every capability.
const IntentIndex = "spec.security.intents.name"

func indexIntents(o client.Object) []string {
	return capabilityfacts.IntentsOf(o.(*nexusv1.NexusAICapability))
}

// boundTo maps a SecurityIntent to the capabilities that name it: it may close their way to AWS. The results of the engines arrive by way
// of the bindings.
func (r *Reconciler) boundTo(ctx context.Context, si client.Object) []reconcile.Request {
	list := &nexusv1.NexusAICapabilityList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{IntentIndex: si.GetName()}); err != nil {
		return nil // a change of the binding's status wakes them all the same
	}
	out := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		out[i] = reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}
	}
	return out
}

// lost is the time after the grace period of a pod. If the pod still exists then, it counts as a pod of a node that is gone: its end may
// never be reported.
const lost = time.Minute

// keepBindingsWhilePodsRemain reports whether bindings that are to go must stay a little longer, and tells why.
func (r *Reconciler) keepBindingsWhilePodsRemain(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, bindings []apply.Child) (bool, error) {
	pod, err := r.podsThatRemain(ctx, c)
	if pod == "" || err != nil {
		return false, err
	}
	for _, b := range bindings {
		id := childID(c, b.Ref)
		s := o.States[id]
		s.Message = "it stays until pod " + pod + " has ended"
		o.States[id] = s
	}
	return true, nil
}

// podsThatRemain names the first pod that still needs the capability's policies. A Deployment is gone before
// its pods: they go on answering and calling until their time of grace is over.
func (r *Reconciler) podsThatRemain(ctx context.Context, c *nexusv1.NexusAICapability) (string, error) {
	pods := &corev1.PodList{}
	in := client.InNamespace(capability.NamesOf(c).WorkloadNamespace())
	if err := r.Client.List(ctx, pods, in, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}); err != nil {
		return "", fmt.Errorf("looking for pods that are left: %w", err)
	}
	first := ""
	for i := range pods.Items {
		if p := &pods.Items[i]; (first == "" || p.Name < first) && isRunning(p, r.Clock.Now()) {
			first = p.Name // lists from a cache have no order, and a message must not flap
		}
	}
	return first, nil
}

func isRunning(p *corev1.Pod, now time.Time) bool {
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	return !ended && (p.DeletionTimestamp == nil || now.Before(p.DeletionTimestamp.Add(lost)))
}
