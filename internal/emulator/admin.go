// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"fmt"
	"net/http"
	"strings"
)

// defaultAccount is the account of every access key that moto does not know.
const defaultAccount = "123456789012"

// Account returns the account in which credentials act that no AssumeRole gave.
func (p *Proxy) Account() string { return defaultAccount }

// AccountOf returns the account in which an access key of the ledger acts.
func (p *Proxy) AccountOf(accessKey string) string {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	return p.state.accountOf(accessKey)
}

// Reset empties the emulator, the ledger, the faults and everything else the
// proxy remembers, and ends the enforcement of IAM.
func (p *Proxy) Reset() error {
	p.rules.Clear()
	p.Trail("")
	if err := p.moto("reset", ""); err != nil {
		return err
	}
	p.state.clear()
	p.callers.clear()
	p.ledger.Clear()
	return nil
}

func (p *Proxy) moto(what, body string) error {
	r, err := http.NewRequest(http.MethodPost, p.backend+"/moto-api/"+what, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain")
	a, err := p.roundTrip(r)
	if err != nil {
		return fmt.Errorf("moto %s: %w", what, err)
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("moto %s: status %d: %s", what, a.status, a.body)
	}
	return nil
}
