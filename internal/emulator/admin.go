// SPDX-License-Identifier: Apache-2.0

package emulator

// defaultAccount is the account of every access key that moto does not know.
const defaultAccount = "123456789012"

// Account returns the account in which credentials act that no AssumeRole gave.
func (p *Proxy) Account() string { return defaultAccount }

// AccountOf returns the account in which an access key of the ledger acts.
func (p *Proxy) AccountOf(accessKey string) string { return p.accountOf(accessKey) }

// Reset empties the emulator, the ledger, the faults and everything else the
// proxy remembers, and ends the enforcement of IAM.
func (p *Proxy) Reset() error {
	p.rules.Clear()
	p.Trail("")
	if err := p.moto("reset", ""); err != nil {
		return err
	}
	p.core.clear()
	p.callers.clear()
	p.ledger.Clear()
	return nil
}
