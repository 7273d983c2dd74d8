// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
)

// counter is a reverse proxy that notes each request. It answers one operation itself, which the emulator lacks, and changes nothing of
// the others.
type counter struct {
	proxy  *httputil.ReverseProxy
	log    io.Writer
	schema http.Handler // answers DescribeType

	mu    sync.Mutex
	calls []call // that were accepted, in order
}

// call is an operation of AWS.
type call struct {
	operation string
	// typeName is the resource type in a call of Cloud Control API.
	typeName string
	write    bool
}

func newCounter(target string, log io.Writer, schema http.Handler) (*counter, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	c := &counter{log: log, schema: schema}
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
	operation, write := emulator.Operation(r, body)
	if strings.HasPrefix(operation, "cloudformation.DescribeType(") {
		c.schema.ServeHTTP(w, r)
		return
	}
	r.Header.Set(headerOperation, operation)
	r.Header.Set(headerType, typeIn(body))
	if write {
		r.Header.Set(headerWrite, "true")
	}
	c.proxy.ServeHTTP(w, r)
}

// These carry the name of the operation, the resource type, and whether the operation changes something, to the answer.
const (
	headerOperation = "X-Counted-Operation"
	headerType      = "X-Counted-Type"
	headerWrite     = "X-Counted-Write"
)

// typeIn returns the resource type that a request names; empty for none.
func typeIn(body []byte) string {
	var named struct{ TypeName string }
	_ = json.Unmarshal(body, &named) // most requests are no JSON, or name no type
	return named.TypeName
}

// note writes a line about an answer, with the words of one that refuses, and counts one that was accepted.
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
	if answer.StatusCode < http.StatusBadRequest {
		c.calls = append(c.calls, call{operation, answer.Request.Header.Get(headerType), answer.Request.Header.Get(headerWrite) != ""})
	}
	_, err := fmt.Fprintf(c.log, "%d %s %.600s\n", answer.StatusCode, operation, words)
	return err
}

// mark returns a place in the list of calls.
func (c *counter) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// writesSince returns the writes after a mark, each once.
func (c *counter) writesSince(mark int) []string {
	return slices.Compact(slices.Sorted(slices.Values(c.since(mark, func(c call) bool { return c.write }))))
}

// ofTypeSince returns the calls of Cloud Control API for a resource type after a mark.
func (c *counter) ofTypeSince(mark int, typeName string) []string {
	return c.since(mark, func(c call) bool { return c.typeName == typeName })
}

func (c *counter) since(mark int, counts func(call) bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, made := range c.calls[mark:] {
		if counts(made) {
			out = append(out, made.operation)
		}
	}
	return out
}
