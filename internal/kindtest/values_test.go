// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// In every run each field is set and unset, each bool has both values, and each enumeration every value, with few objects.
func TestCover_HasWhatAllSpecsHaveInFew(t *testing.T) {
	type choice string
	type spec struct {
		Text   string
		Choice choice
		On     *bool
		List   []struct{ Text string }
	}
	yes, no, list := true, false, []struct{ Text string }{{}, {"a"}}
	var values []reflect.Value
	for _, s := range []spec{
		{}, {Text: "a"}, {On: &yes}, {Text: "a", Choice: "A", On: &yes, List: list}, {Text: "b", List: list[1:]}, {Choice: "B"}, {Text: "b"},
		{On: &no},
	} {
		values = append(values, reflect.ValueOf(&s).Elem())
	}
	if got := cover(values); !slices.Equal(got, []int{3, 0, 7, 5}) {
		t.Errorf("chose %v", got)
	}
}

func TestValuesOf_GoForthAndBack(t *testing.T) {
	var p pool
	for _, size := range []int32{0, 1, 2, 3} {
		o := &v1alpha1.RDSInstance{}
		if size > 0 {
			o.Spec.BackupRetentionPeriod = &size
		}
		p.objects = append(p.objects, o)
	}
	spec := specOf(p.objects[0]).Type()
	field, _ := spec.FieldByName("BackupRetentionPeriod")
	var got []int32
	for _, v := range p.valuesOf(field.Index[0], 3) {
		if v.IsNil() {
			got = append(got, 0)
			continue
		}
		got = append(got, *v.Interface().(*int32))
	}
	if want := []int32{1, 2, 3, 2, 1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
