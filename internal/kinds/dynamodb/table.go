// Package dynamodb is the DynamoDB kinds.
package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// TableState is a table as both the spec and DynamoDB can say it.
type TableState struct {
	Name, ARN string `drift:"id"`
	Deleting  bool   `drift:"id"`
	// Status is DynamoDB's own word.
	Status string `drift:"observed"`

	// Keys are the partition key and, where there is one, the sort key.
	Keys               []Key `drift:"immutable"`
	BillingMode        *string
	Throughput         *v1alpha1.DynamoDBThroughput
	SSE                *Encryption
	DeletionProtection *bool
	PITR               *bool
	// TTL is the attribute that holds the expiry time; "" is off, whatever attribute was used before.
	TTL  *string
	Tags map[string]string `drift:"tags"`
}

// Key is one key attribute.
type Key struct{ Role, Name, Type string }

// Encryption says whose key encrypts the table: AWS's own, or one in KMS.
type Encryption struct {
	KMS bool
	// KeyID is nil for the key that AWS manages, which is then not compared.
	KeyID *string
}

type table struct{ api *dynamodb.Client }

// NewTable binds the DynamoDBTable kind to an identity.
func NewTable(cfg aws.Config) kind.Kind[*v1alpha1.DynamoDBTable, TableState] {
	return &table{api: dynamodb.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
// A customer managed key needs more of KMS, which its key policy grants best:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func (t *table) Meta() kind.Meta {
	return kind.Meta{
		Reads: []string{"dynamodb:DescribeTable", "dynamodb:ListTagsOfResource", "dynamodb:DescribeContinuousBackups", "dynamodb:DescribeTimeToLive"},
		Writes: []string{"dynamodb:CreateTable", "dynamodb:UpdateTable", "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTimeToLive",
			"dynamodb:TagResource", "dynamodb:UntagResource", "dynamodb:DeleteTable"},
		Identity:  kind.ByName,
		HoldsData: true,
	}
}

func (t *table) Desired(sc kind.Scope, cr *v1alpha1.DynamoDBTable) (TableState, error) {
	in := cr.Spec
	s := TableState{
		Name: in.TableName, Deleting: sc.Deleting, DeletionProtection: in.DeletionProtection, Tags: sc.Tags,
	}
	if sc.Deleting {
		return s, nil
	}
	if err := check(in); err != nil {
		return s, err
	}
	s.Keys = append(s.Keys, Key{Role: string(types.KeyTypeHash), Name: in.HashKey.Name, Type: in.HashKey.Type})
	if in.RangeKey != nil {
		s.Keys = append(s.Keys, Key{Role: string(types.KeyTypeRange), Name: in.RangeKey.Name, Type: in.RangeKey.Type})
	}
	s.BillingMode, s.Throughput, s.PITR = orNil(in.BillingMode), in.ProvisionedThroughput, in.PointInTimeRecovery
	if in.TTL != nil {
		s.TTL = new(string)
		if in.TTL.Enabled {
			s.TTL = &in.TTL.AttributeName
		}
	}
	if in.SSE != nil {
		s.SSE = &Encryption{KMS: in.SSE.Enabled}
		if in.SSE.KMSKeyID != awsManagedKey {
			s.SSE.KeyID = orNil(in.SSE.KMSKeyID)
		}
	}
	return s, nil
}

func (t *table) Converge(want TableState, seen kind.Seen[TableState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: "dynamodb:CreateTable", Do: t.create(want)}}
	}
	// One after the other: a table takes one change at a time, and is UPDATING after most of them.
	// The next one then waits (Busy) for a later pass, which plans what is left.
	var steps []kind.Step
	add := func(action string, do func(ctx context.Context) error, fixes ...string) {
		if len(fixes) > 0 && diff.Under(fixes...) {
			steps = append(steps, kind.Step{Action: action, Fixes: fixes, Stage: len(steps),
				Do: func(ctx context.Context, _ string) (string, error) { return "", do(ctx) }})
		}
	}
	set, remove := diff.Keys("Tags")
	arn := &seen.State.ARN
	add("dynamodb:TagResource", func(ctx context.Context) error {
		_, err := t.api.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: arn, Tags: tagSet(kind.Only(want.Tags, set))})
		return err
	}, tagPaths(set)...)
	add("dynamodb:UntagResource", func(ctx context.Context) error {
		_, err := t.api.UntagResource(ctx, &dynamodb.UntagResourceInput{ResourceArn: arn, TagKeys: remove})
		return err
	}, tagPaths(remove)...)
	add("dynamodb:UpdateContinuousBackups", func(ctx context.Context) error {
		_, err := t.api.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: &want.Name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: want.PITR}})
		return err
	}, "PITR")
	add("dynamodb:UpdateTimeToLive", func(ctx context.Context) error {
		_, err := t.api.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &want.Name, TimeToLiveSpecification: toTTL(*want.TTL, aws.ToString(seen.State.TTL))})
		return err
	}, "TTL")
	update := func(in dynamodb.UpdateTableInput, fixes ...string) {
		in.TableName = &want.Name
		add("dynamodb:UpdateTable", func(ctx context.Context) error {
			_, err := t.api.UpdateTable(ctx, &in)
			return err
		}, fixes...)
	}
	update(dynamodb.UpdateTableInput{DeletionProtectionEnabled: want.DeletionProtection}, "DeletionProtection")
	update(dynamodb.UpdateTableInput{BillingMode: types.BillingMode(aws.ToString(want.BillingMode)), ProvisionedThroughput: toThroughput(want.Throughput)}, "BillingMode", "Throughput")
	update(dynamodb.UpdateTableInput{SSESpecification: toEncryption(want.SSE)}, "SSE")
	return steps
}

func (t *table) create(want TableState) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := &dynamodb.CreateTableInput{
			TableName: &want.Name, BillingMode: types.BillingModePayPerRequest, ProvisionedThroughput: toThroughput(want.Throughput),
			SSESpecification: toEncryption(want.SSE), DeletionProtectionEnabled: want.DeletionProtection, Tags: tagSet(want.Tags),
		}
		if want.BillingMode != nil {
			in.BillingMode = types.BillingMode(*want.BillingMode)
		}
		for _, k := range want.Keys {
			in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Role)})
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(k.Name), AttributeType: types.ScalarAttributeType(k.Type)})
		}
		_, err := t.api.CreateTable(ctx, in)
		return "", err
	}
}

// Remove lifts the deletion protection first where the spec says false (Observe holds the deletion
// otherwise); the table may be UPDATING after that, so the delete follows a look.
func (t *table) Remove(seen kind.Seen[TableState]) []kind.Step {
	s := seen.State
	if aws.ToBool(s.DeletionProtection) {
		return []kind.Step{{Action: "dynamodb:UpdateTable", Risk: kind.Disrupts, Do: func(ctx context.Context, _ string) (string, error) {
			_, err := t.api.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &s.Name, DeletionProtectionEnabled: aws.Bool(false)})
			return "", err
		}}}
	}
	return []kind.Step{{Action: "dynamodb:DeleteTable", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := t.api.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &s.Name})
		return "", err
	}}}
}

func (t *table) Publish(cr *v1alpha1.DynamoDBTable, s TableState) {
	cr.Status.ARN, cr.Status.ID = s.ARN, s.Name
	cr.Status.TableARN, cr.Status.TableStatus = s.ARN, s.Status
}

// check repeats the rules of the CRD that span fields, and adds what it cannot say.
func check(in v1alpha1.DynamoDBTableSpec) error {
	provisioned := in.BillingMode == string(types.BillingModeProvisioned)
	switch {
	case in.RangeKey != nil && in.RangeKey.Name == in.HashKey.Name:
		return status.Invalid("spec.rangeKey.name", "%q is the partition key already", in.RangeKey.Name)
	case provisioned && in.ProvisionedThroughput == nil:
		return status.Invalid("spec.provisionedThroughput", "is needed with billingMode PROVISIONED")
	case !provisioned && in.ProvisionedThroughput != nil:
		return status.Invalid("spec.provisionedThroughput", "needs billingMode PROVISIONED")
	case in.SSE != nil:
		return checkEncryption(*in.SSE)
	default:
		return nil
	}
}

func checkEncryption(e v1alpha1.DynamoDBSSE) error {
	switch key := e.KMSKeyID; {
	case key != "" && !e.Enabled:
		return status.Invalid("spec.sse.kmsKeyID", "needs sse.enabled: true")
	case key != awsManagedKey && isAlias(key):
		return status.Invalid("spec.sse.kmsKeyID", "is an alias; give the key's ARN or ID: DynamoDB reports only those, so an alias cannot be compared")
	default:
		return nil
	}
}
