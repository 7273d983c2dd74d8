// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

const (
	vectorType = "AWS::S3Vectors::VectorBucket"
	vectorsARN = "arn:aws:s3vectors:eu-central-1:123456789012:bucket/myapp-dev-vectors"
	vectorsID  = "AWSResource/myapp-dev-vectors"
)

func raw(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

// vectors declares a bucket of vectors.
func vectors(edits ...func(*nexusv1.ResourcePart)) nexusv1.ResourcePart {
	r := nexusv1.ResourcePart{Name: "vectors", Type: vectorType, Properties: raw(`{"VectorBucketName":"{name}"}`),
		Access:  &nexusv1.PartAccess{Actions: []nexusv1.PartAction{"s3vectors:QueryVectors", "s3vectors:GetVectorBucket", "s3vectors:PutVectors"}},
		Exports: map[string]nexusv1.ExportedValue{"VECTOR_BUCKET": "properties.VectorBucketName", "VECTOR_BUCKET_ARN": "arn"}}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// withResources is a capability of an AWSProvider of people with these resources.
func withResources(list ...nexusv1.ResourcePart) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		if c.Spec.DataServices == nil {
			c.Spec.DataServices = &nexusv1.DataServicesSpec{}
		}
		c.Spec.DataServices.Resources = append(c.Spec.DataServices.Resources, list...)
	}
}

// owning returns the facts of a capability that is proven to own a resource.
func owning(id string, p capability.Proof) capability.Facts {
	f := facts()
	f.Provider.Region = "eu-central-1"
	f.Owned = map[string]capability.Proof{id: p}
	return f
}

func builtWith(t fatal, c *nexusv1.NexusAICapability, f capability.Facts) *graph.Graph {
	t.Helper()
	g, err := capability.Compile(c, f)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return g
}

func TestResources_BecomeObjectsOfTheCapability(t *testing.T) {
	c := minimal(withData, withResources(vectors(func(r *nexusv1.ResourcePart) {
		r.Properties = raw(`{"VectorBucketName":"{name}","Note":"{capability} {environment} {account} {region} {{name}} {} {other} {\"a\":{}}","List":[{"Of":"{name}"}]}`)
		r.Uses, r.Ignore, r.RecreateOnLoss = []nexusv1.PartName{"call-data", "license"}, []string{"/Note"}, true
	}), nexusv1.ResourcePart{Name: "images", Kind: "ECRRepository", Spec: raw(`{"repositoryName":"{name}","tags":{"a":"{environment}"}}`),
		Uses: []nexusv1.PartName{"vectors"}}))
	g := builtWith(t, c, owning("", capability.Proof{}))
	n, _ := g.Node(vectorsID)
	if n.Step != capability.StepResources || !slices.Contains(n.After, graph.Edge{To: "S3Bucket/myapp-dev-call-data", Need: graph.Ready}) ||
		!slices.Contains(n.After, graph.Edge{To: "DynamoDBTable/myapp-dev-license", Need: graph.Ready}) {
		t.Errorf("%+v", n)
	}
	spec, _ := n.Object.Object["spec"].(map[string]any)
	want := map[string]any{"typeName": vectorType, "recreateOnLoss": true, "ignore": []any{"/Note"}, "deletionPolicy": "Delete", "driftPolicy": "Correct",
		"providerRef": map[string]any{"name": "shared"}, "properties": map[string]any{"VectorBucketName": "myapp-dev-vectors",
			"Note": `myapp dev 123456789012 eu-central-1 {name} {} {other} {"a":{}}`, "List": []any{map[string]any{"Of": "myapp-dev-vectors"}}}}
	if got, wanted := mustJSON(t, spec), mustJSON(t, want); got != wanted {
		t.Errorf("%s\nwant %s", got, wanted)
	}
	images := object(t, g, "ECRRepository/myapp-dev-images")
	for field, want := range map[string]string{"repositoryName": "myapp-dev-images", "deletionPolicy": "Delete"} {
		if got := at(t, images, "spec", field); got != want {
			t.Errorf("%s: %v, want %s", field, got, want)
		}
	}
	if used := capability.UsersOf(c, "AWSResource", "myapp-dev-vectors"); !slices.Equal(used, []string{"ECRRepository/myapp-dev-images"}) {
		t.Errorf("%v", used)
	}
}

// The role gets the declared actions on the proven resource, and none before.
func TestResources_AccessFollowsProof(t *testing.T) {
	c := minimal(withResources(vectors()))
	for name, k := range map[string]struct {
		proof capability.Proof
		want  bool
	}{
		"nothing": {}, "another account": {proof: capability.Proof{ARN: strings.Replace(vectorsARN, "123456789012", "999999999999", 1)}},
		"another kind of resource": {proof: capability.Proof{ARN: "arn:aws:s3:::myapp-dev-vectors"}}, "a pattern": {proof: capability.Proof{ARN: vectorsARN + "*"}},
		"the bucket": {proof: capability.Proof{ARN: vectorsARN}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			documents := policies(t, object(t, builtWith(t, c, owning(vectorsID, k.proof)), "IAMRole/myapp-dev-app-role"))
			for _, r := range []struct {
				action, resource string
				allowed          bool
			}{
				{"s3vectors:GetVectorBucket", vectorsARN, true}, {"s3vectors:QueryVectors", vectorsARN + "/index/docs", true}, {"s3vectors:PutVectors", vectorsARN + "/index/docs", true},
				{"s3vectors:QueryVectors", vectorsARN + "-others/index/docs", false}, {"s3vectors:DeleteVectors", vectorsARN + "/index/docs", false},
				{"s3vectors:DeleteVectorBucket", vectorsARN, false}, {"s3vectors:GetVectorBucket", vectorsARN + "-others", false},
			} {
				if got := granted(t, documents, request{action: r.action, resource: r.resource}); got != (k.want && r.allowed) {
					t.Errorf("%s on %s: %v", r.action, r.resource, got)
				}
			}
		})
	}
}

// A component without a resource in its access has no rights on it, and none of its values.
func TestResources_OnlyComponentsWithAccessReachThem(t *testing.T) {
	c := minimal(withData, withResources(vectors()), with("answers", access("resources/vectors")), with("notes", access("license")), with("web", access()))
	g := builtWith(t, c, owning(vectorsID, capability.Proof{ARN: vectorsARN, UID: "1", Values: map[string]string{"VECTOR_BUCKET_ARN": vectorsARN}}))
	for component, reaches := range map[string]bool{"backend": true, "answers": true, "notes": false, "web": false} {
		role := roleOf(c, component)
		rights := rightsOf(t, g, role)
		if got := rights["s3vectors:QueryVectors"]; slices.Contains(got, vectorsARN+"/index/*") != reaches || !reaches && len(got) > 0 {
			t.Errorf("%s queries %q", component, got)
		}
		if tables := rights["dynamodb:GetItem"]; component == "answers" && len(tables) > 0 {
			t.Errorf("%s reads the tables %q", component, tables)
		}
		for _, parameter := range rights["ssm:GetParameter"] {
			if strings.Contains(parameter, "resources/") && !reaches {
				t.Errorf("%s reads the parameter %s", component, parameter)
			}
		}
		settings := "ConfigMap/" + strings.TrimSuffix(role, "role") + "config"
		if component == "backend" {
			settings = "ConfigMap/" + capability.NamesOf(c).ConfigMap()
		}
		data := at(t, object(t, g, settings), "data").(map[string]any)
		if _, has := data["VECTOR_BUCKET_ARN"]; has != reaches {
			t.Errorf("%s has the settings %v", component, data)
		}
	}
	c = minimal(withResources(vectors()), with("answers", access("resources/vector")))
	if err := capability.Validate(c, facts()); err == nil || !strings.Contains(err.Error(), "resources/vectors") {
		t.Errorf("a name that nothing has: %v", err)
	}
}

func TestResources_WithoutAnARNHaveNoAccess(t *testing.T) {
	c := minimal(withResources(vectors(func(r *nexusv1.ResourcePart) { r.Exports = nil })))
	_, err := capability.Compile(c, owning(vectorsID, capability.Proof{UID: "1", Settled: true}))
	if s, ok := status.AsStalled(err); !ok || s.Field != "spec.dataServices.resources[0].access" {
		t.Errorf("%v", err)
	}
}

// The settings wait for values that AWS assigns, and have declared values at once.
func TestResources_ExportsWaitForTheirValues(t *testing.T) {
	c := minimal(withResources(vectors()))
	g := builtWith(t, c, owning("", capability.Proof{}))
	for _, id := range []string{"ConfigMap/myapp-dev-config", "SSMParameterSet/myapp-dev", "Deployment/myapp-dev-backend"} {
		if n, _ := g.Node(id); n.Unresolved != vectorsID {
			t.Errorf("%s: %q", id, n.Unresolved)
		}
	}
	g = builtWith(t, c, owning(vectorsID, capability.Proof{ARN: vectorsARN, Values: map[string]string{"VECTOR_BUCKET_ARN": vectorsARN}}))
	for variable, want := range map[string]string{"VECTOR_BUCKET": "myapp-dev-vectors", "VECTOR_BUCKET_ARN": vectorsARN} {
		if got := at(t, object(t, g, "ConfigMap/myapp-dev-config"), "data", variable); got != want {
			t.Errorf("%s: %v", variable, got)
		}
		if got := at(t, object(t, g, "SSMParameterSet/myapp-dev"), "spec", "parameters", "resources/"+variable, "value"); got != want {
			t.Errorf("parameter %s: %v", variable, got)
		}
	}
	for _, n := range g.Nodes() {
		if n.Unresolved != "" {
			t.Errorf("%s waits for %s", n.ID, n.Unresolved)
		}
	}
	_, err := capability.Compile(c, owning(vectorsID, capability.Proof{ARN: vectorsARN, Settled: true}))
	if s, ok := status.AsStalled(err); !ok || s.Field != "spec.dataServices.resources[0].exports[VECTOR_BUCKET_ARN]" {
		t.Errorf("a value that AWS never shows: %v", err)
	}
}

func TestResources_AreRefusedByTheirFields(t *testing.T) {
	kind := func(name, spec string) func(*nexusv1.ResourcePart) {
		return func(r *nexusv1.ResourcePart) {
			*r = nexusv1.ResourcePart{Name: "vectors", Kind: name, Spec: raw(spec)}
		}
	}
	actions := func(list ...nexusv1.PartAction) func(*nexusv1.ResourcePart) {
		return func(r *nexusv1.ResourcePart) { r.Access.Actions = list }
	}
	exports := func(variable string, value nexusv1.ExportedValue) func(*nexusv1.ResourcePart) {
		return func(r *nexusv1.ResourcePart) { r.Exports = map[string]nexusv1.ExportedValue{variable: value} }
	}
	uses := func(list ...nexusv1.PartName) func(*nexusv1.ResourcePart) {
		return func(r *nexusv1.ResourcePart) { r.Uses = list }
	}
	for name, k := range map[string]struct {
		edit        func(*nexusv1.ResourcePart)
		field, text string
	}{
		"both":             {func(r *nexusv1.ResourcePart) { r.Kind = "VPC" }, "", "set type with properties, or kind with spec"},
		"neither":          {func(r *nexusv1.ResourcePart) { r.Type = "" }, "", "set type with properties, or kind with spec"},
		"no type":          {func(r *nexusv1.ResourcePart) { r.Type = "S3Vectors" }, ".type", "must be the name of an AWS resource type"},
		"a list":           {func(r *nexusv1.ResourcePart) { r.Properties = raw(`[]`) }, ".properties", "must be of type object"},
		"a role":           {kind("IAMRole", `{}`), ".kind", "gives rights"},
		"a bucket":         {kind("S3Bucket", `{}`), ".kind", "spec.dataServices.s3"},
		"unknown kind":     {kind("Cluster", `{}`), ".kind", "is none of"},
		"another provider": {kind("VPC", `{"providerRef":{"name":"admin"}}`), ".spec.providerRef", "the capability decides it"},
		"adoption":         {kind("VPC", `{"adoptionPolicy":"Always"}`), ".spec.adoptionPolicy", "the capability decides it"},
		"import":           {kind("VPC", `{"importID":"vpc-1"}`), ".spec.importID", "the capability decides it"},
		"unknown field":    {kind("VPC", `{"cidr":"10.0.0.0/16"}`), ".spec", `unknown field "cidr"`},
		"a wildcard":       {actions("s3vectors:GetVectorBucket", "s3vectors:*"), ".access.actions[1]", "without a wildcard"},
		"another service":  {actions("s3:GetObject"), ".access.actions[0]", "is an action of s3"},
		"no action":        {actions("s3vectors:Nothing"), ".access.actions[0]", "no action that AWS documents"},
		"everywhere":       {actions("s3vectors:ListVectorBuckets"), ".access.actions[0]", "cannot be limited"},
		"tags":             {actions("s3vectors:TagResource"), ".access.actions[0]", "changes tags"},
		"no actions":       {actions(), ".access.actions", "Required value"},
		"an unknown type":  {func(r *nexusv1.ResourcePart) { r.Type, r.Exports = "AWS::New::Thing", nil }, ".access", "not known to this version"},
		"lower case":       {exports("vector", "arn"), ".exports[vector]", "does not match"},
		"the operator's":   {exports("NEXUS_REGION", "arn"), ".exports[NEXUS_REGION]", "operator's"},
		"credentials":      {exports("AWS_ROLE_ARN", "arn"), ".exports[AWS_ROLE_ARN]", "operator's"},
		"no value":         {exports("A", "arns"), ".exports.A", "must be arn, id"},
		"a status":         {exports("A", "status.arn"), ".exports[A]", "properties.X of a type"},
		"a secret's name":  {exports("A", "properties.MasterPassword"), ".exports[A]", "may be a secret"},
		"write-only": {func(r *nexusv1.ResourcePart) {
			r.Type, r.Access, r.Properties = "AWS::RDS::DBInstance", nil, raw(`{"MasterUserPassword":"x"}`)
			r.Exports = map[string]nexusv1.ExportedValue{"A": "properties.MasterUserPassword"}
		}, ".exports[A]", "never shows"},
		"of a Secret": {func(r *nexusv1.ResourcePart) {
			r.Properties, r.Exports = raw(`{"Login":{"$secret":"login","key":"user"}}`), map[string]nexusv1.ExportedValue{"A": "properties.Login"}
		}, ".exports[A]", "value of a Secret"},
		"of another": {func(r *nexusv1.ResourcePart) {
			r.Properties, r.Exports = raw(`{"Key":{"$ref":"KMSKey/a","field":"status.arn"}}`), map[string]nexusv1.ExportedValue{"A": "properties.Key"}
		}, ".exports[A]", "another object"},
		"a field of a kind": {func(r *nexusv1.ResourcePart) {
			*r = nexusv1.ResourcePart{Name: "vectors", Kind: "VPC", Exports: map[string]nexusv1.ExportedValue{"A": "status.nothing"}}
		}, ".exports[A]", "has no text nothing"},
		"itself":       {uses("vectors"), ".uses[0]", "is the resource itself"},
		"unknown part": {uses("other", "nothing"), ".uses[1]", "is no table, bucket, queue, topic, secret or resource"},
		"a circle":     {uses("other"), ".uses", "vectors uses other uses vectors"},
		"a taken name": {func(r *nexusv1.ResourcePart) { r.Name = "license" }, ".name", "name of another part"},
	} {
		t.Run(name, func(t *testing.T) {
			other := nexusv1.ResourcePart{Name: "other", Kind: "VPC"}
			if name == "a circle" {
				other.Uses = []nexusv1.PartName{"vectors"}
			}
			c := minimal(withResources(vectors(k.edit), other))
			s, ok := status.AsStalled(capability.Validate(c, facts()))
			if !ok || s.Field != "spec.dataServices.resources[0]"+k.field || !strings.Contains(s.Message, k.text) {
				t.Errorf("%v, want %s: %s", s, k.field, k.text)
			}
		})
	}
	c := minimal(withResources(vectors()))
	c.Spec.ProviderRef = nil
	if s, ok := status.AsStalled(capability.Validate(c, facts())); !ok || s.Reason != status.ReasonNotPermitted || s.Field != "spec.dataServices.resources" {
		t.Errorf("without a provider: %v", s)
	}
}

// A spec that violates the schema of its kind is refused before anything is applied, with the field of the capability.
func TestCheckResources_NamesTheWholePath(t *testing.T) {
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	check := func(r nexusv1.ResourcePart, f capability.Facts) *status.Stalled {
		c := minimal(withResources(nexusv1.ResourcePart{Name: "first", Kind: "ElasticIP", Spec: raw(`{}`)}, r))
		err := capability.CheckResources(t.Context(), c, builtWith(t, c, f), schemas)
		if s, ok := status.AsStalled(err); err == nil || ok {
			return s
		}
		t.Fatal(err)
		return nil
	}
	for field, r := range map[string]nexusv1.ResourcePart{
		"":                vectors(),
		".spec.cidrBlock": {Name: "net", Kind: "VPC", Spec: raw(`{}`)},
	} {
		want := field
		if field != "" {
			want = "spec.dataServices.resources[1]" + field
		}
		if s := check(r, owning("", capability.Proof{})); (s == nil) != (want == "") || s != nil && s.Field != want {
			t.Errorf("%v, want %q", s, want)
		}
	}
	if s := check(nexusv1.ResourcePart{Name: "images", Kind: "ECRRepository", Spec: raw(`{"repositoryName":"{capability}/{account}"}`)}, capability.Facts{}); s != nil {
		t.Errorf("a value that is not known yet: %v", s)
	}
}

// anyResources draws resources of a few types, with actions that may be granted on them.
func anyResources(t *rapid.T) []nexusv1.ResourcePart {
	actions := map[string][]nexusv1.PartAction{
		vectorType:              {"s3vectors:QueryVectors", "s3vectors:PutVectors", "s3vectors:GetVectorBucket", "s3vectors:ListIndexes"},
		"AWS::Kinesis::Stream":  {"kinesis:PutRecord", "kinesis:GetRecords", "kinesis:DescribeStreamSummary"},
		"AWS::Logs::LogGroup":   {"logs:PutLogEvents", "logs:FilterLogEvents"},
		"AWS::SQS::Queue":       {"sqs:SendMessage"},
		"AWS::Cassandra::Table": {"cassandra:Select", "cassandra:Modify"},
	}
	var out []nexusv1.ResourcePart
	for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`part-[a-z]{1,6}`), 0, 6, func(s string) string { return s }).Draw(t, "resources") {
		typeName := rapid.SampledFrom(slices.Sorted(maps.Keys(actions))).Draw(t, "type")
		r := nexusv1.ResourcePart{Name: name, Type: typeName, Properties: raw(`{"Name":"{name}"}`)}
		for _, other := range out {
			if rapid.Bool().Draw(t, "uses") {
				r.Uses = append(r.Uses, nexusv1.PartName(other.Name))
			}
		}
		if list := rapid.SliceOfNDistinct(rapid.SampledFrom(actions[typeName]), 0, 4, func(a nexusv1.PartAction) nexusv1.PartAction { return a }).Draw(t, "actions"); len(list) > 0 {
			r.Access = &nexusv1.PartAccess{Actions: list}
		}
		if rapid.Bool().Draw(t, "exports") {
			r.Exports = map[string]nexusv1.ExportedValue{strings.ToUpper(strings.ReplaceAll(name, "-", "_")): rapid.SampledFrom([]nexusv1.ExportedValue{"arn", "id", "properties.Name"}).Draw(t, "value")}
		}
		out = append(out, r)
	}
	return out
}

// arnOfType is the ARN of a resource of a type that anyResources draws.
func arnOfType(typeName, name string) string {
	forms := map[string]string{vectorType: "s3vectors:%s:bucket/%s", "AWS::Kinesis::Stream": "kinesis:%s:stream/%s", "AWS::Logs::LogGroup": "logs:%s:log-group:%s:*",
		"AWS::SQS::Queue": "sqs:%s:%s", "AWS::Cassandra::Table": "cassandra:%s:/keyspace/ours/table/%s"}
	return fmt.Sprintf("arn:aws:"+forms[typeName], "eu-central-1:123456789012", name)
}

// No role has a right to more than a proven resource and its sub-resources.
func TestResources_NoRoleHasAWildcardResource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		list := anyResources(t)
		withResources(list...)(c)
		c.Spec.Region, c.Spec.DataServices.Bedrock, c.Spec.AI = "", nil, nil // which need a boundary
		f := facts()
		f.Provider.Region, f.Owned = "eu-central-1", map[string]capability.Proof{}
		f = capability.Expect(f, c, func(string) bool { return false })
		proven := map[string]bool{}
		for id, p := range f.Owned {
			if _, name, _ := strings.Cut(id, "/"); strings.HasPrefix(id, "AWSResource/") {
				part := list[slices.IndexFunc(list, func(r nexusv1.ResourcePart) bool { return capability.NamesOf(c).Of(r.Name) == name })]
				p.ARN = arnOfType(part.Type, name)
				f.Owned[id] = p
				proven[strings.TrimSuffix(p.ARN, ":*")] = true
			}
		}
		for _, r := range list {
			id := "AWSResource/" + capability.NamesOf(c).Of(r.Name)
			p := f.Owned[id]
			p.Values = map[string]string{}
			for variable := range r.Exports {
				p.Values[variable] = "value"
			}
			f.Owned[id] = p
		}
		g, err := capability.Compile(c, f)
		if s, stalled := status.AsStalled(err); stalled && s.Field == "spec.identity.extraPolicyStatements" {
			t.Skip("more than AWS allows in a role")
		} else if err != nil {
			t.Fatalf("%v", err)
		}
		for _, role := range ofKind(g, "IAMRole") {
			for _, document := range policies(t, role) {
				for _, s := range document.Statement {
					checkReach(t, s, proven, strings.HasSuffix(role.GetName(), "-app-role"))
				}
			}
		}
	})
}

// checkReach requires that a statement names whole resources of one account, or their sub-resources. In the role of the workloads, all
// resources of declared actions must be proven.
func checkReach(t fatal, s iampolicy.Statement, proven map[string]bool, ofWorkloads bool) {
	t.Helper()
	for _, action := range s.Action {
		if strings.ContainsAny(action, "*?") {
			t.Fatalf("an action has a wildcard: %v", s)
		}
	}
	for _, resource := range s.Resource {
		whole, _, wild := strings.Cut(resource, "*")
		known := slices.ContainsFunc(slices.Collect(maps.Keys(proven)), func(arn string) bool {
			return resource == arn || strings.HasPrefix(resource, arn+"/") || strings.HasPrefix(resource, arn+":")
		})
		byService := slices.ContainsFunc([]string{"s3vectors:", "kinesis:", "logs:", "cassandra:"}, func(service string) bool { return strings.HasPrefix(s.Action[0], service) })
		if resource == "*" || ofWorkloads && (byService && !known || wild && !known && !strings.HasPrefix(whole, "arn:aws:s3:::") && len(s.Condition) == 0) {
			t.Fatalf("%v reaches %s", s.Action, resource)
		}
	}
}

// The table of kinds is that of the catalog, and a kind that is not in it is refused with a reason.
func TestResourceKinds_AreThoseOfTheCatalog(t *testing.T) {
	lines := []string{}
	for _, k := range catalog.Kinds() {
		meta := k.Meta()
		if reason := parts.All.FactsOf(k.Name()).Refusal; meta.Facts.Declarable == (reason != "") {
			t.Errorf("%s is declarable: %v, and refused because it %q", k.Name(), meta.Facts.Declarable, reason)
		}
		if meta.Facts.Declarable {
			lines = append(lines, fmt.Sprintf("%s %s %s\n", k.Name(), meta.Facts.Schemas.Types[0], map[bool]string{false: "no-store", true: "store"}[meta.HoldsData]))
		}
	}
	slices.Sort(lines)
	golden.Check(t, "../parts/resources/kinds.txt", strings.Join(lines, ""))
}
