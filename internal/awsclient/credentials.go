// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// staticProvider serves keys that were given. The SDK's own holds them as plain strings, which %+v of
// an aws.Config would print.
type staticProvider struct{ keys StaticKeys }

// Retrieve implements aws.CredentialsProvider.
func (p staticProvider) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{
		AccessKeyID:     p.keys.AccessKeyID,
		SecretAccessKey: p.keys.SecretAccessKey.Reveal(),
		SessionToken:    p.keys.SessionToken.Reveal(),
		Source:          "AWSProvider",
	}, nil
}

const (
	// refreshAt is the share of a session's lifetime before it is replaced. The rest is for STS being down: the old session serves until
	// its end.
	refreshAt = 0.75
	// refreshPause is the least time between two tries of a failing refresh.
	refreshPause = time.Minute
	// endMargin sets how long before its end a session counts as ended: a request must arrive and be
	// checked before it is over.
	endMargin = 30 * time.Second
)

// sessionCache serves the credentials of one role session and replaces them in time, with at most one
// successful STS call per 75 % of their lifetime. The SDK's aws.CredentialsCache knows only the wall
// clock, fails while the old credentials would do, and lets all callers wait for the refresh.
//
// Times are counted from our own clock and the duration that was asked for, which STS grants or
// refuses but never shortens: so a clock that is wrong costs no extra calls.
type sessionCache struct {
	now      func() time.Time
	lifetime time.Duration
	retrieve func(context.Context) (aws.Credentials, error)
	// failed counts a failed retrieval; nil counts none.
	failed func()
	flight flight[aws.Credentials]

	mu sync.Mutex
	// current is a function for the reason that Secret is one.
	current func() aws.Credentials
	refresh time.Time
	ends    time.Time
}

// Retrieve implements aws.CredentialsProvider.
func (c *sessionCache) Retrieve(ctx context.Context) (aws.Credentials, error) {
	old, fresh, usable := c.cachedCredentials()
	if fresh || usable && c.flight.busy() {
		return old, nil
	}
	got, err := c.flight.do(ctx, func(ctx context.Context) (aws.Credentials, error) {
		if current, fresh, _ := c.cachedCredentials(); fresh {
			return current, nil
		}
		return c.replace(ctx)
	})
	if err != nil && usable {
		return old, nil
	}
	return got, err
}

// cachedCredentials returns the cached credentials, if any: fresh needs no refresh, usable has not ended.
func (c *sessionCache) cachedCredentials() (current aws.Credentials, fresh, usable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return aws.Credentials{}, false, false
	}
	now := c.now()
	return c.current(), now.Before(c.refresh) && now.Before(c.ends), now.Before(c.ends)
}

func (c *sessionCache) replace(ctx context.Context) (aws.Credentials, error) {
	asked := c.now()
	got, err := c.retrieve(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if c.failed != nil && ctx.Err() == nil {
			c.failed()
		}
		c.refresh = asked.Add(refreshPause)
		return aws.Credentials{}, err
	}
	c.refresh = asked.Add(time.Duration(refreshAt * float64(c.lifetime)))
	c.ends = asked.Add(c.lifetime - endMargin)
	got.CanExpire, got.Expires = true, c.ends
	c.current = func() aws.Credentials { return got }
	return got, nil
}

// expiry returns when the current credentials end; zero when there are none.
func (c *sessionCache) expiry() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ends
}
