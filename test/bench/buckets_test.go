// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/s3double"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// resting keeps periodic checks out of a measurement; lifted are AWS rates that never hold a call back.
const (
	resting = "--check-interval=1000h"
	lifted  = "--aws-rates=*=5000/10000,s3=5000/10000,iam=5000/10000,ssm=5000/10000,ssm.PutParameter=5000/10000,glue=5000/10000"
)

// bucketOf returns the bucket of a capability's shape.
func bucketOf(namespace string, i int) *v1alpha1.S3Bucket {
	name := fmt.Sprintf("bench-bucket-%04d", i)
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	o.Spec.ProviderRef.Name = "aws"
	o.Spec.BucketName = name
	o.Spec.Versioning = &v1alpha1.S3Versioning{Enabled: true}
	o.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256"}
	o.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{BlockPublicAcls: true, IgnorePublicAcls: true, BlockPublicPolicy: true,
		RestrictPublicBuckets: true}
	o.Spec.Tags = map[string]v1alpha1.TagValue{"team": "bench", "stage": "dev"}
	return o
}

func (b *bench) provider() {
	b.B.Helper()
	p := b.providerIn(b.Namespace)
	b.Create(p)
	b.Ready(p)
}

// providerIn returns the provider of the buckets of a namespace.
func (b *bench) providerIn(namespace string) *v1alpha1.AWSProvider {
	return &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws", Namespace: namespace},
		Spec: v1alpha1.AWSProviderSpec{Region: emulator.DefaultRegion}}
}

// capabilityKinds are the kinds that a capability with data services alone needs.
const capabilityKinds = "--kinds=DynamoDBTable,GlueCrawler,GlueDatabase,GlueTable,IAMRole,S3Bucket,SSMParameterSet,SecretsManagerSecret"

// BenchmarkIdle measures how long an operator takes to become ready, and its memory while it has nothing to do: with every kind, and
// with those that a capability needs.
func BenchmarkIdle(b *testing.B) {
	for name, flags := range map[string][]string{"idle": {resting}, "idle with eight kinds": {resting, capabilityKinds}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c := newCourt(b, name)
				x := newBench(b, flags...)
				c.judge("start", 0, []figure{{toReady, x.timeToReady(flags...).Seconds()}})
				c.judge("rest", 0, []figure{{restMiB, x.atRest()}})
				x.Op.Stop()
			}
		})
	}
}

// timeToReady restarts the operator and returns how long its process takes until /readyz answers that it is ready.
func (b *bench) timeToReady(flags ...string) time.Duration {
	b.B.Helper()
	address := world.FreeAddress(b.B)
	b.Op.Stop()
	began := time.Now()
	b.Restart(append(flags, "--health-probe-bind-address="+address)...)
	for time.Since(began) < time.Minute {
		if r, err := http.Get("http://" + address + "/readyz"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return time.Since(began)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.B.Fatal("the operator is not ready after a minute")
	return 0
}

// BenchmarkBuckets measures the life of S3Bucket objects on the emulator, and on a double where the emulator would
// set the pace.
func BenchmarkBuckets(b *testing.B) {
	for _, n := range []int{100, 1000} {
		for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
			if n == 100 {
				b.Run(fmt.Sprintf("emulator/n=%d/latency=%s", n, latency), func(b *testing.B) { measureBuckets(b, n, latency, false) })
			}
			b.Run(fmt.Sprintf("double/n=%d/latency=%s", n, latency), func(b *testing.B) { measureBuckets(b, n, latency, true) })
		}
	}
}

func measureBuckets(b *testing.B, n int, latency time.Duration, double bool) {
	for b.Loop() {
		court := newCourt(b, "bucket")
		x := newBench(b, resting, lifted)
		var s3 *s3double.Double
		if double {
			s3 = s3double.New(x.World.AWS().Account(), time.Now)
			x.World.AWS().Divert("s3", s3)
		}
		if latency > 0 {
			x.World.AWS().Fault(emulator.Match{}, emulator.Delay(latency))
		}
		x.provider()
		f := x.follow(&v1alpha1.S3BucketList{})
		objects := make([]client.Object, n)
		for i := range objects {
			objects[i] = bucketOf(x.Namespace, i)
		}
		court.judge("create", n, x.creation("bucket", f, objects))
		court.judge("check", n, x.checks(n, "s3", "GetBucketTagging", lifted))
		court.judge("delete", n, x.deletion("bucket", f, objects))
		if s3 != nil && len(s3.Names()) > 0 {
			b.Errorf("%d buckets remain in the S3 double", len(s3.Names()))
		}
		if left := x.Inventory()["s3/bucket"]; len(left) > 0 {
			b.Errorf("%d buckets remain at the emulator", len(left))
		}
		x.Op.Stop()
	}
}

// checkEvery gives each of n objects a check that the machine can keep up with.
func checkEvery(n int) time.Duration { return max(5*time.Second, time.Duration(n)*20*time.Millisecond) }

// checks restarts the operator with a short interval and measures one interval of periodic checks, which no one asked
// for and which therefore must write nothing. A check begins with a call of the operation. The operator keeps the flags.
func (b *bench) checks(n int, service, operation string, flags ...string) []figure {
	b.B.Helper()
	every := checkEvery(n)
	b.Restart(append(flags, fmt.Sprintf("--check-interval=%s", every))...)
	time.Sleep(every + every/5) // the first checks fall into the first interval
	p := b.begin("check")
	time.Sleep(every)
	p.reached()
	out := p.figures(func(calls emulator.Calls) int { return max(1, calls.Match(service, operation, "").Count()) })
	b.Restart(append(flags, resting)...)
	return out
}

// BenchmarkBucketsAtRest measures the memory of an operator with 1,000 buckets that has nothing to do, and what one
// bucket adds to that of an idle operator.
func BenchmarkBucketsAtRest(b *testing.B) {
	const n = 1000
	for b.Loop() {
		court := newCourt(b, "bucket")
		x := newBench(b, resting, lifted)
		x.World.AWS().Divert("s3", s3double.New(x.World.AWS().Account(), time.Now))
		x.provider()
		empty := x.atRest()
		f := x.follow(&v1alpha1.S3BucketList{})
		objects := make([]client.Object, n)
		for i := range objects {
			objects[i] = bucketOf(x.Namespace, i)
		}
		x.creation("bucket", f, objects)
		x.Restart(resting, lifted)
		full := x.atRest()
		court.judge("rest", n, []figure{{restMiB, full}, {"MiB-without-buckets", empty}, {perBucket, (full - empty) * 1024 / n}})
		x.deletion("bucket", f, objects)
		x.Op.Stop()
	}
}
