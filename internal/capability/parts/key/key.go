// SPDX-License-Identifier: Apache-2.0

// Package key is spec.dataServices.kms. How the key encrypts the stores of other parts is in package part.
package key

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/messages"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

const (
	// defaultDeletionWindow is the longest that KMS waits before it deletes a key, in days.
	defaultDeletionWindow int32 = 30
	// keyIDLength is the number of characters that KMS chooses for the ID of a key, a UUID.
	keyIDLength = 36
)

// StepKMS is the step of the key.
const StepKMS = "KMS"

// Part is spec.dataServices.kms.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{{Name: StepKMS, Phase: nexusv1.PhaseProvisioningDataServices, Condition: nexusv1.ConditionDataServicesReady}},
		Kinds: []part.KindFacts{{
			Kind: part.KindKey, Step: StepKMS, Removed: part.Removal{Stage: part.RemovesData + 90}, Grants: true, Store: true, IsBilled: true,
			Refusal: "is declared in spec.dataServices.kms",
		}},
		Compile:   []func(*part.Compiler){addKey},
		Rights:    []part.Turn[part.Granting]{part.At(100, keyStatements)},
		Values:    func(k *part.Compiler) []part.Value { return part.ValuesOf("kms/", "NEXUS_KMS_", keyValues(k)) },
		Publishes: []part.Turn[part.Publishing]{part.At(20, func(k *part.Compiler) []string { return []string{part.KeyID(k)} })},
	}
}

// addKey makes the key that encrypts the stores. It sets every field, so that a setting that a user removes returns to its default.
func addKey(k *part.Compiler) {
	in := part.KeySpec(k.Spec)
	if in == nil {
		return
	}
	name := k.Names.Of(part.KeyPurpose)
	o := &awsv1.KMSKey{Spec: awsv1.KMSKeySpec{
		Description:         new("Stores of " + k.Names.Prefix()),
		EnableKeyRotation:   new(part.BoolOr(in.Rotation, true)),
		Enabled:             new(true),
		KeyPolicy:           new(k.Document(keyPolicy(k)...)),
		Aliases:             []awsv1.KMSAlias{awsv1.KMSAlias("alias/" + name)},
		PendingWindowInDays: new(part.Int32Or(in.DeletionWindowDays, defaultDeletionWindow)),
	}}
	k.AddGrant(k.Resource(part.Child{Kind: part.KindKey, Name: name, Step: StepKMS, Component: "kms"}, o))
}

// keyPolicy leaves the key to the identities of its account and their policies, as the policy of a new key does. It also allows SNS, which
// has no identity there, to encrypt the messages from the topics of the capability to its queues.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
func keyPolicy(k *part.Compiler) []iampolicy.Statement {
	all := []string{"*"}
	out := []iampolicy.Statement{{Sid: "Account", Principal: iampolicy.Principals{"AWS": {k.AccountRoot()}}, Action: []string{"kms:*"},
		Resource: all}}
	if topics := messages.DeliveringTopics(k, func(t nexusv1.TopicSpec) bool { return len(t.SubscribeQueues) > 0 }); len(topics) > 0 {
		out = append(out, iampolicy.Statement{Sid: "Topics", Principal: iampolicy.Principals{"Service": {"sns.amazonaws.com"}},
			Action: part.KeyUse, Resource: all,
			Condition: iampolicy.Conditions{"ArnEquals": {"aws:SourceArn": topics}}})
	}
	return out
}

// keyStatements allow the use of the key through the services of the stores, and not directly: the stores of the capability are all that it
// encrypts. A kept key allows reading only, for the data that it has encrypted.
func keyStatements(k *part.Compiler) []iampolicy.Statement {
	arn, actions := part.KeptKey(k), part.KeyReads
	if id := part.KeyID(k); id != "" {
		arn, actions = k.Assigned(id, k.Home.ARN("kms", "key/"), keyIDLength), part.KeyUse
	}
	if arn == "" {
		return nil
	}
	var services []string
	for _, e := range k.Parts.Entries() {
		if e.EncryptedBy != "" && k.Access.Some(e.Field) {
			services = append(services, k.Home.Service(e.EncryptedBy))
		}
	}
	slices.Sort(services)
	if len(services) == 0 {
		return nil
	}
	return []iampolicy.Statement{{Sid: "Key", Action: actions, Resource: []string{arn},
		Condition: iampolicy.Conditions{"StringEquals": {"kms:ViaService": services}}}}
}

// keyValues returns the settings with the key of the stores; none without a key.
func keyValues(k *part.Compiler) map[string]string {
	if part.KeyID(k) == "" {
		return nil
	}
	return map[string]string{"key-arn": k.StoreKey("")}
}
