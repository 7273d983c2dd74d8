// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// profileVariable names the folder for profiles. When it is set, operators are built with the handlers of
// profile.go.txt, which the product does not have, and Profile writes there.
const profileVariable = "NEXUS_PROFILE"

//go:embed profile.go.txt
var profileSource []byte

// overlay adds the profiling handlers to the main package for one build, without a change of the tree:
// `go help build`, -overlay.
func overlay(w *world.World) (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/nexus-operator/nexus-operator/cmd/"+binaryName).Output()
	if err != nil {
		return "", fmt.Errorf("finding the operator's main package: %w", err)
	}
	source := filepath.Join(w.Dir(), "profile.go")
	if err := os.WriteFile(source, profileSource, 0o644); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(strings.TrimSpace(string(out)), "profile_bench.go"): source}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.Dir(), "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}

// Profiled reports whether operators are built for profiling.
func Profiled() bool { return os.Getenv(profileVariable) != "" }

// socket returns where a profiled operator listens.
func (o *Operator) socket() string { return filepath.Join(o.world.Dir(), o.name+".sock") }

// StartCPUProfile begins a CPU profile of the operator; the function that it returns ends it and writes
// NAME.cpu.pprof. Without NEXUS_PROFILE it does nothing.
func (o *Operator) StartCPUProfile(name string) (stop func()) {
	o.t.Helper()
	if !Profiled() {
		return func() {}
	}
	o.fetch("/cpu/start", io.Discard)
	return func() { o.t.Helper(); o.writeProfile("/cpu/stop", name+".cpu.pprof") }
}

// WriteHeapProfile writes NAME.heap.pprof after a garbage collection. Without NEXUS_PROFILE it does nothing.
func (o *Operator) WriteHeapProfile(name string) {
	o.t.Helper()
	if Profiled() {
		o.writeProfile("/heap", name+".heap.pprof")
	}
}

// WriteAllocationProfile writes NAME.allocs.pprof: all allocations since the start. Without NEXUS_PROFILE it does nothing.
func (o *Operator) WriteAllocationProfile(name string) {
	o.t.Helper()
	if Profiled() {
		o.writeProfile("/allocs", name+".allocs.pprof")
	}
}

// ReturnMemory lets a profiled operator collect garbage and return free pages to the system at once.
func (o *Operator) ReturnMemory() {
	o.t.Helper()
	o.fetch("/memory/return", io.Discard)
}

func (o *Operator) writeProfile(path, name string) {
	o.t.Helper()
	dir := os.Getenv(profileVariable)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		o.t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, strings.NewReplacer("/", "-", " ", "-").Replace(name)))
	if err != nil {
		o.t.Fatal(err)
	}
	o.fetch(path, f)
	if err := f.Close(); err != nil {
		o.t.Fatal(err)
	}
}

func (o *Operator) fetch(path string, to io.Writer) {
	o.t.Helper()
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: dialUnix(o.socket()), DisableKeepAlives: true}}
	response, err := client.Get("http://operator" + path)
	if err != nil {
		o.t.Fatalf("profiling the operator: %v", err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(to, response.Body); err != nil || response.StatusCode != http.StatusOK {
		o.t.Fatalf("profiling the operator: %s: %s %v", path, response.Status, err)
	}
}

// special are the further arguments of go build for a binary that looks for data races, or that can be profiled.
func special(w *world.World) ([]string, error) {
	var args []string
	if os.Getenv("NEXUS_RACE") == "1" {
		args = append(args, "-race")
	}
	if Profiled() {
		file, err := overlay(w)
		if err != nil {
			return nil, err
		}
		args = append(args, "-overlay", file)
	}
	return args, nil
}

func dialUnix(path string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
}
