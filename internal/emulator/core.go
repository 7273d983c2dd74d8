// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// core is what all services use: moto, the clock, the accounts of callers, and what was written when.
type core struct {
	backend   string // base URL of moto
	transport *http.Transport
	memory    memory

	mu        sync.Mutex
	clock     func() time.Time
	accounts  map[string]string       // access key → account, of assumed roles
	rewritten map[string]bool         // fields of the catalog of rewrites that were met; a reset keeps them
	diverted  map[string]http.Handler // service → what answers in moto's place
	services  []Service
}

func newCore(backend string) *core {
	c := &core{backend: strings.TrimSuffix(backend, "/"), transport: newTransport(), rewritten: map[string]bool{}}
	c.memory.core = c
	return c
}

// clear forgets everything but what was met of the catalog of rewrites.
func (c *core) clear() {
	c.mu.Lock()
	c.clock, c.accounts, c.diverted = time.Now, map[string]string{}, map[string]http.Handler{}
	c.mu.Unlock()
	c.memory.clear()
	for _, s := range c.services {
		s.Reset()
	}
}

// now is the time of the clock of SetClock.
func (c *core) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock()
}

// SetClock lets another clock than the system's decide how much time has passed
// since a write; nil and Reset return to the system's. The function is called
// while requests are served, from their goroutines. ClockSkew does not use it.
func (c *core) SetClock(now func() time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now == nil {
		now = time.Now
	}
	c.clock = now
}

// accountOf returns the account in which an access key acts.
func (c *core) accountOf(accessKey string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if assumed, ok := c.accounts[accessKey]; ok {
		return assumed
	}
	return defaultAccount
}

// setAccount records the account in which the credentials of an assumed role act.
func (c *core) setAccount(accessKey, account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accounts[accessKey] = account
}

// identity names a resource of a service in the account and region of a request.
func (c *core) identity(x *exchange, service, resource string) string {
	account, region := c.accountOf(x.accessKey), x.region
	if factsOf(service).IsGlobal {
		region = ""
	}
	return account + "|" + region + "|" + service + "|" + resource
}

// meet records that an answer had a field, as Kind.field, in AWS's form.
func (c *core) meet(field string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rewritten[field] = true
}

// ask makes a request of the proxy's own in the account and region of a
// client's request. It does not enter the ledger and needs no rights.
func (c *core) ask(ctx context.Context, x *exchange, method, uri string, header http.Header, body []byte) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.backend+uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	r.Header.Set("Authorization", scope(x.accessKey, x.region, x.service))
	return c.roundTrip(r)
}

// askJSON calls an operation of a JSON service.
func (c *core) askJSON(ctx context.Context, x *exchange, op string, body any) (*answer, map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	target := x.http.Header.Get("X-Amz-Target")
	header := http.Header{
		"X-Amz-Target": {target[:len(target)-len(x.op)] + op},
		"Content-Type": {x.http.Header.Get("Content-Type")},
	}
	a, err := c.ask(ctx, x, http.MethodPost, "/", header, text)
	if err != nil {
		return nil, nil, err
	}
	parsed := map[string]any{}
	_ = json.Unmarshal(a.body, &parsed)
	return a, parsed, nil
}

// askQuery calls an operation of a service of the query protocol, in the account and region of a client's request.
func (c *core) askQuery(ctx context.Context, x *exchange, service, version string, form url.Values) (*answer, error) {
	form.Set("Version", version)
	return c.ask(ctx, x.to(service), http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
}

// to is a request of the same caller to another service.
func (x *exchange) to(service string) *exchange {
	return &exchange{request: &request{accessKey: x.accessKey, region: x.region, service: service}}
}

// moto calls the API by which tests control moto.
func (c *core) moto(what, body string) error {
	r, err := http.NewRequest(http.MethodPost, c.backend+"/moto-api/"+what, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain")
	a, err := c.roundTrip(r)
	if err != nil {
		return fmt.Errorf("moto %s: %w", what, err)
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("moto %s: status %d: %s", what, a.status, a.body)
	}
	return nil
}

func (c *core) roundTrip(r *http.Request) (*answer, error) {
	response, err := c.transport.RoundTrip(r)
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

// scope is an Authorization header that tells moto account, region and service;
// it checks no signature.
func scope(accessKey, region, service string) string {
	return "AWS4-HMAC-SHA256 Credential=" + accessKey + "/20250101/" + region + "/" + service + "/aws4_request, SignedHeaders=host, Signature=0"
}

// lister asks moto without being recorded and without rights.
func (c *core) lister(accessKey, region string) *lister {
	return &lister{url: c.backend, key: accessKey, trip: c.roundTrip, region: region}
}

// names lists what exists of a kind of an inventory, in the account and region of a request.
func (c *core) names(ctx context.Context, x *exchange, kind string) ([]string, error) {
	service, _, _ := strings.Cut(kind, "/")
	for _, k := range factsOf(service).Inventory {
		if k.name == kind {
			return k.list(ctx, c.lister(x.accessKey, x.region))
		}
	}
	return nil, nil
}

// proxyError is the answer to a request in which the proxy itself has failed.
func proxyError(x *exchange, err error) *answer {
	return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
}

func jsonAnswer(body map[string]any) *answer {
	return (&answer{http.StatusOK, http.Header{"Content-Type": {"application/json"}}, nil}).withJSON(body)
}
