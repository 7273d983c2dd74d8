// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
)

// resources are the names that inventories have for what the kinds make in AWS.
var resources = map[string]string{
	anyKind: "cloudformation/resource", "Certificate": "acm/certificate", "CognitoUserPool": "cognito-idp/pool",
	"DBSubnetGroup": "rds/subnet-group", "DynamoDBTable": "dynamodb/table",
	"EC2Instance": "ec2/instance", "EC2KeyPair": "ec2/key-pair", "ECRRepository": "ecr/repository", "ECSCluster": "ecs/cluster",
	"EKSCluster":         "eks/cluster",
	"ElastiCacheCluster": "elasticache/cluster", "ElasticIP": "ec2/elastic-ip", "GlueCrawler": "glue/crawler", "GlueDatabase": "glue/database",
	"GlueTable": "glue/table", "IAMRole": "iam/role", "InternetGateway": "ec2/internet-gateway", "KMSKey": "kms/key",
	"LambdaFunction": "lambda/function",
	"LogGroup":       "logs/log-group",
	"NATGateway":     "ec2/natgateway", "PodIdentityAssociation": "eks/pod-identity-association", "RDSInstance": "rds/instance",
	"Route53HostedZone": "route53/zone", "Route53RecordSet": "route53/record", "RouteTable": "ec2/route-table", "S3Bucket": "s3/bucket",
	"SNSTopic": "sns/topic", "SQSQueue": "sqs/queue", "SSMParameterSet": "ssm/parameter", "SecretsManagerSecret": "secretsmanager/secret",
	"SecurityGroup": "ec2/security-group", "Subnet": "ec2/subnet", "VPC": "ec2/vpc",
}

// serviceOf returns the service of a kind; "" of one that is no resource of AWS.
func serviceOf(kind string) string {
	service, _, _ := strings.Cut(resources[kind], "/")
	return service
}

// writesOf returns the writes to the service of a kind after a mark, each once. Those to other services are of other objects.
func (s *stage) writesOf(kind string, mark int) []string {
	return slices.DeleteFunc(s.counter.writesSince(mark), func(w string) bool {
		return serviceOf(kind) == "" || !strings.HasPrefix(w, serviceOf(kind)+".")
	})
}

// findResidue compares what the emulator has with what it had before the lives, and notes what is left of objects that are gone.
func (s *stage) findResidue(ctx context.Context, lives []*life, before map[string][]string) error {
	after, err := s.inventory(ctx)
	if err != nil {
		return err
	}
	for _, left := range s.added(before, after) {
		if l := leaver(lives, left); l != nil {
			l.gone = "left in AWS: " + left
		} else {
			s.sayf("left in AWS, of an object that stays or of none: %s", left)
		}
	}
	return nil
}

// added lists what only the second inventory has, and what is not scheduled for its deletion.
func (s *stage) added(before, after map[string][]string) []string {
	var out []string
	for resource, names := range after {
		for _, name := range names {
			if !slices.Contains(before[resource], name) && !strings.HasSuffix(name, "(scheduled for deletion)") {
				out = append(out, resource+" "+name)
			}
		}
	}
	return slices.Sorted(slices.Values(out))
}

// leaver returns a life of the kind of what is left whose object is gone; nil for none. An object of the kind that stays is taken
// for the owner.
func leaver(lives []*life, left string) *life {
	of := slices.DeleteFunc(slices.Clone(lives), func(l *life) bool {
		words := strings.Fields(left)
		return resources[l.object.GetKind()] != words[0] || l.typeName() != "" && l.typeName() != words[1]
	})
	if len(of) == 0 || slices.ContainsFunc(of, func(l *life) bool { return l.gone != holds }) {
		return nil
	}
	return of[0]
}

// inventoryKey is a key that the emulator does not know, and so one of its account.
var inventoryKey = credentials.NewStaticCredentialsProvider("inventory", "inventory", "")

// inventory lists what the emulator has: the kinds of the inventory of tests, networks, and resources of any type.
func (s *stage) inventory(ctx context.Context) (map[string][]string, error) {
	found, err := emulator.InventoryAt(ctx, s.url, region)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.addNetworks(ctx, found), s.addTypes(ctx, found)); err != nil {
		return nil, err
	}
	return found, s.leaveOutScheduledKeys(ctx, found)
}

// addNetworks adds what EC2 has of networks.
func (s *stage) addNetworks(ctx context.Context, found map[string][]string) error {
	client := ec2.New(ec2.Options{Region: region, BaseEndpoint: &s.url, Credentials: inventoryKey})
	vpcs, err := client.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	subnets, err2 := client.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
	groups, err3 := client.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{})
	tables, err4 := client.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{})
	internet, err5 := client.DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{})
	addresses, err6 := client.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
	nat, err7 := client.DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{})
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7); err != nil {
		return err
	}
	found["ec2/vpc"] = names(vpcs.Vpcs, func(v ec2types.Vpc) *string { return v.VpcId })
	found["ec2/subnet"] = names(subnets.Subnets, func(v ec2types.Subnet) *string { return v.SubnetId })
	found["ec2/security-group"] = names(groups.SecurityGroups, func(g ec2types.SecurityGroup) *string { return g.GroupId })
	found["ec2/route-table"] = names(tables.RouteTables, func(t ec2types.RouteTable) *string { return t.RouteTableId })
	found["ec2/internet-gateway"] = names(internet.InternetGateways, func(g ec2types.InternetGateway) *string { return g.InternetGatewayId })
	found["ec2/elastic-ip"] = names(addresses.Addresses, func(a ec2types.Address) *string { return a.AllocationId })
	found["ec2/natgateway"] = names(nat.NatGateways, func(g ec2types.NatGateway) *string {
		if g.State == ec2types.NatGatewayStateDeleted {
			return nil // EC2 shows it for an hour
		}
		return g.NatGatewayId
	})
	return nil
}

// names returns the names of elements, without those that have none.
func names[E any](elements []E, name func(E) *string) []string {
	var out []string
	for _, e := range elements {
		if n := aws.ToString(name(e)); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// leaveOutScheduledKeys removes the keys that KMS will delete.
func (s *stage) leaveOutScheduledKeys(ctx context.Context, found map[string][]string) error {
	client := cloud.New(s.url).KMS
	var left []string
	for _, id := range found["kms/key"] {
		out, err := client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &id})
		if err != nil {
			return err
		}
		if out.KeyMetadata.KeyState != kmstypes.KeyStatePendingDeletion {
			left = append(left, id)
		}
	}
	found["kms/key"] = left
	return nil
}
