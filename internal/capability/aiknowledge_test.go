// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const embedding = "amazon.titan-embed-text-v2:0"

// keysOfBedrock are the keys of metadata that an index of a knowledge base keeps out of filters.
var keysOfBedrock = []nexusv1.MetadataKey{"AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"}

// handbook declares a knowledge base over a bucket.
func handbook(edits ...func(*nexusv1.KnowledgeBaseCreateSpec)) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "documents"}, {Name: "uploads"}}}}
		kb := nexusv1.KnowledgeBaseSpec{Name: "handbook", Create: nexusv1.KnowledgeBaseCreateSpec{EmbeddingModelID: embedding,
			VectorIndex: nexusv1.VectorIndexReference{Store: "knowledge", Index: "passages"}, Source: nexusv1.KnowledgeSourceSpec{Bucket: "documents", Prefix: "handbook/"}}}
		for _, edit := range edits {
			edit(&kb.Create)
		}
		c.Spec.AI = &nexusv1.AISpec{KnowledgeBases: []nexusv1.KnowledgeBaseSpec{kb},
			VectorStores: []nexusv1.VectorStoreSpec{{Name: "knowledge", Indexes: []nexusv1.VectorIndexSpec{{Name: "passages", Dimension: 1024, NonFilterableKeys: keysOfBedrock}, {Name: "other", Dimension: 1024}}}}}
	}
}

// anyKnowledge adds a knowledge base over the first bucket of a capability, and an index for it.
func anyKnowledge(t *rapid.T, c *nexusv1.NexusAICapability) {
	d := c.Spec.DataServices
	if d == nil || d.S3 == nil || len(d.S3.Buckets) == 0 || d.S3.Buckets[0].Existing != nil || d.S3.Enabled != nil && !*d.S3.Enabled || !rapid.Bool().Draw(t, "knowledge base") {
		return
	}
	c.Spec.AI.VectorStores = append(c.Spec.AI.VectorStores, nexusv1.VectorStoreSpec{Name: "kb-vectors", Indexes: []nexusv1.VectorIndexSpec{{Name: "passages",
		Dimension: rapid.SampledFrom([]int32{256, 512, 1024}).Draw(t, "dimension"), NonFilterableKeys: keysOfBedrock}}})
	c.Spec.AI.KnowledgeBases = []nexusv1.KnowledgeBaseSpec{{Name: rapid.StringMatching(`kb-[a-z]{1,30}`).Draw(t, "kb"), Create: nexusv1.KnowledgeBaseCreateSpec{EmbeddingModelID: embedding,
		VectorIndex: nexusv1.VectorIndexReference{Store: "kb-vectors", Index: "passages"}, WorkloadsSync: rapid.Bool().Draw(t, "sync"),
		Source: nexusv1.KnowledgeSourceSpec{Bucket: d.S3.Buckets[0].Name, Prefix: rapid.SampledFrom([]string{"", "docs/"}).Draw(t, "prefix")}}}}
}

const (
	idOfHandbook = "AWSResource/myapp-dev-handbook"
	idOfService  = "IAMRole/myapp-dev-handbook.service"
	idOfPassages = "AWSResource/myapp-dev-knowledge-passages"
)

// A knowledge base assumes a role that may only read its source, use its index and invoke its model.
func TestKnowledge_TheServiceRoleHasExactlyWhatIsNeeded(t *testing.T) {
	g := compile(t, minimal(handbook()), facts())
	role := object(t, g, idOfService)
	const (
		passages = "arn:aws:s3vectors:eu-central-1:123456789012:bucket/store/index/myapp-dev-knowledge-passages"
		other    = "arn:aws:s3vectors:eu-central-1:123456789012:bucket/store/index/myapp-dev-knowledge-other"
		bucket   = "arn:aws:s3:::myapp-dev-documents"
		model    = "arn:aws:bedrock:eu-central-1::foundation-model/"
	)
	documents := policies(t, role)
	for _, r := range []struct {
		action, resource string
		may              bool
	}{
		{"bedrock:InvokeModel", model + embedding, true}, {"bedrock:InvokeModel", model + "amazon.nova-lite-v1:0", false}, {"bedrock:InvokeModelWithResponseStream", model + embedding, false},
		{"s3vectors:PutVectors", passages, true}, {"s3vectors:QueryVectors", passages, true}, {"s3vectors:DeleteVectors", passages, true}, {"s3vectors:DeleteIndex", passages, false}, {"s3vectors:PutVectors", other, false},
		{"s3:ListBucket", bucket, true}, {"s3:GetObject", bucket + "/handbook/a.pdf", true}, {"s3:GetObject", bucket + "/salaries/a.pdf", false},
		{"s3:PutObject", bucket + "/handbook/a.pdf", false}, {"s3:ListBucket", "arn:aws:s3:::myapp-dev-uploads", false}, {"s3:GetObject", "arn:aws:s3:::myapp-dev-uploads/handbook/a.pdf", false},
		{"kms:Decrypt", "arn:aws:kms:eu-central-1:123456789012:key/any", false},
	} {
		if got := granted(t, documents, request{r.action, r.resource, ""}); got != r.may {
			t.Errorf("%s on %s: %v", r.action, r.resource, got)
		}
	}
	trust, err := iampolicy.Parse(at(t, role, "spec", "assumeRolePolicyDocument").(string))
	if err != nil || len(trust.Statement) != 1 {
		t.Fatalf("%v, %v", trust, err)
	}
	s := trust.Statement[0]
	if !slices.Equal(s.Principal["Service"], []string{"bedrock.amazonaws.com"}) || !slices.Equal(s.Condition["StringEquals"]["aws:SourceAccount"], []string{"123456789012"}) ||
		!slices.Equal(s.Condition["ArnLike"]["aws:SourceArn"], []string{"arn:aws:bedrock:eu-central-1:123456789012:knowledge-base/*"}) {
		t.Errorf("the role trusts %+v", s)
	}
	if got := at(t, role, "spec", "permissionsBoundary"); got != boundary {
		t.Errorf("the boundary is %v", got)
	}
	if got := at(t, object(t, g, idOfHandbook), "spec", "properties", "RoleArn"); got.(map[string]any)["$ref"] != idOfService {
		t.Errorf("it acts as %v", got)
	}
	n, _ := g.Node(idOfHandbook)
	if !slices.ContainsFunc(g.Unmet(idOfHandbook, func(string) graph.Progress { return graph.Pending }), func(id string) bool { return strings.Contains(id, idOfService) }) || n.Unresolved != "" {
		t.Errorf("it does not wait for its role: %+v", n)
	}
}

// The key of the capability is allowed for reading the source alone.
func TestKnowledge_TheServiceRoleReadsEncryptedDocuments(t *testing.T) {
	c := minimal(handbook(), func(c *nexusv1.NexusAICapability) { c.Spec.DataServices.KMS = &nexusv1.KMSSpec{} })
	text, err := json.Marshal(object(t, compile(t, c, facts()), idOfService).Object)
	if err != nil || !strings.Contains(string(text), "kms:Decrypt") || strings.Contains(string(text), "kms:GenerateDataKey") {
		t.Errorf("%s, %v", text, err)
	}
}

// A resource is not created before its role has rights on all proven resources. The role has no rights on other resources.
func TestKnowledge_WaitsForTheRightsOfItsRole(t *testing.T) {
	c := minimal(handbook())
	f := bounded(c, facts())
	g, err := capability.Compile(c, f)
	if err != nil {
		t.Fatal(err)
	}
	all := everything(t, g, c, f)
	for _, lacks := range []string{idOfPassages, "S3Bucket/myapp-dev-documents"} {
		f.Owned = map[string]capability.Proof{}
		for id, p := range all {
			if id != lacks {
				f.Owned[id] = p
			}
		}
		if g, err = capability.Compile(c, f); err != nil {
			t.Fatal(err)
		}
		if n, _ := g.Node(idOfHandbook); n.Unresolved != lacks {
			t.Errorf("it waits for %q, want %s", n.Unresolved, lacks)
		}
		role, _ := json.Marshal(object(t, g, idOfService).Object)
		if lacks == idOfPassages && strings.Contains(string(role), "s3vectors:") || lacks != idOfPassages && strings.Contains(string(role), "s3:GetObject") {
			t.Errorf("without proof of %s: %s", lacks, role)
		}
	}
}

// Workloads find passages in the knowledge base that their access names, and start ingestions only where it is declared.
func TestKnowledge_WorkloadsRetrieve(t *testing.T) {
	const base = "arn:aws:bedrock:eu-central-1:123456789012:knowledge-base/myapp-dev-handbook"
	for _, sync := range []bool{false, true} {
		c := minimal(handbook(func(kb *nexusv1.KnowledgeBaseCreateSpec) { kb.WorkloadsSync = sync }), with("agent", access("knowledgeBases/handbook")), with("web", access("knowledge")))
		g := compile(t, c, facts())
		for component, may := range map[string]bool{"agent": true, "web": false} {
			documents := policies(t, object(t, g, "IAMRole/"+roleOf(c, component)))
			for action, allowed := range map[string]bool{"bedrock:Retrieve": may, "bedrock:StartIngestionJob": may && sync, "bedrock:DeleteKnowledgeBase": false, "bedrock:RetrieveAndGenerate": false} {
				if got := granted(t, documents, request{action, base, ""}); got != allowed {
					t.Errorf("%s may %s: %v, with sync %v", component, action, got, sync)
				}
			}
			if granted(t, documents, request{"bedrock:Retrieve", base + "-of-others", ""}) {
				t.Errorf("%s reaches the knowledge base of others", component)
			}
			data := at(t, object(t, g, "ConfigMap/"+strings.TrimSuffix(roleOf(c, component), "role")+"config"), "data").(map[string]any)
			for _, variable := range []string{"NEXUS_BEDROCK_KNOWLEDGE_BASE_HANDBOOK", "NEXUS_BEDROCK_DATA_SOURCE_HANDBOOK"} {
				if got, is := data[variable]; is != may || is && !strings.HasPrefix(got.(string), "assigned-to-") {
					t.Errorf("%s: %s is %v", component, variable, got)
				}
			}
		}
	}
}

func TestKnowledge_RefusalsNameTheField(t *testing.T) {
	const at = "spec.ai.knowledgeBases[0].create"
	for name, tc := range map[string]struct {
		edit  func(*nexusv1.NexusAICapability)
		field string
	}{
		"a bucket that is not declared": {handbook(func(kb *nexusv1.KnowledgeBaseCreateSpec) { kb.Source.Bucket = "elsewhere" }), at + ".source.bucket"},
		"a prefix with a wildcard":      {handbook(func(kb *nexusv1.KnowledgeBaseCreateSpec) { kb.Source.Prefix = "a*" }), at + ".source.prefix"},
		"an index that is not declared": {handbook(func(kb *nexusv1.KnowledgeBaseCreateSpec) { kb.VectorIndex.Index = "absent" }), at + ".vectorIndex"},
		"another dimension":             {handbook(func(kb *nexusv1.KnowledgeBaseCreateSpec) { kb.EmbeddingModelID = "amazon.titan-embed-text-v1" }), at + ".embeddingModelID"},
		"no model":                      {handbook(func(kb *nexusv1.KnowledgeBaseCreateSpec) { kb.EmbeddingModelID = "Titan" }), at + ".embeddingModelID"},
		"filterable texts":              {handbook(func(kb *nexusv1.KnowledgeBaseCreateSpec) { kb.VectorIndex.Index = "other" }), "spec.ai.vectorStores[0].indexes[1].nonFilterableKeys"},
		"an existing bucket": {func(c *nexusv1.NexusAICapability) {
			handbook()(c)
			c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "team"}
			c.Spec.DataServices.S3.Buckets[0].Existing = &nexusv1.ExistingStore{Name: "theirs"}
		}, at + ".source.bucket"},
		"two over one index": {func(c *nexusv1.NexusAICapability) {
			handbook()(c)
			second := c.Spec.AI.KnowledgeBases[0]
			second.Name = "second"
			c.Spec.AI.KnowledgeBases = append(c.Spec.AI.KnowledgeBases, second)
		}, "spec.ai.knowledgeBases[1].create.vectorIndex"},
		"the name of its data source": {func(c *nexusv1.NexusAICapability) {
			handbook()(c)
			c.Spec.AI.Memory = []nexusv1.MemorySpec{{Name: "handbook-source"}}
		}, "spec.ai.knowledgeBases[0].name"},
	} {
		c := minimal(tc.edit)
		_, err := capability.Compile(c, bounded(c, facts()))
		if s, is := status.AsStalled(err); !is || s.Field != tc.field {
			t.Errorf("%s: %v, want %s", name, err, tc.field)
		}
	}
	c := minimal(handbook())
	if _, err := capability.Compile(c, facts()); err == nil || !strings.Contains(err.Error(), "permissions boundary") {
		t.Errorf("without a boundary: %v", err)
	}
}

// A deletion removes the data source, the knowledge base, its role, and then the documents.
func TestKnowledge_TheRoleGoesAfterItsResource(t *testing.T) {
	stage := func(kind, name string) int {
		return slices.IndexFunc(capability.DeletionOrder, func(s capability.Stage) bool { return s.Includes(kind, name) })
	}
	app, base, role, bucket := stage("IAMRole", "myapp-dev-app-role"), stage("AWSResource", "myapp-dev-handbook"), stage("IAMRole", "myapp-dev-handbook.service"), stage("S3Bucket", "myapp-dev-documents")
	if app < 0 || !(app < base && base < role && role < bucket) {
		t.Errorf("the stages are %d, %d, %d and %d", app, base, role, bucket)
	}
	c := minimal(handbook())
	if users := capability.UsersOf(c, "AWSResource", "myapp-dev-handbook"); !slices.Equal(users, []string{"AWSResource/myapp-dev-handbook-source"}) {
		t.Errorf("%v go before the knowledge base", users)
	}
	if users := capability.UsersOf(c, "AWSResource", "myapp-dev-knowledge-passages"); !slices.Contains(users, idOfHandbook) {
		t.Errorf("%v go before the index", users)
	}
	if got := capability.ActingResource("IAMRole", "myapp-dev-handbook.service"); got != idOfHandbook {
		t.Errorf("%q acts as the role", got)
	}
	if got := capability.ActingResource("IAMRole", "myapp-dev-app-role"); got != "" {
		t.Errorf("%q acts as the role of the workloads", got)
	}
	if got := capability.StepOfResource(c, nexusv1.ResourceStatus{Kind: "IAMRole", Name: "myapp-dev-handbook.service"}); got != capability.StepResources {
		t.Errorf("the role belongs to step %s", got)
	}
}

// A data source has no tags, so that another object could not take it over. It is therefore not retained.
func TestKnowledge_TheDataSourceIsNotRetained(t *testing.T) {
	for policy, want := range map[nexusv1.DeletionPolicy]string{nexusv1.DeletionRetain: "Delete", nexusv1.DeletionOrphan: "Orphan", nexusv1.DeletionDelete: "Delete"} {
		c := minimal(handbook(), func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = policy })
		g := compile(t, c, facts())
		if got := at(t, object(t, g, idOfHandbook+"-source"), "spec", "deletionPolicy"); got != want {
			t.Errorf("%s: the data source has %v", policy, got)
		}
		for _, id := range []string{idOfHandbook, idOfService, idOfPassages} {
			if got := at(t, object(t, g, id), "spec", "deletionPolicy"); got != string(policy) {
				t.Errorf("%s: %s has %v", policy, id, got)
			}
		}
	}
}

// A knowledge base that a person deleted in AWS comes back where its entry says so: it counts as a store.
func TestKnowledge_IsCreatedAgainWhereItsEntrySaysSo(t *testing.T) {
	for _, again := range []bool{false, true} {
		c := minimal(handbook(), func(c *nexusv1.NexusAICapability) { c.Spec.AI.KnowledgeBases[0].RecreateOnLoss = again })
		if is, _ := at(t, object(t, compile(t, c, facts()), idOfHandbook), "spec", "recreateOnLoss").(bool); is != again {
			t.Errorf("recreateOnLoss %v becomes %v", again, is)
		}
	}
}
