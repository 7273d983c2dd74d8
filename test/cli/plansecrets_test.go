// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// A plan of an edit of defaultSecrets lists the secrets that go, with exactly the calls that the operator makes, and those that come back.
func TestPlan_ShowsDefaultSecretsThatGoAndCome(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.DataServices = nil
	x.Create(c)
	x.Running(c)
	for _, edit := range []struct {
		to      nexusv1.DefaultSecrets
		listed  []nexusv1.SecretSpec
		changed []string
		change  string
	}{
		{nexusv1.DefaultSecretsNone, []nexusv1.SecretSpec{{Name: "license"}}, []string{"anthropic", "api-keys", "github", "openai", "wxcc"},
			"Delete DataLoss"},
		{nexusv1.DefaultSecretsAll, nil, []string{"anthropic", "api-keys", "github", "openai", "wxcc"}, "Create Safe"},
		{nexusv1.DefaultSecretsNone, nil, []string{"anthropic", "api-keys", "github", "license", "openai", "wxcc"}, "Delete DataLoss"},
	} {
		next := c.DeepCopy()
		next.Spec.DefaultSecrets, next.Spec.Secrets = edit.to, edit.listed
		items := x.plan(x.manifest(next), "-f", "-")
		var got, want []string
		for _, name := range edit.changed {
			want = append(want, "myapp-dev-"+name+" "+edit.change)
		}
		for _, it := range items {
			if it.Kind == "SecretsManagerSecret" && it.Action != "None" {
				got = append(got, it.Name+" "+it.Action+" "+it.AWS.Risk)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("to %s: the plan is %v, want %v", edit.to, got, want)
		}
		mark := x.World.AWS().Mark()
		x.apply(x.manifest(next))
		if err := x.Get(c); err != nil {
			t.Fatal(err)
		}
		x.Running(c)
		x.Quiet()
		if edit.to == nexusv1.DefaultSecretsNone {
			x.same("to "+string(edit.to), items, x.writesSince(mark))
		}
		x.unchanged(x.manifest(next), "-f", "-")
	}
}
