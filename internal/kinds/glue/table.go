package glue

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// TableState is a table as both the spec and Glue can say it.
type TableState struct {
	Database, Name, ARN string `drift:"id"`
	// Input is all that Glue said, in the form in which it is sent back, and Version is which one it was.
	Input   types.TableInput `drift:"observed"`
	Version *string          `drift:"observed"`

	Description   *string
	TableType     *string
	PartitionKeys *[]v1alpha1.GlueColumn
	Storage       *Storage
	// Parameters has a nil value where a key shall be absent; the owner's keys are in Tags.
	Parameters map[string]*string
	// Tags are the owner's keys only. A table carries no tags, so they live among its parameters, and
	// the user's tags have nowhere to go: as parameters they would reach the engines that read the table.
	Tags map[string]string `drift:"tags"`
}

// Storage is a storage descriptor; a nil field is not declared.
type Storage struct {
	Columns                             *[]v1alpha1.GlueColumn
	Location, InputFormat, OutputFormat *string
	Compressed                          *bool
	SerdeName, SerdeLibrary             *string
	// SerdeParameters are compared whole: each of them changes what the data means.
	SerdeParameters *[]Pair
}

// Pair is an entry of a map that is compared whole.
type Pair struct{ Key, Value string }

type table struct{ api *glue.Client }

// NewTable binds the GlueTable kind to an identity.
func NewTable(cfg aws.Config) kind.Kind[*v1alpha1.GlueTable, TableState] {
	return &table{api: glue.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsglue.html
func (t *table) Meta() kind.Meta {
	return kind.Meta{
		Reads:    []string{"glue:GetTable"},
		Writes:   []string{"glue:CreateTable", "glue:UpdateTable", "glue:DeleteTable"},
		Identity: kind.ByParent,
	}
}

func (t *table) Desired(sc kind.Scope, cr *v1alpha1.GlueTable) (TableState, error) {
	in := cr.Spec
	db, err := databaseName(sc, in.DatabaseName, in.DatabaseRef)
	if err != nil {
		return TableState{}, err
	}
	s := TableState{Database: db, Name: in.TableName, ARN: arn(sc, "table/"+db+"/"+in.TableName), Tags: sc.OwnerTags}
	if sc.Deleting {
		return s, nil
	}
	s.Description, s.TableType, s.PartitionKeys = in.Description, in.TableType, in.PartitionKeys
	s.Storage = wantedStorage(in.StorageDescriptor)
	s.Parameters, err = wantedParameters(in.Parameters, cr.Status.ManagedParameters)
	return s, err
}

func databaseName(sc kind.Scope, literal string, ref *v1alpha1.ObjectReference) (string, error) {
	if ref == nil {
		return literal, nil
	}
	target, err := sc.Ref("GlueDatabase", ref.Name)
	return target.ID, err
}

// wantedStorage takes an empty string for "not declared" and compressed, which has no third value, for
// declared with the rest.
func wantedStorage(in *v1alpha1.GlueStorageDescriptor) *Storage {
	if in == nil {
		return nil
	}
	s := &Storage{Location: orNil(&in.Location), InputFormat: orNil(&in.InputFormat), OutputFormat: orNil(&in.OutputFormat), Compressed: &in.Compressed}
	if in.Columns != nil {
		s.Columns = &in.Columns
	}
	if serde := in.SerdeInfo; serde != nil {
		s.SerdeName, s.SerdeLibrary = orNil(&serde.Name), orNil(&serde.SerializationLibrary)
		if serde.Parameters != nil {
			s.SerdeParameters = pairs(serde.Parameters)
		}
	}
	return s
}

func pairs[V ~string](m map[string]V) *[]Pair {
	out := make([]Pair, 0, len(m))
	for _, k := range kind.SortedKeys(m) {
		out = append(out, Pair{k, string(m[k])})
	}
	return &out
}

func (t *table) Observe(ctx context.Context, want TableState) (kind.Seen[TableState], error) {
	out, err := t.api.GetTable(ctx, &glue.GetTableInput{DatabaseName: &want.Database, Name: &want.Name})
	if awsclient.IsNotFound(err) || err == nil && out.Table == nil {
		return kind.Seen[TableState]{}, nil
	}
	if err != nil {
		return kind.Seen[TableState]{}, err
	}
	in := out.Table
	s := TableState{
		Database: want.Database, Name: want.Name, ARN: want.ARN, Input: tableInput(in), Version: in.VersionId,
		Description: in.Description, TableType: in.TableType, PartitionKeys: seenColumns(in.PartitionKeys),
		Storage: seenStorage(in.StorageDescriptor), Parameters: seenParameters(in.Parameters), Tags: ownerKeys(in.Parameters),
	}
	return kind.Seen[TableState]{Exists: true, State: s, Tags: s.Tags, Created: aws.ToTime(in.CreateTime)}, nil
}

func ownerKeys(parameters map[string]string) map[string]string {
	out := maps.Clone(parameters)
	maps.DeleteFunc(out, func(k, _ string) bool { return !strings.HasPrefix(k, ownerPrefix) })
	return out
}

func seenColumns(in []types.Column) *[]v1alpha1.GlueColumn {
	out := make([]v1alpha1.GlueColumn, len(in))
	for i, c := range in {
		out[i] = v1alpha1.GlueColumn{Name: aws.ToString(c.Name), Type: aws.ToString(c.Type), Comment: aws.ToString(c.Comment)}
	}
	return &out
}

func seenStorage(in *types.StorageDescriptor) *Storage {
	if in == nil {
		return nil
	}
	s := &Storage{Columns: seenColumns(in.Columns), Location: in.Location, InputFormat: in.InputFormat, OutputFormat: in.OutputFormat, Compressed: &in.Compressed}
	if serde := in.SerdeInfo; serde != nil {
		s.SerdeName, s.SerdeLibrary, s.SerdeParameters = serde.Name, serde.SerializationLibrary, pairs(serde.Parameters)
	}
	return s
}

// tableInput is the part of a table that can be written.
func tableInput(in *types.Table) types.TableInput {
	return types.TableInput{
		Name: in.Name, Description: in.Description, Owner: in.Owner, Parameters: in.Parameters, PartitionKeys: in.PartitionKeys,
		LastAccessTime: past(in.LastAccessTime), LastAnalyzedTime: past(in.LastAnalyzedTime), Retention: in.Retention,
		StorageDescriptor: in.StorageDescriptor, TableType: in.TableType, TargetTable: in.TargetTable,
		ViewExpandedText: in.ViewExpandedText, ViewOriginalText: in.ViewOriginalText, FederatedTable: in.FederatedTable,
	}
}

// past drops the epoch, with which Glue says "never".
func past(t *time.Time) *time.Time {
	if t == nil || t.Unix() <= 0 {
		return nil
	}
	return t
}

// tableFields are settled by one UpdateTable, which replaces the whole table.
var tableFields = []string{"Description", "TableType", "PartitionKeys", "Storage", "Parameters", "Tags"}

func (t *table) Converge(want TableState, seen kind.Seen[TableState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: "glue:CreateTable", Do: t.create(want)}}
	}
	return []kind.Step{{Action: "glue:UpdateTable", Fixes: tableFields, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := t.api.UpdateTable(ctx, &glue.UpdateTableInput{
			DatabaseName: &want.Database, TableInput: overlay(want, seen.State.Input, diff),
			// Refused with ConcurrentModification if a crawler wrote in between, instead of undoing its work.
			VersionId: seen.State.Version,
			// An old schema is worth keeping; versions of a table are limited, so nothing else is.
			SkipArchive: aws.Bool(!diff.Under("PartitionKeys", "Storage")),
		})
		return "", err
	}}}
}

// create waits while the database is missing: Glue has one and the same code for table and database.
func (t *table) create(want TableState) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := &types.TableInput{Name: &want.Name, Description: orNil(want.Description), TableType: orNil(want.TableType), Parameters: plain(want.Parameters)}
		maps.Copy(in.Parameters, want.Tags)
		if want.PartitionKeys != nil {
			in.PartitionKeys = columns(*want.PartitionKeys, nil)
		}
		if want.Storage != nil {
			in.StorageDescriptor = storage(*want.Storage, nil)
		}
		_, err := t.api.CreateTable(ctx, &glue.CreateTableInput{DatabaseName: &want.Database, TableInput: in})
		if awsclient.IsNotFound(err) {
			return "", &status.Waiting{For: "the Glue database " + want.Database + " to exist", After: databaseInterval}
		}
		return "", err
	}
}

// databaseInterval is how often a missing database is looked for. Nothing tells of its coming: where an
// object stands for it, that one stays Ready when it makes anew what vanished.
const databaseInterval = 5 * time.Second

// overlay is what was read, with what differs changed and nothing else.
func overlay(want TableState, in types.TableInput, diff kind.Diff) *types.TableInput {
	in.Name = &want.Name
	if diff.Under("Description") {
		in.Description = orNil(want.Description)
	}
	if diff.Under("TableType") {
		in.TableType = orNil(want.TableType)
	}
	if diff.Under("PartitionKeys") {
		in.PartitionKeys = columns(*want.PartitionKeys, in.PartitionKeys)
	}
	if diff.Under("Storage") {
		in.StorageDescriptor = storage(*want.Storage, in.StorageDescriptor)
	}
	in.Parameters = setParameters(in.Parameters, want.Parameters, diff)
	owner, gone := diff.Keys("Tags")
	maps.Copy(in.Parameters, kind.Only(want.Tags, owner))
	for _, k := range gone {
		delete(in.Parameters, k)
	}
	return &in
}

// columns keeps what others noted on a column of the same name, such as a crawler's statistics.
func columns(want []v1alpha1.GlueColumn, have []types.Column) []types.Column {
	out := make([]types.Column, 0, len(want))
	for _, w := range want {
		c := types.Column{Name: aws.String(w.Name), Type: aws.String(w.Type), Comment: orNil(aws.String(w.Comment))}
		if i := slices.IndexFunc(have, func(h types.Column) bool { return aws.ToString(h.Name) == w.Name }); i >= 0 {
			c.Parameters = have[i].Parameters
		}
		out = append(out, c)
	}
	return out
}

// storage lays the declared fields over a copy of what is there.
func storage(want Storage, have *types.StorageDescriptor) *types.StorageDescriptor {
	var out types.StorageDescriptor
	if have != nil {
		out = *have
	}
	if want.Columns != nil {
		out.Columns = columns(*want.Columns, out.Columns)
	}
	out.Compressed = aws.ToBool(want.Compressed)
	lay(&out.Location, want.Location)
	lay(&out.InputFormat, want.InputFormat)
	lay(&out.OutputFormat, want.OutputFormat)
	if want.SerdeLibrary != nil {
		out.SerdeInfo = serde(want, out.SerdeInfo)
	}
	return &out
}

func serde(want Storage, have *types.SerDeInfo) *types.SerDeInfo {
	var out types.SerDeInfo
	if have != nil {
		out = *have
	}
	lay(&out.Name, want.SerdeName)
	lay(&out.SerializationLibrary, want.SerdeLibrary)
	if want.SerdeParameters != nil {
		out.Parameters = make(map[string]string, len(*want.SerdeParameters))
		for _, p := range *want.SerdeParameters {
			out.Parameters[p.Key] = p.Value
		}
	}
	return &out
}

func lay(field **string, want *string) {
	if want != nil {
		*field = want
	}
}

func (t *table) Remove(seen kind.Seen[TableState]) []kind.Step {
	s := seen.State
	return []kind.Step{{Action: "glue:DeleteTable", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := t.api.DeleteTable(ctx, &glue.DeleteTableInput{DatabaseName: &s.Database, Name: &s.Name})
		return "", err
	}}}
}

func (t *table) Publish(cr *v1alpha1.GlueTable, s TableState) {
	cr.Status.ARN, cr.Status.ID, cr.Status.DatabaseName = s.ARN, s.Name, s.Database
	cr.Status.ManagedParameters = managed(cr.Spec.Parameters, cr.Status.ManagedParameters, s.Parameters)
}
