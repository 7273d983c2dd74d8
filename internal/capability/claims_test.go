// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestClaimsBefore_OrdersClaimsOnANameStably(t *testing.T) {
	type edit func(*nexusv1.NexusAICapability)
	at := func(sec int64, name string, edits ...edit) *nexusv1.NexusAICapability {
		c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Unix(sec, 0), Namespace: "ns", Name: name}}
		for _, e := range edits {
			e(c)
		}
		return c
	}
	ran := func(c *nexusv1.NexusAICapability) {
		c.Status.History = []nexusv1.PhaseChange{{Phase: nexusv1.PhaseRunning}, {Phase: nexusv1.PhaseFailed}}
	}
	created := func(c *nexusv1.NexusAICapability) {
		c.Status.Resources = []nexusv1.ResourceStatus{{Kind: "S3Bucket", ARN: "arn:aws:s3:::a"}}
	}
	stalled := func(reason string) edit {
		return func(c *nexusv1.NexusAICapability) {
			c.Status.Conditions = []metav1.Condition{{Type: status.Stall, Status: metav1.ConditionTrue, Reason: reason}}
		}
	}
	for name, tc := range map[string]struct{ first, second *nexusv1.NexusAICapability }{
		"the older":                             {at(1, "b"), at(2, "a")},
		"in one second, by name":                {at(1, "a"), at(1, "b")},
		"one that runs":                         {at(2, "b", ran), at(1, "a")},
		"one that runs, though stalled":         {at(2, "b", ran, stalled("AccessDenied")), at(1, "a")},
		"one that has created something":        {at(2, "b", created), at(1, "a")},
		"one that is not invalid":               {at(2, "b"), at(1, "a", stalled(status.ReasonInvalidSpec))},
		"one that is not suspended":             {at(2, "b"), at(1, "a", func(c *nexusv1.NexusAICapability) { c.Spec.Suspend = true })},
		"the older, though stalled by the name": {at(1, "b", stalled(status.ReasonNameConflict)), at(2, "a")},
	} {
		if !ClaimsBefore(tc.first, tc.second) || ClaimsBefore(tc.second, tc.first) {
			t.Errorf("%s does not precede, or both do", name)
		}
	}
}

func TestHolderOfNames_FindsTheStrongerClaimOnTheSameNames(t *testing.T) {
	named := func(namespace string, created int64, name, environment string) nexusv1.NexusAICapability {
		c := nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app", UID: types.UID(namespace), CreationTimestamp: metav1.Unix(created, 0)}}
		c.Spec.CapabilityName, c.Spec.Environment = name, environment
		return c
	}
	c := named("team", 5, "shop", "dev")
	for name, tc := range map[string]struct {
		others []nexusv1.NexusAICapability
		want   string
	}{
		"nobody":                  {nil, ""},
		"itself":                  {[]nexusv1.NexusAICapability{c}, ""},
		"an older one":            {[]nexusv1.NexusAICapability{named("other", 9, "shop", "dev"), named("first", 1, "shop", "dev")}, "first"},
		"a younger one":           {[]nexusv1.NexusAICapability{named("other", 9, "shop", "dev")}, ""},
		"of another environment":  {[]nexusv1.NexusAICapability{named("first", 1, "shop", "prod")}, ""},
		"of another name":         {[]nexusv1.NexusAICapability{named("first", 1, "shops", "dev")}, ""},
		"of the same joined name": {[]nexusv1.NexusAICapability{named("first", 1, "shop-dev", "")}, ""},
	} {
		got := ""
		if h := HolderOfNames(&c, tc.others); h != nil {
			got = h.Namespace
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestNameConflict_NamesNoCapabilityOfAnotherNamespace(t *testing.T) {
	c, near, far := &nexusv1.NexusAICapability{}, &nexusv1.NexusAICapability{}, &nexusv1.NexusAICapability{}
	c.Namespace, near.Namespace, far.Namespace = "team", "team", "secretive"
	near.Name, far.Name = "near", "far"
	for _, o := range []*nexusv1.NexusAICapability{near, far} {
		err := NameConflict(c, o)
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonNameConflict || s.Field != "spec.capabilityName" {
			t.Errorf("%v", err)
		}
		if strings.Contains(err.Error(), "far") || strings.Contains(err.Error(), "secretive") || o == near && !strings.Contains(err.Error(), "NexusAICapability near") {
			t.Errorf("%v", err)
		}
	}
}
