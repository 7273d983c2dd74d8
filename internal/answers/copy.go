// SPDX-License-Identifier: Apache-2.0

package answers

import "reflect"

// deepCopy returns a copy that shares nothing with v that a caller may change. Values behind interfaces are shared.
func deepCopy(v any) any {
	if v == nil {
		return nil
	}
	return copied(reflect.ValueOf(v)).Interface()
}

func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copied(v.Elem()))
		return out
	case reflect.Struct:
		return copiedStruct(v)
	case reflect.Slice:
		return copiedSlice(v)
	case reflect.Map:
		return copiedMap(v)
	default:
		return v
	}
}

func copiedStruct(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && out.Field(i).CanSet() {
			out.Field(i).Set(copied(v.Field(i)))
		}
	}
	return out
}

func copiedSlice(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		out.Index(i).Set(copied(v.Index(i)))
	}
	return out
}

func copiedMap(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for _, key := range v.MapKeys() {
		out.SetMapIndex(key, copied(v.MapIndex(key)))
	}
	return out
}
