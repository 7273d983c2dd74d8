// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/optree"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
)

// operatorBinary compiles a small operator, which is pushed and not run.
func operatorBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nexus-operator")
	build := exec.Command("go", "build", "-o", path, "./cmd/nexus-operator")
	build.Dir, build.Env = optree.Write(t, "one"), append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// write writes objects into a folder as a person would, and returns the folder.
func (x *person) write(objects ...client.Object) string {
	x.Helper()
	var out []string
	for _, o := range objects {
		gvk, err := x.Client.GroupVersionKindFor(o)
		if err != nil {
			x.Fatal(err)
		}
		b, err := json.Marshal(o)
		if err != nil {
			x.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			x.Fatal(err)
		}
		delete(m, "status")
		m["apiVersion"], m["kind"] = gvk.GroupVersion().String(), gvk.Kind
		text, err := yaml.Marshal(m)
		if err != nil {
			x.Fatal(err)
		}
		out = append(out, string(text))
	}
	dir := x.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "capability.yaml"), []byte(strings.Join(out, "---\n")), 0o600); err != nil {
		x.Fatal(err)
	}
	return dir
}

// The whole pipeline: until the operator is installed, a failure, from where the run says that it goes on, and the cleanup.
func TestE2E_RunsTheSevenSteps(t *testing.T) {
	x := newPerson(t)
	before := x.everything()
	t.Cleanup(func() { x.runs("delete", "--full", "--yes", "--cascade=delete", "--timeout", "2m") })
	r := registry.StartECR(t, account, x.config())
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Backend.Image = r.Host + "/app/backend:v1"
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "nexus-operator-secrets"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "nexus-system", Name: "nexus-operator"}}}
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "Dockerfile"), []byte("FROM scratch"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(r.Env(), "KUBECONFIG="+x.World.Kubeconfig(), "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a",
		"PATH="+engine.Install(t, "docker")+":"+os.Getenv("PATH"))
	run := []string{"e2e", "-f", x.write(binding, c), "--skip-clean", "--binary", "amd64=" + operatorBinary(t), "--release", "v0.0.1",
		"--backend-source", source, "--only", "capability,resources,objects,workloads",
		"--operator-arg=--capability-namespaces=myapp-*", "--operator-arg=--health-probe-bind-address=0",
		"--operator-arg=--metrics-bind-address=0", "--wait-for", "pods"}
	x.wants(x.with(env, append(run, "--from-step", "4")...), 4, "step 4, Deploy operator", "is not there: run step 2 too")
	x.wants(x.with(env, append(run, "--to-step", "4")...), 0, "[1/7] Cleanup: skipped (--skip-clean)", "[2/7] Build operator: done in",
		"[3/7] Build apps: done in", "pushed: "+c.Spec.Backend.Image,
		"[4/7] Deploy operator: done in", "[5/7] Apply capability: skipped")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator"}}
	if err := x.Get(d); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.Spec.Template.Spec.Containers[0].Image, r.Host+"/nexus-operator@sha256:") {
		t.Errorf("the image is %s", d.Spec.Template.Spec.Containers[0].Image)
	}
	x.wants(x.with(env, append(run, "--from-step", "5", "--timeout", "2s")...), 124, "[5/7] Apply capability: done in",
		"[6/7] Monitor and wait: failed", "To continue: nexusctl e2e --from-step=6 ", "'--operator-arg=--capability-namespaces=myapp-*'")
	x.Op = operator.FromDeployment(t, x.World, d)
	a := x.with(env, append(run, "--from-step", "4", "-o", "json")...)
	var report struct {
		Steps []struct {
			Number int
			State  string
		}
	}
	if err := json.Unmarshal([]byte(a.Out), &report); err != nil || a.Code != 0 || len(report.Steps) != 7 || report.Steps[3].State != "Done" ||
		report.Steps[6].State != "Done" || report.Steps[1].State != "Skipped" {
		t.Errorf("exit code %d, %v, %+v\n%s", a.Code, err, report, a.Err)
	}
	x.wants(a, 0, "The installation is unchanged.", "The manifests are applied already.", "0 failed")

	x.cleansUp(env, run, d)
	if _, err := x.ecr().DeleteRepository(x.Ctx(),
		&ecr.DeleteRepositoryInput{RepositoryName: aws.String("app/backend"), Force: true}); err != nil {
		t.Error(err)
	}
	x.sameAs(before)
}

// cleansUp runs the first step alone.
func (x *person) cleansUp(env, run []string, d *appsv1.Deployment) {
	x.Helper()
	clean := []string{"e2e", run[1], run[2], "--to-step", "1"}
	x.wants(x.with(env, clean...), 2, "add --yes, or --skip-clean")
	x.wants(x.with(env, append(clean, "--yes")...), 4, "step 1, Cleanup", "there that only the operator can delete")
	ended := x.endsWithItsPods(d)
	x.wants(x.with(env, append(clean, "--yes", "--cascade=delete")...), 0, "The operator was removed.", "[1/7] Cleanup: done in")
	<-ended
	x.wants(x.with(env, append(clean, "--yes")...), 0, "There is no installation by nexusctl to remove.")
	if err := x.Get(&nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "myapp-dev", Name: "myapp-dev"}}); err == nil {
		x.Error("the capability is there")
	}
}
