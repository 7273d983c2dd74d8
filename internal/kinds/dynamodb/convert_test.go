// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

func TestExpiryIsJudgedByWhatItIsAboutToBe(t *testing.T) {
	for _, c := range []struct {
		state types.TimeToLiveStatus
		want  string
	}{{types.TimeToLiveStatusEnabled, "a"}, {types.TimeToLiveStatusEnabling, "a"}, {types.TimeToLiveStatusDisabling, ""},
		{types.TimeToLiveStatusDisabled, ""}, {"", ""}} {
		if got := *fromTTL(&types.TimeToLiveDescription{TimeToLiveStatus: c.state, AttributeName: aws.String("a")}); got != c.want {
			t.Errorf("%s: %q, want %q", c.state, got, c.want)
		}
	}
	if *fromTTL(nil) != "" {
		t.Error("nothing said is not off")
	}
}

func TestAnotherAttributeIsReachedByWayOfOff(t *testing.T) {
	for _, c := range []struct {
		want, have, attribute string
		on                    bool
	}{{"b", "a", "a", false}, {"", "a", "a", false}, {"b", "", "b", true}} {
		got := toTTL(c.want, c.have)
		if *got.AttributeName != c.attribute || *got.Enabled != c.on {
			t.Errorf("%q to %q: %s %v", c.have, c.want, *got.AttributeName, *got.Enabled)
		}
	}
}

func TestEncryptionAsAWSDescribesIt(t *testing.T) {
	const id = "1234abcd-12ab-34cd-56ef-1234567890ab"
	const arn = "arn:aws:kms:eu-west-1:123456789012:key/" + id
	on := func(status types.SSEStatus) *types.SSEDescription {
		return &types.SSEDescription{Status: status, SSEType: types.SSETypeKms, KMSMasterKeyArn: aws.String(arn)}
	}
	for _, c := range []struct {
		name string
		want *v1alpha1.DynamoDBSSE
		have *types.SSEDescription
		same bool
	}{
		{"AWS's own key is not described", &v1alpha1.DynamoDBSSE{}, nil, true},
		{"nor when it was a KMS key once", &v1alpha1.DynamoDBSSE{}, on(types.SSEStatusDisabled), true},
		{"a KMS key is not AWS's own", &v1alpha1.DynamoDBSSE{}, on(types.SSEStatusEnabled), false},
		{"any KMS key will do", &v1alpha1.DynamoDBSSE{Enabled: true}, on(types.SSEStatusEnabled), true},
		{"the key by its ARN", &v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: arn}, on(types.SSEStatusEnabled), true},
		{"the key by its id", &v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: id}, on(types.SSEStatusUpdating), true},
		{"another key", &v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: "34cd-56ef-1234567890ab"}, on(types.SSEStatusEnabled), false},
		{"no KMS key yet", &v1alpha1.DynamoDBSSE{Enabled: true}, nil, false},
	} {
		diff := engine.Compare(TableState{SSE: c.want}, TableState{SSE: fromEncryption(c.have, c.want)}, nil, nil)
		if (len(diff) == 0) != c.same {
			t.Errorf("%s: %+v", c.name, diff)
		}
	}
	if toEncryption(nil) != nil || *toEncryption(&v1alpha1.DynamoDBSSE{}).Enabled ||
		*toEncryption(&v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: id}).KMSMasterKeyId != id {
		t.Error("what is sent")
	}
}

func TestATableThatWasNeverOnDemandIsProvisioned(t *testing.T) {
	if *fromBilling(nil) != "PROVISIONED" ||
		*fromBilling(&types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest}) != "PAY_PER_REQUEST" {
		t.Error("billing mode")
	}
}

func TestTableStates(t *testing.T) {
	for _, state := range types.TableStatus("").Values() {
		why, stalls := unusable[state]
		passes := slices.Contains(passing, state)
		usable := state == types.TableStatusActive
		if n := count(passes, stalls, usable); n != 1 {
			t.Errorf("%s: passing %v, unusable %v: want exactly one of passing, unusable and usable", state, passes, stalls)
		}
		if stalls && (why.Reason == "" || why.Message == "") {
			t.Errorf("%s: %+v", state, why)
		}
	}
}

func count(facts ...bool) (n int) {
	for _, f := range facts {
		if f {
			n++
		}
	}
	return n
}

func TestReplicasThatADeletionLeaves(t *testing.T) {
	replica := func(region string, status types.ReplicaStatus) types.ReplicaDescription {
		return types.ReplicaDescription{RegionName: &region, ReplicaStatus: status}
	}
	d := &types.TableDescription{TableArn: aws.String("arn:aws:dynamodb:eu-west-1:123456789012:table/t"), Replicas: []types.ReplicaDescription{
		replica("us-east-1", types.ReplicaStatusRegionDisabled), replica("eu-west-1", types.ReplicaStatusActive),
		replica("ca-central-1", types.ReplicaStatusCreating), replica("us-west-2", types.ReplicaStatusDeleting),
		replica("us-east-2", types.ReplicaStatusCreationFailed)}}
	o := &v1alpha1.DynamoDBTable{}
	publish(o, stateOf(d, TableState{}))
	if got := o.Survivors(); got != "the replicas of the table in ca-central-1, us-east-1" {
		t.Errorf("%q", got)
	}
	publish(o, stateOf(&types.TableDescription{}, TableState{}))
	if got := o.Survivors(); got != "" {
		t.Errorf("%q", got)
	}
}
