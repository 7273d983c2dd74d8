// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// storeFields are the fields of an access that name the stores of a kind.
var storeFields = map[string]string{kindTable: ofTables, kindBucket: ofBuckets, kindSecret: ofSecrets, kindQueue: ofQueues, kindTopic: ofTopics, kindRole: ofRoles}

// MayUse reports whether pods with a ServiceAccount of a capability may use what an object of a kind declares: always where their
// components have no access, else where the access names it.
func MayUse(c *nexusv1.NexusAICapability, serviceAccount, kind, name string) bool {
	sets := accessSets(&c.Spec)
	i := slices.IndexFunc(sets, func(a accessSet) bool { return a.serviceAccount(NamesOf(c)) == serviceAccount })
	if i < 0 {
		return false
	}
	a := sets[i]
	if kind == kindGlueDatabase {
		return a.some(ofGlue)
	}
	parts := partsByName(c)
	return !a.limited || slices.ContainsFunc(a.list, func(entry string) bool {
		field, part, _ := strings.Cut(entry, "/")
		return field == storeFields[kind] && slices.Contains(parts[part], kind+"/"+name)
	})
}
