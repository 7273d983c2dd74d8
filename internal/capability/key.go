// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"regexp"
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

const (
	keyPurpose = "data"
	// defaultDeletionWindow is the longest that KMS waits before it deletes a key, in days.
	defaultDeletionWindow int32 = 30
	leastDeletionWindow   int32 = 7
	// keyIDLength is the number of characters that KMS chooses for the ID of a key, a UUID.
	keyIDLength = 36
)

// Names of the key: of its kind and step.
const (
	kindKey = "KMSKey"
	StepKMS = "KMS"
)

// keyPart is spec.dataServices.kms.
func keyPart() part {
	return part{
		steps: []Step{{0, StepKMS, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady}},
		kinds: []kindFacts{{
			kind: kindKey, step: StepKMS, removed: removal{stage: removesData + 90}, grants: true, store: true, isBilled: true,
			refusal: "is declared in spec.dataServices.kms",
		}},
		checks: []turn[checking]{at(30, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
			checkKey(v, "spec.dataServices.kms", dataOf(&c.Spec).KMS)
		})},
		compile:   []func(*compiler){addKey},
		rights:    []turn[granting]{at(100, keyStatements)},
		values:    func(k *compiler) []value { return valuesOf("kms/", "NEXUS_KMS_", keyValues(k)) },
		publishes: []turn[publishing]{at(20, func(k *compiler) []string { return []string{keyID(k)} })},
	}
}

// keySpec returns the settings of the capability's key, or nil when it has none.
func keySpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.KMSSpec {
	if !isEnabled(dataOf(s).KMS, func(d *nexusv1.KMSSpec) *bool { return d.Enabled }) {
		return nil
	}
	return dataOf(s).KMS
}

// keyID is the ID of the node of the capability's key; "" without one.
func keyID(k *compiler) string {
	if keySpec(k.spec) == nil {
		return ""
	}
	return kindKey + "/" + k.names.Of(keyPurpose)
}

// storeKey is the ARN of the key that encrypts a store: the given one, or the capability's; "" for none.
func (k *compiler) storeKey(given string) string {
	if id := keyID(k); id != "" && given == "" {
		return k.provenARN(id)
	}
	return given
}

// afterKey makes the edge of a store that the capability's key encrypts: AWS refuses a key that is not enabled.
func (k *compiler) afterKey(given string) []graph.Edge {
	if id := keyID(k); id != "" && given == "" {
		return graph.NeedReady(id)
	}
	return nil
}

// addKey makes the key that encrypts the stores. It says every setting, so that what a user removes goes back to its default.
func addKey(k *compiler) {
	in := keySpec(k.spec)
	if in == nil {
		return
	}
	name := k.names.Of(keyPurpose)
	o := &awsv1.KMSKey{Spec: awsv1.KMSKeySpec{
		Description:         new("Stores of " + k.names.Prefix()),
		EnableKeyRotation:   new(boolOr(in.Rotation, true)),
		Enabled:             new(true),
		KeyPolicy:           new(k.document(keyPolicy(k)...)),
		Aliases:             []awsv1.KMSAlias{awsv1.KMSAlias("alias/" + name)},
		PendingWindowInDays: new(int32Or(in.DeletionWindowDays, defaultDeletionWindow)),
	}}
	k.addGrant(k.resource(child{kindKey, name, StepKMS, "kms"}, o))
}

// keyPolicy leaves the key to the identities of its account and their policies, as that of a new key does. SNS, which has no
// identity there, encrypts what the topics of the capability deliver to its queues.
// https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
func keyPolicy(k *compiler) []iampolicy.Statement {
	all := []string{"*"}
	out := []iampolicy.Statement{{Sid: "Account", Principal: iampolicy.Principals{"AWS": {k.accountRoot()}}, Action: []string{"kms:*"}, Resource: all}}
	if topics := deliveringTopics(k, func(t nexusv1.TopicSpec) bool { return len(t.SubscribeQueues) > 0 }); len(topics) > 0 {
		out = append(out, iampolicy.Statement{Sid: "Topics", Principal: iampolicy.Principals{"Service": {"sns.amazonaws.com"}}, Action: keyUse, Resource: all,
			Condition: iampolicy.Conditions{"ArnEquals": {"aws:SourceArn": topics}}})
	}
	return out
}

// accountRoot is the principal that stands for all identities of the account.
func (k *compiler) accountRoot() string {
	return "arn:" + k.home.partition + ":iam::" + k.home.account + ":root"
}

// keptKey is the ARN of the key that the capability does not declare any more, until people give it up: objects in buckets and
// messages in queues may still need it. "" without one.
func keptKey(k *compiler) string {
	if keySpec(k.spec) != nil {
		return ""
	}
	return k.proof(kindKey + "/" + k.names.Of(keyPurpose)).ARN
}

// keyStatements allow the use of the key through the services of the stores, and not directly: the stores of the capability are
// all that it encrypts. What a key that is kept has encrypted can be read.
func keyStatements(k *compiler) []iampolicy.Statement {
	arn, actions := keptKey(k), keyReads
	if id := keyID(k); id != "" {
		arn, actions = k.assigned(id, k.home.arn("kms", "key/"), keyIDLength), keyUse
	}
	if arn == "" {
		return nil
	}
	var services []string
	for _, e := range k.parts.allEntries() {
		if e.encryptedBy != "" && k.access.some(e.field) {
			services = append(services, k.home.service(e.encryptedBy))
		}
	}
	slices.Sort(services)
	if len(services) == 0 {
		return nil
	}
	return []iampolicy.Statement{{Sid: "Key", Action: actions, Resource: []string{arn}, Condition: iampolicy.Conditions{"StringEquals": {"kms:ViaService": services}}}}
}

// keyValues tell the application the key that its stores have; none without one.
func keyValues(k *compiler) map[string]string {
	if keyID(k) == "" {
		return nil
	}
	return map[string]string{"key-arn": k.storeKey("")}
}

// encryptsStill reports whether a key that the capability does not declare any more may encrypt a store until what is declared
// instead is done: AWS needs the key to take the store from it.
func (o Observed) encryptsStill(kind string) bool {
	var steps []string
	for _, p := range allParts() {
		if p.entries.encryptedBy != "" {
			steps = append(steps, p.steps[0].Name)
		}
	}
	return kind == kindKey && slices.ContainsFunc(o.views(), func(v view) bool { return slices.Contains(steps, v.Step) && !v.isDone() })
}

// keyPattern fits the ARN of a key.
var keyPattern = regexp.MustCompile(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`)

func checkKey(v *verdict, at string, in *nexusv1.KMSSpec) {
	if in != nil && in.DeletionWindowDays != nil {
		days := *in.DeletionWindowDays
		v.require(days >= leastDeletionWindow && days <= defaultDeletionWindow, at+".deletionWindowDays", "%d to %d", leastDeletionWindow, defaultDeletionWindow)
	}
}
