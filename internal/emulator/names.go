// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// nameRule holds what AWS demands of a name that moto accepts unseen.
type nameRule struct {
	member   string
	min, max int
	pattern  *regexp.Regexp
	code     string
}

const validation = "ValidationException"

// nameRules are taken from the service models (and, for DynamoDB and SSM, the
// narrower rules of the documentation).
var nameRules = map[string]nameRule{
	"dynamodb.CreateTable":             {"TableName", 3, 255, regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`), validation},
	"iam.CreateRole":                   {"RoleName", 1, 64, regexp.MustCompile(`^[\w+=,.@-]+$`), "ValidationError"},
	"iam.PutRolePolicy":                {"PolicyName", 1, 128, regexp.MustCompile(`^[\w+=,.@-]+$`), "ValidationError"},
	"iam.CreatePolicy":                 {"PolicyName", 1, 128, regexp.MustCompile(`^[\w+=,.@-]+$`), "ValidationError"},
	"glue.CreateDatabase":              {"DatabaseInput.Name", 1, 255, regexp.MustCompile(`^[\x20-\x{D7FF}\x{E000}-\x{FFFD}\t]+$`), "InvalidInputException"},
	"glue.CreateTable":                 {"TableInput.Name", 1, 255, regexp.MustCompile(`^[\x20-\x{D7FF}\x{E000}-\x{FFFD}\t]+$`), "InvalidInputException"},
	"glue.CreateCrawler":               {"Name", 1, 255, regexp.MustCompile(`^[\x20-\x{D7FF}\x{E000}-\x{FFFD}\t]+$`), "InvalidInputException"},
	"secretsmanager.CreateSecret":      {"Name", 1, 512, regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`), validation},
	"ssm.PutParameter":                 {"Name", 1, 1011, regexp.MustCompile(`^[A-Za-z0-9/_.-]+$`), validation},
	"sqs.CreateQueue":                  {"QueueName", 1, 80, regexp.MustCompile(`^[A-Za-z0-9_-]+(\.fifo)?$`), "InvalidParameterValue"},
	"sns.CreateTopic":                  {"Name", 1, 256, regexp.MustCompile(`^[A-Za-z0-9_-]+(\.fifo)?$`), "InvalidParameter"},
	"ecr.CreateRepository":             {"repositoryName", 2, 256, regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`), "InvalidParameterException"},
	"elasticache.CreateCacheCluster":   {"CacheClusterId", 1, 50, regexp.MustCompile(`^[A-Za-z](-?[A-Za-z0-9])*$`), "InvalidParameterValue"},
	"eks.CreateCluster":                {"name", 1, 100, regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]*$`), "InvalidParameterException"},
	"ecs.CreateCluster":                {"clusterName", 1, 255, regexp.MustCompile(`^[A-Za-z0-9_-]+$`), "InvalidParameterException"},
	"cognito-idp.CreateUserPool":       {"PoolName", 1, 128, regexp.MustCompile(`^[\w\s+=,.@-]+$`), "InvalidParameterException"},
	"cognito-idp.CreateUserPoolClient": {"ClientName", 1, 128, regexp.MustCompile(`^[\w\s+=,.@-]+$`), "InvalidParameterException"},
	"rds.CreateDBSubnetGroup":          {"DBSubnetGroupName", 1, 255, regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._ -]*$`), "InvalidParameterValue"},
	"rds.CreateDBInstance":             {"DBInstanceIdentifier", 1, 63, regexp.MustCompile(`^[A-Za-z](-?[A-Za-z0-9])*$`), "InvalidParameterValue"},
}

// accountRegional is the form of the names of the account regional namespace of S3.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/gpbucketnamespaces.html
var accountRegional = regexp.MustCompile(`-[0-9]{12}-[a-z0-9-]+-an$`)

// refuseBadName: moto accepts many names that AWS does not.
func refuseBadName(_ context.Context, _ *Proxy, x *exchange) *answer {
	if x.service == "s3" && x.op == "CreateBucket" && !validBucket(x.bucket) {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid."})
	}
	if x.service == "s3" && x.op == "CreateBucket" && accountRegional.MatchString(x.bucket) && x.http.Header.Get("X-Amz-Bucket-Namespace") != "account-regional" {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "MissingNamespaceHeader", "The x-amz-bucket-namespace header is required for this bucket name"})
	}
	rule, ok := nameRules[x.service+"."+x.op]
	if !ok {
		return nil
	}
	name := text(member(x.json, rule.member))
	if x.form != nil {
		name = x.form.Get(rule.member)
	}
	if problem := rule.check(name); problem != "" {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, rule.code,
			fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", name, rule.member, problem)})
	}
	if x.service == "ssm" {
		return badParameterName(x, name)
	}
	return nil
}

func (r nameRule) check(name string) string {
	switch {
	case len(name) < r.min:
		return fmt.Sprintf("Member must have length greater than or equal to %d", r.min)
	case len(name) > r.max:
		return fmt.Sprintf("Member must have length less than or equal to %d", r.max)
	case !r.pattern.MatchString(name):
		return "Member must satisfy regular expression pattern: " + r.pattern.String()
	}
	return ""
}

// badParameterName knows the rules of Parameter Store that are no pattern.
func badParameterName(x *exchange, name string) *answer {
	first := strings.ToLower(strings.TrimPrefix(name, "/"))
	switch {
	case strings.HasPrefix(first, "aws") || strings.HasPrefix(first, "ssm"):
		return errorAnswer(x.request, awsError{http.StatusBadRequest, validation, `Parameter name: can't be prefixed with "aws" or "ssm" (case-insensitive).`})
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return errorAnswer(x.request, awsError{http.StatusBadRequest, validation, "Parameter name must be a fully qualified name."})
	case strings.Count(name, "/") > 15:
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "HierarchyLevelLimitExceededException", "Parameter hierarchies are limited to 15 levels."})
	}
	return nil
}

var (
	bucketPattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	addressLike    = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)
	bucketPrefixes = []string{"xn--", "sthree-", "amzn-s3-demo-"}
	bucketSuffixes = []string{"-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"}
)

// validBucket follows "General purpose bucket naming rules" of the S3 guide.
func validBucket(name string) bool {
	if !bucketPattern.MatchString(name) || strings.Contains(name, "..") || addressLike.MatchString(name) {
		return false
	}
	for _, prefix := range bucketPrefixes {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	for _, suffix := range bucketSuffixes {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return true
}
