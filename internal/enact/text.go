// SPDX-License-Identifier: Apache-2.0

package enact

import (
	"fmt"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// mostNames limits how many objects of one kind are named one by one.
const mostNames = 12

// changeGroup holds changes that do the same to objects of one kind.
type changeGroup []install.Change

// groupChanges joins neighbors that do the same to objects of one kind. A change with a diff stands alone.
func groupChanges(changes []install.Change) []changeGroup {
	var out []changeGroup
	for _, c := range changes {
		if n := len(out); n > 0 && out[n-1].takes(c) {
			out[n-1] = append(out[n-1], c)
			continue
		}
		out = append(out, changeGroup{c})
	}
	return out
}

// takes reports whether a change belongs to the group. Only objects of Kubernetes have a kind before their name.
func (g changeGroup) takes(c install.Change) bool {
	first := g[0]
	kind, _, object := strings.Cut(c.Object, " ")
	firstKind, _, _ := strings.Cut(first.Object, " ")
	return object && kind == firstKind && c.Action == first.Action && c.Diff == "" && first.Diff == ""
}

// title names the objects of the group: one by its kind and name, several by their number, and as names where they are few.
func (g changeGroup) title() string {
	if len(g) == 1 {
		return g[0].Object
	}
	kind, _, _ := strings.Cut(g[0].Object, " ")
	var names []string
	for i, c := range g {
		if i == mostNames/2 && len(g) > mostNames {
			names = append(names, fmt.Sprintf("and %d more", len(g)-i))
			break
		}
		_, name, _ := strings.Cut(c.Object, " ")
		names = append(names, name)
	}
	return fmt.Sprintf("%d %s: %s", len(g), pluralOf(kind), strings.Join(names, ", "))
}

// summary names several objects by their number alone.
func (g changeGroup) summary() string {
	if len(g) == 1 {
		return g[0].Object
	}
	kind, _, _ := strings.Cut(g[0].Object, " ")
	return fmt.Sprintf("%d %s", len(g), pluralOf(kind))
}

func pluralOf(kind string) string {
	switch {
	case strings.HasSuffix(kind, "y"):
		return strings.TrimSuffix(kind, "y") + "ies"
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	default:
		return kind + "s"
	}
}

// Write describes changes for people.
func Write(b *strings.Builder, changes []install.Change, dryRun bool) {
	verb := "will"
	if dryRun {
		verb = "would"
	}
	for _, g := range groupChanges(changes) {
		fmt.Fprintf(b, "\n%s    %s: %s\n", console.Wrap(g.title(), ""), verb, g[0].Action)
		for line := range strings.Lines(g[0].Diff) {
			b.WriteString("    " + line)
		}
	}
}

// doneChanges reports the changes that were made, those of one group in one line.
type doneChanges struct {
	say  func(format string, args ...any)
	last changeGroup
}

func (d *doneChanges) add(c install.Change) {
	if len(d.last) > 0 && d.last.takes(c) {
		d.last = append(d.last, c)
		return
	}
	d.flush()
	d.last = changeGroup{c}
}

// flush reports the changes that were not reported yet.
func (d *doneChanges) flush() {
	if len(d.last) > 0 {
		d.say("%s: done: %s", d.last.summary(), d.last[0].Action)
	}
	d.last = nil
}
