// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"slices"
	"sync"
)

// inTurn lists, by service, the operations that are answered one after the other: some of them are done in several steps (a
// resource is read, deleted and created again), and a change between the steps would be lost, which does not happen in AWS.
var inTurn = map[string][]string{
	"glue": {"UpdateCrawler", "DeleteCrawler", "GetCrawler", "TagResource", "UntagResource", "GetTags"},
	"iam": {"AddClientIDToOpenIDConnectProvider", "RemoveClientIDFromOpenIDConnectProvider", "DeleteOpenIDConnectProvider",
		"GetOpenIDConnectProvider", "TagOpenIDConnectProvider", "UntagOpenIDConnectProvider", "UpdateOpenIDConnectProviderThumbprint"},
	"s3": {"TagResource", "UntagResource", "PutBucketTagging", "DeleteBucketTagging"},
}

// turns has a lock for each service of inTurn.
type turns struct{ glue, iam, s3 sync.Mutex }

// take waits until it is the turn of an exchange, and returns what ends the turn.
func (t *turns) take(x *exchange) (end func()) {
	lock, ok := map[string]*sync.Mutex{"glue": &t.glue, "iam": &t.iam, "s3": &t.s3}[x.service]
	if !ok || !slices.Contains(inTurn[x.service], x.op) {
		return func() {}
	}
	lock.Lock()
	return lock.Unlock
}
