// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const name, cidr = "network", "10.20.0.0/16"

type spec = v1alpha1.VPCSpec

func vpcOf(edits ...func(s *spec)) *v1alpha1.VPC {
	o := &v1alpha1.VPC{}
	o.Name, o.Spec.CIDRBlock = name, cidr
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func dns(support, hostnames bool) func(s *spec) {
	return func(s *spec) { s.EnableDNSSupport, s.EnableDNSHostnames = &support, &hostnames }
}

func tagged(k, v string) func(s *spec) {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) func(s *spec) {
	return func(s *spec) { s.DeletionPolicy = p }
}

func always(s *spec) {
	s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete
}

func imports(id string) func(s *spec) { return func(s *spec) { s.ImportID = id } }

func api(r *kindtest.Rig) *ec2.Client { return ec2.NewFromConfig(r.Config) }

// vpcs are the VPCs in AWS, without the account's default VPC.
func vpcs(t *testing.T, r *kindtest.Rig) []types.Vpc {
	t.Helper()
	out, err := api(r).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	kindtest.Must(t, err)
	return slices.DeleteFunc(out.Vpcs, func(v types.Vpc) bool { return aws.ToBool(v.IsDefault) })
}

// exists reports whether there is a VPC, and fails the test when there are several.
func exists(t *testing.T, r *kindtest.Rig) bool {
	t.Helper()
	found := vpcs(t, r)
	if len(found) > 1 {
		t.Errorf("%d VPCs were made\n%s", len(found), r.AWS.Calls())
	}
	return len(found) > 0
}

func makeVPC(t *testing.T, r *kindtest.Rig, tags map[string]string) string {
	t.Helper()
	out, err := api(r).CreateVpc(t.Context(),
		&ec2.CreateVpcInput{CidrBlock: aws.String(cidr), TagSpecifications: tagSpecification(types.ResourceTypeVpc, tags)})
	kindtest.Must(t, err)
	return *out.Vpc.VpcId
}

func before(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeVPC(t, r, tags) }
}

// onVPC calls f with the only VPC.
func onVPC(f func(ctx context.Context, c *ec2.Client, id *string) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), vpcs(t, r)[0].VpcId))
	}
}

func deleteVPC(ctx context.Context, c *ec2.Client, id *string) error {
	_, err := c.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: id})
	return err
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "VPC", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

const ourUID = "uid-of-" + name

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

const (
	create = "ec2:CreateVpc"
	modify = "ec2:ModifyVpcAttribute"
	tag    = "ec2:CreateTags"
	untag  = "ec2:DeleteTags"
	remove = "ec2:DeleteVpc"
)

func TestVPC(t *testing.T) {
	kindtest.Run(t, engine.For(NewVPC), slices.Concat(lives(), edits(), deletions(), owners()))
}

func lives() []kindtest.Case {
	return []kindtest.Case{
		{Name: "absent is created, and only the create is planned", Object: vpcOf(dns(true, true)), Cause: engine.New, Actions: []string{create}},
		{Name: "with a tenancy", Object: vpcOf(func(s *spec) { s.InstanceTenancy = "dedicated" }), Cause: engine.New, Actions: []string{create}},
		{Name: "a VPC that vanished is created again", Existing: vpcOf(), Object: vpcOf(), Drift: true, Before: onVPC(deleteVPC),
			Cause: engine.New, Actions: []string{create}},
		{Name: "a range with host bits is refused", Object: vpcOf(func(s *spec) { s.CIDRBlock = "10.20.0.1/16" }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "host names need DNS support", Object: vpcOf(dns(false, true)), Stalled: status.ReasonInvalidSpec},
		{Name: "Stop is refused before there is anything to delete", Object: vpcOf(deletion(v1alpha1.DeletionStop)),
			Stalled: status.ReasonInvalidSpec},
	}
}

func edits() []kindtest.Case {
	hostnamesOff := onVPC(func(ctx context.Context, c *ec2.Client, id *string) error {
		_, err := c.ModifyVpcAttribute(ctx,
			&ec2.ModifyVpcAttributeInput{VpcId: id, EnableDnsHostnames: &types.AttributeBooleanValue{Value: aws.Bool(false)}})
		return err
	})
	return []kindtest.Case{
		{Name: "host names on", Existing: vpcOf(), Object: vpcOf(dns(true, true)), Cause: engine.Edited, Diff: []string{"DNSHostnames"},
			Actions: []string{modify}},
		{Name: "both on", Existing: vpcOf(dns(false, false)), Object: vpcOf(dns(true, true)), Cause: engine.Edited,
			Diff: []string{"DNSSupport", "DNSHostnames"}, Actions: []string{modify, modify}},
		{Name: "both off", Existing: vpcOf(dns(true, true)), Object: vpcOf(dns(false, false)), Cause: engine.Edited,
			Diff: []string{"DNSSupport", "DNSHostnames"}, Actions: []string{modify, modify}},
		{Name: "host names are restored", Existing: vpcOf(dns(true, true)), Object: vpcOf(dns(true, true)), Drift: true, Before: hostnamesOff,
			Cause: engine.Drifted, Diff: []string{"DNSHostnames"}, Actions: []string{modify}},
		{Name: "host names that are not declared may change", Existing: vpcOf(), Object: vpcOf(), Drift: true, Before: hostnamesOff,
			Cause: engine.InSync},
		{Name: "tags are added and dropped", Existing: vpcOf(tagged("old", "1")), Object: vpcOf(tagged("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "another range", Existing: vpcOf(), Object: vpcOf(func(s *spec) { s.CIDRBlock = "10.21.0.0/16" }),
			Stalled: status.ReasonImmutable},
		{Name: "another tenancy", Existing: vpcOf(), Object: vpcOf(func(s *spec) { s.InstanceTenancy = "dedicated" }),
			Stalled: status.ReasonImmutable},
	}
}

func deletions() []kindtest.Case {
	subnet := onVPC(func(ctx context.Context, c *ec2.Client, id *string) error {
		_, err := c.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: id, CidrBlock: aws.String("10.20.1.0/24")})
		return err
	})
	refusedOnce := func(_ *testing.T, r *kindtest.Rig) {
		r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DeleteVpc", Times: 1},
			emulator.Fail(400, "DependencyViolation", "The vpc has dependencies and cannot be deleted."))
	}
	orphan := vpcOf(deletion(v1alpha1.DeletionOrphan))
	return []kindtest.Case{
		{Name: "deleting", Existing: vpcOf(), Object: vpcOf(), Deleting: true, Drift: true, Cause: engine.Deleting, Actions: []string{remove}},
		{Name: "a refused deletion is sent again once nothing is left in the VPC", Existing: vpcOf(), Object: vpcOf(), Deleting: true,
			Drift: true, Before: refusedOnce,
			Cause: engine.Deleting, Actions: []string{remove}},
		{Name: "deleting what is gone", Existing: vpcOf(), Object: vpcOf(), Deleting: true, Drift: true, Before: onVPC(deleteVPC),
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true, Before: subnet,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: vpcOf(),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: vpcOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's object of this name has its own", Object: vpcOf(), Before: before(ownerTags("an-earlier-one", "another")),
			Cause: engine.New, Actions: []string{create}},
		{Name: "a VPC without owner is not searched for", Object: vpcOf(always), Before: before(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Cause: engine.New, Actions: []string{create}},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: vpcOf(dns(true, true), tagged("team", "a")), Exists: exists,
		Edited:  vpcOf(dns(true, false), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{vpcOf(func(s *spec) { s.CIDRBlock = "10.20.0.1/16" }), vpcOf(dns(false, true))},
	}
}

func TestVPCSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewVPC), life()) }

func TestVPCSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewVPC), life()) }

func subject(t *testing.T, o *v1alpha1.VPC) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewVPC), o), r
}

func statusOf(s *kindtest.Subject) v1alpha1.VPCStatus { return s.Object.(*v1alpha1.VPC).Status }

func stalls(t *testing.T, err error, reason string) {
	t.Helper()
	if st, ok := status.AsStalled(err); !ok || st.Reason != reason {
		t.Fatalf("got %v, want to stall with %s", err, reason)
	}
}

func TestImportID_AdoptsAVPCWhereAllowed(t *testing.T) {
	s, r := subject(t, vpcOf())
	id := makeVPC(t, r, map[string]string{"theirs": "1"})
	s.Object.(*v1alpha1.VPC).Spec.ImportID = id
	s.AllowAdoption = true
	mark := r.AWS.Mark()
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonConflict)
	s.Edit(vpcOf(imports(id), always))
	s.AllowAdoption = false
	_, err = s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonConflict)
	if n := r.AWS.Since(mark).Writes().Count(); n > 0 || statusOf(s).ID != "" {
		t.Fatalf("%d writes to a foreign VPC, id %q", n, statusOf(s).ID)
	}
	s.AllowAdoption = true
	kindtest.Settled(t, s)
	got := vpcs(t, r)
	tags := kind.TagMap(got[0].Tags)
	if len(got) != 1 || statusOf(s).ID != id || tags["theirs"] != "1" || tags["nexus.ai/owner-uid"] != ourUID {
		t.Fatalf("%+v %v", statusOf(s), tags)
	}
	s.Edit(vpcOf(imports("vpc-0123456789abcdef0"), always))
	_, err = s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonIdentityChanged)
	s.Deleting = true
	kindtest.Settled(t, s)
	if exists(t, r) {
		t.Error("the adopted VPC was left behind")
	}
}

func TestImportID_NeverCreatesAnotherVPC(t *testing.T) {
	const absent = "vpc-0123456789abcdef0"
	s, r := subject(t, vpcOf(imports(absent), always))
	s.AllowAdoption = true
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonMissing)
	id := makeVPC(t, r, nil)
	s, _ = kindtest.NewSubject(r, engine.For(NewVPC), vpcOf(imports(id), always)), r
	s.AllowAdoption = true
	kindtest.Settled(t, s)
	onVPC(deleteVPC)(t, r)
	_, err = s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonMissing)
	if exists(t, r) {
		t.Error("another VPC took the place of the imported one")
	}
}

func TestImportID_ObservesWithoutAdopting(t *testing.T) {
	s, r := subject(t, vpcOf())
	id := makeVPC(t, r, nil)
	s.Object.(*v1alpha1.VPC).Spec.ImportID = id
	s.Object.(*v1alpha1.VPC).Spec.ManagementPolicy = v1alpha1.ManageObserve
	mark := r.AWS.Mark()
	kindtest.Settled(t, s)
	if n := r.AWS.Since(mark).Writes().Count(); n > 0 || statusOf(s).VPCID != id {
		t.Fatalf("%d writes, %+v", n, statusOf(s))
	}
}

// CreateVpc has no client token: only the search by tags and the wait keep the VPC single.
func TestThreeLostCreatesMakeOneVPC(t *testing.T) {
	lags := map[string]emulator.Lag{"no lag": {}, "lag in time": emulator.LikeAWS(), "lag in reads": emulator.LikeAWS().InReads(2)}
	answers := map[string]emulator.Action{"answers": emulator.LoseAnswer(), "requests": emulator.DropBefore()}
	for lagging, lag := range lags {
		for lost, action := range answers {
			for _, restarts := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s lost, %s, restarts %v", lost, lagging, restarts), func(t *testing.T) { loseCreates(t, lag, action, restarts) })
			}
		}
	}
}

func loseCreates(t *testing.T, lag emulator.Lag, action emulator.Action, restarts bool) {
	s, r := subject(t, vpcOf())
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.SetLag(lag)
	t.Cleanup(func() { r.AWS.SetLag(emulator.Lag{}); r.AWS.SetClock(nil) })
	r.AWS.Fault(emulator.Match{Service: "ec2", Op: "CreateVpc", Times: 3}, action)
	var out engine.Outcome
	var err error
	for range 2 { // three lost requests take more passes than one Settle makes
		if out, err = s.Settle(t.Context(), func() bool {
			if restarts {
				s.Forget()
			}
			return false
		}); err == nil {
			break
		}
	}
	if err != nil || !out.Synced {
		t.Fatalf("%v\n%s", err, r.AWS.Calls())
	}
	r.AWS.SetLag(emulator.Lag{})
	if n := len(vpcs(t, r)); n != 1 {
		t.Fatalf("%d VPCs\n%s", n, r.AWS.Calls())
	}
}

// Two live operators, or an index that lags for minutes, can still make a second VPC.
func TestDuplicatesAreReportedAndDeletedWithTheObject(t *testing.T) {
	s, r := subject(t, vpcOf())
	ids := []string{makeVPC(t, r, ownerTags(ourUID, kindtest.Cluster)), makeVPC(t, r, ownerTags(ourUID, kindtest.Cluster))}
	slices.Sort(ids)
	kindtest.Settled(t, s)
	c := meta.FindStatusCondition(statusOf(s).Conditions, status.DuplicateResources)
	if statusOf(s).ID != ids[0] || c == nil || c.Reason != status.ReasonDuplicateResources || !strings.Contains(c.Message, ": "+ids[1]+";") ||
		!strings.Contains(c.Message, "manages "+ids[0]) {
		t.Fatalf("%q %+v", statusOf(s).ID, c)
	}
	kindtest.Settled(t, s)
	if !meta.IsStatusConditionTrue(statusOf(s).Conditions, status.DuplicateResources) {
		t.Fatal("the condition does not last while there are duplicates")
	}
	kindtest.Must(t, deleteVPC(t.Context(), api(r), &ids[1]))
	kindtest.Settled(t, s)
	if meta.FindStatusCondition(statusOf(s).Conditions, status.DuplicateResources) != nil {
		t.Fatal("the condition outlives the duplicates")
	}
	makeVPC(t, r, ownerTags(ourUID, kindtest.Cluster))
	earlier := makeVPC(t, r, ownerTags("an-earlier-one", kindtest.Cluster))
	s.Deleting = true
	kindtest.Settled(t, s)
	if left := vpcs(t, r); len(left) != 1 || *left[0].VpcId != earlier {
		t.Errorf("the deletion left %d VPCs, want the one that this object never had", len(left))
	}
}

// One NotFound may come from a replica that lags: a second VPC would be made beside the first.
func TestVPCIsCreatedAgainOnlyAfterVerifiedAbsence(t *testing.T) {
	s, r := subject(t, vpcOf())
	kindtest.Settled(t, s)
	id := statusOf(s).ID
	r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DescribeVpcs", Times: 2},
		emulator.Fail(400, "InvalidVpcID.NotFound", "The vpc ID '"+id+"' does not exist"))
	kindtest.Settled(t, s)
	if statusOf(s).ID != id || r.AWS.Calls().Match("ec2", "CreateVpc", "").Count() != 1 {
		t.Fatalf("a second VPC was made\n%s", r.AWS.Calls())
	}
	onVPC(deleteVPC)(t, r)
	start := s.Clock
	kindtest.Settled(t, s)
	if waited := s.Clock.Sub(start); statusOf(s).ID == id || waited.Seconds() < 30 || !exists(t, r) {
		t.Fatalf("id %s after %s", statusOf(s).ID, waited)
	}
}

// The contents are counted only once EC2 has refused the deletion. networked makes a VPC with one of each resource that keeps it, and two
// subnets. It returns a function that removes them.
func networked(t *testing.T, r *kindtest.Rig, id string) (remove func()) {
	t.Helper()
	vpc, call := aws.String(id), api(r)
	subnets := make([]*string, 2)
	for i := range subnets {
		out, err := call.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: aws.String(fmt.Sprintf("10.20.%d.0/24", i+1))})
		kindtest.Must(t, err)
		subnets[i] = out.Subnet.SubnetId
	}
	gateway, err := call.CreateInternetGateway(t.Context(), &ec2.CreateInternetGatewayInput{})
	kindtest.Must(t, err)
	_, err = call.AttachInternetGateway(t.Context(),
		&ec2.AttachInternetGatewayInput{VpcId: vpc, InternetGatewayId: gateway.InternetGateway.InternetGatewayId})
	kindtest.Must(t, err)
	group, err := call.CreateSecurityGroup(t.Context(),
		&ec2.CreateSecurityGroupInput{VpcId: vpc, GroupName: aws.String("web"), Description: aws.String("web")})
	kindtest.Must(t, err)
	endpoint, err := call.CreateVpcEndpoint(t.Context(),
		&ec2.CreateVpcEndpointInput{VpcId: vpc, ServiceName: aws.String("com.amazonaws." + kindtest.Region + ".s3"),
			VpcEndpointType: types.VpcEndpointTypeGateway})
	kindtest.Must(t, err)
	egress, err := call.CreateEgressOnlyInternetGateway(t.Context(), &ec2.CreateEgressOnlyInternetGatewayInput{VpcId: vpc})
	kindtest.Must(t, err)
	vpn, err := call.CreateVpnGateway(t.Context(), &ec2.CreateVpnGatewayInput{Type: types.GatewayTypeIpsec1})
	kindtest.Must(t, err)
	_, err = call.AttachVpnGateway(t.Context(), &ec2.AttachVpnGatewayInput{VpcId: vpc, VpnGatewayId: vpn.VpnGateway.VpnGatewayId})
	kindtest.Must(t, err)
	carrier, err := call.CreateCarrierGateway(t.Context(), &ec2.CreateCarrierGatewayInput{VpcId: vpc})
	kindtest.Must(t, err)
	acl, err := call.CreateNetworkAcl(t.Context(), &ec2.CreateNetworkAclInput{VpcId: vpc})
	kindtest.Must(t, err)
	return func() {
		for _, id := range subnets {
			_, err := call.DeleteSubnet(t.Context(), &ec2.DeleteSubnetInput{SubnetId: id})
			kindtest.Must(t, err)
		}
		_, err := call.DetachInternetGateway(t.Context(),
			&ec2.DetachInternetGatewayInput{VpcId: vpc, InternetGatewayId: gateway.InternetGateway.InternetGatewayId})
		kindtest.Must(t, err)
		_, err = call.DeleteSecurityGroup(t.Context(), &ec2.DeleteSecurityGroupInput{GroupId: group.GroupId})
		kindtest.Must(t, err)
		_, err = call.DeleteVpcEndpoints(t.Context(), &ec2.DeleteVpcEndpointsInput{VpcEndpointIds: []string{*endpoint.VpcEndpoint.VpcEndpointId}})
		kindtest.Must(t, err)
		_, err = call.DeleteEgressOnlyInternetGateway(t.Context(),
			&ec2.DeleteEgressOnlyInternetGatewayInput{EgressOnlyInternetGatewayId: egress.EgressOnlyInternetGateway.EgressOnlyInternetGatewayId})
		kindtest.Must(t, err)
		_, err = call.DetachVpnGateway(t.Context(), &ec2.DetachVpnGatewayInput{VpcId: vpc, VpnGatewayId: vpn.VpnGateway.VpnGatewayId})
		kindtest.Must(t, err)
		_, err = call.DeleteCarrierGateway(t.Context(), &ec2.DeleteCarrierGatewayInput{CarrierGatewayId: carrier.CarrierGateway.CarrierGatewayId})
		kindtest.Must(t, err)
		_, err = call.DeleteNetworkAcl(t.Context(), &ec2.DeleteNetworkAclInput{NetworkAclId: acl.NetworkAcl.NetworkAclId})
		kindtest.Must(t, err)
	}
}

var namesEachDependent = regexp.MustCompile(`subnets: 2 \(subnet-\w+, subnet-\w+\), internet gateways: 1 \(igw-\w+\), security groups: 1 \(sg-\w+\), VPC endpoints: 1 \(vpce-\w+\), ` +
	`egress-only internet gateways: 1 \(eigw-\w+\), VPN gateways: 1 \(vgw-\w+\), carrier gateways: 1 \(cagw-\w+\), network ACLs: 1 \(acl-\w+\);`)

func TestDependentsHoldADeletionAndAreCounted(t *testing.T) {
	s, r := subject(t, vpcOf())
	kindtest.Settled(t, s)
	remove := networked(t, r, statusOf(s).ID)
	s.Deleting = true
	mark := r.AWS.Mark()
	for range 2 {
		_, err := s.Pass(t.Context(), nil)
		w, ok := status.AsWaiting(err)
		if !ok || w.Reason != status.ReasonInUse || !namesEachDependent.MatchString(w.For) || !strings.Contains(w.For, "deletionPolicy: Retain") {
			t.Fatalf("%v", err)
		}
	}
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Errorf("%d attempts to delete a VPC that holds resources:\n%s", n, r.AWS.Since(mark))
	}
	remove()
	kindtest.Settled(t, s)
	if exists(t, r) {
		t.Error("the VPC was left behind")
	}
}

// https://docs.aws.amazon.com/vpc/latest/peering/delete-vpc-peering-connection.html
func TestPeeringsOfEitherSideHoldADeletion(t *testing.T) {
	s, r := subject(t, vpcOf())
	kindtest.Settled(t, s)
	own, others := statusOf(s).ID, make([]string, 3)
	for i := range others {
		out, err := api(r).CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String(fmt.Sprintf("10.%d.0.0/16", 30+i))})
		kindtest.Must(t, err)
		others[i] = *out.Vpc.VpcId
	}
	peer := func(requester, accepter string) *string {
		out, err := api(r).CreateVpcPeeringConnection(t.Context(), &ec2.CreateVpcPeeringConnectionInput{VpcId: &requester, PeerVpcId: &accepter})
		kindtest.Must(t, err)
		return out.VpcPeeringConnection.VpcPeeringConnectionId
	}
	asked, accepted, rejected := peer(own, others[0]), peer(others[1], own), peer(own, others[2])
	peer(others[0], others[1])
	_, err := api(r).AcceptVpcPeeringConnection(t.Context(), &ec2.AcceptVpcPeeringConnectionInput{VpcPeeringConnectionId: accepted})
	kindtest.Must(t, err)
	_, err = api(r).RejectVpcPeeringConnection(t.Context(), &ec2.RejectVpcPeeringConnectionInput{VpcPeeringConnectionId: rejected})
	kindtest.Must(t, err)
	_, err = api(r).CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: &own, CidrBlock: aws.String("10.20.1.0/24")})
	kindtest.Must(t, err)
	s.Deleting = true
	both := []string{*asked, *accepted}
	slices.Sort(both)
	heldBy(t, s, "VPC peering connections: 2 ("+strings.Join(both, ", ")+")")

	// Resources that the operator may not count are left out: EC2 itself keeps a resource in use.
	r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DescribeVpcPeeringConnections"},
		emulator.Fail(403, "UnauthorizedOperation", "You are not authorized to perform this operation."))
	r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DescribeCarrierGateways"},
		emulator.Fail(400, "UnsupportedOperation", "The functionality you requested is not available in this region."))
	if message := heldBy(t, s, "subnets: 1 (subnet-"); strings.Contains(message, "peering") {
		t.Error(message)
	}
}

// heldBy runs a pass that is held with a text.
func heldBy(t *testing.T, s *kindtest.Subject, text string) string {
	t.Helper()
	_, err := s.Pass(t.Context(), nil)
	w, ok := status.AsWaiting(err)
	if !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, text) {
		t.Fatalf("%v, want %q", err, text)
	}
	return w.For
}

func TestVPCCosts(t *testing.T) {
	s, r := subject(t, vpcOf(dns(true, false)))
	kindtest.Settled(t, s)
	if got := r.AWS.Calls().Writes(); got.Count() != 1 {
		t.Errorf("create took %d writes, want 1:\n%s", got.Count(), got)
	}
	mark := r.AWS.Mark()
	kindtest.Settled(t, s)
	if got := r.AWS.Since(mark); got.Count() != 3 { // the VPC with its tags, two declared attributes
		t.Errorf("a check took %d calls, want 3:\n%s", got.Count(), got)
	}
	mark = r.AWS.Mark()
	s.Deleting = true
	kindtest.Settled(t, s)
	if got := r.AWS.Since(mark); got.Writes().Count() != 1 || got.Count() != 4 { // a look; the verifying look: by identifier and by tags
		t.Errorf("delete took %d calls, want 4 with 1 write:\n%s", got.Count(), got)
	}
}

func TestPublishedFields(t *testing.T) {
	s, _ := subject(t, vpcOf())
	kindtest.Settled(t, s)
	st := statusOf(s)
	if st.ID == "" || st.VPCID != st.ID || st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+":vpc/"+st.ID ||
		st.State != "available" || st.CIDRBlock != cidr || st.OwnerID != kindtest.Account || st.IsDefault {
		t.Errorf("%+v", st)
	}
	attributes := any(s.Object).(kind.Referable).ReferableAttributes()
	if attributes["vpcID"] != st.ID || attributes["cidrBlock"] != cidr || attributes["ownerID"] != kindtest.Account {
		t.Error(attributes)
	}
}
