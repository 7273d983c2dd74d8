// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// kindAnyType is the kind of resources that a capability declares by their type.
const kindAnyType = "AWSResource"

// Names of the resources: of their step and access.
const (
	// StepResources is that of spec.dataServices.resources.
	StepResources = "Resources"
	ofResources   = "resources"
)

// resourcesPart is spec.dataServices.resources, and makes the objects of all parts that become resources.
func resourcesPart() part {
	p := part{
		steps:        []Step{{0, StepResources, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady}},
		checks:       []turn[checking]{at(90, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) { checkResourceParts(v, c) })},
		surroundings: func(v *verdict, _ *nexusv1.NexusAICapability, _ Facts, k *compiler) { checkServiceRoles(v, k) },
		compile:      []func(*compiler){addResources},
		rights:       []turn[granting]{at(90, resourceStatements)},
		values:       exportedValues,
		publishes:    []turn[publishing]{at(50, resourceIDs)},
		entries: entries{
			place: 70, field: ofResources,
			names: func(s *nexusv1.NexusAICapabilitySpec) []string {
				return namesIn(byName(slices.Clone(dataOf(s).Resources), nameOfResource), nameOfResource)
			},
			keep: func(a accessSet, _ *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
				data.Resources = keep(a, ofResources, data.Resources, nameOfResource)
			},
			objects: func(ps parts, c *nexusv1.NexusAICapability) (out []namedObject) {
				for _, r := range ps.selectedResources(&c.Spec) {
					out = append(out, namedObject{r.Name, resourceID(NamesOf(c), r)})
				}
				return out
			},
		},
		resources: declaredResources,
	}
	// These resources act as the roles until they are gone.
	p.kinds = append(p.kinds, kindFacts{kind: kindRole, isPartial: true, removed: removal{stage: removesResources + 10, serviceRoles: true},
		stepOf: func(_ parts, _ *nexusv1.NexusAICapability, name string) string {
			if isServiceRole(name) {
				return StepResources
			}
			return ""
		}})
	for _, kind := range sortedKinds {
		p.kinds = append(p.kinds, kindFacts{kind: kind, step: StepResources, removed: removal{stage: removesResources}, isBilled: true, refusal: refusals[kind]})
	}
	return p
}

// declaredResources are the entries of dataServices.resources.
func declaredResources(_ parts, s *nexusv1.NexusAICapabilitySpec) (out []resourcePart) {
	for i, r := range dataOf(s).Resources {
		out = append(out, resourcePart{ResourcePart: r, field: entry(resourcesField, i), component: componentResources})
	}
	return out
}

// refusals say why dataServices.resources declares no objects of a kind as it does of others.
var refusals = map[string]string{kindAnyType: "is declared with type and properties"}

func nameOfResource(r nexusv1.ResourcePart) string { return r.Name }

// ResourceKinds returns the kinds of the objects that dataServices.resources and spec.ai become.
func ResourceKinds() []string { return slices.Clone(sortedKinds) }

// sortedKinds are these kinds in order, the generic one last.
var sortedKinds = append(slices.Sorted(maps.Keys(resourceKinds)), kindAnyType)

func isResourceKind(kind string) bool {
	_, typed := resourceKinds[kind]
	return typed || kind == kindAnyType
}

// ProvingKinds returns the kinds whose proofs a capability needs.
func ProvingKinds(c *nexusv1.NexusAICapability) []string {
	out := slices.Clone(Proving)
	for _, r := range allParts().selectedResources(&c.Spec) {
		if kind := kindOfResource(r.ResourcePart); isResourceKind(kind) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	if len(dataOf(&c.Spec).Roles) > 0 {
		out = append(out, kindRole)
	}
	if c.Spec.Budget != nil && !slices.Contains(out, kindAnyType) {
		out = append(out, kindAnyType)
	}
	return out
}

// MayHaveMade reports whether the last objects that a capability made may be of a kind. Those of dataServices.resources are of the kinds that
// it declares: a capability in deletion is not edited any more.
func MayHaveMade(c *nexusv1.NexusAICapability, kind string) bool {
	return !isResourceKind(kind) || slices.Contains(ProvingKinds(c), kind)
}

// kindOfResource is the kind of the object that a declared resource becomes.
func kindOfResource(r nexusv1.ResourcePart) string {
	if r.Type != "" {
		return kindAnyType
	}
	return r.Kind
}

// typeOfResource is the resource type of AWS of a declared resource; empty for a kind that cannot be declared.
func typeOfResource(r nexusv1.ResourcePart) string {
	if r.Type != "" {
		return r.Type
	}
	return resourceKinds[r.Kind].typeName
}

// resourceID is the ID of the node of a declared resource.
func resourceID(n Names, r resourcePart) string {
	return kindOfResource(r.ResourcePart) + "/" + n.Of(r.Name)
}

// resourceIDs returns the IDs of the nodes of resources that publish values which others need.
func resourceIDs(k *compiler) (out []string) {
	for _, r := range k.parts.allResources(k.spec) {
		if len(r.Exports) > 0 || r.Access != nil {
			out = append(out, resourceID(k.names, r))
		}
	}
	return out
}

// addResources makes the objects of dataServices.resources and spec.ai. Each comes after the parts that it uses.
func addResources(k *compiler) {
	for _, r := range k.parts.selectedResources(k.spec) {
		o, err := resourceObject(k, r)
		if err != nil {
			if k.c.DeletionTimestamp == nil { // Validate has refused it before
				k.fail(err)
			}
			continue
		}
		after := graph.NeedReady(usedBy(k, r)...)
		role, lacks := addServiceRole(k, r)
		if role != "" {
			after = append(after, graph.NeedReady(role)...)
		}
		id := k.resource(child{kindOfResource(r.ResourcePart), k.names.Of(r.Name), StepResources, r.component}, o, after...)
		awaitRights(k, lacks)
		if r.Access != nil {
			k.addGrant(id)
		}
	}
}

// resourceObject returns the object that a resource is declared to be, without what the capability decides.
func resourceObject(k *compiler, r resourcePart) (awsv1.Resource, error) {
	if r.Type != "" {
		properties, err := propertiesOf(k, r)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(properties)
		o := &awsv1.AWSResource{Spec: awsv1.AWSResourceSpec{TypeName: r.Type, Properties: runtime.RawExtension{Raw: text},
			Ignore: slices.Clone(r.Ignore), RecreateOnLoss: r.RecreateOnLoss}}
		o.Spec.Tags = r.tags
		return o, err
	}
	if _, ok := resourceKinds[r.Kind]; !ok {
		return nil, fmt.Errorf("a capability declares no %s", r.Kind)
	}
	spec, err := fill(k, r, r.Spec)
	if err != nil {
		return nil, err
	}
	o, err := newObject(r.Kind)
	if err != nil {
		return nil, err
	}
	return o, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(map[string]any{"spec": spec}, o, true)
}

// propertiesOf returns the properties of a resource of a type.
func propertiesOf(k *compiler, r resourcePart) (map[string]any, error) {
	if r.compose != nil {
		return r.compose(k), nil
	}
	return fill(k, r, r.Properties)
}

// fill returns what a resource declares, with the values of the capability in its texts.
func fill(k *compiler, r resourcePart, declared *runtime.RawExtension) (map[string]any, error) {
	out := map[string]any{}
	if declared == nil || len(declared.Raw) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(declared.Raw, &out); err != nil {
		return nil, err
	}
	values := map[string]string{
		"name": k.names.Of(r.Name), "capability": k.names.Capability, "environment": k.names.Environment, "account": k.home.account, "region": k.home.region,
	}
	var pairs []string
	for word, value := range values {
		pairs = append(pairs, "{"+word+"}", value, "{{"+word+"}}", "{"+word+"}")
	}
	fillTexts(out, strings.NewReplacer(pairs...))
	return out, nil
}

// fillTexts replaces in all texts of a value, and not in the names of members.
func fillTexts(value any, with *strings.Replacer) any {
	switch v := value.(type) {
	case string:
		return with.Replace(v)
	case map[string]any:
		for name, item := range v {
			v[name] = fillTexts(item, with)
		}
	case []any:
		for i, item := range v {
			v[i] = fillTexts(item, with)
		}
	}
	return value
}

// usedBy returns the IDs of the nodes of the parts that a resource uses, in order.
func usedBy(k *compiler, r resourcePart) (out []string) {
	parts := k.parts.objectsByName(k.c)
	for _, name := range r.Uses {
		out = append(out, parts[string(name)]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// UsersOf returns the IDs of the nodes of the resources that use an object, which are deleted before it.
func UsersOf(c *nexusv1.NexusAICapability, kind, name string) (out []string) {
	used, is := resourceOf(allParts(), c, kind, name)
	if !is {
		return nil
	}
	for _, r := range allParts().selectedResources(&c.Spec) {
		if slices.Contains(r.Uses, nexusv1.PartName(used.Name)) {
			out = append(out, resourceID(NamesOf(c), r))
		}
	}
	return out
}

// objectsByName returns the IDs of the nodes of the parts that a resource can use, by the names of the parts.
func (ps parts) objectsByName(c *nexusv1.NexusAICapability) map[string][]string {
	out := map[string][]string{}
	for _, e := range ps.allEntries() {
		if e.objects == nil {
			continue
		}
		for _, o := range e.objects(ps, c) {
			out[o.name] = append(out[o.name], o.id)
		}
	}
	return out
}
