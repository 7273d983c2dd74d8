// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// print renders a graph as manifests, each under its place in the graph. Policy documents are unfolded,
// so that a change in one is a line in a difference.
func print(t *testing.T, g *graph.Graph) string {
	t.Helper()
	var b strings.Builder
	for _, n := range g.Nodes() {
		fmt.Fprintf(&b, "---\n# %s, step %q\n", n.ID, n.Step)
		if n.Unresolved != "" {
			fmt.Fprintf(&b, "# known after: %s\n", n.Unresolved)
		}
		for _, e := range n.After {
			fmt.Fprintf(&b, "# after: %s%s\n", e.To, map[graph.Progress]string{graph.Applied: " (applied)", graph.Present: " (present)"}[e.Need])
		}
		text, err := yaml.Marshal(unfold(n.Object.Object))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// unfold replaces every string that holds a JSON object by the parsed object.
func unfold(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = unfold(item)
		}
	case []any:
		for i, item := range v {
			v[i] = unfold(item)
		}
	case string:
		var m map[string]any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &m) == nil {
			return m
		}
	}
	return v
}

func TestCompileGivesExactlyTheseObjects(t *testing.T) {
	for _, file := range []string{"test-capability.yaml", "nexus-ai-complete.yaml"} {
		t.Run(file, func(t *testing.T) {
			golden.Check(t, file, print(t, compile(t, example(t, file), facts())))
		})
	}
}

// variants differ from examples/test-capability.yaml in one respect each.
var variants = map[string]func(c *nexusv1.NexusAICapability, f *capability.Facts){
	"dynamodb-off": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { c.Spec.DataServices.DynamoDB = nil },
	"s3-and-glue-off": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.DataServices.S3.Enabled, c.Spec.DataServices.Glue = new(false), nil
	},
	"glue-off": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { c.Spec.DataServices.Glue.Enabled = new(false) },
	"crawler-off": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.DataServices.Glue.Crawler = &nexusv1.CrawlerSpec{Enabled: new(false)}
	},
	"no-data": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { c.Spec.DataServices = nil },
	"ingress-off": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
	},
	"other-namespace": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { c.Namespace = "team-a" },
	"production-retains": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Name, c.Namespace, c.Spec.Environment, c.Spec.DeletionPolicy = "myapp-prod", "myapp-prod", "prod", ""
	},
	"account-unknown": func(_ *nexusv1.NexusAICapability, f *capability.Facts) {
		f.Provider.Account, f.Provider.Partition = "", ""
	},
	"china": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		c.Spec.Region, f.Provider.Partition = "cn-north-1", "aws-cn"
	},
	"provider-given": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		c.Spec.ProviderRef, c.Spec.Region = &nexusv1.ProviderReference{Name: "shared"}, ""
		f.Provider.Region, f.Provider.RolePath, f.Provider.Boundary = "us-east-1", "/teams/a/", "arn:aws:iam::123456789012:policy/boundary"
		c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: f.Provider.Boundary, ExtraPolicyStatements: []nexusv1.PolicyStatement{
			{Actions: []nexusv1.PolicyAction{"sqs:SendMessage"}, Resources: []nexusv1.PolicyResource{"arn:aws:sqs:us-east-1:123456789012:jobs"}},
		}}
	},
	"provider-unknown": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		c.Spec.ProviderRef, c.Spec.Region = &nexusv1.ProviderReference{Name: "shared"}, ""
		f.Provider.Account, f.Provider.Partition = "", ""
	},
	"secrets": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.Secrets = []nexusv1.SecretSpec{
			{Name: "openai", ValueFrom: &nexusv1.SecretKeySelector{Name: "keys", Key: "openai.json"}},
			{Name: "wxcc", RecreateOnLoss: true},
			{Name: "smtp", Placeholder: &nexusv1.PlaceholderSpec{Keys: []nexusv1.SecretKey{"user", "password"}}},
			{Name: "session", Generate: &nexusv1.GenerateSpec{Length: new(int32(64))}},
		}
	},
	"default-secrets-off": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.DefaultSecrets, c.Spec.Secrets = nexusv1.DefaultSecretsNone, []nexusv1.SecretSpec{{Name: "openai"}}
	},
	"stores-of-its-own": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.DriftPolicy = nexusv1.DriftReport
		c.Spec.DataServices.DynamoDB = &nexusv1.DynamoDBSpec{
			KMSKeyArn: "arn:aws:kms:ap-southeast-1:123456789012:key/k-1", RecreateOnLoss: true, PointInTimeRecovery: new(false),
			Tables: []nexusv1.TableSpec{
				{Name: "license", PointInTimeRecovery: new(true)},
				{Name: "events", HashKey: &nexusv1.KeyAttribute{Name: "id", Type: "S"}, TTL: &nexusv1.TableTTL{Enabled: true}},
			},
		}
		c.Spec.DataServices.S3 = &nexusv1.S3Spec{
			KMSKeyArn: "arn:aws:kms:ap-southeast-1:123456789012:key/k-2", ForceDestroy: true, RecreateOnLoss: true,
			Lifecycle: []nexusv1.LifecycleRule{{ID: "old", ExpirationDays: new(int32(90))}},
			Buckets: []nexusv1.BucketSpec{{Name: "call-data"}, {Name: "models", ForceDestroy: new(false), Lifecycle: []nexusv1.LifecycleRule{
				{ID: "cold", Prefix: "v1/", Transitions: []nexusv1.LifecycleTransition{{Days: 30, StorageClass: "GLACIER_IR"}}},
			}}},
		}
		c.Spec.DataServices.Glue.Crawler = &nexusv1.CrawlerSpec{Schedule: "cron(15 12 * * ? *)"}
	},
	"intents": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		intents(nexusv1.IntentReference{Name: "dns"}, forFrontend("segments"), nexusv1.IntentReference{Name: "host.escape"}, forBackend("segments"))(c)
	},
	"intents-of-one": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { intents(forBackend("dns"))(c) },
	"bedrock": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		f.Provider.Boundary = "arn:aws:iam::123456789012:policy/boundary"
		c.Spec.DataServices.Bedrock = &nexusv1.BedrockSpec{
			Region: "us-east-1",
			Models: []nexusv1.BedrockModel{
				{Name: "embed", ModelID: "amazon.titan-embed-text-v2:0"},
				{Name: "chat", ModelID: "amazon.nova-lite-v1:0", InferenceProfile: "us.amazon.nova-lite-v1:0"},
				{Name: "costed", ModelID: "amazon.nova-pro-v1:0", InferenceProfile: profileARN("us-east-1", "123456789012")},
			},
			KnowledgeBases: []nexusv1.BedrockKnowledgeBase{{Name: "handbook", ID: "KB12345678"}},
			Guardrails:     []nexusv1.BedrockGuardrail{{Name: "safety", ID: "gr0123456789", Version: "2"}, {Name: "draft", ID: "abc"}},
		}
	},
	"kms": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		d := c.Spec.DataServices
		d.KMS, d.S3.KMSKeyArn = &nexusv1.KMSSpec{}, "arn:aws:kms:ap-southeast-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
		d.Queues = []nexusv1.QueueSpec{{Name: "jobs"}}
		d.Topics = []nexusv1.TopicSpec{{Name: "news", SubscribeQueues: []nexusv1.QueueName{"jobs"}}}
	},
	"resources": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		withResources(vectors(), nexusv1.ResourcePart{Name: "images", Kind: "ECRRepository", Spec: raw(`{"repositoryName":"{name}"}`),
			Access: &nexusv1.PartAccess{Actions: []nexusv1.PartAction{"ecr:DescribeImages"}}, Uses: []nexusv1.PartName{"vectors"}})(c)
		f.Provider.Region = c.Spec.Region
	},
	"existing": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		withExisting(c)
		f.Provider.Region, f.Provider.ExternalARNs = c.Spec.Region, externals(c.Spec.Region)
		f.Limits.AllowedExternalARNs = externals(c.Spec.Region)
	},
	"ai": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		f.Provider.Boundary = "arn:aws:iam::123456789012:policy/boundary"
		c.Spec.AI = &nexusv1.AISpec{
			VectorStores: []nexusv1.VectorStoreSpec{{Name: "knowledge", RecreateOnLoss: true, Indexes: []nexusv1.VectorIndexSpec{
				{Name: "passages", Dimension: 1024, NonFilterableKeys: []nexusv1.MetadataKey{"text"}}, {Name: "images", Dimension: 4096, DistanceMetric: "euclidean"},
			}}},
			Guardrails: []nexusv1.GuardrailSpec{{Name: "safety"}, {Name: "strict", Create: nexusv1.GuardrailPolicySpec{
				ContentFilters: "NONE", DeniedTopics: []nexusv1.DeniedTopic{{Name: "law", Definition: "Advice on law, also on {name}."}},
				BlockedWords: []nexusv1.BlockedWord{"fool"}, SensitiveInformation: []nexusv1.SensitiveInformation{{Type: "EMAIL", Action: "ANONYMIZE"}},
				BlockedInputMessage: "No.",
			}}},
			InferenceProfiles: []nexusv1.InferenceProfileSpec{
				{Name: "chat", ModelID: "amazon.nova-lite-v1:0", SystemProfile: "apac.amazon.nova-lite-v1:0"}, {Name: "embed", ModelID: "amazon.titan-embed-text-v2:0"},
			},
			Memory: []nexusv1.MemorySpec{{Name: "sessions", EventExpiryDays: new(int32(30)), Strategies: []nexusv1.MemoryStrategy{"Summary", "Semantic"}}, {Name: "events"}},
		}
	},
	"budget": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		withBudget(func(b *nexusv1.BudgetSpec) { b.Emails = []nexusv1.BudgetEmail{"team@example.com"} })(c)
	},
	"queues": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.DataServices.Queues = []nexusv1.QueueSpec{
			{Name: "jobs", DeadLetter: &nexusv1.DeadLetterSpec{}, VisibilityTimeoutSeconds: new(int32(300)), ForceDestroy: true},
			{Name: "billing", FIFO: true, MessageRetentionSeconds: new(int32(3600)), DeadLetter: &nexusv1.DeadLetterSpec{MaxReceiveCount: new(int32(2))}},
		}
	},
	"sign-in": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.EnableCognito, c.Spec.Ingress = true, &nexusv1.IngressSpec{Host: "app.example.com"}
	},
	"sign-in-of-its-own": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		c.Spec.EnableCognito, f.Owned = true, map[string]capability.Proof{}
		c.Spec.Cognito = &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{"https://b.example.com/callback", "https://a.example.com/callback"},
			LogoutURLs: []nexusv1.SignInURL{"https://a.example.com/"}, Groups: []nexusv1.UserGroup{"readers"}, DomainPrefix: "sign-in", RecreateOnLoss: true}
	},
	"topics": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.DataServices.Queues = []nexusv1.QueueSpec{{Name: "mail"}, {Name: "orders", FIFO: true}}
		c.Spec.DataServices.Topics = []nexusv1.TopicSpec{
			{Name: "news", SubscribeQueues: []nexusv1.QueueName{"mail"}},
			{Name: "changes", FIFO: true, SubscribeQueues: []nexusv1.QueueName{"orders", "mail"}},
		}
	},
	"environment": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { setEnvironment(&c.Spec.Backend.ComponentSpec) },
	"placement":   func(c *nexusv1.NexusAICapability, _ *capability.Facts) { setPlacement(&c.Spec.Frontend.ComponentSpec) },
	"security":    func(c *nexusv1.NexusAICapability, _ *capability.Facts) { setSecurity(&c.Spec.Backend.ComponentSpec) },
	"scaling":     func(c *nexusv1.NexusAICapability, _ *capability.Facts) { setScaling(&c.Spec.Backend.ComponentSpec) },
	"no-budget": func(c *nexusv1.NexusAICapability, _ *capability.Facts) {
		c.Spec.Backend.PDB = &nexusv1.DisruptionBudgetSpec{Enabled: new(false)}
	},
	"balancer": func(c *nexusv1.NexusAICapability, _ *capability.Facts) { setBalancer(&c.Spec.Backend.ComponentSpec) },
	"traffic": func(c *nexusv1.NexusAICapability, f *capability.Facts) {
		f.Limits.AllowedIngressGroups = []string{"team-*"}
		c.Spec.Backend.DualService, c.Spec.Backend.Port = new(false), new(int32(9000))
		c.Spec.Frontend.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeNodePort}
		c.Spec.Frontend.Replicas = new(int32(0))
		c.Spec.Frontend.Resources = &nexusv1.ComponentResources{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
		c.Spec.Ingress = &nexusv1.IngressSpec{
			Scheme: nexusv1.SchemeInternetFacing, Host: "app.example.com", HealthCheckPath: "/healthz", GroupName: "team-a",
			CertificateArn: "arn:aws:acm:ap-southeast-1:123456789012:certificate/abc",
			Annotations: map[string]nexusv1.AnnotationValue{
				"alb.ingress.kubernetes.io/wafv2-acl-arn": "arn:acl",
			},
		}
	},
}

// TestCompileOfAVariantDiffersOnlyWhereItMust holds the difference to the objects of the example as a merge patch, so that a golden file
// shows only the effect of a field: a new default of all objects changes no file of a variant.
func TestCompileOfAVariantDiffersOnlyWhereItMust(t *testing.T) {
	base := keyed(t, compile(t, example(t, "test-capability.yaml"), facts()))
	for name, edit := range variants {
		t.Run(name, func(t *testing.T) {
			c, f := example(t, "test-capability.yaml"), facts()
			edit(c, &f)
			text, err := yaml.Marshal(patchOf(base, keyed(t, compile(t, c, f))))
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("variants", name+".yaml"), string(text))
		})
	}
}

// orderOf is the member of a keyed list with its keys in order.
const orderOf = "(order)"

// keyed returns the nodes of a graph by their IDs, with lists of objects as objects: a patch replaces lists as a whole. Another environment
// changes every name: only its other changes are of interest.
func keyed(t *testing.T, g *graph.Graph) map[string]any {
	t.Helper()
	var nodes []any
	for _, n := range g.Nodes() {
		after := map[string]any{}
		for _, e := range n.After {
			after[e.To] = map[graph.Progress]string{graph.Ready: "ready", graph.Applied: "applied", graph.Present: "present"}[e.Need]
		}
		node := map[string]any{"id": n.ID, "step": n.Step, "after": after, "object": unfold(brief(n.Object.Object))}
		if n.Unresolved != "" {
			node["known after"] = n.Unresolved
		}
		nodes = append(nodes, node)
	}
	text, err := json.Marshal(nodes)
	if err != nil {
		t.Fatal(err)
	}
	var out []any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "prod", "dev")), &out); err != nil {
		t.Fatal(err)
	}
	return byKeys(out).(map[string]any)
}

// byKeys turns a list into an object if all its elements have different names.
func byKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			v[name] = byKeys(item)
		}
	case []any:
		out, order := map[string]any{}, []any{}
		for _, item := range v {
			key := keyIn(item)
			if _, taken := out[key]; key == "" || taken {
				return v
			}
			out[key], order = byKeys(item), append(order, key)
		}
		if len(v) > 0 {
			out[orderOf] = order
			return out
		}
	}
	return v
}

// keyIn returns the name of an element of a list; "" for one without.
func keyIn(item any) string {
	object, _ := item.(map[string]any)
	for _, member := range []string{"id", "Sid", "name", "policyName", "path", "topologyKey"} {
		if key, is := object[member].(string); is {
			return key
		}
	}
	return ""
}

// patchOf returns the merge patch that makes want of have. An order is there only where elements of both have another one.
func patchOf(have, want map[string]any) map[string]any {
	out := map[string]any{}
	for name := range have {
		if _, stays := want[name]; !stays {
			out[name] = nil
		}
	}
	for name, value := range want {
		was, had := have[name]
		if name == orderOf {
			if !had || !inSameOrder(was.([]any), value.([]any)) {
				out[name] = value
			}
			continue
		}
		before, isObject := was.(map[string]any)
		after, stays := value.(map[string]any)
		switch {
		case isObject && stays:
			if patch := patchOf(before, after); len(patch) > 0 {
				out[name] = patch
			}
		case !had || !reflect.DeepEqual(was, value):
			out[name] = value
		}
	}
	return out
}

// inSameOrder reports whether the common elements of two lists are in the same order.
func inSameOrder(a, b []any) bool {
	common := func(list, other []any) []any {
		return slices.DeleteFunc(slices.Clone(list), func(key any) bool { return !slices.Contains(other, key) })
	}
	return slices.Equal(common(a, b), common(b, a))
}

// brief removes the labels and owners that every object has: TestEveryObjectCarriesItsOwnerAndLabels checks them.
func brief(o map[string]any) map[string]any {
	unstructured.RemoveNestedField(o, "metadata", "labels")
	unstructured.RemoveNestedField(o, "metadata", "ownerReferences")
	unstructured.RemoveNestedField(o, "spec", "template", "metadata", "labels")
	return o
}
