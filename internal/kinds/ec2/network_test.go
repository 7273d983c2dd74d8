// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// network is the reference to the VPC that inNetwork makes.
var network = v1alpha1.VPCReference{VPCRef: &v1alpha1.ObjectReference{Name: "network"}}

// inNetwork makes a VPC without an owner, for the references of the objects of a test.
func inNetwork(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	s.Targets = map[string]kind.Target{"VPC/network": {ID: makeVPC(t, s.Rig, nil)}}
}

// subjectIn returns an object in a network.
func subjectIn(t *testing.T, e engine.Entry, o v1alpha1.Resource) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, e, o)
	inNetwork(t, s)
	return s, r
}

// ownedTags returns the tags of an earlier object of the kind and name.
func ownedTags(kindName, name, uid string) map[string]string {
	return engine.Identity{Kind: kindName, Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: kindtest.Cluster}.OwnerTags()
}

// vpcID is the identifier of the only VPC of a test.
func vpcID(t *testing.T, r *kindtest.Rig) *string {
	t.Helper()
	return vpcs(t, r)[0].VpcId
}

// adopting sets the policies of an object that adopts a resource.
func adopting(c *v1alpha1.CommonSpec) {
	c.AdoptionPolicy, c.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete
}

func withTag(c *v1alpha1.CommonSpec, key, value string) {
	c.Tags = map[string]v1alpha1.TagValue{key: v1alpha1.TagValue(value)}
}

// makeInterface makes a network interface in a subnet, which keeps the subnet and the groups.
func makeInterface(t *testing.T, r *kindtest.Rig, subnet *string, groups ...string) func() {
	t.Helper()
	out, err := api(r).CreateNetworkInterface(t.Context(), &ec2.CreateNetworkInterfaceInput{SubnetId: subnet, Groups: groups})
	kindtest.Must(t, err)
	return func() {
		_, err := api(r).DeleteNetworkInterface(context.WithoutCancel(t.Context()),
			&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: out.NetworkInterface.NetworkInterfaceId})
		kindtest.Must(t, err)
	}
}

// makeSubnet makes a subnet of the only VPC.
func makeSubnet(t *testing.T, r *kindtest.Rig, block string, tags map[string]string) string {
	t.Helper()
	out, err := api(r).CreateSubnet(t.Context(),
		&ec2.CreateSubnetInput{VpcId: vpcID(t, r), CidrBlock: &block, TagSpecifications: tagSpecification(types.ResourceTypeSubnet, tags)})
	kindtest.Must(t, err)
	return aws.ToString(out.Subnet.SubnetId)
}

// held asserts that the deletion is held with the words.
func held(t *testing.T, s *kindtest.Subject, words string) {
	t.Helper()
	for range 2 {
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, words) ||
			!strings.Contains(w.For, "deletionPolicy: Retain") {
			t.Fatalf("%v", err)
		}
	}
}

// costs asserts the number of calls and of writes of a create, a check and a deletion.
func costs(t *testing.T, s *kindtest.Subject, create, check, deletion [2]int) {
	t.Helper()
	mark := s.Rig.AWS.Mark()
	phase := func(what string, want [2]int) {
		t.Helper()
		kindtest.Settled(t, s)
		if got := s.Rig.AWS.Since(mark); got.Count() != want[0] || got.Writes().Count() != want[1] {
			t.Errorf("%s took %d calls with %d writes, want %v:\n%s", what, got.Count(), got.Writes().Count(), want, got)
		}
		mark = s.Rig.AWS.Mark()
	}
	phase("create", create)
	phase("check", check)
	if s.Entry.Name() != "EC2KeyPair" { // which is read by its name
		sharesChecks(t, s, check[0])
	}
	mark = s.Rig.AWS.Mark()
	s.Deleting = true
	phase("delete", deletion)
}

// sharesChecks expects that a check also reads the resources of other objects with a check due, and that its answer serves these, while the
// check of a resource that is not in the answer makes a separate call.
func sharesChecks(t *testing.T, s *kindtest.Subject, alone int) {
	t.Helper()
	kindOf, id := s.Entry.Bind(s.Rig.Config), s.Object.CommonStatus().ID
	absent := id[:strings.LastIndex(id, "-")] + "-0123456789abcdef0"
	check := func(what, of, upcoming string, shared bool, calls int) {
		t.Helper()
		sc, o := s.Scope(), s.Owner()
		sc.ID = of
		o.Check = &kind.Check{At: s.Clock, Since: s.Clock.Add(-time.Second),
			Upcoming: func(context.Context) []string { return []string{upcoming} }}
		mark := s.Rig.AWS.Mark()
		p, err := kindOf.Decide(t.Context(), sc, o, s.Object)
		got := s.Rig.AWS.Since(mark)
		if err != nil || p.Cause != engine.InSync || o.Check.Shared != shared || got.Count() != calls {
			t.Errorf("%s: %s, shared %t, %v; %d calls, want %d:\n%s", what, p.Cause, o.Check.Shared, err, got.Count(), calls, got)
		}
	}
	check("the check that reads for another", id, absent, false, alone)
	check("the check of a resource that the answer lacks", absent, id, false, alone+2) // by the filter, by the identifier, by the tags
	check("the check that the answer serves", id, absent, true, alone-1)
	check("the next check", id, absent, false, alone)
}

func waits(err error) bool {
	_, ok := status.AsWaiting(err)
	return ok
}
