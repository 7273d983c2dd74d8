// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// spoil is something that a person does to a capability in AWS, behind the operator's back.
type spoil struct {
	name string
	do   func(*account, context.Context) error
}

func done(_ any, err error) error { return err }

// spoils holds what must be healed: nothing of it holds data.
var spoils = []spoil{
	{"a parameter deleted", func(c *account, ctx context.Context) error {
		return done(c.SSM.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: aws.String("/myapp/dev/aws/region")}))
	}},
	{"a parameter changed", func(c *account, ctx context.Context) error {
		return done(c.SSM.PutParameter(ctx,
			&ssm.PutParameterInput{Name: aws.String("/myapp/dev/app/version"), Value: aws.String("666"), Overwrite: aws.Bool(true)}))
	}},
	{"the app role's policy edited", func(c *account, ctx context.Context) error {
		return c.eachPolicy(ctx, "myapp-dev-app-role", func(policy *string) error {
			return done(c.IAM.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String("myapp-dev-app-role"), PolicyName: policy,
				PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)}))
		})
	}},
	{"the app role's trust edited", func(c *account, ctx context.Context) error {
		return done(c.IAM.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("myapp-dev-app-role"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}`)}))
	}},
	{"the app role deleted", func(c *account, ctx context.Context) error {
		name := aws.String("myapp-dev-app-role")
		err := c.eachPolicy(ctx, *name, func(policy *string) error {
			return done(c.IAM.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: name, PolicyName: policy}))
		})
		return errors.Join(err, done(c.IAM.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name})))
	}},
	{"a catalog table deleted", func(c *account, ctx context.Context) error {
		return done(c.Glue.DeleteTable(ctx,
			&glue.DeleteTableInput{DatabaseName: aws.String("myapp_dev_db"), Name: aws.String("myapp_dev_call_records")}))
	}},
	{"the crawler deleted", func(c *account, ctx context.Context) error {
		return done(c.Glue.DeleteCrawler(ctx, &glue.DeleteCrawlerInput{Name: aws.String("myapp-dev-call-data-crawler")}))
	}},
	{"the catalog's database deleted, with its tables", func(c *account, ctx context.Context) error {
		return done(c.Glue.DeleteDatabase(ctx, &glue.DeleteDatabaseInput{Name: aws.String("myapp_dev_db")}))
	}},
}

func (c *account) eachPolicy(ctx context.Context, role string, do func(name *string) error) error {
	list, err := c.IAM.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &role})
	if err != nil {
		return err
	}
	if len(list.PolicyNames) == 0 {
		return errors.New("the role has no policy to spoil")
	}
	for _, name := range list.PolicyNames {
		err = errors.Join(err, do(&name))
	}
	return err
}

// edition sets how often a parameter was written, which a repair adds to.
var edition = regexp.MustCompile(`"Version":\d+`)

// contents describes all that is in AWS but for how often it was written.
func (r *rig) contents() map[string]string {
	r.Helper()
	out := r.aws.State(r.Ctx(), r.Inventory(), false)
	for k, v := range out {
		out[k] = edition.ReplaceAllString(v, `"Version":~`)
	}
	return out
}

func TestWhatIsSpoiltInAWSIsHealedAtTheNextCheck(t *testing.T) {
	extent.Full(t)
	const interval = time.Second
	r := newRig(t, "--check-interval="+interval.String())
	c := r.fresh()
	r.Create(c)
	r.Running(c)
	want := r.contents()
	m := r.marks()
	for _, s := range spoils {
		r.truth.caughtUp()
		start := time.Now()
		if err := s.do(r.aws, r.Ctx()); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if d := differs(want, r.contents()); len(d) == 0 && time.Since(start) < interval/2 {
			t.Errorf("%s: nothing differs", s.name)
		}
		// An interval and a tenth, and the time that the repair takes on a busy machine; a table that finds
		// its database missing looks for it every 15 seconds.
		// A resource that was written within the last half minute may be hidden by a stale answer for as long.
		r.Eventually(45*time.Second, s.name+", to be healed", func() error {
			if d := differs(want, r.contents()); len(d) > 0 {
				return fmt.Errorf("%v", d)
			}
			return nil
		})
		t.Logf("%s: healed after %.1f s", s.name, time.Since(start).Seconds())
		r.Running(c)
	}
	r.Remove(c)
	r.empty(c.Namespace)
	r.judgeDecoys(m)
}

// losses are stores of the example, with the children and the conditions that must speak of them.
var losses = []struct {
	child, condition string
	lose             func(*account, context.Context) error
}{
	{"DynamoDBTable/myapp-dev-license", nexusv1.ConditionDataServicesReady, func(c *account, ctx context.Context) error {
		return done(c.Dynamo.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("myapp-dev-license")}))
	}},
	{"S3Bucket/myapp-dev-journey-logs", nexusv1.ConditionDataServicesReady, func(c *account, ctx context.Context) error {
		return done(c.S3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: aws.String("myapp-dev-journey-logs")}))
	}},
	{"SecretsManagerSecret/myapp-dev-openai", nexusv1.ConditionSecretsReady, func(c *account, ctx context.Context) error {
		return done(c.Secrets.DeleteSecret(ctx,
			&secretsmanager.DeleteSecretInput{SecretId: aws.String("myapp/dev/openai"), ForceDeleteWithoutRecovery: aws.Bool(true)}))
	}},
}

func TestALostStoreIsReportedAndCreatedAgainOnlyOnRequest(t *testing.T) {
	extent.Full(t)
	r := newRig(t, "--check-interval=1s")
	c := r.fresh()
	r.Create(c)
	r.Running(c)
	before := r.Inventory()
	m := r.marks()
	r.truth.caughtUp()
	r.loseDuringACheck(losses[0].lose)
	for _, l := range losses[1:] {
		if err := l.lose(r.aws, r.Ctx()); err != nil {
			t.Fatal(err)
		}
	}
	r.reportsLosses(c)
	time.Sleep(3 * time.Second) // three checks, and the pause of what only a person can help
	aws, _ := r.since(m)
	for _, w := range aws.Writes() {
		t.Errorf("a store was lost, and %s was called unasked", w.Address())
	}
	if c.Status.Phase != nexusv1.PhaseFailed || c.Status.Ready {
		t.Errorf("phase %s, ready %t", c.Status.Phase, c.Status.Ready)
	}
	r.Edit(c, func() {
		c.Spec.DataServices.DynamoDB.RecreateOnLoss, c.Spec.DataServices.S3.RecreateOnLoss = true, true
		c.Spec.Secrets = append(c.Spec.Secrets, nexusv1.SecretSpec{Name: "openai", RecreateOnLoss: true})
	})
	took := r.Running(c)
	t.Logf("Running %.1f s after recreateOnLoss was set", took.Seconds())
	complain(t, "inventory", leaked(before, r.Inventory()))
	r.judgeDecoys(m)
	r.Remove(c)
	r.empty(c.Namespace)
}

// loseDuringACheck loses the table between two reads of one check: one read finds it, and the next does not.
func (r *rig) loseDuringACheck(lose func(*account, context.Context) error) {
	r.Helper()
	lost := make(chan error, 1)
	rule := r.World.AWS().Fault(emulator.At("dynamodb.DescribeTable(*myapp-dev-license)#1"),
		emulator.Observe(func() { lost <- lose(r.aws, r.Ctx()) }))
	defer rule.Remove()
	select {
	case err := <-lost:
		if err != nil {
			r.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		r.Fatal("no check of the table came")
	}
}

// reportsLosses waits until the capability names each lost store, what it lacks and what to do.
func (r *rig) reportsLosses(c *nexusv1.NexusAICapability) {
	r.Helper()
	for _, l := range losses {
		r.Shows(c, l.condition, metav1.ConditionFalse, "Missing")
		r.Eventually(10*time.Second, l.child+" to be reported", func() error {
			if err := r.Get(c); err != nil {
				return err
			}
			kind, name, _ := strings.Cut(l.child, "/")
			if !slices.ContainsFunc(c.Status.Resources, func(s nexusv1.ResourceStatus) bool {
				return s.Kind == kind && s.Name == name && s.State == nexusv1.ResourceFailed && s.Reason == "Missing"
			}) {
				return fmt.Errorf("%+v", c.Status.Resources)
			}
			return nil
		})
	}
	r.Eventually(10*time.Second, "the whole to count them", func() error {
		if err := r.Get(c); err != nil || !strings.Contains(c.Status.Message, "and 2 more") {
			return fmt.Errorf("%v %s", err, c.Status.Message)
		}
		return nil
	})
	message := r.Shows(c, "Stalled", metav1.ConditionTrue, "Missing")
	for _, want := range []string{losses[0].child, "no longer exists", "recreateOnLoss: true"} {
		if !strings.Contains(message, want) || !strings.Contains(c.Status.Message, want) {
			r.Errorf("neither condition nor message may lack %q: %s; %s", want, message, c.Status.Message)
		}
	}
}
