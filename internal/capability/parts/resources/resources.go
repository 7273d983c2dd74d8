// SPDX-License-Identifier: Apache-2.0

// Package resources is spec.dataServices.resources, and makes the objects, the rights and the exports of all parts that become such
// resources.
package resources

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// parameterOf names the SSM parameter of an exported variable.
func parameterOf(r part.Resource, variable string) string {
	if name, own := r.Parameters[variable]; own {
		return name
	}
	return "resources/" + variable
}

// Find returns the resource that becomes the object of a kind and name.
func Find(ps part.Parts, c *nexusv1.NexusAICapability, kind, name string) (part.Resource, bool) {
	if !IsResourceKind(kind) {
		return part.Resource{}, false
	}
	all := ps.Resources(&c.Spec)
	i := slices.IndexFunc(all, func(r part.Resource) bool {
		return KindOfResource(r.ResourcePart) == kind && part.NamesOf(c).Of(r.Name) == name
	})
	if i < 0 {
		return part.Resource{}, false
	}
	return all[i], true
}

// ofResources is the field of an access that names resources.
const ofResources = "resources"

// Part is spec.dataServices.resources, and makes the objects of all parts that become resources.
func Part() part.Part {
	p := part.Part{
		Steps: []part.Step{{Name: part.StepResources, Phase: nexusv1.PhaseProvisioningDataServices,
			Condition: nexusv1.ConditionDataServicesReady}},
		Checks: []part.Turn[part.Checking]{part.At(90,
			func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkResourceParts(v, c) })},
		Surroundings: func(v *part.Verdict, _ *nexusv1.NexusAICapability, _ part.Facts, k *part.Compiler) {
			checkServiceRoles(v, k)
		},
		Compile:   []func(*part.Compiler){addResources},
		Rights:    []part.Turn[part.Granting]{part.At(90, resourceStatements)},
		Values:    exportedValues,
		Publishes: []part.Turn[part.Publishing]{part.At(50, resourceIDs)},
		Entries: part.Entries{
			Place: 70, Field: ofResources,
			Names: func(s *nexusv1.NexusAICapabilitySpec) []string {
				return part.NamesIn(part.ByName(slices.Clone(part.DataOf(s).Resources), nameOfResource), nameOfResource)
			},
			Keep: func(a part.AccessSet, _ *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
				data.Resources = part.Keep(a, ofResources, data.Resources, nameOfResource)
			},
			Objects: func(ps part.Parts, c *nexusv1.NexusAICapability) (out []part.NamedObject) {
				for _, r := range ps.ResourcesByName(&c.Spec) {
					out = append(out, part.NamedObject{Name: r.Name, ID: ID(part.NamesOf(c), r)})
				}
				return out
			},
		},
		Resources: declaredResources,
	}
	// These resources act as the roles until they are gone.
	p.Kinds = append(p.Kinds, part.KindFacts{Kind: part.KindRole, IsPartial: true,
		Removed: part.Removal{Stage: part.RemovesResources + 10, ServiceRoles: true},
		StepOf: func(_ part.Parts, _ *nexusv1.NexusAICapability, name string) string {
			if part.IsServiceRole(name) {
				return part.StepResources
			}
			return ""
		}})
	for _, kind := range sortedKinds {
		p.Kinds = append(p.Kinds, part.KindFacts{Kind: kind, Step: part.StepResources, Removed: part.Removal{Stage: part.RemovesResources},
			IsBilled: true, Refusal: refusals[kind]})
	}
	return p
}

// declaredResources are the entries of dataServices.resources.
func declaredResources(_ part.Parts, s *nexusv1.NexusAICapabilitySpec) (out []part.Resource) {
	for i, r := range part.DataOf(s).Resources {
		out = append(out, part.Resource{ResourcePart: r, Field: part.Entry(resourcesField, i), Component: part.ComponentResources})
	}
	return out
}

// refusals holds, by kind, why dataServices.resources cannot declare its objects with kind and spec.
var refusals = map[string]string{part.KindAnyType: "is declared with type and properties"}

func nameOfResource(r nexusv1.ResourcePart) string { return r.Name }

// ResourceKinds returns the kinds of the objects that dataServices.resources and spec.ai become.
func ResourceKinds() []string { return slices.Clone(sortedKinds) }

// sortedKinds are these kinds in order, the generic one last.
var sortedKinds = append(slices.Sorted(maps.Keys(resourceKinds)), part.KindAnyType)

// IsResourceKind reports whether resources become objects of a kind.
func IsResourceKind(kind string) bool {
	_, typed := resourceKinds[kind]
	return typed || kind == part.KindAnyType
}

// KindOfResource is the kind of the object that a declared resource becomes.
func KindOfResource(r nexusv1.ResourcePart) string {
	if r.Type != "" {
		return part.KindAnyType
	}
	return r.Kind
}

// TypeOfResource is the resource type of AWS of a declared resource; empty for a kind that cannot be declared.
func TypeOfResource(r nexusv1.ResourcePart) string {
	if r.Type != "" {
		return r.Type
	}
	return resourceKinds[r.Kind].typeName
}

// ID is the ID of the node of a declared resource.
func ID(n part.Names, r part.Resource) string {
	return KindOfResource(r.ResourcePart) + "/" + n.Of(r.Name)
}

// resourceIDs returns the IDs of the nodes of resources that publish values which others need.
func resourceIDs(k *part.Compiler) (out []string) {
	for _, r := range k.Parts.Resources(k.Spec) {
		if len(r.Exports) > 0 || r.Access != nil {
			out = append(out, ID(k.Names, r))
		}
	}
	return out
}

// addResources makes the objects of dataServices.resources and spec.ai. Each comes after the parts that it uses.
func addResources(k *part.Compiler) {
	for _, r := range k.Parts.ResourcesByName(k.Spec) {
		o, err := resourceObject(k, r)
		if err != nil {
			if k.Capability.DeletionTimestamp == nil { // Validate has refused it before
				k.Fail(err)
			}
			continue
		}
		after := graph.NeedReady(usedBy(k, r)...)
		role, lacks := addServiceRole(k, r)
		if role != "" {
			after = append(after, graph.NeedReady(role)...)
		}
		id := k.Resource(part.Child{Kind: KindOfResource(r.ResourcePart), Name: k.Names.Of(r.Name), Step: part.StepResources,
			Component: r.Component}, o, after...)
		awaitRights(k, lacks)
		if r.Access != nil {
			k.AddGrant(id)
		}
	}
}

// resourceObject returns the object of a declared resource, without the fields that the capability sets.
func resourceObject(k *part.Compiler, r part.Resource) (awsv1.Resource, error) {
	if r.Type != "" {
		properties, err := propertiesOf(k, r)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(properties)
		o := &awsv1.AWSResource{Spec: awsv1.AWSResourceSpec{TypeName: r.Type, Properties: runtime.RawExtension{Raw: text},
			Ignore: slices.Clone(r.Ignore), RecreateOnLoss: r.RecreateOnLoss}}
		o.Spec.Tags = r.Tags
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
func propertiesOf(k *part.Compiler, r part.Resource) (map[string]any, error) {
	if r.Compose != nil {
		return r.Compose(k), nil
	}
	return fill(k, r, r.Properties)
}

// fill returns the declared fields of a resource, and replaces the placeholders in its texts by values of the capability.
func fill(k *part.Compiler, r part.Resource, declared *runtime.RawExtension) (map[string]any, error) {
	out := map[string]any{}
	if declared == nil || len(declared.Raw) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(declared.Raw, &out); err != nil {
		return nil, err
	}
	values := map[string]string{
		"name": k.Names.Of(r.Name), "capability": k.Names.Capability, "environment": k.Names.Environment, "account": k.Home.Account,
		"region": k.Home.Region,
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
func usedBy(k *part.Compiler, r part.Resource) (out []string) {
	parts := k.Parts.ObjectsByName(k.Capability)
	for _, name := range r.Uses {
		out = append(out, parts[string(name)]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
