// SPDX-License-Identifier: Apache-2.0

package part

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Compiler collects the nodes of one capability. Its parts only add; the first error ends it.
type Compiler struct {
	Capability *nexusv1.NexusAICapability
	Spec       *nexusv1.NexusAICapabilitySpec
	Facts      Facts
	Parts      Parts
	Names      Names
	Home       Home
	// Unknown is the token that marks an object as unresolved.
	Unknown string

	Nodes []graph.Node
	// AWS holds the IDs of all AWS resources. Grants holds the IDs of the AWS resources that the application's role gets rights on.
	// ParameterSet is the ID of the object that holds all SSM parameters.
	AWS, Grants  []string
	ParameterSet string
	// Access limits the entries in the rights and settings of some components; its zero value sets no limit.
	Access AccessSet
	// AssumeOwned takes every child for proven: for the size of policies to be.
	AssumeOwned bool
	// Expected collects the expected proofs of children; nil unless a plan asks for them.
	Expected map[string]Proof
	// Read collects the proofs that a part reads; nil unless that is asked for.
	Read Reads
	// Whole is the compiler of everything, of one that sees only an access.
	Whole *Compiler
	// Err is the first error.
	Err error
}

// NewCompiler returns a compiler of a capability that has added nothing.
func NewCompiler(ps Parts, c *nexusv1.NexusAICapability, f Facts) *Compiler {
	return &Compiler{
		Capability: c, Spec: &c.Spec, Parts: ps, Facts: f, Names: NamesOf(c), Home: f.HomeOf(c),
		Unknown: PlaceholderFor(KindProvider + "/" + ProviderName(c)),
	}
}

// CoreV1 is the version of the first kinds of Kubernetes.
var CoreV1 = schema.GroupVersion{Version: "v1"}

// object has the methods of every API type.
type object interface {
	runtime.Object
	metav1.Object
}

// Child holds the name of an object and its place in the graph.
type Child struct {
	Kind, Name string
	Step       string
	Component  string
}

// Resource adds an AWS resource in the capability's namespace, behind the provider.
func (k *Compiler) Resource(p Child, o awsv1.Resource, after ...graph.Edge) string {
	common := o.CommonSpec()
	common.DeletionPolicy = k.Parts.DeletionPolicyOf(k.Capability, p.Kind, p.Component, o)
	common.DriftPolicy = awsv1.DriftCorrect
	if k.Spec.DriftPolicy != "" {
		common.DriftPolicy = awsv1.DriftPolicy(k.Spec.DriftPolicy)
	}
	return k.throughProvider(p, o, after...)
}

// throughProvider adds an AWS resource, with policies that are set already, in the capability's namespace behind the provider.
func (k *Compiler) throughProvider(p Child, o awsv1.Resource, after ...graph.Edge) string {
	tagForBudget(k, p.Kind, o)
	o.CommonSpec().ProviderRef = awsv1.ProviderReference{Name: ProviderName(k.Capability)}
	if k.Spec.ProviderRef == nil {
		after = append(after, graph.NeedReady(providerID(k))...)
	}
	o.SetNamespace(k.Capability.Namespace)
	id := k.Add(p, awsv1.GroupVersion, o, after)
	if p.Component != ComponentBudget { // workloads wait for all others
		k.AWS = append(k.AWS, id)
	}
	return id
}

// Workload adds an object to the workload namespace, behind the namespace and its quota when those are ours to make.
func (k *Compiler) Workload(p Child, o object, after ...graph.Edge) string {
	o.SetNamespace(k.Names.WorkloadNamespace())
	if k.MadeNamespace() {
		after = append(after, graph.NeedReady(KindNamespace+"/"+k.Names.WorkloadNamespace())...)
	}
	if HasQuota(k) && p.Kind != KindQuota {
		after = append(after, graph.NeedReady(graph.ID(KindQuota, k.Names.WorkloadNamespace(), k.Names.Quota(), k.Capability.Namespace))...)
	}
	return k.Add(p, k.Parts.FactsOf(p.Kind).Version, o, after)
}

// Add adds an object as it is, after others.
func (k *Compiler) Add(p Child, gv schema.GroupVersion, o object, after []graph.Edge) string {
	o.GetObjectKind().SetGroupVersionKind(gv.WithKind(p.Kind))
	o.SetName(p.Name)
	o.SetLabels(k.Labels(p.Component, o.GetLabels()))
	if o.GetNamespace() == k.Capability.Namespace {
		o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(k.Capability, nexusv1.GroupVersion.WithKind(KindCapability))})
	} else {
		o.SetAnnotations(MergeMaps(o.GetAnnotations(),
			map[string]string{wellknown.AnnotationCapability: k.Capability.Namespace + "/" + k.Capability.Name}))
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		k.Fail(fmt.Errorf("encoding %s/%s: %w", p.Kind, p.Name, err))
		return ""
	}
	delete(content, "status")
	removeEmpty(content)
	id := graph.ID(p.Kind, o.GetNamespace(), p.Name, k.Capability.Namespace)
	n := graph.Node{ID: id, Object: &unstructured.Unstructured{Object: content}, Step: p.Step, After: after}
	n.Unresolved = k.Unresolved(content)
	k.Nodes = append(k.Nodes, n)
	return id
}

// Unresolved returns the object that provides a missing value of the content in its status; "" when no value is missing.
func (k *Compiler) Unresolved(content any) string {
	if !containsToken(content, unknownValue) { // so that no part is asked for most objects
		return ""
	}
	for _, of := range InTurn(k.Parts, func(p Part) []Turn[Publishing] { return p.Publishes }) {
		for _, id := range of(k) {
			if id != "" && containsToken(content, PlaceholderFor(id)) {
				return id
			}
		}
	}
	return ""
}

// Fail ends the compilation with an error, unless one did already.
func (k *Compiler) Fail(err error) {
	if k.Err == nil {
		k.Err = err
	}
	if k.Whole != nil {
		k.Whole.Fail(err)
	}
}

// Labels returns the labels of an object. Pods carry them too. Selectors use only labels that never change.
func (k *Compiler) Labels(component string, more map[string]string) map[string]string {
	l := MergeMaps(more, k.Selector(component))
	l[LabelPartOf] = k.Names.Capability
	l[wellknown.LabelManagedBy] = wellknown.OperatorName
	l[wellknown.LabelCapability] = k.Capability.Name
	l[LabelEnvironment] = k.Names.Environment
	l[wellknown.LabelCapabilityUID] = string(k.Capability.UID)
	return l
}

// Selector selects the pods of a component.
func (k *Compiler) Selector(component string) map[string]string {
	return map[string]string{LabelName: k.Names.Capability, LabelInstance: k.Names.Prefix(), LabelComponent: component}
}

// MadeNamespace reports whether the workload namespace is another one than the capability's own.
func (k *Compiler) MadeNamespace() bool { return k.Names.WorkloadNamespace() != k.Capability.Namespace }

// removeEmpty removes nulls: the encoder writes creationTimestamp: null. Empty lists and maps stay, for they
// say "none".
func removeEmpty(content map[string]any) {
	for key, v := range content {
		switch v := v.(type) {
		case nil:
			delete(content, key)
		case map[string]any:
			removeEmpty(v)
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					removeEmpty(m)
				}
			}
		}
	}
}

// containsToken reports whether a string anywhere in v contains the token.
func containsToken(v any, token string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, token)
	case map[string]any:
		for _, item := range v {
			if containsToken(item, token) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if containsToken(item, token) {
				return true
			}
		}
	}
	return false
}

// Labels and annotations of every object of a capability.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelPartOf    = "app.kubernetes.io/part-of"
	// LabelVersion is on Deployments and their pods alone, so that an edit of the version changes no other object.
	LabelVersion     = "app.kubernetes.io/version"
	LabelEnvironment = "nexus.ai/environment"
	// AnnotationChecksum makes pods roll when their settings change.
	AnnotationChecksum = "nexus.ai/config-checksum"
)

// HasQuota reports whether the workload namespace is the operator's to limit.
func HasQuota(k *Compiler) bool { return k.MadeNamespace() && len(k.Facts.Limits.NamespaceQuota) > 0 }
