// SPDX-License-Identifier: Apache-2.0

package golden_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// listener records the failures that a check reports, and fails no test.
type listener struct {
	testing.TB
	said []string
}

func (l *listener) Errorf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}

func TestADifferenceIsSaidAsAPatch(t *testing.T) {
	l := &listener{TB: t}
	golden.Check(l, "letters.txt", "a\nb\n")
	if len(l.said) > 0 {
		t.Errorf("the same is said to differ: %q", l.said)
	}
	golden.Check(l, "letters.txt", "a\nc\n")
	if len(l.said) != 1 || !strings.Contains(l.said[0], "-b\n+c\n") || !strings.Contains(l.said[0], "b/testdata/letters.txt") {
		t.Errorf("said %q", l.said)
	}
	golden.Check(l, "absent.txt", "new\n")
	if len(l.said) != 2 || !strings.Contains(l.said[1], "+new\n") {
		t.Errorf("said %q", l.said)
	}
}

func TestManifestsAreDocuments(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "A"}}
	if got := golden.Manifests(t, []*unstructured.Unstructured{o, o}); got != "---\nkind: A\n---\nkind: A\n" {
		t.Errorf("%q", got)
	}
}
