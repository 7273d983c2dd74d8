// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// sixSecrets are the default secrets.
var sixSecrets = []string{"anthropic", "api-keys", "github", "license", "openai", "wxcc"}

func withoutSecrets(c *nexusv1.NexusAICapability) { c.Spec.DefaultSecrets = nexusv1.DefaultSecretsNone }

func listing(names ...string) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		for _, name := range names {
			c.Spec.Secrets = append(c.Spec.Secrets, nexusv1.SecretSpec{Name: name})
		}
	}
}

// secretsRights returns the resources of all statements about Secrets Manager.
func secretsRights(t fatal, c *nexusv1.NexusAICapability) (out []string) {
	t.Helper()
	for _, role := range ofKind(compile(t, c, facts()), "IAMRole") {
		for _, p := range policies(t, role) {
			for _, s := range p.Statement {
				if strings.Contains(strings.Join(s.Action, " "), "secretsmanager:") {
					out = append(append(out, s.Sid), s.Resource...)
				}
			}
		}
	}
	return out
}

func TestDefaultSecrets_NoneLeavesNoTrace(t *testing.T) {
	c := minimal(withData, withoutSecrets, with("reader", access("dynamodb/license")))
	g := compile(t, c, facts())
	if made := ofKind(g, "SecretsManagerSecret"); len(made) > 0 {
		t.Errorf("there are %d secrets", len(made))
	}
	if rights := secretsRights(t, c); len(rights) > 0 {
		t.Errorf("roles have rights on %v", rights)
	}
	for _, settings := range ofKind(g, "ConfigMap") {
		if at(t, settings, "data").(map[string]any)["NEXUS_SECRETS_PREFIX"] != nil {
			t.Errorf("%s names a prefix of secrets", settings.GetName())
		}
	}
}

// A listed default secret is the object that it was among the six, so that leaving out the others keeps its value.
func TestDefaultSecrets_NoneKeepsTheListedOnes(t *testing.T) {
	before, after := compile(t, minimal(withData), facts()), compile(t, minimal(withData, withoutSecrets, listing("openai")), facts())
	const id = "SecretsManagerSecret/myapp-dev-openai"
	if a, b := mustJSON(t, object(t, before, id).Object), mustJSON(t, object(t, after, id).Object); a != b {
		t.Errorf("%s became %s", a, b)
	}
	if made := ofKind(after, "SecretsManagerSecret"); len(made) != 1 {
		t.Errorf("there are %d secrets", len(made))
	}
	if rights := secretsRights(t, minimal(withData, withoutSecrets, listing("openai"))); len(rights) != 2 || !strings.Contains(rights[1], ":secret:myapp/dev/openai-") {
		t.Errorf("the rights are %v", rights)
	}
}

// Over random capabilities: All compiles as an absent field does, and None with all six listed as well.
func TestDefaultSecrets_AllIsTheDefault(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCapability().Draw(t, "capability")
		c.Spec.DefaultSecrets, c.Spec.Secrets = "", c.Spec.Secrets[:min(len(c.Spec.Secrets), 10)]
		want := manifests(t, compile(t, c, facts()))
		c.Spec.DefaultSecrets = nexusv1.DefaultSecretsAll
		if got := manifests(t, compile(t, c, facts())); got != want {
			t.Fatalf("All compiles to\n%s\nwant\n%s", got, want)
		}
		c.Spec.DefaultSecrets = nexusv1.DefaultSecretsNone
		for _, name := range sixSecrets {
			if !hasSecret(c, name) {
				listing(name)(c)
			}
		}
		if got := manifests(t, compile(t, c, facts())); got != want {
			t.Fatalf("the six listed compile to\n%s\nwant\n%s", got, want)
		}
	})
}

func hasSecret(c *nexusv1.NexusAICapability, name string) bool {
	for _, s := range c.Spec.Secrets {
		if s.Name == name {
			return true
		}
	}
	return false
}

func TestDefaultSecrets_AccessSaysHowToListOne(t *testing.T) {
	for name, tc := range map[string]struct {
		c    *nexusv1.NexusAICapability
		says string
	}{
		"left out":           {minimal(withoutSecrets, with("a", access("secrets/openai"))), "list openai in spec.secrets, or remove defaultSecrets: None"},
		"left out, by name":  {minimal(withoutSecrets, with("a", access("openai"))), "list openai in spec.secrets, or remove defaultSecrets: None"},
		"nothing to name":    {minimal(withoutSecrets, with("a", access("orders"))), "it has none, so leave the list empty"},
		"something to name":  {minimal(withoutSecrets, listing("github"), with("a", access("orders"))), "name one of secrets/github"},
		"the six are there":  {minimal(with("a", access("secrets/opnai"))), "name one of secrets/anthropic"},
		"listed once again":  {minimal(withoutSecrets, listing("openai"), with("a", access("secrets/openai"))), ""},
		"of an AI runtime":   {minimal(withoutSecrets, withData, withAI(agentRuntime("assistant", "secrets/openai"))), "list openai in spec.secrets, or remove defaultSecrets: None"},
		"a source is needed": {minimal(withoutSecrets, listing("smtp")), "an additional secret needs valueFrom, generate, placeholder or existing"},
	} {
		t.Run(name, func(t *testing.T) {
			err := capability.Validate(tc.c, bounded(tc.c, facts()))
			if stalled, is := status.AsStalled(err); tc.says == "" && err != nil || tc.says != "" && (!is || !strings.Contains(stalled.Message, tc.says)) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}
