// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// program is one that the test bed runs, and the module whose version it has.
type program struct{ name, module string }

const (
	kubernetes = "k8s.io/kubernetes"
	etcd       = "go.etcd.io/etcd/server/v3"
	kwok       = "sigs.k8s.io/kwok"
)

// programs lists the control plane. A build from source links all of these names to one program.
var programs = []program{
	{"etcd", etcd},
	{"kube-apiserver", kubernetes},
	{"kube-controller-manager", kubernetes},
	{"kube-scheduler", kubernetes},
	{"kwok", kwok},
}

const kubectl = "kubectl"

// controlPlane is the name of the program that is all of programs.
const controlPlane = "controlplane"

// buildAll compiles the control plane, and provides for kubectl unless one was found.
func buildAll(dev, out string) error {
	version, err := pinned(dev, kubernetes)
	if err != nil {
		return err
	}
	say("compiling Kubernetes %s, etcd and kwok from source", version)
	if err := goBuild(dev, filepath.Join(out, controlPlane), "./controlplane", ldflags(version)); err != nil {
		return err
	}
	for _, p := range programs {
		if err := os.Symlink(controlPlane, filepath.Join(out, p.name)); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(out, kubectl)); err == nil {
		return nil
	}
	return writeKubectl(dev, out, ldflags(version))
}

// compiler is the environment of the compiler. It runs once for each package and, with one thread each and garbage collected only
// when 2 GiB are full, takes half of the processor time: idle threads look for garbage, too. Few packages fill 2 GiB.
var compiler = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=2GiB"}

// plain are packages that are compiled without inlining: generated code, and code that runs seldom, of which there is much. The
// compiler takes half as long for them.
var plain = []string{"k8s.io/kubernetes", "k8s.io/client-go/kubernetes", "k8s.io/client-go/informers", "k8s.io/client-go/listers",
	"k8s.io/client-go/applyconfigurations", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator", "k8s.io/cloud-provider",
	"k8s.io/dynamic-resource-allocation", "k8s.io/kubectl", "github.com/aws/aws-sdk-go-v2/service"}

// buildFlags returns the flags of the Makefile, so that a package that the control plane shares with the operator is compiled
// once. Without debugging information for debuggers the compiler takes a fifth less; stack traces need none.
func buildFlags() []string {
	flags := []string{"-buildvcs=false", "-trimpath", fmt.Sprintf("-p=%d", runtime.NumCPU()),
		"-tags=grpcnotrace,kustomize_disable_go_plugin_support", "-gcflags=all=-dwarf=false"}
	for _, p := range plain {
		flags = append(flags, "-gcflags="+p+"/...=-dwarf=false -l")
	}
	return flags
}

// goBuild builds a program.
func goBuild(dev, out, pkg, flags string) error {
	begin := time.Now()
	list := exec.Command("go", append(append([]string{"list", "-deps"}, buildFlags()...), pkg)...)
	list.Dir, list.Env, list.Stderr = dev, buildEnvironment(), os.Stderr
	deps, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing what %s is built of: %w", filepath.Base(out), err)
	}
	cmd := exec.Command("go", append(append([]string{"build", "-v", "-ldflags", flags, "-o", out}, buildFlags()...), pkg)...)
	cmd.Dir, cmd.Env = dev, buildEnvironment()
	names, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	other := showProgress(names, bytes.Count(deps, []byte("\n")), begin)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", filepath.Base(out), err, other)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	say("%-24s built in %.0f s (%.0f s of processor time)", filepath.Base(out), time.Since(begin).Seconds(), used.Seconds())
	return nil
}

func buildEnvironment() []string {
	return append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off"), compiler...)
}

// progressPause separates two lines of progress.
const progressPause = 15 * time.Second

// packageName is a line of go build -v that names a package which is being compiled.
var packageName = regexp.MustCompile(`^[a-zA-Z0-9_.~/-]+$`)

// showProgress reads what go build -v prints until its end, tells from time to time how many packages were compiled, and returns
// the other lines.
func showProgress(from io.Reader, all int, begin time.Time) string {
	var other strings.Builder
	last, compiled := time.Now(), 0
	for lines := bufio.NewScanner(from); lines.Scan(); {
		if !packageName.MatchString(lines.Text()) {
			other.WriteString(lines.Text() + "\n")
			continue
		}
		if compiled++; time.Since(last) >= progressPause {
			last = time.Now()
			say("compiled %d of at most %d packages after %.0f s", compiled, all, time.Since(begin).Seconds())
		}
	}
	return other.String()
}

// ldflags stamps the version in: an unstamped API server reports
// "v0.0.0-master+$Format:%H$", which clients cannot parse.
func ldflags(version string) string {
	flags := []string{"-s", "-w"}
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags, "-X", pkg+".gitVersion="+version, "-X", pkg+".gitMajor="+parts[0], "-X", pkg+".gitMinor="+parts[1],
			"-X", pkg+".gitTreeState=clean")
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
