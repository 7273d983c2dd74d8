// SPDX-License-Identifier: Apache-2.0

// Package emulator stands between AWS clients and the emulator moto. It names
// every request (`dynamodb.CreateTable(orders)`), keeps a ledger of them, breaks
// those that a test chooses, and corrects the emulator where it differs from AWS.
//
// Clients reach it by AWS_ENDPOINT_URL; nothing in the operator knows of it.
package emulator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// maxBody bounds what is read of one request or answer.
const maxBody = 256 << 20

// Proxy is the proxy in front of one moto.
type Proxy struct {
	backend   string // base URL of moto
	transport *http.Transport
	ledger    wire.Ledger[Call]
	rules     wire.Rules[*Call, Action]
	state     state
	callers   callers
	latency   atomic.Int64 // nanoseconds

	main      *Endpoint
	endpoints wire.Listeners
	turns     turns
	trail     trail
}

// Start returns a proxy in front of the moto at that base URL, listening on a
// free loopback port.
func Start(backend string) (*Proxy, error) {
	p := &Proxy{backend: strings.TrimSuffix(backend, "/"), transport: newTransport()}
	p.state.clear()
	p.callers.clear()
	var err error
	p.main, err = p.Listen("main")
	return p, err
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

// exchange is one request on its way.
type exchange struct {
	*request
	endpoint *Endpoint
	call     *Call
	existed  bool           // CreateBucket: the bucket was there before
	policy   string         // SetQueueAttributes: the policy that the request does not name
	again    url.Values     // ModifyDBSubnetGroup: what creates the changed group again
	table    map[string]any // UpdateTable: the table before

	double http.Handler // answers in the emulator's place; see Divert
}

// answer holds what goes back to the client.
type answer struct {
	status int
	header http.Header
	body   []byte
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
	x := &exchange{request: decode(r, body), endpoint: e}
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
func (p *Proxy) handle(ctx context.Context, x *exchange) *answer {
	if refused := p.authorize(ctx, x); refused != nil {
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
func (p *Proxy) reply(w http.ResponseWriter, x *exchange, a *answer) {
	p.answered(x.call, a)
	p.report(x, a)
	if a == nil {
		wire.Reset(w)
		return
	}
	p.copyHeader(w, a)
	if x.http.Method != http.MethodHead {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
	}
	w.WriteHeader(a.status)
	if x.http.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

// copyHeader writes an answer's header and, if the clock of AWS is shifted, its
// time.
func (p *Proxy) copyHeader(w http.ResponseWriter, a *answer) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if skew := p.state.clockSkew(); skew != 0 {
		w.Header().Set("Date", time.Now().Add(skew).UTC().Format(http.TimeFormat))
	}
}

// forward lets the corrections see the request, passes it to the emulator
// unless one of them has answered it, and lets them see the answer. It returns
// nil if the endpoint is closed, which then keeps the request from having any
// effect, or if the emulator gave no answer.
func (p *Proxy) forward(ctx context.Context, x *exchange) *answer {
	if !x.endpoint.Enter() {
		return nil
	}
	defer x.endpoint.Leave()
	defer p.turns.take(x)()
	// A client that goes away does not stop a request that has reached AWS.
	ctx = context.WithoutCancel(ctx)
	x.double = p.divertedTo(x.service)
	for i := range corrections {
		if c := &corrections[i]; c.before != nil && c.applies(x) {
			if a := c.before(ctx, p, x); a != nil {
				return a
			}
		}
	}
	a, err := p.send(ctx, x)
	for range 4 {
		if err != nil || !isErrorPage(a) || !isRead(x.op) {
			break
		}
		a, err = p.send(ctx, x)
	}
	if err != nil {
		return nil
	}
	for i := range corrections {
		if c := &corrections[i]; c.after != nil && c.applies(x) {
			a = c.after(ctx, p, x, a)
		}
	}
	return a
}

func (p *Proxy) send(ctx context.Context, x *exchange) (*answer, error) {
	if x.double != nil {
		return askHandler(ctx, x.double, x)
	}
	for _, instead := range []func(context.Context, *exchange) *answer{p.podIdentity, p.accessEntries, p.controlPlane, p.resourcesByTag, p.resourcesByARN, p.longPoll} {
		if a := instead(ctx, x); a != nil {
			return a, nil
		}
	}
	r, err := http.NewRequestWithContext(ctx, x.http.Method, p.backend+x.http.URL.RequestURI(), bytes.NewReader(x.body))
	if err != nil {
		return nil, err
	}
	r.Header = x.http.Header.Clone()
	r.Header.Del("Connection")
	r.Host = x.http.Host // signatures cover it, and queue URLs are made of it
	return p.roundTrip(r)
}

func (p *Proxy) roundTrip(r *http.Request) (*answer, error) {
	response, err := p.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, err
	}
	header := response.Header
	for _, name := range []string{"Connection", "Content-Length", "Transfer-Encoding"} {
		if !(name == "Content-Length" && r.Method == http.MethodHead) {
			header.Del(name)
		}
	}
	return &answer{response.StatusCode, header, body}, nil
}
