// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestTheTableHasTheRowsOfTheKinds(t *testing.T) {
	folder := t.TempDir()
	for _, room := range []string{"internal/awsclient", "internal/kind"} {
		if err := os.MkdirAll(filepath.Join(folder, room), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{rowsFile, answersFile, namesFile} {
		want, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs from the facts in the folders of the kinds: run make generate (%v)", name, err)
		}
	}
}

func TestMerge_OneFolderDeclaresAService(t *testing.T) {
	queue := []kind.ServiceFacts{{Service: "sqs", Rows: []kind.ErrorRow{{Code: "OverLimit", Class: "Limit"}}}}
	all, err := merge(map[string][]kind.ServiceFacts{
		"Queue": queue, "Policy": queue, "Topic": {{Service: "sns"}},
	})
	if err != nil || len(all) != 2 || all[0].Service != "sns" || all[1].Service != "sqs" {
		t.Errorf("%v %v", all, err)
	}
	if _, err := merge(map[string][]kind.ServiceFacts{"Queue": queue, "Topic": {{Service: "sqs"}}}); err == nil {
		t.Error("two folders declare errors of one service")
	}
}

func TestRows_HaveTheMembersThatAreGiven(t *testing.T) {
	text := rows([]kind.ServiceFacts{{Service: "sqs", Rows: []kind.ErrorRow{
		{Operation: "Create*", Code: "A|B", Message: `"x"`, Class: "Busy", After: time.Minute},
		{Code: "C", Class: "Propagating", Within: 90 * time.Second},
	}}})
	for _, want := range []string{
		"import \"time\"\n",
		`{service: "sqs", operation: "Create*", code: "A|B", message: "\"x\"", class: Busy, after: 1 * time.Minute},`,
		`{service: "sqs", code: "C", class: Propagating, within: 90000 * time.Millisecond},`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	text = rows([]kind.ServiceFacts{{Service: "sqs", Rows: []kind.ErrorRow{{Code: "C", Class: "Busy"}}}})
	if strings.Contains(text, "import") {
		t.Errorf("a package is imported that no row uses:\n%s", text)
	}
}
