// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	keyID  = "1234abcd-12ab-34cd-56ef-1234567890ab"
	keyARN = "arn:aws:kms:eu-central-1:123456789012:key/" + keyID
)

// existing gives an object the fields of one with an existing resource in AWS.
func existing[T v1alpha1.Resource](o T, namespace, name, id, arn string, edits ...func(T)) T {
	kindName := reflect.TypeOf(o).Elem().Name()
	uid := types.UID(strings.ToLower(kindName) + "-" + namespace + "-" + name)
	annotations, err := (&engine.Intent{UID: string(uid), Attempt: 1, Home: "aws/123456789012/eu-central-1"}).Annotations()
	if err != nil {
		panic(err)
	}
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetUID(uid)
	o.SetGeneration(1)
	o.SetAnnotations(annotations)
	o.SetFinalizers([]string{v1alpha1.FinalizerOf(kindName)})
	o.CommonSpec().ProviderRef.Name = "aws"
	o.CommonStatus().ID, o.CommonStatus().ARN, o.CommonStatus().Ownership = id, arn, v1alpha1.OwnershipOwned
	for _, edit := range edits {
		edit(o)
	}
	return o
}

func aKey(edits ...func(*v1alpha1.KMSKey)) *v1alpha1.KMSKey {
	o := existing(&v1alpha1.KMSKey{}, "shop", "data", keyID, keyARN)
	o.Spec.DeletionPolicy, o.Spec.Aliases = v1alpha1.DeletionDelete, []v1alpha1.KMSAlias{"alias/shop"}
	o.DeletionTimestamp = &metav1.Time{Time: noon}
	for _, edit := range edits {
		edit(o)
	}
	return o
}

func aRole() *v1alpha1.IAMRole {
	o := existing(&v1alpha1.IAMRole{}, "shop", "worker", "shop-worker", "arn:aws:iam::123456789012:role/shop-worker")
	o.Spec.RoleName, o.Spec.InstanceProfile = "shop-worker", &v1alpha1.IAMRoleInstanceProfile{Name: "shop-profile"}
	o.DeletionTimestamp = &metav1.Time{Time: noon}
	return o
}

func database(namespace, name string, edits ...func(*v1alpha1.RDSInstance)) *v1alpha1.RDSInstance {
	return existing(&v1alpha1.RDSInstance{}, namespace, name, name, "arn:aws:rds:eu-central-1:123456789012:db:"+name, edits...)
}

func stream(namespace, properties string) *v1alpha1.AWSResource {
	o := existing(&v1alpha1.AWSResource{}, namespace, "events", "events", "arn:aws:kinesis:eu-central-1:123456789012:stream/events")
	o.Spec.TypeName, o.Spec.Properties.Raw = "AWS::Kinesis::Stream", []byte(properties)
	return o
}

func refersTo(key string) func(*v1alpha1.RDSInstance) {
	return func(o *v1alpha1.RDSInstance) { o.Spec.KMSKeyRef = &v1alpha1.ObjectReference{Name: key} }
}

func names(key string) func(*v1alpha1.RDSInstance) {
	return func(o *v1alpha1.RDSInstance) { o.Spec.KMSKeyID = key }
}

func going[T v1alpha1.Resource](o T) { o.SetDeletionTimestamp(&metav1.Time{Time: noon}) }

func withoutAWS[T v1alpha1.Resource](o T) {
	o.SetAnnotations(nil)
	o.CommonStatus().ID, o.CommonStatus().ARN = "", ""
}

// holdOf returns the reason and the message that hold the deletion of an object among others; empty for none.
func holdOf(t *testing.T, kindName string, obj v1alpha1.Resource, others ...client.Object) (reason, message string) {
	t.Helper()
	r := newRoom(t, kindName, append(others, obj)...)
	r.read(obj)
	err := newPass(r.Reconciler, obj).usage.holdDeletion(t.Context(), 0)
	if err == nil {
		return "", ""
	}
	w, ok := status.AsWaiting(err)
	if !ok {
		t.Fatal(err)
	}
	return w.Reason, w.For
}

func TestKeys_AreHeldByWhateverNamesThem(t *testing.T) {
	bucketWith := func(key string) *v1alpha1.S3Bucket {
		o := existing(&v1alpha1.S3Bucket{}, "shop", "media", "media", "arn:aws:s3:::media")
		o.Spec.Encryption = &v1alpha1.S3Encryption{KMSKeyID: key}
		return o
	}
	elsewhere := func(o *v1alpha1.RDSInstance) { o.Annotations[engine.AnnotationHome] = "aws/123456789012/us-east-1" }
	kept := func(k engine.Kept) func(*v1alpha1.KMSKey) {
		return func(o *v1alpha1.KMSKey) { name, value := k.Annotation(); o.Annotations[name] = value }
	}
	usedEarlier := func(o *v1alpha1.S3Bucket, key string) *v1alpha1.S3Bucket {
		text, err := (&engine.Intent{UID: string(o.UID), Attempt: 1, Home: "aws/123456789012/eu-central-1", Needed: []string{key}}).Annotations()
		if err != nil {
			t.Fatal(err)
		}
		o.SetAnnotations(text)
		return o
	}
	movedAlias := func(o *v1alpha1.KMSKey) {
		text, err := (&engine.Intent{UID: string(o.UID), Attempt: 1, Home: "aws/123456789012/eu-central-1",
			Needed: []string{"alias/moved"}}).Annotations()
		if err != nil {
			t.Fatal(err)
		}
		o.SetAnnotations(text)
	}
	const lost, inUse = status.ReasonDataWouldBeLost, status.ReasonInUse
	for name, tc := range map[string]struct {
		key    func(*v1alpha1.KMSKey)
		others []client.Object
		reason string
		says   string
	}{
		"nothing":     {nil, []client.Object{database("shop", "orders")}, "", ""},
		"a reference": {nil, []client.Object{database("shop", "orders", refersTo("data"))}, lost, "RDSInstance shop/orders"},
		"a reference in properties": {nil, []client.Object{stream("shop", `{"KeyId":{"$ref":"KMSKey/data","field":"status.arn"}}`)}, lost,
			"AWSResource shop/events"},
		"one to another kind": {nil, []client.Object{stream("shop", `{"Name":{"$ref":"S3Bucket/data","field":"status.id"}}`)},
			"", ""},
		"its ARN in properties": {nil, []client.Object{stream("blog", `{"Deep":[{"Any":"`+keyARN+`"}]}`)}, lost,
			"1 of other namespaces"},
		"its ID in properties": {nil, []client.Object{stream("shop", `{"Deep":[{"KmsKeyId":"`+keyID+`"}]}`)}, lost,
			"AWSResource shop/events"},
		"other properties":                {nil, []client.Object{stream("shop", `{"Name":"data"}`)}, "", ""},
		"a reference to another key":      {nil, []client.Object{database("shop", "orders", refersTo("other"))}, "", ""},
		"a namesake of another namespace": {nil, []client.Object{database("blog", "orders", refersTo("data"))}, "", ""},
		"its ARN":                         {nil, []client.Object{bucketWith(keyARN)}, lost, "S3Bucket shop/media"},
		"its ID":                          {nil, []client.Object{bucketWith(keyID)}, lost, "S3Bucket shop/media"},
		"an alias":                        {nil, []client.Object{bucketWith("alias/shop")}, lost, "S3Bucket shop/media"},
		"the ARN of an alias": {nil, []client.Object{bucketWith("arn:aws:kms:eu-central-1:123456789012:alias/shop")}, lost,
			"S3Bucket shop/media"},
		"the ARN of another key":     {nil, []client.Object{bucketWith(keyARN[:len(keyARN)-1] + "c")}, "", ""},
		"an alias of another region": {nil, []client.Object{database("shop", "orders", names("alias/shop"), elsewhere)}, "", ""},
		"one that it had earlier": {nil, []client.Object{usedEarlier(bucketWith(keyARN[:len(keyARN)-1]+"c"), keyARN)}, lost,
			"S3Bucket shop/media (encrypted with it earlier)"},
		"one that it had and has":      {nil, []client.Object{usedEarlier(bucketWith(keyID), keyARN)}, lost, "of S3Bucket shop/media; delete"},
		"another that it had earlier":  {nil, []client.Object{usedEarlier(bucketWith(""), keyARN[:len(keyARN)-1]+"c")}, "", ""},
		"an alias that it had earlier": {movedAlias, []client.Object{bucketWith("alias/moved")}, lost, "S3Bucket shop/media"},
		"the ARN of such an alias": {movedAlias, []client.Object{bucketWith("arn:aws:kms:eu-central-1:123456789012:alias/moved")}, lost,
			"S3Bucket shop/media"},
		"another namespace": {nil, []client.Object{database("blog", "secret-project", names(keyARN))}, lost,
			"1 of other namespaces"},
		"an object that is deleted too": {nil, []client.Object{database("shop", "orders", refersTo("data"), going)}, inUse,
			"RDSInstance shop/orders (being deleted)"},
		"an object without a resource": {nil, []client.Object{database("shop", "orders", refersTo("data"), withoutAWS)}, "", ""},
		"a retained resource": {kept(engine.Kept{Kind: "S3Bucket", Namespace: "shop", Name: "old"}), nil, lost,
			"the retained resource of S3Bucket shop/old"},
		"a snapshot": {kept(engine.Kept{Kind: "RDSInstance", Namespace: "shop", Name: "orders", What: "snapshot orders-final-1"}), nil, lost,
			"snapshot orders-final-1 of RDSInstance shop/orders"},
		"a snapshot of another namespace": {kept(engine.Kept{Kind: "RDSInstance", Namespace: "blog", Name: "posts",
			What: "snapshot posts-final"}), nil, lost, "1 of other namespaces"},
		"a record that cannot be read": {func(o *v1alpha1.KMSKey) { o.Annotations["nexus.ai/kept-1"] = "{" }, nil, lost, "1 of other namespaces"},
		"given up": {func(o *v1alpha1.KMSKey) { o.Annotations[reconciler.AnnotationDeleteData] = "data" },
			[]client.Object{database("shop", "orders", refersTo("data"))}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			key := aKey()
			if tc.key != nil {
				tc.key(key)
			}
			reason, message := holdOf(t, "KMSKey", key, tc.others...)
			if reason != tc.reason || !strings.Contains(message, tc.says) || strings.Contains(message, "secret-project") ||
				strings.Contains(message, "posts") {
				t.Errorf("held with %q: %s", reason, message)
			}
			if tc.reason == lost && !strings.Contains(message, reconciler.AnnotationDeleteData+": data") {
				t.Errorf("no way out is named: %s", message)
			}
		})
	}
}

func TestKeys_NameTheFirstUsersAndCountTheRest(t *testing.T) {
	var others []client.Object
	for i := range 7 {
		others = append(others, database("shop", fmt.Sprintf("orders%d", i), refersTo("data")))
	}
	_, message := holdOf(t, "KMSKey", aKey(), others...)
	if !strings.Contains(message, "shop/orders4, 2 more of this namespace") || strings.Contains(message, "shop/orders5") {
		t.Error(message)
	}
}

func TestRoles_GoAfterTheObjectsThatNameThem(t *testing.T) {
	function := func(namespace string, edits ...func(*v1alpha1.LambdaFunction)) *v1alpha1.LambdaFunction {
		return existing(&v1alpha1.LambdaFunction{}, namespace, "fn", "fn", "arn:aws:lambda:eu-central-1:123456789012:function:fn", edits...)
	}
	byRef := func(o *v1alpha1.LambdaFunction) { o.Spec.RoleRef = &v1alpha1.ObjectReference{Name: "worker"} }
	byARN := func(o *v1alpha1.LambdaFunction) { o.Spec.Role = "arn:aws:iam::123456789012:role/shop-worker" }
	elsewhere := func(o *v1alpha1.LambdaFunction) { o.Annotations[engine.AnnotationHome] = "aws/123456789012/us-east-1" }
	crawler := existing(&v1alpha1.GlueCrawler{}, "shop", "crawler", "crawler", "arn:aws:glue:eu-central-1:123456789012:crawler/crawler")
	crawler.Spec.Role = "shop-worker"
	instance := existing(&v1alpha1.EC2Instance{}, "shop", "vm", "i-1", "arn:aws:ec2:eu-central-1:123456789012:instance/i-1")
	instance.Spec.IAMInstanceProfile = new("shop-profile")
	bucket := existing(&v1alpha1.S3Bucket{}, "shop", "media", "media", "arn:aws:s3:::media")
	bucket.Spec.Replication = &v1alpha1.S3Replication{RoleRef: &v1alpha1.ObjectReference{Name: "worker"}}
	recorded := function("shop")
	text, err := (&engine.Intent{UID: string(recorded.UID), Attempt: 1, Home: "aws/123456789012/eu-central-1",
		Refs: map[string]kind.Target{"IAMRole/worker": {ID: "shop-worker"}}}).Annotations()
	if err != nil {
		t.Fatal(err)
	}
	recorded.SetAnnotations(text)
	for name, tc := range map[string]struct {
		others []client.Object
		says   string // empty: nothing holds it
	}{
		"nothing":                      {[]client.Object{function("shop")}, ""},
		"a reference":                  {[]client.Object{function("shop", byRef)}, "LambdaFunction shop/fn"},
		"one that is deleted as well":  {[]client.Object{function("shop", byRef, going)}, "LambdaFunction shop/fn (being deleted)"},
		"one that waits for the role":  {[]client.Object{function("shop", byRef, withoutAWS)}, ""},
		"an ARN":                       {[]client.Object{function("shop", byARN)}, "LambdaFunction shop/fn"},
		"an ARN, of another region":    {[]client.Object{function("shop", byARN, elsewhere)}, "LambdaFunction shop/fn"},
		"an ARN, of another namespace": {[]client.Object{function("blog", byARN)}, ""},
		"a name":                       {[]client.Object{crawler}, "GlueCrawler shop/crawler"},
		"a reference in properties": {[]client.Object{stream("shop", `{"RoleArn":{"$ref":"IAMRole/worker","field":"status.arn"}}`)},
			"AWSResource shop/events"},
		"a text that is its name":       {[]client.Object{stream("shop", `{"Name":"shop-worker"}`)}, ""},
		"an instance profile":           {[]client.Object{instance}, "EC2Instance shop/vm"},
		"a replication":                 {[]client.Object{bucket}, "S3Bucket shop/media"},
		"what it last had in AWS names": {[]client.Object{recorded}, "LambdaFunction shop/fn"},
	} {
		t.Run(name, func(t *testing.T) {
			reason, message := holdOf(t, "IAMRole", aRole(), tc.others...)
			if (reason == status.ReasonInUse) != (tc.says != "") || !strings.Contains(message, tc.says) {
				t.Errorf("held with %q: %s", reason, message)
			}
		})
	}
}

func TestClusters_GoAfterTheAssociationsThatNameThem(t *testing.T) {
	association := func(cluster string) *v1alpha1.PodIdentityAssociation {
		return existing(&v1alpha1.PodIdentityAssociation{}, "shop", "orders", "a-1",
			"arn:aws:eks:eu-central-1:123456789012:podidentityassociation/prod/a-1",
			func(o *v1alpha1.PodIdentityAssociation) { o.Spec.ClusterName = cluster })
	}
	role := aRole() // its trust names the cluster, and the cluster's own role may be this one
	role.Spec.PodIdentity = &v1alpha1.IAMRolePodIdentity{ClusterName: "prod", ServiceAccount: "orders"}
	for name, tc := range map[string]struct {
		other client.Object
		says  string // empty: nothing holds it
	}{
		"its association":         {association("prod"), "PodIdentityAssociation shop/orders"},
		"one of another cluster":  {association("other"), ""},
		"a role that trusts pods": {role, ""},
	} {
		cluster := existing(&v1alpha1.EKSCluster{}, "shop", "prod", "prod", "arn:aws:eks:eu-central-1:123456789012:cluster/prod")
		going(cluster)
		if _, message := holdOf(t, "EKSCluster", cluster, tc.other); !strings.Contains(message, tc.says) || message != "" && tc.says == "" {
			t.Errorf("%s: held with %q", name, message)
		}
	}
}

// An object records the resources that it leaves in AWS before it is gone, so that a key in deletion sees one of the two at any time.
func TestKeys_KnowWhatDeletedObjectsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.RDSInstance)
		out  engine.Outcome
		want string
	}{
		"retained": {func(o *v1alpha1.RDSInstance) { o.Spec.DeletionPolicy = v1alpha1.DeletionRetain },
			engine.Outcome{Gone: true}, "the retained resource of RDSInstance shop/orders"},
		"by default": {func(*v1alpha1.RDSInstance) {}, engine.Outcome{Gone: true},
			"the retained resource of RDSInstance shop/orders"},
		"orphaned": {func(o *v1alpha1.RDSInstance) { o.Spec.DeletionPolicy = v1alpha1.DeletionOrphan },
			engine.Outcome{Gone: true}, "the retained resource"},
		"abandoned": {func(o *v1alpha1.RDSInstance) { deleted(o); o.Annotations[reconciler.AnnotationAbandon] = string(o.UID) },
			engine.Outcome{}, "the retained resource"},
		"deleted with a snapshot": {deleted, engine.Outcome{Gone: true}, "snapshot orders-final-"},
		"deleted with a named one": {func(o *v1alpha1.RDSInstance) { deleted(o); o.Spec.FinalSnapshotIdentifier = "last" },
			engine.Outcome{Gone: true}, "snapshot last of RDSInstance shop/orders"},
		"deleted with another one": {func(o *v1alpha1.RDSInstance) {
			deleted(o)
			o.Spec.FinalSnapshotIdentifier, o.Status.FinalSnapshotIdentifier = "last", "last-1"
		}, engine.Outcome{Gone: true}, "snapshot last-1 of RDSInstance shop/orders"},
		"a deleted replica": {func(o *v1alpha1.RDSInstance) { deleted(o); o.Status.ReadReplicaSource = "source" },
			engine.Outcome{Gone: true}, ""},
		"a retained replica": {func(o *v1alpha1.RDSInstance) { o.Status.ReadReplicaSource = "source" }, engine.Outcome{Gone: true},
			"the retained resource"},
		"deleted without": {func(o *v1alpha1.RDSInstance) { deleted(o); o.Spec.SkipFinalSnapshot = true },
			engine.Outcome{Gone: true}, ""},
		"left alone":                  {deleted, engine.Outcome{Gone: true, Plan: engine.Plan{Findings: engine.Findings{Exists: true}}}, ""},
		"that never was":              {func(o *v1alpha1.RDSInstance) { deleted(o); withoutAWS(o) }, engine.Outcome{Gone: true}, ""},
		"retained, under another key": {func(o *v1alpha1.RDSInstance) { o.Spec.KMSKeyRef.Name = "other" }, engine.Outcome{Gone: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o, key := database("shop", "orders", refersTo("data"), going), aKey()
			tc.edit(o)
			r := newRoom(t, "RDSInstance", o, key)
			r.read(o)
			if err := newPass(r.Reconciler, o).release(t.Context(), tc.out); err != nil || r.read(o) {
				t.Fatalf("the object stays: %v", err)
			}
			r.read(key)
			reason, message := holdOf(t, "KMSKey", key)
			if (reason == status.ReasonDataWouldBeLost) != (tc.want != "") || !strings.Contains(message, tc.want) {
				t.Errorf("held with %q: %s", reason, message)
			}
		})
	}
}

func TestKeys_KnowTheVolumesThatOutliveAnInstance(t *testing.T) {
	for name, tc := range map[string]struct {
		ends  *bool
		holds bool
	}{"by default": {nil, true}, "declared to stay": {new(false), true}, "deleted with it": {new(true), false}} {
		o := existing(&v1alpha1.EC2Instance{}, "shop", "vm", "i-1", "arn:aws:ec2:eu-central-1:123456789012:instance/i-1", going)
		o.Spec.DeletionPolicy = v1alpha1.DeletionDelete
		o.Spec.BlockDeviceMappings = []v1alpha1.EC2BlockDeviceMapping{{DeviceName: "/dev/sdf",
			EBS: v1alpha1.EC2EBSBlockDevice{KMSKeyID: keyARN, DeleteOnTermination: tc.ends}}}
		key := aKey()
		r := newRoom(t, "EC2Instance", o, key)
		r.read(o)
		if err := newPass(r.Reconciler, o).release(t.Context(), engine.Outcome{Gone: true}); err != nil {
			t.Fatal(err)
		}
		r.read(key)
		if _, message := holdOf(t, "KMSKey", key); strings.Contains(message, "volume /dev/sdf of EC2Instance shop/vm") != tc.holds {
			t.Errorf("%s: %q", name, message)
		}
	}
}

// A resource that AWS can restore for some days holds no key: KMS waits as long before it deletes the key.
func TestKeys_OutlastWhatAWSCanRestore(t *testing.T) {
	withKey := func(days *int64) v1alpha1.Resource {
		o := existing(&v1alpha1.SecretsManagerSecret{}, "shop", "mail", "mail",
			"arn:aws:secretsmanager:eu-central-1:123456789012:secret:mail-1", going)
		o.Spec.DeletionPolicy, o.Spec.SecretName, o.Spec.KmsKeyId, o.Spec.RecoveryWindowInDays = v1alpha1.DeletionDelete, "mail",
			new(keyARN), days
		return o
	}
	table := func(backups *bool) v1alpha1.Resource {
		o := existing(&v1alpha1.DynamoDBTable{}, "shop", "orders", "orders", "arn:aws:dynamodb:eu-central-1:123456789012:table/orders", going)
		o.Spec.DeletionPolicy, o.Spec.PointInTimeRecovery, o.Spec.SSE = v1alpha1.DeletionDelete, backups,
			&v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: keyARN}
		return o
	}
	givenUp := func(k *v1alpha1.KMSKey) { k.Annotations[reconciler.AnnotationDeleteData] = "data" }
	for name, tc := range map[string]struct {
		user  v1alpha1.Resource
		edit  func(*v1alpha1.KMSKey)
		later time.Duration
		days  int
	}{
		"a secret":                           {withKey(nil), nil, 0, 30},
		"a secret with a short window":       {withKey(new(int64(10))), nil, 0, 10},
		"a secret, some days later":          {withKey(nil), nil, 4*24*time.Hour + time.Minute, 26},
		"a secret that is gone by now":       {withKey(nil), nil, 31 * 24 * time.Hour, 0},
		"a secret without a window":          {withKey(new(int64(0))), nil, 0, 0},
		"a secret that a person gave up":     {withKey(nil), givenUp, 0, 0},
		"a table with backups":               {table(new(true)), nil, 0, 35},
		"a table that may have backups":      {table(nil), nil, 0, 35},
		"a table that has no backups":        {table(new(false)), nil, 0, 0},
		"a database, which has no such time": {database("shop", "orders", refersTo("data"), going, deleted), givenUp, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			key := aKey()
			if tc.edit != nil {
				tc.edit(key)
			}
			r := newRoom(t, reflect.TypeOf(tc.user).Elem().Name(), tc.user, key)
			r.read(tc.user)
			if err := newPass(r.Reconciler, tc.user).release(t.Context(), engine.Outcome{Gone: true}); err != nil {
				t.Fatal(err)
			}
			r.read(key)
			later := newRoom(t, "KMSKey", key)
			later.clock.SetTime(noon.Add(tc.later))
			p := newPass(later.Reconciler, key)
			days, err := p.usage.neededDays(t.Context())
			if err != nil || days != tc.days {
				t.Errorf("%d days, %v, want %d", days, err, tc.days)
			}
			if err := p.usage.holdDeletion(t.Context(), days); err != nil {
				t.Errorf("held: %v", err)
			}
			if err := p.usage.holdDeletion(t.Context(), max(days-1, 0)); (err != nil) != (days > 0) {
				t.Errorf("planned to end before, without what was recorded meanwhile: %v", err)
			}
		})
	}
}

func deleted(o *v1alpha1.RDSInstance) { o.Spec.DeletionPolicy = v1alpha1.DeletionDelete }

func TestKeys_RecordIsWrittenBeforeTheObjectGoes(t *testing.T) {
	o, key := database("shop", "orders", refersTo("data"), going), aKey()
	r := newRoom(t, "RDSInstance", o, key)
	r.read(o)
	r.refuse["patch KMSKey"] = unavailable
	if err := newPass(r.Reconciler, o).release(t.Context(), engine.Outcome{Gone: true}); err == nil || !r.read(o) {
		t.Errorf("the object is gone and the key does not know what it left: %v", err)
	}
}

// An object of another namespace that names a key, and is refused for it, holds nothing and leaves nothing on the key.
func TestKeys_ForeignNamesHoldNothing(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.RDSInstance){
		"refused":                func(o *v1alpha1.RDSInstance) { o.Status.CommonStatus = v1alpha1.CommonStatus{} },
		"refused after it moved": func(o *v1alpha1.RDSInstance) { o.Status.Ownership = v1alpha1.OwnershipDisputed },
	} {
		o, key := database("blog", "posts", names("alias/shop"), edit), aKey()
		if reason, message := holdOf(t, "KMSKey", key, o); reason != "" {
			t.Errorf("%s: %s: %s", name, reason, message)
		}
		going(o)
		o.Spec.DeletionPolicy = v1alpha1.DeletionRetain
		r := newRoom(t, "RDSInstance", o, key)
		r.read(o)
		if err := newPass(r.Reconciler, o).release(t.Context(), engine.Outcome{Gone: true}); err != nil {
			t.Fatal(err)
		}
		r.read(key)
		if kept := engine.KeptOf(key.Annotations); len(kept) != 0 {
			t.Errorf("%s: %+v", name, kept)
		}
	}
}

// paged is an API server that returns the objects of each list one by one, and none without a limit.
type paged struct {
	client.Reader
	t     *testing.T
	pages int
}

func (p *paged) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(options)
	if o.Limit == 0 || o.Limit > 50 {
		p.t.Errorf("a list of %T without a limit: the objects of all namespaces would be in memory at once", list)
	}
	if err := p.Reader.List(ctx, list); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil || len(items) == 0 {
		return err
	}
	at, _ := strconv.Atoi(o.Continue)
	if at+1 < len(items) {
		list.SetContinue(strconv.Itoa(at + 1))
	}
	p.pages++
	return meta.SetList(list, items[at:at+1])
}

// Tenants can have as many large objects as the API server takes.
func TestKeys_ReadUsersByPages(t *testing.T) {
	key := aKey()
	r := newRoom(t, "KMSKey", key, database("blog", "a"), database("blog", "b"), database("blog", "c", names(keyARN)))
	server := &paged{Reader: r.Live, t: t}
	r.Live = server
	r.read(key)
	p := newPass(r.Reconciler, key)
	err := p.usage.find(t.Context(), true, &users{})
	if err != nil || server.pages < 3 {
		t.Errorf("%d pages: %v", server.pages, err)
	}
	u := &users{}
	if err := p.usage.find(t.Context(), true, u); err != nil || u.none() {
		t.Errorf("the user on the last page is not found: %v", err)
	}
}

// A key of another namespace has a record of the remaining resources, too, and its readers learn nothing of the objects of this one.
func TestKeys_TellNoNamesOfAnotherNamespace(t *testing.T) {
	for _, end := range []func(*v1alpha1.RDSInstance){deleted,
		func(o *v1alpha1.RDSInstance) { o.Spec.DeletionPolicy = v1alpha1.DeletionRetain }} {
		o, key := database("blog", "posts", names(keyARN), going, end), aKey()
		o.Spec.FinalSnapshotIdentifier = "posts-final"
		r := newRoom(t, "RDSInstance", o, key)
		r.read(o)
		if err := newPass(r.Reconciler, o).release(t.Context(), engine.Outcome{Gone: true}); err != nil {
			t.Fatal(err)
		}
		r.read(key)
		if kept := engine.KeptOf(key.Annotations); len(kept) != 1 {
			t.Errorf("%+v", kept)
		}
		for name, value := range key.Annotations {
			if strings.Contains(name+value, "blog") || strings.Contains(name+value, "posts") {
				t.Errorf("%s: %s", name, value)
			}
		}
		if reason, message := holdOf(t, "KMSKey", key); reason != status.ReasonDataWouldBeLost ||
			!strings.Contains(message, "1 of other namespaces") {
			t.Errorf("%s: %s", reason, message)
		}
	}
}

// The record of a retained resource ends when a later object of its name took it over and deleted it.
func TestKeys_ForgetARetainedResourceThatIsDeleted(t *testing.T) {
	o := database("shop", "orders", refersTo("data"), going, deleted)
	o.Spec.SkipFinalSnapshot = true
	key := aKey(func(k *v1alpha1.KMSKey) {
		for _, left := range []engine.Kept{{Kind: "RDSInstance", Namespace: "shop", Name: "orders"},
			{Kind: "RDSInstance", Namespace: "shop", Name: "orders", What: "snapshot earlier"}} {
			name, value := left.Annotation()
			k.Annotations[name] = value
		}
	})
	r := newRoom(t, "RDSInstance", o, key)
	r.read(o)
	if err := newPass(r.Reconciler, o).release(t.Context(), engine.Outcome{Gone: true}); err != nil {
		t.Fatal(err)
	}
	r.read(key)
	if kept := engine.KeptOf(key.Annotations); len(kept) != 1 || kept[0].What != "snapshot earlier" {
		t.Errorf("%+v", kept)
	}
}

func TestHeldObjects_LookAgainWhenAUserIsGone(t *testing.T) {
	key, role := aKey(), aRole()
	other := existing(&v1alpha1.KMSKey{}, "blog", "data", "k2", "arn:aws:kms:eu-central-1:123456789012:key/k2", going)
	alive := existing(&v1alpha1.KMSKey{}, "shop", "alive", "k3", "arn:aws:kms:eu-central-1:123456789012:key/k3")
	gone := database("shop", "orders")
	if got := newRoom(t, "KMSKey", key, other, alive).triggers().heldObjects(t.Context(), gone); len(got) != 2 {
		t.Errorf("%v", got)
	}
	elsewhere := aRole()
	elsewhere.Namespace = "blog"
	if got := newRoom(t, "IAMRole", role, elsewhere).triggers().heldObjects(t.Context(), gone); len(got) != 1 || got[0].Namespace != "shop" {
		t.Errorf("%v", got)
	}
}
