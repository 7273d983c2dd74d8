// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nexus-operator/nexus-operator/internal/ui"
)

const (
	host  = "127.0.0.1:4711"
	token = "secret"
)

// handler is a server without a cluster. Its commands echo their questions.
func handler() http.Handler {
	s := &ui.Server{Files: fstest.MapFS{"index.html": {Data: []byte("<p>page")}, "app.js": {Data: []byte("1")}}, Feed: &ui.Feed{},
		Session: ui.Session{Version: "v1"},
		Ask: func(_ context.Context, q ui.Question) (json.RawMessage, string, error) {
			if q.Namespace == "refused" {
				return nil, "", errors.New("you may not (NX-CLI-003)")
			}
			b, err := json.Marshal(q)
			return b, "a note", err
		}}
	return s.Handler(host, token)
}

// request is one of the page itself unless a test changes it.
func request(method, path, body string) *http.Request {
	q := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Sec-Fetch-Site", "same-origin")
	return q
}

func sent(q *http.Request) (code int, body string, header http.Header) {
	w := httptest.NewRecorder()
	handler().ServeHTTP(w, q)
	b, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(b), w.Result().Header
}

func TestServer_AnswersOnlyItsOwnPage(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*http.Request)
		path   string
		want   int
	}{
		"the page":       {func(*http.Request) {}, "/api/session", 200},
		"by name":        {func(q *http.Request) { q.Host = "localhost:4711" }, "/api/session", 200},
		"its own origin": {func(q *http.Request) { q.Header.Set("Origin", "http://"+host) }, "/api/session", 200},
		"no browser":     {func(q *http.Request) { q.Header.Del("Sec-Fetch-Site") }, "/api/session", 200},
		"no token":       {func(q *http.Request) { q.Header.Del("Authorization") }, "/api/session", 401},
		"another token":  {func(q *http.Request) { q.Header.Set("Authorization", "Bearer secre") }, "/api/session", 401},
		"the token as a cookie": {func(q *http.Request) { q.Header.Del("Authorization"); q.Header.Set("Cookie", "token="+token) },
			"/api/session", 401},
		"the token in the query":    {func(q *http.Request) { q.Header.Del("Authorization") }, "/api/session?token=" + token, 401},
		"a rebound name":            {func(q *http.Request) { q.Host = "evil.example:4711" }, "/api/session", 421},
		"a rebound name, a file":    {func(q *http.Request) { q.Host = "evil.example:4711" }, "/", 421},
		"another port":              {func(q *http.Request) { q.Host = "127.0.0.1:80" }, "/api/session", 421},
		"another origin":            {func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") }, "/api/session", 403},
		"another port as origin":    {func(q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:4712") }, "/api/session", 403},
		"an opaque origin":          {func(q *http.Request) { q.Header.Set("Origin", "null") }, "/api/session", 403},
		"another site":              {func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") }, "/api/session", 403},
		"another port of this host": {func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "same-site") }, "/api/session", 403},
		"a write":                   {func(q *http.Request) { q.Method = http.MethodDelete }, "/api/session", 405},
		"a plan by a link":          {func(*http.Request) {}, "/api/plan", 405},
		"no such answer":            {func(*http.Request) {}, "/api/secrets", 404},
		"a file without a token":    {func(q *http.Request) { q.Header.Del("Authorization") }, "/app.js", 200},
		"a path out of the files":   {func(*http.Request) {}, "/../server_test.go", 404},
	} {
		q := request(http.MethodGet, tc.path, "")
		tc.change(q)
		code, body, header := sent(q)
		if code != tc.want && (tc.want != 404 || code != http.StatusTemporaryRedirect && code != http.StatusMovedPermanently) {
			t.Errorf("%s: %d, want %d: %s", name, code, tc.want, body)
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") ||
			header.Get("Access-Control-Allow-Origin") != "" || header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: the headers are %v", name, header)
		}
		if code == 401 && strings.Contains(body, token) {
			t.Errorf("%s: the refusal has the token", name)
		}
	}
}

func TestServer_AsksTheCommands(t *testing.T) {
	bucket := "apiVersion=aws-infra-operator.runner.codes/v1alpha1&kind=S3Bucket&name=logs"
	const argument = "S3Bucket.v1alpha1.aws-infra-operator.runner.codes/logs"
	for name, tc := range map[string]struct {
		q    *http.Request
		want []string
	}{
		"a tree": {request("GET", "/api/tree?namespace=team-a&"+bucket, ""),
			[]string{`"Command":"tree"`, `"Command":"explain"`, `"Namespace":"team-a"`, argument, "a note"}},
		"no name":   {request("GET", "/api/tree?kind=S3Bucket", ""), []string{"kind and name must say"}},
		"a refusal": {request("GET", "/api/tree?namespace=refused&"+bucket, ""), []string{"you may not (NX-CLI-003)"}},
		"a plan": {request("POST", "/api/plan", `{"manifest":"kind: A","namespace":"team-a"}`),
			[]string{`"Command":"plan"`, `"--filename=-"`, `"Stdin":"kind: A"`}},
		"a plan of an object": {request("POST", "/api/plan",
			`{"apiVersion":"aws-infra-operator.runner.codes/v1alpha1","kind":"S3Bucket","name":"logs","delete":true,"skipAWS":true}`),
			[]string{argument, "--delete", "--skip-aws"}},
		"a plan of nothing": {request("POST", "/api/plan", `{}`), []string{"paste or open a manifest"}},
		"another field":     {request("POST", "/api/plan", `{"flags":["--server"]}`), []string{"unknown field"}},
		"too long":          {request("POST", "/api/plan", `{"manifest":"`+strings.Repeat("a", 5<<20)+`"}`), []string{"too large"}},
		"a session":         {request("GET", "/api/session", ""), []string{`"version":"v1"`}},
	} {
		code, body, header := sent(tc.q)
		if code != 200 || !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %s", name, code, header)
		}
		for _, want := range tc.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in %s", name, want, body)
			}
		}
	}
}

func TestServer_ShowsNoSecret(t *testing.T) {
	_, body, _ := sent(request("GET", "/api/object?apiVersion=v1&kind=Secret&namespace=a&name=b", ""))
	if !strings.Contains(body, "hold secret values and are not shown") {
		t.Error(body)
	}
}
