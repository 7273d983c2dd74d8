// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exportedDatabase declares a database as it is.
func exportedDatabase(cr *v1alpha1.GlueDatabase, have DatabaseState) {
	out := &cr.Spec
	out.Description, out.LocationURI, out.Parameters = kind.NonEmpty(have.Description), kind.NonEmpty(have.LocationURI), exportedParameters(have.Parameters)
}

// exportedTable declares a table as it is.
func exportedTable(cr *v1alpha1.GlueTable, have TableState) {
	out := &cr.Spec
	out.Description, out.TableType, out.PartitionKeys = kind.NonEmpty(have.Description), kind.NonEmpty(have.TableType), kind.NonEmptyList(have.PartitionKeys)
	out.StorageDescriptor, out.Parameters = kind.Convert[*v1alpha1.GlueStorageDescriptor](have.Storage), exportedParameters(have.Parameters)
}

// exportedCrawler declares a crawler as it is.
func exportedCrawler(cr *v1alpha1.GlueCrawler, have CrawlerState) {
	out := &cr.Spec
	out.Role, out.DatabaseName, out.S3Targets, out.SchemaChangePolicy = have.Role, have.Database, have.S3Targets, &have.SchemaChangePolicy
	out.Schedule, out.TablePrefix, out.Description = kind.NonEmpty(have.Schedule), kind.NonEmpty(have.TablePrefix), kind.NonEmpty(have.Description)
}

func exportedParameters(have map[string]*string) map[string]v1alpha1.GlueParameter {
	out := make(map[string]v1alpha1.GlueParameter, len(have))
	for k, v := range have {
		out[k] = v1alpha1.GlueParameter(aws.ToString(v))
	}
	return out
}
