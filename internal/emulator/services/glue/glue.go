// SPDX-License-Identifier: Apache-2.0

// Package glue holds the emulator's facts and corrections for AWS Glue.
package glue

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
)

// Service keeps nothing: moto has all that is needed.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "glue",
		Requests: proxy.RequestFacts{Targets: []string{"AWSGlue"}, Keys: []string{"TableName", "DatabaseInput.Name", "CrawlerName"},
			Resource: func(_ string, body map[string]any) (string, bool) {
				name := glueTable(body)
				return name, name != ""
			}},
		Errors: proxy.ErrorFacts{Missing: map[string]proxy.Error{"": {Status: http.StatusBadRequest, Code: "EntityNotFoundException",
			Message: "Entity %s not found."}}},
		Writes: proxy.WriteFacts{
			TagReads: []proxy.TagRead{
				{Op: "GetTags", Where: "Tags"}, {Op: "GetTable", Where: "Table.Parameters", NeverEmpty: true}, {Op: "GetDatabase",
					Where: "Database.Parameters", NeverEmpty: true},
			},
			TagWrites: []string{"UpdateTable", "UpdateDatabase"},
			InTurn:    []string{"UpdateCrawler", "DeleteCrawler", "GetCrawler", "TagResource", "UntagResource", "GetTags"},
		},
		Names: map[string]proxy.NameRule{
			"CreateDatabase": {Member: "DatabaseInput.Name", Min: 1, Max: 255, Pattern: glueName, Code: "InvalidInputException"},
			"CreateTable":    {Member: "TableInput.Name", Min: 1, Max: 255, Pattern: glueName, Code: "InvalidInputException"},
			"CreateCrawler":  {Member: "Name", Min: 1, Max: 255, Pattern: glueName, Code: "InvalidInputException"},
		},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"glue crawler/*":               {Names: namedCrawlers},
				"glue database/*":              {Names: namedDatabases},
				"glue table/*/*":               {Names: namedCatalogTables},
				"glue userDefinedFunction/*/*": {Names: func(q *proxy.Asker) []string { return []string{q.X.Resource + "/*"} }},
			},
			NotNamed: map[string]string{
				"glue:GetTables glue table/*/*": "it lists the tables to which the caller has the right, and fails for want of none",
			},
			Dependents: []proxy.Dependent{
				proxy.Tagging("glue:CreateCrawler", "glue:TagResource", "glue crawler/*"),
				proxy.Tagging("glue:CreateDatabase", "glue:TagResource", "glue database/*"),
				iam.Hands("glue:CreateCrawler", "Role", "glue"), iam.Hands("glue:UpdateCrawler", "Role", "glue"),
				{Action: "glue:DeleteDatabase", Needs: "glue:DeleteDatabase", At: []string{"glue table/*/*"},
					Page: "the reference marks what is in the database"},
			},
		},
		Inventory: []proxy.InventoryKind{
			{Name: "glue/database", Global: false, List: proxy.ListJSON("glue", "AWSGlue.GetDatabases", "DatabaseList", "Name")},
			{Name: "glue/table", Global: false, List: listGlueTables},
			{Name: "glue/crawler", Global: false, List: proxy.ListJSON("glue", "AWSGlue.GetCrawlers", "Crawlers", "Name")},
		},
		Rewrites: []proxy.Rewrite{
			{Kind: "GlueTable", Field: "partitionKeys", What: "names of columns become lower case", IsSent: true, Ops: []string{"GetTable"},
				Members: func(body map[string]any) { lowerNames(proxy.Member(body, "Table.PartitionKeys")) }},
			{Kind: "GlueTable", Field: "storageDescriptor.columns", What: "names of columns become lower case", IsSent: true,
				Ops:     []string{"GetTable"},
				Members: func(body map[string]any) { lowerNames(proxy.Member(body, "Table.StorageDescriptor.Columns")) }},
			{Kind: "GlueCrawler", Field: "role", What: "the ARN of a role becomes its path and name", IsRecorded: true, Ops: []string{"GetCrawler"},
				Members: func(body map[string]any) {
					if crawler, _ := proxy.Member(body, "Crawler").(map[string]any); crawler != nil {
						if _, name, isARN := strings.Cut(proxy.Text(crawler["Role"]), ":role/"); isARN {
							crawler["Role"] = name
						}
					}
				}},
			{Kind: "GlueTable", Field: "parameters", What: "the value of table_type becomes lower case", IsRecorded: true, Ops: []string{"GetTable"},
				Members: func(body map[string]any) {
					if parameters, _ := proxy.Member(body, "Table.Parameters").(map[string]any); proxy.Text(parameters["table_type"]) != "" {
						parameters["table_type"] = strings.ToLower(proxy.Text(parameters["table_type"]))
					}
				}},
		},
	}
}

var glueName = regexp.MustCompile(`^[\x20-\x{D7FF}\x{E000}-\x{FFFD}\t]+$`)

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{{Name: "crawlers can be updated", Ops: []string{"UpdateCrawler"}, Before: s.updateCrawler}}
}

// updateCrawler: moto has no UpdateCrawler; the crawler is created again with the
// members of the request in place of the old ones.
func (s *Service) updateCrawler(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	name := x.JSON["Name"]
	a, got, err := s.AskJSON(ctx, x, "GetCrawler", map[string]any{"Name": name})
	if err != nil {
		return nil
	}
	crawler, ok := got["Crawler"].(map[string]any)
	if !ok {
		return a // EntityNotFoundException
	}
	arn := fmt.Sprintf("arn:%s:glue:%s:%s:crawler/%s", proxy.PartitionOf(x.Region), x.Region, proxy.DefaultAccount, name)
	_, tags, err := s.AskJSON(ctx, x, "GetTags", map[string]any{"ResourceArn": arn})
	if err != nil {
		return nil
	}
	want := crawlerInput(crawler)
	maps.Copy(want, x.JSON)
	want["Tags"] = tags["Tags"]
	for _, step := range []struct {
		op   string
		body any
	}{{"DeleteCrawler", map[string]any{"Name": name}}, {"CreateCrawler", want}} {
		if a, _, err = s.AskJSON(ctx, x, step.op, step.body); err != nil || a.Status != http.StatusOK {
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
	if schedule := proxy.Text(proxy.Member(crawler, "Schedule.ScheduleExpression")); schedule != "" {
		want["Schedule"] = schedule
	}
	return want
}

// glueTable returns database/table for requests about a table, and "" for others.
func glueTable(body map[string]any) string {
	database := proxy.Text(body["DatabaseName"])
	if database == "" {
		return ""
	}
	for _, key := range []string{"TableInput.Name", "TableName", "Name"} {
		if name := proxy.Text(proxy.Member(body, key)); name != "" {
			return database + "/" + name
		}
	}
	return database
}

func listGlueTables(ctx context.Context, l *proxy.Lister) ([]string, error) {
	databases, err := proxy.ListJSON("glue", "AWSGlue.GetDatabases", "DatabaseList", "Name")(ctx, l)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, database := range databases {
		pages, err := l.JSON(ctx, "glue", "AWSGlue.GetTables", map[string]any{"DatabaseName": database})
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			tables, _ := page["TableList"].([]any)
			for _, t := range tables {
				table, _ := t.(map[string]any)
				names = append(names, database+"/"+proxy.Text(table["Name"]))
			}
		}
	}
	return names, nil
}

func namedCrawlers(q *proxy.Asker) []string {
	if strings.Contains(q.X.Op, "Crawler") {
		return q.Values("Name", "CrawlerName")
	}
	return nil
}

func namedDatabases(q *proxy.Asker) []string {
	if strings.Contains(q.X.Op, "Crawler") || q.X.JSON["ResourceArn"] != nil {
		return nil
	}
	database, _, _ := strings.Cut(q.X.Resource, "/")
	return []string{database}
}

// namedCatalogTables returns the tables that the request names, or all of its database.
func namedCatalogTables(q *proxy.Asker) []string {
	database, table, ok := strings.Cut(q.X.Resource, "/")
	switch {
	case q.X.Op == "GetTables":
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
			column["Name"] = strings.ToLower(proxy.Text(column["Name"]))
		}
	}
}
