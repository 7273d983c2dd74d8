// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/docblocks"
)

// preparations is the folder of the scripts that marks name.
const preparations = root + "/test/demo/testdata"

// testNames returns the names of all tests of the tree.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testName.FindAllSubmatch(text, -1) {
			out[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkMark checks that a block of commands says how it is run or why it is not, and returns the preparations that it names.
func checkMark(b docblocks.Block, tests map[string]bool) ([]string, error) {
	mark, err := b.ReadMark()
	if err != nil {
		return nil, err
	}
	for _, name := range mark.Tests {
		if !tests[name] {
			err = errors.Join(err, fmt.Errorf("its mark names %s, and there is no such test", name))
		}
	}
	for _, name := range mark.With {
		_, e := os.Stat(filepath.Join(preparations, name+".sh"))
		err = errors.Join(err, e)
	}
	return mark.With, err
}

func TestDocs_EveryBlockOfCommandsIsMarked(t *testing.T) {
	tests, used, seen := testNames(t), map[string]bool{}, 0
	for _, b := range blocks(t) {
		if !b.IsOfCommands() {
			continue
		}
		seen++
		with, err := checkMark(b, tests)
		if err != nil {
			t.Errorf("%s:%d: %v", b.Page, b.Line-1, err)
		}
		for _, name := range with {
			used[name+".sh"] = true
		}
	}
	if seen < 80 {
		t.Errorf("only %d blocks of commands were found", seen)
	}
	scripts, err := os.ReadDir(preparations)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		if !used[s.Name()] {
			t.Errorf("no block is run with %s/%s", preparations, s.Name())
		}
	}
}

func TestDocs_AWrongMarkIsFound(t *testing.T) {
	tests := testNames(t)
	for page, want := range map[string]string{
		"```sh\nkubectl get pods\n```":                      "has no mark",
		"1. a\n\n    ```sh\n    kubectl get pods\n    ```":  "has no mark",
		"```console\n$ nexusctl status\n```":                "has no mark",
		"```\n$ nexusctl status\n```":                       "its language is not console",
		"```sh skip later\nmake demo\n```":                  "no known reason",
		"```sh skip tested TestThatIsGone\nmake demo\n```":  "TestThatIsGone",
		"```sh run with nothing-there\nkubectl get po\n```": "nothing-there.sh",
	} {
		b := docblocks.Of("p.md", page)
		if len(b) != 1 || !b[0].IsOfCommands() {
			t.Errorf("%s: %+v", page, b)
			continue
		}
		if _, err := checkMark(b[0], tests); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", page, err, want)
		}
	}
}

// checkJSON checks a block of JSON as what reads it would: IAM for policies and their statements, the operator for the result of a TLS
// assessment, an editor for its settings, and an assistant for its servers.
func checkJSON(text string) error {
	var statements []json.RawMessage
	if json.Unmarshal([]byte(text), &statements) == nil {
		return checkPolicy(`{"Version": "2012-10-17", "Statement": ` + text + `}`)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return err
	}
	switch {
	case fields["Statement"] != nil:
		return checkPolicy(text)
	case fields["Effect"] != nil:
		return checkPolicy(`{"Version": "2012-10-17", "Statement": [` + text + `]}`)
	case fields["targets"] != nil:
		_, err := intent.ParseAssessment(text)
		return err
	case fields["yaml.schemas"] != nil:
		return checkSchemaNames(fields["yaml.schemas"])
	case fields["mcpServers"] != nil:
		return checkServers(fields["mcpServers"])
	default:
		return errors.New("nothing checks this JSON: add a check")
	}
}

// checkServers checks that an assistant starts nexusctl with a command line that exists.
func checkServers(text []byte) error {
	servers := map[string]struct {
		Command string
		Args    []string
	}{}
	if err := json.Unmarshal(text, &servers); err != nil {
		return err
	}
	for name, s := range servers {
		if s.Command != "nexusctl" {
			return fmt.Errorf("server %s is %q, not nexusctl", name, s.Command)
		}
		if err := (&checker{}).checkNexusctl(s.Args); err != nil {
			return fmt.Errorf("server %s: %w", name, err)
		}
	}
	return nil
}

func checkPolicy(text string) error {
	d, err := iampolicy.Parse(text)
	for _, s := range d.Statement {
		if s.Effect != "Allow" && s.Effect != "Deny" {
			err = errors.Join(err, fmt.Errorf("a statement has the effect %q", s.Effect))
		}
		for _, action := range s.Action {
			if service, name, _ := strings.Cut(action, ":"); action != "*" && (service == "" || name == "") {
				err = errors.Join(err, fmt.Errorf("%q is no action", action))
			}
		}
	}
	return err
}

// checkSchemaNames checks that each schema that an editor is to use is that of a version of a kind.
func checkSchemaNames(text []byte) error {
	patterns := map[string]string{}
	if err := json.Unmarshal(text, &patterns); err != nil {
		return err
	}
	definitions, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, path := range definitions {
		definition, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(definition, d); err != nil {
			return err
		}
		for _, v := range d.Spec.Versions {
			known[fmt.Sprintf("./schemas/%s/%s_%s.json", d.Spec.Group, strings.ToLower(d.Spec.Names.Kind), v.Name)] = true
		}
	}
	for path := range patterns {
		if !known[path] {
			return fmt.Errorf("%s is the schema of no kind", path)
		}
	}
	return nil
}

func TestDocs_EveryBlockOfJSONIsValid(t *testing.T) {
	seen := 0
	for _, b := range blocks(t) {
		if b.Language != "json" {
			continue
		}
		seen++
		if err := checkJSON(b.Text); err != nil {
			t.Errorf("%s:%d: %v", b.Page, b.Line, err)
		}
	}
	if seen < 6 {
		t.Errorf("only %d blocks of JSON were found", seen)
	}
}

func TestDocs_WrongJSONIsFound(t *testing.T) {
	for text, want := range map[string]string{
		`{"Version": "2012-10-17", "Statement": [{"Effect": "Alow", "Action": "s3:*", "Resource": "*"}]}`: "Alow",
		`{"Effect": "Allow", "Action": "GetObject", "Resource": "*"}`:                                     "no action",
		`{"Effect": "Allow", "Actions": "s3:*", "Resource": "*"}`:                                         "Actions",
		`[{"Effect": "Allow", "Action": "s3:*", "Resource": "*"},]`:                                       "invalid character",
		`{"version": 1, "targets": [{"host": "example.com", "port": 443, "protocol": []}]}`:               "protocol",
		`{"yaml.schemas": {"./schemas/nexus.ai/nexusaicapability_v2.json": "a.yaml"}}`:                    "_v2.json is the schema of no kind",
		`{"mcpServers": {"nexus": {"command": "nexusctl", "args": ["mcp", "--contxt=a"]}}}`:               "unknown flag",
		`{"a": 1}`: "nothing checks",
	} {
		if err := checkJSON(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
