// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// binary is one program, the module whose version it carries, and the folder
// under dev/ of the go.mod that pins it.
type binary struct{ name, pkg, module, pins string }

var binaries = []binary{
	{"etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3", "."},
	{"kubectl", "k8s.io/kubernetes/cmd/kubectl", "k8s.io/kubernetes", "."},
	{"kwok", "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok", "kwok"},
	{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", "k8s.io/kubernetes", "."},
	{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", "k8s.io/kubernetes", "."},
	{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes", "."},
}

func buildAll(dev, out string) error {
	say("building %d programs; the first time takes 5 to 10 minutes", len(binaries))
	for _, b := range binaries {
		pins := filepath.Join(dev, b.pins)
		version, err := pinned(pins, b.module)
		if err != nil {
			return err
		}
		begin := time.Now()
		if err := goBuild(pins, filepath.Join(out, b.name), b, version); err != nil {
			return fmt.Errorf("building %s: %w", b.name, err)
		}
		say("%-24s %-9s %4.0f s", b.name, version, time.Since(begin).Seconds())
	}
	return nil
}

func goBuild(pins, out string, b binary, version string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", ldflags(b, version), "-o", out, b.pkg)
	cmd.Dir = pins
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// ldflags stamps the version in: an unstamped API server reports
// "v0.0.0-master+$Format:%H$", which clients cannot parse.
func ldflags(b binary, version string) string {
	flags := []string{"-s", "-w"}
	if b.module == "k8s.io/kubernetes" {
		parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
		for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
			flags = append(flags, "-X", pkg+".gitVersion="+version, "-X", pkg+".gitMajor="+parts[0], "-X", pkg+".gitMinor="+parts[1],
				"-X", pkg+".gitTreeState=clean")
		}
	}
	return strings.Join(flags, " ")
}

// pinned reads a module's version out of the go.mod in a folder.
func pinned(dir, module string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^(?:require)?\s*` + regexp.QuoteMeta(module) + `\s+(v\S+)`).FindStringSubmatch(string(mod))
	if m == nil {
		return "", fmt.Errorf("%s/go.mod does not require %s", dir, module)
	}
	return m[1], nil
}
