// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

func TestStepOfResource_AgreesWithTheCompiler(t *testing.T) {
	check := func(t fatal, c *nexusv1.NexusAICapability) {
		for _, n := range compile(t, c, facts()).Nodes() {
			r := nexusv1.ResourceStatus{Kind: n.Object.GetKind(), Name: n.Object.GetName()}
			if got := capability.StepOfResource(c, r); got != n.Step {
				t.Fatalf("%s: step %q, want %q", n.ID, got, n.Step)
			}
		}
	}
	for _, file := range []string{"test-capability.yaml", "nexus-ai-complete.yaml"} {
		check(t, example(t, file))
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyCapability().Draw(t, "capability")) })
}
