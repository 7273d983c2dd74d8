// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"reflect"
	"slices"
	"testing"
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
		{}, {Text: "a"}, {On: &yes}, {Text: "a", Choice: "A", On: &yes, List: list}, {Text: "b", List: list[1:]}, {Choice: "B"}, {Text: "b"}, {On: &no},
	} {
		values = append(values, reflect.ValueOf(&s).Elem())
	}
	if got := cover(values); !slices.Equal(got, []int{3, 0, 7, 5}) {
		t.Errorf("chose %v", got)
	}
}
