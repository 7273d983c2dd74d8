// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"net/http"
)

// Divert answers the requests of one service, named by its IAM prefix, with a handler instead of the emulator, until
// Reset. The ledger and the faults work as before. Corrections of that service are left out: the handler has to answer
// as AWS does. Inventory still asks the emulator.
func (c *core) Divert(service string, h http.Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.diverted[service] = h
}

func (c *core) divertedTo(service string) http.Handler {
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

// askHandler gives a request to a handler and returns its answer.
func askHandler(ctx context.Context, h http.Handler, x *exchange) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, x.http.Method, x.http.URL.String(), bytes.NewReader(x.body))
	if err != nil {
		return nil, err
	}
	r.Header, r.Host = x.http.Header.Clone(), x.http.Host
	out := &recorder{status: http.StatusOK, header: http.Header{}}
	h.ServeHTTP(out, r)
	return &answer{out.status, out.header, out.body.Bytes()}, nil
}
