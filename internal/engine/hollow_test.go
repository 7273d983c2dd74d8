// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// A record holds the written values that AWS does not show, and excuses no other value and no other place.
func TestHollow_ExcusesWhatWasWrittenAndIsNotShown(t *testing.T) {
	want := parsed(t, `{"B": {"Block": {}}, "Set": [{"K": "a", "Mode": {"On": {}}}, {"K": "b", "Mode": {"Off": {}}}], "O": {"P": {}, "Q": 1}}`)
	record := func(have string, written map[string]string) map[string]string {
		return addHollow("Properties", want, parsed(t, have), written, nil)
	}
	created := addHollow("Properties", want, nil, nil, map[string]string{"Properties.Password": "1"})
	if created["Properties.Password"] != "1" || strings.Count(created["Properties"+hollowMark], ",") != 6 {
		t.Fatalf("of a create: %v", created)
	}
	const whole = `{"B": {"Block": {}}, "Set": [{"K": "b", "Mode": {"Off": {}}}, {"K": "a", "Mode": {"On": {}}}], "O": {"P": {}, "Q": 1}}`
	if got := record(whole, created); got != nil {
		t.Errorf("of what is shown: %v", got)
	}
	for _, c := range []struct {
		name, have string
		written    map[string]string
		paths      []string
	}{
		{"shown", whole, nil, nil},
		{"not shown, and never written", `{"Set": [{"K": "a", "Mode": {"On": {}}}, {"K": "b"}], "O": {"Q": 1}}`, nil,
			[]string{"Properties.B", "Properties.O.P", "Properties.Set"}},
		{"not shown after the create", `{"Set": [{"K": "a", "Mode": {"On": {}}}, {"K": "b"}], "O": {"Q": 1}}`, created, nil},
		{"the outer objects alone", `{"B": {}, "Set": [{"K": "a", "Mode": {}}, {"K": "b", "Mode": {}}], "O": {"P": {}, "Q": 1}}`, created, nil},
		{"another choice that was shown",
			`{"B": {"Allow": {}}, "Set": [{"K": "a", "Mode": {"On": {}}}, {"K": "b", "Mode": {"Off": {}}}], "O": {"P": {}, "Q": 1}}`,
			record(whole, created), []string{"Properties.B.Block"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, d := range Compare(documented{want}, documented{parsed(t, c.have)}, nil, c.written) {
				paths = append(paths, d.Path)
			}
			if fmt.Sprint(paths) != fmt.Sprint(c.paths) {
				t.Errorf("got %q, want %q", paths, c.paths)
			}
		})
	}
	other := parsed(t, `{"B": {"Allow": {}}}`)
	if diff := Compare(documented{other}, documented{parsed(t, `{}`)}, nil, created); len(diff) != 1 {
		t.Errorf("the record of one choice excuses another: %+v", diff)
	}
	if hidden := hiddenPaths(&v1alpha1.CommonStatus{WrittenVersions: created}, nil); len(hidden) != 1 {
		t.Errorf("what the record hides: %q", hidden)
	}
}
