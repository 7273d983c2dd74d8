// SPDX-License-Identifier: Apache-2.0

// Package parts holds the list of the parts of a capability, and the functions that need the whole list. A part is the package of its
// folder.
package parts

import (
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/ai"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/bedrock"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/buckets"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/budget"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/existing"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/glue"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identifiers"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/key"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/messages"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/namespace"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/parameters"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/policies"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/provider"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/secrets"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/signin"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/tables"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
)

// All holds the parts of a capability in the order that they add their objects.
var All = part.Parts{
	identifiers.Part(), identifiers.Region(), provider.Part(), key.Part(), tables.Part(), buckets.Part(), glue.Part(), messages.Queues(),
	messages.Topics(),
	resources.Part(), ai.Part(), bedrock.Part(), signin.Part(), parameters.Part(), secrets.Part(), identity.Part(), namespace.Part(),
	policies.Part(), identity.Accounts(), workloads.Part(), traffic.Part(), budget.Part(), existing.Part(), identity.Rights(),
}
