// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// prerequisitesPage shows policies between marks that name the commands that print them.
const prerequisitesPage = "../../docs/aws-prerequisites.md"

// withPolicies returns a page with the output of each command that its marks name, and how many there are.
func withPolicies(t *testing.T, page string) (string, int) {
	t.Helper()
	mark := regexp.MustCompile(`(?s)(<!-- policy: nexus-operator iam-policy ([^\n]*) -->\n).*?(<!-- end of policy -->\n)`)
	commands := 0
	return mark.ReplaceAllStringFunc(page, func(block string) string {
		commands++
		m := mark.FindStringSubmatch(block)
		var out strings.Builder
		if err := printIAMPolicies(&out, strings.Fields(m[2])); err != nil {
			t.Fatalf("%s: %v", m[2], err)
		}
		return m[1] + "\n```json\n" + out.String() + "```\n\n" + m[3]
	}), commands
}

func TestPrerequisitesPage_ShowsThePoliciesThatAreNeeded(t *testing.T) {
	text, err := os.ReadFile(prerequisitesPage)
	if err != nil {
		t.Fatal(err)
	}
	want, commands := withPolicies(t, string(text))
	if commands != 2 {
		t.Errorf("%s shows the output of %d commands, want operator and installer", prerequisitesPage, commands)
	}
	if string(text) == want {
		return
	}
	if os.Getenv("NEXUS_UPDATE") == "" {
		t.Fatalf("%s is out of date: run NEXUS_UPDATE=1 go test ./cmd/nexus-operator", prerequisitesPage)
	}
	if err := os.WriteFile(prerequisitesPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
