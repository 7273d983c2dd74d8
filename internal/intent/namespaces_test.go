// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func selectedNamespaces(r intent.Resolution) []string {
	var out []string
	for _, p := range r.Policies {
		out = append(out, p.Namespace)
	}
	return out
}

func everything() []string {
	return []string{"shop", "kube-system", "nexus-system", "bank", "kube-public"}
}

func TestAStarSelectsEveryNamespaceButTheSystemsAndTheOperators(t *testing.T) {
	r := resolve(bindCluster([]string{"*"}, nil, "a"), intents("a", "pkgMgrs"), everything()...)
	equal(t, "namespaces", selectedNamespaces(r), []string{"bank", "kube-public", "shop"})
	equal(t, "all", r.Cluster.Namespaces.All, true)
	equal(t, "left out", r.Cluster.Namespaces.Exclude, []string{"kube-system", "nexus-system"})
	equal(t, "named", r.Cluster.Namespaces.Names, []string(nil))
}

func TestExclusionSelectsTheRestButTheSystemsAndTheOperators(t *testing.T) {
	r := resolve(bindCluster(nil, []string{"shop", "zoo", "shop", "kube-system"}, "a"), intents("a", "pkgMgrs"), everything()...)
	equal(t, "namespaces", selectedNamespaces(r), []string{"bank", "kube-public"})
	equal(t, "left out", r.Cluster.Namespaces.Exclude, []string{"kube-system", "nexus-system", "shop", "zoo"})
}

func TestWithoutAnOperatorNamespaceOnlyTheSystemsIsLeftOut(t *testing.T) {
	r := intent.Resolve(bindCluster([]string{"*"}, nil, "a"), intents("a", "pkgMgrs"), namespaces(everything()...), intent.Options{})
	equal(t, "namespaces", selectedNamespaces(r), []string{"bank", "kube-public", "nexus-system", "shop"})
	equal(t, "left out", r.Cluster.Namespaces.Exclude, []string{"kube-system"})
}

func TestANamespaceIsSelectedOnceItExists(t *testing.T) {
	b := bindCluster([]string{"later", "shop", "shop"}, nil, "a")
	k := intents("a", "pkgMgrs")
	r := resolve(b, k, "shop")
	equal(t, "before", selectedNamespaces(r), []string{"shop"})
	equal(t, "named", r.Cluster.Namespaces.Names, []string{"later", "shop"})
	equal(t, "after", selectedNamespaces(resolve(b, k, "shop", "later")), []string{"later", "shop"})
}

func TestWithoutASelectedNamespaceTheClusterPolicyStands(t *testing.T) {
	r := resolve(bindCluster([]string{"later"}, nil, "a"), intents("a", "pkgMgrs"), "shop")
	if len(r.Policies) > 0 || r.Cluster == nil || len(r.Problems) > 0 {
		t.Errorf("the binding comes to %+v", r)
	}
}

func TestATerminatingNamespaceIsLeftOut(t *testing.T) {
	all := append(namespaces("shop"), intent.Namespace{Name: "going", Terminating: true})
	r := intent.Resolve(bindCluster([]string{"*"}, nil, "a"), intents("a", "pkgMgrs"), all, intent.Options{})
	equal(t, "namespaces", selectedNamespaces(r), []string{"shop"})
}

func TestAWrongNamespaceSelectorSelectsNothingAndNamesTheField(t *testing.T) {
	const field = "spec.selector.nsSelector"
	for name, tc := range map[string]struct {
		match, exclude []string
		field, says    string
	}{
		"neither":                {nil, nil, field, "exactly one"},
		"both":                   {[]string{"shop"}, []string{"bank"}, field, "exactly one"},
		"star and exclusion":     {[]string{"*"}, []string{"bank"}, field, "exactly one"},
		"star with others":       {[]string{"*", "shop"}, nil, field + ".matchNames", "alone"},
		"star twice":             {[]string{"*", "*"}, nil, field + ".matchNames", "alone"},
		"excluded star":          {nil, []string{"*"}, field + ".excludeNames", "selects none"},
		"kube-system":            {[]string{"shop", "kube-system"}, nil, field + ".matchNames", "kube-system"},
		"the operator's own":     {[]string{"shop", "nexus-system"}, nil, field + ".matchNames", "nexus-system"},
		"a pattern":              {[]string{"shop-*"}, nil, field + ".matchNames", "shop-*"},
		"an excluded pattern":    {nil, []string{"shop-*"}, field + ".excludeNames", "shop-*"},
		"something with a slash": {[]string{"a/b"}, nil, field + ".matchNames", "a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := resolve(bindCluster(tc.match, tc.exclude, "a"), intents("a", "pkgMgrs"), everything()...)
			if p := refusedAt(t, r, tc.field); !strings.Contains(p.Message, tc.says) {
				t.Errorf("%q does not say %q", p.Message, tc.says)
			}
			equal(t, "bound", r.Bound, []string{"a"})
		})
	}
}

func TestAWrongNodeSelectorSelectsNothing(t *testing.T) {
	b := bindCluster([]string{"shop"}, nil, "a")
	b.NodeSelector = map[string]string{"disk": "s s d"}
	refusedAt(t, resolve(b, intents("a", "pkgMgrs"), "shop"), "spec.selector.nodeSelector.matchLabels")
}
