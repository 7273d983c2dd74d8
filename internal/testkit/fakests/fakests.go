// SPDX-License-Identifier: Apache-2.0

// Package fakests is an STS that answers without a network: it knows access keys, counts its calls, and fails on request.
package fakests

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// STS implements the HTTP client of AWS calls.
type STS struct {
	mu      sync.Mutex
	callers map[string]string
	fail    func() (*http.Response, error)
	calls   int
}

// New returns an STS that knows no key.
func New() *STS { return &STS{callers: map[string]string{}} }

// Caller has requests with an access key be those of an ARN; an empty ARN ends that.
func (s *STS) Caller(key, arn string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers[key] = arn
}

// Unreachable has every call fail before an answer, until Reachable.
func (s *STS) Unreachable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
}

// Reachable ends Unreachable.
func (s *STS) Reachable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = nil
}

// Calls returns how many calls there were since it was asked last.
func (s *STS) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.calls
	s.calls = 0
	return n
}

var accessKey = regexp.MustCompile(`Credential=([^/]+)/`)

// Do answers GetCallerIdentity.
func (s *STS) Do(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.fail != nil {
		return s.fail()
	}
	m := accessKey.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil || s.callers[m[1]] == "" {
		return answer(http.StatusForbidden,
			`<ErrorResponse><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>The security token included in the request is invalid.</Message></Error><RequestId>1</RequestId></ErrorResponse>`), nil
	}
	arn := s.callers[m[1]]
	return answer(http.StatusOK,
		fmt.Sprintf(`<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>%s</Arn><UserId>U</UserId><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
			arn, strings.Split(arn, ":")[4])), nil
}

func answer(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {"text/xml"}},
		Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body))}
}
