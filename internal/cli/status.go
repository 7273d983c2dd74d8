// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// statusVerb is a run of status.
type statusVerb struct {
	*connection.Connection
}

func statusCommand(s *connection.Connection) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status [KIND/NAME...]",
		Short: "Show the health of the operator, or the conditions of objects",
		Long: "Without arguments, status shows the health of the operator: its pods, leader leases, versions and\n" +
			"CustomResourceDefinitions, the capabilities by phase, and the last Warning events.\n\n" +
			"With names, it shows the conditions of capabilities, AWS resource objects, security intents and their bindings.\n\n" +
			"It exits with 1 when the operator is unhealthy, or an object is not ready. An operator whose pods have just started is \"starting\",\n" +
			"which is no failure: for at most the time of a lease, it may have no leader.",
		Example: "  nexusctl status\n  nexusctl status ncap/myapp -n team-a\n  nexusctl status s3bucket/logs sib/web -o json",
		Args:    arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return (&statusVerb{Connection: s}).objectStatus(cmd.Context(), args, output)
			}
			return (&statusVerb{Connection: s}).operatorStatus(cmd.Context(), output)
		},
	}
	outputFlag(cmd, &output, "text", "wide (messages in the table)", "json", "yaml")
	return cmd
}

func (s *statusVerb) objectStatus(ctx context.Context, args []string, output string) error {
	_, c, err := s.Connect() // which says more than a request that leads nowhere
	if err != nil {
		return err
	}
	objects, err := s.NamedObjects(args)
	if err != nil {
		return err
	}
	namespace, err := s.NamespaceOf(false)
	if err != nil {
		return err
	}
	if err := refuseMissingNamespace(ctx, c, namespace, len(objects)); err != nil {
		return err
	}
	if len(objects) == 0 {
		s.Say("There are no objects of %s in namespace %s.", strings.Join(args, ", "), namespace)
	}
	statuses := inspect.Statuses(objects)
	isReady := !slices.ContainsFunc(statuses.Objects, func(o inspect.ObjectStatus) bool { return !o.Ready })
	return printJudged(s.Connection, output, statuses, isReady,
		func() string { return textOfStatuses(statuses, s.Clock.Now(), output == "wide") })
}

func textOfStatuses(statuses inspect.ObjectStatuses, now time.Time, wide bool) string {
	var b strings.Builder
	for i, o := range statuses.Objects {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(headOfStatus(o) + "\n\n")
		if len(o.Conditions) == 0 {
			b.WriteString("It has no conditions: the operator has not processed it yet.\n")
			continue
		}
		b.WriteString(conditionTable(o, now, wide))
	}
	return b.String()
}

func headOfStatus(o inspect.ObjectStatus) string {
	title := o.Kind + " " + o.Name
	if o.Namespace != "" {
		title = o.Kind + " " + o.Namespace + "/" + o.Name
	}
	words := []string{"not ready"}
	if o.Ready {
		words = []string{"ready"}
	}
	if o.Phase != "" {
		words = append(words, "phase "+o.Phase)
	}
	if o.Progress != "" {
		words = append(words, "progress "+o.Progress)
	}
	return title + ": " + strings.Join(words, ", ")
}

// conditionTable has a row for each condition; a message stands below its row, or in the row when wide.
func conditionTable(o inspect.ObjectStatus, now time.Time, wide bool) string {
	rows := [][]string{{"CONDITION", "STATUS", "REASON", "AGE"}}
	if wide {
		rows = [][]string{{"CONDITION", "STATUS", "REASON", "MESSAGE", "AGE"}}
	}
	for _, c := range o.Conditions {
		row := []string{c.Type, string(c.Status), c.Reason}
		if wide {
			row = append(row, cmp.Or(c.Message, "-"))
		}
		rows = append(rows, append(row, console.Age(now, &c.LastTransitionTime)))
	}
	table := console.Table(rows)
	if wide {
		return table
	}
	lines := strings.Split(strings.TrimRight(table, "\n"), "\n")
	var b strings.Builder
	b.WriteString(lines[0] + "\n")
	for i, c := range o.Conditions {
		b.WriteString(lines[i+1] + "\n")
		if c.Message != "" {
			b.WriteString(console.Wrap(c.Message, "  "))
		}
	}
	return b.String()
}

func (s *statusVerb) operatorStatus(ctx context.Context, output string) error {
	r, err := s.Reader()
	if err != nil {
		return err
	}
	namespace := s.NamespaceOfOperator()
	workloads, err := inspect.Workloads(ctx, r.Client, namespace)
	if err != nil {
		return err
	}
	o, err := s.OptionsOf(workloads, namespace)
	if err != nil {
		return err
	}
	shards := 0
	if o.Leader.Elect {
		shards = o.Shard.Shards()
	}
	names, err := definitionNames(s.CRDs)
	if err != nil {
		return err
	}
	status, err := r.Operator(ctx,
		inspect.OperatorQuery{Namespace: namespace, Shards: shards, LeaseDuration: o.Leader.LeaseDuration, Definitions: names, Client: s.Version,
			Workloads: workloads})
	if err != nil {
		return err
	}
	if len(workloads) == 0 && !status.IsHeld() { // a lease that is held and renewed proves an operator outside of the cluster
		return exit.Precondition(fmt.Errorf("namespace %s has neither a Deployment nor a StatefulSet %s: install the operator, or name its namespace with --operator-namespace", namespace, connection.OperatorName))
	}
	return printJudged(s.Connection, output, status, status.Healthy,
		func() string { return textOfOperator(status, s.Clock.Now(), output == "wide") })
}

// definitionNames are the names of the CustomResourceDefinitions, from the names of their generated files: group_plural.yaml.
func definitionNames(files fs.FS) ([]string, error) {
	paths, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range paths {
		group, plural, found := strings.Cut(strings.TrimSuffix(path, ".yaml"), "_")
		if !found {
			return nil, fmt.Errorf("%s is not named after the group and the plural of its kind", path)
		}
		out = append(out, plural+"."+group)
	}
	return out, nil
}
