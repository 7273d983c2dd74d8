// SPDX-License-Identifier: Apache-2.0

package istio_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/istio"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// questions are the parameters of each golden file: one file a question, in it every action in every mesh.
func questions() map[string]intent.Rule {
	q := func(id string, params map[string][]string) intent.Rule { return rule(id, v1alpha1.Block, params) }
	return map[string]intent.Rule{
		"ensuretls":                 q("ensureTLS", nil),
		"ensuretls-permissive":      q("ensureTLS", map[string][]string{"mode": {"permissive"}, "exceptPorts": {"9090"}}),
		"ensuretls-except-identity": q("ensureTLS", map[string][]string{"exceptPorts": {"9090", "9091"}, "requireIdentity": {"true"}}),
		"networksegmentation":       q("networkSegmentation", map[string][]string{"fromNamespaces": {"web", "ops"}}),
		"networksegmentation-all": q("networkSegmentation",
			map[string][]string{"fromNamespaces": {"web"}, "fromServiceAccounts": {"jobs/nightly"}, "ports": {"8080", "8443"}}),
		"networksegmentation-ports": q("networkSegmentation", map[string][]string{"ports": {"8080"}}), // says not who
		"apisegmentation-methods":   q("apiSegmentation", map[string][]string{"allowMethods": {"GET", "HEAD"}}),
		"apisegmentation-everything": q("apiSegmentation",
			map[string][]string{"allowMethods": {"GET"}, "allowPaths": {"/api/*"}, "denyPaths": {"/api/admin", "/api/debug/*"}}),
	}
}

func TestWhatIstioIsGivenForEachIntentActionAndMesh(t *testing.T) {
	for name, r := range questions() {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			for _, labels := range []map[string]string{sidecars, ambient, nil} {
				for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
					r.Action = action
					fmt.Fprintf(&out, "# %s in a namespace labeled %v\n", action, labels)
					out.WriteString(render(t, istio.New().Translate(policy(r), facts(labels))))
				}
			}
			golden.Check(t, name+".yaml", out.String())
		})
	}
}

func TestWhatIstioIsGivenForAWholeNamespace(t *testing.T) {
	p := policy(sampleRules()...)
	p.Selector.Labels = nil
	golden.Check(t, "whole-namespace.yaml", render(t, istio.New().Translate(p, facts(sidecars))))
}

func TestWhatIstioIsGivenIsStoredAsItIs(t *testing.T) {
	objects := 0
	for name, r := range questions() {
		for _, labels := range []map[string]string{sidecars, ambient, nil} {
			for _, selector := range []map[string]string{nil, {"app": "web", "tier": ""}} {
				p := policy(r)
				p.Selector.Labels = selector
				for _, u := range istio.New().Translate(p, facts(labels)).Objects {
					objects++
					stored, problem := enginecrds.Admit(t, u)
					if problem != "" || !reflect.DeepEqual(stored.Object, u.Object) {
						t.Errorf("%s: %s %s: %s\n%v", name, u.GetKind(), u.GetName(), problem, stored.Object)
					}
				}
			}
		}
	}
	if objects < 40 {
		t.Errorf("only %d objects were tried", objects)
	}
}

// render prints claims as comments and objects as documents.
func render(t *testing.T, tr intent.Translation) string {
	t.Helper()
	var out strings.Builder
	for _, c := range tr.Claims {
		fmt.Fprintf(&out, "# %s: %s", c.Intent, c.Level)
		if c.Reason != "" {
			fmt.Fprintf(&out, "/%s", c.Reason)
		}
		if c.Message != "" {
			fmt.Fprintf(&out, ": %s", c.Message)
		}
		out.WriteString("\n")
	}
	return out.String() + golden.Manifests(t, tr.Objects)
}
