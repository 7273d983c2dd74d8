// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// question is an input for engines; it is created again each time, so that a test finds changes that an engine makes to it.
type question struct {
	name   string
	policy func() intent.Policy
	facts  func() intent.Facts
}

// questions are every intent of the catalog, and all of them at once, with and without parameters, for
// either action, in every scope, for every form of selector, in and out of a mesh.
func questions() []question {
	var out []question
	for _, wanted := range sampleQuestions() {
		for _, s := range scopes() {
			for _, pods := range selectors() {
				for mesh, labels := range meshes() {
					if labels != nil && s.policy(nil).Namespace == "" {
						continue // a policy over the cluster has no namespace, and so no labels of one
					}
					out = append(out, question{
						name: strings.Join([]string{wanted.name, s.name, pods.name, mesh}, ", "),
						policy: func() intent.Policy {
							p := s.policy(wanted.rules())
							p.Selector = pods.selector()
							return p
						},
						facts: func() intent.Facts { return facts(labels) },
					})
				}
			}
		}
	}
	return out
}

type wish struct {
	name  string
	rules func() []intent.Rule
}

func sampleQuestions() []wish {
	var out []wish
	for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
		for _, params := range []func(intent.Entry) map[string][]string{noParams, sampleParams} {
			all := func() []intent.Rule {
				var rules []intent.Rule
				for _, e := range intent.Catalog() {
					rules = append(rules, rule(e.ID, action, params(e)))
				}
				return rules
			}
			out = append(out, wish{fmt.Sprintf("%s everything", action), all})
			for i, e := range intent.Catalog() {
				out = append(out, wish{fmt.Sprintf("%s %s %v", action, e.ID, params(e)), func() []intent.Rule { return all()[i : i+1] }})
			}
		}
	}
	return out
}

func noParams(intent.Entry) map[string][]string { return nil }

// sampleParams gives each parameter a value: the last of those that it has, or one of its form.
func sampleParams(e intent.Entry) map[string][]string {
	samples := map[string][]string{
		"dnsPeers": {"169.254.20.10/32"}, "allowCIDRs": {"203.0.113.0/24"}, "allowEgressCIDRs": {"198.51.100.0/24"},
		"runtimeClass": {"kata-qemu"}, "cveList": {"CVE-2024-4439"},
		"schedule": {"@weekly"}, "external_addresses": {"example.com:443"}, "exceptPorts": {"9090", "9091"}, "awsCIDRs": {"10.20.0.0/16"},
		"fromNamespaces":      {"web", "ops"},
		"fromServiceAccounts": {"jobs/nightly"}, "ports": {"8080"}, "allowMethods": {"GET"}, "allowPaths": {"/api/*"}, "denyPaths": {"/admin"},
		"names": {"api.example.com", "*.example.org"},
	}
	out := map[string][]string{}
	for _, p := range e.Params {
		out[p.Name] = samples[p.Name]
		if len(p.Values) > 0 {
			out[p.Name] = p.Values[len(p.Values)-1:]
		}
	}
	return out
}

type scope struct {
	name   string
	policy func([]intent.Rule) intent.Policy
}

const namespaced, fromCluster, overSome, overAll = "in a namespace", "in a namespace, from a cluster binding", "over some namespaces",
	"over all namespaces but one"

func scopes() []scope {
	over := func(all bool, names, exclude string) func([]intent.Rule) intent.Policy {
		return func(rules []intent.Rule) intent.Policy {
			n := intent.Namespaces{All: all, Names: strings.Fields(names), Exclude: strings.Fields(exclude)}
			return intent.Policy{Name: "guard", FromCluster: true, Namespaces: n, Labels: map[string]string{"team": "blue"}, Rules: rules}
		}
	}
	return []scope{
		{namespaced, func(rules []intent.Rule) intent.Policy {
			return intent.Policy{Name: "guard", Namespace: "shop", Labels: map[string]string{"team": "blue"}, Rules: rules}
		}},
		{fromCluster, func(rules []intent.Rule) intent.Policy {
			return intent.Policy{Name: "nimbus-ctlr-gen-guard", Namespace: "shop", FromCluster: true, Labels: map[string]string{"team": "blue"},
				Rules: rules}
		}},
		{overSome, over(false, "shop ware", "")},
		{overAll, over(true, "", "attic kube-system nexus-system")},
	}
}

type pods struct {
	name     string
	selector func() intent.Selector
}

func selectors() []pods {
	return []pods{
		{"labels", func() intent.Selector {
			return intent.Selector{Labels: map[string]string{"app": "web", "env": "prod"}}
		}},
		{"all pods", func() intent.Selector { return intent.Selector{} }},
		{"expressions", func() intent.Selector {
			return intent.Selector{Labels: map[string]string{"app": "web"},
				Expressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"front", "back"}}}}
		}},
	}
}

func meshes() map[string]map[string]string {
	return map[string]map[string]string{
		"no mesh": nil, "sidecars": {"istio-injection": "enabled"}, "ambient": {"istio.io/dataplane-mode": "ambient"},
	}
}

func facts(labels map[string]string) intent.Facts {
	return intent.Facts{OperatorNamespace: "nexus-system", NamespaceLabels: maps.Clone(labels), MeshRootNamespace: "istio-system",
		TrustDomain: "cluster.local", AutoMode: intent.AllNodes,
		TLS: intent.TLS{Image: "registry.example.com/assessor:1"},
		Patches: intent.Patches{Known: map[string]intent.Patch{"CVE-2024-4439": {CVE: "CVE-2024-4439",
			Processes: []intent.PatchPath{{Path: "/usr/bin/php"}}}}}}
}

func rule(id string, action v1alpha1.Action, params map[string][]string) intent.Rule {
	return intent.Rule{
		ID: id, Canonical: id, Intent: "wish-" + strings.ToLower(id), Description: "As the house rules say", Severity: "7",
		Tags:   []string{"NIST", "SI-4"},
		Action: action, Params: params,
	}
}

// ask puts every question to every engine.
func ask(t *testing.T, check func(t *testing.T, e intent.Engine, q question, got intent.Translation)) {
	t.Helper()
	asked := questions()
	for _, e := range catalog.Engines() {
		t.Run(e.Name(), func(t *testing.T) {
			for _, q := range asked {
				check(t, e, q, e.Translate(q.policy(), q.facts()))
				if t.Failed() {
					t.Fatalf("asked: %s", q.name)
				}
			}
		})
	}
}

func TestTheSamplesAreParametersThatTheCatalogTakes(t *testing.T) {
	for _, e := range intent.Catalog() {
		params := sampleParams(e)
		if problem := e.Check(params); problem != "" {
			t.Errorf("%s: %s", e.ID, problem)
		}
		for _, p := range e.Params {
			if len(params[p.Name]) == 0 {
				t.Errorf("%s of %s is asked nowhere: give it a sample", p.Name, e.ID)
			}
		}
	}
}

func TestEveryEngineHasItsSayAboutEveryIntent(t *testing.T) {
	word := regexp.MustCompile(`^[A-Z][A-Za-z]{1,62}$`)
	ask(t, func(t *testing.T, _ intent.Engine, q question, got intent.Translation) {
		rules := q.policy().Rules
		if len(got.Claims) != len(rules) {
			t.Fatalf("%d claims for %d rules (%s)", len(got.Claims), len(rules), q.name)
		}
		for i, c := range got.Claims {
			if c.Intent != rules[i].ID {
				t.Errorf("claim %d is for %s, want %s", i, c.Intent, rules[i].ID)
			}
			switch c.Level {
			case v1alpha1.LevelEnforced, v1alpha1.LevelAudited:
				if c.Reason != "" || (c.Level == v1alpha1.LevelAudited) != rules[i].Audit() {
					t.Errorf("%s with action %s is claimed %+v", c.Intent, rules[i].Action, c)
				}
			case v1alpha1.LevelPartial, v1alpha1.LevelNone:
				if !word.MatchString(c.Reason) || c.Message == "" || len(c.Message) > 512 {
					t.Errorf("%s: claim %+v, want a reason in one word and a message that fits the status", c.Intent, c)
				}
			default:
				t.Errorf("%s is claimed %q, which is no level", c.Intent, c.Level)
			}
		}
	})
}

// Each object enforces a claim, and no other claim has an object.
func TestClaimsAndObjectsAgree(t *testing.T) {
	ask(t, func(t *testing.T, _ intent.Engine, q question, got intent.Translation) {
		made := map[string]int{}
		for _, u := range got.Objects {
			made[u.GetLabels()[intent.LabelRule]]++
		}
		alone := len(q.policy().Rules) == 1
		for _, c := range got.Claims {
			switch n := made[c.Intent]; {
			case c.Level == v1alpha1.LevelNone && n > 0:
				t.Errorf("%s has %d objects and is claimed %+v", c.Intent, n, c)
			// With others, another rule's object may do it.
			case c.Level != v1alpha1.LevelNone && n == 0 && alone:
				t.Errorf("%s has no object and is claimed %+v", c.Intent, c)
			}
			delete(made, c.Intent)
		}
		if len(made) > 0 {
			t.Errorf("objects of no rule: %v", made)
		}
	})
}

func TestWithoutRulesThereAreNoObjects(t *testing.T) {
	for _, e := range catalog.Engines() {
		for _, s := range scopes() {
			if got := e.Translate(s.policy(nil), facts(nil)); len(got.Objects)+len(got.Claims) > 0 {
				t.Errorf("%s, %s: %+v", e.Name(), s.name, got)
			}
		}
	}
}

func TestObjects_HaveKnownKindsAndUniqueNames(t *testing.T) {
	ask(t, func(t *testing.T, e intent.Engine, _ question, got intent.Translation) {
		seen := map[string]bool{}
		for _, u := range got.Objects {
			kind := u.GroupVersionKind()
			if !slices.Contains(e.Makes(), kind) {
				t.Errorf("%s makes %v, not %s", e.Name(), e.Makes(), kind)
			}
			if id := kind.Kind + "/" + u.GetName(); seen[id] {
				t.Errorf("two objects are %s", id)
			} else {
				seen[id] = true
			}
			if spec, _ := u.Object["spec"].(map[string]any); len(spec) == 0 {
				t.Errorf("%s says nothing", u.GetName())
			}
			if got, want := u.GetAnnotations()[wellknown.LabelManagedBy],
				strings.Replace("nimbus-"+strings.ToLower(e.Name()), "networkpolicy", "netpol", 1); got != want {
				t.Errorf("%s is managed by %q, want %q", u.GetName(), got, want)
			}
		}
	})
}

func TestObjects_OnlyNamespacedPoliciesMakeThem(t *testing.T) {
	clusterScoped := []string{"ClusterPolicy"}
	ask(t, func(t *testing.T, _ intent.Engine, q question, got intent.Translation) {
		want := q.policy().Namespace
		for _, u := range got.Objects {
			if u.GetNamespace() != want || slices.Contains(clusterScoped, u.GetKind()) != (want == "") {
				t.Errorf("%s %q in namespace %q, want %q", u.GetKind(), u.GetName(), u.GetNamespace(), want)
			}
		}
	})
}

func TestAskedAgainAnEngineSaysTheSameAndLeavesTheQuestionAlone(t *testing.T) {
	ask(t, func(t *testing.T, e intent.Engine, q question, _ intent.Translation) {
		p, f := q.policy(), q.facts()
		first := e.Translate(p, f)
		kept := intent.Translation{Claims: slices.Clone(first.Claims)}
		for _, u := range first.Objects {
			kept.Objects = append(kept.Objects, u.DeepCopy()) // panics at values that are not plain JSON
			scramble(u.Object)
		}
		if !reflect.DeepEqual(p, q.policy()) || !reflect.DeepEqual(f, q.facts()) {
			t.Error("the policy or the facts are changed with the objects, or by the engine")
		}
		if again := e.Translate(p, f); !reflect.DeepEqual(again, kept) {
			t.Error("the second answer differs, or shares what it is made of with the first")
		}
	})
}

// scramble changes every map and list below v.
func scramble(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			scramble(item)
		}
		clear(v)
		v["scrambled"] = true
	case []any:
		for i, item := range v {
			scramble(item)
			v[i] = "scrambled"
		}
	}
}

// A word such as Block or Enforce anywhere in an object would block; DENY only reports in a dry run; and
// NetworkPolicies, PeerAuthentications and mutations cannot but act.
func TestAnAuditNeverBlocks(t *testing.T) {
	acts := regexp.MustCompile(`"(Block|Enforce|enforce|Deny|deny)"`)
	ask(t, func(t *testing.T, _ intent.Engine, q question, got intent.Translation) {
		if !q.policy().Rules[0].Audit() {
			return
		}
		for _, u := range got.Objects {
			text, err := json.Marshal(u.Object)
			if err != nil {
				t.Fatal(err)
			}
			dry := u.GetAnnotations()["istio.io/dry-run"] == "true"
			switch {
			case acts.Match(text), slices.Contains([]string{"NetworkPolicy", "PeerAuthentication", "CiliumNetworkPolicy",
				"ApplicationNetworkPolicy"}, u.GetKind()),
				strings.Contains(string(text), "patchStrategicMerge"), u.GetKind() == "AuthorizationPolicy" && !dry:
				t.Errorf("%s blocks: %s", u.GetName(), text)
			}
		}
	})
}

// translateWithEveryEngine returns the objects of a policy as kind/name, in the order of catalog.Engines.
func translateWithEveryEngine(p intent.Policy) []string {
	var out []string
	for _, e := range catalog.Engines() {
		for _, u := range e.Translate(p, facts(map[string]string{"istio-injection": "enabled"})).Objects {
			out = append(out, reference(u))
		}
	}
	return out
}

func reference(u *unstructured.Unstructured) string { return u.GetKind() + "/" + u.GetName() }

func TestTheObjectsThatUsersCountOn(t *testing.T) {
	for _, c := range []struct {
		id, scope string
		want      []string
	}{
		{"dnsManipulation", namespaced, []string{"NetworkPolicy/guard-dnsmanipulation", "KubeArmorPolicy/guard-dnsmanipulation"}},
		{"dnsManipulation", fromCluster,
			[]string{"NetworkPolicy/nimbus-ctlr-gen-guard-dnsmanipulation", "KubeArmorPolicy/nimbus-ctlr-gen-guard-dnsmanipulation"}},
		{"dnsManipulation", overAll, nil},
		{"escapeToHost", namespaced, []string{
			"KubeArmorPolicy/guard-escapetohost-disallowchroot", "KubeArmorPolicy/guard-escapetohost-disallowcapabilities",
			"KubeArmorPolicy/guard-escapetohost-swdeploymenttools", "Policy/guard-escapetohost",
		}},
		{"escapeToHost", fromCluster, []string{
			"KubeArmorPolicy/nimbus-ctlr-gen-guard-escapetohost-disallowchroot",
			"KubeArmorPolicy/nimbus-ctlr-gen-guard-escapetohost-disallowcapabilities",
			"KubeArmorPolicy/nimbus-ctlr-gen-guard-escapetohost-swdeploymenttools",
		}},
		{"escapeToHost", overSome, []string{"ClusterPolicy/guard-escapetohost"}},
		{"escapeToHost", overAll, []string{"ClusterPolicy/guard-escapetohost"}},
	} {
		t.Run(c.id+" "+c.scope, func(t *testing.T) {
			s := scopes()[slices.IndexFunc(scopes(), func(s scope) bool { return s.name == c.scope })]
			p := s.policy([]intent.Rule{rule(c.id, v1alpha1.Block, nil)})
			p.Selector.Labels = map[string]string{"app": "web"}
			if got := translateWithEveryEngine(p); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Each intent that can be done at all is done by a person, for a binding and for a cluster binding.
func TestEveryIntentIsSomebodys(t *testing.T) {
	for _, e := range intent.Catalog() {
		r := rule(e.ID, v1alpha1.Block, sampleParams(e))
		for _, reached := range [][]string{{namespaced}, {fromCluster, overAll}} {
			var done bool
			for _, s := range scopes() {
				if !slices.Contains(reached, s.name) {
					continue
				}
				p := s.policy([]intent.Rule{r})
				p.Selector.Labels = map[string]string{"app": "web"}
				done = done || len(translateWithEveryEngine(p)) > 0
			}
			if !done {
				t.Errorf("%s: no engine does anything %v", e.ID, reached)
			}
		}
	}
}
