// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"html"
	"maps"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rewrite is a field that AWS answers with in another form than it was sent, where moto answers with what it was sent.
type Rewrite struct {
	// Kind and Field name a field of a spec, What says how AWS changes it.
	Kind, Field, What string
	// IsSent is true where the kind sends AWS's form, so that no answer is changed.
	IsSent bool

	// service and ops are the calls whose answers are changed; none where a correction of the emulator does it, which then calls meet.
	service string
	ops     []string
	// text changes a text in the answer, such as a policy; member is its path in JSON, or the name of an attribute of SNS.
	member string
	text   func(string) string
	// members changes the whole of an answer in JSON.
	members func(body map[string]any)
}

// rewrites is the catalog. Each entry changes every answer, so that a kind that compares the forms writes without end.
var rewrites = slices.Concat(rewrittenDocuments, rewrittenRecords)

// rewrittenDocuments are from AWS's documentation and resource schemas, rewrittenRecords in rewrites_records.go of what users saw.
var rewrittenDocuments = []Rewrite{
	{Kind: "GlueTable", Field: "partitionKeys", What: "names of columns become lower case", IsSent: true, service: "glue", ops: []string{"GetTable"},
		members: func(body map[string]any) { lowerNames(member(body, "Table.PartitionKeys")) }},
	{Kind: "GlueTable", Field: "storageDescriptor.columns", What: "names of columns become lower case", IsSent: true, service: "glue", ops: []string{"GetTable"},
		members: func(body map[string]any) { lowerNames(member(body, "Table.StorageDescriptor.Columns")) }},
	{Kind: "ECRRepository", Field: "encryptionConfiguration.kmsKey", What: "every identifier of a key, and none, becomes the key's ARN", service: "ecr",
		ops: []string{"DescribeRepositories"}, members: showKeysOfRepositories},
	{Kind: "ECRRepository", Field: "repositoryPolicy", What: rewrittenPolicy, service: "ecr", ops: []string{"GetRepositoryPolicy"}, member: "policyText", text: rewritePolicy},
	{Kind: "LambdaFunction", Field: "kmsKeyArn", What: "the ARN of an alias becomes that of its key", service: "lambda", ops: []string{"GetFunction"},
		members: func(body map[string]any) {
			configuration, _ := body["Configuration"].(map[string]any)
			if before, _, isAlias := strings.Cut(text(configuration["KMSKeyArn"]), ":alias/"); isAlias {
				configuration["KMSKeyArn"] = before + ":key/0d0d0d0d-0000-4000-8000-00000000000a"
			}
		}},
	{Kind: "RDSInstance", Field: "dbName", What: "the name of a database of Oracle becomes upper case", service: "rds", ops: []string{"DescribeDBInstances"}, text: showNamesOfOracle},
	{Kind: "Certificate", Field: "keyAlgorithm", What: "RSA_2048 becomes RSA-2048", service: "acm", ops: []string{"DescribeCertificate"},
		members: func(body map[string]any) {
			if c, _ := body["Certificate"].(map[string]any); c != nil {
				c["KeyAlgorithm"] = strings.Replace(text(c["KeyAlgorithm"]), "RSA_", "RSA-", 1)
			}
		}},
	{Kind: "EKSCluster", Field: "vpcConfig.publicAccessCidrs", What: "ranges get their usual spelling", IsSent: true, service: "eks", ops: []string{"DescribeCluster"},
		members: func(body map[string]any) { spellRanges(member(body, "cluster.resourcesVpcConfig.publicAccessCidrs")) }},
	{Kind: "Route53RecordSet", Field: "name", What: "special characters become their octal codes"},
	{Kind: "SNSTopic", Field: "subscriptions.filterPolicyScope", What: "without a filter policy there is none"},
	{Kind: "IAMRole", Field: "assumeRolePolicyDocument", What: rewrittenPolicy, service: "iam", ops: []string{"GetRole"}, text: rewriteTrust},
	{Kind: "KMSKey", Field: "keyPolicy", What: rewrittenPolicy, service: "kms", ops: []string{"GetKeyPolicy"}, member: "Policy", text: rewritePolicy},
	{Kind: "S3Bucket", Field: "policy", What: rewrittenPolicy + "; canonical users become ARNs", service: "s3", ops: []string{"GetBucketPolicy"}, text: rewritePolicy},
	{Kind: "SQSQueue", Field: "policy", What: rewrittenPolicy, service: "sqs", ops: []string{"GetQueueAttributes"}, member: "Attributes.Policy", text: rewritePolicy},
	{Kind: "SNSTopic", Field: "policy", What: rewrittenPolicy, service: "sns", ops: []string{"GetTopicAttributes"}, member: "Policy", text: rewritePolicy},
	{Kind: "SNSTopic", Field: "deliveryPolicy", What: "members that were left out get their defaults", service: "sns", ops: []string{"GetTopicAttributes"}, member: "DeliveryPolicy", text: fillDeliveryPolicy},
	{Kind: "SecretsManagerSecret", Field: "resourcePolicy", What: rewrittenPolicy, service: "secretsmanager", ops: []string{"GetResourcePolicy"}, member: "ResourcePolicy", text: rewritePolicy},
}

const rewrittenPolicy = "numbers of accounts become ARNs of their roots, lists of one value the value, other lists get another order, and statements without a Sid a number"

// Rewrites returns the catalog of what AWS rewrites.
func Rewrites() []Rewrite { return slices.Clone(rewrites) }

// RewritesOfRecords returns the entries of the catalog that are from records of users.
func RewritesOfRecords() []Rewrite { return slices.Clone(rewrittenRecords) }

// Rewritten returns the fields, as Kind.field, that any answer had in AWS's form since the proxy began.
func (p *Proxy) Rewritten() []string {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	return slices.Sorted(maps.Keys(p.state.rewritten))
}

// rewriteAnswer applies the catalog to an answer.
func rewriteAnswer(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	for _, r := range rewrites {
		if !a.ok() || r.service != x.service || !slices.Contains(r.ops, x.op) {
			continue
		}
		changed := r.apply(x, a)
		if string(changed.body) == string(a.body) {
			continue
		}
		a = changed
		p.meet(r.Kind + "." + r.Field)
	}
	return a
}

// meet records that an answer had a field, as Kind.field, in AWS's form.
func (p *Proxy) meet(field string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.rewritten == nil {
		p.state.rewritten = map[string]bool{}
	}
	p.state.rewritten[field] = true
}

func (r Rewrite) apply(x *exchange, a *answer) *answer {
	switch {
	case r.service == "sns" && r.member != "":
		return a.withBody(attributeEntry.ReplaceAllFunc(a.body, r.entry))
	case r.member == "" && r.text != nil:
		return a.withBody([]byte(r.text(string(a.body))))
	}
	body, ok := decodeJSON(a.body).(map[string]any)
	if !ok {
		return a
	}
	before, err := json.Marshal(body)
	if err != nil {
		return a
	}
	if r.members != nil {
		r.members(body)
	} else {
		parent, name := body, r.member
		if at, last, nested := strings.Cut(r.member, "."); nested {
			parent, _ = body[at].(map[string]any)
			name = last
		}
		if value := text(parent[name]); value != "" {
			parent[name] = r.text(value)
		}
	}
	if after := a.withJSON(body); string(after.body) != string(before) {
		return after
	}
	return a
}

// entry rewrites an attribute in an answer of SNS.
func (r Rewrite) entry(entry []byte) []byte {
	m := attributeEntry.FindSubmatch(entry)
	if string(m[1]) != r.member || len(m[2]) == 0 {
		return entry
	}
	before := html.UnescapeString(string(m[2]))
	after := r.text(before)
	if after == before {
		return entry
	}
	return []byte("<entry><key>" + r.member + "</key><value>" + escape(after) + "</value></entry>")
}

// spellRanges writes ranges of addresses from their first address on, and IPv6 in lower case without zeros.
func spellRanges(ranges any) {
	list, _ := ranges.([]any)
	for i := range list {
		if p, err := netip.ParsePrefix(text(list[i])); err == nil {
			list[i] = p.Masked().String()
		}
	}
}

func lowerNames(columns any) {
	list, _ := columns.([]any)
	for _, c := range list {
		if column, ok := c.(map[string]any); ok {
			column["Name"] = strings.ToLower(text(column["Name"]))
		}
	}
}

// showKeysOfRepositories shows the key behind an alias, also behind the one of AWS, which is used where none is named.
func showKeysOfRepositories(body map[string]any) {
	list, _ := body["repositories"].([]any)
	for _, listed := range list {
		r, _ := listed.(map[string]any)
		encryption, _ := member(r, "encryptionConfiguration").(map[string]any)
		if text(encryption["encryptionType"]) != "KMS" {
			continue
		}
		arn := strings.Split(text(member(r, "repositoryArn")), ":")
		switch key := text(encryption["kmsKey"]); {
		case strings.Contains(key, ":key/"):
		case key == "" || strings.Contains(key, "alias/"):
			encryption["kmsKey"] = "arn:aws:kms:" + arn[3] + ":" + arn[4] + ":key/0d0d0d0d-0000-4000-8000-00000000000a"
		default:
			encryption["kmsKey"] = "arn:aws:kms:" + arn[3] + ":" + arn[4] + ":key/" + key
		}
	}
}

var (
	dbInstance = regexp.MustCompile(`(?s)<DBInstance>.*?</DBInstance>`)
	dbName     = regexp.MustCompile(`<DBName>[^<]*</DBName>`)
)

// showNamesOfOracle shows the names of databases of Oracle as RDS stores them.
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1530
func showNamesOfOracle(body string) string {
	return dbInstance.ReplaceAllStringFunc(body, func(instance string) string {
		if !strings.Contains(instance, "<Engine>oracle-") {
			return instance
		}
		return dbName.ReplaceAllStringFunc(instance, func(element string) string {
			return "<DBName>" + strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(element, "<DBName>"), "</DBName>")) + "</DBName>"
		})
	})
}

var accountNumber = regexp.MustCompile(`^[0-9]{12}$`)

// rewritePolicy writes principals and lists of a policy as AWS does.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
func rewritePolicy(policy string) string {
	return redocument(policy, func(document map[string]any) {
		statements, _ := document["Statement"].([]any)
		numberStatements(statements)
		for _, s := range statements {
			statement, _ := s.(map[string]any)
			for name, value := range statement {
				statement[name] = withoutLists(value)
			}
			for _, name := range []string{"Principal", "NotPrincipal"} {
				if principals, ok := statement[name].(map[string]any); ok {
					statement[name] = principalsAsARNs(principals)
				}
			}
		}
	})
}

// redocument changes a document in JSON. One that means the same after it stays as it was written.
func redocument(text string, change func(document map[string]any)) string {
	var before, document map[string]any
	if json.Unmarshal([]byte(text), &document) != nil || json.Unmarshal([]byte(text), &before) != nil {
		return text
	}
	change(document)
	out, err := json.Marshal(document)
	if err != nil || reflect.DeepEqual(before, document) {
		return text
	}
	return string(out)
}

// numberStatements gives statements a Sid where none has one.
func numberStatements(statements []any) {
	hasSid := func(statement any) bool {
		s, _ := statement.(map[string]any)
		return text(s["Sid"]) != ""
	}
	if slices.ContainsFunc(statements, hasSid) {
		return
	}
	for i := range statements {
		if s, _ := statements[i].(map[string]any); s != nil {
			s["Sid"] = strconv.Itoa(i + 1)
		}
	}
}

var trustDocument = regexp.MustCompile(`<AssumeRolePolicyDocument>([^<]*)</AssumeRolePolicyDocument>`)

// rewriteTrust rewrites the trust policy in an answer of IAM, which encodes it like a part of a URL.
func rewriteTrust(body string) string {
	return trustDocument.ReplaceAllStringFunc(body, func(element string) string {
		plain, err := url.QueryUnescape(trustDocument.FindStringSubmatch(element)[1])
		if err != nil {
			return element
		}
		return "<AssumeRolePolicyDocument>" + strings.ReplaceAll(url.QueryEscape(rewritePolicy(plain)), "+", "%20") + "</AssumeRolePolicyDocument>"
	})
}

// withoutLists replaces lists of one value, and changes the order of others.
func withoutLists(value any) any {
	switch v := value.(type) {
	case []any:
		if len(v) == 1 {
			return v[0]
		}
		slices.Reverse(v)
	case map[string]any:
		for name := range v {
			v[name] = withoutLists(v[name])
		}
	}
	return value
}

func principalsAsARNs(principals map[string]any) map[string]any {
	if user := text(principals["CanonicalUser"]); user != "" {
		return map[string]any{"AWS": "arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity E" + strings.ToUpper(user[:min(len(user), 13)])}
	}
	if account := text(principals["AWS"]); accountNumber.MatchString(account) {
		principals["AWS"] = "arn:aws:iam::" + account + ":root"
	}
	return principals
}

// fillDeliveryPolicy adds what a delivery policy leaves out.
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
func fillDeliveryPolicy(policy string) string {
	var document struct {
		HTTP struct {
			DefaultHealthyRetryPolicy    map[string]any `json:"defaultHealthyRetryPolicy"`
			DisableSubscriptionOverrides bool           `json:"disableSubscriptionOverrides"`
			DefaultRequestPolicy         map[string]any `json:"defaultRequestPolicy"`
			DefaultThrottlePolicy        map[string]any `json:"defaultThrottlePolicy,omitempty"`
		} `json:"http"`
	}
	if json.Unmarshal([]byte(policy), &document) != nil {
		return policy
	}
	retries := map[string]any{"minDelayTarget": 20, "maxDelayTarget": 20, "numRetries": 3, "numMaxDelayRetries": 0, "numNoDelayRetries": 0,
		"numMinDelayRetries": 0, "backoffFunction": "linear"}
	maps.Copy(retries, document.HTTP.DefaultHealthyRetryPolicy)
	requests := map[string]any{"headerContentType": "text/plain; charset=UTF-8"}
	maps.Copy(requests, document.HTTP.DefaultRequestPolicy)
	document.HTTP.DefaultHealthyRetryPolicy, document.HTTP.DefaultRequestPolicy = retries, requests
	out, err := json.Marshal(document)
	if err != nil {
		return policy
	}
	return string(out)
}
