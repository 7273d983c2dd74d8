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

// route53Service holds what moto does not know of changes of records.
type route53Service struct {
	base
	records recordChanges
}

func (s *route53Service) Facts() *Facts {
	return &Facts{
		Prefix:   "route53",
		IsGlobal: true,
		Requests: RequestFacts{REST: protocolXML, Decode: decodeRoute53},
		Errors: ErrorFacts{
			Missing:   map[string]awsError{"": {http.StatusNotFound, "NoSuchHostedZone", "No hosted zone found with ID: %s"}},
			Throttled: rateExceeded,
		},
		Writes: WriteFacts{
			CreatedID: func(x *exchange, a *answer) string {
				if x.op != "CreateHostedZone" {
					return ""
				}
				return firstMatch(zoneID, a.body)
			},
			TagReads: []tagRead{{op: "ListTagsForResource*", where: "Tags"}},
		},
		Rights: RightFacts{
			Namings:  map[string]naming{"route53 change/*": {members: []string{"@"}}, "route53 hostedzone/*": {names: namedZones}},
			NotNamed: map[string]string{"route53:ChangeTagsForResource route53 healthcheck/*": "the path names a zone or a health check; the operator tags zones"},
			Dependents: []dependent{
				{action: "route53:CreateHostedZone", needs: "ec2:DescribeVpcs", with: "<VPC>"},
				{action: "route53:AssociateVPCWithHostedZone", needs: "ec2:DescribeVpcs"},
				{action: "route53:DisassociateVPCFromHostedZone", needs: "ec2:DescribeVpcs"},
			},
		},
		Inventory: []inventoryKind{{"route53/zone", true, listZones}, {"route53/record", true, listRecords}},
		Rewrites: []Rewrite{
			{Kind: "Route53RecordSet", Field: "name", What: "special characters become their octal codes"},
			{Kind: "Route53RecordSet", Field: "resourceRecords", What: anyOrder + ", and names lose their last dot", isRecorded: true, ops: []string{"ListResourceRecordSets"}, text: rewriteValues},
		},
		Events: EventFacts{Region: globalRegion},
	}
}

var recordBlock = regexp.MustCompile(`(?s)<ResourceRecord>.*?</ResourceRecord>`)

func (s *route53Service) Corrections() []Correction {
	return []Correction{
		{Name: "caller references are unique", Ops: []string{"CreateHostedZone"}, Before: s.refuseUsedReference},
		{Name: "hosted zones with records are kept", Ops: []string{"DeleteHostedZone"}, Before: s.keepZoneWithRecords},
		{Name: "VPCs of private zones", Ops: []string{"AssociateVPCWithHostedZone", "DisassociateVPCFromHostedZone"}, Before: s.refuseAssociation},
		{Name: "changes of records", Ops: []string{"ChangeResourceRecordSets"}, Before: s.checkChanges},
		{Name: "changes of records take their time", Ops: []string{"ChangeResourceRecordSets", "GetChange"}, After: s.showChange},
		{Name: "names of zones and records", After: s.escapeNames},
		{Name: "tags of hosted zones", Ops: []string{"ListTagsForResource", "ChangeTagsForResource"}, Before: s.checkZoneTags},
	}
}

func (s *route53Service) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = recordChanges{}
}

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
func (s *route53Service) refuseUsedReference(ctx context.Context, x *exchange) *answer {
	all, err := s.ask(ctx, x, http.MethodGet, hostedZones+inOnePage, http.Header{}, nil)
	reference := firstMatch(callerReference, x.body)
	if err != nil || !slices.Contains(allMatches(callerReference, all.body), reference) {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusConflict, "HostedZoneAlreadyExists", "A hosted zone has already been created with the specified caller reference."})
}

// keepZoneWithRecords: moto deletes zones that hold delegations, which are NS records, too.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DeleteHostedZone.html
func (s *route53Service) keepZoneWithRecords(ctx context.Context, x *exchange) *answer {
	a, err := s.ask(ctx, x, http.MethodGet, hostedZones+"/"+x.resource+"/rrset"+inOnePage, http.Header{}, nil)
	if err != nil || !a.ok() || len(recordsOf(a.body)) == 0 {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "HostedZoneNotEmpty", "The specified hosted zone contains non-required resource record sets and so cannot be deleted."})
}

// refuseAssociation: moto associates a VPC as often as it is asked, and disassociates one that is not associated.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DisassociateVPCFromHostedZone.html
func (s *route53Service) refuseAssociation(ctx context.Context, x *exchange) *answer {
	zone, err := s.ask(ctx, x, http.MethodGet, hostedZones+"/"+x.resource, http.Header{}, nil)
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
func (s *route53Service) checkZoneTags(ctx context.Context, x *exchange) *answer {
	if len(tagElement.FindAll(x.body, -1)) > maxZoneTags {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidInput", fmt.Sprintf("At most %d tags are allowed.", maxZoneTags)})
	}
	zone, err := s.ask(ctx, x, http.MethodGet, hostedZones+"/"+x.resource, http.Header{}, nil)
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

// route53Routes are the operations of Route 53 by method and path, in which * is an identifier.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_Operations_Amazon_Route_53.html
var route53Routes = map[string]string{
	"POST hostedzone": "CreateHostedZone", "GET hostedzone": "ListHostedZones",
	"GET hostedzonesbyname": "ListHostedZonesByName", "GET hostedzonesbyvpc": "ListHostedZonesByVPC", "GET hostedzonecount": "GetHostedZoneCount",
	"GET hostedzone/*": "GetHostedZone", "DELETE hostedzone/*": "DeleteHostedZone", "POST hostedzone/*": "UpdateHostedZoneComment",
	"POST hostedzone/*/associatevpc": "AssociateVPCWithHostedZone", "POST hostedzone/*/disassociatevpc": "DisassociateVPCFromHostedZone",
	"POST hostedzone/*/rrset": "ChangeResourceRecordSets", "GET hostedzone/*/rrset": "ListResourceRecordSets",
	"GET tags/hostedzone/*": "ListTagsForResource", "POST tags/hostedzone/*": "ChangeTagsForResource", "POST tags/hostedzone": "ListTagsForResources",
	"GET change/*": "GetChange", "GET hostedzone/*/dnssec": "GetDNSSEC", "GET queryloggingconfig": "ListQueryLoggingConfigs",
}

var (
	nameElement = regexp.MustCompile(`<Name>([^<]*)</Name>`)
	resourceIDs = regexp.MustCompile(`<ResourceId>([^<]*)</ResourceId>`)
)

// decodeRoute53 names a request of Route 53 by its zone, a change or a list of records with the name of a record also by that.
// Requests that it does not know keep their method and path.
func decodeRoute53(d *request) {
	path, known := strings.CutPrefix(d.http.URL.Path, "/2013-04-01/")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	of := 1 // the part that is the identifier
	if parts[0] == "tags" {
		of = 2
	}
	id := ""
	if len(parts) > of {
		id, parts[of] = parts[of], "*"
	}
	op := route53Routes[d.http.Method+" "+strings.Join(parts, "/")]
	if !known || op == "" {
		return
	}
	d.op, d.resource = op, id
	switch op {
	case "CreateHostedZone":
		d.resource = firstMatch(nameElement, d.body)
	case "ChangeResourceRecordSets":
		d.resource = id + "/" + firstMatch(nameElement, d.body)
	case "ListResourceRecordSets":
		if name := d.http.URL.Query().Get("name"); name != "" {
			d.resource = id + "/" + name
		}
	case "ListTagsForResources":
		d.resource = strings.Join(allMatches(resourceIDs, d.body), ",")
	}
}

func namedZones(q *asker) []string {
	parts := strings.Split(strings.Trim(q.x.http.URL.Path, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "hostedzone" {
			return []string{parts[i+1]}
		}
	}
	if q.x.op == "ListTagsForResources" {
		return allMatches(resourceIDs, q.x.body)
	}
	return nil
}

// TagsOf returns the tags of hosted zones, which moto's tagging API leaves out. AWS shows them in us-east-1 only.
func (s *route53Service) TagsOf(ctx context.Context, x *exchange, resource string) []map[string]string {
	if x.region != "us-east-1" {
		return nil
	}
	a, err := s.ask(ctx, x.to("route53"), http.MethodGet, "/2013-04-01/tags/hostedzone/"+strings.TrimPrefix(resource, "hostedzone/"),
		http.Header{"Host": {"route53.amazonaws.com"}}, nil)
	var found struct {
		Tags []xmlTag `xml:"ResourceTagSet>Tags>Tag"`
	}
	if err != nil || xml.Unmarshal(a.body, &found) != nil {
		return nil
	}
	return tagsOfXML(found.Tags)
}

// rewriteValues changes the order of the values of record sets.
func rewriteValues(body string) string {
	return recordSetBlock.ReplaceAllStringFunc(body, reverseElements(recordBlock))
}
