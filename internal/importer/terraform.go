// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// terraformTypes are the kinds of Terraform's resource types, with the attributes that identify a resource.
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs
var terraformTypes = map[string]struct {
	kind       string
	attributes []string
}{
	"aws_acm_certificate":              {"Certificate", []string{"arn"}},
	"aws_cognito_user_pool":            {"CognitoUserPool", []string{"id"}},
	"aws_db_instance":                  {"RDSInstance", []string{"identifier"}},
	"aws_db_subnet_group":              {"DBSubnetGroup", []string{"name"}},
	"aws_dynamodb_table":               {"DynamoDBTable", []string{"name"}},
	"aws_ecr_repository":               {"ECRRepository", []string{"name"}},
	"aws_ecs_cluster":                  {"ECSCluster", []string{"name"}},
	"aws_elasticache_cluster":          {"ElastiCacheCluster", []string{"cluster_id"}},
	"aws_eks_cluster":                  {"EKSCluster", []string{"name"}},
	"aws_eks_pod_identity_association": {"PodIdentityAssociation", []string{"cluster_name", "namespace", "service_account"}},
	"aws_glue_catalog_database":        {"GlueDatabase", []string{"name"}},
	"aws_glue_catalog_table":           {"GlueTable", []string{"database_name", "name"}},
	"aws_glue_crawler":                 {"GlueCrawler", []string{"name"}},
	"aws_iam_role":                     {"IAMRole", []string{"name"}},
	"aws_kms_key":                      {"KMSKey", []string{"key_id"}},
	"aws_lambda_function":              {"LambdaFunction", []string{"function_name"}},
	"aws_route53_record":               {"Route53RecordSet", []string{"zone_id", "fqdn", "type", "set_identifier"}},
	"aws_route53_zone":                 {"Route53HostedZone", []string{"zone_id"}},
	"aws_s3_bucket":                    {"S3Bucket", []string{"bucket"}},
	"aws_secretsmanager_secret":        {"SecretsManagerSecret", []string{"name"}},
	typeOfParameters:                   {kindOfParameters, []string{"name"}},
	"aws_vpc":                          {"VPC", []string{"id"}},
	"aws_subnet":                       {"Subnet", []string{"id"}},
	"aws_security_group":               {"SecurityGroup", []string{"id"}},
	"aws_internet_gateway":             {"InternetGateway", []string{"id"}},
	"aws_route_table":                  {"RouteTable", []string{"id"}},
	"aws_eip":                          {"ElasticIP", []string{"id"}},
	"aws_nat_gateway":                  {"NATGateway", []string{"id"}},
	"aws_key_pair":                     {"EC2KeyPair", []string{"key_name"}},
	"aws_instance":                     {"EC2Instance", []string{"id"}},
	"aws_sns_topic":                    {"SNSTopic", []string{"name"}},
	"aws_sqs_queue":                    {"SQSQueue", []string{"name"}},
}

// A parameter is a resource of Terraform, and one of many in an object.
const (
	typeOfParameters = "aws_ssm_parameter"
	kindOfParameters = "SSMParameterSet"
)

// terraformParts are types that are settings of another resource, by the beginning of their names; the resource declares them.
var terraformParts = []string{"aws_s3_bucket_", "aws_iam_role_polic", "aws_iam_instance_profile", "aws_secretsmanager_secret_", "aws_dynamodb_table_item", "aws_s3_object",
	"aws_security_group_rule", "aws_vpc_security_group_", "aws_route_table_association", "aws_sqs_queue_", "aws_cognito_user_pool_client", "aws_cognito_user_pool_domain", "aws_cognito_user_group", "aws_ecr_repository_policy", "aws_ecr_lifecycle_policy", "aws_ecs_cluster_capacity_providers", "aws_route53_zone_association", "aws_acm_certificate_validation",
	"aws_kms_alias", "aws_kms_key_policy", "aws_sns_topic_policy", "aws_sns_topic_subscription"}

// FromTerraform returns the resources that a state file of Terraform (version 4 of the format) manages, and the addresses of
// those that no kind declares. Errors say why the text is no such file.
func FromTerraform(state []byte) (found []Resource, others []string, err error) {
	var file struct {
		Version   int `json:"version"`
		Resources []struct {
			Module, Mode, Type, Name string
			Instances                []struct{ Attributes map[string]any }
		}
	}
	if err := json.Unmarshal(state, &file); err != nil {
		return nil, nil, fmt.Errorf("reading the Terraform state: %w", err)
	}
	if file.Version != 4 {
		return nil, nil, fmt.Errorf("the Terraform state has version %d of the format; version 4 can be read (Terraform 0.12 and later)", file.Version)
	}
	for _, r := range file.Resources {
		if r.Mode != "managed" || slices.ContainsFunc(terraformParts, func(p string) bool { return strings.HasPrefix(r.Type, p) }) {
			continue
		}
		known, ok := terraformTypes[r.Type]
		if !ok {
			others = append(others, strings.TrimPrefix(r.Module+"."+r.Type+"."+r.Name, "."))
			continue
		}
		for _, i := range r.Instances {
			var values []string
			for _, a := range known.attributes {
				text, _ := i.Attributes[a].(string)
				values = append(values, text)
			}
			found = append(found, Resource{Kind: known.kind, Name: strings.Join(values, "/")})
		}
	}
	found, alone := inSets(found)
	return found, append(others, alone...), nil
}

// inSets replaces parameters by sets: those below one path are in one set, which has the shortest path. A set declares no other
// parameters of its path. Others are the parameters without a path, which no set can contain.
func inSets(all []Resource) (found []Resource, others []string) {
	isParameter := func(r Resource) bool { return r.Kind == kindOfParameters }
	var paths []string
	for _, r := range all {
		if isParameter(r) {
			paths = append(paths, pathOf(r.Name))
		}
	}
	slices.Sort(paths)
	sets := map[string][]string{}
	for _, r := range all {
		if !isParameter(r) {
			continue
		}
		i := slices.IndexFunc(paths, func(p string) bool { return p != "" && strings.HasPrefix(r.Name, p+"/") })
		if i < 0 {
			others = append(others, typeOfParameters+" "+r.Name)
			continue
		}
		sets[paths[i]] = append(sets[paths[i]], strings.TrimPrefix(r.Name, paths[i]+"/"))
	}
	found = slices.DeleteFunc(all, isParameter)
	for _, path := range slices.Sorted(maps.Keys(sets)) {
		slices.Sort(sets[path])
		found = append(found, Resource{Kind: kindOfParameters, Name: strings.Trim(path, "/"), Parameters: sets[path]})
	}
	return found, others
}

// pathOf is the path of a parameter; "" without one.
func pathOf(parameter string) string {
	if !strings.HasPrefix(parameter, "/") {
		return ""
	}
	return parameter[:strings.LastIndex(parameter, "/")]
}
