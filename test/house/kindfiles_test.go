// SPDX-License-Identifier: Apache-2.0

package house

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// generatedFiles lists the beginnings of the paths of what commands write for a new kind, and of decisions and designs, which no one
// changes for another kind. The commands are make generate, make awsmodels, go get, and tests with NEXUS_UPDATE=1. In README.md and the pages
// of docs that are here as files, they write numbers, policies and tables; the sentences beside them change for other reasons.
var generatedFiles = []string{
	"docs/adr/", "docs/design/",
	"api/aws/v1alpha1/zz_generated", "charts/nexus-operator/files/", "config/admission/policy.yaml", "config/crd/", "config/rbac/role.yaml",
	"config/rbac/user_roles.yaml", "internal/controller/zz_generated.rbac.go", "manifests/",
	"README.md", "docs/aws-prerequisites.md", "docs/comparison.md", "docs/nexusctl.md", "docs/oracles.md", "docs/policies/", "docs/reference/",
	"docs/rbac/", "go.mod", "go.sum", "dev/", "internal/testkit/awsmodels/", "internal/awsclient/zz_generated", "internal/kind/zz_generated",
	"internal/awsschema/arns.txt", "internal/awsschema/bundled/schemas.zip", "internal/capability/parts/resources/kinds.txt",
}

// applicationExamples match examples of capabilities, which use kinds, and which a new kind does not change.
const applicationExamples = "examples/*.yaml"

func isHandWritten(path string) bool {
	isApplication, err := filepath.Match(applicationExamples, path)
	return err == nil && !isApplication &&
		!slices.ContainsFunc(generatedFiles, func(beginning string) bool { return strings.HasPrefix(path, beginning) })
}

// namesKind reports whether a text contains the name of a kind, in any case: names of actions and plurals count, too. A kind whose name is
// that of a type of AWS, which others use without the kind, has several names instead, separated by bars: those of its Go types, of its
// folders and of its client.
func namesKind(text, names string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(strings.Split(strings.ToLower(names), "|"), func(name string) bool { return strings.Contains(text, name) })
}

// slackOfKindFiles is the difference to a limit at which the limit must be lowered.
const slackOfKindFiles = 3

// The files that name a kind are those that a person changes who adds one. The limits fall until a kind is its folder:
// docs/adr/0067-a-kind-is-its-folder.md.
func TestKindFiles_StayWithinTheirLimits(t *testing.T) {
	text, err := os.ReadFile("thresholds.json")
	if err != nil {
		t.Fatal(err)
	}
	var limits struct{ KindFiles map[string]int }
	if err := json.Unmarshal(text, &limits); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	eachFile(t, func(path string) {
		relative, err := filepath.Rel("../..", path)
		if err != nil || !isHandWritten(filepath.ToSlash(relative)) {
			return
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name := range limits.KindFiles {
			if relative = filepath.ToSlash(relative); namesKind(relative+"\n"+string(content), name) && relative != "test/house/thresholds.json" {
				found[name] = append(found[name], relative)
			}
		}
	})
	if len(limits.KindFiles) == 0 {
		t.Fatal("thresholds.json has no limits for the files of a kind")
	}
	for name, most := range limits.KindFiles {
		list := strings.Join(found[name], "\n\t")
		switch count := len(found[name]); {
		case count > most:
			t.Errorf("%d hand-written files name %s, limit %d: declare what they say in facts.go of the kind's folder:\n\t%s", count, name,
				most, list)
		case count < most-slackOfKindFiles:
			t.Errorf("%d hand-written files name %s: lower its limit of %d in test/house/thresholds.json", count, name, most)
		default:
			t.Logf("%d hand-written files name %s:\n\t%s", count, name, list)
		}
	}
}
