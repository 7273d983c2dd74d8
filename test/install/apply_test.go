// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// kubectl runs kubectl, which must succeed, and returns what it prints.
func kubectl(t *testing.T, b *bed.Bed, args ...string) string {
	t.Helper()
	args = append([]string{"--kubeconfig", b.World.Kubeconfig()}, args...)
	out, err := exec.Command(filepath.Join(b.World.Programs(), "kubectl"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args[2:], " "), err, out)
	}
	return string(out)
}

// earlierVersion copies manifests/ as a version that had another image and fewer rights.
func earlierVersion(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(manifestsFolder)); err != nil {
		t.Fatal(err)
	}
	for file, change := range map[string][2]string{
		"deployment.yaml": {"image: nexus-operator:", "image: nexus-operator:older-"},
		"rbac.yaml":       {"  - resourcequotas\n", ""},
	} {
		path := filepath.Join(dir, file)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), change[0]) {
			t.Fatalf("%s lacks %q: %v", file, change[0], err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), change[0], change[1])), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The definitions are not among the manifests, but files of the chart.
const (
	manifestsFolder   = "../../manifests"
	definitionsFolder = "../../charts/nexus-operator/files/crd"
)

// kubectl reads a folder in the order of its file names, and all files that end in .yaml.
func TestManifests_AreAppliedAsAFolder(t *testing.T) {
	extent.Full(t)
	b := bed.Empty(t)
	kubectl(t, b, "delete", "namespace", operator.Namespace, "--ignore-not-found", "--wait")
	kubectl(t, b, "delete", "clusterrole", "nexus-operator", "--ignore-not-found")
	t.Cleanup(func() { // other tests install with another field manager
		kubectl(t, b, "delete", "-f", manifestsFolder+"/deployment.yaml", "-f", manifestsFolder+"/rbac.yaml", "--ignore-not-found")
	})
	d := &appsv1.Deployment{}
	d.Name, d.Namespace = "nexus-operator", operator.Namespace
	for _, step := range []struct {
		folder, image string
		quotas        bool
	}{{earlierVersion(t), "nexus-operator:older-", false}, {manifestsFolder, "nexus-operator:", true}} {
		kubectl(t, b, "apply", "-f", definitionsFolder, "-f", step.folder)
		b.Eventually(60*time.Second, "the pods of "+step.image+" to be available", func() error {
			err := b.Client.Get(b.Ctx(), client.ObjectKeyFromObject(d), d)
			if s := d.Status; err == nil && (s.ObservedGeneration < d.Generation || s.UpdatedReplicas < 2 || s.AvailableReplicas < 2) {
				err = fmt.Errorf("%+v", s)
			}
			return err
		})
		image := d.Spec.Template.Spec.Containers[0].Image
		if strings.HasPrefix(image, "nexus-operator:older-") == step.quotas || !strings.HasPrefix(image, step.image) {
			t.Errorf("the image is %s, want %s…", image, step.image)
		}
		role := &rbacv1.ClusterRole{}
		if err := b.Client.Get(b.Ctx(), client.ObjectKey{Name: "nexus-operator"}, role); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(role.Rules), "resourcequotas"); got != step.quotas {
			t.Errorf("after %s: rights to quotas %v, want %v", step.folder, got, step.quotas)
		}
	}
	if again := kubectl(t, b, "apply", "-f", definitionsFolder, "-f", manifestsFolder); strings.Contains(again, " created\n") ||
		strings.Count(again, " unchanged\n") < 60 {
		t.Errorf("applied twice:\n%s", again)
	}
}
