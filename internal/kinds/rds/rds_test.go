// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	tag   = "rds:AddTagsToResource"
	untag = "rds:RemoveTagsFromResource"
)

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func api(r *kindtest.Rig) *rds.Client { return rds.NewFromConfig(r.Config) }

func settled(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	if _, err := s.Settle(t.Context(), nil); err != nil {
		t.Fatalf("%v\n%s", err, s.Rig.AWS.Calls())
	}
}

func ownerTags(kindName, name, uid string) map[string]string {
	return engine.Identity{Kind: kindName, Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: kindtest.Cluster}.OwnerTags()
}

func withTag(c *v1alpha1.CommonSpec, k, v string) {
	c.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)}
}

// inNetwork makes a VPC with a subnet in each of three zones and a security group, and the targets of references to them.
func inNetwork(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	c := ec2.NewFromConfig(s.Rig.Config)
	vpc, err := c.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.20.0.0/16")})
	kindtest.Must(t, err)
	if s.Targets == nil {
		s.Targets = map[string]kind.Target{}
	}
	for zone, block := range map[string]string{"a": "10.20.1.0/24", "b": "10.20.2.0/24", "c": "10.20.3.0/24"} {
		out, err := c.CreateSubnet(t.Context(),
			&ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: &block, AvailabilityZone: aws.String(s.Rig.Region + zone)})
		kindtest.Must(t, err)
		s.Targets["Subnet/"+zone] = kind.Target{ID: *out.Subnet.SubnetId}
	}
	for _, name := range []string{"databases", "others"} {
		group, err := c.CreateSecurityGroup(t.Context(),
			&ec2.CreateSecurityGroupInput{VpcId: vpc.Vpc.VpcId, GroupName: &name, Description: &name})
		kindtest.Must(t, err)
		s.Targets["SecurityGroup/"+name] = kind.Target{ID: *group.GroupId}
	}
}

// subnetIDs are the subnets that inNetwork made.
func subnetIDs(t *testing.T, r *kindtest.Rig, zones ...string) []string {
	t.Helper()
	out, err := ec2.NewFromConfig(r.Config).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	kindtest.Must(t, err)
	var ids []string
	for _, zone := range zones {
		for _, s := range out.Subnets {
			if !aws.ToBool(s.DefaultForAz) && *s.AvailabilityZone == kindtest.Region+zone {
				ids = append(ids, *s.SubnetId)
			}
		}
	}
	return ids
}

// subjectIn returns an object in a network.
func subjectIn(t *testing.T, e engine.Entry, o v1alpha1.Resource) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, e, o)
	inNetwork(t, s)
	return s, r
}

func stalls(t *testing.T, err error, reason string) {
	t.Helper()
	if st, ok := status.AsStalled(err); !ok || st.Reason != reason {
		t.Fatalf("got %v, want %s", err, reason)
	}
}

// costs asserts the number of calls and of writes of a create, a check, an edit and a deletion.
func costs(t *testing.T, s *kindtest.Subject, edited v1alpha1.Resource, create, check, edit, deletion [2]int) {
	t.Helper()
	mark := s.Rig.AWS.Mark()
	phase := func(what string, want [2]int) {
		t.Helper()
		settled(t, s)
		if got := s.Rig.AWS.Since(mark); got.Count() != want[0] || got.Writes().Count() != want[1] {
			t.Errorf("%s took %d calls with %d writes, want %v:\n%s", what, got.Count(), got.Writes().Count(), want, got)
		}
		mark = s.Rig.AWS.Mark()
	}
	phase("create", create)
	phase("check", check)
	s.Edit(edited)
	phase("edit", edit)
	s.Deleting = true
	phase("delete", deletion)
}
