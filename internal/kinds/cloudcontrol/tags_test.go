// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// fixedTags are types with tags that only a create gives: the schema of one says so, and that of the other lists the property among the
// fixed ones.
var fixedTags = map[string]string{
	"AWS::CE::AnomalyMonitor":                   `{"MonitorName":%q,"MonitorType":"DIMENSIONAL"}`,
	"AWS::Route53RecoveryControl::ControlPanel": `{"Name":%q}`,
}

// eachFixed runs a test for each such type with an object that has the tag team.
func eachFixed(t *testing.T, do func(t *testing.T, b *bench, properties func(name string) string)) {
	t.Helper()
	types, _ := bundledTypes(t)
	for typeName, form := range fixedTags {
		t.Run(strings.ReplaceAll(typeName, "::", "."), func(t *testing.T) {
			properties := func(name string) string { return fmt.Sprintf(form, name) }
			b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(typeName, properties("a"))), types)
			b.resource().Spec.Tags = map[string]v1alpha1.TagValue{"team": "a"}
			b.DefaultTags = map[string]string{"stage": "dev"}
			do(t, b, properties)
		})
	}
}

// tags returns those of the one resource of the type.
func (b *bench) tags() map[string]string {
	b.t.Helper()
	name := b.resource().Spec.TypeName
	_, schemaOf := bundledTypes(b.t)
	return schemaOf(name).Tags.Read(b.double.Properties(name, b.double.Identifiers(name)[0]))
}

// tagged declares a name and tags.
func (b *bench) tagged(properties string, tags map[string]v1alpha1.TagValue) {
	o := resourceOf(b.resource().Spec.TypeName, properties)
	o.Spec.Tags = tags
	b.Edit(o)
}

// updates counts the updates that were sent.
func (b *bench) updates() int {
	return b.Rig.AWS.Calls().Match("cloudformation", "UpdateResource", "*").Count()
}

func TestFixedTags_AreGivenByTheCreateAndNeverChanged(t *testing.T) {
	eachFixed(t, func(t *testing.T, b *bench, properties func(string) string) {
		kindtest.Settled(t, b.Subject)
		given := b.tags()
		if len(given) != 6 || given["team"] != "a" || given["stage"] != "dev" || given[wellknown.TagOwnerUID] != string(b.resource().UID) {
			t.Fatalf("%v", given)
		}
		b.DefaultTags = map[string]string{"stage": "prod", "cost-center": "7"} // holds for resources that are created from now on
		b.tagged(properties("b"), map[string]v1alpha1.TagValue{"team": "a"})
		kindtest.Settled(t, b.Subject)
		for _, tags := range []map[string]v1alpha1.TagValue{{"team": "b"}, {"team": "a", "room": "1"}, nil} {
			b.tagged(properties("b"), tags)
			if text := b.stalls(status.ReasonImmutable); !strings.HasPrefix(text, "spec.tags: Tags[") ||
				!strings.Contains(text, "delete this object and create another") {
				t.Error(text)
			}
		}
		b.tagged(properties("b"), map[string]v1alpha1.TagValue{"team": "a"})
		kindtest.Settled(t, b.Subject)
		if n := b.updates(); n != 1 || !maps.Equal(b.tags(), given) {
			t.Errorf("%d updates, %v", n, b.tags())
		}
		b.Deleting = true
		kindtest.Settled(t, b.Subject)
		if left := b.double.Identifiers(b.resource().Spec.TypeName); len(left) > 0 {
			t.Errorf("%v", left)
		}
	})
}

// A resource without an owner is adopted without a write, and the status records that it is the object's.
func TestFixedTags_OfAResourceThatIsAdoptedStay(t *testing.T) {
	eachFixed(t, func(t *testing.T, b *bench, properties func(string) string) {
		name, spec := b.resource().Spec.TypeName, &b.resource().Spec
		existing(t, b.Rig, name, properties("a"))
		spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy, spec.Tags = b.double.Identifiers(name)[0], v1alpha1.AdoptAlways,
			v1alpha1.DeletionDelete, nil
		b.stalls(status.ReasonConflict)
		b.AllowAdoption = true
		kindtest.Settled(t, b.Subject)
		b.Forget()
		b.Clock = b.Clock.Add(time.Hour)
		kindtest.Settled(t, b.Subject)
		if st := b.resource().Status; st.Ownership != v1alpha1.OwnershipOwned || b.tags() != nil || b.updates() > 0 {
			t.Errorf("%+v, tags %v\n%s", st, b.tags(), b.Rig.AWS.Calls())
		}
		b.Deleting = true
		kindtest.Settled(t, b.Subject)
		if left := b.double.Identifiers(name); len(left) > 0 {
			t.Errorf("%v", left)
		}
	})
}

// The tags keep the UID of the object that created the resource, and the status of the next object of the name records that it took the
// resource over.
func TestFixedTags_OfAnEarlierObjectStay(t *testing.T) {
	eachFixed(t, func(t *testing.T, b *bench, _ func(string) string) {
		kindtest.Settled(t, b.Subject)
		given, name := b.tags(), b.resource().Spec.TypeName
		next := b.resource().DeepCopy()
		next.UID, next.Status, next.Spec.ImportID = "next", v1alpha1.AWSResourceStatus{}, b.double.Identifiers(name)[0]
		b.Object, b.Intent = next, nil
		b.Forget()
		for range 2 {
			kindtest.Settled(t, b.Subject)
			b.Forget()
			b.Clock = b.Clock.Add(time.Hour)
		}
		if st := b.resource().Status; st.Ownership != v1alpha1.OwnershipOwned || !maps.Equal(b.tags(), given) || b.updates() > 0 ||
			len(b.double.Identifiers(name)) != 1 {
			t.Errorf("%+v, tags %v\n%s", st, b.tags(), b.Rig.AWS.Calls())
		}
		b.Deleting = true
		kindtest.Settled(t, b.Subject)
		if left := b.double.Identifiers(name); len(left) > 0 {
			t.Errorf("%v", left)
		}
	})
}

// A resource that is orphaned keeps the tags of the owner, because no update removes them.
func TestFixedTags_OfAnOrphanStay(t *testing.T) {
	eachFixed(t, func(t *testing.T, b *bench, _ func(string) string) {
		b.resource().Spec.DeletionPolicy = v1alpha1.DeletionOrphan
		kindtest.Settled(t, b.Subject)
		b.Deleting = true
		kindtest.Settled(t, b.Subject)
		if b.tags()[wellknown.TagOwnerUID] == "" || b.updates() > 0 {
			t.Errorf("%v\n%s", b.tags(), b.Rig.AWS.Calls())
		}
	})
}

// The tags show that a resource is another object's.
func TestFixedTags_OfAnotherOwnerAreAConflict(t *testing.T) {
	eachFixed(t, func(t *testing.T, b *bench, properties func(string) string) {
		name := b.resource().Spec.TypeName
		_, schemaOf := bundledTypes(t)
		theirs := b.Owner().OwnerTags()
		theirs[wellknown.TagOwner], theirs[wellknown.TagOwnerUID] = "AWSResource/team-b/theirs", "theirs"
		declared := map[string]any{}
		kindtest.Must(t, json.Unmarshal([]byte(properties("a")), &declared))
		declared[schemaOf(name).Tags.Property()] = schemaOf(name).Tags.Write(theirs)
		text, err := json.Marshal(declared)
		kindtest.Must(t, err)
		existing(t, b.Rig, name, string(text))
		spec := &b.resource().Spec
		spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy = b.double.Identifiers(name)[0], v1alpha1.AdoptAlways, v1alpha1.DeletionRetain
		b.AllowAdoption = true
		b.stalls(status.ReasonConflict)
	})
}
