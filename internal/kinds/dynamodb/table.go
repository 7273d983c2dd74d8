// SPDX-License-Identifier: Apache-2.0

// Package dynamodb is the DynamoDB kinds.
package dynamodb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// TableState is a table as both the spec and DynamoDB can express it.
type TableState struct {
	Name string `drift:"identity"`
	ARN  string `drift:"id"`
	// Guarded is set while the table must not be deleted with items in it.
	Guarded bool `drift:"id"`
	// Status is DynamoDB's own status.
	Status string `drift:"observed"`

	// Keys are the partition key and, where there is one, the sort key.
	Keys               []Key `drift:"immutable"`
	BillingMode        *string
	Throughput         *v1alpha1.DynamoDBThroughput
	SSE                *v1alpha1.DynamoDBSSE
	DeletionProtection *bool
	PITR               *bool
	// TTL is the attribute that holds the expiry time; "" is off, whatever attribute was used before.
	TTL  *string
	Tags map[string]string `drift:"tags"`
}

// Key is one key attribute.
type Key struct{ Role, Name, Type string }

type table struct{ api *dynamodb.Client }

// NewTable binds the DynamoDBTable kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
func NewTable(cfg aws.Config) kind.Kind[*v1alpha1.DynamoDBTable, TableState] {
	t := &table{api: dynamodb.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.DynamoDBTable, TableState]{
		Meta:     kind.Meta{Identity: kind.ByName, HoldsData: true, CreatesFirst: true},
		Identify: identify, Declare: declare, Publish: publish, Export: kind.Export[*v1alpha1.DynamoDBTable, TableState]{Identity: []string{"tableName"}, Spec: exported},
		Describe: kind.Read[TableState]{Actions: []string{"dynamodb:DescribeTable"}, Do: t.describe},
		Explain:  explain,
		Create:   kind.Call[TableState]{Action: "dynamodb:CreateTable", Do: t.create},
		// A table is created without recovery and expiry, and accepts both only once it is ACTIVE.
		DefaultsWhenNew: true,
		Tagging: kind.Tagging[TableState]{
			Reads: "dynamodb:ListTagsOfResource", List: t.tags,
			Sets: "dynamodb:TagResource", Set: kind.Send(t.api.TagResource, func(have TableState, tags map[string]string) *dynamodb.TagResourceInput {
				return &dynamodb.TagResourceInput{ResourceArn: &have.ARN, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "dynamodb:UntagResource", Remove: kind.Send(t.api.UntagResource, func(have TableState, keys []string) *dynamodb.UntagResourceInput {
				return &dynamodb.UntagResourceInput{ResourceArn: &have.ARN, TagKeys: keys}
			}),
		},
		// A table takes one change at a time and is UPDATING after most of them; the next one then waits
		// (Busy) for a later pass, which plans what is left.
		OneByOne: true,
		Parts:    t.parts(),
		Holds:    t.items, HoldsReads: []string{"dynamodb:Scan"},
		// The table may be UPDATING after its protection was lifted, so a look precedes the delete.
		Delete: []kind.Ending[TableState]{
			{When: func(want, have TableState) bool { return aws.ToBool(have.DeletionProtection) && liftsProtection(want) },
				Call: t.update(func(TableState) dynamodb.UpdateTableInput {
					return dynamodb.UpdateTableInput{DeletionProtectionEnabled: aws.Bool(false)}
				})},
			{Call: kind.Call[TableState]{Action: "dynamodb:DeleteTable", Effect: kind.Deletes, Do: kind.Send(t.api.DeleteTable, func(want, _ TableState) *dynamodb.DeleteTableInput {
				return &dynamodb.DeleteTableInput{TableName: &want.Name}
			})}},
		},
	})
}

func (t *table) parts() []kind.Part[TableState] {
	return []kind.Part[TableState]{
		{Fields: []string{"PITR"}, Reads: "dynamodb:DescribeContinuousBackups", Read: t.backups,
			Write: kind.Call[TableState]{Action: "dynamodb:UpdateContinuousBackups", Do: kind.Send(t.api.UpdateContinuousBackups, func(want, _ TableState) *dynamodb.UpdateContinuousBackupsInput {
				return &dynamodb.UpdateContinuousBackupsInput{TableName: &want.Name,
					PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: want.PITR}}
			})}},
		{Fields: []string{"TTL"}, Reads: "dynamodb:DescribeTimeToLive", Read: t.timeToLive, Again: changesTTLTwice,
			Write: kind.Call[TableState]{Action: "dynamodb:UpdateTimeToLive", Do: kind.Send(t.api.UpdateTimeToLive, func(want, have TableState) *dynamodb.UpdateTimeToLiveInput {
				return &dynamodb.UpdateTimeToLiveInput{TableName: &want.Name, TimeToLiveSpecification: toTTL(*want.TTL, aws.ToString(have.TTL))}
			})}},
		{Fields: []string{"DeletionProtection"}, InCreate: true, Write: t.update(func(want TableState) dynamodb.UpdateTableInput {
			return dynamodb.UpdateTableInput{DeletionProtectionEnabled: want.DeletionProtection}
		})},
		{Fields: []string{"BillingMode", "Throughput"}, InCreate: true, Write: t.update(func(want TableState) dynamodb.UpdateTableInput {
			return dynamodb.UpdateTableInput{BillingMode: types.BillingMode(aws.ToString(want.BillingMode)), ProvisionedThroughput: kind.Convert[*types.ProvisionedThroughput](want.Throughput)}
		})},
		{Fields: []string{"SSE"}, InCreate: true, Write: t.update(func(want TableState) dynamodb.UpdateTableInput {
			return dynamodb.UpdateTableInput{SSESpecification: toEncryption(want.SSE)}
		})},
	}
}

func (t *table) update(input func(want TableState) dynamodb.UpdateTableInput) kind.Call[TableState] {
	return kind.Call[TableState]{Action: "dynamodb:UpdateTable", Do: kind.Send(t.api.UpdateTable, func(want, _ TableState) *dynamodb.UpdateTableInput {
		in := input(want)
		in.TableName = &want.Name
		return &in
	})}
}

// identify includes the deletion protection: false is the consent to lift it for a deletion.
func identify(sc kind.Scope, cr *v1alpha1.DynamoDBTable) (TableState, error) {
	return TableState{Name: cr.Spec.TableName, Guarded: sc.GuardData, DeletionProtection: cr.Spec.DeletionProtection}, nil
}

func declare(_ kind.Scope, cr *v1alpha1.DynamoDBTable, s *TableState) error {
	in := cr.Spec
	s.Keys = append(s.Keys, Key{Role: string(types.KeyTypeHash), Name: in.HashKey.Name, Type: in.HashKey.Type})
	if in.RangeKey != nil {
		s.Keys = append(s.Keys, Key{Role: string(types.KeyTypeRange), Name: in.RangeKey.Name, Type: in.RangeKey.Type})
	}
	s.BillingMode, s.Throughput, s.PITR = kind.NonEmpty(&in.BillingMode), in.ProvisionedThroughput, in.PointInTimeRecovery
	if in.TTL != nil {
		s.TTL = new(string)
		if in.TTL.Enabled {
			s.TTL = &in.TTL.AttributeName
		}
	}
	s.SSE = in.SSE
	return checkKey(in.SSE)
}

func (t *table) create(ctx context.Context, want, _ TableState) error {
	in := &dynamodb.CreateTableInput{
		TableName: &want.Name, BillingMode: types.BillingMode(cmp.Or(aws.ToString(want.BillingMode), string(types.BillingModePayPerRequest))),
		ProvisionedThroughput: kind.Convert[*types.ProvisionedThroughput](want.Throughput), SSESpecification: toEncryption(want.SSE),
		DeletionProtectionEnabled: want.DeletionProtection, Tags: kind.SDKTags[types.Tag](want.Tags),
	}
	for _, k := range want.Keys {
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Role)})
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(k.Name), AttributeType: types.ScalarAttributeType(k.Type)})
	}
	_, err := t.api.CreateTable(ctx, in)
	return err
}

func publish(cr *v1alpha1.DynamoDBTable, s TableState) {
	cr.Status.ARN, cr.Status.ID = s.ARN, s.Name
	cr.Status.TableARN, cr.Status.TableStatus = s.ARN, s.Status
}

func (t *table) describe(ctx context.Context, want TableState, look kind.Look) (kind.Seen[TableState], error) {
	absent := kind.Seen[TableState]{}
	out, err := awsclient.Lookup(ctx, t.api.DescribeTable, &dynamodb.DescribeTableInput{TableName: &want.Name})
	if out == nil || out.Table == nil {
		return absent, err
	}
	d := out.Table
	if why, ok := unusable[d.TableStatus]; ok && !look.Deleting {
		return absent, &why
	}
	seen := kind.Seen[TableState]{Exists: true, Created: aws.ToTime(d.CreationDateTime), Usable: d.TableStatus == types.TableStatusUpdating, State: TableState{
		Name: want.Name, ARN: aws.ToString(d.TableArn), Status: string(d.TableStatus),
		Keys: fromKeys(d), BillingMode: fromBilling(d.BillingModeSummary), Throughput: kind.Convert[*v1alpha1.DynamoDBThroughput](d.ProvisionedThroughput),
		SSE: fromEncryption(d.SSEDescription, want.SSE), DeletionProtection: aws.Bool(aws.ToBool(d.DeletionProtectionEnabled)),
	}}
	if slices.Contains(passing, d.TableStatus) {
		seen.Busy = "the table is " + seen.State.Status
	}
	if *seen.State.DeletionProtection && !liftsProtection(want) {
		seen.Holds = []kind.Hold{{Reason: status.ReasonDeletionProtected, Message: "the deletion protection of the table to be removed: " +
			"set deletionProtection: false to delete the table, or deletionPolicy: Retain to keep it"}}
	}
	return seen, nil
}

// liftsProtection reports whether the spec consents to removing the deletion protection.
func liftsProtection(want TableState) bool {
	return want.DeletionProtection != nil && !*want.DeletionProtection
}

// passing are the states in which DynamoDB accepts no change and that end without a person. Read only.
var passing = []types.TableStatus{types.TableStatusCreating, types.TableStatusUpdating, types.TableStatusDeleting, types.TableStatusArchiving}

// unusable are the states that only a person can end. Read only.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
var unusable = map[types.TableStatus]status.Stalled{
	types.TableStatusInaccessibleEncryptionCredentials: {Reason: status.ReasonAccessDenied, Message: "DynamoDB cannot use the KMS key that encrypts the table: " +
		"enable the key and its grants within seven days, or DynamoDB archives the table"},
	types.TableStatusArchived: {Reason: status.ReasonMissing, Message: "DynamoDB archived the table because it could not use its KMS key: " +
		"delete the archived table and restore it from the backup that DynamoDB made"},
}

// explain turns "not found" for the tags of a table that AWS is creating or deleting into waiting:
// without its tags, the table's owner is unknown.
func explain(err error, seen kind.Seen[TableState]) error {
	if class := awsclient.Classify(err).Class; seen.Busy != "" && (class == awsclient.NotFound || class == awsclient.Busy) {
		return &status.Waiting{Reason: status.ReasonBusy, For: "AWS: " + seen.Busy, After: 5 * time.Second}
	}
	return err
}

func (t *table) tags(ctx context.Context, have TableState) (map[string]string, error) {
	all, err := kind.Collect(func(token *string) ([]types.Tag, *string, error) {
		out, err := t.api.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: &have.ARN, NextToken: token})
		if err != nil {
			return nil, nil, err
		}
		return out.Tags, out.NextToken, nil
	})
	return kind.TagMap(all), err
}

func (t *table) backups(ctx context.Context, want TableState, have *TableState) error {
	out, err := t.api.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &want.Name})
	if err != nil {
		return err
	}
	d := out.ContinuousBackupsDescription
	have.PITR = aws.Bool(d != nil && d.PointInTimeRecoveryDescription != nil && d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled)
	return nil
}

func (t *table) timeToLive(ctx context.Context, want TableState, have *TableState) error {
	out, err := t.api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &want.Name})
	if err == nil {
		have.TTL = fromTTL(out.TimeToLiveDescription)
	}
	return err
}

// checkKey refuses aliases, which DynamoDB accepts and then reports as the ARN of a key.
func checkKey(e *v1alpha1.DynamoDBSSE) error {
	if e != nil && isAlias(kind.CustomerKMSKey(service, e.KMSKeyID)) {
		return status.Invalid("spec.sse.kmsKeyID", "is an alias; give the key's ARN or ID: DynamoDB reports only those, so an alias cannot be compared")
	}
	return nil
}
