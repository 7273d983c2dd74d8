// SPDX-License-Identifier: Apache-2.0

// Package apply is the only room that writes children to Kubernetes: server-side apply under one field
// owner, ownership, inventory and removal.
//
// A pass over a child is read → judge → compare → write. The first three are Plan, which writes
// nothing; Apply runs a Plan. An object that is already as desired is not written again, because a server-side
// apply without effect is still a write to the API server.
//
// A child is its owner's by a controller reference with the owner's UID or, where a reference cannot reach (another namespace, cluster
// scope), by a label with that UID. Any other object of that name is foreign: it is never written and never deleted.
package apply
