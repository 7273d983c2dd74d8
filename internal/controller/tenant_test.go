// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// A tenant who knows the UID of a capability puts the capability's label on an object of another namespace.
func TestTenant_ForgedLabelIsNoChildAndHoldsNoDeletion(t *testing.T) {
	h := start(t)
	c := example("victim")
	c.Spec.DataServices = nil
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	ns := h.namespace(nil)
	tenant := h.tenant(ns)
	forged := &corev1.ConfigMap{ObjectMeta: meta1(ns, "forged")}
	forged.Labels = map[string]string{"nexus.ai/capability-uid": string(c.UID), "app.kubernetes.io/managed-by": "nexus-operator"}
	forged.Annotations = map[string]string{"nexus.ai/capability": "victim/app", "nexus.ai/owner": "NexusAICapability/victim/app"}
	forged.Finalizers = []string{"tenant.example/held"}
	h.as(tenant, forged)
	t.Cleanup(func() { h.alter(forged, func() { forged.Finalizers = nil }) })

	h.alter(c, func() { c.Spec.Version = "2" }) // and so what is not declared is removed
	h.eventually("the edit to be observed", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil || c.Status.ObservedGeneration != c.Generation ||
			!c.Status.Ready {
			return fmt.Errorf("generation %d, observed %d: %v", c.Generation, c.Status.ObservedGeneration, err)
		}
		return nil
	})
	if err := h.c.Delete(h.ctx(), c); err != nil {
		t.Fatal(err)
	}
	h.gone(nexusv1.GroupVersion.WithKind("NexusAICapability"), c.Namespace, c.Name)
	if err := tenant.Get(h.ctx(), client.ObjectKeyFromObject(forged), forged); err != nil || forged.DeletionTimestamp != nil ||
		len(forged.Labels) != 2 {
		t.Errorf("a foreign object was written: %v, %+v", err, forged.ObjectMeta)
	}
}

// A tenant fills ConfigMaps with the operator's label: the operator's memory must not grow with them.
func TestTenant_LargeConfigMapsAreNotCached(t *testing.T) {
	extent.Full(t)
	const count, size = 100, 900 << 10
	h := start(t)
	c := example("memory")
	c.Spec.DataServices = nil
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	ns := h.namespace(nil)
	tenant := h.tenant(ns)
	child := h.configMapOf(c)
	before := heap()
	for i := range count {
		m := &corev1.ConfigMap{ObjectMeta: meta1(ns, fmt.Sprintf("large-%d", i)), Data: map[string]string{"blob": strings.Repeat("x", size)}}
		m.Labels = map[string]string{"app.kubernetes.io/managed-by": "nexus-operator"}
		if err := tenant.Create(h.ctx(), m); err != nil {
			t.Fatal(err)
		}
	}
	// The watch delivers the edit of a child after all of them. The child is large by then, too, so that the cache lacks
	// its content.
	h.alter(child, func() { child.Data["added"] = strings.Repeat("y", 100<<10) })
	h.eventually("the child to be healed", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(child), child); err != nil || child.Data["added"] != "" {
			return fmt.Errorf("%d bytes were added: %v", len(child.Data["added"]), err)
		}
		return nil
	})
	grown := heap() - before
	t.Logf("%d MiB of ConfigMaps, and the heap grew by %d KiB", count*size>>20, grown>>10)
	if grown > count*size/4 {
		t.Errorf("the heap grew by %d MiB for %d MiB of ConfigMaps", grown>>20, count*size>>20)
	}
	if err := h.c.DeleteAllOf(h.ctx(), &corev1.ConfigMap{}, client.InNamespace(ns)); err != nil {
		t.Error(err)
	}
	h.remove(c)
}

// configMapOf is a ConfigMap that a capability declares.
func (h *home) configMapOf(c *nexusv1.NexusAICapability) *corev1.ConfigMap {
	h.Helper()
	list := &corev1.ConfigMapList{}
	if err := h.c.List(h.ctx(), list, client.MatchingLabels{"nexus.ai/capability-uid": string(c.UID)}); err != nil || len(list.Items) == 0 {
		h.Fatalf("%d ConfigMaps: %v", len(list.Items), err)
	}
	return &list.Items[0]
}

// heap returns the bytes of the heap that are in use.
func heap() int64 {
	var s runtime.MemStats
	for range 2 { // the second collection frees objects with finalizers
		runtime.GC()
		time.Sleep(100 * time.Millisecond) // finalizers run without a signal
	}
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// The application of a capability reads every parameter below its path: a tenant must not add one.
func TestTenant_ParametersInAnotherTreeAreRefused(t *testing.T) {
	h := start(t, "--ambient-namespaces=*")
	ns := h.namespace(nil)
	tenant := h.tenant(ns)
	h.make(&v1alpha1.AWSProvider{ObjectMeta: meta1(ns, "aws"), Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}})
	set := func(name, path, parameter string) *v1alpha1.SSMParameterSet {
		return &v1alpha1.SSMParameterSet{ObjectMeta: meta1(ns, name), Spec: v1alpha1.SSMParameterSetSpec{
			CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, Path: path,
			Parameters: map[string]v1alpha1.SSMParameter{parameter: {Value: "x"}}}}
	}
	early := set("early", "/tree/dev/app", "early")
	h.as(tenant, early)
	h.shows(early, "Ready", "True", "Ready") // no one has the path yet
	c := example("tree")
	c.Name, c.Spec.DataServices = "quiet", nil
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	mark := h.w.AWS().Mark()
	forged := []*v1alpha1.SSMParameterSet{set("below", "/tree/dev/app", "injected"), set("same", "/tree/dev", "injected"),
		set("above", "/tree", "dev/injected")}
	for _, s := range forged {
		h.as(tenant, s)
		m := h.shows(s, "Stalled", "True", "NameConflict")
		if !strings.Contains(m, "spec.path") || !strings.Contains(m, "choose another path") || strings.Contains(m, "quiet") ||
			strings.Contains(m, "tree/app") {
			t.Errorf("%s: the message lacks the field or the remedy, or reveals whose it is: %s", s.Name, m)
		}
	}
	h.alter(early, func() { early.Spec.Parameters["late"] = v1alpha1.SSMParameter{Value: "x"} })
	h.shows(early, "Stalled", "True", "NameConflict")
	if w := h.w.AWS().Since(mark).Match("ssm", "Put*", "*").Writes(); len(w) > 0 {
		t.Errorf("parameters were written:\n%s", w)
	}
	beside := set("beside", "/tree/devel", "own")
	h.as(tenant, beside)
	h.shows(beside, "Ready", "True", "Ready")
	h.remove(c)
	h.shows(forged[0], "Ready", "True", "Ready") // the path is free
	for _, s := range append(forged, early, beside) {
		h.remove(s)
	}
}

// Of two capabilities of one name, the one that waits shows neither the namespace nor the name of the other tenant's.
func TestTenant_NameConflictDoesNotRevealWho(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("quiet")
	c.Name, c.Spec.CapabilityName, c.Spec.DataServices = "hidden", "contested", nil
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	ns := h.namespace(nil)
	rival := example(ns)
	rival.Spec = *c.Spec.DeepCopy()
	h.as(h.tenant(ns), rival)
	if m := h.shows(rival, "Stalled", "True", "NameConflict"); strings.Contains(m, "quiet") || strings.Contains(m, "hidden") ||
		!strings.Contains(m, "another namespace") || !strings.Contains(m, "choose another") {
		t.Errorf("the message reveals who, or lacks the remedy: %s", m)
	}
	h.remove(rival)
	beside := example("quiet")
	beside.Name, beside.Spec = "beside", *c.Spec.DeepCopy()
	h.create(beside)
	if m := h.shows(beside, "Stalled", "True", "NameConflict"); !strings.Contains(m, "NexusAICapability hidden ") {
		t.Errorf("the message does not name the capability of the same namespace: %s", m)
	}
	h.remove(beside, c)
}
