// SPDX-License-Identifier: Apache-2.0

// Package house checks what the design says of the tree as a whole: who may import whom, and the sizes
// of things.
package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/nexus-operator/nexus-operator/"

// allowed lists, for each room, the rooms it may import; what is not listed is forbidden. A room is the
// longest listed prefix of a package's path. Tests are free.
var allowed = map[string][]string{
	"api":                     {},
	"internal/kind":           {"api"},
	"internal/kind/documents": {"internal/kind", "internal/status"},
	"internal/graph":          {},
	"internal/health":         {"api", "internal/clusterfacts", "internal/status"},
	"internal/status":         {},
	"internal/crdschema":      {"internal/status"},
	"charts":                  {},
	"config/crd":              {"charts"},
	"manifests":               {},
	"docs":                    {},
	"web":                     {},
	"config/admission":        {"internal/shard"},
	"internal/iampolicy":      {},
	"internal/options":        {"internal/iampolicy", "internal/shard"},
	"internal/shard":          {},
	"internal/driftevents":    {},
	"internal/metrics":        {},
	"internal/tracing":        {},
	"internal/tracing/otlp":   {},
	"internal/permissions":    {"api", "internal/kind", "internal/iampolicy"},
	"internal/engine": {"api", "internal/kind", "internal/kind/documents", "internal/status", "internal/iampolicy",
		"internal/tracing"},
	"internal/awsclient": {"api", "internal/kind", "internal/metrics", "internal/status", "internal/tracing"},
	"internal/kinds": {"api", "internal/kind", "internal/kind/documents", "internal/status", "internal/awsclient",
		"internal/awsschema", "internal/iampolicy"},
	"internal/capability": {"api", "config/crd", "internal/capability/part", "internal/capability/parts", "internal/capability/report",
		"internal/crdschema", "internal/graph", "internal/status", "internal/iampolicy"},
	"internal/capability/part": {"api", "internal/graph", "internal/status", "internal/iampolicy"},
	"internal/capability/parts": {"api", "internal/awsschema", "internal/capability/part", "internal/graph", "internal/status",
		"internal/iampolicy"},
	"internal/capability/report":    {"api", "internal/capability/part", "internal/capability/parts", "internal/graph", "internal/status"},
	"internal/apply":                {"api", "internal/graph", "internal/status"},
	"internal/catalog":              {"internal/engine", "internal/kinds", "internal/intent", "internal/intent/engines"},
	"internal/catalog/servicefacts": {"internal/catalog", "internal/kind"},
	"internal/awssession":           {"api", "internal/awsclient", "internal/status"},
	"internal/clusterfacts":         {"api"},
	"internal/capabilityfacts": {"api", "internal/apply", "internal/awssession", "internal/capability", "internal/clusterfacts",
		"internal/health", "internal/intent", "internal/options", "internal/status"},
	"internal/intentfacts": {"api", "internal/apply", "internal/clusterfacts", "internal/intent", "internal/options", "internal/status"},
	"internal/pass": {"api", "internal/apply", "internal/capability", "internal/capabilityfacts", "internal/graph", "internal/intent",
		"internal/intentfacts", "internal/status"},
	"internal/plan": {"api", "internal/apply", "internal/awsclient", "internal/capability", "internal/capabilityfacts",
		"internal/crdschema", "internal/engine", "internal/graph", "internal/iampolicy", "internal/intent", "internal/intentfacts",
		"internal/kind", "internal/pass", "internal/status"},
	"internal/inhabitants": {},
	"internal/install":     {"api", "manifests", "internal/awsclient", "internal/iampolicy", "internal/kind"},
	"internal/image":       {"internal/buildflags"},
	"internal/buildflags":  {},
	"internal/helmrelease": {},
	"internal/answers":     {},
	"internal/appmodel":    {"api"},
	"internal/importer": {"api", "internal/answers", "internal/awsclient", "internal/awsschema", "internal/crdschema",
		"internal/engine", "internal/kind", "internal/status"},
	"internal/controller": {"api", "config/crd", "internal/crdschema", "internal/engine", "internal/capability", "internal/intent",
		"internal/intentfacts", "internal/apply", "internal/awsclient", "internal/awssession", "internal/status", "internal/options",
		"internal/metrics", "internal/shard",
		"internal/controller/reconciler", "internal/controller/awsresource", "internal/controller/awsprovider", "internal/controller/capability",
		"internal/controller/driftevents", "internal/controller/intentbinding", "internal/controller/planrequest",
		"internal/controller/securityintent"},
	"internal/controller/reconciler": {"api", "internal/crdschema", "internal/engine", "internal/capability", "internal/apply",
		"internal/status", "internal/metrics", "internal/shard", "internal/tracing"},
	"internal/controller/awsresource": {"api", "internal/controller/reconciler", "internal/awssession", "internal/engine",
		"internal/capability", "internal/apply", "internal/awsclient", "internal/driftevents", "internal/kind", "internal/kind/documents",
		"internal/status"},
	"internal/controller/driftevents": {"api", "internal/controller/reconciler", "internal/awsclient", "internal/awssession",
		"internal/driftevents", "internal/status"},
	"internal/controller/awsprovider": {"api", "internal/controller/reconciler", "internal/awssession", "internal/engine",
		"internal/capability", "internal/awsclient", "internal/status"},
	"internal/controller/capability": {"api", "internal/controller/reconciler", "internal/inhabitants", "internal/capabilityfacts",
		"internal/awssession", "internal/engine", "internal/capability", "internal/intent", "internal/apply", "internal/graph", "internal/health",
		"internal/pass", "internal/status", "internal/options"},
	"internal/controller/intentbinding": {"api", "internal/controller/reconciler", "internal/intent", "internal/intentfacts",
		"internal/apply", "internal/pass", "internal/status", "internal/options"},
	"internal/controller/planrequest": {"api", "internal/controller/reconciler", "internal/awsclient", "internal/awssession",
		"internal/capabilityfacts", "internal/engine", "internal/intentfacts", "internal/plan", "internal/status"},
	"internal/controller/securityintent": {"api", "internal/controller/reconciler", "internal/intent", "internal/status"},
	"internal/kindtest": {"api", "config/crd", "internal/answers", "internal/crdschema", "internal/importer", "internal/kind",
		"internal/engine", "internal/status", "internal/awsclient", "internal/emulator", "internal/iampolicy", "internal/permissions",
		"internal/testkit"},
	"internal/crdschema/manifest": {},
	"internal/awsschema":          {},
	"internal/awsschema/bundled":  {},
	"internal/emulator":           {"internal/emulator/lag", "internal/emulator/proxy", "internal/emulator/services"},
	"internal/emulator/lag":       {},
	"internal/emulator/policy":    {},
	"internal/emulator/proxy":     {"internal/emulator/lag", "internal/emulator/policy", "internal/testkit"},
	"internal/emulator/services":  {"api", "internal/emulator/policy", "internal/emulator/proxy", "internal/testkit"},
	"internal/testkit": {"api", "internal/emulator", "internal/awsschema", "internal/awsschema/bundled",
		"internal/buildflags", "internal/osproc", "internal/testkit"},
	"internal/osproc":   {},
	"internal/devworld": {"config/crd", "manifests", "internal/emulator", "internal/osproc", "internal/testkit"},
	"cmd/nexus-operator": {"api", "internal/controller", "internal/catalog", "internal/engine", "internal/metrics",
		"internal/options", "internal/tracing/otlp", "internal/kind", "internal/iampolicy", "internal/permissions"},
	"test":                    {"api", "internal/devworld", "internal/emulator", "internal/testkit"},
	"internal/intent":         {"api", "internal/status"},
	"internal/intent/engines": {"api", "internal/intent"},
	"internal/inspect": {"api", "internal/apply", "internal/capability", "internal/capabilityfacts", "internal/engine",
		"internal/health", "internal/intent", "internal/shard", "internal/status"},
	"internal/albcontroller": {"api", "internal/capability", "internal/clusterfacts", "internal/connection", "internal/console",
		"internal/enact", "internal/exit", "internal/helmrelease", "internal/iampolicy", "internal/install", "internal/kind",
		"internal/permissions"},
	"internal/awstypes": {"internal/awsschema", "internal/awsschema/bundled"},
	"internal/check":    {"internal/exit", "internal/plan"},
	"internal/connection": {"api", "internal/awsclient", "internal/awssession", "internal/capabilityfacts",
		"internal/clusterfacts", "internal/console", "internal/crdschema", "internal/engine", "internal/exit", "internal/image",
		"internal/inspect", "internal/install", "internal/intent", "internal/intentfacts", "internal/kind", "internal/options", "internal/plan"},
	"internal/console": {"internal/status"},
	"internal/deploy": {"api", "internal/albcontroller", "internal/capability", "internal/clusterfacts",
		"internal/connection", "internal/console", "internal/enact", "internal/engine", "internal/exit", "internal/iampolicy",
		"internal/inhabitants", "internal/inspect", "internal/install", "internal/kind", "internal/permissions", "internal/status"},
	"internal/enact": {"internal/console", "internal/exit", "internal/install", "internal/status"},
	"internal/exit":  {"internal/awsclient", "internal/plan"},
	"internal/imagebuild": {"api", "internal/capability", "internal/connection", "internal/console", "internal/enact",
		"internal/exit", "internal/image", "internal/install"},
	"internal/kubeconfig": {"internal/awsclient", "internal/connection", "internal/console", "internal/enact", "internal/exit",
		"internal/install"},
	"internal/monitor": {"api", "internal/capability", "internal/connection", "internal/console", "internal/exit",
		"internal/inspect", "internal/progress", "internal/status"},
	"internal/objectrequest": {"api", "internal/connection", "internal/console", "internal/enact", "internal/engine",
		"internal/exit", "internal/inspect"},
	"internal/pipeline": {"api", "internal/connection", "internal/console", "internal/deploy", "internal/enact",
		"internal/exit", "internal/imagebuild", "internal/install", "internal/kubeconfig", "internal/monitor", "internal/verify"},
	"internal/plantext": {"internal/console", "internal/iampolicy", "internal/plan", "internal/status"},
	"internal/progress": {"api", "internal/capability", "internal/console"},
	"internal/rollout": {"api", "internal/capability", "internal/connection", "internal/console", "internal/enact",
		"internal/exit", "internal/imagebuild", "internal/inspect", "internal/objectrequest"},
	"internal/scan": {"internal/albcontroller", "internal/awsclient", "internal/awssession", "internal/check",
		"internal/clusterfacts", "internal/connection", "internal/console", "internal/exit", "internal/install", "internal/intent",
		"internal/kind", "internal/options"},
	"internal/secretset": {"api", "internal/awsclient", "internal/connection", "internal/console", "internal/enact",
		"internal/exit", "internal/inspect", "internal/objectrequest", "internal/plan", "internal/status"},
	"internal/undo": {"api", "internal/capability", "internal/connection", "internal/console", "internal/enact",
		"internal/engine", "internal/exit", "internal/objectrequest"},
	"internal/validate": {"api", "internal/awsschema", "internal/awsschema/bundled", "internal/awstypes",
		"internal/capability", "internal/connection", "internal/console", "internal/crdschema", "internal/exit", "internal/inspect",
		"internal/intent", "internal/kind/documents", "internal/status"},
	"internal/verify": {"api", "internal/awsclient", "internal/capability", "internal/check", "internal/connection",
		"internal/console", "internal/exit", "internal/health", "internal/inspect", "internal/plan", "internal/plantext", "internal/progress",
		"internal/status"},
	"internal/cli": {"api", "internal/albcontroller", "internal/appmodel", "internal/awsclient", "internal/awsschema",
		"internal/awsschema/bundled", "internal/awstypes", "internal/capability", "internal/capabilityfacts", "internal/connection",
		"internal/console", "internal/crdschema", "internal/crdschema/manifest", "internal/deploy", "internal/devworld", "internal/enact",
		"internal/engine", "internal/exit", "internal/helmrelease", "internal/iampolicy", "internal/image", "internal/imagebuild",
		"internal/importer", "internal/inspect", "internal/install", "internal/intent", "internal/kind", "internal/kubeconfig",
		"internal/monitor", "internal/objectrequest", "internal/options", "internal/osproc", "internal/permissions", "internal/pipeline",
		"internal/plan", "internal/plantext", "internal/progress", "internal/rollout", "internal/scan", "internal/secretset", "internal/status",
		"internal/ui", "internal/undo", "internal/validate", "internal/verify"},
	"internal/ui": {"api", "internal/inspect"},
	"cmd/nexusctl": {"api", "config/crd", "docs", "web", "internal/cli", "internal/catalog", "internal/engine",
		"internal/metrics"},
}

// pure rooms hold decisions: no client, no SDK, no clock, no environment.
var pure = []string{"internal/capability", "internal/capability/part", "internal/capability/parts", "internal/capability/report",
	"internal/intent", "internal/intent/engines", "internal/graph", "internal/iampolicy", "internal/permissions", "internal/awsschema"}

var impure = []string{"github.com/aws/", "sigs.k8s.io/controller-runtime", "k8s.io/client-go", "os", "os/exec", "net/http",
	"k8s.io/utils/clock"}

// services lists the packages that may import those of single AWS services.
var services = []string{"internal/kinds", "internal/awsclient", "internal/scan", "internal/secretset", "internal/verify",
	"internal/install", "internal/testkit", "internal/kindtest", "test"}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func room(path string) string {
	best := ""
	for r := range allowed {
		if (path == r || strings.HasPrefix(path, r+"/")) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("only %d packages were found", len(all))
	}
	for _, p := range all {
		path := strings.TrimPrefix(p.ImportPath, module)
		from := room(path)
		if from == "" {
			t.Errorf("%s lies in no room of the house: add it to the table, with its reason in docs/adr", path)
			continue
		}
		for _, i := range p.Imports {
			if to, ours := strings.CutPrefix(i, module); ours {
				if problem := mayImport(path, from, to); problem != "" {
					t.Error(problem)
				}
				continue
			}
			if problem := mayImportForeign(path, from, i); problem != "" {
				t.Error(problem)
			}
		}
	}
}

// The functions of package syscall differ between operating systems. nexusctl is released for Windows, too, where a mistake would
// show at the release only.
func TestNexusctl_CallsTheSystemThroughOsproc(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", "./cmd/nexusctl")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours || path == "internal/osproc" || path == "cmd/nexusctl" { // the command names signals only
			continue
		}
		own++
		for _, i := range p.Imports {
			if i == "syscall" || strings.HasPrefix(i, "golang.org/x/sys/") {
				t.Errorf("%s imports %s: add a function to internal/osproc, for each operating system", path, i)
			}
		}
	}
	if own < 30 {
		t.Errorf("only %d packages were found", own)
	}
	for _, system := range []string{"windows", "darwin"} {
		build := exec.Command("go", "build", "./internal/osproc")
		build.Dir, build.Env = "../..", append(cmd.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}

// Helm's SDK has what renders templates, so that the linker would keep every method of every client of AWS in the operator too:
// docs/design/0043. The test bed is the local world of nexusctl dev: docs/adr/0050.
func TestOnlyNexusctlLinksHelmAndTheTestBed(t *testing.T) {
	for command, want := range map[string]bool{"cmd/nexus-operator": false, "cmd/nexusctl": true} {
		cmd := exec.Command("go", "list", "-deps", "./"+command)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, part := range []string{"helm.sh/helm/", module + "internal/testkit/", module + "internal/devworld"} {
			if got := strings.Contains(string(out), part); got != want {
				t.Errorf("%s links %s: %v, want %v", command, part, got, want)
			}
		}
	}
}

// Of the test bed, programs use only what imports nothing of tests: docs/adr/0050.
func TestWhatTheLocalWorldUsesOfTheTestBed_ImportsNothingOfTests(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./internal/devworld/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		if dep = strings.TrimSpace(dep); dep == "testing" || strings.HasPrefix(dep, "testing/") {
			t.Errorf("internal/devworld depends on %s", dep)
		}
	}
}

// partsRoom is the room of the parts of a capability. A part uses another one only where its meaning depends on it.
const partsRoom = "internal/capability/parts"

// usedParts lists the parts that a part uses.
var usedParts = map[string][]string{
	"ai":        {"bedrock", "buckets", "glue", "parameters", "resources"},
	"budget":    {"messages"},
	"glue":      {"buckets"},
	"key":       {"messages"},
	"policies":  {"traffic", "workloads"},
	"signin":    {"traffic"},
	"workloads": {"identity", "traffic"},
}

// isStrangePart reports whether a part imports one that it does not use. The list of the parts imports them all.
func isStrangePart(path, to string) bool {
	part, within := strings.CutPrefix(path, partsRoom+"/")
	other, is := strings.CutPrefix(to, partsRoom)
	return within && is && !slices.Contains(usedParts[part], strings.TrimPrefix(other, "/"))
}

// emulated is the room of the services of the emulator. Any of them may use commonServices, which know the rights to roles and keys.
const emulated = "internal/emulator/services"

var commonServices = []string{"iam", "kms"}

func mayImport(path, from, to string) string {
	into := room(to)
	if into != from && !slices.Contains(allowed[from], into) {
		return path + " must not import " + to
	}
	sameKinds := from == "internal/kinds" && into == "internal/kinds"
	sameServices := from == emulated && into == emulated && !slices.Contains(commonServices, strings.TrimPrefix(to, emulated+"/"))
	sameEngines := from == "internal/intent/engines" && into == "internal/intent/engines"
	if (sameKinds || sameEngines || sameServices || isStrangePart(path, to)) && to != path {
		return path + " must not import its neighbor " + to
	}
	return ""
}

// mayImportForeign judges an import of another module or of the standard library.
func mayImportForeign(path, from, imported string) string {
	isBanned := func(bad string) bool {
		return imported == bad || strings.HasPrefix(imported, strings.TrimSuffix(bad, "/")+"/")
	}
	if slices.Contains(pure, from) && slices.ContainsFunc(impure, isBanned) {
		return path + " is pure and must not import " + imported
	}
	if strings.HasPrefix(imported, "github.com/aws/aws-sdk-go-v2/service/") && !slices.Contains(services, from) {
		return path + " must not import " + imported + ": SDK services belong in internal/kinds and internal/awsclient"
	}
	if from == "api" && !strings.HasPrefix(imported, "k8s.io/apimachinery/") && !strings.HasPrefix(imported, "k8s.io/api/") &&
		strings.Contains(imported, ".") {
		return path + " must not import " + imported + ": types import apimachinery only"
	}
	return ""
}

func TestImportRules_Fire(t *testing.T) {
	for _, c := range []struct {
		path, imported string
		ours, allowed  bool
	}{
		{path: "internal/engine", imported: "internal/kind", ours: true, allowed: true},
		{path: "internal/engine", imported: "internal/controller", ours: true},
		{path: "internal/graph", imported: "internal/status", ours: true},
		{path: "internal/devworld", imported: "internal/testkit/world", ours: true, allowed: true},
		{path: "internal/cli", imported: "internal/testkit/world", ours: true},
		{path: "internal/inspect", imported: "internal/devworld", ours: true},
		{path: "internal/emulator/services/rds", imported: "internal/emulator/services/kms", ours: true, allowed: true},
		{path: "internal/emulator/services/rds", imported: "internal/emulator/services/ec2", ours: true},
		{path: "internal/emulator/proxy", imported: "internal/emulator/services/ec2", ours: true},
		{path: "internal/controller/awsresource", imported: "internal/controller/awsprovider", ours: true},
		{path: "internal/kinds/s3", imported: "internal/kind", ours: true, allowed: true},
		{path: "internal/kinds/s3", imported: "internal/kinds/iam", ours: true},
		{path: "internal/intent/engines/istio", imported: "internal/intent/engines/kyverno", ours: true},
		{path: "internal/capability/parts", imported: "internal/capability/parts/tables", ours: true, allowed: true},
		{path: "internal/capability/parts/glue", imported: "internal/capability/parts/buckets", ours: true, allowed: true},
		{path: "internal/capability/parts/buckets", imported: "internal/capability/parts/glue", ours: true},
		{path: "internal/capability/parts/buckets", imported: "internal/capability/parts", ours: true},
		{path: "internal/capability/parts/buckets", imported: "internal/capability/report", ours: true},
		{path: "internal/capability/part", imported: "internal/capability/parts", ours: true},
		{path: "internal/capability", imported: "k8s.io/apimachinery/pkg/types", allowed: true},
		{path: "internal/capability", imported: "github.com/aws/aws-sdk-go-v2/aws"},
		{path: "internal/intent", imported: "os"},
		{path: "internal/intent/engines/istio", imported: "net/http/httptest"},
		{path: "internal/kinds/s3", imported: "github.com/aws/aws-sdk-go-v2/service/s3", allowed: true},
		{path: "internal/controller", imported: "github.com/aws/aws-sdk-go-v2/service/s3"},
		{path: "api/nexus/v1", imported: "k8s.io/apimachinery/pkg/runtime", allowed: true},
		{path: "api/nexus/v1", imported: "sigs.k8s.io/controller-runtime/pkg/client"},
	} {
		judge := mayImportForeign
		if c.ours {
			judge = mayImport
		}
		if problem := judge(c.path, room(c.path), c.imported); (problem == "") != c.allowed {
			t.Errorf("%s imports %s: %q, want allowed: %v", c.path, c.imported, problem, c.allowed)
		}
	}
	if room("internal/unlisted") != "" {
		t.Error("a package outside the table has a room")
	}
}
