// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The example names models, a knowledge base and a guardrail. The workloads' role may use just those while they are named,
// and the workloads learn them from their ConfigMap and from SSM.
func TestBedrock_ARoleMayUseWhatIsNamedWhileItIs(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=advisor-dev")
	admin := iam.NewFromConfig(b.admin(homeAccount))
	_, err := admin.CreatePolicy(b.Ctx(), &iam.CreatePolicyInput{PolicyName: aws.String("nexus-boundary"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.DeletePolicy(b.Ctx(), &iam.DeletePolicyInput{PolicyArn: aws.String(boundary)}); err != nil {
			t.Error(err)
		}
	})
	const example = "examples/capability-with-bedrock.yaml"
	c := b.Capability(example)

	// Without a boundary nothing is created; with one the same capability runs.
	p := provider("advisor")
	p.Namespace = c.Namespace
	b.Create(p)
	b.Ready(p)
	b.Create(c)
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "NotPermitted"), "spec.dataServices.bedrock", "permissionsBoundaryARN",
		"--default-permissions-boundary")
	const role = "advisor-dev-app-role"
	if _, err := admin.GetRole(b.Ctx(), &iam.GetRoleInput{RoleName: aws.String(role)}); err == nil {
		t.Error("there is a role although the capability is refused")
	}
	b.Edit(p, func() { p.Spec.PermissionsBoundaryARN = boundary })
	b.Running(c)
	got, err := admin.GetRole(b.Ctx(), &iam.GetRoleInput{RoleName: aws.String(role)})
	if err != nil {
		t.Fatal(err)
	}
	if pb := got.Role.PermissionsBoundary; pb == nil || aws.ToString(pb.PermissionsBoundaryArn) != boundary {
		t.Errorf("the role has the boundary %+v", pb)
	}
	b.contains(b.inline(role), "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0",
		"arn:aws:bedrock:*::foundation-model/amazon.nova-lite-v1:0", "bedrock:InferenceProfileArn",
		"arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0",
		"arn:aws:bedrock:us-east-1:123456789012:knowledge-base/KB12345678", "arn:aws:bedrock:us-east-1:123456789012:guardrail/gr0123456789")
	b.tells(c, "bedrock/chat-model", "NEXUS_BEDROCK_MODEL_CHAT", "us.amazon.nova-lite-v1:0")
	b.tells(c, "bedrock/embed-model", "NEXUS_BEDROCK_MODEL_EMBED", "amazon.titan-embed-text-v2:0")
	b.tells(c, "bedrock/handbook-knowledge-base", "NEXUS_BEDROCK_KNOWLEDGE_BASE_HANDBOOK", "KB12345678")
	b.tells(c, "bedrock/safety-guardrail-version", "NEXUS_BEDROCK_GUARDRAILVERSION_SAFETY", "1")

	// A person widens the policy; the next look takes it back.
	_, err = admin.PutRolePolicy(b.Ctx(), &iam.PutRolePolicyInput{RoleName: aws.String(role), PolicyName: aws.String("app"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"bedrock:*","Resource":"*"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	b.Edit(c, func() {
		c.Spec.DataServices.Bedrock.Models[0].InferenceProfile = ""
		c.Spec.DataServices.Bedrock.Guardrails[0].Version = "2"
		c.Spec.DataServices.Bedrock.KnowledgeBases = nil
	})
	b.Running(c)
	b.tells(c, "bedrock/chat-model", "NEXUS_BEDROCK_MODEL_CHAT", "amazon.nova-lite-v1:0")
	b.tells(c, "bedrock/safety-guardrail-version", "NEXUS_BEDROCK_GUARDRAILVERSION_SAFETY", "2")
	b.tells(c, "bedrock/handbook-knowledge-base", "NEXUS_BEDROCK_KNOWLEDGE_BASE_HANDBOOK", "")
	b.lacks(b.inline(role), "inference-profile", "knowledge-base", `"bedrock:*"`)

	b.Edit(c, func() { c.Spec.DataServices.Bedrock = nil })
	b.Running(c)
	b.lacks(b.inline(role), "bedrock")
	b.tells(c, "bedrock/region", "NEXUS_BEDROCK_REGION", "")
	b.Remove(c)
	b.Remove(p)
}

// tells waits until a parameter and a key of the workloads' ConfigMap have a value; "" is neither.
func (b *bed) tells(c *nexusv1.NexusAICapability, parameter, key, value string) {
	b.Helper()
	api := ssm.NewFromConfig(b.admin(homeAccount))
	prefix := c.Spec.CapabilityName + "-" + c.Spec.Environment
	b.Eventually(15*time.Second, parameter+" to be "+value, func() error {
		got := ""
		out, err := api.GetParameters(b.Ctx(),
			&ssm.GetParametersInput{Names: []string{"/" + c.Spec.CapabilityName + "/" + c.Spec.Environment + "/" + parameter}})
		if err != nil {
			return err
		}
		for _, p := range out.Parameters {
			got = aws.ToString(p.Value)
		}
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: prefix + "-config"}}
		if err := b.Get(cm); err != nil {
			return err
		}
		if got != value || cm.Data[key] != value {
			return fmt.Errorf("the parameter is %q and %s is %q", got, key, cm.Data[key])
		}
		return nil
	})
}

// lacks fails the test for each part that the text contains.
func (b *bed) lacks(text string, parts ...string) {
	b.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			b.Errorf("there is still %q: %s", p, text)
		}
	}
}
