package awsproxy

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Match says which requests a rule is about. Empty fields match everything; the
// texts may contain * and ?.
type Match struct {
	Service, Op, Resource string
	Endpoint              string // name given to Listen
	WritesOnly            bool
	Nth                   int // only the nth matching request since the rule was set; 0: every one
	Times                 int // at most so often; 0: without limit
	Percent               int // of the matching requests, evenly spread; 0: all
}

var addressPattern = regexp.MustCompile(`^([^.]*)\.([^(]*)\((.*)\)(?:#(\d+))?$`)

// At reads an address such as `dynamodb.CreateTable(orders)#2`: the second
// matching request after the rule was set. Without #n it means every one.
func At(address string) Match {
	m := addressPattern.FindStringSubmatch(address)
	if m == nil {
		panic(fmt.Sprintf("awsproxy: %q is not of the form service.Op(resource)#n", address))
	}
	nth, _ := strconv.Atoi(m[4])
	return Match{Service: m[1], Op: m[2], Resource: m[3], Nth: nth}
}

// Action is what a rule does to a request.
type Action struct {
	name  string
	apply func(*Proxy, *Rule, *transaction)
}

// transaction is one request with the connection to its client.
type transaction struct {
	w http.ResponseWriter
	r *http.Request
	x *exchange
}

// DropBefore resets the connection; the request has no effect.
func DropBefore() Action {
	return Action{"dropped before", func(p *Proxy, _ *Rule, t *transaction) { p.reply(t.w, t.x, nil) }}
}

// LoseAnswer lets the request have its effect, then resets the connection.
func LoseAnswer() Action { return ForwardThen(nil) }

// ForwardThen lets the request have its effect, calls hook (which may kill the
// client and close its endpoint), then resets the connection.
func ForwardThen(hook func()) Action {
	return Action{"answer lost", func(p *Proxy, _ *Rule, t *transaction) {
		p.ledger.end(t.x.call, p.forward(t.r.Context(), t.x))
		if hook != nil {
			hook()
		}
		reset(t.w)
	}}
}

// BeforeThen calls hook and resets the connection; the request has no effect.
func BeforeThen(hook func()) Action {
	return Action{"dropped before", func(p *Proxy, _ *Rule, t *transaction) {
		hook()
		p.reply(t.w, t.x, nil)
	}}
}

// Observe calls hook after the request has had its effect and before it is
// answered; the answer is given as it is.
func Observe(hook func()) Action {
	return Action{"", func(p *Proxy, _ *Rule, t *transaction) {
		a := p.forward(t.r.Context(), t.x)
		hook()
		p.reply(t.w, t.x, a)
	}}
}

// Delay passes the request on after a while.
func Delay(d time.Duration) Action {
	return Action{"delayed", func(p *Proxy, _ *Rule, t *transaction) {
		select {
		case <-time.After(d):
		case <-t.x.endpoint.closing.Done():
		}
		p.reply(t.w, t.x, p.forward(t.r.Context(), t.x))
	}}
}

// Hang holds the request back until the rule is released or removed, then
// passes it on.
func Hang() Action {
	return Action{"held", func(p *Proxy, rule *Rule, t *transaction) {
		select {
		case <-rule.released:
		case <-t.x.endpoint.closing.Done():
		}
		p.reply(t.w, t.x, p.forward(t.r.Context(), t.x))
	}}
}

// Fail answers with an error in the service's own protocol; the request has no
// effect.
func Fail(status int, code, message string) Action {
	return Action{"failed with " + code, func(p *Proxy, _ *Rule, t *transaction) {
		p.reply(t.w, t.x, errorAnswer(t.x.request, awsError{status, code, message}))
	}}
}

// Throttle answers as a service does that has had too many requests.
func Throttle() Action {
	return Action{"throttled", func(p *Proxy, _ *Rule, t *transaction) {
		p.reply(t.w, t.x, errorAnswer(t.x.request, throttling(t.x.request)))
	}}
}

// Truncate lets the request have its effect and ends the connection in the
// middle of the answer's body.
func Truncate() Action {
	return Action{"answer truncated", func(p *Proxy, _ *Rule, t *transaction) {
		a := p.forward(t.r.Context(), t.x)
		p.ledger.end(t.x.call, a)
		if a == nil || len(a.body) < 2 {
			reset(t.w)
			return
		}
		for name, values := range a.header {
			t.w.Header()[name] = values
		}
		t.w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		t.w.WriteHeader(a.status)
		_, _ = t.w.Write(a.body[:len(a.body)/2])
		_ = http.NewResponseController(t.w).Flush()
		reset(t.w)
	}}
}

// Rule is an action on certain requests, in force until removed.
type Rule struct {
	match    Match
	action   Action
	owner    *rules
	released chan struct{}
	release  sync.Once

	seen, hits int // guarded by owner.mu
}

// Hits returns how many requests the rule has acted upon.
func (r *Rule) Hits() int {
	r.owner.mu.Lock()
	defer r.owner.mu.Unlock()
	return r.hits
}

// Release lets go the requests that a Hang rule holds, now and later.
func (r *Rule) Release() { r.release.Do(func() { close(r.released) }) }

// Remove ends the rule and releases what it holds.
func (r *Rule) Remove() { r.owner.remove(r) }

// rules are tried in the order in which they were added; the first that wants a
// request gets it.
type rules struct {
	mu   sync.Mutex
	list []*Rule
}

// Fault adds a rule.
func (p *Proxy) Fault(m Match, a Action) *Rule {
	r := &Rule{match: m, action: a, owner: &p.rules, released: make(chan struct{})}
	p.rules.mu.Lock()
	defer p.rules.mu.Unlock()
	p.rules.list = append(p.rules.list, r)
	return r
}

// ClearFaults removes every rule.
func (p *Proxy) ClearFaults() { p.rules.clear() }

func (rs *rules) clear() {
	rs.mu.Lock()
	list := rs.list
	rs.list = nil
	rs.mu.Unlock()
	for _, r := range list {
		r.Release()
	}
}

func (rs *rules) remove(r *Rule) {
	rs.mu.Lock()
	for i, other := range rs.list {
		if other == r {
			rs.list = append(rs.list[:i:i], rs.list[i+1:]...)
			break
		}
	}
	rs.mu.Unlock()
	r.Release()
}

func (rs *rules) match(c *Call) *Rule {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.list {
		if r.wants(c) {
			return r
		}
	}
	return nil
}

func (r *Rule) wants(c *Call) bool {
	m := r.match
	if !glob(m.Service, c.Service) || !glob(m.Op, c.Op) || !glob(m.Resource, c.Resource) || !glob(m.Endpoint, c.Endpoint) {
		return false
	}
	if m.WritesOnly && !c.Write {
		return false
	}
	r.seen++
	if m.Nth != 0 && r.seen != m.Nth || m.Times != 0 && r.hits >= m.Times {
		return false
	}
	if m.Percent != 0 && r.seen*m.Percent/100 == (r.seen-1)*m.Percent/100 {
		return false
	}
	r.hits++
	return true
}
