// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"slices"
	"strings"
)

// arnForm says how the resources of a kind are named by ARNs: the service, and what the last field of the ARN begins with. The
// rest is the name, unless it contains one of notIn.
type arnForm struct{ kind, service, prefix, notIn string }

// arnForms lists the forms of the kinds whose resources an ARN identifies.
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
var arnForms = []arnForm{
	{"CognitoUserPool", "cognito-idp", "userpool/", "/"},
	{"DBSubnetGroup", "rds", "subgrp:", ":"},
	{"DynamoDBTable", "dynamodb", "table/", "/"},
	{"EC2Instance", "ec2", "instance/", "/"},
	{"ECRRepository", "ecr", "repository/", ""},
	{"ECSCluster", "ecs", "cluster/", "/"},
	{"EKSCluster", "eks", "cluster/", "/"},
	{"ElastiCacheCluster", "elasticache", "cluster:", ":"},
	{"ElasticIP", "ec2", "elastic-ip/", "/"},
	{"GlueCrawler", "glue", "crawler/", "/"},
	{"GlueDatabase", "glue", "database/", "/"},
	{"GlueTable", "glue", "table/", ""},
	{"IAMRole", "iam", "role/", ""},
	{"InternetGateway", "ec2", "internet-gateway/", "/"},
	{"KMSKey", "kms", "key/", "/"},
	{"LambdaFunction", "lambda", "function:", ":"},
	{"NATGateway", "ec2", "natgateway/", "/"},
	{"RDSInstance", "rds", "db:", ":"},
	{"Route53HostedZone", "route53", "hostedzone/", "/"},
	{"RouteTable", "ec2", "route-table/", "/"},
	{"S3Bucket", "s3", "", "/:"},
	{"SNSTopic", "sns", "", ":"},
	{"SQSQueue", "sqs", "", ":"},
	{"SecretsManagerSecret", "secretsmanager", "secret:", ":"},
	{"SecurityGroup", "ec2", "security-group/", "/"},
	{"Subnet", "ec2", "subnet/", "/"},
	{"VPC", "ec2", "vpc/", "/"},
	{"Certificate", "acm", "certificate/", "/"},
}

// FromARN returns the resource of the ARN, and false where no kind has resources of such ARNs.
func FromARN(arn string) (r Resource, ok bool) {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) < 6 || fields[0] != "arn" {
		return Resource{}, false
	}
	for _, form := range arnForms {
		name, ok := strings.CutPrefix(fields[5], form.prefix)
		if ok && fields[2] == form.service && name != "" && !strings.ContainsAny(name, form.notIn) {
			return Resource{Kind: form.kind, Name: nameIn(form.kind, name, arn), ARN: arn}, true
		}
	}
	return Resource{}, false
}

// place names what is read.
func (im *Importer) place() string {
	return "account " + im.Session.Account + ", region " + im.Session.Region
}

// suffixOfSecrets is the length of the hyphen and the random characters that end the ARN of a secret.
const suffixOfSecrets = 7

// nameIn returns what identifies the resource that an ARN names.
func nameIn(kindName, name, arn string) string {
	switch {
	case kindName == "Certificate":
		return arn
	case kindName == "IAMRole": // without its path
		return name[strings.LastIndex(name, "/")+1:]
	case kindName == "SecretsManagerSecret" && len(name) > suffixOfSecrets:
		return name[:len(name)-suffixOfSecrets]
	}
	return name
}

// taggable are the kinds whose resources the tagging API lists with ARNs that identify them. It lists no roles, and no databases
// and tables of Glue, which have no tags.
// https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/supported-services.html
func (im *Importer) taggable() []string {
	return slices.DeleteFunc(im.ImportableKinds(), func(name string) bool {
		return name == "IAMRole" || name == "GlueDatabase" || name == "GlueTable" || !slices.ContainsFunc(arnForms, func(f arnForm) bool { return f.kind == name })
	})
}

// Tagged returns the resources that carry all tags, which are values by key; no values stand for any. Others are the ARNs of those
// that cannot be imported by their ARN. Where kinds are named, in any case, resources of other kinds are left out of both. Errors are
// *UnknownKindError for a kind that is not found by tags, and failures to reach AWS.
func (im *Importer) Tagged(ctx context.Context, tags map[string][]string, kinds []string) (found []Resource, others []string, err error) {
	known := im.taggable()
	contains := func(names []string, name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	for _, k := range kinds {
		if !contains(known, k) {
			return nil, nil, &UnknownKindError{Resource: Resource{Kind: k}, Known: known, ByTags: true}
		}
	}
	arns, err := im.Session.TaggedARNs(ctx, tags)
	slices.Sort(arns)
	for _, arn := range slices.Compact(arns) {
		switch r, ok := FromARN(arn); {
		case len(kinds) > 0 && !contains(kinds, r.Kind):
		case ok && contains(im.ImportableKinds(), r.Kind):
			found = append(found, r)
		default:
			others = append(others, arn)
		}
	}
	return found, others, err
}
