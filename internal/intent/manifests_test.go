// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// sameAs compares an object with a manifest, leaving out its empty status and creation time.
func sameAs(t *testing.T, obj any, manifest string) {
	t.Helper()
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(manifest), &want); err != nil {
		t.Fatal(err)
	}
	delete(got, "status")
	delete(got["metadata"].(map[string]any), "creationTimestamp")
	equal(t, "the manifest", got, want)
}

func TestANimbusPolicyIsWrittenInBothDialects(t *testing.T) {
	b := bind("dns", "tools")
	b.Labels, b.MatchLabels, b.CEL = map[string]string{"team": "web"}, map[string]string{"app": "web"},
		[]string{`has(labels.tier) && labels.env != "test"`}
	k := intents("tools", "pkgMgrs")
	k["dns"] = securityIntent("dns", "dnsManipulation", v1alpha1.Enforce, v1alpha1.Params{"otherEgress": {"allow"}})
	sameAs(t, intent.NimbusPolicyOf(only(t, resolve(b, k))), `
apiVersion: intent.security.nimbus.com/v1alpha1
kind: NimbusPolicy
metadata:
  name: web
  namespace: shop
  labels: {team: web}
spec:
  selector:
    matchLabels: {app: web}
    matchExpressions:
    - {key: env, operator: NotIn, values: [test]}
    - {key: tier, operator: Exists}
  rules:
  - id: dnsManipulation
    description: of dns
    rule: {action: Enforce, params: {otherEgress: [allow]}}
    action: Enforce
    params: {otherEgress: [allow]}
  - id: pkgMgrs
    description: of tools
    rule: {action: Block}
    action: Block
`)
}

func TestAPolicyForEveryPodHasAnEmptySelector(t *testing.T) {
	sameAs(t, intent.NimbusPolicyOf(only(t, resolve(bind("i"), intents("i", "pkgMgrs")))), `
apiVersion: intent.security.nimbus.com/v1alpha1
kind: NimbusPolicy
metadata: {name: web, namespace: shop}
spec:
  selector: {}
  rules: [{id: pkgMgrs, description: of i, rule: {action: Block}, action: Block}]
`)
}

func TestClusterNimbusPolicy_RepeatsBindingAndNodeSelector(t *testing.T) {
	k := intents("i", "pkgMgrs")
	for name, tc := range map[string]struct {
		binding  intent.Binding
		selector string
	}{
		"every namespace": {bindCluster([]string{"*"}, nil, "i"), `{nodeSelector: {}, nsSelector: {matchNames: ["*"]}, workloadSelector: {}}`},
		"some": {bindCluster([]string{"shop", "bank"}, nil, "i"),
			`{nodeSelector: {}, nsSelector: {matchNames: [shop, bank]}, workloadSelector: {}}`},
		"all but some": {bindCluster(nil, []string{"shop", "bank"}, "i"),
			`{nodeSelector: {}, nsSelector: {excludeNames: [shop, bank]}, workloadSelector: {}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := resolve(tc.binding, k, "shop")
			if r.Cluster == nil {
				t.Fatalf("the binding comes to %+v", r)
			}
			sameAs(t, intent.ClusterNimbusPolicyOf(*r.Cluster), `
apiVersion: intent.security.nimbus.com/v1alpha1
kind: ClusterNimbusPolicy
metadata: {name: all}
spec:
  selector: `+tc.selector+`
  rules: [{id: pkgMgrs, description: of i, rule: {action: Block}, action: Block}]
`)
		})
	}
}

func TestAClusterNimbusPolicyCarriesLabelsAndSelectors(t *testing.T) {
	b := bindCluster([]string{"shop"}, nil, "i")
	b.Labels = map[string]string{"team": "web", "nexus.ai/owner": "x"}
	b.NodeSelector, b.WorkloadLabels = map[string]string{"disk": "ssd"}, map[string]string{"app": "web"}
	r := resolve(b, intents("i", "pkgMgrs"))
	if r.Cluster == nil {
		t.Fatalf("the binding comes to %+v", r)
	}
	sameAs(t, intent.ClusterNimbusPolicyOf(*r.Cluster), `
apiVersion: intent.security.nimbus.com/v1alpha1
kind: ClusterNimbusPolicy
metadata: {name: all, labels: {team: web}}
spec:
  selector:
    nodeSelector: {matchLabels: {disk: ssd}}
    nsSelector: {matchNames: [shop]}
    workloadSelector: {matchLabels: {app: web}}
  rules: [{id: pkgMgrs, description: of i, rule: {action: Block}, action: Block}]
`)
}
