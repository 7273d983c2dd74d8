// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"context"
	"net/http"
)

// Divert answers the requests of one service, named by its IAM prefix, with a handler instead of the emulator, until
// Reset. The ledger and the faults work as before. Corrections of that service are left out: the handler has to answer
// as AWS does. Inventory still asks the emulator.
func (c *Core) Divert(service string, h http.Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.diverted[service] = h
}

func (c *Core) divertedTo(service string) http.Handler {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.diverted[service]
}

// recorder keeps an answer in memory.
type recorder struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// AskHandler gives a request to a handler and returns its answer.
func AskHandler(ctx context.Context, h http.Handler, x *Exchange) (*Answer, error) {
	r, err := http.NewRequestWithContext(ctx, x.HTTP.Method, x.HTTP.URL.String(), bytes.NewReader(x.Body))
	if err != nil {
		return nil, err
	}
	r.Header, r.Host = x.HTTP.Header.Clone(), x.HTTP.Host
	out := &recorder{status: http.StatusOK, header: http.Header{}}
	h.ServeHTTP(out, r)
	return &Answer{out.status, out.header, out.body.Bytes()}, nil
}
