// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Options holds the dependencies of Sessions.
type Options struct {
	// Now is the clock; required.
	Now func() time.Time
	// Ambient loads the operator's own identity; nil is LoadAmbient. Called once, until it succeeds.
	Ambient func(context.Context) (aws.Config, error)
	// Region is the default region of LoadAmbient, used if neither the environment nor the AWS files name one.
	Region string
	// Person is true where Ambient is the identity of a person at a command line. Errors then name the settings of a person.
	Person bool
	// HTTPClient carries every call; nil is Ambient's, or NewHTTPClient if that is nil, too.
	HTTPClient aws.HTTPClient
	// Limits replace the default rates one by one.
	Limits Limits
	// Shares is the number of processes that divide the rates of an account equally; 0 and 1 mean one process.
	Shares int
	// Registerer takes the metrics; nil takes none.
	Registerer prometheus.Registerer
}

// Session is an identity that works: who it is, and the configuration for its clients. Sessions hands out one
// pointer per identity for as long as the identity stays the same; see Memo. It is shared and must not be
// changed or copied.
type Session struct {
	// Config makes clients: rate limited, metered, without retries.
	Config aws.Config
	// Partition is aws, aws-cn or aws-us-gov.
	Partition string
	// Account and Region are where calls go.
	Account, Region string
	// CallerARN is the ARN that STS GetCallerIdentity returned.
	CallerARN string
	// Callers are the ARNs of all identities on the way to it: the first one, and each role that was assumed.
	Callers []string

	now  func() time.Time
	memo *memo
}

// Identity returns CallerARN as far as it stays the same when the operator restarts.
func (s *Session) Identity() string { return lastingARN(s.CallerARN) }

// String shows who and where, and not the Config, which leads to credentials.
func (s *Session) String() string { return s.CallerARN + " in " + s.Region }

// GoString is String.
func (s *Session) GoString() string { return s.String() }

// Sessions opens identities and keeps the open ones. Its methods may be called concurrently.
type Sessions struct {
	now     func() time.Time
	ambient func(context.Context) (aws.Config, error)
	words   *identityWords
	client  aws.HTTPClient
	calls   *calls
	// miswired is a mistake of the program that makes it; Open reports it.
	miswired error

	load   flight[aws.Config]
	mu     sync.Mutex
	base   *aws.Config
	opened map[string]*entry
}

const (
	// holdFailure sets how long a failure answers for the next Open of the same key, so that the many
	// objects of a broken provider do not each ask STS. Revalidate always asks.
	holdFailure = 5 * time.Second
	// forgetUnused sets how long a session that no one opens is kept: keys change with every edit of a
	// provider, and not every edit is followed by Forget.
	forgetUnused = time.Hour
)

// NewSessions prepares the cache; it calls no one.
func NewSessions(o Options) *Sessions {
	s := &Sessions{now: o.Now, ambient: o.Ambient, words: wordsFor(o.Person), client: o.HTTPClient, opened: map[string]*entry{}}
	if s.now == nil {
		s.miswired = errors.New("awsclient.Options.Now is missing")
		return s
	}
	if s.ambient == nil {
		s.ambient = func(ctx context.Context) (aws.Config, error) {
			return LoadAmbient(ctx, config.WithDefaultRegion(o.Region))
		}
	}
	meter, err := newMeter(o.Registerer)
	s.miswired = errors.Join(err, metrics.Replace(o.Registerer, sessionExpiry{s}))
	s.calls = &calls{now: s.now, limiter: newLimiter(s.now, o.Limits).sharedBy(o.Shares), meter: meter, writes: newOwnWrites()}
	return s
}

// Open returns the session of an identity. The first call proves it with STS GetCallerIdentity
// (docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html) and assumes its roles;
// later ones answer from memory, and concurrent ones share one round of STS.
//
// A failure is *status.Stalled (CredentialsMissing, CredentialsInvalid, RoleNotAssumable, InvalidSpec)
// with the remedy, or *status.Retrying (Unreachable, Throttled). A role that cannot be assumed is
// never replaced by the identity that should have assumed it.
func (s *Sessions) Open(ctx context.Context, id Identity) (*Session, error) {
	e, err := s.entry(id)
	if err != nil {
		return nil, err
	}
	if session, failure, ok := e.cached(s.now()); ok {
		return session, failure
	}
	return e.openOnce(ctx, func(ctx context.Context) (*Session, error) {
		if session, failure, ok := e.cached(s.now()); ok {
			return session, failure
		}
		return e.remember(ctx, s.now)(s.build(ctx, id))
	})
}

// Revalidate asks STS again for the caller of an open session, without assuming roles again; for an identity that is not open it is Open.
// When STS refuses, the session is dropped, so that the next Open starts from the beginning; when STS cannot be reached it is kept, because
// AWS may still accept it. A session with a changed identity (other ambient credentials) is rebuilt.
func (s *Sessions) Revalidate(ctx context.Context, id Identity) (*Session, error) {
	e, err := s.entry(id)
	if err != nil {
		return nil, err
	}
	return e.openOnce(ctx, func(ctx context.Context) (*Session, error) {
		session := e.open()
		if session == nil {
			return e.remember(ctx, s.now)(s.build(ctx, id))
		}
		who, err := s.words.callerIdentity(ctx, session.Config)
		switch {
		case err == nil && who.arn == session.CallerARN && who.account == session.Account:
			return session, nil
		case err == nil:
			return e.remember(ctx, s.now)(s.build(ctx, id))
		case isType[*status.Stalled](err):
			return e.remember(ctx, s.now)(nil, err)
		}
		return nil, err
	})
}

// Forget drops the session of a key, with its credentials.
func (s *Sessions) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.opened, key)
}

// Close drops all sessions and closes idle connections.
func (s *Sessions) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.opened)
	if s.base == nil {
		return
	}
	if idle, ok := s.base.HTTPClient.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// entry finds or makes the entry of a key, and drops sessions that have not been used for long.
func (s *Sessions) entry(id Identity) (*entry, error) {
	if s.miswired != nil {
		return nil, &status.Stalled{Reason: status.ReasonInternal, Message: s.miswired.Error(), Cause: s.miswired}
	}
	if err := id.check(); err != nil {
		return nil, err
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.opened[id.Key]
	if e == nil {
		for key, other := range s.opened {
			if now.Sub(other.used) > forgetUnused {
				delete(s.opened, key)
			}
		}
		e = &entry{}
		s.opened[id.Key] = e
	}
	e.used = now
	return e, nil
}

// entry is one identity's place in the cache.
type entry struct {
	// used belongs to Sessions.mu.
	used   time.Time
	flight flight[*Session]

	mu      sync.Mutex
	session *Session
	failure error
	failed  time.Time
}

// open returns the session, or nil.
func (e *entry) open() *Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.session
}

// cached answers from memory, if it can: with the session, or with a failure that is only just known.
func (e *entry) cached(now time.Time) (*Session, error, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session != nil {
		return e.session, nil, true
	}
	if e.failure != nil && now.Sub(e.failed) < holdFailure {
		return nil, e.failure, true
	}
	return nil, nil, false
}

// remember remembers a result, unless it only says that the caller gave up.
func (e *entry) remember(ctx context.Context, now func() time.Time) func(*Session, error) (*Session, error) {
	return func(session *Session, err error) (*Session, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if err == nil || ctx.Err() == nil {
			e.session, e.failure, e.failed = session, err, now()
		}
		return session, err
	}
}

// openOnce shares one round of STS among concurrent callers.
func (e *entry) openOnce(ctx context.Context, fn func(context.Context) (*Session, error)) (*Session, error) {
	session, err := e.flight.do(ctx, fn)
	return session, Explain(err, "sts:GetCallerIdentity")
}
