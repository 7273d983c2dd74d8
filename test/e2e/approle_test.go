// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
)

// app is the application of a capability: what it gets by its role.
type app struct {
	*bed
	cfg      aws.Config
	dynamodb *dynamodb.Client
	s3       *s3.Client
	glue     *glue.Client
	ssm      *ssm.Client
	secrets  *secretsmanager.Client
	sqs      *sqs.Client
	sns      *sns.Client
}

// application has the credentials that the pods of a capability get for the token of their ServiceAccount.
func (b *bed) application(c *nexusv1.NexusAICapability) *app {
	b.Helper()
	return b.applicationOf(c, c.Name+"-app-sa")
}

// applicationOf has the credentials that pods get for the token of a ServiceAccount.
func (b *bed) applicationOf(c *nexusv1.NexusAICapability, name string) *app {
	b.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace}}
	if err := b.Get(account); err != nil {
		b.Fatal(err)
	}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"sts.amazonaws.com"}}}
	if err := b.Client.SubResource("token").Create(b.Ctx(), account, token); err != nil {
		b.Fatal(err)
	}
	cfg := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()), Credentials: aws.AnonymousCredentials{},
		RetryMaxAttempts: 1}
	out, err := sts.NewFromConfig(cfg).AssumeRoleWithWebIdentity(b.Ctx(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String(account.Annotations["eks.amazonaws.com/role-arn"]), RoleSessionName: aws.String("app"),
		WebIdentityToken: &token.Status.Token})
	got := must(b, out, err).Credentials
	cfg.Credentials = credentials.NewStaticCredentialsProvider(*got.AccessKeyId, *got.SecretAccessKey, *got.SessionToken)
	return &app{b, cfg, dynamodb.NewFromConfig(cfg), s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }),
		glue.NewFromConfig(cfg),
		ssm.NewFromConfig(cfg), secretsmanager.NewFromConfig(cfg), sqs.NewFromConfig(cfg), sns.NewFromConfig(cfg)}
}

// use is one thing that applications do with what a key of their ConfigMap names.
type use struct {
	action string
	keys   string // how the names of the keys begin
	do     func(a *app, name string, s settings) error
}

// settings are the ConfigMap of the workloads.
type settings map[string]string

func (s settings) database() *string { return aws.String(s["NEXUS_GLUE_DATABASE"]) }

// item is one that fits the key of a table, and its key.
func (a *app) item(table string) map[string]ddb.AttributeValue {
	key := map[string]ddb.AttributeValue{}
	for _, k := range a.schema(table) {
		key[*k.AttributeName] = &ddb.AttributeValueMemberS{Value: "x"}
	}
	return key
}

func (a *app) schema(table string) []ddb.KeySchemaElement {
	out, err := dynamodb.NewFromConfig(a.admin(homeAccount)).DescribeTable(a.Ctx(), &dynamodb.DescribeTableInput{TableName: &table})
	return must(a.bed, out, err).Table.KeySchema
}

// The beginnings of the keys of stores, and an object.
const (
	tableKeys, bucketKeys = "NEXUS_DYNAMODB_TABLE_", "NEXUS_S3_BUCKET_"
	queueKeys, topicKeys  = "NEXUS_SQS_QUEUE_URL_", "NEXUS_SNS_TOPIC_ARN_"
	anObject              = "report.json"
)

// failed leaves the error of a call.
func failed[T any](_ T, err error) error { return err }

// uses are all of them: one for each action that the roles of capabilities have.
var uses = []use{
	{"dynamodb:DescribeTable", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.DescribeTable(a.Ctx(), &dynamodb.DescribeTableInput{TableName: &name}))
	}},
	{"dynamodb:PutItem", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.PutItem(a.Ctx(), &dynamodb.PutItemInput{TableName: &name, Item: a.item(name)}))
	}},
	{"dynamodb:GetItem", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.GetItem(a.Ctx(), &dynamodb.GetItemInput{TableName: &name, Key: a.item(name)}))
	}},
	{"dynamodb:UpdateItem", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.UpdateItem(a.Ctx(),
			&dynamodb.UpdateItemInput{TableName: &name, Key: a.item(name), UpdateExpression: aws.String("SET n = :n"),
				ExpressionAttributeValues: map[string]ddb.AttributeValue{":n": &ddb.AttributeValueMemberN{Value: "1"}}}))
	}},
	{"dynamodb:Query", tableKeys, func(a *app, name string, _ settings) error {
		for _, k := range a.schema(name) {
			if k.KeyType == ddb.KeyTypeHash {
				return failed(a.dynamodb.Query(a.Ctx(), &dynamodb.QueryInput{TableName: &name, KeyConditionExpression: aws.String("#k = :v"),
					ExpressionAttributeNames:  map[string]string{"#k": *k.AttributeName},
					ExpressionAttributeValues: map[string]ddb.AttributeValue{":v": &ddb.AttributeValueMemberS{Value: "x"}}}))
			}
		}
		return errors.New("the table has no key")
	}},
	{"dynamodb:Scan", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.Scan(a.Ctx(), &dynamodb.ScanInput{TableName: &name}))
	}},
	{"dynamodb:BatchGetItem", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.BatchGetItem(a.Ctx(),
			&dynamodb.BatchGetItemInput{RequestItems: map[string]ddb.KeysAndAttributes{name: {Keys: []map[string]ddb.AttributeValue{a.item(name)}}}}))
	}},
	{"dynamodb:BatchWriteItem", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.BatchWriteItem(a.Ctx(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]ddb.WriteRequest{name: {{PutRequest: &ddb.PutRequest{Item: a.item(name)}}}}}))
	}},
	{"dynamodb:ConditionCheckItem", tableKeys, func(a *app, name string, _ settings) error {
		for key := range a.item(name) {
			return failed(a.dynamodb.TransactWriteItems(a.Ctx(),
				&dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{{ConditionCheck: &ddb.ConditionCheck{
					TableName: &name, Key: a.item(name), ConditionExpression: aws.String("attribute_exists(#k)"),
					ExpressionAttributeNames: map[string]string{"#k": key}}}}}))
		}
		return errors.New("the table has no key")
	}},
	{"dynamodb:DeleteItem", tableKeys, func(a *app, name string, _ settings) error {
		return failed(a.dynamodb.DeleteItem(a.Ctx(), &dynamodb.DeleteItemInput{TableName: &name, Key: a.item(name)}))
	}},

	{"s3:GetBucketLocation", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.GetBucketLocation(a.Ctx(), &s3.GetBucketLocationInput{Bucket: &name}))
	}},
	{"s3:PutObject", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.PutObject(a.Ctx(), &s3.PutObjectInput{Bucket: &name, Key: aws.String(anObject), Body: strings.NewReader("{}")}))
	}},
	{"s3:GetObject", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.GetObject(a.Ctx(), &s3.GetObjectInput{Bucket: &name, Key: aws.String(anObject)}))
	}},
	{"s3:ListBucket", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.ListObjectsV2(a.Ctx(), &s3.ListObjectsV2Input{Bucket: &name}))
	}},
	{"s3:ListBucketMultipartUploads", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.ListMultipartUploads(a.Ctx(), &s3.ListMultipartUploadsInput{Bucket: &name}))
	}},
	{"s3:ListMultipartUploadParts", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.ListParts(a.Ctx(), &s3.ListPartsInput{Bucket: &name, Key: aws.String(anObject), UploadId: a.upload(name)}))
	}},
	{"s3:AbortMultipartUpload", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.AbortMultipartUpload(a.Ctx(),
			&s3.AbortMultipartUploadInput{Bucket: &name, Key: aws.String(anObject), UploadId: a.upload(name)}))
	}},
	{"s3:DeleteObject", bucketKeys, func(a *app, name string, _ settings) error {
		return failed(a.s3.DeleteObject(a.Ctx(), &s3.DeleteObjectInput{Bucket: &name, Key: aws.String(anObject)}))
	}},

	{"glue:GetDatabase", "NEXUS_GLUE_DATABASE", func(a *app, name string, _ settings) error {
		return failed(a.glue.GetDatabase(a.Ctx(), &glue.GetDatabaseInput{Name: &name}))
	}},
	{"glue:GetTables", "NEXUS_GLUE_DATABASE", func(a *app, name string, _ settings) error {
		return failed(a.glue.GetTables(a.Ctx(), &glue.GetTablesInput{DatabaseName: &name}))
	}},
	{"glue:GetTable", "NEXUS_GLUE_TABLE_", func(a *app, name string, s settings) error {
		return failed(a.glue.GetTable(a.Ctx(), &glue.GetTableInput{DatabaseName: s.database(), Name: &name}))
	}},
	{"glue:BatchCreatePartition", "NEXUS_GLUE_TABLE_", func(a *app, name string, s settings) error {
		return failed(a.glue.BatchCreatePartition(a.Ctx(), &glue.BatchCreatePartitionInput{DatabaseName: s.database(), TableName: &name,
			PartitionInputList: []gluetypes.PartitionInput{{Values: []string{"2026"}}}}))
	}},
	{"glue:GetPartition", "NEXUS_GLUE_TABLE_", func(a *app, name string, s settings) error {
		return failed(a.glue.GetPartition(a.Ctx(),
			&glue.GetPartitionInput{DatabaseName: s.database(), TableName: &name, PartitionValues: []string{"2026"}}))
	}},
	{"glue:GetPartitions", "NEXUS_GLUE_TABLE_", func(a *app, name string, s settings) error {
		return failed(a.glue.GetPartitions(a.Ctx(), &glue.GetPartitionsInput{DatabaseName: s.database(), TableName: &name}))
	}},
	{"glue:BatchGetPartition", "NEXUS_GLUE_TABLE_", func(a *app, name string, s settings) error {
		return failed(a.glue.BatchGetPartition(a.Ctx(), &glue.BatchGetPartitionInput{DatabaseName: s.database(), TableName: &name,
			PartitionsToGet: []gluetypes.PartitionValueList{{Values: []string{"2026"}}}}))
	}},
	{"glue:GetCrawler", "NEXUS_CAPABILITY", func(a *app, name string, s settings) error {
		return failed(a.glue.GetCrawler(a.Ctx(), &glue.GetCrawlerInput{Name: aws.String(name + "-dev-call-data-crawler")}))
	}},
	{"glue:StartCrawler", "NEXUS_CAPABILITY", func(a *app, name string, s settings) error {
		return failed(a.glue.StartCrawler(a.Ctx(), &glue.StartCrawlerInput{Name: aws.String(name + "-dev-call-data-crawler")}))
	}},

	{"ssm:GetParameter", "NEXUS_SSM_PREFIX", func(a *app, prefix string, _ settings) error {
		var all error
		for _, name := range a.parameters(prefix) {
			all = errors.Join(all, failed(a.ssm.GetParameter(a.Ctx(), &ssm.GetParameterInput{Name: &name})))
		}
		return all
	}},
	{"ssm:GetParameters", "NEXUS_SSM_PREFIX", func(a *app, prefix string, _ settings) error {
		return failed(a.ssm.GetParameters(a.Ctx(), &ssm.GetParametersInput{Names: a.parameters(prefix)[:10]}))
	}},
	{"secretsmanager:DescribeSecret", "NEXUS_SECRETS_PREFIX", func(a *app, prefix string, _ settings) error {
		return failed(a.secrets.DescribeSecret(a.Ctx(), &secretsmanager.DescribeSecretInput{SecretId: aws.String(prefix + "/openai")}))
	}},
	{"secretsmanager:GetSecretValue", "NEXUS_SECRETS_PREFIX", func(a *app, prefix string, _ settings) error {
		return failed(a.secrets.GetSecretValue(a.Ctx(), &secretsmanager.GetSecretValueInput{SecretId: aws.String(prefix + "/openai")}))
	}},

	{"sqs:GetQueueAttributes", queueKeys, func(a *app, at string, _ settings) error {
		return failed(a.sqs.GetQueueAttributes(a.Ctx(), &sqs.GetQueueAttributesInput{QueueUrl: &at}))
	}},
	{"sqs:GetQueueUrl", queueKeys, func(a *app, at string, _ settings) error {
		return failed(a.sqs.GetQueueUrl(a.Ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String(at[strings.LastIndexByte(at, '/')+1:])}))
	}},
	{"sqs:SendMessage", queueKeys, func(a *app, at string, _ settings) error {
		return failed(a.sqs.SendMessage(a.Ctx(), &sqs.SendMessageInput{QueueUrl: &at, MessageBody: aws.String("x")}))
	}},
	{"sqs:ReceiveMessage", queueKeys, func(a *app, at string, _ settings) error { return failed(a.receive(at)) }},
	{"sqs:ChangeMessageVisibility", queueKeys, func(a *app, at string, _ settings) error {
		return failed(a.sqs.ChangeMessageVisibility(a.Ctx(),
			&sqs.ChangeMessageVisibilityInput{QueueUrl: &at, ReceiptHandle: a.message(at), VisibilityTimeout: 1}))
	}},
	{"sqs:DeleteMessage", queueKeys, func(a *app, at string, _ settings) error {
		return failed(a.sqs.DeleteMessage(a.Ctx(), &sqs.DeleteMessageInput{QueueUrl: &at, ReceiptHandle: a.message(at)}))
	}},
	{"sns:Publish", topicKeys, func(a *app, arn string, _ settings) error {
		return failed(a.sns.Publish(a.Ctx(), &sns.PublishInput{TopicArn: &arn, Message: aws.String("x")}))
	}},

	{"bedrock:InvokeModel", "NEXUS_BEDROCK_MODEL_", func(a *app, model string, s settings) error {
		return a.bedrock(s, "/model/"+model+"/invoke")
	}},
	{"bedrock:InvokeModelWithResponseStream", "NEXUS_BEDROCK_MODEL_", func(a *app, model string, s settings) error {
		return a.bedrock(s, "/model/"+model+"/invoke-with-response-stream")
	}},
	{"bedrock:Retrieve", "NEXUS_BEDROCK_KNOWLEDGE_BASE_", func(a *app, id string, s settings) error {
		return a.bedrock(s, "/knowledgebases/"+id+"/retrieve")
	}},
	{"bedrock:ApplyGuardrail", "NEXUS_BEDROCK_GUARDRAIL_", func(a *app, id string, s settings) error {
		return a.bedrock(s, "/guardrail/"+id+"/version/1/apply")
	}},
}

// throughStores are the actions that the services take in the application's place, with the uses above: the stores have a key.
var throughStores = []string{"kms:Decrypt", "kms:GenerateDataKey"}

// plain are the keys that name nothing in AWS that has rights.
var plain = []string{"NEXUS_ENVIRONMENT", "NEXUS_VERSION", "NEXUS_REGION", "AWS_REGION", "NEXUS_BACKEND_URL", "NEXUS_BACKEND_INTERNAL_URL",
	"NEXUS_KMS_KEY_ARN", "NEXUS_COGNITO_", "NEXUS_BEDROCK_REGION", "NEXUS_BEDROCK_GUARDRAILVERSION_"}

// upload begins one in parts, as a person with every right, and returns its ID.
func (a *app) upload(bucket string) *string {
	api := s3.NewFromConfig(a.admin(homeAccount), func(o *s3.Options) { o.UsePathStyle = true })
	out, err := api.CreateMultipartUpload(a.Ctx(), &s3.CreateMultipartUploadInput{Bucket: &bucket, Key: aws.String(anObject)})
	return must(a.bed, out, err).UploadId
}

// parameters returns the parameters below a path.
func (a *app) parameters(path string) []string {
	var names []string
	pages := ssm.NewGetParametersByPathPaginator(ssm.NewFromConfig(a.admin(homeAccount)),
		&ssm.GetParametersByPathInput{Path: &path, Recursive: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(a.Ctx())
		for _, p := range must(a.bed, page, err).Parameters {
			names = append(names, *p.Name)
		}
	}
	return names
}

func (a *app) receive(at string) (*sqs.ReceiveMessageOutput, error) {
	return a.sqs.ReceiveMessage(a.Ctx(), &sqs.ReceiveMessageInput{QueueUrl: &at, WaitTimeSeconds: 1})
}

// message puts a message into a queue, as a person with every right, and receives it.
func (a *app) message(at string) *string {
	api := sqs.NewFromConfig(a.admin(homeAccount))
	sent, err := api.SendMessage(a.Ctx(), &sqs.SendMessageInput{QueueUrl: &at, MessageBody: aws.String("x")})
	must(a.bed, sent, err)
	out, err := api.ReceiveMessage(a.Ctx(), &sqs.ReceiveMessageInput{QueueUrl: &at, MaxNumberOfMessages: 10})
	return must(a.bed, out, err).Messages[0].ReceiptHandle
}

// bedrock sends a request that Bedrock would answer. The emulator has no models, so that only the decision about the right is
// seen: whatever else is answered counts as allowed.
func (a *app) bedrock(s settings, path string) error {
	body := []byte(`{}`)
	r, err := http.NewRequestWithContext(a.Ctx(), http.MethodPost, *a.cfg.BaseEndpoint+strings.ReplaceAll(path, ":", "%3A"),
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	held, err := a.cfg.Credentials.Retrieve(a.Ctx())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(a.Ctx(), held, r, hex.EncodeToString(sum[:]), "bedrock", s["NEXUS_BEDROCK_REGION"],
		time.Now()); err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.Header.Get("X-Amzn-Errortype") == "AccessDeniedException" {
		return &smithy.GenericAPIError{Code: "AccessDeniedException", Message: string(text)}
	}
	return err
}

// isDenied reports whether AWS refuses for want of a right.
func isDenied(err error) bool {
	var refused smithy.APIError
	return errors.As(err, &refused) && (strings.HasPrefix(refused.ErrorCode(), "AccessDenied") || refused.ErrorCode() == "AuthorizationError")
}

// settingsOf is the ConfigMap of a capability's workloads.
func (b *bed) settingsOf(c *nexusv1.NexusAICapability) settings {
	b.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name + "-config"}}
	if err := b.Get(cm); err != nil {
		b.Fatal(err)
	}
	return cm.Data
}

// granted are the actions of the inline policies of a role.
func (b *bed) granted(role string) []string {
	b.Helper()
	all := map[string]bool{}
	for _, s := range b.statements(role) {
		for _, action := range s.Action {
			all[action] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// statements returns the statements of the inline policies of a role.
func (b *bed) statements(role string) (all []iampolicy.Statement) {
	b.Helper()
	api := iam.NewFromConfig(b.admin(homeAccount))
	list, err := api.ListRolePolicies(b.Ctx(), &iam.ListRolePoliciesInput{RoleName: &role})
	for _, name := range must(b, list, err).PolicyNames {
		out, err := api.GetRolePolicy(b.Ctx(), &iam.GetRolePolicyInput{RoleName: &role, PolicyName: &name})
		text, err := url.PathUnescape(*must(b, out, err).PolicyDocument)
		document, parsed := iampolicy.Parse(text)
		if err := errors.Join(err, parsed); err != nil {
			b.Fatal(err)
		}
		all = append(all, document.Statement...)
	}
	return all
}

// Under the rules of IAM an application can do with everything that its ConfigMap names what its policy is for, and nothing with
// what belongs to another capability. An action that no use needs has no place in the policy.
func TestPrivilege_TheAppRoleReachesWhatItsConfigMapNames(t *testing.T) {
	everything := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	b := &bed{kit.Limited(t, []string{everything}, "--default-permissions-boundary="+boundary)}
	created, err := iam.NewFromConfig(b.admin(homeAccount)).CreatePolicy(b.Ctx(),
		&iam.CreatePolicyInput{PolicyName: aws.String("nexus-boundary"), PolicyDocument: &everything})
	must(b, created, err)
	zone := b.zone("example.com")
	var both []*nexusv1.NexusAICapability
	for i, name := range []string{"mine", "theirs"} {
		c := b.whole(name, zone.id)
		c.Spec.DataServices.Glue.Crawler = &nexusv1.CrawlerSpec{}
		c.Spec.DataServices.Bedrock = &nexusv1.BedrockSpec{Region: "us-east-1",
			Models: []nexusv1.BedrockModel{{Name: "chat", ModelID: []string{"amazon.nova-lite-v1:0", "amazon.nova-pro-v1:0"}[i]},
				{Name: "wide", ModelID: []string{"amazon.nova-micro-v1:0", "amazon.nova-pro-v1:0"}[i],
					InferenceProfile: []string{"us.amazon.nova-micro-v1:0", "us.amazon.nova-pro-v1:0"}[i]}},
			KnowledgeBases: []nexusv1.BedrockKnowledgeBase{{Name: "handbook", ID: []string{"KB12345678", "KB87654321"}[i]}},
			Guardrails:     []nexusv1.BedrockGuardrail{{Name: "safety", ID: []string{"gr0123456789", "gr9876543210"}[i], Version: "1"}}}
		b.Create(c)
		both = append(both, c)
	}
	for _, c := range both {
		b.Running(c)
	}
	mine, theirs := b.settingsOf(both[0]), b.settingsOf(both[1])
	a := b.application(both[0])

	var actions []string
	named := map[string]bool{}
	for _, u := range uses {
		actions = append(actions, u.action)
		for key := range mine {
			if !strings.HasPrefix(key, u.keys) {
				continue
			}
			named[key] = true
			if strings.HasSuffix(key, "_DLQ") && u.action == "sqs:SendMessage" {
				continue // SQS alone puts messages there
			}
			if err := u.do(a, mine[key], mine); err != nil {
				t.Errorf("%s with %s=%s: %v", u.action, key, mine[key], err)
			}
			if err := u.do(a, theirs[key], theirs); !isDenied(err) {
				t.Errorf("%s with %s=%s of the other capability: %v", u.action, key, theirs[key], err)
			}
		}
	}
	for key := range mine {
		if !named[key] && !slices.ContainsFunc(plain, func(p string) bool { return strings.HasPrefix(key, p) }) {
			t.Errorf("no use of %s", key)
		}
	}
	role := both[0].Name + "-app-role"
	if got, want := b.granted(role), slices.Sorted(slices.Values(slices.Concat(actions, throughStores))); !slices.Equal(got, want) {
		t.Errorf("the role may\n%q, and the uses need\n%q", got, want)
	}

	// Without its right to the key nothing that is encrypted can be read: the rights through the services are needed too.
	api := iam.NewFromConfig(b.admin(homeAccount))
	b.Op.Stop()
	deny := `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"kms:*","Resource":"*"}]}`
	put, err := api.PutRolePolicy(b.Ctx(), &iam.PutRolePolicyInput{RoleName: &role, PolicyName: aws.String("no-keys"), PolicyDocument: &deny})
	must(b, put, err)
	b.World.AWS().EnforceIAM(true) // reads the policies again: the person went past the proxy
	for _, u := range uses {
		if slices.Contains([]string{"dynamodb:GetItem", "s3:PutObject", "secretsmanager:GetSecretValue", "sqs:SendMessage", "sns:Publish"},
			u.action) {
			for key := range mine {
				if strings.HasPrefix(key, u.keys) && !strings.HasSuffix(key, "_DLQ") && !isDenied(u.do(a, mine[key], mine)) {
					t.Errorf("%s with %s needs no right to the key", u.action, key)
				}
			}
		}
	}
}
