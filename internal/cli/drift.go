// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// driftFlags are the flags of the verb.
type driftFlags struct {
	output               string
	everywhere, exitCode bool
}

func driftCommand(s *connection.Connection) *cobra.Command {
	f := &driftFlags{}
	cmd := &cobra.Command{
		Use:   "drift",
		Short: "List the fields in which AWS differs from what is declared",
		Long: "drift lists the drift that the operator reports in the statuses of AWS resource objects: fields that were changed\n" +
			"outside the operator and are not corrected, because driftPolicy is Report or the correction is not done yet. Objects whose\n" +
			"fields AWS does not keep, with the reason NotSettling, follow with their messages.\n" +
			"Without drift it prints nothing but a line on standard error. To have AWS looked at now, use nexusctl reconcile first.",
		Example: "  nexusctl drift -n team-a\n  nexusctl drift -A --exit-code\n  nexusctl drift -A -o json",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return drift(cmd.Context(), s, f) },
	}
	cmd.Flags().BoolVarP(&f.everywhere, "all-namespaces", "A", false, "look in every namespace")
	cmd.Flags().BoolVar(&f.exitCode, "exit-code", false, "exit with 1 when there is drift")
	outputFlag(cmd, &f.output, "text", "wide (complete values)", "json", "yaml")
	return cmd
}

func drift(ctx context.Context, s *connection.Connection, f *driftFlags) error {
	report, err := reportOf(ctx, s, f.everywhere, "No drift is reported in %s.", (*inspect.Reader).Drift)
	if err != nil {
		return err
	}
	return printJudged(s, f.output, report, !f.exitCode || len(report.Objects) == 0, func() string {
		return textOfDrift(report, s.Clock.Now(), driftColumns{namespace: f.everywhere, wide: f.output == "wide"})
	})
}

// driftColumns chooses the columns of the table of drift.
type driftColumns struct{ namespace, wide bool }

// textOfDrift has a row for each field, and below a line for each object that does not settle; nothing without drift.
func textOfDrift(report *inspect.DriftReport, now time.Time, show driftColumns) string {
	if len(report.Objects) == 0 {
		return ""
	}
	header := []string{"NAME", "FIELD", "DECLARED", "FOUND", "POLICY", "AGE"}
	if show.namespace {
		header = append([]string{"NAMESPACE"}, header...)
	}
	rows, unsettled := [][]string{header}, ""
	for _, o := range report.Objects {
		if o.Message != "" {
			unsettled += fmt.Sprintf("%s %s/%s (%s): %s\n", o.Kind, o.Namespace, o.Name, status.ReasonNotSettling, o.Message)
		}
		for _, f := range o.Fields {
			row := []string{strings.ToLower(o.Kind) + "/" + o.Name, f.Path, valueInTable(f.Want, show.wide), valueInTable(f.Have, show.wide),
				o.Policy, console.Age(now, o.Since)}
			if show.namespace {
				row = append([]string{o.Namespace}, row...)
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 1 {
		return unsettled
	}
	return console.Table(rows) + unsettled
}

// valueInTable keeps a value within its column.
func valueInTable(value string, wide bool) string {
	const most = 16
	value = strings.Join(strings.Fields(value), " ")
	if r := []rune(value); !wide && len(r) > most {
		value = string(r[:most-1]) + "…"
	}
	return cmp.Or(value, "<none>")
}
