// SPDX-License-Identifier: Apache-2.0

package part

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wholes are values of types that are compared as one value, because their fields are not exported.
var wholes = map[reflect.Type]any{
	reflect.TypeFor[netip.Addr]():        netip.MustParseAddr("192.0.2.1"),
	reflect.TypeFor[resource.Quantity](): resource.MustParse("1"),
	reflect.TypeFor[metav1.Time]():       metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
}

// fill sets every field of a value, and gives each list and map one element.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if whole, is := wholes[v.Type()]; is {
		v.Set(reflect.ValueOf(whole))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				t.Fatalf("%s has a field that is not exported: compare it in EqualsBut, and set it here", v.Type())
			}
			fill(t, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	default:
		t.Fatalf("%s: how is it compared?", v.Type())
	}
}

func filled(t *testing.T) Facts {
	t.Helper()
	var f Facts
	fill(t, reflect.ValueOf(&f).Elem())
	return f
}

// Facts of each pass are compared with those of the last one, so a fact that cannot be compared ends every pass after the first.
func TestFacts_AreComparedByEveryField(t *testing.T) {
	if !filled(t).Equal(filled(t)) {
		t.Error("the same facts are not equal")
	}
	var look func(path string, at func(*Facts) reflect.Value)
	look = func(path string, at func(*Facts) reflect.Value) {
		f := filled(t)
		v := at(&f)
		if _, whole := wholes[v.Type()]; v.Kind() == reflect.Struct && !whole {
			for i := range v.NumField() {
				look(path+"."+v.Type().Field(i).Name, func(f *Facts) reflect.Value { return at(f).Field(i) })
			}
			return
		}
		v.SetZero()
		if f.Equal(filled(t)) {
			t.Errorf("facts without %s equal those with it", path)
		}
	}
	look("facts", func(f *Facts) reflect.Value { return reflect.ValueOf(f).Elem() })
}

func TestFacts_OfAnotherAddressAreOthers(t *testing.T) {
	was, is := filled(t), filled(t)
	is.Balancer.Addresses = []netip.Addr{netip.MustParseAddr("192.0.2.2")}
	if is.Equal(was) || is.EqualsBut(was) {
		t.Error("a capability keeps the records of the former address")
	}
}
