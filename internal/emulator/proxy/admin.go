// SPDX-License-Identifier: Apache-2.0

package proxy

// DefaultAccount is the account of every access key that moto does not know.
const DefaultAccount = "123456789012"

// Account returns the account of all credentials but those that AssumeRole returned.
func (p *Proxy) Account() string { return DefaultAccount }

// Reset empties the emulator, the ledger, the faults and all other state of the proxy, and ends the enforcement of IAM.
func (p *Proxy) Reset() error {
	p.rules.Clear()
	p.Trail("")
	if err := p.moto("reset", ""); err != nil {
		return err
	}
	p.Core.clear()
	p.callers.clear()
	p.ledger.Clear()
	return nil
}
