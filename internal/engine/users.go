// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	docs "github.com/nexus-operator/nexus-operator/internal/kind/documents"
)

// fieldsNaming are the fields of specs that name a resource of another kind, in lower case: by a reference, an identifier, a
// name or an ARN. They are searched at every depth. One with a kind before it counts for that kind only. A test compares them with
// the definitions of all kinds.
var fieldsNaming = map[string][]string{
	"KMSKey": {"kmskeyref", "kmsmasterkeyref", "kmskey", "kmskeyid", "kmskeyarn", "kmsmasterkeyid", "providerkeyarn", "keyid"},
	// The role that trusts a ServiceAccount names the cluster, too, and its trust outlives the cluster.
	"EKSCluster": {"podidentityassociation.clustername"},
	"IAMRole":    {"roleref", "role", "rolearn", "subscriptionroleref", "subscriptionrolearn", "targetrolearn", "iaminstanceprofile"},
}

// Identified is implemented by objects with a resource that has more names than its ID and its ARN, such as a key with aliases.
type Identified interface {
	// Identifiers returns these names.
	Identifiers() []string
}

// MayUse reports whether objects of a kind can name a resource of another kind.
func MayUse(user v1alpha1.Resource, targetKind string) bool {
	return hasNamingField(specOf(user).Type(), fieldsOf(user, targetKind))
}

// fieldsOf returns the fields of a kind of user that name a resource of another kind.
func fieldsOf(user v1alpha1.Resource, targetKind string) (out []string) {
	kindName := strings.ToLower(reflect.TypeOf(user).Elem().Name())
	for _, field := range fieldsNaming[targetKind] {
		of, name, isQualified := strings.Cut(field, ".")
		switch {
		case !isQualified:
			out = append(out, field)
		case of == kindName:
			out = append(out, name)
		}
	}
	return out
}

// NamesAny reports whether an object names some resource of a kind, or has named a key.
func NamesAny(user v1alpha1.Resource, targetKind string) bool {
	n := namesIn(user, targetKind)
	intent, err := ReadIntent(user.GetAnnotations(), string(user.GetUID()))
	return len(n.references)+len(n.literals) > 0 || err == nil && intent != nil && len(intent.Needed) > 0
}

// namesIn collects the names in the spec of an object.
func namesIn(user v1alpha1.Resource, targetKind string) naming {
	n := naming{kind: targetKind, fields: fieldsOf(user, targetKind)}
	n.collect(specOf(user), false)
	return n
}

// keyNames returns the names of keys in the spec of an object, without those of references, and for a key its aliases: an alias that moves
// to another key leaves behind the data that was encrypted under this name. Values that may name any resource have other ARNs.
func keyNames(o v1alpha1.Resource) []string {
	if key, ok := o.(*v1alpha1.KMSKey); ok {
		var aliases []string // as they are known before the create, so that no look at the key records more
		for _, alias := range key.Spec.Aliases {
			aliases = append(aliases, string(alias))
		}
		return aliases
	}
	return slices.DeleteFunc(namesIn(o, keyKind).literals,
		func(name string) bool { return strings.HasPrefix(name, "arn:") && !strings.Contains(name, ":kms:") })
}

// keyKind is the kind of the resources that are required to read data.
const keyKind = "KMSKey"

// mostNeeded bounds the names of keys on record for one object.
const mostNeeded = 50

// neededToRecord adds the keys that the plan may encrypt data with to those on record. Once AWS was observed with the declared key,
// it is the only one, unless the kind keeps data under earlier keys.
func (a *advance) neededToRecord(recorded []string, p Plan) []string {
	now, refs := slices.Clone(a.o.KeyNames), a.h.Refs()
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if strings.HasPrefix(name, keyKind+"/") && refs[name].ARN != "" {
			now = append(now, refs[name].ARN)
		}
	}
	if len(now) == 0 || p.Cause != InSync || a.meta.Facts.EarlierKeys.Kept != "" {
		now = append(now, recorded...)
	}
	var out []string
	for _, name := range now {
		if !slices.Contains(out, name) && len(out) < mostNeeded { // the latest come first
			out = append(out, name)
		}
	}
	return out
}

// UsedEarlier reports whether an object no longer names the resource of another one, and may have data that cannot be read without it.
func UsedEarlier(user v1alpha1.Resource, target v1alpha1.Resource, targetKind string) bool {
	intent, err := ReadIntent(user.GetAnnotations(), string(user.GetUID()))
	return err == nil && intent != nil && mayExist(user, intent, nil) && !usesNow(user, target, targetKind, intent) &&
		slices.ContainsFunc(intent.Needed, func(name string) bool { return denotes(name, target, user) })
}

// Uses reports whether an object that may have something in AWS needs the resource of another object: it names it in its spec, or by
// a reference that it had when it was last written to AWS, or used it earlier. An object without anything in AWS does not need it.
func Uses(user v1alpha1.Resource, target v1alpha1.Resource, targetKind string) bool {
	intent, err := ReadIntent(user.GetAnnotations(), string(user.GetUID()))
	return mayExist(user, intent, err) && usesNow(user, target, targetKind, intent) || UsedEarlier(user, target, targetKind)
}

func usesNow(user v1alpha1.Resource, target v1alpha1.Resource, targetKind string, intent *Intent) bool {
	n := namesIn(user, targetKind)
	if user.GetNamespace() == target.GetNamespace() {
		_, recorded := intent.recordedRefs()[targetKind+"/"+target.GetName()]
		if recorded || slices.Contains(n.references, target.GetName()) {
			return true
		}
	}
	return slices.ContainsFunc(n.literals, func(name string) bool { return denotes(name, target, user) })
}

// mayExist reports whether something of an object may be in AWS, by its status or its record. A record that cannot be read
// counts, and so does that of an earlier object, which this one may be about to take over.
func mayExist(o v1alpha1.Resource, intent *Intent, unreadable error) bool {
	st := o.CommonStatus()
	_, recorded := o.GetAnnotations()[AnnotationHome]
	return st.ID != "" || st.ARN != "" || unreadable != nil || recorded && (intent == nil || intent.MayHaveCreated())
}

func (i *Intent) recordedRefs() map[string]kind.Target {
	if i == nil {
		return nil
	}
	return i.Refs
}

// denotes reports whether a name in the spec of a user is one of the target's resource. A name that is no ARN is one of the
// user's own account and region.
func denotes(name string, target, user v1alpha1.Resource) bool {
	st := target.CommonStatus()
	names := []string{st.ID, st.ARN}
	if i, ok := target.(Identified); ok {
		names = append(names, i.Identifiers()...)
	}
	if intent, err := ReadIntent(target.GetAnnotations(), string(target.GetUID())); err == nil && intent != nil {
		names = append(names, intent.Needed...)
		if place, _, ok := strings.Cut(st.ARN, ":key/"); ok {
			for _, alias := range intent.Needed {
				names = append(names, place+":"+alias)
			}
		}
	}
	if !slices.Contains(names, name) {
		return false
	}
	return strings.HasPrefix(name, "arn:") || sharePlace(target, user)
}

// sharePlace reports whether two resources may be in the same account and, unless the ARN of the first has no region, in the
// same region.
func sharePlace(of, other v1alpha1.Resource) bool {
	a, b := strings.Split(of.GetAnnotations()[AnnotationHome], "/"), strings.Split(other.GetAnnotations()[AnnotationHome], "/")
	if len(a) != 3 || len(b) != 3 {
		return true
	}
	arn := strings.SplitN(of.CommonStatus().ARN, ":", 5)
	global := len(arn) == 5 && arn[3] == ""
	return a[0] == b[0] && a[1] == b[1] && (global || a[2] == b[2])
}

// naming collects the names in the fields of a spec.
type naming struct {
	kind                 string
	fields               []string
	references, literals []string
}

// collect walks a value; inside is true at and below a field that names a resource.
func (n *naming) collect(v reflect.Value, inside bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n.collect(v.Elem(), inside)
		}
	case reflect.String:
		if inside && v.String() != "" {
			n.literals = append(n.literals, v.String())
		}
	case reflect.Struct:
		n.collectStruct(v, inside)
	case reflect.Slice:
		for i := range v.Len() {
			n.collect(v.Index(i), inside)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			n.collect(entries.Value(), inside)
		}
	}
}

func (n *naming) collectStruct(v reflect.Value, inside bool) {
	ref, isReference := v.Interface().(v1alpha1.ObjectReference)
	raw, isDocument := v.Interface().(runtime.RawExtension)
	switch {
	case isDocument:
		n.collectDocument(raw.Raw)
	case isReference && inside:
		n.references = append(n.references, ref.Name)
	case !isReference:
		for i := range v.NumField() {
			n.collect(v.Field(i), slices.Contains(n.fields, strings.ToLower(v.Type().Field(i).Name)))
		}
	}
}

// collectDocument collects the names in a value with members that are only known at run time: in references, in ARNs, and in the members
// that have the names of fields.
func (n *naming) collectDocument(text []byte) {
	references, _ := docs.References(text)
	for _, r := range references {
		if r.Kind == n.kind {
			n.references = append(n.references, r.Name)
		}
	}
	var value any
	_ = json.Unmarshal(text, &value) // the kind refuses invalid JSON
	n.collectTexts(value, false)
}

func (n *naming) collectTexts(value any, inside bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			n.collectTexts(member, slices.Contains(n.fields, strings.ToLower(name)))
		}
	case []any:
		for _, element := range value {
			n.collectTexts(element, inside)
		}
	case string:
		if inside || strings.HasPrefix(value, "arn:") {
			n.literals = append(n.literals, value)
		}
	}
}

// hasNamingField reports whether a type has one of the fields, or a value that may name anything, at any depth.
func hasNamingField(t reflect.Type, fields []string) bool {
	if t == reflect.TypeFor[runtime.RawExtension]() {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasNamingField(t.Elem(), fields)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if slices.Contains(fields, strings.ToLower(f.Name)) || hasNamingField(f.Type, fields) {
				return true
			}
		}
	}
	return false
}

func specOf(o v1alpha1.Resource) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByName("Spec")
}
