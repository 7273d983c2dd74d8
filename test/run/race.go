// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// rooms lists the packages in which data races would hurt most; their coverage has budgets.
var rooms = []string{"internal/engine", "internal/controller", "internal/awssession", "internal/apply", "internal/awsclient"}

// dividedRoom is the one of them whose tests take most of the processor time: where a run races a part of it, the other tests run
// without the race detector.
const dividedRoom = "internal/controller"

// compiled holds the kind of build of a test program.
type compiled int

const (
	plainly compiled = iota
	withCoverage
	withRaces // and coverage
)

// parseRace reads the flag -race.
func parseRace(s string) (extent.Extent, error) {
	if s == "1" {
		s = "all"
	}
	e, err := extent.Parse(s)
	if err != nil || s == "sample" {
		return e, fmt.Errorf("-race %q: want 1, or K/N with K from 1 to N", s)
	}
	return e, nil
}

// isIn reports whether the package is in a room.
func (p testPackage) isIn(room string) bool {
	return p.path == room || strings.HasPrefix(p.path, room+"/")
}

// variants returns how each package is compiled: those of the rooms with the race detector, with coverage, or both, each for a part
// of their tests.
func (s *session) variants(packages []testPackage) (out []testPackage) {
	for _, p := range packages {
		switch {
		case s.options.race == "" || !slices.ContainsFunc(rooms, p.isIn):
			out = append(out, p)
		case !p.isIn(dividedRoom):
			out = append(out, p.as(withRaces, nil))
		case s.lanes(p) < 2:
			// A second program would take longer to link than these tests run.
			if s.race.Has(p.path) {
				out = append(out, p.as(withRaces, nil))
			} else {
				out = append(out, p.as(withCoverage, nil))
			}
		default:
			out = append(out, s.divided(p)...)
		}
	}
	return out
}

// divided returns the package twice, with the tests that run with the race detector and the others.
func (s *session) divided(p testPackage) (out []testPackage) {
	tests, err := testsIn(p.Dir, []string{"*_test.go"})
	if err != nil {
		return []testPackage{p.as(withRaces, nil)} // rather all of them than none
	}
	of := map[compiled][]string{}
	for _, test := range tests {
		c := withCoverage
		if s.race.Has(p.path + " " + test) {
			c = withRaces
		}
		of[c] = append(of[c], test)
	}
	for _, c := range []compiled{withRaces, withCoverage} {
		if len(of[c]) > 0 {
			out = append(out, p.as(c, of[c]))
		}
	}
	return out
}

func (p testPackage) as(c compiled, tests []string) testPackage {
	p.compiled, p.tests = c, tests
	return p
}

// flags turn the race detector and coverage on. A package is covered by the tests of every package of the rooms: those of
// internal/controller run the reconcilers together. The race detector needs a C compiler, which is no prerequisite. It counts with
// atomic operations, and profiles of the two modes of counting cannot be joined.
func (c compiled) flags(ctx context.Context) []string {
	if c == plainly {
		return nil
	}
	covered := make([]string, len(rooms))
	for i, room := range rooms {
		covered[i] = "./" + room + "/..."
	}
	flags := []string{"-cover", "-covermode=atomic", "-coverpkg=" + strings.Join(covered, ",")}
	if c == withCoverage {
		return flags
	}
	cc, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return flags
	}
	if _, err := exec.LookPath(strings.TrimSpace(string(cc))); err != nil {
		return flags
	}
	return append(flags, "-race")
}

// suffix makes the names of two programs of one package different.
func (c compiled) suffix() string {
	return [...]string{"", "_covered", "_raced"}[c]
}

// words follow the name of a step that builds tests, or of a process.
func (c compiled) words() string {
	return [...]string{"", " with coverage", " with the race detector"}[c]
}
