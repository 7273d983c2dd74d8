// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/shard"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/s3double"
)

const (
	// perShard sets how many buckets each shard has, in so many namespaces.
	perShard, namespacesPerShard = 3000, 10
	// shards is their number.
	shards = 2
)

// BenchmarkShards measures two shards of 3,000 buckets each and fails when a bucket was written to by the wrong shard, or one
// call was sent twice.
func BenchmarkShards(b *testing.B) {
	for b.Loop() {
		court := newCourt(b, "shards")
		x := newBench(b, shardFlags(0)...)
		second := operator.Start(b, x.World, operator.Options{Flags: append([]string{"--kube-api-qps=200"}, shardFlags(1)...)})
		x.World.AWS().Divert("s3", s3double.New(x.World.AWS().Account(), time.Now))
		owner, objects := x.shardedBuckets(x.Op, second)
		mark, f := x.World.AWS().Mark(), x.follow(&v1alpha1.S3BucketList{})
		ends := []func() []figure{x.consumption(x.Op), x.consumption(second)}
		court.judge("create", len(objects), x.creation("bucket", f, objects))
		court.failures = append(court.failures, strays(x.World.AWS().Since(mark), owner, len(objects))...)
		for i, end := range ends {
			court.judge(fmt.Sprint("create-shard-", i), perShard, end())
		}
		x.deletion("bucket", f, objects)
		second.Stop()
		x.Op.Stop()
	}
}

// consumption measures what an operator uses for the buckets of a shard until the function that it returns is called.
func (b *bench) consumption(o *operator.Operator) (end func() []figure) {
	b.B.Helper()
	usage := func() operator.Usage {
		u, err := o.Usage()
		if err != nil {
			b.B.Fatal(err)
		}
		return u
	}
	before, memory := usage(), o.SampleMemory()
	return func() []figure {
		after := usage()
		return []figure{{cpuMillis, float64((after.CPU - before.CPU).Milliseconds()) / perShard}, {peakMiB, float64(memory.Stop()) / mebibyte}}
	}
}

func shardFlags(i int) []string {
	return []string{resting, lifted, "--leader-elect=true", "--namespace=" + operator.Namespace, fmt.Sprintf("--shard=%d/%d", i, shards)}
}

// shardedBuckets returns buckets for each shard, in namespaces with a provider, and the operator that must serve each.
func (b *bench) shardedBuckets(operators ...*operator.Operator) (owner map[string]string, objects []client.Object) {
	b.B.Helper()
	owner = map[string]string{}
	made := make([]int, shards)
	for i := 0; slices.Min(made) < namespacesPerShard; i++ {
		name := fmt.Sprintf("team-bench-%d", i)
		of := shard.Of(name, shards)
		if made[of] == namespacesPerShard {
			continue
		}
		made[of]++
		p := b.providerIn(b.MakeNamespace(name))
		b.Create(p)
		b.Ready(p)
		for range perShard / namespacesPerShard {
			o := bucketOf(name, len(objects))
			owner[o.Spec.BucketName] = operators[of].Name()
			objects = append(objects, o)
		}
	}
	return owner, objects
}

// strays returns what is wrong with the writes of a creation.
func strays(calls emulator.Calls, owner map[string]string, objects int) []string {
	var out []string
	sent, buckets := map[string]int{}, map[string]bool{}
	for _, c := range calls.Writes() {
		if want, ours := owner[c.Resource]; ours && c.Endpoint != want {
			out = append(out, fmt.Sprintf("%s was sent by %s, its shard is served by %s", c.Label(), c.Endpoint, want))
		}
		if sent[c.Label()]++; sent[c.Label()] == 2 {
			out = append(out, c.Label()+" was sent twice")
		}
		if _, ours := owner[c.Resource]; ours {
			buckets[c.Resource] = true
		}
	}
	if len(buckets) != objects {
		out = append(out, fmt.Sprintf("%d buckets were written to, want %d", len(buckets), objects))
	}
	return out[:min(len(out), 20)]
}
