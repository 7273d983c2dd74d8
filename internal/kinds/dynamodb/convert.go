// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// service names DynamoDB in the alias of the KMS key that AWS manages for it.
const service = "dynamodb"

// fromBilling: a table that never was on demand has no summary.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BillingModeSummary.html
func fromBilling(b *types.BillingModeSummary) *string {
	if b == nil || b.BillingMode == "" {
		return aws.String(string(types.BillingModeProvisioned))
	}
	return aws.String(string(b.BillingMode))
}

func toEncryption(e *v1alpha1.DynamoDBSSE) *types.SSESpecification {
	switch {
	case e == nil:
		return nil
	case !e.Enabled:
		return &types.SSESpecification{Enabled: aws.Bool(false)}
	default:
		key := kind.CustomerKMSKey(service, e.KMSKeyID)
		return &types.SSESpecification{Enabled: aws.Bool(true), SSEType: types.SSETypeKms, KMSMasterKeyId: kind.NonEmpty(&key)}
	}
}

// fromEncryption reads the encryption in the spec's words. DynamoDB describes every KMS key by its ARN, the
// one that AWS manages as well, so where the spec names no key the one in use is not compared.
func fromEncryption(d *types.SSEDescription, want *v1alpha1.DynamoDBSSE) *v1alpha1.DynamoDBSSE {
	if d == nil || d.Status == types.SSEStatusDisabled || d.Status == types.SSEStatusDisabling {
		return &v1alpha1.DynamoDBSSE{}
	}
	e := &v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: aws.ToString(d.KMSMasterKeyArn)}
	if want != nil && (kind.CustomerKMSKey(service, want.KMSKeyID) == "" || kind.SameKMSKey(want.KMSKeyID, e.KMSKeyID)) {
		e.KMSKeyID = want.KMSKeyID
	}
	return e
}

// fromClass: DynamoDB describes no class for a table that always was of class STANDARD.
func fromClass(c *types.TableClassSummary) *string {
	if c == nil || c.TableClass == "" {
		return aws.String(string(types.TableClassStandard))
	}
	return aws.String(string(c.TableClass))
}

func fromStream(s *types.StreamSpecification) *string {
	if s == nil || !aws.ToBool(s.StreamEnabled) {
		return new(string)
	}
	return aws.String(string(s.StreamViewType))
}

// toStream is the one change that leads towards want: DynamoDB refuses another view type for a stream that is on.
func toStream(want, have string) *types.StreamSpecification {
	if have != "" {
		return &types.StreamSpecification{StreamEnabled: aws.Bool(false)}
	}
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(want)}
}

// typesOf returns the types of the attributes that are keys.
func typesOf(d *types.TableDescription) map[string]string {
	out := map[string]string{}
	for _, a := range d.AttributeDefinitions {
		out[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	return out
}

func fromKeys(typeOf map[string]string, schema []types.KeySchemaElement) []Key {
	keys := make([]Key, 0, len(schema))
	for _, k := range schema {
		name := aws.ToString(k.AttributeName)
		keys = append(keys, Key{Role: string(k.KeyType), Name: name, Type: typeOf[name]})
	}
	return keys
}

// toTTL is the one change that leads towards want. Expiry by another attribute must be switched off first, by its name; the remaining
// change shows at the next look.
func toTTL(want, have string) *types.TimeToLiveSpecification {
	if have != "" {
		return &types.TimeToLiveSpecification{Enabled: aws.Bool(false), AttributeName: &have}
	}
	return &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: &want}
}

// isReplaced reports whether a setting has one value and is to have another: it is switched off in between.
func isReplaced(want, have *string) bool {
	return aws.ToString(want) != "" && aws.ToString(have) != ""
}

// fromTTL takes a change under way for done: it may take an hour, and no other change is possible until then.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTimeToLive.html
func fromTTL(d *types.TimeToLiveDescription) *string {
	if d == nil || d.TimeToLiveStatus != types.TimeToLiveStatusEnabled && d.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return new(string)
	}
	return aws.String(aws.ToString(d.AttributeName))
}
