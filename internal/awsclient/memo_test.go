// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestSessionMemoBuildsOncePerSession(t *testing.T) {
	f := newSTS(t)
	sessions := f.sessions(t, "")
	first := mustOpen(t, sessions, static())
	var mu sync.Mutex
	built := 0
	build := func() any {
		mu.Lock()
		defer mu.Unlock()
		built++
		return built
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { first.Memo("S3Bucket", build) })
	}
	wg.Wait()
	again, err := sessions.Revalidate(t.Context(), static())
	if err != nil || again != first {
		t.Fatalf("the same identity gave another session: %v", err)
	}
	if v := again.Memo("S3Bucket", build); v != 1 {
		t.Errorf("built %v times", v)
	}
	if v := again.Memo("IAMRole", build); v != 2 {
		t.Errorf("another key gave value %v", v)
	}
	next := mustOpen(t, sessions, static(func(id *Identity) { id.Key = "uid-1/rotated" }))
	if v := next.Memo("S3Bucket", build); v != 3 {
		t.Errorf("another identity got value %v of the one before", v)
	}
	f.caller("AKIAUSER", strings.Replace(userARN, "tester", "renamed", 1))
	if replaced, err := sessions.Revalidate(t.Context(), static()); err != nil || replaced == first || replaced.Memo("S3Bucket", build) != 4 {
		t.Errorf("a changed caller kept the values of the one before: %v", err)
	}
}

func TestSkewedClockHealsWithinOneCall(t *testing.T) {
	f := newSTS(t)
	server := time.Now().Add(time.Hour)
	tried := 0
	skewed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tried++
		w.Header().Set("Date", server.UTC().Format(http.TimeFormat))
		signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if off := signed.Sub(server).Abs(); err != nil || off > 15*time.Minute {
			queryError(403, "SignatureDoesNotMatch", "Signature expired")(w)
			return
		}
		f.ServeHTTP(w, r)
	})
	f.Config.Handler = skewed
	mustOpen(t, f.sessions(t, ""), static())
	if tried != 2 {
		t.Errorf("%d attempts, want one rejected and one with the clock corrected", tried)
	}
	// A signature that is wrong for another cause is not tried again.
	tried = 0
	server = time.Now()
	f.failing("GetCallerIdentity", queryError(403, "SignatureDoesNotMatch", "The request signature we calculated does not match"))
	_, err := f.sessions(t, "").Open(t.Context(), static())
	stalledWith(t, err, status.ReasonCredentialsInvalid)
	if tried != 1 {
		t.Errorf("%d attempts with a wrong secret key", tried)
	}
}
