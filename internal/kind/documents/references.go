// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Reference is an object in a document that stands for a value of the status of another object: {$ref: KMSKey/events, field: status.arn}.
type Reference struct {
	Kind, Name string
	// Field is the name of the value in the status.
	Field string
}

// SecretKey is an object in a document that stands for a key of a Secret of the namespace: {$secret: login, key: password}.
type SecretKey struct{ Name, Key string }

// Values returns the values that replace references and keys of Secrets.
type Values interface {
	ValueOf(field string, r Reference) (any, error)
	SecretOf(field string, k SecretKey) (any, error)
}

const (
	refName, fieldName  = "$ref", "field"
	secretName, keyName = "$secret", "key"
)

var (
	refForm    = regexp.MustCompile(`^([A-Z][A-Za-z0-9]{0,62})/([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)$`)
	fieldForm  = regexp.MustCompile(`^status\.([A-Za-z][A-Za-z0-9.]{0,127})$`)
	secretForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	keyForm    = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
)

// Resolve returns a copy of a value and replaces references and keys of Secrets in it. The field is the path of the value in messages. Its
// errors come from values, and are a *status.Stalled for an object that resembles a reference but is not one.
func Resolve(field string, value any, values Values) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		if stands, v, err := standIn(field, value, values); stands || err != nil {
			return v, err
		}
		out := make(map[string]any, len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			member, err := Resolve(field+"."+name, value[name], values)
			if err != nil {
				return nil, err
			}
			out[name] = member
		}
		return out, nil
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			var err error
			if out[i], err = Resolve(fmt.Sprintf("%s[%d]", field, i), element, values); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return value, nil
	}
}

// standIn returns the value that an object stands for, if it stands for one.
func standIn(field string, object map[string]any, values Values) (stands bool, v any, err error) {
	switch {
	case isReference(object):
		r, err := referenceOf(field, object)
		if err != nil {
			return true, nil, err
		}
		v, err = values.ValueOf(field, r)
		return true, v, err
	case object[secretName] != nil:
		k, err := secretKeyOf(field, object)
		if err != nil {
			return true, nil, err
		}
		v, err = values.SecretOf(field, k)
		return true, v, err
	default:
		return false, nil, nil
	}
}

// isReference reports whether an object has a reference. One with a # or an address leads into a JSON schema, which some properties hold.
func isReference(object map[string]any) bool {
	text, isText := object[refName].(string)
	return object[refName] != nil && !(isText && (strings.Contains(text, "#") || strings.Contains(text, "://")))
}

func referenceOf(field string, object map[string]any) (Reference, error) {
	text, _ := object[refName].(string)
	named, of := refForm.FindStringSubmatch(text), fieldForm.FindStringSubmatch(fmt.Sprint(object[fieldName]))
	if named == nil || of == nil || len(object) != 2 {
		return Reference{}, status.Invalid(field,
			"is no reference: write {$ref: KIND/NAME, field: status.arn}, with an object of this namespace and a field of its status")
	}
	return Reference{Kind: named[1], Name: named[2], Field: of[1]}, nil
}

func secretKeyOf(field string, object map[string]any) (SecretKey, error) {
	name, _ := object[secretName].(string)
	key, _ := object[keyName].(string)
	if !secretForm.MatchString(name) || !keyForm.MatchString(key) || len(object) != 2 {
		return SecretKey{}, status.Invalid(field, "names no key of a Secret: write {$secret: NAME, key: KEY}, with a Secret of this namespace")
	}
	return SecretKey{Name: name, Key: key}, nil
}

// References returns the references and the keys of Secrets in the JSON of a document; none for a document that cannot be read.
func References(document []byte) ([]Reference, []SecretKey) {
	var value any
	_ = json.Unmarshal(document, &value) // the kind refuses invalid JSON
	found := &collected{}
	found.collect(value)
	return found.references, found.secrets
}

type collected struct {
	references []Reference
	secrets    []SecretKey
}

func (c *collected) collect(value any) {
	switch value := value.(type) {
	case map[string]any:
		if stands, _, _ := standIn("", value, c); stands {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			c.collect(value[name])
		}
	case []any:
		for _, element := range value {
			c.collect(element)
		}
	}
}

// ValueOf implements Values.
func (c *collected) ValueOf(_ string, r Reference) (any, error) {
	c.references = append(c.references, r)
	return nil, nil
}

// SecretOf implements Values.
func (c *collected) SecretOf(_ string, k SecretKey) (any, error) {
	c.secrets = append(c.secrets, k)
	return nil, nil
}

// Check returns the first mistake in the references in the JSON of a document, without reading their targets; nil if all can be read.
func Check(field string, document []byte) error {
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return status.Invalid(field, "cannot be read: %v", err)
	}
	_, err := Resolve(field, value, &collected{})
	return err
}

// Value returns the value of a target that a reference names.
func (r Reference) Value(field string, t kind.Target) (string, error) {
	found, known := t.Attributes[r.Field]
	switch r.Field {
	case "id":
		found, known = t.ID, true
	case "arn":
		found, known = t.ARN, true
	}
	switch {
	case !known:
		names := append([]string{"status.arn", "status.id"}, kind.SortedKeys(t.Attributes)...)
		for i, name := range names[2:] {
			names[i+2] = "status." + name
		}
		return "", status.Invalid(field, "status.%s of %s/%s cannot be referred to; these can: %s", r.Field, r.Kind, r.Name,
			strings.Join(names, ", "))
	case found == "":
		return "", &status.Waiting{Reason: status.ReasonWaiting,
			For: fmt.Sprintf("%s/%s to have status.%s, to which %s refers", r.Kind, r.Name, r.Field, field)}
	default:
		return found, nil
	}
}

// Secrets returns the texts of the write-only values in an object, which no message may contain.
func Secrets(value any) []string {
	var out []string
	switch value := value.(type) {
	case *kind.WriteOnly:
		out = append(out, Texts(reveal(value))...)
	case map[string]any:
		for _, member := range value {
			out = append(out, Secrets(member)...)
		}
	case []any:
		for _, element := range value {
			out = append(out, Secrets(element)...)
		}
	}
	return out
}

// Texts returns the texts in a value, at any depth.
func Texts(value any) []string {
	var out []string
	switch value := value.(type) {
	case string:
		out = append(out, value)
	case map[string]any:
		for _, member := range value {
			out = append(out, Texts(member)...)
		}
	case []any:
		for _, element := range value {
			out = append(out, Texts(element)...)
		}
	}
	return out
}
