// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// fakeSTS is a small STS that keeps state: it knows access keys and roles' trust, hands out sessions,
// counts its calls, and fails on request.
type fakeSTS struct {
	*httptest.Server
	clock *clock

	mu sync.Mutex
	// callers are ARNs by access key id.
	callers map[string]string
	// trusts are role ARN → principal ARN "|" external id that may assume it.
	trusts map[string]string
	calls  map[string]int
	// inputs are the last form values by action.
	inputs map[string]map[string]string
	// fail answers instead, by action.
	fail map[string]func(http.ResponseWriter)
	hold chan struct{}
}

const (
	account  = "123456789012"
	userARN  = "arn:aws:iam::123456789012:user/tester"
	irsaARN  = "arn:aws:sts::123456789012:assumed-role/operator/pod-1"
	irsaRole = "arn:aws:iam::123456789012:role/team/operator"
	roleA    = "arn:aws:iam::123456789012:role/app/deployer"
	roleB    = "arn:aws:iam::210987654321:role/target"
	external = "nexus-external-1"
	canary   = "canary/SECRET/d41d8cd98f00b204e9800998"
)

func newSTS(t *testing.T) *fakeSTS {
	f := &fakeSTS{
		clock:   newClock(),
		callers: map[string]string{"AKIAUSER": userARN, "ASIAIRSA": irsaARN},
		trusts:  map[string]string{},
		calls:   map[string]int{},
		inputs:  map[string]map[string]string{},
		fail:    map[string]func(http.ResponseWriter){},
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

var accessKey = regexp.MustCompile(`Credential=([^/]+)/`)

func (f *fakeSTS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	action := r.Form.Get("Action")
	f.mu.Lock()
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[action]++
	f.inputs[action] = map[string]string{}
	for k := range r.Form {
		f.inputs[action][k] = r.Form.Get(k)
	}
	if fail := f.fail[action]; fail != nil {
		fail(w)
		return
	}
	key := ""
	if m := accessKey.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		key = m[1]
	}
	arn, ok := f.callers[key]
	if !ok {
		queryError(403, "InvalidClientTokenId", "The security token included in the request is invalid.")(w)
		return
	}
	if action == "GetCallerIdentity" {
		part := strings.Split(arn, ":")
		_, _ = fmt.Fprintf(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>%s</Arn><UserId>U</UserId><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, arn, part[4])
		return
	}
	f.assume(w, r, arn)
}

func (f *fakeSTS) assume(w http.ResponseWriter, r *http.Request, arn string) {
	role, session := r.Form.Get("RoleArn"), r.Form.Get("RoleSessionName")
	if trust := f.trusts[role]; trust != principal(arn)+"|"+r.Form.Get("ExternalId") {
		queryError(403, "AccessDenied", "User: "+arn+" is not authorized to perform: sts:AssumeRole on resource: "+role)(w)
		return
	}
	m := roleARN.FindStringSubmatch(role)
	key := fmt.Sprintf("ASIA%s%d", strings.ToUpper(m[3]), f.calls["AssumeRole"])
	assumed := "arn:aws:sts::" + m[2] + ":assumed-role/" + m[3] + "/" + session
	f.callers[key] = assumed
	_, _ = fmt.Fprintf(w, `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>tok</SessionToken><Expiration>%s</Expiration></Credentials><AssumedRoleUser><Arn>%s</Arn><AssumedRoleId>A:B</AssumedRoleId></AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>`,
		key, canary, f.clock.now().Add(time.Hour).Format(time.RFC3339), assumed)
}

// count returns how often an action was called.
func (f *fakeSTS) count(action string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[action]
}

func (f *fakeSTS) input(action, name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inputs[action][name]
}

// failing makes an action answer so until nil.
func (f *fakeSTS) failing(action string, answer func(http.ResponseWriter)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail[action] = answer
}

func (f *fakeSTS) trust(role, principal, external string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trusts[role] = principal + "|" + external
}

func (f *fakeSTS) caller(key, arn string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if arn == "" {
		delete(f.callers, key)
		return
	}
	f.callers[key] = arn
}

// queryError is an error of the AWS query protocol (STS, IAM).
func queryError(status int, code, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>`, code)
		_ = xml.EscapeText(w, []byte(message))
		_, _ = fmt.Fprint(w, `</Message></Error><RequestId>4442587f-f4ca-4a30-8a8e-0c7f6f8f2d3d</RequestId></ErrorResponse>`)
	}
}

// sessions are Sessions before the fake, with an ambient identity of that key ("" for none).
func (f *fakeSTS) sessions(t *testing.T, ambientKey string, change ...func(*Options)) *Sessions {
	client := NewHTTPClient()
	o := Options{
		Now:        f.clock.now,
		HTTPClient: client,
		Registerer: prometheus.NewRegistry(),
		Ambient: func(context.Context) (aws.Config, error) {
			cfg := aws.Config{BaseEndpoint: aws.String(f.URL)}
			if ambientKey != "" {
				cfg.Credentials = staticProvider{keys: StaticKeys{AccessKeyID: ambientKey, SecretAccessKey: NewSecret(canary)}}
			}
			return cfg, nil
		},
	}
	for _, c := range change {
		c(&o)
	}
	s := NewSessions(o)
	t.Cleanup(s.Close)
	return s
}

// static is an identity with the user's keys.
func static(change ...func(*Identity)) Identity {
	id := Identity{
		Key: "uid-1", Region: "ap-southeast-1", SessionName: "nexus-team-main", ExternalID: external,
		Static: &StaticKeys{AccessKeyID: "AKIAUSER", SecretAccessKey: NewSecret(canary)},
	}
	for _, c := range change {
		c(&id)
	}
	return id
}

func with(role, second string) func(*Identity) {
	return func(id *Identity) { id.RoleARN, id.AssumeRoleARN = role, second }
}

func ambient(id *Identity) { id.Static = nil }
