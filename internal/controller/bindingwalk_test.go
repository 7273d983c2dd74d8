// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// variety declares intents of every id, blocking and auditing, with and without parameters.
func (h *home) variety() []*intentv1alpha1.SecurityIntent {
	h.Helper()
	params := map[string][]intentv1alpha1.Params{
		"dnsManipulation":           {nil, {"otherEgress": {"allow"}}, {"dnsPeers": {"169.254.20.10/32"}}},
		"denyExternalNetworkAccess": {nil, {"allowCIDRs": {"203.0.113.0/24"}}},
		"escapeToHost":              {nil, {"psaLevel": {"restricted"}}},
		"cocoWorkload":              {nil, {"runtimeClass": {"kata-qemu"}}},
		"ensureTLS":                 {nil, {"mode": {"permissive"}, "exceptPorts": {"9090"}}, {"requireIdentity": {"true"}}},
		"networkSegmentation": {{"fromNamespaces": {"web"}}, {"fromNamespaces": {"web", "ops"}, "ports": {"8080"}},
			{"fromServiceAccounts": {"jobs/nightly"}}},
		"apiSegmentation": {{"allowMethods": {"GET"}}, {"allowPaths": {"/api/*"}, "denyPaths": {"/admin"}}},
	}
	var out []*intentv1alpha1.SecurityIntent
	for _, e := range intent.Catalog() {
		variants := params[e.ID]
		if variants == nil {
			variants = []intentv1alpha1.Params{nil}
		}
		for n, p := range variants {
			for _, action := range []intentv1alpha1.Action{intentv1alpha1.Block, intentv1alpha1.Audit} {
				i := h.unmade(e.ID, action, p)
				i.Name = fmt.Sprintf("walk-%d-%d", len(out), n)
				i.Spec.Intent.Severity, i.Spec.Intent.Tags = []string{"", "7"}[n%2], [][]string{nil, {"a", "b"}}[n%2]
				h.make(i)
				out = append(out, i)
			}
		}
	}
	return out
}

// draw is any binding of some of the intents.
func draw(rng *rand.Rand, b *intentv1alpha1.SecurityIntentBinding, all []*intentv1alpha1.SecurityIntent) {
	selectors := []intentv1alpha1.WorkloadSelector{
		{},
		{MatchLabels: map[string]string{"app": "web"}},
		{MatchLabels: map[string]string{"app": "web", "tier": "front"}},
		{WorkloadSelector: &intentv1alpha1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}},
		{CEL: []string{`labels["app"] in ["web", "api"]`}},
		{CEL: []string{`labels["app"] != "web" && has(labels.team)`}, MatchLabels: map[string]string{"tier": "back"}},
	}
	b.Spec.Selector = selectors[rng.IntN(len(selectors))]
	b.Spec.Intents = nil
	for _, i := range rng.Perm(len(all))[:2+rng.IntN(6)] {
		b.Spec.Intents = append(b.Spec.Intents, intentv1alpha1.MatchIntent{Name: all[i].Name})
	}
}

// TestHoweverABindingIsEditedItEndsAsIfItHadBeenMadeSo walks through many forms of one binding: after each step the engines' objects are to
// the letter the pure translation of its present form, and no others.
func TestHoweverABindingIsEditedItEndsAsIfItHadBeenMadeSo(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(allEngines...)
	labels := map[string]string{"istio-injection": "enabled"}
	ns := h.namespace(labels)
	all := h.variety()
	intents := map[string]*intentv1alpha1.SecurityIntent{}
	for _, i := range all {
		intents[i.Name] = i
	}
	rng := rand.New(rand.NewPCG(1, 0))
	b := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "walk"}}
	draw(rng, b, all)
	h.make(b)
	objects := 0
	for range 40 {
		h.shows(b, "Ready", "True", "Ready")
		want := h.translated(b, intents, labels)
		objects += len(want)
		h.eventually(fmt.Sprintf("%v with %v to be as translated", b.Spec.Intents, b.Spec.Selector), func() error { return h.exactly(ns, want) })
		h.alter(b, func() { draw(rng, b, all) })
	}
	if objects < 100 {
		t.Errorf("only %d objects were compared", objects)
	}
}

// translated returns the objects that the engines make of a binding, as the API server stores it.
func (h *home) translated(b *intentv1alpha1.SecurityIntentBinding, intents map[string]*intentv1alpha1.SecurityIntent,
	labels map[string]string) map[string]any {
	h.Helper()
	out := map[string]any{}
	cluster, err := intentfacts.ReadCluster(h.ctx(), h.c, intentfacts.Settings{DNSService: "kube-system/kube-dns"})
	if err != nil {
		h.Fatal(err)
	}
	for _, p := range intent.Resolve(intent.OfBinding(b), intents, nil, intent.Options{OperatorNamespace: "nexus-system"}).Policies {
		for _, e := range catalog.Engines() {
			f := intent.Facts{OperatorNamespace: "nexus-system", NamespaceLabels: labels, MeshRootNamespace: "istio-system",
				TrustDomain: "cluster.local"}
			cluster.AddTo(&f, b.Namespace)
			for _, o := range intent.Translate(e, p, f, true,
				func(k schema.GroupVersionKind) bool { return k.Group != "policies.kyverno.io" }).Objects {
				if o.GetKind() != "NetworkPolicy" {
					stored, problem := enginecrds.Admit(h.T, o)
					if problem != "" {
						h.Fatal(problem)
					}
					o = stored
				}
				out[o.GetKind()+"/"+o.GetName()] = o.Object["spec"]
			}
		}
	}
	return out
}

func (h *home) exactly(ns string, want map[string]any) error {
	have := map[string]any{}
	for _, gvk := range []schema.GroupVersionKind{networkPolicy, kubeArmorPolicy, kyvernoPolicy, istioAuthz, istioPeer} {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := h.c.List(h.ctx(), l, client.InNamespace(ns)); err != nil {
			return err
		}
		for i := range l.Items {
			have[gvk.Kind+"/"+l.Items[i].GetName()] = l.Items[i].Object["spec"]
		}
	}
	var problems []string
	for name, spec := range want {
		if !reflect.DeepEqual(spec, have[name]) {
			problems = append(problems, fmt.Sprintf("%s is %v, expected %v", name, have[name], spec))
		}
	}
	for name := range have {
		if want[name] == nil {
			problems = append(problems, name+" is too much")
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return fmt.Errorf("%q", problems)
}
