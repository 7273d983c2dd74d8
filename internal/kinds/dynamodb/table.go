// SPDX-License-Identifier: Apache-2.0

// Package dynamodb is the DynamoDB kinds.
package dynamodb

import (
	"cmp"
	"context"
	"slices"
	"strings"
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
	Keys         []Key        `drift:"immutable"`
	LocalIndexes []LocalIndex `drift:"immutable"`
	// GlobalIndexes are the declared indexes, and as nil those that the operator made and that are no longer declared.
	GlobalIndexes map[string]*Index `drift:"keys"`
	// AllIndexes and AllCapacity are all global indexes that DynamoDB describes.
	AllIndexes  map[string]*Index    `drift:"observed"`
	AllCapacity map[string]*Capacity `drift:"observed"`
	// Scaled is set while an autoscaler changes the provisioned capacity.
	Scaled        bool `drift:"id"`
	BillingMode   *string
	Throughput    *v1alpha1.DynamoDBThroughput
	OnDemand      *v1alpha1.DynamoDBOnDemandThroughput
	IndexCapacity map[string]*Capacity
	TableClass    *string
	// Stream is the view type of the stream; "" is no stream.
	Stream    *string
	StreamARN string `drift:"observed"`
	ItemCount *int64 `drift:"observed"`
	// Replicas are the other regions that have a replica.
	Replicas []string `drift:"observed"`

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
		Meta:     kind.Meta{Facts: tableFacts(), Identity: kind.ByName, HoldsData: true, CreatesFirst: true},
		Identify: identify, Declare: declare, Publish: publish, Export: kind.Export[*v1alpha1.DynamoDBTable, TableState]{Identity: []string{"tableName"}, Spec: exported, Omit: undeclarable, Unread: scaling, Separate: t.separateSettings()},
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
		// A table takes one change at a time and is UPDATING after most of them; the next one then waits (Busy) for a later pass, which
		// plans the rest.
		OneByOne: true,
		Parts:    t.parts(),
		Refuse:   refuseIndexChange,
		Holds:    t.items, HoldsReads: []string{"dynamodb:Scan"},
		// The table may be UPDATING after its protection was lifted, so a look precedes the delete.
		Delete: []kind.Ending[TableState]{
			{When: func(want, have TableState) bool {
				return aws.ToBool(have.DeletionProtection) && kind.IsFalse(want.DeletionProtection)
			},
				Call: t.update(func(_, _ TableState) dynamodb.UpdateTableInput {
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
		{Fields: []string{"TTL"}, Reads: "dynamodb:DescribeTimeToLive", Read: t.timeToLive, Again: func(want, have TableState) int { return kind.Either(isReplaced(want.TTL, have.TTL), 1, 0) },
			Write: kind.Call[TableState]{Action: "dynamodb:UpdateTimeToLive", Do: kind.Send(t.api.UpdateTimeToLive, func(want, have TableState) *dynamodb.UpdateTimeToLiveInput {
				return &dynamodb.UpdateTimeToLiveInput{TableName: &want.Name, TimeToLiveSpecification: toTTL(*want.TTL, aws.ToString(have.TTL))}
			})}},
		{Fields: []string{"DeletionProtection"}, InCreate: true, Write: t.update(func(want, _ TableState) dynamodb.UpdateTableInput {
			return dynamodb.UpdateTableInput{DeletionProtectionEnabled: want.DeletionProtection}
		})},
		{Fields: []string{"BillingMode", "Throughput", "OnDemand", "IndexCapacity"}, InCreate: true, Write: kind.Call[TableState]{Action: "dynamodb:UpdateTable",
			DoDiff: kind.SendDiff(t.api.UpdateTable, func(want, have TableState, diff kind.Diff) *dynamodb.UpdateTableInput {
				in := capacityUpdate(want, have, diff)
				in.TableName = &want.Name
				return &in
			})}},
		{Fields: []string{"TableClass"}, InCreate: true, Write: t.update(func(want, _ TableState) dynamodb.UpdateTableInput {
			return dynamodb.UpdateTableInput{TableClass: types.TableClass(*want.TableClass)}
		})},
		{Fields: []string{"Stream"}, InCreate: true, Again: func(want, have TableState) int { return kind.Either(isReplaced(want.Stream, have.Stream), 1, 0) },
			Write: t.update(func(want, have TableState) dynamodb.UpdateTableInput {
				return dynamodb.UpdateTableInput{StreamSpecification: toStream(*want.Stream, aws.ToString(have.Stream))}
			})},
		{Fields: []string{"SSE"}, InCreate: true, Write: t.update(func(want, _ TableState) dynamodb.UpdateTableInput {
			return dynamodb.UpdateTableInput{SSESpecification: toEncryption(want.SSE)}
		})},
		t.indexPart(),
	}
}

func (t *table) update(input func(want, have TableState) dynamodb.UpdateTableInput) kind.Call[TableState] {
	return kind.Call[TableState]{Action: "dynamodb:UpdateTable", Do: kind.Send(t.api.UpdateTable, func(want, have TableState) *dynamodb.UpdateTableInput {
		in := input(want, have)
		in.TableName = &want.Name
		return &in
	})}
}

// identify includes the deletion protection: false is the consent to lift it for a deletion.
func identify(sc kind.Scope, cr *v1alpha1.DynamoDBTable) (TableState, error) {
	return TableState{Name: cr.Spec.TableName, Guarded: sc.Data.Guarded, DeletionProtection: cr.Spec.DeletionProtection}, nil
}

func declare(sc kind.Scope, cr *v1alpha1.DynamoDBTable, s *TableState) error {
	in := cr.Spec
	switch hashKey := in.HashKey; {
	case hashKey != v1alpha1.DynamoDBAttribute{}:
		s.Keys = append(s.Keys, Key{Role: string(types.KeyTypeHash), Name: hashKey.Name, Type: hashKey.Type})
	case !sc.Observing:
		return status.Invalid("spec.hashKey", "is required, except for a table that is observed")
	}
	if in.RangeKey != nil {
		s.Keys = append(s.Keys, Key{Role: string(types.KeyTypeRange), Name: in.RangeKey.Name, Type: in.RangeKey.Type})
	}
	declareIndexes(sc, cr, s)
	s.BillingMode, s.Throughput, s.PITR = kind.NonEmpty(&in.BillingMode), in.ProvisionedThroughput, in.PointInTimeRecovery
	s.OnDemand, s.Scaled, s.TableClass = in.OnDemandThroughput, in.CapacityPolicy == initialOnly, in.TableClass
	if in.StreamEnabled != nil {
		s.Stream = aws.String(kind.Either(*in.StreamEnabled, cmp.Or(in.StreamViewType, string(types.StreamViewTypeNewAndOldImages)), ""))
	}
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
		DeletionProtectionEnabled: want.DeletionProtection, Tags: kind.SDKTags[types.Tag](want.Tags), KeySchema: schemaOf(want.Keys),
		LocalSecondaryIndexes: localIndexes(want), OnDemandThroughput: kind.Convert[*types.OnDemandThroughput](want.OnDemand),
		TableClass: types.TableClass(aws.ToString(want.TableClass)),
	}
	if view := aws.ToString(want.Stream); view != "" {
		in.StreamSpecification = toStream(view, "")
	}
	keys := [][]Key{want.Keys}
	for _, l := range want.LocalIndexes {
		keys = append(keys, l.Keys)
	}
	for _, name := range kind.SortedKeys(want.GlobalIndexes) {
		if index := want.GlobalIndexes[name]; index != nil {
			in.GlobalSecondaryIndexes, keys = append(in.GlobalSecondaryIndexes, globalIndex(want, name)), append(keys, index.Keys)
		}
	}
	in.AttributeDefinitions = definitions(keys...)
	_, err := t.api.CreateTable(ctx, in)
	return err
}

func publish(cr *v1alpha1.DynamoDBTable, s TableState) {
	cr.Status.ARN, cr.Status.ID = s.ARN, s.Name
	cr.Status.TableARN, cr.Status.TableStatus = s.ARN, s.Status
	cr.Status.StreamARN, cr.Status.ItemCount, cr.Status.Replicas = s.StreamARN, s.ItemCount, s.Replicas
	cr.Status.ManagedIndexes = kind.ManagedMembers(s.GlobalIndexes, cr.Spec.GlobalSecondaryIndexes, func(g v1alpha1.DynamoDBGlobalIndex) string { return g.IndexName })
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
	usable := d.TableStatus == types.TableStatusActive || d.TableStatus == types.TableStatusUpdating
	seen := kind.Seen[TableState]{Exists: true, Created: aws.ToTime(d.CreationDateTime), Usable: usable, State: stateOf(d, want)}
	busy := readIndexes(d, want, &seen.State)
	readCapacity(d, want, &seen.State)
	switch {
	case slices.Contains(passing, d.TableStatus):
		seen.Busy = "the table is " + seen.State.Status
	case !look.Deleting: // DynamoDB deletes a table while an index is being filled
		seen.Busy = cmp.Or(kind.BusyUnless("the table", d.TableStatus, types.TableStatusActive), busy)
	}
	if *seen.State.DeletionProtection && !kind.IsFalse(want.DeletionProtection) {
		seen.Holds = []kind.Hold{{Reason: status.ReasonDeletionProtected, Message: "the deletion protection of the table to be removed: " +
			"set deletionProtection: false to delete the table, or deletionPolicy: Retain to keep it"}}
	}
	return seen, nil
}

// stateOf reads all state but indexes and capacity.
func stateOf(d *types.TableDescription, want TableState) TableState {
	s := TableState{
		Name: want.Name, ARN: aws.ToString(d.TableArn), Status: string(d.TableStatus), ItemCount: d.ItemCount,
		Keys: fromKeys(typesOf(d), d.KeySchema), SSE: fromEncryption(d.SSEDescription, want.SSE), DeletionProtection: aws.Bool(aws.ToBool(d.DeletionProtectionEnabled)),
		TableClass: fromClass(d.TableClassSummary), Stream: fromStream(d.StreamSpecification), Replicas: replicasOf(d),
	}
	if *s.Stream != "" { // the last stream is described after its end, too
		s.StreamARN = aws.ToString(d.LatestStreamArn)
	}
	return s
}

// replicasOf returns the other regions that have a replica of the table, in order; nil for none.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GlobalTables.html
func replicasOf(d *types.TableDescription) (regions []string) {
	for _, r := range d.Replicas {
		region := aws.ToString(r.RegionName)
		ends := r.ReplicaStatus == types.ReplicaStatusDeleting || r.ReplicaStatus == types.ReplicaStatusCreationFailed
		if !ends && !strings.Contains(aws.ToString(d.TableArn), ":dynamodb:"+region+":") {
			regions = append(regions, region)
		}
	}
	slices.Sort(regions)
	return regions
}

// passing are the transitional states: they end without a person, and DynamoDB accepts no change until then. Read only.
var passing = []types.TableStatus{types.TableStatusCreating, types.TableStatusUpdating, types.TableStatusDeleting, types.TableStatusArchiving}

// unusable are the states that only a person can end. Read only.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
var unusable = map[types.TableStatus]status.Stalled{
	types.TableStatusInaccessibleEncryptionCredentials: {Reason: status.ReasonAccessDenied, Message: "DynamoDB cannot use the KMS key that encrypts the table: " +
		"enable the key and its grants within seven days, or DynamoDB archives the table"},
	types.TableStatusArchived: {Reason: status.ReasonMissing, Message: "DynamoDB archived the table because it could not use its KMS key: " +
		"delete the archived table and restore it from the backup that DynamoDB made"},
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/globaltables-security.html
	types.TableStatusReplicationNotAuthorized: {Reason: status.ReasonAccessDenied, Message: "the table is REPLICATION_NOT_AUTHORIZED: DynamoDB may not replicate it: " +
		"allow the actions of AWSServiceRoleForDynamoDBReplication, or of replication.dynamodb.amazonaws.com, in the resource policy of the table and in the key policy, " +
		"within 20 hours; afterwards DynamoDB makes the replica a table of its region alone, for good. " +
		"A replica with multi-Region strong consistency stays for seven days, and is inaccessible for good afterwards"},
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
	if err != nil {
		return err
	}
	if busy := kind.BusyUnless("the time to live of the table", kind.NonNil(out.TimeToLiveDescription).TimeToLiveStatus, types.TimeToLiveStatus("").Values()...); busy != "" {
		return &status.Waiting{Reason: status.ReasonBusy, For: busy, Usable: true}
	}
	have.TTL = fromTTL(out.TimeToLiveDescription)
	return nil
}

// checkKey refuses aliases, which DynamoDB accepts and then reports as the ARN of a key.
func checkKey(e *v1alpha1.DynamoDBSSE) error {
	if e != nil && kind.IsKMSAlias(kind.CustomerKMSKey(service, e.KMSKeyID)) {
		return status.Invalid("spec.sse.kmsKeyID", "is an alias; give the key's ARN or ID: DynamoDB reports only those, so an alias cannot be compared")
	}
	return nil
}
