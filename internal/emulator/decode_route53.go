// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"regexp"
	"strings"
)

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
func (d *request) decodeRoute53() {
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

// firstMatch returns the first group of the first match, or "".
func firstMatch(pattern *regexp.Regexp, text []byte) string {
	if m := pattern.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// allMatches returns the first group of each match.
func allMatches(pattern *regexp.Regexp, text []byte) []string {
	var out []string
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return out
}
