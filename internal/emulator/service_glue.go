// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
)

// glueService keeps nothing: moto has all that is needed.
type glueService struct{ base }

func (s *glueService) Facts() *Facts {
	return &Facts{
		Prefix: "glue",
		Requests: RequestFacts{Targets: []string{"AWSGlue"}, Keys: []string{"TableName", "DatabaseInput.Name", "CrawlerName"}, Resource: func(_ string, body map[string]any) (string, bool) {
			name := glueTable(body)
			return name, name != ""
		}},
		Errors: ErrorFacts{Missing: map[string]awsError{"": {http.StatusBadRequest, "EntityNotFoundException", "Entity %s not found."}}},
		Writes: WriteFacts{
			TagReads: []tagRead{
				{op: "GetTags", where: "Tags"}, {op: "GetTable", where: "Table.Parameters", neverEmpty: true}, {op: "GetDatabase", where: "Database.Parameters", neverEmpty: true},
			},
			TagWrites: []string{"UpdateTable", "UpdateDatabase"},
			InTurn:    []string{"UpdateCrawler", "DeleteCrawler", "GetCrawler", "TagResource", "UntagResource", "GetTags"},
		},
		Names: map[string]nameRule{
			"CreateDatabase": {"DatabaseInput.Name", 1, 255, glueName, "InvalidInputException"},
			"CreateTable":    {"TableInput.Name", 1, 255, glueName, "InvalidInputException"},
			"CreateCrawler":  {"Name", 1, 255, glueName, "InvalidInputException"},
		},
		Rights: RightFacts{
			Namings: map[string]naming{
				"glue crawler/*":               {names: namedCrawlers},
				"glue database/*":              {names: namedDatabases},
				"glue table/*/*":               {names: namedCatalogTables},
				"glue userDefinedFunction/*/*": {names: func(q *asker) []string { return []string{q.x.resource + "/*"} }},
			},
			NotNamed: map[string]string{
				"glue:GetTables glue table/*/*": "it lists the tables to which the caller has the right, and fails for want of none",
			},
			Dependents: []dependent{
				tagging("glue:CreateCrawler", "glue:TagResource", "glue crawler/*"),
				tagging("glue:CreateDatabase", "glue:TagResource", "glue database/*"),
				hands("glue:CreateCrawler", "Role", "glue"), hands("glue:UpdateCrawler", "Role", "glue"),
				{action: "glue:DeleteDatabase", needs: "glue:DeleteDatabase", at: []string{"glue table/*/*"}, page: "the reference marks what is in the database"},
			},
		},
		Inventory: []inventoryKind{
			{"glue/database", false, listJSON("glue", "AWSGlue.GetDatabases", "DatabaseList", "Name")},
			{"glue/table", false, listGlueTables},
			{"glue/crawler", false, listJSON("glue", "AWSGlue.GetCrawlers", "Crawlers", "Name")},
		},
		Rewrites: []Rewrite{
			{Kind: "GlueTable", Field: "partitionKeys", What: "names of columns become lower case", IsSent: true, ops: []string{"GetTable"},
				members: func(body map[string]any) { lowerNames(member(body, "Table.PartitionKeys")) }},
			{Kind: "GlueTable", Field: "storageDescriptor.columns", What: "names of columns become lower case", IsSent: true, ops: []string{"GetTable"},
				members: func(body map[string]any) { lowerNames(member(body, "Table.StorageDescriptor.Columns")) }},
			{Kind: "GlueCrawler", Field: "role", What: "the ARN of a role becomes its path and name", isRecorded: true, ops: []string{"GetCrawler"},
				members: func(body map[string]any) {
					if crawler, _ := member(body, "Crawler").(map[string]any); crawler != nil {
						if _, name, isARN := strings.Cut(text(crawler["Role"]), ":role/"); isARN {
							crawler["Role"] = name
						}
					}
				}},
			{Kind: "GlueTable", Field: "parameters", What: "the value of table_type becomes lower case", isRecorded: true, ops: []string{"GetTable"},
				members: func(body map[string]any) {
					if parameters, _ := member(body, "Table.Parameters").(map[string]any); text(parameters["table_type"]) != "" {
						parameters["table_type"] = strings.ToLower(text(parameters["table_type"]))
					}
				}},
		},
	}
}

var glueName = regexp.MustCompile(`^[\x20-\x{D7FF}\x{E000}-\x{FFFD}\t]+$`)

func (s *glueService) Corrections() []Correction {
	return []Correction{{Name: "crawlers can be updated", Ops: []string{"UpdateCrawler"}, Before: s.updateCrawler}}
}

// updateCrawler: moto has no UpdateCrawler; the crawler is created again with the
// members of the request in place of the old ones.
func (s *glueService) updateCrawler(ctx context.Context, x *exchange) *answer {
	name := x.json["Name"]
	a, got, err := s.askJSON(ctx, x, "GetCrawler", map[string]any{"Name": name})
	if err != nil {
		return nil
	}
	crawler, ok := got["Crawler"].(map[string]any)
	if !ok {
		return a // EntityNotFoundException
	}
	arn := fmt.Sprintf("arn:%s:glue:%s:%s:crawler/%s", partitionOf(x.region), x.region, defaultAccount, name)
	_, tags, err := s.askJSON(ctx, x, "GetTags", map[string]any{"ResourceArn": arn})
	if err != nil {
		return nil
	}
	want := crawlerInput(crawler)
	maps.Copy(want, x.json)
	want["Tags"] = tags["Tags"]
	for _, step := range []struct {
		op   string
		body any
	}{{"DeleteCrawler", map[string]any{"Name": name}}, {"CreateCrawler", want}} {
		if a, _, err = s.askJSON(ctx, x, step.op, step.body); err != nil || a.status != http.StatusOK {
			return a
		}
	}
	return a
}

// crawlerInput gives the members of a crawler that CreateCrawler takes.
func crawlerInput(crawler map[string]any) map[string]any {
	want := map[string]any{}
	for _, key := range []string{"Name", "Role", "DatabaseName", "Description", "Targets", "Classifiers", "TablePrefix", "SchemaChangePolicy",
		"RecrawlPolicy", "LineageConfiguration", "LakeFormationConfiguration", "Configuration", "CrawlerSecurityConfiguration"} {
		if v, ok := crawler[key]; ok && v != nil {
			want[key] = v
		}
	}
	if schedule := text(member(crawler, "Schedule.ScheduleExpression")); schedule != "" {
		want["Schedule"] = schedule
	}
	return want
}

// glueTable gives database/table for requests about a table, else "".
func glueTable(body map[string]any) string {
	database := text(body["DatabaseName"])
	if database == "" {
		return ""
	}
	for _, key := range []string{"TableInput.Name", "TableName", "Name"} {
		if name := text(member(body, key)); name != "" {
			return database + "/" + name
		}
	}
	return database
}

func listGlueTables(ctx context.Context, l *lister) ([]string, error) {
	databases, err := listJSON("glue", "AWSGlue.GetDatabases", "DatabaseList", "Name")(ctx, l)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, database := range databases {
		pages, err := l.json(ctx, "glue", "AWSGlue.GetTables", map[string]any{"DatabaseName": database})
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			tables, _ := page["TableList"].([]any)
			for _, t := range tables {
				table, _ := t.(map[string]any)
				names = append(names, database+"/"+text(table["Name"]))
			}
		}
	}
	return names, nil
}

func namedCrawlers(q *asker) []string {
	if strings.Contains(q.x.op, "Crawler") {
		return q.values("Name", "CrawlerName")
	}
	return nil
}

func namedDatabases(q *asker) []string {
	if strings.Contains(q.x.op, "Crawler") || q.x.json["ResourceArn"] != nil {
		return nil
	}
	database, _, _ := strings.Cut(q.x.resource, "/")
	return []string{database}
}

// namedCatalogTables returns the tables that the request names, or all of its database.
func namedCatalogTables(q *asker) []string {
	database, table, ok := strings.Cut(q.x.resource, "/")
	switch {
	case q.x.op == "GetTables":
		return nil
	case !ok:
		table = "*"
	}
	return []string{database + "/" + table}
}

func lowerNames(columns any) {
	list, _ := columns.([]any)
	for _, c := range list {
		if column, ok := c.(map[string]any); ok {
			column["Name"] = strings.ToLower(text(column["Name"]))
		}
	}
}
