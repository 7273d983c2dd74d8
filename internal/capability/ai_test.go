// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// withAI declares parts of an AI application.
func withAI(edits ...func(*nexusv1.AISpec)) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		if c.Spec.AI == nil {
			c.Spec.AI = &nexusv1.AISpec{}
		}
		for _, edit := range edits {
			edit(c.Spec.AI)
		}
	}
}

func knowledge(ai *nexusv1.AISpec) {
	ai.VectorStores = []nexusv1.VectorStoreSpec{{Name: "knowledge", Indexes: []nexusv1.VectorIndexSpec{{Name: "passages", Dimension: 1024}, {Name: "images", Dimension: 512}}}}
}

func safety(ai *nexusv1.AISpec) { ai.Guardrails = []nexusv1.GuardrailSpec{{Name: "safety"}} }

func chat(ai *nexusv1.AISpec) {
	ai.InferenceProfiles = []nexusv1.InferenceProfileSpec{{Name: "chat", ModelID: "amazon.nova-lite-v1:0", SystemProfile: "eu.amazon.nova-lite-v1:0"}}
}

func sessions(ai *nexusv1.AISpec) {
	ai.Memory = []nexusv1.MemorySpec{{Name: "sessions", Strategies: []nexusv1.MemoryStrategy{"Summary", "Semantic"}}}
}

// formsOfAI are the beginnings of the ARNs of the types that AI parts become, after service, region and account.
var formsOfAI = map[string]string{
	vectorType: "s3vectors:bucket/", "AWS::S3Vectors::Index": "s3vectors:bucket/store/index/",
	"AWS::Bedrock::Guardrail": "bedrock:guardrail/", "AWS::Bedrock::GuardrailVersion": "bedrock:guardrail/",
	"AWS::Bedrock::ApplicationInferenceProfile": "bedrock:application-inference-profile/",
	"AWS::BedrockAgentCore::Memory":             "bedrock-agentcore:memory/", "AWS::BedrockAgentCore::Runtime": "bedrock-agentcore:runtime/",
	"AWS::BedrockAgentCore::Gateway": "bedrock-agentcore:gateway/", "AWS::BedrockAgentCore::GatewayTarget": "bedrock-agentcore:gateway/",
	"AWS::Bedrock::KnowledgeBase": "bedrock:knowledge-base/", "AWS::Bedrock::DataSource": "bedrock:knowledge-base/",
}

// valuesOfAI returns the variables of the AI parts of a capability with values that AWS assigns.
func valuesOfAI(c *nexusv1.NexusAICapability) map[string]string {
	out := map[string]string{}
	set := func(variable, name string) {
		out[variable+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))] = "assigned-to-" + name
	}
	if c.Spec.AI == nil {
		return out
	}
	for _, s := range c.Spec.AI.VectorStores {
		for _, index := range s.Indexes {
			set("NEXUS_VECTOR_INDEX_ARN_", s.Name+"-"+index.Name)
		}
	}
	for _, g := range c.Spec.AI.Guardrails {
		set("NEXUS_BEDROCK_GUARDRAIL_", g.Name)
		set("NEXUS_BEDROCK_GUARDRAILVERSION_", g.Name)
	}
	for _, p := range c.Spec.AI.InferenceProfiles {
		set("NEXUS_BEDROCK_MODEL_", p.Name)
	}
	for _, m := range c.Spec.AI.Memory {
		set("NEXUS_MEMORY_ID_", m.Name)
	}
	for _, g := range c.Spec.AI.Gateways {
		set("NEXUS_GATEWAY_URL_", g.Name)
	}
	for _, r := range c.Spec.AI.AgentRuntimes {
		set("NEXUS_AGENT_RUNTIME_ARN_", r.Name)
	}
	for _, kb := range c.Spec.AI.KnowledgeBases {
		set("NEXUS_BEDROCK_KNOWLEDGE_BASE_", kb.Name)
		set("NEXUS_BEDROCK_DATA_SOURCE_", kb.Name)
	}
	return out
}

// Each component has exactly the actions on the parts that its access names, and their variables.
func TestAI_ComponentsReachTheNamedParts(t *testing.T) {
	c := minimal(withAI(knowledge, safety, chat, sessions), with("agent", access("sessions", "guardrails/safety", "chat")), with("search", access("vectorStores/knowledge")), with("web", access()))
	g := compile(t, c, facts())
	const (
		index    = "arn:aws:s3vectors:eu-central-1:123456789012:bucket/store/index/myapp-dev-knowledge-passages"
		bucket   = "arn:aws:s3vectors:eu-central-1:123456789012:bucket/myapp-dev-knowledge"
		rail     = "arn:aws:bedrock:eu-central-1:123456789012:guardrail/myapp-dev-safety"
		profile  = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/myapp-dev-chat"
		memory   = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:memory/myapp-dev-sessions"
		model    = "arn:aws:bedrock:eu-north-1::foundation-model/amazon.nova-lite-v1:0"
		ofOthers = "-of-others"
	)
	for component, reaches := range map[string]struct{ agent, search bool }{"backend": {true, true}, "agent": {agent: true}, "search": {search: true}, "web": {}} {
		role := roleOf(c, component)
		documents := policies(t, object(t, g, "IAMRole/"+role))
		for _, r := range []struct {
			action, resource, through string
			may                       bool
		}{
			{"s3vectors:QueryVectors", index, "", reaches.search}, {"s3vectors:PutVectors", index, "", reaches.search}, {"s3vectors:ListIndexes", bucket, "", reaches.search},
			{"s3vectors:QueryVectors", index + ofOthers, "", false}, {"s3vectors:DeleteIndex", index, "", false}, {"s3vectors:DeleteVectorBucket", bucket, "", false},
			{"bedrock:ApplyGuardrail", rail, "", reaches.agent}, {"bedrock:ApplyGuardrail", rail + ofOthers, "", false}, {"bedrock:UpdateGuardrail", rail, "", false},
			{"bedrock:InvokeModel", profile, "", reaches.agent}, {"bedrock:InvokeModel", model, profile, reaches.agent}, {"bedrock:InvokeModelWithResponseStream", model, profile, reaches.agent},
			{"bedrock:InvokeModel", model, "", false}, {"bedrock:InvokeModel", model, profile + ofOthers, false},
			{"bedrock:DeleteInferenceProfile", profile, "", false},
			{"bedrock-agentcore:CreateEvent", memory, "", reaches.agent}, {"bedrock-agentcore:RetrieveMemoryRecords", memory, "", reaches.agent},
			{"bedrock-agentcore:ListEvents", memory + ofOthers, "", false}, {"bedrock-agentcore:DeleteMemory", memory, "", false}, {"bedrock-agentcore:UpdateMemory", memory, "", false},
		} {
			if got := granted(t, documents, request{r.action, r.resource, r.through}); got != r.may {
				t.Errorf("%s: %s on %s through %q: %v", component, r.action, r.resource, r.through, got)
			}
		}
		settings := "ConfigMap/" + strings.TrimSuffix(role, "role") + "config"
		if component == "backend" {
			settings = "ConfigMap/" + capability.NamesOf(c).ConfigMap()
		}
		data := at(t, object(t, g, settings), "data").(map[string]any)
		for variable, has := range map[string]bool{"NEXUS_VECTOR_BUCKET_KNOWLEDGE": reaches.search, "NEXUS_VECTOR_INDEX_ARN_KNOWLEDGE_PASSAGES": reaches.search,
			"NEXUS_BEDROCK_GUARDRAIL_SAFETY": reaches.agent, "NEXUS_BEDROCK_GUARDRAILVERSION_SAFETY": reaches.agent, "NEXUS_BEDROCK_MODEL_CHAT": reaches.agent, "NEXUS_MEMORY_ID_SESSIONS": reaches.agent} {
			if _, got := data[variable]; got != has {
				t.Errorf("%s: %s is set: %v", component, variable, got)
			}
		}
	}
}

// Roles get no right before a resource is proven, and then actions that AWS limits to the resource.
func TestAI_ActionsCanBeLimitedAndFollowProof(t *testing.T) {
	c := minimal(withAI(knowledge, safety, chat, sessions))
	if rights := rightsOf(t, builtWith(t, c, bounded(c, facts())), roleOf(c, "backend")); slices.ContainsFunc(slices.Collect(maps.Keys(rights)), func(action string) bool {
		return strings.HasPrefix(action, "s3vectors:") || strings.HasPrefix(action, "bedrock")
	}) {
		t.Errorf("%v", rights)
	}
	types := map[string]string{"s3vectors:bucket": vectorType, "index": "AWS::S3Vectors::Index", "guardrail": "AWS::Bedrock::Guardrail", "memory": "AWS::BedrockAgentCore::Memory"}
	checked := 0
	for action, resources := range rightsOf(t, compile(t, c, facts()), roleOf(c, "backend")) {
		for mark, typeName := range types {
			for _, resource := range resources {
				if !strings.HasPrefix(action, "s3vectors:") && !strings.HasPrefix(action, "bedrock") || !strings.Contains(resource, mark+"/") || mark == "s3vectors:bucket" {
					continue
				}
				grants, known, err := awsschema.GrantsOf(typeName)
				if why := grants.WhyNot(action); err != nil || !known || why != "" {
					t.Errorf("%s on %s %s: %v", action, resource, why, err)
				}
				checked++
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d actions", checked)
	}
}

// While the account is not known, as when a person deleted the generated AWSProvider, nothing is refused, and the roles stay as they are: a
// refused capability would never create its provider again.
func TestAI_WithoutAnAccountTheRolesStay(t *testing.T) {
	c := example(t, "agent.yaml")
	f := bounded(c, facts())
	f.Owned = everything(t, builtWith(t, c, f), c, f)
	for id, p := range f.Owned {
		p.Settled = true
		f.Owned[id] = p
	}
	if _, err := capability.Compile(c, f); err != nil {
		t.Fatal(err)
	}
	f.Provider.Account = ""
	g, err := capability.Compile(c, f)
	if err != nil {
		t.Fatal(err)
	}
	role := object(t, g, "IAMRole/"+roleOf(c, "agent"))
	if text := fmt.Sprint(role.Object); !strings.Contains(text, "<known after AWSProvider/agent-dev>") {
		t.Errorf("%s", text)
	}
}

// A part that is as declared without an ARN is refused, also where no component may use everything.
func TestAI_WithoutAnARNIsRefused(t *testing.T) {
	c := example(t, "agent.yaml")
	f := bounded(c, facts())
	f.Owned = everything(t, builtWith(t, c, f), c, f)
	const memory = "AWSResource/agent-dev-sessions"
	p := f.Owned[memory]
	p.ARN, p.Settled = strings.Replace(p.ARN, ":memory/", ":other/", 1), true
	f.Owned[memory] = p
	_, err := capability.Compile(c, f)
	if s, ok := status.AsStalled(err); !ok || s.Field != "spec.ai.memory[0]" || !strings.Contains(s.Message, memory) {
		t.Errorf("%v", err)
	}
}

// An edit of a guardrail makes another version, which comes after the guardrail; text of people stays as it is.
func TestAI_AGuardrailHasAVersionOfItsContents(t *testing.T) {
	version := func(edit func(*nexusv1.GuardrailPolicySpec)) string {
		c := minimal(withAI(safety))
		edit(&c.Spec.AI.Guardrails[0].Create)
		g := builtWith(t, c, bounded(c, facts()))
		for _, o := range ofKind(g, "AWSResource") {
			if at(t, o, "spec", "typeName") != "AWS::Bedrock::GuardrailVersion" {
				continue
			}
			n, _ := g.Node("AWSResource/" + o.GetName())
			if !slices.Contains(n.After, graph.Edge{To: "AWSResource/myapp-dev-safety", Need: graph.Ready}) {
				t.Errorf("%s comes after %v", n.ID, n.After)
			}
			if used := capability.UsersOf(c, "AWSResource", "myapp-dev-safety"); !slices.Equal(used, []string{n.ID}) {
				t.Errorf("the guardrail is used by %v", used)
			}
			return o.GetName()
		}
		t.Fatal("no version")
		return ""
	}
	before := version(func(*nexusv1.GuardrailPolicySpec) {})
	if again := version(func(p *nexusv1.GuardrailPolicySpec) { p.ContentFilters = "HIGH" }); again != before {
		t.Errorf("the default is another version: %s, %s", before, again)
	}
	if after := version(func(p *nexusv1.GuardrailPolicySpec) { p.BlockedWords = []nexusv1.BlockedWord{"{name}"} }); after == before {
		t.Errorf("an edit keeps the version %s", after)
	}
	c := minimal(withAI(safety), func(c *nexusv1.NexusAICapability) {
		c.Spec.AI.Guardrails[0].Create.BlockedWords = []nexusv1.BlockedWord{"{name}"}
	})
	if text := mustJSON(t, object(t, builtWith(t, c, bounded(c, facts())), "AWSResource/myapp-dev-safety").Object); !strings.Contains(text, `"Text":"{name}"`) {
		t.Errorf("%s", text)
	}
}

// Where data is retained, a guardrail is kept, and its versions are not: each edit makes one, and AWS allows 20.
func TestAI_FormerVersionsAreNotRetained(t *testing.T) {
	c := minimal(withAI(safety), func(c *nexusv1.NexusAICapability) { c.Spec.Environment = "prod" })
	for _, o := range ofKind(compile(t, c, facts()), "AWSResource") {
		want := map[bool]string{true: "Delete", false: "Retain"}[strings.Contains(o.GetName(), "-version-")]
		if policy := at(t, o, "spec", "deletionPolicy"); policy != want {
			t.Errorf("%s: %v, want %s", o.GetName(), policy, want)
		}
	}
}

// Names that AWS does not allow are shortened, and stay different.
func TestAI_LongNamesFit(t *testing.T) {
	long := strings.Repeat("x", 36)
	c := minimal(withAI(func(ai *nexusv1.AISpec) {
		for _, end := range []string{"-a", "-b", "--c"} {
			ai.Memory = append(ai.Memory, nexusv1.MemorySpec{Name: "m" + long + end})
			ai.Guardrails = append(ai.Guardrails, nexusv1.GuardrailSpec{Name: "g" + long + end})
			ai.InferenceProfiles = append(ai.InferenceProfiles, nexusv1.InferenceProfileSpec{Name: "p" + long + end, ModelID: "amazon.nova-lite-v1:0"})
		}
	}), func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "the--longest-name-that-there-is" })
	most := map[string]int{"AWS::BedrockAgentCore::Memory": 48, "AWS::Bedrock::Guardrail": 50, "AWS::Bedrock::ApplicationInferenceProfile": 64}
	field := map[string]string{"AWS::Bedrock::ApplicationInferenceProfile": "InferenceProfileName"}
	seen := map[string]bool{}
	for _, o := range ofKind(builtWith(t, c, bounded(c, facts())), "AWSResource") {
		typeName := at(t, o, "spec", "typeName").(string)
		if most[typeName] == 0 {
			continue
		}
		name := at(t, o, "spec", "properties", cmp.Or(field[typeName], "Name")).(string)
		if len(name) > most[typeName] || strings.Contains(name, "--") || seen[name] {
			t.Errorf("%s has the name %s", typeName, name)
		}
		seen[name] = true
	}
	if len(seen) != 9 {
		t.Errorf("%v", seen)
	}
}

func TestAI_IsRefusedByItsFields(t *testing.T) {
	store := func(edit func(*nexusv1.VectorIndexSpec)) func(*nexusv1.AISpec) {
		return func(ai *nexusv1.AISpec) { knowledge(ai); edit(&ai.VectorStores[0].Indexes[0]) }
	}
	for name, k := range map[string]struct {
		edit        func(*nexusv1.AISpec)
		field, text string
	}{
		"no dimension":         {store(func(i *nexusv1.VectorIndexSpec) { i.Dimension = 0 }), "vectorStores[0].indexes[0].dimension", "greater than or equal to 1"},
		"a large dimension":    {store(func(i *nexusv1.VectorIndexSpec) { i.Dimension = 4097 }), "vectorStores[0].indexes[0].dimension", "less than or equal to 4096"},
		"another metric":       {store(func(i *nexusv1.VectorIndexSpec) { i.DistanceMetric = "dot" }), "vectorStores[0].indexes[0].distanceMetric", `supported values: "cosine", "euclidean"`},
		"the same index":       {store(func(i *nexusv1.VectorIndexSpec) { i.Name = "images" }), "vectorStores[0].indexes[1]", "Duplicate value"},
		"no index":             {func(ai *nexusv1.AISpec) { ai.VectorStores = []nexusv1.VectorStoreSpec{{Name: "a"}} }, "vectorStores[0].indexes", "Required value"},
		"a short index":        {store(func(i *nexusv1.VectorIndexSpec) { i.Name = "ab" }), "vectorStores[0].indexes[0].name", "at least 3"},
		"a taken name":         {func(ai *nexusv1.AISpec) { sessions(ai); ai.Memory[0].Name = "license" }, "memory[0].name", "another part"},
		"a name twice":         {func(ai *nexusv1.AISpec) { sessions(ai); safety(ai); ai.Memory[0].Name = "safety" }, "memory[0].name", "another part"},
		"the name of an index": {func(ai *nexusv1.AISpec) { knowledge(ai); sessions(ai); ai.Memory[0].Name = "knowledge-images" }, "memory[0].name", "another part"},
		"nothing to block":     {func(ai *nexusv1.AISpec) { safety(ai); ai.Guardrails[0].Create.ContentFilters = "NONE" }, "guardrails[0].create", "blocks something"},
		"a strength":           {func(ai *nexusv1.AISpec) { safety(ai); ai.Guardrails[0].Create.ContentFilters = "MAX" }, "guardrails[0].create.contentFilters", `supported values: "NONE", "LOW"`},
		"an action": {func(ai *nexusv1.AISpec) {
			safety(ai)
			ai.Guardrails[0].Create.SensitiveInformation = []nexusv1.SensitiveInformation{{Type: "EMAIL", Action: "HIDE"}}
		}, "guardrails[0].create.sensitiveInformation[0].action", `supported values: "BLOCK", "ANONYMIZE"`},
		"no model":        {func(ai *nexusv1.AISpec) { chat(ai); ai.InferenceProfiles[0].ModelID = "nova" }, "inferenceProfiles[0].modelID", "must be the ID of a model"},
		"another profile": {func(ai *nexusv1.AISpec) { chat(ai); ai.InferenceProfiles[0].ModelID = "amazon.nova-pro-v1:0" }, "inferenceProfiles[0].systemProfile", "is a geography"},
		"few days":        {func(ai *nexusv1.AISpec) { sessions(ai); ai.Memory[0].EventExpiryDays = new(int32(2)) }, "memory[0].eventExpiryDays", "greater than or equal to 3"},
		"a strategy":      {func(ai *nexusv1.AISpec) { sessions(ai); ai.Memory[0].Strategies[0] = "Custom" }, "memory[0].strategies[0]", `supported values: "Semantic", "Summary"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, ok := status.AsStalled(capability.Validate(minimal(withData, withAI(k.edit)), bounded(minimal(withAI()), facts())))
			if !ok || s.Field != "spec.ai."+k.field || !strings.Contains(s.Message, k.text) {
				t.Errorf("%v, want spec.ai.%s: %s", s, k.field, k.text)
			}
		})
	}
	if s, ok := status.AsStalled(capability.Validate(minimal(withAI(chat)), facts())); !ok || s.Reason != status.ReasonNotPermitted || s.Field != "spec.ai.inferenceProfiles" {
		t.Errorf("without a boundary: %v", s)
	}
	if err := capability.Validate(minimal(withAI(knowledge, safety, sessions)), facts()); err != nil {
		t.Errorf("without models no boundary is needed: %v", err)
	}
}

// anyAI draws parts of an AI application.
func anyAI(t *rapid.T) *nexusv1.AISpec {
	ai := &nexusv1.AISpec{}
	names := func(kind string, most int) []string {
		return rapid.SliceOfNDistinct(rapid.StringMatching(kind+`-[a-z]{1,6}`), 0, most, rapid.ID).Draw(t, kind)
	}
	for _, name := range names("vs", 2) {
		store := nexusv1.VectorStoreSpec{Name: name, RecreateOnLoss: rapid.Bool().Draw(t, "recreate")}
		for _, index := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{3,9}`), 1, 3, rapid.ID).Draw(t, "indexes") {
			store.Indexes = append(store.Indexes, nexusv1.VectorIndexSpec{Name: index, Dimension: rapid.Int32Range(1, 4096).Draw(t, "dimension"),
				DistanceMetric: rapid.SampledFrom([]string{"", "cosine", "euclidean"}).Draw(t, "metric")})
		}
		ai.VectorStores = append(ai.VectorStores, store)
	}
	for _, name := range names("guard", 2) {
		ai.Guardrails = append(ai.Guardrails, nexusv1.GuardrailSpec{Name: name, Create: nexusv1.GuardrailPolicySpec{ContentFilters: rapid.SampledFrom([]string{"", "LOW", "HIGH"}).Draw(t, "filters")}})
	}
	for _, name := range names("memo", 2) {
		strategies := rapid.SliceOfNDistinct(rapid.SampledFrom([]nexusv1.MemoryStrategy{"Semantic", "Summary", "UserPreference", "Episodic"}), 0, 4, rapid.ID).Draw(t, "strategies")
		ai.Memory = append(ai.Memory, nexusv1.MemorySpec{Name: name, Strategies: strategies})
	}
	return ai
}

// Over all capabilities with parts of an AI application, no role reaches more than a proven resource, and no action has a wildcard.
func TestAI_NoRoleHasAWildcardResource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		c.Spec.AI, c.Spec.Region, c.Spec.DataServices.Bedrock = anyAI(t), "", nil
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`model-[a-z]{1,6}`), 0, 2, rapid.ID).Draw(t, "profiles") {
			c.Spec.AI.InferenceProfiles = append(c.Spec.AI.InferenceProfiles, nexusv1.InferenceProfileSpec{Name: name, ModelID: "amazon.nova-lite-v1:0",
				SystemProfile: rapid.SampledFrom([]string{"", "eu.amazon.nova-lite-v1:0"}).Draw(t, "system")})
		}
		anyKnowledge(t, c)
		anyRuntime(t, c, "eu-central-1")
		anyGateway(t, c)
		listNamedSecrets(c)
		f := bounded(c, facts())
		f.Provider.Region = "eu-central-1"
		g, err := capability.Compile(c, f)
		if s, stalled := status.AsStalled(err); stalled && s.Field == "spec.identity.extraPolicyStatements" {
			t.Skip("more than AWS allows in a role")
		} else if err != nil {
			t.Fatalf("%v", err)
		}
		f.Owned = everything(t, g, c, f)
		var owned []string
		for id, p := range f.Owned {
			if strings.HasPrefix(id, "AWSResource/") {
				owned = append(owned, p.ARN)
			}
		}
		for _, role := range ofKind(builtWith(t, c, f), "IAMRole") {
			for _, document := range policies(t, role) {
				for _, s := range document.Statement {
					checkReachOfAI(t, s, owned)
				}
			}
		}
	})
}

// checkReachOfAI requires whole actions, and that those of AI parts name owned resources, or a model through an owned profile.
func checkReachOfAI(t fatal, s iampolicy.Statement, owned []string) {
	t.Helper()
	for _, action := range s.Action {
		if strings.ContainsAny(action, "*?") {
			t.Fatalf("an action has a wildcard: %v", s)
		}
	}
	ofAI := strings.HasPrefix(s.Action[0], "s3vectors:") || strings.HasPrefix(s.Action[0], "bedrock")
	through := s.Condition["StringEquals"]["bedrock:InferenceProfileArn"]
	for _, resource := range s.Resource {
		model := strings.HasSuffix(resource, "::foundation-model/amazon.nova-lite-v1:0") && len(through) == 1 && slices.Contains(owned, through[0])
		model = model || s.Sid == "Embed" && strings.HasSuffix(resource, ":eu-central-1::foundation-model/"+embedding)
		model = model || ofAI && slices.Contains(owned, strings.TrimSuffix(resource, "/runtime-endpoint/DEFAULT"))
		if resource == "*" && !isImageToken(s) || ofAI && !model && !slices.Contains(owned, resource) {
			t.Fatalf("%v reaches %s", s.Action, resource)
		}
	}
}
