// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// crowd sets how many bindings one tenant makes in one namespace.
const crowd = 1000

// BenchmarkAThousandBindingsInOneNamespace measures the processor time until a thousand bindings of one
// namespace are enforced, and how long the binding of another tenant takes meanwhile: on their own pods, and
// all on pods that overlap.
func BenchmarkAThousandBindingsInOneNamespace(b *testing.B) {
	for name, labels := range map[string]func(int) map[string]string{
		"apart":       func(i int) map[string]string { return map[string]string{"app": fmt.Sprint("app", i)} },
		"overlapping": func(i int) map[string]string { return map[string]string{fmt.Sprint("key", i%100): "v"} },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				x := newBench(b, "--adapters=networkpolicy")
				intents := x.two()[:1]
				quiet := x.MakeNamespace(x.Namespace + "-quiet")
				before, profiled := x.cpu(), x.Op.StartCPUProfile(b.Name())
				b.StartTimer()
				began := time.Now()
				x.crowd(labels, intents)
				worst := x.neighbor(quiet, intents)
				took, last := x.settledCrowd(began)
				b.StopTimer()
				profiled()
				b.ReportMetric(last.Seconds()-before.Seconds(), "s/cpu")
				b.ReportMetric(took.Seconds(), "s/settled")
				b.ReportMetric(worst.Seconds(), "s/neighbor")
				x.clean()
				x.Op.Stop()
				b.StartTimer()
			}
		})
	}
}

// crowd makes the bindings, eight at a time.
func (b *bench) crowd(labels func(int) map[string]string, intents []*v1alpha1.SecurityIntent) {
	slots := make(chan struct{}, 8)
	for i := range crowd {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			b.make(binding(b.Namespace, fmt.Sprint("b", i), labels(i), intents...))
		}()
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
}

// neighbor makes bindings in another namespace, one after the other, and returns the longest time until one was
// enforced.
func (b *bench) neighbor(namespace string, intents []*v1alpha1.SecurityIntent) time.Duration {
	b.B.Helper()
	worst := time.Duration(0)
	for n := range 5 {
		began := time.Now()
		s := binding(namespace, fmt.Sprint("web", n), map[string]string{"app": fmt.Sprint("web", n)}, intents...)
		b.make(s)
		for !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionEnforced) {
			if time.Since(began) > time.Minute {
				b.B.Fatalf("the neighbor's binding is not enforced after a minute: %v", s.Status.Conditions)
			}
			time.Sleep(20 * time.Millisecond)
			if err := b.Get(s); err != nil {
				b.B.Fatal(err)
			}
		}
		worst = max(worst, time.Since(began))
	}
	return worst
}

// settledCrowd waits until all bindings are enforced, and returns when and how much processor time that took.
func (b *bench) settledCrowd(since time.Time) (took, cpu time.Duration) {
	b.B.Helper()
	b.Eventually(4*time.Minute, "the crowd to be enforced", func() error {
		list := &v1alpha1.SecurityIntentBindingList{}
		if err := b.Client.List(b.Ctx(), list, client.InNamespace(b.Namespace)); err != nil {
			return err
		}
		n := 0
		for _, s := range list.Items {
			if meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionEnforced) {
				n++
			}
		}
		if n < crowd {
			time.Sleep(500 * time.Millisecond)
			return fmt.Errorf("%d of %d", n, crowd)
		}
		return nil
	})
	return time.Since(since), b.cpu()
}

// cpu is the processor time that the operator has used.
func (b *bench) cpu() time.Duration {
	b.B.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.Op.PID()))
	if err != nil {
		b.B.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(f)
		if err != nil {
			b.B.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
