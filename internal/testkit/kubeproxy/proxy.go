// SPDX-License-Identifier: Apache-2.0

// Package kubeproxy stands between a client and the Kubernetes API server. It
// names every request (`update widgets/status ns/name`), keeps a ledger of them
// and breaks those that a test chooses. It speaks plain HTTP on loopback and
// authenticates to the server with the identity it was given.
package kubeproxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// maxBody limits the bytes that the proxy reads of a request; the server's own limit is 3 MiB.
const maxBody = 16 << 20

// Proxy is the proxy in front of one API server, for one identity.
type Proxy struct {
	backend   *url.URL
	transport http.RoundTripper
	rules     wire.Rules[*Call, Action]
	ledger    wire.Ledger[Call]
	watches   watches

	main      *Endpoint
	endpoints wire.Listeners
}

// Endpoint is one listener of a proxy. All endpoints share identity, ledger and
// faults; an operator that is to be killed gets its own.
type Endpoint struct{ *wire.Listener }

// Config returns a client configuration that goes by this endpoint, without
// client-side rate limits.
func (e *Endpoint) Config() *rest.Config { return &rest.Config{Host: e.URL(), QPS: -1} }

// Start returns a proxy to the server of config, with its identity.
func Start(config *rest.Config) (*Proxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	backend, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	p := &Proxy{backend: backend, transport: transport}
	p.main, err = p.Listen("main")
	return p, err
}

// Config returns a client configuration that goes by the proxy.
func (p *Proxy) Config() *rest.Config { return p.main.Config() }

// Listen opens a further listener. The name is recorded with every request that
// comes by it.
func (p *Proxy) Listen(name string) (*Endpoint, error) {
	l, err := p.endpoints.Listen(name, p.serve)
	return &Endpoint{l}, err
}

// Close cuts every connection of every endpoint.
func (p *Proxy) Close() error {
	p.rules.Clear()
	p.watches.release()
	return p.endpoints.Close()
}

// transaction is one request with the connection to its client.
type transaction struct {
	proxy    *Proxy
	endpoint *wire.Listener
	w        http.ResponseWriter
	r        *http.Request
	body     []byte
	call     *Call
	released <-chan struct{} // by the rule that acts on it
}

func (p *Proxy) serve(l *wire.Listener, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client has gone
	}
	t := &transaction{proxy: p, endpoint: l, w: w, r: r, body: body}
	t.call = p.record(decode(r, body), l.Name())
	rule := p.rules.Match(t.call)
	if rule == nil {
		t.pass()
		return
	}
	p.ledger.Update(func() { t.call.Fault = rule.Action.name })
	t.released = rule.Released()
	rule.Action.apply(t)
}

// pass forwards the request and its answer.
func (t *transaction) pass() { t.answer(t.forward()) }

// answer gives the client the response that forward has returned.
func (t *transaction) answer(response *http.Response) {
	if response == nil {
		wire.Reset(t.w)
		return
	}
	defer response.Body.Close()
	if t.call.Verb == "watch" {
		t.stream(response)
		return
	}
	copyHeader(t.w.Header(), response.Header)
	t.w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(t.w, response.Body)
}

// forward sends the request to the server. It returns nil if the endpoint is
// closed, which then keeps the request from having any effect, or if the server
// gave no answer. The body of the answer is complete unless it is a watch.
func (t *transaction) forward() *http.Response {
	if !t.endpoint.Enter() {
		t.proxy.answered(t.call, 0)
		return nil
	}
	defer t.endpoint.Leave()
	response, err := t.proxy.send(t.context(), t.r, t.body)
	if err == nil && t.call.Verb != "watch" {
		err = complete(response)
	}
	if err != nil {
		t.proxy.answered(t.call, 0)
		return nil
	}
	t.proxy.answered(t.call, response.StatusCode)
	return response
}

// context ends with the client for a watch. Every other request goes on when the client dies: it has reached the server.
func (t *transaction) context() context.Context {
	if t.call.Verb == "watch" {
		return t.r.Context()
	}
	return context.WithoutCancel(t.r.Context())
}

func (p *Proxy) send(ctx context.Context, r *http.Request, body []byte) (*http.Response, error) {
	target := *p.backend
	target.Path = strings.TrimSuffix(target.Path, "/") + r.URL.Path
	target.RawQuery = r.URL.RawQuery
	out, err := http.NewRequestWithContext(ctx, r.Method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	out.Header.Del("Connection")
	return p.transport.RoundTrip(out)
}

// complete reads the body of an answer into memory.
func complete(response *http.Response) error {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

func copyHeader(to, from http.Header) {
	for name, values := range from {
		if name != "Connection" {
			to[name] = values
		}
	}
}
