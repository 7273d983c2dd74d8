// SPDX-License-Identifier: Apache-2.0

package house

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/nexus-operator/nexus-operator/docs"
)

const (
	docsFolder         = "../../docs"
	navigation         = "../../dev/docs/mkdocs.yml"
	troubleshootingDoc = "../../docs/troubleshooting.md"
)

// pagesBelow returns all Markdown files below a folder, with the folder's path.
func pagesBelow(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != folder &&
			(strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".md" {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// notInNavigation returns the pages that a navigation lacks, and the entries that lead nowhere. An entry that ends with a
// slash stands for all pages of the folder.
func notInNavigation(nav string, pages []string) []string {
	var out []string
	var entries []string
	for _, m := range regexp.MustCompile(`(?m)^ +- (\S+(?:\.md|/))$`).FindAllStringSubmatch(nav, -1) {
		entries = append(entries, m[1])
	}
	covers := func(entry, page string) bool {
		return entry == page || strings.HasSuffix(entry, "/") && filepath.Dir(page)+"/" == entry
	}
	for _, page := range pages {
		if !slices.ContainsFunc(entries, func(entry string) bool { return covers(entry, page) }) {
			out = append(out, page+" is not in the navigation")
		}
	}
	for _, entry := range entries {
		if !slices.ContainsFunc(pages, func(page string) bool { return covers(entry, page) }) {
			out = append(out, "no page for "+entry)
		}
	}
	return out
}

func TestEveryPageIsInTheNavigation(t *testing.T) {
	_, nav, ok := strings.Cut(readDoc(t, navigation), "\nnav:\n")
	if !ok {
		t.Fatal("there is no navigation")
	}
	var pages []string
	for _, path := range pagesBelow(t, docsFolder) {
		page, err := filepath.Rel(docsFolder, path)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, filepath.ToSlash(page))
	}
	if len(pages) < 50 {
		t.Errorf("only %d pages were found", len(pages))
	}
	for _, problem := range notInNavigation(nav, pages) {
		t.Error(problem)
	}
}

func TestPagesOutsideTheNavigationAreFound(t *testing.T) {
	got := notInNavigation("  - a.md\n  - Part:\n      - b/\n      - c.md\n", []string{"a.md", "b/x.md", "b/y/z.md", "d.md"})
	want := []string{"b/y/z.md is not in the navigation", "d.md is not in the navigation", "no page for c.md"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// fence is a block of code in a page.
var fence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

// anchorsOf returns the anchors of a page's headings as GitHub makes them; `make docs` makes the same.
func anchorsOf(text string) map[string]bool {
	out := map[string]bool{}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`).FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		heading := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, heading)
		if n := seen[anchor]; n > 0 {
			out[anchor+"-"+strconv.Itoa(n)] = true
		}
		seen[anchor]++
		out[anchor] = true
	}
	return out
}

// brokenLinks returns the relative links of a page that lead to no file, or to no heading of a page.
func brokenLinks(page, text string, read func(path string) (string, error)) []string {
	var out []string
	text = regexp.MustCompile("`[^`\n]*`").ReplaceAllString(fence.ReplaceAllString(text, ""), "")
	for _, m := range regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`).FindAllStringSubmatch(text, -1) {
		target, anchor := page, m[2]
		if m[1] != "" {
			target = filepath.Join(filepath.Dir(page), m[1])
		}
		content, err := read(target)
		switch {
		case err != nil:
			out = append(out, page+": the link to "+m[1]+" leads nowhere")
		case anchor != "" && !anchorsOf(content)[anchor]:
			out = append(out, page+": "+m[1]+" has no heading #"+anchor)
		}
	}
	return out
}

// TestLinksBetweenPagesLeadSomewhere checks relative links and their anchors in every Markdown file.
func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	read := func(path string) (string, error) {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return "", err
		}
		text, err := os.ReadFile(path)
		return string(text), err
	}
	pages := pagesBelow(t, "../..")
	if len(pages) < 55 {
		t.Errorf("only %d pages were found", len(pages))
	}
	for _, page := range pages {
		for _, problem := range brokenLinks(page, readDoc(t, page), read) {
			t.Error(strings.TrimPrefix(problem, "../../"))
		}
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	pages := map[string]string{"docs/a.md": "# A b, c\n\n## `X` of [y](y.md)\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n"}
	read := func(path string) (string, error) {
		text, ok := pages[path]
		if !ok {
			return "", fs.ErrNotExist
		}
		return text, nil
	}
	text := "[1](a.md) [2](a.md#a-b-c) [3](a.md#x-of-y) [4](a.md#twice-1) [5](https://example.com/#x) `[6](no.md)`\n\n```sh\n[7](no.md)\n```\n" +
		"[8](no.md) [9](a.md#twice-2) [10](a.md#no-heading) [11](#own) \n\n# Own\n"
	pages["docs/b.md"] = text
	got := brokenLinks("docs/b.md", text, read)
	want := []string{"docs/b.md: the link to no.md leads nowhere", "docs/b.md: a.md has no heading #twice-2",
		"docs/b.md: a.md has no heading #no-heading"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEveryReasonIsReachableFromTroubleshooting: a reader who starts from a symptom finds each reason.
func TestEveryReasonIsReachableFromTroubleshooting(t *testing.T) {
	text := readDoc(t, troubleshootingDoc)
	for reason := range documentedReasons(t) {
		if !strings.Contains(text, "`"+reason+"`") {
			t.Errorf("%s names no symptom of %s", troubleshootingDoc, reason)
		}
	}
}

// compareCounts compares the sentences of a page that contain counts. With NEXUS_UPDATE=1 it writes them.
func compareCounts(t *testing.T, page, pattern, want string) {
	t.Helper()
	sentence, text := regexp.MustCompile(pattern), readDoc(t, page)
	if !sentence.MatchString(text) {
		t.Errorf("%s has no sentence of the form %s", page, pattern)
	}
	counted := sentence.ReplaceAllString(text, want)
	switch {
	case counted == text:
	case os.Getenv("NEXUS_UPDATE") == "":
		t.Errorf("%s does not say %q: NEXUS_UPDATE=1 go test ./test/house writes it", page, want)
	default:
		if err := os.WriteFile(page, []byte(counted), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// countOf returns how many files or folders have names of a form.
func countOf(t *testing.T, form string) int {
	t.Helper()
	found, err := filepath.Glob(form)
	if err != nil || len(found) < 15 {
		t.Fatalf("%s: %d; %v", form, len(found), err)
	}
	return len(found)
}

// TestPagesCountTheKinds: the README and the comparison say how many kinds of AWS resources there are.
func TestPagesCountTheKinds(t *testing.T) {
	kinds := countOf(t, "../../config/crd/bases/aws-infra-operator.*.yaml") - 1 // an AWSProvider is no resource
	services := countOf(t, "../../internal/kinds/*/facts.go") - 1               // Cloud Control API is of all services
	compareCounts(t, "../../README.md", `\d+ kinds of AWS resources`, fmt.Sprintf("%d kinds of AWS resources", kinds))
	compareCounts(t, "../../docs/comparison.md", `\d+ kinds of \d+ services`, fmt.Sprintf("%d kinds of %d services", kinds, services))
}

func TestReadme_FitsTwoScreens(t *testing.T) {
	text := readDoc(t, "../../README.md")
	if lines := strings.Count(text, "\n"); lines > 120 {
		t.Errorf("README.md has %d lines, more than 120", lines)
	}
	for _, part := range []string{"](docs/images/", "make demo", "kind: NexusAICapability", "kind: SecurityIntent\n", "## Read on"} {
		if !strings.Contains(text, part) {
			t.Errorf("README.md lacks %q", part)
		}
	}
}

// TestChangelogNamesEveryVerb: the entry of nexusctl in the changelog lists the commands of its page.
func TestChangelogNamesEveryVerb(t *testing.T) {
	changelog := readDoc(t, "../../CHANGELOG.md")
	verbs := regexp.MustCompile("(?m)^\\| `nexusctl ([a-z-]+)").FindAllStringSubmatch(readDoc(t, "../../docs/nexusctl.md"), -1)
	if len(verbs) < 30 {
		t.Fatalf("only %d commands were found", len(verbs))
	}
	for _, verb := range verbs {
		if !strings.Contains(changelog, "`"+verb[1]) && !strings.Contains(changelog, "`nexusctl "+verb[1]) {
			t.Errorf("CHANGELOG.md does not name nexusctl %s", verb[1])
		}
	}
}

// TestPagesCountTheDefinitions: the transcript of nexusctl status counts all CustomResourceDefinitions.
func TestPagesCountTheDefinitions(t *testing.T) {
	n := countOf(t, "../../config/crd/bases/*.yaml")
	compareCounts(t, "../../docs/nexusctl.md", `\nCustomResourceDefinitions: \d+ of \d+ established\n`,
		fmt.Sprintf("\nCustomResourceDefinitions: %d of %d established\n", n, n))
}

// nexusctl has the pages for users: all but those under Develop and Decisions.
func TestPages_OfProgramsAreThoseForUsers(t *testing.T) {
	_, nav, _ := strings.Cut(readDoc(t, navigation), "\nnav:\n")
	users, developers, ok := strings.Cut(nav, "\n  - Develop:\n")
	if !ok {
		t.Fatal("the navigation has no part for developers")
	}
	for text, want := range map[string]bool{users: true, developers: false} {
		for _, m := range regexp.MustCompile(`(?m)^ +- (\S+\.md)$`).FindAllStringSubmatch(text, -1) {
			if _, err := docs.Pages.Open(m[1]); (err == nil) != want {
				t.Errorf("%s: docs.Pages has it: %t, want %t", m[1], err == nil, want)
			}
		}
	}
}
