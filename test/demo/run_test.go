// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
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
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// TestTheCommandsOfTheDocumentationWork brings up the demo with nexusctl dev and runs the blocks of commands of all pages in its
// world. Where the machine has no kubectl, the demo's env file adds that of the test bed.
func TestTheCommandsOfTheDocumentationWork(t *testing.T) {
	extent.Full(t)
	d := newDemo(t)
	d.Chdir("../..")
	x := newTool(d)
	up := []string{"dev", "up", "--operator", filepath.Join(x.programs, "nexus-operator"), "-f", "examples/test-capability.yaml", "-f",
		"examples/capability-with-intents.yaml"}
	x.comesUp(up)
	x.everythingWorks()
	x.acceptsManifests() // before pages have created objects of the same names
	x.runsPages()
	x.stops()
}

// runsPages runs the blocks in the order of the pages, and then those that remove what others need, with the operator's definitions.
func (x tool) runsPages() {
	x.Helper()
	blocks, err := docblocks.Pages(".")
	if err != nil {
		x.Fatal(err)
	}
	full := extent.IsFull(x)
	if full {
		x.installsHelm()
	}
	if run := x.runsBlocks(blocks, func(m docblocks.Mark) bool { return !m.Last && (full || !m.Full) }); run < 20 {
		x.Errorf("only %d blocks of commands were run", run)
	}
	if full {
		x.runsBlocks(blocks, func(m docblocks.Mark) bool { return m.Last })
		x.shell("the definitions", ".",
			"kubectl apply --server-side --force-conflicts -f charts/nexus-operator/files/crd && kubectl wait --for=condition=Established crd --all")
	}
}

// runsBlocks runs the blocks that are marked to be run and that the function chooses, and returns how many.
func (x tool) runsBlocks(blocks []docblocks.Block, chosen func(docblocks.Mark) bool) (run int) {
	x.Helper()
	r := reader{tool: x}
	for _, b := range blocks {
		if !b.IsOfCommands() {
			continue
		}
		mark, err := b.ReadMark()
		if err != nil {
			x.Fatalf("%s:%d: %v", b.Page, b.Line, err)
		}
		if mark.Run && chosen(mark) {
			run++
			r.reads(b, mark)
		}
	}
	return run
}

// installsHelm builds Helm in the version that the tests of the chart use, beside nexusctl.
func (x tool) installsHelm() {
	x.Helper()
	path := filepath.Join(x.programs, "helm")
	if _, err := os.Stat(path); err == nil {
		return
	}
	out, err := exec.CommandContext(x.Context(), "go", "-C", "dev/chart", "build", "-o", path, "helm.sh/helm/v4/cmd/helm").CombinedOutput()
	if err != nil {
		x.Fatalf("%v\n%s", err, out)
	}
}

// reader follows the pages one after the other, each in a folder that looks like the root of the tree.
type reader struct {
	tool

	page, folder string
}

// reads runs a block in a separate test.
func (r *reader) reads(b docblocks.Block, mark docblocks.Mark) {
	r.Helper()
	if r.page != b.Page {
		r.page, r.folder = b.Page, r.folderLikeTheTree()
	}
	r.Run(fmt.Sprintf("%s:%d", b.Page, b.Line), func(t *testing.T) {
		x := r.tool
		x.T = t
		if slices.ContainsFunc(b.Commands(), func(c docblocks.Command) bool { return c.Words[0] == "aws" }) {
			x.needsAWSCommandLine()
		}
		before := ""
		for _, name := range mark.With {
			text, err := os.ReadFile(filepath.Join("test/demo/testdata", name+".sh"))
			if err != nil {
				t.Fatal(err)
			}
			before += string(text)
		}
		if b.Language == "console" {
			x.runTranscript(b, mark, r.folder, before)
			return
		}
		x.runBlock(b, mark, r.folder, before)
	})
}

// needsAWSCommandLine skips the test on a machine without the AWS CLI, which is not part of the test bed.
func (x tool) needsAWSCommandLine() {
	x.Helper()
	if _, err := exec.LookPath("aws"); err != nil {
		x.Skip("the AWS CLI is not installed")
	}
}

// folderLikeTheTree returns a folder with links to all files of the tree, so that what a block writes does not remain there.
func (x tool) folderLikeTheTree() string {
	x.Helper()
	folder := x.TempDir()
	entries, err := os.ReadDir(".")
	if err != nil {
		x.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		x.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(folder, e.Name())); err != nil {
			x.Fatal(err)
		}
	}
	return folder
}

// placeholders are the words that a reader replaces.
var placeholders = map[string]string{"NAMESPACE": "myapp-dev", "NAME": "myapp-dev", "BUCKET": "myapp-dev-call-data", "KIND": "s3buckets",
	"REPOSITORY": "registry.example/nexus-operator"}

var placeholder = regexp.MustCompile(`\b(NAMESPACE|NAME|BUCKET|KIND|REPOSITORY)\b`)

// readsLogs matches a line that reads the logs of a pod, which a simulated node does not have.
var readsLogs = regexp.MustCompile(`(?m)^kubectl (-n \S+ )?logs .*\n`)

func filledIn(commands string) string {
	return placeholder.ReplaceAllStringFunc(readsLogs.ReplaceAllString(commands, ""), func(word string) string { return placeholders[word] })
}

// A block begins with the exported variables that the blocks of its page before it have left.
const restoreVariables, saveVariables = "if [ -e .variables ]; then source .variables; fi\n", "\ndeclare -px > .variables\n"

// runBlock runs a block of a shell, with what must be done before.
func (x tool) runBlock(b docblocks.Block, mark docblocks.Mark, folder, before string) {
	x.Helper()
	out, err := x.inShell(folder, restoreVariables+before+filledIn(b.Text)+saveVariables)
	switch {
	case mark.Fails && err == nil:
		x.Errorf("it succeeds, and the page says that it fails:\n%s\n%s", b.Text, out)
	case !mark.Fails && err != nil:
		x.Errorf("%v\n%s\n%s", err, b.Text, out)
	default:
		x.Logf("%s", out)
	}
}

// shell runs commands of a test, which must succeed.
func (x tool) shell(what, folder, commands string) {
	x.Helper()
	out, err := x.inShell(folder, commands)
	if err != nil {
		x.Fatalf("%s: %v\n%s\n%s", what, err, commands, out)
	}
	x.Logf("%s\n%s", what, out)
}

// inShell runs commands as a reader would after `source .demo/env`, and returns what they print.
func (x tool) inShell(folder, commands string) (string, error) {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", `source "$0/env"; `+commands, x.dir)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PATH="+x.programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// acceptsManifests sends every manifest of the pages and of the examples to the API server as a dry run, in namespace default. It leaves
// out those that other products serve, and fragments without a name, which test/docs checks against their schemas.
func (x tool) acceptsManifests() {
	x.Helper()
	blocks, err := docblocks.Pages(".")
	if err != nil {
		x.Fatal(err)
	}
	all, err := docblocks.Examples(".", "examples")
	if err != nil {
		x.Fatal(err)
	}
	var text strings.Builder
	for _, m := range append(docblocks.Manifests(blocks), all...) {
		text.WriteString("---\n" + x.inDefault(m))
	}
	file := filepath.Join(x.TempDir(), "manifests.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		x.Fatal(err)
	}
	x.shell("every page and example", ".", "kubectl apply --server-side --dry-run=server --force-conflicts -f '"+file+"'")
}

// served are groups that the API server of the demo serves, and that pages have manifests of.
var served = []string{"v1", "batch/v1", "networking.k8s.io/v1", "rbac.authorization.k8s.io/v1", "nexus.ai/v1",
	"aws-infra-operator.runner.codes/v1alpha1", "intent.security.nimbus.com/v1alpha1"}

// ofOthers are groups that other products serve.
var ofOthers = []string{"argoproj.io/v1alpha1", "helm.toolkit.fluxcd.io/v2", "kustomize.config.k8s.io/v1beta1",
	"kustomize.toolkit.fluxcd.io/v1",
	"source.toolkit.fluxcd.io/v1"}

// inDefault returns a manifest as one of namespace default, which exists; empty for one that is not served.
func (x tool) inDefault(m docblocks.Manifest) string {
	if _, isOfChart, _ := m.ChartValues(); isOfChart {
		return ""
	}
	whole, err := m.Whole()
	u := &unstructured.Unstructured{}
	if err == nil {
		err = yaml.Unmarshal([]byte(whole), &u.Object)
	}
	if err != nil {
		x.Fatalf("%s: %v", m.Place, err)
	}
	if slices.Contains(ofOthers, u.GetAPIVersion()) || u.GetName() == "" {
		return ""
	}
	if !slices.Contains(served, u.GetAPIVersion()) {
		x.Errorf("%s: the test knows nobody who serves %s", m.Place, u.GetAPIVersion())
		return ""
	}
	if u.GetNamespace() != "" {
		u.SetNamespace("default")
	}
	out, err := yaml.Marshal(u.Object)
	if err != nil {
		x.Fatal(err)
	}
	return string(out)
}
