// SPDX-License-Identifier: Apache-2.0

// Package route53 holds the emulator's facts and corrections for Amazon Route 53.
package route53

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service holds the state of changes of records that moto lacks.
type Service struct {
	proxy.Base
	records recordChanges
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "route53",
		IsGlobal: true,
		Requests: proxy.RequestFacts{REST: proxy.ProtocolXML, Decode: decodeRoute53},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{"": {Status: http.StatusNotFound, Code: "NoSuchHostedZone",
				Message: "No hosted zone found with ID: %s"}},
			Throttled: proxy.RateExceeded,
		},
		Writes: proxy.WriteFacts{
			CreatedID: func(x *proxy.Exchange, a *proxy.Answer) string {
				if x.Op != "CreateHostedZone" {
					return ""
				}
				return proxy.FirstMatch(zoneID, a.Body)
			},
			TagReads: []proxy.TagRead{{Op: "ListTagsForResource*", Where: "Tags"}},
		},
		Rights: proxy.RightFacts{
			Namings:  map[string]proxy.Naming{"route53 change/*": {Members: []string{"@"}}, "route53 hostedzone/*": {Names: namedZones}},
			NotNamed: map[string]string{"route53:ChangeTagsForResource route53 healthcheck/*": "the path names a zone or a health check; the operator tags zones"},
			Dependents: []proxy.Dependent{
				{Action: "route53:CreateHostedZone", Needs: "ec2:DescribeVpcs", With: "<VPC>"},
				{Action: "route53:AssociateVPCWithHostedZone", Needs: "ec2:DescribeVpcs"},
				{Action: "route53:DisassociateVPCFromHostedZone", Needs: "ec2:DescribeVpcs"},
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "route53/zone", Global: true, List: listZones},
			{Name: "route53/record", Global: true, List: listRecords}},
		Rewrites: []proxy.Rewrite{
			{Kind: "Route53RecordSet", Field: "name", What: "special characters become their octal codes"},
			{Kind: "Route53RecordSet", Field: "resourceRecords", What: proxy.AnyOrder + ", and names lose their last dot", IsRecorded: true,
				Ops: []string{"ListResourceRecordSets"}, Text: rewriteValues},
		},
		Events: proxy.EventFacts{Region: proxy.GlobalRegion},
	}
}

var recordBlock = regexp.MustCompile(`(?s)<ResourceRecord>.*?</ResourceRecord>`)

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "caller references are unique", Ops: []string{"CreateHostedZone"}, Before: s.refuseUsedReference},
		{Name: "hosted zones with records are kept", Ops: []string{"DeleteHostedZone"}, Before: s.keepZoneWithRecords},
		{Name: "VPCs of private zones",
			Ops: []string{"AssociateVPCWithHostedZone", "DisassociateVPCFromHostedZone"}, Before: s.refuseAssociation},
		{Name: "changes of records", Ops: []string{"ChangeResourceRecordSets"}, Before: s.checkChanges},
		{Name: "changes of records take their time", Ops: []string{"ChangeResourceRecordSets", "GetChange"}, After: s.showChange},
		{Name: "names of zones and records", After: s.escapeNames},
		{Name: "tags of hosted zones", Ops: []string{"ListTagsForResource", "ChangeTagsForResource"}, Before: s.checkZoneTags},
	}
}

// Reset forgets the state.
func (s *Service) Reset() { s.Locked(func() { s.records = recordChanges{} }) }

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
func (s *Service) refuseUsedReference(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	all, err := s.Ask(ctx, x, http.MethodGet, hostedZones+inOnePage, http.Header{}, nil)
	reference := proxy.FirstMatch(callerReference, x.Body)
	if err != nil || !slices.Contains(proxy.AllMatches(callerReference, all.Body), reference) {
		return nil
	}
	return x.Refuse(http.StatusConflict, "HostedZoneAlreadyExists",
		"A hosted zone has already been created with the specified caller reference.")
}

// keepZoneWithRecords: moto deletes zones that hold delegations, which are NS records, too.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DeleteHostedZone.html
func (s *Service) keepZoneWithRecords(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	a, err := s.Ask(ctx, x, http.MethodGet, hostedZones+"/"+x.Resource+"/rrset"+inOnePage, http.Header{}, nil)
	if err != nil || !a.OK() || len(recordsOf(a.Body)) == 0 {
		return nil
	}
	return x.Refuse(http.StatusBadRequest, "HostedZoneNotEmpty",
		"The specified hosted zone contains non-required resource record sets and so cannot be deleted.")
}

// refuseAssociation: moto associates a VPC as often as it is asked, and disassociates one that is not associated.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_DisassociateVPCFromHostedZone.html
func (s *Service) refuseAssociation(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	zone, err := s.Ask(ctx, x, http.MethodGet, hostedZones+"/"+x.Resource, http.Header{}, nil)
	if err != nil || !zone.OK() {
		return nil
	}
	vpc := proxy.FirstMatch(vpcElement, x.Body)
	associated, associates := slices.Contains(proxy.AllMatches(vpcElement, zone.Body), vpc), x.Op == "AssociateVPCWithHostedZone"
	switch {
	case associated && associates:
		return x.Refuse(http.StatusBadRequest, "ConflictingDomainExists",
			fmt.Sprintf("The VPC %s has already been associated with the hosted zone %s with the same domain name.", vpc, x.Resource))
	case !associated && !associates:
		return x.Refuse(http.StatusNotFound, "VPCAssociationNotFound", "The specified VPC and hosted zone are not currently associated.")
	default:
		return nil
	}
}

// maxZoneTags limits how many tags a hosted zone can have.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeTagsForResource.html
const maxZoneTags = 10

// checkZoneTags: moto shows no tags of a hosted zone that does not exist, and takes any number of them.
func (s *Service) checkZoneTags(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if len(tagElement.FindAll(x.Body, -1)) > maxZoneTags {
		return x.Refuse(http.StatusBadRequest, "InvalidInput", fmt.Sprintf("At most %d tags are allowed.", maxZoneTags))
	}
	zone, err := s.Ask(ctx, x, http.MethodGet, hostedZones+"/"+x.Resource, http.Header{}, nil)
	if err != nil || zone.OK() {
		return nil
	}
	return proxy.NotFoundAnswer(x.Request)
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
func listZones(ctx context.Context, l *proxy.Lister) ([]string, error) {
	body, err := l.Get(ctx, "route53", hostedZones+inOnePage)
	return proxy.AllMatches(nameElement, body), err
}

// listRecords lists the records of all hosted zones.
func listRecords(ctx context.Context, l *proxy.Lister) ([]string, error) {
	zones, err := l.Get(ctx, "route53", hostedZones+inOnePage)
	var out []string
	for _, id := range proxy.AllMatches(zoneID, zones) {
		list, err := l.Get(ctx, "route53", hostedZones+"/"+id+"/rrset"+inOnePage)
		if err != nil {
			return nil, err
		}
		out = append(out, recordsOf(list)...)
	}
	return out, err
}

// route53Routes are the operations of Route 53 by method and path. A * in the path is an identifier.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_Operations_Amazon_Route_53.html
var route53Routes = map[string]string{
	"POST hostedzone": "CreateHostedZone", "GET hostedzone": "ListHostedZones",
	"GET hostedzonesbyname": "ListHostedZonesByName", "GET hostedzonesbyvpc": "ListHostedZonesByVPC",
	"GET hostedzonecount": "GetHostedZoneCount",
	"GET hostedzone/*":    "GetHostedZone", "DELETE hostedzone/*": "DeleteHostedZone", "POST hostedzone/*": "UpdateHostedZoneComment",
	"POST hostedzone/*/associatevpc": "AssociateVPCWithHostedZone", "POST hostedzone/*/disassociatevpc": "DisassociateVPCFromHostedZone",
	"POST hostedzone/*/rrset": "ChangeResourceRecordSets", "GET hostedzone/*/rrset": "ListResourceRecordSets",
	"GET tags/hostedzone/*": "ListTagsForResource", "POST tags/hostedzone/*": "ChangeTagsForResource",
	"POST tags/hostedzone": "ListTagsForResources",
	"GET change/*":         "GetChange", "GET hostedzone/*/dnssec": "GetDNSSEC", "GET queryloggingconfig": "ListQueryLoggingConfigs",
}

var (
	nameElement = regexp.MustCompile(`<Name>([^<]*)</Name>`)
	resourceIDs = regexp.MustCompile(`<ResourceId>([^<]*)</ResourceId>`)
)

// decodeRoute53 names a request of Route 53 by its zone, a change or a list of records with the name of a record also by that.
// Requests that it does not know keep their method and path.
func decodeRoute53(d *proxy.Request) {
	path, known := strings.CutPrefix(d.HTTP.URL.Path, "/2013-04-01/")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	of := 1 // the part that is the identifier
	if parts[0] == "tags" {
		of = 2
	}
	id := ""
	if len(parts) > of {
		id, parts[of] = parts[of], "*"
	}
	op := route53Routes[d.HTTP.Method+" "+strings.Join(parts, "/")]
	if !known || op == "" {
		return
	}
	d.Op, d.Resource = op, id
	switch op {
	case "CreateHostedZone":
		d.Resource = proxy.FirstMatch(nameElement, d.Body)
	case "ChangeResourceRecordSets":
		d.Resource = id + "/" + proxy.FirstMatch(nameElement, d.Body)
	case "ListResourceRecordSets":
		if name := d.HTTP.URL.Query().Get("name"); name != "" {
			d.Resource = id + "/" + name
		}
	case "ListTagsForResources":
		d.Resource = strings.Join(proxy.AllMatches(resourceIDs, d.Body), ",")
	}
}

func namedZones(q *proxy.Asker) []string {
	parts := strings.Split(strings.Trim(q.X.HTTP.URL.Path, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "hostedzone" {
			return []string{parts[i+1]}
		}
	}
	if q.X.Op == "ListTagsForResources" {
		return proxy.AllMatches(resourceIDs, q.X.Body)
	}
	return nil
}

// TagsOf returns the tags of hosted zones, which moto's tagging API leaves out. AWS shows them in us-east-1 only.
func (s *Service) TagsOf(ctx context.Context, x *proxy.Exchange, resource string) []map[string]string {
	if x.Region != "us-east-1" {
		return nil
	}
	a, err := s.Ask(ctx, x.To("route53"), http.MethodGet, "/2013-04-01/tags/hostedzone/"+strings.TrimPrefix(resource, "hostedzone/"),
		http.Header{"Host": {"route53.amazonaws.com"}}, nil)
	var found struct {
		Tags []proxy.XMLTag `xml:"ResourceTagSet>Tags>Tag"`
	}
	if err != nil || xml.Unmarshal(a.Body, &found) != nil {
		return nil
	}
	return proxy.TagsOfXML(found.Tags)
}

// rewriteValues changes the order of the values of record sets.
func rewriteValues(body string) string {
	return recordSetBlock.ReplaceAllStringFunc(body, proxy.ReverseElements(recordBlock))
}
