// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// moto fails when it goes through its resources while another request adds one; the answer looks as if it lacked the operation.
func TestConcurrentCreates_AreAllAnswered(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	const workers, each = 8, 60
	var running sync.WaitGroup
	for i := range workers {
		running.Go(func() {
			for n := range each {
				name := fmt.Sprintf("secret-%d-%d", i, n)
				if _, err := c.secrets.CreateSecret(t.Context(),
					&secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String("x")}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	running.Wait()
}

// The proxy updates a crawler by deleting and creating it, which would lose tags that are written in between.
func TestConcurrentChangesOfACrawler_AreAllKept(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	_, err := c.glue.CreateCrawler(ctx,
		&glue.CreateCrawlerInput{Name: aws.String("crawl"), Role: aws.String("r"), DatabaseName: aws.String("lake"),
			Targets: &gluetypes.CrawlerTargets{S3Targets: []gluetypes.S3Target{{Path: aws.String("s3://some-bucket/x")}}}})
	must.Succeed(t, err)
	arn := aws.String("arn:aws:glue:ap-southeast-1:123456789012:crawler/crawl")
	for n := range 40 {
		value := fmt.Sprint(n)
		var running sync.WaitGroup
		running.Go(func() {
			if _, err := c.glue.UpdateCrawler(ctx, &glue.UpdateCrawlerInput{Name: aws.String("crawl"), Description: &value}); err != nil {
				t.Error(err)
			}
		})
		running.Go(func() {
			if _, err := c.glue.TagResource(ctx, &glue.TagResourceInput{ResourceArn: arn, TagsToAdd: map[string]string{"n": value}}); err != nil {
				t.Error(err)
			}
		})
		running.Wait()
		got, err := c.glue.GetTags(ctx, &glue.GetTagsInput{ResourceArn: arn})
		must.Succeed(t, err)
		if got.Tags["n"] != value {
			t.Fatalf("after round %s the tags are %v", value, got.Tags)
		}
	}
}
