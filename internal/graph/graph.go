// SPDX-License-Identifier: Apache-2.0

// Package graph is a graph of Kubernetes objects, compiled and checked once and never changed after.
//
// A node is an object to be applied; an edge says how far another object must have come before. To apply the objects, ask Next again and
// again with the progress known by then; to delete them, ask Removable. The graph holds no state, so a crash between two questions loses
// nothing.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Progress says how far an object has come.
type Progress int

// The degrees of progress, in order: not there (as wanted) yet, applied as wanted, present (everything that it declares
// exists under its name, perhaps with earlier values), and fit for use.
const (
	Pending Progress = iota
	Applied
	Present
	Ready
)

// Edge says that another object must have come so far first.
type Edge struct {
	// To is the ID of the other node.
	To string
	// Need is Applied, Present or Ready.
	Need Progress
}

// Node is one object.
type Node struct {
	// ID is made by the function ID and unique in the graph.
	ID string
	// Object to be applied.
	Object *unstructured.Unstructured
	// Step is the name of the reported step the object belongs to.
	Step string
	// After are the edges to the objects that come first.
	After []Edge
	// Unresolved names the object, such as AWSProvider/myapp-dev, with the status value that this one still lacks; empty when no value is
	// lacking. An unresolved node must not be applied.
	Unresolved string
}

// Graph is an acyclic graph of nodes. It is safe for concurrent use.
type Graph struct {
	nodes []Node
	index map[string]int
	// dependants[i] are the nodes with an edge to node i, in order.
	dependants [][]int
	// depth[i] is the number of edges on the longest way from node i to one without edges.
	depth []int
}

// ID names an object in a graph with the home namespace home: Kind/name, and Kind/namespace/name for an object in another namespace.
func ID(kind, namespace, name, home string) string {
	if namespace == "" || namespace == home {
		return kind + "/" + name
	}
	return kind + "/" + namespace + "/" + name
}

// NeedReady makes edges to nodes that must be ready.
func NeedReady(ids ...string) []Edge { return edgesTo(Ready, ids) }

// NeedPresent makes edges to nodes. All objects that these nodes declare must exist.
func NeedPresent(ids ...string) []Edge { return edgesTo(Present, ids) }

// NeedApplied makes edges to nodes that must have been applied.
func NeedApplied(ids ...string) []Edge { return edgesTo(Applied, ids) }

func edgesTo(need Progress, ids []string) []Edge {
	out := make([]Edge, len(ids))
	for i, id := range ids {
		out[i] = Edge{To: id, Need: need}
	}
	return out
}

// New checks the nodes and makes a graph of them, in their order. It shares their objects, which must not be changed any
// more. It refuses empty and duplicate IDs, edges to nowhere, and cycles.
func New(nodes []Node) (*Graph, error) {
	g := &Graph{nodes: make([]Node, 0, len(nodes)), index: make(map[string]int, len(nodes))}
	for _, n := range nodes {
		if n.ID == "" {
			return nil, fmt.Errorf("graph: a node has no ID")
		}
		if _, dup := g.index[n.ID]; dup {
			return nil, fmt.Errorf("graph: two nodes are called %s", n.ID)
		}
		g.index[n.ID] = len(g.nodes)
		n.After = slices.Clone(n.After)
		g.nodes = append(g.nodes, n)
	}
	if err := g.link(); err != nil {
		return nil, err
	}
	return g, g.measure()
}

// link merges parallel edges (the stronger need counts), sorts them, and fills dependants.
func (g *Graph) link() error {
	g.dependants = make([][]int, len(g.nodes))
	for i := range g.nodes {
		n := &g.nodes[i]
		need := make(map[string]Progress, len(n.After))
		for _, e := range n.After {
			if _, known := g.index[e.To]; !known {
				return fmt.Errorf("graph: %s comes after %s, which is not in the graph", n.ID, e.To)
			}
			need[e.To] = max(need[e.To], e.Need, Applied)
		}
		n.After = n.After[:0]
		for to, p := range need {
			n.After = append(n.After, Edge{To: to, Need: p})
		}
		slices.SortFunc(n.After, func(a, b Edge) int { return cmp.Compare(g.index[a.To], g.index[b.To]) })
		for _, e := range n.After {
			g.dependants[g.index[e.To]] = append(g.dependants[g.index[e.To]], i)
		}
	}
	return nil
}

// measure fills depth, or names a cycle.
func (g *Graph) measure() error {
	g.depth = make([]int, len(g.nodes))
	left := make([]int, len(g.nodes))
	var queue []int
	for i, n := range g.nodes {
		if left[i] = len(n.After); left[i] == 0 {
			queue = append(queue, i)
		}
	}
	done := 0
	for ; len(queue) > 0; queue = queue[1:] {
		done++
		for _, d := range g.dependants[queue[0]] {
			g.depth[d] = max(g.depth[d], g.depth[queue[0]]+1)
			if left[d]--; left[d] == 0 {
				queue = append(queue, d)
			}
		}
	}
	if done == len(g.nodes) {
		return nil
	}
	return fmt.Errorf("graph: a cycle: %s", strings.Join(g.cycle(left), " after "))
}

// cycle walks unfinished nodes until one repeats: every unfinished node has an unfinished dependency.
func (g *Graph) cycle(left []int) []string {
	at := slices.IndexFunc(left, func(n int) bool { return n > 0 })
	seen := map[int]int{}
	var path []string
	for {
		if first, again := seen[at]; again {
			return append(path[first:], g.nodes[at].ID)
		}
		seen[at] = len(path)
		path = append(path, g.nodes[at].ID)
		for _, e := range g.nodes[at].After {
			if left[g.index[e.To]] > 0 {
				at = g.index[e.To]
				break
			}
		}
	}
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// IDs returns the IDs of all nodes in their order.
func (g *Graph) IDs() []string {
	out := make([]string, len(g.nodes))
	for i, n := range g.nodes {
		out[i] = n.ID
	}
	return out
}

// Node returns the node; ok is false when there is none of that ID. The objects that it refers to are shared and must not be changed:
// copying every object on every look was a twelfth of the cost of a capability.
func (g *Graph) Node(id string) (n Node, ok bool) {
	i, ok := g.index[id]
	if !ok {
		return Node{}, false
	}
	return g.nodes[i], true
}

// Nodes returns all nodes in their order, which are shared like those of Node.
func (g *Graph) Nodes() []Node { return slices.Clone(g.nodes) }

// Dependants returns the IDs of the nodes with an edge to id, in their order.
func (g *Graph) Dependants(id string) []string {
	i, ok := g.index[id]
	if !ok {
		return nil
	}
	return g.names(g.dependants[i])
}

func (g *Graph) names(indices []int) []string {
	out := make([]string, len(indices))
	for i, n := range indices {
		out[i] = g.nodes[n].ID
	}
	return out
}
