// SPDX-License-Identifier: Apache-2.0

package kubearmor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kubearmor"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// Every intent has a file with its objects and claims for each action in each scope.
func TestWhatKubeArmorIsGivenForEachIntentActionAndScope(t *testing.T) {
	for _, id := range ids() {
		t.Run(id, func(t *testing.T) {
			var out strings.Builder
			for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
				for _, s := range scopes() {
					fmt.Fprintf(&out, "### %s, %s\n", action, s.name)
					out.WriteString(render(t, kubearmor.New().Translate(s.policy(rule(id, action)), intent.Facts{})))
				}
			}
			golden.Check(t, strings.ToLower(id)+".yaml", out.String())
		})
	}
}

// render prints claims as comments and objects as documents.
func render(t *testing.T, tr intent.Translation) string {
	t.Helper()
	var out strings.Builder
	for _, c := range tr.Claims {
		out.WriteString(strings.TrimSpace(fmt.Sprintf("# %s: %s %s %s", c.Intent, c.Level, c.Reason, c.Message)) + "\n")
	}
	return out.String() + golden.Manifests(t, tr.Objects)
}
