// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/shard"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// onRenewal calls a function in the place of a write of a lease, once it is armed.
type onRenewal struct {
	next http.RoundTripper
	mu   sync.Mutex
	do   func(*http.Request, http.RoundTripper) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper.
func (o *onRenewal) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut {
		o.mu.Lock()
		do := o.do
		o.do = nil
		o.mu.Unlock()
		if do != nil {
			return do(r, o.next)
		}
	}
	return o.next.RoundTrip(r)
}

// The operator stops while a renewal is under way: before the API server has it, and after it has written it.
func TestLeaseLock_AStopDuringARenewalReleasesTheLease(t *testing.T) {
	extent.Full(t)
	for name, written := range map[string]bool{"before the write": false, "after the write": true} {
		t.Run(name, func(t *testing.T) {
			e := newElection(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			e.transport.do = func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if written {
					if resp, err := next.RoundTrip(r); err != nil {
						t.Error(err)
					} else {
						_ = resp.Body.Close()
					}
				}
				stop()
				return nil, r.Context().Err()
			}
			e.elector.Run(ctx)
			if holder := e.holder(t); holder != "" {
				t.Errorf("the lease is held by %q after the operator has stopped, want it released", holder)
			}
		})
	}
}

// Another process took the lease while this one could not run.
func TestLeaseLock_AStopLeavesTheLeaseOfAnotherAlone(t *testing.T) {
	extent.Full(t)
	e := newElection(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	e.transport.do = func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		e.take(t, "another")
		stop()
		return nil, r.Context().Err()
	}
	e.elector.Run(ctx)
	if holder := e.holder(t); holder != "another" {
		t.Errorf("the lease is held by %q, want another", holder)
	}
}

// Renewals fail until the elector gives up: the reconcilers may still work, so the lease has to expire.
func TestLeaseLock_ALeaseThatWasNotRenewedExpires(t *testing.T) {
	e := newElection(t)
	refuse := errors.New("the API server does not answer")
	var again func(*http.Request, http.RoundTripper) (*http.Response, error)
	again = func(*http.Request, http.RoundTripper) (*http.Response, error) {
		e.transport.mu.Lock()
		defer e.transport.mu.Unlock()
		e.transport.do = again
		return nil, refuse
	}
	e.transport.do = again
	e.elector.Run(t.Context())
	if holder := e.holder(t); holder != e.lock.Identity() {
		t.Errorf("the lease is held by %q, want it to expire with the identity of its last holder", holder)
	}
}

// election is an elector with the lock of an operator without shards.
type election struct {
	lock      *leaseLock
	elector   *leaderelection.LeaderElector
	transport *onRenewal
	leases    coordinationclient.LeaseInterface
}

func newElection(t *testing.T) *election {
	t.Helper()
	w := world.Shared(t)
	core, err := corev1client.NewForConfig(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "lease-lock"
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := core.Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	coordination, err := coordinationclient.NewForConfig(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	e := &election{transport: &onRenewal{}, leases: coordination.Leases(namespace)}
	if err := e.leases.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	cfg := rest.CopyConfig(w.Config())
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { e.transport.next = next; return e.transport })
	o := options.Options{Namespace: namespace, Shard: shard.Shard{}, Leader: options.Leader{LeaseDuration: 3 * time.Second}}
	if e.lock, err = newLeaseLock(cfg, o, clock.RealClock{}); err != nil {
		t.Fatal(err)
	}
	e.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: e.lock, LeaseDuration: o.Leader.LeaseDuration, RenewDeadline: o.Leader.RenewDeadline(), RetryPeriod: 100 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// holder returns who holds the lease.
func (e *election) holder(t *testing.T) string {
	t.Helper()
	lease, err := e.leases.Get(t.Context(), e.lock.LeaseMeta.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// take makes another process the holder.
func (e *election) take(t *testing.T, holder string) {
	t.Helper()
	lease, err := e.leases.Get(t.Context(), e.lock.LeaseMeta.Name, metav1.GetOptions{})
	if err == nil {
		lease.Spec.HolderIdentity = &holder
		_, err = e.leases.Update(t.Context(), lease, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Error(err)
	}
}
