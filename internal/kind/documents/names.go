// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Names returns the resources that a document names by ARNs and by identifiers of a known form, and those that guess finds in other texts:
// the ARNs of the resources that the member at a path may name. The value of a reference is judged as a text, too, unless it is the ARN of
// the resource that its object owns: a resource may have the name of a resource of another type. Mistakes in a reference are reported where
// it is resolved. The values of Secrets are judged alike.
func Names(sc kind.Scope, field string, document []byte, guess func(at []string, value string) []string) []kind.Naming {
	var value any
	if json.Unmarshal(document, &value) != nil { // the kind refuses invalid JSON
		return nil
	}
	n := namings{sc: sc, guess: guess}
	n.collect(nil, field, value)
	return n.found
}

// every stands for each element of a list in a path.
const every = "*"

type namings struct {
	sc    kind.Scope
	guess func(at []string, value string) []string
	found []kind.Naming
}

func (n *namings) collect(at []string, field string, value any) {
	switch value := value.(type) {
	case map[string]any:
		switch {
		case isReference(value):
			n.addReference(at, field, value)
			return
		case value[secretName] != nil:
			n.addSecret(at, field, value)
			return
		}
		for _, name := range kind.SortedKeys(value) {
			n.collect(append(slices.Clone(at), name), field+"."+name, value[name])
		}
	case []any:
		for i, element := range value {
			n.collect(append(slices.Clone(at), every), fmt.Sprintf("%s[%d]", field, i), element)
		}
	case string:
		n.add(at, field, value)
	}
}

func (n *namings) addReference(at []string, field string, object map[string]any) {
	r, err := referenceOf(field, object)
	if err != nil || n.sc.Ref == nil {
		return
	}
	target, err := n.sc.Ref(r.Kind, r.Name)
	if err != nil {
		return
	}
	if text, err := r.Value(field, target); err == nil && text != target.ARN {
		n.add(at, field, text)
	}
}

// addSecret adds the resources that the value in a Secret names. It does not show the value.
func (n *namings) addSecret(at []string, field string, object map[string]any) {
	k, err := secretKeyOf(field, object)
	if err != nil || n.sc.Secret == nil {
		return
	}
	value, err := n.sc.Secret(k.Name, k.Key)
	if err != nil {
		return
	}
	before := len(n.found)
	n.add(at, field, string(value))
	for i := range n.found[before:] {
		n.found[before+i].Value = "the resource that key " + k.Key + " of Secret " + k.Name + " names"
	}
}

func (n *namings) add(at []string, field, value string) {
	found := kind.Naming{Field: field, Value: value, ARNs: kind.ARNsByForm(n.sc.Place, value)}
	if len(found.ARNs) == 0 && !strings.HasPrefix(value, "arn:") {
		found.ARNs, found.Guessed = append(n.guess(at, value), kind.ARNsOfHost(n.sc.Place, value)...), true
	}
	if len(found.ARNs) > 0 || strings.HasPrefix(value, "arn:") { // also one of another account
		n.found = append(n.found, found)
	}
}
