// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// filesOfParts are the files of the parts that have several. The first declares the part.
var filesOfParts = [][]string{
	{"https.go", "ingress.go", "gateway.go"},
	{"workload.go", "components.go", "pod.go", "runs.go", "scaling.go", "validatepod.go", "validateplacement.go", "validatesecurity.go", "drain.go"},
	{"identity.go", "assumable.go", "podidentity.go"},
	{"resources.go", "resourceparts.go", "resourcedata.go", "resourceexports.go", "resourcekinds.go", "resourcerights.go", "resourceschema.go", "validateresources.go"},
	{"ai.go", "validateai.go", "aigateways.go", "aiguardrails.go", "aiknowledge.go", "aimemory.go", "aiprofiles.go", "airuntimes.go", "aivectors.go", "servicerole.go"},
	{"glue.go", "cron.go"},
}

// maxPartFiles is the number of files that a part has at most; largeParts have more, and their numbers only go down.
const maxPartFiles = 6

var largeParts = map[string]int{"workload.go": 9, "resources.go": 8, "ai.go": 10}

// mentions are the files outside of a part that name one of its kinds, steps or entries. The list only gets shorter: what else needs to
// know a part asks a member of the struct part.
var mentions = map[string][]string{
	"StepPolicies":         {"conditions.go", "summarize.go"},
	"StepResources":        {"budget.go", "servicerole.go"},
	"StepSNS":              {"budget.go"},
	"StepSecrets":          {"conditions.go", "summarize.go"},
	"kindAnyType":          {"ai.go", "aiknowledge.go", "budget.go", "servicerole.go"},
	"kindAssociation":      {"policies.go"},
	"kindAutoscaler":       {"https.go", "summarize.go"},
	"kindBucket":           {"aiknowledge.go", "glue.go"},
	"kindConfigMap":        {"record.go"},
	"kindCronJob":          {"summarize.go"},
	"kindDeployment":       {"credentials.go", "resourceparts.go", "summarize.go"},
	"kindDisruptionBudget": {"summarize.go"},
	"kindNamespace":        {"compile.go"},
	"kindPolicies":         {"https.go"},
	"kindProvider":         {"compile.go", "facts.go", "servicerole.go"},
	"kindQueue":            {"topics.go"},
	"kindQuota":            {"compile.go", "https.go"},
	"kindRole":             {"glue.go", "recovery.go", "resources.go", "servicerole.go", "steps.go"},
	"kindService":          {"ingress.go", "observed.go"},
	"kindServiceAccount":   {"workload.go"},
	"kindTopic":            {"budget.go"},
	"ofBuckets":            {"glue.go"},
	"ofGlue":               {"airuntimes.go"},
	"ofGuardrails":         {"ai.go"},
	"ofKnowledgeBases":     {"ai.go"},
	"ofModels":             {"airuntimes.go"},
}

// partWord fits the constants that name kinds, steps and entries.
var partWord = regexp.MustCompile(`^(kind|Step|of)[A-Z][A-Za-z0-9]+$`)

// production returns the files of the package without tests.
func production(t *testing.T) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = f
	}
	return out
}

// partOf returns the file that declares the part to which a file belongs; "" for a file that parts share.
func partOf(files map[string]*ast.File, name string) string {
	for _, of := range filesOfParts {
		if slices.Contains(of, name) {
			return of[0]
		}
	}
	for _, d := range files[name].Decls {
		if f, is := d.(*ast.FuncDecl); is && strings.HasSuffix(f.Name.Name, "Part") && f.Recv == nil && f.Type.Results != nil {
			if of, is := f.Type.Results.List[0].Type.(*ast.Ident); is && of.Name == "part" {
				return name
			}
		}
	}
	return ""
}

func TestParts_AreKnownInTheirFilesAlone(t *testing.T) {
	files, owner := production(t), map[string]string{}
	for name, f := range files {
		for _, d := range f.Decls {
			if g, is := d.(*ast.GenDecl); is && g.Tok == token.CONST && partOf(files, name) != "" {
				for _, s := range g.Specs {
					for _, id := range s.(*ast.ValueSpec).Names {
						if partWord.MatchString(id.Name) {
							owner[id.Name] = partOf(files, name)
						}
					}
				}
			}
		}
	}
	found := map[string]map[string]bool{}
	for name, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, is := n.(*ast.Ident); is && owner[id.Name] != "" && owner[id.Name] != partOf(files, name) {
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
	for _, of := range filesOfParts {
		most := maxPartFiles
		if large := largeParts[of[0]]; large > 0 {
			most = large
		}
		if len(of) > most || largeParts[of[0]] > 0 && len(of) < most {
			t.Errorf("the part of %s has %d files, not %d", of[0], len(of), most)
		}
	}
}

// goFiles returns the names of the files of the package without tests.
func goFiles(t *testing.T) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			out = append(out, e.Name())
		}
	}
	return out
}
