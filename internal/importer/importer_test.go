// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

func TestFromTerraform_FindsWhatAKindDeclares(t *testing.T) {
	const begin = `{"version": 4, "resources": [`
	bucket := `{"mode": "managed", "type": "aws_s3_bucket", "name": "b", "instances": [{"attributes": {"bucket": "one", "id": "one"}}, {"attributes": {"bucket": "two"}}]}`
	parameters := func(names ...string) string {
		var out []string
		for _, n := range names {
			out = append(out, fmt.Sprintf(`{"mode": "managed", "type": "aws_ssm_parameter", "name": "p", "instances": [{"attributes": {"id": %q, "name": %q}}]}`, n, n))
		}
		return strings.Join(out, ", ")
	}
	for name, c := range map[string]struct {
		state         string
		found, others []string
		fails         string
	}{
		"two instances":                 {state: begin + bucket + "]}", found: []string{"S3Bucket/one", "S3Bucket/two"}},
		"a name in two parts":           {state: begin + `{"mode": "managed", "type": "aws_glue_catalog_table", "instances": [{"attributes": {"name": "t", "database_name": "d"}}]}]}`, found: []string{"GlueTable/d/t"}},
		"settings of another":           {state: begin + bucket + `, {"mode": "managed", "type": "aws_s3_bucket_versioning", "name": "v"}]}`, found: []string{"S3Bucket/one", "S3Bucket/two"}},
		"data sources":                  {state: begin + `{"mode": "data", "type": "aws_vpc", "name": "default", "instances": [{"attributes": {"id": "vpc-1"}}]}]}`},
		"a type without a kind":         {state: begin + `{"mode": "managed", "type": "aws_route53_health_check", "name": "z"}]}`, others: []string{"aws_route53_health_check.z"}},
		"a module":                      {state: begin + `{"module": "module.net", "mode": "managed", "type": "aws_route53_health_check", "name": "e"}]}`, others: []string{"module.net.aws_route53_health_check.e"}},
		"a part that is left out":       {state: begin + `{"mode": "managed", "type": "aws_route53_record", "instances": [{"attributes": {"zone_id": "Z1", "fqdn": "a.example.com", "type": "A", "set_identifier": ""}}]}]}`, found: []string{"Route53RecordSet/Z1/a.example.com/A/"}},
		"an instance that has no name":  {state: begin + `{"mode": "managed", "type": "aws_vpc", "instances": [{"attributes": {}}]}]}`, found: []string{"VPC/"}},
		"parameters of one path":        {state: begin + parameters("/app/dev/url", "/app/dev/db/host", "/other/key") + "]}", found: []string{"SSMParameterSet/app/dev [db/host url]", "SSMParameterSet/other [key]"}},
		"paths that begin alike":        {state: begin + bucket + ", " + parameters("/app/dev2/a", "/app/dev/b", "/app/dev/c/d") + "]}", found: []string{"S3Bucket/one", "S3Bucket/two", "SSMParameterSet/app/dev [b c/d]", "SSMParameterSet/app/dev2 [a]"}},
		"parameters without a path":     {state: begin + parameters("/url", "url", "a/b") + "]}", others: []string{"aws_ssm_parameter /url", "aws_ssm_parameter url", "aws_ssm_parameter a/b"}},
		"an association":                {state: begin + `{"mode": "managed", "type": "aws_eks_pod_identity_association", "instances": [{"attributes": {"id": "a-1", "cluster_name": "c", "namespace": "n", "service_account": "s"}}]}]}`, found: []string{"PodIdentityAssociation/c/n/s"}},
		"a rotation":                    {state: begin + `{"mode": "managed", "type": "aws_secretsmanager_secret_rotation", "name": "r"}, {"mode": "managed", "type": "aws_secretsmanager_secret", "instances": [{"attributes": {"name": "s"}}]}]}`, found: []string{"SecretsManagerSecret/s"}},
		"a database":                    {state: begin + `{"mode": "managed", "type": "aws_db_instance", "instances": [{"attributes": {"id": "db-ABC", "identifier": "orders"}}]}]}`, found: []string{"RDSInstance/orders"}},
		"an older version of the state": {state: `{"version": 3, "modules": []}`, fails: "version 3"},
		"no state":                      {state: "resource {}", fails: "reading the Terraform state"},
	} {
		found, others, err := FromTerraform([]byte(c.state))
		var names []string
		for _, r := range found {
			text := r.String()
			if len(r.Parameters) > 0 {
				text += fmt.Sprint(" ", r.Parameters)
			}
			names = append(names, text)
		}
		if !slices.Equal(names, c.found) || !slices.Equal(others, c.others) || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: got %q, %q, %v", name, names, others, err)
		}
	}
}

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
		if r, ok := FromARN(arn); ok != (want != "") || ok && (r.String() != want || r.ARN != arn) {
			t.Errorf("%s: %v, %v, want %q", arn, r, ok, want)
		}
	}
}

func TestElsewhere_ComparesRegionAndAccount(t *testing.T) {
	im := &Importer{Session: &awsclient.Session{Region: "eu-west-1", Account: "123456789012"}}
	for arn, want := range map[string]bool{
		"": false, "arn:aws:s3:::orders": false, "arn:aws:sns:eu-west-1:123456789012:orders": false,
		"arn:aws:sns:eu-west-2:123456789012:orders": true, "arn:aws:sns:eu-west-1:210987654321:orders": true, "arn:aws:iam::210987654321:role/app": true,
	} {
		if got := im.elsewhere(arn) != ""; got != want {
			t.Errorf("%q: %v, want %v", arn, got, want)
		}
	}
}
