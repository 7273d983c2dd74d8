// SPDX-License-Identifier: Apache-2.0

package enginecrds_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
)

// definition is one of ours as the API server reads it.
func definition(t *testing.T, engine, kind string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	for _, u := range enginecrds.Definitions(t, engine) {
		typed := &v1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, typed, true); err != nil {
			t.Fatalf("%s: %v", u.GetName(), err)
		}
		if typed.Spec.Names.Kind != kind {
			continue
		}
		v1.SetDefaults_CustomResourceDefinition(typed)
		v1.SetDefaults_CustomResourceDefinitionSpec(&typed.Spec)
		internal := &apiextensions.CustomResourceDefinition{}
		if err := v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(typed, internal, nil); err != nil {
			t.Fatal(err)
		}
		return internal
	}
	t.Fatalf("%s has no definition of %s", engine, kind)
	return nil
}

func TestEngineKinds_AreDefinedAndAccepted(t *testing.T) {
	kinds := map[string][]string{
		enginecrds.KubeArmor:   {"KubeArmorPolicy.security.kubearmor.com/v1 Namespaced"},
		enginecrds.Kyverno:     {"Policy.kyverno.io/v1 Namespaced", "ClusterPolicy.kyverno.io/v1 Cluster"},
		enginecrds.KyvernoNext: {"ValidatingPolicy.policies.kyverno.io/v1 Cluster"},
		enginecrds.Istio:       {"PeerAuthentication.security.istio.io/v1 Namespaced", "AuthorizationPolicy.security.istio.io/v1 Namespaced"},
		enginecrds.Cilium:      {"CiliumNetworkPolicy.cilium.io/v2 Namespaced"},
		enginecrds.EKSAutoMode: {"ApplicationNetworkPolicy.networking.k8s.aws/v1alpha1 Namespaced"},
		enginecrds.KyvernoCEL: {"ValidatingPolicy.policies.kyverno.io/v1 Cluster", "NamespacedValidatingPolicy.policies.kyverno.io/v1 Namespaced",
			"MutatingPolicy.policies.kyverno.io/v1 Cluster", "NamespacedMutatingPolicy.policies.kyverno.io/v1 Namespaced"},
	}
	for _, engine := range enginecrds.Engines() {
		if got, want := len(enginecrds.Definitions(t, engine)), len(kinds[engine]); got != want {
			t.Errorf("%s has %d definitions, want %d", engine, got, want)
		}
		for _, want := range kinds[engine] {
			kind, _, _ := strings.Cut(want, ".")
			crd := definition(t, engine, kind)
			got := fmt.Sprintf("%s.%s/%s %s", crd.Spec.Names.Kind, crd.Spec.Group, crd.Spec.Versions[0].Name, crd.Spec.Scope)
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
			// The stored versions are written by the API server itself.
			crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
			if errs := validation.ValidateCustomResourceDefinition(t.Context(), crd); len(errs) > 0 {
				t.Errorf("%s: %v", crd.Name, errs.ToAggregate())
			}
		}
	}
}

// admit gives an object of the engine's kind to Admit, and returns the rest of its spec.
func admit(t *testing.T, engine, kind, object string) (string, string) {
	t.Helper()
	crd := definition(t, engine, kind)
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(object), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetAPIVersion(crd.Spec.Group + "/" + crd.Spec.Versions[0].Name)
	u.SetKind(kind)
	if crd.Spec.Scope == apiextensions.NamespaceScoped {
		u.SetNamespace("shop")
	}
	stored, problem := enginecrds.Admit(t, u)
	left, err := yaml.Marshal(map[string]any{"spec": stored.Object["spec"]})
	if err != nil {
		t.Fatal(err)
	}
	return string(left), problem
}

func TestWhatTheEnginesRefuseIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ engine, kind, object, problem string }{
		"Enforce is no action of KubeArmor": {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {action: Enforce}`, "spec.action"},
		"a severity is a number":            {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {severity: "5"}`, "spec.severity"},
		"a severity is at most 10":          {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {severity: 11}`, "spec.severity"},
		"a directory ends in /": {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {process: {matchDirectories: [{dir: /tmp}]}}`,
			"dir"},
		"a path does not end in /": {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {file: {matchPaths: [{path: /etc/}]}}`, "path"},
		"a capability without CAP": {enginecrds.KubeArmor, "KubeArmorPolicy",
			`spec: {capabilities: {matchCapabilities: [{capability: CAP_SYS_ADMIN}]}}`, "capability"},
		"a capability is named": {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {capabilities: {matchCapabilities: [{}]}}`,
			"capability"},
		"Block is no action of Kyverno": {enginecrds.Kyverno, "Policy", `spec: {validationFailureAction: Block}`, "validationFailureAction"},
		"a rule has a name and a match": {enginecrds.Kyverno, "Policy", `spec: {rules: [{}]}`, "spec.rules[0].match"},
		"a rule's name is short": {enginecrds.Kyverno, "ClusterPolicy", `spec: {rules: [{match: {}, name: ` + strings.Repeat("a", 64) +
			`}]}`, "spec.rules[0].name"},
		"any and all exclude each other": {enginecrds.Kyverno, "ClusterPolicy", `spec: {rules: [{name: a, match: {any: [], all: []}}]}`,
			"spec.rules[0].match"},
		"levels are the standard's": {enginecrds.Kyverno, "Policy",
			`spec: {rules: [{name: a, match: {}, validate: {podSecurity: {level: strict}}}]}`, "podSecurity.level"},
		"a policy has a spec": {enginecrds.Kyverno, "Policy", `metadata: {name: a}`, "spec: Required"},
		"ports without a selector": {enginecrds.Istio, "PeerAuthentication",
			`spec: {mtls: {mode: STRICT}, portLevelMtls: {"9090": {mode: PERMISSIVE}}}`, "needs a selector"},
		"ports beyond 65535": {enginecrds.Istio, "PeerAuthentication",
			`spec: {selector: {matchLabels: {a: b}}, portLevelMtls: {"65536": {mode: PERMISSIVE}}}`, "from 1 to 65535"},
		"modes in lower case":   {enginecrds.Istio, "PeerAuthentication", `spec: {mtls: {mode: strict}}`, "spec.mtls.mode"},
		"Deny in small letters": {enginecrds.Istio, "AuthorizationPolicy", `spec: {action: Deny}`, "spec.action"},
		"ports as numbers": {enginecrds.Istio, "AuthorizationPolicy", `spec: {rules: [{to: [{operation: {ports: [80]}}]}]}`,
			"ports[0]"},
		"a policy of Cilium without rules": {enginecrds.Cilium, "CiliumNetworkPolicy", `spec: {endpointSelector: {}}`, "spec"},
		"a wildcard is no name of Cilium's": {enginecrds.Cilium, "CiliumNetworkPolicy",
			`spec: {egress: [{toFQDNs: [{matchName: "*.example.com"}]}]}`, "matchName"},
		"names beside networks": {enginecrds.EKSAutoMode, "ApplicationNetworkPolicy",
			`spec: {podSelector: {}, egress: [{to: [{domainNames: [a.b], ipBlock: {cidr: 0.0.0.0/0}}]}]}`, "mutually exclusive"},
		"a wildcard inside a name": {enginecrds.EKSAutoMode, "ApplicationNetworkPolicy",
			`spec: {podSelector: {}, egress: [{to: [{domainNames: ["a.*.b"]}]}]}`, "domainNames"},
		"wildcards in labels": {enginecrds.Istio, "AuthorizationPolicy", `spec: {selector: {matchLabels: {app: "*"}}}`,
			"no wildcards"},
	} {
		if _, problem := admit(t, c.engine, c.kind, c.object); !strings.Contains(problem, c.problem) {
			t.Errorf("%s: got %q, want something about %s", name, problem, c.problem)
		}
	}
}

func TestWhatTheEnginesDefaultAndDropIsDefaultedAndDropped(t *testing.T) {
	for name, c := range map[string]struct{ engine, kind, object, want string }{
		"Kyverno's defaults": {enginecrds.Kyverno, "Policy", `spec: {rules: [{name: a, match: {resources: {}}, validate: {message: stop}}]}`, `
spec:
  admission: true
  background: true
  emitWarning: false
  rules:
  - match:
      resources: {}
    name: a
    skipBackgroundRequests: true
    validate:
      allowExistingViolations: true
      message: stop
  validationFailureAction: Audit
`},
		"empty objects stay": {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {capabilities: {}, file: {}, network: {}, process: {}, syscalls: {}}`, `
spec:
  capabilities: {}
  file: {}
  network: {}
  process: {}
  syscalls: {}
`},
		"KubeArmor drops expressions": {enginecrds.KubeArmor, "KubeArmorPolicy", `spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: Exists}]}}`, `
spec:
  selector:
    matchLabels:
      a: b
`},
		"Istio drops expressions": {enginecrds.Istio, "PeerAuthentication", `spec: {selector: {matchExpressions: [{key: c, operator: Exists}]}}`, `
spec:
  selector: {}
`},
	} {
		left, problem := admit(t, c.engine, c.kind, c.object)
		if problem != "" || left != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s: %s\n%s", name, problem, left)
		}
	}
}

func TestDefinitionsAreReadAgainEachTime(t *testing.T) {
	first := enginecrds.Definitions(t, enginecrds.Istio)
	first[0].SetName("spoilt")
	if again := enginecrds.Definitions(t, enginecrds.Istio); again[0].GetName() == "spoilt" {
		t.Error("two callers share a definition")
	}
}
