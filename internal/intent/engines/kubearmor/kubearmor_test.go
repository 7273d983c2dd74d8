// SPDX-License-Identifier: Apache-2.0

package kubearmor_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kubearmor"
)

// ids are the catalog's, and the aliases.
func ids() []string {
	var out []string
	for _, e := range intent.Catalog() {
		out = append(append(out, e.ID), e.Aliases...)
	}
	return out
}

// covered lists the intents that KubeArmor has something for.
func covered() []string {
	return []string{
		"dnsManipulation", "swDeploymentTools", "pkgManagerExecution", "pkgMgrs", "unAuthorizedSaTokenAccess",
		"preventExecutionFromTempOrLogsFolders", "exploitPFA", "escapeToHost",
	}
}

func rule(id string, action v1alpha1.Action) intent.Rule {
	e, _ := intent.Lookup(id)
	return intent.Rule{
		ID: id, Canonical: e.ID, Intent: "wish", Description: "As the house rules say", Severity: "7", Tags: []string{"NIST", "SI-4"},
		Action: action,
	}
}

func policy(rules ...intent.Rule) intent.Policy {
	return intent.Policy{Name: "guard", Namespace: "shop", Selector: intent.Selector{Labels: map[string]string{"app": "web", "env": "prod"}},
		Rules: rules}
}

func clusterwide(rules ...intent.Rule) intent.Policy {
	p := policy(rules...)
	p.Namespace, p.FromCluster, p.Namespaces = "", true, intent.Namespaces{Names: []string{"shop"}}
	return p
}

type scope struct {
	name   string
	policy func(...intent.Rule) intent.Policy
}

func scopes() []scope {
	return []scope{
		{"in a namespace", policy},
		{"in a namespace, from a cluster binding", func(rules ...intent.Rule) intent.Policy {
			p := policy(rules...)
			p.Name, p.FromCluster = "nimbus-ctlr-gen-guard", true
			return p
		}},
		{"over the cluster", clusterwide},
	}
}

func translate(p intent.Policy) intent.Translation {
	return kubearmor.New().Translate(p, intent.Facts{})
}

func one(t *testing.T, p intent.Policy) *unstructured.Unstructured {
	t.Helper()
	got := translate(p)
	if len(got.Objects) != 1 {
		t.Fatalf("%d objects, want 1; claims %+v", len(got.Objects), got.Claims)
	}
	return got.Objects[0]
}

func at(t *testing.T, u *unstructured.Unstructured, fields ...string) any {
	t.Helper()
	v, _, err := unstructured.NestedFieldNoCopy(u.Object, fields...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOnlyItsOwnIntentsAreCovered(t *testing.T) {
	for _, id := range ids() {
		got := translate(policy(rule(id, v1alpha1.Block)))
		want := slices.Contains(covered(), id)
		if made := len(got.Objects) > 0; made != want {
			t.Errorf("%s: objects made: %v, want %v", id, made, want)
		}
		if c := got.Claims[0]; !want && id != "virtualPatch" &&
			(c.Level != v1alpha1.LevelNone || c.Reason != intent.ReasonNotCovered || c.Message == "") {
			t.Errorf("%s: claim %+v, want None/NotCovered and a sentence", id, c)
		}
	}
}

func TestAliasesAreTheSameUnderAnotherName(t *testing.T) {
	for canonical, alias := range map[string]string{"swDeploymentTools": "pkgManagerExecution",
		"preventExecutionFromTempOrLogsFolders": "exploitPFA"} {
		a, b := one(t, policy(rule(canonical, v1alpha1.Block))), one(t, policy(rule(alias, v1alpha1.Block)))
		if !reflect.DeepEqual(a.Object["spec"], b.Object["spec"]) {
			t.Errorf("%s and %s differ", canonical, alias)
		}
		if want := "guard-" + strings.ToLower(alias); b.GetName() != want {
			t.Errorf("name %s, want %s", b.GetName(), want)
		}
	}
}

func TestTheThreePoliciesOfEscapeToHostHaveTheirOrder(t *testing.T) {
	var got []string
	for _, u := range translate(policy(rule("escapeToHost", v1alpha1.Block))).Objects {
		got = append(got, u.GetName())
	}
	want := []string{"guard-escapetohost-disallowchroot", "guard-escapetohost-disallowcapabilities", "guard-escapetohost-swdeploymenttools"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An engine is given Block for Enforce; should it be given Enforce itself, that is still no word of KubeArmor's.
func TestEnforceIsSentAsBlock(t *testing.T) {
	for _, id := range covered() {
		block, enforce := translate(policy(rule(id, v1alpha1.Block))), translate(policy(rule(id, v1alpha1.Enforce)))
		if !reflect.DeepEqual(block, enforce) {
			t.Errorf("%s: Enforce and Block differ", id)
		}
	}
}

func TestAuditSaysBlockNowhere(t *testing.T) {
	for _, id := range covered() {
		got := translate(policy(rule(id, v1alpha1.Audit)))
		if text := render(t, got); strings.Contains(text, "Block") || !strings.Contains(text, "action: Audit") {
			t.Errorf("%s:\n%s", id, text)
		}
		if c := got.Claims[0]; c.Level != v1alpha1.LevelAudited {
			t.Errorf("%s: claim %+v, want Audited", id, c)
		}
	}
}

func TestReadingResolvConfIsNotForbidden(t *testing.T) {
	u := one(t, policy(rule("dnsManipulation", v1alpha1.Block)))
	if got, want := at(t, u, "spec", "file", "matchPaths"),
		[]any{map[string]any{"path": "/etc/resolv.conf", "readOnly": true}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPkgMgrsHasTheFormOfTheSecondDialect(t *testing.T) {
	r := rule("pkgMgrs", v1alpha1.Block)
	r.Severity = ""
	u := one(t, policy(r))
	for field, want := range map[string]any{"process.action": "Block", "process.severity": int64(5), "severity": int64(5), "action": "Block"} {
		if got := at(t, u, append([]string{"spec"}, strings.Split(field, ".")...)...); got != want {
			t.Errorf("spec.%s is %v, want %v", field, got, want)
		}
	}
	for label, want := range map[string]string{"app.kubernetes.io/part-of": "guard-nimbuspolicy",
		"app.kubernetes.io/managed-by": "nimbus-kubearmor"} {
		if got := u.GetLabels()[label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	for _, path := range pathsIn(u) {
		if strings.HasSuffix(path, "/curl") || strings.Contains(path, "/wget") {
			t.Errorf("%s is no package manager", path)
		}
	}
}

func TestTheLabelWithThePolicysNameStaysALabelHoweverLongTheName(t *testing.T) {
	p := policy(rule("pkgMgrs", v1alpha1.Block))
	p.Name = strings.Repeat("long.", 30) + "name"
	got := one(t, p).GetLabels()["app.kubernetes.io/part-of"]
	if problems := validation.IsValidLabelValue(got); len(problems) > 0 {
		t.Errorf("%q: %v", got, problems)
	}
}

func TestOnlyASeverityOfItsScaleIsPassedOn(t *testing.T) {
	for given, want := range map[string]any{"1": int64(1), "10": int64(10), "0": nil, "11": nil, "-1": nil, "high": nil, "": nil, "5.5": nil} {
		r := rule("dnsManipulation", v1alpha1.Block)
		r.Severity = given
		if got := at(t, one(t, policy(r)), "spec", "severity"); got != want {
			t.Errorf("severity %q became %v, want %v", given, got, want)
		}
	}
}

func TestWhatAnIntentDoesNotSayIsLeftOut(t *testing.T) {
	r := rule("dnsManipulation", v1alpha1.Block)
	r.Description, r.Severity, r.Tags = "", "", nil
	spec := one(t, policy(r)).Object["spec"].(map[string]any)
	for _, field := range []string{"message", "severity", "tags"} {
		if v, there := spec[field]; there {
			t.Errorf("spec.%s is %v, want nothing", field, v)
		}
	}
}

func TestEverySectionIsThereAndTheUnusedOnesEmpty(t *testing.T) {
	for _, id := range covered() {
		for _, u := range translate(policy(rule(id, v1alpha1.Block))).Objects {
			var used []string
			for _, section := range []string{"capabilities", "file", "network", "process", "syscalls"} {
				rules, ok := at(t, u, "spec", section).(map[string]any)
				if !ok {
					t.Errorf("%s: spec.%s is missing", u.GetName(), section)
				}
				if len(rules) > 0 {
					used = append(used, section)
				}
			}
			if len(used) != 1 {
				t.Errorf("%s uses %v, want one section", u.GetName(), used)
			}
		}
	}
}

func TestAnEmptySelectorIsTheWholeNamespace(t *testing.T) {
	p := policy(rule("dnsManipulation", v1alpha1.Block))
	p.Selector = intent.Selector{}
	if got := at(t, one(t, p), "spec", "selector"); !reflect.DeepEqual(got, map[string]any{}) {
		t.Errorf("selector is %v, want {}", got)
	}
}

func TestLabelsMustAllMatch(t *testing.T) {
	got := at(t, one(t, policy(rule("dnsManipulation", v1alpha1.Block))), "spec", "selector")
	want := map[string]any{"matchLabels": map[string]any{"app": "web", "env": "prod"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("selector is %v, want %v", got, want)
	}
}

func TestExpressionsCannotBeSaidSoNothingIsMade(t *testing.T) {
	p := policy(rule("escapeToHost", v1alpha1.Block), rule("ensureTLS", v1alpha1.Block))
	p.Selector.Expressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}
	got := translate(p)
	if len(got.Objects) != 0 {
		t.Errorf("%d objects, want none: they would be for more pods than selected", len(got.Objects))
	}
	if a, b := got.Claims[0].Reason, got.Claims[1].Reason; a != intent.ReasonSelectorUnsupported || b != intent.ReasonNotCovered {
		t.Errorf("reasons %s and %s, want SelectorUnsupported and NotCovered", a, b)
	}
}

func TestOverTheClusterThereIsNothingToAdd(t *testing.T) {
	for _, id := range ids() {
		got := translate(clusterwide(rule(id, v1alpha1.Block)))
		want := intent.ReasonNotCovered
		if slices.Contains(covered(), id) {
			want = intent.ReasonElsewhere
		}
		if id == "virtualPatch" {
			want = intent.ReasonInvalidParams // it names no vulnerability
		}
		if c := got.Claims[0]; len(got.Objects) != 0 || c.Level != v1alpha1.LevelNone || c.Reason != want {
			t.Errorf("%s: %d objects and claim %+v, want None/%s", id, len(got.Objects), c, want)
		}
	}
}

// KubeArmor's definition refuses a path that is not absolute or ends with /, and a directory that does not,
// and capabilities that it does not know.
func TestKubeArmorsDefinitionTakesEveryPathDirectoryAndCapability(t *testing.T) {
	path, directory := regexp.MustCompile(`^/.*[^/]$`), regexp.MustCompile(`^/.*/$`)
	known := []string{"dac_override", "dac_read_search", "sys_admin", "sys_module", "sys_ptrace"}
	for _, id := range covered() {
		for _, u := range translate(policy(rule(id, v1alpha1.Block))).Objects {
			for field, valid := range map[string]func(string) bool{
				"path": path.MatchString, "dir": directory.MatchString, "capability": func(s string) bool { return slices.Contains(known, s) },
			} {
				values := valuesIn(u.Object["spec"], field)
				if i := slices.IndexFunc(values, func(v string) bool { return !valid(v) }); i >= 0 {
					t.Errorf("%s: %s %s would be refused", u.GetName(), field, values[i])
				}
				slices.Sort(values)
				if n := len(values); n != len(slices.Compact(values)) {
					t.Errorf("%s names a %s twice", u.GetName(), field)
				}
			}
		}
	}
}

func TestEveryToolIsNamed(t *testing.T) {
	managers := strings.Fields("apt apt-get apk dpkg gdebi make yum rpm dnf pacman makepkg yaourt zypper")
	for id, tools := range map[string][]string{"pkgMgrs": managers, "swDeploymentTools": append(slices.Clone(managers), "curl", "wget")} {
		found := pathsIn(one(t, policy(rule(id, v1alpha1.Block))))
		for _, tool := range tools {
			if !slices.ContainsFunc(found, func(p string) bool { return strings.HasSuffix(p, "/"+tool) }) {
				t.Errorf("%s does not name %s", id, tool)
			}
		}
	}
}

func TestItNeedsAndMakesKubeArmorPoliciesOnly(t *testing.T) {
	e := kubearmor.New()
	if e.Name() != "KubeArmor" || len(e.Requires()) != 1 || !slices.Equal(e.Requires(), e.Makes()) ||
		e.Makes()[0].String() != "security.kubearmor.com/v1, Kind=KubeArmorPolicy" {
		t.Errorf("%s requires %v and makes %v", e.Name(), e.Requires(), e.Makes())
	}
}

func pathsIn(u *unstructured.Unstructured) []string { return valuesIn(u.Object["spec"], "path") }

// valuesIn are the strings that a field has anywhere below v.
func valuesIn(v any, field string) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if s, ok := item.(string); ok && k == field {
				out = append(out, s)
			}
			out = append(out, valuesIn(item, field)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, valuesIn(item, field)...)
		}
	}
	return out
}

func TestClaimsTellTheLimitsOfBPF(t *testing.T) {
	patched := intent.Facts{Patches: intent.Patches{Known: map[string]intent.Patch{
		"CVE-2021-4034": {Processes: []intent.PatchPath{{Path: "/usr/bin/pkexec"}}},
		"CVE-2021-0001": {Files: []intent.PatchPath{{Path: "/etc/passwd", ReadOnly: true}}},
		"CVE-2021-0002": {Processes: []intent.PatchPath{{Path: "/opt/tool/"}}},
		"CVE-2021-0003": {Processes: []intent.PatchPath{{Path: "/" + strings.Repeat("a", 62) + "/"}}},
		"CVE-2021-0004": {Processes: []intent.PatchPath{{Path: "/" + strings.Repeat("a", 63) + "/"}}},
		"CVE-2021-0005": {Files: []intent.PatchPath{{Path: strings.Repeat("/a", 19)}}},
		"CVE-2021-0006": {Files: []intent.PatchPath{{Path: strings.Repeat("/a", 20)}}},
	}}}
	for name, tc := range map[string]struct {
		id, cve, limit string
	}{
		"a file that stays readable": {"dnsManipulation", "",
			"does not keep processes from writing /etc/resolv.conf, which is readOnly, by a memory mapping"},
		"folders of any depth":          {"preventExecutionFromTempOrLogsFolders", "", "more than 20 directories deep"},
		"the folder of the token":       {"unAuthorizedSaTokenAccess", "", ""},
		"files":                         {"swDeploymentTools", "", ""},
		"a patch of a file":             {"virtualPatch", "CVE-2021-4034", ""},
		"a patch that leaves it open":   {"virtualPatch", "CVE-2021-0001", "/etc/passwd"},
		"a patch of a folder":           {"virtualPatch", "CVE-2021-0002", "more than 20 directories deep"},
		"a patch of a long folder":      {"virtualPatch", "CVE-2021-0003", "in the folders; kubectl"},
		"a patch of a longer folder":    {"virtualPatch", "CVE-2021-0004", "/, which has more than 64 characters"},
		"a patch of a deep file":        {"virtualPatch", "CVE-2021-0005", ""},
		"a patch of a deeper file":      {"virtualPatch", "CVE-2021-0006", "/a/a, which is 20 or more directories deep"},
		"files, chroot and privileges ": {"escapeToHost", "", ""},
	} {
		for _, appArmor := range []bool{false, true} {
			for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
				r := intent.Rule{ID: tc.id, Canonical: tc.id, Action: action}
				if tc.cve != "" {
					r.Params = map[string][]string{"cveList": {tc.cve}}
				}
				facts := patched
				facts.AppArmor = appArmor
				c := kubearmor.New().Translate(intent.Policy{Name: "p", Namespace: "n", Rules: []intent.Rule{r}}, facts).Claims[0]
				partly := tc.limit != "" && !appArmor && action == v1alpha1.Block
				if (c.Reason == intent.ReasonEngineLimit) != partly || partly && !strings.Contains(c.Message, tc.limit) || !partly && !c.Holds() {
					t.Errorf("%s, AppArmor %t, %s: %+v", name, appArmor, action, c)
				}
			}
		}
	}
}

func TestPodsOnNodesWithSELinuxOnlyAreNotHeld(t *testing.T) {
	for _, tc := range []struct {
		nodes  intent.NodeShare
		action v1alpha1.Action
		level  v1alpha1.Level
		reason string
	}{
		{intent.NoNodes, v1alpha1.Block, v1alpha1.LevelEnforced, ""},
		{intent.SomeNodes, v1alpha1.Block, v1alpha1.LevelPartial, intent.ReasonNoEnforcer},
		{intent.AllNodes, v1alpha1.Block, v1alpha1.LevelNone, intent.ReasonNoEnforcer},
		{intent.AllNodes, v1alpha1.Audit, v1alpha1.LevelAudited, ""},
	} {
		r := intent.Rule{ID: "swDeploymentTools", Canonical: "swDeploymentTools", Action: tc.action}
		got := kubearmor.New().Translate(intent.Policy{Name: "p", Namespace: "n", Rules: []intent.Rule{r}}, intent.Facts{SELinux: tc.nodes})
		if c := got.Claims[0]; c.Level != tc.level || c.Reason != tc.reason || len(got.Objects) != 1 {
			t.Errorf("SELinux on %q nodes, %s: %+v and %d objects, want %s %s", tc.nodes, tc.action, c, len(got.Objects), tc.level, tc.reason)
		}
	}
}

func TestPodsOnNodesWithoutKubeArmorAreNotHeld(t *testing.T) {
	for _, tc := range []struct {
		nodes  intent.NodeShare
		action v1alpha1.Action
		level  v1alpha1.Level
	}{
		{intent.SomeNodes, v1alpha1.Block, v1alpha1.LevelPartial},
		{intent.SomeNodes, v1alpha1.Audit, v1alpha1.LevelPartial},
		{intent.AllNodes, v1alpha1.Block, v1alpha1.LevelNone},
	} {
		r := intent.Rule{ID: "swDeploymentTools", Canonical: "swDeploymentTools", Action: tc.action}
		got := kubearmor.New().Translate(intent.Policy{Name: "p", Namespace: "n", Rules: []intent.Rule{r}}, intent.Facts{NoAgents: tc.nodes})
		if c := got.Claims[0]; c.Level != tc.level || c.Reason != intent.ReasonNodesNotCovered || len(got.Objects) != 1 {
			t.Errorf("on %q nodes, %s: %+v and %d objects", tc.nodes, tc.action, c, len(got.Objects))
		}
	}
}

func TestTheTokenIsKeptAtBothOfItsPaths(t *testing.T) {
	r := intent.Rule{ID: "unAuthorizedSaTokenAccess", Canonical: "unAuthorizedSaTokenAccess", Action: v1alpha1.Block}
	o := kubearmor.New().Translate(intent.Policy{Name: "p", Namespace: "n", Rules: []intent.Rule{r}}, intent.Facts{}).Objects[0]
	text := fmt.Sprint(o.Object["spec"])
	for _, dir := range []string{"dir:/run/secrets/", "dir:/var/run/secrets/"} {
		if !strings.Contains(text, dir) {
			t.Errorf("%s is not in %s", dir, text)
		}
	}
}
