// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// eksAnswers is an AWS that answers each question about the cluster with a status and a body, and knows everybody who asks.
type eksAnswers struct {
	code  int
	body  string
	asked int
}

// Do implements the HTTP client of the SDK.
func (e *eksAnswers) Do(r *http.Request) (*http.Response, error) {
	code, body := http.StatusOK, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>`+
		`<Arn>arn:aws:iam::123456789012:role/operator</Arn><UserId>A</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`
	header := http.Header{}
	if strings.Contains(r.URL.Path, "/clusters/") {
		e.asked++
		code, body = e.code, e.body
		if code == http.StatusForbidden {
			header.Set("X-Amzn-Errortype", "AccessDeniedException")
		}
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func TestAutoMode_IsWhatEKSSaysOfTheCluster(t *testing.T) {
	const on, off, never = `{"cluster": {"name": "c", "computeConfig": {"enabled": true}}}`,
		`{"cluster": {"name": "c", "computeConfig": {"enabled": false}}}`, `{"cluster": {"name": "c"}}`
	c := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	api := &eksAnswers{code: http.StatusOK}
	a := NewAutoMode("c", "eu-west-1",
		awsclient.NewSessions(awsclient.Options{Now: c.Now, HTTPClient: api, Ambient: func(context.Context) (aws.Config, error) {
			return aws.Config{BaseEndpoint: aws.String("http://aws.example"),
				Credentials: credentials.NewStaticCredentialsProvider("ASIAPOD", "secret", "")}, nil
		}}), c)
	for _, tc := range []struct {
		name, body string
		code       int
		want       bool
	}{
		{"a cluster without it", never, http.StatusOK, false}, {"enabled", on, http.StatusOK, true},
		{"without the right, the last answer", `{"message": "no"}`, http.StatusForbidden, true}, {"disabled", off, http.StatusOK, false},
		{"without the right", `{"message": "no"}`, http.StatusForbidden, false},
	} {
		api.code, api.body, api.asked = tc.code, tc.body, 0
		for range 3 {
			if got := a.IsEnabled(t.Context()); got != tc.want {
				t.Errorf("%s: %t", tc.name, got)
			}
		}
		if api.asked != 1 {
			t.Errorf("%s: asked %d times", tc.name, api.asked)
		}
		c.SetTime(c.Now().Add(autoModeEvery))
	}
	unnamed := NewAutoMode("", "eu-west-1", nil, c)
	if unnamed.IsEnabled(t.Context()) {
		t.Error("a cluster whose name is not known has Auto Mode")
	}
}
