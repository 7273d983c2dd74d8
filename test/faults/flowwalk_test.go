// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
)

// refuses is the label of namespaces in which admission refuses some NetworkPolicies.
const refuses = "walk-refuses"

// walkStage are a few pods that selectors tell apart, ends that the intents tell apart, and ports.
func walkStage() stage {
	s := stage{}
	for _, app := range []string{"", "web", "api"} {
		for _, tier := range []string{"", "front"} {
			labels := map[string]string{}
			if app != "" {
				labels["app"] = app
			}
			if tier != "" {
				labels["tier"] = tier
			}
			s.pods = append(s.pods, labels)
		}
	}
	s.fars = []far{
		{name: "kube-dns", namespace: "kube-system", labels: map[string]string{"k8s-app": "kube-dns"}}, {name: "a pod of ops", namespace: "ops"},
		{name: "a pod of front", namespace: "front"}, {name: "203.0.113.5", address: netip.MustParseAddr("203.0.113.5")},
		{name: "10.1.2.3", address: netip.MustParseAddr("10.1.2.3")},
	}
	for _, p := range []struct {
		protocol corev1.Protocol
		number   int32
	}{{corev1.ProtocolUDP, 53}, {corev1.ProtocolTCP, 443}, {corev1.ProtocolTCP, 8080}} {
		number := intstr.FromInt32(p.number)
		s.ports = append(s.ports, networkingv1.NetworkPolicyPort{Protocol: &p.protocol, Port: &number})
	}
	return s
}

// walk is one walk of several tenants and an administrator over random bindings.
type walk struct {
	*bed.Bed
	rng        *rand.Rand
	name       string
	namespaces []string
	intents    []string

	mu      sync.Mutex
	changes []change
	last    time.Time
}

// follow records every change of a kind.
func (w *walk) follow(list client.ObjectList) {
	w.Helper()
	if err := w.Client.List(w.Ctx(), list); err != nil {
		w.Fatal(err)
	}
	for _, o := range bed.Items(list) {
		w.record(o, false)
	}
	ctx, cancel := context.WithCancel(w.Ctx())
	w.Cleanup(cancel)
	events, err := w.Client.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		w.Fatal(err)
	}
	go func() {
		for e := range events.ResultChan() {
			if o, ok := e.Object.(client.Object); ok {
				w.record(o, e.Type == watch.Deleted)
			}
		}
	}()
}

func (w *walk) record(o client.Object, deleted bool) {
	version, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		w.Errorf("resource version %q", o.GetResourceVersion())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = append(w.changes, change{version, deleted, o})
	w.last = time.Now()
}

// quiet reports whether nothing has changed for a while.
func (w *walk) quiet(d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last) > d
}

// refusing installs a policy by which admission refuses NetworkPolicies of one intent in labeled namespaces.
func refusing(b *bed.Bed) {
	b.Helper()
	fail := admissionregistrationv1.Fail
	p := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "walk-refuses"}}
	p.Spec.FailurePolicy = &fail
	p.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{APIGroups: []string{"networking.k8s.io"}, APIVersions: []string{"v1"},
			Resources: []string{"networkpolicies"}},
	}}}}
	p.Spec.Validations = []admissionregistrationv1.Validation{
		{Expression: `!object.metadata.name.contains(namespaceObject.metadata.labels["walk-refuses"])`, Message: "refused by a test"}}
	bound := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "walk-refuses"}}
	bound.Spec.PolicyName = p.Name
	bound.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	bound.Spec.MatchResources = &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: refuses, Operator: metav1.LabelSelectorOpExists}}}}
	for _, o := range []client.Object{p, bound} {
		if err := b.Client.Create(b.Ctx(), o); err != nil && !apierrors.IsAlreadyExists(err) {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = b.Client.Delete(b.Ctx(), o) })
	}
}

func (w *walk) any(of []string) string { return of[w.rng.IntN(len(of))] }

func (w *walk) anyIntent() v1alpha1.Intent {
	i := v1alpha1.Intent{Action: v1alpha1.Block, Description: "of a walk"}
	switch w.rng.IntN(6) {
	case 0:
		i.ID = "dnsManipulation"
	case 1:
		i.ID, i.Params = "dnsManipulation", v1alpha1.Params{"otherEgress": {"allow"}}
	case 2:
		i.ID = "denyExternalNetworkAccess"
	case 3:
		i.ID, i.Params = "denyExternalNetworkAccess", v1alpha1.Params{"allowCIDRs": {"203.0.113.0/24"}}
	case 4:
		i.ID, i.Params = "networkSegmentation", v1alpha1.Params{"fromNamespaces": {w.any([]string{"ops", "front"})}}
	default:
		i.ID, i.Params = "networkSegmentation", v1alpha1.Params{"fromNamespaces": {"ops", "front"}, "ports": {"8080"}}
	}
	if w.rng.IntN(10) == 0 {
		i.Action = v1alpha1.Audit
	}
	return i
}

func (w *walk) someIntents() []v1alpha1.MatchIntent {
	var out []v1alpha1.MatchIntent
	for _, i := range w.rng.Perm(len(w.intents))[:1+w.rng.IntN(2)] {
		out = append(out, v1alpha1.MatchIntent{Name: w.intents[i]})
	}
	return out
}

func (w *walk) anySelector() v1alpha1.WorkloadSelector {
	return []v1alpha1.WorkloadSelector{
		{}, {MatchLabels: map[string]string{"app": "web"}}, {MatchLabels: map[string]string{"app": "api"}},
		{MatchLabels: map[string]string{"tier": "front"}},
		{MatchLabels: map[string]string{"app": "web", "tier": "front"}}, {CEL: []string{`labels["app"] in ["web", "api"]`}},
		{CEL: []string{`labels["app"] != "web"`}},
	}[w.rng.IntN(7)]
}

func (w *walk) binding() *v1alpha1.SecurityIntentBinding {
	b := &v1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.any(w.namespaces),
		Name: w.any([]string{"a1", "a2", "a3", "b", "z"})}}
	b.Spec.Intents, b.Spec.Selector = w.someIntents(), w.anySelector()
	return b
}

func (w *walk) clusterBinding() *v1alpha1.ClusterSecurityIntentBinding {
	b := &v1alpha1.ClusterSecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: w.name + w.any([]string{"-x", "-y"})}}
	b.Spec.Intents = w.someIntents()[:1]
	for _, i := range w.rng.Perm(len(w.namespaces))[:1+w.rng.IntN(len(w.namespaces))] {
		b.Spec.Selector.NsSelector.MatchNames = append(b.Spec.Selector.NsSelector.MatchNames, v1alpha1.NamespaceName(w.namespaces[i]))
	}
	if w.rng.IntN(2) == 0 {
		b.Spec.Selector.WorkloadSelector.MatchLabels = map[string]string{"app": w.any([]string{"web", "api"})}
	}
	return b
}

// put creates an object, or gives the one that exists the same spec.
func (w *walk) put(o client.Object) {
	err := w.Client.Create(w.Ctx(), o)
	if !apierrors.IsAlreadyExists(err) {
		return // what is refused is no step
	}
	have := o.DeepCopyObject().(client.Object)
	if w.Client.Get(w.Ctx(), client.ObjectKeyFromObject(o), have) != nil {
		return
	}
	o.SetResourceVersion(have.GetResourceVersion())
	_ = w.Client.Update(w.Ctx(), o)
}

// step does one random thing.
func (w *walk) step() {
	switch n := w.rng.IntN(100); {
	case n < 34:
		w.put(w.binding())
	case n < 44:
		_ = w.Client.Delete(w.Ctx(), w.binding())
	case n < 54:
		w.put(w.clusterBinding())
	case n < 58:
		_ = w.Client.Delete(w.Ctx(), w.clusterBinding())
	case n < 70:
		i := &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: w.any(w.intents)},
			Spec: v1alpha1.SecurityIntentSpec{Intent: w.anyIntent()}}
		w.put(i)
	case n < 73:
		_ = w.Client.Delete(w.Ctx(), &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: w.any(w.intents)}})
	case n < 83:
		w.strike()
	case n < 88:
		w.refuse(w.any(w.namespaces), w.any([]string{"", "dnsmanipulation", "networksegmentation", "a1", "nimbus-ctlr-gen"}))
	case n < 92:
		w.occupy()
	case n < 94:
		w.Op.Kill()
		w.Restart()
	default:
		w.Eventually(10*time.Second, "a moment of rest", func() error {
			if !w.quiet(150 * time.Millisecond) {
				return fmt.Errorf("it is busy")
			}
			return nil
		})
	}
	time.Sleep(time.Duration(w.rng.IntN(25)) * time.Millisecond)
}

// strike has some of the operator's writes fail for a while.
func (w *walk) strike() {
	actions := []kubeproxy.Action{
		kubeproxy.Conflict(), kubeproxy.TooManyRequests(),
		kubeproxy.Fail(http.StatusInternalServerError, metav1.StatusReasonInternalError, "made up by a test"),
		kubeproxy.LoseAnswer(), kubeproxy.DropBefore(), kubeproxy.Delay(40 * time.Millisecond),
	}
	m := kubeproxy.Match{Verb: w.any([]string{"patch", "patch", "delete"}),
		Resource: w.any([]string{"networkpolicies", "networkpolicies", "nimbuspolicies", "nimbuspolicies/status"})}
	rule := w.Kube.Fault(m, actions[w.rng.IntN(len(actions))])
	time.AfterFunc(time.Duration(30+w.rng.IntN(150))*time.Millisecond, rule.Remove)
}

// refuse has admission refuse NetworkPolicies whose name holds some text, or none any more.
func (w *walk) refuse(namespace, text string) {
	value := "null"
	if text != "" {
		value = strconv.Quote(text)
	}
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, refuses, value))
	if err := w.Client.Patch(w.Ctx(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, patch); err != nil {
		w.Fatal(err)
	}
}

// occupy takes a name that an object of a binding would have, by an object that isolates no pod; or gives such
// names back.
func (w *walk) occupy() {
	ns := w.any(w.namespaces)
	theirs := client.MatchingLabels{"walk": "theirs"}
	if w.rng.IntN(2) == 0 {
		_ = w.Client.DeleteAllOf(w.Ctx(), &networkingv1.NetworkPolicy{}, client.InNamespace(ns), theirs)
		_ = w.Client.DeleteAllOf(w.Ctx(), &v1alpha1.NimbusPolicy{}, client.InNamespace(ns), theirs)
		return
	}
	name := w.any([]string{"a1", "a2", "b", "z"})
	if w.rng.IntN(2) == 0 {
		np := &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: theirs}}
		np.Spec.Rules = []v1alpha1.Rule{{ID: "dnsManipulation", Rule: v1alpha1.RuleDetail{Action: v1alpha1.Block}}}
		_ = w.Client.Create(w.Ctx(), np)
		return
	}
	np := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns,
		Name: name + "-" + w.any([]string{"dnsmanipulation", "networksegmentation"}), Labels: theirs}}
	np.Spec.PodSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "none", Operator: metav1.LabelSelectorOpExists},
		{Key: "none", Operator: metav1.LabelSelectorOpDoesNotExist}}
	np.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	_ = w.Client.Create(w.Ctx(), np)
}

// settle ends all faults and waits until every binding is Ready, or waits for an intent.
func (w *walk) settle() {
	w.Helper()
	w.Kube.ClearFaults()
	for _, ns := range w.namespaces {
		w.refuse(ns, "")
		_ = w.Client.DeleteAllOf(w.Ctx(), &networkingv1.NetworkPolicy{}, client.InNamespace(ns), client.MatchingLabels{"walk": "theirs"})
		_ = w.Client.DeleteAllOf(w.Ctx(), &v1alpha1.NimbusPolicy{}, client.InNamespace(ns), client.MatchingLabels{"walk": "theirs"})
	}
	w.Eventually(60*time.Second, "every binding to settle", func() error {
		for _, ns := range w.namespaces {
			list := &v1alpha1.SecurityIntentBindingList{}
			if err := w.Client.List(w.Ctx(), list, client.InNamespace(ns)); err != nil {
				return err
			}
			for _, b := range list.Items {
				ready := meta.FindStatusCondition(b.Status.Conditions, "Ready")
				if ready == nil || ready.ObservedGeneration != b.Generation || ready.Status != metav1.ConditionTrue && ready.Reason != "IntentMissing" {
					return fmt.Errorf("%s: %v", key(&b), b.Status.Conditions)
				}
				for _, c := range b.Status.Coverage {
					if c.Engine == "NetworkPolicy" && (c.Reason == "Overlaps" || c.Reason == "NotLive") {
						return fmt.Errorf("%s: %+v", key(&b), c)
					}
				}
			}
		}
		if !w.quiet(400 * time.Millisecond) {
			return fmt.Errorf("it is busy")
		}
		return nil
	})
}

// flowWalk walks with one seed, and judges every event.
func flowWalk(b *bed.Bed, seed uint64, steps int) {
	b.Helper()
	w := &walk{Bed: b, rng: rand.New(rand.NewPCG(seed, 9)), name: fmt.Sprintf("walk-%d", seed)}
	for i := range 3 {
		w.namespaces = append(w.namespaces, b.MakeNamespace(fmt.Sprintf("%s-%c", w.name, 'a'+i)))
	}
	for i := range 5 {
		w.intents = append(w.intents, fmt.Sprintf("%s-%d", w.name, i))
	}
	for _, l := range []client.ObjectList{&networkingv1.NetworkPolicyList{}, &v1alpha1.SecurityIntentList{},
		&v1alpha1.SecurityIntentBindingList{}, &v1alpha1.ClusterSecurityIntentBindingList{}, &v1alpha1.NimbusPolicyList{}} {
		w.follow(l)
	}
	for _, i := range w.intents {
		w.put(&v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: i}, Spec: v1alpha1.SecurityIntentSpec{Intent: w.anyIntent()}})
	}
	for range steps {
		w.step()
	}
	w.settle()
	w.mu.Lock()
	changes := w.changes
	w.mu.Unlock()
	j := newFlowJudge(walkStage())
	j.replay(changes)
	b.Logf("seed %d: %d steps, %d events, %d claims, %d flows judged", seed, steps, j.events, j.claims, j.checks)
	complain(b, fmt.Sprintf("flows, seed %d", seed), j.problems)
	if j.claims < steps/20 || j.checks < 5*steps {
		b.Errorf("seed %d: too little was judged: %d claims, %d flows", seed, j.claims, j.checks)
	}
	w.forget()
}

// forget removes what the walk made.
func (w *walk) forget() {
	for _, ns := range w.namespaces {
		_ = w.Client.DeleteAllOf(w.Ctx(), &v1alpha1.SecurityIntentBinding{}, client.InNamespace(ns))
	}
	for _, n := range []string{"-x", "-y"} {
		_ = w.Client.Delete(w.Ctx(), &v1alpha1.ClusterSecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: w.name + n}})
	}
	for _, i := range w.intents {
		_ = w.Client.Delete(w.Ctx(), &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: i}})
	}
}

// TestNoFlowOpensAtAnyMomentOfAWalk walks over random bindings of several tenants and an administrator, with writes
// that fail, are refused or in conflict, and with kills. A full run (package extent) walks 20 seeds of 100 steps each, or as
// many as NEXUS_WALKS says.
func TestNoFlowOpensAtAnyMomentOfAWalk(t *testing.T) {
	b := bed.Proxied(t)
	refusing(b)
	seeds, first := extent.Size(t, 1, 20), uint64(1)
	if n, err := strconv.Atoi(os.Getenv("NEXUS_WALKS")); err == nil {
		seeds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("NEXUS_SEED"), 10, 64); err == nil {
		first = n
	}
	for i := range seeds {
		t.Run(fmt.Sprint("seed-", first+uint64(i)), func(t *testing.T) {
			sub := b.For(t)
			defer func() { b.Op = sub.Op }()
			flowWalk(sub, first+uint64(i), extent.Size(t, 40, 100))
		})
	}
}

// TestTheFlowJudgeSeesWhatItIsFor shows the judge an object that goes before its successor exists.
func TestTheFlowJudgeSeesWhatItIsFor(t *testing.T) {
	si := &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: "dns"},
		Spec: v1alpha1.SecurityIntentSpec{Intent: v1alpha1.Intent{ID: "dnsManipulation", Action: v1alpha1.Block}}}
	b := &v1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	b.Spec.Intents = []v1alpha1.MatchIntent{{Name: "dns"}}
	holds := func(name string) *networkingv1.NetworkPolicy {
		np := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		np.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
		return np
	}
	claims := &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 1}}
	claims.Spec.Rules = []v1alpha1.Rule{{ID: "dnsManipulation", Rule: v1alpha1.RuleDetail{Action: v1alpha1.Block}}}
	claims.Status.ObservedGeneration = 1
	claims.Status.Coverage = []v1alpha1.Coverage{{Intent: "dnsManipulation", Engine: "NetworkPolicy", Level: v1alpha1.LevelEnforced}}
	start := []change{{1, false, si}, {2, false, b}, {3, false, holds("old")}, {4, false, claims}}
	for name, c := range map[string]struct {
		then []change
		want bool
	}{
		"make before break": {[]change{{5, false, holds("new")}, {6, true, holds("old")}}, false},
		"break before make": {[]change{{6, false, holds("new")}, {5, true, holds("old")}}, true},
		"unbound first":     {[]change{{5, true, b}, {6, true, holds("old")}}, false},
		"a false claim":     {[]change{{2, true, holds("old")}, {5, true, holds("old")}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			j := newFlowJudge(walkStage())
			j.replay(append(append([]change{}, start...), c.then...))
			if got := len(j.problems) > 0; got != c.want {
				t.Errorf("problems: %v", j.problems)
			}
		})
	}
}
