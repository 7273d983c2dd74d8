// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestECS_ClustersAreKeptChangeAndEnd(t *testing.T) {
	p := proxy(t)
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.ECS.SetClustersTake(time.Minute)
	c, ctx, name := ecs.NewFromConfig(config(p.URL())), t.Context(), aws.String("shop")
	refused := func(err error, says string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
	shows := func(status, attachments string) {
		t.Helper()
		out, err := c.DescribeClusters(ctx, &ecs.DescribeClustersInput{Clusters: []string{*name}})
		must.Succeed(t, err)
		if d := out.Clusters[0]; aws.ToString(d.Status) != status || aws.ToString(d.AttachmentsStatus) != attachments {
			t.Errorf("%s %s, want %s %s", aws.ToString(d.Status), aws.ToString(d.AttachmentsStatus), status, attachments)
		}
	}
	providers := func() error {
		_, err := c.PutClusterCapacityProviders(ctx,
			&ecs.PutClusterCapacityProvidersInput{Cluster: name, CapacityProviders: []string{"FARGATE_SPOT"},
				DefaultCapacityProviderStrategy: []types.CapacityProviderStrategyItem{}})
		return err
	}
	refused(providers(), "ClusterNotFoundException")
	in := &ecs.CreateClusterInput{ClusterName: name, CapacityProviders: []string{"FARGATE"}}
	made, err := c.CreateCluster(ctx, in)
	must.Succeed(t, err)
	again, err := c.CreateCluster(ctx, in)
	if must.Succeed(t, err); *again.Cluster.ClusterArn != *made.Cluster.ClusterArn {
		t.Error("a repeated request made another cluster")
	}
	_, err = c.CreateCluster(ctx, &ecs.CreateClusterInput{ClusterName: name})
	refused(err, "idempotent request")
	shows("PROVISIONING", "UPDATE_IN_PROGRESS")
	refused(providers(), "UpdateInProgressException")
	now = now.Add(time.Minute)
	must.Succeed(t, providers())
	shows("ACTIVE", "UPDATE_IN_PROGRESS")
	now = now.Add(time.Minute)
	shows("ACTIVE", "UPDATE_COMPLETE")
	if found, err := p.Inventory(ctx); err != nil || len(found["ecs/cluster"]) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	_, err = c.DeleteCluster(ctx, &ecs.DeleteClusterInput{Cluster: name})
	must.Succeed(t, err)
	shows("INACTIVE", "")
	_, err = c.DeleteCluster(ctx, &ecs.DeleteClusterInput{Cluster: name})
	refused(err, "ClusterNotFoundException")
	if found, err := p.Inventory(ctx); err != nil || len(found["ecs/cluster"]) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	_, err = c.CreateCluster(ctx, &ecs.CreateClusterInput{ClusterName: name})
	must.Succeed(t, err)
	shows("ACTIVE", "")
	registerInstance(t, p.URL(), name)
	_, err = c.DeleteCluster(ctx, &ecs.DeleteClusterInput{Cluster: name})
	refused(err, "ClusterContainsContainerInstancesException")
}

func registerInstance(t *testing.T, url string, cluster *string) {
	t.Helper()
	machines, err := ec2.NewFromConfig(config(url)).RunInstances(t.Context(),
		&ec2.RunInstancesInput{ImageId: aws.String("ami-12c6146b"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1)})
	must.Succeed(t, err)
	identity := fmt.Sprintf(`{"instanceId": %q}`, *machines.Instances[0].InstanceId)
	_, err = ecs.NewFromConfig(config(url)).RegisterContainerInstance(t.Context(),
		&ecs.RegisterContainerInstanceInput{Cluster: cluster, InstanceIdentityDocument: &identity})
	must.Succeed(t, err)
}
