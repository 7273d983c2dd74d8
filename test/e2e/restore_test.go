// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// bucketTags are the tags of a bucket in AWS.
func (b *bed) bucketTags(name string) map[string]string {
	b.Helper()
	out, err := b.s3().GetBucketTagging(b.Ctx(), &s3.GetBucketTaggingInput{Bucket: &name})
	return pairs(must(b, out, err).TagSet, func(t s3types.Tag) (*string, *string) { return t.Key, t.Value })
}

// store puts an object into a bucket without a policy.
func (b *bed) store(name string) {
	b.Helper()
	_, err := b.s3().PutObject(b.Ctx(), &s3.PutObjectInput{Bucket: &name, Key: aws.String("data"), Body: strings.NewReader("kept")})
	must(b, 0, err)
}

// lose removes an object as the loss of a cluster does: the operator is down and takes no notice.
func (b *bed) lose(o client.Object) {
	b.Helper()
	cut := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := b.Client.Patch(b.Ctx(), o, cut); err != nil {
		b.Fatal(err)
	}
	if err := b.Client.Delete(b.Ctx(), o); err != nil {
		b.Fatal(err)
	}
}

// TestRestore_AnotherClusterTakesOverOnlyWhatItInherits restores an object as backup tools do, with annotations and
// finalizers and without status, into a cluster of another identity.
func TestRestore_AnotherClusterTakesOverOnlyWhatItInherits(t *testing.T) {
	b := newBed(t, "--cluster-id=old")
	b.provider()
	o := bucket("restored")
	b.Create(o)
	b.Ready(o)
	b.store("restored")
	saved := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: o.Name, Namespace: o.Namespace, Annotations: o.Annotations,
		Finalizers: o.Finalizers}, Spec: o.Spec}
	if len(saved.Annotations) == 0 || len(saved.Finalizers) == 0 {
		t.Fatalf("nothing of the operator is in the backup: %v, %v", saved.Annotations, saved.Finalizers)
	}
	b.Op.Stop()
	b.lose(o)

	mark, _ := b.Mark()
	b.Restart("--cluster-id=new")
	b.Create(saved)
	b.Shows(saved, "Stalled", metav1.ConditionTrue, "Conflict")
	if writes := b.World.AWS().Since(mark).Writes().Match("s3", "*", "*"); writes.Count() > 0 {
		t.Errorf("the resource of another cluster was written to:\n%s", writes)
	}
	b.Restart("--cluster-id=new", "--previous-cluster-ids=old")
	b.Ready(saved)
	tags := b.bucketTags("restored")
	if tags[wellknown.TagCluster] != "new" || tags[wellknown.TagOwnerUID] != string(saved.UID) {
		t.Errorf("after the takeover the bucket has %v", tags)
	}
	if _, err := b.s3().HeadObject(b.Ctx(), &s3.HeadObjectInput{Bucket: aws.String("restored"), Key: aws.String("data")}); err != nil {
		t.Errorf("the data: %v", err)
	}
}

// The cluster is lost with objects of every identity class: what AWS names itself is neither found nor made a second time.
func TestRestore_CreatesNothingBesideWhatAnotherClusterHas(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--cluster-id=old")
	b.provider()
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: b.Namespace} }
	objects := []v1alpha1.Resource{
		&v1alpha1.VPC{ObjectMeta: named("net"), Spec: v1alpha1.VPCSpec{CommonSpec: through("aws"), CIDRBlock: "10.40.0.0/16"}},
		&v1alpha1.Subnet{ObjectMeta: named("a"), Spec: v1alpha1.SubnetSpec{CommonSpec: through("aws"),
			VPCReference: v1alpha1.VPCReference{VPCRef: &v1alpha1.ObjectReference{Name: "net"}}, CIDRBlock: "10.40.1.0/24"}},
		&v1alpha1.ElasticIP{ObjectMeta: named("address"), Spec: v1alpha1.ElasticIPSpec{CommonSpec: through("aws")}},
		&v1alpha1.KMSKey{ObjectMeta: named("key"), Spec: v1alpha1.KMSKeySpec{CommonSpec: through("aws")}},
		&v1alpha1.GlueDatabase{ObjectMeta: named("db"), Spec: v1alpha1.GlueDatabaseSpec{CommonSpec: through("aws"), DatabaseName: "restored"}},
	}
	ids := map[string]string{}
	for _, o := range objects {
		b.Create(o)
		b.Ready(o)
		ids[o.GetName()] = o.CommonStatus().ID
	}
	b.Op.Stop()
	for _, o := range objects {
		saved, finalizers := o.GetAnnotations(), o.GetFinalizers()
		b.lose(o)
		o.SetResourceVersion("")
		o.SetUID("")
		o.SetAnnotations(saved)
		o.SetFinalizers(finalizers)
	}
	mark, _ := b.Mark()
	b.Restart("--cluster-id=new")
	for _, o := range objects {
		b.Create(o)
		message := b.Shows(o, "Stalled", metav1.ConditionTrue, "Conflict")
		if !strings.Contains(message, "--previous-cluster-ids") {
			t.Errorf("%T: %s", o, message)
		}
	}
	if writes := b.World.AWS().Since(mark).Writes(); writes.Count() > 0 {
		t.Errorf("written beside the resources of another cluster:\n%s", writes)
	}
	b.Restart("--cluster-id=new", "--previous-cluster-ids=old")
	for _, o := range objects {
		if b.Ready(o); o.CommonStatus().ID != ids[o.GetName()] {
			t.Errorf("%T is %s and was %s", o, o.CommonStatus().ID, ids[o.GetName()])
		}
	}
}

// TestMigration_AMarkedBucketIsHandedToACapability follows the page of migration: a bucket that another tool created is
// refused, until an administrator tags it as the capability's.
func TestMigration_AMarkedBucketIsHandedToACapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	name := "moved-dev-call-data"
	_, err := b.s3().CreateBucket(b.Ctx(), &s3.CreateBucketInput{Bucket: &name,
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}})
	must(b, 0, err)
	b.store(name)
	c := b.small("moved")
	c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "call-data"}}}}
	c.Spec.DeletionPolicy = nexusv1.DeletionRetain
	b.Create(c)
	child := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace}}
	b.Shows(child, "Stalled", metav1.ConditionTrue, "Conflict")

	system := &corev1.Namespace{}
	must(b, 0, b.Client.Get(b.Ctx(), client.ObjectKey{Name: "kube-system"}, system))
	var tags []s3types.Tag
	for key, value := range map[string]string{wellknown.TagManagedBy: "nexus-operator", wellknown.TagCluster: string(system.UID),
		wellknown.TagOwner: "S3Bucket/" + c.Namespace + "/" + name, wellknown.TagOwnerUID: "import"} {
		tags = append(tags, s3types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	_, err = b.s3().PutBucketTagging(b.Ctx(), &s3.PutBucketTaggingInput{Bucket: &name, Tagging: &s3types.Tagging{TagSet: tags}})
	must(b, 0, err)
	b.Edit(child, func() { child.Annotations["nexus.ai/reconcile-requested-at"] = "now" })
	b.Running(c)
	if uid := b.bucketTags(name)[wellknown.TagOwnerUID]; uid != string(child.UID) {
		t.Errorf("the bucket is still marked %q", uid)
	}
	b.Eventually(10*time.Second, "the policy of the declared bucket", func() error {
		if _, err := b.s3().GetBucketPolicy(b.Ctx(), &s3.GetBucketPolicyInput{Bucket: &name}); err != nil {
			return fmt.Errorf("the bucket is not configured: %w", err)
		}
		return nil
	})
}
