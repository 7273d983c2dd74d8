// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"io"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

func TestList_TextHasOneRowForEachObject(t *testing.T) {
	found := &inspect.ObjectList{Objects: []inspect.ListedItem{
		{Kind: "NexusAICapability", Namespace: "team-a", Name: "shop", Phase: "Failed", Reason: "Conflict", Message: "the bucket exists"},
		{Kind: "ClusterSecurityIntentBinding", Name: "all", Ready: true},
	}}
	for _, tc := range []struct {
		namespaces, wide bool
		want             string
	}{
		{false, false, "NAME                               READY   PHASE    REASON\n" +
			"nexusaicapability/shop             false   Failed   Conflict\n" +
			"clustersecurityintentbinding/all   true    -        -\n"},
		{true, true, "NAMESPACE   NAME                               READY   PHASE    REASON     MESSAGE\n" +
			"team-a      nexusaicapability/shop             false   Failed   Conflict   the bucket exists\n" +
			"-           clustersecurityintentbinding/all   true    -        -          -\n"},
	} {
		if got := textOfList(found, tc.namespaces, tc.wide); got != tc.want {
			t.Errorf("%+v:\n%s", tc, got)
		}
	}
	if got := textOfList(&inspect.ObjectList{}, true, true); got != "" {
		t.Errorf("a list of nothing: %q", got)
	}
}

func TestList_SaysWhatItLeavesOut(t *testing.T) {
	var said bytes.Buffer
	s := newConnection(Program{IOStreams: genericiooptions.IOStreams{Out: io.Discard, ErrOut: &said}})
	(&listVerb{Connection: s}).sayWhatIsNotListed(&inspect.ObjectList{Objects: make([]inspect.ListedItem, 1), Total: 3,
		Unlisted: []string{"VPC", "Subnet"}}, "namespace a")
	(&listVerb{Connection: s}).sayWhatIsNotListed(&inspect.ObjectList{}, "namespace a")
	want := "2 objects are left out by --limit.\n" +
		"These kinds cannot be listed, because you lack the right or the cluster lacks the kind: VPC, Subnet.\n" +
		"No such objects were found in namespace a.\n"
	if said.String() != want {
		t.Errorf("%s", &said)
	}
}

func TestList_MistakesNameTheFlag(t *testing.T) {
	s := newConnection(Program{})
	for want, f := range map[string]listFlags{
		`--ready: "maybe" is neither true nor false`: {ready: "maybe"},
		"--limit: -1 is negative; 0 lists all":       {limit: -1},
	} {
		if _, err := (&listVerb{Connection: s}).listQuery(&f, nil); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
