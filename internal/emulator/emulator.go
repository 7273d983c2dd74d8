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

// Proxy is the emulated AWS in front of one moto, with the services and their settings.
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

type (
	// Action decides the fate of a request.
	Action = proxy.Action
	// Call is one request in the ledger.
	Call = proxy.Call
	// Calls is a part of the ledger.
	Calls = proxy.Calls
	// Endpoint is one listener.
	Endpoint = proxy.Endpoint
	// Limited holds the rights of an access key.
	Limited = proxy.Limited
	// Mark is a point in the ledger.
	Mark = proxy.Mark
	// Match selects requests.
	Match = proxy.Match
	// Rewrite is a field that AWS shows in another form than it was sent.
	Rewrite = proxy.Rewrite
	// Rule is an action on certain requests, in force until removed.
	Rule = proxy.Rule

	// Lag describes how reads lag behind writes.
	Lag = lag.Lag
	// NotFoundLag lets reads miss existing resources.
	NotFoundLag = lag.NotFoundLag
	// TagLag lets reads of tags lag.
	TagLag = lag.TagLag
	// Window is the time of the lag of reads after a write.
	Window = lag.Window
)

// DefaultRegion is the region of an inventory when no request has named another.
const DefaultRegion = proxy.DefaultRegion
