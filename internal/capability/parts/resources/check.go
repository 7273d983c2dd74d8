// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const resourcesField = "spec.dataServices.resources"

// exportedPattern fits the variables of exports.
var exportedPattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// decided are the fields of a kind's spec that the capability decides.
var decided = []string{"providerRef", "deletionPolicy", "driftPolicy", "adoptionPolicy", "managementPolicy", "importID"}

// checkResourceParts checks dataServices.resources.
func checkResourceParts(v *part.Verdict, c *nexusv1.NexusAICapability) {
	list := part.DataOf(&c.Spec).Resources
	if len(list) == 0 {
		return
	}
	if c.Spec.ProviderRef == nil {
		v.Refuse(status.ReasonNotPermitted, resourcesField, "need spec.providerRef: the operator lends its own identity only to what it composes itself, so name an AWSProvider of the namespace")
	}
	parts, variables := v.Parts.ObjectsByName(c), map[string]string{}
	for i, r := range list {
		at := fmt.Sprintf("%s[%d]", resourcesField, i)
		v.Require(len(parts[r.Name]) <= 1, at+".name", "%q is the name of another part of the capability: choose another name", r.Name)
		checkResourceSource(v, at, c, r)
		checkPartAccess(v, at+".access", r)
		checkExports(v, at+".exports", r, variables)
		checkUses(v, at+".uses", r, parts)
	}
	checkUsesEnd(v, list)
}

// checkResourceSource checks the type with properties, or the kind with spec, of a resource.
func checkResourceSource(v *part.Verdict, at string, c *nexusv1.NexusAICapability, r nexusv1.ResourcePart) {
	v.Require((r.Type != "") != (r.Kind != ""), at, "set type with properties, or kind with spec")
	if r.Type != "" {
		v.Require(r.Spec == nil, at+".spec", "belongs to kind")
		return
	}
	v.Require(r.Properties == nil && len(r.Ignore) == 0, at+".properties", "belongs to type")
	_, allowed := resourceKinds[r.Kind]
	why := v.Parts.FactsOf(r.Kind).Refusal
	if why == "" {
		why = "is none of " + strings.Join(slices.DeleteFunc(ResourceKinds(), func(kind string) bool { return kind == part.KindAnyType }), ", ")
	}
	v.Require(allowed, at+".kind", "%s %s", status.Truncate(r.Kind, part.MaxLabel), why)
	v.Require(!r.RecreateOnLoss, at+".recreateOnLoss", "belongs to type; the spec of a kind says it")
	members := membersOf(r.Spec)
	for _, field := range decided {
		_, set := members[field]
		v.Require(!set, at+".spec."+field, "the capability decides it: remove it")
	}
	if v.First == nil {
		_, err := resourceObject(part.NewCompiler(v.Parts, c, part.Facts{}), part.Resource{ResourcePart: r})
		v.Require(err == nil, at+".spec", "%s", withoutSpec(err))
	}
}

// withoutSpec returns the text of an error with paths below the spec.
func withoutSpec(err error) string {
	if err == nil {
		return ""
	}
	return status.Truncate(strings.ReplaceAll(err.Error(), `"spec.`, `"`), 512)
}

// membersOf returns the members of an object.
func membersOf(declared *runtime.RawExtension) (members map[string]any) {
	if declared == nil || json.Unmarshal(declared.Raw, &members) != nil {
		return nil
	}
	return members
}

// checkPartAccess requires actions that AWS can limit to the resource.
func checkPartAccess(v *part.Verdict, at string, r nexusv1.ResourcePart) {
	if r.Access == nil {
		return
	}
	typeName := TypeOfResource(r)
	grants, known, err := awsschema.GrantsOf(typeName)
	v.Require(err == nil, at, "%v", err)
	v.Require(known, at, "the actions on resources of type %s are not known to this version: remove access, or update the operator", typeName)
	for i, action := range r.Access.Actions {
		why := grants.WhyNot(string(action))
		v.Require(why == "", fmt.Sprintf("%s.actions[%d]", at, i), "%s %s", status.Truncate(string(action), 128), why)
	}
}

// checkExports requires distinct variables with values that are no secrets.
func checkExports(v *part.Verdict, at string, r nexusv1.ResourcePart, taken map[string]string) {
	for _, variable := range part.SortedKeys(r.Exports) {
		field := fmt.Sprintf("%s[%s]", at, status.Truncate(variable, 64))
		v.Matches(field, variable, 64, exportedPattern)
		for _, own := range []string{"NEXUS_", "AWS_"} {
			v.Require(!strings.HasPrefix(variable, own), field, "variables that begin with %s are the operator's: choose another name", own)
		}
		v.Require(taken[variable] == "", field, "the resource %s exports it, too", taken[variable])
		taken[variable] = r.Name
		checkExport(v, field, r, r.Exports[variable])
	}
}

func checkExport(v *part.Verdict, field string, r nexusv1.ResourcePart, value nexusv1.ExportedValue) {
	root, at := splitExport(value)
	_, typed := resourceKinds[r.Kind]
	switch root {
	case exportProperties:
		v.Require(!typed, field, "a kind has no properties: export arn, id or status.x")
		if v.First == nil && len(at) > 0 {
			checkExportedProperty(v, field, r, at)
		}
	case exportStatus:
		v.Require(typed, field, "export arn, id or properties.X of a type")
		v.Require(!typed || isShownText(r.Kind, at), field, "the status of %s has no text %s", r.Kind, strings.Join(at, "."))
	}
	v.Require(!awsschema.IsNamedAsSecret(at...), field, "%s may be a secret, which is not exported: the workloads read it from Secrets Manager", value)
}

// checkExportedProperty refuses properties that AWS never returns, and references, because their values come from other objects.
func checkExportedProperty(v *part.Verdict, field string, r nexusv1.ResourcePart, at []string) {
	grants, known, err := awsschema.GrantsOf(r.Type)
	v.Require(err == nil, field, "%v", err)
	v.Require(!grants.IsWriteOnly(at[0]), field, "AWS never shows %s, which may be a secret: it is not exported", at[0])
	var value any = membersOf(r.Properties)
	for i := range at {
		within, _ := value.(map[string]any)
		value = within[at[i]]
		object, _ := value.(map[string]any)
		v.Require(object["$secret"] == nil, field, "%s is a value of a Secret, which is not exported", strings.Join(at[:i+1], "."))
		v.Require(object["$ref"] == nil, field, "%s is a value of another object: export it there", strings.Join(at[:i+1], "."))
	}
	v.Require(known || value == nil, field, "the properties of type %s that are secret are not known to this version: export arn or id, or update the operator", r.Type)
}

// checkUses requires names of other parts.
func checkUses(v *part.Verdict, at string, r nexusv1.ResourcePart, parts map[string][]string) {
	for i, name := range r.Uses {
		field := fmt.Sprintf("%s[%d]", at, i)
		v.Require(string(name) != r.Name, field, "%q is the resource itself", name)
		v.Require(len(parts[string(name)]) > 0, field, "%q is no table, bucket, queue, topic, secret or resource of this capability", status.Truncate(string(name), part.MaxLabel))
	}
}

// checkUsesEnd refuses resources that use each other in a cycle.
func checkUsesEnd(v *part.Verdict, list []nexusv1.ResourcePart) {
	open := map[string][]string{}
	for _, r := range list {
		for _, name := range r.Uses {
			if slices.ContainsFunc(list, func(o nexusv1.ResourcePart) bool { return o.Name == string(name) }) {
				open[r.Name] = append(open[r.Name], string(name))
			}
		}
	}
	for range list { // a resource that uses no open one is in no cycle
		for i := range list {
			name := list[i].Name
			if open[name] = slices.DeleteFunc(open[name], func(used string) bool { return len(open[used]) == 0 }); len(open[name]) == 0 {
				delete(open, name)
			}
		}
	}
	for i, r := range list {
		v.Require(len(open[r.Name]) == 0, fmt.Sprintf("%s[%d].uses", resourcesField, i), "%s", circleOf(r.Name, open))
	}
}

// circleOf describes the circle that a resource leads to.
func circleOf(name string, open map[string][]string) string {
	seen := []string{name}
	for len(open[name]) > 0 {
		name = open[name][0]
		if slices.Contains(seen, name) {
			return strings.Join(append(seen, name), " uses ") + ": remove one of them"
		}
		seen = append(seen, name)
	}
	return ""
}
