// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// withExisting adds one existing store of each kind.
func withExisting(c *nexusv1.NexusAICapability) {
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
	d := c.Spec.DataServices
	d.DynamoDB.Tables = append(slices.Clone(d.DynamoDB.Tables), nexusv1.TableSpec{Name: "license"}, nexusv1.TableSpec{Name: "orders", Existing: storeNamed("Orders.v2")})
	d.S3.Buckets = append(slices.Clone(d.S3.Buckets), nexusv1.BucketSpec{Name: "call-data"}, nexusv1.BucketSpec{Name: "media", Existing: &nexusv1.ExistingStore{ARN: "arn:aws:s3:::company-media"}})
	d.Queues = append(slices.Clone(d.Queues), nexusv1.QueueSpec{Name: "jobs", Existing: storeNamed("company-jobs.fifo")})
	d.Topics = append(slices.Clone(d.Topics), nexusv1.TopicSpec{Name: "news", Existing: storeNamed("company-news")})
	c.Spec.Secrets = append(slices.Clone(c.Spec.Secrets), nexusv1.SecretSpec{Name: "database", Existing: storeNamed("company/db")})
}

func storeNamed(name string) *nexusv1.ExistingStore { return &nexusv1.ExistingStore{Name: name} }

// externals are patterns that allow the stores of withExisting.
func externals(region string) []string {
	return []string{
		"arn:aws:dynamodb:" + region + ":123456789012:table/Orders.*", "arn:aws:s3:::company-media", "arn:aws:sqs:" + region + ":123456789012:company-jobs.fifo",
		"arn:aws:sns:*:123456789012:company-*", "arn:aws:secretsmanager:" + region + ":123456789012:secret:company/db-*",
	}
}

// onlyTable is a capability with one existing table.
func onlyTable(store *nexusv1.ExistingStore) *nexusv1.NexusAICapability {
	return minimal(func(c *nexusv1.NexusAICapability) {
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		c.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "orders", Existing: store}}}}
	})
}

const orders = "arn:aws:dynamodb:eu-central-1:123456789012:table/Orders"

// allowing returns facts with patterns that both lists allow.
func allowing(patterns ...string) capability.Facts {
	f := facts()
	f.Provider.Region, f.Provider.ExternalARNs, f.Limits.AllowedExternalARNs = "eu-central-1", patterns, patterns
	return f
}

// grantedIn returns all resources that the roles of a capability get rights on.
func grantedIn(t fatal, c *nexusv1.NexusAICapability, f capability.Facts) (out []string) {
	t.Helper()
	for _, role := range ofKind(compile(t, c, f), "IAMRole") {
		for _, p := range policies(t, role) {
			for _, s := range p.Statement {
				out = append(out, s.Resource...)
			}
		}
	}
	return out
}

func TestExisting_RightsNeedConsent(t *testing.T) {
	c := onlyTable(storeNamed("Orders"))
	for name, tc := range map[string]struct {
		provider, operator []string
		foreign, neighbor  bool
		says               string
	}{
		"both":                        {patterns(orders), patterns("arn:aws:dynamodb:*:*:table/Ord*"), false, false, ""},
		"none":                        {nil, nil, false, false, "spec.allowedExternalARNs"},
		"the provider, no limit":      {patterns(orders), nil, false, false, ""},
		"the provider beyond a limit": {patterns(orders), patterns(orders + "-eu"), false, false, "--allowed-external-arns"},
		"the operator alone":          {nil, patterns(orders), false, false, "AWSProvider/shared"},
		"another account":             {patterns("arn:aws:dynamodb:eu-central-1:999999999999:table/*"), patterns(orders), false, false, "AWSProvider/shared"},
		"a neighbor's by a pattern":   {patterns("arn:aws:dynamodb:eu-central-1:123456789012:table/*"), nil, false, true, "in full"},
		"a neighbor's in full":        {patterns(orders), nil, false, true, ""},
		"a foreign one by a pattern":  {patterns("arn:aws:dynamodb:eu-central-1:123456789012:table/*"), patterns(orders), true, false, "in full"},
		"a foreign one, no limit":     {patterns(orders), nil, true, false, "--allowed-external-arns"},
		"a foreign one by a limit":    {patterns(orders), patterns("arn:aws:dynamodb:eu-central-1:123456789012:table/*"), true, false, "--allowed-external-arns"},
		"a foreign one by both":       {patterns(orders), patterns(orders), true, false, ""},
	} {
		f := facts()
		f.Provider.Region, f.Provider.ExternalARNs, f.Limits.AllowedExternalARNs = "eu-central-1", tc.provider, tc.operator
		f.Owned = map[string]capability.Proof{"DynamoDBTable/myapp-dev-orders.existing": {ARN: orders, Foreign: tc.foreign, Neighbor: tc.neighbor}}
		if granted := slices.Contains(grantedIn(t, c, f), orders); granted != (tc.says == "") {
			t.Errorf("%s: granted %v", name, granted)
		}
		why := capability.WithheldFrom(f, c, "DynamoDBTable", "myapp-dev-orders.existing")
		if (why == "") != (tc.says == "") || !strings.Contains(why, tc.says) || why != "" && !strings.Contains(why, orders) {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func patterns(list ...string) []string { return list }

func TestExisting_WithoutConsentARoleWaitsForNothing(t *testing.T) {
	c := onlyTable(storeNamed("Orders"))
	f := allowing()
	f.Owned = map[string]capability.Proof{}
	for _, n := range compile(t, c, f).Nodes() {
		if n.Object.GetKind() == "IAMRole" && len(n.After) > 0 {
			t.Errorf("%s waits for %v", n.ID, n.After)
		}
	}
	f = allowing(orders)
	f.Owned = map[string]capability.Proof{}
	for _, n := range compile(t, c, f).Nodes() {
		if n.Object.GetKind() == "IAMRole" && len(n.After) == 0 {
			t.Errorf("%s does not wait for the table", n.ID)
		}
	}
}

func TestExisting_OnlyWhatAWSShowsIsGranted(t *testing.T) {
	secret := "arn:aws:secretsmanager:eu-central-1:123456789012:secret:orders"
	c := minimal(func(c *nexusv1.NexusAICapability) {
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		c.Spec.Secrets = []nexusv1.SecretSpec{{Name: "db", Existing: storeNamed("orders")}}
	})
	for shown, want := range map[string]bool{secret + "-AbCdEf": true, secret + "-prod-AbCdEf": false, secret: false, secret + "-": false, "arn:aws:secretsmanager:eu-central-1:999999999999:secret:orders-AbCdEf": false, "": false} {
		f := allowing("arn:aws:secretsmanager:*:123456789012:secret:*")
		f.Owned = map[string]capability.Proof{"SecretsManagerSecret/myapp-dev-db.existing": {ARN: shown}}
		if got := slices.ContainsFunc(grantedIn(t, c, f), func(arn string) bool { return strings.HasPrefix(arn, secret) }); got != want {
			t.Errorf("%q: granted %v", shown, got)
		}
	}
}

func TestExisting_IsRefusedWhereItMeansSomethingElse(t *testing.T) {
	table := func(arn string) *nexusv1.NexusAICapability { return onlyTable(&nexusv1.ExistingStore{ARN: arn}) }
	secret := func(arn string) *nexusv1.NexusAICapability {
		return minimal(func(c *nexusv1.NexusAICapability) {
			c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
			c.Spec.Secrets = []nexusv1.SecretSpec{{Name: "db", Existing: &nexusv1.ExistingStore{ARN: arn}}}
		})
	}
	refused := func(says string, c *nexusv1.NexusAICapability) {
		t.Helper()
		f := facts()
		f.Provider.Region = "eu-central-1"
		if s, ok := status.AsStalled(capability.Validate(c, f)); !ok || !strings.Contains(s.Error(), says) || s.Field == "" {
			t.Errorf("%s: %v", says, s)
		}
	}
	for _, name := range []string{"Ord*", "Ord?rs", "${aws:username}"} {
		refused("must be the ARN of a store without wildcards", table("arn:aws:dynamodb:eu-central-1:123456789012:table/"+name))
	}
	for says, c := range map[string]*nexusv1.NexusAICapability{
		"belongs to account 999999999999":     table("arn:aws:dynamodb:eu-central-1:999999999999:table/Orders"),
		"is in region us-east-1":              table("arn:aws:dynamodb:us-east-1:123456789012:table/Orders"),
		"is in partition aws-cn":              table("arn:aws-cn:dynamodb:eu-central-1:123456789012:table/Orders"),
		"is not the ARN of a table":           table("arn:aws:sqs:eu-central-1:123456789012:Orders"),
		"is not the name of a table":          table("arn:aws:dynamodb:eu-central-1:123456789012:table/Orders/index/x"),
		`"a/b" is not the name of a table`:    onlyTable(storeNamed("a/b")),
		"is not the name of a secret":         secret("arn:aws:secretsmanager:eu-central-1:123456789012:secret:-AbCdEf"),
		"lacks the hyphen and six characters": secret("arn:aws:secretsmanager:eu-central-1:123456789012:secret:db"),
		"names the same table as": minimal(func(c *nexusv1.NexusAICapability) {
			*c = *onlyTable(storeNamed("Orders"))
			d := c.Spec.DataServices.DynamoDB
			d.Tables = append(d.Tables, nexusv1.TableSpec{Name: "again", Existing: storeNamed("Orders")})
		}),
		"needs spec.providerRef": minimal(func(c *nexusv1.NexusAICapability) { *c = *onlyTable(storeNamed("Orders")); c.Spec.ProviderRef = nil }),
		"Glue needs a bucket call-data": minimal(func(c *nexusv1.NexusAICapability) {
			withData(c)
			c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
			c.Spec.DataServices.S3.Buckets = []nexusv1.BucketSpec{{Name: "call-data", Existing: storeNamed("company")}}
		}),
		"subscribe it where it is managed": minimal(func(c *nexusv1.NexusAICapability) {
			withData(c)
			withExisting(c)
			c.Spec.DataServices.Topics = []nexusv1.TopicSpec{{Name: "own", FIFO: true, SubscribeQueues: []nexusv1.QueueName{"jobs"}}}
		}),
		"is not the ARN of a role, which has no region": assuming(nexusv1.RoleSpec{Name: "reader", Existing: nexusv1.ExistingStore{ARN: "arn:aws:iam:eu-central-1:123456789012:role/x"}}),
		"the role belongs to account 999999999999":      assuming(nexusv1.RoleSpec{Name: "reader", Existing: nexusv1.ExistingStore{ARN: "arn:aws:iam::999999999999:role/x"}}),
		"names the same role as":                        assuming(nexusv1.RoleSpec{Name: "a", Existing: *storeNamed("x")}, nexusv1.RoleSpec{Name: "b", Existing: *storeNamed("x")}),
		"dataServices.roles[1]: Duplicate value":        assuming(nexusv1.RoleSpec{Name: "a", Existing: *storeNamed("x")}, nexusv1.RoleSpec{Name: "a", Existing: *storeNamed("y")}),
		"hashKey: is about a store": minimal(func(c *nexusv1.NexusAICapability) {
			*c = *onlyTable(storeNamed("Orders"))
			c.Spec.DataServices.DynamoDB.Tables[0].HashKey = &nexusv1.KeyAttribute{Name: "k", Type: "S"}
		}),
	} {
		refused(says, c)
	}
}

func TestExisting_NoQueueOfTheOperatorIsGranted(t *testing.T) {
	c := minimal(func(c *nexusv1.NexusAICapability) {
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		c.Spec.DataServices = &nexusv1.DataServicesSpec{Queues: []nexusv1.QueueSpec{{Name: "jobs", Existing: storeNamed("nexus-drift")}}}
	})
	queue := "arn:aws:sqs:eu-central-1:123456789012:nexus-drift"
	f := allowing(queue)
	if !slices.Contains(grantedIn(t, c, f), queue) {
		t.Fatal("the queue of others is not granted")
	}
	f.Limits.ReservedARNs = []string{"arn:*:sqs:*:123456789012:nexus-drift"}
	if slices.Contains(grantedIn(t, c, f), queue) || !strings.Contains(capability.WithheldFrom(f, c, "SQSQueue", "myapp-dev-jobs.existing"), "the operator works with") {
		t.Error("the operator's queue is granted")
	}
}

func TestExisting_ObjectsAreNoneOfOwnStores(t *testing.T) {
	own := onlyTable(nil)
	own.Spec.DataServices.DynamoDB.Tables[0].Existing = nil
	now := onlyTable(storeNamed("myapp-dev-orders"))
	for _, o := range ofKind(compile(t, now, allowing(orders)), "DynamoDBTable") {
		if o.GetName() == "myapp-dev-orders" || at(t, o, "spec", "managementPolicy") != "Observe" || at(t, o, "spec", "hashKey") != nil {
			t.Errorf("%v", o.Object)
		}
	}
	object(t, compile(t, own, facts()), "DynamoDBTable/myapp-dev-orders")
}

func TestProve_ExistingStores(t *testing.T) {
	c := onlyTable(storeNamed("Orders"))
	observed := func(edit func(*awsv1.DynamoDBTable)) *awsv1.DynamoDBTable {
		o := &awsv1.DynamoDBTable{}
		o.Namespace, o.Name, o.UID = c.Namespace, "myapp-dev-orders.existing", "o"
		o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, nexusv1.GroupVersion.WithKind("NexusAICapability"))}
		o.Spec.ProviderRef.Name, o.Spec.ManagementPolicy = "shared", awsv1.ManageObserve
		o.Status.ARN, o.Status.Ownership = orders, awsv1.OwnershipObserved
		edit(o)
		return o
	}
	for name, tc := range map[string]struct {
		edit        func(*awsv1.DynamoDBTable)
		ok, foreign bool
	}{
		"observed":                {func(*awsv1.DynamoDBTable) {}, true, false},
		"of another owner":        {func(o *awsv1.DynamoDBTable) { o.Status.Ownership = awsv1.OwnershipObservedForeign }, true, true},
		"not looked at":           {func(o *awsv1.DynamoDBTable) { o.Status.Ownership = "" }, false, false},
		"paused":                  {func(o *awsv1.DynamoDBTable) { o.Annotations = map[string]string{"nexus.ai/paused": "true"} }, false, false},
		"managed":                 {func(o *awsv1.DynamoDBTable) { o.Spec.ManagementPolicy = "" }, false, false},
		"another's":               {func(o *awsv1.DynamoDBTable) { o.OwnerReferences = nil }, false, false},
		"through another account": {func(o *awsv1.DynamoDBTable) { o.Spec.ProviderRef.Name = "other" }, false, false},
	} {
		_, proof, ok := capability.Prove(c, "DynamoDBTable", observed(tc.edit))
		if ok != tc.ok || proof.Foreign != tc.foreign {
			t.Errorf("%s: %+v, %v", name, proof, ok)
		}
	}
	proofs := map[string]capability.Proof{"DynamoDBTable/myapp-dev-orders.existing": {ARN: orders}}
	if got := capability.WithOwners(c, proofs, map[string]bool{orders: true}); !got["DynamoDBTable/myapp-dev-orders.existing"].Neighbor {
		t.Error("the owner in the namespace does not count")
	}
}

func TestExisting_NoPatternReachesBeyondADeclaredARN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9_.*?${}:/-]{1,24}`).Draw(t, "name")
		c := onlyTable(storeNamed(name))
		f := allowing("arn:aws:dynamodb:*:123456789012:table/*")
		if capability.Validate(c, f) != nil {
			return
		}
		for _, arn := range grantedIn(t, c, f) {
			if strings.Contains(arn, ":dynamodb:") && (arn != "arn:aws:dynamodb:eu-central-1:123456789012:table/"+name || strings.ContainsAny(arn, "*?$")) {
				t.Fatalf("%q grants %s", name, arn)
			}
		}
	})
}

// assuming returns a capability with workloads that may assume existing roles.
func assuming(roles ...nexusv1.RoleSpec) *nexusv1.NexusAICapability {
	return minimal(func(c *nexusv1.NexusAICapability) {
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		c.Spec.DataServices = &nexusv1.DataServicesSpec{Roles: roles}
	})
}

// The role of a component may assume exactly the existing roles that its access names, with the ARNs that AWS returns, and never the roles
// that the operator itself assumes.
func TestExisting_RolesAreAssumedByConsent(t *testing.T) {
	const reader, auditor = "arn:aws:iam::123456789012:role/reader", "arn:aws:iam::123456789012:role/audit/auditor"
	c := assuming(nexusv1.RoleSpec{Name: "reader", Existing: *storeNamed("reader")}, nexusv1.RoleSpec{Name: "auditor", Existing: nexusv1.ExistingStore{ARN: auditor}})
	with("web", access("roles/auditor"))(c)
	proofs := map[string]capability.Proof{"IAMRole/myapp-dev-reader.existing": {ARN: reader}, "IAMRole/myapp-dev-auditor.existing": {ARN: auditor}}
	all := "arn:aws:iam::123456789012:role/*"
	unlimited := allowing(all)
	unlimited.Limits.AllowedExternalARNs, unlimited.Owned = nil, proofs
	if why := capability.WithheldFrom(unlimited, c, "IAMRole", "myapp-dev-reader.existing"); !strings.Contains(why, "--allowed-external-arns") {
		t.Errorf("without the administrator: %q", why)
	}
	for name, tc := range map[string]struct {
		allowed, reserved, shown string
		backend, web             []string
	}{
		"both":                    {all, "", reader, []string{auditor, reader}, []string{auditor}},
		"one":                     {auditor, "", reader, []string{auditor}, []string{auditor}},
		"none":                    {"arn:aws:iam::999999999999:role/*", "", reader, nil, nil},
		"that of the operator":    {all, "arn:*:iam::123456789012:role/reader", reader, []string{auditor}, []string{auditor}},
		"one with a path by name": {all, "", "arn:aws:iam::123456789012:role/team/reader", []string{auditor}, []string{auditor}},
	} {
		f := allowing(tc.allowed)
		f.Owned = maps.Clone(proofs)
		f.Owned["IAMRole/myapp-dev-reader.existing"] = capability.Proof{ARN: tc.shown}
		if tc.reserved != "" {
			f.Limits.ReservedARNs = []string{tc.reserved}
		}
		g := compile(t, c, f)
		for component, want := range map[string][]string{"backend": tc.backend, "web": tc.web} {
			if got := rightsOf(t, g, roleOf(c, component))["sts:AssumeRole"]; !slices.Equal(got, want) {
				t.Errorf("%s: %s may assume %v, want %v", name, component, got, want)
			}
		}
		o := object(t, g, "IAMRole/myapp-dev-auditor.existing")
		if at(t, o, "spec", "managementPolicy") != "Observe" || at(t, o, "spec", "roleName") != "auditor" {
			t.Errorf("%s: %v", name, o.Object["spec"])
		}
	}
	g := compile(t, c, allowing(all))
	for settings, want := range map[string]string{capability.NamesOf(c).ConfigMap(): reader, strings.TrimSuffix(roleOf(c, "web"), "role") + "config": ""} {
		data := at(t, object(t, g, "ConfigMap/"+settings), "data").(map[string]any)
		if got, _ := data["NEXUS_ROLE_ARN_READER"].(string); got != want || data["NEXUS_ROLE_ARN_AUDITOR"] != auditor {
			t.Errorf("%s: %v", settings, data)
		}
	}
}
