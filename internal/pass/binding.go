// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// Bound is a binding of security intents with the policies that it becomes.
type Bound struct {
	Owner      apply.Owner
	Resolution intent.Resolution
	// Policies holds those of namespaces, and after them the one over the cluster.
	Policies []intent.Policy
}

// Bind resolves a binding with the intents of the cluster, and the namespaces that a binding of the cluster may select.
func Bind(
	obj client.Object, intents map[string]*intentv1alpha1.SecurityIntent, namespaces []intent.Namespace, operatorNamespace string,
) Bound {
	b := Bound{
		Owner:      intentfacts.OwnerOfDerived(intentfacts.KindOf(obj), obj),
		Resolution: intent.Resolve(intentfacts.BindingOf(obj), intents, namespaces, intent.Options{OperatorNamespace: operatorNamespace}),
	}
	b.Policies = slices.Clone(b.Resolution.Policies)
	if over := b.Resolution.Cluster; over != nil {
		b.Policies = append(b.Policies, *over)
	}
	return b
}

// PolicyKinds returns the kinds of policies that an owner may have: a policy over the cluster belongs to a binding of the cluster.
func PolicyKinds(owner apply.Owner) []schema.GroupVersionKind {
	if owner.Namespace != "" {
		return intentfacts.PolicyKinds[:1]
	}
	return intentfacts.PolicyKinds
}

// Surplus returns the policies among the children of the binding that it does not become any more.
func (b Bound) Surplus(children []apply.Child) []apply.Child {
	return apply.Surplus(children, intentfacts.RefsOf(b.Policies))
}

// Enforced is a policy as an engine enforces it.
type Enforced struct {
	Engine intentfacts.Engine
	intent.Translation
	// Kinds are served, and may have objects of the policy.
	Kinds []schema.GroupVersionKind
}

// Enforce has each engine translate a policy. An engine that is not enabled makes nothing, and the objects that it made are surplus.
func Enforce(engines []intentfacts.Engine, p intent.Policy, f intent.Facts, served intent.Served) []Enforced {
	out := make([]Enforced, len(engines))
	for i, e := range engines {
		out[i] = Enforced{Engine: e, Translation: intent.Translate(e.Engine, p, f, e.Enabled, served), Kinds: ServedKinds(e, served)}
	}
	return out
}

// ServedKinds returns the kinds of an engine's objects that the API server serves.
func ServedKinds(e intentfacts.Engine, served intent.Served) []schema.GroupVersionKind {
	return slices.DeleteFunc(slices.Clone(e.Makes()), func(k schema.GroupVersionKind) bool { return !served(k) })
}
