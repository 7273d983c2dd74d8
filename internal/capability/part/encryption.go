// SPDX-License-Identifier: Apache-2.0

package part

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// KeySpec returns the settings of the capability's key, or nil when it has none.
func KeySpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.KMSSpec {
	if !IsEnabled(DataOf(s).KMS, func(d *nexusv1.KMSSpec) *bool { return d.Enabled }) {
		return nil
	}
	return DataOf(s).KMS
}

// KeyID is the ID of the node of the capability's key; "" without one.
func KeyID(k *Compiler) string {
	if KeySpec(k.Spec) == nil {
		return ""
	}
	return KindKey + "/" + k.Names.Of(KeyPurpose)
}

// StoreKey is the ARN of the key that encrypts a store: the given one, or the capability's; "" for none.
func (k *Compiler) StoreKey(given string) string {
	if id := KeyID(k); id != "" && given == "" {
		return k.ProvenARN(id)
	}
	return given
}

// AfterKey makes the edge of a store that the capability's key encrypts: AWS refuses a key that is not enabled.
func (k *Compiler) AfterKey(given string) []graph.Edge {
	if id := KeyID(k); id != "" && given == "" {
		return graph.NeedReady(id)
	}
	return nil
}

// AccountRoot is the principal that stands for all identities of the account.
func (k *Compiler) AccountRoot() string {
	return "arn:" + k.Home.Partition + ":iam::" + k.Home.Account + ":root"
}

// KeptKey is the ARN of the key that the capability does not declare any more, until people give it up: objects in buckets and
// messages in queues may still need it. "" without one.
func KeptKey(k *Compiler) string {
	if KeySpec(k.Spec) != nil {
		return ""
	}
	return k.Proof(KindKey + "/" + k.Names.Of(KeyPurpose)).ARN
}

// KeyPurpose names the key of a capability.
const KeyPurpose = "data"
