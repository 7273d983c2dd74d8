// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// maxRecordedBody bounds how much of a request's body the ledger keeps.
const maxRecordedBody = 16 << 10

// Call is one request in the ledger.
type Call struct {
	Seq       int           `json:"seq"`      // position in the ledger, from 1
	Service   string        `json:"service"`  // IAM prefix: s3, dynamodb, cognito-idp …
	Op        string        `json:"op"`       // CreateTable; of unknown REST services the method
	Resource  string        `json:"resource"` // the main name in the request
	N         int           `json:"n"`        // which occurrence of this label it is, from 1
	Endpoint  string        `json:"endpoint"` // the listener that received it
	Region    string        `json:"region"`
	AccessKey string        `json:"accessKey"`
	UserAgent string        `json:"userAgent"`
	Write     bool          `json:"write"`           // can change something, by the operation's name
	Status    int           `json:"status"`          // HTTP status of the answer; 0: none was given
	Error     string        `json:"error,omitempty"` // AWS error code of the answer
	Fault     string        `json:"fault,omitempty"` // the fault that was injected
	Start     time.Time     `json:"start"`
	Duration  time.Duration `json:"duration"` // until the answer was ready; 0 while under way
	Body      string        `json:"body"`     // the first 16 KiB

	action string // of IAM
}

// Label gives the call as `dynamodb.CreateTable(orders)`.
func (c Call) Label() string { return c.Service + "." + c.Op + "(" + c.Resource + ")" }

// Action is the IAM action that the call needs, such as s3:PutEncryptionConfiguration.
func (c Call) Action() string {
	return cmp.Or(c.action, c.Service+":"+c.Op)
}

// Address gives the call as `dynamodb.CreateTable(orders)#1`: the same in every
// run of the same scenario, whatever runs concurrently.
func (c Call) Address() string { return fmt.Sprintf("%s#%d", c.Label(), c.N) }

// String gives one line of the ledger's table.
func (c Call) String() string {
	kind, result := "r", fmt.Sprint(c.Status)
	if c.Write {
		kind = "W"
	}
	if c.Status == 0 {
		result = "-"
	}
	return strings.TrimRight(fmt.Sprintf("%4d %s %-3s %5dms %-60s %s", c.Seq, kind, result, c.Duration.Milliseconds(), c.Address(),
		strings.TrimSpace(c.Error+" "+c.Fault)), " ")
}

// Calls is a part of the ledger, in order of arrival.
type Calls []Call

// Filter returns the calls that keep accepts.
func (cs Calls) Filter(keep func(Call) bool) Calls { return wire.Filter(cs, keep) }

// Writes returns the calls that can have changed something.
func (cs Calls) Writes() Calls { return cs.Filter(func(c Call) bool { return c.Write }) }

// Reads returns the calls that cannot have changed anything.
func (cs Calls) Reads() Calls { return cs.Filter(func(c Call) bool { return !c.Write }) }

// Failed returns the calls that were answered with an error.
func (cs Calls) Failed() Calls { return cs.Filter(func(c Call) bool { return c.Status >= 400 }) }

// Match returns the calls with matching labels. An empty pattern matches every label, and `*` and `?` stand for any characters.
func (cs Calls) Match(service, op, resource string) Calls {
	return cs.Filter(func(c Call) bool {
		return wire.Glob(service, c.Service) && wire.Glob(op, c.Op) && wire.Glob(resource, c.Resource)
	})
}

// Lagging returns the reads that did not show the present state, because of SetLag.
func (cs Calls) Lagging() Calls {
	return cs.Filter(func(c Call) bool { return strings.HasPrefix(c.Fault, lagPrefix) })
}

// From returns the calls that came by the endpoint of that name.
func (cs Calls) From(endpoint string) Calls {
	return cs.Filter(func(c Call) bool { return c.Endpoint == endpoint })
}

// Count returns the number of calls.
func (cs Calls) Count() int { return len(cs) }

// Labels returns the labels in order.
func (cs Calls) Labels() []string { return wire.Each(cs, Call.Label) }

// String gives the calls as a table, one line each.
func (cs Calls) String() string { return wire.Table(cs, Call.String) }

// Mark is a point in the ledger.
type Mark int

// record puts a request into the ledger.
func (p *Proxy) record(x *Exchange) *Call {
	c := &Call{
		Service: x.Service, Op: x.Op, Resource: x.Resource, Endpoint: x.endpoint.Name(),
		Region: x.Region, AccessKey: x.AccessKey, UserAgent: x.HTTP.UserAgent(),
		action: p.catalog.action(x.Service, x.Op), Write: x.IsWrite(), Start: time.Now(), Body: string(x.Body[:min(len(x.Body),
			maxRecordedBody)]),
	}
	p.ledger.Add(c, c.Label(), func(seq, n int) { c.Seq, c.N = seq, n })
	return c
}

// answered records how a request was answered, nil for not at all.
func (p *Proxy) answered(c *Call, a *Answer) {
	p.ledger.Update(func() {
		c.Duration = time.Since(c.Start)
		if a != nil {
			c.Status, c.Error = a.Status, ErrorCode(a)
		}
	})
}

// Calls returns the whole ledger.
func (p *Proxy) Calls() Calls { return p.Since(0) }

// Mark returns the present end of the ledger.
func (p *Proxy) Mark() Mark { return Mark(p.ledger.Len()) }

// Since returns the calls after a mark.
func (p *Proxy) Since(mark Mark) Calls { return p.ledger.Since(int(mark)) }

// serveLedger answers GET /_ledger with the calls as JSON, without bodies,
// which may hold secrets.
func (p *Proxy) serveLedger(w http.ResponseWriter) {
	calls := p.Calls()
	for i := range calls {
		calls[i].Body = ""
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(calls)
}
