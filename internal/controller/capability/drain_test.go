// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// The process of a pod listens on this address, as an application that ends at SIGTERM.
const listenOn = "NEXUS_TEST_LISTEN"

func TestServe_AsTheProcessOfAPod(t *testing.T) {
	address := os.Getenv(listenOn)
	if address == "" {
		return // only the test of rollouts starts it
	}
	t.Fatal(http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })))
}

// held keeps the object of a pod until its process has ended.
const held = "nexus.ai/test-process"

// kubelet runs one real process for each pod of the backend beside kwok, which reports the pods as ready, and ends it as a kubelet does:
// the preStop hook, SIGTERM, and then the pod goes.
type kubelet struct {
	*bed

	mu      sync.Mutex
	started map[types.UID]*exec.Cmd
	ending  map[types.UID]bool
	// ports holds the ports of the processes by the addresses of their pods.
	ports map[string]string
}

// runProcesses runs a kubelet until the test ends.
func (b *bed) runProcesses() *kubelet {
	b.Helper()
	k := &kubelet{bed: b, started: map[types.UID]*exec.Cmd{}, ending: map[types.UID]bool{}, ports: map[string]string{}}
	ctx, cancel := context.WithCancel(b.ctx())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ; ctx.Err() == nil; time.Sleep(30 * time.Millisecond) {
			k.sync(ctx)
		}
	}()
	b.Cleanup(func() {
		cancel()
		<-done
		for _, p := range k.started {
			_ = p.Process.Kill()
		}
		pods := &corev1.PodList{}
		_ = b.person.List(b.ctx(), pods, client.InNamespace(b.ns+"-dev"))
		for i := range pods.Items {
			k.release(b.ctx(), &pods.Items[i])
		}
	})
	return k
}

func (k *kubelet) sync(ctx context.Context) {
	pods := &corev1.PodList{}
	if k.person.List(ctx, pods, client.InNamespace(k.ns+"-dev"), client.MatchingLabels{"app.kubernetes.io/component": "backend"}) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range pods.Items {
		p := &pods.Items[i]
		cmd := k.started[p.UID]
		switch {
		case cmd == nil && p.DeletionTimestamp == nil && p.Status.PodIP != "":
			k.start(ctx, p)
		case cmd != nil && p.DeletionTimestamp != nil && !k.ending[p.UID]:
			k.ending[p.UID] = true
			go k.end(ctx, p, cmd)
		}
	}
}

func (k *kubelet) start(ctx context.Context, p *corev1.Pod) {
	address, release, err := world.ReserveAddress()
	if err != nil {
		k.Error(err)
		return
	}
	k.Cleanup(release)
	hold := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["`+held+`"]}}`))
	if err := k.person.Patch(ctx, p, hold); err != nil {
		return // it is gone already
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServe_AsTheProcessOfAPod$")
	cmd.Env = append(os.Environ(), listenOn+"="+address)
	if err := cmd.Start(); err != nil {
		k.Error(err)
		return
	}
	go func() { _ = cmd.Wait() }()
	k.started[p.UID], k.ports[p.Status.PodIP] = cmd, address
}

func (k *kubelet) end(ctx context.Context, p *corev1.Pod, cmd *exec.Cmd) {
	if l := p.Spec.Containers[0].Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
		time.Sleep(time.Duration(l.PreStop.Sleep.Seconds) * time.Second)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	k.release(ctx, p)
}

func (k *kubelet) release(ctx context.Context, p *corev1.Pod) {
	_ = k.person.Patch(ctx, p, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
}

// propagation bounds the time that a node needs to follow an EndpointSlice. A new process listens sooner than that.
const propagation = 1500 * time.Millisecond

// follow returns the addresses that a node sends requests for the Service to: those of the EndpointSlices, some time ago.
func (k *kubelet) follow(ctx context.Context, service string) func() []string {
	var mu sync.Mutex
	var now []string
	go func() {
		for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			list := &discoveryv1.EndpointSliceList{}
			if k.person.List(ctx, list, client.InNamespace(k.ns+"-dev"), client.MatchingLabels{discoveryv1.LabelServiceName: service}) != nil {
				continue
			}
			var ready []string
			for _, s := range list.Items {
				for _, e := range s.Endpoints {
					if e.Conditions.Ready != nil && *e.Conditions.Ready {
						ready = append(ready, e.Addresses...)
					}
				}
			}
			time.AfterFunc(propagation, func() { mu.Lock(); now = ready; mu.Unlock() })
		}
	}()
	return func() []string { mu.Lock(); defer mu.Unlock(); return now }
}

// requests asks the Service until the context ends, and counts the answers and the failures.
func (k *kubelet) requests(ctx context.Context, addresses func() []string) (answered, failed int) {
	plain := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for i := 0; ctx.Err() == nil; i++ {
		time.Sleep(5 * time.Millisecond)
		all := addresses()
		if len(all) == 0 {
			continue
		}
		k.mu.Lock()
		to := k.ports[all[i%len(all)]]
		k.mu.Unlock()
		answer, err := plain.Get("http://" + to)
		if err != nil {
			failed++
			continue
		}
		_ = answer.Body.Close()
		answered++
	}
	return answered, failed
}

// Each pod is a real process that ends at SIGTERM. The test simulates the time that a node takes to follow the EndpointSlice.
func TestRollout_LosesNoRequestWhilePodsDrain(t *testing.T) {
	extent.Full(t)
	for name, drain := range map[string]int64{"pods drain": 10, "pods end at once": 0} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			k := b.runProcesses()
			c := b.capability(func(c *nexusv1.NexusAICapability) { c.Spec.Backend.DrainSeconds = new(drain) })
			b.run(c)
			ctx, stop := context.WithCancel(b.ctx())
			addresses := k.follow(ctx, b.ns+"-dev-backend-svc")
			b.eventually("addresses", func() error {
				if n := len(addresses()); n != 2 {
					return fmt.Errorf("%d", n)
				}
				return nil
			})
			var answered, failed int
			done := make(chan struct{})
			go func() { defer close(done); answered, failed = k.requests(ctx, addresses) }()
			b.edit(c, func() { c.Spec.Version = "2.0.0" })
			b.run(c)
			time.Sleep(time.Duration(drain)*time.Second + 2*propagation)
			stop()
			<-done
			t.Logf("%d requests were answered, %d failed", answered, failed)
			if drain > 0 && (failed > 0 || answered < 1000) || drain == 0 && failed == 0 {
				t.Errorf("%d requests were answered, %d failed", answered, failed)
			}
		})
	}
}
