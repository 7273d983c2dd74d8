// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/elasticache/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestElastiCache_ClustersChangeAndEnd(t *testing.T) {
	p := proxy(t)
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.ElastiCache.SetCacheClustersTake(time.Minute)
	c, ctx, id := elasticache.NewFromConfig(config(p.URL())), t.Context(), aws.String("sessions")
	refused := func(err error, says string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
	shows := func(status string, nodes int) types.CacheCluster {
		t.Helper()
		out, err := c.DescribeCacheClusters(ctx, &elasticache.DescribeCacheClustersInput{CacheClusterId: id})
		must.Succeed(t, err)
		d := out.CacheClusters[0]
		if aws.ToString(d.CacheClusterStatus) != status || len(d.CacheNodes) != nodes {
			t.Errorf("%s with %d nodes, want %s with %d", aws.ToString(d.CacheClusterStatus), len(d.CacheNodes), status, nodes)
		}
		return d
	}
	modify := func(in elasticache.ModifyCacheClusterInput) error {
		in.CacheClusterId = id
		_, err := c.ModifyCacheCluster(ctx, &in)
		return err
	}
	tags := func(arn *string) map[string]string {
		t.Helper()
		out, err := c.ListTagsForResource(ctx, &elasticache.ListTagsForResourceInput{ResourceName: arn})
		must.Succeed(t, err)
		found := map[string]string{}
		for _, tag := range out.TagList {
			found[*tag.Key] = *tag.Value
		}
		return found
	}
	remove := func(snapshot *string) error {
		_, err := c.DeleteCacheCluster(ctx, &elasticache.DeleteCacheClusterInput{CacheClusterId: id, FinalSnapshotIdentifier: snapshot})
		return err
	}
	in := &elasticache.CreateCacheClusterInput{CacheClusterId: id, Engine: aws.String("memcached"),
		CacheNodeType: aws.String("cache.t4g.micro"), NumCacheNodes: aws.Int32(3),
		SecurityGroupIds: []string{"sg-1"}, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}}
	refused(modify(elasticache.ModifyCacheClusterInput{}), "CacheClusterNotFound")
	made, err := c.CreateCacheCluster(ctx, in)
	must.Succeed(t, err)
	_, err = c.CreateCacheCluster(ctx, in)
	refused(err, "CacheClusterAlreadyExists")
	shows("creating", 0)
	_, err = c.ListTagsForResource(ctx, &elasticache.ListTagsForResourceInput{ResourceName: made.CacheCluster.ARN})
	refused(err, "InvalidCacheClusterState")
	refused(remove(nil), "InvalidCacheClusterState")

	now = now.Add(time.Minute)
	if d := shows("available", 3); aws.ToString(d.ARN) != "arn:aws:elasticache:"+config("").Region+":123456789012:cluster:sessions" ||
		tags(d.ARN)["team"] != "a" {
		t.Errorf("%s", aws.ToString(d.ARN))
	}
	refused(modify(elasticache.ModifyCacheClusterInput{NumCacheNodes: aws.Int32(2)}), "CacheNodeIdsToRemove")
	refused(modify(elasticache.ModifyCacheClusterInput{SnapshotRetentionLimit: aws.Int32(1)}), "not supported for Memcached")
	must.Succeed(t, modify(elasticache.ModifyCacheClusterInput{NumCacheNodes: aws.Int32(2), CacheNodeIdsToRemove: []string{"0003"},
		SecurityGroupIds: []string{"sg-2"}}))
	shows("modifying", 2)
	refused(modify(elasticache.ModifyCacheClusterInput{}), "InvalidCacheClusterState")
	now = now.Add(time.Minute)
	if d := shows("available", 2); len(d.SecurityGroups) != 1 || *d.SecurityGroups[0].SecurityGroupId != "sg-2" {
		t.Errorf("%+v", d.SecurityGroups)
	}

	refused(remove(aws.String("last")), "not supported for Memcached")
	must.Succeed(t, remove(nil))
	shows("deleting", 2)
	now = now.Add(time.Minute)
	_, err = c.DescribeCacheClusters(ctx, &elasticache.DescribeCacheClustersInput{CacheClusterId: id})
	refused(err, "CacheClusterNotFound")
	in.Tags = nil
	made, err = c.CreateCacheCluster(ctx, in)
	must.Succeed(t, err)
	now = now.Add(time.Minute)
	if got := tags(made.CacheCluster.ARN); len(got) > 0 {
		t.Errorf("a cluster of the same name has the tags of the deleted one: %v", got)
	}
}
