// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// fieldValues are the values of each field of specs, in JSON by the path of the field. In every run, the expensive checks use one object
// for each value instead of each combination of them.
type fieldValues map[string]map[string]bool

// adds reports whether a spec has a value of a field that no spec before it had, and adds its values.
func (f fieldValues) adds(t *testing.T, spec reflect.Value) bool {
	t.Helper()
	before := f.number()
	f.add(t, "", spec)
	return f.number() > before
}

func (f fieldValues) number() (n int) {
	for _, values := range f {
		n += len(values)
	}
	return n
}

func (f fieldValues) add(t *testing.T, at string, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		field, value := v.Type().Field(i), settable(v.Field(i))
		switch {
		case !field.IsExported() || field.Name == "CommonSpec" && at == "":
		case value.Kind() == reflect.Struct:
			f.add(t, at+field.Name+".", value)
		default:
			text, err := json.Marshal(value.Interface())
			if err != nil {
				t.Fatal(err)
			}
			if f[at+field.Name] == nil {
				f[at+field.Name] = map[string]bool{}
			}
			f[at+field.Name][string(text)] = true
		}
	}
}

// cover returns the places of specs that together have all traits of all specs: each field set and unset, both values of each bool and
// every value of each enumeration. It is first the one with the most of these, then each time the one with most of the rest.
func cover(specs []reflect.Value) (places []int) {
	traits := make([]map[string]bool, len(specs))
	for i, spec := range specs {
		traits[i] = map[string]bool{}
		addTraits(traits[i], "", spec)
	}
	for seen := map[string]bool{}; ; {
		best, most := 0, 0
		for i := range specs {
			if n := lacking(seen, traits[i]); n > most {
				best, most = i, n
			}
		}
		if most == 0 {
			return places
		}
		maps.Copy(seen, traits[best])
		places = append(places, best)
	}
}

func lacking(seen, traits map[string]bool) (n int) {
	for trait := range traits {
		if !seen[trait] {
			n++
		}
	}
	return n
}

// addTraits adds the traits that cover distinguishes in a value. Strings of a named type are enumerations.
func addTraits(to map[string]bool, at string, v reflect.Value) {
	said := !v.IsZero()
	to[fmt.Sprint(at, said)] = true
	switch kind := v.Kind(); {
	case kind == reflect.Pointer && said:
		addTraits(to, at+"*", v.Elem())
	case kind == reflect.String && v.Type().PkgPath() != "", kind == reflect.Bool:
		to[fmt.Sprintf("%s=%v", at, v)] = true
	case kind == reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Type != reflect.TypeFor[v1alpha1.CommonSpec]() {
				addTraits(to, at+"."+field.Name, v.Field(i))
			}
		}
	case kind == reflect.Slice:
		for i := range v.Len() {
			addTraits(to, at+"[]", v.Index(i))
		}
	}
}
