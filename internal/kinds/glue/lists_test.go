// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestCrawler_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewCrawler), kindtest.List{Field: "s3Targets", Object: crawlerOf(), Exact: true,
		Add: turn(glue.UpdateCrawlerInput{Targets: &types.CrawlerTargets{S3Targets: []types.S3Target{{Path: str("s3://bucket/calls/")},
			{Path: str("s3://theirs/")}}}}),
		Has: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			return len(ask(t, api(r).GetCrawler, &glue.GetCrawlerInput{Name: str(crawl)}).Crawler.Targets.S3Targets) > 1
		}})
}

func TestDatabase_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewDatabase), kindtest.List{Field: "parameters", Object: databaseOf(fullDatabase),
		Edited: databaseOf(func(s *v1alpha1.GlueDatabaseSpec) {
			fullDatabase(s)
			s.Parameters = params("a", "2", "c", "3")
		}),
		Add: outside(types.DatabaseInput{Description: str("call data"), LocationUri: str("s3://bucket/lake/"),
			Parameters: map[string]string{"a": "1", "b": "2", "theirs": "x"}}),
		Has: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			return ask(t, api(r).GetDatabase, &glue.GetDatabaseInput{Name: str(lake)}).Database.Parameters["theirs"] == "x"
		}})
}
