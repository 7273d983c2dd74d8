// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestAClusterNamesTheNetworkOfItsSubnets(t *testing.T) {
	p := proxy(t)
	cfg, ctx := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(p.URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, t.Context()
	network, clusters := ec2.NewFromConfig(cfg), eks.NewFromConfig(cfg)
	vpc, err := network.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.8.0.0/16")})
	must.Succeed(t, err)
	subnet, err := network.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: aws.String("10.8.0.0/24")})
	must.Succeed(t, err)
	_, err = clusters.CreateCluster(ctx,
		&eks.CreateClusterInput{Name: aws.String("c"), RoleArn: aws.String("arn:aws:iam::123456789012:role/cluster"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{*subnet.Subnet.SubnetId}}})
	must.Succeed(t, err)
	got, err := clusters.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("c")})
	must.Succeed(t, err)
	if id := aws.ToString(got.Cluster.ResourcesVpcConfig.VpcId); id != *vpc.Vpc.VpcId {
		t.Errorf("the cluster is in %q, want %s", id, *vpc.Vpc.VpcId)
	}
}

// EKS makes a cluster and its updates in minutes, one after the other.
func TestEKS_ClustersChangeOneUpdateAtATime(t *testing.T) {
	p := proxy(t)
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.EKS.SetControlPlanesTake(time.Minute)
	c, ctx, name := eks.NewFromConfig(config(p.URL())), t.Context(), aws.String("c")
	in := &eks.CreateClusterInput{Name: name, RoleArn: aws.String("arn:aws:iam::123456789012:role/cluster"),
		ClientRequestToken: aws.String("once"), Version: aws.String("1.31"),
		ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{"subnet-0000000a", "subnet-0000000b"}},
		Tags:               map[string]string{"a": "1", "b": "2", "c": "3"}}
	refused := func(what string, err error, says string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	config := func(in eks.UpdateClusterConfigInput) error {
		in.Name = name
		_, err := c.UpdateClusterConfig(ctx, &in)
		return err
	}
	upgrade := func(to string) error {
		_, err := c.UpdateClusterVersion(ctx, &eks.UpdateClusterVersionInput{Name: name, Version: &to})
		return err
	}
	found := func(state ekstypes.ClusterStatus) ekstypes.Cluster {
		t.Helper()
		out, err := c.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name})
		if must.Succeed(t, err); out.Cluster.Status != state {
			t.Errorf("the cluster is %s, want %s", out.Cluster.Status, state)
		}
		return *out.Cluster
	}
	_, err := c.ListNodegroups(ctx, &eks.ListNodegroupsInput{ClusterName: name})
	refused("the node groups of no cluster", err, "ResourceNotFoundException")
	refused("an update of no cluster", config(eks.UpdateClusterConfigInput{DeletionProtection: aws.Bool(true)}), "ResourceNotFoundException")
	for range 2 { // the same request has the same effect
		_, err = c.CreateCluster(ctx, in)
		must.Succeed(t, err)
	}
	in.ClientRequestToken = aws.String("twice")
	_, err = c.CreateCluster(ctx, in)
	refused("another cluster of the name", err, "ResourceInUseException")
	if d := found("CREATING"); d.Endpoint != nil {
		t.Errorf("a new cluster has endpoint %s", *d.Endpoint)
	}
	refused("an update of a new cluster", upgrade("1.32"), "ResourceInUseException")
	now = now.Add(time.Minute)
	if d := found("ACTIVE"); d.Endpoint == nil || !d.ResourcesVpcConfig.EndpointPublicAccess ||
		len(d.ResourcesVpcConfig.PublicAccessCidrs) != 1 || d.AccessConfig.AuthenticationMode != "CONFIG_MAP" {
		t.Errorf("%+v", d)
	}
	private, protected := eks.UpdateClusterConfigInput{ResourcesVpcConfig: &ekstypes.VpcConfigRequest{EndpointPrivateAccess: aws.Bool(true)}},
		eks.UpdateClusterConfigInput{DeletionProtection: aws.Bool(true)}
	both := private
	both.DeletionProtection = aws.Bool(true)
	refused("two updates in one", config(both), "Only one type of update")
	refused("two versions at once", upgrade("1.33"), "minor version update from 1.31 to 1.33")
	must.Succeed(t, config(private))
	refused("a second update", config(protected), "ResourceInUseException")
	if d := found("UPDATING"); d.ResourcesVpcConfig.EndpointPrivateAccess {
		t.Error("the update shows before it ends")
	}
	now = now.Add(time.Minute)
	refused("the same again", config(private), "already at the desired configuration")
	must.Succeed(t, config(protected))
	now = now.Add(time.Minute)
	must.Succeed(t, upgrade("1.32"))
	now = now.Add(time.Minute)
	if d := found("ACTIVE"); !d.ResourcesVpcConfig.EndpointPrivateAccess || len(d.ResourcesVpcConfig.SubnetIds) != 2 ||
		!*d.DeletionProtection || *d.Version != "1.32" {
		t.Errorf("%+v", d)
	}
	_, err = c.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: found("ACTIVE").Arn, TagKeys: []string{"a", "b"}})
	if must.Succeed(t, err); len(found("ACTIVE").Tags) != 1 {
		t.Errorf("%v", found("ACTIVE").Tags)
	}
	_, err = c.CreateFargateProfile(ctx,
		&eks.CreateFargateProfileInput{ClusterName: name, FargateProfileName: aws.String("f"), PodExecutionRoleArn: in.RoleArn,
			Selectors: []ekstypes.FargateProfileSelector{{Namespace: aws.String("n")}}})
	must.Succeed(t, err)
	remove := func() error {
		_, err := c.DeleteCluster(ctx, &eks.DeleteClusterInput{Name: name})
		return err
	}
	refused("a cluster with a Fargate profile", remove(), "fargateProfileNames attached")
	_, err = c.DeleteFargateProfile(ctx, &eks.DeleteFargateProfileInput{ClusterName: name, FargateProfileName: aws.String("f")})
	must.Succeed(t, err)
	refused("a protected cluster", remove(), "deletion protection")
	must.Succeed(t, config(eks.UpdateClusterConfigInput{DeletionProtection: aws.Bool(false)}))
	now = now.Add(time.Minute)
	must.Succeed(t, remove())
	found("DELETING")
	if all, err := p.Inventory(ctx); err != nil || len(all["eks/cluster"]) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	now = now.Add(time.Minute)
	_, err = c.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name})
	refused("a deleted cluster", err, "ResourceNotFoundException")
}

// An access entry needs a cluster with the authentication mode API or API_AND_CONFIG_MAP:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html
func TestEKS_AccessEntriesNeedTheirMode(t *testing.T) {
	c := eks.NewFromConfig(config(proxy(t).URL()))
	for mode, want := range map[ekstypes.AuthenticationMode]string{"": "InvalidRequestException", "CONFIG_MAP": "InvalidRequestException",
		"API": "", "API_AND_CONFIG_MAP": ""} {
		name := "cluster-" + strings.ReplaceAll(string(mode), "_", "-")
		in := &eks.CreateClusterInput{Name: &name, RoleArn: aws.String("arn:aws:iam::123456789012:role/r"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{"subnet-0000000a"}}}
		if mode != "" {
			in.AccessConfig = &ekstypes.CreateAccessConfigRequest{AuthenticationMode: mode}
		}
		_, err := c.CreateCluster(t.Context(), in)
		must.Succeed(t, err)
		entry := &eks.CreateAccessEntryInput{ClusterName: &name, PrincipalArn: aws.String("arn:aws:iam::123456789012:role/admins")}
		if _, err := c.CreateAccessEntry(t.Context(), entry); code(err) != want {
			t.Errorf("%s: %v", mode, err)
		}
		if _, err := c.CreateAccessEntry(t.Context(), entry); want == "" && code(err) != "ResourceInUseException" {
			t.Errorf("%s, again: %v", mode, err)
		}
	}
}
