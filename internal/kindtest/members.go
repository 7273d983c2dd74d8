// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"encoding/json"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// member is a field of a struct in an answer of AWS.
type member struct {
	// path is that of the operation, such as dynamodb.DescribeTable Table.KeySchema, without positions in lists.
	path string
	// service and shape are the names of the struct in the models.
	service, shape string
	field          reflect.StructField
	value          reflect.Value
}

// name is that of the field in the models, such as dynamodb.TableDescription.KeySchema.
func (m member) name() string { return m.service + "." + m.shape + "." + m.field.Name }

// eachMember calls do for every field of an answer, the innermost first.
func eachMember(operation string, output any, do func(m member)) {
	visit(operation+" ", reflect.ValueOf(output), do)
}

func visit(at string, v reflect.Value, do func(m member)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(at, v.Elem(), do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(at, v.Index(i), do)
		}
	case reflect.Map:
		visitMap(at, v, do)
	case reflect.Struct:
		visitStruct(at, v, do)
	}
}

// visitMap visits copies of the values, because those of maps cannot be changed.
func visitMap(at string, v reflect.Value, do func(m member)) {
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		visit(at, value, do)
		v.SetMapIndex(key, value)
	}
}

func visitStruct(at string, v reflect.Value, do func(m member)) {
	t := v.Type()
	if t == reflect.TypeFor[time.Time]() {
		return
	}
	service := path.Base(strings.TrimSuffix(t.PkgPath(), "/types"))
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		below := at + f.Name
		if !strings.HasSuffix(at, " ") {
			below = at + "." + f.Name
		}
		visit(below, v.Field(i), do)
		do(member{path: below, service: service, shape: t.Name(), field: f, value: v.Field(i)})
	}
}

var models = sync.OnceValues(awsmodels.ReadAnswers)

// isOptional reports whether AWS may leave the member out, by the service's model.
func (m member) isOptional() bool {
	a, err := models()
	if err != nil {
		panic(err) // the table is embedded
	}
	return !slices.Contains(a.Required[m.service][m.shape].All(), m.field.Name)
}

// isEmpty reports whether a value says no more than its absence: an empty list, map or text, false, or a struct of such. Zero is a
// number like others: a weight or a reservation of zero is not none.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || isEmpty(v.Elem())
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		for i := range v.NumField() {
			if !isEmpty(v.Field(i)) {
				return false
			}
		}
		return true
	case reflect.String, reflect.Bool:
		return v.IsZero()
	default:
		return false
	}
}

var endsLikeState = regexp.MustCompile(`(?:Status|State)$`)

// isState reports whether the member shows an operation of AWS in progress. Those that are on or off are settings.
func (m member) isState() bool {
	v := settable(m.value)
	isNamed := endsLikeState.MatchString(m.field.Name) || m.field.Name == "Name" && strings.HasSuffix(v.Type().Name(), "StateName")
	if v.Kind() != reflect.String || v.Len() == 0 || !isNamed {
		return false
	}
	known := valuesOf(v)
	return len(known) == 0 || slices.ContainsFunc(known, func(k string) bool { return !slices.Contains(switches, strings.ToLower(k)) })
}

// switches are the values of settings that are on or off, in lower case.
var switches = []string{"enabled", "disabled", "suspended", "on", "off", "active", "inactive"}

// settable returns the target of a pointer, and other values as they are.
func settable(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		return v.Elem()
	}
	return v
}

// valuesOf returns the values of an enumeration that the SDK knows; none of other types.
func valuesOf(v reflect.Value) (out []string) {
	values := v.MethodByName("Values")
	if !values.IsValid() || values.Type().NumIn() != 0 || values.Type().NumOut() != 1 {
		return nil
	}
	all := values.Call(nil)[0]
	for i := range all.Len() {
		out = append(out, all.Index(i).String())
	}
	return out
}

// isEnum reports whether the member is an enumeration. AWS may add values to one.
func (m member) isEnum() bool {
	v := settable(m.value)
	return v.Kind() == reflect.String && v.Len() > 0 && len(valuesOf(v)) > 0
}

// reverse turns the order of a list round.
func reverse(v reflect.Value) {
	for i, j := 0, v.Len()-1; i < j; i, j = i+1, j-1 {
		a, b := v.Index(i).Interface(), v.Index(j).Interface()
		v.Index(i).Set(reflect.ValueOf(b))
		v.Index(j).Set(reflect.ValueOf(a))
	}
}

// reversePolicy turns the order of the lists of a policy round: its statements, and the values of their elements. It returns other
// texts as they are. IAM encodes its policies like parts of URLs.
func reversePolicy(text string) string {
	plain, encoded := text, strings.HasPrefix(text, "%7B")
	if encoded {
		var err error
		if plain, err = url.QueryUnescape(text); err != nil {
			return text
		}
	}
	var document map[string]any
	if !strings.HasPrefix(plain, "{") || json.Unmarshal([]byte(plain), &document) != nil || document["Statement"] == nil {
		return text
	}
	reverseLists(document)
	out, err := json.Marshal(document)
	if err != nil {
		return text
	}
	if encoded {
		return url.QueryEscape(string(out))
	}
	return string(out)
}

func reverseLists(v any) {
	switch t := v.(type) {
	case map[string]any:
		for _, value := range t {
			reverseLists(value)
		}
	case []any:
		for _, value := range t {
			reverseLists(value)
		}
		slices.Reverse(t)
	}
}
