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
	"internal/graph":          {},
	"internal/status":         {},
	"internal/options":        {},
	"internal/engine":         {"api", "internal/kind", "internal/status"},
	"internal/awsclient":      {"api", "internal/kind", "internal/status"},
	"internal/kinds":          {"api", "internal/kind", "internal/status", "internal/awsclient"},
	"internal/capability":     {"api", "internal/graph", "internal/status"},
	"internal/apply":          {"api", "internal/graph", "internal/status"},
	"internal/controller":     {"api", "internal/engine", "internal/capability", "internal/intent", "internal/apply", "internal/awsclient", "internal/kind", "internal/graph", "internal/status", "internal/options"},
	"internal/kindtest":       {"api", "internal/kind", "internal/engine", "internal/status", "internal/awsclient", "internal/testkit"},
	"internal/testkit":        {"api", "internal/testkit"},
	"cmd/nexus-operator":      {"api", "internal/controller", "internal/engine", "internal/options", "internal/kinds", "internal/intent", "internal/intent/engines"},
	"test":                    {"api", "internal/testkit"},
	"internal/intent":         {"api", "internal/status"},
	"internal/intent/engines": {"api", "internal/intent"},
	"internal/cli":            {"api", "internal/engine", "internal/capability", "internal/intent", "internal/apply", "internal/awsclient", "internal/kind", "internal/graph", "internal/status"},
	"cmd/nexusctl":            {"api", "internal/cli", "internal/engine", "internal/kinds", "internal/intent/engines"},
}

// pure rooms hold decisions: no client, no SDK, no clock, no environment.
var pure = []string{"internal/capability", "internal/intent", "internal/intent/engines", "internal/graph"}

var impure = []string{"github.com/aws/", "sigs.k8s.io/controller-runtime", "k8s.io/client-go", "os", "os/exec", "net/http", "k8s.io/utils/clock"}

// services is where packages of single AWS services may be imported.
var services = []string{"internal/kinds", "internal/awsclient", "internal/cli", "internal/testkit", "internal/kindtest", "test"}

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
			foreign(t, path, from, i)
		}
	}
}

func mayImport(path, from, to string) string {
	into := room(to)
	if into != from && !slices.Contains(allowed[from], into) {
		return path + " must not import " + to
	}
	sameKinds := from == "internal/kinds" && into == "internal/kinds"
	sameEngines := from == "internal/intent/engines" && into == "internal/intent/engines"
	if (sameKinds || sameEngines) && to != path {
		return path + " must not import its neighbour " + to
	}
	return ""
}

func foreign(t *testing.T, path, from, imported string) {
	t.Helper()
	if slices.Contains(pure, from) {
		for _, bad := range impure {
			if imported == bad || strings.HasSuffix(bad, "/") && strings.HasPrefix(imported, bad) || strings.HasPrefix(imported, bad+"/") {
				t.Errorf("%s is pure and must not import %s", path, imported)
			}
		}
	}
	if strings.HasPrefix(imported, "github.com/aws/aws-sdk-go-v2/service/") && !slices.Contains(services, from) {
		t.Errorf("%s must not import %s: SDK services belong in internal/kinds and internal/awsclient", path, imported)
	}
	if from == "api" && !strings.HasPrefix(imported, "k8s.io/apimachinery/") && !strings.HasPrefix(imported, "k8s.io/api/") && strings.Contains(imported, ".") {
		t.Errorf("%s must not import %s: types import apimachinery only", path, imported)
	}
}
