// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// prerequisitesPage links the files of policies between marks that name the files, and the commands that print them.
const prerequisitesPage = "../../docs/aws-prerequisites.md"

// policiesFolder holds the policies as files, which the page links to.
const policiesFolder = "../../docs/policies"

// withPolicies returns a page with links to the policies that each command in its marks prints, and the policies by the names of
// their files. Each is one managed policy.
func withPolicies(t *testing.T, page string) (string, map[string]string) {
	t.Helper()
	mark := regexp.MustCompile(`(?s)(<!-- policies/(\w+): nexus-operator iam-policy ([^\n]*) -->\n).*?(<!-- end of policies -->\n)`)
	files := map[string]string{}
	return mark.ReplaceAllStringFunc(page, func(block string) string {
		m := mark.FindStringSubmatch(block)
		var printed strings.Builder
		if err := printIAMPolicies(&printed, strings.Fields(m[3])); err != nil {
			t.Fatalf("%s: %v", m[3], err)
		}
		links := ""
		for i, document := range strings.SplitAfter(strings.TrimSpace(printed.String()), "\n}\n") {
			name := fmt.Sprintf("%s-%d.json", m[2], i+1)
			files[name] = strings.TrimSpace(document) + "\n"
			parsed, err := iampolicy.Parse(document)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			links += fmt.Sprintf("- [%s](policies/%s): %s\n", name, name, strings.Join(servicesOf(parsed), ", "))
		}
		return m[1] + "\n" + links + "\n" + m[4]
	}), files
}

// servicesOf returns the services to whose actions a policy gives rights.
func servicesOf(d iampolicy.Document) []string {
	services := map[string]bool{}
	for _, s := range d.Statement {
		for _, action := range s.Action {
			service, _, _ := strings.Cut(action, ":")
			services["`"+service+"`"] = true
		}
	}
	return slices.Sorted(maps.Keys(services))
}

// policyFiles returns the files beside the page by their names.
func policyFiles(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(policiesFolder)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(policiesFolder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

func TestPrerequisitesPage_LinksThePoliciesThatAreNeeded(t *testing.T) {
	text, err := os.ReadFile(prerequisitesPage)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("NEXUS_UPDATE") != "" {
		update(t, string(text))
		return
	}
	page, files := withPolicies(t, string(text))
	if files["operator-1.json"] == "" || files["installer-1.json"] == "" {
		t.Errorf("%s links %d policies, want those of operator and installer", prerequisitesPage, len(files))
	}
	if string(text) != page || !maps.Equal(policyFiles(t), files) {
		t.Errorf("%s or %s is out of date: run NEXUS_UPDATE=1 go test ./cmd/nexus-operator", prerequisitesPage, policiesFolder)
	}
}

// update writes the page and the files, and removes files that are no longer printed.
func update(t *testing.T, text string) {
	t.Helper()
	page, files := withPolicies(t, text)
	err := errors.Join(os.RemoveAll(policiesFolder), os.MkdirAll(policiesFolder, 0o755), os.WriteFile(prerequisitesPage, []byte(page), 0o644))
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(policiesFolder, name), []byte(content), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}
