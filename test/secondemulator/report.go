// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// phases are the columns of the table.
var phases = []struct {
	name   string
	result func(*life) string
}{
	{"ready", func(l *life) string { return l.ready }}, {"at rest", func(l *life) string { return l.rest }},
	{"edit", func(l *life) string { return l.edit }}, {"drift", func(l *life) string { return l.drift }},
	{"delete", func(l *life) string { return l.gone }},
}

// report prints a row for each kind, and each resource type of the kind for any type, and then what does not hold of each object. It
// returns how much of that is no known gap.
func report(w io.Writer, lives []*life) (unknown int) {
	byKind := map[string][]*life{}
	for _, l := range lives {
		row := strings.TrimSpace(l.object.GetKind() + " " + l.typeName())
		byKind[row] = append(byKind[row], l)
	}
	fmt.Fprintf(w, "| kind | ready | at rest | edit | drift | delete |\n|---|---|---|---|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		fmt.Fprintf(w, "| %s |", kind)
		for _, p := range phases {
			fmt.Fprintf(w, " %s |", cell(byKind[kind], p.name, p.result))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, l := range lives {
		for _, p := range phases {
			result := p.result(l)
			if result == "" || result == holds {
				continue
			}
			fmt.Fprintf(w, "%s, %s: %s\n", l.key(), p.name, strings.Join(strings.Fields(result), " "))
			if gap := gaps[l.key()+" "+p.name]; gap != "" {
				fmt.Fprintf(w, "  the emulator: %s\n", gap)
			} else {
				unknown++
			}
		}
	}
	return unknown
}

// cell summarizes a phase of the objects of a kind: "yes" if it holds for all that reached it, "emulator" if a known gap of the
// emulator keeps it from holding, else "no", and "-" if none reached it.
func cell(lives []*life, phase string, result func(*life) string) string {
	shown := "-"
	for _, l := range lives {
		switch said := result(l); {
		case said == "" || shown == "no" || said == holds && shown == "emulator":
		case said == holds:
			shown = holds
		case gaps[l.key()+" "+phase] != "":
			shown = "emulator"
		default:
			shown = "no"
		}
	}
	return shown
}
