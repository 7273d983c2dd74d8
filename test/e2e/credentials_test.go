// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/ekswebhook"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// failing chooses pods for which the webhook fails, and remembers when it did for the first one of each namespace.
type failing struct {
	mu     sync.Mutex
	random *rand.Rand
	all    bool
	// both has the webhook fail for each of the first two pods of a Deployment.
	both    bool
	seen    map[string]int
	skipped map[string]int
	first   map[string]time.Time
}

func newFailing() *failing {
	return &failing{random: rand.New(rand.NewPCG(1, 2)), seen: map[string]int{}, skipped: map[string]int{}, first: map[string]time.Time{}}
}

// skips half of the first two pods of each Deployment at random, and none that replaces one of them; or all pods.
func (f *failing) skips(p *corev1.Pod) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.HasSuffix(p.Spec.ServiceAccountName, "-app-sa") {
		return false
	}
	name := p.Namespace + "/" + p.GenerateName
	f.seen[name]++
	if !f.all && (f.seen[name] > 2 || !f.both && f.random.IntN(2) == 0) {
		return false
	}
	if f.skipped[p.Namespace]++; f.skipped[p.Namespace] == 1 {
		f.first[p.Namespace] = time.Now()
	}
	return true
}

func (f *failing) of(namespace string) (int, time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped[namespace], f.first[namespace]
}

// lacking are the pods of a namespace that run without the address of the agent.
func (b *bed) lacking(namespace string) ([]string, error) {
	pods := &corev1.PodList{}
	if err := b.Client.List(b.Ctx(), pods, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var out []string
	for _, p := range pods.Items {
		has := slices.ContainsFunc(p.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "AWS_CONTAINER_CREDENTIALS_FULL_URI" })
		if !has && p.DeletionTimestamp == nil {
			out = append(out, p.Name)
		}
	}
	return out, nil
}

// neverReadyWithout watches until the test ends that no capability is Ready while one of its pods lacks credentials.
func (b *bed) neverReadyWithout() {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Ctx())
	watch, err := b.Client.Watch(ctx, &nexusv1.NexusAICapabilityList{})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range watch.ResultChan() {
			c, ok := e.Object.(*nexusv1.NexusAICapability)
			if !ok || !c.Status.Ready || c.DeletionTimestamp != nil {
				continue
			}
			if pods, err := b.lacking(c.Namespace); err == nil && len(pods) > 0 {
				b.Errorf("%s is Ready while %v have no credentials", c.Name, pods)
			}
		}
	}()
	b.Cleanup(func() { cancel(); watch.Stop(); <-done })
}

// evicted counts the evictions of the operator in a namespace, by pod. The API server answers 504 to an operator that was killed while it
// waited; the pod is evicted all the same, or the operator asks for it again.
func (b *bed) evicted(since world.AuditMark, namespace string) map[string]int {
	b.Helper()
	events, err := b.World.Audit().Since(since, world.AuditFilter{User: operator.User})
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]int{}
	for _, e := range events {
		if e.Resource == "pods" && e.Subresource == "eviction" && e.Namespace == namespace &&
			(e.Code < 300 || e.Code == http.StatusGatewayTimeout) {
			out[e.Name]++
		}
	}
	return out
}

func (b *bed) withPodIdentity(name string) *nexusv1.NexusAICapability {
	c := b.small(name)
	c.Spec.Identity = &nexusv1.IdentitySpec{Mode: nexusv1.IdentityPodIdentity}
	return c
}

func TestCredentials_HalfOfThePodsStartWithoutAndAreReplaced(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster)
	b.makeEKSCluster()
	b.runAgent(nil)
	f := newFailing()
	ekswebhook.StartFailing(t, b.World, eksCluster, f.skips)
	b.neverReadyWithout()
	_, mark := b.Mark()
	var all []*nexusv1.NexusAICapability
	for i := range extent.Size(t, 2, 50) {
		c := b.withPodIdentity(fmt.Sprintf("half%d", i))
		b.Create(c)
		all = append(all, c)
	}
	total := 0
	for _, c := range all {
		b.RunningWithin(c, 5*time.Minute)
		skipped, first := f.of(c.Namespace)
		total += skipped
		for _, h := range c.Status.History {
			// On a busy machine, everything that precedes the first pod takes longer than a minute, too.
			most := max(time.Minute, first.Sub(c.CreationTimestamp.Time))
			if took := h.Time.Sub(first); h.Phase == nexusv1.PhaseRunning && skipped > 0 && took > most {
				t.Errorf("%s ran %s after its first pod had started without credentials, more than %s", c.Name, took, most)
			}
		}
		evicted := b.evicted(mark, c.Namespace)
		if len(evicted) != skipped {
			t.Errorf("%s: %d pods started without credentials, evicted %v", c.Name, skipped, evicted)
		}
		for pod, n := range evicted {
			if n > 1 {
				t.Errorf("pod %s was evicted %d times", pod, n)
			}
		}
		b.Shows(c, nexusv1.ConditionCredentialsInPods, metav1.ConditionTrue, "Ready")
	}
	if total == 0 {
		t.Error("the webhook failed for no pod")
	}
	for _, c := range all {
		b.Remove(c)
	}
}

// While no pod is ready, a PodDisruptionBudget counts all of them as needed, and allows to evict those that are not ready only if it says
// so.
func TestCredentials_PodsThatNeedThemToBeReadyAreReplaced(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster)
	b.makeEKSCluster()
	b.runAgent(nil)
	f := newFailing()
	f.both = true
	ekswebhook.StartFailing(t, b.World, eksCluster, f.skips)
	b.neverReadyWithout()
	_, mark := b.Mark()
	c := b.withPodIdentity("needs")
	c.Spec.Backend.Image = "registry.example/backend:" + ekswebhook.NeedsCredentials
	c.Spec.Frontend.Replicas = new(int32(0))
	b.Create(c)
	b.RunningWithin(c, 2*time.Minute)
	if evicted := b.evicted(mark, c.Namespace); len(evicted) != 2 {
		t.Errorf("evicted %v, want the two pods of the backend", evicted)
	}
	b.Remove(c)
}

func TestCredentials_ReplacementsAreBoundedAcrossRestarts(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster)
	b.makeEKSCluster()
	b.runAgent(nil)
	f := newFailing()
	f.all = true
	ekswebhook.StartFailing(t, b.World, eksCluster, f.skips)
	b.neverReadyWithout()
	_, mark := b.Mark()
	c := b.withPodIdentity("bound")
	b.Create(c)
	b.Eventually(time.Minute, "two replacements", func() error {
		if n := len(b.evicted(mark, c.Namespace)); n < 2 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
	b.Op.Kill()
	b.Restart("--eks-cluster-name=" + eksCluster)
	// Where the kill ended an eviction after its PodDisruptionBudget had counted it and before the pod was deleted, the disruption controller
	// frees the budget two minutes later.
	b.Until(c, 5*time.Minute, "the bound to be told", func() error {
		stalled, err := b.Condition(c, "Stalled")
		if err == nil && (stalled.Reason != "CredentialsNotInPods" || !strings.Contains(stalled.Message, "3 pods that were replaced")) {
			err = fmt.Errorf("%s %s", stalled.Reason, stalled.Message)
		}
		return err
	})
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "CredentialsNotInPods"), "of Deployment/bound-dev-", "3 pods that were replaced")
	time.Sleep(12 * time.Second) // two more looks
	if evicted := b.evicted(mark, c.Namespace); len(evicted) != 3 {
		t.Errorf("evicted %v", evicted)
	}
	f.mu.Lock()
	f.all = false
	f.mu.Unlock()
	b.Edit(c, func() { c.Spec.Version = "2" }) // the pods of the edit get credentials
	b.Running(c)
	b.Remove(c)
}
