// SPDX-License-Identifier: Apache-2.0

package buildflags_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/buildflags"
)

// A release that is built with other flags than the tests has a size that no test judges.
func TestFlags_AreThoseOfTheMakefile(t *testing.T) {
	make := exec.CommandContext(t.Context(), "make", "-s", "-C", "../..", "-f", "Makefile", "-f", "-", "print-flags")
	make.Stdin = strings.NewReader("print-flags:\n\t@echo \"$$GOFLAGS\"\n")
	make.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOFLAGS=") || strings.HasPrefix(v, "MAKE") })
	out, err := make.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, flag := range buildflags.All() {
		if strings.Contains(flag, " ") {
			flag = "'" + flag + "'" // as GOFLAGS quotes it
		}
		want = append(want, flag)
	}
	if got := strings.TrimSpace(string(out)); got != strings.Join(want, " ") {
		t.Errorf("the Makefile has\n%s, want\n%s", got, strings.Join(want, " "))
	}
}

// The program that builds the control plane lies in another module, which cannot import the flags.
func TestFlags_AreThoseOfTheControlPlane(t *testing.T) {
	text, err := os.ReadFile("../../dev/bed/build.go")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)var plain = .*?"}`).FindString(string(text))
	var got []string
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(block, -1) {
		got = append(got, "-gcflags="+m[1]+"/...=-dwarf=false -l")
	}
	if want := buildflags.All()[4:]; !slices.Equal(got, want) {
		t.Errorf("dev/bed/build.go has\n%q, want\n%q", got, want)
	}
	for _, flag := range buildflags.All()[:4] {
		if !strings.Contains(string(text), `"`+flag+`"`) {
			t.Errorf("dev/bed/build.go lacks %s", flag)
		}
	}
}

// nexusctl dev builds the builder with Go, which compiled the standard library with other flags, and then once more for the control plane.
func TestFlags_AreThoseOfTheBuilder(t *testing.T) {
	text, err := os.ReadFile("../devworld/programs/programs.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`const builderFlags = "([^"]+)"`).FindStringSubmatch(string(text))
	if found == nil {
		t.Fatal("internal/devworld/programs has no builderFlags")
	}
	// of Kubernetes and etcd
	want := slices.DeleteFunc(slices.Clone(buildflags.All()[:4]), func(flag string) bool { return strings.HasPrefix(flag, "-tags=") })
	if got := strings.Fields(found[1]); !slices.Equal(got, want) {
		t.Errorf("the builder is built with\n%s, want\n%s", got, want)
	}
}
