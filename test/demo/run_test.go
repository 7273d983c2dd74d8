// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// runFence is a block of commands of a page that is marked to be run: ```sh run, or ```sh run fails.
type runFence struct {
	line     int
	commands string
	fails    bool
}

// runFences returns the marked blocks of a page in order.
func runFences(text string) []runFence {
	var out []runFence
	for _, m := range regexp.MustCompile("(?ms)^```sh run( fails)?\n(.*?)^```$").FindAllStringSubmatchIndex(text, -1) {
		out = append(out, runFence{line: 1 + strings.Count(text[:m[0]], "\n"), commands: text[m[4]:m[5]], fails: m[2] >= 0})
	}
	return out
}

func TestRunFences_AreTheMarkedOnesInOrder(t *testing.T) {
	got := runFences("# A\n\n```sh\na\n```\n\n```sh run\nb\nc\n```\n\n```yaml run\nd\n```\n\n```sh run fails\ne\n```\n\n```sh runs\nf\n```\n")
	want := []runFence{{line: 7, commands: "b\nc\n"}, {line: 16, commands: "e\n", fails: true}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestTheCommandsOfTheDocumentationWork brings up the demo with nexusctl dev and runs the marked commands of all pages in its
// world. Where the machine has no kubectl, the demo's env file adds that of the test bed.
func TestTheCommandsOfTheDocumentationWork(t *testing.T) {
	d := newDemo(t)
	d.Chdir("../..")
	x := newTool(d)
	up := []string{"dev", "up", "--operator", filepath.Join(x.programs, "nexus-operator"), "-f", "examples/test-capability.yaml", "-f", "examples/capability-with-intents.yaml"}
	x.comesUp(up)
	x.everythingWorks()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, page := range append([]string{"README.md"}, pages...) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range runFences(string(content)) {
			run++
			d.runCommands(page, f, x.programs)
		}
	}
	if run < 8 {
		t.Errorf("only %d blocks of commands are marked", run)
	}
	x.stops()
}

// runCommands runs one block from the root of the tree, as a reader would after `source .demo/env`.
func (d demo) runCommands(page string, f runFence, programs string) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", `source "$0/env"; `+f.commands, d.dir)
	cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if f.fails && err == nil {
		d.Errorf("%s:%d succeeds, and the page says that it fails:\n%s\n%s", page, f.line, f.commands, out)
	}
	if !f.fails && err != nil {
		d.Fatalf("%s:%d: %v\n%s\n%s", page, f.line, err, f.commands, out)
	}
	d.Logf("%s:%d\n%s", page, f.line, out)
}
