// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// objects are a bucket and a role of a provider, Ready.
func (x *tool) objects() (*v1alpha1.AWSProvider, []v1alpha1.Resource) {
	x.Helper()
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	var out []v1alpha1.Resource
	for _, kind := range []string{"S3Bucket", "IAMRole"} {
		o := subjects[kind].make(metav1.ObjectMeta{Name: strings.ToLower(kind), Namespace: x.Namespace},
			v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
		x.Create(o)
		x.Ready(o)
		out = append(out, o)
	}
	return p, out
}

// An edit of a provider changes objects that no manifest names.
func TestPlan_AProvidersTagsReachItsObjects(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	p, objects := x.objects()
	next := p.DeepCopy()
	next.Spec.DefaultTags = map[string]v1alpha1.TagValue{"team": "x"}
	items := x.plan(x.manifest(next), "-f", "-")
	if len(items) != 3 || items[0].Kind != "AWSProvider" || items[1].Action != "None" || items[1].AWS == nil ||
		items[1].AWS.Action != "Update" {
		t.Fatalf("%+v", items)
	}
	mark := x.World.AWS().Mark()
	x.apply(x.manifest(next))
	p.Spec = next.Spec
	if err := x.Get(p); err != nil {
		t.Fatal(err)
	}
	x.Ready(p)
	for _, o := range objects {
		x.wants(x.run("", "reconcile", strings.ToLower(o.GetName())+"/"+o.GetName(), "-n", x.Namespace, "--wait"), 0)
	}
	x.same("the provider's edit", items, x.writesSince(mark))
	x.unchanged(x.manifest(next), "-f", "-")
}

func TestPlan_ListsTheCallsOfADeletion(t *testing.T) {
	x := newTool(t)
	_, objects := x.objects()
	if a := x.run("", "plan", "--delete", "awsprovider/aws", "-n", x.Namespace); a.code != 0 ||
		!strings.Contains(a.out, "… waits for 2 objects that use it to be gone") {
		t.Errorf("the provider alone: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run("", "plan", "--delete", "awsprovider/aws", "s3bucket/s3bucket", "iamrole/iamrole", "-n", x.Namespace); a.code != 0 ||
		strings.Contains(a.out, "waits for") {
		t.Errorf("together: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	for _, o := range objects {
		items := x.plan(x.manifest(o), "--delete", "-f", "-")
		if len(items) != 1 || items[0].Action != "Delete" || items[0].AWS == nil || items[0].AWS.Action != "Delete" ||
			items[0].AWS.Risk != "Destroys" {
			t.Fatalf("%+v", items)
		}
		mark := x.World.AWS().Mark()
		x.Remove(o)
		x.same("deletion", items, x.writesSince(mark))
	}
	if a := x.run("", "plan", "--delete", "configmap/kube-root-ca.crt", "-n", x.Namespace); a.code == 0 ||
		!strings.Contains(a.err, "a deletion of ConfigMap") {
		t.Errorf("another kind: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// deletionIsPlanned compares the plan of the deletion of a capability with the calls of the deletion.
func (x *tool) deletionIsPlanned(c *nexusv1.NexusAICapability) {
	x.Helper()
	items := x.sameAsServer(x.planner(c.Namespace), "", "--delete", "ncap/"+c.Name, "-n", c.Namespace)
	x.childrenExist(len(items)-1, c)
	for i, it := range items { // deletes of this one are planned once its tables are gone, which go first
		if it.Kind == "GlueDatabase" && strings.Contains(it.Waits, "the tables in the database") {
			items[i].AWS.Calls = append(items[i].AWS.Calls, call{"glue:DeleteDatabase", 1})
		}
	}
	mark := x.World.AWS().Mark()
	x.Remove(c)
	x.same("deletion", items, x.writesSince(mark))
}

func TestPlan_AKeptCapabilityKeepsItsResources(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.DeletionPolicy = nexusv1.DeletionRetain
	x.apply(x.manifest(c))
	x.Running(c)
	a := x.run("", "plan", "--delete", "ncap/"+c.Name, "-n", c.Namespace)
	x.wants(a, 0, "- S3Bucket myapp-dev/myapp-dev-call-data: delete", "deletionPolicy keeps the resource in AWS",
		"- Deployment myapp-dev/myapp-dev-backend: delete")
	if strings.Contains(a.out, "s3:DeleteBucket") {
		t.Error(a.out)
	}
}

// With driftPolicy Report nothing is corrected, and a plan must not say that all is as declared.
func TestPlan_ShowsDriftThatIsOnlyReported(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	_, objects := x.objects()
	bucket := objects[0].(*v1alpha1.S3Bucket)
	x.Edit(bucket, func() { bucket.Spec.DriftPolicy = v1alpha1.DriftReport })
	x.Ready(bucket)
	x.suspendVersioning("planned-bucket")
	a := x.run("", "plan", "s3bucket/s3bucket", "-n", x.Namespace, "--exit-code")
	x.wants(a, 0, "differs", "not corrected: the object's managementPolicy or driftPolicy only reports differences",
		"No changes. Not corrected: 1 object differs from AWS, and only reports it.")
	a = x.run("", "plan", "s3bucket/s3bucket", "-n", x.Namespace, "-o", "markdown")
	x.wants(a, 0, "differs, not corrected")
}

// A plan shows the fields that are no longer declared, whether they are removed or stay.
func TestPlan_ShowsWhatIsNoLongerDeclared(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	q := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Name: "q", Namespace: x.Namespace}, Spec: v1alpha1.SQSQueueSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, QueueName: "planned-queue",
		VisibilityTimeout: aws.Int32(99)}}
	x.apply(x.manifest(q))
	x.Ready(q)
	q.Spec.VisibilityTimeout = nil
	x.wants(x.run(x.manifest(q), "plan", "-f", "-"), 0, "99 -> (none)", "AWS keeps the values of fields that are no longer declared")

	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Backend.Env = []nexusv1.EnvVar{{Name: "LOG_LEVEL", Value: "debug"}}
	x.apply(x.manifest(c))
	x.Running(c)
	c.Spec.Backend.Env = nil
	a := x.run(x.manifest(c), "plan", "-f", "-")
	x.wants(a, 0)
	for _, block := range strings.Split(a.out, "\n~ ")[1:] {
		if head, fields, _ := strings.Cut(block, "\n"); !strings.HasPrefix(fields, "    ") || strings.HasPrefix(fields, "    ~ AWS") &&
			strings.HasSuffix(head, ": update") {
			t.Errorf("no field of %s\n%s", head, a.out)
		}
	}
}

// AWS deletes no bucket that holds objects.
func TestPlan_ADeletionThatAWSRefusesLosesNothing(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	_, objects := x.objects()
	bucket := objects[0].(*v1alpha1.S3Bucket)
	if _, err := x.s3().PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: aws.String("planned-bucket"), Key: aws.String("k"), Body: strings.NewReader("v")}); err != nil {
		t.Fatal(err)
	}
	items := x.plan("", "--delete", "s3bucket/s3bucket", "-n", x.Namespace)
	if len(items) != 1 || !strings.HasPrefix(items[0].Waits, "the bucket to be empty: it holds 1 ") {
		t.Errorf("%+v", items)
	}
	x.Edit(bucket, func() { bucket.Spec.ForceDestroy = true })
	x.Ready(bucket)
	items = x.plan("", "--delete", "s3bucket/s3bucket", "-n", x.Namespace)
	if len(items) != 1 || items[0].AWS == nil || items[0].AWS.Risk != "DataLoss" || callsOf(items)["s3:DeleteObjectVersion"] != 1 {
		t.Errorf("with forceDestroy: %+v", items[0].AWS)
	}
}

// A capability that is deleted with its stores takes the data along; an edit that drops a store does so only where the capability says so.
func TestPlan_ShowsTheDataThatACapabilityGivesUp(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.DataServices.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "kept"}, {Name: "dropped"}}
	x.apply(x.manifest(c))
	x.Running(c)
	x.putItem("myapp-dev-dropped")
	risk := func(items []item) string {
		i := slices.IndexFunc(items, func(it item) bool { return it.title() == "DynamoDBTable/myapp-dev-dropped" })
		if i < 0 || items[i].Action != "Delete" || items[i].AWS == nil {
			t.Fatalf("%+v", items)
		}
		return items[i].AWS.Risk + items[i].Waits
	}
	next := c.DeepCopy()
	next.Spec.DataServices.DynamoDB.Tables = next.Spec.DataServices.DynamoDB.Tables[:1]
	held := x.manifest(next)
	if got := risk(x.plan(held, "-f", "-")); !strings.Contains(got, "the table to be empty") {
		t.Errorf("dropped: %q", got)
	}
	consenting := strings.Replace(held, "metadata:\n", "metadata:\n  annotations: {nexus.ai/delete-data: myapp-dev-dropped}\n", 1)
	if got := risk(x.plan(consenting, "-f", "-")); got != "DataLoss" {
		t.Errorf("dropped with the annotation: %q", got)
	}
	if got := risk(x.plan("", "--delete", "ncap/"+c.Name, "-n", c.Namespace)); got != "DataLoss" {
		t.Errorf("deleted with the capability: %q", got)
	}
}

// putItem writes an item into a table, with a value for each attribute of its key.
func (x *tool) putItem(table string) {
	x.Helper()
	api := dynamodb.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	found, err := api.DescribeTable(x.Ctx(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		x.Fatal(err)
	}
	item := map[string]dynamotypes.AttributeValue{}
	for _, a := range found.Table.AttributeDefinitions {
		item[*a.AttributeName] = &dynamotypes.AttributeValueMemberS{Value: "v"}
	}
	if _, err := api.PutItem(x.Ctx(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		x.Fatal(err)
	}
}

// A deletion that has begun is planned as one that is asked for: what is left of it follows.
func TestPlan_ShowsWhatIsLeftOfADeletion(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: time.Hour}}
	x.apply(x.manifest(c))
	x.Running(c)
	if err := x.Get(c); err != nil {
		t.Fatal(err)
	}
	if err := x.Client.Delete(x.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	x.Shows(c, "Ready", metav1.ConditionFalse, "Recoverable")
	x.Gone(&v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-app-role", Namespace: c.Namespace}})
	a := x.run("", "plan", "ncap/"+c.Name, "-n", c.Namespace)
	x.wants(a, 0, "- NexusAICapability myapp-dev/myapp-dev: delete",
		"- S3Bucket myapp-dev/myapp-dev-call-data: delete (recoverable until ", "s3:DeleteBucket")
	if strings.Contains(a.out, "IAMRole") || strings.Contains(a.out, "Deployment") {
		t.Errorf("what is gone is planned:\n%s", a.out)
	}
	if a := x.run(x.manifest(c), "plan", "-f", "-"); !strings.Contains(a.out, "waits for the object to be gone: it is being deleted") {
		t.Errorf("a manifest of it: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.Edit(c, func() { c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{}} })
	x.Gone(c)
}
