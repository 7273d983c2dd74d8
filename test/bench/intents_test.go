// SPDX-License-Identifier: Apache-2.0

// Package bench measures the operator's own binary against the control plane: how long, and with how many
// writes. Times are reported, never judged; writes are judged.
//
//	make bench
package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// KubeArmor's kinds are there, so that dnsManipulation and escapeToHost make five objects: the work that
// the public implementation was measured on.
func TestMain(m *testing.M) {
	world.Main(m, world.Options{
		CRDs: []string{"../../config/crd/bases", "../../internal/testkit/enginecrds/definitions/kubearmor.yaml"},
		GOGC: 500, // with the default of tests, a tenth of the time of the API server is the collection of garbage; it takes 2 GiB
	})
}

type bench struct {
	*kit.Bed
	B       *testing.B
	intents []*v1alpha1.SecurityIntent
}

func newBench(b *testing.B, flags ...string) *bench {
	b.Helper()
	// The bed's flags are made for tests; the client's rate is what an administrator gets.
	flags = append([]string{"--kube-api-qps=200", "--metrics-bind-address=0"}, flags...)
	x := &bench{Bed: kit.New(b, flags...), B: b}
	b.Cleanup(x.clean)
	return x
}

// clean leaves nothing for the next measurement to find.
func (b *bench) clean() {
	for _, o := range []client.Object{&v1alpha1.SecurityIntentBinding{}, &v1alpha1.SecurityIntent{},
		&v1alpha1.ClusterSecurityIntentBinding{}} {
		var namespaces corev1.NamespaceList
		if _, ok := o.(*v1alpha1.SecurityIntentBinding); !ok {
			namespaces.Items = make([]corev1.Namespace, 1)
		} else if err := b.Client.List(b.Ctx(), &namespaces); err != nil {
			b.B.Error(err)
		}
		for _, ns := range namespaces.Items {
			if err := b.Client.DeleteAllOf(b.Ctx(), o, client.InNamespace(ns.Name)); err != nil {
				b.B.Error(err)
			}
		}
	}
	b.Eventually(2*time.Minute, "everything to be gone", func() error {
		for _, l := range lists() {
			if err := b.Client.List(b.Ctx(), l); err != nil || meta.LenList(l) > 0 {
				return fmt.Errorf("%d left (%v)", meta.LenList(l), err)
			}
		}
		return nil
	})
}

func intentOf(name, id string) *v1alpha1.SecurityIntent {
	i := &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name}}
	i.Spec.Intent = v1alpha1.Intent{ID: id, Action: v1alpha1.Block, Description: "measured"}
	return i
}

// two makes dnsManipulation and escapeToHost.
func (b *bench) two() []*v1alpha1.SecurityIntent {
	b.B.Helper()
	b.intents = []*v1alpha1.SecurityIntent{intentOf("dns", "dnsManipulation"), intentOf("escape", "escapeToHost")}
	for _, i := range b.intents {
		b.make(i)
		b.settled(i)
	}
	return b.intents
}

func (b *bench) make(o client.Object) {
	b.B.Helper()
	if err := b.Client.Create(b.Ctx(), o); err != nil {
		b.B.Fatal(err)
	}
}

func (b *bench) settled(o client.Object) {
	b.B.Helper()
	b.Eventually(2*time.Minute, o.GetName()+" to be ready", func() error {
		if err := b.Get(o); err != nil {
			return err
		}
		var conds []metav1.Condition
		switch o := o.(type) {
		case *v1alpha1.SecurityIntent:
			conds = o.Status.Conditions
		case *v1alpha1.SecurityIntentBinding:
			conds = o.Status.Conditions
		case *v1alpha1.ClusterSecurityIntentBinding:
			conds = o.Status.Conditions
		}
		if !meta.IsStatusConditionTrue(conds, "Ready") {
			return fmt.Errorf("%v", conds)
		}
		return nil
	})
}

func binding(ns, name string, labels map[string]string, intents ...*v1alpha1.SecurityIntent) *v1alpha1.SecurityIntentBinding {
	s := &v1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	s.Spec.Selector.MatchLabels = labels
	for _, i := range intents {
		s.Spec.Intents = append(s.Spec.Intents, v1alpha1.MatchIntent{Name: i.Name})
	}
	return s
}

// lists returns the lists of the engine objects that are measured.
func lists() []client.ObjectList {
	k := &unstructured.UnstructuredList{}
	k.SetAPIVersion("security.kubearmor.com/v1")
	k.SetKind("KubeArmorPolicyList")
	return []client.ObjectList{k, &networkingv1.NetworkPolicyList{}}
}

// counter counts engine objects that come and go.
type counter struct {
	added, deleted chan string
	stop           func()
}

func (b *bench) count() *counter {
	b.B.Helper()
	ctx, cancel := context.WithCancel(b.Ctx())
	c := &counter{added: make(chan string, 10000), deleted: make(chan string, 10000), stop: cancel}
	for _, l := range lists() {
		if err := b.Client.List(b.Ctx(), l); err != nil {
			b.B.Fatal(err)
		}
		w, err := b.Client.Watch(ctx, l, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: l.GetResourceVersion()}})
		if err != nil {
			b.B.Fatal(err)
		}
		go func() {
			for e := range w.ResultChan() {
				switch o, _ := e.Object.(client.Object); e.Type {
				case watch.Added:
					c.added <- o.GetName()
				case watch.Deleted:
					c.deleted <- o.GetName()
				}
			}
		}()
	}
	b.B.Cleanup(cancel)
	return c
}

// wait returns how long it took until n objects had come.
func (c *counter) wait(b *bench, n int, since time.Time) time.Duration {
	b.B.Helper()
	deadline := time.After(2 * time.Minute)
	for range n {
		select {
		case <-c.added:
		case <-deadline:
			b.B.Fatalf("not %d objects within two minutes", n)
		}
	}
	return time.Since(since)
}

// writes are the operator's since a mark, once it has become quiet.
func (b *bench) writes(m world.AuditMark) []world.AuditEvent {
	b.B.Helper()
	for last := -1; ; time.Sleep(time.Second) {
		w := b.KubeWrites(m)
		if len(w) == last {
			return w
		}
		last = len(w)
	}
}

func (b *bench) atMost(what string, got []world.AuditEvent, limit int) {
	b.B.Helper()
	if len(got) > limit {
		var lines []string
		for _, e := range got[:min(len(got), 60)] {
			lines = append(lines, e.String())
		}
		b.B.Errorf("%s: %d writes, at most %d:\n%s", what, len(got), limit, strings.Join(lines, "\n"))
	}
}

func specWrites(all []world.AuditEvent) []world.AuditEvent {
	return slices.DeleteFunc(slices.Clone(all), func(e world.AuditEvent) bool { return e.Subresource == "status" })
}

func statusWrites(all []world.AuditEvent) map[string]int {
	out := map[string]int{}
	for _, e := range all {
		if e.Subresource == "status" {
			out[e.Resource+" "+e.Namespace+"/"+e.Name]++
		}
	}
	return out
}

// BenchmarkBinding is the time from a binding's creation to its fifth engine object.
func BenchmarkBinding(b *testing.B) {
	x := newBench(b)
	intents := x.two()
	c := x.count()
	var took time.Duration
	n := 0
	for b.Loop() {
		_, m := x.Mark()
		start := time.Now()
		s := binding(x.Namespace, fmt.Sprint("web", n), map[string]string{"app": fmt.Sprint("web", n)}, intents...)
		x.make(s)
		took += c.wait(x, 5, start)
		n++
		b.StopTimer()
		x.settled(s)
		x.atMost("one binding", x.writes(m), 8)
		b.StartTimer()
	}
	b.ReportMetric(took.Seconds()/float64(n), "s/binding")
}

// BenchmarkAnyOrder makes the binding before its intents.
func BenchmarkAnyOrder(b *testing.B) {
	x := newBench(b)
	c := x.count()
	var took time.Duration
	n, writes := 0, 0
	for b.Loop() {
		b.StopTimer()
		intents := []*v1alpha1.SecurityIntent{intentOf(fmt.Sprint("dns", n), "dnsManipulation"),
			intentOf(fmt.Sprint("escape", n), "escapeToHost")}
		s := binding(x.Namespace, fmt.Sprint("web", n), map[string]string{"app": fmt.Sprint("web", n)}, intents...)
		_, m := x.Mark()
		b.StartTimer()
		start := time.Now()
		x.make(s)
		for _, i := range intents {
			x.make(i)
		}
		took += c.wait(x, 5, start)
		n++
		b.StopTimer()
		x.settled(s)
		w := x.writes(m)
		x.atMost("in any order", w, 14)
		writes += len(w)
		b.StartTimer()
	}
	b.ReportMetric(took.Seconds()/float64(n), "s/binding")
	b.ReportMetric(float64(writes)/float64(n), "writes/binding")
}

// BenchmarkHundredBindings makes 100 bindings over 10 namespaces: 500 engine objects.
func BenchmarkHundredBindings(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		x := newBench(b)
		intents := x.two()
		namespaces := x.namespaces(10)
		c := x.count()
		_, m := x.Mark()
		b.StartTimer()
		start := time.Now()
		x.bind(100, namespaces, intents)
		took := c.wait(x, 500, start)
		b.StopTimer()
		w := x.writes(m)
		x.atMost("100 bindings", w, 850)
		b.ReportMetric(took.Seconds(), "s/500-policies")
		b.ReportMetric(float64(len(w)), "writes")
		x.clean()
		x.Op.Stop()
		b.StartTimer()
	}
}

func (b *bench) namespaces(n int) []string {
	var out []string
	for i := range n {
		out = append(out, b.MakeNamespace(fmt.Sprintf("%s-%d", b.Namespace, i)))
	}
	return out
}

// bind makes bindings as a pipeline of users would, eight at a time.
func (b *bench) bind(n int, namespaces []string, intents []*v1alpha1.SecurityIntent) {
	slots := make(chan struct{}, 8)
	for i := range n {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			b.make(binding(namespaces[i%len(namespaces)], fmt.Sprint("b", i), map[string]string{"app": fmt.Sprint("app", i)}, intents...))
		}()
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
}

// BenchmarkEditOverHundredNamespaces edits one intent that is bound over 100 namespaces: its description, of
// which NetworkPolicies have nothing, so that only the policies change; and a parameter, which changes each
// namespace's NetworkPolicy as well.
func BenchmarkEditOverHundredNamespaces(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		x := newBench(b, "--adapters=networkpolicy")
		intents := x.two()
		x.namespaces(100)
		o := &v1alpha1.ClusterSecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: "over"}}
		o.Spec.Intents = []v1alpha1.MatchIntent{{Name: intents[0].Name}}
		for i := range 100 {
			o.Spec.Selector.NsSelector.MatchNames = append(o.Spec.Selector.NsSelector.MatchNames,
				v1alpha1.NamespaceName(fmt.Sprintf("%s-%d", x.Namespace, i)))
		}
		x.make(o)
		x.settled(o)
		x.writes(0)
		x.edited("description", 0, intents[0], func(i *v1alpha1.Intent) { i.Description = "said otherwise" })
		x.edited("parameter", 100, intents[0], func(i *v1alpha1.Intent) { i.Params = v1alpha1.Params{"otherEgress": {"allow"}} })
		x.clean()
		x.Op.Stop()
		b.StartTimer()
	}
}

// edited measures an edit that changes so many engine objects.
func (b *bench) edited(what string, engines int, i *v1alpha1.SecurityIntent, change func(*v1alpha1.Intent)) {
	b.B.Helper()
	_, m := b.Mark()
	began := time.Now()
	b.Edit(i, func() { change(&i.Spec.Intent) })
	b.B.StartTimer()
	w := b.writes(m)
	b.B.StopTimer()
	b.perChange(what, engines, w)
	last := began
	for _, e := range w {
		if e.Time.After(last) {
			last = e.Time
		}
	}
	b.B.ReportMetric(last.Sub(began).Seconds(), "s/"+what)
	b.B.ReportMetric(float64(len(specWrites(w))), "spec-writes/"+what)
}

// perChange judges the writes of one edit over 100 namespaces: the policies and the one over the cluster,
// what each engine has of it, and no status twice.
func (b *bench) perChange(what string, objects int, w []world.AuditEvent) {
	b.B.Helper()
	policies := slices.DeleteFunc(specWrites(w), func(e world.AuditEvent) bool { return e.Group != v1alpha1.GroupName })
	b.atMost(what+", policies", policies, 102)
	engines := slices.DeleteFunc(specWrites(w), func(e world.AuditEvent) bool { return e.Group == v1alpha1.GroupName })
	b.atMost(what+", engine objects", engines, objects)
	for o, n := range statusWrites(w) {
		if n > 1 {
			b.B.Errorf("%s: %d status writes of %s", what, n, o)
		}
	}
}

// BenchmarkRestart restarts the operator over 200 bindings.
func BenchmarkRestart(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		x := newBench(b)
		intents := x.two()
		c := x.count()
		x.bind(200, x.namespaces(10), intents)
		c.wait(x, 1000, time.Now())
		x.writes(0)
		_, m := x.Mark()
		gone := x.count()
		b.StartTimer()
		x.Restart()
		// A new binding comes last, so everything was looked at before.
		probe := binding(x.Namespace, "probe", map[string]string{"app": "probe"}, intents...)
		x.make(probe)
		x.settled(probe)
		b.StopTimer()
		w := slices.DeleteFunc(x.writes(m), func(e world.AuditEvent) bool { return e.Namespace == x.Namespace })
		x.atMost("a restart", w, 0)
		if n := len(gone.deleted); n > 0 {
			b.Errorf("%d policies were absent for a moment", n)
		}
		b.ReportMetric(float64(len(w)), "writes")
		x.clean()
		x.Op.Stop()
		b.StartTimer()
	}
}
