// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
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
	_, rest, _ = strings.Cut(rest, "```sh skip tested TestScripts_TheirDocumentedLinesRun\n")
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
	if err := program.Compile("nexusctl", filepath.Join(tree, "bin", "nexusctl"),
		"-ldflags=-s -w -X main.version="+optree.Release); err != nil {
		x.Fatal(err)
	}
	return tree
}

// linesOfTheOldPage are the command lines of the old operator's documentation, as far as they are not a whole line of ours.
var linesOfTheOldPage = []string{
	"./e2e-deploy.sh", "./e2e-deploy.sh --skip-clean", "./e2e-deploy.sh --skip-app-build", "./e2e-deploy.sh --skip-clean --skip-app-build",
	"./build-and-push.sh", "./operator-nexus-dev.sh scan", "./operator-nexus-dev.sh deploy", "./operator-nexus-dev.sh delete",
	"./operator-nexus-dev.sh delete --full", "./operator-nexus-dev.sh update", "./operator-nexus-dev.sh status",
	"./operator-nexus-dev.sh monitor", "./operator-nexus-dev.sh monitor nexus-ai-prod/nexus-ai-prod",
	"./operator-nexus-dev.sh verify-capability", "./operator-nexus-dev.sh verify-capability nexus-ai-prod",
	"./operator-nexus-dev.sh install-alb-controller", "./operator-nexus-dev.sh delete-alb-controller", "./operator-nexus-dev.sh fix-irsa",
	"kubectl create namespace nexus-ai-prod", "kubectl apply -f ../examples/nexus-ai-complete.yaml",
}

// The page has each line of the old documentation, with no addition but those that it tells of.
func TestScripts_ThePageHasEveryLineOfTheOldOne(t *testing.T) {
	var ours []string
	for _, line := range scriptLines(t) {
		words := slices.DeleteFunc(strings.Fields(line), func(w string) bool { return w == "--yes" || strings.HasPrefix(w, "--operator-arg=") })
		ours = append(ours, strings.Join(words, " "))
	}
	for _, line := range linesOfTheOldPage {
		if !slices.Contains(ours, line) {
			t.Errorf("docs/migration.md lacks %s", line)
		}
	}
}

// runsOperators runs the operator while its Deployment exists, as a node does, until the test ends.
func (x *person) runsOperators(d *appsv1.Deployment) {
	x.Helper()
	if _, err := operator.Build(x.World); err != nil { // before anything waits for it
		x.Fatal(err)
	}
	ended := make(chan struct{})
	ctx, stop := context.WithCancel(x.Context())
	x.Cleanup(func() { stop(); <-ended })
	go func() {
		defer close(ended)
		var running *operator.Operator
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			now := d.DeepCopy()
			switch err := x.Get(now); {
			case err == nil && running == nil:
				running = operator.FromDeployment(x.TB, x.World, now)
			case apierrors.IsNotFound(err) && running != nil:
				running.Kill()
				running = nil
			}
		}
		if running != nil {
			running.Kill()
		}
	}()
}

// capabilityManifest writes the manifest and the sources of the two applications, which e2e-deploy.sh finds in its folder.
func capabilityManifest(t *testing.T, folder, host string) {
	t.Helper()
	text, err := os.ReadFile("../../examples/nexus-ai-complete.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifest := "apiVersion: v1\nkind: Namespace\nmetadata: {name: nexus-ai-prod}\n---\n" +
		regexp.MustCompile(`[0-9]+\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com`).ReplaceAllString(string(text), host)
	files := map[string]string{"capability.yaml": manifest, "nexus-backend/Dockerfile": "FROM scratch", "nexus-ui/Dockerfile": "FROM scratch"}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// Who knows the scripts of the old operator finds each of their lines working, in the order of their quick start.
func TestScripts_TheirDocumentedLinesRun(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	r := registry.StartECR(t, account, x.config())
	tree := x.scriptTree(t)
	folder := filepath.Join(tree, "scripts")
	capabilityManifest(t, folder, r.Host)
	programs, err := world.BinDir()
	if err != nil {
		t.Fatal(err)
	}
	env := append(r.Env(), "PATH="+programs+":"+engine.Install(t, "docker")+":"+os.Getenv("PATH"), "HOME="+t.TempDir(),
		"GOCACHE="+goEnv(t, "GOCACHE"),
		"GOMODCACHE="+goEnv(t, "GOMODCACHE"), "KUBECONFIG="+x.World.Kubeconfig(),
		"AWS_ENDPOINT_URL="+x.aws.URL(), "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a")
	x.runsOperators(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator"}})
	for _, line := range scriptLines(t) {
		if strings.Contains(line, " install-alb-controller") { // everything else is gone
			x.withoutApplications()
			x.sameAs(before)
			x.withoutController()
			line += " --chart " + chartFolder(t, "1.13.0") + " --cluster-name demo --vpc-id vpc-1" // which a machine on EKS knows
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = folder, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		t.Logf("$ %s\n%s", line, out)
		if strings.Contains(line, ".sh deploy ") {
			x.Eventually(30*time.Second, "the operator to lead", func() error {
				return x.Get(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator.nexus.ai"}})
			})
		}
	}
}

// withoutApplications removes the repositories of the applications, which no command of nexusctl removes.
func (x *person) withoutApplications() {
	x.Helper()
	for _, name := range []string{"ai-job-engine", "nexus-ui"} {
		if _, err := x.ecr().DeleteRepository(x.Ctx(), &ecr.DeleteRepositoryInput{RepositoryName: aws.String(name), Force: true}); err != nil {
			x.Error(err)
		}
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
