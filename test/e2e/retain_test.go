// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	secretstypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// account is AWS as another person with rights in it sees it.
func (b *bed) account() aws.Config {
	return aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
}

func must[T any](b *bed, out T, err error) T {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// put writes an object into a bucket.
func (b *bed) put(bucket, key, body string) {
	b.Helper()
	_, err := b.s3().PutObject(b.Ctx(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(body)})
	must(b, 0, err)
}

// seed puts an object, an item and a secret's value into a capability's stores.
func (b *bed) seed(prefix, path string) {
	b.Helper()
	b.put(prefix+"-call-data", "call-records/1.json", `{"call":1}`)
	_, err := dynamodb.NewFromConfig(b.account()).PutItem(b.Ctx(), &dynamodb.PutItemInput{TableName: aws.String(prefix + "-license"),
		Item: map[string]dynamodbtypes.AttributeValue{"pk": &dynamodbtypes.AttributeValueMemberS{Value: "a"},
			"sk": &dynamodbtypes.AttributeValueMemberS{Value: "b"}}})
	must(b, 0, err)
	_, err = secretsmanager.NewFromConfig(b.account()).PutSecretValue(b.Ctx(), &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(path + "/openai"), SecretString: aws.String(`{"apiKey":"typed in by hand"}`)})
	must(b, 0, err)
}

// data reads all that must never change without an edit: objects, items, and the versions and values of secrets.
func (b *bed) data(prefix string) map[string]string {
	b.Helper()
	out := map[string]string{}
	object, err := b.s3().GetObject(b.Ctx(),
		&s3.GetObjectInput{Bucket: aws.String(prefix + "-call-data"), Key: aws.String("call-records/1.json")})
	body, err := io.ReadAll(must(b, object, err).Body)
	out["object"] = string(must(b, body, err)) + " " + aws.ToString(object.VersionId)
	scan, err := dynamodb.NewFromConfig(b.account()).Scan(b.Ctx(), &dynamodb.ScanInput{TableName: aws.String(prefix + "-license")})
	out["items"] = fmt.Sprint(len(must(b, scan, err).Items))
	sm := secretsmanager.NewFromConfig(b.account())
	list, err := sm.ListSecrets(b.Ctx(), &secretsmanager.ListSecretsInput{})
	for _, s := range must(b, list, err).SecretList {
		v, err := sm.GetSecretValue(b.Ctx(), &secretsmanager.GetSecretValueInput{SecretId: s.ARN})
		if err != nil {
			b.Fatalf("%s: %v", *s.Name, err)
		}
		out[*s.Name] = fmt.Sprintf("%s %s %s", *s.ARN, *v.VersionId, *v.SecretString)
	}
	return out
}

func TestRetainedDataIsTakenOverUntouched(t *testing.T) {
	b := newBed(t)
	c := withStores(b.small("kept"))
	c.Spec.DeletionPolicy = nexusv1.DeletionDelete
	b.Create(c)
	b.Running(c)
	b.seed("kept-dev", "kept/dev")
	before, inv := b.data("kept-dev"), fmt.Sprint(b.Inventory())
	// The last word counts, even if it comes right before the deletion.
	b.Edit(c, func() { c.Spec.DeletionPolicy = nexusv1.DeletionRetain })
	b.Remove(c)
	if now := fmt.Sprint(b.Inventory()); now != inv {
		t.Fatalf("AWS changed from %s to %s", inv, now)
	}
	marks := b.marks("kept-dev", "kept/dev")
	if len(marks) < 7 {
		t.Errorf("the retained resources lost our tags: %v", marks)
	}
	b.nothingLeft(c.Namespace)

	mark, _ := b.Mark()
	next := withStores(b.small("kept"))
	next.Spec.DeletionPolicy = nexusv1.DeletionRetain
	b.Create(next)
	b.Running(next)
	if now := b.data("kept-dev"); !maps.Equal(now, before) {
		t.Errorf("the data changed:\n%v\n%v", before, now)
	}
	for _, call := range b.World.AWS().Since(mark).Writes() {
		// CreateSecret succeeds and changes nothing where the secret has the version that it would put.
		if strings.HasPrefix(call.Op, "Create") && call.Op != "CreateSecret" && !refusedCreate(call) || call.Op == "PutSecretValue" {
			t.Errorf("%s while taking over", call.Label())
		}
	}
	for what, uid := range b.marks("kept-dev", "kept/dev") {
		if uid == "" || uid == marks[what] {
			t.Errorf("%s is still marked as that of the object that is gone", what)
		}
	}
	b.Edit(next, func() { // the last word again, this time for a removal
		next.Spec.DeletionPolicy, next.Spec.DataServices.S3.ForceDestroy = nexusv1.DeletionDelete, true
	})
	b.Running(next)
	b.Remove(next)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// marks are the owner tags in AWS of a capability with stores, by resource: the owner's UID, or "" where
// there are other tags of ours. Resources without any are left out.
func (b *bed) marks(prefix, path string) map[string]string {
	b.Helper()
	out := map[string]string{}
	see := func(what string, tags map[string]string) {
		for k, v := range tags {
			if strings.HasPrefix(k, "nexus.ai/") && (k == "nexus.ai/owner-uid" || out[what] == "") {
				out[what] = map[bool]string{true: v}[k == "nexus.ai/owner-uid"]
			}
		}
	}
	ctx, cfg := b.Ctx(), b.account()
	if o, err := b.s3().GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String(prefix + "-call-data")}); err == nil {
		see("bucket", pairs(o.TagSet, func(t s3types.Tag) (*string, *string) { return t.Key, t.Value }))
	}
	arn := "arn:aws:dynamodb:ap-southeast-1:123456789012:table/" + prefix + "-license"
	d, err := dynamodb.NewFromConfig(cfg).ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: &arn})
	see("table", pairs(must(b, d, err).Tags, func(t dynamodbtypes.Tag) (*string, *string) { return t.Key, t.Value }))
	r, err := iam.NewFromConfig(cfg).ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: aws.String(prefix + "-app-role")})
	see("role", pairs(must(b, r, err).Tags, func(t iamtypes.Tag) (*string, *string) { return t.Key, t.Value }))
	b.catalogMarks(ctx, glue.NewFromConfig(cfg), prefix, see)
	p, err := ssm.NewFromConfig(cfg).ListTagsForResource(ctx,
		&ssm.ListTagsForResourceInput{ResourceId: aws.String("/" + path + "/aws/region"), ResourceType: ssmtypes.ResourceTypeForTaggingParameter})
	see("parameter", pairs(must(b, p, err).TagList, func(t ssmtypes.Tag) (*string, *string) { return t.Key, t.Value }))
	s, err := secretsmanager.NewFromConfig(cfg).DescribeSecret(ctx,
		&secretsmanager.DescribeSecretInput{SecretId: aws.String(path + "/openai")})
	see("secret", pairs(must(b, s, err).Tags, func(t secretstypes.Tag) (*string, *string) { return t.Key, t.Value }))
	return out
}

func (b *bed) catalogMarks(ctx context.Context, c *glue.Client, prefix string, see func(string, map[string]string)) {
	b.Helper()
	db := strings.ReplaceAll(prefix, "-", "_") + "_db"
	for what, arn := range map[string]string{"database": "database/" + db, "crawler": "crawler/" + prefix + "-call-data-crawler"} {
		out, err := c.GetTags(ctx, &glue.GetTagsInput{ResourceArn: aws.String("arn:aws:glue:ap-southeast-1:123456789012:" + arn)})
		see(what, must(b, out, err).Tags)
	}
	t, err := c.GetTable(ctx, &glue.GetTableInput{DatabaseName: &db, Name: aws.String(strings.ReplaceAll(prefix, "-", "_") + "_call_records")})
	see("catalog table", must(b, t, err).Table.Parameters)
}

func pairs[T any](tags []T, of func(T) (*string, *string)) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		k, v := of(t)
		out[aws.ToString(k)] = aws.ToString(v)
	}
	return out
}

func TestOrphanedResourcesAndWorkloadsStayWithoutOurMarks(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("loose"))
	c.Spec.DeletionPolicy = nexusv1.DeletionOrphan
	b.Create(c)
	b.Running(c)
	b.seed("loose-dev", "loose/dev")
	before, inv := b.data("loose-dev"), fmt.Sprint(b.Inventory())
	b.Remove(c)
	if now := fmt.Sprint(b.Inventory()); now != inv {
		t.Errorf("AWS changed from %s to %s", inv, now)
	}
	if now := b.data("loose-dev"); !maps.Equal(now, before) {
		t.Errorf("the data changed:\n%v\n%v", before, now)
	}
	if marks := b.marks("loose-dev", "loose/dev"); len(marks) > 0 {
		t.Errorf("our marks stay in AWS on %v", slices.Sorted(maps.Keys(marks)))
	}
	workloads := 0
	for _, o := range b.children(c.Namespace) {
		if _, aws := o.(v1alpha1.Resource); aws {
			t.Errorf("%T %s is left", o, o.GetName())
			continue
		}
		workloads++
		for k := range o.GetLabels() {
			if strings.HasPrefix(k, "nexus.ai/") {
				t.Errorf("%T %s keeps label %s", o, o.GetName(), k)
			}
		}
		if len(o.GetOwnerReferences()) > 0 || o.GetDeletionTimestamp() != nil {
			t.Errorf("%T %s: owners %v, deletion %v", o, o.GetName(), o.GetOwnerReferences(), o.GetDeletionTimestamp())
		}
	}
	if workloads < 6 { // two Deployments, three Services, an Ingress
		t.Errorf("only %d workload objects are left", workloads)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "loose-dev-backend", Namespace: c.Namespace}}
	if err := b.Get(d); err != nil || d.Status.AvailableReplicas != 2 {
		t.Errorf("the backend: %v, %d available", err, d.Status.AvailableReplicas)
	}
	if err := b.Client.Delete(b.Ctx(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}); err != nil {
		t.Fatal(err)
	}
}

func TestADeletionWaitsForBucketsToBeEmptied(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	for i, empty := range []func(*nexusv1.NexusAICapability, *v1alpha1.S3Bucket){
		func(c *nexusv1.NexusAICapability, o *v1alpha1.S3Bucket) { // by hand
			b.discard(o.Name)
			b.Edit(o, func() {
				o.Annotations["nexus.ai/reconcile-requested-at"] = time.Now().String()
			})
		},
		func(c *nexusv1.NexusAICapability, _ *v1alpha1.S3Bucket) { // by order, though the capability is on its way out
			b.Edit(c, func() { c.Spec.DataServices.S3.ForceDestroy = true })
		},
	} {
		c := withStores(b.small(fmt.Sprintf("full-%d", i)))
		b.Create(c)
		b.Running(c)
		name := c.Name + "-call-data"
		b.put(name, "one", "1")
		b.put(name, "two", "2")
		if err := b.Client.Delete(b.Ctx(), c); err != nil {
			t.Fatal(err)
		}
		b.Eventually(20*time.Second, "the capability to say what it waits for", func() error {
			if err := b.Get(c); err != nil {
				return err
			}
			if m := c.Status.Message; c.Status.Phase != nexusv1.PhaseDeleting || !strings.Contains(m, "S3Bucket/"+name) ||
				!strings.Contains(m, "2 ") {
				return fmt.Errorf("%s: %s", c.Status.Phase, m)
			}
			return nil
		})
		if inv := b.Inventory(); len(inv["s3/bucket"]) != 1 || len(inv["iam/role"]) > 0 {
			t.Errorf("while waiting: %v", inv)
		}
		bucket := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace}}
		b.Shows(bucket, "Ready", metav1.ConditionFalse, "BucketNotEmpty")
		empty(c, bucket)
		b.Gone(c)
		if inv := b.Inventory(); len(inv) > 0 {
			t.Errorf("left behind: %v", inv)
		}
	}
}

// discard removes every version of every object.
func (b *bed) discard(bucket string) {
	b.Helper()
	list, err := b.s3().ListObjectVersions(b.Ctx(), &s3.ListObjectVersionsInput{Bucket: &bucket})
	for _, v := range must(b, list, err).Versions {
		_, err := b.s3().DeleteObject(b.Ctx(), &s3.DeleteObjectInput{Bucket: &bucket, Key: v.Key, VersionId: v.VersionId})
		must(b, 0, err)
	}
}

// fill puts so many versions of objects into a bucket, some of each key, and a delete marker.
func (b *bed) fill(bucket string, versions int) {
	b.Helper()
	group := errgroup.Group{}
	group.SetLimit(8)
	for i := range versions {
		group.Go(func() error {
			_, err := b.s3().PutObject(b.Ctx(),
				&s3.PutObjectInput{Bucket: &bucket, Key: aws.String(fmt.Sprintf("dt=%d/a.json", i%400)), Body: strings.NewReader("{}")})
			return err
		})
	}
	must(b, 0, group.Wait())
	_, err := b.s3().DeleteObject(b.Ctx(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("dt=0/a.json")})
	must(b, 0, err)
}

func TestForceDestroyEmptiesABucketPageByPage(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	o := bucket("many-pages")
	b.Create(o)
	b.Ready(o)
	b.fill("many-pages", 1100) // AWS lists, and deletes, a thousand at a time
	if err := b.Client.Delete(b.Ctx(), o); err != nil {
		t.Fatal(err)
	}
	if m := b.Shows(o, "Ready", metav1.ConditionFalse, "BucketNotEmpty"); !strings.Contains(m, "at least 1000") ||
		!strings.Contains(m, "forceDestroy: true") {
		t.Errorf("no count or no way out: %s", m)
	}
	mark, _ := b.Mark()
	b.Edit(o, func() { o.Spec.ForceDestroy = true })
	b.Gone(o)
	calls := b.World.AWS().Since(mark).Match("s3", "*", "many-pages")
	if n := calls.Match("s3", "DeleteObjects", "*").Count(); n != 2 {
		t.Errorf("%d calls empty the bucket of 1101 versions and markers, want 2:\n%s", n, calls)
	}
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}
