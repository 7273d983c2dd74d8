// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// namesTag is the struct tag of a field of a spec that names a resource which the object does not manage. Its value is the type of
// the resource, as the ARN has it: ec2:subnet, or arn where the field holds the whole ARN.
const namesTag = "names"

// Named is a resource that a spec names by an identifier.
type Named struct {
	// Field is the path of the field, such as spec.subnetIDs[0]; Value is its value.
	Field, Value string
	// Type is the value of the tag of the field.
	Type string
}

// NamedIn returns the resources that the spec of an object names by identifiers, in the order of their paths.
func NamedIn(obj v1alpha1.Resource) []Named {
	var out []Named
	collectNamed(reflect.ValueOf(obj).Elem().FieldByName("Spec"), "spec", "", &out)
	slices.SortStableFunc(out, func(a, b Named) int { return strings.Compare(a.Field, b.Field) }) // maps have no order
	return out
}

// collectNamed adds the resources that a value names. The type is that of the tag of its field; empty for a field without the tag.
func collectNamed(v reflect.Value, path, resource string, out *[]Named) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			collectNamed(v.Elem(), path, resource, out)
		}
	case reflect.Struct:
		collectFields(v, path, out)
	case reflect.Slice, reflect.Map:
		for key, element := range v.Seq2() {
			collectNamed(element, fmt.Sprintf("%s[%v]", path, key), resource, out)
		}
	case reflect.String:
		if resource != "" && v.String() != "" {
			*out = append(*out, Named{Field: path, Value: v.String(), Type: resource})
		}
	default:
	}
}

// collectFields adds the resources that the fields of a struct name, without documents: only the kind knows their members.
func collectFields(v reflect.Value, path string, out *[]Named) {
	if v.Type() == reflect.TypeFor[runtime.RawExtension]() {
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := path + "." + name
		if name == "" {
			below = path // of an embedded struct
		}
		collectNamed(v.Field(i), below, field.Tag.Get(namesTag), out)
	}
}

// ownerLookups are the actions that read the tags of a named resource, by its type; for all other types it is tag:GetResources.
var ownerLookups = map[string][]string{"iam:role": {"iam:GetRole"}, "kms:key": {"kms:DescribeKey", "tag:GetResources"}}

// lookupsOf returns the actions that read the owners of the resources that specs of a type name.
func lookupsOf(t reflect.Type, seen map[reflect.Type]bool) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	switch {
	case t.Kind() != reflect.Struct || seen[t]:
		return nil
	case t == reflect.TypeFor[runtime.RawExtension](): // which may contain any ARN
		return []string{"iam:GetRole", "kms:DescribeKey", "tag:GetResources"}
	}
	seen[t] = true
	var out []string
	for i := range t.NumField() {
		field := t.Field(i)
		if resource := field.Tag.Get(namesTag); resource != "" {
			actions, special := ownerLookups[resource]
			out = append(out, kind.Either(special, actions, []string{"tag:GetResources"})...)
		}
		out = append(out, lookupsOf(field.Type, seen)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namedBy returns the resources that an object names, with the ARNs that it may mean. Only the kind can read those in a document.
func namedBy[CR v1alpha1.Resource](k any, sc kind.Scope, obj CR) []kind.Naming {
	var out []kind.Naming
	for _, n := range NamedIn(obj) {
		out = append(out, kind.Naming{Field: n.Field, Value: n.Value, ARNs: kind.ARNsOf(sc.Place, n.Type, n.Value)})
	}
	if namer, ok := k.(kind.Namer[CR]); ok {
		out = append(out, namer.Names(sc, obj)...)
	}
	return out
}

// refuseOthersResources refuses a plan that would use a resource of another owner by its identifier: a reference to an object
// would need an object of the same namespace. Resources without an owner are used as their identity in AWS allows.
func refuseOthersResources(ctx context.Context, sc kind.Scope, o Owner, p Plan, names func() []kind.Naming) error {
	if sc.OwnersOf == nil || o.Deleting || !p.Writes() || o.ReportsOnly(p) {
		return nil
	}
	named, tags := names(), map[string]map[string]string{}
	if arns := arnsOf(named); len(arns) > 0 {
		var err error
		if tags, err = sc.OwnersOf(ctx, arns); err != nil {
			return err
		}
	}
	for _, n := range named {
		if why := o.whyNotNamed(n, tags); why != "" {
			return &status.Stalled{Reason: status.ReasonNotPermitted, Field: n.Field, Message: n.Value + " " + why}
		}
	}
	return nil
}

// whyNotNamed returns why the object must not name a resource, by the tags of the resources that it may mean; empty when it may.
func (o Owner) whyNotNamed(n kind.Naming, tags map[string]map[string]string) string {
	switch {
	case slices.ContainsFunc(n.ARNs, func(arn string) bool { return !o.mayUse(tags[arn]) }):
		return "belongs to an object of another namespace: name a resource of this namespace, or have an administrator add the namespace of its owner to --shared-namespaces of the operator"
	case len(o.Neighbors.Foreign) == 0 || n.Guessed ||
		slices.ContainsFunc(n.ARNs, func(arn string) bool { return tags[arn][wellknown.TagOwner] != "" }):
		return ""
	}
	arns := n.ARNs
	if len(arns) == 0 && strings.HasPrefix(n.Value, "arn:") { // of another account
		arns = []string{n.Value}
	}
	if len(arns) == 0 || slices.ContainsFunc(arns, func(arn string) bool { return allowsForeign(o.Neighbors.Foreign, arn) }) {
		return ""
	}
	return "shows no object of this namespace as its owner, and --foreign-resources of the operator does not allow " + arns[0] +
		": refer to an object of this namespace, or have an administrator add the ARN, or a pattern of it"
}

// arnsOf returns the ARNs of the named resources, each once.
func arnsOf(named []kind.Naming) (out []string) {
	for _, n := range named {
		out = append(out, n.ARNs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// allowsForeign reports whether patterns allow a resource that no one owns; none allow all.
func allowsForeign(patterns []string, arn string) bool {
	return len(patterns) == 0 || isOfAWS(arn) ||
		slices.ContainsFunc(patterns, func(pattern string) bool { return iampolicy.MatchesPattern(pattern, arn) })
}

// isOfAWS reports whether a resource is one that AWS has in every account: a managed policy, or the key of a service.
func isOfAWS(arn string) bool {
	return strings.Contains(arn, ":iam::aws:policy/") || strings.Contains(arn, ":alias/aws/")
}
