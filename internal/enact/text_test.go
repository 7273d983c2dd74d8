// SPDX-License-Identifier: Apache-2.0

package enact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/install"
)

// An installation makes 70 objects of a dozen kinds: a person reads one entry for each kind.
func TestWriteChanges_JoinsObjectsOfOneKind(t *testing.T) {
	changes := []install.Change{{Object: "arn:aws:iam::1:role/a", Action: "create the role"},
		{Object: "arn:aws:iam::1:role/b", Action: "create the role"}}
	for i := range 40 {
		changes = append(changes, install.Change{Object: fmt.Sprintf("CustomResourceDefinition d%d", i), Action: "create"})
	}
	for _, object := range []string{"Role ns/a", "Role ns/b"} {
		changes = append(changes, install.Change{Object: object, Action: "create"})
	}
	changes = append(changes, install.Change{Object: "Role ns/c", Action: "update", Diff: "-1\n+2\n"},
		install.Change{Object: "NetworkPolicy ns/a", Action: "create"})
	var b strings.Builder
	Write(&b, changes, true)
	const want = `
arn:aws:iam::1:role/a
    would: create the role

arn:aws:iam::1:role/b
    would: create the role

40 CustomResourceDefinitions: d0, d1, d2, d3, d4, d5, and 34 more
    would: create

2 Roles: ns/a, ns/b
    would: create

Role ns/c
    would: update
    -1
    +2

NetworkPolicy ns/a
    would: create
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	var said []string
	done := &doneChanges{say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
	for _, c := range changes {
		done.add(c)
	}
	done.flush()
	if got := strings.Join(said, "\n"); len(said) != 6 ||
		!strings.Contains(got, "40 CustomResourceDefinitions: done: create\n2 Roles: done: create\nRole ns/c: done: update") {
		t.Errorf("said\n%s", got)
	}
}
