// SPDX-License-Identifier: Apache-2.0

// Package extent divides tests into a sample that always runs, and the rest, which runs in full or in parts. `make test` runs the
// sample, `make test-all` everything, and CI the sample and one part of the rest.
//
//	func TestEveryKillPoint(t *testing.T) {
//		extent.Full(t)                                       // left to the full run
//		for _, point := range extent.Sample(t, points, 3) {  // or three of them in the sample
//
// The variable NEXUS_TESTS chooses: empty or sample, all, or K/N. A test belongs to the part that its name gives it, so that N
// runs with K from 1 to N run everything.
package extent

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Variable is the name of the environment variable.
const Variable = "NEXUS_TESTS"

// Left begins the message of a test that is left to another run.
const Left = "left to make test-all"

// Extent says how much of the tests runs.
type Extent struct {
	all         bool
	part, parts int // 0: the sample alone
}

// Parse reads the value of the variable.
func Parse(s string) (Extent, error) {
	switch s {
	case "", "sample":
		return Extent{}, nil
	case "all":
		return Extent{all: true}, nil
	}
	part, parts, found := strings.Cut(s, "/")
	k, err := strconv.Atoi(part)
	n, err2 := strconv.Atoi(parts)
	if !found || err != nil || err2 != nil || k < 1 || k > n {
		return Extent{}, fmt.Errorf("%s=%q: want sample, all, or K/N with K from 1 to N", Variable, s)
	}
	return Extent{part: k, parts: n}, nil
}

// Has reports whether something of this name, which is not in the sample, runs.
func (e Extent) Has(name string) bool {
	if e.all || e.parts == 0 {
		return e.all
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // cannot fail
	return int(h.Sum32()%uint32(e.parts))+1 == e.part
}

// tester is the part of testing.TB that is used; package testing is not imported, because nexusctl links the test bed.
type tester interface {
	Helper()
	Name() string
	Fatal(args ...any)
	Skip(args ...any)
}

func current(t tester) Extent {
	t.Helper()
	e, err := Parse(os.Getenv(Variable))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Full leaves the test to runs of everything, or of the part that it belongs to.
func Full(t tester) {
	t.Helper()
	if !IsFull(t) {
		t.Skip(Left)
	}
}

// IsFull reports whether everything of a test is to run: every case, every step, all seeds. A subtest belongs to the part of its
// test.
func IsFull(t tester) bool {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	return current(t).Has(test)
}

// IsAll reports whether everything of all tests is to run, and not only the part of some. The requirements of such a run outside the source
// tree must be met.
func IsAll(t tester) bool {
	t.Helper()
	return current(t).all
}

// Sample returns n of the cases of a test, evenly chosen with the first among them; in a full run it returns all of them.
func Sample[T any](t tester, cases []T, n int) []T {
	t.Helper()
	if IsFull(t) || len(cases) <= n {
		return cases
	}
	out := make([]T, n)
	for i := range out {
		out[i] = cases[i*len(cases)/n]
	}
	return out
}

// Spread returns the cases of a long test that run, by their names and in their order: all of them in a full run, otherwise the sample and
// the cases that belong to the part of the run. Each part takes its share of the test, where Full would give one part all of it.
func Spread(t tester, cases, sample []string) []string {
	t.Helper()
	e := current(t)
	return slices.DeleteFunc(slices.Clone(cases), func(name string) bool { return !e.Has(name) && !slices.Contains(sample, name) })
}

// Size returns the size of something in the sample, or in a full run.
func Size(t tester, sample, full int) int {
	t.Helper()
	if IsFull(t) {
		return full
	}
	return sample
}
