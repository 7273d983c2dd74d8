// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate says how fast calls may go to one service in one account and region.
type Rate struct {
	// PerSecond is the steady rate.
	PerSecond float64
	// Burst limits how many calls may come at once after a quiet time.
	Burst int
	// Most makes the rate adaptive: while calls wait for their turn and AWS does not throttle them, the
	// rate rises from PerSecond up to Most. Zero keeps it at PerSecond. It is for quotas that an account
	// can raise.
	Most float64
	// Raised replaces PerSecond in accounts that have turned on higher throughput of Parameter Store. Zero
	// is for rates that do not depend on that setting.
	Raised float64
}

// Limits are rates by service ("iam") or by operation ("ssm.PutParameter"), which then has a separate
// bucket; "*" is for all others. Names are those of Failure. An entry replaces the default of the same
// name as a whole: a rate set by the administrator does not adapt.
type Limits map[string]Rate

// defaultLimits, and those in the facts of kinds, lie at or below AWS's default quotas where AWS publishes them:
// docs.aws.amazon.com/general/latest/gr/ssm.html, .../secretsmanager/latest/userguide/reference_limits.html,
// .../cognito/latest/developerguide/quotas.html, .../AWSEC2/latest/APIReference/throttling.html,
// .../Route53/latest/DeveloperGuide/DNSLimitations.html. The rates of single DynamoDB operations are in
// their pages of docs.aws.amazon.com/amazondynamodb/latest/APIReference. Read only.
var defaultLimits = Limits{
	"*":   {PerSecond: 50, Burst: 100},
	"s3":  {PerSecond: 500, Burst: 1000},
	"sts": {PerSecond: 100, Burst: 200},
	"iam": {PerSecond: 15, Burst: 60},
	"ssm": {PerSecond: 40, Burst: 40},
	// 3 a second, and 10 with higher throughput, which is a setting of the account:
	// docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-throughput.html
	"ssm.PutParameter":        {PerSecond: 3, Burst: 30, Most: 40, Raised: 10},
	"glue":                    {PerSecond: 20, Burst: 40},
	"cognitoidentityprovider": {PerSecond: 15, Burst: 15},
	"rds":                     {PerSecond: 20, Burst: 40},
	"ec2":                     {PerSecond: 20, Burst: 100},
	"elasticloadbalancingv2":  {PerSecond: 10, Burst: 40},
	"lambda":                  {PerSecond: 15, Burst: 30},
	"route53":                 {PerSecond: 5, Burst: 5},
	"cloudfront":              {PerSecond: 5, Burst: 10},
	"organizations":           {PerSecond: 2, Burst: 5},
	// AWS publishes no rate of Cloud Control API. Other clients are throttled at 25 calls a second (github.com/ekristen/aws-nuke/pull/510).
	"cloudcontrol":   {PerSecond: 20, Burst: 40},
	"cloudformation": {PerSecond: 5, Burst: 10}, // DescribeType, once for each type and provider

	// SQS sets no quota on them for standard queues. Those of drift events take none of the rate of SQSQueue objects.
	"sqs.ReceiveMessage":     {PerSecond: 50, Burst: 50},
	"sqs.DeleteMessageBatch": {PerSecond: 50, Burst: 50},

	"dynamodb.TagResource":               {PerSecond: 5, Burst: 5},
	"dynamodb.UntagResource":             {PerSecond: 5, Burst: 5},
	"dynamodb.ListTagsOfResource":        {PerSecond: 10, Burst: 10},
	"dynamodb.UpdateContinuousBackups":   {PerSecond: 10, Burst: 10},
	"dynamodb.DescribeContinuousBackups": {PerSecond: 10, Burst: 10},
}

const (
	// slowest is as far as throttling slows a service down.
	slowest = 1.0
	// recovery sets how long full speed takes to come back from nothing.
	recovery = time.Minute
	// halveEvery keeps the answers to one volley from counting as many throttles.
	halveEvery = time.Second
	// longestWait limits how long a call may wait for its turn; beyond, it fails as throttled and its
	// object goes back to the queue.
	longestWait = 10 * time.Second
	// grace limits how much later than expected a call may get its turn before it fails.
	grace = time.Second
	// reportWait is the least expected wait that marks the object of a call as paced; see OnPaced.
	reportWait = time.Second
	// riseEvery and rise are how an adaptive rate rises while calls wait for their turn: by a quarter
	// every two seconds, which takes PutParameter from 3 to 40 a second in 24 seconds.
	riseEvery = 2 * time.Second
	rise      = 1.25
	// margin is the share of AWS's throttling rate that an adaptive rate stays below, and remember is for how long.
	margin   = 0.75
	remember = 10 * time.Minute
)

// home says where calls are counted by AWS.
type home struct{ endpoint, account, region string }

type bucketKey struct {
	home
	name string
}

// limiter holds one bucket per account, region and service, shared by all sessions.
type limiter struct {
	now    func() time.Time
	limits Limits

	mu      sync.Mutex
	buckets map[bucketKey]*bucket
}

func newLimiter(now func() time.Time, overrides Limits) *limiter {
	limits := maps.Clone(defaultLimits)
	maps.Copy(limits, kindLimits)
	maps.Copy(limits, overrides)
	return &limiter{now: now, limits: limits, buckets: map[bucketKey]*bucket{}}
}

// sharedBy divides every rate by the number of processes that share the quotas of an account.
func (l *limiter) sharedBy(processes int) *limiter {
	n := max(processes, 1)
	for name, r := range l.limits {
		l.limits[name] = Rate{PerSecond: r.PerSecond / float64(n), Burst: max(r.Burst/n, 1), Most: r.Most / float64(n),
			Raised: r.Raised / float64(n)}
	}
	return l
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
		b = newBucket(limit, l.now)
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

// wait returns when the call has a token. It fails at once when that would take too long, and later when calls of
// other namespaces, which are served in turn, or throttled answers delay it for too long.
func (l *limiter) wait(ctx context.Context, b *bucket) error {
	longest := longestWait
	if end, ok := ctx.Deadline(); ok {
		longest = max(0, min(longest, end.Sub(l.now())))
	}
	w, expected := b.join(namespaceOf(ctx), longest)
	switch {
	case expected > longest:
		return &pacedError{slowed: b.slowed()}
	case w == nil:
		return nil
	case expected >= reportWait && !b.slowed():
		reportPaced(ctx)
	}
	giveUp := time.NewTimer(longest + grace)
	defer giveUp.Stop()
	var err error
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-giveUp.C:
		err = &pacedError{slowed: b.slowed()}
	}
	b.withdraw(w)
	return err
}

// pacedError says that the operator's own rate limit refused a call, which AWS never saw.
type pacedError struct {
	// slowed is true when the limit is lower than usual because AWS throttled calls.
	slowed bool
}

// Error implements error.
func (*pacedError) Error() string {
	return fmt.Sprintf("held back by the operator's rate limit: its turn would not come within %s", longestWait)
}

// IsPaced reports whether a call failed because the operator's own rate limit, at its usual rate or above, refused it. AWS never saw the
// call. While AWS throttles calls the limit is lower, and a refusal by it counts as throttled by AWS.
func IsPaced(err error) bool {
	e, ok := errors.AsType[*pacedError](err)
	return ok && !e.slowed
}

// bucket is a token bucket that AWS's throttling slows down: half the rate at each throttled answer,
// back to the steady rate within a minute of quiet. An adaptive one rises beyond it.
type bucket struct {
	now func() time.Time

	mu sync.Mutex
	// limit is the configured rate; full is the rate in force, with a steady rate that may be raised.
	limit   Rate
	full    Rate
	breaker circuitBreaker
	rate    *rate.Limiter
	current float64
	changed time.Time
	halved  time.Time
	// ceiling is the highest rate of an adaptive bucket, lowered for some time after a throttle at lowered.
	ceiling float64
	lowered time.Time
	// waiting is since when calls have been waiting for their turn; zero while they do not.
	waiting time.Time
	// calls are waiting for a token. While there are any, the next token is reserved, and timer grants it.
	calls waitlist
	next  *rate.Reservation
	timer *time.Timer
}

func newBucket(full Rate, now func() time.Time) *bucket {
	full.PerSecond, full.Burst = max(full.PerSecond, slowest), max(full.Burst, 1)
	full.Most = max(full.Most, full.PerSecond)
	return &bucket{now: now, limit: full, full: full, rate: rate.NewLimiter(rate.Limit(full.PerSecond), full.Burst), current: full.PerSecond,
		ceiling: full.Most, changed: now()}
}

// join takes a token for a call of the namespace, or lets the call wait for one. The waiter is nil when the call has its
// token, and when the expected time until then is more than longest: such a call does not wait.
func (b *bucket) join(namespace string, longest time.Duration) (w *waiter, expected time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.adjust(now)
	if b.calls.size == 0 && b.rate.AllowN(now, 1) {
		b.waiting = time.Time{}
		return nil, 0
	}
	if b.waiting.IsZero() {
		b.waiting = now
	}
	ahead := b.calls.ahead(namespace)
	w = &waiter{namespace: namespace, granted: make(chan struct{})}
	b.calls.push(w)
	b.reserve(now)
	expected = b.next.DelayFrom(now) + time.Duration(float64(ahead)/b.current*float64(time.Second))
	if expected > longest {
		b.drop(w, now)
		return nil, expected
	}
	return w, expected
}

// reserve reserves the next token for the waiting calls, unless it is reserved already.
func (b *bucket) reserve(now time.Time) {
	if b.calls.size == 0 || b.next != nil {
		return
	}
	token := b.rate.ReserveN(now, 1)
	b.next = token
	b.timer = time.AfterFunc(token.DelayFrom(now), func() { b.grant(token) })
}

// grant gives a reserved token to the call that is served next. A token that was given back is not granted.
func (b *bucket) grant(token *rate.Reservation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != token {
		return
	}
	b.next = nil
	close(b.calls.pop().granted)
	now := b.now()
	b.adjust(now)
	b.reserve(now)
}

// withdraw takes out a call that waits no longer.
func (b *bucket) withdraw(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(w, b.now())
}

// drop removes a call, and gives the reserved token back when no other call waits for it.
func (b *bucket) drop(w *waiter, now time.Time) {
	if b.calls.remove(w); b.calls.size == 0 && b.next != nil {
		b.timer.Stop()
		b.next.CancelAt(now)
		b.next = nil
	}
}

// slowed reports whether the rate is lower than usual because AWS throttled calls.
func (b *bucket) slowed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current < b.full.PerSecond
}

// exhausted reports whether the next call has to wait.
func (b *bucket) exhausted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls.size > 0 || b.rate.TokensAt(b.now()) < 1
}

// adjust restores the rate after throttling, and raises an adaptive one.
func (b *bucket) adjust(now time.Time) {
	if since := now.Sub(b.changed); b.current < b.full.PerSecond && since > 0 {
		b.set(now, min(b.full.PerSecond, b.current+b.full.PerSecond*since.Seconds()/recovery.Seconds()))
	}
	b.adapt(now)
}

// adapt raises an adaptive rate once calls have been waiting for a while without being throttled.
func (b *bucket) adapt(now time.Time) {
	if now.Sub(b.lowered) >= remember {
		b.ceiling = b.full.Most
	}
	if b.waiting.IsZero() || b.current < b.full.PerSecond || b.current >= b.ceiling {
		return
	}
	quiet := b.waiting
	for _, t := range []time.Time{b.changed, b.halved} {
		if t.After(quiet) {
			quiet = t
		}
	}
	if now.Sub(quiet) >= riseEvery {
		b.set(now, min(b.current*rise, b.ceiling))
	}
}

// throttled halves the rate. An adaptive one does not come near the throttled rate again for some time.
func (b *bucket) throttled(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.halved.IsZero() && now.Sub(b.halved) < halveEvery {
		return
	}
	b.halved = now
	if b.full.Most > b.full.PerSecond {
		b.ceiling, b.lowered = max(b.full.PerSecond, min(b.ceiling, b.current*margin)), now
	}
	b.set(now, b.current/2)
}

// set changes the rate within its bounds, and below the steady rate the burst in proportion.
func (b *bucket) set(now time.Time, perSecond float64) {
	b.current, b.changed = min(max(perSecond, slowest), b.full.Most), now
	share := min(1, b.current/b.full.PerSecond)
	b.rate.SetLimitAt(now, rate.Limit(b.current))
	b.rate.SetBurstAt(now, max(1, int(share*float64(b.full.Burst))))
}
