// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The operator may manage the types of the examples, and lends its identity to the capabilities in their namespaces.
const (
	aiTypes      = "--types=AWS::S3Vectors::*,AWS::Bedrock::*,AWS::BedrockAgentCore::*"
	aiNamespaces = "--ambient-namespaces=agent-dev,search-dev"
	aiBoundary   = "--default-permissions-boundary=" + boundary
)

// typesOfAI are the types that the parts of an AI application become.
var typesOfAI = []string{"AWS::S3Vectors::VectorBucket", "AWS::S3Vectors::Index", "AWS::Bedrock::Guardrail",
	"AWS::Bedrock::GuardrailVersion",
	"AWS::Bedrock::ApplicationInferenceProfile", "AWS::BedrockAgentCore::Memory", "AWS::Bedrock::KnowledgeBase", "AWS::Bedrock::DataSource",
	"AWS::BedrockAgentCore::Gateway", "AWS::BedrockAgentCore::GatewayTarget"}

// agent reads the example of an agent, and creates the boundary of its roles.
func (b *bed) agent() *nexusv1.NexusAICapability {
	b.Helper()
	b.createBoundary()
	return b.Capability("examples/agent.yaml")
}

// createBoundary creates the boundary of the roles.
func (b *bed) createBoundary() {
	b.Helper()
	admin := iam.NewFromConfig(b.admin(homeAccount))
	if _, err := admin.CreatePolicy(b.Ctx(), &iam.CreatePolicyInput{PolicyName: aws.String("nexus-boundary"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := admin.DeletePolicy(b.Ctx(), &iam.DeletePolicyInput{PolicyArn: aws.String(boundary)}); err != nil {
			b.Error(err)
		}
	})
}

// decidesRights makes handlers need the rights that the schemas list.
func (b *bed) decidesRights(d *double.Double) {
	d.SetRights(func(accessKey string, n double.Need) string {
		text, err := b.World.AWS().Refuses(b.Ctx(), accessKey, n.Action, n.Resource, n.Context, n.Tags)
		if err != nil {
			return err.Error()
		}
		return text
	})
}

// part reads the object of a part of an AI application.
func (b *bed) part(c *nexusv1.NexusAICapability, name string) *v1alpha1.AWSResource {
	b.Helper()
	o := &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace,
		Name: c.Spec.CapabilityName + "-" + c.Spec.Environment + "-" + name}}
	if err := b.Get(o); err != nil {
		b.Error(err)
	}
	return o
}

// variablesOf reads the settings of a component.
func (b *bed) variablesOf(c *nexusv1.NexusAICapability, component string) map[string]string {
	b.Helper()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace,
		Name: strings.TrimSuffix(workload(c, component).Role, "role") + "config"}}
	if err := b.Get(o); err != nil {
		b.Error(err)
	}
	return o.Data
}

// actsAs requires that a resource acts as a role with the rights that it needs.
func (b *bed) actsAs(o *v1alpha1.AWSResource, role string) {
	b.Helper()
	admin := iam.NewFromConfig(b.admin(homeAccount))
	got, err := admin.GetRolePolicy(b.Ctx(), &iam.GetRolePolicyInput{RoleName: aws.String(role), PolicyName: aws.String("service")})
	if err != nil {
		b.Fatal(err)
	}
	policy, err := url.QueryUnescape(aws.ToString(got.PolicyDocument))
	if err != nil {
		b.Fatal(err)
	}
	b.contains(policy, "bedrock:InvokeModel", "s3vectors:PutVectors", "s3:GetObject")
	b.contains(string(o.Spec.Properties.Raw), "IAMRole/"+role)
}

// deletedBefore requires that the last call which deletes a resource comes before that of the next one, by their types or names.
func (b *bed) deletedBefore(calls emulator.Calls, order ...string) {
	b.Helper()
	before := 0
	for _, name := range order {
		last := 0
		for _, call := range calls {
			isOf := call.Resource == name || call.Op == "DeleteResource" && strings.Contains(call.Body, `"`+name+`"`)
			if strings.HasPrefix(call.Op, "Delete") && isOf && call.Status < 300 {
				last = call.Seq
			}
		}
		if last <= before {
			b.Errorf("%s is deleted by call %d, and what goes before it by call %d", name, last, before)
		}
		before = last
	}
}

// The example of an agent runs, gets another version of its guardrail with an edit, writes nothing at rest, and goes without residue.
func TestAI_AnAgentRunsRestsAndGoesWithoutResidue(t *testing.T) {
	extent.Full(t)
	b := newBed(t, aiTypes, aiNamespaces, aiBoundary)
	d := b.controls()
	c := b.agent()
	b.Create(c)
	b.Running(c)
	settings := b.variablesOf(c, "agent")
	memory, index, profile, base := b.part(c, "sessions"), b.part(c, "knowledge-passages"), b.part(c, "chat"), b.part(c, "handbook")
	for variable, want := range map[string]string{
		"NEXUS_BEDROCK_MODEL_CHAT": profile.Status.ARN, "NEXUS_VECTOR_BUCKET_KNOWLEDGE": "agent-dev-knowledge",
		"NEXUS_VECTOR_INDEX_ARN_KNOWLEDGE_PASSAGES": index.Status.ARN,
		"NEXUS_BEDROCK_KNOWLEDGE_BASE_HANDBOOK":     base.Status.ID,
	} {
		if got := settings[variable]; got != want || got == "" {
			t.Errorf("%s is %q, want %q", variable, got, want)
		}
	}
	for _, variable := range []string{"NEXUS_BEDROCK_GUARDRAIL_SAFETY", "NEXUS_BEDROCK_GUARDRAILVERSION_SAFETY", "NEXUS_MEMORY_ID_SESSIONS",
		"NEXUS_BEDROCK_DATA_SOURCE_HANDBOOK", "NEXUS_GATEWAY_URL_TOOLS"} {
		if settings[variable] == "" {
			t.Errorf("%s is not set: %v", variable, settings)
		}
	}
	if !slices.ContainsFunc(c.Status.Resources,
		func(r nexusv1.ResourceStatus) bool { return r.Name == memory.Name && r.ARN == memory.Status.ARN }) {
		t.Errorf("status.resources lacks %s: %+v", memory.Name, c.Status.Resources)
	}

	before := d.Identifiers("AWS::Bedrock::GuardrailVersion")
	b.Edit(c, func() { c.Spec.AI.Guardrails[0].Create.BlockedWords = []nexusv1.BlockedWord{"fool"} })
	b.Running(c)
	b.Quiet()
	if after := d.Identifiers("AWS::Bedrock::GuardrailVersion"); len(before) != 1 || len(after) != 1 || before[0] == after[0] {
		t.Errorf("the guardrail had the versions %v, and has %v after an edit", before, after)
	}
	if again := b.variablesOf(c, "agent"); again["NEXUS_BEDROCK_GUARDRAIL_SAFETY"] != settings["NEXUS_BEDROCK_GUARDRAIL_SAFETY"] {
		t.Errorf("an edit replaced the guardrail: %v", again)
	}
	calls, kube := b.Mark()
	b.Restart(aiTypes, aiNamespaces, aiBoundary)
	b.Passed("nexusaicapability", "awsresource")
	if writes := b.World.AWS().Since(calls).Writes(); writes.Count() > 0 {
		t.Errorf("a second pass writes to AWS:\n%s", writes)
	}
	for _, w := range b.KubeWrites(kube) {
		t.Errorf("a second pass writes to Kubernetes: %s", w)
	}
	b.actsAs(base, "agent-dev-handbook.service")
	calls, _ = b.Mark()
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	b.deletedBefore(b.World.AWS().Since(calls), "AWS::Bedrock::DataSource", "AWS::Bedrock::KnowledgeBase", "agent-dev-handbook.service",
		"agent-dev-documents")
	b.deletedBefore(b.World.AWS().Since(calls), "AWS::BedrockAgentCore::GatewayTarget", "AWS::BedrockAgentCore::Gateway",
		"agent-dev-tools.service")
	for _, typeName := range typesOfAI {
		if left := d.Identifiers(typeName); len(left) > 0 {
			t.Errorf("%s: %v is left", typeName, left)
		}
	}
}

// The example of retrieval runs without an AWSProvider. A vector bucket of another namespace with the name of a part is not touched, and
// the capability says so.
func TestAI_AForeignVectorBucketIsNotTouched(t *testing.T) {
	extent.Full(t)
	b := newBed(t, aiTypes, aiNamespaces)
	d := b.controls()
	c := b.Capability("examples/retrieval.yaml")
	const theirs = `{"VectorBucketName":"search-dev-passages","Tags":[{"Key":"nexus.ai/owner","Value":"AWSResource/finance/passages"},{"Key":"nexus.ai/managed-by","Value":"nexus-operator"},{"Key":"nexus.ai/cluster","Value":"another"}]}`
	b.ofNobody("AWS::S3Vectors::VectorBucket", theirs)
	identifier := d.Identifiers("AWS::S3Vectors::VectorBucket")[0]
	before := d.Properties("AWS::S3Vectors::VectorBucket", identifier)
	b.Create(c)
	b.contains(b.Shows(c, "DataServicesReady", metav1.ConditionFalse, "NotPermitted"),
		"search-dev-passages belongs to an object of another namespace")
	if after := d.Properties("AWS::S3Vectors::VectorBucket", identifier); len(after) != len(before) ||
		after["VectorBucketName"] != before["VectorBucketName"] {
		t.Errorf("the bucket had %v, and has %v", before, after)
	}
	if left := d.Identifiers("AWS::S3Vectors::Index"); len(left) > 0 {
		t.Errorf("it has the indexes %v", left)
	}
	b.Edit(c, func() {
		c.Spec.AI.VectorStores[0].Name, c.Spec.Components[0].Access, c.Spec.Components[1].Access = "texts", nil, nil
	})
	b.Running(c)
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	if left := d.Identifiers("AWS::S3Vectors::VectorBucket"); !slices.Equal(left, []string{identifier}) {
		t.Errorf("the buckets %v are left", left)
	}
}

// A type that no administrator allows is named, by its field.
func TestAI_ATypeThatIsNotAllowedIsNamed(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--types=AWS::Kinesis::*", aiNamespaces)
	b.controls()
	c := b.Capability("examples/retrieval.yaml")
	b.Create(c)
	b.contains(b.Shows(c, "DataServicesReady", metav1.ConditionFalse, "NotPermitted"), "AWS::S3Vectors::VectorBucket", "--types")
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}

// retrievalWith starts an operator with the rights of the policy that is printed for some types, and creates the example of retrieval.
func retrievalWith(t *testing.T, types ...string) (*bed, *double.Double, *nexusv1.NexusAICapability) {
	t.Helper()
	b := &bed{kit.Limited(t, policiesFor(t, permissions.Scope{NamePrefix: "search", Types: types}), aiTypes, aiNamespaces)}
	d := b.controls()
	b.decidesRights(d)
	c := b.Capability("examples/retrieval.yaml")
	b.Create(c)
	return b, d, c
}

// An operator with the printed policy and no other rights creates and deletes a vector store.
func TestPrivilege_AVectorStoreFitsThePrintedPolicy(t *testing.T) {
	extent.Full(t)
	b, d, c := retrievalWith(t, "AWS::S3Vectors::VectorBucket", "AWS::S3Vectors::Index")
	b.Running(c)
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	if left := d.Identifiers("AWS::S3Vectors::VectorBucket"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// Without a right of its type, the capability says which one is missing.
func TestPrivilege_AMissingRightOfAVectorStoreIsNamed(t *testing.T) {
	extent.Full(t)
	b, d, c := retrievalWith(t)
	b.contains(b.Shows(c, "DataServicesReady", metav1.ConditionFalse, "AccessDenied"), "AWSResource/search-dev-passages",
		"AWS denies s3vectors:")
	if made := d.Identifiers("AWS::S3Vectors::VectorBucket"); len(made) > 0 {
		t.Errorf("%v was created", made)
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}

// Under the rules of IAM, pods use the parts that their access names, with the actions of each, and nothing else.
func TestPrivilege_AIPartsAreReachedByTheirActions(t *testing.T) {
	extent.Full(t)
	everything := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	b := &bed{kit.Limited(t, []string{everything}, aiTypes, aiNamespaces, aiBoundary)}
	b.controls()
	c := b.agent()
	b.Create(c)
	b.Running(c)
	base, gateway := b.part(c, "handbook").Status.ARN, b.part(c, "tools").Status.ARN
	memory, index, profile, guardrail := b.part(c, "sessions").Status.ARN, b.part(c, "knowledge-passages").Status.ARN,
		b.part(c, "chat").Status.ARN, b.part(c, "safety").Status.ARN
	const model = "arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-lite-v1:0"
	for component, may := range map[string]bool{"agent": true, "web": false} {
		a := b.applicationOf(c, workload(c, component).ServiceAccount)
		credentials, err := a.cfg.Credentials.Retrieve(a.Ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			action, resource, through string
			may                       bool
		}{
			{"s3vectors:QueryVectors", index, "", may}, {"s3vectors:PutVectors", index, "", may},
			{"s3vectors:QueryVectors", index + "-of-others", "", false},
			{"s3vectors:DeleteIndex", index, "", false}, {"bedrock:ApplyGuardrail", guardrail, "", may},
			{"bedrock:DeleteGuardrail", guardrail, "", false},
			{"bedrock:InvokeModel", profile, "", may}, {"bedrock:InvokeModel", model, profile, may}, {"bedrock:InvokeModel", model, "", false},
			{"bedrock:InvokeModel", model, profile + "-of-others", false},
			{"bedrock-agentcore:CreateEvent", memory, "", may}, {"bedrock-agentcore:RetrieveMemoryRecords", memory, "", may},
			{"bedrock-agentcore:InvokeGateway", gateway, "", may}, {"bedrock-agentcore:InvokeGateway", gateway + "-of-others", "", false},
			{"bedrock-agentcore:DeleteGateway", gateway, "", false},
			{"bedrock:Retrieve", base, "", may}, {"bedrock:StartIngestionJob", base, "", false},
			{"bedrock:Retrieve", base + "-of-others", "", false},
			{"bedrock-agentcore:DeleteMemory", memory, "", false}, {"bedrock-agentcore:CreateEvent", memory + "-of-others", "", false},
		} {
			keys := map[string]string{}
			if tc.through != "" {
				keys["bedrock:InferenceProfileArn"] = tc.through
			}
			refusal, err := b.World.AWS().Refuses(b.Ctx(), credentials.AccessKeyID, tc.action, tc.resource, keys, nil)
			if err != nil || tc.may != (refusal == "") {
				t.Errorf("%s: %s on %s through %q: %q, %v", component, tc.action, tc.resource, tc.through, refusal, err)
			}
		}
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}
