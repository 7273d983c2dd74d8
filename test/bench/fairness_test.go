// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
)

// BenchmarkNeighborCapabilities counts how many capabilities of a namespace that has many are finished before the first one of another
// namespace: while they are created, and while they are deleted. Order is judged and not time, which the machine decides.
func BenchmarkNeighborCapabilities(b *testing.B) {
	const n = 20
	for b.Loop() {
		court := newCourt(b, "neighbor's capability")
		x := newBench(b, resting, lifted)
		f := x.follow(&nexusv1.NexusAICapabilityList{})
		x.warmUp(f)
		crowded, others := x.MakeNamespace("tenant-of-many"), make([]client.Object, n)
		for i := range others {
			c := x.Capability(example)
			c.Name, c.Spec.CapabilityName, c.Namespace = fmt.Sprintf("crowd%d-dev", i), fmt.Sprintf("crowd%d", i), crowded
			others[i] = c
		}
		first, second := x.capability("first"), x.capability("second")
		x.create("capability", f, []client.Object{second})
		inParallel(n, func(i int) { x.make(others[i]) })
		court.judge("create", n, x.overtakes(f, func() { x.make(first) }, first, f.isReady, func() int { ready, _ := f.counts(); return ready }))
		x.Eventually(patience(n), "every capability to be Ready", func() error {
			if ready, _ := f.counts(); ready < n+2 {
				return fmt.Errorf("%d are", ready)
			}
			return nil
		})
		inParallel(n, func(i int) { x.deleted(others[i]) })
		court.judge("delete", n, x.overtakes(f, func() { x.deleted(second) }, second, f.isGone,
			func() int { _, gone := f.counts(); return gone }))
		x.remove("capability", f, []client.Object{first})
		x.Op.Stop()
	}
}

// BenchmarkNeighborPlans counts how many plans of a namespace that asks for as many as it may have are answered before the first one of
// another namespace.
func BenchmarkNeighborPlans(b *testing.B) {
	const n = 16
	for b.Loop() {
		court := newCourt(b, "neighbor's plan")
		x := newBench(b, resting, lifted)
		x.provider()
		quiet := x.MakeNamespace(x.Namespace + "-quiet")
		p := x.providerIn(quiet)
		x.Create(p)
		x.Ready(p)
		f := x.follow(&nexusv1.PlanRequestList{})
		inParallel(n, func(i int) { x.make(x.planOf(x.Namespace, i, 1<<10)) })
		q := x.planOf(quiet, 0, 1<<10)
		court.judge("answer", n, x.overtakes(f, func() { x.make(q) }, q, f.isReady, func() int { ready, _ := f.counts(); return ready }))
		x.Eventually(patience(n), "every plan to be answered", func() error {
			if ready, _ := f.counts(); ready < n+1 {
				return fmt.Errorf("%d are", ready)
			}
			return nil
		})
		x.Op.Stop()
	}
}

// mostManifests bounds the objects of one PlanRequest.
const mostManifests = 16

// planOf is a request for the plan of as many buckets as one may have, each of a size in bytes.
func (b *bench) planOf(namespace string, i, size int) *nexusv1.PlanRequest {
	b.B.Helper()
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("plan-", i)}}
	for n := range mostManifests {
		o := bucketOf(namespace, 100*i+n)
		text, err := json.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "S3Bucket", "spec": o.Spec,
			"metadata": map[string]any{"name": o.Name, "namespace": namespace, "annotations": map[string]string{"note": strings.Repeat("x", size)}}})
		if err != nil {
			b.B.Fatal(err)
		}
		q.Spec.Manifests = append(q.Spec.Manifests, nexusv1.PlannedManifest(text))
	}
	return q
}

func (b *bench) deleted(o client.Object) {
	if err := b.Client.Delete(b.Ctx(), o, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		b.B.Error(err)
	}
}

// overtakes does something to an object, and returns how many objects were finished from then on until that one was.
func (b *bench) overtakes(f *follower, do func(), o client.Object, finished func(client.Object) bool, done func() int) []figure {
	b.B.Helper()
	f.begins(o)
	before, began := done(), time.Now()
	do()
	b.Eventually(2*time.Minute, key(o)+" to be finished", func() error {
		if finished(o) {
			return nil
		}
		err := b.Get(o)
		return fmt.Errorf("%s is not: %v (%w)", key(o), kit.ConditionsOf(o), err)
	})
	return []figure{{objectsBefore, float64(done() - before)}, {toReady, time.Since(began).Seconds()}}
}

func (f *follower) isReady(o client.Object) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ready := f.ready[key(o)]
	return ready
}

func (f *follower) isGone(o client.Object) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, gone := f.gone[key(o)]
	return gone
}
