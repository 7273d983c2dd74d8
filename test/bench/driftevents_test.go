// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/s3double"
)

// longer holds the factor by which the interval of checks grows while events arrive: an hour instead of five minutes.
const longer = 12

// BenchmarkReadsAtRestWithEvents counts the reads of 1,000 buckets at rest within one interval of the checks with events, without events
// and with them. The events arrive for all of the second time, and are heartbeats alone.
func BenchmarkReadsAtRestWithEvents(b *testing.B) {
	const n = 1000
	every := checkEvery(n)
	for b.Loop() {
		x := newBench(b, resting, lifted)
		x.World.AWS().Divert("s3", s3double.New(x.World.AWS().Account(), time.Now))
		queue := x.driftQueue()
		x.provider()
		f := x.follow(&v1alpha1.S3BucketList{})
		objects := make([]client.Object, n)
		for i := range objects {
			objects[i] = bucketOf(x.Namespace, i)
		}
		x.creation("bucket", f, objects)
		x.Restart(lifted, "--drift-events-queue="+queue, fmt.Sprintf("--check-interval=%s", every),
			fmt.Sprintf("--check-interval-with-events=%s", longer*every))
		time.Sleep(every + every/5) // the first checks fall into the first interval
		without := longer * x.readsWithin(every, "")
		x.beat(queue)
		time.Sleep(every + every/5) // the checks that were due before
		with := x.readsWithin(longer*every, queue)
		b.ReportMetric(float64(without), "reads-without-events")
		b.ReportMetric(float64(with), "reads-with-events")
		if without < n || with*10 > without {
			b.Errorf("%d reads within %s with events, and %d without: want at least 90%% less", with, longer*every, without)
		}
		x.Restart(resting, lifted)
		x.deletion("bucket", f, objects)
		x.Op.Stop()
	}
}

// driftQueue creates the queue of drift events, and returns its URL.
func (b *bench) driftQueue() string {
	b.B.Helper()
	cfg := aws.Config{Region: emulator.DefaultRegion, BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	out, err := sqs.NewFromConfig(cfg).CreateQueue(context.Background(), &sqs.CreateQueueInput{QueueName: aws.String("nexus-drift-events")})
	if err != nil {
		b.B.Fatal(err)
	}
	return *out.QueueUrl
}

// beat sends a heartbeat.
func (b *bench) beat(queue string) {
	b.B.Helper()
	text := fmt.Sprintf(`{"version":"0","detail-type":"Scheduled Event","source":"aws.events","account":%q,"region":%q,"time":%q,"detail":{}}`,
		b.World.AWS().Account(), emulator.DefaultRegion, time.Now().UTC().Format(time.RFC3339))
	if err := b.World.AWS().SendMessage(context.Background(), queue, text); err != nil {
		b.B.Fatal(err)
	}
}

// readsWithin counts the reads of buckets within a time, with a heartbeat a minute where there is a queue for it.
func (b *bench) readsWithin(within time.Duration, queue string) int {
	b.B.Helper()
	mark := b.World.AWS().Mark()
	for end := time.Now().Add(within); time.Now().Before(end); {
		if queue != "" {
			b.beat(queue)
		}
		time.Sleep(min(time.Minute, time.Until(end)))
	}
	return b.World.AWS().Since(mark).Reads().Match("s3", "", "").Count()
}
