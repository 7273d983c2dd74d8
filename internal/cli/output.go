// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"
)

// columns is the width that text is wrapped to.
const columns = 80

// completeOutput has a shell complete the value of --output.
func completeOutput(cmd *cobra.Command, formats ...string) {
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// outputFlag gives a verb the flag --output, whose value is checked before the verb runs. The first format is the default.
// What follows the name of a format explains it.
func outputFlag(cmd *cobra.Command, into *string, formats ...string) {
	last := len(formats) - 1
	var known []string
	for _, f := range formats {
		name, _, _ := strings.Cut(f, " ")
		known = append(known, name)
	}
	cmd.Flags().StringVarP(into, "output", "o", known[0], "output format: "+strings.Join(formats[:last], ", ")+" or "+formats[last])
	completeOutput(cmd, known...)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if slices.Contains(known, *into) {
			return nil
		}
		return usage("--output: %q is none of %s and %s", *into, strings.Join(known[:last], ", "), known[last])
	}
}

// printAs writes data as JSON or YAML, or else the text that describes it.
func printAs(w io.Writer, format string, data any, text func() string) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(data)
	case "yaml":
		b, err := yaml.Marshal(data)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	default:
		_, err := io.WriteString(w, text())
		return err
	}
}

// textTable lines up rows as kubectl does. The first row is the header.
func textTable(rows [][]string) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 8, 3, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a buffer takes everything
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// ageOf is the time since a moment as kubectl writes it.
func ageOf(now time.Time, since *metav1.Time) string {
	if since == nil || since.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

// wrapText breaks text into lines of at most the usual width, each with an indentation.
func wrapText(text, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && len([]rune(line))+1+len([]rune(word)) > columns {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}
