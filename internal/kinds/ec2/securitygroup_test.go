// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"fmt"
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

type (
	groupSpec = v1alpha1.SecurityGroupSpec
	rule      = v1alpha1.SecurityGroupRule
)

func groupOf(edits ...func(s *groupSpec)) *v1alpha1.SecurityGroup { return groupNamed("web", edits...) }

func groupNamed(name string, edits ...func(s *groupSpec)) *v1alpha1.SecurityGroup {
	o := &v1alpha1.SecurityGroup{}
	o.Name, o.Spec.GroupName, o.Spec.Description, o.Spec.VPCReference = name, name, "servers", network
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func in(rules ...rule) func(s *groupSpec) {
	rules = append([]rule{}, rules...) // not nil: none is [] in JSON
	return func(s *groupSpec) { s.IngressRules = &rules }
}

func out(rules ...rule) func(s *groupSpec) {
	rules = append([]rule{}, rules...)
	return func(s *groupSpec) { s.EgressRules = &rules }
}

// tcp allows a port with IPv4 ranges.
func tcp(port int32, blocks ...v1alpha1.IPv4Range) rule {
	return rule{IPProtocol: "tcp", FromPort: &port, ToPort: &port, CIDRBlocks: blocks}
}

func described(r rule, text string) rule {
	r.Description = &text
	return r
}

func withGroup(r rule, name string) rule {
	r.SourceSecurityGroupRef, r.CIDRBlocks = &v1alpha1.ObjectReference{Name: name}, nil
	return r
}

// everything is the rule that AWS creates in a group.
var everything = rule{IPProtocol: "-1", CIDRBlocks: []v1alpha1.IPv4Range{"0.0.0.0/0"}}

// groups are the security groups in AWS, without default groups.
func groups(t *testing.T, r *kindtest.Rig) []types.SecurityGroup {
	t.Helper()
	out, err := api(r).DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{})
	kindtest.Must(t, err)
	return slices.DeleteFunc(out.SecurityGroups, func(g types.SecurityGroup) bool { return aws.ToString(g.GroupName) == "default" })
}

func onGroup(f func(ctx context.Context, c *ec2.Client, id *string) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), groups(t, r)[0].GroupId))
	}
}

func deleteGroup(ctx context.Context, c *ec2.Client, id *string) error {
	_, err := c.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: id})
	return err
}

// makeGroup makes a group in the only VPC.
func makeGroup(t *testing.T, r *kindtest.Rig, name string, tags map[string]string) string {
	t.Helper()
	out, err := api(r).CreateSecurityGroup(t.Context(),
		&ec2.CreateSecurityGroupInput{VpcId: vpcID(t, r), GroupName: &name, Description: aws.String("servers"),
			TagSpecifications: tagSpecification(types.ResourceTypeSecurityGroup, tags)})
	kindtest.Must(t, err)
	return *out.GroupId
}

func existingGroup(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeGroup(t, r, "web", tags) }
}

const (
	createSG  = "ec2:CreateSecurityGroup"
	deleteSG  = "ec2:DeleteSecurityGroup"
	authIn    = "ec2:AuthorizeSecurityGroupIngress"
	authOut   = "ec2:AuthorizeSecurityGroupEgress"
	revokeIn  = "ec2:RevokeSecurityGroupIngress"
	revokeOut = "ec2:RevokeSecurityGroupEgress"
	textIn    = "ec2:UpdateSecurityGroupRuleDescriptionsIngress"
	textOut   = "ec2:UpdateSecurityGroupRuleDescriptionsEgress"
)

func TestSecurityGroup(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewSecurityGroup), inNetwork,
		slices.Concat(groupLives(), ruleEdits(), ruleDrifts(), egressEdits(), groupDeletions()))
}

func groupLives() []kindtest.Case {
	earlier := ownedTags("SecurityGroup", "web", "an-earlier-one")
	lists := rule{IPProtocol: "udp", FromPort: aws.Int32(53), ToPort: aws.Int32(53), CIDRBlocks: []v1alpha1.IPv4Range{"10.0.0.0/8"},
		IPv6CIDRBlocks: []v1alpha1.IPv6Range{"2001:DB8::/32"}}
	ping := rule{IPProtocol: "icmp", CIDRBlocks: []v1alpha1.IPv4Range{"10.0.0.0/8"}}
	return []kindtest.Case{
		{Name: "absent is created without rules", Object: groupOf(), Cause: engine.New, Actions: []string{createSG}},
		{Name: "with rules of several peers and protocols", Object: groupOf(in(lists, ping, tcp(443, "0.0.0.0/0"))), Cause: engine.New,
			Actions: []string{createSG}},
		{Name: "with a rule for itself, by its number",
			Object: groupOf(in(withGroup(rule{IPProtocol: "6", FromPort: aws.Int32(1), ToPort: aws.Int32(2)}, "web"))), Cause: engine.New,
			Actions: []string{createSG}},
		{Name: "with other egress rules than AWS's", Object: groupOf(out(tcp(443, "0.0.0.0/0"))), Cause: engine.New, Actions: []string{createSG}},
		{Name: "with AWS's egress rule", Object: groupOf(out(everything)), Cause: engine.New, Actions: []string{createSG}},
		{Name: "without any egress rule", Object: groupOf(out()), Cause: engine.New, Actions: []string{createSG}},
		{Name: "a group that vanished is created again", Existing: groupOf(), Object: groupOf(), Drift: true, Before: onGroup(deleteGroup),
			Cause: engine.New, Actions: []string{createSG}},
		{Name: "left by an earlier object of this name, it is taken over", Object: groupOf(), Before: existingGroup(earlier),
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "a name that somebody else's group has is a conflict", Object: groupOf(), Before: existingGroup(nil),
			Stalled: status.ReasonConflict},
		{Name: "another description than that of a group that is taken over", Object: groupOf(func(s *groupSpec) { s.Description = "other" }),
			Before: existingGroup(earlier), Stalled: status.ReasonImmutable},
		{Name: "a rule with host bits is refused", Object: groupOf(in(tcp(80, "10.0.0.1/8"))), Stalled: status.ReasonInvalidSpec},
		{Name: "a rule that is declared twice is refused", Object: groupOf(in(tcp(80, "10.0.0.0/8"), tcp(80, "10.0.0.0/8"))),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a rule without peer is refused", Object: groupOf(in(tcp(80))), Stalled: status.ReasonInvalidSpec},
		{Name: "ports that are needed", Object: groupOf(in(rule{IPProtocol: "tcp", CIDRBlocks: []v1alpha1.IPv4Range{"10.0.0.0/8"}})),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a name that AWS reserves", Object: groupNamed("default"), Stalled: status.ReasonInvalidSpec},
	}
}

func ruleEdits() []kindtest.Case {
	a, b, c := tcp(80, "10.0.0.0/8"), tcp(81, "10.0.0.0/8"), tcp(82, "10.0.0.0/8", "192.168.0.0/16")
	tagged := func(k string) func(s *groupSpec) { return func(s *groupSpec) { withTag(&s.CommonSpec, k, "1") } }
	return []kindtest.Case{
		{Name: "one rule is added", Existing: groupOf(in(a)), Object: groupOf(in(b, a)), Cause: engine.Edited,
			Diff: []string{"Ingress[tcp 81-81 10.0.0.0/8]"}, Actions: []string{authIn}},
		{Name: "one rule is removed", Existing: groupOf(in(a, b)), Object: groupOf(in(b)), Cause: engine.Edited,
			Diff: []string{"Ingress[tcp 80-80 10.0.0.0/8]"}, Actions: []string{revokeIn}},
		{Name: "several rules are exchanged: authorized first", Existing: groupOf(in(a, b)), Object: groupOf(in(c)), Cause: engine.Edited,
			Diff: []string{"Ingress[tcp 82-82 10.0.0.0/8]", "Ingress[tcp 82-82 192.168.0.0/16]", "Ingress[tcp 80-80 10.0.0.0/8]",
				"Ingress[tcp 81-81 10.0.0.0/8]"},
			Actions: []string{authIn, revokeIn}},
		{Name: "another order is no difference", Existing: groupOf(in(a, c)), Object: groupOf(in(tcp(82, "192.168.0.0/16", "10.0.0.0/8"), a)),
			Cause: engine.InSync},
		{Name: "all rules are removed", Existing: groupOf(in(a)), Object: groupOf(in()), Cause: engine.Edited,
			Diff: []string{"Ingress[tcp 80-80 10.0.0.0/8]"}, Actions: []string{revokeIn}},
		{Name: "rules that are no longer declared stay", Existing: groupOf(in(a)), Object: groupOf(), Cause: engine.InSync},
		{Name: "a description is set", Existing: groupOf(in(a)), Object: groupOf(in(described(a, "web"))), Cause: engine.Edited,
			Diff: []string{"Ingress[tcp 80-80 10.0.0.0/8].Description"}, Actions: []string{textIn}},
		{Name: "a description is removed", Existing: groupOf(in(described(a, "web"))), Object: groupOf(in(described(a, ""))),
			Cause: engine.Edited,
			Diff:  []string{"Ingress[tcp 80-80 10.0.0.0/8].Description"}, Actions: []string{textIn}},
		{Name: "the description of a rule for a group changes", Existing: groupOf(in(described(withGroup(a, "web"), "one"))),
			Object: groupOf(in(described(withGroup(a, "web"), "two"))), Cause: engine.Edited,
			Diff: []string{"Ingress[tcp 80-80 self].Description"}, Actions: []string{textIn}},
		{Name: "a described rule is removed", Existing: groupOf(in(described(withGroup(a, "web"), "one"))), Object: groupOf(in()),
			Cause: engine.Edited, Diff: []string{"Ingress[tcp 80-80 self]"}, Actions: []string{revokeIn}},
		{Name: "tags are added and dropped", Existing: groupOf(tagged("old")), Object: groupOf(tagged("team")), Cause: engine.Edited,
			Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "another name", Existing: groupOf(), Object: groupOf(func(s *groupSpec) { s.GroupName = "other" }),
			Stalled: status.ReasonImmutable},
		{Name: "another description of the group", Existing: groupOf(), Object: groupOf(func(s *groupSpec) { s.Description = "other" }),
			Stalled: status.ReasonImmutable},
	}
}

func ruleDrifts() []kindtest.Case {
	web := tcp(80, "10.0.0.0/8")
	permission := func(port int32) []types.IpPermission {
		return []types.IpPermission{{IpProtocol: aws.String("tcp"), FromPort: &port, ToPort: &port,
			IpRanges: []types.IpRange{{CidrIp: aws.String("10.0.0.0/8")}}}}
	}
	opened := onGroup(func(ctx context.Context, c *ec2.Client, id *string) error {
		_, err := c.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: id, IpPermissions: permission(22)})
		return err
	})
	closed := onGroup(func(ctx context.Context, c *ec2.Client, id *string) error {
		_, err := c.RevokeSecurityGroupIngress(ctx, &ec2.RevokeSecurityGroupIngressInput{GroupId: id, IpPermissions: permission(80)})
		return err
	})
	return []kindtest.Case{
		{Name: "a rule that somebody added is removed", Existing: groupOf(in(web)), Object: groupOf(in(web)), Drift: true, Before: opened,
			Cause: engine.Drifted,
			Diff:  []string{"Ingress[tcp 22-22 10.0.0.0/8]"}, Actions: []string{revokeIn}},
		{Name: "a rule that somebody removed is added", Existing: groupOf(in(web)), Object: groupOf(in(web)), Drift: true, Before: closed,
			Cause: engine.Drifted,
			Diff:  []string{"Ingress[tcp 80-80 10.0.0.0/8]"}, Actions: []string{authIn}},
		{Name: "rules that are not declared may change", Existing: groupOf(), Object: groupOf(), Drift: true, Before: opened,
			Cause: engine.InSync},
	}
}

func egressEdits() []kindtest.Case {
	https := tcp(443, "0.0.0.0/0")
	return []kindtest.Case{
		{Name: "AWS's egress rule is replaced", Existing: groupOf(), Object: groupOf(out(https)), Cause: engine.Edited,
			Diff: []string{"Egress[tcp 443-443 0.0.0.0/0]", "Egress[all 0.0.0.0/0]"}, Actions: []string{authOut, revokeOut}},
		{Name: "an egress rule is described", Existing: groupOf(out(https)), Object: groupOf(out(described(https, "web"))), Cause: engine.Edited,
			Diff: []string{"Egress[tcp 443-443 0.0.0.0/0].Description"}, Actions: []string{textOut}},
		{Name: "all egress is forbidden", Existing: groupOf(), Object: groupOf(out()), Cause: engine.Edited,
			Diff: []string{"Egress[all 0.0.0.0/0]"}, Actions: []string{revokeOut}},
	}
}

func groupDeletions() []kindtest.Case {
	refusedOnce := func(_ *testing.T, r *kindtest.Rig) {
		r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DeleteSecurityGroup", Times: 1},
			emulator.Fail(400, "DependencyViolation", "resource sg-1 has a dependent object"))
	}
	orphan := groupOf(func(s *groupSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	return []kindtest.Case{
		{Name: "deleting", Existing: groupOf(in(tcp(80, "10.0.0.0/8"))), Object: groupOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{deleteSG}},
		{Name: "a refused deletion is sent again once nothing uses the group", Existing: groupOf(), Object: groupOf(), Deleting: true,
			Drift: true, Before: refusedOnce,
			Cause: engine.Deleting, Actions: []string{deleteSG}},
		{Name: "deleting what is gone", Existing: groupOf(), Object: groupOf(), Deleting: true, Drift: true, Before: onGroup(deleteGroup),
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func groupLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: groupOf(in(described(tcp(80, "10.0.0.0/8"), "web")), out(tcp(443, "0.0.0.0/0"))),
		Facts:  func(s *kindtest.Subject) { inNetwork(t, s) },
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(groups(t, r))
			if n > 1 {
				t.Errorf("%d groups were made\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Foreign: func(t *testing.T, r *kindtest.Rig) { makeGroup(t, r, "web", nil) },
		Edited:  groupOf(in(tcp(81, "10.0.0.0/8")), out(everything)),
		Invalid: []v1alpha1.Resource{groupOf(in(tcp(80, "10.0.0.1/8"))), groupOf(in(tcp(80)))},
	}
}

func TestSecurityGroupSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewSecurityGroup), groupLife(t))
}

func TestSecurityGroupSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewSecurityGroup), groupLife(t))
}

func TestSecurityGroupCosts(t *testing.T) {
	s, _ := subjectIn(t, engine.For(NewSecurityGroup), groupOf(in(tcp(80, "10.0.0.0/8"), tcp(81, "10.0.0.0/8")), out(tcp(443, "0.0.0.0/0"))))
	// two searches by tags and one by name, the create, a look, three calls for all rules, a look; a look; a look, the delete, two looks
	// that verify it
	costs(t, s, [2]int{9, 4}, [2]int{1, 0}, [2]int{4, 1})
}

func TestRulesAreAuthorizedBeforeOthersAreRevoked(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSecurityGroup), groupOf(in(tcp(80, "10.0.0.0/8"))))
	kindtest.Settled(t, s)
	s.Edit(groupOf(in(tcp(81, "10.0.0.0/8"))))
	mark := r.AWS.Mark()
	kindtest.Settled(t, s)
	var ops []string
	for _, w := range r.AWS.Since(mark).Writes() {
		ops = append(ops, w.Action())
	}
	if !slices.Equal(ops, []string{authIn, revokeIn}) {
		t.Errorf("%q", ops)
	}
}

// A group has at most 60 rules of a direction, so that old and new ones may not fit beside each other.
func TestRulesThatDoNotFitMakeRoomFirst(t *testing.T) {
	many := func(first int32) (rules []rule) {
		for i := range int32(40) {
			rules = append(rules, tcp(first+i, "10.0.0.0/8"))
		}
		return rules
	}
	s, r := subjectIn(t, engine.For(NewSecurityGroup), groupOf(in(many(100)...)))
	kindtest.Settled(t, s)
	s.Edit(groupOf(in(many(200)...)))
	mark := r.AWS.Mark()
	kindtest.Settled(t, s)
	var ops []string
	for _, w := range r.AWS.Since(mark).Writes() {
		ops = append(ops, w.Action())
	}
	if !slices.Equal(ops, []string{revokeIn, authIn}) {
		t.Errorf("%q", ops)
	}
}

// A request names the account of a group of a peered VPC.
func TestAGroupOfAnotherAccountIsNamedWithIt(t *testing.T) {
	r := rule{IPProtocol: "tcp", FromPort: aws.Int32(80), ToPort: aws.Int32(80), SourceSecurityGroupID: "sg-0123456789abcdef0",
		SourceSecurityGroupOwnerID: "210987654321"}
	rules, err := wantedRules(kind.Scope{}, groupOf(), "spec.ingressRules", &[]rule{r})
	kindtest.Must(t, err)
	sent := permissions("sg-1", rules, kind.SortedKeys(rules))
	if len(sent) != 1 || aws.ToString(sent[0].UserIdGroupPairs[0].UserId) != "210987654321" ||
		aws.ToString(sent[0].UserIdGroupPairs[0].GroupId) != "sg-0123456789abcdef0" {
		t.Errorf("%+v", sent)
	}
	for account, owner := range map[string]string{"123456789012": "210987654321", "210987654321": ""} {
		if got := (*exportedRules("web", account, rules))[0].SourceSecurityGroupOwnerID; got != owner {
			t.Errorf("exported in %s with account %q", account, got)
		}
	}
}

// Two groups that refer to each other are created, and deleted at the same time.
func TestGroupsMayReferToEachOther(t *testing.T) {
	e := engine.For(NewSecurityGroup)
	one, r := subjectIn(t, e, groupNamed("one", in(withGroup(tcp(80), "other"))))
	other := kindtest.NewSubject(r, e, groupNamed("other", in(withGroup(tcp(81), "one")), out(withGroup(tcp(82), "one"))))
	other.Targets = map[string]kind.Target{"VPC/network": one.Targets["VPC/network"]}
	if _, err := one.Pass(t.Context(), nil); !waits(err) {
		t.Fatalf("one: %v", err)
	}
	other.Targets["SecurityGroup/one"] = kind.Target{ID: one.Object.CommonStatus().ID}
	kindtest.Settled(t, other)
	one.Targets["SecurityGroup/other"] = kind.Target{ID: other.Object.CommonStatus().ID}
	kindtest.Settled(t, one)
	one.Deleting, other.Deleting = true, true
	held(t, one, fmt.Sprintf("security groups with ingress rules for it: 1 (%s), security groups with egress rules for it: 1 (%[1]s);",
		other.Object.CommonStatus().ID))
	kindtest.Settled(t, other)
	kindtest.Settled(t, one)
	if left := groups(t, r); len(left) > 0 {
		t.Errorf("%d groups were left behind", len(left))
	}
}

// Rules are only removed from a group that is deleted once nothing but other groups uses it.
func TestNetworkInterfacesHoldADeletionOfTheirGroup(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSecurityGroup), groupOf(in(withGroup(tcp(80), "other"))))
	other := makeGroup(t, r, "other", nil)
	s.Targets["SecurityGroup/other"] = kind.Target{ID: other}
	kindtest.Settled(t, s)
	release := makeInterface(t, r, aws.String(makeSubnet(t, r, block, nil)), s.Object.CommonStatus().ID)
	s.Deleting = true
	mark := r.AWS.Mark()
	held(t, s, "1 network interface of eni-")
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Errorf("%d writes to a group in use:\n%s", n, r.AWS.Since(mark))
	}
	release()
	kindtest.Settled(t, s)
	if left := groups(t, r); len(left) != 1 {
		t.Errorf("%d groups are left, want the other", len(left))
	}
}

func TestASecurityGroupIsAdoptedByItsIdentifierOrName(t *testing.T) {
	for _, byID := range []bool{true, false} {
		s, r := subjectIn(t, engine.For(NewSecurityGroup), groupOf())
		id := makeGroup(t, r, "web", map[string]string{"theirs": "1"})
		s.AllowAdoption = true
		s.Edit(groupOf(func(s *groupSpec) {
			adopting(&s.CommonSpec)
			if byID {
				s.ImportID = id
			}
		}))
		kindtest.Settled(t, s)
		if tags := kind.TagMap(groups(t, r)[0].Tags); s.Object.CommonStatus().ID != id || tags["theirs"] != "1" ||
			tags["nexus.ai/owner-uid"] != "uid-of-web" {
			t.Errorf("by identifier %v: %v", byID, tags)
		}
	}
}

func TestPublishedFieldsOfASecurityGroup(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSecurityGroup), groupOf())
	kindtest.Settled(t, s)
	st := s.Object.(*v1alpha1.SecurityGroup).Status
	if st.GroupID == "" || st.ID != st.GroupID || st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+":security-group/"+st.ID ||
		st.GroupName != "web" || st.VPCID != *vpcID(t, r) {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["groupID"] != st.ID || a["groupName"] != "web" || a["vpcID"] != st.VPCID {
		t.Error(a)
	}
}
