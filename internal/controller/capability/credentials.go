// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// refusal is why a pod was not evicted; a disruption budget may allow it later.
type refusal struct{ forbidden, budget string }

// forgetEvictions drops the memory about the pods of a capability when no pod of it lacks credentials.
func (m *memories) forgetEvictions(c *nexusv1.NexusAICapability) {
	m.use(c, func(of *memory) { of.refused, of.evicted = refusal{}, nil })
}

// markEvicted notes that a pod of a capability was evicted, by its UID: the cache may show it unchanged for a while.
func (m *memories) markEvicted(c *nexusv1.NexusAICapability, uid string) {
	m.use(c, func(of *memory) { of.evicted = append(of.evicted, uid) })
}

func (m *memories) isEvicted(c *nexusv1.NexusAICapability, uid string) (is bool) {
	m.use(c, func(of *memory) { is = slices.Contains(of.evicted, uid) })
	return is
}

// lastRefusal returns why the pass before could not evict a pod.
func (m *memories) lastRefusal(c *nexusv1.NexusAICapability) (why refusal) {
	m.use(c, func(of *memory) { why = of.refused })
	return why
}

// planReplacements chooses the pods of a capability that started without credentials and are to be evicted once the status has their
// records: an operator that ends in between finds them there, and counts none twice.
func (p pods) planReplacements(ctx context.Context, c *nexusv1.NexusAICapability, o *capability.Observed) error {
	of, err := p.credentialsOf(ctx, c, *o)
	if err != nil {
		return err
	}
	lacking := false
	for _, d := range of {
		lacking = lacking || len(d.Lack) > 0
	}
	if !lacking {
		p.memories.forgetEvictions(c)
		return nil
	}
	if o.Healing.Injects, err = p.injects(ctx, o.Facts, of); err != nil || !o.Healing.Injects {
		return err
	}
	chosen, records, bounded := capability.PodsToReplace(c.Status.ReplacedPods, of, p.clock.Now())
	o.Evict = chosen
	if len(chosen) > 0 {
		c.Status.ReplacedPods = records
	}
	switch refused := p.memories.lastRefusal(c); {
	case len(chosen) > 0:
		o.Healing.Held, o.Healing.Waits = refused.forbidden, refused.budget
	case bounded:
		o.Healing.Held = capability.ReplacementsExhausted
	}
	return nil
}

// credentialsOf sorts the pods of the Deployments that are rolled out and have pods without credentials, by the name of the Deployment.
func (p pods) credentialsOf(
	ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed,
) (map[string]capability.CredentialPods, error) {
	out := map[string]capability.CredentialPods{}
	for _, n := range o.Graph.Nodes() {
		if n.Object.GetKind() != "Deployment" || !o.States[n.ID].Applied {
			continue
		}
		d := &appsv1.Deployment{}
		err := p.client.Get(ctx, client.ObjectKeyFromObject(n.Object), d)
		if apierrors.IsNotFound(err) || err == nil && (d.Labels[wellknown.LabelCapabilityUID] != string(c.UID) || d.Spec.Selector == nil) {
			continue
		}
		if err != nil {
			return nil, err
		}
		pods := &corev1.PodList{}
		if err := p.client.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
			return nil, err
		}
		out[d.Name] = capability.CredentialPods(health.CredentialsOf(d, pods.Items))
	}
	return out, nil
}

// injects reports whether the cluster is known to give pods credentials: EKS does by associations, and any pod that got some, of any
// capability or of the operator, proves that there is a webhook. Elsewhere another pod would start without credentials as well.
func (p pods) injects(ctx context.Context, f capability.Facts, of map[string]capability.CredentialPods) (bool, error) {
	if f.Identity.Associated || p.injecting {
		return true, nil
	}
	for _, d := range of {
		if slices.ContainsFunc(d.Have, health.WasInjected) {
			return true, nil
		}
	}
	pods := &corev1.PodList{}
	if err := p.client.List(ctx, pods, client.HasLabels{wellknown.LabelCapabilityUID}, client.UnsafeDisableDeepCopy); err != nil {
		return false, err
	}
	return slices.ContainsFunc(pods.Items, health.WasInjected), nil
}

// evict evicts pods by their UIDs, each once, as far as their PodDisruptionBudgets allow.
func (p pods) evict(ctx context.Context, c *nexusv1.NexusAICapability, chosen []nexusv1.ReplacedPod) error {
	refused := refusal{}
	for _, r := range chosen {
		if p.memories.isEvicted(c, r.UID) {
			continue
		}
		namespace := capability.NamesOf(c).WorkloadNamespace()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: r.Name, UID: types.UID(r.UID)}}
		err := p.client.SubResource("eviction").Create(ctx, pod, evictionOf(c, r))
		switch {
		case err == nil:
			p.memories.markEvicted(c, r.UID)
			p.events.RelatedTo(pod).Normal(c, status.ReasonPodReplaced, "Evict",
				fmt.Sprintf("pod %s of Deployment %s started without AWS credentials and is replaced", r.Name, r.Deployment))
		case apierrors.IsNotFound(err), apierrors.IsConflict(err): // it is gone, or another pod has its name
		case apierrors.IsTooManyRequests(err):
			refused.budget = "a PodDisruptionBudget does not allow to evict pod " + r.Name + " yet; where it never will, delete the pod"
		case apierrors.IsForbidden(err):
			refused.forbidden = "the operator may not evict pods: grant it create of pods/eviction (config/rbac/role.yaml), or delete pod " +
				r.Name + ": " + err.Error()
		default:
			return fmt.Errorf("evicting pod %s: %w", r.Name, err)
		}
	}
	p.memories.use(c, func(of *memory) { of.refused = refused })
	return nil
}

// evictionOf carries the marks of the capability. The admission policy recognizes by them the objects that the operator may write.
func evictionOf(c *nexusv1.NexusAICapability, p nexusv1.ReplacedPod) *policyv1.Eviction {
	return &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: capability.NamesOf(c).WorkloadNamespace(), Name: p.Name, Labels: map[string]string{wellknown.LabelCapabilityUID: string(c.UID)},
			Annotations: map[string]string{apply.AnnotationOwner: c.Namespace + "/" + c.Name},
		},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(types.UID(p.UID))}},
	}
}
