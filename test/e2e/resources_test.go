// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func bucket(name string) *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: through("aws"), BucketName: name,
			Versioning: &v1alpha1.S3Versioning{Enabled: true}}}
}

func table(name string) *v1alpha1.DynamoDBTable {
	return &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.DynamoDBTableSpec{CommonSpec: through("aws"), TableName: name,
			HashKey: v1alpha1.DynamoDBAttribute{Name: "pk", Type: "S"}, PointInTimeRecovery: aws.Bool(true)}}
}

func role(name string) *v1alpha1.IAMRole {
	return &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.IAMRoleSpec{CommonSpec: through("aws"), RoleName: name,
		IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "app"}}}
}

// three are the kinds whose whole life is struck by every fault, with the operations that make and end them.
var three = []struct {
	name           string
	make           func(string) v1alpha1.Resource
	service        string
	creates, ends  string
	resourcePrefix string
}{
	{"S3Bucket", func(n string) v1alpha1.Resource { return bucket(n) }, "s3", "CreateBucket", "DeleteBucket", ""},
	{"DynamoDBTable", func(n string) v1alpha1.Resource { return table(n) }, "dynamodb", "CreateTable", "DeleteTable", ""},
	{"IAMRole", func(n string) v1alpha1.Resource { return role(n) }, "iam", "CreateRole", "DeleteRole", ""},
}

func (b *bed) provider() *v1alpha1.AWSProvider {
	b.Helper()
	p := provider("aws")
	b.Create(p)
	b.Ready(p)
	return p
}

func (b *bed) s3() *s3.Client {
	return s3.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
}

func TestACreateCostsTwoKubernetesWritesAndACheckNone(t *testing.T) {
	b := newBed(t, "--check-interval=1s")
	b.provider()
	for _, k := range three {
		o := k.make("cost-" + strings.ToLower(k.name))
		_, m := b.Mark()
		b.Create(o)
		b.Ready(o)
		b.Eventually(10*time.Second, "intent and status to be written once", func() error { // the API server logs a request after it has answered
			var writes []string
			for _, e := range b.KubeWrites(m) {
				if e.Name == o.GetName() { // the end of the object before may be logged only now
					writes = append(writes, e.String())
				}
			}
			if len(writes) != 2 {
				return fmt.Errorf("%s: a create took %d Kubernetes writes:\n%s", k.name, len(writes), strings.Join(writes, "\n"))
			}
			return nil
		})
		am, m := b.Mark()
		before := o.GetResourceVersion()
		b.Eventually(10*time.Second, "two checks", func() error {
			if n := b.World.AWS().Since(am).Match(k.service, "*", "*").Count(); n < 4 {
				return fmt.Errorf("%d calls", n)
			}
			return nil
		})
		if w := b.World.AWS().Since(am).Writes(); len(w) > 0 {
			t.Errorf("%s: a check wrote to AWS:\n%s", k.name, w)
		}
		if w := b.KubeWrites(m); len(w) > 0 {
			t.Errorf("%s: a check wrote to Kubernetes: %v", k.name, w)
		}
		if err := b.Get(o); err != nil || o.GetResourceVersion() != before {
			t.Errorf("%s: the object changed: %v", k.name, err)
		}
		b.Remove(o)
	}
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// strike is one way in which a call goes wrong.
type strike struct {
	name   string
	action func(kill func()) emulator.Action
	// shows is the reason seen meanwhile; empty where it passes unseen.
	shows string
	kills bool
	// lasts keeps the fault until it was seen.
	lasts bool
}

var strikes = []strike{
	{name: "answer lost", action: func(func()) emulator.Action { return emulator.LoseAnswer() }},
	{name: "operator killed right after", kills: true, action: emulator.ForwardThen},
	{name: "operator killed right before", kills: true, action: emulator.BeforeThen},
	{name: "throttled", action: func(func()) emulator.Action { return emulator.Throttle() }},
	{name: "denied", shows: "AccessDenied", lasts: true, action: func(func()) emulator.Action {
		return emulator.Fail(403, "AccessDenied", "User: arn:aws:iam::123456789012:user/x is not authorized to perform this")
	}},
}

func TestEveryCreateAndDeleteSurvivesFaults(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	n := 0
	for _, k := range three {
		for _, s := range strikes {
			n++
			t.Run(k.name+"/"+s.name, func(t *testing.T) {
				name := fmt.Sprintf("strike-%d-%s", n, strings.ToLower(k.name))
				o := k.make(name)
				b.struck(t, s, k.service, k.creates, name, func() { b.Create(o) }, func() { b.Shows(o, "Ready", metav1.ConditionFalse, s.shows) },
					func() { b.Ready(o) })
				if inv := fmt.Sprint(b.Inventory()); strings.Count(inv, name) != 1 {
					t.Errorf("want %s once: %s", name, inv)
				}
				b.struck(t, s, k.service, k.ends, name, func() { _ = b.Client.Delete(b.Ctx(), o) },
					func() { b.Shows(o, "Ready", metav1.ConditionFalse, s.shows) }, func() { b.Gone(o) })
				if inv := b.Inventory(); len(inv) > 0 {
					t.Errorf("left behind: %v", inv)
				}
			})
		}
	}
}

// struck does something while a call of it goes wrong, and sees it come to its end all the same.
func (b *bed) struck(t *testing.T, s strike, service, op, resource string, do, shown, end func()) {
	t.Helper()
	died := make(chan struct{}, 1)
	m := emulator.Match{Service: service, Op: op, Resource: resource, Times: 1}
	if s.lasts {
		m.Times = 0
	}
	victim := b.Op
	rule := b.World.AWS().Fault(m, s.action(func() {
		victim.Kill()
		died <- struct{}{}
	}))
	do()
	if s.kills {
		select {
		case <-died:
			b.Restart()
		case <-time.After(20 * time.Second):
			t.Fatal("the fault did not strike")
		}
	}
	if s.lasts {
		shown()
		rule.Remove()
	}
	end()
	if rule.Hits() == 0 {
		t.Error("the fault did not strike")
	}
	rule.Remove()
}

func TestForeignResourcesAreReportedAndNeverTouched(t *testing.T) {
	b := newBed(t)
	b.provider()
	if _, err := b.s3().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("decoy-bucket"),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		t.Fatal(err)
	}
	mark, _ := b.Mark()
	o := bucket("decoy-bucket")
	b.Create(o)
	message := b.Shows(o, "Stalled", metav1.ConditionTrue, "Conflict")
	if !strings.Contains(message, "adoptionPolicy") {
		t.Errorf("the message gives no remedy: %s", message)
	}
	b.Remove(o)
	w := b.World.AWS().Since(mark).Match("s3", "*", "decoy-bucket").Writes()
	if changed := awsWrites(w); len(changed) > 0 || len(w) > 1 {
		t.Errorf("a foreign bucket was written to, or created more than once:\n%s", w)
	}
	if inv := b.Inventory(); !strings.Contains(fmt.Sprint(inv), "decoy-bucket") {
		t.Error("the foreign bucket is gone")
	}
}

func TestEditsConvergeAndDriftIsCorrected(t *testing.T) {
	b := newBed(t, "--check-interval=1s")
	b.provider()
	o := bucket("edits")
	b.Create(o)
	b.Ready(o)
	edited := b.World.AWS().Mark()
	b.Edit(o, func() {
		o.Spec.Versioning.Enabled = false
		o.Spec.Tags = map[string]v1alpha1.TagValue{"team": "search"}
	})
	b.Ready(o)
	v, err := b.s3().GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: aws.String("edits")})
	if err != nil || v.Status != types.BucketVersioningStatusSuspended {
		t.Errorf("versioning is %v, %v", v, err)
	}
	// Until it has seen its write, the operator takes the former value for an answer of AWS that is late.
	b.Eventually(20*time.Second, "a look after the write", func() error {
		calls := b.World.AWS().Since(edited).Match("s3", "*BucketVersioning", "edits").
			Filter(func(c emulator.Call) bool { return c.AccessKey != "a" })
		if n := len(calls); n == 0 || calls[n-1].Write {
			return fmt.Errorf("%s", calls)
		}
		return nil
	})
	if _, err := b.s3().PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String("edits"),
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
		t.Fatal(err)
	}
	b.Eventually(10*time.Second, "drift to be corrected", func() error {
		v, err := b.s3().GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: aws.String("edits")})
		if err == nil && v.Status != types.BucketVersioningStatusSuspended {
			err = fmt.Errorf("versioning is %s", v.Status)
		}
		return err
	})
	b.Edit(o, func() { o.Spec.Tags = nil })
	b.Ready(o)
	tags, err := b.s3().GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: aws.String("edits")})
	if err != nil || slices.ContainsFunc(tags.TagSet, func(t types.Tag) bool { return *t.Key == "team" }) {
		t.Errorf("a dropped tag stayed: %v %v", tags, err)
	}
}

func TestBadInputIsRefusedAtAdmissionWithItsField(t *testing.T) {
	b := newBed(t)
	for _, c := range []struct {
		field string
		o     client.Object
	}{
		{"spec.bucketName", &v1alpha1.S3Bucket{Spec: v1alpha1.S3BucketSpec{CommonSpec: through("aws"), BucketName: "Upper"}}},
		{"spec.bucketName", &v1alpha1.S3Bucket{Spec: v1alpha1.S3BucketSpec{CommonSpec: through("aws"), BucketName: "192.168.1.1"}}},
		{"deletionPolicy", func() client.Object {
			o := bucket("a-bucket")
			o.Spec.AdoptionPolicy = v1alpha1.AdoptAlways
			return o
		}()},
		{"tag key", func() client.Object {
			o := bucket("a-bucket")
			o.Spec.Tags = map[string]v1alpha1.TagValue{"nexus.ai/owner": "me"}
			return o
		}()},
		{"spec.tableName", func() client.Object { o := table("t"); return o }()},
		{"provisionedThroughput", func() client.Object { o := table("ttt"); o.Spec.BillingMode = "PROVISIONED"; return o }()},
		{"irsa", func() client.Object { o := role("r"); o.Spec.AssumeRolePolicyDocument = "{}"; return o }()},
		{"spec.region", &v1alpha1.AWSProvider{Spec: v1alpha1.AWSProviderSpec{Region: "Mars"}}},
		{"accessKeyIDRef", &v1alpha1.AWSProvider{Spec: v1alpha1.AWSProviderSpec{Region: "eu-west-1",
			AccessKeyIDRef: &v1alpha1.SecretKeyReference{Name: "a", Key: "b"}}}},
		{"metadata.name", bucket(strings.Repeat("n", 151))},
	} {
		c.o.SetNamespace(b.Namespace)
		if c.o.GetName() == "" {
			c.o.SetName("bad")
		}
		if len(c.o.GetName()) > 63 {
			c.o.(*v1alpha1.S3Bucket).Spec.BucketName = "fine"
		}
		err := b.Client.Create(b.Ctx(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.field) {
			t.Errorf("want a refusal that names %s, got %v", c.field, err)
		}
	}
	o := bucket("fixed-name")
	b.Create(o)
	o.Spec.BucketName = "other-name"
	if err := b.Client.Update(b.Ctx(), o); err == nil || !strings.Contains(err.Error(), "bucketName is immutable") {
		t.Errorf("an immutable edit: %v", err)
	}
	d := table("fixed-table")
	b.Create(d)
	d.Spec.RangeKey = &v1alpha1.DynamoDBAttribute{Name: "sk", Type: "S"}
	if err := b.Client.Update(b.Ctx(), d); err == nil || !strings.Contains(err.Error(), "rangeKey is immutable") {
		t.Errorf("setting an immutable optional field: %v", err)
	}
}

// The rules compare with the object before, and are evaluated by the API server only.
func TestEditsOfIndexesAreRefusedAtAdmission(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	projection := v1alpha1.DynamoDBProjection{ProjectionType: "INCLUDE", NonKeyAttributes: []string{"a", "b"}}
	typed := func(name, kind string) v1alpha1.DynamoDBIndexAttribute {
		return v1alpha1.DynamoDBIndexAttribute{DynamoDBAttribute: v1alpha1.DynamoDBAttribute{Name: name, Type: kind}}
	}
	o := table("indexed-table")
	o.Spec.RangeKey = &v1alpha1.DynamoDBAttribute{Name: "sk", Type: "S"}
	o.Spec.Attributes = []v1alpha1.DynamoDBIndexAttribute{typed("status", "S"), typed("size", "N")}
	o.Spec.GlobalSecondaryIndexes = []v1alpha1.DynamoDBGlobalIndex{{IndexName: "by-status", HashKey: "status", DynamoDBProjection: projection}}
	o.Spec.LocalSecondaryIndexes = []v1alpha1.DynamoDBLocalIndex{{IndexName: "by-size", RangeKey: "size"}}
	b.Create(o)
	for says, edit := range map[string]func(s *v1alpha1.DynamoDBTableSpec){
		"hashKey and rangeKey of an index are immutable": func(s *v1alpha1.DynamoDBTableSpec) { s.GlobalSecondaryIndexes[0].HashKey = "pk" },
		"the projection of an index is immutable": func(s *v1alpha1.DynamoDBTableSpec) {
			s.GlobalSecondaryIndexes[0].NonKeyAttributes = []string{"a", "c"}
		},
		"type is immutable":                   func(s *v1alpha1.DynamoDBTableSpec) { s.Attributes[0].Type = "N" },
		"localSecondaryIndexes are immutable": func(s *v1alpha1.DynamoDBTableSpec) { s.LocalSecondaryIndexes[0].IndexName = "by-bytes" },
		"spec.attributes":                     func(s *v1alpha1.DynamoDBTableSpec) { s.Attributes = append(s.Attributes, typed("color", "S")) },
		"whose type is not declared":          func(s *v1alpha1.DynamoDBTableSpec) { s.Attributes = s.Attributes[1:] },
		"onDemandThroughput of an index needs": func(s *v1alpha1.DynamoDBTableSpec) {
			one := int64(1)
			through := &v1alpha1.DynamoDBThroughput{ReadCapacityUnits: 1, WriteCapacityUnits: 1}
			s.BillingMode, s.ProvisionedThroughput, s.GlobalSecondaryIndexes[0].ProvisionedThroughput = "PROVISIONED", through, through
			s.GlobalSecondaryIndexes[0].OnDemandThroughput = &v1alpha1.DynamoDBOnDemandThroughput{MaxReadRequestUnits: &one}
		},
	} {
		c := o.DeepCopy()
		edit(&c.Spec)
		if err := b.Client.Update(b.Ctx(), c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want a refusal that says %q, got %v", says, err)
		}
	}
	c := o.DeepCopy()
	c.Spec.GlobalSecondaryIndexes[0].NonKeyAttributes = []string{"b", "a"}
	c.Spec.GlobalSecondaryIndexes = append(c.Spec.GlobalSecondaryIndexes, v1alpha1.DynamoDBGlobalIndex{IndexName: "by-size", HashKey: "size"})
	if err := b.Client.Update(b.Ctx(), c); err == nil || !strings.Contains(err.Error(), "need different names") {
		t.Errorf("two indexes of one name: %v", err)
	}
	c.Spec.GlobalSecondaryIndexes[1].IndexName = "by-any-size"
	if err := b.Client.Update(b.Ctx(), c); err != nil {
		t.Errorf("the same attributes in another order, and another index: %v", err)
	}
}

func TestCredentialsAndReachabilityShowAndHeal(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s", "--ambient-namespaces=nowhere")
	p := provider("aws")
	b.Create(p)
	if m := b.Shows(p, "Stalled", metav1.ConditionTrue, "AmbientNotAllowed"); !strings.Contains(m, "--ambient-namespaces") {
		t.Errorf("no remedy: %s", m)
	}
	b.Edit(p, func() { p.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: "keys"} })
	if m := b.Shows(p, "Stalled", metav1.ConditionTrue, "CredentialsMissing"); !strings.Contains(m, "kubectl create rolebinding") {
		t.Errorf("no remedy: %s", m)
	}
	o := bucket("later")
	b.Create(o)
	b.Shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys"},
		StringData: map[string]string{"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "canary-of-the-operator"}}
	b.Create(secret)
	b.Ready(p, o)

	// A refusal by STS, then an AWS that cannot be reached: both show, and heal automatically.
	rule := b.World.AWS().Fault(emulator.Match{Service: "sts"},
		emulator.Fail(403, "InvalidClientTokenId", "The security token included in the request is invalid."))
	b.Shows(p, "Stalled", metav1.ConditionTrue, "CredentialsInvalid")
	rule.Remove()
	b.Ready(p, o)
	rule = b.World.AWS().Fault(emulator.Match{}, emulator.DropBefore())
	b.Shows(o, "Reconciling", metav1.ConditionTrue, "Unreachable")
	rule.Remove()
	b.Shows(o, "Reconciling", metav1.ConditionFalse, "Ready")
	b.Remove(o, p)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestAProviderThatMovesLosesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	p := b.provider()
	o := table("stays")
	b.Create(o)
	b.Ready(o)
	// The provider is replaced by one of the same name that leads to another region.
	cut := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := b.Client.Delete(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	b.Shows(p, "InUse", metav1.ConditionTrue, "InUse")
	if err := b.Client.Patch(b.Ctx(), p, cut); err != nil {
		t.Fatal(err)
	}
	moved := provider("aws")
	moved.Spec.Region = "eu-west-1"
	b.Create(moved)
	b.Ready(moved)
	b.Shows(o, "Stalled", metav1.ConditionTrue, "ProviderMoved")
	b.Passes("dynamodbtable", 2, func() {
		if err := b.Client.Delete(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	})
	if err := b.Get(o); err != nil || len(o.Finalizers) == 0 {
		t.Fatalf("the finalizer was dropped though the table is elsewhere: %v", err)
	}
	if inv := fmt.Sprint(b.Inventory()); !strings.Contains(inv, "stays") {
		t.Errorf("the table is gone: %s", inv)
	}
	if err := b.Client.Delete(b.Ctx(), moved); err != nil {
		t.Fatal(err)
	}
	if err := b.Client.Patch(b.Ctx(), moved, cut); err != nil {
		t.Fatal(err)
	}
	b.Create(provider("aws"))
	b.Gone(o)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// One names the other by its ARN, before that bucket exists.
func TestTwoBucketsReplicateToEachOther(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	p := provider("aws")
	p.Spec.RolePathPrefix = "/"
	replicating := func(name string, to v1alpha1.S3ReplicationDestination) *v1alpha1.S3Bucket {
		o := bucket(name)
		o.Spec.Replication = &v1alpha1.S3Replication{RoleARN: "arn:aws:iam::123456789012:role/replicator",
			Rules: []v1alpha1.S3ReplicationRule{{ID: "all", Enabled: true, Destination: to}}}
		return o
	}
	west := replicating("copies-west", v1alpha1.S3ReplicationDestination{BucketARN: "arn:aws:s3:::copies-east"})
	east := replicating("copies-east", v1alpha1.S3ReplicationDestination{BucketRef: &v1alpha1.ObjectReference{Name: "copies-west"}})
	b.Create(p, west, east)
	b.Ready(west, east)
	for from, to := range map[string]string{"copies-west": "copies-east", "copies-east": "copies-west"} {
		out, err := b.s3().GetBucketReplication(b.Ctx(), &s3.GetBucketReplicationInput{Bucket: &from})
		if err != nil || *out.ReplicationConfiguration.Rules[0].Destination.Bucket != "arn:aws:s3:::"+to {
			t.Errorf("%s: %v %+v", from, err, out)
		}
	}
	b.Remove(west, east)
}

// The ID of a key is recorded before the key can be read. An object that refers to the key is not created until its ARN is known.
func TestAReferenceWaitsForTheARNThatComesAfterTheID(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	b.World.AWS().Fault(emulator.Match{Service: "kms", Op: "DescribeKey"},
		emulator.Fail(400, "AccessDeniedException", "no identity-based policy allows the kms:DescribeKey action"))
	key := &v1alpha1.KMSKey{ObjectMeta: metav1.ObjectMeta{Name: "letters"}, Spec: v1alpha1.KMSKeySpec{CommonSpec: through("aws")}}
	queue := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Name: "letters"},
		Spec: v1alpha1.SQSQueueSpec{CommonSpec: through("aws"), QueueName: "letters",
			KMSMasterKeyRef: &v1alpha1.ObjectReference{Name: "letters"}}}
	b.Create(key)
	b.Eventually(30*time.Second, "the key's ID to be recorded", func() error {
		if err := b.Get(key); err != nil || key.Status.ID == "" || key.Status.ARN != "" {
			return fmt.Errorf("%v: %+v", err, key.Status)
		}
		return nil
	})
	b.Create(queue)
	b.contains(b.Shows(queue, "Ready", metav1.ConditionFalse, "Waiting"), "KMSKey/letters")
	if calls := b.World.AWS().Calls().Match("sqs", "CreateQueue", ""); calls.Count() > 0 {
		t.Errorf("a queue is created without its key:\n%s", calls)
	}
	b.World.AWS().ClearFaults()
	b.Edit(key, func() { key.Spec.Description = aws.String("of letters") }) // the pass after a refusal is minutes away
	b.Ready(key, queue)
	b.Remove(queue, key)
}

func TestEverySampleBecomesReady(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster, "--types=AWS::Kinesis::Stream", "--check-interval=3s")
	b.makeEKSCluster()
	types, err := awstypes.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	defer types.Close()
	b.World.AWS().Divert("cloudformation", cloudcontrol.New("123456789012", types, time.Now))
	var objs []*unstructured.Unstructured
	for _, o := range b.File("examples/aws") {
		o.SetNamespace(b.Namespace)
		if o.GetKind() == "PodIdentityAssociation" { // only for ServiceAccounts of the namespace
			if err := unstructured.SetNestedField(o.Object, b.Namespace, "spec", "namespace"); err != nil {
				t.Fatal(err)
			}
		}
		if o.GetKind() == "AWSResource" { // its deletion waits for consent
			o.SetAnnotations(map[string]string{wellknown.AnnotationDeleteData: o.GetName()})
		}
		unstructured.RemoveNestedField(o.Object, "spec", "managedPolicyArns") // of AWS, which the emulator loads only for the demo
		objs = append(objs, o)
	}
	if len(objs) < 9 {
		t.Fatalf("%d samples, want one of each kind", len(objs))
	}
	for _, o := range objs {
		if err := b.Client.Create(b.Ctx(), o); err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	for _, o := range objs {
		b.Eventually(40*time.Second, o.GetKind()+" "+o.GetName()+" to be ready", func() error {
			if err := b.Get(o); err != nil {
				return err
			}
			if ok, _, _ := unstructured.NestedBool(o.Object, "status", "ready"); !ok {
				return fmt.Errorf("%v", o.Object["status"])
			}
			return nil
		})
	}
	b.writesNothingAtRest(len(objs))
	named := b.eventsOfDeletions(objs)
	for _, o := range objs {
		if err := b.Client.Delete(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range objs {
		b.Gone(o)
	}
	named()
}

// shownLater are resources whose objects show what others changed since they were ready, at the next check.
var shownLater = map[string]string{"elasticips": "the association with a NAT gateway", "route53hostedzones": "the number of records"}

// writesNothingAtRest lets every one of so many objects be checked twice, and demands that the checks write nothing; the first
// may show what other objects changed in AWS.
func (b *bed) writesNothingAtRest(objects int) {
	b.Helper()
	for _, shows := range []map[string]string{shownLater, nil} {
		aws, kube := b.Mark()
		b.Eventually(time.Minute, "two checks of every object", func() error {
			if n := b.World.AWS().Since(aws).Reads().Count(); n < 2*objects {
				return fmt.Errorf("%d reads of %d objects", n, objects)
			}
			return nil
		})
		time.Sleep(6 * time.Second) // the objects that are asked for least have two intervals more
		if writes := b.World.AWS().Since(aws).Writes(); writes.Count() > 0 {
			b.Errorf("writes to AWS at rest:\n%s", writes)
		}
		for _, w := range b.KubeWrites(kube) {
			if shows[w.Resource] == "" {
				b.Errorf("a write to Kubernetes at rest: %s", w)
			}
		}
	}
}
