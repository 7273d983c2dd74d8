// SPDX-License-Identifier: Apache-2.0

package kubeproxy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoAWS: true}) }

// bed is a proxy, clients by it and around it, and a namespace.
type bed struct {
	*kubeproxy.Proxy
	by, direct kubernetes.Interface
	namespace  string
}

func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	must.Succeed(t, err)
	return c
}

func newBed(t *testing.T) *bed {
	t.Helper()
	w := world.Shared(t)
	p, err := kubeproxy.Start(w.Config())
	must.Succeed(t, err)
	t.Cleanup(func() { must.Succeed(t, p.Close()) })
	b := &bed{p, clientOf(t, p.Config()), clientOf(t, w.Config()), ""}
	ns, err := b.direct.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "kp-"}},
		metav1.CreateOptions{})
	must.Succeed(t, err)
	b.namespace = ns.Name
	return b
}

func (b *bed) create(ctx context.Context, c kubernetes.Interface, name string) error {
	_, err := c.CoreV1().ConfigMaps(b.namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
		metav1.CreateOptions{})
	return err
}

func (b *bed) exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := b.direct.CoreV1().ConfigMaps(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestRequestsGetLabels(t *testing.T) {
	b := newBed(t)
	protobuf := b.Config()
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	typed := clientOf(t, protobuf)
	ctx, ns := t.Context(), b.namespace
	for _, tt := range []struct {
		label string
		write bool
		do    func()
	}{
		{"create configmaps NS/a", true, func() { b.create(ctx, b.by, "a") }},
		{"create configmaps NS/p", true, func() { b.create(ctx, typed, "p") }},
		{"create configmaps NS/g-*", true, func() {
			typed.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "g-"}}, metav1.CreateOptions{})
		}},
		{"get configmaps NS/a", false, func() { b.by.CoreV1().ConfigMaps(ns).Get(ctx, "a", metav1.GetOptions{}) }},
		{"list configmaps NS/", false, func() { b.by.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{}) }},
		{"list configmaps", false, func() { b.by.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{}) }},
		{"patch configmaps NS/a", true, func() {
			b.by.CoreV1().ConfigMaps(ns).Patch(ctx, "a", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		}},
		{"patch configmaps NS/a", false, func() {
			b.by.CoreV1().ConfigMaps(ns).Patch(ctx, "a", types.MergePatchType, []byte("{}"), metav1.PatchOptions{DryRun: []string{"All"}})
		}},
		{"patch deployments/scale NS/d", true, func() {
			b.by.AppsV1().Deployments(ns).Patch(ctx, "d", types.MergePatchType, []byte("{}"), metav1.PatchOptions{}, "scale")
		}},
		{"get namespaces NS", false, func() { b.by.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{}) }},
		{"delete configmaps NS/a", true, func() { b.by.CoreV1().ConfigMaps(ns).Delete(ctx, "a", metav1.DeleteOptions{}) }},
		{"deletecollection configmaps NS/", true, func() {
			b.by.CoreV1().ConfigMaps(ns).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		}},
		{"get /version", false, func() { b.by.Discovery().ServerVersion() }},
	} {
		mark := b.Mark()
		tt.do()
		got := b.Since(mark)
		if want := strings.ReplaceAll(tt.label, "NS", ns); len(got) != 1 || got[0].Label() != want || got[0].Write() != tt.write {
			t.Errorf("want %q (write %v), got\n%s", want, tt.write, got)
		}
	}
}

func TestADroppedRequestHasNoEffectAndALostAnswerHas(t *testing.T) {
	b := newBed(t)
	rule := b.Fault(kubeproxy.At("create configmaps "+b.namespace+"/dropped#1"), kubeproxy.DropBefore())
	b.Fault(kubeproxy.At("create configmaps "+b.namespace+"/lost#1"), kubeproxy.LoseAnswer())
	for _, name := range []string{"dropped", "lost"} {
		if err := b.create(t.Context(), b.by, name); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("%s: want a reset connection, got %v", name, err)
		}
	}
	if b.exists(t, "dropped") || !b.exists(t, "lost") || rule.Hits() != 1 {
		t.Errorf("dropped exists: %v, lost exists: %v", b.exists(t, "dropped"), b.exists(t, "lost"))
	}
	if got := b.Calls(); got[0].Status != 0 || got[1].Status != 201 || got[1].Fault != "answer lost" {
		t.Errorf("ledger:\n%s", got)
	}
}

func TestErrorsAreThoseOfAServer(t *testing.T) {
	b := newBed(t)
	for name, tt := range map[string]struct {
		action kubeproxy.Action
		is     func(error) bool
	}{
		"conflict":    {kubeproxy.Conflict(), apierrors.IsConflict},
		"forbidden":   {kubeproxy.Forbidden(), apierrors.IsForbidden},
		"expired":     {kubeproxy.Expired(), apierrors.IsResourceExpired},
		"unavailable": {kubeproxy.Unavailable(), apierrors.IsServiceUnavailable},
		"internal":    {kubeproxy.Fail(http.StatusInternalServerError, metav1.StatusReasonInternalError, "x"), apierrors.IsInternalError},
	} {
		rule := b.Fault(kubeproxy.Match{Resource: "configmaps", WritesOnly: true}, tt.action)
		if err := b.create(t.Context(), b.by, name); !tt.is(err) {
			t.Errorf("%s: %v", name, err)
		}
		rule.Remove()
	}
	// client-go waits as the answer says and tries again.
	b.Fault(kubeproxy.Match{Verb: "create", Nth: 1}, kubeproxy.TooManyRequests())
	must.Succeed(t, b.create(t.Context(), b.by, "later"))
}

func TestAKilledClientsLateRequestsHaveNoEffect(t *testing.T) {
	b := newBed(t)
	for _, tt := range []struct {
		name   string
		action func(func()) kubeproxy.Action
		effect bool
	}{{"before", kubeproxy.BeforeThen, false}, {"after", kubeproxy.ForwardThen, true}} {
		endpoint, err := b.Listen("victim-" + tt.name)
		must.Succeed(t, err)
		victim := clientOf(t, endpoint.Config())
		b.Fault(kubeproxy.Match{Endpoint: "victim-" + tt.name, Verb: "create"}, tt.action(func() { must.Succeed(t, endpoint.Close()) }))
		if err := b.create(t.Context(), victim, tt.name); err == nil {
			t.Error("the victim got an answer")
		}
		if err := b.create(t.Context(), victim, "late-"+tt.name); err == nil {
			t.Error("a closed endpoint answered")
		}
		if got := b.exists(t, tt.name); got != tt.effect || b.exists(t, "late-"+tt.name) {
			t.Errorf("%s: exists %v, late exists %v", tt.name, got, b.exists(t, "late-"+tt.name))
		}
	}
}

func TestDelayedAndHeldRequestsArriveLater(t *testing.T) {
	b := newBed(t)
	delayed := b.Fault(kubeproxy.Match{Verb: "create"}, kubeproxy.Delay(100*time.Millisecond))
	begin := time.Now()
	must.Succeed(t, b.create(t.Context(), b.by, "delayed"))
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("took %v", took)
	}
	delayed.Remove()
	seen := make(chan bool, 1)
	b.Fault(kubeproxy.At("create configmaps "+b.namespace+"/observed"), kubeproxy.Observe(func() { seen <- b.exists(t, "observed") }))
	must.Succeed(t, b.create(t.Context(), b.by, "observed"))
	if !<-seen {
		t.Error("the hook of Observe ran before the effect")
	}
	held := b.Fault(kubeproxy.At("create configmaps "+b.namespace+"/held"), kubeproxy.Hang())
	done := make(chan error, 1)
	go func() { done <- b.create(context.Background(), b.by, "held") }()
	for held.Hits() == 0 {
		time.Sleep(time.Millisecond)
	}
	if b.exists(t, "held") {
		t.Error("a held request had its effect")
	}
	held.Release()
	must.Succeed(t, <-done)
}

// next returns the name in the next event of a watch; "" if there is none within
// the time, "closed" if the watch has ended.
func next(w watch.Interface, within time.Duration) string {
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			return "closed"
		}
		if o, ok := e.Object.(*corev1.ConfigMap); ok {
			return o.Name
		}
		return string(e.Type)
	case <-time.After(within):
		return ""
	}
}

func TestWatchesStreamFallSilentAndAreCut(t *testing.T) {
	b := newBed(t)
	list, err := b.by.CoreV1().ConfigMaps(b.namespace).List(t.Context(), metav1.ListOptions{})
	must.Succeed(t, err)
	w, err := b.by.CoreV1().ConfigMaps(b.namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	must.Succeed(t, err)
	for next(w, 100*time.Millisecond) != "" {
	} // the namespace's own kube-root-ca.crt may come
	must.Succeed(t, b.create(t.Context(), b.direct, "first"))
	if got := next(w, 5*time.Second); got != "first" {
		t.Errorf("got %q", got)
	}
	release := b.HoldWatches(kubeproxy.Match{Resource: "configmaps"})
	must.Succeed(t, b.create(t.Context(), b.direct, "second"))
	if got := next(w, 200*time.Millisecond); got != "" {
		t.Errorf("a silent watch told of %q", got)
	}
	release()
	if got := next(w, 5*time.Second); got != "second" {
		t.Errorf("after its release: %q", got)
	}
	if n := b.CutWatches(kubeproxy.Match{Resource: "secrets"}); n != 0 {
		t.Errorf("%d other watches cut", n)
	}
	if n := b.CutWatches(kubeproxy.Match{Resource: "configmaps", Namespace: b.namespace}); n != 1 {
		t.Errorf("%d watches cut", n)
	}
	if got := next(w, 5*time.Second); got != "closed" {
		t.Errorf("after the cut: %q", got)
	}
}

func TestTheLedgerTellsWhoAskedWhat(t *testing.T) {
	b := newBed(t)
	config := b.Config()
	config.UserAgent, config.ContentType = "ledger-test", "application/json"
	must.Succeed(t, b.create(t.Context(), clientOf(t, config), "x"))
	b.by.CoreV1().ConfigMaps(b.namespace).List(t.Context(), metav1.ListOptions{})
	calls := b.Calls()
	first := calls[0]
	if calls.Count() != 2 || calls.Writes().Count() != 1 || calls.By("ledger-test").Count() != 1 || first.Endpoint != "main" ||
		first.Status != http.StatusCreated || !strings.Contains(first.Body, `"x"`) || first.Address() != "create configmaps "+b.namespace+"/x#1" {
		t.Errorf("ledger:\n%s\n%+v", calls, first)
	}
	if got := calls.Match(kubeproxy.Match{Verb: "list", Resource: "config*"}).Labels(); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestTheProxyActsWithTheIdentityItWasGiven(t *testing.T) {
	w := world.Shared(t)
	config, err := w.UserConfig("nobody-special")
	must.Succeed(t, err)
	p, err := kubeproxy.Start(config)
	must.Succeed(t, err)
	defer p.Close()
	if _, err := clientOf(t, p.Config()).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("want forbidden, got %v", err)
	}
	path := t.TempDir() + "/kubeconfig"
	must.Succeed(t, world.WriteKubeconfig(path, p.Config()))
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "server: http://127.0.0.1:") {
		t.Errorf("%s, %v", text, err)
	}
}
