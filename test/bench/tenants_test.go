// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/s3double"
)

// BenchmarkNeighbors counts how many objects of a namespace that has a thousand are served before the first one of another namespace:
// while they are created, and while they are deleted.
func BenchmarkNeighbors(b *testing.B) {
	const n = 1000
	for b.Loop() {
		court := newCourt(b, "neighbor")
		x := newBench(b, resting, lifted)
		x.World.AWS().Divert("s3", s3double.New(x.World.AWS().Account(), time.Now))
		x.provider()
		quiet := x.MakeNamespace(x.Namespace + "-quiet")
		p := x.providerIn(quiet)
		x.Create(p)
		x.Ready(p)
		f := x.follow(&v1alpha1.S3BucketList{})
		objects := make([]client.Object, n)
		for i := range objects {
			objects[i] = bucketOf(x.Namespace, i)
		}
		inParallel(n, func(i int) { x.make(objects[i]) })
		court.judge("create", n, x.neighborBucket(f, bucketOf(quiet, n+1), func() int { ready, _ := f.counts(); return ready }))
		x.Eventually(patience(n), "every bucket to be Ready", func() error {
			if ready, _ := f.counts(); ready < n+1 {
				return fmt.Errorf("%d are", ready)
			}
			return nil
		})
		inParallel(n, func(i int) {
			if err := x.Client.Delete(x.Ctx(), objects[i]); err != nil {
				b.Error(err)
			}
		})
		court.judge("delete", n, x.neighborBucket(f, bucketOf(quiet, n+2), func() int { _, gone := f.counts(); return gone }))
		x.Op.Stop()
	}
}

// neighborBucket creates a bucket, and returns how much was done for others until it was Ready.
func (b *bench) neighborBucket(f *follower, o client.Object, done func() int) []figure {
	b.B.Helper()
	before := done()
	f.begins(o)
	b.make(o)
	b.Eventually(time.Minute, "the neighbor's bucket to be Ready", func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if _, ready := f.ready[key(o)]; !ready {
			return fmt.Errorf("%s is not", key(o))
		}
		return nil
	})
	return []figure{{objectsBefore, float64(done() - before)}, {toReady, f.ready[key(o)].Seconds()}}
}
