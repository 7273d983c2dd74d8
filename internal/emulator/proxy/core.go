// SPDX-License-Identifier: Apache-2.0

package proxy

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

// Core has moto, the clock, the accounts of callers, and the memory of writes. All services use it.
type Core struct {
	catalog   *Catalog
	backend   string // base URL of moto
	transport *http.Transport
	memory    memory

	mu        sync.Mutex
	clock     func() time.Time
	accounts  map[string]string       // access key → account, of assumed roles
	rewritten map[string]bool         // fields of the catalog of rewrites that were met; a reset keeps them
	diverted  map[string]http.Handler // service → the handler in moto's place
	Services  []Service
}

// newCore returns the core in front of the moto at a base URL.
func newCore(backend string, catalog *Catalog) *Core {
	c := &Core{catalog: catalog, backend: strings.TrimSuffix(backend, "/"), transport: newTransport(), rewritten: map[string]bool{}}
	c.memory.core, c.memory.writes.Now = c, c.Now
	return c
}

// clear forgets all state but the entries of the catalog of rewrites that occurred.
func (c *Core) clear() {
	c.mu.Lock()
	c.clock, c.accounts, c.diverted = time.Now, map[string]string{}, map[string]http.Handler{}
	c.mu.Unlock()
	c.memory.clear()
	for _, s := range c.Services {
		s.Reset()
	}
}

// Now is the time of the clock of SetClock.
func (c *Core) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock()
}

// SetClock lets another clock than the system's decide how much time has passed
// since a write; nil and Reset return to the system's. The function is called
// while requests are served, from their goroutines. ClockSkew does not use it.
func (c *Core) SetClock(now func() time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now == nil {
		now = time.Now
	}
	c.clock = now
}

// AccountOf returns the account of an access key.
func (c *Core) AccountOf(accessKey string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if assumed, ok := c.accounts[accessKey]; ok {
		return assumed
	}
	return DefaultAccount
}

// SetAccount records the account of the credentials of an assumed role.
func (c *Core) SetAccount(accessKey, account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accounts[accessKey] = account
}

// Identity names a resource of a service in the account and region of a request.
func (c *Core) Identity(x *Exchange, service, resource string) string {
	account, region := c.AccountOf(x.AccessKey), x.Region
	if c.catalog.of(service).IsGlobal {
		region = ""
	}
	return account + "|" + region + "|" + service + "|" + resource
}

// Meet records that an answer had a field, as Kind.field, in AWS's form.
func (c *Core) Meet(field string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rewritten[field] = true
}

// Ask makes a request of the proxy's own in the account and region of a
// client's request. It does not enter the ledger and needs no rights.
func (c *Core) Ask(ctx context.Context, x *Exchange, method, uri string, header http.Header, body []byte) (*Answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.backend+uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	r.Header.Set("Authorization", scope(x.AccessKey, x.Region, x.Service))
	return c.roundTrip(r)
}

// AskJSON calls an operation of a JSON service.
func (c *Core) AskJSON(ctx context.Context, x *Exchange, op string, body any) (*Answer, map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	target := x.HTTP.Header.Get("X-Amz-Target")
	header := http.Header{
		"X-Amz-Target": {target[:len(target)-len(x.Op)] + op},
		"Content-Type": {x.HTTP.Header.Get("Content-Type")},
	}
	a, err := c.Ask(ctx, x, http.MethodPost, "/", header, text)
	if err != nil {
		return nil, nil, err
	}
	parsed := map[string]any{}
	_ = json.Unmarshal(a.Body, &parsed)
	return a, parsed, nil
}

// AskQuery calls an operation of a service of the query protocol, in the account and region of a client's request.
func (c *Core) AskQuery(ctx context.Context, x *Exchange, service, version string, form url.Values) (*Answer, error) {
	form.Set("Version", version)
	return c.Ask(ctx, x.To(service), http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		[]byte(form.Encode()))
}

// To is a request of the same caller to another service.
func (x *Exchange) To(service string) *Exchange {
	return &Exchange{Request: &Request{catalog: x.catalog, AccessKey: x.AccessKey, Region: x.Region, Service: service}}
}

// moto calls moto's API for the control of moto by tests.
func (c *Core) moto(what, body string) error {
	r, err := http.NewRequest(http.MethodPost, c.backend+"/moto-api/"+what, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain")
	a, err := c.roundTrip(r)
	if err != nil {
		return fmt.Errorf("moto %s: %w", what, err)
	}
	if a.Status != http.StatusOK {
		return fmt.Errorf("moto %s: status %d: %s", what, a.Status, a.Body)
	}
	return nil
}

func (c *Core) roundTrip(r *http.Request) (*Answer, error) {
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
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
	return &Answer{response.StatusCode, header, body}, nil
}

// scope is an Authorization header that tells moto account, region and service;
// it checks no signature.
func scope(accessKey, region, service string) string {
	return "AWS4-HMAC-SHA256 Credential=" + accessKey + "/20250101/" + region + "/" + service +
		"/aws4_request, SignedHeaders=host, Signature=0"
}

// lister asks moto without being recorded and without rights.
func (c *Core) lister(accessKey, region string) *Lister {
	return &Lister{url: c.backend, key: accessKey, trip: c.roundTrip, catalog: c.catalog, region: region}
}

// Names lists the existing resources of a kind of an inventory, in the account and region of a request.
func (c *Core) Names(ctx context.Context, x *Exchange, kind string) ([]string, error) {
	service, _, _ := strings.Cut(kind, "/")
	for _, k := range c.catalog.of(service).Inventory {
		if k.Name == kind {
			return k.List(ctx, c.lister(x.AccessKey, x.Region))
		}
	}
	return nil, nil
}

// ProxyError is the answer to a request that failed inside the proxy.
func ProxyError(x *Exchange, err error) *Answer {
	return x.Refuse(http.StatusInternalServerError, "ProxyError", err.Error())
}

// JSONAnswer is an answer without an error of a service that speaks JSON.
func JSONAnswer(body map[string]any) *Answer {
	return (&Answer{http.StatusOK, http.Header{"Content-Type": {"application/json"}}, nil}).WithJSON(body)
}
