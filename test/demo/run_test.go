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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/testkit/docblocks"
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
	d.acceptsManifests()
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

// acceptsManifests sends every manifest of the pages and of the examples to the API server as a dry run, in namespace default. It leaves out
// those that other products serve.
func (d demo) acceptsManifests() {
	d.Helper()
	blocks, err := docblocks.Pages(".")
	if err != nil {
		d.Fatal(err)
	}
	all, err := docblocks.Examples(".", "examples")
	if err != nil {
		d.Fatal(err)
	}
	var text strings.Builder
	for _, m := range append(docblocks.Manifests(blocks), all...) {
		text.WriteString("---\n" + d.inDefault(m))
	}
	file := filepath.Join(d.TempDir(), "manifests.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		d.Fatal(err)
	}
	d.runCommands("every page and example", runFence{commands: "kubectl apply --server-side --dry-run=server --force-conflicts -f " + file}, "")
}

// served are groups that the API server of the demo serves, and that pages have manifests of.
var served = []string{"v1", "networking.k8s.io/v1", "nexus.ai/v1", "aws-infra-operator.runner.codes/v1alpha1", "intent.security.nimbus.com/v1alpha1"}

// inDefault returns a manifest as one of namespace default, which exists; empty for one that is not served.
func (d demo) inDefault(m docblocks.Manifest) string {
	if _, isOfChart, _ := m.ChartValues(); isOfChart {
		return ""
	}
	whole, err := m.Whole()
	u := &unstructured.Unstructured{}
	if err == nil {
		err = yaml.Unmarshal([]byte(whole), &u.Object)
	}
	if err != nil {
		d.Fatalf("%s: %v", m.Place, err)
	}
	if !slices.Contains(served, u.GetAPIVersion()) || u.GetName() == "" {
		return ""
	}
	if u.GetNamespace() != "" {
		u.SetNamespace("default")
	}
	out, err := yaml.Marshal(u.Object)
	if err != nil {
		d.Fatal(err)
	}
	return string(out)
}
