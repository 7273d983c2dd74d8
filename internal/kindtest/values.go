// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"encoding/json"
	"reflect"
	"testing"
)

// fieldValues are the values of each field of specs, in JSON by the path of the field. In every run, what is expensive is done with one
// object for each value instead of each combination of them.
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
