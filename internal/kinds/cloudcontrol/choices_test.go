// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

const webACL = `{"Name":"shop","Scope":"REGIONAL","DefaultAction":{"Allow":{}},"VisibilityConfig":{"SampledRequestsEnabled":true,"CloudWatchMetricsEnabled":true,"MetricName":"shop"}}`

// The name of the empty object is the choice. The other choice is written, and a change by others is drift.
func TestWebACL_IsChangedByAnEmptyObject(t *testing.T) {
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	const typeName = "AWS::WAFv2::WebACL"
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(typeName, webACL)), types)
	kindtest.Settled(t, b.Subject)
	action := func() any { return b.double.Properties(typeName, b.resource().Status.ID)["DefaultAction"] }
	b.edit(strings.ReplaceAll(webACL, "Allow", "Block"))
	kindtest.Settled(t, b.Subject)
	if !sameJSON(action(), map[string]any{"Block": map[string]any{}}) {
		t.Fatalf("the web ACL has %v", action())
	}
	kindtest.Must(t, b.double.Set(typeName, b.resource().Status.ID, "DefaultAction", map[string]any{"Allow": map[string]any{}}))
	plan, err := b.Decide(t.Context())
	if err != nil || plan.Cause != engine.Drifted {
		t.Fatalf("%v %+v", err, plan)
	}
}

// Where the handlers of a type do not show an object of empty objects, it is written once. A property that cannot be changed does not
// differ after its creation.
func TestChoices_AreWrittenOnceWhereAWSDoesNotShowThem(t *testing.T) {
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry,
		resourceOf("AWS::WAFv2::WebACL", strings.ReplaceAll(webACL, `"DefaultAction"`, `"CaptchaConfig":{},"DefaultAction"`))), types)
	b.double.SetHabit(cloudcontrol.OmitsEmpty)
	kindtest.Settled(t, b.Subject)
	mark := b.Rig.AWS.Mark()
	b.Forget()
	kindtest.Settled(t, b.Subject)
	b.edit(strings.ReplaceAll(webACL, "Allow", "Block"))
	kindtest.Settled(t, b.Subject)
	b.Forget()
	kindtest.Settled(t, b.Subject)
	if writes := b.Rig.AWS.Since(mark).Writes(); writes.Count() != 1 {
		t.Errorf("an edit takes one write:\n%s", writes)
	}
	if recorded := b.resource().Status.WrittenVersions; len(recorded) != 1 {
		t.Errorf("the status records %v", recorded)
	}
}
