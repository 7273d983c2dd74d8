// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// adopted has a resource without an owner adopted, edited and deleted, with the rights alone that the policies print for adoptions. An
// earlier object has created the resource and released it.
func adopted(t *testing.T, r *Rig, e engine.Entry, l Life) {
	t.Helper()
	earlier := l.subject(r, e)
	Settled(t, earlier)
	id := earlier.Object.CommonStatus().ID
	earlier.Deleting = true
	earlier.Object.CommonSpec().DeletionPolicy = v1alpha1.DeletionOrphan
	Settled(t, earlier)
	if !l.Exists(t, r) {
		t.Fatal("the earlier object took its resource along")
	}
	s := NewSubject(r, e, adopting(e, l.Sample, id))
	s.Object.SetUID("uid-of-the-adopter")
	s.Targets, s.Secrets, s.Trusted, s.Guarded = earlier.Targets, earlier.Secrets, earlier.Trusted, earlier.Guarded
	s.Boundary, s.RolePath, s.DefaultTags, s.Callers, s.Clock = earlier.Boundary, earlier.RolePath, earlier.DefaultTags, earlier.Callers,
		earlier.Clock
	s.AllowAdoption = true
	if l.Adopter != nil {
		l.Adopter(s)
	}
	s.limit(t, newRights(e))
	Settled(t, s)
	if now := s.Object.CommonStatus().ID; now != id {
		t.Fatalf("the object has %s, and the resource of nobody is %s\n%s", now, id, r.AWS.Calls())
	}
	if l.Edited != nil {
		s.Edit(adopting(e, l.Edited, id))
		Settled(t, s)
	}
	s.Deleting = true
	Settled(t, s)
	if l.Exists(t, r) {
		t.Fatal("the adopted resource was left behind")
	}
}

// adopting returns an object as it takes a resource without an owner, by its identifier where it needs one.
func adopting(e engine.Entry, o v1alpha1.Resource, id string) v1alpha1.Resource {
	out := o.DeepCopyObject().(v1alpha1.Resource)
	out.CommonSpec().AdoptionPolicy, out.CommonSpec().DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete
	if slices.ContainsFunc(e.ExportIdentity(),
		func(field string) bool { return field == "importID" || field == "importID"+kind.OptionalIdentity }) {
		specOf(out).FieldByName("ImportID").SetString(id)
	}
	return out
}
