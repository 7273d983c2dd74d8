// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// trailBed is a bed whose AWS reports changes through a queue that the operator reads. Periodic checks are far apart.
type trailBed struct {
	*bed
	queue string
}

func newTrailBed(t *testing.T) *trailBed {
	t.Helper()
	b := &trailBed{bed: newBed(t)}
	b.queue = driftQueue(b.bed, "nexus-drift-events")
	b.World.AWS().Trail(b.queue)
	b.Restart("--drift-events-queue="+b.queue, "--check-interval=1h", "--check-interval-with-events=2h")
	return b
}

// driftQueue creates a queue and returns its URL.
func driftQueue(b *bed, name string) string {
	b.Helper()
	out, err := sqs.NewFromConfig(b.account()).CreateQueue(b.Ctx(), &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		b.Fatal(err)
	}
	return *out.QueueUrl
}

// send puts a message into the queue.
func (b *trailBed) send(body string) {
	b.Helper()
	if err := b.World.AWS().SendMessage(b.Ctx(), b.queue, body); err != nil {
		b.Fatal(err)
	}
}

// message returns an event of CloudTrail of an account about a bucket.
func message(account, bucket, principal string) string {
	now := time.Now().UTC().Format(time.RFC3339)
	text, _ := json.Marshal(map[string]any{"version": "0", "detail-type": "AWS API Call via CloudTrail", "source": "aws.s3",
		"account": account, "region": "ap-southeast-1", "time": now,
		"detail": map[string]any{"eventSource": "s3.amazonaws.com", "eventName": "PutBucketVersioning", "awsRegion": "ap-southeast-1",
			"eventTime": now, "eventID": "forged", "requestID": "forged",
			"recipientAccountId": account, "userIdentity": map[string]any{"arn": principal},
			"requestParameters": map[string]any{"bucketName": bucket}}})
	return string(text)
}

func heartbeat(account string, at time.Time) string {
	return fmt.Sprintf(`{"version":"0","detail-type":"Scheduled Event","source":"aws.events","account":%q,"region":"ap-southeast-1","time":%q,"detail":{}}`, account, at.UTC().Format(time.RFC3339))
}

// readyBucket declares a bucket with versioning, and waits until it is ready.
func (b *trailBed) readyBucket(name string) *v1alpha1.S3Bucket {
	b.Helper()
	o := bucketWithVersions(b.Namespace, name)
	b.Create(o)
	b.Ready(o)
	return o
}

func bucketWithVersions(namespace, name string) *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{ObjectMeta: named(namespace, name),
		Spec: v1alpha1.S3BucketSpec{CommonSpec: through("aws"), BucketName: name, Versioning: &v1alpha1.S3Versioning{Enabled: true}}}
}

// suspend switches the versioning of a bucket off by hand.
func (b *trailBed) suspend(bucket string) {
	b.Helper()
	_, err := b.s3().PutBucketVersioning(b.Ctx(), &s3.PutBucketVersioningInput{Bucket: &bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended}})
	if err != nil {
		b.Fatal(err)
	}
}

func (b *trailBed) versioning(bucket string) string {
	out, err := b.s3().GetBucketVersioning(b.Ctx(), &s3.GetBucketVersioningInput{Bucket: &bucket})
	if err != nil {
		return err.Error()
	}
	return string(out.Status)
}

func TestDriftEvents_AChangeByHandIsCorrectedAndAttributed(t *testing.T) {
	b := newTrailBed(t)
	b.Create(provider("aws"))
	o := b.readyBucket("events-corrected")
	b.waitForOwnEvents()
	b.suspend(o.Name)
	b.Eventually(10*time.Second, "the bucket to be as declared, long before its next check in an hour", func() error {
		if v := b.versioning(o.Name); v != "Enabled" {
			return fmt.Errorf("versioning is %s", v)
		}
		return nil
	})
	b.expectEvent(o, "ChangedOutside", "changed by arn:aws:iam::123456789012:user/", " at 20", "s3:PutBucketVersioning",
		"according to CloudTrail event")
	b.expectEvent(o, "DriftCorrected")
	b.Quiet()
	if err := b.Get(o); err != nil || len(o.Status.Drift) > 0 || o.Status.LastChangedBy == nil ||
		!strings.HasPrefix(o.Status.LastChangedBy.Principal, "arn:aws:iam::123456789012:user/") {
		t.Errorf("after the correction the status names drift %v and %+v, %v", o.Status.Drift, o.Status.LastChangedBy, err)
	}
}

func TestDriftEvents_ReportedDriftNamesItsAuthorInTheStatus(t *testing.T) {
	extent.Full(t)
	b := newTrailBed(t)
	b.Create(provider("aws"))
	o := bucketWithVersions(b.Namespace, "events-reported")
	o.Spec.DriftPolicy = v1alpha1.DriftReport
	b.Create(o)
	b.Ready(o)
	b.waitForOwnEvents()
	b.suspend(o.Name)
	b.Eventually(10*time.Second, "the status to name the author", func() error {
		if err := b.Get(o); err != nil {
			return err
		}
		if len(o.Status.Drift) == 0 {
			return fmt.Errorf("no drift")
		}
		by := o.Status.Drift[0].By
		if by == nil || !strings.HasPrefix(by.Principal, "arn:aws:iam::123456789012:user/") || by.Source != "198.51.100.7" ||
			by.Action != "s3:PutBucketVersioning" || by.EventID == "" || by.Time == nil {
			return fmt.Errorf("author %+v", by)
		}
		return nil
	})
	first := *o.Status.Drift[0].By
	b.Quiet()
	b.Passes("s3bucket", 1, func() { b.send(message("123456789012", o.Name, "arn:aws:iam::123456789012:user/liar")) })
	if err := b.Get(o); err != nil || o.Status.Drift[0].By == nil || o.Status.Drift[0].By.EventID != first.EventID {
		t.Errorf("a later event took the drift over: %+v, %v", o.Status.Drift, err)
	}
}

// reads returns the reads of buckets since a mark.
func (b *trailBed) reads(since emulator.Mark) emulator.Calls {
	return b.World.AWS().Since(since).From(b.Op.Name()).Reads().Match("s3", "*", "*")
}

// waitForOwnEvents waits until the operator has read the events of its own writes.
func (b *trailBed) waitForOwnEvents() {
	b.Helper()
	b.emptied()
	b.Quiet()
}

// emptied waits until the queue has no messages for longer than the trail delays an event.
func (b *trailBed) emptied() {
	b.Helper()
	client, empty := sqs.NewFromConfig(b.account()), 0
	b.Eventually(60*time.Second, "the queue to be read", func() error {
		out, err := client.GetQueueAttributes(b.Ctx(),
			&sqs.GetQueueAttributesInput{QueueUrl: &b.queue, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		if err != nil {
			return err
		}
		left := out.Attributes["ApproximateNumberOfMessages"] + "+" + out.Attributes["ApproximateNumberOfMessagesNotVisible"]
		if left != "0+0" {
			empty = 0
			return fmt.Errorf("%s messages", left)
		}
		time.Sleep(100 * time.Millisecond)
		if empty++; empty < 5 {
			return fmt.Errorf("empty for %d looks", empty)
		}
		return nil
	})
}

func TestDriftEvents_OwnForeignAndBrokenMessagesCauseNoCheck(t *testing.T) {
	extent.Full(t)
	b := newTrailBed(t)
	b.Create(provider("aws"))
	o := b.readyBucket("events-quiet")
	mark := b.World.AWS().Mark() // the events of the creation are still to come, and perhaps the end of its pass
	b.waitForOwnEvents()
	if got := b.reads(mark).Match("s3", "GetBucketTagging", "*"); got.Count() != 0 { // with which each check begins
		t.Errorf("%d checks after the events of own writes:\n%s", got.Count(), got)
	}
	mark = b.World.AWS().Mark()
	for _, body := range []string{
		message("210987654321", o.Name, "arn:aws:iam::210987654321:user/x"),
		message("123456789012", "another-bucket", "arn:aws:iam::123456789012:user/x"),
		"", "{", "[]", `{"detail-type":"AWS API Call via CloudTrail"}`, strings.Repeat("x", 200<<10),
		heartbeat("123456789012", time.Now().Add(time.Hour)),
	} {
		if body != "" { // SQS accepts no empty message
			b.send(body)
		}
	}
	b.emptied()
	b.Quiet()
	if got := b.reads(mark); got.Count() != 0 {
		t.Errorf("%d reads after messages that are about no resource of an object:\n%s", got.Count(), got)
	}
}

// A queue that an AWSProvider names reports changes of the objects of its namespace. Messages about those of another namespace, of the same
// account and region, cause nothing.
func TestDriftEvents_TheQueueOfAProviderServesItsNamespaceAlone(t *testing.T) {
	extent.Full(t)
	b := &trailBed{bed: newBed(t)}
	b.queue = driftQueue(b.bed, "team-drift-events")
	p, other := provider("aws"), provider("aws")
	p.Spec.DriftEvents = &v1alpha1.DriftEventsSpec{QueueURL: b.queue}
	other.Namespace = b.MakeNamespace(b.Namespace + "-other")
	b.Create(p, other)
	mine, theirs := b.readyBucket("events-mine"), bucketWithVersions(other.Namespace, "events-theirs")
	b.Create(theirs)
	b.Ready(theirs)
	b.Quiet()
	mark := b.World.AWS().Mark()
	b.send(message("123456789012", theirs.Name, "arn:aws:iam::123456789012:user/x"))
	b.emptied()
	b.Quiet()
	if got := b.reads(mark); got.Count() != 0 {
		t.Errorf("%d reads after a message about a bucket of another namespace:\n%s", got.Count(), got)
	}
	b.send(message("123456789012", mine.Name, "arn:aws:iam::123456789012:user/x"))
	b.Eventually(10*time.Second, "a check of the bucket", func() error {
		if got := b.reads(mark).Match("s3", "*", mine.Name+"*"); got.Count() == 0 {
			return fmt.Errorf("no reads")
		}
		return nil
	})
}

func TestDriftEvents_AStormOfMessagesCausesFewReads(t *testing.T) {
	extent.Full(t)
	b := newTrailBed(t)
	b.Create(provider("aws"))
	o := b.readyBucket("events-storm")
	b.waitForOwnEvents()
	mark, began := b.World.AWS().Mark(), time.Now()
	storm := extent.Size(t, 500, 10_000)
	for i := range storm {
		b.send(message("123456789012", o.Name, fmt.Sprintf("arn:aws:iam::123456789012:user/\u202e\x1b[31m%d", i)))
	}
	b.emptied()
	b.Quiet()
	reads, took := b.reads(mark), time.Since(began)
	// A check of four reads in ten seconds, for the time that the messages take, with one at the beginning and one at the end.
	if most := 4 * (2 + int(took/(10*time.Second))); reads.Count() == 0 || reads.Count() > most {
		t.Errorf("%d messages caused %d reads in %s, at most %d are expected:\n%s", storm, reads.Count(), took, most, reads)
	}
	if w := b.World.AWS().Since(mark).Writes().Match("s3", "*", "*"); w.Count() > 0 {
		t.Errorf("forged messages caused writes:\n%s", w)
	}
}

func TestDriftEvents_ChecksAreFurtherApartWhileHeartbeatsArrive(t *testing.T) {
	extent.Full(t)
	b := newTrailBed(t)
	b.Restart("--drift-events-queue="+b.queue, "--check-interval=1s", "--check-interval-with-events=1h")
	b.Create(provider("aws"))
	for i := range 3 {
		b.readyBucket(fmt.Sprint("events-interval-", i))
	}
	during := func(d time.Duration) int {
		mark := b.World.AWS().Mark()
		time.Sleep(d)
		return b.reads(mark).Count()
	}
	before := during(3 * time.Second)
	if before < 3*4 {
		t.Fatalf("%d reads of three buckets in three seconds without heartbeats", before)
	}
	b.send(heartbeat("210987654321", time.Now())) // of another account
	if n := during(3 * time.Second); n < before/2 {
		t.Errorf("a heartbeat of another account: %d reads, %d before", n, before)
	}
	b.send(heartbeat("123456789012", time.Now().Add(15*time.Second-5*time.Minute))) // it counts for 15 seconds
	time.Sleep(5 * time.Second)                                                     // the checks that are due before take place
	if n := during(4 * time.Second); n > before/10 {
		t.Errorf("%d reads in four seconds while events arrive, %d in three before", n, before)
	}
	b.Eventually(60*time.Second, "the ordinary interval after the heartbeats stopped", func() error {
		if n := during(3 * time.Second); n < before/2 {
			return fmt.Errorf("%d reads in three seconds", n)
		}
		return nil
	})
}

func TestDriftEvents_AQueueThatCannotBeReadShowsInTheProvider(t *testing.T) {
	extent.Full(t)
	b := newTrailBed(t)
	p := provider("aws")
	b.Create(p)
	b.Ready(p)
	b.send(heartbeat("123456789012", time.Now()))
	b.Shows(p, "DriftEvents", metav1.ConditionTrue, "Receiving")
	b.World.AWS().Fault(emulator.Match{Service: "sqs", Op: "ReceiveMessage"},
		emulator.Fail(403, "AccessDenied",
			"User: arn:aws:iam::123456789012:user/x is not authorized to perform: sqs:receivemessage on resource: arn:aws:sqs:ap-southeast-1:123456789012:nexus-drift-events"))
	b.Shows(p, "DriftEvents", metav1.ConditionFalse, "QueueUnusable")
	b.expectEvent(p, "QueueUnusable", "sqs:receivemessage", "nexus-drift-events")
	b.World.AWS().ClearFaults()
	b.Shows(p, "DriftEvents", metav1.ConditionTrue, "Receiving")
}

// keptByDefault are the kinds of the samples whose resources outlive their objects unless these say otherwise.
var keptByDefault = []string{"CognitoUserPool", "KMSKey"}

// eventsOfDeletions records the events of all writes from now on. The function that it returns fails the test for each object whose
// resource no event names: a change by hand sends requests with the same parameters.
func (b *bed) eventsOfDeletions(objs []*unstructured.Unstructured) (check func()) {
	b.Helper()
	var mu sync.Mutex
	var events []driftevents.Event
	resources := map[string]driftevents.Resource{}
	for _, o := range objs {
		must(b, 0, b.Get(o))
		arn, _, _ := unstructured.NestedString(o.Object, "status", "arn")
		id, _, _ := unstructured.NestedString(o.Object, "status", "id")
		policy, _, _ := unstructured.NestedString(o.Object, "spec", "deletionPolicy")
		if o.GetKind() != "AWSProvider" &&
			(policy == string(v1alpha1.DeletionDelete) || policy == "" && !slices.Contains(keptByDefault, o.GetKind())) {
			resources[o.GetKind()+" "+o.GetName()] = driftevents.Resource{ARN: arn, ID: id}
		}
	}
	b.World.AWS().TrailTo(func(body string) {
		e, err := driftevents.Parse(body)
		if err != nil {
			b.Errorf("%v: %s", err, body)
		}
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	})
	return func() {
		b.World.AWS().Trail("")
		mu.Lock()
		defer mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(resources)) {
			r := resources[name]
			if !slices.ContainsFunc(events, r.IsNamedBy) {
				b.Errorf("none of %d events names %s, with ARN %q and identifier %q", len(events), name, r.ARN, r.ID)
			}
		}
	}
}
