// SPDX-License-Identifier: Apache-2.0

// Package emulator is an emulated AWS: moto, with a proxy in front of it that knows where moto differs from AWS. The proxy names
// every request (`dynamodb.CreateTable(orders)`), keeps a ledger of them, breaks those that a test chooses, lets reads lag behind
// writes, and decides by the policies of IAM. Each AWS service is a package of its own below services.
//
// Clients reach it by AWS_ENDPOINT_URL; nothing in the operator knows of it.
package emulator

import (
	"github.com/nexus-operator/nexus-operator/internal/emulator/lag"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Proxy is the emulated AWS in front of one moto, with what can be set at its services.
type Proxy struct {
	*proxy.Proxy
	*Services
}

// Start returns an emulated AWS in front of the moto at that base URL, listening on a
// free loopback port.
func Start(backend string) (*Proxy, error) {
	s := newServices()
	p, err := proxy.Start(backend, s.list)
	return &Proxy{Proxy: p, Services: s}, err
}

// The types of the proxy that tests and programs name.
type (
	Action      = proxy.Action
	Call        = proxy.Call
	Calls       = proxy.Calls
	Endpoint    = proxy.Endpoint
	Limited     = proxy.Limited
	Mark        = proxy.Mark
	Match       = proxy.Match
	Rewrite     = proxy.Rewrite
	Rule        = proxy.Rule
	Lag         = lag.Lag
	NotFoundLag = lag.NotFoundLag
	TagLag      = lag.TagLag
	Window      = lag.Window
)

// DefaultRegion is the region in which an inventory looks when no request has
// named another.
const DefaultRegion = proxy.DefaultRegion
