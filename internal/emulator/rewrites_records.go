// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

const anyOrder = "the values get another order"

// rewrittenRecords are forms that users of other tools saw in AWS's answers; the records are in package awsmodels.
var rewrittenRecords = append([]Rewrite{
	{Kind: "ECRRepository", Field: "lifecyclePolicy.policyText", What: "rules get the order of their priorities, tags another order, and empty lists of them are left out", service: "ecr",
		ops: []string{"GetLifecyclePolicy"}, member: "lifecyclePolicyText", text: orderLifecycle},
	{Kind: "CognitoUserPool", Field: "clients.callbackURLs", What: anyOrder, service: "cognito-idp", ops: []string{"DescribeUserPoolClient"}, members: reverses("UserPoolClient.CallbackURLs")},
	{Kind: "CognitoUserPool", Field: "clients.logoutURLs", What: anyOrder, service: "cognito-idp", ops: []string{"DescribeUserPoolClient"}, members: reverses("UserPoolClient.LogoutURLs")},
	{Kind: "CognitoUserPool", Field: "clients.scopes", What: anyOrder, service: "cognito-idp", ops: []string{"DescribeUserPoolClient"}, members: reverses("UserPoolClient.AllowedOAuthScopes")},
	{Kind: "DynamoDBTable", Field: "globalSecondaryIndexes.nonKeyAttributes", What: anyOrder, service: "dynamodb", ops: []string{"DescribeTable"}, members: reverseProjections("GlobalSecondaryIndexes")},
	{Kind: "DynamoDBTable", Field: "localSecondaryIndexes.nonKeyAttributes", What: anyOrder, service: "dynamodb", ops: []string{"DescribeTable"}, members: reverseProjections("LocalSecondaryIndexes")},
	{Kind: "GlueCrawler", Field: "role", What: "the ARN of a role becomes its path and name", service: "glue", ops: []string{"GetCrawler"},
		members: func(body map[string]any) {
			if crawler, _ := member(body, "Crawler").(map[string]any); crawler != nil {
				if _, name, isARN := strings.Cut(text(crawler["Role"]), ":role/"); isARN {
					crawler["Role"] = name
				}
			}
		}},
	{Kind: "Route53RecordSet", Field: "resourceRecords", What: anyOrder + ", and names lose their last dot", service: "route53", ops: []string{"ListResourceRecordSets"}, text: rewriteValues},
	{Kind: "S3Bucket", Field: "lifecycleRules", What: "rules get another order", service: "s3", ops: []string{"GetBucketLifecycleConfiguration"}, text: reverseElements(lifecycleRule)},
	{Kind: "SNSTopic", Field: "subscriptions.endpoint", What: "the password in a URL becomes stars", service: "sns", ops: []string{"ListSubscriptionsByTopic"},
		text: func(body string) string { return passwordOfURL.ReplaceAllString(body, "$1:****@") }},
	{Kind: "Certificate", Field: "subjectAlternativeNames", What: anyOrder, service: "acm", ops: []string{"DescribeCertificate"}, members: reverses("Certificate.SubjectAlternativeNames")},
	{Kind: "ECSCluster", Field: "capacityProviders", What: anyOrder, service: "ecs", ops: []string{"DescribeClusters"}, members: reverses("clusters.0.capacityProviders")},
	{Kind: "ECSCluster", Field: "defaultCapacityProviderStrategy", What: anyOrder, service: "ecs", ops: []string{"DescribeClusters"}, members: reverses("clusters.0.defaultCapacityProviderStrategy")},
	{Kind: "GlueTable", Field: "parameters", What: "the value of table_type becomes lower case", service: "glue", ops: []string{"GetTable"},
		members: func(body map[string]any) {
			if parameters, _ := member(body, "Table.Parameters").(map[string]any); text(parameters["table_type"]) != "" {
				parameters["table_type"] = strings.ToLower(text(parameters["table_type"]))
			}
		}},
	{Kind: "EC2KeyPair", Field: "publicKeyMaterial", What: "the comment becomes the name of the key pair", service: "ec2", ops: []string{"DescribeKeyPairs"},
		text: func(body string) string { return publicKey.ReplaceAllString(body, "<publicKey>$1 name</publicKey>") }},
	{Kind: "RDSInstance", Field: "engineVersion", What: "a version without its last number gets it", service: "rds", ops: []string{"DescribeDBInstances"},
		text: func(body string) string {
			// The emulator names the default parameter group after the version that was asked for, without its last number.
			body = strings.ReplaceAll(body, "<DBParameterGroupName>default.mysql8<", "<DBParameterGroupName>default.mysql8.0<")
			return shortVersion.ReplaceAllString(body, "<EngineVersion>8.0.39</EngineVersion>")
		}},
}, shortVersions...)

var (
	passwordOfURL = regexp.MustCompile(`(<Endpoint>https?://[^:/@<]+):[^@<]+@`)
	publicKey     = regexp.MustCompile(`<publicKey>(\S+ [^\s<]+)[^<]*</publicKey>`)
	shortVersion  = regexp.MustCompile(`<EngineVersion>8\.0</EngineVersion>`)
	lifecycleRule = regexp.MustCompile(`(?s)<Rule>.*?</Rule>`)
	recordBlock   = regexp.MustCompile(`(?s)<ResourceRecord>.*?</ResourceRecord>`)
)

// reverses returns a function that changes the order of a list in an answer.
func reverses(path string) func(body map[string]any) {
	return func(body map[string]any) {
		if list, _ := member(body, path).([]any); list != nil {
			slices.Reverse(list)
		}
	}
}

func reverseProjections(indexes string) func(body map[string]any) {
	return func(body map[string]any) {
		list, _ := member(body, "Table."+indexes).([]any)
		for _, index := range list {
			projected, _ := index.(map[string]any)
			if attributes, _ := member(projected, "Projection.NonKeyAttributes").([]any); attributes != nil {
				slices.Reverse(attributes)
			}
		}
	}
}

// reverseElements returns a function that changes the order of elements of XML.
func reverseElements(element *regexp.Regexp) func(body string) string {
	return func(body string) string {
		all := element.FindAllString(body, -1)
		return element.ReplaceAllStringFunc(body, func(string) string {
			last := all[len(all)-1]
			all = all[:len(all)-1]
			return last
		})
	}
}

// rewriteValues changes the order of the values of record sets.
func rewriteValues(body string) string {
	return recordSetBlock.ReplaceAllStringFunc(body, reverseElements(recordBlock))
}

// orderLifecycle orders a lifecycle policy as ECR does.
func orderLifecycle(policy string) string {
	return redocument(policy, func(document map[string]any) {
		rules, _ := document["rules"].([]any)
		slices.SortFunc(rules, func(a, b any) int { return cmp.Compare(priority(a), priority(b)) })
		for _, rule := range rules {
			r, _ := rule.(map[string]any)
			selection, _ := r["selection"].(map[string]any)
			for _, name := range []string{"tagPrefixList", "tagPatternList"} {
				tags, _ := selection[name].([]any)
				slices.Reverse(tags)
				if len(tags) == 0 {
					delete(selection, name)
				}
			}
		}
	})
}

func priority(rule any) float64 {
	r, _ := rule.(map[string]any)
	n, _ := r["rulePriority"].(float64)
	return n
}
