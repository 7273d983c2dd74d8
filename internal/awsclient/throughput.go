// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// settingHigherThroughput is the service setting that raises Parameter Store's quotas in a region of an account:
// docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-throughput.html.
const settingHigherThroughput = "/ssm/parameter-store/high-throughput-enabled"

// settingTimeout bounds how long a call waits for the service setting.
const settingTimeout = 5 * time.Second

// throughput reads, once per session, whether the account has raised the quota of a bucket.
type throughput struct {
	// config makes the client. It is set after the middleware that refers to it was added to its options.
	config aws.Config
	asked  atomic.Bool
}

// apply raises the rate of a bucket to the raised quota where the account has it. AWS is asked only when a call
// would have to wait: most accounts never need the answer. Without an answer, because the identity lacks the
// permission ssm:GetServiceSetting or for any other reason, the rate stays as it is; an adaptive rate still
// rises while AWS does not throttle.
func (t *throughput) apply(ctx context.Context, b *bucket) {
	if t == nil || !b.raisable() || !b.exhausted() || t.asked.Swap(true) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	out, err := ssm.NewFromConfig(t.config).GetServiceSetting(ctx, &ssm.GetServiceSettingInput{SettingId: aws.String(settingHigherThroughput)})
	if err != nil || out.ServiceSetting == nil {
		return
	}
	b.raise(aws.ToString(out.ServiceSetting.SettingValue) == "true")
}

// raisable reports whether the bucket has a second steady rate.
func (b *bucket) raisable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit.Raised > 0
}

// raise makes Raised the steady rate, or takes that back.
func (b *bucket) raise(raised bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steady := b.limit.PerSecond
	if raised {
		steady = b.limit.Raised
	}
	if b.full.PerSecond == steady {
		return
	}
	b.full.PerSecond, b.full.Most = steady, max(b.limit.Most, steady)
	b.ceiling = max(b.ceiling, steady)
	b.set(b.now(), steady)
}

type pacedKey struct{}

// OnPaced has report called with the service and the operation of Failure when a call under the context has to wait
// for the operator's own rate limit for about a second or longer, and AWS does not throttle calls. It is called by the goroutine of the
// call, before the wait, and must not block.
func OnPaced(ctx context.Context, report func(service, operation string)) context.Context {
	return context.WithValue(ctx, pacedKey{}, report)
}

// reportPaced calls the context's callback, if any, when its SDK call has to wait.
func reportPaced(ctx context.Context) {
	if report, ok := ctx.Value(pacedKey{}).(func(service, operation string)); ok {
		report(serviceName(awsmiddleware.GetServiceID(ctx)), awsmiddleware.GetOperationName(ctx))
	}
}
