// SPDX-License-Identifier: Apache-2.0

package bundled

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// nexusctl has the bundle in it, so its size is limited: 3 MB.
func TestBundle_HasEveryTypeInLittleSpace(t *testing.T) {
	b, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if len(schemas) > 3<<20 || len(b.Types) < 1850 || !slices.IsSorted(b.Types) || len(b.Date) != len("2006-01-02") {
		t.Errorf("%d bytes, %d types of %s", len(schemas), len(b.Types), b.Date)
	}
	for _, name := range b.Types {
		var of struct{ TypeName string }
		if text, err := b.Schema(name); err != nil || json.Unmarshal(text, &of) != nil || of.TypeName != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "AWS::No::Type", "AWS::Kinesis", "index"} {
		if of, err := b.Schema(name); of != nil || err != nil {
			t.Errorf("%q: %s, %v", name, of, err)
		}
	}
}

// The bundle is of the package that the tests pin.
func TestBundle_IsOfThePinnedPackage(t *testing.T) {
	b, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	pins, err := os.ReadFile("../../../dev/requirements.txt")
	if err != nil || !slices.Contains(strings.Split(string(pins), "\n"), pinOf(b.Source)) {
		t.Errorf("dev/requirements.txt pins another version than %s: run `make awstypes`", b.Source)
	}
}

// pinOf returns the line of requirements.txt for a package and its version.
func pinOf(source string) string { return strings.Replace(source, " ", "==", 1) }
