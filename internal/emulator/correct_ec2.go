// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ec2Version is the version of EC2's API.
const ec2Version = "2016-11-15"

// ec2Refusal holds what AWS answers while one of the reads shows something.
type ec2Refusal struct {
	member, code, message string
	reads                 []ec2Read
}

// ec2Read is a read with one filter.
type ec2Read struct{ op, filter string }

const dependencyViolation = "DependencyViolation"

// ec2Refusals are the requests that AWS refuses because of other resources, and moto does not.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
var ec2Refusals = map[string]ec2Refusal{
	"DeleteSubnet": {"SubnetId", dependencyViolation, "The subnet '%s' has dependencies and cannot be deleted.", []ec2Read{{"DescribeNetworkInterfaces", "subnet-id"}}},
	"DeleteSecurityGroup": {"GroupId", dependencyViolation, "resource %s has a dependent object", []ec2Read{
		{"DescribeNetworkInterfaces", "group-id"}, {"DescribeSecurityGroups", "ip-permission.group-id"}, {"DescribeSecurityGroups", "egress.ip-permission.group-id"}}},
	"DeleteVpc": {"VpcId", dependencyViolation, "The vpc '%s' has dependencies and cannot be deleted.", []ec2Read{
		{"DescribeNetworkInterfaces", "vpc-id"}, {"DescribeInternetGateways", "attachment.vpc-id"}, {"DescribeSecurityGroups", "vpc-id"}}},
	"AttachInternetGateway": {"VpcId", "InvalidParameterValue", "Network %s already has an internet gateway attached", []ec2Read{{"DescribeInternetGateways", "attachment.vpc-id"}}},
	"AssociateRouteTable": {"SubnetId", "Resource.AlreadyAssociated", "the specified association for subnet %s conflicts with an existing association",
		[]ec2Read{{"DescribeRouteTables", "association.subnet-id"}}},
	"DetachInternetGateway": {"VpcId", dependencyViolation, "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.",
		[]ec2Read{{"DescribeNetworkInterfaces", "vpc-id"}}},
	"ReleaseAddress": {"AllocationId", "InvalidIPAddress.InUse", "Address %s is in use.", []ec2Read{{"DescribeAddresses", "allocation-id"}}},
}

// refuseForOthers: moto deletes, detaches and releases resources whatever uses them, and attaches a second gateway.
func refuseForOthers(ctx context.Context, p *Proxy, x *exchange) *answer {
	refusal := ec2Refusals[x.op]
	id := x.form.Get(refusal.member)
	for _, read := range refusal.reads {
		n, err := p.countEC2(ctx, x, read, id)
		if err != nil {
			return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
		}
		if n > 0 {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, refusal.code, fmt.Sprintf(refusal.message, id)})
		}
	}
	return nil
}

// countEC2 returns how many resources the read shows, without those that the request names, default security groups, addresses
// that nothing uses, and, of a gateway that is to be detached, network interfaces without public addresses.
func (p *Proxy) countEC2(ctx context.Context, x *exchange, read ec2Read, id string) (int, error) {
	a, err := p.askEC2(ctx, x, url.Values{"Action": {read.op}, "Filter.1.Name": {read.filter}, "Filter.1.Value.1": {id}})
	if err != nil {
		return 0, err
	}
	var found struct {
		Interfaces []struct {
			PublicIP string `xml:"association>publicIp"`
		} `xml:"networkInterfaceSet>item"`
		Gateways []struct {
			ID string `xml:"internetGatewayId"`
		} `xml:"internetGatewaySet>item"`
		RouteTables []struct{} `xml:"routeTableSet>item"`
		Addresses   []struct {
			Association string `xml:"associationId"`
		} `xml:"addressesSet>item"`
		Groups []struct {
			ID   string `xml:"groupId"`
			Name string `xml:"groupName"`
		} `xml:"securityGroupInfo>item"`
	}
	if err := xml.Unmarshal(a.body, &found); err != nil {
		return 0, err
	}
	n := len(found.RouteTables)
	for _, i := range found.Interfaces {
		if x.op != "DetachInternetGateway" || i.PublicIP != "" {
			n++
		}
	}
	for _, address := range found.Addresses {
		if address.Association != "" {
			n++
		}
	}
	for _, g := range found.Gateways {
		if g.ID != x.form.Get("InternetGatewayId") {
			n++
		}
	}
	for _, g := range found.Groups {
		if g.Name != "default" && g.ID != id {
			n++
		}
	}
	return n, nil
}

// askEC2 calls an operation of EC2.
func (p *Proxy) askEC2(ctx context.Context, x *exchange, form url.Values) (*answer, error) {
	form.Set("Version", ec2Version)
	a, err := p.ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	if err == nil && !a.ok() {
		err = fmt.Errorf("%s: status %d: %.300s", form.Get("Action"), a.status, a.body)
	}
	return a, err
}

// replaceDescriptions: moto removes no description, and changes none of a rule for a security group. The rules are removed
// and added again with the descriptions of the request.
func replaceDescriptions(ctx context.Context, p *Proxy, x *exchange) *answer {
	direction := strings.TrimPrefix(x.op, "UpdateSecurityGroupRuleDescriptions")
	group := x.form.Get("GroupId")
	a, err := p.askEC2(ctx, x, url.Values{"Action": {"DescribeSecurityGroupRules"}, "Filter.1.Name": {"group-id"}, "Filter.1.Value.1": {group}})
	var rules struct {
		Rules []ec2Rule `xml:"securityGroupRuleSet>item"`
	}
	if err == nil {
		err = xml.Unmarshal(a.body, &rules)
	}
	revoke := url.Values{"Action": {"RevokeSecurityGroup" + direction}, "GroupId": {group}}
	for i := 1; err == nil && x.form.Get(fmt.Sprintf("IpPermissions.%d.IpProtocol", i)) != ""; i++ {
		named := func(r ec2Rule) bool {
			return r.Egress == (direction == "Egress") && r.isNamed(x.form, fmt.Sprintf("IpPermissions.%d.", i))
		}
		if found := slices.IndexFunc(rules.Rules, named); found >= 0 {
			revoke.Set(fmt.Sprintf("SecurityGroupRuleId.%d", i), rules.Rules[found].ID)
		} else {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidPermission.NotFound", "The specified rule does not exist in this security group."})
		}
	}
	if err == nil {
		_, err = p.askEC2(ctx, x, revoke)
	}
	if err == nil {
		again := maps.Clone(x.form)
		again.Set("Action", "AuthorizeSecurityGroup"+direction)
		_, err = p.askEC2(ctx, x, again)
	}
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return &answer{http.StatusOK, http.Header{"Content-Type": {"text/xml"}},
		fmt.Appendf(nil, `<%[1]sResponse xmlns="http://ec2.amazonaws.com/doc/%[2]s/"><return>true</return></%[1]sResponse>`, x.op, ec2Version)}
}

// ec2Rule is a rule of a security group.
type ec2Rule struct {
	ID       string `xml:"securityGroupRuleId"`
	Egress   bool   `xml:"isEgress"`
	Protocol string `xml:"ipProtocol"`
	From     string `xml:"fromPort"`
	To       string `xml:"toPort"`
	V4       string `xml:"cidrIpv4"`
	V6       string `xml:"cidrIpv6"`
	List     string `xml:"prefixListId"`
	Group    string `xml:"referencedGroupInfo>groupId"`
}

// isNamed reports whether the permission of a request, which has one peer, is the rule.
func (r ec2Rule) isNamed(form url.Values, prefix string) bool {
	get := func(key string) string { return form.Get(prefix + key) }
	return r.Protocol == get("IpProtocol") && (r.Protocol == "-1" || r.From == get("FromPort") && r.To == get("ToPort")) &&
		r.V4 == get("IpRanges.1.CidrIp") && r.V6 == get("Ipv6Ranges.1.CidrIpv6") && r.List == get("PrefixListIds.1.PrefixListId") && r.Group == get("Groups.1.GroupId")
}

// disassociateSubnet: moto keeps the associations of a subnet that it deletes.
func disassociateSubnet(ctx context.Context, p *Proxy, x *exchange) *answer {
	id := x.form.Get("SubnetId")
	a, err := p.askEC2(ctx, x, url.Values{"Action": {"DescribeRouteTables"}, "Filter.1.Name": {"association.subnet-id"}, "Filter.1.Value.1": {id}})
	var found struct {
		Associations []struct {
			ID     string `xml:"routeTableAssociationId"`
			Subnet string `xml:"subnetId"`
		} `xml:"routeTableSet>item>associationSet>item"`
	}
	if err == nil {
		err = xml.Unmarshal(a.body, &found)
	}
	for _, association := range found.Associations {
		if err == nil && association.Subnet == id {
			_, err = p.askEC2(ctx, x, url.Values{"Action": {"DisassociateRouteTable"}, "AssociationId": {association.ID}})
		}
	}
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return nil
}
