// SPDX-License-Identifier: Apache-2.0

package kubeproxy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// maxRecordedBody bounds how much of a request's body the ledger keeps.
const maxRecordedBody = 16 << 10

// Call is one request in the ledger.
type Call struct {
	Seq         int    // position in the ledger, from 1
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection; otherwise the method
	Group       string
	Resource    string // plural; empty for requests that are not about a resource
	Subresource string
	Namespace   string
	Name        string // of a create from its body, `prefix*` for a generated one
	N           int    // which occurrence of this label it is, from 1
	Endpoint    string // the listener that received it
	UserAgent   string
	Path        string
	DryRun      bool
	Apply       bool // a server-side apply
	Status      int  // HTTP status of the answer; 0: none was given
	Fault       string
	Start       time.Time
	Duration    time.Duration // until the answer had arrived (of a watch: begun); 0 while under way
	Body        string        // the first 16 KiB
}

// Write reports whether the request could have changed anything.
func (c Call) Write() bool {
	return !c.DryRun && slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, c.Verb)
}

// What gives the resource with its subresource, as `widgets/status`.
func (c Call) What() string {
	if c.Subresource != "" {
		return c.Resource + "/" + c.Subresource
	}
	return c.Resource
}

// Key gives the object as ns/name.
func (c Call) Key() string {
	if c.Namespace != "" {
		return c.Namespace + "/" + c.Name
	}
	return c.Name
}

// Label gives the call as `update widgets/status ns/name`.
func (c Call) Label() string {
	if c.Resource == "" {
		return c.Verb + " " + c.Path
	}
	return strings.TrimSpace(c.Verb + " " + c.What() + " " + c.Key())
}

// Address gives the call as `update widgets/status ns/name#1`.
func (c Call) Address() string { return fmt.Sprintf("%s#%d", c.Label(), c.N) }

// String gives one line of the ledger's table.
func (c Call) String() string {
	return strings.TrimRight(fmt.Sprintf("%4d %3d %5dms %-70s %s", c.Seq, c.Status, c.Duration.Milliseconds(), c.Address(), c.Fault), " ")
}

// Calls is a part of the ledger, in order of arrival.
type Calls []Call

// Filter returns the calls that keep accepts.
func (cs Calls) Filter(keep func(Call) bool) Calls { return wire.Filter(cs, keep) }

// Writes returns the calls that can have changed something.
func (cs Calls) Writes() Calls { return cs.Filter(Call.Write) }

// Match returns the calls that a match without counts would select.
func (cs Calls) Match(m Match) Calls { return cs.Filter(func(c Call) bool { return m.matches(&c) }) }

// By returns the calls with the text in their user agent.
func (cs Calls) By(userAgent string) Calls {
	return cs.Filter(func(c Call) bool { return strings.Contains(c.UserAgent, userAgent) })
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
func (p *Proxy) record(c Call, endpoint string) *Call {
	c.Endpoint, c.Start = endpoint, time.Now()
	p.ledger.Add(&c, c.Label(), func(seq, n int) { c.Seq, c.N = seq, n })
	return &c
}

// answered records how a request was answered, 0 for not at all.
func (p *Proxy) answered(c *Call, status int) {
	p.ledger.Update(func() { c.Duration, c.Status = time.Since(c.Start), status })
}

// Calls returns the whole ledger.
func (p *Proxy) Calls() Calls { return p.Since(0) }

// Mark returns the present end of the ledger.
func (p *Proxy) Mark() Mark { return Mark(p.ledger.Len()) }

// Since returns the calls after a mark.
func (p *Proxy) Since(mark Mark) Calls { return p.ledger.Since(int(mark)) }

// Match says which requests a rule is about. Empty fields match everything; the
// texts may contain * and ?.
type Match struct {
	Verb, Group, Resource string // Resource: `widgets`, `widgets/status` or `widgets*` for both
	Namespace, Name       string
	Endpoint, UserAgent   string
	Path                  string // of the URL, for requests that are about no resource: `/.well-known/*`
	WritesOnly            bool
	Nth                   int // only the nth matching request since the rule was set; 0: every one
	Times                 int // at most so often; 0: without limit
	Percent               int // of the matching requests, evenly spread; 0: all
}

func (m Match) matches(c *Call) bool {
	return wire.Glob(m.Verb, c.Verb) && wire.Glob(m.Group, c.Group) && wire.Glob(m.Resource, c.What()) &&
		wire.Glob(m.Namespace, c.Namespace) && wire.Glob(m.Name, c.Name) &&
		wire.Glob(m.Endpoint, c.Endpoint) && wire.Glob(m.UserAgent, c.UserAgent) && wire.Glob(m.Path, c.Path) && (!m.WritesOnly || c.Write())
}

// At reads an address such as `update widgets/status ns/name#2`: the second
// matching request after the rule was set. Without #n it means every one.
func At(address string) Match {
	var m Match
	label, nth, _ := strings.Cut(address, "#")
	if nth != "" {
		if _, err := fmt.Sscan(nth, &m.Nth); err != nil {
			panic(fmt.Sprintf("kubeproxy: %q is not of the form verb resource ns/name#n", address))
		}
	}
	parts := append(strings.Fields(label), "", "", "")
	m.Verb, m.Resource = parts[0], parts[1]
	var named bool
	if m.Namespace, m.Name, named = strings.Cut(parts[2], "/"); !named {
		m.Namespace, m.Name = "", parts[2]
	}
	return m
}
