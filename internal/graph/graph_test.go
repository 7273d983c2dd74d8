// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/graph"
)

func node(id string, after ...string) graph.Node {
	return graph.Node{ID: id, After: graph.NeedReady(after...)}
}

func mustNew(t interface{ Fatal(args ...any) }, nodes ...graph.Node) *graph.Graph {
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestNewRefusesWhatIsNoGraph(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes []graph.Node
		want  string
	}{
		"an empty ID":        {[]graph.Node{node("")}, "no ID"},
		"a duplicate":        {[]graph.Node{node("a"), node("a")}, "two nodes are called a"},
		"an edge to nowhere": {[]graph.Node{node("a", "b")}, "a comes after b, which is not in the graph"},
		"an edge to itself":  {[]graph.Node{node("a", "a")}, "a after a"},
		"a cycle":            {[]graph.Node{node("r"), node("a", "b", "r"), node("b", "c"), node("c", "a")}, "a after b after c after a"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := graph.New(tc.nodes)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error containing %q", err, tc.want)
			}
		})
	}
}

func TestIDNamesTheNamespaceOnlyWhenItIsAnother(t *testing.T) {
	for want, got := range map[string]string{
		"S3Bucket/b":     graph.ID("S3Bucket", "home", "b", "home"),
		"Namespace/n":    graph.ID("Namespace", "", "n", "home"),
		"Service/away/s": graph.ID("Service", "away", "s", "home"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAGraphCannotBeChangedThroughWhatItWasMadeOf(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "A"}}
	in := []graph.Node{{ID: "a", Object: o}, {ID: "b", After: graph.NeedReady("a")}}
	g := mustNew(t, in...)
	in[1].After[0].To = "changed"
	g.Nodes()[0] = graph.Node{}
	if n, _ := g.Node("a"); n.Object != o {
		t.Errorf("the object was changed from outside, or copied")
	}
	if got := g.Dependants("a"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the edges were changed from outside: %v", got)
	}
}

func diamond(t *testing.T) *graph.Graph {
	return mustNew(t,
		node("provider"),
		node("bucket", "provider"),
		node("table", "provider"),
		graph.Node{ID: "role", After: graph.NeedApplied("bucket"), Unresolved: "provider"},
		graph.Node{ID: "app", After: append(graph.NeedReady("bucket"), graph.NeedPresent("table")...)},
	)
}

func at(progress map[string]graph.Progress) func(string) graph.Progress {
	return func(id string) graph.Progress { return progress[id] }
}

func TestNextReturnsWhatMayBeAppliedNow(t *testing.T) {
	g := diamond(t)
	for name, tc := range map[string]struct {
		progress map[string]graph.Progress
		next     string
		open     string
	}{
		"at first only what waits for nothing": {nil, "provider", "provider"},
		"applied is not ready": {
			map[string]graph.Progress{"provider": graph.Applied}, "provider", "provider"},
		"what is ready is open but not next": {
			map[string]graph.Progress{"provider": graph.Ready, "bucket": graph.Applied},
			"bucket table", "provider bucket table"},
		"an unresolved node is never open": {
			map[string]graph.Progress{"provider": graph.Ready, "bucket": graph.Ready, "table": graph.Ready},
			"app", "provider bucket table app"},
		"what needs an object to be present does not wait until it is ready": {
			map[string]graph.Progress{"provider": graph.Ready, "bucket": graph.Ready, "table": graph.Present},
			"table app", "provider bucket table app"},
		"applied is not present": {
			map[string]graph.Progress{"provider": graph.Ready, "bucket": graph.Ready, "table": graph.Applied},
			"table", "provider bucket table"},
		"a dependency that is lost closes its dependants": {
			map[string]graph.Progress{"provider": graph.Ready, "bucket": graph.Pending, "table": graph.Ready, "app": graph.Ready},
			"bucket", "provider bucket table"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(g.Next(at(tc.progress)), " "); got != tc.next {
				t.Errorf("next: got %q, want %q", got, tc.next)
			}
			if got := strings.Join(g.Open(at(tc.progress)), " "); got != tc.open {
				t.Errorf("open: got %q, want %q", got, tc.open)
			}
		})
	}
}

func TestUnmetNamesWhatIsWaitedFor(t *testing.T) {
	g := diamond(t)
	progress := at(map[string]graph.Progress{"provider": graph.Ready, "bucket": graph.Applied})
	for id, want := range map[string]string{
		"provider": "", "bucket": "", "role": "provider", "app": "bucket table", "nobody": "",
	} {
		if got := strings.Join(g.Unmet(id, progress), " "); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
}

func TestPrintingIsStable(t *testing.T) {
	g := diamond(t)
	const text = `0 provider
1 bucket <- provider
1 table <- provider
2 role <- bucket (applied) (known after provider)
2 app <- bucket, table (present)
`
	if got := g.String(); got != text {
		t.Errorf("got\n%swant\n%s", got, text)
	}
	const tree = `provider
├── bucket ok
│   ├── role
│   └── app
└── table
`
	got := g.Tree(func(id string) string {
		if id == "bucket" {
			return "ok"
		}
		return ""
	})
	if got != tree {
		t.Errorf("got\n%swant\n%s", got, tree)
	}
	if n := len(strings.Fields(g.Tree(nil))); n == 0 {
		t.Error("a tree without labels is empty")
	}
}

// anyDAG draws nodes with edges that lead to earlier ones, in a shuffled order.
func anyDAG() *rapid.Generator[[]graph.Node] {
	return rapid.Custom(func(t *rapid.T) []graph.Node {
		n := rapid.IntRange(0, 24).Draw(t, "n")
		nodes := make([]graph.Node, n)
		for i := range nodes {
			nodes[i].ID = fmt.Sprintf("K/%d", i)
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					need := rapid.SampledFrom([]graph.Progress{graph.Applied, graph.Present, graph.Ready}).Draw(t, "need")
					nodes[i].After = append(nodes[i].After, graph.Edge{To: nodes[j].ID, Need: need})
				}
			}
		}
		return rapid.Permutation(nodes).Draw(t, "order")
	})
}

func position(waves [][]string) map[string]int {
	out := map[string]int{}
	for i, w := range waves {
		for _, id := range w {
			out[id] = i
		}
	}
	return out
}

func TestWavesRespectEveryEdgeAndAreAsEarlyAsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := mustNew(t, anyDAG().Draw(t, "nodes")...)
		up, down := position(g.Waves()), position(g.Reverse())
		if len(up) != g.Len() || len(down) != g.Len() || len(g.Waves()) != g.Depth() || len(g.Reverse()) != g.Depth() {
			t.Fatalf("waves do not hold every node once")
		}
		for _, n := range g.Nodes() {
			latest, last := -1, -1
			for _, e := range n.After {
				latest = max(latest, up[e.To])
				if down[e.To] <= down[n.ID] {
					t.Fatalf("%s is removed no later than %s, which needs it", e.To, n.ID)
				}
			}
			for _, d := range g.Dependants(n.ID) {
				last = max(last, down[d])
			}
			if up[n.ID] != latest+1 || down[n.ID] != last+1 {
				t.Fatalf("%s is not as early as it can be", n.ID)
			}
		}
	})
}

func TestNextReachesEverythingAndRemovableRemovesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := mustNew(t, anyDAG().Draw(t, "nodes")...)
		progress := map[string]graph.Progress{}
		for rounds := 0; ; rounds++ {
			next := g.Next(at(progress))
			if len(next) == 0 {
				break
			}
			if rounds > int(graph.Ready)*g.Len()+1 {
				t.Fatalf("no end after %d rounds", rounds)
			}
			id := rapid.SampledFrom(next).Draw(t, "which")
			progress[id]++
		}
		gone := map[string]bool{}
		for len(gone) < g.Len() {
			r := g.Removable(func(id string) bool { return gone[id] })
			if len(r) == 0 {
				t.Fatalf("%d nodes are stuck", g.Len()-len(gone))
			}
			gone[rapid.SampledFrom(r).Draw(t, "which")] = true
		}
		for _, id := range g.IDs() {
			if progress[id] != graph.Ready {
				t.Fatalf("%s was never reached", id)
			}
		}
	})
}

func TestABackEdgeIsAlwaysRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := anyDAG().Filter(func(n []graph.Node) bool { return len(n) > 1 }).Draw(t, "nodes")
		g := mustNew(t, nodes...)
		from := rapid.SampledFrom(nodes).Draw(t, "from")
		if d := g.Dependants(from.ID); len(d) > 0 {
			i := slices.IndexFunc(nodes, func(n graph.Node) bool { return n.ID == from.ID })
			nodes[i].After = append(slices.Clone(nodes[i].After), graph.Edge{To: d[0]})
			if _, err := graph.New(nodes); err == nil {
				t.Fatalf("%s after %s makes a cycle", from.ID, d[0])
			}
		}
	})
}

func TestPrintingDoesNotDependOnTheOrderOfEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := anyDAG().Draw(t, "nodes")
		a := mustNew(t, nodes...)
		for i := range nodes {
			nodes[i].After = rapid.Permutation(nodes[i].After).Draw(t, "edges")
		}
		b := mustNew(t, nodes...)
		if a.String() != b.String() || a.Tree(nil) != b.Tree(nil) {
			t.Fatalf("two printings of one graph differ")
		}
		if lines := strings.Count(a.Tree(nil), "\n"); lines != a.Len() {
			t.Fatalf("the tree has %d lines for %d nodes", lines, a.Len())
		}
	})
}
