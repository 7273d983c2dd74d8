// SPDX-License-Identifier: Apache-2.0

package imagebuild

import (
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/console"
)

func TestReport_SaysWhatHappenedToTheImage(t *testing.T) {
	for want, r := range map[string]Report{
		"Image: pushed: a/b:c":                           {Image: "a/b:c", Pushed: true},
		"Image: unchanged: a/b:c":                        {Image: "a/b:c"},
		"Image: would be pushed: a/b:c":                  {Image: "a/b:c", DryRun: true},
		"Image: pushed, instead of sha256:1: a/b:c":      {Image: "a/b:c", Pushed: true, PreviousDigest: "sha256:1"},
		"Layout: would be written to x":                  {Layout: "x", DryRun: true},
		"Source: the tree, for linux/amd64, linux/arm64": {Source: "the tree", Platforms: []string{"linux/amd64", "linux/arm64"}},
	} {
		if got := r.Text(); !strings.Contains(got, want+"\n") {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

func TestRecipes_RefuseWhatCannotBeBuilt(t *testing.T) {
	s := &console.Console{}
	for want, f := range map[string]*OperatorOptions{
		"--release": {Binaries: map[string]string{"amd64": "x"}},
		"none of":   {Source: "../..", Arches: []string{"mips"}},
		"--source":  {Source: "../../docs"},
	} {
		if _, _, err := operatorRecipe(s, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, f := range map[string]*AppOptions{
		"go together": {Files: "x", Tool: ToolAuto}, "needs no tool": {Files: "x", Base: "a", Tool: "docker"},
		"--platform": {Platforms: []string{"windows/amd64"}, Tool: ToolAuto}, "--tool": {Tool: "make"},
	} {
		if _, err := appRecipe(s, f, ComponentBackend); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestComponents_AreThoseOfTheCapability(t *testing.T) {
	c := &nexusv1.NexusAICapability{Spec: nexusv1.NexusAICapabilitySpec{Backend: nexusv1.BackendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "backend:1"}}}}
	if got, err := imageOfComponent(c, ComponentBackend); err != nil || got != "backend:1" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := imageOfComponent(c, "worker"); err == nil || !strings.Contains(err.Error(), `"worker" is no component`) {
		t.Errorf("%v", err)
	}
	if err := CheckComponent("Data_Base"); err == nil {
		t.Error("a name that no component can have is accepted")
	}
}
