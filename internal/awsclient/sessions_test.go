// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func mustOpen(t *testing.T, s *Sessions, id Identity) *Session {
	t.Helper()
	session, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return session
}

// stalledWith asserts a Stalled of that reason with all parts in its message.
func stalledWith(t *testing.T, err error, reason string, parts ...string) {
	t.Helper()
	s, ok := status.AsStalled(err)
	if !ok {
		t.Fatalf("got %T %v, want Stalled %s", err, err, reason)
	}
	if s.Reason != reason {
		t.Errorf("reason %s, want %s (%v)", s.Reason, reason, err)
	}
	for _, p := range parts {
		if !strings.Contains(s.Error(), p) {
			t.Errorf("message %q lacks %q", s.Error(), p)
		}
	}
}

func retryingWith(t *testing.T, err error, reason string, parts ...string) {
	t.Helper()
	r, ok := errors.AsType[*status.Retrying](err)
	if !ok {
		t.Fatalf("got %T %v, want Retrying %s", err, err, reason)
	}
	if r.Reason != reason {
		t.Errorf("reason %s, want %s (%v)", r.Reason, reason, err)
	}
	for _, p := range parts {
		if !strings.Contains(r.Error(), p) {
			t.Errorf("message %q lacks %q", r.Error(), p)
		}
	}
}

func TestOpenProvesStaticKeysWithSTS(t *testing.T) {
	f := newSTS(t)
	got := mustOpen(t, f.sessions(t, ""), static())
	if got.Account != account || got.Partition != "aws" || got.Region != "ap-southeast-1" || got.CallerARN != userARN {
		t.Errorf("session %+v", got)
	}
	if n := f.count("GetCallerIdentity"); n != 1 {
		t.Errorf("%d STS calls, want 1", n)
	}
	if got.Config.Retryer().IsErrorRetryable(errors.New("any")) || got.Config.AppID != "nexus-operator" {
		t.Error("the session's clients would retry, or are not marked")
	}
}

func TestOpenIsCachedPerKey(t *testing.T) {
	f := newSTS(t)
	s := f.sessions(t, "")
	first := mustOpen(t, s, static())
	if second := mustOpen(t, s, static()); first != second {
		t.Error("the same key gave another session")
	}
	mustOpen(t, s, static(func(id *Identity) { id.Key = "uid-1/2" }))
	if n := f.count("GetCallerIdentity"); n != 2 {
		t.Errorf("%d STS calls for two keys", n)
	}
	s.Forget("uid-1")
	mustOpen(t, s, static())
	if n := f.count("GetCallerIdentity"); n != 3 {
		t.Errorf("%d STS calls, want a new one after Forget", n)
	}
}

func TestKeysNobodyOpensAreForgotten(t *testing.T) {
	f := newSTS(t)
	s := f.sessions(t, "")
	mustOpen(t, s, static())
	f.clock.advance(2 * time.Hour)
	mustOpen(t, s, static(func(id *Identity) { id.Key = "new" }))
	if len(s.opened) != 1 {
		t.Errorf("%d sessions kept, want the new one only", len(s.opened))
	}
}

func TestConcurrentOpensShareOneRoundOfSTS(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	hold := make(chan struct{})
	f.hold = hold
	s := f.sessions(t, "")
	var wg sync.WaitGroup
	got := make([]*Session, 50)
	for i := range got {
		wg.Go(func() { got[i], _ = s.Open(t.Context(), static(with(roleA, ""))) })
	}
	time.Sleep(20 * time.Millisecond) // callers that wait for another one's round give no signal
	close(hold)
	wg.Wait()
	for _, g := range got {
		if g == nil || g != got[0] {
			t.Fatal("not all got the same session")
		}
	}
	if who, assumed := f.count("GetCallerIdentity"), f.count("AssumeRole"); who != 2 || assumed != 1 {
		t.Errorf("%d GetCallerIdentity and %d AssumeRole for 50 callers, want 2 and 1", who, assumed)
	}
}

func TestACallerThatGivesUpDoesNotFailTheOthers(t *testing.T) {
	f := newSTS(t)
	hold := make(chan struct{})
	f.hold = hold
	s := f.sessions(t, "")
	impatient, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := s.Open(impatient, static())
		retryingWith(t, err, status.ReasonUnreachable)
	})
	time.Sleep(10 * time.Millisecond) // it has the round; callers that wait for it give no signal, here and below
	wg.Go(func() { mustOpen(t, s, static()) })
	wg.Go(func() {
		_, err := s.Open(impatient, static())
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the second impatient caller got %v", err)
		}
	})
	time.Sleep(10 * time.Millisecond)
	cancel()
	time.Sleep(10 * time.Millisecond)
	close(hold)
	wg.Wait()
}

func TestIdentitiesAreCheckedBeforeTheyAreUsed(t *testing.T) {
	f := newSTS(t)
	s := f.sessions(t, "")
	for field, change := range map[string]func(*Identity){
		"spec.region":          func(id *Identity) { id.Region = "" },
		"spec.roleARN":         func(id *Identity) { id.RoleARN = "arn:aws:iam::1:user/x" },
		"spec.assumeRoleARN":   func(id *Identity) { id.AssumeRoleARN = "role" },
		"spec.sessionDuration": func(id *Identity) { id.SessionDuration = time.Minute },
		"cache key":            func(id *Identity) { id.Key = "" },
		"session name":         func(id *Identity) { id.RoleARN, id.SessionName = roleA, "" },
	} {
		_, err := s.Open(t.Context(), static(change))
		stalledWith(t, err, status.ReasonInvalidSpec, field)
		_, err = s.Revalidate(t.Context(), static(change))
		stalledWith(t, err, status.ReasonInvalidSpec, field)
	}
	if f.count("GetCallerIdentity") != 0 {
		t.Error("STS was called")
	}
}

func TestCredentialFailuresSayWhatToDo(t *testing.T) {
	cases := []struct {
		name   string
		answer func(http.ResponseWriter)
		check  func(*testing.T, error)
	}{
		{"unknown key", queryError(403, "InvalidClientTokenId", "The security token included in the request is invalid."),
			func(t *testing.T, err error) {
				stalledWith(t, err, status.ReasonCredentialsInvalid, "InvalidClientTokenId", "Secret")
			}},
		{"expired token", queryError(403, "ExpiredToken", "The security token included in the request is expired"),
			func(t *testing.T, err error) {
				stalledWith(t, err, status.ReasonCredentialsInvalid, "expired")
			}},
		{"refused by an endpoint policy", queryError(403, "AccessDenied", "no"), func(t *testing.T, err error) {
			stalledWith(t, err, status.ReasonCredentialsInvalid, "AccessDenied")
		}},
		{"throttled", queryError(400, "Throttling", "Rate exceeded"), func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonThrottled)
		}},
		{"outage", queryError(500, "InternalFailure", "oops"), func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonUnreachable)
		}},
		{"a proxy's page", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(404)
			_, _ = w.Write([]byte("<html><body>404</body></html>"))
		}, func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonUnreachable, "404")
		}},
		{"an empty answer", func(http.ResponseWriter) {}, func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonUnreachable, "empty")
		}},
		{"half an answer", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte("<GetCallerIdentityResponse><GetCaller"))
		}, func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonUnreachable)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newSTS(t)
			f.failing("GetCallerIdentity", c.answer)
			_, err := f.sessions(t, "").Open(t.Context(), static())
			c.check(t, err)
			if strings.Contains(err.Error(), "4442587f") {
				t.Errorf("a request id in %q", err)
			}
		})
	}
}

func TestSTSThatIsNotThereIsUnreachable(t *testing.T) {
	f := newSTS(t)
	s := f.sessions(t, "")
	f.Server.Close()
	_, err := s.Open(t.Context(), static())
	retryingWith(t, err, status.ReasonUnreachable, "STS ("+f.URL+") cannot be reached: connection refused")
}

func TestFailuresAreHeldForAMomentOnly(t *testing.T) {
	f := newSTS(t)
	f.caller("AKIAUSER", "")
	s := f.sessions(t, "")
	for range 3 {
		if _, err := s.Open(t.Context(), static()); err == nil {
			t.Fatal("opened")
		}
	}
	if n := f.count("GetCallerIdentity"); n != 1 {
		t.Errorf("%d STS calls within the hold, want 1", n)
	}
	f.caller("AKIAUSER", userARN)
	f.clock.advance(holdFailure)
	mustOpen(t, s, static())
}

func TestRevalidateAsksAgainWithoutRebuilding(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	s := f.sessions(t, "")
	id := static(with(roleA, ""))
	first := mustOpen(t, s, id)
	again, err := s.Revalidate(t.Context(), id)
	if err != nil || again != first {
		t.Fatalf("%v %v", again, err)
	}
	if who, assumed := f.count("GetCallerIdentity"), f.count("AssumeRole"); who != 3 || assumed != 1 {
		t.Errorf("%d GetCallerIdentity, %d AssumeRole", who, assumed)
	}
	// STS down: kept.
	f.failing("GetCallerIdentity", queryError(503, "ServiceUnavailable", ""))
	_, err = s.Revalidate(t.Context(), id)
	retryingWith(t, err, status.ReasonUnreachable)
	if mustOpen(t, s, id) != first {
		t.Error("a session was dropped because STS was down")
	}
	// Refused: dropped, and opened again once it works.
	f.failing("GetCallerIdentity", queryError(403, "ExpiredToken", "revoked"))
	_, err = s.Revalidate(t.Context(), id)
	stalledWith(t, err, status.ReasonCredentialsInvalid, "revoked")
	f.failing("GetCallerIdentity", nil)
	again, err = s.Revalidate(t.Context(), id)
	if err != nil || again == first || f.count("AssumeRole") != 2 {
		t.Errorf("%v %v: want a new session", again, err)
	}
}

func TestRevalidateFollowsAnIdentityThatChanged(t *testing.T) {
	f := newSTS(t)
	s := f.sessions(t, "ASIAIRSA")
	mustOpen(t, s, static(ambient))
	f.caller("ASIAIRSA", "arn:aws-cn:sts::999999999999:assumed-role/other/pod")
	got, err := s.Revalidate(t.Context(), static(ambient))
	if err != nil || got.Account != "999999999999" || got.Partition != "aws-cn" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestRevalidateOpensWhatIsNotOpen(t *testing.T) {
	f := newSTS(t)
	s := f.sessions(t, "")
	f.caller("AKIAUSER", "")
	if _, err := s.Open(t.Context(), static()); err == nil {
		t.Fatal("opened")
	}
	f.caller("AKIAUSER", userARN)
	if _, err := s.Revalidate(t.Context(), static()); err != nil {
		t.Errorf("Revalidate heeded the held failure: %v", err)
	}
}

func TestNoAmbientIdentityIsCredentialsMissing(t *testing.T) {
	f := newSTS(t)
	_, err := f.sessions(t, "").Open(t.Context(), static(ambient))
	stalledWith(t, err, status.ReasonCredentialsMissing, "IRSA", "credentialsSecret")

	broken := f.sessions(t, "", func(o *Options) {
		o.Ambient = func(context.Context) (aws.Config, error) { return aws.Config{}, errors.New("bad file") }
	})
	_, err = broken.Open(t.Context(), static())
	stalledWith(t, err, status.ReasonCredentialsMissing, "configuration")
}

func TestAmbientLoadingThatIsCutShortIsTriedAgain(t *testing.T) {
	f := newSTS(t)
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	s := f.sessions(t, "ASIAIRSA", func(o *Options) {
		load := o.Ambient
		o.Ambient = func(c context.Context) (aws.Config, error) {
			if tries++; tries == 1 {
				cancel()
			}
			return load(c)
		}
	})
	_, err := s.Open(ctx, static(ambient))
	retryingWith(t, err, status.ReasonUnreachable, "cut short")
	mustOpen(t, s, static(ambient))
	mustOpen(t, s, static(ambient, func(id *Identity) { id.Key = "2" }))
	if tries != 2 {
		t.Errorf("loaded %d times, want once more only", tries)
	}
}

func TestEndpointOfAnIdentityReplacesTheEnvironments(t *testing.T) {
	f := newSTS(t)
	s := f.sessions(t, "", func(o *Options) {
		o.Ambient = func(context.Context) (aws.Config, error) {
			return aws.Config{BaseEndpoint: aws.String("http://127.0.0.1:1"), ConfigSources: []any{"x"}}, nil
		}
	})
	got := mustOpen(t, s, static(func(id *Identity) { id.Endpoint = f.URL }))
	if *got.Config.BaseEndpoint != f.URL || got.Config.ConfigSources != nil {
		t.Error("the environment's endpoints are still there")
	}
}

func TestSessionsOfAWrongWiringSaySo(t *testing.T) {
	_, err := NewSessions(Options{}).Open(t.Context(), static())
	stalledWith(t, err, status.ReasonInternal, "Now")
	NewSessions(Options{}).Close()

	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "nexus_aws_throttled_total", Help: "mine"}))
	_, err = NewSessions(Options{Now: newClock().now, Registerer: r}).Revalidate(t.Context(), static())
	stalledWith(t, err, status.ReasonInternal, "nexus_aws_throttled_total")
}
