// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exportedSecurityGroup declares a security group as it is, with a rule for each peer.
func exportedSecurityGroup(cr *v1alpha1.SecurityGroup, have SecurityGroupState) {
	out := &cr.Spec
	out.GroupName, out.Description, out.VPCID = aws.ToString(have.GroupName), aws.ToString(have.Description), aws.ToString(have.VPCID)
	out.IngressRules, out.EgressRules = kind.NonEmptyList(exportedRules(cr.Name, have.Account, have.Ingress)), exportedRules(cr.Name, have.Account, have.Egress)
}

// exportedRules declares rules of a group in an account; name is that of the group's object, which stands for the group itself.
func exportedRules(name, account string, have map[string]Rule) *[]v1alpha1.SecurityGroupRule {
	out := make([]v1alpha1.SecurityGroupRule, 0, len(have))
	for _, key := range kind.SortedKeys(have) {
		p := have[key].Permission
		r := v1alpha1.SecurityGroupRule{IPProtocol: aws.ToString(p.IpProtocol), FromPort: p.FromPort, ToPort: p.ToPort, Description: have[key].Description}
		for _, x := range p.IpRanges {
			r.CIDRBlocks = append(r.CIDRBlocks, v1alpha1.IPv4Range(aws.ToString(x.CidrIp)))
		}
		for _, x := range p.Ipv6Ranges {
			r.IPv6CIDRBlocks = append(r.IPv6CIDRBlocks, v1alpha1.IPv6Range(aws.ToString(x.CidrIpv6)))
		}
		for _, x := range p.PrefixListIds {
			r.PrefixListIDs = append(r.PrefixListIDs, v1alpha1.PrefixListID(aws.ToString(x.PrefixListId)))
		}
		for _, x := range p.UserIdGroupPairs {
			if r.SourceSecurityGroupID = aws.ToString(x.GroupId); r.SourceSecurityGroupID == self {
				r.SourceSecurityGroupID, r.SourceSecurityGroupRef = "", &v1alpha1.ObjectReference{Name: name}
			} else if owner := aws.ToString(x.UserId); account != "" && owner != account {
				r.SourceSecurityGroupOwnerID = owner
			}
		}
		out = append(out, r)
	}
	return &out
}
