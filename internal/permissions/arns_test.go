// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// judgedElsewhere are the services with resources that other rules check: roles as roles, and EC2 by the form of its identifiers.
var judgedElsewhere = []string{"ec2", "iam", "sts"}

// templatesOf returns the templates of a table that one name completes.
func templatesOf(table *typeTable) []string {
	lines := map[string]bool{}
	for _, action := range table.Actions {
		for _, arn := range strings.Fields(action.ARNs) {
			text, ok := strings.CutPrefix(arn, "arn:${Partition}:")
			service, _, _ := strings.Cut(text, ":")
			fixed := strings.NewReplacer("${Region}", "", "${Account}", "").Replace(text)
			if ok && !slices.Contains(judgedElsewhere, service) && strings.Count(fixed, "${") == 1 && strings.HasSuffix(fixed, "}") {
				lines[text] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(lines))
}

func TestTemplatesOfARNs_AreThoseOfTheTable(t *testing.T) {
	table, err := typeRightsOfAWS()
	if err != nil {
		t.Fatal(err)
	}
	path, want := filepath.Join("..", "awsschema", "arns.txt"), strings.Join(templatesOf(table), "\n")+"\n"
	if os.Getenv("NEXUS_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want || len(want) < 10_000 {
		t.Errorf("%s differs from the table: run the test with NEXUS_UPDATE=1", path)
	}
}
