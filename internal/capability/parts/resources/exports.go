// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// The exported values that every resource has, and the beginnings of the others.
const (
	ExportARN        = "arn"
	ExportID         = "id"
	exportProperties = "properties"
	exportStatus     = "status"
)

// exportedValues returns the exported values of the resources for the application, with placeholders for values that are not known yet.
func exportedValues(k *part.Compiler) (out []part.Value) {
	for _, r := range k.Parts.ResourcesByName(k.Spec) {
		for _, variable := range part.SortedKeys(r.Exports) {
			out = append(out, part.Value{Parameter: parameterOf(r, variable), Variable: variable, Text: exportedValue(k, r, variable)})
		}
	}
	return out
}

func exportedValue(k *part.Compiler, r part.Resource, variable string) string {
	if value, declared := declaredValue(k, r, r.Exports[variable]); declared {
		return value
	}
	id := ID(k.Names, r)
	p := k.Proof(id)
	if value := p.Values[variable]; value != "" {
		return value
	}
	if p.Settled && k.Capability.DeletionTimestamp == nil {
		k.Fail(refusedOf(k, r, ".exports["+variable+"]", id+" is as declared and has no text "+string(r.Exports[variable]),
			"export another value"))
	}
	return part.PlaceholderFor(id)
}

// declaredValue returns an exported property that the capability itself declares.
func declaredValue(k *part.Compiler, r part.Resource, value nexusv1.ExportedValue) (string, bool) {
	root, at := splitExport(value)
	if root != exportProperties {
		return "", false
	}
	properties, err := propertiesOf(k, r)
	if err != nil {
		return "", false
	}
	return textAt(properties, at)
}

// splitExport returns the first word of an exported value, and the path below it.
func splitExport(value nexusv1.ExportedValue) (root string, at []string) {
	words := strings.Split(string(value), ".")
	return words[0], words[1:]
}

// ExportedBy returns the exported values that the object of a resource shows in its status, which only the operator writes.
func ExportedBy(r part.Resource, o awsv1.Resource) map[string]string {
	out := map[string]string{}
	for variable, value := range r.Exports {
		if text := shownBy(o, value); text != "" {
			out[variable] = text
		}
	}
	return out
}

func shownBy(o awsv1.Resource, value nexusv1.ExportedValue) string {
	root, at := splitExport(value)
	switch st := o.CommonStatus(); root {
	case ExportARN:
		return st.ARN
	case ExportID:
		return st.ID
	case exportProperties:
		text, _ := textAt(assignedProperties(o), at)
		return text
	default:
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return ""
		}
		shown, _ := content[exportStatus].(map[string]any)
		text, _ := textAt(shown, at)
		return text
	}
}

// assignedProperties are the properties that AWS assigned to the resource of an AWSResource, without secrets.
func assignedProperties(o awsv1.Resource) map[string]any {
	out := map[string]any{}
	if r, is := o.(*awsv1.AWSResource); is && r.Status.Properties != nil {
		_ = json.Unmarshal(r.Status.Properties.Raw, &out) // the operator wrote it
	}
	return out
}

// textAt returns a text, a number or a truth value below an object as a text.
func textAt(object map[string]any, at []string) (string, bool) {
	var value any = object
	for _, name := range at {
		within, is := value.(map[string]any)
		if !is {
			return "", false
		}
		value = within[name]
	}
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	default:
		return "", false
	}
}

// isShownText reports whether the status of a kind has a text, a number or a truth value at a path.
func isShownText(kind string, at []string) bool {
	o, err := newObject(kind)
	if err != nil {
		return false
	}
	t := reflect.TypeOf(o).Elem()
	for _, name := range append([]string{exportStatus}, at...) {
		field, ok := memberNamed(t, name)
		if !ok {
			return false
		}
		if t = field; t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return true
	default:
		return false
	}
}

// memberNamed returns the type of the field of a struct that has a name in JSON.
func memberNamed(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return f.Type, true
		}
		if f.Anonymous && tag == "" {
			if found, ok := memberNamed(f.Type, name); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// FieldBelow is the field of the capability that decides a field of the object.
func FieldBelow(r part.Resource, field string) string {
	at, below := r.Field, strings.TrimPrefix(field, "spec.")
	switch {
	case r.Compose != nil:
		return at
	case r.Kind != "" && strings.HasPrefix(field, "spec"):
		return at + "." + field
	case below == "typeName":
		return at + ".type"
	case strings.HasPrefix(below, "properties"), strings.HasPrefix(below, "ignore"), strings.HasPrefix(below, "recreateOnLoss"):
		return at + "." + below
	default:
		return at
	}
}
