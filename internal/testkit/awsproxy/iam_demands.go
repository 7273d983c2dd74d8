// SPDX-License-Identifier: Apache-2.0

package awsproxy

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// request rights: what AWS evaluates for a request, by service.
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html

// asker finds out what a request takes.
type asker struct {
	ctx     context.Context
	p       *Proxy
	x       *exchange
	action  string
	context map[string][]string
	tags    map[string]string // that the request gives
}

// demandsOf returns the rights that a request takes.
func (p *Proxy) demandsOf(ctx context.Context, x *exchange) []demand {
	q := &asker{ctx: ctx, p: p, x: x, action: x.call.Action(), tags: requestTags(x.request)}
	q.context = map[string][]string{"aws:securetransport": {"true"}, "aws:requestedregion": {x.region}, "aws:principalaccount": {p.AccountOf(x.accessKey)}}
	for key, value := range q.tags {
		q.context["aws:requesttag/"+strings.ToLower(key)] = []string{value}
		q.context["aws:tagkeys"] = append(q.context["aws:tagkeys"], key)
	}
	if slices.Contains(onAnything, q.action) {
		return q.with(q.creates(), q.on("*"))
	}
	if of, known := demandsBy[x.service]; known {
		return q.with(q.creates(), of(q)...)
	}
	return q.with(nil, demand{action: q.action, context: q.context})
}

// onAnything are the actions for which AWS evaluates no resource.
var onAnything = []string{"acm:RequestCertificate", "cognito-idp:CreateUserPool", "cognito-idp:DescribeUserPoolDomain", "cognito-idp:ListUserPools",
	"dynamodb:ListTables", "glue:CreateCrawler", "iam:ListRoles", "kms:CreateKey", "kms:ListAliases", "route53:CreateHostedZone", "route53:ListHostedZonesByName",
	"s3:ListAllMyBuckets", "sns:GetSubscriptionAttributes", "sns:ListTopics", "sns:SetSubscriptionAttributes", "sns:Unsubscribe",
	"sqs:ListQueues", "ssm:DescribeParameters", "secretsmanager:ListSecrets", "tag:GetResources"}

// tagsNew are the actions that a creation with tags takes too.
var tagsNew = map[string]string{
	"dynamodb:CreateTable": "dynamodb:TagResource", "iam:CreateRole": "iam:TagRole", "kms:CreateKey": "kms:TagResource",
	"secretsmanager:CreateSecret": "secretsmanager:TagResource", "sns:CreateTopic": "sns:TagResource", "sqs:CreateQueue": "sqs:TagQueue",
	"ssm:PutParameter": "ssm:AddTagsToResource", "s3:CreateBucket": "s3:TagResource",
}

var demandsBy = map[string]func(*asker) []demand{
	"acm": func(q *asker) []demand {
		arn := text(q.x.json["CertificateArn"])
		return []demand{q.tagged(arn, q.tagsOf("acm", "CertificateManager.ListTagsForCertificate", "CertificateArn", arn))}
	},
	"cognito-idp":    (*asker).pools,
	"bedrock":        (*asker).bedrock,
	"dynamodb":       (*asker).tables,
	"glue":           (*asker).glue,
	"iam":            (*asker).iam,
	"kms":            (*asker).keys,
	"route53":        (*asker).route53,
	"s3":             (*asker).s3,
	"secretsmanager": (*asker).secrets,
	"sns":            (*asker).topics,
	"sqs":            (*asker).queues,
	"ssm":            (*asker).parameters,
	"sts": func(q *asker) []demand {
		if q.x.op == "GetCallerIdentity" {
			return nil // takes no right
		}
		return []demand{q.on(q.x.form.Get("RoleArn"))}
	},
}

// on is the demand for the action of the request on a resource.
func (q *asker) on(arn string) demand {
	return demand{action: q.action, resource: arn, context: q.context}
}

// tagged is the same on a resource with tags.
func (q *asker) tagged(arn string, tags map[string]string) demand {
	d := q.on(arn)
	d.context = q.also(nil)
	for key, value := range tags {
		d.context["aws:resourcetag/"+strings.ToLower(key)] = []string{value}
	}
	return d
}

// also is the context of the request with further values.
func (q *asker) also(further map[string]string) map[string][]string {
	out := map[string][]string{}
	for key, values := range q.context {
		out[key] = values
	}
	for key, value := range further {
		out[strings.ToLower(key)] = []string{value}
	}
	return out
}

// with puts demands together.
func (q *asker) with(more []demand, demands ...demand) []demand { return append(demands, more...) }

func (q *asker) regional(resource string) string {
	return "arn:aws:" + q.x.service + ":" + q.x.region + ":" + q.account() + ":" + resource
}

func (q *asker) account() string { return q.p.AccountOf(q.x.accessKey) }

// passedRole returns the role that a request hands to a service, and the service; empty for none.
func (q *asker) passedRole() (role, service string) {
	x := q.x
	switch q.action {
	case "glue:CreateCrawler", "glue:UpdateCrawler":
		role, service = text(x.json["Role"]), "glue.amazonaws.com"
		if !strings.HasPrefix(role, "arn:") {
			role = "arn:aws:iam::" + q.account() + ":role/" + role
		}
	case "cognito-idp:CreateUserPool", "cognito-idp:UpdateUserPool", "cognito-idp:SetUserPoolMfaConfig":
		service = "cognito-idp.amazonaws.com"
		role = cmp.Or(text(member(x.json, "SmsConfiguration.SnsCallerArn")), text(member(x.json, "SmsMfaConfiguration.SmsConfiguration.SnsCallerArn")))
	case "sns:Subscribe", "sns:SetSubscriptionAttributes":
		service, role = "sns.amazonaws.com", q.subscriptionRole()
	}
	return role, service
}

// subscriptionRole returns the role that a request gives to a subscription of SNS.
func (q *asker) subscriptionRole() string {
	const name = "SubscriptionRoleArn"
	form := q.x.form
	if form.Get("AttributeName") == name {
		return form.Get("AttributeValue")
	}
	for i := 1; form.Has(fmt.Sprintf("Attributes.entry.%d.key", i)); i++ {
		if form.Get(fmt.Sprintf("Attributes.entry.%d.key", i)) == name {
			return form.Get(fmt.Sprintf("Attributes.entry.%d.value", i))
		}
	}
	return ""
}

// creates are the demands of a creation beside its action: for the tags, and for a role that it hands to a service.
func (q *asker) creates() []demand {
	var out []demand
	if role, service := q.passedRole(); role != "" {
		out = append(out, demand{"iam:PassRole", role, q.also(map[string]string{"iam:PassedToService": service})})
	}
	if tagging := tagsNew[q.action]; tagging != "" && len(q.tags) > 0 {
		resource := q.regional("*")
		if of, known := demandsBy[q.x.service]; known && !slices.Contains(onAnything, q.action) {
			resource = of(q)[0].resource
		} else if q.x.service == "kms" {
			resource = q.regional("key/new")
		}
		out = append(out, demand{tagging, resource, q.context})
	}
	return out
}

// tagsOf asks for the tags of a resource by the JSON operation of its service.
func (q *asker) tagsOf(service, target, field, resource string) map[string]string {
	pages, err := q.inside().json(q.ctx, service, target, map[string]any{field: resource})
	if err != nil || len(pages) == 0 {
		return nil // such as: it does not exist
	}
	return tagsIn(cmp.Or[any](pages[0]["TagList"], pages[0]["Tags"]))
}

// inside asks in the place of the caller, without a right and with the corrections, and is not recorded.
func (q *asker) inside() *lister {
	l := q.p.lister(q.x.accessKey, q.x.region)
	l.trip = q.p.askInside
	return l
}

// askInside lets a request of the proxy take the way of a client's.
func (p *Proxy) askInside(r *http.Request) (*answer, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	x := &exchange{request: decode(r, body), endpoint: p.main, call: &Call{}}
	if a := p.forward(r.Context(), x); a != nil {
		return a, nil
	}
	return nil, http.ErrServerClosed
}

func (q *asker) tables() []demand {
	var out []demand
	names := q.tableNames()
	for _, name := range names {
		arn := name
		if !strings.HasPrefix(name, "arn:") {
			arn = q.regional("table/" + name)
		}
		d := q.on(arn)
		if index := text(q.x.json["IndexName"]); index != "" {
			d.resource += "/index/" + index
		}
		out = append(out, d)
		out = append(out, q.tableKey(shortName(arn))...)
	}
	return out
}

// tableNames are those of a request; each part of a transaction has one.
func (q *asker) tableNames() []string {
	names := tableNames(q.x.json)
	if strings.HasPrefix(q.x.op, "Transact") {
		parts, _ := q.x.json["TransactItems"].([]any)
		for _, part := range parts {
			for op, details := range part.(map[string]any) {
				q.action = "dynamodb:" + map[string]string{"ConditionCheck": "ConditionCheckItem", "Put": "PutItem", "Delete": "DeleteItem", "Update": "UpdateItem", "Get": "GetItem"}[op]
				names = append(names, text(member(details.(map[string]any), "TableName")))
			}
		}
	}
	if len(names) > 0 {
		return names
	}
	return []string{cmp.Or(text(q.x.json["TableName"]), text(q.x.json["ResourceArn"]))}
}

// ofTableData are operations on the items of a table, which its key protects.
var ofTableData = []string{"BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"}

// tableKey is what the key of a table takes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func (q *asker) tableKey(name string) []demand {
	uses := []string{"kms:Decrypt"}
	key := text(member(q.x.json, "SSESpecification.KMSMasterKeyId"))
	switch {
	case key != "":
		uses = []string{"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"}
	case slices.Contains(ofTableData, q.x.op):
		key = text(q.found("DynamoDB_20120810.DescribeTable", map[string]any{"TableName": name}, "Table.SSEDescription.KMSMasterKeyArn"))
	}
	return q.through(key, map[string]string{"kms:EncryptionContext:aws:dynamodb:tableName": name}, uses...)
}

// found is a member of the answer to a JSON operation of the service; nil if it fails.
func (q *asker) found(target string, request map[string]any, path string) any {
	pages, err := q.inside().json(q.ctx, q.x.service, target, request)
	if err != nil || len(pages) == 0 {
		return nil
	}
	return member(pages[0], path)
}

// through are the demands for the use of a key by the service that was called; none for a key of AWS.
func (q *asker) through(key string, context map[string]string, actions ...string) []demand {
	if key == "" || strings.Contains(key, "alias/aws/") || strings.HasSuffix(key, "key/aws-dynamodb") {
		return nil
	}
	if !strings.HasPrefix(key, "arn:") {
		key = "arn:aws:kms:" + q.x.region + ":" + q.account() + ":key/" + key
	}
	tags := (&asker{ctx: q.ctx, p: q.p, x: q.x}).keyTags(key)
	all := q.also(context)
	all["kms:viaservice"] = []string{q.x.service + "." + q.x.region + ".amazonaws.com"}
	for name, value := range tags {
		all["aws:resourcetag/"+strings.ToLower(name)] = []string{value}
	}
	var out []demand
	for _, action := range actions {
		out = append(out, demand{action, key, all})
	}
	return out
}

func (q *asker) keyTags(key string) map[string]string {
	return q.tagsOf("kms", "TrentService.ListResourceTags", "KeyId", key)
}

func (q *asker) keys() []demand {
	id := cmp.Or(text(q.x.json["TargetKeyId"]), text(q.x.json["KeyId"]))
	key := func(id string) demand {
		if !strings.HasPrefix(id, "arn:") {
			id = q.regional("key/" + id)
		}
		return q.tagged(id, q.keyTags(id))
	}
	switch alias := text(q.x.json["AliasName"]); {
	case alias == "":
		return []demand{key(id)}
	case id == "": // of DeleteAlias
		id = text(q.found("TrentService.DescribeKey", map[string]any{"KeyId": alias}, "KeyMetadata.Arn"))
		fallthrough
	default:
		return []demand{q.on(q.regional(alias)), key(id)}
	}
}

// pools reads the tags with the pool: the emulator does not list them.
func (q *asker) pools() []demand {
	arn := cmp.Or(text(q.x.json["ResourceArn"]), q.regional("userpool/"+cmp.Or(text(q.x.json["UserPoolId"]), q.x.resource)))
	id := arn[strings.LastIndexByte(arn, '/')+1:]
	tags := q.found("AWSCognitoIdentityProviderService.DescribeUserPool", map[string]any{"UserPoolId": id}, "UserPool.UserPoolTags")
	return []demand{q.tagged(arn, tagsIn(tags))}
}

func (q *asker) glue() []demand {
	x := q.x
	if arn := text(x.json["ResourceArn"]); arn != "" {
		return []demand{q.on(arn)}
	}
	if strings.Contains(x.op, "Crawler") {
		return []demand{q.on(q.regional("crawler/" + x.resource))}
	}
	database, table, ok := strings.Cut(x.resource, "/")
	out := []demand{q.on(q.regional("catalog")), q.on(q.regional("database/" + database))}
	if ok {
		out = append(out, q.on(q.regional("table/"+database+"/"+table)))
	}
	if x.op == "DeleteDatabase" { // and all that is in it
		out = append(out, q.on(q.regional("table/"+database+"/*")), q.on(q.regional("userDefinedFunction/"+database+"/*")))
	}
	return out
}

func (q *asker) iam() []demand {
	global := "arn:aws:iam::" + q.account() + ":"
	switch x := q.x; {
	case strings.HasSuffix(x.op, "OpenIDConnectProvider"):
		return []demand{q.on(global + "oidc-provider/" + x.resource)}
	case x.form.Get("RoleName") != "":
		path := strings.Trim(x.form.Get("Path"), "/")
		if path == "" {
			path = q.pathOf(x.form.Get("RoleName"))
		}
		return []demand{q.on(global + "role/" + strings.TrimPrefix(path+"/", "/") + x.form.Get("RoleName"))}
	}
	return []demand{{action: q.action, context: q.context}}
}

// pathOf is the path of a role that exists, without slashes at its ends.
func (q *asker) pathOf(role string) string {
	known, err := q.p.rightsOf(q.ctx, q.x)
	if err != nil || known == nil {
		return ""
	}
	arn := q.p.callers.arnOf(q.account(), "role/"+role)
	_, whole, _ := strings.Cut(arn, ":role/")
	return strings.TrimSuffix(strings.TrimSuffix(whole, role), "/")
}

func (q *asker) route53() []demand {
	form := map[string]string{"GetChange": "change/"}
	return []demand{q.on("arn:aws:route53:::" + cmp.Or(form[q.x.op], "hostedzone/") + q.x.resource)}
}

var objectKey = regexp.MustCompile(`<Key>([^<]*)</Key>(<VersionId>)?`)

// objectActions are the actions of operations on objects.
var objectActions = map[string]string{"HeadObject": "GetObject", "CreateMultipartUpload": "PutObject", "UploadPart": "PutObject",
	"CompleteMultipartUpload": "PutObject", "CopyObject": "PutObject", "ListParts": "ListMultipartUploadParts"}

// s3 demands what the bucket, its objects and their key take.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func (q *asker) s3() []demand {
	bucket := "arn:aws:s3:::" + q.x.bucket
	if q.x.op == "DeleteObjects" {
		var out []demand
		for _, m := range objectKey.FindAllSubmatch(q.x.body, -1) {
			action := "s3:DeleteObject"
			if len(m[2]) > 0 {
				action = "s3:DeleteObjectVersion"
			}
			out = append(out, demand{action, bucket + "/" + string(m[1]), q.context})
		}
		return out
	}
	if q.x.key == "" {
		if q.x.bucket == "" {
			bucket += q.x.resource // of the control API
		}
		return []demand{q.on(bucket)}
	}
	if other := objectActions[q.x.op]; other != "" {
		q.action = "s3:" + other
	}
	out := []demand{q.on(bucket + "/" + q.x.key)}
	uses := map[string][]string{"s3:GetObject": {"kms:Decrypt"}, "s3:PutObject": {"kms:GenerateDataKey"}}[q.action]
	if len(uses) == 0 {
		return out
	}
	return append(out, q.through(q.bucketKey(), map[string]string{"kms:EncryptionContext:aws:s3:arn": bucket}, uses...)...)
}

var masterKey = regexp.MustCompile(`<KMSMasterKeyID>([^<]*)</KMSMasterKeyID>`)

// bucketKey is the key of KMS that encrypts the objects of a bucket.
func (q *asker) bucketKey() string {
	body, err := q.inside().get(q.ctx, "s3", "/"+q.x.bucket+"?encryption")
	if m := masterKey.FindSubmatch(body); err == nil && m != nil {
		return string(m[1])
	}
	return ""
}

func (q *asker) secrets() []demand {
	id := cmp.Or(text(q.x.json["SecretId"]), text(q.x.json["Name"]))
	const describe = "secretsmanager.DescribeSecret"
	arn := id
	if !strings.HasPrefix(id, "arn:") {
		arn = cmp.Or(text(q.found(describe, map[string]any{"SecretId": id}, "ARN")), q.regional("secret:"+id+"-AbCdEf"))
	}
	key := text(q.x.json["KmsKeyId"])
	if key == "" {
		key = text(q.found(describe, map[string]any{"SecretId": id}, "KmsKeyId"))
	}
	uses := map[string][]string{"GetSecretValue": {"kms:Decrypt"}, "CreateSecret": {"kms:GenerateDataKey", "kms:Decrypt"},
		"PutSecretValue": {"kms:GenerateDataKey", "kms:Decrypt"}, "UpdateSecret": {"kms:GenerateDataKey", "kms:Decrypt"}}[q.x.op]
	return append([]demand{q.on(arn)}, q.through(key, map[string]string{"kms:EncryptionContext:SecretARN": arn}, uses...)...)
}

func (q *asker) parameters() []demand {
	if setting, ok := strings.CutPrefix(text(q.x.json["SettingId"]), "/"); ok {
		return []demand{q.on(q.regional("servicesetting/" + setting))}
	}
	names := list(q.x.json["Names"])
	if len(names) == 0 {
		names = []string{cmp.Or(text(q.x.json["Name"]), text(q.x.json["ResourceId"]), text(q.x.json["Path"]))}
	}
	var out []demand
	for _, name := range names {
		arn := q.regional("parameter/" + strings.TrimPrefix(name, "/"))
		out = append(out, q.tagged(arn, q.parameterTags(name)))
	}
	return out
}

func (q *asker) parameterTags(name string) map[string]string {
	tags, _ := q.found("AmazonSSM.ListTagsForResource", map[string]any{"ResourceType": "Parameter", "ResourceId": name}, "TagList").([]any)
	return tagsIn(tags)
}

func (q *asker) queues() []demand {
	d := q.on(q.regional(q.x.resource))
	uses := map[string][]string{"SendMessage": {"kms:GenerateDataKey", "kms:Decrypt"}, "ReceiveMessage": {"kms:Decrypt"}}[q.x.op]
	if uses == nil {
		return []demand{d}
	}
	key := text(q.found("AmazonSQS.GetQueueAttributes", map[string]any{"QueueUrl": q.x.json["QueueUrl"], "AttributeNames": []string{"KmsMasterKeyId"}}, "Attributes.KmsMasterKeyId"))
	return append([]demand{d}, q.through(key, nil, uses...)...)
}

var topicKey = regexp.MustCompile(`<key>KmsMasterKeyId</key>\s*<value>([^<]*)</value>`)

func (q *asker) topics() []demand {
	d := q.on(q.regional(q.x.resource))
	if q.x.op != "Publish" {
		return []demand{d}
	}
	body, err := q.inside().send(q.ctx, "sns", http.MethodPost, "application/x-www-form-urlencoded", "",
		[]byte("Version=2010-03-31&Action=GetTopicAttributes&TopicArn="+q.x.form.Get("TopicArn")))
	key := ""
	if m := topicKey.FindSubmatch(body); err == nil && m != nil {
		key = string(m[1])
	}
	return append([]demand{d}, q.through(key, nil, "kms:GenerateDataKey", "kms:Decrypt")...)
}

// profilePattern is the form of the identifiers of cross-region inference profiles.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
var profilePattern = regexp.MustCompile(`^(us|eu|apac|us-gov|global|jp|au|ca)\.(.+)$`)

// bedrock: who calls a profile also needs the right to the model, through the profile.
func (q *asker) bedrock() []demand {
	id, model := q.x.resource, func(region, id string) string { return "arn:aws:bedrock:" + region + "::foundation-model/" + id }
	switch m := profilePattern.FindStringSubmatch(id); {
	case q.action != "bedrock:InvokeModel" && q.action != "bedrock:InvokeModelWithResponseStream":
		return []demand{q.on(q.regional(id))}
	case strings.HasPrefix(id, "arn:"):
		return []demand{q.on(id)}
	case m != nil:
		profile := q.regional("inference-profile/" + id)
		behind := q.also(map[string]string{"bedrock:InferenceProfileArn": profile})
		return []demand{q.on(profile), {q.action, model("us-west-2", m[2]), behind}}
	}
	return []demand{q.on(model(q.x.region, id))}
}
