// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// through are the demands for the use of a key by a service; none for a key of AWS.
func (q *asker) through(service, key string, context map[string]string, actions ...string) []demand {
	if key == "" || len(actions) == 0 || strings.Contains(key, "alias/aws/") || strings.HasSuffix(key, "key/aws-dynamodb") {
		return nil
	}
	switch {
	case strings.HasPrefix(key, "arn:") && !strings.Contains(key, ":alias/"):
	case strings.Contains(key, "alias/"):
		key = cmp.Or(q.keyOfAlias(key), q.keyARN("of-"+key[strings.LastIndexByte(key, '/')+1:]))
	default:
		key = q.keyARN(key)
	}
	further := map[string]string{"kms:ViaService": service + "." + q.x.region + "." + wellknown.DNSSuffix(q.partition())}
	maps.Copy(further, context)
	var out []demand
	for _, action := range actions {
		d := q.need(action, key, further)
		if action == "kms:CreateGrant" {
			grant := maps.Clone(further)
			grant["kms:GrantIsForAWSResource"] = "true"
			d = q.need(action, key, grant)
		}
		out = append(out, d)
	}
	return out
}

func (q *asker) keyARN(id string) string {
	return "arn:" + q.partition() + ":kms:" + q.x.region + ":" + q.account() + ":key/" + id
}

// keyOfAlias is the ARN of the key that an alias stands for, or "".
func (q *asker) keyOfAlias(alias string) string {
	pages, err := q.inside().json(q.ctx, "kms", "TrentService.DescribeKey", map[string]any{"KeyId": alias})
	if err != nil || len(pages) == 0 {
		return ""
	}
	return text(member(pages[0], "KeyMetadata.Arn"))
}

// keyTags returns the tags of a key. Of a key that the emulator does not have they are those that Limit was given.
func (q *asker) keyTags(key string) map[string]string {
	pages, err := q.inside().json(q.ctx, "kms", "TrentService.ListResourceTags", map[string]any{"KeyId": key})
	if err != nil || len(pages) == 0 {
		return q.p.callers.tagsOfUnknownKeys(q.x.accessKey)
	}
	return tagsIn(pages[0]["Tags"])
}

// ofTableData are operations on the items of a table, which its key protects.
var ofTableData = []string{"BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"}

// tableKey returns what the key of a table takes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func (q *asker) tableKey() []demand {
	name := shortName(cmp.Or(text(q.x.json["TableName"]), text(q.x.json["ResourceArn"])))
	if key := text(member(q.x.json, "SSESpecification.KMSMasterKeyId")); key != "" {
		return q.through("dynamodb", key, map[string]string{"kms:EncryptionContext:aws:dynamodb:tableName": name},
			"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo")
	}
	if !slices.Contains(ofTableData, q.x.op) {
		return nil
	}
	var out []demand
	for _, table := range slices.Concat(tableNames(q.x.json), q.values("TableName")) {
		table = shortName(table)
		key := text(q.found("DynamoDB_20120810.DescribeTable", map[string]any{"TableName": table}, "Table.SSEDescription.KMSMasterKeyArn"))
		out = append(out, q.through("dynamodb", key, map[string]string{"kms:EncryptionContext:aws:dynamodb:tableName": table}, "kms:Decrypt")...)
	}
	return out
}

var (
	objectKey   = regexp.MustCompile(`<Key>([^<]*)</Key>(<VersionId>)?`)
	masterKey   = regexp.MustCompile(`<KMSMasterKeyID>([^<]*)</KMSMasterKeyID>`)
	roleElement = regexp.MustCompile(`<Role>([^<]*)</Role>`)
	topicKey    = regexp.MustCompile(`<key>KmsMasterKeyId</key>\s*<value>([^<]*)</value>`)
)

// objectActions are the actions of operations on objects.
var objectActions = map[string]string{"HeadObject": "GetObject", "CreateMultipartUpload": "PutObject", "UploadPart": "PutObject",
	"CompleteMultipartUpload": "PutObject", "CopyObject": "PutObject", "ListParts": "ListMultipartUploadParts"}

// objectKey returns what the key of a bucket takes for its objects.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func (q *asker) objectKey() []demand {
	uses := map[string][]string{"s3:GetObject": {"kms:Decrypt"}, "s3:PutObject": {"kms:GenerateDataKey"}}[q.action]
	if len(uses) == 0 || q.x.key == "" {
		return nil
	}
	body, err := q.inside().get(q.ctx, "s3", "/"+q.x.bucket+"?encryption")
	if err != nil {
		return nil
	}
	return q.through("s3", firstMatch(masterKey, body), map[string]string{"kms:EncryptionContext:aws:s3:arn": "arn:" + q.partition() + ":s3:::" + q.x.bucket}, uses...)
}

// deletedObjects are the demands of DeleteObjects beside that for versions.
func (q *asker) deletedObjects() []demand {
	var out []demand
	for _, m := range objectKey.FindAllSubmatch(q.x.body, -1) {
		arn := "arn:" + q.partition() + ":s3:::" + q.x.bucket + "/" + string(m[1])
		out = append(out, q.need("s3:DeleteObject", arn, nil))
		if len(m[2]) > 0 {
			out = append(out, q.need("s3:DeleteObjectVersion", arn, nil))
		}
	}
	return out
}

// secretKey returns what the key of a secret takes. A change of the key encrypts the versions again.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
func (q *asker) secretKey() []demand {
	uses := map[string][]string{"GetSecretValue": {"kms:Decrypt"}, "CreateSecret": {"kms:GenerateDataKey", "kms:Decrypt"},
		"PutSecretValue": {"kms:GenerateDataKey", "kms:Decrypt"}, "UpdateSecret": {"kms:GenerateDataKey", "kms:Decrypt"}}[q.x.op]
	if uses == nil {
		return nil
	}
	key := text(q.x.json["KmsKeyId"])
	if key != "" && q.x.op == "UpdateSecret" {
		uses = append(slices.Clone(uses), "kms:Encrypt")
	}
	if key == "" {
		key = text(q.found(describeSecret, map[string]any{"SecretId": cmp.Or(text(q.x.json["SecretId"]), text(q.x.json["Name"]))}, "KmsKeyId"))
	}
	return q.through("secretsmanager", key, map[string]string{"kms:EncryptionContext:SecretARN": q.secretARN()}, uses...)
}

// queueKey returns what the key of a queue takes for its messages.
func (q *asker) queueKey() []demand {
	uses := map[string][]string{"SendMessage": {"kms:GenerateDataKey", "kms:Decrypt"}, "ReceiveMessage": {"kms:Decrypt"}}[q.x.op]
	if uses == nil {
		return nil
	}
	request := map[string]any{"QueueUrl": q.x.json["QueueUrl"], "AttributeNames": []string{"KmsMasterKeyId"}}
	return q.through("sqs", text(q.found("AmazonSQS.GetQueueAttributes", request, "Attributes.KmsMasterKeyId")), nil, uses...)
}

// topicKey returns what the key of a topic takes for a message.
func (q *asker) topicKey() []demand {
	body, err := q.query("sns", "GetTopicAttributes", "2010-03-31", url.Values{"TopicArn": {q.x.form.Get("TopicArn")}})
	if err != nil {
		return nil
	}
	return q.through("sns", firstMatch(topicKey, body), nil, "kms:GenerateDataKey", "kms:Decrypt")
}

// functionKey returns what the key of a function takes to show its variables.
func (q *asker) functionKey() []demand {
	body, err := q.inside().get(q.ctx, "lambda", "/2015-03-31/functions/"+q.x.resource)
	if err != nil {
		return nil
	}
	function, _ := decodeJSON(body).(map[string]any)
	return q.through("lambda", text(member(function, "Configuration.KMSKeyArn")), nil, "kms:Decrypt")
}

// parameterKeys returns what the keys of parameters take to show their values.
func (q *asker) parameterKeys() []demand {
	var out []demand
	for _, name := range q.values("Name", "Names") {
		request := map[string]any{"ParameterFilters": []any{map[string]any{"Key": "Name", "Option": "Equals", "Values": []string{name}}}}
		out = append(out, q.through("ssm", text(q.found("AmazonSSM.DescribeParameters", request, "Parameters.0.KeyId")), nil, "kms:Decrypt")...)
	}
	return out
}
