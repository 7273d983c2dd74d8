// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// settles reconciles AWS with the object.
func (b *bench) settles() {
	b.t.Helper()
	if _, err := b.Settle(b.t.Context(), nil); err != nil {
		b.t.Fatalf("%v\n%s", err, b.Rig.AWS.Calls())
	}
}

// rests settles the object and expects that nothing is written.
func (b *bench) rests() {
	b.t.Helper()
	mark := b.Rig.AWS.Mark()
	b.settles()
	if n := b.Rig.AWS.Since(mark).Writes().Count(); n > 0 {
		b.t.Errorf("%d writes:\n%s", n, b.Rig.AWS.Since(mark))
	}
}

// The create writes the properties that spec.ignore lists. They are not changed from then on: neither after a change by another client, nor
// after an edit of the object.
func TestIgnore_LeavesPropertiesAlone(t *testing.T) {
	o := resourceOf(stream, eventsStream)
	o.Spec.Ignore = []string{"/RetentionPeriodHours", "/StreamModeDetails/StreamMode"}
	b := newBench(t, o)
	b.settles()
	if have := b.double.Properties(stream, "events"); have["RetentionPeriodHours"] != 48.0 {
		t.Errorf("the create left out what is ignored: %v", have)
	}
	kindtest.Must(t, b.double.Set(stream, "events", "RetentionPeriodHours", 96.0))
	b.Clock = b.Clock.Add(time.Hour)
	b.rests()
	edited := resourceOf(stream, `{"Name":"events","RetentionPeriodHours":72,"StreamModeDetails":{"StreamMode":"ON_DEMAND"},"ShardCount":2}`)
	edited.Spec.Ignore = o.Spec.Ignore
	b.Edit(edited)
	b.settles()
	if have := b.double.Properties(stream, "events"); have["RetentionPeriodHours"] != 96.0 || have["ShardCount"] != 2.0 ||
		have["StreamModeDetails"].(map[string]any)["StreamMode"] != "PROVISIONED" {
		t.Errorf("%v", have)
	}
	p, err := b.Decide(t.Context())
	kindtest.Must(t, err)
	if len(p.Ignored) != 2 || p.Ignored[0].Path != "Properties.RetentionPeriodHours" || p.Ignored[0].Have != "96" ||
		p.Ignored[0].Want != "72" {
		t.Errorf("%+v", p.Ignored)
	}
	b.edit(`{"Name":"events","RetentionPeriodHours":72,"ShardCount":2}`)
	b.settles()
	if have := b.double.Properties(stream, "events"); have["RetentionPeriodHours"] != 72.0 {
		t.Errorf("what is no longer ignored is not written: %v", have)
	}
}

// A value that AWS never shows is not sent again, until it is no longer ignored.
func TestIgnore_LeavesWriteOnlyValuesAlone(t *testing.T) {
	declared := func(value string, ignored ...string) *v1alpha1.AWSResource {
		o := resourceOf(secret, `{"Name":"login","Description":"of the shop","SecretString":"`+value+`"}`)
		o.Spec.Ignore = ignored
		return o
	}
	b := newBench(t, declared("first", "/SecretString"))
	b.settles()
	id := b.resource().Status.Identifier
	stored := func() any { return b.double.Properties(secret, id)["SecretString"] }
	if stored() != "first" {
		t.Fatalf("%v", b.double.Properties(secret, id))
	}
	b.Edit(declared("second", "/SecretString"))
	b.settles()
	b.rests()
	if stored() != "first" {
		t.Errorf("%v", stored())
	}
	b.Edit(declared("second"))
	b.settles()
	if stored() != "second" {
		t.Errorf("%v", stored())
	}
}

func TestIgnore_RefusesWhatCannotBeIgnored(t *testing.T) {
	for pointer, says := range map[string]string{
		"/Retention": "spec.ignore[0]: is /Retention, and " + stream + " has no property Retention", "/Name": "identifies the resource",
		"/Arn":  "AWS assigns",
		"/Tags": "spec.tags", "/Tags/*/Value": "spec.tags", "/StreamModeDetails/Mode": "no property StreamModeDetails.Mode",
	} {
		o := resourceOf(stream, eventsStream)
		o.Spec.Ignore = []string{pointer}
		if text := newBench(t, o).stalls(status.ReasonInvalidSpec); !strings.Contains(text, says) {
			t.Errorf("%s: %s", pointer, text)
		}
	}
}

// Where AWS does not keep a value, the message says how to leave it alone.
func TestIgnore_IsTheRemedyOfWhatDoesNotSettle(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	b.settles()
	b.Rig.AWS.Fault(emulator.Match{Service: "cloudformation", Op: "UpdateResource"}, emulator.Observe(func() {
		_ = b.double.Set(stream, "events", "RetentionPeriodHours", 24.0) // it exists
	}))
	b.edit(`{"Name":"events","RetentionPeriodHours":72}`)
	kindtest.Must(t, b.double.Set(stream, "events", "RetentionPeriodHours", 24.0))
	if text := b.stalls(status.ReasonNotSettling); !strings.Contains(text,
		"or leave the property alone with spec.ignore: [/RetentionPeriodHours]") {
		t.Error(text)
	}
	o := resourceOf(stream, `{"Name":"events","RetentionPeriodHours":72}`)
	o.Spec.Ignore = []string{"/RetentionPeriodHours"}
	b.Edit(o)
	b.rests()
}
