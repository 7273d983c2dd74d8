// SPDX-License-Identifier: Apache-2.0

// Package proxy stands between AWS clients and the emulator moto. It names every request, keeps a ledger of them, breaks those that
// a test chooses, and lets the services correct moto where it differs from AWS. It knows no service: package emulator gives it their
// list.
package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// maxBody limits the bytes that the proxy reads of one request or answer.
const maxBody = 256 << 20

// Proxy is the proxy in front of one moto.
type Proxy struct {
	*Core
	corrections map[string][]Correction // by service
	ledger      wire.Ledger[Call]
	rules       wire.Rules[*Call, Action]
	callers     callers
	latency     atomic.Int64 // nanoseconds

	main      *Endpoint
	endpoints wire.Listeners
	turns     turns
	trail     trail
}

// Start lets a proxy in front of the moto at a base URL, with these services, listen on a free loopback port.
func Start(backend string, services []Service) (*Proxy, error) {
	p := newProxy(backend, services)
	var err error
	p.main, err = p.Listen("main")
	return p, err
}

func newProxy(backend string, services []Service) *Proxy {
	c := newCore(backend, NewCatalog(services))
	p := &Proxy{Core: c, corrections: map[string][]Correction{}}
	c.Services = services
	for _, s := range services {
		s.Attach(c)
		p.corrections[s.Facts().Prefix] = s.Corrections()
	}
	p.callers.proxy, p.trail.proxy = p, p
	c.clear()
	p.callers.clear()
	return p
}

// newTransport keeps connections open, as the bed's moto does.
func newTransport() *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost: 32, DisableCompression: true,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		ResponseHeaderTimeout: time.Minute,
	}
}

// URL returns the address for AWS_ENDPOINT_URL.
func (p *Proxy) URL() string { return p.main.URL() }

// SetLatency makes every answer come later by d.
func (p *Proxy) SetLatency(d time.Duration) { p.latency.Store(int64(d)) }

// Close cuts every connection of every endpoint.
func (p *Proxy) Close() error {
	p.rules.Clear() // lets held requests go
	return p.endpoints.Close()
}

// Endpoint is one listener of a proxy. All endpoints share ledger and faults; an
// operator that is to be killed gets its own, so that closing it keeps
// its late requests from having any effect. Its URL is for AWS_ENDPOINT_URL.
type Endpoint = wire.Listener

// Listen opens a further listener. The name is recorded with every request that
// comes by it.
func (p *Proxy) Listen(name string) (*Endpoint, error) { return p.endpoints.Listen(name, p.serve) }

// Exchange is one request on its way.
type Exchange struct {
	*Request
	endpoint *Endpoint
	call     *Call
	Existed  bool // a creation: the resource existed before
	Before   any  // the state that the service kept from before the request

	double http.Handler // answers in the emulator's place; see Divert
}

// Answer holds the response to the client.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// serve handles one request of an endpoint.
func (p *Proxy) serve(e *Endpoint, w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_ledger") {
		p.serveLedger(w)
		return
	}
	body, err := readBody(r)
	if err != nil {
		return // the client has gone
	}
	x := &Exchange{Request: p.catalog.decode(r, body), endpoint: e}
	x.call = p.record(x)
	if d := time.Duration(p.latency.Load()); d > 0 {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
	rule := p.rules.Match(x.call)
	if rule == nil {
		p.reply(w, x, p.handle(r.Context(), x))
		return
	}
	p.ledger.Update(func() { x.call.Fault = rule.Action.name })
	rule.Action.apply(p, &transaction{w: w, r: r, x: x, released: rule.Released()})
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(r.Body, maxBody))
}

// handle answers the request of a client, who must have the right to it while IAM is enforced.
func (p *Proxy) handle(ctx context.Context, x *Exchange) *Answer {
	if refused := p.callers.authorize(ctx, x); refused != nil {
		return refused
	}
	a := p.forward(ctx, x)
	if a != nil {
		p.callers.noteIAM(x, a)
	}
	return a
}

// reply sends an answer; without one (the endpoint was closed, the emulator is
// dead) the connection is reset.
func (p *Proxy) reply(w http.ResponseWriter, x *Exchange, a *Answer) {
	p.answered(x.call, a)
	p.trail.report(x, a)
	if a == nil {
		wire.Reset(w)
		return
	}
	p.copyHeader(w, a)
	if x.HTTP.Method != http.MethodHead {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	if x.HTTP.Method != http.MethodHead {
		_, _ = w.Write(a.Body)
	}
}

// copyHeader writes an answer's header and, if the clock of AWS is shifted, its
// time.
func (p *Proxy) copyHeader(w http.ResponseWriter, a *Answer) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	if skew := p.memory.clockSkew(); skew != 0 {
		w.Header().Set("Date", time.Now().Add(skew).UTC().Format(http.TimeFormat))
	}
}

// forward lets the corrections see the request, passes it to the emulator
// unless one of them has answered it, and lets them see the answer. It returns
// nil if the endpoint is closed, which then keeps the request from having any
// effect, or if the emulator gave no answer.
func (p *Proxy) forward(ctx context.Context, x *Exchange) *Answer {
	if !x.endpoint.Enter() {
		return nil
	}
	defer x.endpoint.Leave()
	defer p.turns.take(x)()
	// A client that goes away does not stop a request that has reached AWS.
	ctx = context.WithoutCancel(ctx)
	x.double = p.divertedTo(x.Service)
	var own []Correction
	if x.double == nil {
		own = p.corrections[x.Service]
	}
	if a := p.prepare(ctx, x, own); a != nil {
		return a
	}
	a, err := p.send(ctx, x, own)
	for range 4 {
		if err != nil || !isErrorPage(a) || !isRead(x.Op) {
			break
		}
		a, err = p.send(ctx, x, own)
	}
	if err != nil {
		return nil
	}
	return p.finish(ctx, x, own, a)
}

// prepare lets the corrections see the request, and returns the answer of the first that answers it.
func (p *Proxy) prepare(ctx context.Context, x *Exchange, own []Correction) *Answer {
	for _, refused := range []*Answer{p.refuseSkewedRequest(x), refuseBadName(x)} {
		if refused != nil {
			return refused
		}
	}
	for i := range own {
		if c := &own[i]; c.Before != nil && c.applies(x) {
			if a := c.Before(ctx, x); a != nil {
				return a
			}
		}
	}
	return showUnset(x)
}

// finish lets the corrections see the answer.
func (p *Proxy) finish(ctx context.Context, x *Exchange, own []Correction, a *Answer) *Answer {
	p.memory.recordWrite(x, a)
	for i := range own {
		if c := &own[i]; c.After != nil && c.applies(x) {
			a = c.After(ctx, x, a)
		}
	}
	a = p.rewriteAnswer(x, a)
	a = notImplemented(x, a)
	a = p.lagBehindWrites(x, a)
	return p.addUnknownFields(x, a)
}

func (p *Proxy) send(ctx context.Context, x *Exchange, own []Correction) (*Answer, error) {
	if x.double != nil {
		return AskHandler(ctx, x.double, x)
	}
	for i := range own {
		if c := &own[i]; c.Instead != nil && c.applies(x) {
			if a := c.Instead(ctx, x); a != nil {
				return a, nil
			}
		}
	}
	return p.Pass(ctx, x)
}

// Pass gives the request to moto as it is now.
func (c *Core) Pass(ctx context.Context, x *Exchange) (*Answer, error) {
	r, err := http.NewRequestWithContext(ctx, x.HTTP.Method, c.backend+x.HTTP.URL.RequestURI(), bytes.NewReader(x.Body))
	if err != nil {
		return nil, err
	}
	r.Header = x.HTTP.Header.Clone()
	r.Header.Del("Connection")
	r.Host = x.HTTP.Host // signatures cover it, and queue URLs are made of it
	return c.roundTrip(r)
}
