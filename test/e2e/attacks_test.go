// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The tests of this file make an attack as a tenant: with Kubernetes' role edit in one namespace, and nothing else.

// as edits an object with a tenant's rights, as often as another writer comes first.
func (b *bed) as(tenant client.Client, o client.Object, change func()) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := tenant.Get(b.Ctx(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change()
		return tenant.Update(b.Ctx(), o)
	})
}

// inline are the inline policies of a role in AWS; none when there is no such role.
func (b *bed) inline(role string) string {
	b.Helper()
	api := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	list, err := api.ListRolePolicies(b.Ctx(), &iam.ListRolePoliciesInput{RoleName: &role})
	if err != nil {
		return ""
	}
	var out strings.Builder
	for _, name := range list.PolicyNames {
		p, err := api.GetRolePolicy(b.Ctx(), &iam.GetRolePolicyInput{RoleName: &role, PolicyName: &name})
		if err != nil {
			continue
		}
		document, err := url.QueryUnescape(*p.PolicyDocument)
		if err != nil {
			b.Fatal(err)
		}
		out.WriteString(document)
	}
	return out.String()
}

// A Deployment that a tenant keeps by a finalizer keeps its capability in deletion. What the tenant declares by then
// was never validated in the version that this attacks, and was written into AWS.
func TestAttack_ACapabilityInDeletionTakesNoNewRights(t *testing.T) {
	b := newBed(t)
	c := b.small("undead")
	b.Create(c)
	b.Running(c)
	tenant := b.Tenant(c.Namespace)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "undead-dev-backend"}}
	if err := b.as(tenant, d, func() { d.Finalizers = append(d.Finalizers, "example.com/keep") }); err != nil {
		t.Fatal(err)
	}
	before := b.inline("undead-dev-app-role")
	if err := tenant.Delete(b.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	b.Eventually(30*time.Second, "the deletion to begin", func() error {
		if err := b.Get(d); err != nil || d.DeletionTimestamp == nil {
			return fmt.Errorf("the Deployment is not being deleted: %v", err)
		}
		return nil
	})
	mark, _ := b.Mark()
	err := b.as(tenant, c, func() {
		c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: "arn:aws:iam::aws:policy/AdministratorAccess",
			ExtraPolicyStatements: []nexusv1.PolicyStatement{{Actions: []nexusv1.PolicyAction{"secretsmanager:GetSecretValue"},
				Resources: []nexusv1.PolicyResource{"*"}}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	// The tenant helps the operator, and writes into the child what the capability would compile to.
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "undead-dev-app-role"}}
	err = b.as(tenant, role, func() {
		role.Spec.PermissionsBoundary = aws.String("arn:aws:iam::aws:policy/AdministratorAccess")
		role.Spec.InlinePolicies = append(role.Spec.InlinePolicies, v1alpha1.IAMInlinePolicy{PolicyName: "extra",
			PolicyDocument: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"secretsmanager:GetSecretValue","Resource":"*"}]}`})
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second) // two retries of whatever it refuses; a request that waits for its time shows nowhere
	if after := b.inline("undead-dev-app-role"); after != before {
		t.Errorf("the role's policies are now\n%s", after)
	}
	writes := b.World.AWS().Since(mark).Match("iam", "*", "*").Writes()
	if len(writes) > 0 {
		t.Errorf("IAM was written to:\n%s", writes)
	}
	if err := b.as(tenant, d, func() { d.Finalizers = nil }); err != nil {
		t.Fatal(err)
	}
	b.Gone(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// orders-prod of environment eu has by default a bucket that orders of environment prod may have named; and anybody
// may have made a secret of any name.
func TestAttack_TheNameOfSomebodysStoreGivesNoRights(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	victim := b.small("orders")
	victim.Spec.Environment, victim.Name, victim.Namespace = "prod", "orders-prod", b.MakeNamespace("orders-prod")
	victim.Spec.DeletionPolicy = nexusv1.DeletionDelete
	victim.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "eu-call-data"}}}}
	b.Create(victim)
	b.Running(victim)
	secrets := secretsmanager.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	if _, err := secrets.CreateSecret(t.Context(),
		&secretsmanager.CreateSecretInput{Name: aws.String("orders-prod/eu/payments"), SecretString: aws.String("not yours")}); err != nil {
		t.Fatal(err)
	}
	c := b.small("orders-prod")
	c.Spec.Environment, c.Name, c.Namespace = "eu", "orders-prod-eu", b.MakeNamespace("orders-prod-eu")
	c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{}}
	c.Spec.Secrets = []nexusv1.SecretSpec{{Name: "payments", Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"key"}}}}
	if err := b.Tenant(c.Namespace).Create(b.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{
		&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "orders-prod-eu-call-data"}},
		&v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "orders-prod-eu-payments"}},
	} {
		b.Eventually(time.Minute, "the conflict", func() error {
			k, err := b.Condition(o, "Ready")
			if err == nil && k.Reason != "Conflict" {
				err = errors.New(k.Reason)
			}
			return err
		})
	}
	b.Passes("s3bucket", 1, func() {}) // the next retry
	if got := b.inline("orders-prod-eu-app-role"); strings.Contains(got, "call-data") || strings.Contains(got, "payments") {
		t.Errorf("the role of the other capability got rights on what is not its own:\n%s", got)
	}
	if got := b.inline("orders-prod-app-role"); !strings.Contains(got, "orders-prod-eu-call-data") {
		t.Errorf("the owner has no rights on its own bucket:\n%s", got)
	}
	b.Remove(c)
	if inv := fmt.Sprint(b.Inventory()); !strings.Contains(inv, "orders-prod-eu-call-data") ||
		!strings.Contains(inv, "orders-prod/eu/payments") {
		t.Errorf("what was somebody else's is gone: %s", inv)
	}
	b.Remove(victim)
}

func TestAttack_NobodyActsAsARoleThatTheProviderDoesNotPass(t *testing.T) {
	b := newBed(t)
	b.provider()
	tenant := b.Tenant(b.Namespace)
	api := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	if _, err := api.CreateRole(t.Context(),
		&iam.CreateRoleInput{RoleName: aws.String("finance-admin"), AssumeRolePolicyDocument: &trust}); err != nil {
		t.Fatal(err)
	}
	crawler := func(name string, change func(*v1alpha1.GlueCrawlerSpec)) *v1alpha1.GlueCrawler {
		o := &v1alpha1.GlueCrawler{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name},
			Spec: v1alpha1.GlueCrawlerSpec{CommonSpec: through("aws"), CrawlerName: name, DatabaseName: "lake",
				S3Targets: []v1alpha1.GlueS3Target{{Path: "s3://finance/"}}}}
		change(&o.Spec)
		return o
	}
	observed := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "observed"},
		Spec: v1alpha1.IAMRoleSpec{CommonSpec: through("aws"), RoleName: "finance-admin", AssumeRolePolicyDocument: trust}}
	observed.Spec.ManagementPolicy = v1alpha1.ManageObserve
	named := crawler("named", func(s *v1alpha1.GlueCrawlerSpec) { s.Role = "finance-admin" })
	referring := crawler("referring", func(s *v1alpha1.GlueCrawlerSpec) { s.RoleRef = &v1alpha1.ObjectReference{Name: "observed"} })
	for _, o := range []client.Object{observed, named, referring} {
		if err := tenant.Create(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	for o, says := range map[client.Object]string{named: "rolePathPrefix", referring: "observes a role"} {
		if m := b.Shows(o, "Stalled", metav1.ConditionTrue, "NotPermitted"); !strings.Contains(m, says) {
			t.Errorf("%s: %s", o.GetName(), m)
		}
	}
	if inv := b.Inventory(); slices.ContainsFunc(inv["glue"], func(s string) bool { return strings.Contains(s, "crawler") }) {
		t.Errorf("there is a crawler: %v", inv)
	}
	b.Remove(named, referring, observed)
}

// The ARN of a role that an object observed stays in its status when the object is to manage the role, and when it is paused.
func TestAttack_NobodyActsAsARoleThatItObservedBefore(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	tenant := b.Tenant(b.Namespace)
	api := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	if _, err := api.CreateRole(t.Context(),
		&iam.CreateRoleInput{RoleName: aws.String("finance-admin"), AssumeRolePolicyDocument: &trust}); err != nil {
		t.Fatal(err)
	}
	for name, paused := range map[string]string{"managed": "false", "paused": "true"} {
		observer := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name},
			Spec: v1alpha1.IAMRoleSpec{CommonSpec: through("aws"), RoleName: "finance-admin", IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "app"}}}
		observer.Spec.ManagementPolicy = v1alpha1.ManageObserve
		crawler := &v1alpha1.GlueCrawler{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name},
			Spec: v1alpha1.GlueCrawlerSpec{CommonSpec: through("aws"), CrawlerName: name, DatabaseName: "lake",
				RoleRef:   &v1alpha1.ObjectReference{Name: name},
				S3Targets: []v1alpha1.GlueS3Target{{Path: "s3://finance/"}}}}
		if err := tenant.Create(b.Ctx(), observer); err != nil {
			t.Fatal(err)
		}
		b.Ready(observer)
		err := b.as(tenant, observer, func() {
			observer.Spec.ManagementPolicy = v1alpha1.ManageFull
			observer.Annotations = map[string]string{wellknown.AnnotationPaused: paused}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := tenant.Create(b.Ctx(), crawler); err != nil {
			t.Fatal(err)
		}
		if m := b.Shows(crawler, "Reconciling", metav1.ConditionTrue, "Waiting"); !strings.Contains(m, "IAMRole/"+name) {
			t.Errorf("%s: %s", name, m)
		}
	}
	time.Sleep(3 * time.Second) // a retry of the crawlers
	if inv := b.Inventory(); slices.ContainsFunc(inv["glue"], func(s string) bool { return strings.Contains(s, "crawler") }) {
		t.Errorf("there is a crawler: %v", inv)
	}
}

// An object that a tenant has deleted, and keeps by a finalizer, has no resource any more: what has its name by now is another's.
func TestAttack_NobodyUsesTheNameOfWhatIsDeleted(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	tenant := b.Tenant(b.Namespace)
	kept := role("kept-by-name")
	kept.Namespace, kept.Finalizers = b.Namespace, []string{"example.com/keep"}
	if err := tenant.Create(b.Ctx(), kept); err != nil {
		t.Fatal(err)
	}
	b.Ready(kept)
	if err := tenant.Delete(b.Ctx(), kept); err != nil {
		t.Fatal(err)
	}
	finalizer := v1alpha1.FinalizerOf("IAMRole")
	b.Eventually(30*time.Second, "the role to be deleted", func() error {
		if err := b.Get(kept); err != nil || slices.Contains(kept.Finalizers, finalizer) {
			return fmt.Errorf("%v: %w", kept.Finalizers, err)
		}
		return nil
	})
	api := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	if _, err := api.CreateRole(t.Context(),
		&iam.CreateRoleInput{RoleName: aws.String("kept-by-name"), AssumeRolePolicyDocument: &trust}); err != nil {
		t.Fatal(err)
	}
	crawler := &v1alpha1.GlueCrawler{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "crawler"},
		Spec: v1alpha1.GlueCrawlerSpec{CommonSpec: through("aws"), CrawlerName: "crawler", DatabaseName: "lake",
			RoleRef:   &v1alpha1.ObjectReference{Name: kept.Name},
			S3Targets: []v1alpha1.GlueS3Target{{Path: "s3://finance/"}}}}
	if err := tenant.Create(b.Ctx(), crawler); err != nil {
		t.Fatal(err)
	}
	if m := b.Shows(crawler, "Reconciling", metav1.ConditionTrue, "Waiting"); !strings.Contains(m, "IAMRole/"+kept.Name) {
		t.Error(m)
	}
	if inv := b.Inventory(); slices.ContainsFunc(inv["glue"], func(s string) bool { return strings.Contains(s, "crawler") }) {
		t.Errorf("there is a crawler: %v", inv)
	}
	if err := b.as(tenant, kept, func() { kept.Finalizers = nil }); err != nil {
		t.Error(err)
	}
}

// The record of where a resource is can be edited by everyone who may edit the object. What the status says of it cannot.
func TestAttack_ARewrittenHomeMovesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	second := provider("second")
	second.Spec.Region = "eu-west-1"
	b.Create(second)
	b.Ready(second)
	tenant := b.Tenant(b.Namespace)
	there := sns.NewFromConfig(aws.Config{Region: "eu-west-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	nobodys, err := there.CreateTopic(b.Ctx(), &sns.CreateTopicInput{Name: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	topic := &v1alpha1.SNSTopic{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "orders"},
		Spec: v1alpha1.SNSTopicSpec{CommonSpec: through("aws"), TopicName: "orders"}}
	if err := tenant.Create(b.Ctx(), topic); err != nil {
		t.Fatal(err)
	}
	b.Ready(topic)
	for _, annotations := range []map[string]string{{engine.AnnotationHome: "aws/" + homeAccount + "/eu-west-1"},
		{engine.AnnotationHome: "", engine.AnnotationIntent: ""}} {
		err := b.as(tenant, topic, func() {
			topic.Spec.ProviderRef.Name = "second"
			for key, value := range annotations {
				topic.Annotations[key] = value
				if value == "" {
					delete(topic.Annotations, key)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Shows(topic, "Stalled", metav1.ConditionTrue, "ProviderMoved")
	}
	tags, err := there.ListTagsForResource(b.Ctx(), &sns.ListTagsForResourceInput{ResourceArn: nobodys.TopicArn})
	if err != nil || len(tags.Tags) > 0 {
		t.Errorf("the topic of nobody has %+v: %v", tags, err)
	}
}

// A tenant that can write to a zone can write its owner records: that of an object must be signed by the operator.
func TestAttack_AnOwnerRecordThatATenantWroteProvesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.provider()
	tenant := b.Tenant(b.Namespace)
	zone := b.zone("corp.example.com")
	zone.change(types.ChangeActionCreate, "www.corp.example.com", "192.0.2.7")
	o := &v1alpha1.Route53RecordSet{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "www"},
		Spec: v1alpha1.Route53RecordSetSpec{CommonSpec: through("aws"),
			HostedZoneID: zone.id, Name: "www.corp.example.com", Type: "A", TTL: new(int64(60)),
			ResourceRecords: []v1alpha1.RecordValue{"203.0.113.66"}}}
	if err := tenant.Create(b.Ctx(), o); err != nil {
		t.Fatal(err)
	}
	b.Shows(o, "Stalled", metav1.ConditionTrue, "Conflict")
	sum := sha256.Sum256([]byte("www.corp.example.com./A/"))
	owner := `"nexus.ai/owner-uid=` + string(o.UID) + `,nexus.ai/owner=Route53RecordSet/` + b.Namespace +
		`/www,nexus.ai/managed-by=nexus-operator"`
	_, err := zone.api.ChangeResourceRecordSets(b.Ctx(),
		&route53.ChangeResourceRecordSetsInput{HostedZoneId: &zone.id, ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{
			Action: types.ChangeActionCreate,
			ResourceRecordSet: &types.ResourceRecordSet{Name: aws.String("_nexus-" + hex.EncodeToString(sum[:6]) + ".www.corp.example.com"),
				Type: types.RRTypeTxt,
				TTL:  new(int64(300)), ResourceRecords: []types.ResourceRecord{{Value: &owner}}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	b.Passes("route53recordset", 2, func() {})
	if got := zone.records()["www.corp.example.com"]; got != "192.0.2.7" {
		t.Errorf("www leads to %s", got)
	}
	b.Remove(o)
	if got := zone.records()["www.corp.example.com"]; got != "192.0.2.7" {
		t.Errorf("after the deletion of the object, www leads to %q", got)
	}
}

// What the attacks rest on: a tenant chooses no AWS identity, writes no status and nothing elsewhere.
func TestTenant_HasTheRightsOfEditAndNoMore(t *testing.T) {
	b := newBed(t)
	tenant := b.Tenant(b.Namespace)
	other := b.MakeNamespace(b.Namespace + "-other")
	for what, err := range map[string]error{
		"a provider": tenant.Create(b.Ctx(),
			&v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "mine"},
				Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}),
		"a bucket elsewhere": tenant.Create(b.Ctx(),
			&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "x"},
				Spec: v1alpha1.S3BucketSpec{CommonSpec: through("aws"), BucketName: "tenant-x"}}),
		"a namespace": tenant.Create(b.Ctx(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.Namespace + "-new"}}),
		"the status of a bucket": tenant.Status().Patch(b.Ctx(),
			&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "x"}},
			client.RawPatch("application/merge-patch+json", []byte(`{"status":{"arn":"arn:aws:s3:::finance"}}`))),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
