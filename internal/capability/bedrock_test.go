// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// request is one of an application to Bedrock. through is the inference profile that leads to the model.
type request struct{ action, resource, through string }

// granted decides a request as IAM does for the operators that the compiled policies use.
func granted(t fatal, documents []iampolicy.Document, r request) bool {
	t.Helper()
	for _, d := range documents {
		for _, s := range d.Statement {
			if !slices.Contains(s.Action, r.action) || !slices.ContainsFunc(s.Resource, func(p string) bool { return iamMatch(p, r.resource) }) {
				continue
			}
			holds := true
			for operator, keys := range s.Condition {
				for key, values := range keys {
					if operator != "StringEquals" || key != "bedrock:InferenceProfileArn" {
						t.Fatalf("a condition on %s %s", operator, key)
					}
					holds = holds && slices.Contains(values, r.through)
				}
			}
			if holds {
				return true
			}
		}
	}
	return false
}

const bedrockARN = "arn:aws:bedrock:us-east-1:123456789012:"

func foundationModel(region, id string) string {
	return "arn:aws:bedrock:" + region + "::foundation-model/" + id
}

func TestBedrock_GrantsExactlyWhatIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := minimal(withData)
		b := anyBedrock(t)
		c.Spec.DataServices.Bedrock = b
		role := object(t, compile(t, c, facts()), "IAMRole/myapp-dev-app-role")
		direct, behind, others := map[string]bool{}, map[[2]string]bool{}, map[request]bool{}
		for _, m := range b.Models {
			profile := m.InferenceProfile
			switch {
			case profile == "":
				direct[m.ModelID] = true
				continue
			case !strings.HasPrefix(profile, "arn:"):
				profile = bedrockARN + "inference-profile/" + profile
			}
			behind[[2]string{profile, m.ModelID}] = true
			others[request{action: "bedrock:InvokeModel", resource: profile}] = true
		}
		for _, kb := range b.KnowledgeBases {
			others[request{action: "bedrock:Retrieve", resource: bedrockARN + "knowledge-base/" + kb.ID}] = true
		}
		for _, g := range b.Guardrails {
			others[request{action: "bedrock:ApplyGuardrail", resource: bedrockARN + "guardrail/" + g.ID}] = true
		}
		documents := policies(t, role)
		check := func(want bool, r request) {
			t.Helper()
			if got := granted(t, documents, r); got != want {
				t.Fatalf("%+v: granted %v, want %v", r, got, want)
			}
		}
		for _, model := range foundationModels {
			for _, region := range []string{"us-east-1", "eu-west-1", ""} {
				check(direct[model] && region == "us-east-1", request{"bedrock:InvokeModelWithResponseStream", foundationModel(region, model), ""})
			}
			for _, p := range profiles(model) {
				if p == "" {
					continue
				}
				if !strings.HasPrefix(p, "arn:") {
					p = bedrockARN + "inference-profile/" + p
				}
				check(others[request{action: "bedrock:InvokeModel", resource: p}], request{"bedrock:InvokeModel", p, p})
				if behind[[2]string{p, model}] {
					check(true, request{"bedrock:InvokeModel", foundationModel("eu-west-1", model), p})
				}
			}
		}
		for r := range others {
			check(true, r)
			if r.action != "bedrock:InvokeModel" {
				check(false, request{r.action, r.resource + "-other", ""})
			}
			check(false, request{r.action, strings.Replace(r.resource, "us-east-1", "eu-west-1", 1), ""})
			check(false, request{r.action, strings.Replace(r.resource, "123456789012", "999999999999", 1), ""})
			check(false, request{"bedrock:Delete", r.resource, ""})
		}
	})
}

// The policies of a role have a limit of characters; the largest lists stay below it.
func TestBedrock_TheLargestListsFit(t *testing.T) {
	c := minimal()
	b := &nexusv1.BedrockSpec{}
	for i := range 16 {
		name := fmt.Sprintf("purpose-%d", i)
		model := fmt.Sprintf("anthropic.claude-sonnet-4-20250514-v%d:0", i)
		b.Models = append(b.Models, nexusv1.BedrockModel{Name: name, ModelID: model, InferenceProfile: "global." + model})
		b.KnowledgeBases = append(b.KnowledgeBases, nexusv1.BedrockKnowledgeBase{Name: name, ID: fmt.Sprintf("KB000000%02d", i)})
		b.Guardrails = append(b.Guardrails, nexusv1.BedrockGuardrail{Name: name, ID: fmt.Sprintf("guardrail%02d", i)})
	}
	c.Spec.DataServices = &nexusv1.DataServicesSpec{Bedrock: b}
	compile(t, c, facts())
}

// The boundary is an administrator's word: a provider's or the operator's default; a tenant's own field is none.
func TestBedrock_NeedsTheBoundaryOfAnAdministrator(t *testing.T) {
	c := minimal(withData, bedrock(func(*nexusv1.BedrockSpec) {}))
	stalled := func(f capability.Facts) string {
		t.Helper()
		err := capability.Validate(c, f)
		if err == nil {
			return ""
		}
		s, ok := status.AsStalled(err)
		if !ok || s.Reason != status.ReasonNotPermitted || s.Field != "spec.dataServices.bedrock" {
			t.Fatalf("%v", err)
		}
		return s.Message
	}
	f := facts()
	for _, want := range []string{"permissionsBoundaryARN", "--default-permissions-boundary"} {
		if m := stalled(f); !strings.Contains(m, want) {
			t.Errorf("the message does not name %s: %s", want, m)
		}
	}
	c.Spec.Identity = &nexusv1.IdentitySpec{PermissionsBoundaryARN: boundary}
	if stalled(f) == "" {
		t.Error("a boundary of the tenant's choice is enough")
	}
	f.Provider.Boundary = boundary
	if m := stalled(f); m != "" {
		t.Errorf("refused under the provider's boundary: %s", m)
	}
	f, c.Spec.DataServices.Bedrock = facts(), &nexusv1.BedrockSpec{Region: "us-east-1"}
	if m := stalled(f); m != "" {
		t.Errorf("refused although nothing is named: %s", m)
	}
}
