// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

// newToken returns a secret that no one can guess.
func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: https://pkg.go.dev/crypto/rand#Read
	return base64.RawURLEncoding.EncodeToString(b)
}

// securityHeaders forbid the page everything but its own files and its own API.
var securityHeaders = [][2]string{
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
	{"Cache-Control", "no-store"},
}

// guarded answers only requests that name this server as their host: a page of another site that has its name rebound to the loopback
// address names that site.
func guarded(host string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		for _, h := range securityHeaders {
			w.Header().Set(h[0], h[1])
		}
		if !isHost(q.Host, host) {
			http.Error(w, "this server answers at http://"+host+" only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, q)
	})
}

// isHost reports whether a name of the Host header is this server, by its address or as localhost.
func isHost(name, host string) bool {
	_, port, _ := strings.Cut(host, ":")
	return name == host || name == "localhost:"+port
}

// authorized answers only requests of the page itself, with the token. The token is a header, which no other site can make a browser
// send; a cookie would be sent by every page of another port of the same host.
func authorized(host, token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		given, _ := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer ")
		switch {
		case !isOwnOrigin(q, host):
			http.Error(w, "requests of other sites are not answered", http.StatusForbidden)
		case subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1:
			http.Error(w, "the token is missing or wrong: open the address that nexusctl ui has printed", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, q)
		}
	})
}

// isOwnOrigin reports whether a request comes from the page itself, or from no browser.
func isOwnOrigin(q *http.Request, host string) bool {
	site := q.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" {
		return false
	}
	origin := q.Header.Get("Origin")
	from, isHTTP := strings.CutPrefix(origin, "http://")
	return origin == "" || isHTTP && isHost(from, host)
}
