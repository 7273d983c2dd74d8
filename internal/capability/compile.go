// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"maps"
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

// Labels and annotations of every object of a capability.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelPartOf    = "app.kubernetes.io/part-of"
	// LabelVersion is on Deployments and their pods alone: an edit of the version touches nothing else for its sake.
	LabelVersion     = "app.kubernetes.io/version"
	LabelEnvironment = "nexus.ai/environment"
	// AnnotationChecksum makes pods roll when their settings change.
	AnnotationChecksum = "nexus.ai/config-checksum"
)

// Compile turns a capability into the graph of its objects. The same capability and facts give the same
// graph. A capability that is not being deleted is checked first: the error is a *status.Stalled that
// names the field.
func Compile(c *nexusv1.NexusAICapability, f Facts) (*graph.Graph, error) {
	out, err := CompileAfter(nil, c, f)
	if err != nil {
		return nil, err
	}
	return out.Graph, nil
}

// builders are the functions of the parts that add nodes, in their order.
func (k *compiler) builders() (out []func(*compiler)) {
	for _, p := range k.parts {
		out = append(out, p.compile...)
	}
	return out
}

// compiler collects the nodes of one capability. Its parts only add; the first error ends it.
type compiler struct {
	c     *nexusv1.NexusAICapability
	spec  *nexusv1.NexusAICapabilitySpec
	facts Facts
	parts parts
	names Names
	home  home
	// unknown is the token that marks an object as unresolved.
	unknown string

	nodes []graph.Node
	// aws are the IDs of all AWS resources, grants of those on which the application's role gets rights, and
	// parameterSet that of the object that holds all SSM parameters.
	aws, grants  []string
	parameterSet string
	// access bounds what the rights and settings of some components name; its zero value bounds nothing.
	access accessSet
	// assumeOwned takes every child for proven: for the size of policies to be.
	assumeOwned bool
	// expected collects what children will own; nil unless that is asked for.
	expected map[string]Proof
	// read collects the proofs that a part reads; nil unless that is asked for.
	read reads
	// whole is the compiler of everything, of one that sees only an access.
	whole *compiler
	err   error
}

func newCompiler(ps parts, c *nexusv1.NexusAICapability, f Facts) *compiler {
	return &compiler{
		c: c, spec: &c.Spec, parts: ps, facts: f, names: NamesOf(c), home: f.home(c),
		unknown: placeholderFor(kindProvider + "/" + ProviderName(c)),
	}
}

// coreV1 is the version of the first kinds of Kubernetes.
var coreV1 = schema.GroupVersion{Version: "v1"}

// object has the methods of every API type.
type object interface {
	runtime.Object
	metav1.Object
}

// child names an object and says where it belongs.
type child struct {
	kind, name string
	step       string
	component  string
}

// resource adds an AWS resource in the capability's namespace, behind the provider.
func (k *compiler) resource(p child, o awsv1.Resource, after ...graph.Edge) string {
	common := o.CommonSpec()
	common.DeletionPolicy = k.parts.deletionPolicyOf(k.c, p.kind, p.component, o)
	common.DriftPolicy = awsv1.DriftCorrect
	if k.spec.DriftPolicy != "" {
		common.DriftPolicy = awsv1.DriftPolicy(k.spec.DriftPolicy)
	}
	return k.throughProvider(p, o, after...)
}

// throughProvider adds an AWS resource, with policies that are set already, in the capability's namespace behind the provider.
func (k *compiler) throughProvider(p child, o awsv1.Resource, after ...graph.Edge) string {
	tagForBudget(k, p.kind, o)
	o.CommonSpec().ProviderRef = awsv1.ProviderReference{Name: ProviderName(k.c)}
	if k.spec.ProviderRef == nil {
		after = append(after, graph.NeedReady(providerID(k))...)
	}
	o.SetNamespace(k.c.Namespace)
	id := k.add(p, awsv1.GroupVersion, o, after)
	if p.component != componentBudget { // workloads wait for all others
		k.aws = append(k.aws, id)
	}
	return id
}

// workload adds an object to the workload namespace, behind the namespace and its quota when those are ours to make.
func (k *compiler) workload(p child, o object, after ...graph.Edge) string {
	o.SetNamespace(k.names.WorkloadNamespace())
	if k.madeNamespace() {
		after = append(after, graph.NeedReady(kindNamespace+"/"+k.names.WorkloadNamespace())...)
	}
	if hasQuota(k) && p.kind != kindQuota {
		after = append(after, graph.NeedReady(graph.ID(kindQuota, k.names.WorkloadNamespace(), k.names.Quota(), k.c.Namespace))...)
	}
	return k.add(p, k.parts.factsOf(p.kind).version, o, after)
}

func (k *compiler) add(p child, gv schema.GroupVersion, o object, after []graph.Edge) string {
	o.GetObjectKind().SetGroupVersionKind(gv.WithKind(p.kind))
	o.SetName(p.name)
	o.SetLabels(k.labels(p.component, o.GetLabels()))
	if o.GetNamespace() == k.c.Namespace {
		o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(k.c, nexusv1.GroupVersion.WithKind(kindCapability))})
	} else {
		o.SetAnnotations(mergeMaps(o.GetAnnotations(), map[string]string{wellknown.AnnotationCapability: k.c.Namespace + "/" + k.c.Name}))
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		k.fail(fmt.Errorf("encoding %s/%s: %w", p.kind, p.name, err))
		return ""
	}
	delete(content, "status")
	removeEmpty(content)
	id := graph.ID(p.kind, o.GetNamespace(), p.name, k.c.Namespace)
	n := graph.Node{ID: id, Object: &unstructured.Unstructured{Object: content}, Step: p.step, After: after}
	n.Unresolved = k.unresolved(content)
	k.nodes = append(k.nodes, n)
	return id
}

// unresolved returns the object whose status holds a value that an object lacks; "" when it lacks none.
func (k *compiler) unresolved(content any) string {
	if !containsToken(content, unknownValue) { // so that no part is asked for most objects
		return ""
	}
	for _, of := range inTurn(k.parts, func(p part) []turn[publishing] { return p.publishes }) {
		for _, id := range of(k) {
			if id != "" && containsToken(content, placeholderFor(id)) {
				return id
			}
		}
	}
	return ""
}

func (k *compiler) fail(err error) {
	if k.err == nil {
		k.err = err
	}
	if k.whole != nil {
		k.whole.fail(err)
	}
}

// labels of an object; pods carry them too, and selectors use only what never changes.
func (k *compiler) labels(component string, more map[string]string) map[string]string {
	l := mergeMaps(more, k.selector(component))
	l[LabelPartOf] = k.names.Capability
	l[wellknown.LabelManagedBy] = wellknown.OperatorName
	l[wellknown.LabelCapability] = k.c.Name
	l[LabelEnvironment] = k.names.Environment
	l[wellknown.LabelCapabilityUID] = string(k.c.UID)
	return l
}

func (k *compiler) selector(component string) map[string]string {
	return map[string]string{LabelName: k.names.Capability, LabelInstance: k.names.Prefix(), LabelComponent: component}
}

// madeNamespace reports whether the workload namespace is another one than the capability's own.
func (k *compiler) madeNamespace() bool { return k.names.WorkloadNamespace() != k.c.Namespace }

// mergeMaps returns a new map of both; the second wins.
func mergeMaps(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

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

// isEnabled reports whether an optional part is on: absent is off, {} is on.
func isEnabled[T any](part *T, flag func(*T) *bool) bool {
	if part == nil {
		return false
	}
	on := flag(part)
	return on == nil || *on
}
