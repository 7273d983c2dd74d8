// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// newLimits is a limiter on the clock of a synctest bubble, so that waiting takes no time.
func newLimits(limits Limits) *limiter { return newLimiter(time.Now, limits) }

// pace holds the state of a bucket at one moment.
type pace struct {
	current, ceiling float64
	halved           time.Time
	burst, waiting   int
}

func paceOf(b *bucket) pace {
	b.mu.Lock()
	defer b.mu.Unlock()
	return pace{b.current, b.ceiling, b.halved, b.rate.Burst(), b.calls.size}
}

var here = home{account: account, region: "eu-west-1"}

func TestLimiterLetsABurstPassAndThenTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, start := newLimits(Limits{"x": {PerSecond: 10, Burst: 5}}), time.Now()
		for range 25 {
			if err := l.wait(t.Context(), l.bucket(here, "x", "Get")); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(start); waited < 1900*time.Millisecond || waited > 2100*time.Millisecond {
			t.Errorf("25 calls waited %s, want 5 at once and 20 at 10/s", waited)
		}
	})
}

func TestBucketsAreSharedByAccountRegionAndService(t *testing.T) {
	l := newLimiter(newClock().now, nil)
	other := home{account: "2", region: "eu-west-1"}
	far := home{account: account, region: "us-east-1"}
	emulator := home{endpoint: "http://x", account: account, region: "eu-west-1"}
	first := l.bucket(here, "dynamodb", "CreateTable")
	if first != l.bucket(here, "dynamodb", "DescribeTable") {
		t.Error("operations of one service do not share")
	}
	for name, b := range map[string]*bucket{
		"account": l.bucket(other, "dynamodb", "X"), "region": l.bucket(far, "dynamodb", "X"),
		"service": l.bucket(here, "glue", "X"), "endpoint": l.bucket(emulator, "dynamodb", "X"),
	} {
		if b == first {
			t.Errorf("another %s shares", name)
		}
	}
	if l.bucket(here, "iam", "X") != l.bucket(far, "iam", "X") {
		t.Error("IAM counts all regions together")
	}
	if l.bucket(here, "ssm", "PutParameter") == l.bucket(here, "ssm", "GetParameter") {
		t.Error("an operation with a rate of its own shares")
	}
}

func TestThrottlingHalvesAndQuietRestores(t *testing.T) {
	now := newClock()
	b := newBucket(Rate{PerSecond: 64, Burst: 128}, now.now)
	b.throttled(now.now())
	b.throttled(now.now()) // the same volley
	if b.current != 32 || b.rate.Burst() != 64 {
		t.Errorf("%v/s burst %d after one volley, want half", b.current, b.rate.Burst())
	}
	for range 20 {
		now.advance(halveEvery)
		b.throttled(now.now())
	}
	if b.current != slowest || b.rate.Burst() < 1 {
		t.Errorf("%v/s burst %d, want the floor", b.current, b.rate.Burst())
	}
	now.advance(recovery / 2)
	b.join("", 0)
	if b.current < 32 || b.current > 34 {
		t.Errorf("%v/s after half the recovery, want about half", b.current)
	}
	now.advance(recovery)
	b.join("", 0)
	if b.current != 64 || b.rate.Burst() != 128 {
		t.Errorf("%v/s burst %d, want all of it back", b.current, b.rate.Burst())
	}
}

func TestARateStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := newClock()
		full := Rate{PerSecond: rapid.Float64Range(0, 1000).Draw(t, "rate"), Burst: rapid.IntRange(-1, 100).Draw(t, "burst"),
			Most: rapid.Float64Range(0, 2000).Draw(t, "most")}
		b := newBucket(full, now.now)
		for range rapid.IntRange(1, 50).Draw(t, "events") {
			now.advance(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			if rapid.Bool().Draw(t, "throttled") {
				b.throttled(now.now())
			} else {
				b.join("", 0)
			}
			if b.current < slowest || b.current > max(full.PerSecond, full.Most, slowest) || b.rate.Burst() < 1 {
				t.Fatalf("%v/s burst %d", b.current, b.rate.Burst())
			}
		}
	})
}

func TestACallThatWouldWaitTooLongFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{"x": {PerSecond: 1, Burst: 1}})
		b := l.bucket(here, "x", "Get")
		var passed, refused atomic.Int32
		for range 20 {
			go func() {
				if err := l.wait(t.Context(), b); err == nil {
					passed.Add(1)
				} else if Is(err, Throttled) && IsPaced(err) && err.Error() != "" {
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		// One at once, ten that wait up to 10 s, and the others are refused and have taken no token.
		if passed.Load() != 1 || refused.Load() != 9 {
			t.Errorf("%d passed and %d were refused at once", passed.Load(), refused.Load())
		}
		time.Sleep(10*time.Second + time.Millisecond)
		if synctest.Wait(); passed.Load() != 11 {
			t.Errorf("%d passed within 10 s", passed.Load())
		}
	})
}

func TestAFreeTokenIsTakenWhateverTheDeadline(t *testing.T) {
	l := newLimits(Limits{"x": {PerSecond: 1, Burst: 1}})
	b := l.bucket(here, "x", "Get")
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if err := l.wait(past, b); err != nil {
		t.Errorf("the call, which knows its deadline itself, is refused: %v", err)
	}
	if err := l.wait(past, b); !IsPaced(err) {
		t.Errorf("%v without a token", err)
	}
}

func TestACallRefusedWhileAWSThrottlesCountsAsThrottledByAWS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{"x": {PerSecond: 2, Burst: 1}})
		b := l.bucket(here, "x", "Get")
		reported := false
		ctx, cancel := context.WithTimeout(OnPaced(t.Context(), func(string, string) { reported = true }), 1500*time.Millisecond)
		defer cancel()
		b.throttled(time.Now())
		_ = l.wait(ctx, b)
		if err := l.wait(ctx, b); err != nil || reported {
			t.Errorf("%v, reported: %v", err, reported)
		}
		if err := l.wait(ctx, b); !Is(err, Throttled) || IsPaced(err) {
			t.Errorf("%v is paced: %v", err, IsPaced(err))
		}
		for start := time.Now(); time.Since(start) < recovery; time.Sleep(time.Second) {
			_ = l.wait(t.Context(), b)
		}
		full, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		for range 2 {
			_ = l.wait(full, b)
		}
		if err := l.wait(full, b); !IsPaced(err) {
			t.Errorf("%v is not paced at the usual rate", err)
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{"x": {PerSecond: 1, Burst: 1}})
		b := l.bucket(here, "x", "Get")
		_ = l.wait(t.Context(), b)
		short, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		if err := l.wait(short, b); !IsPaced(err) {
			t.Errorf("%v, want no wait that cannot succeed", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, stop)
		if err := l.wait(ctx, b); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if paceOf(b).waiting != 0 {
			t.Error("the call still waits")
		}
		// The token that was reserved for it was given back.
		start := time.Now()
		if err := l.wait(t.Context(), b); err != nil || time.Since(start) > time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// puts sends calls that wait for their turns until the clock passed d; AWS throttles those above quota.
func puts(t *testing.T, l *limiter, d time.Duration, quota float64) (sent int) {
	t.Helper()
	b := l.bucket(here, "ssm", "PutParameter")
	for end := time.Now().Add(d); time.Now().Before(end); sent++ {
		if err := l.wait(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if paceOf(b).current > quota {
			b.throttled(time.Now())
		}
	}
	return sent
}

func TestAnAdaptiveRateRisesWhileCallsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(nil)
		b := l.bucket(here, "ssm", "PutParameter")
		if n := puts(t, l, 10*time.Second, 1000); paceOf(b).current <= 6 || paceOf(b).current > 12 {
			t.Errorf("%v/s after ten seconds and %d calls", paceOf(b).current, n)
		}
		puts(t, l, 30*time.Second, 1000)
		if paceOf(b).current != 40 || paceOf(b).burst != 30 {
			t.Errorf("%v/s burst %d, want the highest rate and the burst unchanged", paceOf(b).current, paceOf(b).burst)
		}
	})
}

func TestAnAdaptiveRateWithoutWaitingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, start := newLimits(nil), time.Now()
		b := l.bucket(here, "ssm", "PutParameter")
		for range 200 {
			time.Sleep(time.Second)
			if err := l.wait(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if paceOf(b).current != 3 || time.Since(start) != 200*time.Second {
			t.Errorf("%v/s after a waiting time of %s", paceOf(b).current, time.Since(start)-200*time.Second)
		}
	})
}

func TestAnAdaptiveRateRemembersWhereAWSThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(nil)
		b := l.bucket(here, "ssm", "PutParameter")
		const quota = 10
		puts(t, l, 20*time.Second, quota)
		if paceOf(b).halved.IsZero() || paceOf(b).ceiling > quota*rise*margin {
			t.Fatalf("ceiling %v/s after a throttle above %d/s", paceOf(b).ceiling, quota)
		}
		at := paceOf(b).halved
		if puts(t, l, 5*time.Minute, quota); !paceOf(b).halved.Equal(at) || paceOf(b).current != paceOf(b).ceiling || paceOf(b).current < 6 {
			t.Errorf("%v/s with ceiling %v, throttled again: %v", paceOf(b).current, paceOf(b).ceiling, !paceOf(b).halved.Equal(at))
		}
		puts(t, l, remember, quota)
		if paceOf(b).halved.Equal(at) {
			t.Error("the rate was never tried again")
		}
	})
}

// The default quota of an account: the rate falls, and comes back to it.
func TestAnAdaptiveRateFallsBackToItsSteadyRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(nil)
		b := l.bucket(here, "ssm", "PutParameter")
		puts(t, l, 2*time.Minute, 3)
		if paceOf(b).current != 3 || paceOf(b).ceiling != 3 {
			t.Errorf("%v/s, ceiling %v", paceOf(b).current, paceOf(b).ceiling)
		}
	})
}

func TestARateOfTheAdministratorDoesNotAdapt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{"ssm.PutParameter": {PerSecond: 10, Burst: 1}})
		if puts(t, l, time.Minute, 1000); paceOf(l.bucket(here, "ssm", "PutParameter")).current != 10 {
			t.Error("the rate changed")
		}
	})
}

func TestDynamoDBOperationsHaveRates(t *testing.T) {
	l := newLimiter(newClock().now, nil)
	for operation, want := range map[string]float64{
		"TagResource": 5, "UntagResource": 5, "ListTagsOfResource": 10, "UpdateContinuousBackups": 10, "DescribeContinuousBackups": 10,
		"DescribeTable": 50,
	} {
		if got := l.bucket(here, "dynamodb", operation).full.PerSecond; got != want {
			t.Errorf("%s: %v/s, want %v", operation, got, want)
		}
	}
}

func TestLimiter_SharesTheQuotaWithOtherProcesses(t *testing.T) {
	l := newLimits(Limits{"sts": {PerSecond: 8, Burst: 1}}).sharedBy(4)
	for name, want := range map[string]Rate{
		"ssm.PutParameter": {PerSecond: 0.75, Burst: 7, Most: 10, Raised: 2.5},
		"s3":               {PerSecond: 125, Burst: 250},
		"sts":              {PerSecond: 2, Burst: 1}, // the administrator's
	} {
		if got := l.limits[name]; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got, want := newLimits(nil).sharedBy(0).limits["iam"], defaultLimits["iam"]; got != want {
		t.Errorf("alone: %+v, want %+v", got, want)
	}
}
