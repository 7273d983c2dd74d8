// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/lag"
)

// SetLag lets reads lag behind the writes made from now on. The zero value ends
// all lag. Reset does too.
func (p *Proxy) SetLag(l lag.Lag) {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	p.memory.setLag(l)
}

// SetEventualConsistency sets only NotFound.AfterCreate of one service, by IAM
// prefix, and leaves its other lag as it is. Zero ends it.
func (p *Proxy) SetEventualConsistency(service string, d time.Duration) {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	l := p.memory.writes.Lag()
	one := l.Of(service)
	one.NotFound = lag.NotFoundLag{AfterCreate: lag.ForTime(d)}
	services := map[string]lag.Lag{service: one}
	for name, other := range l.Services {
		if name != service {
			services[name] = other
		}
	}
	l.Services = services
	p.memory.setLag(l)
}

// lagPrefix begins Call.Fault of answers that lag.
const lagPrefix = "lag: "

// lagBehindWrites replaces the true answer to a read by an earlier one, by one
// with other tags, or by "not found", while the lag after a write lasts.
func (p *Proxy) lagBehindWrites(x *Exchange, a *Answer) *Answer {
	if x.IsWrite() || isData(x) {
		return a
	}
	late, what := p.memory.lateAnswer(x, a)
	if what != "" {
		p.ledger.Update(func() {
			if x.call.Fault == "" {
				x.call.Fault = lagPrefix + what
			}
		})
	}
	return late
}
