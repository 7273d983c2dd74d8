// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	document "github.com/nexus-operator/nexus-operator/internal/kind/documents"
)

// ignoredIn returns the differences of AWS in members that the documents of a state leave alone.
func ignoredIn(want, have any, written map[string]string) kind.Diff {
	c := comparer{written: written}
	shown := documentsOf(have)
	for _, field := range sortedKeys(documentsOf(want)) {
		c.document(field, modes{}, documentsOf(want)[field], shown[field])
	}
	return c.ignored
}

// keepIgnored returns the versions of write-only values. Values that are left alone keep their earlier versions, so that they are written
// once they are managed again.
func (w Written) keepIgnored(versions map[string]string, ignored kind.Diff) map[string]string {
	for _, c := range ignored {
		if _, hidden := versions[c.Path]; !hidden {
			continue
		}
		if before, written := w.Versions[c.Path]; written {
			versions[c.Path] = before
		} else {
			delete(versions, c.Path)
		}
	}
	return versions
}

// leaveAlone returns the setting of the spec that leaves the member of a difference alone; empty if none can.
func (p Plan) leaveAlone(c kind.Change) string {
	field, _, _ := strings.Cut(strings.ReplaceAll(c.Path, "[", "."), ".")
	at := document.Members(field, c.Path)
	if p.ignores == "" || len(at) == 0 || !slices.Contains(p.documents, field) {
		return ""
	}
	return p.ignores + ": [" + pointerTo(at) + "]"
}
