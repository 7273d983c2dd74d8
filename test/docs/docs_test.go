// SPDX-License-Identifier: Apache-2.0

// Package docs checks the fenced blocks of the documentation. Every command exists, with each of its flags, and every file that it names;
// every manifest and every policy is valid. Every block of commands has a mark, by which test/demo runs it or leaves it out.
package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/cli"
	"github.com/nexus-operator/nexus-operator/internal/testkit/docblocks"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// program is nexusctl without a cluster.
func program(out, errs *bytes.Buffer) cli.Program {
	return cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases, Version: "v1.2.3",
		Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
		IOStreams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: errs}}
}

// checkNexusctl reads a command line as the program would, and does not run it.
func (c *checker) checkNexusctl(args []string) error {
	root := program(&bytes.Buffer{}, &bytes.Buffer{}).Command("nexusctl")
	root.InitDefaultCompletionCmd("completion")
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	}
	if isMention := c.inSentence && cmd.Flags().NArg() == 0; isMention {
		return filesOf(cmd)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	}
	if cmd.HasSubCommands() {
		return fmt.Errorf("%s names no command", cmd.CommandPath())
	}
	if cmd.PreRunE != nil {
		if err := cmd.PreRunE(cmd, nil); err != nil {
			return err
		}
	}
	return filesOf(cmd)
}

// filesOf checks the files that the flags of a command of nexusctl name.
func filesOf(cmd *cobra.Command) error {
	files, err := cmd.Flags().GetStringSlice("filename")
	if err != nil { // it has no such flag
		files = nil
	}
	if f := cmd.Flags().Lookup("from-terraform"); f != nil && f.Changed {
		files = append(files, f.Value.String())
	}
	for _, f := range files {
		if err := manifestExists(f); err != nil {
			return err
		}
	}
	return nil
}

// builtinKinds are the names of kinds of Kubernetes and of other products on the pages.
var builtinKinds = []string{"pods", "deployment", "lease", "crd", "namespace", "networkpolicies", "clusterrolebinding", "hpa", "pod",
	"cronjob", "job", "node", "nodes"}

// kindNames returns the names under which kubectl knows our kinds, and those of Kubernetes on the pages.
func kindNames(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, name := range builtinKinds {
		out[name] = true
	}
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, d); err != nil {
			t.Fatal(err)
		}
		n := d.Spec.Names
		for _, name := range slices.Concat([]string{n.Plural, n.Singular, strings.ToLower(n.Kind)}, n.ShortNames, n.Categories) {
			out[name] = true
		}
	}
	return out
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	programs, err := world.BinDir()
	if err != nil {
		t.Fatal(err)
	}
	return &checker{kubectl: kubectl{path: filepath.Join(programs, "kubectl"), kinds: kindNames(t), helps: map[string]flagSet{}},
		skipped: map[string]int{}}
}

func blocks(t *testing.T) []docblocks.Block {
	t.Helper()
	out, err := docblocks.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDocs_EveryCommandExistsWithItsFlags(t *testing.T) {
	c, seen := newChecker(t), 0
	for _, b := range blocks(t) {
		for _, cmd := range b.Commands() {
			seen++
			c.inSentence = b.Language == docblocks.Inline
			if err := c.check(cmd); err != nil {
				t.Errorf("%s:%d: %s\n    %v", b.Page, cmd.Line, strings.Join(cmd.Words, " "), err)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d commands were found", seen)
	}
	for name := range unchecked {
		if c.skipped[name] == 0 {
			t.Errorf("no page calls %s, which is on the list of programs that are not checked", name)
		}
	}
}

// Each of these has one mistake, as an edit of a page could bring it in.
func TestDocs_AWrongCommandIsFound(t *testing.T) {
	c := newChecker(t)
	for line, want := range map[string]string{
		"nexusctl plan -f capability.yaml --sever":                    "--sever",
		"nexusctl paln -f capability.yaml":                            "paln",
		"nexusctl plan -f capabilities.yaml":                          "capabilities.yaml",
		"nexusctl status -o table":                                    "table",
		"nexusctl iam policy":                                         "names no command",
		"nexusctl iam polcy operator":                                 "polcy",
		"nexusctl tree":                                               "arg",
		"nexusctl import --from-terraform tofu.json":                  "tofu.json",
		"nexus-operator iam-policy operator --acount 1":               "--acount",
		"kubectl apply -f examples/none.yaml":                         "examples/none.yaml",
		"kubectl apply --serverside -f examples/test-capability.yaml": "--serverside",
		"kubectl aply -f examples/test-capability.yaml":               "aply",
		"kubectl -n a get nexuscapabilitys":                           "nexuscapabilitys",
		"kubectl create rolebinding a -n b --clusterole=c":            "--clusterole",
		"make dmeo": "dmeo",
		"helm upgrade nexus-operator charts/nexus-operator --set replica=2": "replica",
		"helm install nexus-operator charts/nexus --namespace a":            "charts/nexus",
		"helm install nexus-operator charts/nexus-operator --namspace a":    "--namspace",
		"go test ./test/nowhere":                 "nowhere",
		"go test -run TestThatIsGone ./test/e2e": "TestThatIsGone",
		"./operator.sh status":                   "operator.sh",
		"kubectl get pods | kubctl get pods":     "kubctl",
		"for f in a b; do nexusctl validate -f $(nexusctl rendr -f x.yaml) -R; done": "rendr",
	} {
		var found error
		for _, cmd := range docblocks.Shell(line, 1) {
			found = errors.Join(found, c.check(cmd))
		}
		if found == nil || !strings.Contains(found.Error(), want) {
			t.Errorf("%s: %v, want %q", line, found, want)
		}
	}
}

// sketches are blocks of YAML that no one applies, with the reason.
var sketches = map[string]string{"docs/editors.md": "shows where the line for editors stands"}

// validate checks manifests as `nexusctl validate` does: schema, rules in CEL, and what the operator itself refuses. Each is a file of its
// own, named after its place, because pages show one object several times.
func validate(ctx context.Context, folder string, manifests ...docblocks.Manifest) error {
	args := []string{"nexusctl", "validate"}
	for i, m := range manifests {
		values, isOfChart, err := m.ChartValues()
		if err == nil && isOfChart {
			err = checkChartValues(values)
		}
		text := ""
		if err == nil && !isOfChart {
			text, err = m.Whole()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.Place, err)
		}
		if isOfChart {
			continue
		}
		file := filepath.Join(folder, fmt.Sprintf("%d-%s.yaml", i, strings.ReplaceAll(m.Place, "/", "_")))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		args = append(args, "-f", file)
	}
	if len(args) == 2 {
		return nil
	}
	var out, errs bytes.Buffer
	if code := program(&out, &errs).Run(ctx, args); code != 0 {
		wrong := slices.DeleteFunc(strings.Split(out.String(), "\n"), func(line string) bool { return strings.HasSuffix(line, ": valid") })
		return fmt.Errorf("%s%s", strings.Join(wrong, "\n"), errs.String())
	}
	return nil
}

// checkChartValues checks the names in a block with values of the chart.
func checkChartValues(values map[string]any) error {
	for name, value := range values {
		if err := chartHasValue(name); err != nil {
			return err
		}
		inner, _ := value.(map[string]any)
		for key := range inner {
			if err := chartHasValue(name + "." + key); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestDocs_EveryManifestIsValid(t *testing.T) {
	examples, err := docblocks.Examples(root, "examples")
	if err != nil {
		t.Fatal(err)
	}
	all := append(docblocks.Manifests(blocks(t)), examples...)
	if len(all) < 120 {
		t.Errorf("only %d manifests were found", len(all))
	}
	all = slices.DeleteFunc(all, func(m docblocks.Manifest) bool {
		page, _, _ := strings.Cut(m.Place, ":")
		return sketches[page] != ""
	})
	if err := validate(t.Context(), t.TempDir(), all...); err != nil {
		t.Error(err)
	}
}

func TestDocs_AWrongManifestIsFound(t *testing.T) {
	folder := t.TempDir()
	for text, want := range map[string]string{
		"apiVersion: nexus.ai/v1\nkind: NexusAICapabilty\nmetadata: {name: a}":                                                                         "NexusAICapabilty",
		"apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: SQSQueue\nmetadata: {name: a}\nspec: {providerRef: {name: p}, queueNam: a}":       "queueNam",
		"apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: SQSQueue\nmetadata: {name: a}\nspec: {providerRef: {name: p}, queueName: a.fifo}": "fifo",
		"apiVersion: intent.security.nimbus.com/v1alpha1\nkind: SecurityIntent\nmetadata: {name: a}\nspec: {intent: {id: dnsManipulaton}}":             "dnsManipulaton",
		"spec: {dataServices: {queue: [{name: jobs}]}}":                                                                                                "queue",
		"replicas: 2": "neither a manifest",
		"# values of the chart\nsharding: {counts: 2}": "sharding.counts",
		"a: 1\na: 2\nspec: {version: \"1.0.0\"}":       "already set",
		"spec: {enableCognito: true, ingress: true}":   "ingress",
	} {
		if err := validate(t.Context(), folder, docblocks.Manifest{Text: text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
