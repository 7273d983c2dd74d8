// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"net/netip"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// Engine translates policies to the objects of one policy engine. Implementations are pure and safe for concurrent use.
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

// Varied is an engine with several supported releases, each with separate kinds. The first variant with all its required kinds served
// translates, and the engine itself if there is none. Makes of the engine lists the kinds of all variants. Of several versions of one kind
// only the preferred one counts as served.
type Varied interface {
	Variants() []Engine
}

// VariantOf returns the variant of an engine that the cluster serves, or the engine itself.
func VariantOf(e Engine, served Served) Engine {
	v, ok := e.(Varied)
	if !ok {
		return e
	}
	for _, variant := range v.Variants() {
		if len(missingKinds(variant, served)) == 0 {
			return variant
		}
	}
	return e
}

// PreferredOnly hides all but the preferred served version of each of the kinds, so that no object is seen twice.
func PreferredOnly(kinds []schema.GroupVersionKind, served Served) Served {
	preferred := map[schema.GroupKind]string{}
	for _, k := range kinds {
		if was, ok := preferred[k.GroupKind()]; served(k) && (!ok || version.CompareKubeAwareVersionStrings(k.Version, was) > 0) {
			preferred[k.GroupKind()] = k.Version
		}
	}
	return func(k schema.GroupVersionKind) bool {
		is, ok := preferred[k.GroupKind()]
		return served(k) && (!ok || is == k.Version)
	}
}

// Versioned is an engine with further versions that are not supported: if only one of those is served, the claim is
// EngineVersionUnsupported instead of EngineMissing.
type Versioned interface {
	Unsupported() []schema.GroupKind
}

// Divider is an engine with additive objects: one of them may open a flow that another one on the same pods closes. Its objects for one
// policy depend on the other policies of the namespace, and a claim holds only as long as no existing object contradicts it. A write to an
// object that Translate returned before never weakens the enforcement of the rule: an object for other pods has another name, unless it is
// for all pods of the rule.
type Divider interface {
	// Divide divides the pods of a namespace among all its policies. The result is read only; Facts.Divided holds it when any of the
	// policies is translated.
	Divide(policies []Policy, f Facts) any
	// Parse reads a live object for Confirm.
	Parse(live *unstructured.Unstructured) any
	// Confirm returns the claims that Translate made for p as far as the live objects of the namespace confirm them: those of p select all
	// of the pods, and no object of any policy allows flows there that the rule closes. The live objects come in any order.
	Confirm(p Policy, f Facts, claims []Claim, live []Live) []Claim
}

// NamesHolder is an engine that holds the intent allowEgressToNames in some clusters.
type NamesHolder interface {
	// HoldsNames reports whether the engine makes objects for the intent in a cluster with these facts. It is called only while all
	// required kinds are served.
	HoldsNames(f Facts) bool
}

// Live is an engine's object that exists.
type Live struct {
	// Policy and Rule are those that the object was made for.
	Policy, Rule string
	Name         string
	// Parsed holds the result of Divider.Parse for it.
	Parsed any
}

// Facts holds the facts about the cluster that the translation of a policy needs. The core gathers them, and NetworkPolicies and Siblings
// only for policies with a rule that restricts the network (Entry.Restricts).
type Facts struct {
	// OperatorNamespace is never touched.
	OperatorNamespace string
	// NamespaceLabels lists the labels of the policy's namespace; nil for a policy over the cluster.
	NamespaceLabels map[string]string
	// NetworkPolicies lists the policies of the policy's namespace that no intent made.
	NetworkPolicies []networkingv1.NetworkPolicy
	// OtherPolicies lists the policies of others that are no NetworkPolicies and select pods of the policy's namespace.
	OtherPolicies []OtherPolicy
	// Siblings are the other policies of the namespace that have a rule which restricts the network,
	// ordered by name. The policy itself is not among them.
	Siblings []Policy
	// Divided holds, by the engine's name, the result of a Divider for all policies of the namespace. Without it the engine divides
	// Siblings.
	Divided map[string]any
	// DNS says where the cluster's DNS is; its zero value is kube-dns on port 53.
	DNS ClusterDNS
	// Credentials are the networks of the agents on nodes that give pods credentials of EKS Pod Identity; empty if there are none.
	Credentials []netip.Prefix
	// Enforcer describes the enforcement of NetworkPolicies; its zero value stands for enforcement on all nodes.
	Enforcer Enforcer
	// AppArmor is true if KubeArmor enforces by AppArmor on all nodes; otherwise it may do so by BPF-LSM on some.
	AppArmor bool
	// SELinux is the share of nodes with only SELinux for KubeArmor, which does not enforce on pods by it.
	SELinux NodeShare
	// NoAgents is the share of nodes without agents for Linux: those with Windows, and those of AWS Fargate.
	NoAgents NodeShare
	// AutoMode is the share of the cluster's nodes that EKS Auto Mode runs.
	AutoMode NodeShare
	// NotRunning holds, by the engine's name, why no part of an engine runs although its kinds may be served.
	NotRunning map[string]string
	// NamesHeld is true if an engine holds the intent allowEgressToNames: engines with objects that add up with its objects then allow no
	// more than it does.
	NamesHeld bool
	// Patches is the catalog of virtual patches, for policies with a rule that uses it.
	Patches Patches
	// TLS is about TLS assessments, for policies with a rule that asks for them.
	TLS TLS
	// MeshRootNamespace is Istio's root namespace: a policy there applies to the whole mesh.
	MeshRootNamespace string
	// TrustDomain is the mesh's.
	TrustDomain string
}

// OtherPolicy is a policy of a kind that network plugins combine with NetworkPolicies by adding up the flows, such as a
// CiliumNetworkPolicy.
type OtherPolicy struct {
	// Namespace is empty for a policy over the cluster.
	Kind, Namespace, Name string
	Selector              Selector
	// Isolates are the directions that it restricts. In the directions of Opens it restricts nothing, and adds to the flows that other
	// policies leave open.
	Isolates, Opens Direction
}

// String names the policy.
func (o OtherPolicy) String() string { return o.Kind + " " + o.Name }

// NodeShare is a share of the nodes of a cluster: none, some or all.
type NodeShare string

// The shares of nodes.
const (
	NoNodes   NodeShare = ""
	SomeNodes NodeShare = "Some"
	AllNodes  NodeShare = "All"
)

// ClusterDNS names the pods of the cluster's DNS and the pod ports that they answer on: most network plugins judge a packet after the
// Service's address was translated to a pod's.
type ClusterDNS struct {
	// Namespace and Labels select the pods; an empty namespace is kube-system with k8s-app=kube-dns.
	Namespace string
	Labels    map[string]string
	// Ports lists the ports of the pods, in addition to 53.
	Ports []int32
	// Networks answer on port 53 without being pods that can be selected, such as a resolver on the node. With them and an
	// empty Namespace, no pods answer.
	Networks []netip.Prefix
	// OnNodes lists those of Networks that are addresses of nodes.
	OnNodes []netip.Prefix
	// Source says how this is known, for people: such as Service kube-system/kube-dns.
	Source string
	// Problem says why it is not known for sure, or nothing. A rule that closes other DNS is then not Enforced.
	Problem string
}

// Enforcer reports whether something enforces NetworkPolicies.
type Enforcer struct {
	// Names lists the network plugins that enforce them, on some nodes or on all; empty if they are not known.
	Names []string
	// Problem says why no network plugin enforces them, on some nodes or on all, with the remedy; empty if one does.
	Problem string
	// Off is true if no network plugin enforces them on any node; otherwise it is not known, or true for some nodes only.
	Off bool
	// HidesNodes says why a network in a NetworkPolicy does not select the addresses of nodes, with the remedy; empty if it does.
	HidesNodes string
}

// MayBe reports whether a network plugin enforces them, or may enforce them because the enforcer is not known.
func (e Enforcer) MayBe(plugin string) bool {
	is := func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(plugin)) }
	return len(e.Names) == 0 || slices.ContainsFunc(e.Names, is)
}

// Limit returns the claim of a rule if no enforcer of policies is known on some nodes or on all, and nil otherwise.
func (e Enforcer) Limit(r Rule) *Claim {
	var c Claim
	switch {
	case e.Off:
		c = Not(r, ReasonNoEnforcer, e.Problem)
	case e.Problem != "":
		c = Partly(r, ReasonNoEnforcer, e.Problem)
	default:
		return nil
	}
	return &c
}

// PodIdentityNetworks are the addresses of the EKS Pod Identity Agent on each node; it listens on port 80.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
func PodIdentityNetworks() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("169.254.170.23/32"), netip.MustParsePrefix("fd00:ec2::23/128")}
}

// Translation is an engine's answer.
type Translation struct {
	Objects []*unstructured.Unstructured
	Claims  []Claim
}

// Claim says how far an engine goes for a rule.
type Claim struct {
	// Intent is the rule's ID.
	Intent string
	Level  v1alpha1.Level
	// Reason is one of the reasons below; empty when Enforced or Audited.
	Reason string
	// Message says in a sentence why it goes no further, with the remedy if there is one.
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
	// ReasonNodeSelectorUnsupported: no engine honors a node selector.
	ReasonNodeSelectorUnsupported = "NodeSelectorUnsupported"
	// ReasonAuditUnsupported: the engine can only block, and the intent asks for an audit.
	ReasonAuditUnsupported = "AuditUnsupported"
	// ReasonAlreadyIsolated: a foreign policy already restricts that direction, and ours would widen it.
	ReasonAlreadyIsolated = "AlreadyIsolated"
	// ReasonOverlaps: the live object of another intent allows flows on the same pods that this one closes.
	ReasonOverlaps = "Overlaps"
	// ReasonNotLive: an object that the claim rests on does not exist as written.
	ReasonNotLive = "NotLive"
	// ReasonUnknownIntent: the id is not in the catalog.
	ReasonUnknownIntent = "UnknownIntent"
	// ReasonInvalidParams: a parameter does not match the catalog.
	ReasonInvalidParams = "InvalidParams"
	// ReasonNotInMesh: the namespace is not part of the mesh, so the object has no effect yet.
	ReasonNotInMesh = "NotInMesh"
	// ReasonMeshRoot: in the mesh's root namespace the object would apply to the whole mesh.
	ReasonMeshRoot = "MeshRootNamespace"
	// ReasonElsewhere: the engine enforces the rule by another policy of the same binding: in the namespaces for the policy over the
	// cluster, over the cluster for those in the namespaces.
	ReasonElsewhere = "Elsewhere"
	// ReasonUnknownCVE: the catalog of virtual patches has no mitigation.
	ReasonUnknownCVE = "UnknownCVE"
	// ReasonCatalogMissing: there is no catalog of virtual patches.
	ReasonCatalogMissing = "CatalogMissing"
	// ReasonCatalogInvalid: the catalog of virtual patches cannot be read.
	ReasonCatalogInvalid = "CatalogInvalid"
	// ReasonNamespaceMissing: a namespace that a cluster binding names does not exist.
	ReasonNamespaceMissing = "NamespaceMissing"
	// ReasonImageMissing: the operator has no image that assesses TLS.
	ReasonImageMissing = "ImageMissing"
	// ReasonNoTargets: there is no target for a TLS assessment.
	ReasonNoTargets = "NoTargets"
	// ReasonTooManyTargets: only the first targets are assessed.
	ReasonTooManyTargets = "TooManyTargets"
	// ReasonNoResultYet: no assessment of a target has ended yet.
	ReasonNoResultYet = "NoResultYet"
	// ReasonAssessmentFailed: the last assessment did not end well.
	ReasonAssessmentFailed = "AssessmentFailed"
	// ReasonResultInvalid: the last assessment left something that is not a result.
	ReasonResultInvalid = "ResultInvalid"
	// ReasonResultOutdated: assessments have stopped.
	ReasonResultOutdated = "ResultOutdated"
	// ReasonReportsOnly: the engine can only report, and the intent asks to block.
	ReasonReportsOnly = "ReportsOnly"
	// ReasonDNSNotFound: the cluster's DNS cannot be located, so the rule may close it.
	ReasonDNSNotFound = "DNSNotFound"
	// ReasonNoEnforcer: nothing is known to enforce the engine's objects on some nodes, or on any.
	ReasonNoEnforcer = "NoEnforcer"
	// ReasonEngineLimit: the engine has the means for this intent, with a known gap.
	ReasonEngineLimit = "EngineLimit"
	// ReasonNodesNotCovered: the engine does not run on all nodes.
	ReasonNodesNotCovered = "NodesNotCovered"
	// ReasonOnCreateOnly: only objects created from now on are changed.
	ReasonOnCreateOnly = "OnCreateOnly"
)
