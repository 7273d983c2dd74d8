// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/docblocks"
)

// exchange is a command of a transcript, and what the page shows that it prints.
type exchange struct{ command, shown string }

// exchangesIn divides a transcript by its prompts.
func exchangesIn(transcript string) []exchange {
	var out []exchange
	for line := range strings.Lines(transcript) {
		if typed, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, exchange{command: strings.TrimSuffix(typed, "\n")})
		} else if len(out) > 0 {
			out[len(out)-1].shown += line
		}
	}
	return out
}

// varying are the parts of an output that differ between two runs, and what stands for each.
var varying = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`\b\d+(\.\d+)?(ms|s|m|h)(\d+s)?\b`), "TIME"},
	{regexp.MustCompile(`\[ *TIME\]`), "[TIME]"},
	{regexp.MustCompile(`\bdone in TIME`), "done"},
	{regexp.MustCompile(`\b[0-9a-f]{12}…`), "DIGEST"},
	{regexp.MustCompile(`-[0-9a-f]{7,10}-[0-9a-z]{5}\b`), "-POD"},
	{regexp.MustCompile(`-[0-9a-f]{10}\.`), "-HASH."},
}

// wordsOf returns the words of an output without what differs between two runs: its columns and lines may be of another width.
func wordsOf(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.as)
	}
	return strings.Join(strings.Fields(text), " ")
}

// shows reports whether an output has all that a page shows of it, word for word. The character … stands for any text.
func shows(shown, printed string) bool {
	pattern := strings.NewReplacer(" … ", " (.* )?", "…", ".*").Replace(regexp.QuoteMeta(wordsOf(shown) + " "))
	return regexp.MustCompile("^" + pattern + "$").MatchString(wordsOf(printed) + " ")
}

// runTranscript runs the commands of a transcript, and compares what they print with what it shows. Commands of which it shows
// nothing may print anything.
func (x tool) runTranscript(b docblocks.Block, mark docblocks.Mark, folder, before string) {
	x.Helper()
	all, script := exchangesIn(b.Text), restoreVariables+before
	const ends, failure = "---- end of a command of the page", "---- it failed"
	for _, e := range all {
		script += fmt.Sprintf("\necho '%s'\n{ %s\n} || echo '%s'\n", ends, filledIn(e.command+"\n"), failure)
	}
	out, err := x.inShell(folder, script+saveVariables)
	parts := strings.Split(out, ends+"\n")
	if err != nil || len(parts) != len(all)+1 {
		x.Fatalf("%v\n%s", err, out)
	}
	if failed := strings.Contains(out, failure); failed != mark.Fails {
		x.Errorf("a command fails: %v, by the mark %v\n%s", failed, mark.Fails, out)
	}
	for i, e := range all {
		printed := strings.ReplaceAll(parts[i+1], failure+"\n", "")
		if mark.Unordered {
			e.shown, printed = inOrder(e.shown), inOrder(printed)
		}
		if e.shown != "" && !shows(e.shown, printed) {
			x.Errorf("$ %s\n%s\nthe page shows\n%s", e.command, printed, e.shown)
		}
	}
}

// inOrder sorts lines without what differs between two runs.
func inOrder(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, wordsOf(line))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestExchangesIn_DividesByPrompts(t *testing.T) {
	got := exchangesIn("$ a | b\n1\n2\n\n$ c\n")
	if len(got) != 2 || got[0] != (exchange{"a | b", "1\n2\n\n"}) || got[1] != (exchange{command: "c"}) {
		t.Errorf("%q", got)
	}
}

func TestShows_ComparesAllButWhatVaries(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"NAME   AGE\npod/x-84cc94c6b4-d48w5  2m3s", "NAME AGE\npod/x-9df88bd8f-jkpfp   7s", true},
		{"NAME   READY", "NAME   STATE", false},
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…\nd", "a\nd", true},
		{"a\n…", "a\nb", true},
		{"a\nb", "a\nb\nc", false},
		{"sha256:5d9c…", "sha256:5d9cab", true},
		{"[  0.3s] step 8: done in 0.2s (1 ready)", "[12.1s] step 8: done in 350ms (1 ready)", true},
		{"[  0.3s] step 8: done in 0.2s (1 ready)", "[12.1s] step 8: done in 350ms (2 ready)", false},
	} {
		if got := shows(c.shown, c.printed); got != c.want {
			t.Errorf("%q, printed %q: %v", c.shown, c.printed, got)
		}
	}
}
