// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
)

func TestNames_AreValidAndDistinct(t *testing.T) {
	im := &Importer{}
	long := strings.Repeat("x", 200)
	for i, c := range []struct{ kind, name, want string }{
		{"S3Bucket", "logs.example.com", "logs-example-com"},
		{"S3Bucket", "logs-example-com", "logs-example-com-2"},
		{"DynamoDBTable", "logs-example-com", "logs-example-com"},
		{"SecretsManagerSecret", "/app/Prod/key_1", "app-prod-key-1"},
		{"IAMRole", "__", "iamrole"},
		{"IAMRole", long, long[:150]},
		{"IAMRole", long, long[:148] + "-2"},
	} {
		if got := im.nameOf(c.kind, c.name); got != c.want {
			t.Errorf("%d: %s", i, fmt.Sprintf("%s/%s is %q, want %q", c.kind, c.name, got, c.want))
		}
	}
}

func TestANameIsDividedIntoTheFieldsThatIdentify(t *testing.T) {
	one, optional := []string{"name"}, []string{"zone", "name", "set?"}
	for name, c := range map[string]struct {
		fields []string
		want   map[string]any // nil where the name is refused
	}{
		"":        {one, nil},
		"a":       {one, map[string]any{"name": "a"}},
		"a/b":     {one, map[string]any{"name": "a/b"}},
		"z":       {optional, nil},
		"z/":      {optional, nil},
		"z/n":     {optional, map[string]any{"zone": "z", "name": "n"}},
		"z/n/":    {optional, map[string]any{"zone": "z", "name": "n"}},
		"z/n/s/t": {optional, map[string]any{"zone": "z", "name": "n", "set": "s/t"}},
		"/n/s":    {optional, nil},
	} {
		got, ok := identityIn(name, c.fields)
		if ok != (c.want != nil) || ok && !maps.Equal(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", name, got, ok, c.want)
		}
	}
}

func TestFromARN_NamesWhatTheKindIdentifies(t *testing.T) {
	const of = ":eu-west-1:123456789012:"
	for arn, want := range map[string]string{
		"arn:aws:acm" + of + "certificate/1":                               "Certificate/arn:aws:acm" + of + "certificate/1",
		"arn:aws:acm-pca" + of + "certificate-authority/1":                 "",
		"arn:aws:cognito-idp" + of + "userpool/eu-west-1_a":                "CognitoUserPool/eu-west-1_a",
		"arn:aws:dynamodb" + of + "table/orders":                           "DynamoDBTable/orders",
		"arn:aws:dynamodb" + of + "table/orders/stream/2026":               "",
		"arn:aws:ec2" + of + "elastic-ip/eipalloc-1":                       "ElasticIP/eipalloc-1",
		"arn:aws:ec2" + of + "instance/i-1":                                "EC2Instance/i-1",
		"arn:aws:ec2" + of + "internet-gateway/igw-1":                      "InternetGateway/igw-1",
		"arn:aws:ec2" + of + "key-pair/key-1":                              "",
		"arn:aws:ec2" + of + "natgateway/nat-1":                            "NATGateway/nat-1",
		"arn:aws:ec2" + of + "route-table/rtb-1":                           "RouteTable/rtb-1",
		"arn:aws:ec2" + of + "security-group/sg-1":                         "SecurityGroup/sg-1",
		"arn:aws:ec2" + of + "security-group-rule/sgr-1":                   "",
		"arn:aws:ec2" + of + "subnet/subnet-1":                             "Subnet/subnet-1",
		"arn:aws:ec2" + of + "vpc/vpc-1":                                   "VPC/vpc-1",
		"arn:aws:ecr" + of + "repository/team/shop":                        "ECRRepository/team/shop",
		"arn:aws:ecs" + of + "cluster/shop":                                "ECSCluster/shop",
		"arn:aws:ecs" + of + "service/shop/web":                            "",
		"arn:aws:eks" + of + "cluster/platform":                            "EKSCluster/platform",
		"arn:aws:eks" + of + "nodegroup/platform/a/1":                      "",
		"arn:aws:elasticache" + of + "cluster:sessions":                    "ElastiCacheCluster/sessions",
		"arn:aws:elasticache" + of + "replicationgroup:sessions":           "",
		"arn:aws:lambda" + of + "function:orders":                          "LambdaFunction/orders",
		"arn:aws:lambda" + of + "function:orders:1":                        "",
		"arn:aws:logs" + of + "log-group:/team/shop":                       "LogGroup//team/shop",
		"arn:aws:logs" + of + "log-group:/team/shop:log-stream:a":          "",
		"arn:aws:glue" + of + "crawler/calls":                              "GlueCrawler/calls",
		"arn:aws:glue" + of + "database/lake":                              "GlueDatabase/lake",
		"arn:aws:glue" + of + "table/lake/calls":                           "GlueTable/lake/calls",
		"arn:aws:iam::123456789012:role/team/app":                          "IAMRole/app",
		"arn:aws:kms" + of + "key/1":                                       "KMSKey/1",
		"arn:aws:kms" + of + "alias/orders":                                "",
		"arn:aws:rds" + of + "db:orders":                                   "RDSInstance/orders",
		"arn:aws:rds" + of + "subgrp:orders":                               "DBSubnetGroup/orders",
		"arn:aws:rds" + of + "snapshot:orders":                             "",
		"arn:aws:route53:::hostedzone/Z1":                                  "Route53HostedZone/Z1",
		"arn:aws:s3:::orders":                                              "S3Bucket/orders",
		"arn:aws:s3" + of + "accesspoint/orders":                           "",
		"arn:aws:secretsmanager" + of + "secret:team/key-a1b2c3":           "SecretsManagerSecret/team/key",
		"arn:aws:sns" + of + "orders":                                      "SNSTopic/orders",
		"arn:aws:sns" + of + "orders:6b0e71bd-7e97-4d97-80ce-4a0994e55286": "",
		"arn:aws-cn:sqs:cn-north-1:123456789012:orders.fifo":               "SQSQueue/orders.fifo",
		"arn:aws:elasticloadbalancing" + of + "loadbalancer/app/x/1":       "",
		"arn:aws:sqs" + of:                                                 "",
		"orders":                                                           "",
	} {
		if r, ok := FromARN(catalog.Kinds(), arn); ok != (want != "") || ok && (r.String() != want || r.ARN != arn) {
			t.Errorf("%s: %v, %v, want %q", arn, r, ok, want)
		}
	}
}
