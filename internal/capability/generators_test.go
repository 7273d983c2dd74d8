// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// anyNames draws legal pairs of capabilityName and environment. Many are made of few words, and some words are parts of derived names, so
// that the names of two of them come as close as they can.
func anyNames() *rapid.Generator[[2]string] {
	words := rapid.SampledFrom([]string{"x", "dev", "prod", "call", "data", "wxcc", "app", "role", "glue", "db", "license", "journey", "a1"})
	return rapid.Custom(func(t *rapid.T) [2]string {
		if rapid.Bool().Draw(t, "arbitrary") {
			return [2]string{
				rapid.StringMatching(`[a-z][a-z0-9-]{0,38}[a-z0-9]`).Draw(t, "cap"), rapid.StringMatching(`[a-z][a-z0-9]{0,15}`).Draw(t, "env"),
			}
		}
		name := strings.Join(rapid.SliceOfN(words, 1, 4).Draw(t, "words"), "-")
		return [2]string{name, words.Draw(t, "env")}
	}).Filter(func(n [2]string) bool {
		for _, p := range []string{"aws", "ssm", "xn--", "sthree-", "amzn-s3-demo-", "kube-"} {
			if strings.HasPrefix(n[0]+"-", p) && (p == "kube-" || strings.HasPrefix(n[0], p)) {
				return false
			}
		}
		return len(n[0])+len(n[1]) <= 41
	})
}

func purpose(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		known := rapid.SampledFrom([]string{"call-data", "license", "data", "prod-license", "journey-logs", "models", "role"}).Draw(t, "known")
		if rapid.Bool().Draw(t, "fresh") {
			return rapid.StringMatching(`[a-z]([a-z0-9-]{0,18}[a-z0-9])?`).Draw(t, "purpose")
		}
		return known
	}).Filter(func(s string) bool {
		return len(s) <= most && !strings.HasSuffix("-"+s, "-s3alias") && !strings.HasSuffix(s, "--ol-s3") && !strings.HasSuffix(s, "--x-s3") && !strings.HasSuffix(s, "--table-s3")
	})
}

func purposes(most int) *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(purpose(most), 0, 16, func(s string) string { return s })
}

func anyFlag() *rapid.Generator[*bool] { return rapid.Ptr(rapid.Bool(), true) }

// anyCapability draws legal capabilities.
func anyCapability() *rapid.Generator[*nexusv1.NexusAICapability] {
	return rapid.Custom(func(t *rapid.T) *nexusv1.NexusAICapability {
		n := anyNames().Draw(t, "names")
		c := minimal()
		c.Spec.CapabilityName, c.Spec.Environment = n[0], n[1]
		c.Name = n[0] + "-" + n[1]
		c.Namespace = rapid.SampledFrom([]string{c.Name, "team-a"}).Draw(t, "namespace")
		c.Spec.Version = rapid.StringMatching(`[0-9]\.[0-9]{1,2}(-rc\.[0-9])?`).Draw(t, "version")
		c.Spec.Region = rapid.SampledFrom([]string{"", "eu-west-1", "cn-north-1", "us-gov-west-1"}).Draw(t, "region")
		c.Spec.DeletionPolicy = rapid.SampledFrom([]nexusv1.DeletionPolicy{"", nexusv1.DeletionDelete, nexusv1.DeletionRetain, nexusv1.DeletionOrphan}).Draw(t, "deletion")
		c.Spec.Backend.DualService = anyFlag().Draw(t, "dual")
		c.Spec.Frontend.Replicas = rapid.Ptr(rapid.Int32Range(0, 9), true).Draw(t, "replicas")
		if rapid.Bool().Draw(t, "ingress") {
			c.Spec.Ingress = &nexusv1.IngressSpec{Enabled: anyFlag().Draw(t, "ingressEnabled")}
		}
		if rapid.IntRange(0, 3).Draw(t, "provider") == 0 {
			c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		}
		c.Spec.DataServices = anyData(t)
		if d := c.Spec.DataServices; d.Bedrock == nil && d.Queues == nil && d.Topics == nil && rapid.Bool().Draw(t, "ai") { // the policy of a role has room for so much
			c.Spec.AI = anyAI(t)
			anyKnowledge(t, c)
			anyRuntime(t, c, c.Spec.Region)
			anyGateway(t, c)
		} else {
			anyExisting(t, c)
		}
		for _, name := range rapid.SliceOfNDistinct(purpose(40), 0, 16, func(s string) string { return s }).Draw(t, "secrets") {
			c.Spec.Secrets = append(c.Spec.Secrets, nexusv1.SecretSpec{Name: name, Generate: &nexusv1.GenerateSpec{}})
		}
		if c.Spec.Ingress != nil && rapid.Bool().Draw(t, "host") {
			c.Spec.Ingress.Host = "app.example.com"
			if c.Spec.Ingress.HostedZoneID = rapid.SampledFrom([]string{"", "Z1D633PJN98FT9"}).Draw(t, "zone"); c.Spec.Ingress.HostedZoneID == "" {
				c.Spec.Ingress.HostedZoneName = rapid.SampledFrom([]string{"", "example.com", "app.example.com"}).Draw(t, "zone's name")
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "budget") == 0 {
			c.Spec.Budget = anyBudget(t)
		}
		c.Spec.Cognito = anySignIn(t, ingressHost(c))
		c.Spec.EnableCognito = c.Spec.Cognito != nil
		c.Spec.Security = anySecurity(t)
		anyComponents(t, c)
		anyDefaultSecrets(t, c)
		anyFields(t, &c.Spec.Backend.ComponentSpec)
		anyFields(t, &c.Spec.Frontend.ComponentSpec)
		return c
	})
}

// withoutProvider leaves out the provider, and the existing stores that need one.
func withoutProvider(c *nexusv1.NexusAICapability) {
	c.Spec.ProviderRef = nil
	d := c.Spec.DataServices
	if d.DynamoDB != nil {
		d.DynamoDB.Tables = slices.DeleteFunc(d.DynamoDB.Tables, func(t nexusv1.TableSpec) bool { return t.Existing != nil })
	}
	d.Queues = slices.DeleteFunc(d.Queues, func(q nexusv1.QueueSpec) bool { return q.Existing != nil })
	d.Roles = nil
	d.Topics = slices.DeleteFunc(d.Topics, func(t nexusv1.TopicSpec) bool { return t.Existing != nil })
}

// anyExisting adds existing stores, which need a provider.
func anyExisting(t *rapid.T, c *nexusv1.NexusAICapability) {
	if c.Spec.ProviderRef == nil || !rapid.Bool().Draw(t, "existing") {
		return
	}
	d := c.Spec.DataServices
	store := func(purpose string) *nexusv1.ExistingStore {
		return &nexusv1.ExistingStore{Name: "external-" + purpose}
	}
	const most = 16 // of a list
	if d.DynamoDB != nil && len(d.DynamoDB.Tables) < most {
		d.DynamoDB.Tables = append(d.DynamoDB.Tables, nexusv1.TableSpec{Name: "of-others", Existing: store("table")})
	}
	if len(d.Queues) < most {
		d.Queues = append(d.Queues, nexusv1.QueueSpec{Name: "of-others", Existing: store("queue")})
	}
	d.Roles = append(d.Roles, nexusv1.RoleSpec{Name: "of-others", Existing: *store("role")})
	if len(d.Topics) < most {
		d.Topics = append(d.Topics, nexusv1.TopicSpec{Name: "of-others", Existing: store("topic")})
	}
}

// anyDefaultSecrets may leave out the default secrets, except those that an access names.
func anyDefaultSecrets(t *rapid.T, c *nexusv1.NexusAICapability) {
	c.Spec.DefaultSecrets = rapid.SampledFrom([]nexusv1.DefaultSecrets{"", nexusv1.DefaultSecretsAll, nexusv1.DefaultSecretsNone}).Draw(t, "default secrets")
	listNamedSecrets(c)
}

// listNamedSecrets lists the default secrets that an access names, where they are left out otherwise.
func listNamedSecrets(c *nexusv1.NexusAICapability) {
	if c.Spec.DefaultSecrets != nexusv1.DefaultSecretsNone {
		return
	}
	const named = 4 // by the accesses at most
	c.Spec.Secrets = c.Spec.Secrets[:min(len(c.Spec.Secrets), 16-named)]
	for _, name := range accessNames(c) {
		purpose := strings.TrimPrefix(string(name), "secrets/")
		is := func(s nexusv1.SecretSpec) bool { return s.Name == purpose }
		if slices.Contains(sixSecrets, purpose) && !slices.ContainsFunc(c.Spec.Secrets, is) {
			c.Spec.Secrets = append(c.Spec.Secrets, nexusv1.SecretSpec{Name: purpose})
		}
	}
}

// accessNames returns all names in the accesses of a capability.
func accessNames(c *nexusv1.NexusAICapability) (out []nexusv1.AccessName) {
	lists := []*[]nexusv1.AccessName{c.Spec.Frontend.Access, c.Spec.Backend.Access}
	for _, n := range c.Spec.Components {
		lists = append(lists, n.Access)
	}
	if c.Spec.AI != nil {
		for _, r := range c.Spec.AI.AgentRuntimes {
			lists = append(lists, &r.Access)
		}
	}
	for _, list := range lists {
		if list != nil {
			out = append(out, *list...)
		}
	}
	return out
}

// anyComponents adds up to four components with accesses that list default secrets.
func anyComponents(t *rapid.T, c *nexusv1.NexusAICapability) {
	most := min(57-len(c.Spec.CapabilityName)-len(c.Spec.Environment), 40)
	for _, name := range rapid.SliceOfNDistinct(purpose(most), 0, 4, rapid.ID).Draw(t, "components") {
		n := nexusv1.NamedComponentSpec{Name: name, ComponentSpec: nexusv1.ComponentSpec{Image: "component:1"}}
		anyFields(t, &n.ComponentSpec)
		n.Routes, n.Probes = nil, nil
		if rapid.Bool().Draw(t, "worker") {
			n.Type, n.Service = nexusv1.ComponentWorker, nil
		} else if rapid.Bool().Draw(t, "routed") {
			n.Routes = &[]nexusv1.Route{{Path: "/" + name}}
		}
		n.Access = anyAccess(t)
		c.Spec.Components = append(c.Spec.Components, n)
	}
	c.Spec.Frontend.Access = anyAccess(t)
}

// anyAccess draws no access, an empty one, or one of secrets.
func anyAccess(t *rapid.T) *[]nexusv1.AccessName {
	if rapid.Bool().Draw(t, "everything") {
		return nil
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]nexusv1.AccessName{"openai", "secrets/license", "license", "api-keys"}), 0, 4, rapid.ID).Draw(t, "access")
	return &names
}

// anyFields sets some of the groups of fields of a component.
func anyFields(t *rapid.T, c *nexusv1.ComponentSpec) {
	for _, set := range componentFields {
		if rapid.Bool().Draw(t, "fields") {
			set(c)
		}
	}
}

func anySecurity(t *rapid.T) *nexusv1.SecuritySpec {
	if rapid.Bool().Draw(t, "insecure") {
		return nil
	}
	s := &nexusv1.SecuritySpec{}
	for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9]{1,9}(-[a-z0-9]{1,9})?([.][a-z0-9]{1,9})?`), 0, 16, rapid.ID).Draw(t, "intents") {
		switch at := rapid.SampledFrom([]nexusv1.Component{"", nexusv1.ComponentFrontend, nexusv1.ComponentBackend, "each"}).Draw(t, "component"); at {
		case "each":
			s.Intents = append(s.Intents, nexusv1.IntentReference{Name: name, Component: nexusv1.ComponentFrontend},
				nexusv1.IntentReference{Name: name, Component: nexusv1.ComponentBackend})
		default:
			s.Intents = append(s.Intents, nexusv1.IntentReference{Name: name, Component: at})
		}
	}
	return s
}

func ingressHost(c *nexusv1.NexusAICapability) string {
	if c.Spec.Ingress == nil {
		return ""
	}
	return c.Spec.Ingress.Host
}

// anySignIn draws a sign-in on hosts of its own or on that of the ingress; nil for none.
func anySignIn(t *rapid.T, host string) *nexusv1.CognitoSpec {
	if rapid.Bool().Draw(t, "no sign-in") {
		return nil
	}
	urls := []nexusv1.SignInURL{"https://a.example.com/callback", "https://b.example.com", "http://localhost:3000/callback"}
	if host != "" {
		urls = append(urls, "/callback", "/")
	}
	return &nexusv1.CognitoSpec{
		CallbackURLs: rapid.SliceOfNDistinct(rapid.SampledFrom(urls), 1, 3, rapid.ID).Draw(t, "callbacks"),
		LogoutURLs:   rapid.SliceOfNDistinct(rapid.SampledFrom(urls), 0, 3, rapid.ID).Draw(t, "logouts"),
		Groups:       rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) nexusv1.UserGroup { return nexusv1.UserGroup(purpose(20).Draw(t, "group")) }), 0, 3, rapid.ID).Draw(t, "groups"),
		DomainPrefix: rapid.SampledFrom([]string{"sign-in", "example"}).Draw(t, "prefix"),
	}
}

func anyData(t *rapid.T) *nexusv1.DataServicesSpec {
	d := &nexusv1.DataServicesSpec{}
	if rapid.Bool().Draw(t, "dynamodb") {
		d.DynamoDB = &nexusv1.DynamoDBSpec{Enabled: anyFlag().Draw(t, "dynamodbEnabled")}
		for _, name := range purposes(40).Draw(t, "tables") {
			d.DynamoDB.Tables = append(d.DynamoDB.Tables, nexusv1.TableSpec{Name: name})
		}
	}
	hasCallData := false
	if rapid.Bool().Draw(t, "s3") {
		d.S3 = &nexusv1.S3Spec{Enabled: anyFlag().Draw(t, "s3Enabled")}
		for _, name := range purposes(20).Draw(t, "buckets") {
			d.S3.Buckets = append(d.S3.Buckets, nexusv1.BucketSpec{Name: name})
			hasCallData = hasCallData || name == "call-data"
		}
		hasCallData = (hasCallData || len(d.S3.Buckets) == 0) && (d.S3.Enabled == nil || *d.S3.Enabled)
	}
	if hasCallData && rapid.Bool().Draw(t, "glue") {
		d.Glue = &nexusv1.GlueSpec{Crawler: &nexusv1.CrawlerSpec{Enabled: anyFlag().Draw(t, "crawler")}}
	}
	if rapid.Bool().Draw(t, "bedrock") {
		d.Bedrock = anyBedrock(t)
	}
	if rapid.Bool().Draw(t, "kms") {
		d.KMS = &nexusv1.KMSSpec{Enabled: anyFlag().Draw(t, "kmsEnabled"), Rotation: anyFlag().Draw(t, "rotation")}
	}
	if rapid.Bool().Draw(t, "messages") {
		d.Queues = anyQueues(t)
		d.Topics = anyTopics(t, d.Queues)
	}
	return d
}

// anyTopics draws a few topics, which send to some of the queues.
func anyTopics(t *rapid.T, queues []nexusv1.QueueSpec) []nexusv1.TopicSpec {
	var out []nexusv1.TopicSpec
	for _, name := range rapid.SliceOfNDistinct(purpose(40), 0, 3, rapid.ID).Draw(t, "topics") {
		topic := nexusv1.TopicSpec{Name: name, FIFO: rapid.Bool().Draw(t, "fifo")}
		for _, q := range queues {
			if (topic.FIFO || !q.FIFO) && rapid.Bool().Draw(t, "subscribes") {
				topic.SubscribeQueues = append(topic.SubscribeQueues, nexusv1.QueueName(q.Name))
			}
		}
		out = append(out, topic)
	}
	return out
}

// anyQueues draws a few queues: the policies of a role have room for the longest lists of some stores, and not of all.
func anyQueues(t *rapid.T) []nexusv1.QueueSpec {
	var out []nexusv1.QueueSpec
	one := purpose(28).Filter(func(s string) bool { return !strings.HasSuffix(s, "-dlq") })
	for _, name := range rapid.SliceOfNDistinct(one, 0, 4, rapid.ID).Draw(t, "queues") {
		q := nexusv1.QueueSpec{Name: name, FIFO: rapid.Bool().Draw(t, "fifo"), ForceDestroy: rapid.Bool().Draw(t, "forceDestroy"),
			VisibilityTimeoutSeconds: rapid.Ptr(rapid.Int32Range(0, 43200), true).Draw(t, "visibility"),
			MessageRetentionSeconds:  rapid.Ptr(rapid.Int32Range(60, 1209600), true).Draw(t, "retention")}
		if rapid.Bool().Draw(t, "deadLetter") {
			q.DeadLetter = &nexusv1.DeadLetterSpec{MaxReceiveCount: rapid.Ptr(rapid.Int32Range(1, 1000), true).Draw(t, "receives")}
		}
		out = append(out, q)
	}
	return out
}

// foundationModels are such that one begins like another.
var foundationModels = []string{"amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0:300k", "amazon.nova-l", "meta.llama3-1-8b-instruct-v1:0", "cohere.embed-english-v3"}

// profiles lead to the model.
func profiles(model string) []string {
	return []string{"", "", "us." + model, "global." + model, "us-gov." + model, "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"}
}

func anyBedrock(t *rapid.T) *nexusv1.BedrockSpec {
	b := &nexusv1.BedrockSpec{Region: "us-east-1"}
	for _, name := range purposes(40).Draw(t, "models") {
		model := rapid.SampledFrom(foundationModels).Draw(t, "model")
		b.Models = append(b.Models, nexusv1.BedrockModel{Name: name, ModelID: model, InferenceProfile: rapid.SampledFrom(profiles(model)).Draw(t, "profile")})
	}
	for _, name := range purposes(40).Draw(t, "knowledgeBases") {
		b.KnowledgeBases = append(b.KnowledgeBases, nexusv1.BedrockKnowledgeBase{Name: name, ID: rapid.StringMatching(`[0-9A-Z]{10}`).Draw(t, "id")})
	}
	for _, name := range purposes(40).Draw(t, "guardrails") {
		b.Guardrails = append(b.Guardrails, nexusv1.BedrockGuardrail{Name: name, ID: rapid.StringMatching(`[a-z0-9]{1,12}`).Draw(t, "id"),
			Version: rapid.SampledFrom([]string{"", "1", "DRAFT"}).Draw(t, "version")})
	}
	return b
}
