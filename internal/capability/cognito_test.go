// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

const poolNode = "CognitoUserPool/myapp-dev-users"

// signedIn returns a capability with sign-in of users.
func signedIn(edits ...func(c *nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	c := minimal()
	c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Region = "myapp", "dev", "eu-west-1"
	c.Spec.EnableCognito, c.Spec.Ingress = true, &nexusv1.IngressSpec{Host: "app.example.com"}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func TestSignIn_ThePoolIsClosedByDefault(t *testing.T) {
	pool := object(t, compile(t, signedIn(), facts()), poolNode)
	for path, want := range map[string]any{"adminCreateUserOnly": true, "deletionProtection": false,
		"domain": "myapp-dev-" + facts().Provider.Account, "poolName": "myapp-dev-users"} {
		if got := at(t, pool, "spec", path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	clients := at(t, pool, "spec", "clients").([]any)
	client := clients[0].(map[string]any)
	if urls := client["callbackURLs"].([]any); len(clients) != 1 || !slices.Equal(urls, []any{"https://app.example.com/callback"}) {
		t.Errorf("%v", clients)
	}
	protected := object(t, compile(t, signedIn(func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = nexusv1.DeletionRetain }), facts()), poolNode)
	if at(t, protected, "spec", "deletionProtection") != true {
		t.Error("a retained pool is not protected")
	}
}

// AWS assigns the identifiers: until they are known, no workload starts without them.
func TestSignIn_WorkloadsWaitForTheIdentifiers(t *testing.T) {
	f := facts()
	f.Owned = map[string]capability.Proof{}
	c := signedIn()
	before := compile(t, c, f)
	waiting := func(g *graph.Graph) (out []string) {
		for _, n := range g.Nodes() {
			if n.Unresolved == poolNode {
				out = append(out, n.Object.GetKind())
			}
		}
		slices.Sort(out)
		return out
	}
	if got := waiting(before); !slices.Equal(got, []string{"ConfigMap", "Deployment", "Deployment", "SSMParameterSet"}) {
		t.Errorf("unresolved: %v", got)
	}
	f.Owned[poolNode] = capability.Proof{ARN: "arn:aws:cognito-idp:eu-west-1:" + f.Provider.Account + ":userpool/eu-west-1_AbCdEf123"}
	if got := waiting(compile(t, c, f)); len(got) != 4 {
		t.Errorf("without the client, unresolved: %v", got)
	}
	f.Owned[poolNode] = capability.Proof{ARN: "arn:aws:cognito-idp:eu-west-1:" + f.Provider.Account + ":userpool/eu-west-1_AbCdEf123",
		Client: "1example23456789"}
	after := compile(t, c, f)
	if got := waiting(after); len(got) > 0 {
		t.Errorf("unresolved: %v", got)
	}
	settings := ofKind(after, "ConfigMap")[0]
	for key, want := range map[string]string{"USER_POOL_ID": "eu-west-1_AbCdEf123", "CLIENT_ID": "1example23456789", "ISSUER": "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEf123",
		"DOMAIN_URL": "https://myapp-dev-" + f.Provider.Account + ".auth.eu-west-1.amazoncognito.com"} {
		if got := at(t, settings, "data", "NEXUS_COGNITO_"+key); got != want {
			t.Errorf("%s is %v, want %s", key, got, want)
		}
		parameter := "cognito/" + strings.ToLower(strings.ReplaceAll(key, "_", "-"))
		if got := at(t, ofKind(after, "SSMParameterSet")[0], "spec", "parameters", parameter, "value"); got != want {
			t.Errorf("%s is %v, want %s", parameter, got, want)
		}
	}
}

func TestSignIn_IsOffByDefault(t *testing.T) {
	g := compile(t, signedIn(func(c *nexusv1.NexusAICapability) { c.Spec.EnableCognito = false }), facts())
	if text := manifests(t, g); strings.Contains(strings.ToLower(text), "cognito") {
		t.Error("a capability without sign-in has traces of Cognito")
	}
}

// Of several values that are not known, the same one is reported every time: an object that changes with each pass is written with
// each pass.
func TestSignIn_AnUnknownPoolAndAnUnknownAccountGiveOneChecksum(t *testing.T) {
	c := minimal(func(c *nexusv1.NexusAICapability) {
		c.Spec.EnableCognito, c.Spec.Cognito = true, &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{"https://example.com/"}}
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "given"}
	})
	f := facts()
	f.Provider.Account, f.Provider.Partition = "", ""
	first := manifests(t, compile(t, c, f))
	for range 100 {
		if manifests(t, compile(t, c, f)) != first {
			t.Fatal("two compilations differ")
		}
	}
}
