package intent

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// Engine says what one policy engine makes of a policy. Implementations are pure and safe for many
// goroutines.
type Engine interface {
	// Name is the engine's own spelling, such as KubeArmor: the type of its condition and, in lower case,
	// its name in --adapters.
	Name() string
	// Requires are the kinds that must be served for the engine to count as present. Kubernetes' own are
	// not listed.
	Requires() []schema.GroupVersionKind
	// Makes are all kinds of objects that Translate ever returns, so that those no longer wanted are found.
	Makes() []schema.GroupVersionKind
	// Translate returns the objects that enforce the policy, in a stable order, and exactly one claim per
	// rule, in the order of the rules. It is called only while everything required is served. It returns
	// no object without rules, makes none that a rule with action Audit would block by, and returns
	// cluster-scoped objects for a policy over the cluster only.
	Translate(p Policy, f Facts) Translation
}

// Versioned is an engine of which other versions exist that it cannot speak to: where only one of those
// is served, the claim is EngineVersionUnsupported instead of EngineMissing.
type Versioned interface {
	Unsupported() []schema.GroupKind
}

// Facts are what the cluster tells beside the policy. The core gathers them, and NetworkPolicies and
// Siblings only for policies with a rule that restricts the network (Entry.Restricts).
type Facts struct {
	// OperatorNamespace is never touched.
	OperatorNamespace string
	// NamespaceLabels are those of the policy's namespace; nil for a policy over the cluster.
	NamespaceLabels map[string]string
	// NetworkPolicies are those of the policy's namespace that no intent made.
	NetworkPolicies []networkingv1.NetworkPolicy
	// Siblings are the other policies of the namespace that have a rule which restricts the network,
	// ordered by name. The policy itself is not among them.
	Siblings []Policy
	// MeshRootNamespace is Istio's, in which a policy applies to the whole mesh.
	MeshRootNamespace string
	// TrustDomain is the mesh's.
	TrustDomain string
}

// Translation is an engine's answer.
type Translation struct {
	Objects []*unstructured.Unstructured
	Claims  []Claim
}

// Claim is how far an engine goes for a rule.
type Claim struct {
	// Intent is the rule's ID.
	Intent string
	Level  v1alpha1.Level
	// Reason is one of the reasons below; empty when Enforced or Audited.
	Reason string
	// Message says in a sentence why it goes no further, and what to do where something can be done.
	Message string
}

// Reasons of claims.
const (
	// ReasonNotCovered: the engine has no means for this intent; another one may have.
	ReasonNotCovered = "NotCovered"
	// ReasonEngineMissing: the engine's kinds are not installed.
	ReasonEngineMissing = "EngineMissing"
	// ReasonEngineDisabled: --adapters leaves the engine out.
	ReasonEngineDisabled = "EngineDisabled"
	// ReasonEngineVersionUnsupported: the engine is installed in a version that we cannot speak to.
	ReasonEngineVersionUnsupported = "EngineVersionUnsupported"
	// ReasonSelectorUnsupported: the engine cannot express the selector.
	ReasonSelectorUnsupported = "SelectorUnsupported"
	// ReasonNodeSelectorUnsupported: no engine honours a node selector.
	ReasonNodeSelectorUnsupported = "NodeSelectorUnsupported"
	// ReasonAuditUnsupported: the engine can only block, and the intent asks for an audit.
	ReasonAuditUnsupported = "AuditUnsupported"
	// ReasonAlreadyIsolated: a foreign policy already restricts that direction, and ours would widen it.
	ReasonAlreadyIsolated = "AlreadyIsolated"
	// ReasonOverlaps: another intent restricts the same direction of some of the same pods.
	ReasonOverlaps = "Overlaps"
	// ReasonNotYetSupported: the intent is in the catalogue, and what it asks for is not built yet.
	ReasonNotYetSupported = "NotYetSupported"
	// ReasonUnknownIntent: the id is not in the catalogue.
	ReasonUnknownIntent = "UnknownIntent"
	// ReasonInvalidParams: a parameter is not what the catalogue says it is.
	ReasonInvalidParams = "InvalidParams"
	// ReasonNotInMesh: the namespace is not part of the mesh, so the object has no effect yet.
	ReasonNotInMesh = "NotInMesh"
	// ReasonMeshRoot: in the mesh's root namespace the object would apply to the whole mesh.
	ReasonMeshRoot = "MeshRootNamespace"
	// ReasonElsewhere: what the engine can say, it says in another policy of the same binding: in the
	// namespaces for the policy over the cluster, over the cluster for those in the namespaces.
	ReasonElsewhere = "Elsewhere"
	// ReasonOnCreateOnly: only what is created from now on is changed.
	ReasonOnCreateOnly = "OnCreateOnly"
)
