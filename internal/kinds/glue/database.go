// SPDX-License-Identifier: Apache-2.0

// Package glue has the kinds of the Glue Data Catalog: databases, tables and crawlers.
//
// UpdateDatabase and UpdateTable replace the whole object. Both therefore send the values that were read, with only the differences
// changed, and keep the settings of crawlers, Lake Formation and other engines.
package glue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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

// DatabaseState is a database as both the spec and Glue can express it.
type DatabaseState struct {
	Name string `drift:"identity"`
	ARN  string `drift:"id"`
	// Cluster is the value of the owner tag for this cluster.
	Cluster string `drift:"id"`
	// Input holds all fields that Glue returned, as UpdateDatabase accepts them.
	Input types.DatabaseInput `drift:"observed"`

	Description *string
	LocationURI *string
	// Parameters has a nil value for a key that is wanted to be absent.
	Parameters map[string]*string
	Tags       map[string]string `drift:"tags"`
}

type database struct{ api *glue.Client }

// NewDatabase binds the GlueDatabase kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsglue.html
func NewDatabase(cfg aws.Config) kind.Kind[*v1alpha1.GlueDatabase, DatabaseState] {
	d := &database{api: glue.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.GlueDatabase, DatabaseState]{
		Meta:   kind.Meta{Facts: databaseFacts(), Identity: kind.ByName, CreatesFirst: true},
		Export: kind.Export[*v1alpha1.GlueDatabase, DatabaseState]{Identity: []string{"databaseName"}, Spec: exportedDatabase},
		Identify: func(sc kind.Scope, cr *v1alpha1.GlueDatabase) (DatabaseState, error) {
			return DatabaseState{Name: cr.Spec.DatabaseName, ARN: arn(sc, "database/"+cr.Spec.DatabaseName), Cluster: sc.OwnerTags[clusterKey]}, nil
		},
		Declare: func(_ kind.Scope, cr *v1alpha1.GlueDatabase, s *DatabaseState) (err error) {
			s.Description, s.LocationURI = cr.Spec.Description, cr.Spec.LocationURI
			s.Parameters, err = wantedParameters(cr.Spec.Parameters, cr.Status.ManagedParameters)
			return err
		},
		Describe: kind.Read[DatabaseState]{Actions: []string{"glue:GetDatabase"}, Do: d.describe},
		Explain:  explain[DatabaseState],
		Create: kind.Call[DatabaseState]{Action: "glue:CreateDatabase", Do: kind.Send(d.api.CreateDatabase, func(want, _ DatabaseState) *glue.CreateDatabaseInput {
			return &glue.CreateDatabaseInput{Tags: want.Tags, DatabaseInput: &types.DatabaseInput{
				Name: &want.Name, Description: kind.NonEmpty(want.Description), LocationUri: kind.NonEmpty(want.LocationURI), Parameters: plainValues(want.Parameters)}}
		})},
		Tagging: tagging(d.api, func(s DatabaseState) string { return s.ARN }),
		Parts: []kind.Part[DatabaseState]{{Fields: []string{"Description", "LocationURI", "Parameters"}, InCreate: true,
			Write: kind.Call[DatabaseState]{Action: "glue:UpdateDatabase", DoDiff: kind.SendDiff(d.api.UpdateDatabase, func(want, have DatabaseState, diff kind.Diff) *glue.UpdateDatabaseInput {
				return &glue.UpdateDatabaseInput{Name: &want.Name, DatabaseInput: databaseInput(want, have.Input, diff)}
			})}}},
		Holds: d.holds, HoldsReads: []string{"glue:GetTables"},
		Delete: []kind.Ending[DatabaseState]{{Call: kind.Call[DatabaseState]{Action: "glue:DeleteDatabase", Effect: kind.Ends, Do: kind.Send(d.api.DeleteDatabase, func(want, _ DatabaseState) *glue.DeleteDatabaseInput {
			return &glue.DeleteDatabaseInput{Name: &want.Name}
		})}}},
		Publish: func(cr *v1alpha1.GlueDatabase, s DatabaseState) {
			cr.Status.ARN, cr.Status.ID = s.ARN, s.Name
			cr.Status.ManagedParameters = managedKeys(cr.Spec.Parameters, cr.Status.ManagedParameters, s.Parameters)
		},
	})
}

func (d *database) describe(ctx context.Context, want DatabaseState, _ kind.Look) (kind.Seen[DatabaseState], error) {
	out, err := awsclient.Lookup(ctx, d.api.GetDatabase, &glue.GetDatabaseInput{Name: &want.Name})
	if out == nil || out.Database == nil {
		return kind.Seen[DatabaseState]{}, err
	}
	db := out.Database
	return kind.Seen[DatabaseState]{Exists: true, Created: aws.ToTime(db.CreateTime), State: DatabaseState{
		Name: want.Name, ARN: want.ARN, Description: db.Description, LocationURI: db.LocationUri, Parameters: seenParameters(db.Parameters),
		Input: kind.Convert[types.DatabaseInput](db),
	}}, nil
}

// databaseInput is in with the differences applied.
func databaseInput(want DatabaseState, in types.DatabaseInput, diff kind.Diff) *types.DatabaseInput {
	in.Name = &want.Name
	kind.SetChanged(diff, "Description", &in.Description, kind.NonEmpty(want.Description))
	kind.SetChanged(diff, "LocationURI", &in.LocationUri, kind.NonEmpty(want.LocationURI))
	in.Parameters = mergeChanged(in.Parameters, plainValues(want.Parameters), diff, "Parameters")
	return &in
}

const (
	// tablesRead sets how many tables of a database are counted before its deletion: one page of GetTables.
	tablesRead = 100
	// tablesNamed sets how many of them the condition names.
	tablesNamed = 3
	// tablesInterval sets how soon a database is looked at again if all its tables carry the owner keys of this cluster. Their objects
	// usually delete them within seconds, and no event of a table wakes the database's object.
	tablesInterval = 5 * time.Second
)

// holds keeps a database that contains tables, because DeleteDatabase deletes them with it. Tables of
// GlueTable objects are deleted by those objects first. A link to a database elsewhere contains none.
// https://docs.aws.amazon.com/glue/latest/webapi/API_DeleteDatabase.html
func (d *database) holds(ctx context.Context, want DatabaseState, seen *kind.Seen[DatabaseState]) error {
	if seen.State.Input.TargetDatabase != nil {
		return nil
	}
	read := 0
	tables, err := kind.Collect(func(token *string) ([]types.Table, *string, error) {
		out, err := d.api.GetTables(ctx, &glue.GetTablesInput{DatabaseName: &want.Name, MaxResults: aws.Int32(tablesRead), NextToken: token})
		if err != nil {
			return nil, nil, err
		}
		if read += len(out.TableList); read >= tablesRead { // enough to refuse the deletion
			out.NextToken = nil
		}
		return out.TableList, out.NextToken, nil
	})
	if err != nil || len(tables) == 0 {
		return err
	}
	seen.Holds = append(seen.Holds, tablesHold(want, tables))
	return nil
}

func tablesHold(want DatabaseState, tables []types.Table) kind.Hold {
	owned := 0
	var names []string
	for _, t := range tables {
		if t.Parameters[clusterKey] == want.Cluster {
			owned++
		}
		names = append(names, aws.ToString(t.Name))
	}
	slices.Sort(names)
	list := strings.Join(names[:min(len(names), tablesNamed)], ", ")
	if len(names) > tablesNamed {
		list += ", ..."
	}
	count := strconv.Itoa(len(names))
	if len(names) >= tablesRead {
		count = "at least " + count
	}
	h := kind.Hold{Reason: status.ReasonDatabaseNotEmpty, Message: fmt.Sprintf(
		"the tables in the database %s to be deleted, because deleting the database would delete them too; it contains %s, of which %d were made by GlueTable objects of this cluster: %s; "+
			"delete those objects, and the tables that have none, or set deletionPolicy: Retain", want.Name, count, owned, list)}
	if owned == len(tables) {
		h.After = tablesInterval
	}
	return h
}
