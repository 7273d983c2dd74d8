// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/shard"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// elected are the flags of an operator that serves a shard while it holds the lease.
func elected(part string, more ...string) []string {
	return append([]string{"--leader-elect=true", "--namespace=" + operator.Namespace, "--shard=" + part}, more...)
}

// standby starts an operator and waits until its caches are filled.
func (b *bed) standby(t *testing.T, flags ...string) *operator.Operator {
	b.Helper()
	address := world.FreeAddress(t)
	o := operator.Start(b, b.World, operator.Options{Flags: append(flags, "--health-probe-bind-address="+address)})
	b.Eventually(30*time.Second, "the standby to be ready", func() error {
		r, err := http.Get("http://" + address + "/readyz")
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if r.StatusCode != http.StatusOK {
			return errors.New(r.Status)
		}
		return nil
	})
	return o
}

// namespacesOf makes so many namespaces for each of n shards, with a provider each, and returns them by shard.
func (b *bed) namespacesOf(shards, each int) [][]string {
	b.Helper()
	out := make([][]string, shards)
	for i := 0; slices.ContainsFunc(out, func(names []string) bool { return len(names) < each }); i++ {
		name := fmt.Sprintf("team-shards-%d", i)
		if of := shard.Of(name, shards); len(out[of]) < each {
			out[of] = append(out[of], b.MakeNamespace(name))
			p := provider("aws")
			p.Namespace = name
			b.Create(p)
		}
	}
	return out
}

// bucketIn is a bucket whose name in AWS begins with its namespace.
func bucketIn(namespace, name string) *v1alpha1.S3Bucket {
	o := bucket(namespace + "-" + name)
	o.Namespace = namespace
	return o
}

// callers returns which operators called AWS about the buckets of each namespace.
func callers(calls emulator.Calls, namespaces [][]string) map[string][]string {
	out := map[string][]string{}
	for _, ns := range slices.Concat(namespaces...) {
		for _, c := range calls {
			if strings.HasPrefix(c.Resource, ns+"-") && !slices.Contains(out[ns], c.Endpoint) {
				out[ns] = append(out[ns], c.Endpoint)
			}
		}
	}
	return out
}

// onlyOwners asserts that AWS was called about the buckets of each namespace, and by no operator but that of its shard.
func (b *bed) onlyOwners(calls emulator.Calls, namespaces [][]string, owners ...*operator.Operator) {
	b.Helper()
	by := callers(calls, namespaces)
	for i, names := range namespaces {
		for _, ns := range names {
			if got := by[ns]; len(got) != 1 || got[0] != owners[i].Name() {
				b.Errorf("namespace %s of shard %d is served by %q, want %s", ns, i, got, owners[i].Name())
			}
		}
	}
}

// onlyOnce asserts that nothing was written twice.
func (b *bed) onlyOnce(calls emulator.Calls) {
	b.Helper()
	count := map[string]int{}
	for _, label := range calls.Writes().Labels() {
		if count[label]++; count[label] == 2 {
			b.Errorf("%s was sent twice", label)
		}
	}
	if len(count) == 0 {
		b.Error("nothing was written")
	}
}

func TestShards_EveryNamespaceIsServedByOneOperator(t *testing.T) {
	extent.Full(t)
	metricsAt := []string{world.FreeAddress(t), world.FreeAddress(t)}
	b := newBed(t, elected("0/2", "--metrics-bind-address="+metricsAt[0])...)
	second := operator.Start(t, b.World, operator.Options{Flags: elected("1/2", "--metrics-bind-address="+metricsAt[1])})
	defer second.Stop()
	namespaces := b.namespacesOf(2, 3)
	mark, _ := b.Mark()
	var all []client.Object
	for _, ns := range slices.Concat(namespaces...) {
		for i := range 4 {
			all = append(all, bucketIn(ns, fmt.Sprint("bucket-", i)))
		}
	}
	b.Create(all...)
	b.Ready(all...)
	made := b.World.AWS().Since(mark)
	b.onlyOwners(made, namespaces, b.Op, second)
	b.onlyOnce(made)
	for _, address := range metricsAt {
		b.countsBuckets(address, len(all)/2)
	}
	capabilities := []client.Object{}
	for i, names := range namespaces {
		c := smallIn(names[0], fmt.Sprint("shard", i))
		b.Create(c)
		b.Running(c)
		capabilities = append(capabilities, c)
	}
	b.intentsAreServed(namespaces)
	b.plansOnce(namespaces, b.Op, second)
	mark, _ = b.Mark()
	b.Remove(capabilities...)
	b.Remove(all...)
	b.onlyOwners(b.World.AWS().Since(mark), namespaces, b.Op, second)
}

// countsBuckets asserts how many buckets an operator counts in its gauges.
func (b *bed) countsBuckets(address string, want int) {
	b.Helper()
	b.Eventually(10*time.Second, "the gauges of buckets", func() error {
		families, _, err := scrape(address)
		if err != nil {
			return err
		}
		if got := sample(families, metrics.Resources, "kind", "S3Bucket", "state", "Ready"); got != float64(want) {
			return fmt.Errorf("%v buckets are Ready, want %d", got, want)
		}
		return nil
	})
}

// plansOnce asserts that the operator of each namespace answers its PlanRequests, once, and no other operator does.
func (b *bed) plansOnce(namespaces [][]string, owners ...*operator.Operator) {
	b.Helper()
	calls, writes := b.Mark()
	var requests []*nexusv1.PlanRequest
	for _, ns := range slices.Concat(namespaces...) {
		q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{GenerateName: "plan-", Namespace: ns},
			Spec: nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "S3Bucket", Name: ns + "-bucket-0"}}}}
		b.Create(q)
		requests = append(requests, q)
	}
	for _, q := range requests {
		b.Eventually(20*time.Second, "an answer in "+q.Namespace, func() error {
			if err := b.Get(q); err != nil || meta.IsStatusConditionTrue(q.Status.Conditions, "Ready") {
				return err
			}
			return fmt.Errorf("%+v", q.Status.Conditions)
		})
	}
	time.Sleep(time.Second) // for an operator that would answer later
	b.onlyOwners(b.World.AWS().Since(calls), namespaces, owners...)
	answers := map[string]int{}
	for _, e := range b.KubeWrites(writes) {
		if e.Resource == "planrequests" && e.Subresource == "status" {
			answers[e.Namespace]++
		}
	}
	for _, q := range requests {
		if answers[q.Namespace] != 1 {
			b.Errorf("the request in %s was answered %d times", q.Namespace, answers[q.Namespace])
		}
		b.Remove(q)
	}
}

// intentsAreServed asserts that bindings are enforced in the namespaces of every shard.
func (b *bed) intentsAreServed(namespaces [][]string) {
	b.Helper()
	intent := &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: "shards"}}
	intent.Spec.Intent = intentv1alpha1.Intent{ID: "denyExternalNetworkAccess", Action: intentv1alpha1.Block, Description: "for every shard"}
	b.Create(intent)
	defer b.Remove(intent)
	for _, names := range namespaces {
		s := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: "shards", Namespace: names[0]}}
		s.Spec.Intents = []intentv1alpha1.MatchIntent{{Name: intent.Name}}
		s.Spec.Selector.MatchLabels = map[string]string{"app": "web"}
		b.Create(s)
		b.Eventually(20*time.Second, "the binding in "+s.Namespace+" to be enforced", func() error {
			if err := b.Get(s); err != nil || meta.IsStatusConditionTrue(s.Status.Conditions, intentv1alpha1.ConditionEnforced) {
				return err
			}
			return fmt.Errorf("%+v", s.Status.Conditions)
		})
		b.Remove(s)
	}
}

// leaseEvent is a change of a lease's holder.
type leaseEvent struct {
	at     time.Time
	holder string
}

// holders follows who holds a shard's lease.
type holders struct {
	mu     sync.Mutex
	events []leaseEvent
}

// follow follows the holder of a shard's lease until the test ends, and calls released when it is released for the first time.
func (b *bed) follow(s shard.Shard, released func()) *holders {
	b.Helper()
	c, err := coordinationclient.NewForConfig(b.World.Config())
	if err != nil {
		b.Fatal(err)
	}
	w, err := c.Leases(operator.Namespace).Watch(b.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + s.Lease()})
	if err != nil {
		b.Fatal(err)
	}
	h := &holders{}
	released = sync.OnceFunc(released)
	go func() {
		last := "unknown"
		for e := range w.ResultChan() {
			lease, ok := e.Object.(*coordinationv1.Lease)
			if !ok || e.Type == watch.Deleted {
				continue
			}
			holder := ""
			if lease.Spec.HolderIdentity != nil {
				holder = *lease.Spec.HolderIdentity
			}
			if holder == last {
				continue
			}
			h.mu.Lock()
			h.events = append(h.events, leaseEvent{time.Now(), holder})
			h.mu.Unlock()
			if last != "unknown" && holder == "" {
				released()
			}
			last = holder
		}
	}()
	return h
}

// since returns the changes after a moment.
func (h *holders) since(t time.Time) []leaseEvent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.events), func(e leaseEvent) bool { return !e.at.After(t) })
}

// firstWrite waits for the first write of an operator to AWS after a mark.
func (b *bed) firstWrite(o *operator.Operator, mark emulator.Mark, within time.Duration) time.Time {
	b.Helper()
	var at time.Time
	b.Eventually(within, "a write of "+o.Name(), func() error {
		writes := b.World.AWS().Since(mark).Writes().From(o.Name())
		if len(writes) == 0 {
			return errors.New("there is none")
		}
		at = writes[0].Start
		return nil
	})
	return at
}

const (
	// mostHandOver limits how long work may rest when a leader is stopped, from the signal to the standby's first write. Other
	// processes may delay one hand-over, so the fastest of three is judged; waiting for the lease to end delays all of them.
	mostHandOver = time.Second
	// mostFailover is the same when a leader is killed.
	mostFailover = 20 * time.Second
)

func TestShards_AStandbyTakesOverAtOnceAndAfterACrash(t *testing.T) {
	extent.Full(t)
	b := newBed(t, elected("0/2")...)
	leader := b.standby(t, elected("1/2")...)
	namespace := b.namespacesOf(2, 1)[1][0]
	first := bucketIn(namespace, "first")
	b.Create(first)
	b.Ready(first)
	ordinal, fastest := 3, mostFailover
	for round := range 4 {
		next := b.standby(t, elected(fmt.Sprintf("%d/2", ordinal))...) // as the pods of a StatefulSet are numbered
		ordinal += 2
		o := bucketIn(namespace, fmt.Sprint("round-", round))
		if round == 3 {
			b.crash(leader, next, o)
		} else {
			fastest = min(fastest, b.handOver(leader, next, o))
		}
		b.Ready(o)
		leader = next
	}
	leader.Stop()
	if fastest > mostHandOver {
		t.Errorf("the fastest of three hand-overs took %s, want at most %s", fastest, mostHandOver)
	}
}

// handOver stops a leader as Kubernetes does and has a user create a bucket as soon as the lease is free.
// It returns the time from the signal to the first write of the next leader. Where the lease went from one holder to the
// next without being free, which a busy machine does to a leader that cannot renew in time, the bucket is created late.
func (b *bed) handOver(leader, next *operator.Operator, o *v1alpha1.S3Bucket) time.Duration {
	b.Helper()
	mark, _ := b.Mark()
	created := make(chan error, 1)
	h := b.follow(shard.Shard{Index: 1, Count: 2}, func() { created <- b.Client.Create(b.Ctx(), o) })
	b.Eventually(5*time.Second, "the lease", func() error {
		if len(h.since(time.Time{})) == 0 {
			return errors.New("nothing is known of it")
		}
		return nil
	})
	signaled := time.Now()
	leader.Terminate()
	var err error
	select {
	case err = <-created:
	case <-time.After(mostFailover):
		b.Logf("the lease was never free; its holders: %v", h.since(time.Time{}))
		err = b.Client.Create(b.Ctx(), o)
	}
	if err != nil {
		b.Fatal(err)
	}
	wrote := b.firstWrite(next, mark, mostFailover)
	for _, e := range h.since(signaled) {
		b.Logf("%4d ms after the signal the lease is held by %q", e.at.Sub(signaled).Milliseconds(), e.holder)
	}
	b.Logf("%4d ms after the signal the standby writes to AWS", wrote.Sub(signaled).Milliseconds())
	return wrote.Sub(signaled)
}

// crash kills a leader.
func (b *bed) crash(leader, next *operator.Operator, o *v1alpha1.S3Bucket) {
	b.Helper()
	mark, _ := b.Mark()
	killed := time.Now()
	leader.Kill()
	b.Create(o)
	took := b.firstWrite(next, mark, mostFailover+5*time.Second).Sub(killed)
	b.Logf("%.1f s after the leader was killed the standby writes to AWS", took.Seconds())
	if took > mostFailover {
		b.Errorf("a failover took %s, want at most %s", took, mostFailover)
	}
}

// The number of shards changes as in a rolling update: operators of both numbers run for a while.
func TestShards_TwoNumbersOfShardsNeverServeAtATime(t *testing.T) {
	extent.Full(t)
	more := []string{"--check-interval=1s", "--leader-elect-lease-duration=6s"}
	b := newBed(t, elected("0/2", more...)...)
	run := func(part string) *operator.Operator {
		return operator.Start(t, b.World, operator.Options{Flags: elected(part, more...)})
	}
	old := []*operator.Operator{b.Op, run("1/2")}
	namespaces := b.namespacesOf(3, 2)
	var all []client.Object
	for _, ns := range slices.Concat(namespaces...) {
		all = append(all, bucketIn(ns, "bucket"))
	}
	b.Create(all...)
	b.Ready(all...)
	mark, _ := b.Mark()
	b.servedBy(mark, namespaces, old)
	fresh := []*operator.Operator{run("0/3"), run("1/3"), run("2/3")}
	b.Eventually(10*time.Second, "the new shard 2 to wait", func() error { // the leases of the others are held
		if !strings.Contains(fresh[2].Log(), "waits until shard 0 works with 3 shards") {
			return errors.New("the log does not say so")
		}
		return nil
	})
	b.Op.Terminate()
	b.servedBy(mark, namespaces, fresh)
	b.neverTogether(b.World.AWS().Since(mark), old, fresh)
	mark, _ = b.Mark()
	b.servedBy(mark, namespaces, fresh)
	b.onlyOwners(b.World.AWS().Since(mark), namespaces, fresh...)
	if log := old[1].Log(); !strings.Contains(log, "leader election lost") {
		t.Errorf("the old shard 1 did not step down:\n%s", operator.Tail(log, 2000))
	}
	old[1].Terminate()
	b.Remove(all...)
	for _, o := range fresh {
		o.Stop()
	}
}

// servedBy waits until operators have called AWS about a bucket of every namespace.
func (b *bed) servedBy(mark emulator.Mark, namespaces [][]string, operators []*operator.Operator) {
	b.Helper()
	b.Eventually(40*time.Second, "every namespace to be served", func() error {
		by := callers(b.World.AWS().Since(mark), namespaces)
		for _, ns := range slices.Concat(namespaces...) {
			if !slices.ContainsFunc(operators, func(o *operator.Operator) bool { return slices.Contains(by[ns], o.Name()) }) {
				return fmt.Errorf("nobody looks at the bucket of %s", ns)
			}
		}
		return nil
	})
}

// neverTogether asserts that some operators made their last call before others made their first.
func (b *bed) neverTogether(calls emulator.Calls, before, after []*operator.Operator) {
	b.Helper()
	span := func(operators []*operator.Operator) (first, last time.Time) {
		for _, o := range operators {
			for _, c := range calls.From(o.Name()) {
				if first.IsZero() || c.Start.Before(first) {
					first = c.Start
				}
				if end := c.Start.Add(c.Duration); end.After(last) {
					last = end
				}
			}
		}
		return first, last
	}
	_, last := span(before)
	first, _ := span(after)
	if last.IsZero() || first.IsZero() || !first.After(last) {
		b.Errorf("two shards called AWS until %s, three shards since %s", last.Format(time.StampMilli), first.Format(time.StampMilli))
	}
	b.Logf("nobody served for %.1f s", first.Sub(last).Seconds())
}
