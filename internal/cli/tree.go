// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// treeVerb is a run of tree.
type treeVerb struct {
	*connection.Connection
}

func treeCommand(s *connection.Connection) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "tree KIND/NAME",
		Short: "Show an object with everything below it, and the health of each",
		Long: "tree shows what a capability is made of: AWS resource objects with the ARN of their AWS resource, generated\n" +
			"Kubernetes objects, pods, security intent bindings, their policies and the objects of the policy engines. It also\n" +
			"works for any other object of the operator. An object that is not ready is shown with the reason and the message.",
		Example: "  nexusctl tree ncap/myapp -n team-a\n  nexusctl tree sib/web -o json",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&treeVerb{Connection: s}).tree(cmd.Context(), args, output)
		},
	}
	outputFlag(cmd, &output, "text", "wide (complete messages)", "json", "yaml")
	return cmd
}

func (s *treeVerb) tree(ctx context.Context, args []string, output string) error {
	r, root, err := s.ObjectReader(args)
	if err != nil {
		return err
	}
	r.Order = s.orderOf(ctx, r.Client)
	tree, err := r.Tree(ctx, root)
	if err != nil {
		return err
	}
	return console.PrintAs(s.Out, output, tree, func() string { return textOfTree(tree.Root, s.Clock.Now(), output == "wide") })
}

// orderOf returns the objects that the objects of a capability wait for, by the graph that the operator makes of it. Where the operator's
// settings cannot be read, its defaults stand for them; a capability without a graph has no order.
func (s *treeVerb) orderOf(ctx context.Context, c client.Client) func(*nexusv1.NexusAICapability) map[string][]string {
	return func(of *nexusv1.NexusAICapability) map[string][]string {
		namespace := s.NamespaceOfOperator()
		workloads, err := inspect.Workloads(ctx, c, namespace)
		if err != nil {
			workloads = nil
		}
		o, err := s.OptionsOf(workloads, namespace)
		if err != nil {
			return nil
		}
		facts := connection.SettingsOf(o).Facts(of)
		facts.Region = cmp.Or(of.Status.Region, facts.Region)
		g, err := capability.Compile(of, capability.Expect(facts, of, func(string) bool { return false }))
		if err != nil {
			return nil
		}
		out := map[string][]string{}
		for _, n := range g.Nodes() {
			for _, e := range n.After {
				out[n.ID] = append(out[n.ID], e.To)
			}
		}
		return out
	}
}

// ageInTree is the age of an object; an object that does not exist has none.
func ageInTree(now time.Time, n *inspect.Node) string {
	if n.Created == nil {
		return "<none>"
	}
	return console.Age(now, n.Created)
}

// textOfTree is a tree for a terminal: a row for each object, as a table, with its problems below the row.
func textOfTree(root *inspect.Node, now time.Time, wide bool) string {
	rows := [][]string{{"NAME", "HEALTH", "AGE"}}
	var notes []string
	var add func(n *inspect.Node, own, below string)
	add = func(n *inspect.Node, own, below string) {
		rows = append(rows, []string{own + nameInTree(n, root), healthInTree(n), ageInTree(now, n)})
		notes = append(notes, noteOf(n, below, wide))
		for i, c := range n.Children {
			if i == len(n.Children)-1 {
				add(c, below+"└─ ", below+"   ")
			} else {
				add(c, below+"├─ ", below+"│  ")
			}
		}
	}
	add(root, "", "")
	lines := strings.Split(strings.TrimRight(console.Table(rows), "\n"), "\n")
	var b strings.Builder
	b.WriteString(lines[0] + "\n")
	for i, note := range notes {
		b.WriteString(lines[i+1] + "\n" + note)
	}
	return b.String()
}

// nameInTree leaves out the namespace where it is that of the root.
func nameInTree(n, root *inspect.Node) string {
	name := n.Kind + "/" + n.Name
	if n.Namespace != "" && n.Namespace != root.Namespace {
		name = n.Kind + "/" + n.Namespace + "/" + n.Name
	}
	if n.Relation == inspect.Uses {
		name += " (used)"
	}
	return name
}

func healthInTree(n *inspect.Node) string {
	word := signOf(n.Health) + " " + string(n.Health)
	if n.Pods != "" {
		word += " " + n.Pods
	}
	return word
}

// signOf stands before the word for a health.
func signOf(h inspect.Health) string {
	switch h {
	case inspect.Ready:
		return "✓"
	case inspect.Failed, inspect.Missing:
		return "✗"
	case inspect.Unknown:
		return "?"
	default:
		return "…"
	}
}

// maxNote bounds the message below a row, in bytes; -o wide shows all of it.
const maxNote = 240

// noteOf describes below a row the AWS resource, and the problems of the object.
func noteOf(n *inspect.Node, below string, wide bool) string {
	indent := below + "     "
	if len(n.Children) > 0 {
		indent = below + "│    "
	}
	var b strings.Builder
	if n.ARN != "" {
		b.WriteString(indent + n.ARN + "\n")
	}
	if text := n.Message; text != "" && (n.Health != inspect.Ready || wide) {
		if n.Reason != "" {
			text = fmt.Sprintf("%s: %s", n.Reason, text)
		}
		if !wide {
			text = status.WithCode("", text, maxNote)
		}
		b.WriteString(console.Wrap(text, indent))
	}
	return b.String()
}
