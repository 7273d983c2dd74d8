// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

// bundledBench is a bench for types that the excerpt does not have.
func bundledBench(t *testing.T, o *v1alpha1.AWSResource) *bench {
	t.Helper()
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	return placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, o), types)
}

// note returns the note about the declared properties.
func (b *bench) note() kind.Note {
	b.t.Helper()
	p, err := b.Decide(b.t.Context())
	kindtest.Must(b.t, err)
	if len(p.Notes) != 1 || p.Notes[0].Type != v1alpha1.ConditionPropertiesCurrent {
		b.t.Fatalf("%+v", p.Notes)
	}
	return p.Notes[0]
}

// A plan names deprecated properties before the resource exists and afterwards, until they are no longer declared.
func TestDeprecated_IsNotedWhileItIsDeclared(t *testing.T) {
	const tracker = "AWS::Location::Tracker"
	b := bundledBench(t, resourceOf(tracker, `{"TrackerName":"vans","Description":"of the shop","PricingPlanDataSource":"Esri"}`))
	want := "AWS deprecates spec.properties.PricingPlanDataSource: it may ignore"
	if n := b.note(); n.True || n.Reason != status.ReasonDeprecated || !strings.HasPrefix(n.Message, want) ||
		!strings.HasSuffix(n.Message, "the documentation of "+tracker+" names in its place") {
		t.Errorf("before the create: %+v", n)
	}
	kindtest.Settled(t, b.Subject)
	if n := b.note(); n.True || !strings.HasPrefix(n.Message, want) {
		t.Errorf("of the resource: %+v", n)
	}
	b.rests()
	b.edit(`{"TrackerName":"vans","Description":"of the shop"}`)
	if n := b.note(); !n.True {
		t.Errorf("after the edit: %+v", n)
	}
	b.settles()
	b.Deleting = true
	p, err := b.Decide(t.Context())
	kindtest.Must(t, err)
	if len(p.Notes) > 0 {
		t.Errorf("while deleting: %+v", p.Notes)
	}
}

func TestDeprecated_IsNoConditionOfOtherTypes(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	p, err := b.Decide(t.Context())
	kindtest.Must(t, err)
	if len(p.Notes) > 0 {
		t.Errorf("%+v", p.Notes)
	}
}
