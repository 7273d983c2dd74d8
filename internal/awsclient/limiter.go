package awsclient

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate is how fast calls may go to one service in one account and region.
type Rate struct {
	// PerSecond is the steady rate.
	PerSecond float64
	// Burst is how many calls may come at once after a quiet time.
	Burst int
}

// Limits are rates by service ("iam") or by operation ("ssm.PutParameter"), which then has a bucket
// of its own; "*" is for all others. Names are those of Failure.
type Limits map[string]Rate

// defaultLimits lie at or below AWS's default quotas where AWS publishes them:
// docs.aws.amazon.com/general/latest/gr/ssm.html, .../secretsmanager/latest/userguide/reference_limits.html,
// .../cognito/latest/developerguide/quotas.html, .../AWSEC2/latest/APIReference/throttling.html,
// .../Route53/latest/DeveloperGuide/DNSLimitations.html. Read only.
var defaultLimits = Limits{
	"*":                       {PerSecond: 50, Burst: 100},
	"s3":                      {PerSecond: 500, Burst: 1000},
	"sts":                     {PerSecond: 100, Burst: 200},
	"iam":                     {PerSecond: 15, Burst: 60},
	"ssm":                     {PerSecond: 40, Burst: 40},
	"ssm.PutParameter":        {PerSecond: 3, Burst: 30},
	"glue":                    {PerSecond: 20, Burst: 40},
	"cognitoidentityprovider": {PerSecond: 15, Burst: 15},
	"rds":                     {PerSecond: 20, Burst: 40},
	"ec2":                     {PerSecond: 20, Burst: 100},
	"elasticloadbalancingv2":  {PerSecond: 10, Burst: 40},
	"lambda":                  {PerSecond: 15, Burst: 30},
	"route53":                 {PerSecond: 5, Burst: 5},
	"cloudfront":              {PerSecond: 5, Burst: 10},
	"organizations":           {PerSecond: 2, Burst: 5},
}

const (
	// slowest is as far as throttling slows a service down.
	slowest = 1.0
	// recovery is how long full speed takes to come back from nothing.
	recovery = time.Minute
	// halveEvery keeps the answers to one volley from counting as many throttles.
	halveEvery = time.Second
	// longestWait is how long a call may wait for its turn; beyond, it fails as throttled and its
	// object goes back to the queue.
	longestWait = 10 * time.Second
)

// home is where calls are counted by AWS.
type home struct{ endpoint, account, region string }

type bucketKey struct {
	home
	name string
}

// limiter holds one bucket per account, region and service, shared by all sessions.
type limiter struct {
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	limits Limits

	mu      sync.Mutex
	buckets map[bucketKey]*bucket
}

func newLimiter(now func() time.Time, overrides Limits) *limiter {
	limits := maps.Clone(defaultLimits)
	maps.Copy(limits, overrides)
	return &limiter{now: now, sleep: sleep, limits: limits, buckets: map[bucketKey]*bucket{}}
}

// bucket finds the bucket of a call.
func (l *limiter) bucket(at home, service, operation string) *bucket {
	name := service + "." + operation
	limit, ok := l.limits[name]
	if !ok {
		name = service
		if limit, ok = l.limits[name]; !ok {
			limit = l.limits["*"]
		}
	}
	if isGlobal(service) {
		at.region = ""
	}
	key := bucketKey{home: at, name: name}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil {
		b = newBucket(limit, l.now())
		l.buckets[key] = b
	}
	return b
}

// isGlobal names services that count an account's calls from all regions together.
func isGlobal(service string) bool {
	switch service {
	case "iam", "route53", "cloudfront", "organizations":
		return true
	}
	return false
}

// wait returns when it is the call's turn. It fails at once when the turn would come too late.
func (l *limiter) wait(ctx context.Context, b *bucket) error {
	now := l.now()
	turn, delay := b.take(now)
	if delay <= 0 {
		return nil
	}
	longest := longestWait
	if end, ok := ctx.Deadline(); ok {
		longest = min(longest, end.Sub(now))
	}
	if delay > longest {
		turn.CancelAt(now)
		return &pausedError{}
	}
	if err := l.sleep(ctx, delay); err != nil {
		turn.CancelAt(l.now())
		return err
	}
	return nil
}

// sleep waits, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// pausedError says that our own limiter refused a call that AWS never saw.
type pausedError struct{}

// Error implements error.
func (*pausedError) Error() string {
	return fmt.Sprintf("held back: the service is throttling us, and %s would not be enough", longestWait)
}

// bucket is a token bucket that AWS's throttling slows down: half the rate at each throttled answer,
// back to the full rate within a minute of quiet.
type bucket struct {
	full Rate

	mu      sync.Mutex
	silence silence
	rate    *rate.Limiter
	current float64
	changed time.Time
	halved  time.Time
}

func newBucket(full Rate, now time.Time) *bucket {
	full.PerSecond, full.Burst = max(full.PerSecond, slowest), max(full.Burst, 1)
	return &bucket{full: full, rate: rate.NewLimiter(rate.Limit(full.PerSecond), full.Burst), current: full.PerSecond, changed: now}
}

// take reserves a turn and says how long it is until then.
func (b *bucket) take(now time.Time) (*rate.Reservation, time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since := now.Sub(b.changed); b.current < b.full.PerSecond && since > 0 {
		b.set(now, b.current+b.full.PerSecond*since.Seconds()/recovery.Seconds())
	}
	turn := b.rate.ReserveN(now, 1)
	return turn, turn.DelayFrom(now)
}

// throttled halves the rate.
func (b *bucket) throttled(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.halved.IsZero() && now.Sub(b.halved) < halveEvery {
		return
	}
	b.halved = now
	b.set(now, b.current/2)
}

// set changes the rate within its bounds, and the burst in proportion.
func (b *bucket) set(now time.Time, perSecond float64) {
	b.current, b.changed = min(max(perSecond, slowest), b.full.PerSecond), now
	share := b.current / b.full.PerSecond
	b.rate.SetLimitAt(now, rate.Limit(b.current))
	b.rate.SetBurstAt(now, max(1, int(share*float64(b.full.Burst))))
}
