// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Rule is a rule with one peer. Its key in a map is the traffic that it allows.
type Rule struct {
	Description *string
	// Permission is the rule as requests name it, without its description.
	Permission types.IpPermission `drift:"id" json:"-"`
}

// self stands for the group itself, because its identifier is not known before it exists.
const self = "self"

// allTraffic is the key of the egress rule that EC2 creates with a security group.
// https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html
const allTraffic = "all 0.0.0.0/0"

// protocols are the names that EC2 gives to the numbers of protocols.
var protocols = map[string]string{"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6"}

// withPorts are the protocols that have ports in their rules, or a type and a code.
var withPorts = []string{"tcp", "udp", "icmp", "icmpv6"}

// peer is one of the peers of a permission.
type peer struct {
	name        string
	description *string
	set         func(*types.IpPermission)
}

func v4(block string, description *string) peer {
	return peer{block, description, func(p *types.IpPermission) { p.IpRanges = []types.IpRange{{CidrIp: &block}} }}
}

func v6(block string, description *string) peer {
	return peer{block, description, func(p *types.IpPermission) { p.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: &block}} }}
}

func prefixList(id string, description *string) peer {
	return peer{id, description, func(p *types.IpPermission) { p.PrefixListIds = []types.PrefixListId{{PrefixListId: &id}} }}
}

// group is a security group, or self.
func group(pair types.UserIdGroupPair, name string, description *string) peer {
	return peer{name, description, func(p *types.IpPermission) { p.UserIdGroupPairs = []types.UserIdGroupPair{pair} }}
}

// addRules adds the rules of a permission, one for each peer.
func addRules(rules map[string]Rule, p types.IpPermission, peers []peer) {
	protocol := cmp.Or(protocols[aws.ToString(p.IpProtocol)], aws.ToString(p.IpProtocol))
	of, name := types.IpPermission{IpProtocol: &protocol}, protocol
	switch {
	case protocol == "-1":
		name = "all"
	case slices.Contains(withPorts, protocol):
		of.FromPort, of.ToPort = aws.Int32(-1), aws.Int32(-1)
		kind.Overlay(&of, struct{ FromPort, ToPort *int32 }{p.FromPort, p.ToPort})
		name = fmt.Sprintf("%s %d-%d", protocol, *of.FromPort, *of.ToPort)
	}
	for _, peer := range peers {
		one := of
		peer.set(&one)
		rules[name+" "+peer.name] = Rule{Description: peer.description, Permission: one}
	}
}

// seenRules returns the rules of a group by their keys.
func seenRules(id string, permissions []types.IpPermission) map[string]Rule {
	out := map[string]Rule{}
	for _, p := range permissions {
		var peers []peer
		for _, r := range p.IpRanges {
			peers = append(peers, v4(aws.ToString(r.CidrIp), r.Description))
		}
		for _, r := range p.Ipv6Ranges {
			peers = append(peers, v6(aws.ToString(r.CidrIpv6), r.Description))
		}
		for _, l := range p.PrefixListIds {
			peers = append(peers, prefixList(aws.ToString(l.PrefixListId), l.Description))
		}
		for _, g := range p.UserIdGroupPairs {
			name := kind.Either(aws.ToString(g.GroupId) == id, self, aws.ToString(g.GroupId))
			peers = append(peers, group(types.UserIdGroupPair{GroupId: &name, UserId: g.UserId}, name, g.Description))
		}
		addRules(out, p, peers)
	}
	return out
}

// marksOfControllers begin the descriptions of rules that controllers of Kubernetes add to let load balancers reach nodes and pods: the AWS
// Load Balancer Controller and the AWS cloud provider.
// https://github.com/kubernetes-sigs/aws-load-balancer-controller/blob/main/pkg/targetgroupbinding/networking_manager.go
// https://cloud-provider-aws.sigs.k8s.io/service_controller/
var marksOfControllers = []string{"elbv2.k8s.aws/", "kubernetes.io/rule/"}

// mostControllerRules bounds the list in the status.
const mostControllerRules = 32

// leaveControllers leaves the rules of controllers out of the comparison, unless they are wanted or the group is exclusive.
func (s *SecurityGroupState) leaveControllers(want SecurityGroupState) {
	if want.Exclusive {
		return
	}
	for _, direction := range []struct {
		name       string
		have, want map[string]Rule
	}{{"ingress", s.Ingress, want.Ingress}, {"egress", s.Egress, want.Egress}} {
		for _, key := range kind.SortedKeys(direction.have) {
			description := aws.ToString(direction.have[key].Description)
			_, wanted := direction.want[key]
			if !wanted && slices.ContainsFunc(marksOfControllers, func(mark string) bool { return strings.HasPrefix(description, mark) }) {
				s.OfControllers = append(s.OfControllers, direction.name+" "+key+": "+description)
				delete(direction.have, key)
			}
		}
	}
}

// wantedRules returns the declared rules by their keys; nil when none are declared.
func wantedRules(sc kind.Scope, cr *v1alpha1.SecurityGroup, field string, declared *[]v1alpha1.SecurityGroupRule) (map[string]Rule, error) {
	if declared == nil {
		return nil, nil
	}
	out := map[string]Rule{}
	for i, in := range *declared {
		peers, err := wantedPeers(sc, cr, in)
		if err != nil {
			return nil, err
		}
		one := map[string]Rule{}
		addRules(one, types.IpPermission{IpProtocol: &in.IPProtocol, FromPort: in.FromPort, ToPort: in.ToPort}, peers)
		for _, key := range kind.SortedKeys(one) {
			if _, twice := out[key]; twice {
				return nil, status.Invalid(fmt.Sprintf("%s[%d]", field, i), "the rule %q is declared twice", key)
			}
			out[key] = one[key]
		}
	}
	return out, nil
}

func wantedPeers(sc kind.Scope, cr *v1alpha1.SecurityGroup, in v1alpha1.SecurityGroupRule) ([]peer, error) {
	var peers []peer
	for _, block := range in.CIDRBlocks {
		if err := checkNetwork("cidrBlocks", string(block)); err != nil {
			return nil, err
		}
		peers = append(peers, v4(string(block), in.Description))
	}
	for _, block := range in.IPv6CIDRBlocks {
		if err := checkNetwork("ipv6CidrBlocks", string(block)); err != nil {
			return nil, err
		}
		peers = append(peers, v6(netip.MustParsePrefix(string(block)).String(), in.Description)) // the form that EC2 reports
	}
	for _, id := range in.PrefixListIDs {
		peers = append(peers, prefixList(string(id), in.Description))
	}
	id, err := wantedGroup(sc, cr, in)
	if err != nil || id == "" {
		return peers, err
	}
	return append(peers, group(types.UserIdGroupPair{GroupId: &id, UserId: kind.NonEmpty(&in.SourceSecurityGroupOwnerID)}, id, in.Description)), nil
}

// wantedGroup returns the identifier of the group that a rule names, or self. Groups that refer to each other are created
// without these rules first: a reference is waited for only once the group exists.
func wantedGroup(sc kind.Scope, cr *v1alpha1.SecurityGroup, in v1alpha1.SecurityGroupRule) (string, error) {
	ref := in.SourceSecurityGroupRef
	if ref != nil && ref.Name == cr.Name || sc.ID != "" && in.SourceSecurityGroupID == sc.ID {
		return self, nil
	}
	id, err := referredID(sc, "SecurityGroup", in.SourceSecurityGroupID, ref)
	if _, waiting := status.AsWaiting(err); waiting && sc.ID == "" {
		return "", nil
	}
	return id, err
}

// permissions returns the rules as a request names them.
func permissions(id string, rules map[string]Rule, keys []string) []types.IpPermission {
	out := make([]types.IpPermission, 0, len(keys))
	for _, key := range keys {
		rule := rules[key]
		p, d := rule.Permission, kind.NonEmpty(rule.Description)
		switch {
		case p.IpRanges != nil:
			p.IpRanges = []types.IpRange{{CidrIp: p.IpRanges[0].CidrIp, Description: d}}
		case p.Ipv6Ranges != nil:
			p.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: p.Ipv6Ranges[0].CidrIpv6, Description: d}}
		case p.PrefixListIds != nil:
			p.PrefixListIds = []types.PrefixListId{{PrefixListId: p.PrefixListIds[0].PrefixListId, Description: d}}
		default:
			pair := p.UserIdGroupPairs[0]
			p.UserIdGroupPairs = []types.UserIdGroupPair{{GroupId: kind.Either(aws.ToString(pair.GroupId) == self, &id, pair.GroupId), UserId: pair.UserId, Description: d}}
		}
		out = append(out, p)
	}
	return out
}
