// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// wrote lists the objects that the operator applied, without what only says how they are, and without the writes that the API server
// refused: one for a version that is no longer the last one is repeated.
func wrote(events []world.AuditEvent) []string {
	var out []string
	for _, e := range events {
		if e.Code < http.StatusBadRequest && e.Subresource == "" && e.Resource != "leases" && e.Resource != "nexusaicapabilities" {
			out = append(out, e.Verb+" "+e.Resource+"/"+e.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Each edit of a running capability changes what it is about, and nothing else.
func TestUpdate_AnEditMakesTheSmallestChange(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1h")
	c := withStores(b.small("least"))
	c.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
	b.Create(c)
	b.Running(c)
	b.Quiet()
	const table, parameters, config = "dynamodbtables/least-dev-", "patch ssmparametersets/least-dev", "patch configmaps/least-dev-config"
	rolled := []string{"patch deployments/least-dev-backend", "patch deployments/least-dev-frontend"} // both read the ConfigMap
	// the operator deletes the object, then removes its finalizer
	removed := func(objects ...string) (out []string) {
		for _, o := range objects {
			out = append(out, "delete "+o, "patch "+o)
		}
		return out
	}
	for _, edit := range []struct {
		name      string
		change    func(s *nexusv1.NexusAICapabilitySpec)
		aws, kube []string
	}{
		{"another image", func(s *nexusv1.NexusAICapabilitySpec) { s.Backend.Image = "registry.example/backend:2" }, nil, rolled[:1]},
		{"other replicas", func(s *nexusv1.NexusAICapabilitySpec) { s.Frontend.Replicas = new(int32(1)) }, nil, rolled[1:]},
		{"a variable", func(s *nexusv1.NexusAICapabilitySpec) {
			s.Backend.Env = []nexusv1.EnvVar{{Name: "LOG_LEVEL", Value: "debug"}}
		}, nil, rolled[:1]},
		{"another version", func(s *nexusv1.NexusAICapabilitySpec) { s.Version = "2" },
			[]string{"ssm.PutParameter(/least/dev/app/version)"}, append([]string{config, parameters}, rolled...)},
		{"one more table", func(s *nexusv1.NexusAICapabilitySpec) {
			s.DataServices.DynamoDB.Tables = append(s.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: "notes"})
		}, []string{"dynamodb.CreateTable(least-dev-notes)", "dynamodb.UpdateContinuousBackups(least-dev-notes)",
			"iam.PutRolePolicy(least-dev-app-role)",
			"ssm.PutParameter(/least/dev/dynamodb/notes-table)"},
			append([]string{config, parameters, "patch " + table + "notes", "patch " + table + "notes", "patch iamroles/least-dev-app-role"},
				rolled...)},
		{"a setting of the tables", func(s *nexusv1.NexusAICapabilitySpec) { s.DataServices.DynamoDB.PointInTimeRecovery = new(false) },
			[]string{"dynamodb.UpdateContinuousBackups(least-dev-license)", "dynamodb.UpdateContinuousBackups(least-dev-notes)"},
			[]string{"patch " + table + "license", "patch " + table + "notes"}},
		{"a setting of the bucket", func(s *nexusv1.NexusAICapabilitySpec) {
			s.DataServices.S3.Lifecycle = []nexusv1.LifecycleRule{{ID: "old", ExpirationDays: new(int32(90))}}
		}, []string{"s3.PutBucketLifecycleConfiguration(least-dev-call-data)"}, []string{"patch s3buckets/least-dev-call-data"}},
		{"the catalog switched off", func(s *nexusv1.NexusAICapabilitySpec) { s.DataServices.Glue = nil },
			[]string{"glue.DeleteCrawler(least-dev-call-data-crawler)", "glue.DeleteDatabase(least_dev_db)",
				"glue.DeleteTable(least_dev_db/least_dev_call_records)",
				"glue.DeleteTable(least_dev_db/least_dev_wxcc_calls)", "iam.DeleteRole(least-dev-glue-role)",
				"iam.DeleteRolePolicy(least-dev-glue-role)",
				"iam.PutRolePolicy(least-dev-app-role)",
				"ssm.DeleteParameters(/least/dev/glue/call-records-table,/least/dev/glue/database,/least/dev/glue/wxcc-calls-table)"},
			slices.Concat([]string{config, parameters, "patch iamroles/least-dev-app-role"}, rolled,
				removed("gluecrawlers/least-dev-call-data-crawler", "gluedatabases/least-dev-db",
					"gluetables/least-dev-call-records", "gluetables/least-dev-wxcc-calls", "iamroles/least-dev-glue-role"))},
		{"another deletion policy", func(s *nexusv1.NexusAICapabilitySpec) { s.DeletionPolicy = nexusv1.DeletionRetain },
			[]string{"dynamodb.UpdateTable(least-dev-license)", "dynamodb.UpdateTable(least-dev-notes)"}, // the protection against deletion
			[]string{parameters, "patch " + table + "license", "patch " + table + "notes", "patch iamroles/least-dev-app-role",
				"patch s3buckets/least-dev-call-data",
				"patch secretsmanagersecrets/least-dev-anthropic", "patch secretsmanagersecrets/least-dev-api-keys",
				"patch secretsmanagersecrets/least-dev-github",
				"patch secretsmanagersecrets/least-dev-license", "patch secretsmanagersecrets/least-dev-openai",
				"patch secretsmanagersecrets/least-dev-wxcc"}},
		{"the tables switched off under Retain", func(s *nexusv1.NexusAICapabilitySpec) { s.DataServices.DynamoDB = nil },
			[]string{"iam.PutRolePolicy(least-dev-app-role)",
				"ssm.DeleteParameters(/least/dev/dynamodb/license-table,/least/dev/dynamodb/notes-table)"},
			slices.Concat([]string{config, parameters, "patch iamroles/least-dev-app-role"}, rolled, removed(table+"license", table+"notes"))},
	} {
		am, km := b.Mark()
		b.Edit(c, func() { edit.change(&c.Spec) })
		b.Running(c)
		b.Eventually(20*time.Second, edit.name+": a database to go after its tables, between which the operator rests", func() error {
			if made := wrote(b.KubeWrites(km)); len(made) < len(edit.kube) {
				return fmt.Errorf("%d writes, expected %d: %s", len(made), len(edit.kube), strings.Join(made, "\n"))
			}
			return nil
		})
		b.Quiet()
		aws := b.World.AWS().Since(am).Writes().Labels()
		slices.Sort(aws)
		want := slices.Sorted(slices.Values(edit.kube))
		if kube := wrote(b.KubeWrites(km)); !slices.Equal(aws, edit.aws) || !slices.Equal(kube, want) {
			t.Errorf("%s:\n%s\n%s", edit.name, strings.Join(aws, "\n"), strings.Join(kube, "\n"))
		}
	}
}

// checkRows are the calls of one check of an object of a capability, by its kind: the rows of the tests of each kind.
var checkRows = map[string]map[string]int{
	"DynamoDBTable": {"dynamodb.DescribeTable": 1, "dynamodb.ListTagsOfResource": 1, "dynamodb.DescribeContinuousBackups": 1,
		"dynamodb.DescribeTimeToLive": 1},
	"S3Bucket": {"s3.GetBucketTagging": 1, "s3.GetBucketVersioning": 1, "s3.GetBucketEncryption": 1, "s3.GetPublicAccessBlock": 1,
		"s3.GetBucketOwnershipControls": 1,
		"s3.GetBucketPolicy":            1, "s3.GetBucketLifecycleConfiguration": 1},
	"GlueDatabase":         {"glue.GetDatabase": 1, "glue.GetTags": 1},
	"GlueTable":            {"glue.GetTable": 1},
	"GlueCrawler":          {"glue.GetCrawler": 1, "glue.GetTags": 1},
	"IAMRole":              {"iam.GetRole": 1, "iam.ListRolePolicies": 1, "iam.ListAttachedRolePolicies": 1, "iam.GetRolePolicy": 1},
	"SecretsManagerSecret": {"secretsmanager.DescribeSecret": 1},
	"SQSQueue":             {"sqs.GetQueueAttributes": 1, "sqs.ListQueueTags": 1},
	"SNSTopic":             {"sns.GetTopicAttributes": 1, "sns.ListTagsForResource": 1, "sns.ListSubscriptionsByTopic": 1},
	"KMSKey": {"kms.DescribeKey": 1, "kms.ListResourceTags": 1, "kms.GetKeyPolicy": 1, "kms.GetKeyRotationStatus": 1,
		"kms.ListAliases": 1},
	"CognitoUserPool":   {"cognito-idp.DescribeUserPool": 1, "cognito-idp.DescribeUserPoolClient": 1, "cognito-idp.ListGroups": 1},
	"Certificate":       {"acm.DescribeCertificate": 1, "acm.ListTagsForCertificate": 1},
	"Route53RecordSet":  {"route53.ListResourceRecordSets": 2},
	"Route53HostedZone": {},
	"SSMParameterSet":   {},
}

// A check of a capability that uses everything reads what the rows of its objects add up to, and writes nothing.
func TestCheck_OfEverythingReadsTheSumOfItsRows(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1h")
	zone := b.zone("example.com")
	c := b.whole("everything", zone.id)
	c.Spec.DataServices.Glue.Crawler = &nexusv1.CrawlerSpec{}
	b.Create(c)
	b.Running(c)
	b.Quiet()
	want := map[string]int{"iam.GetOpenIDConnectProvider": 1} // for all roles
	var objects []v1alpha1.Resource
	for _, o := range b.children(c.Namespace) {
		r, ok := o.(v1alpha1.Resource)
		if !ok {
			continue
		}
		objects = append(objects, r)
		kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1alpha1.")
		row, known := checkRows[kind]
		if !known {
			t.Errorf("no row for %s", kind)
		}
		for call, n := range row {
			want[call] += n
		}
		if set, is := o.(*v1alpha1.SSMParameterSet); is {
			want["ssm.GetParameters"] += (len(set.Status.ManagedNames) + 9) / 10
		}
	}
	b.Op.Stop()
	for _, r := range objects { // what is reported of another generation is checked once
		if err := b.Get(r); err != nil {
			t.Fatal(err)
		}
		for i := range r.CommonStatus().Conditions {
			r.CommonStatus().Conditions[i].ObservedGeneration = 0
		}
		if err := b.Client.Status().Update(b.Ctx(), r); err != nil {
			t.Fatal(err)
		}
	}
	am, km := b.Mark()
	b.Restart("--check-interval=1h")
	b.Passed("nexusaicapability", "awsprovider")
	b.Eventually(30*time.Second, "all objects to be checked", func() error {
		for _, call := range slices.Sorted(maps.Keys(want)) {
			service, op, _ := strings.Cut(call, ".")
			if n := b.World.AWS().Since(am).Match(service, op, "*").Count(); n < want[call] {
				return fmt.Errorf("%d calls of %s", n, call)
			}
		}
		return nil
	})
	b.Quiet()
	calls := b.World.AWS().Since(am)
	got := map[string]int{}
	for _, call := range calls {
		if call.Service != "sts" {
			got[call.Service+"."+call.Op]++
		}
	}
	if w := calls.Writes(); len(w) > 0 {
		t.Errorf("AWS writes:\n%s", w)
	}
	if woken := surplusChecks(got, want); woken < 0 || woken > 3 {
		t.Errorf("the check took\n%v, and the rows are\n%v", got, want)
	}
	if kube := wrote(b.KubeWrites(km)); len(kube) > 0 {
		t.Errorf("Kubernetes writes: %v", kube)
	}
	b.Remove(c)
}

// surplusChecks returns how many objects were checked once more, and -1 if the calls are not those of whole checks. Until its own
// check is reported, an object does not look ready here, and an object to which it refers wakes it when that becomes ready.
func surplusChecks(got, want map[string]int) int {
	surplus := map[string]int{}
	for call, n := range got {
		surplus[call] = n - want[call]
	}
	for call := range want {
		if got[call] < want[call] {
			return -1
		}
	}
	objects := 0
	for _, row := range checkRows {
		for len(row) > 0 && contains(surplus, row) {
			for call, n := range row {
				surplus[call] -= n
			}
			objects++
		}
	}
	for _, n := range surplus {
		if n != 0 {
			return -1
		}
	}
	return objects
}

func contains(calls, row map[string]int) bool {
	for call, n := range row {
		if calls[call] < n {
			return false
		}
	}
	return true
}

func TestSurplusChecks_AreWholeOnes(t *testing.T) {
	extent.Full(t)
	want := map[string]int{"sns.GetTopicAttributes": 1, "sns.ListTagsForResource": 1, "sns.ListSubscriptionsByTopic": 1, "glue.GetTable": 2}
	with := func(more map[string]int) map[string]int {
		out := maps.Clone(want)
		for call, n := range more {
			out[call] += n
		}
		return out
	}
	for name, tc := range map[string]struct {
		more map[string]int
		want int
	}{
		"none":               {nil, 0},
		"one topic":          {checkRows["SNSTopic"], 1},
		"half a topic":       {map[string]int{"sns.GetTopicAttributes": 1}, -1},
		"one read too few":   {map[string]int{"glue.GetTable": -1}, -1},
		"another call":       {map[string]int{"sqs.ListQueues": 1}, -1},
		"two tables":         {map[string]int{"glue.GetTable": 2}, 2},
		"a topic and a half": {map[string]int{"sns.GetTopicAttributes": 2, "sns.ListTagsForResource": 1, "sns.ListSubscriptionsByTopic": 1}, -1},
	} {
		if got := surplusChecks(with(tc.more), want); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
