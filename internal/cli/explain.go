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
)

func explainCommand(s *connection.Connection) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "explain KIND/NAME | CODE",
		Short: "Say why an object is not ready, or what an error code means",
		Long: "explain looks for the cause of an object not being ready in everything below it: an object with a failure of its\n" +
			"own before one that is under way, and the object that others wait for before those that wait. It prints the cause\n" +
			"with conditions and Warning events, commands that help, and the way from the object to the cause.\n\n" +
			"It exits with 0 when the object is ready, and with 1 when it is not.\n\n" +
			"For an error code, explain prints the cause and the remedy without a cluster.",
		Example: "  nexusctl explain ncap/myapp -n team-a\n  nexusctl explain s3bucket/logs -o json\n  nexusctl explain NX-IAM-001",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isCode(args[0]) {
				return explainCode(s.Console, args[0], output)
			}
			return explain(cmd.Context(), s, args, output)
		},
	}
	outputFlag(cmd, &output, "text", "json", "yaml")
	return cmd
}

func explain(ctx context.Context, s *connection.Connection, args []string, output string) error {
	r, root, err := s.ObjectReader(args)
	if err != nil {
		return err
	}
	tree, err := r.Tree(ctx, root)
	if err != nil {
		return err
	}
	e, err := r.Explain(ctx, tree)
	if err != nil {
		return err
	}
	return printJudged(s, output, e, e.Ready, func() string { return textOfExplanation(e, s.Clock.Now()) })
}

// textOfExplanation describes the problem, its evidence and its remedy for people.
func textOfExplanation(e *inspect.Explanation, now time.Time) string {
	if e.Ready {
		text := e.Object.Title() + " is ready.\n"
		if e.Object.Message != "" {
			text += console.Wrap(e.Object.Message, "  ")
		}
		return text + resourceText(e.Object.Resource, now)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is not ready.\n\nCause: %s", e.Object.Title(), e.Cause.Title())
	if e.Cause.Reason != "" {
		b.WriteString(": " + e.Cause.Reason)
	}
	b.WriteString("\n" + console.Wrap(inspect.InWords(e.Cause), "  "))
	b.WriteString(resourceText(e.Cause.Resource, now))
	b.WriteString(evidenceText(e, now))
	b.WriteString("\nWhat to do:\n")
	if e.Remedy != "" {
		b.WriteString(console.Wrap(e.Remedy, "  "))
	}
	for _, c := range e.Commands {
		b.WriteString("  $ " + c + "\n")
	}
	b.WriteString("\nPath:\n")
	for i, n := range e.Path {
		b.WriteString(strings.Repeat("  ", i+1) + n.Title() + ": " + string(n.Health) + "\n")
	}
	b.WriteString(othersText(e))
	return b.String()
}

// resourceText describes the resource of an object of any type; empty for other objects.
func resourceText(r *inspect.Resource, now time.Time) string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-12s%s\n", name+":", text)
		}
	}
	b.WriteString("\nResource:\n")
	line("Type", r.Type)
	line("Identifier", cmp.Or(r.Identifier, "not known yet"))
	if r.ARN != r.Identifier {
		line("ARN", r.ARN)
	}
	if r.Request != nil {
		line("Request", fmt.Sprintf("AWS carries out %s since %s, token %s", r.Request.Operation, console.Age(now, r.Request.Since),
			r.Request.Token))
	}
	for _, d := range r.Drift {
		line("Drift", fmt.Sprintf("%s is %s, declared is %s", d.Path, d.Have, d.Want))
	}
	line("Ignored", strings.Join(r.Ignored, ", "))
	line("Deprecated", r.Deprecated)
	return b.String()
}

func evidenceText(e *inspect.Explanation, now time.Time) string {
	var b strings.Builder
	for _, c := range e.Conditions {
		line := fmt.Sprintf("%s is %s for %s: %s", c.Type, c.Status, console.Age(now, &c.LastTransitionTime), c.Reason)
		if c.Message != "" && c.Message != e.Cause.Message {
			line += ": " + c.Message
		}
		b.WriteString(console.Wrap(line, "  "))
	}
	for _, ev := range e.Events {
		line := fmt.Sprintf("Event %s ago: %s", console.Age(now, &ev.Last), ev.Reason)
		if ev.Count > 1 {
			line += fmt.Sprintf(" (%d times)", ev.Count)
		}
		if ev.Message != "" && ev.Message != e.Cause.Message {
			line += ": " + ev.Message
		}
		b.WriteString(console.Wrap(line, "  "))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nEvidence:\n" + b.String()
}

func othersText(e *inspect.Explanation) string {
	var b strings.Builder
	if e.Waiting > 0 {
		fmt.Fprintf(&b, "\nOther objects that wait: %d\n", e.Waiting)
	}
	if len(e.Failed) > 0 {
		b.WriteString("\nOther failures:\n")
		for _, n := range e.Failed {
			b.WriteString(console.Wrap(fmt.Sprintf("%s: %s: %s", n.Title(), n.Reason, n.Message), "  "))
		}
	}
	return b.String()
}
