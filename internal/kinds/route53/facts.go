// SPDX-License-Identifier: Apache-2.0

package route53

import "github.com/nexus-operator/nexus-operator/internal/kind"

const canonical = "names are compared in lower case and with their last dot: canonicalName"

// hostedZoneFacts returns the facts about a Route53HostedZone that other packages use.
func hostedZoneFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			// AWS chooses the identifiers, and knows no condition on the tags of a hosted zone.
			Calls: []kind.Right{
				{Actions: "route53:CreateHostedZone route53:ListHostedZonesByName"},
				{Actions: "route53:AssociateVPCWithHostedZone route53:DisassociateVPCFromHostedZone",
					On: []string{"arn:${Partition}:route53:::hostedzone/*", "arn:${Partition}:ec2:*:${Account}:vpc/*"}},
				{Actions: "route53:*", On: []string{"arn:${Partition}:route53:::hostedzone/*"}},
			},
			Needs: []kind.Need{ // of a private zone
				{For: "route53:CreateHostedZone route53:AssociateVPCWithHostedZone", Actions: "ec2:DescribeVpcs"},
			},
			Decided: map[string]string{
				"route53:ChangeTagsForResource arn:${Partition}:route53:::healthcheck/${Id}": "only hosted zones are tagged",
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"DelegationSet", "HostedZone.CallerReference", "HostedZone.ResourceRecordSetCount", "HostedZone.LinkedService",
			"ResourceTagSet.ResourceType", "ResourceTagSet.ResourceId",
		},
		Reach: kind.Everywhere,
		OneValue: map[string]string{
			"VPCID VPCRef": kind.ByReference,
			"VPCRegion":    kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Route53::HostedZone"},
			Rewritten: map[string]string{
				"Name": canonical,
			},
			Properties: map[string]map[string]string{
				"AWS::Route53::HostedZone": {
					"DelegationSetId":    "NotSettings has the delegation set, which each public zone has",
					"HostedZoneConfig":   "as comment",
					"HostedZoneFeatures": "as features",
					"HostedZoneTags":     "as tags",
				},
			},
			Unneeded: map[string]string{
				"route53:*QueryLoggingConfig*":     "there is no field for query logs",
				"route53:UpdateHostedZoneFeatures": "there is no field for features",
			},
		},
		ARN: kind.ARNForm{
			Service: "route53",
			Prefix:  "hostedzone/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_route53_zone",
			Identity: []string{"zone_id"},
			Parts:    []string{"aws_route53_zone_association"},
		},
	}
}

// recordSetFacts returns the facts about a Route53RecordSet that other packages use.
func recordSetFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "route53:GetChange", On: []string{"arn:${Partition}:route53:::change/*"}},
				{Actions: "route53:*", On: []string{"arn:${Partition}:route53:::hostedzone/*"}},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			// A list begins with the record set and goes on with others, such as the one with its owner.
			"ResourceRecordSets[]", "ResourceRecordSets.TTL",
		},
		OneValue: map[string]string{
			"HostedZoneID HostedZoneRef": kind.ByReference,
			"SetIdentifier Validates":    kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Route53::RecordSet"},
			Rewritten: map[string]string{
				"AliasTarget/DNSName Name": canonical,
			},
			Properties: map[string]map[string]string{
				"AWS::Route53::RecordSet": {
					"Comment":        kind.IsRequest,
					"HostedZoneName": kind.IsParent,
				},
			},
			Unneeded: map[string]string{
				"route53:ListHostedZones": "zones are named by their identifiers",
			},
		},
		Terraform: kind.Terraform{
			Type:     "aws_route53_record",
			Identity: []string{"zone_id", "fqdn", "type", "set_identifier" + kind.OptionalIdentity},
		},
	}
}
