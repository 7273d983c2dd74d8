package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// IntentIndex holds the names of the SecurityIntents of every capability.
const IntentIndex = "spec.security.intents.name"

func indexIntents(o client.Object) []string {
	c := o.(*nexusv1.NexusAICapability)
	if c.Spec.Security == nil {
		return nil
	}
	var out []string
	for _, i := range c.Spec.Security.Intents {
		out = append(out, i.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// boundTo maps a SecurityIntent to the capabilities that name it: what it asks for may close their way
// to AWS. What the engines make of it comes by way of the bindings.
func (r *Capability) boundTo(ctx context.Context, si client.Object) []reconcile.Request {
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

// closesEgress are those of the capability's SecurityIntents that close the way to AWS. One that does not
// exist closes nothing yet.
func (r *Capability) closesEgress(ctx context.Context, c *nexusv1.NexusAICapability) ([]string, error) {
	var out []string
	for _, name := range indexIntents(c) {
		si := &intentv1alpha1.SecurityIntent{}
		if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, si); client.IgnoreNotFound(err) != nil {
			return nil, err
		} else if err == nil && intent.ClosesEgressToAWS(si) {
			out = append(out, name)
		}
	}
	return out, nil
}

// policyHealth is that of a binding: it is fit for use once what it asks for is in force. A binding that
// is dealt with and not in force needs a person: an engine to be installed, or an intent to be changed.
func policyHealth(b *intentv1alpha1.SecurityIntentBinding) health {
	conds := b.Status.Conditions
	h := ofConditions(conds, b.Generation)
	if !h.ready {
		return h
	}
	c := meta.FindStatusCondition(conds, intentv1alpha1.ConditionEnforced)
	switch {
	case c == nil || c.ObservedGeneration != b.Generation:
		return health{reason: status.ReasonProgressing, message: "its enforcement is not known yet"}
	case c.Status == metav1.ConditionTrue:
		return h
	default:
		return health{reason: cmp.Or(c.Reason, status.ReasonNotEnforced), message: c.Message, stalled: !meta.IsStatusConditionTrue(conds, status.Reconciling)}
	}
}

// lost is how long after its time of grace a pod may still be there before it is taken for one of a node
// that is gone: nobody may ever say that it ended.
const lost = time.Minute

// shelter says whether bindings that are to go must stay a little longer, and tells why.
func (r *Capability) shelter(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, bindings []apply.Child) (bool, error) {
	pod, err := r.sheltered(ctx, c)
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

// sheltered names the first pod that still needs the capability's policies. A Deployment is gone before
// its pods: they go on answering and calling until their time of grace is over.
func (r *Capability) sheltered(ctx context.Context, c *nexusv1.NexusAICapability) (string, error) {
	pods := &corev1.PodList{}
	in := client.InNamespace(capability.NamesOf(c).WorkloadNamespace())
	if err := r.Client.List(ctx, pods, in, client.MatchingLabels{apply.LabelOwnerUID: string(c.UID)}); err != nil {
		return "", fmt.Errorf("looking for pods that are left: %w", err)
	}
	first := ""
	for i := range pods.Items {
		if p := &pods.Items[i]; (first == "" || p.Name < first) && alive(p, r.Clock.Now()) {
			first = p.Name // lists from a cache have no order, and a message must not flap
		}
	}
	return first, nil
}

func alive(p *corev1.Pod, now time.Time) bool {
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	return !ended && (p.DeletionTimestamp == nil || now.Before(p.DeletionTimestamp.Add(lost)))
}
