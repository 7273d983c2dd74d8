// SPDX-License-Identifier: Apache-2.0

package extent

import (
	"fmt"
	"slices"
	"testing"
)

func TestParse_RefusesEverythingElse(t *testing.T) {
	for _, s := range []string{"", "sample", "all", "1/1", "8/8"} {
		if _, err := Parse(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"every", "0/8", "9/8", "/8", "3/", "3"} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

// Each name belongs to exactly one part, and no part is empty.
func TestParts_AreAllOfTheTests(t *testing.T) {
	const parts, names = 8, 400
	count := map[int]int{}
	for i := range names {
		in := 0
		for k := range parts {
			if e, err := Parse(fmt.Sprintf("%d/%d", k+1, parts)); err != nil {
				t.Fatal(err)
			} else if e.Has(fmt.Sprintf("TestSomething%d", i)) {
				in++
				count[k]++
			}
		}
		if in != 1 {
			t.Errorf("test %d is in %d parts", i, in)
		}
	}
	for k := range parts {
		if count[k] < names/parts/2 {
			t.Errorf("part %d has %d of %d", k+1, count[k], names)
		}
	}
}

// inner plays a test.
type inner struct {
	*testing.T
	skipped bool
}

func (i *inner) Skip(...any) { i.skipped = true }

func TestSample_IsPartOfTheFullRun(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6}
	t.Setenv(Variable, "")
	if got := Sample(t, cases, 3); fmt.Sprint(got) != "[0 2 4]" {
		t.Errorf("sample %v", got)
	}
	test := &inner{T: t}
	if Full(test); !test.skipped || Size(t, 1, 2) != 1 {
		t.Error("the sample runs everything")
	}
	t.Setenv(Variable, "all")
	if got := Sample(t, cases, 3); len(got) != len(cases) {
		t.Errorf("full run %v", got)
	}
	test = &inner{T: t}
	if Full(test); test.skipped || Size(t, 1, 2) != 2 {
		t.Error("the full run leaves tests out")
	}
}

// Each run has the sample, and the runs of all parts have every case.
func TestSpread_GivesEachPartItsShare(t *testing.T) {
	var cases []string
	for i := range 100 {
		cases = append(cases, fmt.Sprint("case", i))
	}
	sample, found := []string{"case7", "case70"}, map[string]int{}
	for k := range 8 {
		t.Setenv(Variable, fmt.Sprintf("%d/8", k+1))
		part := Spread(t, cases, sample)
		if len(part) < 3 || len(part) > 40 {
			t.Errorf("part %d has %v", k+1, part)
		}
		for _, name := range part {
			found[name]++
		}
	}
	for _, name := range cases {
		if n := found[name]; n != 1 && !slices.Contains(sample, name) || slices.Contains(sample, name) && n != 8 {
			t.Errorf("%s is in %d runs", name, n)
		}
	}
	for value, want := range map[string]int{"": 2, "sample": 2, "all": 100} {
		if t.Setenv(Variable, value); len(Spread(t, cases, sample)) != want {
			t.Errorf("%q: %d cases, want %d", value, len(Spread(t, cases, sample)), want)
		}
	}
}
