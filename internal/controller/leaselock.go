// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// takeoverPoll is the pause between looks of a standby at the lease. The elector adds up to 120 percent.
const takeoverPoll = 200 * time.Millisecond

// leaseLock is the lease of a shard. Beyond the lease itself it makes sure that operators with different numbers of shards
// never lead at the same time: the number in force is that on the first shard's lease, and a leader begins when no lease
// with another number is held. It renews less often than the elector asks it to, so that standbys can look often.
//
// The elector calls it from one goroutine.
type leaseLock struct {
	*resourcelock.LeaseLock
	shard  shard.Shard
	leases coordinationclient.LeaseInterface
	clock  clock.Clock
	// every is the time between renewals.
	every time.Duration
	// events is set once the manager was made.
	events events.EventRecorder

	// renewed is the time of the last write that kept the lease for this process, zero after a write failed.
	renewed time.Time
	// holder is the identity on the lease when it was last read.
	holder string
	// leads is set when no lease with another number of shards was held after this process had got its own.
	leads bool
	// seen are the other leases as they were when they last changed.
	seen map[string]sighting
}

// sighting is a state of a lease, and when this process saw it first. Clocks of other machines may differ.
type sighting struct {
	version string
	at      time.Time
}

// newLeaseLock returns the lock of the shard. Requests end well before the lease would be lost.
func newLeaseLock(cfg *rest.Config, o options.Options, c clock.Clock) (*leaseLock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	cfg = rest.AddUserAgent(rest.CopyConfig(cfg), "leader-election")
	cfg.Timeout = max(o.Leader.RenewDeadline()/2, time.Second)
	coordination, err := coordinationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the client of leases: %w", err)
	}
	return &leaseLock{
		LeaseLock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Shard.Lease()}, Client: coordination,
			LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
			Labels:     map[string]string{shard.LabelShards: strconv.Itoa(o.Shard.Shards())},
		},
		shard: o.Shard, leases: coordination.Leases(o.Namespace), clock: c, every: o.Leader.RetryPeriod(), seen: map[string]sighting{},
	}, nil
}

// Get implements resourcelock.Interface.
func (l *leaseLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.LeaseLock.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *leaseLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.hold(ctx, record, l.LeaseLock.Create)
}

// Update implements resourcelock.Interface.
func (l *leaseLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		return l.release(ctx, record)
	}
	if !l.renewed.IsZero() && l.clock.Since(l.renewed) < l.every {
		return nil
	}
	return l.hold(ctx, record, l.LeaseLock.Update)
}

// release gives up the lease when the operator stops. The elector also calls it after renewals have failed, before it stops the
// reconcilers: then the lease has to expire, so that no other process leads while they still work. A lease that another process
// took in the meantime is left alone. After a conflict the elector reads the lease again and repeats the call.
func (l *leaseLock) release(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.renewed.IsZero() {
		return fmt.Errorf("the lease %s was not renewed and has to expire", l.LeaseMeta.Name)
	}
	if l.holder != l.Identity() {
		return fmt.Errorf("the lease %s is held by %q", l.LeaseMeta.Name, l.holder)
	}
	return l.LeaseLock.Update(ctx, record)
}

// hold writes that this process holds the lease. An error means that it does not lead, even where the write succeeded.
//
// Each side writes its own lease before it reads those of others, so of two that begin at the same time at least one sees
// the other. Where both do, the one that differs from the first shard gives way.
//
// A renewal that the end of the operator interrupts is no failed one: the lease is still this process's, and is released.
func (l *leaseLock) hold(ctx context.Context, record resourcelock.LeaderElectionRecord,
	write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	renewed := l.renewed
	l.renewed = time.Time{}
	if err := l.numberInForce(ctx); err != nil {
		l.keepAtStop(ctx, renewed)
		return l.later(ctx, err)
	}
	if err := write(ctx, record); err != nil {
		l.keepAtStop(ctx, renewed)
		return err
	}
	if !l.leads {
		if err := l.othersGone(ctx); err != nil {
			return l.later(ctx, err)
		}
		if err := l.numberInForce(ctx); err != nil {
			return l.later(ctx, err)
		}
	}
	l.leads, l.renewed = true, l.clock.Now()
	return nil
}

// keepAtStop keeps the time of the last renewal when the operator stops. The elector ends renewals that fail by a deadline.
func (l *leaseLock) keepAtStop(ctx context.Context, renewed time.Time) {
	if errors.Is(ctx.Err(), context.Canceled) {
		l.renewed = renewed
	}
}

// later waits before a refusal is returned: the elector would ask again, and log the refusal, several times a second.
func (l *leaseLock) later(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
	case <-l.clock.After(l.every):
	}
	return err
}

// numberInForce returns an error unless the first shard works with the same number of shards.
func (l *leaseLock) numberInForce(ctx context.Context) error {
	if l.shard.IsFirst() {
		return nil
	}
	first, err := l.leases.Get(ctx, shard.Leases()[0], metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("shard %s waits until shard 0 has started", l.shard)
	}
	if err != nil {
		return err
	}
	if number := first.Labels[shard.LabelShards]; number != l.Labels[shard.LabelShards] {
		return fmt.Errorf("shard %s waits until shard 0 works with %d shards: Lease %s has the label %s=%q", l.shard, l.shard.Shards(),
			first.Name, shard.LabelShards, number)
	}
	return nil
}

// othersGone returns an error while the lease of another shard is held with another number of shards.
func (l *leaseLock) othersGone(ctx context.Context) error {
	for _, name := range shard.Leases() {
		if name == l.LeaseMeta.Name {
			continue
		}
		lease, err := l.leases.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if number := lease.Labels[shard.LabelShards]; number != l.Labels[shard.LabelShards] && l.isHeld(lease) {
			return fmt.Errorf("shard %s waits until Lease %s, held by an operator of %s shards, is released or expires", l.shard, name, number)
		}
	}
	return nil
}

// isHeld reports whether a lease has a holder and changed within its duration.
func (l *leaseLock) isHeld(lease *coordinationv1.Lease) bool {
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || lease.Spec.LeaseDurationSeconds == nil {
		return false
	}
	last := l.seen[lease.Name]
	if last.version != lease.ResourceVersion {
		last = sighting{version: lease.ResourceVersion, at: l.clock.Now()}
		l.seen[lease.Name] = last
	}
	return l.clock.Since(last.at) <= time.Duration(*lease.Spec.LeaseDurationSeconds)*time.Second
}

// RecordEvent implements resourcelock.Interface.
func (l *leaseLock) RecordEvent(what string) {
	if l.events == nil {
		return
	}
	lease := &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"},
		ObjectMeta: l.LeaseMeta}
	l.events.Eventf(lease, nil, "Normal", "LeaderElection", "Elect", "%s %s", l.Identity(), what)
}
