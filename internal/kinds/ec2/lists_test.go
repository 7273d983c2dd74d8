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
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestInstance_ListsOfOthers(t *testing.T) {
	facts := func(s *kindtest.Subject) { inServers(t, s) }
	added := func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		var ids []string
		for _, g := range groups(t, r) {
			ids = append(ids, *g.GroupId)
		}
		changeServer(ec2.ModifyInstanceAttributeInput{Groups: ids})(t, r)
	}
	kindtest.Lists(t, engine.For(NewInstance),
		kindtest.List{Field: "blockDeviceMappings", Fixed: true}, // immutable
		kindtest.List{Field: "securityGroupRefs", Fixed: true},   // the same list for EC2
		kindtest.List{Field: "securityGroupIDs", Object: instanceOf(grouped("web")), Facts: facts, Exact: true, Add: added,
			Has: func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return len(servers(t, r)[0].SecurityGroups) > 1 }})
}

func TestRouteTable_ListsOfOthers(t *testing.T) {
	facts := func(s *kindtest.Subject) { inRouted(t, s) }
	theirs := aws.String("172.16.0.0/12")
	kindtest.Lists(t, engine.For(NewRouteTable),
		kindtest.List{Field: "subnetRefs", Fixed: true}, // the same list for EC2
		kindtest.List{Field: "routes", Object: tableOf(routes(by("internet", "0.0.0.0/0"))), Facts: facts, Exact: true,
			Add: func(t *testing.T, r *kindtest.Rig) {
				t.Helper()
				_, err := api(r).CreateRoute(t.Context(),
					&ec2.CreateRouteInput{RouteTableId: tables(t, r)[0].RouteTableId, DestinationCidrBlock: theirs,
						GatewayId: gateways(t, r)[0].InternetGatewayId})
				kindtest.Must(t, err)
			},
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return slices.ContainsFunc(tables(t, r)[0].Routes, func(o types.Route) bool { return aws.ToString(o.DestinationCidrBlock) == *theirs })
			}},
		kindtest.List{Field: "subnetAssociations", Object: tableOf(usedBy("a")), Facts: facts, Exact: true,
			Add: func(t *testing.T, r *kindtest.Rig) {
				t.Helper()
				d := tables(t, r)[0]
				for _, s := range subnets(t, r) {
					if aws.ToString(s.SubnetId) != aws.ToString(d.Associations[0].SubnetId) {
						_, err := api(r).AssociateRouteTable(t.Context(), &ec2.AssociateRouteTableInput{RouteTableId: d.RouteTableId, SubnetId: s.SubnetId})
						kindtest.Must(t, err)
					}
				}
			},
			Has: func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return len(tables(t, r)[0].Associations) > 1 }})
}

func TestSecurityGroup_ListsOfOthers(t *testing.T) {
	theirs := []types.IpPermission{{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(22), ToPort: aws.Int32(22),
		IpRanges: []types.IpRange{{CidrIp: aws.String("10.0.0.0/8")}}}}
	isTheirs := func(p types.IpPermission) bool { return aws.ToInt32(p.FromPort) == 22 }
	facts := func(s *kindtest.Subject) { inNetwork(t, s) }
	object := groupOf(in(tcp(80, "10.0.0.0/8")), out(tcp(443, "10.0.0.0/8")))
	kindtest.Lists(t, engine.For(NewSecurityGroup),
		kindtest.List{Field: "ingressRules", Object: object, Facts: facts, Exact: true,
			Add: onGroup(func(ctx context.Context, c *ec2.Client, id *string) error {
				_, err := c.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: theirs})
				return err
			}),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return slices.ContainsFunc(groups(t, r)[0].IpPermissions, isTheirs)
			}},
		kindtest.List{Field: "egressRules", Object: object, Facts: facts, Exact: true,
			Add: onGroup(func(ctx context.Context, c *ec2.Client, id *string) error {
				_, err := c.AuthorizeSecurityGroupEgress(ctx, &ec2.AuthorizeSecurityGroupEgressInput{GroupId: id, IpPermissions: theirs})
				return err
			}),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return slices.ContainsFunc(groups(t, r)[0].IpPermissionsEgress, isTheirs)
			}})
}

// The AWS Load Balancer Controller's rule that lets a load balancer reach the pods of a group outlives checks and edits of the group, and
// is shown. A group that declares its rules as exclusive loses it, and a rule that is declared is the object's, whatever its description.
func TestSecurityGroup_LeavesTheRulesOfControllersAlone(t *testing.T) {
	for _, mark := range []string{"elbv2.k8s.aws/targetGroupBinding=shared", "kubernetes.io/rule/nlb/client=a953ad6f802b345f"} {
		t.Run(mark, func(t *testing.T) {
			r := kindtest.NewRig(t)
			s := kindtest.NewSubject(r, engine.For(NewSecurityGroup), groupOf(in(tcp(80, "10.0.0.0/8")), out(tcp(443, "10.0.0.0/8"))))
			inNetwork(t, s)
			kindtest.Settled(t, s)
			theirs := []types.IpPermission{{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(8080), ToPort: aws.Int32(8080),
				IpRanges: []types.IpRange{{CidrIp: aws.String("10.0.0.0/8"), Description: &mark}}}}
			_, err := api(r).AuthorizeSecurityGroupIngress(t.Context(),
				&ec2.AuthorizeSecurityGroupIngressInput{GroupId: groups(t, r)[0].GroupId, IpPermissions: theirs})
			kindtest.Must(t, err)
			stays := func() bool {
				return slices.ContainsFunc(groups(t, r)[0].IpPermissions, func(p types.IpPermission) bool { return aws.ToInt32(p.FromPort) == 8080 })
			}
			for round := range extent.Size(t, 5, 100) {
				s.Forget()
				kindtest.Settled(t, s)
				s.Edit(groupOf(in(tcp(int32(81+round), "10.0.0.0/8")), out(tcp(443, "10.0.0.0/8"))))
				kindtest.Settled(t, s)
				if !stays() {
					t.Fatalf("round %d: the rule is gone\n%s", round, r.AWS.Calls())
				}
			}
			if shown := s.Object.(*v1alpha1.SecurityGroup).Status.ControllerRules; len(shown) != 1 ||
				shown[0] != "ingress tcp 8080-8080 10.0.0.0/8: "+mark {
				t.Errorf("the status shows %q", shown)
			}
			declared := groupOf(in(described(tcp(8080, "10.0.0.0/8"), "to the pods")), out(tcp(443, "10.0.0.0/8")))
			s.Edit(declared)
			kindtest.Settled(t, s)
			if got := groups(t, r)[0].IpPermissions; len(got) != 1 || aws.ToString(got[0].IpRanges[0].Description) != "to the pods" {
				t.Errorf("declared: %+v", got)
			}
			_, err = api(r).UpdateSecurityGroupRuleDescriptionsIngress(t.Context(),
				&ec2.UpdateSecurityGroupRuleDescriptionsIngressInput{GroupId: groups(t, r)[0].GroupId, IpPermissions: theirs})
			kindtest.Must(t, err)
			exclusive := groupOf(in(tcp(80, "10.0.0.0/8")), out(tcp(443, "10.0.0.0/8")))
			exclusive.Spec.ExclusiveRules = true
			s.Edit(exclusive)
			kindtest.Settled(t, s)
			if stays() {
				t.Error("the exclusive group has the rule")
			}
		})
	}
}
