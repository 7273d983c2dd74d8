// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Explanation says why an object is not ready.
type Explanation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Object is the explained object, without its children.
	Object *Node `json:"object"`
	// Ready is true when there is nothing to explain.
	Ready bool `json:"ready"`
	// Cause is the deepest object of the path: it keeps the others from being ready.
	Cause *Node `json:"cause,omitempty"`
	// Conditions of the cause that are not as in a ready object.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Events are the last Warning events about the cause, the newest first.
	Events []Event `json:"events,omitempty"`
	// Remedy tells a person how to remove the cause; empty where nothing needs to be done.
	Remedy string `json:"remedy,omitempty"`
	// Commands help to solve the problem, in the order of their use.
	Commands []string `json:"commands,omitempty"`
	// Path leads from the object to the cause.
	Path []*Node `json:"path,omitempty"`
	// Waiting counts the other objects that wait. Failed are the other objects that failed or are missing.
	Waiting int     `json:"waiting"`
	Failed  []*Node `json:"failed,omitempty"`
}

// Explain finds the cause of an object not being ready in the tree below it.
func (r *Reader) Explain(ctx context.Context, tree *Tree) (*Explanation, error) {
	e := explain(tree.Root)
	if e.Ready {
		return e, nil
	}
	events, err := warningsAbout(ctx, r.Client, e.Cause)
	if err != nil && !apierrors.IsForbidden(err) { // without events there are still the conditions
		return nil, err
	}
	e.Events = events
	return e, nil
}

// explain decides, from the tree alone.
func explain(root *Node) *Explanation {
	e := &Explanation{APIVersion: APIVersion, Kind: "Explanation", Object: root.alone(), Ready: root.Health == Ready}
	if e.Ready {
		return e
	}
	path := pathToCause(root)
	cause := path[len(path)-1]
	for _, n := range path {
		e.Path = append(e.Path, n.alone())
	}
	e.Cause = cause.alone()
	for _, c := range cause.conditions {
		if isEvidence(c) {
			e.Conditions = append(e.Conditions, c)
		}
	}
	e.Remedy, e.Commands = remedyFor(cause), commandsFor(path)
	root.walk(func(n *Node) {
		switch {
		case slices.Contains(path, n):
		case n.Health == Waiting:
			e.Waiting++
		case n.Health == Failed && !n.hasFailedChild(), n.Health == Missing:
			e.Failed = append(e.Failed, n.alone())
		}
	})
	return e
}

// alone returns a copy of a node without its children.
func (n *Node) alone() *Node {
	c := *n
	c.Children = nil
	return &c
}

func (n *Node) hasFailedChild() bool {
	return slices.ContainsFunc(n.Children, func(c *Node) bool { return c.Health == Failed })
}

// isEvidence reports whether a condition tells of trouble.
func isEvidence(c metav1.Condition) bool {
	switch c.Type {
	case status.Reconciling:
		return false // Ready says the same
	case status.Stall, status.Paused, status.DuplicateResources:
		return c.Status == metav1.ConditionTrue
	default:
		return c.Status != metav1.ConditionTrue && c.Reason != status.ReasonSkipped
	}
}

// severity orders objects that are not ready: objects that need a person come before changes under way, and those before objects that wait
// for another one.
var severity = map[Health]int{Waiting: 1, Deleting: 2, Unknown: 3, Progressing: 4, Paused: 5, Failed: 6, Missing: 7}

// severity ranks the node alone. A deletion that a person must make possible ranks like a failure, and a provider that only waits
// for its users like any object that waits.
func (n *Node) severity() int {
	switch {
	case n.waitsForUsers():
		return severity[Waiting]
	case n.Health == Deleting && needsPerson(n.Reason):
		return severity[Failed]
	default:
		return severity[n.Health]
	}
}

// worst is the severity of the node and of everything below it; 0 when all is ready, or for no node.
func (n *Node) worst() int {
	most := 0
	if n == nil {
		return most
	}
	n.walk(func(o *Node) { most = max(most, o.severity()) })
	return most
}

// pathToCause walks from an object that is not ready down to the deepest one that keeps it so.
func pathToCause(root *Node) []*Node {
	index := map[string]*Node{}
	root.walk(func(n *Node) {
		if index[n.ID()] == nil {
			index[n.ID()] = n
		}
	})
	path := []*Node{root}
	for {
		at := path[len(path)-1]
		next := nextTowardsCause(at, index, path)
		if next == nil {
			return path
		}
		path = append(path, next)
	}
}

// awaited returns the objects of the tree that the message of a node names, if the node waits or its users block its deletion.
func (n *Node) awaited(index map[string]*Node) []*Node {
	var out []*Node
	if n.Health != Waiting && n.Reason != status.ReasonInUse {
		return nil
	}
	for _, m := range namedObject.FindAllStringSubmatch(n.Message, -1) {
		if o := index[m[1]+"/"+m[2]]; o != nil {
			out = append(out, o)
		}
	}
	return out
}

// holds reports whether another node waits for this node in deletion: a provider goes after the objects that need it.
func (n *Node) holds(other *Node) bool {
	return n.deleting && n.Kind != "NexusAICapability" && other.waitsForUsers() && n.Health != Waiting
}

// staysWith reports whether a node needs a provider that is to go, and is not to go itself: then its own failure, which may be mended, does
// not hold the provider, but the node does.
func (n *Node) staysWith(provider *Node) bool {
	return provider.waitsForUsers() && n.Relation == UsedBy && !n.deleting
}

// rank orders the objects below a node by their severity. Before all others comes a failure that the node itself reports, so that explain
// names the same cause as the status does, and with it every command that reads the status.
func (n *Node) rank(below *Node) int {
	if below != nil && n.reports(below) {
		return severity[Missing] + 1
	}
	return below.worst()
}

// reports reports whether the reason and the message of the node are about a failure of an object below it.
func (n *Node) reports(below *Node) bool {
	return below.severity() >= severity[Failed] && n.Reason == below.Reason && strings.HasPrefix(n.Message, below.ID()+":")
}

// worstBelow returns the object with the highest rank among the children of a node and the objects that it waits for, without those on the
// path and those that get their state from the node itself; nil when there is none.
func (n *Node) worstBelow(index map[string]*Node, path []*Node) *Node {
	var worst *Node
	for _, c := range append(slices.Clone(n.Children), n.awaited(index)...) {
		if n.rank(c) > n.rank(worst) && !slices.Contains(path, c) && !n.holds(c) && !c.staysWith(n) {
			worst = c
		}
	}
	return worst
}

// nextTowardsCause is the worst object below a node or that the node waits for; nil when the node is the cause.
func nextTowardsCause(at *Node, index map[string]*Node, path []*Node) *Node {
	if at.Health == Paused || at.Reason == notObserved {
		return nil // nothing is done about anything below it
	}
	next := at.worstBelow(index, path)
	// A failure of the object itself is not explained by something below it that is merely under way, but for a
	// Deployment: its pods tell why.
	if next != nil && at.Health == Failed && at.Kind != "Deployment" && next.worst() < severity[Failed] {
		return nil
	}
	return next
}
