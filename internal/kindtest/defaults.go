// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// leaveOutDefault leaves a member out that has the value which the service's model names as its default.
func leaveOutDefault(m member) bool {
	value, known := m.defaultValue()
	if k := m.value.Kind(); k != reflect.Pointer && k != reflect.String {
		return false // the model says that an absent one is zero or false
	}
	if !known || !m.isOptional() || m.value.IsZero() || fmt.Sprint(settable(m.value).Interface()) != value {
		return false
	}
	m.value.SetZero()
	return true
}

// giveDefault sets a member that was left out to its default.
func giveDefault(m member) bool {
	value, known := m.defaultValue()
	if !known || !m.value.IsZero() {
		return false
	}
	v := m.value
	if v.Kind() == reflect.Pointer {
		made := reflect.New(v.Type().Elem())
		if !setText(made.Elem(), value) {
			return false
		}
		v.Set(made)
		return true
	}
	return v.Kind() == reflect.String && setText(v, value) // a number that is zero may be no default
}

// defaultValue returns the default of a member. Changes that wait have none: an absent one is none.
func (m member) defaultValue() (value string, known bool) {
	a, err := models()
	if err != nil {
		panic(err) // the table is embedded
	}
	if strings.HasPrefix(m.shape, "Pending") {
		return "", false
	}
	value, known = a.Defaults[m.service][m.field.Name]
	return value, known
}

// setText sets a value to the one in a text, and reports whether it can have it.
func setText(v reflect.Value, text string) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return false
		}
		v.SetInt(n)
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return false
		}
		v.SetFloat(n)
	default:
		return false
	}
	return true
}
