// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// under is a context of calls for an object of the namespace.
func under(ctx context.Context, namespace string) context.Context {
	return WithObject(ctx, "IAMRole", namespace, "role")
}

// crowd has n objects of a namespace make one call each; a call that is refused is made again a second later.
func crowd(ctx context.Context, l *limiter, b *bucket, namespace string, n int) {
	for range n {
		go func() {
			for ctx.Err() == nil && IsPaced(l.wait(under(ctx, namespace), b)) {
				time.Sleep(time.Second)
			}
		}()
	}
}

func TestAWaitingCrowdDelaysAnotherNamespaceByOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{"iam": {PerSecond: 5, Burst: 1}})
		b := l.bucket(here, "iam", "CreateRole")
		ctx, stop := context.WithCancel(t.Context())
		crowd(ctx, l, b, "many", 500)
		for _, after := range []time.Duration{0, 3300 * time.Millisecond, 20 * time.Second} {
			time.Sleep(after)
			synctest.Wait()
			start := time.Now()
			if err := l.wait(under(t.Context(), "few"), b); err != nil {
				t.Fatal(err)
			}
			if waited, token := time.Since(start), 200*time.Millisecond; waited > 2*token {
				t.Errorf("the first call of another namespace waited %s, want at most two tokens of %s", waited, token)
			}
		}
		stop()
		time.Sleep(2 * time.Second) // until those that were refused have seen it
	})
}

func TestNamespacesShareARateEqually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{"iam": {PerSecond: 10, Burst: 1}})
		b := l.bucket(here, "iam", "CreateRole")
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		served := make([]int, 3)
		for i, callers := range []int{60, 10, 3} {
			for range callers {
				go func() {
					for ctx.Err() == nil {
						if l.wait(under(ctx, fmt.Sprint(i)), b) == nil {
							b.mu.Lock()
							served[i]++
							b.mu.Unlock()
						} else {
							time.Sleep(time.Second)
						}
					}
				}()
			}
		}
		<-ctx.Done()
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, n := range served {
			if n < 90 || n > 110 {
				t.Errorf("namespace %d made %d of about 300 calls, want a third", i, n)
			}
		}
	})
}

func TestWaitlistServesEachNamespaceOnceARound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l waitlist
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			namespace := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "namespace")
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				l.pop()
			case 1:
				if calls := l.calls[namespace]; len(calls) > 0 {
					gone := rapid.SampledFrom(calls).Draw(t, "gone")
					if !l.remove(gone) || l.remove(gone) {
						t.Fatal("a waiting call is removed once")
					}
				}
			default:
				l.push(&waiter{namespace: namespace})
			}
		}
		w, ahead, size := &waiter{namespace: "a"}, l.ahead("a"), l.size
		l.push(w)
		round := map[string]bool{}
		for i := range size + 1 {
			next := l.pop()
			if (next == w) != (i == ahead) {
				t.Fatalf("call %d of %d is the new one: %v, expected after %d", i, size, next == w, ahead)
			}
			if round[next.namespace] {
				for other := range l.calls {
					if !round[other] && other != next.namespace {
						t.Fatalf("%s is served twice before %s", next.namespace, other)
					}
				}
				clear(round)
			}
			round[next.namespace] = true
		}
		if l.pop() != nil || l.size != 0 || len(l.order) != 0 || len(l.calls) != 0 {
			t.Fatal("calls are left over")
		}
	})
}
