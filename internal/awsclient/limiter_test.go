package awsclient

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// slept is a limiter whose waits move the clock and are added up.
func slept(limits Limits) (*limiter, *clock, *time.Duration) {
	c, total := newClock(), new(time.Duration)
	l := newLimiter(c.now, limits)
	l.sleep = func(_ context.Context, d time.Duration) error {
		*total += d
		c.advance(d)
		return nil
	}
	return l, c, total
}

var here = home{account: account, region: "eu-west-1"}

func TestLimiterLetsABurstPassAndThenTheRate(t *testing.T) {
	l, _, waited := slept(Limits{"x": {PerSecond: 10, Burst: 5}})
	for range 25 {
		if err := l.wait(t.Context(), l.bucket(here, "x", "Get")); err != nil {
			t.Fatal(err)
		}
	}
	if *waited < 1900*time.Millisecond || *waited > 2100*time.Millisecond {
		t.Errorf("25 calls waited %s, want 5 at once and 20 at 10/s", *waited)
	}
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
	b := newBucket(Rate{PerSecond: 64, Burst: 128}, now.now())
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
	b.take(now.now())
	if b.current < 32 || b.current > 34 {
		t.Errorf("%v/s after half the recovery, want about half", b.current)
	}
	now.advance(recovery)
	b.take(now.now())
	if b.current != 64 || b.rate.Burst() != 128 {
		t.Errorf("%v/s burst %d, want all of it back", b.current, b.rate.Burst())
	}
}

func TestARateStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := newClock()
		full := Rate{PerSecond: rapid.Float64Range(0, 1000).Draw(t, "rate"), Burst: rapid.IntRange(-1, 100).Draw(t, "burst")}
		b := newBucket(full, now.now())
		for range rapid.IntRange(1, 50).Draw(t, "events") {
			now.advance(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			if rapid.Bool().Draw(t, "throttled") {
				b.throttled(now.now())
			} else {
				b.take(now.now())
			}
			if b.current < slowest || b.current > max(full.PerSecond, slowest) || b.rate.Burst() < 1 {
				t.Fatalf("%v/s burst %d", b.current, b.rate.Burst())
			}
		}
	})
}

func TestACallThatWouldWaitTooLongFailsAtOnce(t *testing.T) {
	l := newLimiter(newClock().now, Limits{"x": {PerSecond: 1, Burst: 1}})
	l.sleep = func(context.Context, time.Duration) error { return nil }
	b := l.bucket(here, "x", "Get")
	var err error
	calls := 0
	for ; err == nil; calls++ {
		err = l.wait(t.Context(), b)
	}
	if calls != 12 { // one at once, ten that wait up to 10 s, and the refused one
		t.Errorf("refused call %d", calls)
	}
	if !Is(err, Throttled) || err.Error() == "" {
		t.Errorf("%v is %+v", err, Classify(err))
	}
	// What was refused has taken no turn.
	if again := l.wait(t.Context(), b); !Is(again, Throttled) {
		t.Error(again)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	l := newLimiter(time.Now, Limits{"x": {PerSecond: 1, Burst: 1}})
	b := l.bucket(here, "x", "Get")
	_ = l.wait(t.Context(), b)
	short, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := l.wait(short, b); !Is(err, Throttled) {
		t.Errorf("%v, want no wait that cannot succeed", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(5 * time.Millisecond)
		stop()
	})
	if err := l.wait(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	wg.Wait()
	if err := sleep(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
}
