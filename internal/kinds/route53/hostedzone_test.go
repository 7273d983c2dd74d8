// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	domain    = "shop.example.com"
	oneVPC    = "vpc-00000000000000001"
	secondVPC = "vpc-00000000000000002"

	createZone    = "route53:CreateHostedZone"
	setComment    = "route53:UpdateHostedZoneComment"
	associate     = "route53:AssociateVPCWithHostedZone"
	disassociate  = "route53:DisassociateVPCFromHostedZone"
	changeTags    = "route53:ChangeTagsForResource"
	removeZone    = "route53:DeleteHostedZone"
	missingZoneID = "Z0123456789ABCDEFGHIJ"
)

type (
	zoneSpec = v1alpha1.Route53HostedZoneSpec
	zoneEdit = func(s *zoneSpec)
)

func zoneOf(edits ...zoneEdit) *v1alpha1.Route53HostedZone {
	o := &v1alpha1.Route53HostedZone{}
	o.Name, o.Spec.Name = "shop", domain
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func comment(text string) zoneEdit { return func(s *zoneSpec) { s.Comment = &text } }

func private(ids ...string) zoneEdit {
	return func(s *zoneSpec) {
		s.PrivateZone = true
		for _, id := range ids {
			s.VPCs = append(s.VPCs, v1alpha1.HostedZoneVPC{VPCID: id})
		}
	}
}

// privateInOne declares the only VPC as users of infra-operator do.
func privateInOne(s *zoneSpec) { s.PrivateZone, s.VPCID, s.VPCRegion = true, oneVPC, "eu-west-1" }

func privateByRef(s *zoneSpec) {
	s.PrivateZone, s.VPCs = true, []v1alpha1.HostedZoneVPC{{VPCRef: &v1alpha1.ObjectReference{Name: "network"}}}
}

func tagged(k, v string) zoneEdit {
	return func(s *zoneSpec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func observes(s *zoneSpec) { s.ManagementPolicy = v1alpha1.ManageObserve }

func deletion(p v1alpha1.DeletionPolicy) zoneEdit {
	return func(s *zoneSpec) { s.DeletionPolicy = p }
}

func adopts(s *zoneSpec) {
	s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete
}

func recreates(s *zoneSpec) { s.RecreateOnLoss = true }

func tooManyTags(s *zoneSpec) {
	s.Tags = map[string]v1alpha1.TagValue{}
	for i := range 7 {
		s.Tags[fmt.Sprint("t", i)] = "v"
	}
}

func inVPC(s *kindtest.Subject) { s.Targets = map[string]kind.Target{"VPC/network": {ID: oneVPC}} }

func api(r *kindtest.Rig) *route53.Client { return route53.NewFromConfig(r.Config) }

func zones(t *testing.T, r *kindtest.Rig) []types.HostedZone {
	t.Helper()
	out, err := api(r).ListHostedZones(t.Context(), &route53.ListHostedZonesInput{})
	kindtest.Must(t, err)
	return out.HostedZones
}

func tagsOfZone(t *testing.T, r *kindtest.Rig) map[string]string {
	t.Helper()
	out, err := api(r).ListTagsForResource(t.Context(),
		&route53.ListTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: aws.String(zoneIDOf(zones(t, r)[0].Id))})
	kindtest.Must(t, err)
	return kind.TagMap(out.ResourceTagSet.Tags)
}

// makeZone makes a zone outside the operator and returns its ID.
func makeZone(t *testing.T, r *kindtest.Rig, name, reference string, tags map[string]string) string {
	t.Helper()
	out, err := api(r).CreateHostedZone(t.Context(), &route53.CreateHostedZoneInput{Name: &name, CallerReference: &reference})
	kindtest.Must(t, err)
	id := zoneIDOf(out.HostedZone.Id)
	if len(tags) > 0 {
		_, err = api(r).ChangeTagsForResource(t.Context(),
			&route53.ChangeTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: &id,
				AddTags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
	}
	return id
}

func existing(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { t.Helper(); makeZone(t, r, domain, "theirs", tags) }
}

func onZone(f func(ctx context.Context, c *route53.Client, id *string) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), aws.String(zoneIDOf(zones(t, r)[0].Id))))
	}
}

func dropZone(ctx context.Context, c *route53.Client, id *string) error {
	_, err := c.DeleteHostedZone(ctx, &route53.DeleteHostedZoneInput{Id: id})
	return err
}

// addRecord makes a delegation, which is an NS record beside that of the zone.
func addRecord(ctx context.Context, c *route53.Client, id *string) error {
	return change(ctx, c, id, types.ChangeActionCreate)
}

func change(ctx context.Context, c *route53.Client, id *string, action types.ChangeAction) error {
	_, err := c.ChangeResourceRecordSets(ctx,
		&route53.ChangeResourceRecordSetsInput{HostedZoneId: id, ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{Action: action,
			ResourceRecordSet: &types.ResourceRecordSet{Name: aws.String("sub." + domain), Type: types.RRTypeNs, TTL: aws.Int64(60),
				ResourceRecords: []types.ResourceRecord{{Value: aws.String("ns.example.net")}}}}}}})
	return err
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "Route53HostedZone", Namespace: kindtest.Namespace, Name: "shop", UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestHostedZone(t *testing.T) {
	kindtest.Run(t, engine.For(NewHostedZone), slices.Concat(lives(), edits(), drifts(), deletions(), owners()))
}

func lives() []kindtest.Case {
	refused := func(name string, edits ...zoneEdit) kindtest.Case {
		return kindtest.Case{Name: name, Object: zoneOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	row := func(name string, o *v1alpha1.Route53HostedZone, actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Object: o, Cause: engine.New, Actions: actions}
	}
	byRef := row("with a VPC by reference", zoneOf(privateByRef), createZone)
	byRef.Facts = inVPC
	return []kindtest.Case{
		row("absent is created", zoneOf(), createZone),
		row("with a comment and tags", zoneOf(comment("names"), tagged("team", "a")), createZone),
		row("with capitals and a trailing dot", zoneOf(func(s *zoneSpec) { s.Name = "Shop.Example.COM." }), createZone),
		row("of a range of addresses", zoneOf(func(s *zoneSpec) { s.Name = "0/25.2.0.192.in-addr.arpa" }), createZone),
		row("private in one VPC", zoneOf(privateInOne), createZone),
		row("private in two VPCs", zoneOf(private(oneVPC, secondVPC)), createZone),
		byRef,
		refused("public in a VPC", func(s *zoneSpec) { s.VPCID = oneVPC }),
		refused("private without a VPC", private()),
		refused("VPCs in two ways", private(oneVPC), func(s *zoneSpec) { s.VPCID = oneVPC }),
		refused("a region without a VPC", func(s *zoneSpec) { s.VPCRegion = "eu-west-1" }),
		refused("more tags than a zone can have", tooManyTags),
		refused("no domain", func(s *zoneSpec) { s.Name = "shop..com" }),
	}
}

func edits() []kindtest.Case {
	row := func(name string, from, to *v1alpha1.Route53HostedZone, diff []string, actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: from, Object: to, Cause: engine.Edited, Diff: diff, Actions: actions}
	}
	stalled := func(name, reason string, from, to *v1alpha1.Route53HostedZone) kindtest.Case {
		return kindtest.Case{Name: name, Existing: from, Object: to, Stalled: reason}
	}
	return []kindtest.Case{
		row("a comment", zoneOf(), zoneOf(comment("names")), []string{"Comment"}, setComment),
		row("another comment", zoneOf(comment("names")), zoneOf(comment("other names")), []string{"Comment"}, setComment),
		row("no comment", zoneOf(comment("names")), zoneOf(comment("")), []string{"Comment"}, setComment),
		{Name: "a comment that is no longer declared stays", Existing: zoneOf(comment("names")), Object: zoneOf(), Cause: engine.InSync},
		row("one more VPC", zoneOf(private(secondVPC)), zoneOf(private(oneVPC, secondVPC)), []string{"VPCs[" + oneVPC + "]"}, associate),
		row("one VPC less", zoneOf(private(oneVPC, secondVPC)), zoneOf(private(secondVPC)), []string{"VPCs[" + oneVPC + "]"}, disassociate),
		row("another VPC", zoneOf(private(oneVPC)), zoneOf(private(secondVPC)), []string{"VPCs[" + secondVPC + "]", "VPCs[" + oneVPC + "]"},
			associate, disassociate),
		row("tags are added and dropped by one call", zoneOf(tagged("old", "1")), zoneOf(tagged("team", "a")),
			[]string{"Tags[team]", "Tags[old]"}, changeTags),
		stalled("another name", status.ReasonImmutable, zoneOf(), zoneOf(func(s *zoneSpec) { s.Name = "other.example.com" })),
		stalled("private instead of public", status.ReasonImmutable, zoneOf(), zoneOf(private(oneVPC))),
	}
}

func drifts() []kindtest.Case {
	row := func(path string, object *v1alpha1.Route53HostedZone, action string,
		change func(ctx context.Context, c *route53.Client, id *string) error) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: object, Object: object, Drift: true, Before: onZone(change),
			Cause: engine.Drifted, Diff: []string{path}, Actions: []string{action}}
	}
	lost := func(name string, o *v1alpha1.Route53HostedZone) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Drift: true, Before: onZone(dropZone)}
	}
	missing, again := lost("a zone that vanished is reported", zoneOf()),
		lost("a zone that vanished is created again where allowed", zoneOf(recreates))
	missing.Stalled = status.ReasonMissing
	again.Cause, again.Actions = engine.New, []string{createZone}
	return []kindtest.Case{
		row("Comment", zoneOf(comment("names")), setComment, func(ctx context.Context, c *route53.Client, id *string) error {
			_, err := c.UpdateHostedZoneComment(ctx, &route53.UpdateHostedZoneCommentInput{Id: id, Comment: aws.String("theirs")})
			return err
		}),
		row("VPCs["+secondVPC+"]", zoneOf(private(oneVPC)), disassociate, func(ctx context.Context, c *route53.Client, id *string) error {
			_, err := c.AssociateVPCWithHostedZone(ctx, &route53.AssociateVPCWithHostedZoneInput{HostedZoneId: id,
				VPC: &types.VPC{VPCId: aws.String(secondVPC), VPCRegion: types.VPCRegionEuWest1}})
			return err
		}),
		row("Tags[team]", zoneOf(tagged("team", "a")), changeTags, func(ctx context.Context, c *route53.Client, id *string) error {
			_, err := c.ChangeTagsForResource(ctx, &route53.ChangeTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: id,
				AddTags: []types.Tag{{Key: aws.String("team"), Value: aws.String("b")}}})
			return err
		}),
		{Name: "records are none of the zone's business", Existing: zoneOf(), Object: zoneOf(), Drift: true, Before: onZone(addRecord),
			Cause: engine.InSync},
		missing, again,
	}
}

func deletions() []kindtest.Case {
	row := func(name string, o *v1alpha1.Route53HostedZone, before func(*testing.T, *kindtest.Rig), actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Deleting: true, Drift: true, Before: before, Cause: engine.Deleting,
			Actions: actions}
	}
	gone := row("deleting what is gone", zoneOf(), onZone(dropZone))
	gone.Cause = engine.Gone
	orphan := row("Orphan removes the owner tags and nothing else", zoneOf(deletion(v1alpha1.DeletionOrphan)), nil, changeTags)
	orphan.Diff = ownerPaths
	return []kindtest.Case{
		row("deleting", zoneOf(), nil, removeZone), row("deleting a private one", zoneOf(private(oneVPC, secondVPC)), nil, removeZone), gone,
		orphan,
		{Name: "deleting a zone with records waits", Existing: zoneOf(), Object: zoneOf(), Deleting: true, Drift: true, Before: onZone(addRecord),
			Waiting: status.ReasonHostedZoneNotEmpty, OnRun: true},
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: zoneOf(),
			Before: existing(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{changeTags}},
		{Name: "another's zone of the same name stays theirs", Object: zoneOf(), Before: existing(map[string]string{"theirs": "1"}),
			Cause: engine.New, Actions: []string{createZone}},
		{Name: "another cluster's is not taken", Object: zoneOf(), Before: existing(ownerTags("theirs", "another")), Cause: engine.New,
			Actions: []string{createZone}},
		{Name: "owner tags that were removed are restored", Existing: zoneOf(), Object: zoneOf(), Drift: true, Cause: engine.Drifted,
			Diff: ownerPaths, Actions: []string{changeTags},
			Before: onZone(func(ctx context.Context, c *route53.Client, id *string) error {
				_, err := c.ChangeTagsForResource(ctx,
					&route53.ChangeTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: id,
						RemoveTagKeys: kind.SortedKeys(ownerTags("", ""))})
				return err
			})},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: zoneOf(private(oneVPC, secondVPC), comment("names"), tagged("team", "a")),
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(zones(t, r))
			if n > 1 {
				t.Errorf("%d zones were made\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Edited:  zoneOf(private(secondVPC), comment("other names"), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{zoneOf(private(oneVPC), tooManyTags)},
	}
}

func TestHostedZoneSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewHostedZone), life())
}

func TestHostedZoneSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewHostedZone), life())
}

func subject(t *testing.T, o *v1alpha1.Route53HostedZone) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewHostedZone), o), r
}

// The operator never deletes records: it says how many there are, and how to go on.
func TestADeletionWaitsForRecords(t *testing.T) {
	s, r := subject(t, zoneOf())
	kindtest.Settled(t, s)
	onZone(addRecord)(t, r)
	s.Deleting = true
	for range 3 {
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonHostedZoneNotEmpty ||
			!strings.Contains(w.Error(), "holds 1 record set beside its NS and SOA records; delete them, or set deletionPolicy: Retain") {
			t.Fatalf("got %v", err)
		}
	}
	if n := zones(t, r)[0].ResourceRecordSetCount; *n != 3 {
		t.Fatalf("%d records are left", *n)
	}
	onZone(func(ctx context.Context, c *route53.Client, id *string) error {
		return change(ctx, c, id, types.ChangeActionDelete)
	})(t, r)
	kindtest.Settled(t, s)
}

// CreateHostedZone takes no tags: until the next call, only the caller reference shows the owner of the zone.
func TestAZoneWithoutTagsIsKnownByItsCallerReference(t *testing.T) {
	s, r := subject(t, zoneOf())
	r.AWS.Fault(emulator.Match{Service: "route53", Op: "ChangeTagsForResource", Times: 1}, emulator.Throttle())
	if _, err := s.Pass(t.Context(), nil); err == nil {
		t.Fatal("the tags were written: the test proves nothing")
	}
	makeZone(t, r, domain, "theirs", nil)
	s.Object.CommonStatus().ID = ""
	s.Forget()
	kindtest.Settled(t, s)
	if n := r.AWS.Calls().Match("route53", "CreateHostedZone", "").Count(); n != 2 {
		t.Errorf("%d zones, want that of the object and another's", n)
	}
	if id := s.Object.CommonStatus().ID; id != zoneIDOf(zones(t, r)[0].Id) || tagsOfZone(t, r)["nexus.ai/owner-uid"] != "uid-of-shop" {
		t.Errorf("%s, %v", id, tagsOfZone(t, r))
	}
}

func TestADeletedObjectWhoseZoneHasNoTagsDeletesIt(t *testing.T) {
	s, r := subject(t, zoneOf())
	r.AWS.Fault(emulator.Match{Service: "route53", Op: "ChangeTagsForResource", Times: 1}, emulator.Throttle())
	if _, err := s.Pass(t.Context(), nil); err == nil {
		t.Fatal("the tags were written: the test proves nothing")
	}
	s.Object.CommonStatus().ID = ""
	s.Forget()
	s.Deleting = true
	kindtest.Settled(t, s)
	if left := zones(t, r); len(left) > 0 {
		t.Errorf("%d zones are left", len(left))
	}
}

func TestAVPCThatIsNotReadyIsWaitedFor(t *testing.T) {
	s, r := subject(t, zoneOf(privateByRef))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "VPC/network" || r.AWS.Calls().Count() > 0 {
		t.Fatalf("got %v, want to wait for the VPC\n%s", err, r.AWS.Calls())
	}
	inVPC(s)
	kindtest.Settled(t, s)
}

func TestTheRegionOfAVPC(t *testing.T) {
	for want, o := range map[string]*v1alpha1.Route53HostedZone{"eu-west-1": zoneOf(privateInOne), kindtest.Region: zoneOf(private(oneVPC))} {
		s, r := subject(t, o)
		kindtest.Settled(t, s)
		out, err := api(r).GetHostedZone(t.Context(), &route53.GetHostedZoneInput{Id: zones(t, r)[0].Id})
		kindtest.Must(t, err)
		if len(out.VPCs) != 1 || *out.VPCs[0].VPCId != oneVPC || string(out.VPCs[0].VPCRegion) != want {
			t.Errorf("%+v, want %s", out.VPCs, want)
		}
	}
}

func TestAZoneIsAdoptedByItsIdentifier(t *testing.T) {
	s, r := subject(t, zoneOf())
	id := makeZone(t, r, domain, "by hand", map[string]string{"theirs": "1"})
	s.AllowAdoption = true
	s.Edit(zoneOf(adopts, func(s *zoneSpec) { s.ImportID = id }))
	kindtest.Settled(t, s)
	if tags := tagsOfZone(t, r); len(zones(t, r)) != 1 || tags["nexus.ai/owner-uid"] != "uid-of-shop" || tags["theirs"] != "1" {
		t.Errorf("%v", tags)
	}
}

func TestImportID_NeverCreatesAnotherZone(t *testing.T) {
	s, _ := subject(t, zoneOf(adopts, func(s *zoneSpec) { s.ImportID = missingZoneID }))
	s.AllowAdoption = true
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonMissing {
		t.Fatalf("%v", err)
	}
}

func TestAZoneIsObservedByItsName(t *testing.T) {
	s, r := subject(t, zoneOf(observes))
	observed := func(s *kindtest.Subject) v1alpha1.Route53HostedZoneStatus {
		return s.Object.(*v1alpha1.Route53HostedZone).Status
	}
	makeZone(t, r, "www."+domain, "longer", nil)
	_, err := api(r).CreateHostedZone(t.Context(),
		&route53.CreateHostedZoneInput{Name: aws.String(domain), CallerReference: aws.String("private"),
			HostedZoneConfig: &types.HostedZoneConfig{PrivateZone: true}, VPC: &types.VPC{VPCId: aws.String(oneVPC), VPCRegion: "us-east-1"}})
	kindtest.Must(t, err)
	mark := r.AWS.Mark()
	_, err = s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonMissing || observed(s).ID != "" {
		t.Errorf("without a public zone: %v, ID %q", err, observed(s).ID)
	}
	makesNone := func(what string) {
		t.Helper()
		if n := r.AWS.Since(mark).Writes().Count(); n > 0 {
			t.Errorf("%s: %d writes", what, n)
		}
	}
	makesNone("absent")
	id := makeZone(t, r, domain, "public", nil)
	mark = r.AWS.Mark()
	kindtest.Settled(t, s)
	if st := observed(s); st.ID != id || len(st.NameServers) != 4 {
		t.Errorf("%+v, want %s", st, id)
	}
	makesNone("present")
	makeZone(t, r, domain, "of another namespace",
		map[string]string{wellknown.TagOwner: "Route53HostedZone/other/zone", wellknown.TagOwnerUID: "theirs",
			wellknown.TagCluster: kindtest.Cluster})
	again := kindtest.NewSubject(r, engine.For(NewHostedZone), zoneOf(observes))
	kindtest.Settled(t, again)
	if observed(again).ID != id {
		t.Errorf("leads to %s beside a zone of another namespace", observed(again).ID)
	}
	other := makeZone(t, r, domain, "second", nil)
	mark = r.AWS.Mark()
	s.Forget()
	kindtest.Settled(t, s)
	if observed(s).ID != id {
		t.Errorf("leads to %s after another zone of the name came", observed(s).ID)
	}
	late := kindtest.NewSubject(r, engine.For(NewHostedZone), zoneOf(observes))
	_, err = late.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Field != "spec.importID" || !strings.Contains(st.Message, id) ||
		!strings.Contains(st.Message, other) {
		t.Errorf("two zones of the name: %v", err)
	}
	s.Edit(zoneOf(deletion(v1alpha1.DeletionDelete)))
	_, err = s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonOwnershipUnknown {
		t.Errorf("with managementPolicy Full: %v", err)
	}
	s.Deleting = true
	if _, err = s.Settle(t.Context(), nil); err == nil {
		t.Error("a zone that nothing proves to be the object's is deleted")
	}
	makesNone("managed, then deleted")
}

func TestHostedZoneCosts(t *testing.T) {
	s, _ := subject(t, zoneOf(private(oneVPC, secondVPC)))
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create",
			Calls: map[string]int{"ListHostedZonesByName": 1, "CreateHostedZone": 1, "ChangeTagsForResource": 1, "AssociateVPCWithHostedZone": 1,
				"GetHostedZone": 2, "ListTagsForResource": 2}},
		kindtest.Cost{Name: "check", Calls: map[string]int{"GetHostedZone": 1, "ListTagsForResource": 1}, Change: s.Forget},
		kindtest.Cost{Name: "delete",
			Calls:  map[string]int{"GetHostedZone": 2, "ListTagsForResource": 1, "DeleteHostedZone": 1, "ListHostedZonesByName": 1},
			Change: func() { s.Deleting = true }})
}

func TestPublishedFieldsOfAZone(t *testing.T) {
	s, r := subject(t, zoneOf())
	kindtest.Settled(t, s)
	st, d := s.Object.(*v1alpha1.Route53HostedZone).Status, zones(t, r)[0]
	id := zoneIDOf(d.Id)
	if st.ID != id || st.HostedZoneID != id || st.ARN != "arn:aws:route53:::hostedzone/"+id || len(st.NameServers) != 4 ||
		st.ResourceRecordSetCount != 2 {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["hostedZoneID"] != id {
		t.Error(a)
	}
}

func TestNamesAreComparedAsRoute53AnswersWithThem(t *testing.T) {
	for name, want := range map[string]string{
		"Shop.Example.com": "shop.example.com.", "shop.example.com.": "shop.example.com.", `\052.example.com.`: "*.example.com.",
		`0\05725.2.0.192.in-addr.arpa.`: "0/25.2.0.192.in-addr.arpa.", `odd\9.example.com`: `odd\9.example.com.`, `end\05`: `end\05.`, "": ".",
	} {
		if got := canonicalName(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
