// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/optree"
	"github.com/nexus-operator/nexus-operator/internal/testkit/program"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// scriptLines are the command lines of the page for those who come from the scripts.
func scriptLines(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "### Their command lines\n")
	_, rest, _ = strings.Cut(rest, "```sh\n")
	block, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("docs/migration.md has no block of command lines")
	}
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		command, _, _ := strings.Cut(line, " #")
		out = append(out, strings.TrimSpace(command))
	}
	return out
}

// scriptTree is a tree as a user has it, with an operator that is small to build, and nexusctl as make build leaves it.
func (x *person) scriptTree(t *testing.T) string {
	x.Helper()
	tree, err := filepath.EvalSymlinks(optree.Write(t, "one"))
	if err != nil {
		x.Fatal(err)
	}
	for _, folder := range []string{"scripts", "examples"} {
		if err := os.CopyFS(filepath.Join(tree, folder), os.DirFS("../../"+folder)); err != nil {
			x.Fatal(err)
		}
	}
	if err := program.Compile("nexusctl", filepath.Join(tree, "bin", "nexusctl"), "-ldflags=-s -w -X main.version="+optree.Release); err != nil {
		x.Fatal(err)
	}
	return tree
}

// Who knows the scripts of the old operator finds each of their lines working, in the order of their quick start.
func TestScripts_TheirDocumentedLinesRun(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	r := registry.StartECR(t, account, x.config())
	tree := x.scriptTree(t)
	programs, err := world.BinDir()
	if err != nil {
		t.Fatal(err)
	}
	env := append(r.Env(), "PATH="+programs+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "KUBECONFIG="+x.World.Kubeconfig(),
		"AWS_ENDPOINT_URL="+x.aws.URL(), "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator"}}
	var ended <-chan struct{}
	for _, line := range scriptLines(t) {
		if strings.Contains(line, " delete --full") {
			ended = x.endsWithItsPods(d)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = filepath.Join(tree, "scripts"), env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		t.Logf("$ %s\n%s", line, out)
		if strings.Contains(line, " deploy ") {
			if err := x.Get(d); err != nil {
				t.Fatal(err)
			}
			x.Op = operator.FromDeployment(t, x.World, d) // what a node would start
			x.Eventually(30*time.Second, "the operator to lead", func() error {
				return x.Get(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator.nexus.ai"}})
			})
		}
	}
	if ended == nil {
		t.Fatal("no line removes the operator")
	}
	<-ended
	x.sameAs(before)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
