// SPDX-License-Identifier: Apache-2.0

package glue

import "github.com/nexus-operator/nexus-operator/internal/kind"

// crawlerFacts returns the facts about a GlueCrawler that other packages use.
func crawlerFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {"glue:GetCrawler Crawler.Role"},
		},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "glue:CreateCrawler", If: kind.GivesTag},
				{Actions: "glue:*", On: []string{"crawler/${Name}"}},
			},
			Passes: []kind.Pass{{For: "glue:CreateCrawler glue:UpdateCrawler", To: "glue.amazonaws.com"}},
		},
		Services: awsServices,
		NotSettings: []string{
			"Crawler.CrawlElapsedTime", "Crawler.LastCrawl", "Crawler.Schedule.State", "Crawler.State", "Crawler.Version",
			"Crawler.LineageConfiguration.CrawlerLineageSettings=DISABLE",
		},
		OneValue: map[string]string{
			"RoleRef":     kind.AsItsTarget,
			"DatabaseRef": kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Glue::Crawler"},
		},
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

// databaseFacts returns the facts about a GlueDatabase that other packages use.
func databaseFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			// AWS evaluates the parents of a resource, and the resources that are deleted with it. Names of databases that a capability
			// makes have underscores for hyphens.
			Calls: []kind.Right{
				{Actions: "glue:GetTags glue:TagResource glue:UntagResource", On: []string{"database/${CatalogName}"}},
				{Actions: "glue:GetTables", On: []string{"catalog", "database/${CatalogName}", "table/${CatalogName}/*"}},
				{Actions: "glue:DeleteDatabase", On: []string{"catalog", "database/${CatalogName}", "table/${CatalogName}/*",
					"userDefinedFunction/${CatalogName}/*"}},
				{Actions: "glue:*", On: []string{"catalog", "database/${CatalogName}"}},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"Database.CatalogId", "Database.CreateTableDefaultPermissions",
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Glue::Database"},
			Properties: map[string]map[string]string{
				"AWS::Glue::Database": {
					"CatalogId":     "it is the account",
					"DatabaseInput": "its members are the fields of the spec",
				},
			},
			Unneeded: map[string]string{
				"glue:*Connection lakeformation:*": "there are no fields for federated and shared databases",
			},
		},
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

// tableFacts returns the facts about a GlueTable that other packages use.
func tableFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{{Actions: "glue:*", On: []string{"catalog", "database/${CatalogName}", "table/${CatalogName}/*"}}},
		},
		Services: awsServices,
		NotSettings: []string{
			"Table.CatalogId", "Table.CreatedBy", "Table.DatabaseName", "Table.VersionId",
		},
		OneValue: map[string]string{
			"DatabaseName DatabaseRef": kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Glue::Table"},
			Properties: map[string]map[string]string{
				"AWS::Glue::Table": {
					"CatalogId":            "it is the account",
					"TableInput":           "its members are the fields of the spec",
					"OpenTableFormatInput": "as icebergTableMetadata",
				},
			},
			Unneeded: map[string]string{
				"glue:PassConnection glue:GetSchemaVersion lakeformation:CreateTable lakeformation:Describe* lakeformation:ListResources s3:*": "there are no fields for connections, schema registries and open table formats",
				"lakeformation:GetDataAccess": "Lake Formation asks for it where a location is registered with it; an administrator of it grants it",
			},
		},
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
