// SPDX-License-Identifier: Apache-2.0

// Package ec2 holds the emulator's facts and corrections for Amazon EC2 and VPC.
package ec2

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of instances and NAT gateways that moto lacks.
type Service struct {
	proxy.Base
	gateways      natGateways
	made          map[string]*proxy.Answer // answers to creations, by identity of the client token
	instances     map[string]*instance     // by identity
	instancesTake time.Duration            // how long changes of their states take
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "ec2",
		Requests: proxy.RequestFacts{Form: proxy.ProtocolEC2, Keys: []string{"GroupName", "InstanceId.1", "ResourceId.1", "RouteTableId"}},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{
				"DescribeVpcs":         {Status: http.StatusBadRequest, Code: "InvalidVpcID.NotFound", Message: "The vpc ID '%s' does not exist"},
				"DescribeVpcAttribute": {Status: http.StatusBadRequest, Code: "InvalidVpcID.NotFound", Message: "The vpc ID '%s' does not exist"},
				"DescribeSubnets": {Status: http.StatusBadRequest, Code: "InvalidSubnetID.NotFound",
					Message: "The subnet ID '%s' does not exist"},
				"DescribeSecurityGroups": {Status: http.StatusBadRequest, Code: "InvalidGroup.NotFound",
					Message: "The security group '%s' does not exist"},
				"DescribeInternetGateways": {Status: http.StatusBadRequest, Code: "InvalidInternetGatewayID.NotFound",
					Message: "The internetGateway ID '%s' does not exist"},
				"DescribeRouteTables": {Status: http.StatusBadRequest, Code: "InvalidRouteTableID.NotFound",
					Message: "The routeTable ID '%s' does not exist"},
				"DescribeAddresses": {Status: http.StatusBadRequest, Code: "InvalidAllocationID.NotFound",
					Message: "The allocation ID '%s' does not exist"},
				"DescribeKeyPairs": {Status: http.StatusBadRequest, Code: "InvalidKeyPair.NotFound",
					Message: "The key pair '%s' does not exist"},
				"DescribeNatGateways": {Status: http.StatusBadRequest, Code: "NatGatewayNotFound", Message: "The Nat Gateway %s was not found"},
				"DeleteNatGateway":    {Status: http.StatusBadRequest, Code: "NatGatewayNotFound", Message: "The Nat Gateway %s was not found"},
				"": {Status: http.StatusBadRequest, Code: "InvalidInstanceID.NotFound",
					Message: "The instance ID '%s' does not exist"},
			},
			Throttled: proxy.Error{Status: http.StatusServiceUnavailable, Code: "RequestLimitExceeded", Message: "Request limit exceeded."},
		},
		Writes: proxy.WriteFacts{
			CreatedID: createdInEC2,
			Endings: map[string]string{"AllocateAddress": "ReleaseAddress", "ImportKeyPair": "DeleteKeyPair",
				"RunInstances": "TerminateInstances"},
			TagReads: []proxy.TagRead{{Op: "Describe*", Where: "tagSet"}},
		},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"ec2 elastic-ip/*":        {Members: []string{"AllocationId"}},
				"ec2 image/*":             {Members: []string{"ImageId"}},
				"ec2 instance/*":          {Names: namedInstances},
				"ec2 internet-gateway/*":  {Members: []string{"InternetGatewayId"}},
				"ec2 key-pair/*":          {Members: []string{"KeyName", "KeyPairId"}},
				"ec2 natgateway/*":        {Members: []string{"NatGatewayId"}},
				"ec2 network-interface/*": {Members: []string{"NetworkInterface.#.NetworkInterfaceId"}},
				"ec2 route-table/*":       {Names: func(q *proxy.Asker) []string { return namedByRouteTable(q, "RouteTableId", "routeTableId") }},
				"ec2 security-group/*":    {Members: []string{"GroupId", "GroupId.#", "SecurityGroupId.#", "NetworkInterface.#.SecurityGroupId.#"}},
				"ec2 subnet/*":            {Names: func(q *proxy.Asker) []string { return namedByRouteTable(q, "SubnetId", "subnetId") }},
				"ec2 volume/*":            {},
				"ec2 vpc/*":               {Members: []string{"VpcId"}},
			},
			Dependents: []proxy.Dependent{
				specified("ec2:AllocateAddress"), specified("ec2:CreateInternetGateway"), specified("ec2:CreateNatGateway"),
				specified("ec2:CreateRouteTable"),
				specified("ec2:CreateSecurityGroup"), specified("ec2:CreateSubnet"), specified("ec2:CreateVpc"), specified("ec2:ImportKeyPair"),
				specified("ec2:RunInstances"),
				{Action: "ec2:AuthorizeSecurityGroupEgress", Needs: "ec2:CreateTags", Never: noRuleTags},
				{Action: "ec2:AuthorizeSecurityGroupIngress", Needs: "ec2:CreateTags", Never: noRuleTags},
				{Action: "ec2:RunInstances", Needs: "ssm:GetParameters",
					Never: "only for an image by the name of a parameter, which the field refuses"},
				{Action: "ec2:RunInstances", Needs: "ec2:RunInstances", At: []string{"ec2 volume/*"},
					Page: "the root volume is made with each instance"},
				iam.Hands("ec2:RunInstances", "IamInstanceProfile.Name", "ec2"), iam.Hands("ec2:RunInstances", "IamInstanceProfile.Arn", "ec2"),
				iam.Hands("ec2:AssociateIamInstanceProfile", "IamInstanceProfile.Name", "ec2"), iam.Hands("ec2:AssociateIamInstanceProfile",
					"IamInstanceProfile.Arn", "ec2"),
				iam.Hands("ec2:ReplaceIamInstanceProfileAssociation", "IamInstanceProfile.Name",
					"ec2"), iam.Hands("ec2:ReplaceIamInstanceProfileAssociation", "IamInstanceProfile.Arn", "ec2"),
				kms.Encrypted("ec2:RunInstances", "BlockDeviceMapping.#.Ebs.KmsKeyId", "ec2",
					"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"),
			},
			Identifiers: identifiers,
			TagsOf: func(q *proxy.Asker, arn, id string) map[string]string {
				return networkTags(q, strings.Contains(arn, ":key-pair/"), id)
			},
		},
		Inventory: []proxy.InventoryKind{
			{Name: "ec2/key-pair", Global: false, List: proxy.ListXML("ec2", "DescribeKeyPairs", ec2Version, "keyName")},
			{Name: "ec2/instance", Global: false, List: proxy.ListXML("ec2",
				"DescribeInstances&Filter.1.Name=instance-state-name&Filter.1.Value.1=pending&Filter.1.Value.2=running"+
					"&Filter.1.Value.3=stopping&Filter.1.Value.4=stopped", ec2Version, "instanceId")},
		},
		Rewrites: []proxy.Rewrite{{Kind: "EC2KeyPair", Field: "publicKeyMaterial", What: "the comment becomes the name of the key pair",
			IsRecorded: true, Ops: []string{"DescribeKeyPairs"},
			Text: func(body string) string { return publicKey.ReplaceAllString(body, "<publicKey>$1 name</publicKey>") }}},
	}
}

var publicKey = regexp.MustCompile(`<publicKey>(\S+ [^\s<]+)[^<]*</publicKey>`)

const noRuleTags = "only with tags of rules, which the operator does not give"

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "NAT gateways: the end of deleted ones", Before: s.finishNATGateways},
		{Name: "NAT gateways: repeated requests", Ops: []string{"CreateNatGateway"}, Before: s.repeatCreation, After: s.recordNATGateway},
		{Name: "NAT gateways: their deletion",
			Ops: []string{"DeleteNatGateway"}, Before: s.refuseUnknownNATGateway, After: s.recordNATGatewayDeletion},
		{Name: "NAT gateways: their states and tags", Ops: []string{"DescribeNatGateways"}, After: s.showNATGateways},
		{Name: "instances: metadata options that AWS refuses",
			Ops: []string{"RunInstances", "ModifyInstanceMetadataOptions"}, Before: s.refuseMetadataOptions},
		{Name: "instances: repeated requests", Ops: []string{"RunInstances"}, Before: s.repeatCreation, After: s.recordLaunch},
		{Name: "instances: requests that AWS refuses",
			Ops: []string{"StartInstances", "StopInstances", "ModifyInstanceAttribute"}, Before: s.refuseByInstanceState},
		{Name: "instances: their states take their time",
			Ops: []string{"StartInstances", "StopInstances", "TerminateInstances"}, After: s.recordInstanceState},
		{Name: "instances: monitoring", Ops: []string{"MonitorInstances", "UnmonitorInstances"}, Before: s.monitorInstances},
		{Name: "instances: replaced profiles", Ops: []string{"ReplaceIamInstanceProfileAssociation"}, Before: s.replaceProfile},
		{Name: "instances: their states", Ops: []string{"DescribeInstances"}, After: s.showInstances},
		{Name: "networks in use are kept",
			Ops: []string{"DeleteSubnet", "DeleteSecurityGroup", "DeleteVpc", "DetachInternetGateway", "ReleaseAddress"}, Before: s.refuseForOthers},
		{Name: "one gateway for each network, one route table for each subnet",
			Ops: []string{"AttachInternetGateway", "AssociateRouteTable"}, Before: s.refuseForOthers},
		{Name: "associations of deleted subnets", Ops: []string{"DeleteSubnet"}, Before: s.disassociateSubnet},
		{Name: "descriptions of rules",
			Ops: []string{"UpdateSecurityGroupRuleDescriptionsIngress", "UpdateSecurityGroupRuleDescriptionsEgress"}, Before: s.replaceDescriptions},
		{Name: "credits of instances", Ops: []string{"DescribeInstanceCreditSpecifications"}, After: s.showCredits},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.made, s.gateways = map[string]*proxy.Answer{}, natGateways{known: map[string]*natGateway{}}
	s.instances, s.instancesTake = map[string]*instance{}, 0
}

// createdInEC2 returns the identifier that EC2 gives, which is found by the noun of the operation.
func createdInEC2(x *proxy.Exchange, a *proxy.Answer) string {
	element := ec2IDs[x.Op]
	if noun := strings.TrimPrefix(x.Op, "Create"); element == "" && noun != x.Op && noun != "" {
		element = strings.ToLower(noun[:1]) + noun[1:] + "Id"
	}
	if element == "" {
		return ""
	}
	return proxy.FirstMatch(regexp.MustCompile("<"+element+">([^<]+)</"), a.Body)
}

// ec2Version is the version of EC2's API.
const ec2Version = "2016-11-15"

// ec2Refusal holds the error of AWS while one of the reads shows something.
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
	"DeleteSubnet": {"SubnetId", dependencyViolation, "The subnet '%s' has dependencies and cannot be deleted.",
		[]ec2Read{{"DescribeNetworkInterfaces", "subnet-id"}}},
	"DeleteSecurityGroup": {"GroupId", dependencyViolation, "resource %s has a dependent object", []ec2Read{
		{"DescribeNetworkInterfaces", "group-id"}, {"DescribeSecurityGroups", "ip-permission.group-id"}, {"DescribeSecurityGroups",
			"egress.ip-permission.group-id"}}},
	"DeleteVpc": {"VpcId", dependencyViolation, "The vpc '%s' has dependencies and cannot be deleted.", []ec2Read{
		{"DescribeNetworkInterfaces", "vpc-id"}, {"DescribeInternetGateways", "attachment.vpc-id"}, {"DescribeSecurityGroups", "vpc-id"}}},
	"AttachInternetGateway": {"VpcId", "InvalidParameterValue", "Network %s already has an internet gateway attached",
		[]ec2Read{{"DescribeInternetGateways", "attachment.vpc-id"}}},
	"AssociateRouteTable": {"SubnetId", "Resource.AlreadyAssociated",
		"the specified association for subnet %s conflicts with an existing association",
		[]ec2Read{{"DescribeRouteTables", "association.subnet-id"}}},
	"DetachInternetGateway": {"VpcId", dependencyViolation,
		"Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.",
		[]ec2Read{{"DescribeNetworkInterfaces", "vpc-id"}}},
	"ReleaseAddress": {"AllocationId", "InvalidIPAddress.InUse", "Address %s is in use.", []ec2Read{{"DescribeAddresses", "allocation-id"}}},
}

// refuseForOthers: moto deletes, detaches and releases resources whatever uses them, and attaches a second gateway.
func (s *Service) refuseForOthers(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	refusal := ec2Refusals[x.Op]
	id := x.Form.Get(refusal.member)
	for _, read := range refusal.reads {
		n, err := s.countEC2(ctx, x, read, id)
		if err != nil {
			return proxy.ProxyError(x, err)
		}
		if n > 0 {
			return x.Refuse(http.StatusBadRequest, refusal.code, fmt.Sprintf(refusal.message, id))
		}
	}
	return nil
}

// countEC2 returns how many resources the read shows, without those that the request names, default security groups, addresses
// that nothing uses, and, of a gateway that is to be detached, network interfaces without public addresses.
func (s *Service) countEC2(ctx context.Context, x *proxy.Exchange, read ec2Read, id string) (int, error) {
	a, err := s.askEC2(ctx, x, url.Values{"Action": {read.op}, "Filter.1.Name": {read.filter}, "Filter.1.Value.1": {id}})
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
	if err := xml.Unmarshal(a.Body, &found); err != nil {
		return 0, err
	}
	n := len(found.RouteTables)
	for _, i := range found.Interfaces {
		if x.Op != "DetachInternetGateway" || i.PublicIP != "" {
			n++
		}
	}
	for _, address := range found.Addresses {
		if address.Association != "" {
			n++
		}
	}
	for _, g := range found.Gateways {
		if g.ID != x.Form.Get("InternetGatewayId") {
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
func (s *Service) askEC2(ctx context.Context, x *proxy.Exchange, form url.Values) (*proxy.Answer, error) {
	form.Set("Version", ec2Version)
	a, err := s.Ask(ctx, x, http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	if err == nil && !a.OK() {
		err = fmt.Errorf("%s: status %d: %.300s", form.Get("Action"), a.Status, a.Body)
	}
	return a, err
}

// replaceDescriptions: moto removes no description, and changes none of a rule for a security group. The rules are removed
// and added again with the descriptions of the request.
func (s *Service) replaceDescriptions(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	direction := strings.TrimPrefix(x.Op, "UpdateSecurityGroupRuleDescriptions")
	group := x.Form.Get("GroupId")
	a, err := s.askEC2(ctx, x, url.Values{"Action": {"DescribeSecurityGroupRules"}, "Filter.1.Name": {"group-id"},
		"Filter.1.Value.1": {group}})
	var rules struct {
		Rules []ec2Rule `xml:"securityGroupRuleSet>item"`
	}
	if err == nil {
		err = xml.Unmarshal(a.Body, &rules)
	}
	revoke := url.Values{"Action": {"RevokeSecurityGroup" + direction}, "GroupId": {group}}
	for i := 1; err == nil && x.Form.Get(fmt.Sprintf("IpPermissions.%d.IpProtocol", i)) != ""; i++ {
		named := func(r ec2Rule) bool {
			return r.Egress == (direction == "Egress") && r.isNamed(x.Form, fmt.Sprintf("IpPermissions.%d.", i))
		}
		if found := slices.IndexFunc(rules.Rules, named); found >= 0 {
			revoke.Set(fmt.Sprintf("SecurityGroupRuleId.%d", i), rules.Rules[found].ID)
		} else {
			return x.Refuse(http.StatusBadRequest, "InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
	}
	if err == nil {
		_, err = s.askEC2(ctx, x, revoke)
	}
	if err == nil {
		again := maps.Clone(x.Form)
		again.Set("Action", "AuthorizeSecurityGroup"+direction)
		_, err = s.askEC2(ctx, x, again)
	}
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: fmt.Appendf(nil, `<%[1]sResponse xmlns="http://ec2.amazonaws.com/doc/%[2]s/"><return>true</return></%[1]sResponse>`, x.Op,
			ec2Version)}
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
		r.V4 == get("IpRanges.1.CidrIp") && r.V6 == get("Ipv6Ranges.1.CidrIpv6") && r.List == get("PrefixListIds.1.PrefixListId") &&
		r.Group == get("Groups.1.GroupId")
}

// disassociateSubnet: moto keeps the associations of a subnet that it deletes.
func (s *Service) disassociateSubnet(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	id := x.Form.Get("SubnetId")
	a, err := s.askEC2(ctx, x, url.Values{"Action": {"DescribeRouteTables"}, "Filter.1.Name": {"association.subnet-id"},
		"Filter.1.Value.1": {id}})
	var found struct {
		Associations []struct {
			ID     string `xml:"routeTableAssociationId"`
			Subnet string `xml:"subnetId"`
		} `xml:"routeTableSet>item>associationSet>item"`
	}
	if err == nil {
		err = xml.Unmarshal(a.Body, &found)
	}
	for _, association := range found.Associations {
		if err == nil && association.Subnet == id {
			_, err = s.askEC2(ctx, x, url.Values{"Action": {"DisassociateRouteTable"}, "AssociationId": {association.ID}})
		}
	}
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return nil
}

// namedInstances returns the instances that the request names, directly or by their association with a profile.
func namedInstances(q *proxy.Asker) []string {
	if id := q.X.Form.Get("AssociationId"); id != "" && strings.Contains(q.X.Op, "Profile") {
		return describedInEC2(q, "DescribeIamInstanceProfileAssociations", url.Values{"AssociationId.1": {id}}, "instanceId")
	}
	return q.Values("InstanceId", "InstanceId.#")
}

// namedByRouteTable returns the resources that a request names. For an association with a route table these are the resources that it
// associates.
func namedByRouteTable(q *proxy.Asker, field, shown string) []string {
	if id := q.X.Form.Get("AssociationId"); id != "" && q.X.Op == "DisassociateRouteTable" {
		filter := url.Values{"Filter.1.Name": {"association.route-table-association-id"}, "Filter.1.Value.1": {id}}
		return describedInEC2(q, "DescribeRouteTables", filter, shown)
	}
	return q.Values(field, "NetworkInterface.#."+field)
}

// describedInEC2 asks EC2, and returns the first value of an element.
func describedInEC2(q *proxy.Asker, op string, form url.Values, element string) []string {
	body, err := q.Query("ec2", op, "2016-11-15", form)
	if err != nil {
		return nil
	}
	for _, m := range regexp.MustCompile(`<`+element+`>([^<]+)</`+element+`>`).FindAllSubmatch(body, 1) {
		return []string{string(m[1])}
	}
	return nil
}

// tagSpecifications are the demands for the tags of the resources that a request of EC2 creates.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html
func tagSpecifications(q *proxy.Asker) []policy.Demand {
	var out []policy.Demand
	for _, kind := range q.Values("TagSpecification.#.ResourceType") {
		d := q.Need("ec2:CreateTags", q.Regional(kind+"/*"), map[string]string{"ec2:CreateAction": q.X.Op})
		d.Tags = nil
		out = append(out, d)
	}
	return out
}

var (
	tagItem   = regexp.MustCompile(`(?s)<item>\s*(?:<key>([^<]*)</key>|<value>([^<]*)</value>|<resourceId>[^<]*</resourceId>|<resourceType>[^<]*</resourceType>|<UnknownToTheSDK>(?:<Since>[^<]*</Since>)?</UnknownToTheSDK>|\s)+</item>`)
	keyPairID = regexp.MustCompile(`<keyPairId>([^<]*)</keyPairId>`)
)

// networkTags returns the tags of a resource of EC2. A key pair has its name in its ARN, and an identifier.
func networkTags(q *proxy.Asker, isKeyPair bool, id string) map[string]string {
	if isKeyPair && !strings.HasPrefix(id, "key-") {
		body, err := q.Query("ec2", "DescribeKeyPairs", "2016-11-15", url.Values{"KeyName.1": {id}})
		if err != nil {
			return nil
		}
		id = proxy.FirstMatch(keyPairID, body)
	}
	body, err := q.Query("ec2", "DescribeTags", "2016-11-15", url.Values{"Filter.1.Name": {"resource-id"}, "Filter.1.Value.1": {id}})
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, m := range tagItem.FindAllSubmatch(body, -1) {
		out[string(m[1])] = string(m[2])
	}
	return out
}

// specified are the tags of EC2, which a create gives by type.
func specified(action string) proxy.Dependent {
	return proxy.Dependent{Action: action, Needs: "ec2:CreateTags", With: proxy.WithTags, On: tagSpecifications}
}

// showCredits: moto gives all instances the standard option. Those of the types that the suite uses begin with the unlimited one.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-unlimited-mode-concepts.html
func (s *Service) showCredits(_ context.Context, _ *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	a.Body = bytes.ReplaceAll(a.Body, []byte("<cpuCredits>standard</cpuCredits>"), []byte("<cpuCredits>unlimited</cpuCredits>"))
	return a
}

// TagsOf returns the tags of addresses, which moto's tagging API leaves out.
func (s *Service) TagsOf(ctx context.Context, x *proxy.Exchange, resource string) []map[string]string {
	id, isAddress := strings.CutPrefix(resource, "elastic-ip/")
	if !isAddress {
		return nil
	}
	a, err := s.askEC2(ctx, x.To("ec2"), url.Values{"Action": {"DescribeTags"}, "Filter.1.Name": {"resource-id"}, "Filter.1.Value.1": {id}})
	var found struct {
		Tags []proxy.XMLTag `xml:"tagSet>item"`
	}
	if err != nil || xml.Unmarshal(a.Body, &found) != nil {
		return nil
	}
	return proxy.TagsOfXML(found.Tags)
}

// identifiers are the types of EC2's resources by the beginning of their identifiers.
var identifiers = map[string]string{"eipalloc": "elastic-ip", "i": "instance", "igw": "internet-gateway", "key": "key-pair",
	"nat": "natgateway",
	"rtb": "route-table", "sg": "security-group", "subnet": "subnet", "vol": "volume", "vpc": "vpc"}

// ec2IDs are the elements of ids that differ from the noun: of the group of
// CreateSecurityGroup, the instance of RunInstances, and the allocation of AllocateAddress.
var ec2IDs = map[string]string{"CreateSecurityGroup": "groupId", "RunInstances": "instanceId", "AllocateAddress": "allocationId"}
