// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	acmtypes "github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	cognitotypes "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	smtypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// past makes resources as a person did before there was an operator.
type past struct {
	*tool
	config aws.Config
	// resources holds what was made, as import names them, with the types and attributes of a Terraform state.
	resources []string
	terraform []map[string]any
}

func (p *past) made(err error, name, terraformType string, attributes map[string]any) {
	p.Helper()
	if err != nil {
		p.Fatalf("%s: %v", name, err)
	}
	p.resources = append(p.resources, name)
	p.terraform = append(p.terraform,
		map[string]any{"mode": "managed", "type": terraformType, "name": "x", "instances": []any{map[string]any{"attributes": attributes}}})
}

func (p *past) bucket(i int) {
	api, name := s3.NewFromConfig(p.config, func(o *s3.Options) { o.UsePathStyle = true }), fmt.Sprintf("old-bucket-%d", i)
	_, err := api.CreateBucket(p.Ctx(),
		&s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}})
	if err == nil && i%2 == 0 {
		_, err = api.PutBucketVersioning(p.Ctx(), &s3.PutBucketVersioningInput{Bucket: &name,
			VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}})
	}
	if err == nil && i%3 == 0 {
		_, err = api.PutBucketTagging(p.Ctx(), &s3.PutBucketTaggingInput{Bucket: &name,
			Tagging: &s3types.Tagging{TagSet: []s3types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}}})
	}
	if err == nil && i%4 == 0 {
		_, err = api.PutBucketLifecycleConfiguration(p.Ctx(), &s3.PutBucketLifecycleConfigurationInput{Bucket: &name,
			LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{Rules: []s3types.LifecycleRule{{
				ID: aws.String("old"), Status: s3types.ExpirationStatusEnabled, Filter: &s3types.LifecycleRuleFilter{Prefix: aws.String("tmp/")},
				Expiration: &s3types.LifecycleExpiration{Days: aws.Int32(30)}}}}})
	}
	p.made(err, "s3bucket/"+name, "aws_s3_bucket", map[string]any{"bucket": name})
}

func (p *past) table(i int) {
	name := fmt.Sprintf("old-table-%d", i)
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: ddbtypes.ScalarAttributeTypeS}},
		KeySchema:            []ddbtypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddbtypes.KeyTypeHash}}}
	if i%2 == 0 {
		in.BillingMode, in.ProvisionedThroughput = ddbtypes.BillingModeProvisioned,
			&ddbtypes.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(2), WriteCapacityUnits: aws.Int64(1)}
		in.Tags = []ddbtypes.Tag{{Key: aws.String("team"), Value: aws.String("a")}}
	}
	_, err := dynamodb.NewFromConfig(p.config).CreateTable(p.Ctx(), in)
	p.made(err, "dynamodbtable/"+name, "aws_dynamodb_table", map[string]any{"name": name})
}

func (p *past) role(i int) {
	name := fmt.Sprintf("old-role-%d", i)
	_, err := iam.NewFromConfig(p.config).CreateRole(p.Ctx(), &iam.CreateRoleInput{RoleName: &name, PermissionsBoundary: aws.String(boundary),
		AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)})
	if err == nil {
		_, err = iam.NewFromConfig(p.config).PutRolePolicy(p.Ctx(), &iam.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("read"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":"arn:aws:s3:::old-bucket-0/*"}]}`)})
	}
	p.made(err, "iamrole/"+name, "aws_iam_role", map[string]any{"name": name})
}

func (p *past) secret(i int) {
	name := fmt.Sprintf("old/secret-%d", i)
	_, err := secretsmanager.NewFromConfig(p.config).CreateSecret(p.Ctx(),
		&secretsmanager.CreateSecretInput{Name: &name, Description: aws.String("made by hand"),
			SecretString: aws.String("precious"), Tags: []smtypes.Tag{{Key: aws.String("team"), Value: aws.String("a")}}})
	p.made(err, "secretsmanagersecret/"+name, "aws_secretsmanager_secret", map[string]any{"name": name})
}

func (p *past) catalog(i int) {
	api, db, table := glue.NewFromConfig(p.config), fmt.Sprintf("old_lake_%d", i), "calls"
	_, err := api.CreateDatabase(p.Ctx(),
		&glue.CreateDatabaseInput{DatabaseInput: &gluetypes.DatabaseInput{Name: &db, Description: aws.String("by hand"),
			Parameters: map[string]string{"a": "1"}}})
	p.made(err, "gluedatabase/"+db, "aws_glue_catalog_database", map[string]any{"name": db})
	_, err = api.CreateTable(p.Ctx(),
		&glue.CreateTableInput{DatabaseName: &db, TableInput: &gluetypes.TableInput{Name: &table, TableType: aws.String("EXTERNAL_TABLE"),
			Parameters: map[string]string{"classification": "json"},
			StorageDescriptor: &gluetypes.StorageDescriptor{Location: aws.String("s3://old-bucket-0/calls/"),
				Columns: []gluetypes.Column{{Name: aws.String("id"), Type: aws.String("string")}}}}})
	p.made(err, "gluetable/"+db+"/"+table, "aws_glue_catalog_table", map[string]any{"database_name": db, "name": table})
}

func (p *past) vpc(i int) {
	out, err := ec2.NewFromConfig(p.config).CreateVpc(p.Ctx(), &ec2.CreateVpcInput{CidrBlock: aws.String(fmt.Sprintf("10.%d.0.0/16", i))})
	if err != nil {
		p.Fatal(err)
	}
	p.made(err, "vpc/"+*out.Vpc.VpcId, "aws_vpc", map[string]any{"id": *out.Vpc.VpcId})
}

func (p *past) pool(i int) {
	api := cognitoidentityprovider.NewFromConfig(p.config)
	out, err := api.CreateUserPool(p.Ctx(), &cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String(fmt.Sprintf("old-users-%d", i)),
		UserPoolTags: map[string]string{"team": "a"}})
	if err != nil {
		p.Fatal(err)
	}
	id := out.UserPool.Id
	_, err = api.CreateUserPoolClient(p.Ctx(),
		&cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: id, ClientName: aws.String("web"), AllowedOAuthFlowsUserPoolClient: true,
			AllowedOAuthFlows: []cognitotypes.OAuthFlowType{cognitotypes.OAuthFlowTypeCode}, AllowedOAuthScopes: []string{"openid"},
			CallbackURLs: []string{"https://example.com/"}})
	if err == nil {
		_, err = api.CreateGroup(p.Ctx(), &cognitoidentityprovider.CreateGroupInput{UserPoolId: id, GroupName: aws.String("admin")})
	}
	p.made(err, "cognitouserpool/"+*id, "aws_cognito_user_pool", map[string]any{"id": *id})
}

func (p *past) cache(i int) {
	id := fmt.Sprintf("old-cache-%d", i)
	_, err := elasticache.NewFromConfig(p.config).CreateCacheCluster(p.Ctx(),
		&elasticache.CreateCacheClusterInput{CacheClusterId: &id, Engine: aws.String("memcached"), CacheNodeType: aws.String("cache.t4g.micro"),
			NumCacheNodes: aws.Int32(1)})
	p.made(err, "elasticachecluster/"+id, "aws_elasticache_cluster", map[string]any{"cluster_id": id})
}

func (p *past) cluster(i int) {
	name := fmt.Sprintf("old-tasks-%d", i)
	_, err := ecs.NewFromConfig(p.config).CreateCluster(p.Ctx(),
		&ecs.CreateClusterInput{ClusterName: &name, CapacityProviders: []string{"FARGATE"}})
	p.made(err, "ecscluster/"+name, "aws_ecs_cluster", map[string]any{"name": name})
}

func (p *past) repository(i int) {
	api, name := ecr.NewFromConfig(p.config), fmt.Sprintf("old/shop-%d", i)
	_, err := api.CreateRepository(p.Ctx(), &ecr.CreateRepositoryInput{RepositoryName: &name})
	if err == nil {
		_, err = api.PutLifecyclePolicy(p.Ctx(), &ecr.PutLifecyclePolicyInput{RepositoryName: &name,
			LifecyclePolicyText: aws.String(`{"rules":[{"rulePriority":1,"selection":{"tagStatus":"untagged","countType":"sinceImagePushed","countUnit":"days","countNumber":14},"action":{"type":"expire"}}]}`)})
	}
	p.made(err, "ecrrepository/"+name, "aws_ecr_repository", map[string]any{"name": name})
}

func (p *past) zone(i int) {
	name := fmt.Sprintf("old-%d.example.com", i)
	out, err := route53.NewFromConfig(p.config).CreateHostedZone(p.Ctx(), &route53.CreateHostedZoneInput{Name: &name, CallerReference: &name})
	if err != nil {
		p.Fatal(err)
	}
	id := strings.TrimPrefix(*out.HostedZone.Id, "/hostedzone/")
	if i == 0 {
		_, err = route53.NewFromConfig(p.config).ChangeResourceRecordSets(p.Ctx(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: &id,
			ChangeBatch: &r53types.ChangeBatch{Changes: []r53types.Change{{Action: r53types.ChangeActionCreate,
				ResourceRecordSet: &r53types.ResourceRecordSet{Name: aws.String("www." + name), Type: r53types.RRTypeA, TTL: aws.Int64(60),
					ResourceRecords: []r53types.ResourceRecord{{Value: aws.String("192.0.2.1")}}}}}}})
		p.made(err, "route53recordset/"+id+"/www."+name+"/A", "aws_route53_record",
			map[string]any{"zone_id": id, "fqdn": "www." + name, "type": "A", "set_identifier": ""})
	}
	p.made(nil, "route53hostedzone/"+id, "aws_route53_zone", map[string]any{"zone_id": id})
}

func (p *past) certificate(i int) {
	out, err := acm.NewFromConfig(p.config).RequestCertificate(p.Ctx(),
		&acm.RequestCertificateInput{DomainName: aws.String(fmt.Sprintf("old-%d.example.com", i)),
			SubjectAlternativeNames: []string{"*.example.com"}, ValidationMethod: acmtypes.ValidationMethodDns})
	if err != nil {
		p.Fatal(err)
	}
	p.made(err, "certificate/"+*out.CertificateArn, "aws_acm_certificate", map[string]any{"arn": *out.CertificateArn})
}

func (p *past) key(i int) {
	api := kms.NewFromConfig(p.config)
	out, err := api.CreateKey(p.Ctx(), &kms.CreateKeyInput{Description: aws.String("made by hand"),
		Tags: []kmstypes.Tag{{TagKey: aws.String("team"), TagValue: aws.String("a")}}})
	if err != nil {
		p.Fatal(err)
	}
	id := out.KeyMetadata.KeyId
	_, err = api.CreateAlias(p.Ctx(), &kms.CreateAliasInput{AliasName: aws.String(fmt.Sprintf("alias/old/%d", i)), TargetKeyId: id})
	if err == nil && i%2 == 0 {
		_, err = api.EnableKeyRotation(p.Ctx(), &kms.EnableKeyRotationInput{KeyId: id})
	}
	p.made(err, "kmskey/"+*id, "aws_kms_key", map[string]any{"key_id": *id, "id": *id})
}

func (p *past) topic(i int) {
	api, name := sns.NewFromConfig(p.config), fmt.Sprintf("old-topic-%d", i)
	out, err := api.CreateTopic(p.Ctx(), &sns.CreateTopicInput{Name: &name, Attributes: map[string]string{"DisplayName": "Orders"}})
	if err == nil {
		_, err = api.Subscribe(p.Ctx(), &sns.SubscribeInput{TopicArn: out.TopicArn, Protocol: aws.String("sqs"),
			Endpoint:   aws.String("arn:aws:sqs:ap-southeast-1:123456789012:old-queue"),
			Attributes: map[string]string{"RawMessageDelivery": "true", "FilterPolicy": `{"state":["failed"]}`}})
	}
	p.made(err, "snstopic/"+name, "aws_sns_topic", map[string]any{"name": name})
}

const boundary = "arn:aws:iam::123456789012:policy/boundary"

func (x *tool) emptyPast() *past {
	return &past{tool: x, config: aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}}
}

// past makes 91 resources.
func (x *tool) past() *past {
	p := x.emptyPast()
	for i := range 10 {
		p.bucket(i)
		p.table(i)
		p.role(i)
	}
	for i := range 5 {
		p.secret(i)
		p.vpc(i)
		p.catalog(i)
		p.pool(i)
		p.repository(i)
		p.cluster(i)
		p.cache(i)
		p.zone(i)
		p.certificate(i)
		p.key(i)
		p.topic(i)
	}
	return p
}

func TestImport_ChangesNothingAndAdoptsWithTagsAlone(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	old := x.past()
	if len(old.resources) != 91 {
		t.Fatalf("%d resources", len(old.resources))
	}
	before := x.cloudState()
	mark := x.World.AWS().Mark()
	namesAll := append([]string{"import", "-n", x.Namespace, "--permissions-boundary", boundary}, old.resources...)
	observing := x.run("", namesAll...)
	if observing.code != 0 || strings.Count(observing.err, "applying the object changes nothing") != len(old.resources) {
		t.Fatalf("exit code %d\n%s", observing.code, observing.err)
	}
	state := old.stateFile(x, map[string]any{"mode": "managed", "type": "aws_cloudfront_distribution", "name": "cdn"})
	file := filepath.Join(t.TempDir(), "terraform.tfstate")
	if err := os.WriteFile(file, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := x.run("", "import", "-n", x.Namespace, "--permissions-boundary", boundary, "--from-terraform", file); a.code != 0 ||
		a.out != observing.out || !strings.Contains(a.err, "aws_cloudfront_distribution.cdn: passed over") {
		t.Errorf("from Terraform: exit code %d\n%s", a.code, a.err)
	}
	adopting := x.run("", append(slices.Clone(namesAll), "--adopt")...)
	if adopting.code != 0 {
		t.Fatalf("exit code %d\n%s", adopting.code, adopting.err)
	}
	if w := x.World.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("the import wrote to AWS:\n%s", w)
	}

	provider := provider(x.Namespace)
	provider.Spec.AllowAdoption, provider.Spec.PermissionsBoundaryARN = true, boundary
	x.Create(provider)
	x.Ready(provider)
	mark = x.World.AWS().Mark()
	x.apply(observing.out)
	x.allReady(observing.out)
	if w := x.writesSince(mark); len(w) > 0 {
		t.Errorf("observing wrote %v", w)
	}
	if after := x.cloudState(); !maps.Equal(before, after) {
		t.Errorf("AWS is no longer as it was")
	}
	x.unchanged(observing.out, "-f", "-")

	x.apply(adopting.out)
	x.allReady(adopting.out)
	for action := range x.writesSince(mark) {
		// A table of the Data Catalog has no tags: its owner is among its parameters, and that of a record set in another record. Those of a
		// user pool are written with all its settings.
		if !strings.Contains(strings.ToLower(action), "tag") && action != "glue:UpdateTable" && action != "route53:ChangeResourceRecordSets" &&
			action != "cognito-idp:UpdateUserPool" {
			t.Errorf("the adoption called %s", action)
		}
	}
	if writes := total(x.writesSince(mark)); writes != len(old.resources) {
		t.Errorf("%d writes for %d resources: %v", writes, len(old.resources), x.writesSince(mark))
	}
	x.unchanged(adopting.out, "-f", "-")
	if a := x.run("", "import", old.resources[0]); a.code != 1 || !strings.Contains(a.err, "is managed already") || a.out != "" {
		t.Errorf("again: exit code %d, %s%s", a.code, a.out, a.err)
	}
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// cloudState describes everything in AWS.
func (x *tool) cloudState() map[string]string {
	x.Helper()
	return cloud.New(x.World.MotoURL()).State(x.Ctx(), x.Inventory(), false)
}

// allReady waits until every object of the manifests is ready.
func (x *tool) allReady(manifests string) {
	x.Helper()
	for doc := range strings.SplitSeq(manifests, "---\n") {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			x.Fatal(err)
		}
		typed, err := x.Client.Scheme().New(v1alpha1.GroupVersion.WithKind(o.Kind))
		if err != nil {
			x.Fatal(err)
		}
		r := typed.(v1alpha1.Resource)
		r.SetNamespace(x.Namespace)
		r.SetName(o.Metadata.Name)
		if err := x.Get(r); err != nil {
			x.Fatal(err)
		}
		x.Ready(r)
	}
}

func TestImport_FindsResourcesByTheirTags(t *testing.T) {
	x := newTool(t)
	old := x.emptyPast()
	old.bucket(0)
	old.table(0)
	old.key(0)
	old.secret(0)
	tagged := old.resources
	_, err := ssm.NewFromConfig(old.config).PutParameter(x.Ctx(),
		&ssm.PutParameterInput{Name: aws.String("/old/host"), Value: aws.String("x"), Type: ssmtypes.ParameterTypeString,
			Tags: []ssmtypes.Tag{{Key: aws.String("team"), Value: aws.String("a")}}})
	if err != nil {
		t.Fatal(err)
	}
	old.bucket(1)
	old.table(1)
	_, err = kms.NewFromConfig(old.config).TagResource(x.Ctx(),
		&kms.TagResourceInput{KeyId: aws.String(strings.TrimPrefix(tagged[2], "kmskey/")),
			Tags: []kmstypes.Tag{{TagKey: aws.String("stage"), TagValue: aws.String("dev")}}})
	if err != nil {
		t.Fatal(err)
	}
	const parameter = "arn:aws:ssm:ap-southeast-1:123456789012:parameter/old/host: passed over"
	for name, c := range map[string]struct {
		args, want []string
		says       string
	}{
		"every kind":    {[]string{"--tag", "team=a"}, tagged, parameter},
		"any value":     {[]string{"--tag", "team"}, tagged, parameter},
		"several tags":  {[]string{"--tag", "team=a", "--tag", "stage=dev"}, tagged[2:3], "changes nothing"},
		"two kinds":     {[]string{"s3bucket,dynamodbtable", "--tag", "team=a"}, tagged[:2], "changes nothing"},
		"another value": {[]string{"--tag", "team=b"}, nil, "found no resource with these tags"},
		"by ARN":        {[]string{"arn:aws:s3:::old-bucket-0"}, tagged[:1], "changes nothing"},
	} {
		a, want := x.run("", append([]string{"import"}, c.args...)...), answer{}
		if c.want != nil {
			want = x.run("", append([]string{"import"}, c.want...)...)
		}
		if a.code != 0 || want.code != 0 || !slices.Equal(documents(a.out), documents(want.out)) || !strings.Contains(a.err, c.says) ||
			strings.Contains(a.err, parameter) != (c.says == parameter) {
			t.Errorf("%s: exit code %d\n%s%s\nby names: exit code %d\n%s%s", name, a.code, a.out, a.err, want.code, want.out, want.err)
		}
	}
	if a := x.run("", "import", "iamrole", "--tag", "team=a"); a.code != 2 ||
		!strings.Contains(a.err, "iamrole is none of the kinds that are found by tags: Certificate, ") {
		t.Errorf("roles: exit code %d\n%s", a.code, a.err)
	}
	if a := x.run("", "import", "arn:aws:dynamodb:eu-west-1:123456789012:table/old-table-0"); a.code != 1 || a.out != "" ||
		!strings.Contains(a.err, "it is in account 123456789012, region eu-west-1 (arn:aws:dynamodb:eu-west-1:123456789012:table/old-table-0), and this is account 123456789012, region ap-southeast-1") {
		t.Errorf("another region: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestImport_DeclaresAPathOfParametersButNoSecret(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	api := ssm.NewFromConfig(x.emptyPast().config)
	for name, in := range map[string]ssm.PutParameterInput{
		"/old/dev/host":        {Type: ssmtypes.ParameterTypeString, Value: aws.String("db.example.com"), Description: aws.String("by hand")},
		"/old/dev/db/names":    {Type: ssmtypes.ParameterTypeStringList, Value: aws.String("a,b")},
		"/old/dev/db/password": {Type: ssmtypes.ParameterTypeSecureString, Value: aws.String("precious")},
		"/old/development":     {Type: ssmtypes.ParameterTypeString, Value: aws.String("elsewhere")},
	} {
		in.Name, in.Tags = &name, []ssmtypes.Tag{{Key: aws.String("team"), Value: aws.String("a")}}
		if _, err := api.PutParameter(x.Ctx(), &in); err != nil {
			t.Fatal(err)
		}
	}
	before := x.cloudState()
	args := []string{"import", "ssmparameterset/old/dev", "-n", x.Namespace}
	observing, adopting := x.run("", args...), x.run("", append(args, "--adopt")...)
	for name, a := range map[string]answer{"observing": observing, "adopting": adopting} {
		if a.code != 0 || strings.Contains(a.out+a.err, "precious") || strings.Contains(a.out, "password") ||
			strings.Contains(a.out, "elsewhere") ||
			!strings.Contains(a.err, "left out /old/dev/db/password: a manifest would contain the value") ||
			!strings.Contains(a.out, "db.example.com") {
			t.Fatalf("%s: exit code %d\n%s%s", name, a.code, a.out, a.err)
		}
	}
	x.importsParameters(observing.out)
	provider := provider(x.Namespace)
	provider.Spec.AllowAdoption = true
	x.Create(provider)
	x.Ready(provider)
	mark := x.World.AWS().Mark()
	x.apply(observing.out)
	x.allReady(observing.out)
	if w := x.writesSince(mark); len(w) > 0 || !maps.Equal(before, x.cloudState()) {
		t.Errorf("observing wrote %v", w)
	}
	x.apply(adopting.out)
	x.allReady(adopting.out)
	if w := x.writesSince(mark); total(w) != 2 || w["ssm:AddTagsToResource"] != 2 {
		t.Errorf("the adoption of two parameters wrote %v", w)
	}
	x.unchanged(adopting.out, "-f", "-")
}

// importsParameters checks that a Terraform state with the parameters gives what their path gives, and one with some of them no more.
func (x *tool) importsParameters(path string) {
	x.Helper()
	for names, whole := range map[string]bool{"/old/dev/host /old/dev/db/names /old/dev/db/password": true, "/old/dev/host": false} {
		state := past{tool: x}
		for name := range strings.FieldsSeq(names) {
			state.made(nil, name, "aws_ssm_parameter", map[string]any{"name": name})
		}
		a := x.run(state.stateFile(x), "import", "-n", x.Namespace, "--from-terraform", "-")
		if a.code != 0 || (a.out == path) != whole || !strings.Contains(a.out, "db.example.com") || strings.Contains(a.out, "a,b") != whole {
			x.Errorf("%s: exit code %d\n%s%s", names, a.code, a.out, a.err)
		}
	}
}

// stateFile is the text of a Terraform state with what was made.
func (p *past) stateFile(x *tool, more ...map[string]any) string {
	x.Helper()
	text, err := json.Marshal(map[string]any{"version": 4, "resources": append(slices.Clone(p.terraform), more...)})
	if err != nil {
		x.Fatal(err)
	}
	return string(text)
}

// documents are the manifests of a text, in order.
func documents(text string) []string {
	docs := strings.Split(text, "---\n")
	slices.Sort(docs)
	return docs
}

// An object that only observes gives no role to S3; one that adopts would.
func TestImport_AdoptsNoReplicationWhoseRoleIsNotAllowed(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	old := x.emptyPast()
	old.bucket(0)
	old.bucket(2)
	_, err := s3.NewFromConfig(old.config, func(o *s3.Options) { o.UsePathStyle = true }).PutBucketReplication(x.Ctx(),
		&s3.PutBucketReplicationInput{Bucket: aws.String("old-bucket-0"),
			ReplicationConfiguration: &s3types.ReplicationConfiguration{Role: aws.String("arn:aws:iam::123456789012:role/replicator"),
				Rules: []s3types.ReplicationRule{{
					ID: aws.String("all"), Prefix: aws.String(""), Status: s3types.ReplicationRuleStatusEnabled,
					Destination: &s3types.Destination{Bucket: aws.String("arn:aws:s3:::old-bucket-2")}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if a := x.run("", "import", "s3bucket/old-bucket-0"); a.code != 0 ||
		!strings.Contains(a.out, "roleArn: arn:aws:iam::123456789012:role/replicator") ||
		!strings.Contains(a.out, "replicateDeleteMarkers: true") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run("", "import", "--adopt", "s3bucket/old-bucket-0"); a.code != 1 ||
		!strings.Contains(a.err, "spec.replication.roleArn: needs rolePathPrefix on the AWSProvider") {
		t.Errorf("adopting: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run("", "import", "--adopt", "--role-path-prefix", "/", "s3bucket/old-bucket-0"); a.code != 0 ||
		!strings.Contains(a.out, "role/replicator") {
		t.Errorf("adopting with a path for roles: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := x.run("", "import", "--adopt", "--role-path-prefix", "/service/", "s3bucket/old-bucket-0"); a.code != 1 ||
		!strings.Contains(a.err, "only roles under /service/") {
		t.Errorf("adopting with another path for roles: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestImport_SaysWhatCannotBeDeclared(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	old := x.emptyPast()
	old.role(0)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"absent": {[]string{"s3bucket/nowhere"}, 1, "S3Bucket/nowhere: does not exist in account 123456789012, region ap-southeast-1"},
		"no such kind": {[]string{"queue/q"}, 2,
			"queue is none of the kinds that can be imported: AWSResource, Certificate, CognitoUserPool, DBSubnetGroup, DynamoDBTable, "},
		"half a name": {[]string{"gluetable/calls"}, 2, "name it as gluetable/DATABASENAME/TABLENAME"},
		"no boundary": {[]string{"iamrole/old-role-0"}, 1, "needs permissionsBoundaryARN on the AWSProvider"},
	} {
		t.Run(name, func(t *testing.T) {
			if a := x.run("", append([]string{"import"}, c.args...)...); a.code != c.code || a.out != "" || !strings.Contains(a.err, c.want) {
				t.Errorf("exit code %d, want %d and %q\n%s%s", a.code, c.code, c.want, a.out, a.err)
			}
		})
	}
	if a := x.runAs(nil, "", "import", "s3bucket/x"); a.code != 4 || !strings.Contains(a.err, "AWS") {
		t.Errorf("without credentials: exit code %d\n%s", a.code, a.err)
	}
}

func TestImport_RefusesWhatAStateHasElsewhere(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	old := x.emptyPast()
	old.table(0)
	old.bucket(0)
	const arn = "arn:aws:dynamodb:us-east-1:999999999999:table/old-table-0"
	elsewhere := past{tool: x}
	elsewhere.made(nil, "", "aws_dynamodb_table", map[string]any{"name": "old-table-0", "arn": arn})
	elsewhere.made(nil, "", "aws_s3_bucket",
		map[string]any{"bucket": "old-bucket-0", "arn": "arn:aws:s3:::old-bucket-0", "region": "ap-southeast-1"})
	for _, adopt := range [][]string{nil, {"--adopt"}} {
		a := x.run(elsewhere.stateFile(x), append([]string{"import", "--from-terraform", "-"}, adopt...)...)
		if a.code != 1 || strings.Contains(a.out, "DynamoDBTable") || !strings.Contains(a.out, "S3Bucket") ||
			!strings.Contains(a.err, "in account 999999999999, region us-east-1 ("+arn+
				"), and this is account 123456789012, region ap-southeast-1") {
			t.Errorf("%v: exit code %d\n%s%s", adopt, a.code, a.out, a.err)
		}
	}
	for _, args := range [][]string{{arn}, {"dynamodbtable/" + arn}} {
		if a := x.run("", append([]string{"import"}, args...)...); a.code != 1 || a.out != "" ||
			!strings.Contains(a.err, "it is in account 999999999999, region us-east-1") {
			t.Errorf("%v: exit code %d\n%s%s", args, a.code, a.out, a.err)
		}
	}
}

func TestImport_SaysWhereAStateHasWhatAWSHasNot(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	gone := past{tool: x}
	gone.made(nil, "", "aws_dynamodb_table",
		map[string]any{"name": "nowhere", "arn": "arn:aws:dynamodb:ap-southeast-1:123456789012:table/nowhere"})
	a := x.run(gone.stateFile(x), "import", "--from-terraform", "-")
	if a.code != 1 || a.out != "" || !strings.Contains(a.err, "does not exist in account 123456789012") ||
		!strings.Contains(a.err, "although the Terraform state has it as aws_dynamodb_table.x") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestImport_SaysWhatAFileIsThatHasNothing(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	for name, c := range map[string]struct {
		state string
		code  int
		says  string
	}{
		"empty":     {`{"version": 4, "resources": []}`, 1, "manages no resources"},
		"data only": {`{"version": 4, "resources": [{"mode": "data", "type": "aws_vpc", "name": "v", "instances": [{"attributes": {"id": "vpc-1"}}]}]}`, 1, "only data sources"},
		"foreign":   {`{"version": 4, "resources": [{"mode": "managed", "type": "google_storage_bucket", "name": "g", "instances": [{"attributes": {"id": "g"}}]}]}`, 1, "google_storage_bucket.g: passed over, no kind declares it"},
		"HCL":       {`terraform {}`, 2, "it is not JSON"},
		"encrypted": {`{"encrypted_data": "AAAA"}`, 2, "tofu state pull"},
		"show":      {`{"format_version": "1.0", "values": {}}`, 2, "terraform show -json"},
	} {
		if a := x.run(c.state, "import", "--from-terraform", "-"); a.code != c.code || a.out != "" || !strings.Contains(a.err, c.says) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", name, a.code, c.code, c.says, a.out, a.err)
		}
	}
}

func TestImport_ListsSettingsThatNoFieldSays(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	const function = "arn:aws:lambda:ap-southeast-1:123456789012:function:check"
	old := x.emptyPast()
	made, err := cognitoidentityprovider.NewFromConfig(old.config).CreateUserPool(x.Ctx(),
		&cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String("users"),
			LambdaConfig: &cognitotypes.LambdaConfigType{PreSignUp: aws.String(function)}})
	if err != nil {
		t.Fatal(err)
	}
	pool := *made.UserPool.Id
	for _, format := range []string{"yaml", "json"} {
		a := x.run("", "import", "-o", format, "cognitouserpool/"+pool)
		if a.code != 0 || !strings.Contains(a.err,
			"CognitoUserPool/"+pool+": not declared, because no field says it, and left in AWS as it is: lambdaConfig\n") ||
			!strings.Contains(a.out, "nexus.ai/not-declared") || strings.Contains(a.out+a.err, function) {
			t.Errorf("%s: exit code %d\n%s%s", format, a.code, a.out, a.err)
		}
	}
	_, err = dynamodb.NewFromConfig(old.config).CreateTable(x.Ctx(), &dynamodb.CreateTableInput{TableName: aws.String("scaled"),
		AttributeDefinitions:  []ddbtypes.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: ddbtypes.ScalarAttributeTypeS}},
		KeySchema:             []ddbtypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddbtypes.KeyTypeHash}},
		ProvisionedThroughput: &ddbtypes.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5)}})
	if err != nil {
		t.Fatal(err)
	}
	if a := x.run("", "import", "dynamodbtable/scaled"); a.code != 0 ||
		!strings.Contains(a.err, "not known whether it has more that no field says: scalable targets of Application Auto Scaling (not read: ") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestImport_PassesOverWhatASearchFindsManaged(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	old := x.emptyPast()
	old.table(0)
	_, err := s3.NewFromConfig(old.config, func(o *s3.Options) { o.UsePathStyle = true }).CreateBucket(x.Ctx(),
		&s3.CreateBucketInput{Bucket: aws.String("managed"),
			CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1", Tags: []s3types.Tag{
				{Key: aws.String("team"), Value: aws.String("a")}, {Key: aws.String("nexus.ai/owner-uid"), Value: aws.String("1")},
				{Key: aws.String("nexus.ai/owner"), Value: aws.String("S3Bucket/a/b")}}}})
	if err != nil {
		t.Fatal(err)
	}
	if a := x.run("", "import", "--tag", "team=a"); a.code != 0 || strings.Contains(a.out, "S3Bucket") ||
		!strings.Contains(a.out, "DynamoDBTable") ||
		!strings.Contains(a.err, "S3Bucket/managed: passed over, it is managed already: its tags name the owner S3Bucket/a/b") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}
