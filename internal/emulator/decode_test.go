// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// request is one call by the SDK and the label that it must get. Whether the
// emulator likes it does not matter.
type request struct {
	label string
	write bool
	do    func(context.Context, clients)
}

var (
	bucket = aws.String("some-bucket")
	object = aws.String("path/to/object")
	table  = aws.String("orders")
	role   = aws.String("app-role")
)

var s3Requests = []request{
	{"s3.ListBuckets()", false, func(ctx context.Context, c clients) { c.s3.ListBuckets(ctx, &s3.ListBucketsInput{}) }},
	{"s3.CreateBucket(some-bucket)", true, func(ctx context.Context, c clients) { createBucket(ctx, c, *bucket) }},
	{"s3.HeadBucket(some-bucket)", false, func(ctx context.Context, c clients) { c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: bucket}) }},
	{"s3.GetBucketLocation(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.GetBucketLocation(ctx, &s3.GetBucketLocationInput{Bucket: bucket})
	}},
	{"s3.PutBucketVersioning(some-bucket)", true, func(ctx context.Context, c clients) {
		c.s3.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: bucket,
			VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}})
	}},
	{"s3.GetBucketVersioning(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: bucket})
	}},
	{"s3.GetBucketEncryption(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: bucket})
	}},
	{"s3.PutPublicAccessBlock(some-bucket)", true, func(ctx context.Context, c clients) {
		c.s3.PutPublicAccessBlock(ctx,
			&s3.PutPublicAccessBlockInput{Bucket: bucket, PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{}})
	}},
	{"s3.GetBucketOwnershipControls(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.GetBucketOwnershipControls(ctx, &s3.GetBucketOwnershipControlsInput{Bucket: bucket})
	}},
	{"s3.GetBucketPolicyStatus(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.GetBucketPolicyStatus(ctx, &s3.GetBucketPolicyStatusInput{Bucket: bucket})
	}},
	{"s3.DeleteBucketPolicy(some-bucket)", true, func(ctx context.Context, c clients) {
		c.s3.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: bucket})
	}},
	{"s3.GetBucketLifecycleConfiguration(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: bucket})
	}},
	{"s3.DeleteBucketLifecycle(some-bucket)", true, func(ctx context.Context, c clients) {
		c.s3.DeleteBucketLifecycle(ctx, &s3.DeleteBucketLifecycleInput{Bucket: bucket})
	}},
	{"s3.PutBucketTagging(some-bucket)", true, func(ctx context.Context, c clients) {
		c.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: bucket, Tagging: &s3types.Tagging{TagSet: []s3types.Tag{}}})
	}},
	{"s3.ListBucketMetricsConfigurations(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.ListBucketMetricsConfigurations(ctx, &s3.ListBucketMetricsConfigurationsInput{Bucket: bucket})
	}},
	{"s3.ListObjectsV2(some-bucket)", false,
		func(ctx context.Context, c clients) { c.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket}) }},
	{"s3.ListObjectVersions(some-bucket)", false, func(ctx context.Context, c clients) {
		c.s3.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: bucket})
	}},
	{"s3.PutObject(some-bucket/path/to/object)", true, func(ctx context.Context, c clients) {
		c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: object, Body: strings.NewReader("content")})
	}},
	{"s3.GetObject(some-bucket/path/to/object)", false, func(ctx context.Context, c clients) {
		c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: object})
	}},
	{"s3.CopyObject(some-bucket/path/to/object)", true, func(ctx context.Context, c clients) {
		c.s3.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: object, CopySource: aws.String("some-bucket/path/to/object")})
	}},
	{"s3.CreateMultipartUpload(some-bucket/path/to/object)", true, func(ctx context.Context, c clients) {
		c.s3.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: object})
	}},
	{"s3.DeleteObjects(some-bucket)", true, func(ctx context.Context, c clients) {
		c.s3.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket,
			Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{{Key: object}}}})
	}},
	{"s3.DeleteBucket(some-bucket)", true,
		func(ctx context.Context, c clients) { c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket}) }},
}

var otherRequests = []request{
	{"dynamodb.CreateTable(orders)", true, func(ctx context.Context, c clients) { createTable(ctx, c, *table) }},
	{"dynamodb.DescribeTable(orders)", false, func(ctx context.Context, c clients) { tableExists(ctx, c, *table) }},
	{"dynamodb.TagResource(orders)", true, func(ctx context.Context, c clients) {
		c.dynamodb.TagResource(ctx,
			&dynamodb.TagResourceInput{ResourceArn: aws.String("arn:aws:dynamodb:ap-southeast-1:123456789012:table/orders"), Tags: []ddbtypes.Tag{}})
	}},
	{"dynamodb.UpdateContinuousBackups(orders)", true, func(ctx context.Context, c clients) {
		c.dynamodb.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: table,
			PointInTimeRecoverySpecification: &ddbtypes.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}})
	}},
	{"dynamodb.ListTables()", false, func(ctx context.Context, c clients) { c.dynamodb.ListTables(ctx, &dynamodb.ListTablesInput{}) }},
	{"iam.CreateRole(app-role)", true, func(ctx context.Context, c clients) { createRole(ctx, c, *role, trustAll) }},
	{"iam.PutRolePolicy(app-role)", true, func(ctx context.Context, c clients) {
		c.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: role, PolicyName: aws.String("p"), PolicyDocument: aws.String("{}")})
	}},
	{"iam.GetOpenIDConnectProvider(oidc.eks.ap-southeast-1.amazonaws.com/id/EXAMPLE)", false, func(ctx context.Context, c clients) {
		c.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: aws.String("arn:aws:iam::123456789012:oidc-provider/oidc.eks.ap-southeast-1.amazonaws.com/id/EXAMPLE")})
	}},
	{"sts.GetCallerIdentity()", false, func(ctx context.Context, c clients) { c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}) }},
	{"sts.AssumeRole(app-role)", false, func(ctx context.Context, c clients) {
		c.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::123456789012:role/path/app-role"),
			RoleSessionName: aws.String("s")})
	}},
	{"sts.AssumeRoleWithWebIdentity(app-role)", false, func(ctx context.Context, c clients) {
		c.sts.AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{RoleArn: aws.String("arn:aws:iam::123456789012:role/app-role"),
			RoleSessionName: aws.String("s"), WebIdentityToken: aws.String("a.b.c")})
	}},
	{"glue.CreateDatabase(lake)", true, func(ctx context.Context, c clients) {
		c.glue.CreateDatabase(ctx, &glue.CreateDatabaseInput{DatabaseInput: &gluetypes.DatabaseInput{Name: aws.String("lake")}})
	}},
	{"glue.CreateTable(lake/calls)", true, func(ctx context.Context, c clients) {
		c.glue.CreateTable(ctx, &glue.CreateTableInput{DatabaseName: aws.String("lake"),
			TableInput: &gluetypes.TableInput{Name: aws.String("calls")}})
	}},
	{"glue.GetTable(lake/calls)", false, func(ctx context.Context, c clients) {
		c.glue.GetTable(ctx, &glue.GetTableInput{DatabaseName: aws.String("lake"), Name: aws.String("calls")})
	}},
	{"glue.GetTags(lake)", false, func(ctx context.Context, c clients) {
		c.glue.GetTags(ctx, &glue.GetTagsInput{ResourceArn: aws.String("arn:aws:glue:ap-southeast-1:123456789012:database/lake")})
	}},
	{"glue.StartCrawler(crawl)", true, func(ctx context.Context, c clients) {
		c.glue.StartCrawler(ctx, &glue.StartCrawlerInput{Name: aws.String("crawl")})
	}},
	{"ssm.PutParameter(/app/dev/x)", true, func(ctx context.Context, c clients) {
		c.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String("/app/dev/x"), Value: aws.String("1"),
			Type: ssmtypes.ParameterTypeString})
	}},
	{"ssm.GetParameters(/app/dev/x,/app/dev/y)", false, func(ctx context.Context, c clients) {
		c.ssm.GetParameters(ctx, &ssm.GetParametersInput{Names: []string{"/app/dev/x", "/app/dev/y"}})
	}},
	{"ssm.AddTagsToResource(/app/dev/x)", true, func(ctx context.Context, c clients) {
		c.ssm.AddTagsToResource(ctx,
			&ssm.AddTagsToResourceInput{ResourceType: ssmtypes.ResourceTypeForTaggingParameter, ResourceId: aws.String("/app/dev/x"),
				Tags: []ssmtypes.Tag{{Key: aws.String("k"), Value: aws.String("v")}}})
	}},
	{"secretsmanager.CreateSecret(app/dev/keys)", true, func(ctx context.Context, c clients) {
		c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("app/dev/keys"), SecretString: aws.String("s")})
	}},
	{"secretsmanager.DescribeSecret(app/dev/keys)", false, func(ctx context.Context, c clients) {
		c.secrets.DescribeSecret(ctx,
			&secretsmanager.DescribeSecretInput{SecretId: aws.String("arn:aws:secretsmanager:ap-southeast-1:123456789012:secret:app/dev/keys-AbC1d2")})
	}},
}

func TestEveryRequestOfTheSDKGetsItsLabel(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	for _, tt := range append(append([]request{}, s3Requests...), otherRequests...) {
		mark := p.Mark()
		tt.do(t.Context(), c)
		calls := p.Since(mark)
		if len(calls) != 1 || calls[0].Label() != tt.label || calls[0].Write != tt.write {
			t.Errorf("want %s (write %v), got\n%s", tt.label, tt.write, calls)
		}
	}
	if unsigned := p.Calls().Match("sts", "AssumeRoleWith*", ""); unsigned[0].AccessKey != "" {
		t.Errorf("an unsigned request has the key %q", unsigned[0].AccessKey)
	}
}

func TestVirtualHostRequestsGetTheSameLabels(t *testing.T) {
	p := proxy(t)
	for host, target := range map[string]string{"some-bucket.s3.ap-southeast-1.amazonaws.com": "/path/to/object",
		"127.0.0.1": "/some-bucket/path/to/object"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+target+"?tagging", nil)
		must.Succeed(t, err)
		r.Host = host
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AK/20250101/ap-southeast-1/s3/aws4_request, SignedHeaders=host, Signature=x")
		mark := p.Mark()
		answer, err := http.DefaultClient.Do(r)
		must.Succeed(t, err)
		answer.Body.Close()
		if got := p.Since(mark).Labels(); len(got) != 1 || got[0] != "s3.GetObjectTagging(some-bucket/path/to/object)" {
			t.Errorf("%s: %v", host, got)
		}
	}
}

func TestOtherProtocolsGetLabels(t *testing.T) {
	p := proxy(t)
	for _, tt := range []struct{ method, path, contentType, target, service, body, label string }{
		{"POST", "/", "application/x-amz-json-1.0", "AmazonSQS.CreateQueue", "sqs", `{"QueueName":"jobs"}`, "sqs.CreateQueue(jobs)"},
		{"POST", "/", "application/x-amz-json-1.0", "AmazonSQS.SetQueueAttributes", "sqs", `{"QueueUrl":"http://127.0.0.1/123456789012/jobs"}`,
			"sqs.SetQueueAttributes(jobs)"},
		{"POST", "/", "application/x-www-form-urlencoded; charset=utf-8", "", "sns", "Action=CreateTopic&Name=news&Version=2010-03-31",
			"sns.CreateTopic(news)"},
		{"POST", "/", "application/x-www-form-urlencoded; charset=utf-8", "", "sns",
			"Action=SetSubscriptionAttributes&AttributeName=RawMessageDelivery&SubscriptionArn=arn%3Aaws%3Asns%3Aap-southeast-1%3A123456789012%3Anews%3A1234abcd&Version=2010-03-31", "sns.SetSubscriptionAttributes(news)"},
		{"POST", "/", "application/x-www-form-urlencoded", "", "rds", "Action=DescribeDBInstances&DBInstanceIdentifier=db1&Version=2014-10-31",
			"rds.DescribeDBInstances(db1)"},
		{"POST", "/", "application/x-www-form-urlencoded", "", "ec2", "Action=TerminateInstances&InstanceId.1=i-1&Version=2016-11-15",
			"ec2.TerminateInstances(i-1)"},
		{"POST", "/", "application/x-amz-json-1.1", "AWSCognitoIdentityProviderService.CreateUserPool", "cognito-idp", `{"PoolName":"users"}`,
			"cognito-idp.CreateUserPool(users)"},
		{"POST", "/service/GraniteServiceVersion20100801/operation/ListMetrics", "application/cbor", "", "monitoring", "",
			"cloudwatch.ListMetrics()"},
		{"POST", "/2013-04-01/hostedzone", "", "", "route53", "<CreateHostedZoneRequest><Name>example.com.</Name></CreateHostedZoneRequest>",
			"route53.CreateHostedZone(example.com.)"},
		{"GET", "/2013-04-01/hostedzone", "", "", "route53", "", "route53.ListHostedZones()"},
		{"GET", "/2013-04-01/hostedzonesbyname?dnsname=example.com.", "", "", "route53", "", "route53.ListHostedZonesByName()"},
		{"GET", "/2013-04-01/hostedzone/Z1", "", "", "route53", "", "route53.GetHostedZone(Z1)"},
		{"POST", "/2013-04-01/hostedzone/Z1", "", "", "route53", "<UpdateHostedZoneCommentRequest/>", "route53.UpdateHostedZoneComment(Z1)"},
		{"DELETE", "/2013-04-01/hostedzone/Z1", "", "", "route53", "", "route53.DeleteHostedZone(Z1)"},
		{"POST", "/2013-04-01/hostedzone/Z1/associatevpc", "", "", "route53", "<AssociateVPCWithHostedZoneRequest/>",
			"route53.AssociateVPCWithHostedZone(Z1)"},
		{"POST", "/2013-04-01/hostedzone/Z1/disassociatevpc", "", "", "route53", "<DisassociateVPCFromHostedZoneRequest/>",
			"route53.DisassociateVPCFromHostedZone(Z1)"},
		{"POST", "/2013-04-01/hostedzone/Z1/rrset/", "", "", "route53",
			"<ChangeResourceRecordSetsRequest><Name>www.example.com.</Name></ChangeResourceRecordSetsRequest>",
			"route53.ChangeResourceRecordSets(Z1/www.example.com.)"},
		{"GET", "/2013-04-01/hostedzone/Z1/rrset?name=www.example.com.&type=A", "", "", "route53", "",
			"route53.ListResourceRecordSets(Z1/www.example.com.)"},
		{"GET", "/2013-04-01/hostedzone/Z1/rrset", "", "", "route53", "", "route53.ListResourceRecordSets(Z1)"},
		{"GET", "/2013-04-01/tags/hostedzone/Z1", "", "", "route53", "", "route53.ListTagsForResource(Z1)"},
		{"POST", "/2013-04-01/tags/hostedzone/Z1", "", "", "route53", "<ChangeTagsForResourceRequest/>", "route53.ChangeTagsForResource(Z1)"},
		{"POST", "/2013-04-01/tags/hostedzone", "", "", "route53",
			"<ListTagsForResourcesRequest><ResourceId>Z1</ResourceId><ResourceId>Z2</ResourceId></ListTagsForResourcesRequest>",
			"route53.ListTagsForResources(Z1,Z2)"},
		{"GET", "/2013-04-01/change/C1", "", "", "route53", "", "route53.GetChange(C1)"},
		{"GET", "/2013-04-01/trafficpolicies", "", "", "route53", "", "route53.GET(/2013-04-01/trafficpolicies)"},
		{"GET", "/clusters/prod", "", "", "eks", "", "eks.DescribeCluster(prod)"},
		{"POST", "/clusters/prod/node-groups", "", "", "eks", `{"nodegroupName":"a"}`, "eks.CreateNodegroup(prod)"},
		{"DELETE", "/tags/arn:aws:eks:eu-west-1:123456789012:cluster/prod", "", "", "eks", "", "eks.UntagResource(prod)"},
		{"GET", "/clusters/prod/addons", "", "", "eks", "", "eks.GET(/clusters/prod/addons)"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, p.URL()+tt.path, strings.NewReader(tt.body))
		must.Succeed(t, err)
		r.Header.Set("Content-Type", tt.contentType)
		r.Header.Set("X-Amz-Target", tt.target)
		r.Header.Set("Authorization",
			fmt.Sprintf("AWS4-HMAC-SHA256 Credential=AK/20250101/%s/%s/aws4_request, SignedHeaders=host, Signature=x", region, tt.service))
		mark := p.Mark()
		answer, err := http.DefaultClient.Do(r)
		must.Succeed(t, err)
		answer.Body.Close()
		if got := p.Since(mark).Labels(); len(got) != 1 || got[0] != tt.label {
			t.Errorf("want %s, got %v", tt.label, got)
		}
	}
}
