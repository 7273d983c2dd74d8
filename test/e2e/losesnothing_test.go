// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// household is a key and a role with a random choice of objects that name them.
type household struct {
	*bed
	key  *v1alpha1.KMSKey
	role *v1alpha1.IAMRole
	// members are all objects; ends are the calls that end the users of the key and of the role.
	members             []client.Object
	endsOfKey, endsRole []string
	// recovers says that AWS can restore something for 30 days which only the key can read.
	recovers bool
	// leaves says that something stays in AWS which only the key can read.
	leaves bool
}

func (h *household) add(o v1alpha1.Resource, name string) {
	o.SetName(name)
	o.SetNamespace(h.Namespace)
	common := o.CommonSpec()
	common.ProviderRef.Name = "aws"
	if common.DeletionPolicy == "" {
		common.DeletionPolicy = v1alpha1.DeletionDelete
	}
	h.members = append(h.members, o)
}

// populate creates the key and the role, and then some of the objects that name them in every way that specs have.
func (h *household) populate(r *rand.Rand) {
	h.Helper()
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":["lambda.amazonaws.com","glue.amazonaws.com"]},"Action":"sts:AssumeRole"}]}`
	h.key = &v1alpha1.KMSKey{Spec: v1alpha1.KMSKeySpec{PendingWindowInDays: aws.Int32(7), Aliases: []v1alpha1.KMSAlias{"alias/household"}}}
	h.role = &v1alpha1.IAMRole{Spec: v1alpha1.IAMRoleSpec{RoleName: "household", AssumeRolePolicyDocument: trust}}
	h.add(h.key, "key")
	h.add(h.role, "role")
	h.Create(h.members...)
	h.Ready(h.members...)
	roleRef, keyRef := &v1alpha1.ObjectReference{Name: "role"}, &v1alpha1.ObjectReference{Name: "key"}
	names := []string{h.key.Status.ID, h.key.Status.ARN, "alias/household"}
	for _, make := range []func(){
		func() {
			o := &v1alpha1.S3Bucket{Spec: v1alpha1.S3BucketSpec{BucketName: "household-media",
				Encryption: &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: h.key.Status.ARN}}}
			if r.IntN(3) == 0 {
				o.Spec.DeletionPolicy, h.leaves = v1alpha1.DeletionRetain, true
			} else {
				h.endsOfKey = append(h.endsOfKey, "s3.DeleteBucket(household-media)")
			}
			h.add(o, "media")
		},
		func() {
			h.add(&v1alpha1.SQSQueue{Spec: v1alpha1.SQSQueueSpec{QueueName: "household-jobs", KMSMasterKeyRef: keyRef}}, "jobs")
			h.endsOfKey = append(h.endsOfKey, "sqs.DeleteQueue(household-jobs)")
		},
		func() {
			h.add(&v1alpha1.SecretsManagerSecret{Spec: v1alpha1.SecretsManagerSecretSpec{SecretName: "household/mail",
				KmsKeyId: &names[r.IntN(len(names))]}}, "mail")
			h.recovers = true
			h.endsOfKey = append(h.endsOfKey, "secretsmanager.DeleteSecret(household/mail)")
		},
		func() {
			o := &v1alpha1.RDSInstance{Spec: v1alpha1.RDSInstanceSpec{DBInstanceIdentifier: "household-orders", Engine: "postgres",
				DBInstanceClass: "db.t4g.micro", AllocatedStorage: 20,
				MasterUsername: "household", ManageMasterUserPassword: aws.Bool(true), StorageEncrypted: aws.Bool(true), KMSKeyRef: keyRef,
				SkipFinalSnapshot: r.IntN(2) == 0}}
			h.leaves = h.leaves || !o.Spec.SkipFinalSnapshot
			h.add(o, "orders")
			h.endsOfKey = append(h.endsOfKey, "rds.DeleteDBInstance(household-orders)")
		},
		func() {
			h.add(&v1alpha1.LambdaFunction{Spec: v1alpha1.LambdaFunctionSpec{FunctionName: "household-fn", RoleRef: roleRef, KMSKeyRef: keyRef,
				Code: &v1alpha1.LambdaCode{ImageURI: "123456789012.dkr.ecr.ap-southeast-1.amazonaws.com/fn:1"}}}, "fn")
			h.endsOfKey, h.endsRole = append(h.endsOfKey, "lambda.DeleteFunction(household-fn)"),
				append(h.endsRole, "lambda.DeleteFunction(household-fn)")
		},
		func() {
			h.add(&v1alpha1.GlueDatabase{Spec: v1alpha1.GlueDatabaseSpec{DatabaseName: "household"}}, "db")
			h.add(&v1alpha1.GlueCrawler{Spec: v1alpha1.GlueCrawlerSpec{CrawlerName: "household", RoleRef: roleRef,
				DatabaseRef: &v1alpha1.ObjectReference{Name: "db"},
				S3Targets:   []v1alpha1.GlueS3Target{{Path: "s3://household-media/"}}}}, "crawler")
			h.endsRole = append(h.endsRole, "glue.DeleteCrawler(household)")
		},
		func() {
			h.add(&v1alpha1.DynamoDBTable{Spec: v1alpha1.DynamoDBTableSpec{TableName: "household-visits",
				HashKey: v1alpha1.DynamoDBAttribute{Name: "pk", Type: "S"},
				SSE:     &v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: h.key.Status.ARN}}}, "visits")
			h.recovers = true // DynamoDB keeps the last backup for 35 days
			h.endsOfKey = append(h.endsOfKey, "dynamodb.DeleteTable(household-visits)")
		},
		func() {
			h.add(&v1alpha1.ECRRepository{Spec: v1alpha1.ECRRepositorySpec{RepositoryName: "household/images",
				EncryptionConfiguration: &v1alpha1.ECREncryption{EncryptionType: "KMS", KMSKeyRef: keyRef}}}, "images")
			h.endsOfKey = append(h.endsOfKey, "ecr.DeleteRepository(household/images)")
		},
		func() {
			h.add(&v1alpha1.SSMParameterSet{Spec: v1alpha1.SSMParameterSetSpec{Path: "/household", Parameters: map[string]v1alpha1.SSMParameter{
				"token": {Value: "t", Type: "SecureString", KeyID: names[r.IntN(len(names))]}}}}, "settings")
			h.endsOfKey = append(h.endsOfKey, "ssm.DeleteParameters(/household)")
		},
		func() {
			volume := v1alpha1.EC2EBSBlockDevice{VolumeSize: 8, Encrypted: aws.Bool(true), KMSKeyRef: keyRef, DeleteOnTermination: aws.Bool(true)}
			h.add(&v1alpha1.EC2Instance{Spec: v1alpha1.EC2InstanceSpec{ImageID: h.image(), InstanceType: "t3.micro",
				BlockDeviceMappings: []v1alpha1.EC2BlockDeviceMapping{{DeviceName: "/dev/xvda", EBS: volume}}}}, "worker")
			h.endsOfKey = append(h.endsOfKey, "ec2.TerminateInstances(worker)")
		},
		func() {
			h.add(&v1alpha1.SNSTopic{Spec: v1alpha1.SNSTopicSpec{TopicName: "household-news", KMSMasterKeyRef: keyRef}}, "news")
			h.endsOfKey = append(h.endsOfKey, "sns.DeleteTopic(household-news)")
		},
		func() {
			properties := fmt.Sprintf(`{"Name":"household","StreamEncryption":{"EncryptionType":"KMS","KeyId":%q}}`, h.key.Status.ARN)
			o := &v1alpha1.AWSResource{Spec: v1alpha1.AWSResourceSpec{TypeName: "AWS::Kinesis::Stream",
				Properties: runtime.RawExtension{Raw: []byte(properties)}}}
			o.SetAnnotations(map[string]string{wellknown.AnnotationDeleteData: "stream"})
			h.add(o, "stream")
			h.endsOfKey = append(h.endsOfKey, "cloudformation.DeleteResource(household)")
		},
	} {
		if r.IntN(3) > 0 {
			make()
		}
	}
	h.Create(h.members[2:]...)
	h.Ready(h.members[2:]...)
}

// image returns an image of the emulator.
func (h *household) image() string {
	h.Helper()
	out, err := ec2.NewFromConfig(h.admin(homeAccount)).DescribeImages(h.Ctx(), &ec2.DescribeImagesInput{Owners: []string{"amazon"}})
	return *must(h.bed, out, err).Images[0].ImageId
}

// keyState asks KMS about the key, and RDS about the snapshots that it encrypts.
func (h *household) keyState() (*kmstypes.KeyMetadata, int) {
	h.Helper()
	cfg := h.admin(homeAccount)
	key, err := kms.NewFromConfig(cfg).DescribeKey(h.Ctx(), &kms.DescribeKeyInput{KeyId: &h.key.Status.ID})
	snapshots, failure := rds.NewFromConfig(cfg).DescribeDBSnapshots(h.Ctx(), &rds.DescribeDBSnapshotsInput{})
	return must(h.bed, key, err).KeyMetadata, len(must(h.bed, snapshots, failure).DBSnapshots)
}

// wereEnded fails the test unless AWS had accepted the calls before the last one.
func (h *household) wereEnded(since emulator.Mark, ends []string, before string) {
	h.Helper()
	at := map[string]int{}
	for _, c := range h.World.AWS().Since(since).Writes() {
		if c.Status < 300 {
			at[c.Service+"."+c.Op] = c.Seq
		}
	}
	last, ok := at[before]
	for _, call := range ends {
		op, _, _ := strings.Cut(call, "(")
		if seq := at[op]; !ok || seq == 0 || seq > last {
			h.Errorf("%s is call %d and %s call %d", call, seq, before, last)
		}
	}
}

// Sets of objects that name each other are deleted at once, in any order, alone and with their namespace. An object that uses a
// key or a role goes first, the data that stays in AWS can be read until a person gives it up, and every deletion ends.
func TestDeletion_LosesNothingInAnyOrder(t *testing.T) {
	extent.Full(t)
	for _, seed := range extent.Sample(t, []uint64{8, 1, 2, 3, 5, 4, 6, 7}, 2) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			b := newBed(t, "--types=AWS::Kinesis::Stream")
			types, err := awstypes.Excerpt()
			if err != nil {
				t.Fatal(err)
			}
			defer types.Close()
			b.World.AWS().Divert("cloudformation", cloudcontrol.New(homeAccount, types, time.Now))
			b.Namespace = b.MakeNamespace(fmt.Sprintf("team-household-%d", seed))
			bounded := provider("aws")
			bounded.Spec.PermissionsBoundaryARN = "arn:aws:iam::123456789012:policy/boundary"
			b.Create(bounded)
			b.Ready(bounded)
			r := rand.New(rand.NewPCG(seed, 0))
			h := &household{bed: b}
			h.populate(r)
			mark, _ := b.Mark()
			if space := (&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.Namespace}}); seed%2 == 0 {
				must(b, 0, b.Client.Delete(b.Ctx(), space))
			}
			r.Shuffle(len(h.members), func(i, j int) { h.members[i], h.members[j] = h.members[j], h.members[i] })
			for _, o := range h.members {
				must(b, 0, client.IgnoreNotFound(b.Client.Delete(b.Ctx(), o)))
			}
			for _, o := range slices.DeleteFunc(slices.Clone(h.members),
				func(o client.Object) bool { return h.leaves && o == client.Object(h.key) }) {
				b.Eventually(60*time.Second, fmt.Sprintf("%T to go", o), func() error {
					if err := b.Get(o); !apierrors.IsNotFound(err) {
						c, _ := b.Condition(o, "Ready")
						return fmt.Errorf("%v: %s %s", err, c.Reason, c.Message)
					}
					return nil
				})
			}
			h.wereEnded(mark, h.endsRole, "iam.DeleteRole")
			if h.leaves {
				h.giveUp()
			}
			h.wereEnded(mark, h.endsOfKey, "kms.ScheduleKeyDeletion")
			key, _ := h.keyState()
			if key.KeyState != kmstypes.KeyStatePendingDeletion {
				t.Fatalf("the key is %s", key.KeyState)
			}
			declared := 7
			if h.recovers && !h.leaves { // else it was given up
				declared = 30
			}
			if days := int(time.Until(*key.DeletionDate).Round(24*time.Hour).Hours() / 24); days != declared {
				t.Errorf("KMS deletes the key in %d days, want %d", days, declared)
			}
		})
	}
}

// giveUp checks that the key is held for what stays, and gives that up.
func (h *household) giveUp() {
	h.Helper()
	key, snapshots := h.keyState()
	if key.KeyState != kmstypes.KeyStateEnabled {
		h.Errorf("with %d snapshots the key is %s", snapshots, key.KeyState)
	}
	keeps := "S3Bucket " + h.Namespace + "/media"
	if snapshots > 0 {
		keeps = "snapshot household-orders-final-"
	}
	h.Eventually(60*time.Second, "the key to name what stays", func() error { // at first it names the objects that are being deleted
		if message := h.Shows(h.key, "Ready", metav1.ConditionFalse, "DataWouldBeLost"); !strings.Contains(message, keeps) {
			return fmt.Errorf("%q, without %q", message, keeps)
		}
		return nil
	})
	h.Edit(h.key, func() { h.key.Annotations["nexus.ai/delete-data"] = h.key.Name })
	h.Gone(h.key)
}

// Data stays encrypted with a key when its bucket or queue gets another one, or when the key loses the alias by which a secret names
// it: the key is held although no spec names it.
func TestDeletion_KeepsTheKeyOfEarlierData(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.Namespace = b.MakeNamespace("team-earlier-key")
	b.Create(provider("aws"))
	h := &household{bed: b, key: &v1alpha1.KMSKey{Spec: v1alpha1.KMSKeySpec{PendingWindowInDays: aws.Int32(7),
		Aliases: []v1alpha1.KMSAlias{"alias/earlier"}}}}
	h.add(h.key, "key")
	b.Create(h.key)
	b.Ready(h.key)
	bucket := &v1alpha1.S3Bucket{Spec: v1alpha1.S3BucketSpec{BucketName: "earlier-media",
		Encryption: &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: h.key.Status.ARN}}}
	queue := &v1alpha1.SQSQueue{Spec: v1alpha1.SQSQueueSpec{QueueName: "earlier-jobs",
		KMSMasterKeyRef: &v1alpha1.ObjectReference{Name: "key"}}}
	secret := &v1alpha1.SecretsManagerSecret{Spec: v1alpha1.SecretsManagerSecretSpec{SecretName: "earlier/mail",
		KmsKeyId: aws.String("alias/earlier"), RecoveryWindowInDays: aws.Int64(0)}}
	h.add(bucket, "media")
	h.add(queue, "jobs")
	h.add(secret, "mail")
	users := []client.Object{bucket, queue, secret}
	b.Create(users...)
	b.Ready(users...)
	b.Edit(bucket, func() { bucket.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256"} })
	b.Edit(queue, func() { queue.Spec.KMSMasterKeyRef, queue.Spec.SQSManagedSSEEnabled = nil, aws.Bool(true) })
	b.Edit(h.key, func() { h.key.Spec.Aliases = nil })
	b.Ready(append(users, h.key)...)
	must(b, 0, b.Client.Delete(b.Ctx(), h.key))
	b.Eventually(60*time.Second, "the key to be held", func() error {
		if key, _ := h.keyState(); key.KeyState != kmstypes.KeyStateEnabled {
			t.Fatalf("the key is %s", key.KeyState)
		}
		message := h.Shows(h.key, "Ready", metav1.ConditionFalse, "DataWouldBeLost")
		for _, name := range []string{"S3Bucket team-earlier-key/media (encrypted with it earlier)", "SQSQueue team-earlier-key/jobs",
			"SecretsManagerSecret team-earlier-key/mail"} {
			if !strings.Contains(message, name) {
				return fmt.Errorf("%q, without %q", message, name)
			}
		}
		return nil
	})
	for _, o := range users {
		must(b, 0, b.Client.Delete(b.Ctx(), o))
		b.Gone(o)
	}
	b.Gone(h.key)
}
