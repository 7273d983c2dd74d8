// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// ledgerKeys are the keys in AWS of the stores of the example; "" stands for one of AWS.
func (b *bed) ledgerKeys() map[string]string {
	cfg := b.admin(homeAccount)
	out := map[string]string{}
	table, err := dynamodb.NewFromConfig(b.account()).DescribeTable(b.Ctx(),
		&dynamodb.DescribeTableInput{TableName: aws.String("ledger-dev-entries")})
	if d := must(b, table, err).Table.SSEDescription; d != nil && d.Status == "ENABLED" {
		out["table"] = aws.ToString(d.KMSMasterKeyArn)
	} else {
		out["table"] = ""
	}
	encryption, err := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }).GetBucketEncryption(b.Ctx(),
		&s3.GetBucketEncryptionInput{Bucket: aws.String("ledger-dev-statements")})
	out["bucket"] = aws.ToString(must(b, encryption,
		err).ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.KMSMasterKeyID)
	secret, err := secretsmanager.NewFromConfig(cfg).DescribeSecret(b.Ctx(),
		&secretsmanager.DescribeSecretInput{SecretId: aws.String("ledger/dev/license")})
	if out["secret"] = aws.ToString(must(b, secret, err).KmsKeyId); out["secret"] == "alias/aws/secretsmanager" {
		out["secret"] = ""
	}
	queues := sqs.NewFromConfig(cfg)
	queue, err := queues.GetQueueAttributes(b.Ctx(),
		&sqs.GetQueueAttributesInput{QueueUrl: aws.String(b.queueURL(queues, "ledger-dev-postings")),
			AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	out["queue"] = must(b, queue, err).Attributes["KmsMasterKeyId"]
	topic, err := sns.NewFromConfig(cfg).GetTopicAttributes(b.Ctx(),
		&sns.GetTopicAttributesInput{TopicArn: aws.String(topicARNs + "ledger-dev-events")})
	out["topic"] = must(b, topic, err).Attributes["KmsMasterKeyId"]
	return out
}

// encrypted waits until all stores of the example have a key; "" stands for those of AWS.
func (b *bed) encrypted(key string) {
	b.Helper()
	b.Eventually(20*time.Second, "the stores to have the key "+key, func() error {
		for store, got := range b.ledgerKeys() {
			if got != key {
				return fmt.Errorf("the %s has %q", store, got)
			}
		}
		return nil
	})
}

// The key of the example is made before the stores, healed, edited, held when it is dropped, given back, and scheduled for deletion with
// its capability.
func TestKey_LivesAndDiesWithItsCapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=2s")
	api := kms.NewFromConfig(b.admin(homeAccount))
	c := b.Capability("examples/capability-with-key.yaml")
	b.Create(c)
	t.Logf("Running after %.1f s", b.Running(c).Seconds())
	child := func() *v1alpha1.KMSKey {
		return &v1alpha1.KMSKey{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "ledger-dev-data"}}
	}
	key := child()
	b.Ready(key)
	id, arn := key.Status.ID, key.Status.ARN
	state := func() kmstypes.KeyState {
		t.Helper()
		out, err := api.DescribeKey(b.Ctx(), &kms.DescribeKeyInput{KeyId: &id})
		return must(b, out, err).KeyMetadata.KeyState
	}
	rotates := func() bool {
		t.Helper()
		out, err := api.GetKeyRotationStatus(b.Ctx(), &kms.GetKeyRotationStatusInput{KeyId: &id})
		return must(b, out, err).KeyRotationEnabled
	}
	b.encrypted(arn)
	b.tells(c, "kms/key-arn", "NEXUS_KMS_KEY_ARN", arn)
	b.contains(b.inline("ledger-dev-app-role"), `"Key"`, `"`+arn+`"`, "kms:ViaService", "sqs.ap-southeast-1.amazonaws.com")
	b.lacks(b.inline("ledger-dev-app-role"), "kms:*", ":key/*")
	named, err := api.DescribeKey(b.Ctx(), &kms.DescribeKeyInput{KeyId: aws.String("alias/ledger-dev-data")})
	if got := *must(b, named, err).KeyMetadata.KeyId; got != id {
		t.Errorf("the alias leads to %s, want %s", got, id)
	}
	policy, err := api.GetKeyPolicy(b.Ctx(), &kms.GetKeyPolicyInput{KeyId: &id, PolicyName: aws.String("default")})
	b.contains(*must(b, policy, err).Policy, "sns.amazonaws.com", topicARNs+"ledger-dev-events")
	if !rotates() {
		t.Error("the key does not rotate")
	}

	// An edit reaches the key, and what people change in AWS is corrected, also the beginning of its end.
	b.Edit(c, func() { c.Spec.DataServices.KMS.Rotation = new(false) })
	b.Running(c)
	if rotates() {
		t.Error("the key rotates after the edit")
	}
	_, err = api.ScheduleKeyDeletion(b.Ctx(), &kms.ScheduleKeyDeletionInput{KeyId: &id})
	must(b, 0, err)
	b.Eventually(20*time.Second, "the key to be restored", func() error {
		if got := state(); got != kmstypes.KeyStateEnabled {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})

	// Deleting the object of a live capability keeps the key.
	must(b, 0, b.Client.Delete(b.Ctx(), child()))
	b.Eventually(30*time.Second, "another object with the same key", func() error {
		now := child()
		if err := b.Client.Get(b.Ctx(), client.ObjectKeyFromObject(now), now); err != nil || now.UID == key.UID || now.Status.ID != id {
			return fmt.Errorf("UID %s, key %s: %v", now.UID, now.Status.ID, err)
		}
		return nil
	})
	b.Running(c)

	// Without the key the stores have those of AWS; the key is held, and declared again it serves again.
	in := *c.Spec.DataServices.KMS
	b.Edit(c, func() { c.Spec.DataServices.KMS = nil })
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "DataWouldBeLost"), "KMSKey/ledger-dev-data",
		"may be needed to read what it encrypted", "nexus.ai/delete-data")
	b.encrypted("")
	b.contains(b.inline("ledger-dev-app-role"), "kms:Decrypt", `"`+arn+`"`) // for what it encrypted before
	b.lacks(b.inline("ledger-dev-app-role"), "kms:GenerateDataKey")
	if got := state(); got != kmstypes.KeyStateEnabled {
		t.Errorf("the key that was dropped is %s", got)
	}
	b.Edit(c, func() { c.Spec.DataServices.KMS = &in })
	b.Running(c)
	b.encrypted(arn)

	// Named, it is scheduled for deletion after the stores were taken from it; until it is deleted, an edit gets it back.
	mark := b.World.AWS().Mark()
	b.Edit(c, func() {
		c.Spec.DataServices.KMS, c.Annotations = nil, map[string]string{"nexus.ai/delete-data": "ledger-dev-data"}
	})
	b.Running(c)
	b.Gone(child())
	b.Running(c)
	b.Eventually(20*time.Second, "the role to lose its rights to the key", func() error {
		if policy := b.inline("ledger-dev-app-role"); strings.Contains(policy, "kms:") {
			return fmt.Errorf("%s", policy)
		}
		return nil
	})
	if got := state(); got != kmstypes.KeyStatePendingDeletion {
		t.Errorf("the key that was given up is %s", got)
	}
	var order []string
	for _, call := range b.World.AWS().Since(mark).Writes() {
		if slices.Contains([]string{"UpdateTable", "UpdateSecret", "ScheduleKeyDeletion"}, call.Op) {
			order = append(order, call.Op)
		}
	}
	if len(order) < 3 || order[len(order)-1] != "ScheduleKeyDeletion" {
		t.Errorf("the writes were %v, and the deletion of the key must come last", order)
	}
	b.Edit(c, func() { c.Spec.DataServices.KMS, c.Annotations = &in, nil })
	b.Running(c)
	b.encrypted(arn)

	b.keyGoesWith(c, api, id)
}

// keyGoesWith deletes a capability and with it its key, last, and after the days for which its secrets can be restored.
func (b *bed) keyGoesWith(c *nexusv1.NexusAICapability, api *kms.Client, id string) {
	b.Helper()
	must(b, 0, b.Client.Delete(b.Ctx(), c))
	b.Gone(c)
	out, err := api.DescribeKey(b.Ctx(), &kms.DescribeKeyInput{KeyId: &id})
	if d := must(b, out, err).KeyMetadata; d.KeyState != kmstypes.KeyStatePendingDeletion ||
		time.Until(*d.DeletionDate).Round(time.Hour) != 30*24*time.Hour {
		b.Errorf("the key is %s until %v", d.KeyState, d.DeletionDate)
	}
	inv := b.Inventory()
	if keys := inv["kms/key"]; !slices.Equal(keys, []string{id}) {
		b.Errorf("the keys are %v, want %s alone", keys, id)
	}
	if delete(inv, "kms/key"); len(inv) > 0 {
		b.Errorf("left behind in AWS: %v", inv)
	}
}
