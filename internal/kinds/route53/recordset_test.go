// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

const (
	www          = "www." + domain
	loadBalancer = "shop-1.eu-west-1.elb.amazonaws.com"
	zoneOfTest   = "7O259OWOO3SB09GLSHV616"
	changeRecord = "route53:ChangeResourceRecordSets"
)

type (
	recordSpec = v1alpha1.Route53RecordSetSpec
	recordEdit = func(s *recordSpec)
)

// recordsOf is an address of www in the zone that inZone makes.
func recordsOf(edits ...recordEdit) *v1alpha1.Route53RecordSet {
	o := &v1alpha1.Route53RecordSet{}
	o.Name = "www"
	o.Spec.HostedZoneID, o.Spec.Name, o.Spec.Type = zoneOfTest, www, "A"
	values(300, "192.0.2.1")(&o.Spec)
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func values(ttl int64, of ...v1alpha1.RecordValue) recordEdit {
	return func(s *recordSpec) { s.TTL, s.ResourceRecords, s.AliasTarget = &ttl, of, nil }
}

func ofType(recordType string, of ...v1alpha1.RecordValue) recordEdit {
	return func(s *recordSpec) { s.Type, s.ResourceRecords = recordType, of }
}

func named(name string) recordEdit { return func(s *recordSpec) { s.Name = name } }

func alias(name string, evaluates bool) recordEdit {
	return func(s *recordSpec) {
		s.TTL, s.ResourceRecords = nil, nil
		s.AliasTarget = &v1alpha1.RecordAliasTarget{HostedZoneID: "Z32O12XQLNTSW2", DNSName: name, EvaluateTargetHealth: evaluates}
	}
}

// aliasOf is an alias with the zone of the load balancer.
func aliasOf(name string) recordEdit {
	return func(s *recordSpec) {
		alias(name, false)(s)
		s.AliasTarget.HostedZoneID = ""
	}
}

func weighted(w int64) recordEdit {
	return func(s *recordSpec) { s.SetIdentifier, s.Weight = "one", &w }
}

func ofRegion(region string) recordEdit {
	return func(s *recordSpec) { s.SetIdentifier, s.Region = "one", region }
}

func failover(role string) recordEdit {
	return func(s *recordSpec) { s.SetIdentifier, s.Failover = "one", role }
}

func geo(g v1alpha1.RecordGeoLocation) recordEdit {
	return func(s *recordSpec) { s.SetIdentifier, s.GeoLocation = "one", &g }
}

func multi(s *recordSpec) { s.SetIdentifier, s.MultiValueAnswer = "one", true }

func checked(id string) recordEdit { return func(s *recordSpec) { s.HealthCheckID = id } }

func orphaned(s *recordSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }

func adoptsRecords(s *recordSpec) {
	s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete
}

// inZone makes a zone without an owner, with the same identifier each time.
func inZone(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	r, err := http.Post(world.Shared(t).MotoURL()+"/moto-api/seed?a=1", "", nil)
	kindtest.Must(t, err)
	kindtest.Must(t, r.Body.Close())
	if id := makeZone(t, s.Rig, domain, "of a test", nil); id != zoneOfTest {
		t.Fatalf("the zone is %s", id)
	}
}

func byRef(s *recordSpec) {
	s.HostedZoneID, s.HostedZoneRef = "", &v1alpha1.ObjectReference{Name: "shop"}
}

// validating makes a record set that of a certificate for all names below the zone's.
func validating(s *recordSpec) {
	s.Name, s.Type, s.TTL, s.ResourceRecords = "", "", nil, nil
	s.Validates = &v1alpha1.RecordOfCertificate{CertificateRef: v1alpha1.ObjectReference{Name: "shop"}, DomainName: "*." + domain}
}

func toZone(s *kindtest.Subject) {
	s.Targets = map[string]kind.Target{"Route53HostedZone/shop": {ID: zoneOfTest}}
}

func recordSubject(t *testing.T, o *v1alpha1.Route53RecordSet) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRecordSet), o)
	inZone(t, s)
	return s, r
}

// records are the record sets beside those that each zone has.
func records(t *testing.T, r *kindtest.Rig) []types.ResourceRecordSet {
	t.Helper()
	out, err := api(r).ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{HostedZoneId: zones(t, r)[0].Id})
	kindtest.Must(t, err)
	return slices.DeleteFunc(out.ResourceRecordSets, func(d types.ResourceRecordSet) bool { return canonicalName(*d.Name) == domain+"." })
}

// ofWWW are the record sets of www, and of www with owner records.
func ofWWW(t *testing.T, r *kindtest.Rig) (found []types.ResourceRecordSet, owners int) {
	t.Helper()
	for _, d := range records(t, r) {
		if strings.HasPrefix(*d.Name, "_nexus-") {
			owners++
		} else {
			found = append(found, d)
		}
	}
	return found, owners
}

func changed(changes func(t *testing.T, r *kindtest.Rig) []types.Change) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).ChangeResourceRecordSets(t.Context(),
			&route53.ChangeResourceRecordSetsInput{HostedZoneId: zones(t, r)[0].Id, ChangeBatch: &types.ChangeBatch{Changes: changes(t, r)}})
		kindtest.Must(t, err)
	}
}

// byHand creates or replaces the address of www outside the operator.
var byHand = changed(func(*testing.T, *kindtest.Rig) []types.Change {
	return []types.Change{changeOf(types.ChangeActionUpsert, stateOf(recordsOf(values(60, "198.51.100.1"))).wanted())}
})

func stateOf(o *v1alpha1.Route53RecordSet) RecordSetState {
	s := RecordSetState{Name: canonicalName(o.Spec.Name), Type: o.Spec.Type, SetIdentifier: o.Spec.SetIdentifier}
	_ = declareRecords(kind.Scope{}, o, &s)
	return s
}

// dropRecords deletes the record sets with a prefix in their names.
func dropRecords(prefix string) func(*testing.T, *kindtest.Rig) {
	return changed(func(t *testing.T, r *kindtest.Rig) (out []types.Change) {
		for _, d := range records(t, r) {
			if strings.HasPrefix(*d.Name, prefix) {
				out = append(out, changeOf(types.ChangeActionDelete, &d))
			}
		}
		return out
	})
}

// writeOwner writes the owner record of www with the tags.
func writeOwner(action types.ChangeAction, tags map[string]string, signed bool, edits ...recordEdit) func(*testing.T, *kindtest.Rig) {
	return changed(func(t *testing.T, r *kindtest.Rig) []types.Change {
		state := stateOf(recordsOf(edits...))
		state.ZoneID = zoneIDOf(zones(t, r)[0].Id)
		if signed {
			state.Ownership.Signer = kindtest.Signer
			var err error
			tags, err = state.signed(tags)
			kindtest.Must(t, err)
		}
		return []types.Change{changeOf(action, state.ownerRecord(tags))}
	})
}

// claimed makes an owner record, and the address where it is to exist.
func claimed(uid, cluster string, exists bool) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		tags := engine.Identity{Kind: "Route53RecordSet", Namespace: kindtest.Namespace, Name: "www", UID: uid, Cluster: cluster}.OwnerTags()
		writeOwner(types.ChangeActionCreate, tags, true)(t, r)
		if exists {
			byHand(t, r)
		}
	}
}

func TestRecordSet(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewRecordSet), inZone,
		slices.Concat(recordLives(), recordEdits(), recordDrifts(), recordDeletions(), recordOwners()))
}

func recordLives() []kindtest.Case {
	row := func(name string, edits ...recordEdit) kindtest.Case {
		return kindtest.Case{Name: name, Object: recordsOf(edits...), Cause: engine.New, Actions: []string{changeRecord}}
	}
	refused := func(name string, edits ...recordEdit) kindtest.Case {
		return kindtest.Case{Name: name, Object: recordsOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	referred := row("in a zone by reference", byRef)
	referred.Facts = toZone
	asked := row("an alias to a load balancer that only AWS knows", aliasOf(networkBalancer))
	asked.Before = makeBalancer
	return []kindtest.Case{
		row("absent is created with its owner record by one call"), referred,
		row("an alias", alias(loadBalancer, true)),
		row("an alias to a load balancer of a known zone", aliasOf("dualstack."+loadBalancer)), asked,
		refused("an alias without a zone to anything else", aliasOf("d111111abcdef8.cloudfront.net")),
		row("an alias with capitals and a trailing dot", alias("Shop-1.eu-west-1.elb.amazonaws.com.", false)),
		row("of all other names", named("*."+domain)),
		row("with capitals", named("WWW.Shop.example.com.")),
		row("IPv6 addresses in other words", ofType("AAAA", "2001:0DB8::0001")),
		row("texts", ofType("TXT", `"v=spf1 -all"`, `"one" "two"`)),
		row("mail servers", ofType("MX", "10 mail."+domain+".", "20 other."+domain)),
		{Name: "names with their last dot and without", Existing: recordsOf(ofType("CNAME", "shop."+domain)),
			Object: recordsOf(ofType("CNAME", "shop."+domain+".")), Cause: engine.InSync},
		row("weighted", weighted(0)),
		row("one of many values", multi),
		refused("neither values nor an alias", func(s *recordSpec) { s.ResourceRecords, s.TTL = nil, nil }),
		refused("values without a time", func(s *recordSpec) { s.TTL = nil }),
		refused("an alias with a time", alias(loadBalancer, false), func(s *recordSpec) { s.TTL = aws.Int64(60) }),
		refused("a weight without an identifier", weighted(1), func(s *recordSpec) { s.SetIdentifier = "" }),
		refused("two ways to route", weighted(1), ofRegion("eu-west-1")),
		refused("the record of the zone itself", ofType("SOA", "a b 1 1 1 1 1")),
		refused("no name", named("www..com")),
		refused("neither a name nor a certificate", named("")),
		refused("a record of a certificate with a name", func(s *recordSpec) { validating(s); s.Name, s.Type = www, "CNAME" }),
		refused("a record of a certificate with values", func(s *recordSpec) { validating(s); values(60, "a.example.com.")(s) }),
	}
}

func recordEdits() []kindtest.Case {
	row := func(name string, from, to recordEdit, diff ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: recordsOf(from), Object: recordsOf(to), Cause: engine.Edited, Diff: diff,
			Actions: []string{changeRecord}}
	}
	stalled := func(name, reason string, to recordEdit) kindtest.Case {
		return kindtest.Case{Name: name, Existing: recordsOf(), Object: recordsOf(to), Stalled: reason}
	}
	withCheck := func(id string) recordEdit {
		return func(s *recordSpec) { weighted(1)(s); checked(id)(s) }
	}
	return []kindtest.Case{
		row("another time", values(300, "192.0.2.1"), values(60, "192.0.2.1"), "TTL"),
		row("another value", values(300, "192.0.2.1"), values(300, "192.0.2.1", "192.0.2.2"), "Values"),
		row("an alias instead of values", values(300, "192.0.2.1"), alias(loadBalancer, false), "TTL", "Values", "Alias.HostedZoneID",
			"Alias.DNSName"),
		row("values instead of an alias", alias(loadBalancer, false), values(300, "192.0.2.1"), "TTL", "Values", "Alias.HostedZoneID",
			"Alias.DNSName"),
		row("another target", alias(loadBalancer, false), alias("other.eu-west-1.elb.amazonaws.com", true), "Alias.DNSName",
			"Alias.EvaluateTargetHealth"),
		row("another weight", weighted(1), weighted(2), "Weight"),
		row("another region", ofRegion("eu-west-1"), ofRegion("eu-central-1"), "Region"),
		row("the second of two", failover("PRIMARY"), failover("SECONDARY"), "Failover"),
		row("a state instead of a continent", geo(v1alpha1.RecordGeoLocation{ContinentCode: "EU"}),
			geo(v1alpha1.RecordGeoLocation{CountryCode: "US", SubdivisionCode: "CA"}), "Geo.ContinentCode", "Geo.CountryCode",
			"Geo.SubdivisionCode"),
		row("a health check", withCheck(""), withCheck("0123-4567"), "HealthCheckID"),
		row("another health check", withCheck("0123-4567"), withCheck("89ab-cdef"), "HealthCheckID"),
		row("no health check", withCheck("0123-4567"), withCheck(""), "HealthCheckID"),
		{Name: "the same values in another order", Existing: recordsOf(values(300, "192.0.2.1", "192.0.2.2")),
			Object: recordsOf(values(300, "192.0.2.2", "192.0.2.1")), Cause: engine.InSync},
		stalled("another name", status.ReasonIdentityChanged, named("other."+domain)),
		stalled("another type", status.ReasonIdentityChanged, ofType("AAAA", "2001:db8::1")),
		stalled("an identifier", status.ReasonIdentityChanged, weighted(1)),
	}
}

func recordDrifts() []kindtest.Case {
	gone := kindtest.Case{Name: "a record set that vanished is created again", Existing: recordsOf(), Object: recordsOf(), Drift: true,
		Before: dropRecords(""), Cause: engine.New, Actions: []string{changeRecord}}
	alone := gone
	alone.Name, alone.Before = "one that vanished without its owner record, too", dropRecords("www")
	return []kindtest.Case{
		{Name: "values are restored", Existing: recordsOf(), Object: recordsOf(), Drift: true, Before: byHand, Cause: engine.Drifted,
			Diff: []string{"TTL", "Values"}, Actions: []string{changeRecord}},
		gone, alone,
	}
}

func recordDeletions() []kindtest.Case {
	row := func(name string, o *v1alpha1.Route53RecordSet, before func(*testing.T, *kindtest.Rig), actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Deleting: true, Drift: true, Before: before, Cause: engine.Deleting,
			Actions: actions}
	}
	gone := row("deleting what is gone", recordsOf(), dropRecords(""))
	gone.Cause = engine.Gone
	orphan := row("Orphan removes the owner record and nothing else", recordsOf(orphaned), nil, changeRecord)
	orphan.Diff = ownerPaths
	return []kindtest.Case{
		row("deleting", recordsOf(), nil, changeRecord), row("deleting an alias", recordsOf(alias(loadBalancer, true)), nil, changeRecord),
		row("deleting that of all other names", recordsOf(named("*."+domain)), nil, changeRecord),
		row("deleting what was changed by hand", recordsOf(), byHand, changeRecord),
		row("deleting an owner record that was left", recordsOf(), dropRecords("www"), changeRecord),
		gone, orphan,
	}
}

func recordOwners() []kindtest.Case {
	adopting := recordsOf(adoptsRecords)
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: recordsOf(adoptsRecords),
			Before: claimed("an-earlier-one", kindtest.Cluster, true),
			Cause:  engine.Edited, Diff: []string{"TTL", "Values", "Tags[nexus.ai/owner-uid]", "Tags[nexus.ai/signature]"},
			Actions: []string{changeRecord}},
		{Name: "without an owner it is adopted where allowed", Object: adopting, Before: byHand,
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Cause: engine.Edited, Diff: slices.Concat([]string{"TTL", "Values"}, ownerPaths, []string{"Tags[nexus.ai/signature]"}),
			Actions: []string{changeRecord}},
		{Name: "another's is not taken", Object: recordsOf(), Before: byHand, Stalled: status.ReasonConflict, OnRun: true},
		{Name: "another cluster's is not taken", Object: recordsOf(), Before: claimed("theirs", "another", true), Stalled: status.ReasonConflict,
			OnRun: true},
		{Name: "a name that another cluster claims is not taken", Object: recordsOf(), Before: claimed("theirs", "another", false),
			Stalled: status.ReasonConflict, OnRun: true},
	}
}

func recordLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: recordsOf(weighted(1)), Facts: func(s *kindtest.Subject) { inZone(t, s) },
		Foreign: changed(func(*testing.T, *kindtest.Rig) []types.Change {
			return []types.Change{changeOf(types.ChangeActionUpsert, stateOf(recordsOf(weighted(9))).wanted())}
		}),
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			found, owners := ofWWW(t, r)
			if owners > len(found) {
				t.Errorf("%d owner records of %d record sets", owners, len(found))
			}
			return len(found) > 0
		},
		Edited:  recordsOf(weighted(2), values(60, "192.0.2.3")),
		Invalid: []v1alpha1.Resource{recordsOf(weighted(300))},
	}
}

func TestRecordSetSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewRecordSet), recordLife(t))
}

func TestRecordSetSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewRecordSet), recordLife(t))
}

// An object is Ready once all name servers have its change, and no pass waits for that.
func TestARecordSetIsReadyWhenItsChangeIsInSync(t *testing.T) {
	s, r := recordSubject(t, recordsOf())
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.Route53.SetRecordChangesTake(30 * time.Second)
	t.Cleanup(func() { r.AWS.Route53.SetRecordChangesTake(0); r.AWS.SetClock(nil) })
	pending := func() {
		t.Helper()
		for range 2 {
			_, err := s.Pass(t.Context(), nil)
			st := s.Object.(*v1alpha1.Route53RecordSet).Status
			if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || !strings.Contains(w.For, "brings change "+st.ChangeID) ||
				st.ChangeStatus != "PENDING" || st.Ready {
				t.Fatalf("%v, %+v", err, st)
			}
		}
	}
	inSync := func() {
		t.Helper()
		s.Clock = s.Clock.Add(time.Minute)
		kindtest.Settled(t, s)
		if st := s.Object.(*v1alpha1.Route53RecordSet).Status; st.ChangeStatus != "INSYNC" || !st.Ready {
			t.Fatalf("%+v", st)
		}
	}
	pending()
	inSync()
	s.Edit(recordsOf(values(60, "192.0.2.9")))
	pending()
	s.Forget() // after a restart, only the status knows of the change
	fresh := kindtest.NewSubject(r, engine.For(NewRecordSet), s.Object)
	fresh.Intent, fresh.Clock = s.Intent, s.Clock
	s = fresh
	pending()
	inSync()
}

// A record set without its owner record may belong to another owner: the operator neither writes to it nor gives it up.
func TestARecordSetWithoutItsOwnerRecordIsLeftAlone(t *testing.T) {
	s, r := recordSubject(t, recordsOf())
	kindtest.Settled(t, s)
	dropRecords("_nexus-")(t, r)
	s.Forget()
	for range 2 {
		mark := r.AWS.Mark()
		_, err := s.Settle(t.Context(), nil)
		if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonOwnershipUnknown || len(r.AWS.Since(mark).Writes()) > 0 {
			t.Fatalf("%v\n%s", err, r.AWS.Since(mark))
		}
		s.Deleting = true
	}
	s.Deleting, s.AllowAdoption = false, true
	s.Edit(recordsOf(adoptsRecords))
	kindtest.Settled(t, s)
	if found, owners := ofWWW(t, r); len(found) != 1 || owners != 1 {
		t.Errorf("%+v, %d owner records", found, owners)
	}
}

// Two objects divide the answers for one name.
func TestWeightedRecordSetsOfOneName(t *testing.T) {
	s, r := recordSubject(t, recordsOf(weighted(1)))
	kindtest.Settled(t, s)
	o := recordsOf(weighted(3), func(s *recordSpec) { s.SetIdentifier = "two" })
	o.Name = "other"
	other := kindtest.NewSubject(r, engine.For(NewRecordSet), o)
	kindtest.Settled(t, other)
	if found, owners := ofWWW(t, r); len(found) != 2 || owners != 2 {
		t.Fatalf("%d record sets, %d owner records", len(found), owners)
	}
	s.Deleting = true
	kindtest.Settled(t, s)
	if found, owners := ofWWW(t, r); len(found) != 1 || *found[0].SetIdentifier != "two" || owners != 1 {
		t.Fatalf("%+v, %d owner records", found, owners)
	}
}

func TestAZoneThatIsNotReadyIsWaitedFor(t *testing.T) {
	s, r := recordSubject(t, recordsOf(byRef))
	mark := r.AWS.Mark()
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "Route53HostedZone/shop" || r.AWS.Since(mark).Count() > 0 {
		t.Fatalf("got %v, want to wait for the zone", err)
	}
}

// The owner tags of a long name fill more than one string of a TXT record.
func TestAnOwnerRecordHoldsLongTags(t *testing.T) {
	s, r := recordSubject(t, recordsOf())
	s.Object.SetName(strings.Repeat("n", 150))
	s.Object.SetNamespace(strings.Repeat("a", 63))
	kindtest.Settled(t, s)
	want := s.Owner().OwnerTags()
	for _, d := range records(t, r) {
		if strings.HasPrefix(*d.Name, "_nexus-") {
			got := tagsIn(&d)
			delete(got, tagSignature)
			if !maps.Equal(got, want) || !strings.Contains(*d.ResourceRecords[0].Value, `" "`) {
				t.Errorf("%v, want %v", got, want)
			}
			return
		}
	}
	t.Error("there is no owner record")
}

func TestAnOwnerRecordHoldsAnyTag(t *testing.T) {
	for _, want := range []map[string]string{
		{"nexus.ai/cluster": `a,b="c" \052 100%`, "nexus.ai/owner": strings.Repeat(`"`, 300)}, {"nexus.ai/owner-uid": "uid"},
	} {
		if got := tagsIn(stateOf(recordsOf()).ownerRecord(want)); !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := tagsIn(&types.ResourceRecordSet{ResourceRecords: []types.ResourceRecord{{Value: aws.String(`"another text"`)}}}); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestRecordSetCosts(t *testing.T) {
	s, _ := recordSubject(t, recordsOf())
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"ChangeResourceRecordSets": 1, "ListResourceRecordSets": 5, "GetChange": 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{"ListResourceRecordSets": 2}, Change: s.Forget},
		kindtest.Cost{Name: "delete", Calls: map[string]int{"ListResourceRecordSets": 2, "ChangeResourceRecordSets": 1},
			Change: func() { s.Deleting = true }})
}

func TestPublishedFieldsOfARecordSet(t *testing.T) {
	s, r := recordSubject(t, recordsOf(weighted(1)))
	kindtest.Settled(t, s)
	st, zone := s.Object.(*v1alpha1.Route53RecordSet).Status, zoneIDOf(zones(t, r)[0].Id)
	if st.ID != zone+"_"+www+"_A_one" || st.HostedZoneID != zone || !strings.HasPrefix(st.OwnerRecord, "_nexus-") ||
		!strings.HasSuffix(st.OwnerRecord, "."+www+".") || st.ChangeID == "" || st.ChangeStatus != "INSYNC" {
		t.Errorf("%+v", st)
	}
}

// ACM assigns the record of a certificate, which the object follows until it is deleted, also after the certificate.
func TestTheRecordOfACertificateIsThatOfACM(t *testing.T) {
	s, r := recordSubject(t, recordsOf(validating))
	certificate := &v1alpha1.Certificate{}
	s.Targets = map[string]kind.Target{"Certificate/shop": {ID: "arn:of:it", Attributes: certificate.ReferableAttributes()}}
	mark := r.AWS.Mark()
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "Certificate/shop to have a validation record for *."+domain ||
		r.AWS.Since(mark).Count() > 0 {
		t.Fatalf("got %v, want to wait for ACM\n%s", err, r.AWS.Since(mark))
	}
	certificate.Status.ValidationRecords = []v1alpha1.CertificateRecord{{Name: "_1.api." + domain + ".", Type: "CNAME",
		Value: "_2.acm-validations.aws."},
		{Name: "_3." + domain + ".", Type: "CNAME", Value: "_4.acm-validations.aws."}}
	s.Targets["Certificate/shop"] = kind.Target{ID: "arn:of:it", Attributes: certificate.ReferableAttributes()}
	kindtest.Settled(t, s)
	found, owners := ofWWW(t, r)
	if len(found) != 1 || owners != 1 || *found[0].Name != "_3."+domain+"." || found[0].Type != types.RRTypeCname ||
		*found[0].TTL != defaultTTL || *found[0].ResourceRecords[0].Value != "_4.acm-validations.aws" {
		t.Fatalf("%+v, %d owner records", found, owners)
	}
	s.Targets = nil
	s.Deleting = true
	kindtest.Settled(t, s)
	if left := records(t, r); len(left) > 0 {
		t.Errorf("left behind: %+v", left)
	}
}

// ACM gives a name and all names below it the same record. The second object uses the record of the first one, and makes it when the first
// one is deleted.
func TestTheRecordOfACertificateIsShared(t *testing.T) {
	first, r := recordSubject(t, recordsOf(validating))
	certificate := &v1alpha1.Certificate{}
	certificate.Status.ValidationRecords = []v1alpha1.CertificateRecord{{Name: "_3." + domain + ".", Type: "CNAME",
		Value: "_4.acm-validations.aws."}}
	second := kindtest.NewSubject(r, engine.For(NewRecordSet), recordsOf(validating, func(s *recordSpec) { s.Validates.DomainName = domain }))
	second.Object.SetUID("uid-of-another")
	second.Object.SetNamespace("another")
	second.Object.(*v1alpha1.Route53RecordSet).Spec.HostedZoneID = first.Object.(*v1alpha1.Route53RecordSet).Spec.HostedZoneID
	targets := map[string]kind.Target{"Certificate/shop": {ID: "arn:of:it", Attributes: certificate.ReferableAttributes()}}
	first.Targets, second.Targets = targets, targets
	kindtest.Settled(t, first)
	kindtest.Settled(t, second)
	if len(second.Actions) > 0 || second.Object.CommonStatus().ID != "" {
		t.Fatalf("the record of another owner was written: %v, status %+v", second.Actions, second.Object.CommonStatus())
	}
	first.Deleting = true
	kindtest.Settled(t, first)
	second.Forget()
	kindtest.Settled(t, second)
	if found, owners := ofWWW(t, r); len(found) != 1 || owners != 1 {
		t.Errorf("%+v, %d owner records", found, owners)
	}
	certificate.Status.ValidationRecords[0].Value = "_5.acm-validations.aws."
	other := kindtest.NewSubject(r, engine.For(NewRecordSet), second.Object)
	other.Object.SetUID("uid-of-a-third")
	other.Object.SetNamespace("third")
	other.Targets = map[string]kind.Target{"Certificate/shop": {ID: "arn:of:it", Attributes: certificate.ReferableAttributes()}}
	*other.Object.CommonStatus() = v1alpha1.CommonStatus{}
	if _, err := other.Settle(t.Context(), nil); err == nil {
		t.Error("a record of another account's certificate was taken for the same")
	}
}
