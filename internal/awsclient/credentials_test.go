// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"sync"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestCredentialsAreReplacedAtThreeQuartersOfTheirLife(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	s := f.sessions(t, "")
	credentials := mustOpen(t, s, static(with(roleA, ""))).Config.Credentials
	// A day of a request every minute: an hour's session is replaced after each 45 minutes.
	for range 24 * 60 {
		f.clock.advance(time.Minute)
		if _, err := credentials.Retrieve(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.count("AssumeRole"); n > 1+24*60/45 {
		t.Errorf("%d AssumeRole in a day, want at most %d", n, 1+24*60/45)
	}
}

func TestOldCredentialsServeWhileSTSIsDown(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	credentials := mustOpen(t, f.sessions(t, ""), static(with(roleA, ""))).Config.Credentials
	first, _ := credentials.Retrieve(t.Context())
	f.failing("AssumeRole", queryError(503, "ServiceUnavailable", ""))
	f.clock.advance(46 * time.Minute)
	for range 30 { // not one STS call for each
		got, err := credentials.Retrieve(t.Context())
		if err != nil || got.AccessKeyID != first.AccessKeyID {
			t.Fatalf("%v %v", got.AccessKeyID, err)
		}
	}
	if n := f.count("AssumeRole"); n != 2 {
		t.Errorf("%d AssumeRole, want one try", n)
	}
	f.clock.advance(14 * time.Minute)
	_, err := credentials.Retrieve(t.Context())
	retryingWith(t, err, status.ReasonUnreachable)
	f.failing("AssumeRole", nil)
	if got, err := credentials.Retrieve(t.Context()); err != nil || got.AccessKeyID == first.AccessKeyID {
		t.Errorf("%v %v: want new credentials", got.AccessKeyID, err)
	}
}

func TestNobodyWaitsForARefreshThatIsNotDueYet(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	credentials := mustOpen(t, f.sessions(t, ""), static(with(roleA, ""))).Config.Credentials
	f.clock.advance(46 * time.Minute)
	hold := make(chan struct{})
	f.mu.Lock()
	f.hold = hold
	f.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = credentials.Retrieve(t.Context()) })
	for !credentials.(*sessionCache).flight.busy() {
		time.Sleep(time.Millisecond)
	}
	if _, err := credentials.Retrieve(t.Context()); err != nil { // returns although STS hangs
		t.Error(err)
	}
	close(hold)
	wg.Wait()
	if n := f.count("AssumeRole"); n != 2 {
		t.Errorf("%d AssumeRole", n)
	}
}
