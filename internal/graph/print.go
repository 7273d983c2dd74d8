// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
)

// String prints one line a node, wave by wave, with the nodes that it comes after.
func (g *Graph) String() string {
	var b strings.Builder
	for i, wave := range g.Waves() {
		for _, id := range wave {
			n := g.nodes[g.index[id]]
			fmt.Fprintf(&b, "%d %s", i, id)
			if len(n.After) > 0 {
				b.WriteString(" <- " + printEdges(n.After))
			}
			if n.Unresolved != "" {
				fmt.Fprintf(&b, " (known after %s)", n.Unresolved)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func printEdges(after []Edge) string {
	names := make([]string, len(after))
	for i, e := range after {
		names[i] = e.To
		names[i] += e.Need.suffix()
	}
	return strings.Join(names, ", ")
}

// suffix marks a progress less than Ready.
func (p Progress) suffix() string {
	switch p {
	case Applied:
		return " (applied)"
	case Present:
		return " (present)"
	default:
		return ""
	}
}

// Tree prints every node once, as a branch of the node that it has to wait for longest. Label may add to a node's ID, such as its state;
// nil adds nothing.
func (g *Graph) Tree(label func(id string) string) string {
	children := make([][]int, len(g.nodes))
	var roots []int
	for i := range g.nodes {
		if g.depth[i] == 0 {
			roots = append(roots, i)
			continue
		}
		p := g.parent(i)
		children[p] = append(children[p], i)
	}
	var b strings.Builder
	var walk func(list []int, indent string)
	walk = func(list []int, indent string) {
		for k, i := range list {
			branch, below := "├── ", "│   "
			if k == len(list)-1 {
				branch, below = "└── ", "    "
			}
			b.WriteString(indent + branch + g.label(i, label) + "\n")
			walk(children[i], indent+below)
		}
	}
	for _, r := range roots {
		b.WriteString(g.label(r, label) + "\n")
		walk(children[r], "")
	}
	return b.String()
}

// parent is the first of the deepest nodes that i comes after.
func (g *Graph) parent(i int) int {
	for _, e := range g.nodes[i].After {
		if p := g.index[e.To]; g.depth[p] == g.depth[i]-1 {
			return p
		}
	}
	return i // unreachable: depth is one more than the deepest dependency's
}

func (g *Graph) label(i int, label func(id string) string) string {
	id := g.nodes[i].ID
	if label == nil {
		return id
	}
	if s := label(id); s != "" {
		return id + " " + s
	}
	return id
}
