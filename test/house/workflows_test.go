// SPDX-License-Identifier: Apache-2.0

package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is the part of a workflow of GitHub Actions that is read.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Steps []struct{ Uses, Run string }
	}
}

// pinned is an action with a major version or a commit.
var pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@(v[0-9]+|[0-9a-f]{40})$`)

func TestWorkflows_CallWhatExists(t *testing.T) {
	makefile := readDoc(t, "../../Makefile")
	files, err := filepath.Glob("../../.github/workflows/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q %v", files, err)
	}
	commands := ""
	for _, file := range files {
		var w workflow
		if err := yaml.Unmarshal([]byte(readDoc(t, file)), &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if w.Permissions["contents"] != "read" || len(w.Permissions) != 1 {
			t.Errorf("%s has the permissions %v by default", file, w.Permissions)
		}
		for _, job := range w.Jobs {
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %q has neither a major version nor a commit", file, step.Uses)
				}
				commands += step.Run + "\n"
			}
		}
	}
	for _, m := range regexp.MustCompile(`\bmake ([a-z-]+)`).FindAllStringSubmatch(commands, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("the Makefile has no %s", m[1])
		}
	}
	if !strings.Contains(commands, "\n.ci/run\n") || !strings.Contains(commands, "make release ") {
		t.Errorf("the workflows run neither .ci/run nor make release:\n%s", commands)
	}
}

func TestDependencies_OfEveryModuleAreUpdated(t *testing.T) {
	var policy struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directories []string
		}
	}
	if err := yaml.Unmarshal([]byte(readDoc(t, "../../.github/dependabot.yaml")), &policy); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, u := range policy.Updates {
		for _, d := range u.Directories {
			if u.Ecosystem == "gomod" {
				listed[d] = true
			}
			if _, err := os.Stat(filepath.Join("../..", d)); err != nil {
				t.Error(err)
			}
		}
	}
	modules := 0
	eachFile(t, func(path string) {
		folder := strings.TrimPrefix(filepath.Dir(path), "../..")
		if filepath.Base(path) != "go.mod" || strings.Contains(folder, "devworld") { // that is a copy of dev
			return
		}
		modules++
		if folder = "/" + strings.TrimPrefix(folder, "/"); !listed[folder] {
			t.Errorf("no policy for the module in %s", folder)
		}
	})
	if modules != len(listed) {
		t.Errorf("%d modules, %d folders in the policy", modules, len(listed))
	}
}
