// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

const mebibyte = 1 << 20

// figure is one measured value of a phase.
type figure struct {
	measure measure
	value   float64
}

// phase is one part of a benchmark under measurement: what the operator did and used since its start.
type phase struct {
	b       *bench
	name    string
	aws     emulator.Mark
	audit   world.AuditMark
	usage   operator.Usage
	others  map[string]time.Duration // CPU time of what the operator talks to
	share   float64                  // the operator's CPU time as a part of the API server's, until the goal was reached
	memory  *operator.Sampler
	profile func()
	start   time.Time
	took    time.Duration
}

func (b *bench) usage() operator.Usage {
	b.B.Helper()
	u, err := b.Op.Usage()
	if err != nil {
		b.B.Fatal(err)
	}
	return u
}

// begin starts the measurement of a phase.
func (b *bench) begin(name string) *phase {
	b.B.Helper()
	p := &phase{b: b, name: name}
	p.profile = b.Op.StartCPUProfile(b.B.Name() + "-" + name)
	p.aws, p.audit = b.Mark()
	p.usage, p.memory = b.usage(), b.Op.SampleMemory()
	p.others, p.start = b.cpuOfOthers(), time.Now()
	return p
}

// reached notes that the phase's goal was reached: all objects are Ready, or gone.
func (p *phase) reached() {
	p.took = time.Since(p.start)
	for name, cpu := range p.b.cpuOfOthers() {
		p.others[name] = cpu - p.others[name]
	}
	p.share = (p.b.usage().CPU - p.usage.CPU).Seconds() / p.others[world.APIServer].Seconds()
}

// cpuOfOthers returns the CPU time so far of each component of the test bed, and of this process, which is the way to AWS. They
// share the cores with the operator, and its users have them elsewhere.
func (b *bench) cpuOfOthers() map[string]time.Duration {
	b.B.Helper()
	out := map[string]time.Duration{}
	pids := b.World.PIDs()
	pids["benchmark"] = os.Getpid()
	for name, pid := range pids {
		cpu, err := operator.CPUTime(pid)
		if err != nil {
			b.B.Fatal(err)
		}
		out[name] = cpu
	}
	return out
}

// quiet waits until the operator has called nothing and has used almost no CPU for a second.
func (b *bench) quiet() {
	b.B.Helper()
	last, calls := b.usage().CPU, b.World.AWS().Mark()
	for range 120 {
		time.Sleep(time.Second)
		cpu, mark := b.usage().CPU, b.World.AWS().Mark()
		if cpu-last <= 30*time.Millisecond && mark == calls {
			return
		}
		last, calls = cpu, mark
	}
	b.B.Fatal("the operator is not quiet after two minutes")
}

// end waits for the operator's last writes and returns what each of n objects took.
func (p *phase) end(n int) []figure {
	p.b.B.Helper()
	p.b.quiet()
	return p.figures(func(emulator.Calls) int { return n })
}

// figures returns what the operator did and used in the phase for each of the objects that count finds.
func (p *phase) figures(count func(emulator.Calls) int) []figure {
	p.b.B.Helper()
	u := p.b.usage()
	p.profile()
	calls := p.b.World.AWS().Since(p.aws)
	n := count(calls)
	asked, err := p.b.World.Audit().Since(p.audit, world.AuditFilter{UserAgent: "nexus-operator"})
	if err != nil {
		p.b.B.Fatal(err)
	}
	all := slices.DeleteFunc(slices.Clone(asked), func(e world.AuditEvent) bool { return !e.Write() })
	reads := slices.DeleteFunc(asked, world.AuditEvent.Write)
	isEvent := func(e world.AuditEvent) bool { return e.Resource == "events" }
	written := slices.DeleteFunc(slices.Clone(all), isEvent)
	p.print("AWS calls", n, tally(calls, func(c emulator.Call) string { return c.Service + "." + c.Op }))
	p.print("Kubernetes writes", n, tally(all, verbAndResource))
	p.print("Kubernetes reads", n, tally(reads, verbAndResource))
	p.print("events", n, tally(p.eventsSince(), eventName))
	p.print("milliseconds of CPU of the test bed", n, inMilliseconds(p.others))
	each := func(count int) float64 { return float64(count) / float64(n) }
	found := []figure{
		{awsCalls, each(calls.Count())},
		{kubeWrites, each(len(written))},
		{allWrites, each(len(all))},
		{events, each(len(all) - len(written))},
		{kubeReads, each(len(reads))},
		{cpuMillis, float64((u.CPU - p.usage.CPU).Milliseconds()) / float64(n)},
		{toReady, p.took.Seconds()},
		{peakMiB, float64(p.memory.Stop()) / mebibyte},
	}
	if p.share > 0 {
		found = append(found, figure{cpuShare, p.share})
	}
	return found
}

// eventsSince returns the events of the operator since the start of the phase.
func (p *phase) eventsSince() []corev1.Event {
	p.b.B.Helper()
	var all corev1.EventList
	if err := p.b.Client.List(p.b.Ctx(), &all); err != nil {
		p.b.B.Fatal(err)
	}
	return slices.DeleteFunc(all.Items, func(e corev1.Event) bool {
		return !strings.HasPrefix(e.ReportingController, "nexus-operator") || e.EventTime.Time.Before(p.start)
	})
}

// eventName tells what an event is about, and all that a warning says.
func eventName(e corev1.Event) string {
	name := e.Reason + " " + e.InvolvedObject.Kind
	if e.Type == corev1.EventTypeWarning {
		name += " (" + e.Message + ")"
	}
	return name
}

func inMilliseconds(of map[string]time.Duration) map[string]int {
	out := map[string]int{}
	for name, d := range of {
		out[name] = int(d.Milliseconds())
	}
	return out
}

func verbAndResource(e world.AuditEvent) string {
	name := e.Verb + " " + e.Resource
	if e.Subresource != "" {
		name += "/" + e.Subresource
	}
	if e.Code >= 400 {
		name += fmt.Sprintf(" (%d)", e.Code)
	}
	return name
}

func tally[T any](all []T, name func(T) string) map[string]int {
	out := map[string]int{}
	for _, x := range all {
		out[name(x)]++
	}
	return out
}

// print lists how often each operation was used per object, the most frequent first.
func (p *phase) print(what string, n int, counts map[string]int) {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] })
	fmt.Fprintf(os.Stdout, "-- %s: %s of %s per object:", p.b.B.Name(), what, p.name)
	for _, name := range names {
		fmt.Fprintf(os.Stdout, "  %.2f %s", float64(counts[name])/float64(n), name)
	}
	fmt.Fprintln(os.Stdout)
}

// atRest waits until the operator has returned what it does not need and returns its anonymous memory in MiB. The
// runtime collects garbage every two minutes at the latest and returns free pages in the background after that; a
// profiled operator does both on request.
func (b *bench) atRest() float64 {
	b.B.Helper()
	b.quiet()
	if operator.Profiled() {
		b.Op.WriteHeapProfile(b.B.Name() + "-rest")
		b.Op.ReturnMemory()
		return float64(b.usage().Anonymous) / mebibyte
	}
	lowest := b.usage().Anonymous
	for range 135 {
		time.Sleep(time.Second)
		lowest = min(lowest, b.usage().Anonymous)
	}
	return float64(lowest) / mebibyte
}

// follower notes when each object of a list becomes Ready and when it is gone.
type follower struct {
	mu          sync.Mutex
	made        map[string]time.Time
	ready, gone map[string]time.Duration
}

// follow watches all objects of the list's kind. The API server ends the watch of a client that falls behind: then
// follow lists the objects again, which tells later than the watch would have.
func (b *bench) follow(l client.ObjectList) *follower {
	b.B.Helper()
	f := &follower{made: map[string]time.Time{}, ready: map[string]time.Duration{}, gone: map[string]time.Duration{}}
	ctx, cancel := context.WithCancel(b.Ctx())
	var done sync.WaitGroup
	b.B.Cleanup(func() { cancel(); done.Wait() })
	w, err := b.Client.Watch(ctx, l)
	if err != nil {
		b.B.Fatal(err)
	}
	done.Go(func() {
		for err == nil && ctx.Err() == nil {
			for e := range w.ResultChan() {
				if o, ok := e.Object.(client.Object); ok {
					f.note(e.Type, o)
				}
			}
			w, err = b.rewatch(ctx, l, f)
		}
		if err != nil && ctx.Err() == nil {
			b.B.Errorf("watching: %v", err)
		}
	})
	return f
}

// rewatch lists the objects and watches from there.
func (b *bench) rewatch(ctx context.Context, l client.ObjectList, f *follower) (watch.Interface, error) {
	l = l.DeepCopyObject().(client.ObjectList)
	if err := b.Client.List(ctx, l); err != nil {
		return nil, err
	}
	present := map[string]bool{}
	for _, o := range kit.Items(l) {
		present[key(o)] = true
		f.note(watch.Modified, o)
	}
	f.missing(present)
	return b.Client.Watch(ctx, l, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: l.GetResourceVersion()}})
}

func key(o client.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// missing notes that every object that was Ready and is not present is gone.
func (f *follower) missing(present map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.ready {
		if _, known := f.gone[id]; !known && !present[id] {
			f.gone[id] = time.Since(f.made[id])
		}
	}
}

func (f *follower) note(kind watch.EventType, o client.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := key(o)
	since := time.Since(f.made[id])
	if kind == watch.Deleted {
		f.gone[id] = since
		return
	}
	if _, known := f.ready[id]; !known && meta.IsStatusConditionTrue(kit.ConditionsOf(o), "Ready") {
		f.ready[id] = since
	}
}

// begins notes the moment from which an object's time counts: creationTimestamp has whole seconds only.
func (f *follower) begins(o client.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made[key(o)] = time.Now()
}

// forget drops all objects that the follower has seen.
func (f *follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.made)
	clear(f.ready)
	clear(f.gone)
}

func (f *follower) counts() (ready, gone int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ready), len(f.gone)
}

// percentiles returns p50 and p99 in seconds.
func percentiles(times map[string]time.Duration) (p50, p99 float64) {
	sorted := slices.Sorted(maps.Values(times))
	at := func(share float64) float64 { return sorted[int(share*float64(len(sorted)-1))].Seconds() }
	return at(0.5), at(0.99)
}

// inParallel calls do for 0 to n-1, sixteen at a time, as a pipeline of users would.
func inParallel(n int, do func(i int)) {
	slots := make(chan struct{}, 16)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// creation measures the creation of objects until all are Ready.
func (b *bench) creation(what string, f *follower, objects []client.Object) []figure {
	b.B.Helper()
	b.quiet()
	p := b.begin("create")
	b.create(what, f, objects)
	p.reached()
	return append(p.end(len(objects)), spread(f.ready)...)
}

// deletion measures the deletion of objects until all are gone.
func (b *bench) deletion(what string, f *follower, objects []client.Object) []figure {
	b.B.Helper()
	b.quiet()
	p := b.begin("delete")
	b.remove(what, f, objects)
	p.reached()
	return append(p.end(len(objects)), spread(f.gone)...)
}

// create creates objects and waits until all are Ready.
func (b *bench) create(what string, f *follower, objects []client.Object) {
	b.B.Helper()
	inParallel(len(objects), func(i int) {
		f.begins(objects[i])
		if err := b.Client.Create(b.Ctx(), objects[i]); err != nil {
			b.B.Error(err)
		}
	})
	b.Eventually(patience(len(objects)), "every "+what+" to be Ready", func() error {
		if ready, _ := f.counts(); ready < len(objects) {
			return fmt.Errorf("%d of %d are", ready, len(objects))
		}
		return nil
	})
}

// remove deletes objects and waits until all are gone.
func (b *bench) remove(what string, f *follower, objects []client.Object) {
	b.B.Helper()
	inParallel(len(objects), func(i int) {
		f.begins(objects[i])
		if err := b.Client.Delete(b.Ctx(), objects[i], client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			b.B.Error(err)
		}
	})
	b.Eventually(patience(len(objects)), "every "+what+" to be gone", func() error {
		if _, gone := f.counts(); gone < len(objects) {
			return fmt.Errorf("%d of %d are", gone, len(objects))
		}
		return nil
	})
}

func spread(times map[string]time.Duration) []figure {
	p50, p99 := percentiles(times)
	return []figure{{"s-p50", p50}, {"s-p99", p99}}
}

// patience returns how long so many objects may take before a benchmark gives up: the 17 parameters of a capability alone take six seconds
// at the rate that AWS allows by default.
func patience(n int) time.Duration { return time.Minute + time.Duration(n)*8*time.Second }
