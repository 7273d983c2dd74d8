// Package glue is the kinds of the Glue Data Catalog: databases, tables and crawlers.
//
// UpdateDatabase and UpdateTable replace the whole object, so both send what was read with only the
// differing parts changed: what crawlers, Lake Formation and other engines wrote stays.
package glue

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// DatabaseState is a database as both the spec and Glue can say it.
type DatabaseState struct {
	Name, ARN string `drift:"id"`
	// Input is all that Glue said, in the form in which it is sent back.
	Input types.DatabaseInput `drift:"observed"`

	Description *string
	LocationURI *string
	// Parameters has a nil value where a key shall be absent.
	Parameters map[string]*string
	Tags       map[string]string `drift:"tags"`
}

type database struct{ api *glue.Client }

// NewDatabase binds the GlueDatabase kind to an identity.
func NewDatabase(cfg aws.Config) kind.Kind[*v1alpha1.GlueDatabase, DatabaseState] {
	return &database{api: glue.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsglue.html
func (d *database) Meta() kind.Meta {
	return kind.Meta{
		Reads:    []string{"glue:GetDatabase", "glue:GetTags"},
		Writes:   []string{"glue:CreateDatabase", "glue:UpdateDatabase", "glue:DeleteDatabase", "glue:TagResource", "glue:UntagResource"},
		Identity: kind.ByName,
	}
}

func (d *database) Desired(sc kind.Scope, cr *v1alpha1.GlueDatabase) (DatabaseState, error) {
	in := cr.Spec
	s := DatabaseState{Name: in.DatabaseName, ARN: arn(sc, "database/"+in.DatabaseName), Tags: sc.Tags}
	if sc.Deleting {
		return s, nil
	}
	s.Description, s.LocationURI = in.Description, in.LocationURI
	var err error
	s.Parameters, err = wantedParameters(in.Parameters, cr.Status.ManagedParameters)
	return s, err
}

// Observe reads the database and then its tags, which GetDatabase does not tell.
func (d *database) Observe(ctx context.Context, want DatabaseState) (kind.Seen[DatabaseState], error) {
	out, err := d.api.GetDatabase(ctx, &glue.GetDatabaseInput{Name: &want.Name})
	if awsclient.IsNotFound(err) || err == nil && out.Database == nil {
		return kind.Seen[DatabaseState]{}, nil
	}
	if err != nil {
		return kind.Seen[DatabaseState]{}, err
	}
	tags, err := getTags(ctx, d.api, want.ARN)
	if awsclient.IsNotFound(err) { // deleted between the two calls
		return kind.Seen[DatabaseState]{}, nil
	}
	if err != nil {
		return kind.Seen[DatabaseState]{}, err
	}
	db := out.Database
	s := DatabaseState{
		Name: want.Name, ARN: want.ARN, Tags: tags,
		Description: db.Description, LocationURI: db.LocationUri, Parameters: seenParameters(db.Parameters),
		Input: types.DatabaseInput{
			Name: db.Name, Description: db.Description, LocationUri: db.LocationUri, Parameters: db.Parameters,
			CreateTableDefaultPermissions: db.CreateTableDefaultPermissions,
			FederatedDatabase:             db.FederatedDatabase, TargetDatabase: db.TargetDatabase,
		},
	}
	return kind.Seen[DatabaseState]{Exists: true, State: s, Tags: tags, Created: aws.ToTime(db.CreateTime)}, nil
}

func (d *database) Converge(want DatabaseState, seen kind.Seen[DatabaseState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: "glue:CreateDatabase", Do: func(ctx context.Context, _ string) (string, error) {
			_, err := d.api.CreateDatabase(ctx, &glue.CreateDatabaseInput{Tags: want.Tags, DatabaseInput: &types.DatabaseInput{
				Name: &want.Name, Description: orNil(want.Description), LocationUri: orNil(want.LocationURI), Parameters: plain(want.Parameters)}})
			return "", err
		}}}
	}
	steps := tagSteps(d.api, want.ARN, want.Tags, diff)
	if fields := []string{"Description", "LocationURI", "Parameters"}; diff.Under(fields...) {
		steps = append(steps, kind.Step{Action: "glue:UpdateDatabase", Fixes: fields, Do: func(ctx context.Context, _ string) (string, error) {
			_, err := d.api.UpdateDatabase(ctx, &glue.UpdateDatabaseInput{Name: &want.Name, DatabaseInput: databaseInput(want, seen.State.Input, diff)})
			return "", err
		}})
	}
	return steps
}

// databaseInput is what was read, overlaid by what differs.
func databaseInput(want DatabaseState, in types.DatabaseInput, diff kind.Diff) *types.DatabaseInput {
	in.Name = &want.Name
	if diff.Under("Description") {
		in.Description = orNil(want.Description)
	}
	if diff.Under("LocationURI") {
		in.LocationUri = orNil(want.LocationURI)
	}
	if diff.Under("Parameters") {
		in.Parameters = setParameters(in.Parameters, want.Parameters, diff)
	}
	return &in
}

// Remove deletes the database. Glue deletes the tables in it as well:
// https://docs.aws.amazon.com/glue/latest/webapi/API_DeleteDatabase.html
func (d *database) Remove(seen kind.Seen[DatabaseState]) []kind.Step {
	name := seen.State.Name
	return []kind.Step{{Action: "glue:DeleteDatabase", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := d.api.DeleteDatabase(ctx, &glue.DeleteDatabaseInput{Name: &name})
		return "", err
	}}}
}

func (d *database) Publish(cr *v1alpha1.GlueDatabase, s DatabaseState) {
	cr.Status.ARN, cr.Status.ID = s.ARN, s.Name
	cr.Status.ManagedParameters = managed(cr.Spec.Parameters, cr.Status.ManagedParameters, s.Parameters)
}
