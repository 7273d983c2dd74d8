// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Storage is a storage descriptor; a nil field is not declared. An empty string in the spec is not
// declared; compressed has no third value and always is.
type Storage struct {
	Columns                             *[]v1alpha1.GlueColumn
	Location, InputFormat, OutputFormat *string
	Compressed                          *bool
	SerdeInfo                           *Serde
}

// Serde is the serializer of a storage descriptor. Its parameters are compared as a whole: each of them
// changes how the data is read.
type Serde struct {
	Name, SerializationLibrary *string
	Parameters                 map[string]string `drift:"exact"`
}

// tableInput is the part of a table that can be written.
func tableInput(in *types.Table) types.TableInput {
	out := kind.Convert[types.TableInput](in)
	out.LastAccessTime, out.LastAnalyzedTime = truncateTime(in.LastAccessTime), truncateTime(in.LastAnalyzedTime)
	return out
}

// truncateTime returns nil for the epoch, which means never in Glue.
func truncateTime(t *time.Time) *time.Time {
	if t == nil || t.Unix() <= 0 {
		return nil
	}
	return t
}

// overlay is in with the differences applied.
func overlay(want TableState, in types.TableInput, diff kind.Diff) *types.TableInput {
	in.Name = &want.Name
	kind.SetChanged(diff, "Description", &in.Description, kind.NonEmpty(want.Description))
	kind.SetChanged(diff, "TableType", &in.TableType, kind.NonEmpty(want.TableType))
	if diff.Under("PartitionKeys") {
		in.PartitionKeys = columns(*want.PartitionKeys, in.PartitionKeys)
	}
	if diff.Under("Storage") {
		in.StorageDescriptor = storage(*want.Storage, in.StorageDescriptor)
	}
	in.Parameters = mergeChanged(in.Parameters, plainValues(want.Parameters), diff, "Parameters")
	in.Parameters = mergeChanged(in.Parameters, want.Tags, diff, "Tags")
	return &in
}

// lowered returns the columns with their names in lower case, as Glue keeps them; the names inside of types stay.
func lowered(in *[]v1alpha1.GlueColumn) *[]v1alpha1.GlueColumn {
	if in == nil {
		return nil
	}
	out := slices.Clone(*in)
	for i := range out {
		out[i].Name = strings.ToLower(out[i].Name)
	}
	return &out
}

// columns keeps the parameters of a column of the same name, such as a crawler's statistics.
func columns(want []v1alpha1.GlueColumn, found []types.Column) []types.Column {
	same := func(w v1alpha1.GlueColumn, c types.Column) bool { return w.Name == aws.ToString(c.Name) }
	return kind.OverlayEach(want, found, same, func(c *types.Column, w v1alpha1.GlueColumn) {
		*c = types.Column{Name: &w.Name, Type: &w.Type, Comment: kind.NonEmpty(&w.Comment), Parameters: c.Parameters}
	})
}

// storage returns the found storage with the declared fields replaced.
func storage(want Storage, found *types.StorageDescriptor) *types.StorageDescriptor {
	out := *kind.NonNil(found)
	kind.Overlay(&out, want)
	if want.Columns != nil {
		out.Columns = columns(*want.Columns, kind.NonNil(found).Columns)
	}
	return &out
}
