// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exportedZone declares a hosted zone as it is.
func exportedZone(cr *v1alpha1.Route53HostedZone, have HostedZoneState) {
	out := &cr.Spec
	out.Name, out.PrivateZone, out.Comment = strings.TrimSuffix(*have.Name, "."), aws.ToBool(have.Private), kind.NonEmpty(have.Comment)
	for _, id := range kind.SortedKeys(have.VPCs) {
		out.VPCs = append(out.VPCs, v1alpha1.HostedZoneVPC{VPCID: id, VPCRegion: have.VPCs[id].Region})
	}
}

// exportedRecords declares a record set as it is.
func exportedRecords(cr *v1alpha1.Route53RecordSet, have RecordSetState) {
	out := &cr.Spec
	out.Name = strings.TrimSuffix(have.Name, ".")
	for _, v := range have.Values {
		out.ResourceRecords = append(out.ResourceRecords, v1alpha1.RecordValue(v))
	}
	if have.Alias.DNSName != "" {
		out.AliasTarget = &v1alpha1.RecordAliasTarget{HostedZoneID: have.Alias.HostedZoneID, DNSName: have.Alias.DNSName, EvaluateTargetHealth: have.Alias.EvaluateTargetHealth}
	} else {
		out.TTL = &have.TTL
	}
	out.Weight, out.Region, out.Failover = parsedWeight(have.Weight), have.Region, have.Failover
	if have.Geo != (Geo{}) {
		out.GeoLocation = &v1alpha1.RecordGeoLocation{ContinentCode: have.Geo.ContinentCode, CountryCode: have.Geo.CountryCode, SubdivisionCode: have.Geo.SubdivisionCode}
	}
	out.MultiValueAnswer, out.HealthCheckID = have.MultiValue, have.HealthCheckID
}

// separateSettings are the settings of a hosted zone that no field says, with one read for each.
func (z *hostedZone) separateSettings() []kind.SeparateSetting[HostedZoneState] {
	return []kind.SeparateSetting[HostedZoneState]{
		kind.ReadSeparately(kind.ImportRead{Setting: "dnssec", Action: "route53:GetDNSSEC"}, z.api.GetDNSSEC,
			func(have HostedZoneState) *route53.GetDNSSECInput {
				return &route53.GetDNSSECInput{HostedZoneId: &have.ID}
			},
			func(out *route53.GetDNSSECOutput) bool {
				signs := kind.NonEmpty(kind.NonNil(out.Status).ServeSignature)
				return signs != nil && *signs != "NOT_SIGNING"
			}).If(func(have HostedZoneState) bool { return !*kind.NonNil(have.Private) }),
		kind.ReadSeparately(kind.ImportRead{Setting: "queryLoggingConfig", Action: "route53:ListQueryLoggingConfigs"}, z.api.ListQueryLoggingConfigs,
			func(have HostedZoneState) *route53.ListQueryLoggingConfigsInput {
				return &route53.ListQueryLoggingConfigsInput{HostedZoneId: &have.ID}
			},
			func(out *route53.ListQueryLoggingConfigsOutput) bool { return len(out.QueryLoggingConfigs) > 0 }),
	}
}
