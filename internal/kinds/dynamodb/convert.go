package dynamodb

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsManagedKey is DynamoDB's default KMS key, which the API wants left out.
const awsManagedKey = "alias/aws/dynamodb"

func isAlias(key string) bool {
	return strings.HasPrefix(key, "alias/") || strings.Contains(key, ":alias/")
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func tagPaths(keys []string) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, "Tags["+k+"]")
	}
	return out
}

func tagSet(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range kind.SortedKeys(tags) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return out
}

func toThroughput(p *v1alpha1.DynamoDBThroughput) *types.ProvisionedThroughput {
	if p == nil {
		return nil
	}
	return &types.ProvisionedThroughput{ReadCapacityUnits: &p.ReadCapacityUnits, WriteCapacityUnits: &p.WriteCapacityUnits}
}

func fromThroughput(p *types.ProvisionedThroughputDescription) *v1alpha1.DynamoDBThroughput {
	if p == nil {
		return nil
	}
	return &v1alpha1.DynamoDBThroughput{ReadCapacityUnits: aws.ToInt64(p.ReadCapacityUnits), WriteCapacityUnits: aws.ToInt64(p.WriteCapacityUnits)}
}

// fromBilling: a table that never was on demand has no summary.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BillingModeSummary.html
func fromBilling(b *types.BillingModeSummary) *string {
	if b == nil || b.BillingMode == "" {
		return aws.String(string(types.BillingModeProvisioned))
	}
	return aws.String(string(b.BillingMode))
}

func toEncryption(e *Encryption) *types.SSESpecification {
	switch {
	case e == nil:
		return nil
	case !e.KMS:
		return &types.SSESpecification{Enabled: aws.Bool(false)}
	default:
		return &types.SSESpecification{Enabled: aws.Bool(true), SSEType: types.SSETypeKms, KMSMasterKeyId: e.KeyID}
	}
}

// fromEncryption: DynamoDB describes only encryption by a KMS key, and names the key by its ARN; an
// equal key is given in the words of want.
func fromEncryption(d *types.SSEDescription, want *Encryption) *Encryption {
	if d == nil || d.Status == types.SSEStatusDisabled || d.Status == types.SSEStatusDisabling {
		return &Encryption{}
	}
	e := &Encryption{KMS: true, KeyID: d.KMSMasterKeyArn}
	if want != nil && want.KeyID != nil && strings.HasSuffix(aws.ToString(e.KeyID), ":key/"+*want.KeyID) {
		e.KeyID = want.KeyID
	}
	return e
}

func fromKeys(d *types.TableDescription) []Key {
	kinds := map[string]string{}
	for _, a := range d.AttributeDefinitions {
		kinds[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	keys := make([]Key, 0, len(d.KeySchema))
	for _, k := range d.KeySchema {
		name := aws.ToString(k.AttributeName)
		keys = append(keys, Key{Role: string(k.KeyType), Name: name, Type: kinds[name]})
	}
	return keys
}

// toTTL is the one change that leads towards want. Expiry by another attribute must be switched off
// first, by its name; what is left shows at the next look.
func toTTL(want, have string) *types.TimeToLiveSpecification {
	if have != "" {
		return &types.TimeToLiveSpecification{Enabled: aws.Bool(false), AttributeName: &have}
	}
	return &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: &want}
}

// fromTTL takes a change under way for done: it may take an hour, in which nothing else can be changed.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTimeToLive.html
func fromTTL(d *types.TimeToLiveDescription) *string {
	if d == nil || d.TimeToLiveStatus != types.TimeToLiveStatusEnabled && d.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return new(string)
	}
	return aws.String(aws.ToString(d.AttributeName))
}
