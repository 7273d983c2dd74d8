// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type gatewaySpec = v1alpha1.InternetGatewaySpec

func gatewayOf(edits ...func(s *gatewaySpec)) *v1alpha1.InternetGateway {
	o := &v1alpha1.InternetGateway{}
	o.Name = "internet"
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

// of attaches the gateway to the VPC of a name.
func of(vpc string) func(s *gatewaySpec) {
	return func(s *gatewaySpec) { s.VPCRef = &v1alpha1.ObjectReference{Name: vpc} }
}

func detached(s *gatewaySpec) { s.VPCID = aws.String("") }

func gatewayTag(k, v string) func(s *gatewaySpec) {
	return func(s *gatewaySpec) { withTag(&s.CommonSpec, k, v) }
}

// inNetworks makes two VPCs.
func inNetworks(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	inNetwork(t, s)
	s.Targets["VPC/other"] = kind.Target{ID: makeVPC(t, s.Rig, nil)}
}

func gateways(t *testing.T, r *kindtest.Rig) []types.InternetGateway {
	t.Helper()
	out, err := api(r).DescribeInternetGateways(t.Context(), &ec2.DescribeInternetGatewaysInput{})
	kindtest.Must(t, err)
	return out.InternetGateways
}

func onGateway(f func(ctx context.Context, c *ec2.Client, g types.InternetGateway) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), gateways(t, r)[0]))
	}
}

func detachGateway(ctx context.Context, c *ec2.Client, g types.InternetGateway) error {
	_, err := c.DetachInternetGateway(ctx,
		&ec2.DetachInternetGatewayInput{InternetGatewayId: g.InternetGatewayId, VpcId: g.Attachments[0].VpcId})
	return err
}

func deleteGateway(ctx context.Context, c *ec2.Client, g types.InternetGateway) error {
	_, err := c.DeleteInternetGateway(ctx, &ec2.DeleteInternetGatewayInput{InternetGatewayId: g.InternetGatewayId})
	return err
}

func makeGateway(t *testing.T, r *kindtest.Rig, tags map[string]string) *string {
	t.Helper()
	out, err := api(r).CreateInternetGateway(t.Context(),
		&ec2.CreateInternetGatewayInput{TagSpecifications: tagSpecification(types.ResourceTypeInternetGateway, tags)})
	kindtest.Must(t, err)
	return out.InternetGateway.InternetGatewayId
}

func existingGateway(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeGateway(t, r, tags) }
}

const (
	createIGW = "ec2:CreateInternetGateway"
	attachIGW = "ec2:AttachInternetGateway"
	detachIGW = "ec2:DetachInternetGateway"
	deleteIGW = "ec2:DeleteInternetGateway"
)

func TestInternetGateway(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewInternetGateway), inNetworks, slices.Concat(gatewayLives(), gatewayEdits(), gatewayDeletions()))
}

func gatewayLives() []kindtest.Case {
	earlier := ownedTags("InternetGateway", "internet", "an-earlier-one")
	taken := func(t *testing.T, r *kindtest.Rig) {
		for _, vpc := range vpcs(t, r) {
			_, err := api(r).AttachInternetGateway(t.Context(),
				&ec2.AttachInternetGatewayInput{InternetGatewayId: makeGateway(t, r, nil), VpcId: vpc.VpcId})
			kindtest.Must(t, err)
		}
	}
	return []kindtest.Case{
		{Name: "absent is created and attached", Object: gatewayOf(of("network")), Cause: engine.New, Actions: []string{createIGW}},
		{Name: "without a VPC", Object: gatewayOf(), Cause: engine.New, Actions: []string{createIGW}},
		{Name: "detached", Object: gatewayOf(detached), Cause: engine.New, Actions: []string{createIGW}},
		{Name: "a gateway that vanished is created again", Existing: gatewayOf(), Object: gatewayOf(), Drift: true,
			Before: onGateway(deleteGateway), Cause: engine.New, Actions: []string{createIGW}},
		{Name: "left by an earlier object of this name, it is taken over", Object: gatewayOf(of("network")), Before: existingGateway(earlier),
			Cause: engine.Edited, Diff: []string{"VPCID", "Tags[nexus.ai/owner-uid]"}, Actions: []string{tag, attachIGW}},
		{Name: "a VPC that has a gateway is refused by AWS", Object: gatewayOf(of("network")), Before: taken, Stalled: status.ReasonRefusedByAWS,
			OnRun: true},
		{Name: "a VPC by identifier and by reference is refused", Object: gatewayOf(of("network"), detached), Stalled: status.ReasonInvalidSpec},
	}
}

func gatewayEdits() []kindtest.Case {
	attached, moved := gatewayOf(of("network")), gatewayOf(of("other"))
	elsewhere := func(t *testing.T, r *kindtest.Rig) {
		g := gateways(t, r)[0]
		kindtest.Must(t, detachGateway(t.Context(), api(r), g))
		for _, vpc := range vpcs(t, r) {
			if *vpc.VpcId != *g.Attachments[0].VpcId {
				_, err := api(r).AttachInternetGateway(t.Context(),
					&ec2.AttachInternetGatewayInput{InternetGatewayId: g.InternetGatewayId, VpcId: vpc.VpcId})
				kindtest.Must(t, err)
			}
		}
	}
	return []kindtest.Case{
		{Name: "is attached", Existing: gatewayOf(), Object: attached, Cause: engine.Edited, Diff: []string{"VPCID"},
			Actions: []string{attachIGW}},
		{Name: "moves to another VPC", Existing: attached, Object: moved, Cause: engine.Edited, Diff: []string{"VPCID", "OtherVPCID"},
			Actions: []string{detachIGW, attachIGW}},
		{Name: "is detached", Existing: attached, Object: gatewayOf(detached), Cause: engine.Edited, Diff: []string{"OtherVPCID"},
			Actions: []string{detachIGW}},
		{Name: "an attachment that is no longer declared stays", Existing: attached, Object: gatewayOf(), Cause: engine.InSync},
		{Name: "detached by somebody, it is attached again", Existing: attached, Object: attached, Drift: true, Before: onGateway(detachGateway),
			Cause: engine.Drifted,
			Diff:  []string{"VPCID"}, Actions: []string{attachIGW}},
		{Name: "attached elsewhere by somebody, it returns", Existing: attached, Object: attached, Drift: true, Before: elsewhere,
			Cause: engine.Drifted,
			Diff:  []string{"VPCID", "OtherVPCID"}, Actions: []string{detachIGW, attachIGW}},
		{Name: "tags are added and dropped", Existing: gatewayOf(gatewayTag("old", "1")), Object: gatewayOf(gatewayTag("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func gatewayDeletions() []kindtest.Case {
	refusedOnce := func(_ *testing.T, r *kindtest.Rig) {
		r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DetachInternetGateway", Times: 1},
			emulator.Fail(400, "DependencyViolation", "Network has some mapped public address(es)."))
	}
	attached, orphan := gatewayOf(of("network")), gatewayOf(of("network"), func(s *gatewaySpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	return []kindtest.Case{
		{Name: "is detached and deleted", Existing: attached, Object: attached, Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{detachIGW, deleteIGW}},
		{Name: "deleting one that is not attached", Existing: gatewayOf(), Object: gatewayOf(), Deleting: true, Drift: true,
			Cause: engine.Deleting, Actions: []string{deleteIGW}},
		{Name: "a refused detachment is sent again once no public address is left", Existing: attached, Object: attached, Deleting: true,
			Drift: true, Before: refusedOnce,
			Cause: engine.Deleting, Actions: []string{detachIGW, deleteIGW}},
		{Name: "deleting what is gone", Existing: gatewayOf(), Object: gatewayOf(), Deleting: true, Drift: true, Before: onGateway(deleteGateway),
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func gatewayLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: gatewayOf(of("network"), gatewayTag("team", "a")), Facts: func(s *kindtest.Subject) { inNetworks(t, s) },
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(gateways(t, r))
			if n > 1 {
				t.Errorf("%d gateways were made\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Edited:  gatewayOf(of("other"), gatewayTag("team", "b")),
		Invalid: []v1alpha1.Resource{gatewayOf(of("network"), detached)},
	}
}

func TestInternetGatewaySurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewInternetGateway), gatewayLife(t))
}

func TestInternetGatewaySurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewInternetGateway), gatewayLife(t))
}

func TestInternetGatewayCosts(t *testing.T) {
	s, _ := subjectIn(t, engine.For(NewInternetGateway), gatewayOf(of("network")))
	// two searches by tags, the create, a look, the attachment, a look; a look; a look, two writes, two looks that verify the deletion
	costs(t, s, [2]int{6, 2}, [2]int{1, 0}, [2]int{5, 2})
}

func TestPublicAddressesHoldADetachment(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewInternetGateway), gatewayOf(of("network")))
	kindtest.Settled(t, s)
	subnet := makeSubnet(t, r, block, nil)
	makeInterface(t, r, &subnet)
	address, err := api(r).AllocateAddress(t.Context(), &ec2.AllocateAddressInput{Domain: types.DomainTypeVpc})
	kindtest.Must(t, err)
	interfaces, err := api(r).DescribeNetworkInterfaces(t.Context(),
		&ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{{Name: aws.String("subnet-id"), Values: []string{subnet}}}})
	kindtest.Must(t, err)
	associated, err := api(r).AssociateAddress(t.Context(),
		&ec2.AssociateAddressInput{AllocationId: address.AllocationId, NetworkInterfaceId: interfaces.NetworkInterfaces[0].NetworkInterfaceId})
	kindtest.Must(t, err)
	s.Deleting = true
	mark := r.AWS.Mark()
	held(t, s, "1 network interface with a public address of ")
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Errorf("%d writes to a gateway in use:\n%s", n, r.AWS.Since(mark))
	}
	_, err = api(r).DisassociateAddress(t.Context(), &ec2.DisassociateAddressInput{AssociationId: associated.AssociationId})
	kindtest.Must(t, err)
	kindtest.Settled(t, s)
	if left := gateways(t, r); len(left) > 0 {
		t.Error("the gateway was left behind")
	}
}

func TestAnInternetGatewayIsAdoptedByItsIdentifier(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewInternetGateway), gatewayOf())
	id := *makeGateway(t, r, map[string]string{"theirs": "1"})
	s.AllowAdoption = true
	s.Edit(gatewayOf(of("network"), func(s *gatewaySpec) { s.ImportID = id; adopting(&s.CommonSpec) }))
	kindtest.Settled(t, s)
	if g := gateways(t, r); len(g) != 1 || kind.TagMap(g[0].Tags)["nexus.ai/owner-uid"] != "uid-of-internet" ||
		kind.TagMap(g[0].Tags)["theirs"] != "1" {
		t.Errorf("%+v", g)
	}
}

func TestPublishedFieldsOfAnInternetGateway(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewInternetGateway), gatewayOf(of("network")))
	kindtest.Settled(t, s)
	st := s.Object.(*v1alpha1.InternetGateway).Status
	if st.InternetGatewayID == "" || st.ID != st.InternetGatewayID || st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+
		":internet-gateway/"+st.ID ||
		st.State != "available" || st.VPCID != *vpcID(t, r) {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["internetGatewayID"] != st.ID || a["vpcID"] != st.VPCID {
		t.Error(a)
	}
}
