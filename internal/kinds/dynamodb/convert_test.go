package dynamodb

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestExpiryIsJudgedByWhatItIsAboutToBe(t *testing.T) {
	for _, c := range []struct {
		state types.TimeToLiveStatus
		want  string
	}{{types.TimeToLiveStatusEnabled, "a"}, {types.TimeToLiveStatusEnabling, "a"}, {types.TimeToLiveStatusDisabling, ""}, {types.TimeToLiveStatusDisabled, ""}, {"", ""}} {
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
		want *Encryption
		have *types.SSEDescription
		same bool
	}{
		{"AWS's own key is not described", &Encryption{}, nil, true},
		{"nor when it was a KMS key once", &Encryption{}, on(types.SSEStatusDisabled), true},
		{"a KMS key is not AWS's own", &Encryption{}, on(types.SSEStatusEnabled), false},
		{"any KMS key will do", &Encryption{KMS: true}, on(types.SSEStatusEnabled), true},
		{"the key by its ARN", &Encryption{KMS: true, KeyID: aws.String(arn)}, on(types.SSEStatusEnabled), true},
		{"the key by its id", &Encryption{KMS: true, KeyID: aws.String(id)}, on(types.SSEStatusUpdating), true},
		{"another key", &Encryption{KMS: true, KeyID: aws.String("34cd-56ef-1234567890ab")}, on(types.SSEStatusEnabled), false},
		{"no KMS key yet", &Encryption{KMS: true}, nil, false},
	} {
		diff := engine.Compare(TableState{SSE: c.want}, TableState{SSE: fromEncryption(c.have, c.want)}, nil)
		if (len(diff) == 0) != c.same {
			t.Errorf("%s: %+v", c.name, diff)
		}
	}
	if toEncryption(nil) != nil || *toEncryption(&Encryption{}).Enabled || *toEncryption(&Encryption{KMS: true, KeyID: aws.String(id)}).KMSMasterKeyId != id {
		t.Error("what is sent")
	}
}

func TestATableThatWasNeverOnDemandIsProvisioned(t *testing.T) {
	if *fromBilling(nil) != "PROVISIONED" || *fromBilling(&types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest}) != "PAY_PER_REQUEST" {
		t.Error("billing mode")
	}
}

func TestTableStates(t *testing.T) {
	for state, want := range map[types.TableStatus]struct {
		busy   bool
		reason string
	}{
		types.TableStatusActive:                            {},
		types.TableStatusCreating:                          {busy: true},
		types.TableStatusUpdating:                          {busy: true},
		types.TableStatusDeleting:                          {busy: true},
		types.TableStatusArchiving:                         {busy: true},
		types.TableStatusArchived:                          {reason: status.ReasonMissing},
		types.TableStatusInaccessibleEncryptionCredentials: {reason: status.ReasonAccessDenied},
	} {
		d := &types.TableDescription{TableStatus: state}
		reason := ""
		if s, ok := status.AsStalled(unusable(d)); ok {
			reason = s.Reason
		}
		if (busy(d) != "") != want.busy || reason != want.reason {
			t.Errorf("%s: busy %q, reason %q", state, busy(d), reason)
		}
	}
}
