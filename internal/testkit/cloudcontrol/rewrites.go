// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"regexp"
	"strings"
)

// rewrite returns how AWS shows a text that was written.
type rewrite func(of account, region, text string) string

// rewrites are the values that AWS shows in another form than they were written, by type and pointer, as the documentation of their
// services says. They are not made from the propertyTransform of the schemas: the operator evaluates it, and a second evaluation of the
// same expressions would agree with any mistake of the first.
var rewrites = map[string]map[string]rewrite{
	// The name is stored in lower case: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_dax_CreateSubnetGroup.html
	"AWS::DAX::SubnetGroup": {"/properties/SubnetGroupName": lower},
	// The key is named by its ID, its alias or its ARN, and shown by its ARN:
	// https://docs.aws.amazon.com/awscloudtrail/latest/APIReference/API_CreateEventDataStore.html
	"AWS::CloudTrail::EventDataStore": {"/properties/KmsKeyId": keyARN},
	// The name of a rule is shown with a dot at its end:
	// https://docs.aws.amazon.com/Route53/latest/APIReference/API_route53resolver_ResolverRule.html
	"AWS::Route53Resolver::ResolverRule": {"/properties/DomainName": endWithDot},
	// No page says this, only the schema does: it stands here for values in the elements of lists.
	"AWS::Personalize::MetricAttribution": {"/properties/Metrics/*/EventType": upper, "/properties/Metrics/*/MetricName": upper},
	// A function is named by its name, a part of its ARN, or its ARN: https://docs.aws.amazon.com/lambda/latest/api/API_CreateAlias.html
	"AWS::Lambda::Alias": {"/properties/FunctionName": functionARN},
	// A version stands for the newest one that begins so, and names and windows are in lower case:
	// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBCluster.html
	"AWS::RDS::DBCluster": {
		"/properties/DBClusterIdentifier": lower, "/properties/KmsKeyId": keyARN, "/properties/EngineVersion": newest,
		"/properties/PreferredMaintenanceWindow": lower,
	},
	// A version with x stands for the next one: https://docs.aws.amazon.com/imagebuilder/latest/userguide/ibhow-semantic-versioning.html
	"AWS::ImageBuilder::ImageRecipe": {"/properties/Version": nextVersion},
}

func lower(_ account, _, text string) string { return strings.ToLower(text) }

func upper(_ account, _, text string) string { return strings.ToUpper(text) }

func endWithDot(_ account, _, text string) string { return strings.TrimSuffix(text, ".") + "." }

func keyARN(of account, region, text string) string {
	if strings.HasPrefix(text, "arn:") {
		return text
	}
	return fmt.Sprintf("arn:aws:kms:%s:%s:key/%s", region, of.id, text)
}

func functionARN(of account, region, text string) string {
	if strings.HasPrefix(text, "arn:") {
		return text
	}
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", region, of.id, text)
}

func newest(_ account, _, text string) string {
	if strings.Count(text, ".") > 1 {
		return text
	}
	return text + ".42"
}

func nextVersion(_ account, _, text string) string { return openPart.ReplaceAllString(text, "0") }

// openPart matches a part of a version that the service chooses.
var openPart = regexp.MustCompile(`\bx\b`)

// asShown returns properties with the texts that AWS shows.
func (a account) asShown(m *model, region string, properties map[string]any) map[string]any {
	out := clone(properties)
	for pointer, rewritten := range rewrites[m.TypeName] {
		visit(out, path(pointer), func(parent map[string]any, key string) {
			if text, ok := parent[key].(string); ok {
				parent[key] = rewritten(a, region, text)
			}
		})
	}
	return out
}

// named returns the identifier of the known resource that a request names: names in another case name the same resource.
func (a account) named(m *model, region, identifier string) string {
	if len(m.PrimaryIdentifier) != 1 || rewrites[m.TypeName][m.PrimaryIdentifier[0]] == nil {
		return identifier
	}
	return rewrites[m.TypeName][m.PrimaryIdentifier[0]](a, region, identifier)
}
