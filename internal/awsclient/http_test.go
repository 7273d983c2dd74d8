// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// irsa prepares the environment of a pod with its own role, before the fake STS.
func irsa(t *testing.T, f *fakeSTS) *Sessions {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ROLE_ARN": irsaRole, "AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ENDPOINT_URL": f.URL, "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CA_BUNDLE": "", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
		"AWS_SESSION_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
	return f.sessions(t, "", func(o *Options) {
		o.Ambient, o.HTTPClient, o.Region = nil, nil, "ap-southeast-1"
	})
}

func TestTheOperatorsOwnRoleIsReadFromTheEnvironment(t *testing.T) {
	f := newSTS(t)
	f.caller("ASIAWEB", irsaARN)
	f.failing("AssumeRoleWithWebIdentity", func(w http.ResponseWriter) {
		_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAWEB</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	s := irsa(t, f)
	got := mustOpen(t, s, static(ambient, with(irsaRole, "")))
	if got.CallerARN != irsaARN || got.Region != "ap-southeast-1" {
		t.Errorf("%v", got)
	}
	if name := f.input("AssumeRoleWithWebIdentity", "RoleSessionName"); name != "nexus-operator" {
		t.Errorf("session name %q: it must not change from refresh to refresh", name)
	}
	if n := f.count("AssumeRole"); n != 0 {
		t.Errorf("%d AssumeRole into the role it already is", n)
	}
	mustOpen(t, s, static(ambient, func(id *Identity) { id.Key = "second" }))
	if n := f.count("AssumeRoleWithWebIdentity"); n != 1 {
		t.Errorf("%d sign-ins for two providers", n)
	}
}

func TestAnOperatorThatCannotSignInSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		check  func(*testing.T, error)
	}{
		"trust policy": {queryError(403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"),
			func(t *testing.T, err error) {
				stalledWith(t, err, status.ReasonCredentialsInvalid, "operator's own role", "AssumeRoleWithWebIdentity")
			}},
		"throttled": {queryError(400, "Throttling", "Rate exceeded"), func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonThrottled)
		}},
		"outage": {queryError(503, "ServiceUnavailable", ""), func(t *testing.T, err error) {
			retryingWith(t, err, status.ReasonUnreachable)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSTS(t)
			f.failing("AssumeRoleWithWebIdentity", c.answer)
			_, err := irsa(t, f).Open(t.Context(), static(ambient))
			c.check(t, err)
		})
	}
}

// The SDK fails before it calls STS: the message has its words, and says nothing of the role.
func TestSignIn_ThatFailsBeforeSTSAnswersBlamesNoRole(t *testing.T) {
	for name, c := range map[string]struct {
		variable, value, reason string
		words                   []string
	}{
		"no region": {"AWS_ENDPOINT_URL", "", status.ReasonCredentialsMissing, []string{"Missing Region"}},
		"no token":  {"AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere/token", status.ReasonCredentialsMissing, []string{"/nowhere/token"}},
		"nobody at the agent": {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/v1/credentials", status.ReasonUnreachable,
			[]string{"credentials (http://127.0.0.1:1)", "connection refused"}},
		"nobody at the server": {"AWS_ENDPOINT_URL", "http://127.0.0.1:1", status.ReasonUnreachable,
			[]string{"STS (http://127.0.0.1:1)", "connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSTS(t)
			s := irsa(t, f)
			s.ambient = func(ctx context.Context) (aws.Config, error) {
				if name == "no region" {
					return LoadAmbient(ctx)
				}
				return LoadAmbient(ctx, config.WithDefaultRegion("ap-southeast-1"))
			}
			t.Setenv(c.variable, c.value)
			if c.variable == "AWS_CONTAINER_CREDENTIALS_FULL_URI" {
				t.Setenv("AWS_ROLE_ARN", "")
				t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "")
			}
			_, err := s.Open(t.Context(), static(ambient))
			if strings.Contains(fmt.Sprint(err), "trust policy") {
				t.Errorf("blames the role: %v", err)
			}
			if c.reason == status.ReasonUnreachable {
				retryingWith(t, err, c.reason, c.words...)
				return
			}
			stalledWith(t, err, c.reason, c.words...)
		})
	}
}

func TestAnOperatorWithoutIdentitySaysSo(t *testing.T) {
	f := newSTS(t)
	s := irsa(t, f)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "")
	t.Setenv("AWS_ROLE_ARN", "")
	_, err := s.Open(t.Context(), static(ambient))
	stalledWith(t, err, status.ReasonCredentialsMissing, "IRSA")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = operatorWords.checkAmbient(ctx,
		&sessionCache{now: f.clock.now, retrieve: nil, flight: flight[aws.Credentials]{now: &call[aws.Credentials]{done: make(chan struct{})}}})
	retryingWith(t, err, status.ReasonUnreachable, "cut short")
}

func TestTheCABundleOfTheEnvironmentIsTrusted(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>%s</Arn><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, userARN, account)
	}))
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s := irsa(t, newSTS(t))
	at := func(key string) Identity {
		return static(func(id *Identity) { id.Key, id.Endpoint = key, server.URL })
	}
	_, err := s.Open(t.Context(), at("before"))
	retryingWith(t, err, status.ReasonUnreachable, "certificate")

	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	s = irsa(t, newSTS(t))
	t.Setenv("AWS_CA_BUNDLE", bundle)
	mustOpen(t, s, at("after"))
}

func TestTheHTTPClientIsMadeWhenNobodyBringsOne(t *testing.T) {
	f := newSTS(t)
	session := mustOpen(t, f.sessions(t, "", func(o *Options) { o.HTTPClient = nil }), static())
	if client, ok := session.Config.HTTPClient.(*http.Client); !ok || client.Timeout == 0 {
		t.Errorf("%T", session.Config.HTTPClient)
	}
}

func TestTheHTTPClientIsBounded(t *testing.T) {
	client, ok := NewHTTPClient().(*http.Client)
	if !ok || client.Timeout != time.Minute {
		t.Fatalf("%T: service clients would make copies", NewHTTPClient())
	}
	server := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	defer server.Close()
	defer client.CloseIdleConnections()
	got, err := client.Get(server.URL)
	if err != nil || got.StatusCode != http.StatusFound {
		t.Fatalf("a redirect was followed: %v %v", got, err)
	}
	_ = got.Body.Close()
}

// closedBody is the body of a request as the SDK leaves it once the answer has begun.
type closedBody struct{ io.ReadCloser }

// WriteTo implements io.WriterTo.
func (closedBody) WriteTo(io.Writer) (int64, error) { return 0, io.EOF }

func TestAClosedBodyCostsNoAnswer(t *testing.T) {
	answer := strings.Repeat("a", 1<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, closedBody{io.NopCloser(strings.NewReader("question"))})
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len("question"))
	out, err := NewHTTPClient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	if got, err := io.ReadAll(out.Body); err != nil || string(got) != answer {
		t.Errorf("%d bytes of the answer: %v", len(got), err)
	}
}
