// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// TitleOf names an object in messages.
func TitleOf(u *unstructured.Unstructured) string {
	name := u.GetName()
	if name == "" && u.GetGenerateName() != "" {
		name = u.GetGenerateName() + "*"
	}
	if u.GetNamespace() == "" {
		return u.GetKind() + " " + name
	}
	return u.GetKind() + " " + u.GetNamespace() + "/" + name
}

// Columns is the width that text is wrapped to.
const Columns = 80

// PrintAs writes data as JSON or YAML, or the text that describes it.
func PrintAs(w io.Writer, format string, data any, text func() string) error {
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

// Table lines up rows as kubectl does. The first row is the header.
func Table(rows [][]string) string {
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

// Age is the time since a moment as kubectl writes it.
func Age(now time.Time, since *metav1.Time) string {
	if since == nil || since.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

// Wrap breaks text into lines of at most the usual width, each with an indentation.
func Wrap(text, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && len([]rune(line))+1+len([]rune(word)) > Columns {
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

// Seconds are rounded to tenths.
// seconds rounds a duration for reports.
func Seconds(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }

// Prefixed is a text after a prefix; nothing without a text.
func Prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// Duration is short: 0.4s, 12s, 3m5s.
func Duration(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// ObjectsAre counts objects at the beginning of a sentence.
func ObjectsAre(n int) string { return status.Counted(n, "object is", "objects are") }

// ShellQuote quotes a word where a shell would read it otherwise.
func ShellQuote(word string) string {
	if strings.ContainsAny(word, " '\"$*?[]&;|<>()`\\") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
