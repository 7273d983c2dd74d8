// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// posture is a bed for security intents: KubeArmor's kinds are served, and two intents declared.
type posture struct {
	*rig
	dns, escape *v1alpha1.SecurityIntent
}

func newPosture(t *testing.T) *posture {
	t.Helper()
	b := bed.Proxied(t)
	p := &posture{rig: &rig{Bed: b}}
	p.install(t, enginecrds.KubeArmor)
	p.dns, p.escape = declared("faults-dns", "dnsManipulation"), declared("faults-escape", "escapeToHost")
	for _, i := range []*v1alpha1.SecurityIntent{p.dns, p.escape} {
		p.Create(i)
		t.Cleanup(func() { _ = b.Client.Delete(b.Ctx(), i) })
		p.ready(i)
	}
	return p
}

// install has an engine's kinds served until the test ends.
func (p *posture) install(t *testing.T, engine string) {
	t.Helper()
	t.Cleanup(func() { enginecrds.Remove(t, p.Client, engine) })
	for _, d := range enginecrds.Definitions(t, engine) {
		if err := p.Client.Create(p.Ctx(), d); err != nil {
			t.Fatal(err)
		}
	}
}

func declared(name, id string) *v1alpha1.SecurityIntent {
	return &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.SecurityIntentSpec{
		Intent: v1alpha1.Intent{ID: id, Action: v1alpha1.Block, Description: "of a test"}}}
}

func (p *posture) binding(name string) *v1alpha1.SecurityIntentBinding {
	b := &v1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}}
	b.Spec.Intents = []v1alpha1.MatchIntent{{Name: p.dns.Name}, {Name: p.escape.Name}}
	b.Spec.Selector.MatchLabels = map[string]string{"app": name}
	return b
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.SecurityIntent:
		return o.Status.Conditions
	case *v1alpha1.SecurityIntentBinding:
		return o.Status.Conditions
	case *v1alpha1.NimbusPolicy:
		return o.Status.Conditions
	default:
		return nil
	}
}

// ready waits until an object, and for a binding its policy too, is Ready at its generation.
func (p *posture) ready(o client.Object) {
	p.Helper()
	p.Eventually(40*time.Second, o.GetName()+" to be ready", func() error {
		check := []client.Object{o}
		if _, ok := o.(*v1alpha1.SecurityIntentBinding); ok {
			check = append(check, &v1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()}})
		}
		for _, c := range check {
			if err := p.Get(c); err != nil {
				return err
			}
			r := meta.FindStatusCondition(conditionsOf(c), "Ready")
			if r == nil || r.Status != metav1.ConditionTrue || r.ObservedGeneration != c.GetGeneration() {
				return fmt.Errorf("%T: %v", c, conditionsOf(c))
			}
		}
		return nil
	})
}

// shape returns what a binding has come to: specs, labels, conditions and coverage, without identities.
func (p *posture) shape() map[string]string {
	p.Helper()
	armor := &unstructured.UnstructuredList{}
	armor.SetAPIVersion("security.kubearmor.com/v1")
	armor.SetKind("KubeArmorPolicyList")
	out := map[string]string{}
	for _, l := range []client.ObjectList{armor, &networkingv1.NetworkPolicyList{}, &v1alpha1.NimbusPolicyList{},
		&v1alpha1.SecurityIntentBindingList{}} {
		if err := p.Client.List(p.Ctx(), l, client.InNamespace(p.Namespace)); err != nil {
			p.Fatal(err)
		}
		for _, o := range bed.Items(l) {
			u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			if err != nil {
				p.Fatal(err)
			}
			coverage, _, _ := unstructured.NestedSlice(u, "status", "coverage")
			var conditions []string
			for _, c := range conditionsOf(o) {
				conditions = append(conditions, fmt.Sprint(c.Type, c.Status, c.Reason, c.ObservedGeneration == o.GetGeneration()))
			}
			slices.Sort(conditions)
			text, err := json.Marshal(map[string]any{"spec": u["spec"], "labels": o.GetLabels(), "owners": len(o.GetOwnerReferences()),
				"coverage": coverage, "conditions": conditions})
			if err != nil {
				p.Fatal(err)
			}
			out[fmt.Sprintf("%T %s", o, o.GetName())] = uuid.ReplaceAllString(string(text), "~")
		}
	}
	return out
}

// settles waits until a binding has come to what it came to without a fault.
func (p *posture) settles(want map[string]string) {
	p.Helper()
	p.Eventually(40*time.Second, "the same end as without a fault", func() error {
		if d := differs(want, p.shape()); len(d) > 0 {
			return fmt.Errorf("%v", d)
		}
		return nil
	})
}

// writes are the operator's while something is done, in order.
func (p *posture) writes(do func()) kubeproxy.Calls {
	p.Helper()
	m := p.Kube.Mark()
	do()
	return p.Kube.Since(m).Writes().Filter(func(c kubeproxy.Call) bool {
		return strings.HasPrefix(c.UserAgent, "nexus-operator") && c.Resource != "events"
	})
}

// act is one part of a binding's life, with what it writes and comes to when nothing fails.
type act struct {
	name   string
	do     func(*posture)
	writes kubeproxy.Calls
	end    map[string]string
}

func acts() []*act {
	return []*act{
		{name: "created", do: func(p *posture) { p.Create(p.binding("web")) }},
		{name: "an intent edited", do: func(p *posture) { p.others("allow") }},
		{name: "an intent unbound", do: func(p *posture) {
			b := p.binding("web")
			p.Edit(b, func() { b.Spec.Intents = b.Spec.Intents[:1] })
		}},
		{name: "deleted", do: func(p *posture) {
			if err := p.Client.Delete(p.Ctx(), p.binding("web")); err != nil {
				p.Fatal(err)
			}
		}},
	}
}

// others edits what the DNS intent says of all other traffic.
func (p *posture) others(value string) {
	p.Helper()
	p.Edit(p.dns, func() { p.dns.Spec.Intent.Params = v1alpha1.Params{"otherEgress": {value}} })
}

// life goes through a binding's life without a fault.
func (p *posture) life() []*act {
	p.Helper()
	p.others("deny") // as it is again after each life
	p.ready(p.dns)
	p.waitForNoWrites()
	all := acts()
	for _, a := range all {
		a.writes = p.writes(func() {
			a.do(p)
			if a.name == "deleted" {
				p.settles(nil)
			} else {
				p.ready(p.binding("web"))
			}
			p.waitForNoWrites()
		})
		a.end = p.shape()
		p.Logf("%s: %v", a.name, a.writes.Labels())
	}
	p.others("deny")
	return all
}

// waitForNoWrites waits until the operator has written nothing for a second, and nothing is left of what goes. A retry waits outside of the
// work queues.
func (p *posture) waitForNoWrites() {
	p.Helper()
	for last := -1; ; {
		n := len(p.Kube.Calls().Writes())
		if n == last {
			return
		}
		last = n
		time.Sleep(time.Second)
	}
}

// TestEveryWriteOfABindingMayFail strikes every write of a binding's life in every way, and wants the same
// end as without.
func TestEveryWriteOfABindingMayFail(t *testing.T) {
	extent.Full(t)
	p := newPosture(t)
	life := p.life()
	if len(life[0].writes) != 8 || len(life[1].writes) == 0 || len(life[2].writes) == 0 || len(life[0].end) != 7 || len(life[3].end) > 0 {
		t.Fatalf("the life without a fault is not as expected: %v %v", life[0].writes, life[0].end)
	}
	most := 0
	for _, a := range life {
		most = max(most, len(a.writes))
	}
	all := extent.IsFull(t)
	for _, b := range blows {
		for n := range most {
			if sampled := b.kills || b.name == "409" || b.name == "500"; sampled && !all && n%3 != 1 {
				continue // a full run has them all
			}
			t.Run(fmt.Sprintf("%s/%d", b.name, n), func(t *testing.T) {
				sub := &posture{rig: &rig{Bed: p.For(t)}, dns: p.dns, escape: p.escape}
				defer func() { p.Op = sub.Op }()
				for _, a := range life {
					sub.struckAt(a, b, n)
					sub.settles(a.end)
				}
				sub.others("deny")
				sub.ready(sub.dns)
			})
		}
	}
}

// struckAt lets the nth write of an act go wrong.
func (p *posture) struckAt(a *act, b blow, n int) {
	p.Helper()
	if n >= len(a.writes) {
		a.do(p)
		return
	}
	hook, died := p.kill()
	at := kubeproxy.Match{Verb: a.writes[n].Verb, Resource: a.writes[n].What(), Namespace: a.writes[n].Namespace, Name: a.writes[n].Name,
		Nth: 1}
	rule := p.Kube.Fault(at, b.with(hook))
	a.do(p)
	if b.kills {
		if !p.afterDeath(died, 15*time.Second) {
			p.Errorf("%s: %s was never called", a.name, a.writes[n].Label())
		}
		return
	}
	p.Eventually(15*time.Second, a.writes[n].Label()+" to be called", func() error {
		if rule.Hits() == 0 {
			return fmt.Errorf("it was not")
		}
		return nil
	})
	rule.Remove()
}

// TestAMissingPermissionOfOneEngineIsReportedAndHealed takes the right to KubeArmor's kinds away: the others go on.
func TestAMissingPermissionOfOneEngineIsReportedAndHealed(t *testing.T) {
	extent.Full(t)
	p := newPosture(t)
	rule := p.Kube.Fault(kubeproxy.Match{Verb: "patch", Resource: "kubearmorpolicies"}, kubeproxy.Forbidden())
	b := p.binding("web")
	p.Create(b)
	p.Eventually(20*time.Second, "AccessDenied to be told", func() error {
		if err := p.Get(b); err != nil {
			return err
		}
		r := meta.FindStatusCondition(b.Status.Conditions, "Stalled")
		if r == nil || r.Status != metav1.ConditionTrue || r.Reason != "AccessDenied" || !strings.Contains(r.Message, "KubeArmorPolicy") {
			return fmt.Errorf("%v", b.Status.Conditions)
		}
		levels := map[string]v1alpha1.Level{}
		for _, c := range b.Status.Coverage {
			levels[c.Engine+" "+c.Intent] = c.Level
		}
		if levels["NetworkPolicy dnsManipulation"] != v1alpha1.LevelEnforced || levels["KubeArmor dnsManipulation"] != v1alpha1.LevelNone {
			return fmt.Errorf("%v", b.Status.Coverage)
		}
		return nil
	})
	if n := len(p.shape()); n != 3 { // the binding, its policy, and the NetworkPolicy
		t.Errorf("%d objects", n)
	}
	rule.Remove()
	p.ready(b)
	if n := len(p.shape()); n != 7 {
		t.Errorf("%d objects", n)
	}
}

// TestWhatWasSaidOfPoliciesStaysWhileNothingCanBeLookedAt has an engine come whose kinds the API server cannot list.
func TestWhatWasSaidOfPoliciesStaysWhileNothingCanBeLookedAt(t *testing.T) {
	extent.Full(t)
	p := newPosture(t)
	b := p.binding("web")
	p.Create(b)
	p.ready(b)
	rule := p.Kube.Fault(kubeproxy.Match{Verb: "list", Resource: "policies"},
		kubeproxy.Fail(http.StatusInternalServerError, metav1.StatusReasonInternalError, "made up by a test"))
	p.install(t, enginecrds.Kyverno)
	p.Eventually(20*time.Second, "the failure to be told", func() error {
		if err := p.Get(b); err != nil {
			return err
		}
		if r := meta.FindStatusCondition(b.Status.Conditions, "Reconciling"); r == nil || r.Status != metav1.ConditionTrue ||
			r.Reason != "Retrying" {
			return fmt.Errorf("%v", b.Status.Conditions)
		}
		return nil
	})
	if s := b.Status; s.NimbusPolicy != "web" || s.NumberOfBoundIntents != 2 || len(s.Coverage) == 0 ||
		!meta.IsStatusConditionTrue(s.Conditions, "Ready") || !meta.IsStatusConditionTrue(s.Conditions, "Enforced") {
		t.Errorf("what was said is lost: %+v", s)
	}
	returned := func(line string) bool {
		return strings.Contains(line, "Reconciler error") && strings.Contains(line, "securityintentbinding")
	}
	p.Eventually(10*time.Second, "the failure to be returned to the work queue, which counts and logs it after the status was written",
		func() error {
			if log := p.Op.Log(); !slices.ContainsFunc(strings.Split(log, "\n"), returned) {
				return errors.New(operator.Tail(log, 2000))
			}
			return nil
		})
	rule.Remove()
	p.Eventually(20*time.Second, "Kyverno to hold its part", func() error {
		if err := p.Get(b); err != nil {
			return err
		}
		for _, c := range b.Status.Coverage {
			if c.Engine == "Kyverno" && c.Intent == "escapeToHost" && c.Level == v1alpha1.LevelPartial && c.Reason == "OnCreateOnly" &&
				meta.IsStatusConditionFalse(b.Status.Conditions, "Reconciling") {
				return nil
			}
		}
		return fmt.Errorf("%v %v", b.Status.Coverage, b.Status.Conditions)
	})
}

// TestBindingsSurviveKillsAtAnyMoment kills the operator while many bindings are made, again and again.
func TestBindingsSurviveKillsAtAnyMoment(t *testing.T) {
	extent.Full(t)
	p := newPosture(t)
	const many = 20
	p.Create(p.binding("web"))
	p.ready(p.binding("web"))
	want := p.shape()
	rng := seeded(t)
	for i := range many {
		p.Create(p.binding(fmt.Sprint("b", i)))
		if i%5 == 2 {
			time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
			p.Op.Kill()
			p.Restart()
		}
	}
	for i := range many {
		p.ready(p.binding(fmt.Sprint("b", i)))
	}
	p.waitForNoWrites()
	got := p.shape()
	if len(got) != len(want)*(many+1) {
		t.Errorf("%d objects, expected %d", len(got), len(want)*(many+1))
	}
	for i := range many {
		name := fmt.Sprint("b", i)
		for key, shape := range want {
			same := strings.NewReplacer(`"app":"web"`, fmt.Sprintf(`"app":%q`, name))
			if mine := strings.Replace(key, "web", name, 1); got[mine] != same.Replace(shape) {
				t.Errorf("%s is\n%s\nexpected\n%s", mine, got[mine], same.Replace(shape))
			}
		}
	}
	if w := p.writes(func() { p.Restart(); p.Create(p.binding("last")); p.ready(p.binding("last")); p.waitForNoWrites() }); len(w) > 8 {
		t.Errorf("a restart wrote beside the new binding's eight: %v", w)
	}
}
