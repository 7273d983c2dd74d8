// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
)

// Reference and the others are the rights that requests take, by the reference and by the services.
var (
	Reference  = reference
	TypeOf     = typeOf
	NamingOf   = namingOf
	NotNamed   = notNamed
	FactsOf    = factsOf
	AllFacts   = allFacts
	Dependents = dependents
)

// Unnamed begins the resource of a demand for which a request names none.
const Unnamed = unnamed

// NewProxy returns a proxy with all services and without a moto.
func NewProxy() *Proxy { return newProxy("", catalog.services()) }

// DemandsOf returns the rights that a request takes.
func (p *Proxy) DemandsOf(ctx context.Context, r *Request) []policy.Demand {
	return p.callers.demandsOf(ctx, &Exchange{Request: r, call: &Call{Service: r.Service, Op: r.Op}})
}
