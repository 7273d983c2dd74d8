// SPDX-License-Identifier: Apache-2.0

package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// languageRules find wording that readers of the Kubernetes documentation do not expect. Each names what to write instead.
var languageRules = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be|been|being) told\b`), "name who reports what, such as: the condition reports"},
	{regexp.MustCompile(`(?i)\b(says|say|said|tells|tell) whether\b`), "reports whether"},
	{regexp.MustCompile(`(?i)\b(comes?|came|coming) to (?:an? |the )?(end|nothing|rest|be|true)\b`), "ends, stops, becomes"},
	{regexp.MustCompile(`(?i)\b(sees?|seen|seeing|saw) to (it|that|its|their|the)\b`), "ensures"},
	{regexp.MustCompile(`(?i)\b(is|are|be|was|were|been) had\b`), "exists, is available"},
	{regexp.MustCompile(`(?i)\bails?\b`), "fails, is wrong with"},
	{regexp.MustCompile(`(?i)\bby (itself|themselves|himself)\b`), "automatically, alone"},
	{regexp.MustCompile(`(?i)\bof (its|their|his|her) own(?:\s*[.,;:)]|\s*$|\s+(?:and|so|that|which|where|in|with|for|is|to|at|before|has|after|hence|as|without|inside|here)\b)`), "its own X, separate"},
	{regexp.MustCompile(`(?i)\b(makes?|made|making|comes?|become|becomes|keeps?|kept) (it |them |this |each )?true\b`),
		"creates, applies, keeps up to date"},
	{regexp.MustCompile(`(?i)\blets? (it|them|him|her|the \w+|a \w+)? ?go\b`), "releases, removes the finalizer of"},
	{regexp.MustCompile(`(?i)\b(made|makes?|making|created|creates?) (it |them |\w+ )?anew\b`), "creates it again"},
	{regexp.MustCompile(`(?i)\b(was|were|is|are) seen to\b`), "tests show that, does"},
	{regexp.MustCompile(`(?i)\bin existence\b`), "exists"},
	{regexp.MustCompile(`(?i)\bin vain\b`), "without effect"},
	{regexp.MustCompile(`(?i)\b(catalogue|behaviour|favour|honour|neighbour|colour|licence|centre|labelled|labelling|cancelled|cancelling|summaris|recognis|serialis|normalis|initialis|synchronis|authoris|organis|minimis|maximis|customis)\w*`), "US spelling"},
	{headless, "a sentence with a subject: who does what"},
}

// headless finds a sentence that opens with a clause in place of its subject.
var headless = regexp.MustCompile(`^(What|Who|Whoever|Whatever|Nothing|None) (is|are|was|were|that|has|have|had|does|do|can|cannot|may|must|stays|goes|lacks|needs|nobody|somebody|somebody's|people)\b[^?]*$`)

// described finds a comment that begins with a name and a relative clause in place of what the thing does.
var described = regexp.MustCompile(`^\w+ (is|are) (what|how|where|when|who|whose|those|whom)\b`)

// indefinite finds words in comments and documents that leave open who acts. A comment may name an identifier.
var indefinite = regexp.MustCompile(`(?i)(?:^|[\s("*])(nobody|somebody|whoever)\b`)

// withIndefinite lists the beginnings of the paths whose comments still have such words. The list only shrinks: the sources of the test
// bed are reworded with their next change, because each edit builds the test bed again.
var withIndefinite = []string{"dev/bed/", "internal/devworld/programs/module/"}

const indefiniteFound = "name who acts, or write a person, another owner, everyone who or no one instead of "

// hasIndefinite reports whether a comment of a file has such a word; one of a file in withIndefinite may.
func hasIndefinite(path, comment string) bool {
	path = strings.TrimPrefix(path, "../../")
	return !slices.ContainsFunc(withIndefinite, func(begins string) bool { return strings.HasPrefix(path, begins) }) &&
		indefinite.MatchString(comment)
}

// sentenceEnd splits text into sentences.
var sentenceEnd = regexp.MustCompile(`[.;:!] +|\n\n+`)

// badWording returns what a text says that the rules do not allow.
func badWording(text string) []string {
	var out []string
	for _, r := range languageRules {
		if r.pattern == headless {
			continue
		}
		for _, found := range r.pattern.FindAllString(text, -1) {
			out = append(out, fmt.Sprintf("%q: write %s", found, r.instead))
		}
	}
	for _, sentence := range sentenceEnd.Split(text, -1) {
		sentence = strings.Join(strings.Fields(sentence), " ")
		if headless.MatchString(sentence) {
			out = append(out, fmt.Sprintf("%q: write a sentence with a subject", sentence[:min(len(sentence), 60)]))
		}
	}
	return out
}

// quoted matches text that no rule applies to: code, links and quotations.
var quoted = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->")

// wordingOf returns the findings of one file.
func wordingOf(t *testing.T, path string) []string {
	t.Helper()
	switch filepath.Ext(path) {
	case ".go":
		return wordingOfGo(t, path)
	case ".md", ".txt":
		text := quoted.ReplaceAllString(readDoc(t, path), " ")
		found := badWording(text)
		if hasIndefinite(path, text) {
			found = append(found, indefiniteFound+indefinite.FindString(text))
		}
		return found
	case ".yaml", ".tpl":
		return badWording(comments(readDoc(t, path)))
	}
	return nil
}

// comments returns the comments of a YAML file.
func comments(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if _, comment, ok := strings.Cut(line, "# "); ok {
			out.WriteString(comment)
		} else {
			out.WriteString("\n\n")
		}
	}
	return out.String()
}

// wordingOfGo reads the comments of a Go file, and its strings unless it is a test.
func wordingOfGo(t *testing.T, path string) []string {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	add := func(at token.Pos, text string) {
		for _, finding := range badWording(text) {
			out = append(out, fmt.Sprintf("line %d: %s", files.Position(at).Line, finding))
		}
	}
	for _, c := range f.Comments {
		add(c.Pos(), c.Text())
		if found := described.FindString(c.Text()); found != "" {
			out = append(out, fmt.Sprintf("line %d: %q: write what it holds, returns, limits or does", files.Position(c.Pos()).Line, found))
		}
		if hasIndefinite(path, c.Text()) {
			out = append(out, fmt.Sprintf("line %d: %s%s", files.Position(c.Pos()).Line, indefiniteFound, indefinite.FindString(c.Text())))
		}
	}
	if strings.HasSuffix(path, "_test.go") {
		return out
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			add(lit.Pos(), strings.Trim(lit.Value, "`\""))
		}
		return true
	})
	return out
}

// eachFile calls a function with every file of the project except test data and what is built.
func eachFile(t *testing.T, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (strings.HasPrefix(name, ".") && name != ".." && name != "../.." || name == "testdata" || name == "bin" ||
			name == "node_modules") {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			do(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLanguage_IsPlainEnglish reads comments, messages, flags, field descriptions and documents.
func TestLanguage_IsPlainEnglish(t *testing.T) {
	read := 0
	eachFile(t, func(path string) {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "zz_generated") || name == "language_test.go" {
			return
		}
		read++
		for _, finding := range wordingOf(t, path) {
			t.Errorf("%s: %s", strings.TrimPrefix(path, "../../"), finding)
		}
	})
	if read < 300 {
		t.Errorf("only %d files were read", read)
	}
}

func TestLanguage_RulesFire(t *testing.T) {
	for _, bad := range []string{
		"The user is told so.", "enter says whether a call may be made", "it comes to an end", "sees to it that the table exists",
		"the role is had already",
		"what ails it", "It heals by itself.", "a check of its own", "Apply makes it true.", "lets it go", "the flow walk was seen to pass",
		"found it in existence already", "a retry in vain", "the neighbour's catalogue", "What is not ours stays.",
		"It is written. Nothing that is not ours is.",
	} {
		if len(badWording(bad)) == 0 {
			t.Errorf("no rule finds %q", bad)
		}
	}
	for _, good := range []string{
		"allow reports whether the call may proceed.", "Ingress exposes the capability outside the cluster; enabled by default.",
		"What is a capability?",
		"Never touches foreign resources.", "the resource already exists", "The operator told by its flags to wait.",
		"Set the annotation to true.",
	} {
		if found := badWording(good); len(found) > 0 {
			t.Errorf("%q: %v", good, found)
		}
	}
	if !hasIndefinite("../../internal/apply/apply.go", "Whoever may write") ||
		hasIndefinite("../../dev/bed/main.go", "what nobody owns") || hasIndefinite("a.go", "no one owns it") {
		t.Error("words that leave open who acts")
	}
	for _, r := range languageRules {
		if r.instead == "" {
			t.Errorf("%s has no remedy", r.pattern)
		}
	}
	if !described.MatchString("limit is how many there may be") || described.MatchString("limit bounds how many there may be") {
		t.Error("comments that begin with a relative clause")
	}
}

// A name of a test is read in lists and in reports of failures.
func TestTestNames_FitALine(t *testing.T) {
	const most = 60
	if !longTestName("TestAClusterBindingMakesAPolicyInEverySelectedNamespaceAndOneMore", most) ||
		longTestName("TestReconcile_DeletesOrphanedBinding", most) {
		t.Error("the rule does not find a long name, or finds a short one")
	}
	files := 0
	eachFile(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && longTestName(f.Name.Name, most) {
				t.Errorf("%s: %s has more than %d characters", path, f.Name.Name, most)
			}
		}
	})
	if files < 100 {
		t.Errorf("only %d files with tests were read", files)
	}
}

func longTestName(name string, most int) bool {
	return strings.HasPrefix(name, "Test") && len(name) > most
}
