// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ownerOfWWW are the tags of the owner record of www.
func ownerOfWWW(t *testing.T, r *kindtest.Rig) map[string]string {
	t.Helper()
	for _, d := range records(t, r) {
		if strings.HasPrefix(*d.Name, ownerLabel) {
			return tagsIn(&d)
		}
	}
	return nil
}

// People who may write to a zone can write an owner record that names any object.
func TestAForgedOwnerRecordProvesNothing(t *testing.T) {
	for name, forge := range map[string]func(tags map[string]string){
		"without a signature":    func(map[string]string) {},
		"with a false signature": func(tags map[string]string) { tags[tagSignature] = strings.Repeat("ab", 32) },
		"with the UID alone": func(tags map[string]string) {
			maps.DeleteFunc(tags, func(k, _ string) bool { return k != wellknown.TagOwnerUID })
		},
		"of an earlier object": func(tags map[string]string) { tags[wellknown.TagOwnerUID] = "earlier" },
		"with the name alone": func(tags map[string]string) {
			maps.DeleteFunc(tags, func(k, _ string) bool { return k != wellknown.TagOwner })
		},
		"with an empty signature,": func(tags map[string]string) { tags[tagSignature] = "" },
	} {
		t.Run(name, func(t *testing.T) {
			s, r := recordSubject(t, recordsOf())
			tags := s.Owner().OwnerTags()
			forge(tags)
			byHand(t, r)
			writeOwner(types.ChangeActionCreate, tags, false)(t, r)
			for range 2 {
				mark := r.AWS.Mark()
				_, err := s.Settle(t.Context(), nil)
				if st, ok := status.AsStalled(err); !s.Deleting && (!ok || st.Reason != status.ReasonConflict) || s.Deleting && err != nil {
					t.Fatalf("deleting %v: %v", s.Deleting, err)
				}
				for _, c := range r.AWS.Since(mark).Writes() {
					if c.Status < 400 {
						t.Errorf("deleting %v: wrote %s", s.Deleting, c)
					}
				}
				s.Deleting = true
			}
		})
	}
}

// The signature is of one record set: it makes no other one of the owner.
func TestASignatureHoldsForOneRecordSet(t *testing.T) {
	state := stateOf(recordsOf())
	state.ZoneID, state.Ownership.Signer = zoneOfTest, kindtest.Signer
	s, _ := recordSubject(t, recordsOf())
	state.Tags = s.Owner().OwnerTags()
	tags, err := state.signed(state.Tags)
	kindtest.Must(t, err)
	for name, edit := range map[string]func(*RecordSetState){
		"another zone": func(s *RecordSetState) { s.ZoneID = "Z2" }, "another name": func(s *RecordSetState) { s.Name = "app." + domain + "." },
		"another type": func(s *RecordSetState) { s.Type = "AAAA" }, "another identifier": func(s *RecordSetState) { s.SetIdentifier = "two" },
	} {
		other := state
		edit(&other)
		if got, err := other.believed(maps.Clone(tags)); len(got) > 0 || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := state.believed(maps.Clone(tags)); !maps.Equal(got, tags) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	state.Ownership.Signer = nil // as in a plan by a person who may not read the keys
	if got, err := state.believed(maps.Clone(tags)); !maps.Equal(got, state.Tags) || err != nil {
		t.Errorf("without keys: %v, %v", got, err)
	}
}

// An earlier version wrote owner records without a signature.
func TestAnUnsignedOwnerRecordIsSignedForItsObject(t *testing.T) {
	s, r := recordSubject(t, recordsOf())
	kindtest.Settled(t, s)
	writeOwner(types.ChangeActionUpsert, s.Owner().OwnerTags(), false)(t, r)
	s.Forget()
	kindtest.Settled(t, s)
	if ownerOfWWW(t, r)[tagSignature] == "" {
		t.Error("the owner record is not signed")
	}
	s.Deleting = true
	kindtest.Settled(t, s)
	if got := ownerOfWWW(t, r); got != nil {
		t.Errorf("left behind: %v", got)
	}
}

func TestNamesOfOwnerRecordsAreRefused(t *testing.T) {
	for _, name := range []string{"_nexus-3f0c5a1e9b72." + www, "_NEXUS-x." + domain, "a._nexus-x." + domain} {
		s, r := recordSubject(t, recordsOf(named(name), ofType("TXT", `"x"`)))
		_, err := s.Pass(t.Context(), nil)
		if st, ok := status.AsStalled(err); !ok || !strings.Contains(st.Error(), "spec.name: labels that begin with _nexus- are reserved") {
			t.Errorf("%s: %v", name, err)
		}
		state := stateOf(recordsOf())
		state.Name = canonicalName(name)
		if err := declareRecords(kind.Scope{}, recordsOf(named(name)), &state); err == nil {
			t.Errorf("%s: only the definition refuses it", name)
		}
		s.Deleting = true
		kindtest.Settled(t, s)
		if w := r.AWS.Calls().Writes().Match("route53", "ChangeResourceRecordSets", "*"); len(w) > 0 {
			t.Errorf("%s: %s", name, w)
		}
	}
}
