// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const (
	existingNamespaces = "--ambient-namespaces=team-*,webstack-dev"
	tableARNs          = "arn:aws:dynamodb:ap-southeast-1:123456789012:table/"
)

// foreignTable creates a table that no one of the cluster owns, without the ledger.
func (b *bed) foreignTable(name string) {
	b.Helper()
	_, err := dynamodb.NewFromConfig(b.admin(homeAccount)).CreateTable(b.Ctx(),
		&dynamodb.CreateTableInput{TableName: &name, BillingMode: ddb.BillingModePayPerRequest,
			KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}},
			AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: ddb.ScalarAttributeTypeS}}})
	must(b, 0, err)
}

// keeper creates the provider of a namespace, which allows external ARNs.
func (b *bed) keeper(namespace string, allowed ...v1alpha1.ExternalARNPattern) *v1alpha1.AWSProvider {
	b.Helper()
	team := provider("team")
	team.Namespace, team.Spec.AllowedExternalARNs = namespace, allowed
	b.Create(team)
	b.Ready(team)
	return team
}

// writesAbout returns the writes to AWS that name a store.
func writesAbout(calls emulator.Calls, name string) emulator.Calls {
	return calls.Writes().Filter(func(c emulator.Call) bool {
		return strings.HasPrefix(c.Resource, name) || strings.Contains(c.Resource, "/"+name) || strings.Contains(c.Resource, ":"+name)
	})
}

// Under the rules of IAM, the example reaches its existing table once the provider allows it, and nothing else of
// DynamoDB; and no longer once that is taken back. The table is never written to.
func TestPrivilege_ExistingStoresAreReachedByConsentAlone(t *testing.T) {
	everything := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	b := &bed{kit.Limited(t, []string{everything}, existingNamespaces)}
	c := b.Capability("examples/existing-table.yaml")
	b.foreignTable("existing-orders")
	b.foreignTable("existing-others")
	team, start := b.keeper(c.Namespace), b.World.AWS().Mark()
	b.Create(c)
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "NotPermitted"), "spec.dataServices.dynamodb.tables[0].existing",
		tableARNs+"existing-orders", "AWSProvider/team", "spec.allowedExternalARNs")
	deployments := &appsv1.DeploymentList{}
	if err := b.Client.List(b.Ctx(), deployments, client.InNamespace(c.Namespace)); err != nil || len(deployments.Items) > 0 {
		t.Errorf("pods start without rights: %v", err)
	}
	b.Edit(team, func() { team.Spec.AllowedExternalARNs = []v1alpha1.ExternalARNPattern{tableARNs + "existing-*"} })
	b.Running(c)
	web := workload(c, "web")
	a := b.applicationOf(c, web.ServiceAccount)
	if w := writesAbout(b.World.AWS().Since(start), "existing-"); len(w) > 0 {
		t.Errorf("the operator wrote to the table:\n%s", w)
	}
	reads := func(table string) error {
		return failed(a.dynamodb.GetItem(a.Ctx(), &dynamodb.GetItemInput{TableName: &table, Key: a.item(table)}))
	}
	if err := errors.Join(reads("existing-orders"), failed(a.dynamodb.PutItem(a.Ctx(),
		&dynamodb.PutItemInput{TableName: aws.String("existing-orders"), Item: a.item("existing-orders")}))); err != nil {
		t.Errorf("the web component cannot use the table: %v", err)
	}
	for what, err := range map[string]error{
		"another table":      reads("existing-others"),
		"deleting the table": failed(a.dynamodb.DeleteTable(a.Ctx(), &dynamodb.DeleteTableInput{TableName: aws.String("existing-orders")})),
		"changing the table": failed(a.dynamodb.UpdateTable(a.Ctx(),
			&dynamodb.UpdateTableInput{TableName: aws.String("existing-orders"), DeletionProtectionEnabled: aws.Bool(true)})),
	} {
		if !awsclient.Is(err, awsclient.Denied) {
			t.Errorf("%s is not denied: %v", what, err)
		}
	}

	taken := b.World.AWS().Mark()
	b.Edit(team, func() { team.Spec.AllowedExternalARNs = nil })
	b.Shows(c, "Stalled", metav1.ConditionTrue, "NotPermitted")
	b.Eventually(time.Minute, "the rights to go", func() error {
		if err := reads("existing-orders"); !awsclient.Is(err, awsclient.Denied) {
			return fmt.Errorf("not denied: %w", err)
		}
		return nil
	})
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	if w := writesAbout(b.World.AWS().Since(taken), "existing-"); len(w) > 0 {
		t.Errorf("the operator wrote to the table:\n%s", w)
	}
	left, err := dynamodb.NewFromConfig(b.admin(homeAccount)).ListTagsOfResource(t.Context(),
		&dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(tableARNs + "existing-orders")})
	if err != nil || len(left.Tags) > 0 {
		t.Errorf("the table is gone or has tags: %v, %v", left, err)
	}
}

// foreignStores creates one store of each kind that no one of the cluster owns.
func (b *bed) foreignStores() {
	b.Helper()
	admin := b.admin(homeAccount)
	b.foreignTable("company-orders")
	_, err := s3.NewFromConfig(admin, func(o *s3.Options) { o.UsePathStyle = true }).CreateBucket(b.Ctx(),
		&s3.CreateBucketInput{Bucket: aws.String("company-media"),
			CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}})
	must(b, 0, err)
	must(b, 0, failed(sqs.NewFromConfig(admin).CreateQueue(b.Ctx(), &sqs.CreateQueueInput{QueueName: aws.String("company-jobs")})))
	must(b, 0, failed(sns.NewFromConfig(admin).CreateTopic(b.Ctx(), &sns.CreateTopicInput{Name: aws.String("company-news")})))
	must(b, 0, failed(secretsmanager.NewFromConfig(admin).CreateSecret(b.Ctx(),
		&secretsmanager.CreateSecretInput{Name: aws.String("company-db"), SecretString: aws.String("x")})))
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + homeAccount +
		`:root"},"Action":"sts:AssumeRole"}]}`
	must(b, 0, failed(iam.NewFromConfig(admin).CreateRole(b.Ctx(),
		&iam.CreateRoleInput{RoleName: aws.String("company-reader"), AssumeRolePolicyDocument: &trust})))
}

// existing is a capability with one existing store of each kind.
func (b *bed) existing(name string) *nexusv1.NexusAICapability {
	c := b.small(name)
	store := func(name string) *nexusv1.ExistingStore { return &nexusv1.ExistingStore{Name: name} }
	c.Spec.ProviderRef, c.Spec.Region, c.Spec.DeletionPolicy = &nexusv1.ProviderReference{Name: "team"}, "ap-southeast-1",
		nexusv1.DeletionDelete
	c.Spec.DataServices = &nexusv1.DataServicesSpec{
		DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "orders", Existing: store("company-orders")}}},
		S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "media",
			Existing: &nexusv1.ExistingStore{ARN: "arn:aws:s3:::company-media"}}}},
		Queues: []nexusv1.QueueSpec{{Name: "jobs", Existing: store("company-jobs")}},
		Topics: []nexusv1.TopicSpec{{Name: "news", Existing: store("company-news")}},
		Roles:  []nexusv1.RoleSpec{{Name: "reader", Existing: *store("company-reader")}},
	}
	c.Spec.Secrets = []nexusv1.SecretSpec{{Name: "database", Existing: store("company-db")}}
	return c
}

// allowCompany are the patterns of a provider that allow the stores of foreignStores.
var allowCompany = []v1alpha1.ExternalARNPattern{
	tableARNs + "company-*", "arn:aws:s3:::company-media", queueARNs + "company-*", topicARNs + "company-*",
	"arn:aws:secretsmanager:*:123456789012:secret:company-*", "arn:aws:iam::123456789012:role/company-*",
}

// Each kind of store is used under its own name, a second pass writes nothing, and all of them outlive the capability untouched.
func TestExisting_EveryKindIsUsedAndLeftAlone(t *testing.T) {
	var patterns []string
	for _, pattern := range allowCompany {
		patterns = append(patterns, string(pattern))
	}
	flags := []string{existingNamespaces, "--allowed-external-arns=" + strings.Join(patterns, ",")}
	b := newBed(t, flags...)
	b.foreignStores()
	c := b.existing("team-users")
	b.keeper(c.Namespace, allowCompany...)
	start := b.World.AWS().Mark()
	b.Create(c)
	b.Running(c)
	b.tells(c, "dynamodb/orders-table", "NEXUS_DYNAMODB_TABLE_ORDERS", "company-orders")
	b.tells(c, "s3/media-bucket", "NEXUS_S3_BUCKET_MEDIA", "company-media")
	b.tells(c, "sqs/jobs-queue-url", "NEXUS_SQS_QUEUE_URL_JOBS", queueHost+"company-jobs")
	b.tells(c, "sns/news-topic-arn", "NEXUS_SNS_TOPIC_ARN_NEWS", topicARNs+"company-news")
	b.tells(c, "secrets/database-secret", "NEXUS_SECRET_DATABASE", "company-db")
	b.tells(c, "roles/reader-role-arn", "NEXUS_ROLE_ARN_READER", "arn:aws:iam::123456789012:role/company-reader")
	policy := b.inline(c.Name + "-app-role")
	b.contains(policy, `"`+tableARNs+`company-orders"`, `"arn:aws:s3:::company-media/*"`, `"`+queueARNs+`company-jobs"`, `"`+topicARNs+
		`company-news"`, "secret:company-db-", `"Action":"sts:AssumeRole","Resource":"arn:aws:iam::123456789012:role/company-reader"`)
	b.lacks(policy, "company-*")
	b.Quiet()
	calls, kube := b.Mark()
	b.Restart(flags...)
	b.Passed("nexusaicapability", "dynamodbtable", "s3bucket", "iamrole")
	if writes := b.World.AWS().Since(calls).Writes(); writes.Count() > 0 {
		t.Errorf("a second pass writes to AWS:\n%s", writes)
	}
	for _, w := range b.KubeWrites(kube) {
		t.Errorf("a second pass writes to Kubernetes: %s", w)
	}

	// An entry that goes takes its rights with it, and nothing else.
	b.Edit(c, func() { c.Spec.DataServices.Queues = nil })
	b.Running(c)
	b.lacks(b.inline(c.Name+"-app-role"), "company-jobs")
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	if w := writesAbout(b.World.AWS().Since(start), "company-"); len(w) > 0 {
		t.Errorf("the operator wrote to stores of others:\n%s", w)
	}
	inventory := fmt.Sprint(b.Inventory())
	b.contains(inventory, "company-orders", "company-media", "company-jobs", "company-news", "company-db", "company-reader")
}

// A table that does not exist is named, and used once it does.
func TestExisting_AMissingStoreIsLookedForAgain(t *testing.T) {
	extent.Full(t)
	b := newBed(t, existingNamespaces, "--stalled-interval=1s")
	c := b.small("team-late")
	c.Spec.ProviderRef, c.Spec.Region = &nexusv1.ProviderReference{Name: "team"}, "ap-southeast-1"
	c.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "orders",
		Existing: &nexusv1.ExistingStore{Name: "company-late"}}}}}
	b.keeper(c.Namespace, tableARNs+"company-*")
	b.Create(c)
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "Missing"), "DynamoDBTable/team-late-dev-orders.existing")
	b.foreignTable("company-late")
	b.Running(c)
	b.Remove(c)
}

// A tenant's capability gets no rights on the table of another tenant by a pattern, nor by the keeper of its own namespace alone, and
// learns nothing of the owner.
func TestAttack_ExistingStoresOfAnotherTenantNeedTheAdministrator(t *testing.T) {
	extent.Full(t)
	b := newBed(t, existingNamespaces)
	victim := b.small("team-victim")
	victim.Spec.ProviderRef, victim.Spec.Region = &nexusv1.ProviderReference{Name: "team"}, "ap-southeast-1"
	victim.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "ledger"}}}}
	b.keeper(victim.Namespace)
	b.Create(victim)
	b.Running(victim)
	const ledger = tableARNs + "team-victim-dev-ledger"

	c := b.small("team-thief")
	c.Spec.ProviderRef, c.Spec.Region = &nexusv1.ProviderReference{Name: "team"}, "ap-southeast-1"
	c.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "loot",
		Existing: &nexusv1.ExistingStore{Name: "team-victim-dev-ledger"}}}}}
	team := b.keeper(c.Namespace, tableARNs+"*")
	tenant, mark := b.Tenant(c.Namespace), b.World.AWS().Mark()
	if err := tenant.Create(b.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	says := b.Shows(c, "Stalled", metav1.ConditionTrue, "NotPermitted")
	b.contains(says, ledger, "in full", "spec.allowedExternalARNs")
	b.lacks(says, "DynamoDBTable/team-victim")
	b.Edit(team, func() { team.Spec.AllowedExternalARNs = []v1alpha1.ExternalARNPattern{ledger} })
	b.Until(c, time.Minute, "the administrator to be asked", func() error {
		k, err := b.Condition(c, "Stalled")
		if err == nil && !strings.Contains(k.Message, "--allowed-external-arns") {
			err = errors.New(k.Message)
		}
		return err
	})
	b.lacks(b.inline("team-thief-dev-app-role"), "ledger")

	// The object of the entry is not the tenant's to turn into one that manages the table.
	o := &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "team-thief-dev-loot.existing"}}
	if err := b.as(tenant, o, func() {
		o.Spec.ManagementPolicy, o.Spec.AdoptionPolicy, o.Spec.DeletionPolicy = v1alpha1.ManageFull, v1alpha1.AdoptAlways, v1alpha1.DeletionDelete
		o.Spec.HashKey = v1alpha1.DynamoDBAttribute{Name: "pk", Type: "S"}
	}); err != nil {
		t.Error(err)
	}
	b.Until(o, time.Minute, "the object to be restored", func() error {
		if err := b.Get(o); err != nil || o.Spec.ManagementPolicy != v1alpha1.ManageObserve {
			return fmt.Errorf("%s: %w", o.Spec.ManagementPolicy, err)
		}
		return nil
	})
	b.Remove(c)
	if w := awsWrites(writesAbout(b.World.AWS().Since(mark), "team-victim-dev-ledger")); len(w) > 0 {
		t.Errorf("the table of the victim was written to:\n%s", w)
	}
	b.Running(victim)
	b.Remove(victim)
}
