// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxPartFiles is the number of files that the folder of a part has at most, without tests.
const maxPartFiles = 6

// mentions are the files outside of the folder of a part that name one of its kinds, steps or entries. The list only gets shorter: all
// other code that depends on a part uses a member of the struct part.Part.
var mentions = map[string][]string{
	"KindAssociation":      {"report/observed.go"},
	"KindAutoscaler":       {"report/observed.go", "report/summarize.go"},
	"KindBucket":           {"parts/ai/knowledge.go", "parts/glue/glue.go"},
	"KindConfigMap":        {"record.go"},
	"KindCronJob":          {"report/conditions.go", "report/summarize.go"},
	"KindDeployment":       {"report/credentials.go", "report/observed.go", "report/summarize.go"},
	"KindDisruptionBudget": {"report/summarize.go"},
	"KindPolicies":         {"report/observed.go"},
	"KindServiceAccount":   {"parts/workloads/workloads.go"},
	"KindTopic":            {"parts/budget/budget.go"},
	"OfBuckets":            {"parts/glue/glue.go"},
	"OfGlue":               {"parts/ai/agents.go"},
	"OfGuardrails":         {"parts/ai/ai.go"},
	"OfKnowledgeBases":     {"parts/ai/ai.go"},
	"OfModels":             {"parts/ai/agents.go"},
	"StepIngress":          {"report/observed.go"},
	"StepPolicies":         {"report/conditions.go", "report/observed.go", "report/summarize.go"},
	"StepSNS":              {"parts/budget/budget.go"},
	"StepSecrets":          {"report/conditions.go", "report/summarize.go"},
}

// partWord fits the constants that name kinds, steps and entries.
var partWord = regexp.MustCompile(`^([kK]ind|Step|[oO]f)[A-Z][A-Za-z0-9]+$`)

// production returns the files of the package and of those below it, without tests, and without api.go, which only repeats names.
func production(t *testing.T) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "api.go" {
			return err
		}
		out[filepath.ToSlash(name)], err = parser.ParseFile(token.NewFileSet(), name, nil, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// partOf returns the folder of the part that a file belongs to; "" for a file that parts share.
func partOf(name string) string {
	if path.Dir(path.Dir(name)) == "parts" {
		return path.Dir(name)
	}
	return ""
}

func TestParts_AreKnownInTheirFoldersAlone(t *testing.T) {
	files, owner := production(t), map[string]string{}
	for name, f := range files {
		for _, d := range f.Decls {
			if g, is := d.(*ast.GenDecl); is && g.Tok == token.CONST && partOf(name) != "" {
				for _, s := range g.Specs {
					for _, id := range s.(*ast.ValueSpec).Names {
						if partWord.MatchString(id.Name) {
							owner[id.Name] = partOf(name)
						}
					}
				}
			}
		}
	}
	found := map[string]map[string]bool{}
	for name, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, is := n.(*ast.Ident); is && owner[id.Name] != "" && owner[id.Name] != partOf(name) {
				if found[id.Name] == nil {
					found[id.Name] = map[string]bool{}
				}
				found[id.Name][name] = true
			}
			return true
		})
	}
	for _, word := range slices.Sorted(maps.Keys(owner)) {
		got := slices.Sorted(maps.Keys(found[word]))
		if !slices.Equal(got, mentions[word]) {
			t.Errorf("%s of %s is named by %q, not by %q: ask the part, or remove the file from the list where it is not named any more", word, owner[word], got, mentions[word])
		}
	}
	for word := range mentions {
		if owner[word] == "" {
			t.Errorf("no part declares %s: remove it from the list", word)
		}
	}
}

func TestParts_HaveFewFiles(t *testing.T) {
	count := map[string]int{}
	for name := range production(t) {
		if of := partOf(name); of != "" {
			count[of]++
		}
	}
	if len(count) < 20 {
		t.Errorf("only %d folders of parts were found", len(count))
	}
	for of, n := range count {
		if n > maxPartFiles {
			t.Errorf("%s has %d files, may have %d", of, n, maxPartFiles)
		}
	}
}
