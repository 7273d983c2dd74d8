// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

func declaredWith(image string, generation int64) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app", UID: "u", Generation: generation}}
	c.Spec.Backend.Image = image
	return c
}

func TestApproval_HoldsForOneGeneration(t *testing.T) {
	c := declaredWith("back:1", 1)
	if free, err := NeedsNoApproval(c, false); free || err != nil || IsApproved(c) {
		t.Fatalf("a new capability needs no approval: %v %v", free, err)
	}
	c.Status.ObservedGeneration = 1
	if free, _ := NeedsNoApproval(c, false); free {
		t.Error("a capability that was only looked at needs no approval")
	}
	c.Status.Step = &nexusv1.StepStatus{Current: 11, Total: 11}
	if free, _ := NeedsNoApproval(c, true); free {
		t.Error("a new capability that waits needs no approval once it was looked at")
	}
	if free, _ := NeedsNoApproval(c, false); !free {
		t.Error("a capability that ran when the gate was closed needs an approval")
	}
	if err := Approve(c, "h1", nil); err != nil || !IsApproved(c) {
		t.Fatal(err)
	}
	c.Generation, c.Spec.Backend.Image = 2, "back:2"
	if free, _ := NeedsNoApproval(c, true); free || IsApproved(c) {
		t.Error("an edit needs no approval")
	}
	was, err := InForce(c)
	if err != nil || was.Spec.Backend.Image != "back:1" || was.Generation != 1 || c.Spec.Backend.Image != "back:2" {
		t.Errorf("%v %+v", err, was)
	}
	c.Generation, c.Spec.Backend.Image, c.Spec.Suspend = 3, "back:1", true
	if free, _ := NeedsNoApproval(c, true); !free {
		t.Error("an edit that is taken back, and suspends, needs an approval")
	}
	if was, _ = InForce(c); !was.Spec.Suspend {
		t.Error("suspend has no effect")
	}
	now := metav1.Now()
	c.DeletionTimestamp = &now
	if free, _ := NeedsNoApproval(c, true); free || IsApproved(c) {
		t.Error("a deletion needs no approval")
	}
	c.Status.Approved.Spec = "{"
	if _, err := InForce(c); err == nil {
		t.Error("a record that cannot be read stands for something")
	}
}

func TestApproval_CoversListedDeletionsAlone(t *testing.T) {
	c := declaredWith("back:1", 1)
	if CoversDeletion(c, "S3Bucket/a", false) {
		t.Error("no approval covers a deletion")
	}
	c.Annotations = map[string]string{wellknown.AnnotationDeleteData: "a"}
	if err := Approve(c, "h", []string{"S3Bucket/a"}); err != nil {
		t.Fatal(err)
	}
	if !CoversDeletion(c, "S3Bucket/a", true) || CoversDeletion(c, "S3Bucket/b", false) {
		t.Error("the listed deletion is not covered, or another one is")
	}
	c.Annotations[wellknown.AnnotationDeleteData] = "a,b"
	if CoversDeletion(c, "S3Bucket/a", true) || !CoversDeletion(c, "S3Bucket/a", false) {
		t.Error("a later consent to the loss of data is covered")
	}
}

func TestEdit_HasTheHashOfAllThatItDoes(t *testing.T) {
	object := func(name, image string) graph.Node {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": "team", "name": name}, "spec": map[string]any{"image": image}}}
		return graph.Node{ID: "Deployment/" + name, Object: u}
	}
	compiled := func(nodes ...graph.Node) *graph.Graph {
		g, err := graph.New(nodes)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	before := compiled(object("web", "1"), object("api", "1"))
	edit := func(change func(*Edit)) Edit {
		e := Edit{Capability: declaredWith("back:1", 2), Before: before, After: compiled(object("web", "2"), object("job", "1")), Deletes: []string{"Deployment/api"}}
		change(&e)
		return e
	}
	same := edit(func(*Edit) {})
	if got := same.Summary(); got != "create Deployment/job; change Deployment/web; delete Deployment/api" {
		t.Error(got)
	}
	if h := same.Hash(); len(h) != 32 || h != edit(func(*Edit) {}).Hash() {
		t.Errorf("the hash is %q, and that of the same edit another", h)
	}
	for name, change := range map[string]func(*Edit){
		"another image":          func(e *Edit) { e.After = compiled(object("web", "3"), object("job", "1")) },
		"another deletion":       func(e *Edit) { e.Deletes = append(e.Deletes, "Deployment/db") },
		"a later edit":           func(e *Edit) { e.Capability.Generation++ },
		"another capability":     func(e *Edit) { e.Capability.UID = "v" },
		"the loss of data":       func(e *Edit) { e.Capability.Annotations = map[string]string{wellknown.AnnotationDeleteData: "a"} },
		"the deletion of it all": func(e *Edit) { now := metav1.Now(); e.Capability.DeletionTimestamp = &now },
	} {
		if edit(change).Hash() == same.Hash() {
			t.Errorf("%s: the hash is the same", name)
		}
	}
	if got := (Edit{Capability: declaredWith("a", 1), Deletes: strings.Split("a b c d e", " ")}).Summary(); got != "delete a, b, c and 2 more" {
		t.Error(got)
	}
}
