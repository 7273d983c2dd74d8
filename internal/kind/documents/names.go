// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Names returns what a document names by ARNs and by identifiers whose form tells what they are, and what guess finds in other texts: the
// ARNs of what the member that a path leads to may name. References and keys of Secrets are judged by the objects that they name.
func Names(sc kind.Scope, field string, document []byte, guess func(at []string, value string) []string) []kind.Naming {
	var value any
	if json.Unmarshal(document, &value) != nil { // the kind refuses what is no JSON
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
		if isReference(value) {
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

func (n *namings) add(at []string, field, value string) {
	found := kind.Naming{Field: field, Value: value, ARNs: kind.ARNsByForm(n.sc, value)}
	if len(found.ARNs) == 0 && !strings.HasPrefix(value, "arn:") {
		found.ARNs, found.Guessed = n.guess(at, value), true
	}
	if len(found.ARNs) > 0 || strings.HasPrefix(value, "arn:") { // also one of another account
		n.found = append(n.found, found)
	}
}
