// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// Waves returns the IDs in waves: a node is in the first wave that comes after the waves of all nodes that it comes after. Within a wave
// the order is that of New.
func (g *Graph) Waves() [][]string {
	var out [][]string
	for i, n := range g.nodes {
		for len(out) <= g.depth[i] {
			out = append(out, nil)
		}
		out[g.depth[i]] = append(out[g.depth[i]], n.ID)
	}
	return out
}

// Depth returns the number of waves.
func (g *Graph) Depth() int {
	if len(g.nodes) == 0 {
		return 0
	}
	return slices.Max(g.depth) + 1
}

// Reverse returns the IDs in waves of deletion: a node is in the first wave that comes after the waves of all nodes that come after it.
func (g *Graph) Reverse() [][]string {
	height := make([]int, len(g.nodes))
	var out [][]string
	for _, wave := range slices.Backward(g.Waves()) {
		for _, id := range wave {
			i := g.index[id]
			for _, d := range g.dependants[i] {
				height[i] = max(height[i], height[d]+1)
			}
		}
	}
	for i, n := range g.nodes {
		for len(out) <= height[i] {
			out = append(out, nil)
		}
		out[height[i]] = append(out[height[i]], n.ID)
	}
	return out
}

// Open returns the IDs of the nodes that may be applied now: resolved, and with every edge met. Nodes
// that are already there stay open while their edges are met, so that they are healed.
func (g *Graph) Open(at func(id string) Progress) []string {
	return g.filter(func(n Node) bool { return n.Unresolved == "" && len(unmetEdges(n, at)) == 0 })
}

// Next returns the IDs of the nodes that may be applied now and are not ready yet.
func (g *Graph) Next(at func(id string) Progress) []string {
	return g.filter(func(n Node) bool {
		return n.Unresolved == "" && at(n.ID) < Ready && len(unmetEdges(n, at)) == 0
	})
}

// Unmet returns the IDs that keep a node from being applied: its unmet edges, and the object it is
// unresolved for, which need not be in the graph.
func (g *Graph) Unmet(id string, at func(id string) Progress) []string {
	i, ok := g.index[id]
	if !ok {
		return nil
	}
	n := g.nodes[i]
	out := unmetEdges(n, at)
	if n.Unresolved != "" && !slices.Contains(out, n.Unresolved) {
		out = append(out, n.Unresolved)
	}
	return out
}

// Removable returns the IDs of the nodes that are not gone while everything that comes after them is.
func (g *Graph) Removable(gone func(id string) bool) []string {
	return g.filter(func(n Node) bool {
		return !gone(n.ID) && !slices.ContainsFunc(g.dependants[g.index[n.ID]], func(d int) bool {
			return !gone(g.nodes[d].ID)
		})
	})
}

func unmetEdges(n Node, at func(id string) Progress) []string {
	var out []string
	for _, e := range n.After {
		if at(e.To) < e.Need {
			out = append(out, e.To)
		}
	}
	return out
}

func (g *Graph) filter(keep func(Node) bool) []string {
	var out []string
	for _, n := range g.nodes {
		if keep(n) {
			out = append(out, n.ID)
		}
	}
	return out
}
