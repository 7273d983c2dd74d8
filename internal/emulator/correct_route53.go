// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// hostedZones is the path of the hosted zones, and inOnePage of a list asks the emulator for all of it.
const (
	hostedZones = "/2013-04-01/hostedzone"
	inOnePage   = "?maxitems=10000"
)

var (
	zoneID          = regexp.MustCompile(`<Id>/hostedzone/([^<]*)</Id>`)
	callerReference = regexp.MustCompile(`<CallerReference>([^<]*)</CallerReference>`)
	vpcElement      = regexp.MustCompile(`<VPCId>([^<]*)</VPCId>`)
	tagElement      = regexp.MustCompile(`<Tag>`)
)

// refuseUsedReference: Route 53 makes one hosted zone for a caller reference. moto makes another one.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_CreateHostedZone.html
func refuseUsedReference(ctx context.Context, p *Proxy, x *exchange) *answer {
	all, err := p.ask(ctx, x, http.MethodGet, hostedZones+inOnePage, http.Header{}, nil)
	reference := firstMatch(callerReference, x.body)
	if err != nil || !slices.Contains(allMatches(callerReference, all.body), reference) {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusConflict, "HostedZoneAlreadyExists", "A hosted zone has already been created with the specified caller reference."})
}

// keepZoneWithRecords: moto deletes zones that hold delegations, which are NS records, too.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DeleteHostedZone.html
func keepZoneWithRecords(ctx context.Context, p *Proxy, x *exchange) *answer {
	a, err := p.ask(ctx, x, http.MethodGet, hostedZones+"/"+x.resource+"/rrset"+inOnePage, http.Header{}, nil)
	if err != nil || !a.ok() || len(recordsOf(a.body)) == 0 {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "HostedZoneNotEmpty", "The specified hosted zone contains non-required resource record sets and so cannot be deleted."})
}

// refuseAssociation: moto associates a VPC as often as it is asked, and disassociates one that is not associated.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DisassociateVPCFromHostedZone.html
func refuseAssociation(ctx context.Context, p *Proxy, x *exchange) *answer {
	zone, err := p.ask(ctx, x, http.MethodGet, hostedZones+"/"+x.resource, http.Header{}, nil)
	if err != nil || !zone.ok() {
		return nil
	}
	vpc := firstMatch(vpcElement, x.body)
	associated, associates := slices.Contains(allMatches(vpcElement, zone.body), vpc), x.op == "AssociateVPCWithHostedZone"
	switch {
	case associated && associates:
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "ConflictingDomainExists",
			fmt.Sprintf("The VPC %s has already been associated with the hosted zone %s with the same domain name.", vpc, x.resource)})
	case !associated && !associates:
		return errorAnswer(x.request, awsError{http.StatusNotFound, "VPCAssociationNotFound", "The specified VPC and hosted zone are not currently associated."})
	default:
		return nil
	}
}

// maxZoneTags limits how many tags a hosted zone can have.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeTagsForResource.html
const maxZoneTags = 10

// checkZoneTags: moto shows no tags of a hosted zone that does not exist, and takes any number of them.
func checkZoneTags(ctx context.Context, p *Proxy, x *exchange) *answer {
	if len(tagElement.FindAll(x.body, -1)) > maxZoneTags {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidInput", fmt.Sprintf("At most %d tags are allowed.", maxZoneTags)})
	}
	zone, err := p.ask(ctx, x, http.MethodGet, hostedZones+"/"+x.resource, http.Header{}, nil)
	if err != nil || zone.ok() {
		return nil
	}
	return notFoundAnswer(x.request)
}

// recordsOf returns the records of a list as "name TYPE", and the identifier of one of several, without the NS and SOA records
// that each zone has at its apex.
func recordsOf(list []byte) []string {
	var body struct {
		Records []struct{ Name, Type, SetIdentifier string } `xml:"ResourceRecordSets>ResourceRecordSet"`
	}
	if xml.NewDecoder(bytes.NewReader(list)).Decode(&body) != nil {
		return nil
	}
	apex := ""
	for _, r := range body.Records {
		if r.Type == "SOA" {
			apex = r.Name
		}
	}
	var out []string
	for _, r := range body.Records {
		if r.Name != apex || r.Type != "NS" && r.Type != "SOA" {
			out = append(out, strings.TrimSpace(r.Name+" "+r.Type+" "+r.SetIdentifier))
		}
	}
	return out
}

// listZones lists the hosted zones by name.
func listZones(ctx context.Context, l *lister) ([]string, error) {
	body, err := l.get(ctx, "route53", hostedZones+inOnePage)
	return allMatches(nameElement, body), err
}

// listRecords lists the records of all hosted zones.
func listRecords(ctx context.Context, l *lister) ([]string, error) {
	zones, err := l.get(ctx, "route53", hostedZones+inOnePage)
	var out []string
	for _, id := range allMatches(zoneID, zones) {
		list, err := l.get(ctx, "route53", hostedZones+"/"+id+"/rrset"+inOnePage)
		if err != nil {
			return nil, err
		}
		out = append(out, recordsOf(list)...)
	}
	return out, err
}
