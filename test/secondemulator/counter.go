// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

// counter is a reverse proxy that changes nothing and notes each request.
type counter struct {
	proxy *httputil.ReverseProxy
	log   io.Writer

	mu     sync.Mutex
	writes []string // operations that have changed something, in order
}

func newCounter(target string, log io.Writer) (*counter, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	c := &counter{log: log}
	c.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // a part of the signature
		},
		ModifyResponse: c.note,
	}
	return c, nil
}

// ServeHTTP implements http.Handler.
func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Del(headerWrite)
	operation, write := awsproxy.Operation(r, body)
	r.Header.Set(headerOperation, operation)
	if write {
		r.Header.Set(headerWrite, "true")
	}
	c.proxy.ServeHTTP(w, r)
}

// These carry the name of the operation, and whether it changes something, to the answer.
const (
	headerOperation = "X-Counted-Operation"
	headerWrite     = "X-Counted-Write"
)

// note writes a line about an answer, with the words of one that refuses, and counts a write that was accepted.
func (c *counter) note(answer *http.Response) error {
	words, operation := "", answer.Request.Header.Get(headerOperation)
	if answer.StatusCode >= http.StatusBadRequest {
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		answer.Body = io.NopCloser(bytes.NewReader(body))
		words = strings.Join(strings.Fields(string(body)), " ")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer.StatusCode < http.StatusBadRequest && answer.Request.Header.Get(headerWrite) != "" {
		c.writes = append(c.writes, operation)
	}
	_, err := fmt.Fprintf(c.log, "%d %s %.600s\n", answer.StatusCode, operation, words)
	return err
}

// mark returns a place in the list of writes.
func (c *counter) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.writes)
}

// since returns the writes after a mark, each once.
func (c *counter) since(mark int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(c.writes[mark:])))
}
