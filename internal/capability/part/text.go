// SPDX-License-Identifier: Apache-2.0

package part

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
)

// Entry names an element of a list.
func Entry(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

var doubled = regexp.MustCompile(`[-_]{2,}`)

// Fitted returns a name of at most so many characters for a service that allows shorter names, or no two hyphens in a row. A name that does
// not fit is cut, and ends in a hash of the whole name, so that different names stay different.
func Fitted(name string, most int, hyphen string) string {
	plain := doubled.ReplaceAllString(name, hyphen)
	if plain == name && len(name) <= most {
		return name
	}
	return strings.TrimRight(plain[:min(len(plain), most-1-2*hashBytes)], hyphen) + hyphen + shortHash(name)
}

const hashBytes = 4

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:hashBytes])
}

// HashOf returns a short hash of properties; JSON sorts their names.
func HashOf(properties map[string]any) string {
	text, err := json.Marshal(properties)
	if err != nil {
		return "" // maps, lists and texts are always encoded
	}
	return shortHash(string(text))
}
