// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"strings"
	"testing"
)

// Mistakes in the resources of a capability are named with its fields, by the definitions of kinds and by the schemas of types.
func TestValidate_ChecksTheResourcesOfACapability(t *testing.T) {
	example, err := os.ReadFile("../../examples/capability-with-vectors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ old, replacement, want string }{
		"valid": {"", "", "NexusAICapability retrieval-dev/retrieval-dev: valid\n"},
		"a property": {"DistanceMetric: cosine", "DistanceMetric: round",
			"spec.dataServices.resources[1].properties.DistanceMetric: must be one of"},
		"an action": {"s3vectors:GetIndex", "s3vectors:ListVectorBuckets",
			"spec.dataServices.resources[0].access.actions[0]: s3vectors:ListVectorBuckets"},
		"an access": {"access: [documents, vectors]", "access: [resources/vector]",
			"spec.backend.access[0]: \"resources/vector\" is no data service or secret"},
		"a kind": {"      - name: passages", "      - {name: net, kind: VPC, spec: {cidrBlock: none}}\n      - name: passages",
			"spec.dataServices.resources[1].spec.cidrBlock"},
		"a type": {"type: AWS::S3Vectors::Index", "type: AWS::S3Vectors::Indexes",
			"spec.dataServices.resources[1].type: AWS has no resource type"},
	} {
		text := strings.Replace(string(example), row.old, row.replacement, 1)
		if row.old != "" && text == string(example) {
			t.Fatalf("%s: the example lacks %q", name, row.old)
		}
		out, errs, code := run(t, "validate", "-f", file(t, text))
		if !strings.Contains(out, row.want) || strings.HasSuffix(row.want, "valid\n") != (code == 0) {
			t.Errorf("%s: exit code %d lacks %q:\n%s%s", name, code, row.want, out, errs)
		}
	}
}

func TestRender_PrintsTheResourcesOfACapability(t *testing.T) {
	out, errs, code := run(t, "render", "-f", "../../examples/capability-with-vectors.yaml", "--account", "123456789012")
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	for _, want := range []string{"typeName: AWS::S3Vectors::VectorBucket", "VectorBucketName: retrieval-dev-vectors",
		"$ref: AWSResource/retrieval-dev-vectors", "VECTOR_BUCKET: retrieval-dev-vectors"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
}

// The parts of an AI application are rendered and checked as resources are.
func TestRender_PrintsThePartsOfAnAIApplication(t *testing.T) {
	const example = "../../examples/agent.yaml"
	out, errs, code := run(t, "render", "-f", example)
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	for _, want := range []string{"VectorBucketName: agent-dev-knowledge", "$ref: AWSResource/agent-dev-safety", "Name: agent_dev_sessions",
		":inference-profile/eu.amazon.nova-lite-v1:0"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ old, replacement, want string }{
		"valid":       {"", "", "NexusAICapability agent-dev/agent-dev: valid\n"},
		"a dimension": {"dimension: 1024", "dimension: 5000", "spec.ai.vectorStores[0].indexes[0].dimension"},
		"a kind of data": {"create: {}", "create: {sensitiveInformation: [{type: EMAILS, action: BLOCK}]}",
			"spec.ai.guardrails[0]: must be one of"},
		"a name of a part": {"memory: [{", "memory: [{name: chat}, {", "spec.ai.memory[0].name"},
	} {
		changed := strings.Replace(string(text), row.old, row.replacement, 1)
		out, errs, code := run(t, "validate", "-f", file(t, changed))
		if !strings.Contains(out, row.want) || strings.HasSuffix(row.want, "valid\n") != (code == 0) {
			t.Errorf("%s: exit code %d lacks %q:\n%s%s", name, code, row.want, out, errs)
		}
	}
}
