// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"net/http"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestRoleIsAssumedWithExternalIDAndSessionName(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	got := mustOpen(t, f.sessions(t, ""), static(with(roleA, "")))
	if want := "arn:aws:sts::123456789012:assumed-role/deployer/nexus-team-main"; got.CallerARN != want {
		t.Errorf("caller %s, want %s", got.CallerARN, want)
	}
	if d := f.input("AssumeRole", "DurationSeconds"); d != "3600" {
		t.Errorf("duration %s, want the default hour", d)
	}
}

func TestRoleThatTheBaseAlreadyIsIsNotAssumed(t *testing.T) {
	f := newSTS(t)
	got := mustOpen(t, f.sessions(t, "ASIAIRSA"), static(ambient, with(irsaRole, "")))
	if got.CallerARN != irsaARN || f.count("AssumeRole") != 0 {
		t.Errorf("caller %s after %d AssumeRole, want the base as it is", got.CallerARN, f.count("AssumeRole"))
	}
}

func TestSecondHopIsAssumedWithTheFirst(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	f.trust(roleB, "arn:aws:iam::123456789012:role/deployer", external)
	got := mustOpen(t, f.sessions(t, ""), static(with(roleA, roleB)))
	if got.Account != "210987654321" || f.count("AssumeRole") != 2 {
		t.Errorf("account %s after %d AssumeRole", got.Account, f.count("AssumeRole"))
	}
}

func TestSecondHopAloneStartsFromTheBase(t *testing.T) {
	f := newSTS(t)
	f.trust(roleB, userARN, external)
	if got := mustOpen(t, f.sessions(t, ""), static(with("", roleB))); got.Account != "210987654321" {
		t.Errorf("account %s", got.Account)
	}
}

func TestRoleThatCannotBeAssumedIsNeverReplaced(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, "another-id")
	s := f.sessions(t, "")
	session, err := s.Open(t.Context(), static(with(roleA, "")))
	if session != nil {
		t.Fatal("a session was returned: that is a fall-back")
	}
	stalledWith(t, err, status.ReasonRoleNotAssumable, "spec.roleARN", roleA, userARN, external, "trust policy")

	// The second hop must not fall back to the first either, and names the first as principal.
	f.trust(roleA, userARN, external)
	session, err = s.Open(t.Context(), static(with(roleA, roleB), func(id *Identity) { id.Key = "two" }))
	if session != nil {
		t.Fatal("a session was returned: that is a fall-back")
	}
	stalledWith(t, err, status.ReasonRoleNotAssumable, "spec.assumeRoleARN", roleB, "arn:aws:iam::123456789012:role/deployer")
}

func TestRoleRefusalsNameTheirRemedy(t *testing.T) {
	cases := []struct {
		name   string
		answer func(http.ResponseWriter)
		check  func(*testing.T, error)
	}{
		{"role allows shorter sessions only",
			queryError(400, "ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."),
			func(t *testing.T, err error) {
				stalledWith(t, err, status.ReasonRoleNotAssumable, "MaxSessionDuration")
			}},
		{"keys expired meanwhile", queryError(403, "ExpiredToken", "The security token included in the request is expired"),
			func(t *testing.T, err error) {
				stalledWith(t, err, status.ReasonCredentialsInvalid, "ExpiredToken")
			}},
		{"throttled", queryError(400, "Throttling", "Rate exceeded"), func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonThrottled)
		}},
		{"outage", queryError(503, "ServiceUnavailable", "x"), func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonUnreachable, "5xx")
		}},
		{"no credentials in the answer", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`<AssumeRoleResponse><AssumeRoleResult></AssumeRoleResult></AssumeRoleResponse>`))
		}, func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonUnreachable)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newSTS(t)
			f.failing("AssumeRole", c.answer)
			_, err := f.sessions(t, "").Open(t.Context(), static(with(roleA, "")))
			c.check(t, err)
		})
	}
}

func TestRoleChainingCapsTheSession(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, "arn:aws:iam::123456789012:role/operator", external)
	long := func(id *Identity) { id.SessionDuration = 2 * time.Hour }
	s := f.sessions(t, "ASIAIRSA")
	_, err := s.Open(t.Context(), static(ambient, with(roleA, ""), long))
	stalledWith(t, err, status.ReasonInvalidSpec, "spec.sessionDuration", "1h")
	if f.count("AssumeRole") != 0 {
		t.Error("STS was asked for what it must refuse")
	}
	// From a user it is no chaining.
	f.trust(roleA, userARN, external)
	mustOpen(t, s, static(with(roleA, ""), long, func(id *Identity) { id.Key = "user" }))
	if d := f.input("AssumeRole", "DurationSeconds"); d != "7200" {
		t.Errorf("duration %s", d)
	}
}
