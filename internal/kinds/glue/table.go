// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// TableState is a table as both the spec and Glue can express it.
type TableState struct {
	Database string `drift:"identity"`
	Name     string `drift:"identity"`
	ARN      string `drift:"id"`
	// Input holds all fields that Glue returned, as UpdateTable accepts them. Version is the table's version at that time.
	Input   types.TableInput `drift:"observed"`
	Version *string          `drift:"observed"`

	Description   *string
	TableType     *string
	PartitionKeys *[]v1alpha1.GlueColumn
	Storage       *Storage
	// Parameters has a nil value for a key that is wanted to be absent; the owner keys are in Tags.
	Parameters map[string]*string
	// Tags are the owner keys only. A table carries no tags, so they are among its parameters. User tags
	// are not written: as parameters they would reach the engines that read the table.
	Tags map[string]string `drift:"tags"`
}

// tableType is the parameter that says which format a table has.
const tableType = "table_type"

type table struct{ api *glue.Client }

// NewTable binds the GlueTable kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsglue.html
func NewTable(cfg aws.Config) kind.Kind[*v1alpha1.GlueTable, TableState] {
	t := &table{api: glue.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.GlueTable, TableState]{
		Meta:     kind.Meta{Facts: tableFacts(), Identity: kind.ByParent, CreatesFirst: true, References: []string{"GlueDatabase"}},
		Identify: identifyTable, Declare: declareTable, Export: kind.Export[*v1alpha1.GlueTable, TableState]{Identity: []string{"databaseName", "tableName"}, Spec: exportedTable},
		Describe: kind.Read[TableState]{Actions: []string{"glue:GetTable"}, Do: t.describe},
		Create:   kind.Call[TableState]{Action: "glue:CreateTable", Do: t.create},
		Parts: []kind.Part[TableState]{{Fields: []string{"Description", "TableType", "PartitionKeys", "Storage", "Parameters", "Tags"}, InCreate: true,
			Write: kind.Call[TableState]{Action: "glue:UpdateTable", DoDiff: kind.SendDiff(t.api.UpdateTable, func(want, have TableState, diff kind.Diff) *glue.UpdateTableInput {
				return &glue.UpdateTableInput{
					DatabaseName: &want.Database, TableInput: overlay(want, have.Input, diff),
					// Glue refuses the update if a crawler wrote in between, instead of undoing its work.
					VersionId: have.Version,
					// Only old schemas are kept, because the number of versions of a table is limited.
					SkipArchive: aws.Bool(!diff.Under("PartitionKeys", "Storage")),
				}
			})}}},
		Delete: []kind.Ending[TableState]{{Call: kind.Call[TableState]{Action: "glue:DeleteTable", Effect: kind.Ends, Do: kind.Send(t.api.DeleteTable, func(want, _ TableState) *glue.DeleteTableInput {
			return &glue.DeleteTableInput{DatabaseName: &want.Database, Name: &want.Name}
		})}}},
		Publish: func(cr *v1alpha1.GlueTable, s TableState) {
			cr.Status.ARN, cr.Status.ID, cr.Status.DatabaseName = s.ARN, s.Name, s.Database
			cr.Status.ManagedParameters = managedKeys(cr.Spec.Parameters, cr.Status.ManagedParameters, s.Parameters)
		},
	})
}

func identifyTable(sc kind.Scope, cr *v1alpha1.GlueTable) (TableState, error) {
	db, err := databaseName(sc, cr.Spec.DatabaseName, cr.Spec.DatabaseRef)
	return TableState{Database: db, Name: cr.Spec.TableName, ARN: arn(sc, "table/"+db+"/"+cr.Spec.TableName), Tags: ownerKeys(sc.Tags)}, err
}

func declareTable(_ kind.Scope, cr *v1alpha1.GlueTable, s *TableState) (err error) {
	in := cr.Spec
	s.Description, s.TableType, s.PartitionKeys = in.Description, in.TableType, lowered(in.PartitionKeys)
	if s.Storage = kind.Convert[*Storage](in.StorageDescriptor); s.Storage != nil {
		s.Storage.Columns = lowered(s.Storage.Columns)
	}
	s.Parameters, err = wantedParameters(in.Parameters, cr.Status.ManagedParameters)
	return err
}

func databaseName(sc kind.Scope, literal string, ref *v1alpha1.ObjectReference) (string, error) {
	if ref == nil {
		return literal, nil
	}
	target, err := sc.Ref("GlueDatabase", ref.Name)
	return target.ID, err
}

func (t *table) describe(ctx context.Context, want TableState, _ kind.Look) (kind.Seen[TableState], error) {
	out, err := awsclient.Lookup(ctx, t.api.GetTable, &glue.GetTableInput{DatabaseName: &want.Database, Name: &want.Name})
	if out == nil || out.Table == nil {
		return kind.Seen[TableState]{}, err
	}
	in := out.Table
	s := TableState{
		Database: want.Database, Name: want.Name, ARN: want.ARN, Input: tableInput(in), Version: in.VersionId,
		Description: in.Description, TableType: in.TableType, PartitionKeys: kind.Convert[*[]v1alpha1.GlueColumn](in.PartitionKeys),
		Storage: kind.Convert[*Storage](in.StorageDescriptor), Parameters: seenParameters(in.Parameters), Tags: ownerKeys(in.Parameters),
	}
	// The catalogs of Iceberg write the type of a table in either case.
	if w, h := want.Parameters[tableType], s.Parameters[tableType]; w != nil && h != nil && strings.EqualFold(*w, *h) {
		s.Parameters[tableType] = w
	}
	return kind.Seen[TableState]{Exists: true, State: s, Tags: s.Tags, Created: aws.ToTime(in.CreateTime)}, nil
}

// create sends a list of partition keys also where there are none: Athena does not query a table without the list. Where the database is
// missing, Glue says so. https://docs.aws.amazon.com/glue/latest/webapi/API_TableInput.html
func (t *table) create(ctx context.Context, want, _ TableState) error {
	in := &types.TableInput{Name: &want.Name, Description: kind.NonEmpty(want.Description), TableType: kind.NonEmpty(want.TableType),
		PartitionKeys: append([]types.Column{}, kind.Convert[[]types.Column](want.PartitionKeys)...), StorageDescriptor: kind.Convert[*types.StorageDescriptor](want.Storage),
		Parameters: kind.MergeTags(plainValues(want.Parameters), want.Tags, nil)}
	_, err := t.api.CreateTable(ctx, &glue.CreateTableInput{DatabaseName: &want.Database, TableInput: in})
	return err
}
