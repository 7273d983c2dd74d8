// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
)

const restartedAt = "kubectl.kubernetes.io/restartedAt"

// podsOf are the names of the pods of a Deployment that are not ending.
func (x *tool) podsOf(d *appsv1.Deployment) []string {
	x.Helper()
	list := &corev1.PodList{}
	if err := x.Client.List(x.Ctx(), list, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
		x.Fatal(err)
	}
	out := map[string]bool{}
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			out[p.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

func TestRollout_BuildsAndReplacesThePodsOfAComponent(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Backend.Image = registry.Start(t) + "/backend:v1"
	x.Create(c)
	name := c.Namespace + "/" + c.Name
	x.wants(x.runAs(append(x.admin(), "KUBECONFIG="+x.kubeconfigOf("stranger")), "", "rollout", name), 4, "cannot get resource")
	x.Running(c)
	deployment := func(component string) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "myapp-dev", Name: "myapp-dev-" + component}}
		if err := x.Get(d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	backend, frontend := deployment("backend"), deployment("frontend")
	backends, frontends := x.podsOf(backend), x.podsOf(frontend)
	x.wants(x.run("", "rollout", name, "--dry-run"), 0, backend.Name+": pods are replaced (dry run)",
		frontend.Name+": pods are replaced (dry run)")
	if now := x.podsOf(backend); !slices.Equal(now, backends) {
		t.Errorf("a dry run replaced %v by %v", backends, now)
	}

	docker, source := engine.Install(t, "docker"), t.TempDir()
	for _, file := range []string{"Dockerfile", "main.py"} {
		if err := os.WriteFile(filepath.Join(source, file), []byte("FROM scratch"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(x.admin(), "PATH="+docker+":"+os.Getenv("PATH"))
	a := x.runAs(env, "", "rollout", "ncap/"+c.Name, "-n", c.Namespace, "--build", "backend", "--source", source, "-o", "json")
	var got struct {
		Capability string
		Build      builds
		Items      []struct{ Object, RevisionBefore, RevisionAfter string }
	}
	if err := json.Unmarshal([]byte(a.out), &got); err != nil || a.code != 0 {
		t.Fatalf("exit code %d, %v\n%s\n%s", a.code, err, a.out, a.err)
	}
	if !got.Build.Pushed || got.Capability != name || len(got.Items) != 1 || got.Items[0].RevisionBefore != "1" ||
		got.Items[0].RevisionAfter != "2" {
		t.Errorf("%+v\n%s", got, a.err)
	}
	for _, pod := range x.podsOf(backend) {
		if slices.Contains(backends, pod) {
			t.Errorf("pod %s was not replaced", pod)
		}
	}
	if now := x.podsOf(frontend); !slices.Equal(now, frontends) {
		t.Errorf("the frontend's pods %v were replaced by %v", frontends, now)
	}

	// The operator leaves the restart alone.
	restarted := deployment("backend")
	x.wants(x.run("", "reconcile", "ncap/"+c.Name, "-n", c.Namespace, "--wait"), 0)
	x.Running(c)
	if now := deployment("backend"); now.Generation != restarted.Generation || now.Spec.Template.Annotations[restartedAt] == "" {
		t.Errorf("the operator changed the Deployment from generation %d to %d: %v", restarted.Generation, now.Generation,
			now.Spec.Template.Annotations)
	}
	x.wants(x.run("", "rollout", name, "--component", "backend,frontend"), 0, "revision 2 -> 3", "revision 1 -> 2",
		"digest not known -> digest not known")
	x.interruptedInItsBuild(c, source, deployment("backend"))
	x.withPodsThatNeverStart(name, deployment("frontend"))
}

// interruptedInItsBuild interrupts a rollout while docker builds the image.
func (x *tool) interruptedInItsBuild(c *nexusv1.NexusAICapability, source string, d *appsv1.Deployment) {
	x.Helper()
	bin := x.TempDir()
	begun := filepath.Join(bin, "begun")
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\ncase \"$*\" in *build*) touch "+begun+"; exec sleep 60;; esac\n"),
		0o700); err != nil {
		x.Fatal(err)
	}
	s := x.begin(append(x.admin(), "PATH="+bin+":"+os.Getenv("PATH")), "rollout", "ncap/"+c.Name, "-n", c.Namespace, "--build", "backend",
		"--source", source)
	x.Eventually(time.Minute, "docker to build", func() error {
		_, err := os.Stat(begun)
		return err
	})
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	x.wants(s.ends(), 130, "has changed nothing")
	revision := d.Generation
	if err := x.Get(d); err != nil || d.Generation != revision {
		x.Errorf("generation %d, then %d: %v", revision, d.Generation, err)
	}
}

// withPodsThatNeverStart has no node take the new pods.
func (x *tool) withPodsThatNeverStart(name string, d *appsv1.Deployment) {
	x.Helper()
	x.wants(x.run("", "suspend", "ncap/"+filepath.Base(name), "-n", d.Namespace), 0)
	x.Edit(d, func() { d.Spec.Template.Spec.NodeSelector = map[string]string{"none": "none"} })
	x.wants(x.run("", "rollout", name, "--component", "frontend", "--timeout", "2s"), 124, "not done within 2s",
		"kubectl rollout undo -n "+d.Namespace)
	s := x.begin(x.admin(), "rollout", name, "--component", "frontend")
	s.shows("pods are replaced")
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	if a := s.ends(); a.code != 130 || !strings.Contains(a.err, "interrupted while it waited") {
		x.Errorf("exit code %d\n%s", a.code, a.err)
	}
}

func TestRollout_NeedsTheDeployment(t *testing.T) {
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Suspend = true
	x.Create(c)
	name := c.Namespace + "/" + c.Name
	x.wants(x.run("", "rollout", name), 4, "does not exist yet", "nexusctl monitor "+name)
	x.wants(x.runAs(append(x.admin(), "KUBECONFIG=/nonexistent"), "", "rollout", name), 4)
	x.wants(x.run("", "rollout", name, "--build", "database"), 2, "no component of NexusAICapability "+name, "it has backend, frontend")
	x.wants(x.run("", "rollout", name, "--timeout", "0"), 2, "--timeout")
}
