// SPDX-License-Identifier: Apache-2.0

package glue

import "github.com/nexus-operator/nexus-operator/internal/kind"

// crawlerFacts declares what other packages know about a GlueCrawler.
func crawlerFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "glue",
			Prefix:  "crawler/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_glue_crawler",
			Identity: []string{"name"},
		},
	}
}

// databaseFacts declares what other packages know about a GlueDatabase.
func databaseFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service:  "glue",
			Prefix:   "database/",
			Without:  "/",
			Untagged: true,
		},
		Terraform: kind.Terraform{
			Type:     "aws_glue_catalog_database",
			Identity: []string{"name"},
		},
	}
}

// tableFacts declares what other packages know about a GlueTable.
func tableFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service:  "glue",
			Prefix:   "table/",
			Untagged: true,
		},
		Terraform: kind.Terraform{
			Type:     "aws_glue_catalog_table",
			Identity: []string{"database_name", "name"},
		},
	}
}
