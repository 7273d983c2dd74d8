// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// zoneIn makes a hosted zone and returns its ID.
func zoneIn(t *testing.T, c *route53.Client, reference string) *string {
	t.Helper()
	out, err := c.CreateHostedZone(t.Context(), &route53.CreateHostedZoneInput{Name: aws.String("example.com"), CallerReference: &reference,
		HostedZoneConfig: &types.HostedZoneConfig{PrivateZone: true}, VPC: vpcNamed("vpc-1")})
	must.Succeed(t, err)
	return aws.String((*out.HostedZone.Id)[len("/hostedzone/"):])
}

func vpcNamed(id string) *types.VPC { return &types.VPC{VPCId: &id, VPCRegion: types.VPCRegionEuWest1} }

func zonesOf(t *testing.T) (*emulator.Proxy, *route53.Client) {
	p := proxy(t)
	return p, route53.NewFromConfig(config(p.URL()))
}

func TestRoute53_MakesOneZoneForACallerReference(t *testing.T) {
	_, c := zonesOf(t)
	zoneIn(t, c, "one")
	_, err := c.CreateHostedZone(t.Context(),
		&route53.CreateHostedZoneInput{Name: aws.String("example.com"), CallerReference: aws.String("one")})
	if code(err) != "HostedZoneAlreadyExists" {
		t.Errorf("%v", err)
	}
	zoneIn(t, c, "two")
}

func TestRoute53_KeepsZonesWithDelegations(t *testing.T) {
	p, c := zonesOf(t)
	id := zoneIn(t, c, "one")
	record := func(action types.ChangeAction) {
		t.Helper()
		_, err := c.ChangeResourceRecordSets(t.Context(),
			&route53.ChangeResourceRecordSetsInput{HostedZoneId: id, ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{Action: action,
				ResourceRecordSet: &types.ResourceRecordSet{Name: aws.String("sub.example.com"), Type: types.RRTypeNs, TTL: aws.Int64(60),
					ResourceRecords: []types.ResourceRecord{{Value: aws.String("ns.example.net")}}}}}}})
		must.Succeed(t, err)
	}
	record(types.ChangeActionCreate)
	_, err := c.DeleteHostedZone(t.Context(), &route53.DeleteHostedZoneInput{Id: id})
	if code(err) != "HostedZoneNotEmpty" {
		t.Errorf("%v", err)
	}
	found, err := p.Inventory(t.Context())
	must.Succeed(t, err)
	if zones, records := found["route53/zone"], found["route53/record"]; !slices.Equal(zones, []string{"example.com."}) ||
		!slices.Equal(records, []string{"sub.example.com. NS"}) {
		t.Errorf("zones %q, records %q", zones, records)
	}
	record(types.ChangeActionDelete)
	_, err = c.DeleteHostedZone(t.Context(), &route53.DeleteHostedZoneInput{Id: id})
	must.Succeed(t, err)
}

func TestRoute53_AssociatesAVPCOnce(t *testing.T) {
	_, c := zonesOf(t)
	id := zoneIn(t, c, "one")
	associate := func(vpc string) error {
		_, err := c.AssociateVPCWithHostedZone(t.Context(), &route53.AssociateVPCWithHostedZoneInput{HostedZoneId: id, VPC: vpcNamed(vpc)})
		return err
	}
	disassociate := func(vpc string) error {
		_, err := c.DisassociateVPCFromHostedZone(t.Context(), &route53.DisassociateVPCFromHostedZoneInput{HostedZoneId: id, VPC: vpcNamed(vpc)})
		return err
	}
	must.Succeed(t, associate("vpc-2"))
	if err := associate("vpc-2"); code(err) != "ConflictingDomainExists" {
		t.Errorf("%v", err)
	}
	must.Succeed(t, disassociate("vpc-2"))
	if err := disassociate("vpc-2"); code(err) != "VPCAssociationNotFound" {
		t.Errorf("%v", err)
	}
	if err := disassociate("vpc-1"); code(err) != "LastVPCAssociation" {
		t.Errorf("%v", err)
	}
}

func TestRoute53_LimitsTagsToThoseOfAZone(t *testing.T) {
	_, c := zonesOf(t)
	id := zoneIn(t, c, "one")
	var tags []types.Tag
	for i := range 11 {
		tags = append(tags, types.Tag{Key: aws.String(fmt.Sprint("k", i)), Value: aws.String("v")})
	}
	for _, n := range []int{10, 11} {
		_, err := c.ChangeTagsForResource(t.Context(),
			&route53.ChangeTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: id, AddTags: tags[:n]})
		if (code(err) == "InvalidInput") != (n > 10) {
			t.Errorf("%d tags: %v", n, err)
		}
	}
	_, err := c.DeleteHostedZone(t.Context(), &route53.DeleteHostedZoneInput{Id: id})
	must.Succeed(t, err)
	_, err = c.ListTagsForResource(t.Context(),
		&route53.ListTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: id})
	if code(err) != "NoSuchHostedZone" {
		t.Errorf("%v", err)
	}
}

// changes requests changes of one address.
func changes(t *testing.T, c *route53.Client, zone *string, name string, changes ...string) (string, error) {
	t.Helper()
	batch := &types.ChangeBatch{}
	for _, text := range changes {
		action, value, _ := strings.Cut(text, " ")
		batch.Changes = append(batch.Changes, types.Change{Action: types.ChangeAction(action),
			ResourceRecordSet: &types.ResourceRecordSet{Name: &name, Type: types.RRTypeA, TTL: aws.Int64(60),
				ResourceRecords: []types.ResourceRecord{{Value: &value}}}})
	}
	out, err := c.ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: zone, ChangeBatch: batch})
	if err != nil {
		return "", err
	}
	return *out.ChangeInfo.Id, nil
}

func TestRoute53_MakesAllChangesOfARequestOrNone(t *testing.T) {
	p, c := zonesOf(t)
	id := zoneIn(t, c, "one")
	for _, tt := range []struct {
		request []string
		refused string
		left    int
	}{
		{[]string{"CREATE 192.0.2.1"}, "", 1},
		{[]string{"CREATE 192.0.2.2"}, "but it already exists", 1},
		{[]string{"DELETE 192.0.2.2"}, "do not match the current values", 1},
		{[]string{"DELETE 192.0.2.1", "DELETE 192.0.2.1"}, "but it was not found", 1},
		{[]string{"UPSERT 192.0.2.2"}, "", 1},
		{[]string{"DELETE 192.0.2.2", "CREATE 192.0.2.1"}, "", 1},
		{[]string{"DELETE 192.0.2.1"}, "", 0},
		{[]string{"CREATE 192.0.2.1"}, "", 1},
	} {
		_, err := changes(t, c, id, "www.example.com", tt.request...)
		var batch *types.InvalidChangeBatch
		if (err != nil) != (tt.refused != "") || err != nil &&
			(!errors.As(err, &batch) || !strings.Contains(strings.Join(batch.Messages, ""), tt.refused)) {
			t.Errorf("%s: %v, want %q", tt.request, err, tt.refused)
		}
		found, err := p.Inventory(t.Context())
		must.Succeed(t, err)
		if n := len(found["route53/record"]); n != tt.left {
			t.Errorf("%s: %d records are left, want %d", tt.request, n, tt.left)
		}
	}
}

// Route 53 compares the values of a record set that is deleted whatever their order.
func TestRoute53_DeletesValuesInAnyOrder(t *testing.T) {
	p, c := zonesOf(t)
	id := zoneIn(t, c, "one")
	change := func(action types.ChangeAction, values ...string) error {
		set := &types.ResourceRecordSet{Name: aws.String("www.example.com"), Type: types.RRTypeA, TTL: aws.Int64(60)}
		for _, v := range values {
			set.ResourceRecords = append(set.ResourceRecords, types.ResourceRecord{Value: &v})
		}
		_, err := c.ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: id,
			ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{Action: action, ResourceRecordSet: set}}}})
		return err
	}
	must.Succeed(t, change(types.ChangeActionCreate, "192.0.2.1", "192.0.2.2", "192.0.2.3"))
	if err := change(types.ChangeActionDelete, "192.0.2.1", "192.0.2.2"); err == nil {
		t.Error("a deletion of some of the values is accepted")
	}
	must.Succeed(t, change(types.ChangeActionDelete, "192.0.2.3", "192.0.2.1", "192.0.2.2"))
	found, err := p.Inventory(t.Context())
	if err != nil || len(found["route53/record"]) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestRoute53_AnswersWithEscapedNames(t *testing.T) {
	_, c := zonesOf(t)
	id := zoneIn(t, c, "one")
	_, err := changes(t, c, id, "*.example.com", "CREATE 192.0.2.1")
	must.Succeed(t, err)
	out, err := c.ListResourceRecordSets(t.Context(),
		&route53.ListResourceRecordSetsInput{HostedZoneId: id, StartRecordName: aws.String("*.example.com"), StartRecordType: types.RRTypeA})
	must.Succeed(t, err)
	name := *out.ResourceRecordSets[0].Name
	if name != `\052.example.com.` {
		t.Errorf("%s", name)
	}
	_, err = changes(t, c, id, name, "DELETE 192.0.2.1")
	must.Succeed(t, err)
}

func TestRoute53_ChangesTakeTheirTime(t *testing.T) {
	p, c := zonesOf(t)
	id := zoneIn(t, c, "one")
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.Route53.SetRecordChangesTake(time.Minute)
	t.Cleanup(func() { p.SetClock(nil); p.Route53.SetRecordChangesTake(0) })
	first, err := changes(t, c, id, "www.example.com", "UPSERT 192.0.2.1")
	must.Succeed(t, err)
	second, err := changes(t, c, id, "www.example.com", "UPSERT 192.0.2.2")
	must.Succeed(t, err)
	if first == second {
		t.Errorf("two changes have the identifier %s", first)
	}
	for _, want := range []types.ChangeStatus{types.ChangeStatusPending, types.ChangeStatusInsync} {
		out, err := c.GetChange(t.Context(), &route53.GetChangeInput{Id: &second})
		must.Succeed(t, err)
		if out.ChangeInfo.Status != want {
			t.Errorf("%s, want %s", out.ChangeInfo.Status, want)
		}
		now = now.Add(time.Minute)
	}
}
