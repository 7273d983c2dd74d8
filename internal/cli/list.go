// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// listFlags are the flags of the verb.
type listFlags struct {
	output, phase, ready string
	everywhere           bool
	limit                int
}

// listVerb is a run of list.
type listVerb struct {
	*connection.Connection
}

func listCommand(s *connection.Connection) *cobra.Command {
	f := &listFlags{}
	cmd := &cobra.Command{
		Use:   "list [KIND...]",
		Short: "List objects of all kinds of Nexus Operator, with phase and reason",
		Long: "list lists capabilities, AWS resource objects, security intents and their bindings in one table, with the reason of their\n" +
			"Ready condition. Kinds that you may not list are named on standard error, unless you ask for them.",
		Example: "  nexusctl list -n team-a\n  nexusctl list -A --ready=false\n  nexusctl list NexusAICapability --phase Failed -o json",
		Args:    arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&listVerb{Connection: s}).list(cmd.Context(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "look in every namespace, and at cluster-scoped objects")
	flags.StringVar(&f.phase, "phase", "", "list capabilities in this phase only, such as Running or Failed")
	flags.StringVar(&f.ready, "ready", "", "list objects that are ready (true), or those that are not (false); default: both")
	flags.IntVar(&f.limit, "limit", 0, "number of objects to list at most; 0 lists all")
	outputFlag(cmd, &f.output, "text", "wide (with messages)", "json", "yaml")
	return cmd
}

func (s *listVerb) list(ctx context.Context, f *listFlags, kinds []string) error {
	query, err := s.listQuery(f, kinds)
	if err != nil {
		return err
	}
	r, err := s.Reader()
	if err != nil {
		return err
	}
	found, err := r.List(ctx, query)
	if _, unknown := errors.AsType[*inspect.UnknownKindError](err); unknown {
		return exit.Usage("%w", err)
	}
	if err != nil {
		return connection.ReadFailure(err)
	}
	if err := refuseMissingNamespace(ctx, r.Client, query.Namespace, found.Total); err != nil {
		return err
	}
	s.sayWhatIsNotListed(found, cmp.Or(query.Namespace, "any namespace"))
	return console.PrintAs(s.Out, f.output, found, func() string { return textOfList(found, f.everywhere, f.output == "wide") })
}

// listQuery reads the flags of the verb.
func (s *listVerb) listQuery(f *listFlags, kinds []string) (inspect.ListQuery, error) {
	q := inspect.ListQuery{Kinds: kinds, Phase: f.phase, Limit: f.limit}
	if f.limit < 0 {
		return q, exit.Usage("--limit: %d is negative; 0 lists all", f.limit)
	}
	if f.ready != "" {
		ready, err := strconv.ParseBool(f.ready)
		if err != nil {
			return q, exit.Usage("--ready: %q is neither true nor false", f.ready)
		}
		q.Ready = &ready
	}
	var err error
	q.Namespace, err = s.NamespaceOf(f.everywhere)
	return q, err
}

func (s *listVerb) sayWhatIsNotListed(found *inspect.ObjectList, where string) {
	if found.Total == 0 {
		s.Say("No such objects were found in %s.", where)
	}
	if more := found.Total - len(found.Objects); more > 0 {
		s.Say("%s left out by --limit.", status.Counted(more, "object is", "objects are"))
	}
	if len(found.Unlisted) > 0 {
		s.Say("These kinds cannot be listed, because you lack the right or the cluster lacks the kind: %s.", strings.Join(found.Unlisted, ", "))
	}
}

// textOfList has a row for each object; nothing without objects.
func textOfList(found *inspect.ObjectList, namespaces, wide bool) string {
	if len(found.Objects) == 0 {
		return ""
	}
	header := []string{"NAME", "READY", "PHASE", "REASON"}
	if namespaces {
		header = append([]string{"NAMESPACE"}, header...)
	}
	if wide {
		header = append(header, "MESSAGE")
	}
	rows := [][]string{header}
	for _, o := range found.Objects {
		row := []string{strings.ToLower(o.Kind) + "/" + o.Name, fmt.Sprint(o.Ready), cmp.Or(o.Phase, "-"), cmp.Or(o.Reason, "-")}
		if namespaces {
			row = append([]string{cmp.Or(o.Namespace, "-")}, row...)
		}
		if wide {
			row = append(row, cmp.Or(o.Message, "-"))
		}
		rows = append(rows, row)
	}
	return console.Table(rows)
}
