// SPDX-License-Identifier: Apache-2.0

package awsproxy_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

func TestAClusterNamesTheNetworkOfItsSubnets(t *testing.T) {
	p := proxy(t)
	cfg, ctx := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(p.URL()), Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, t.Context()
	network, clusters := ec2.NewFromConfig(cfg), eks.NewFromConfig(cfg)
	vpc, err := network.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.8.0.0/16")})
	must(t, err)
	subnet, err := network.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: aws.String("10.8.0.0/24")})
	must(t, err)
	_, err = clusters.CreateCluster(ctx, &eks.CreateClusterInput{Name: aws.String("c"), RoleArn: aws.String("arn:aws:iam::123456789012:role/cluster"),
		ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{*subnet.Subnet.SubnetId}}})
	must(t, err)
	got, err := clusters.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("c")})
	must(t, err)
	if id := aws.ToString(got.Cluster.ResourcesVpcConfig.VpcId); id != *vpc.Vpc.VpcId {
		t.Errorf("the cluster is in %q, want %s", id, *vpc.Vpc.VpcId)
	}
}
