// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
)

// ProviderIndex holds the name of every capability's provider, referred to or generated.
const ProviderIndex = "providerName"

func indexProvider(o client.Object) []string {
	return []string{capability.ProviderName(o.(*nexusv1.NexusAICapability))}
}

// IntentIndex holds the names of the SecurityIntents of every capability.
const IntentIndex = "spec.security.intents.name"

func indexIntents(o client.Object) []string {
	return capabilityfacts.IntentsOf(o.(*nexusv1.NexusAICapability))
}

// directory finds the capabilities that a change of another object concerns, in the cache.
type directory struct{ client client.Reader }

// namesakes lists the capabilities with resources that would have the names of one.
func (d directory) namesakes(ctx context.Context, c *nexusv1.NexusAICapability) ([]nexusv1.NexusAICapability, error) {
	list := &nexusv1.NexusAICapabilityList{}
	err := d.client.List(ctx, list, client.MatchingFields{reconciler.NameIndex: reconciler.IndexName(c)[0]})
	return list.Items, err
}

// usersOf maps a provider to the capabilities that use it.
func (d directory) usersOf(ctx context.Context, p client.Object) []reconcile.Request {
	return d.of(ctx, client.InNamespace(p.GetNamespace()), client.MatchingFields{ProviderIndex: p.GetName()})
}

func (d directory) rivals(ctx context.Context, o client.Object) []reconcile.Request {
	all := d.of(ctx, client.MatchingFields{reconciler.NameIndex: reconciler.IndexName(o)[0]})
	return slices.DeleteFunc(all, func(req reconcile.Request) bool { return req.NamespacedName == client.ObjectKeyFromObject(o) })
}

// hostedIn maps a hosted zone to the capabilities that wait for its ID.
func (d directory) hostedIn(ctx context.Context, zone client.Object) []reconcile.Request {
	return d.where(ctx, func(c *nexusv1.NexusAICapability) bool {
		name, _ := capability.ZoneObject(c)
		return name == zone.GetName() && !c.Status.Ready
	}, client.InNamespace(zone.GetNamespace()))
}

// reached maps an IngressClass to the capabilities that wait for it, and to those with records that depend on its parameters.
func (d directory) reached(ctx context.Context, _ client.Object) []reconcile.Request {
	return d.where(ctx, func(c *nexusv1.NexusAICapability) bool { return !c.Status.Ready || capability.KeepsRecords(c) })
}

func (d directory) of(ctx context.Context, selected ...client.ListOption) []reconcile.Request {
	return d.where(ctx, func(*nexusv1.NexusAICapability) bool { return true }, selected...)
}

func (d directory) where(
	ctx context.Context, keep func(*nexusv1.NexusAICapability) bool, selected ...client.ListOption,
) []reconcile.Request {
	list := &nexusv1.NexusAICapabilityList{}
	if err := d.client.List(ctx, list, selected...); err != nil {
		return nil // capabilities that are not ready are looked at again in any case
	}
	var out []reconcile.Request
	for i := range list.Items {
		if keep(&list.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

// boundTo maps a SecurityIntent to the capabilities that name it: it may close their way to AWS. The results of the engines arrive by way
// of the bindings.
func (d directory) boundTo(ctx context.Context, si client.Object) []reconcile.Request {
	list := &nexusv1.NexusAICapabilityList{}
	if err := d.client.List(ctx, list, client.MatchingFields{IntentIndex: si.GetName()}); err != nil {
		return nil // a change of the binding's status wakes them all the same
	}
	out := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		out[i] = reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}
	}
	return out
}

// livingIn maps a Namespace to the capabilities in it.
func (d directory) livingIn(ctx context.Context, o client.Object) []reconcile.Request {
	return d.of(ctx, client.InNamespace(o.(*corev1.Namespace).Name))
}
