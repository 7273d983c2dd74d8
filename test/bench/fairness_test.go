// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
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
		crowded, others := x.MakeNamespace("crowded"), make([]client.Object, n)
		for i := range others {
			c := x.capability(fmt.Sprintf("crowd%d", i))
			c.Namespace = crowded
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
		court.judge("delete", n, x.overtakes(f, func() { x.deleted(second) }, second, f.isGone, func() int { _, gone := f.counts(); return gone }))
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
		inParallel(n, func(i int) { x.make(x.planOf(x.Namespace, i, 20)) })
		q := x.planOf(quiet, 0, 1)
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

// planOf is a request for the plan of some buckets.
func (b *bench) planOf(namespace string, i, buckets int) *nexusv1.PlanRequest {
	b.B.Helper()
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("plan-", i)}}
	for n := range buckets {
		o := bucketOf(namespace, 100*i+n)
		o.APIVersion, o.Kind = "aws-infra-operator.runner.codes/v1alpha1", "S3Bucket"
		text, err := yaml.Marshal(o)
		if err == nil {
			text, err = yaml.YAMLToJSON(text)
		}
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
		if !finished(o) {
			return fmt.Errorf("%s is not", key(o))
		}
		return nil
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
