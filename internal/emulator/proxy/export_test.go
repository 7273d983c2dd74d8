// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
)

// Reference and TypeOf are the rights that requests take, by the reference.
var (
	Reference = reference
	TypeOf    = typeOf
)

// Unnamed begins the resource of a demand when the request names no resource.
const Unnamed = unnamed

// FactsOf, AllFacts, NamingOf, NotNamed, Dependents and ActionOf show the catalog of the services.
func (p *Proxy) FactsOf(service string) *Facts { return p.catalog.of(service) }

func (p *Proxy) AllFacts() []*Facts { return p.catalog.all }

func (p *Proxy) NamingOf(kind string) (Naming, bool) { return p.catalog.namingOf(kind) }

func (p *Proxy) NotNamed(action, kind string) string { return p.catalog.notNamed(action, kind) }

func (p *Proxy) Dependents() []Dependent { return p.catalog.dependents() }

func (p *Proxy) ActionOf(service, op string) string { return p.catalog.action(service, op) }

// DemandsOf returns the rights that a request takes.
func (p *Proxy) DemandsOf(ctx context.Context, r *Request) []policy.Demand {
	r.catalog = p.catalog
	return p.callers.demandsOf(ctx, &Exchange{Request: r,
		call: &Call{Service: r.Service, Op: r.Op, action: p.catalog.action(r.Service, r.Op)}})
}
