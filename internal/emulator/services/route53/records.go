// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// recordSet is a record set in a request or an answer.
type recordSet struct {
	Name, Type, SetIdentifier, TTL, Weight, Region, Failover, HealthCheckId, MultiValueAnswer string
	Values                                                                                    []string `xml:"ResourceRecords>ResourceRecord>Value"`
	AliasTarget                                                                               struct {
		HostedZoneId, DNSName,
		EvaluateTargetHealth string
	}
	GeoLocation struct {
		ContinentCode, CountryCode,
		SubdivisionCode string
	}
}

func (r recordSet) key() string { return r.Name + " " + r.Type + " " + r.SetIdentifier }

// normalized returns the record set with its name as Route 53 has it. The order of its values means nothing, also in a deletion.
func (r recordSet) normalized() recordSet {
	r.Name, r.Values = strings.ToLower(strings.TrimSuffix(r.Name, "."))+".", slices.Sorted(slices.Values(r.Values))
	return r
}

// recordChanges are the record sets that are changing.
type recordChanges struct {
	takes   time.Duration // how long a change is PENDING
	changed time.Time     // the last one
	number  int           // of them
}

// SetRecordChangesTake lets a change of records be PENDING for so long. Zero ends it.
func (s *Service) SetRecordChangesTake(d time.Duration) { s.Locked(func() { s.records.takes = d }) }

// checkChanges: moto creates records that exist, and refuses to delete some that exist. Route 53 makes all changes of a request or none,
// and a deletion repeats the deleted record set.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeResourceRecordSets.html
func (s *Service) checkChanges(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	zone, _, _ := strings.Cut(x.Resource, "/")
	a, err := s.Ask(ctx, x, http.MethodGet, hostedZones+"/"+zone+"/rrset"+inOnePage, http.Header{}, nil)
	x.Body = withoutLastDots(nameElement.ReplaceAllFunc(x.Body, unescapeName))
	var list struct {
		Records []recordSet `xml:"ResourceRecordSets>ResourceRecordSet"`
	}
	var batch struct {
		Changes []struct {
			Action            string
			ResourceRecordSet recordSet
		} `xml:"ChangeBatch>Changes>Change"`
	}
	if err != nil || !a.OK() || decodeXML(a.Body, &list) != nil || decodeXML(x.Body, &batch) != nil {
		return nil
	}
	existing := map[string]recordSet{}
	for _, r := range list.Records {
		existing[r.normalized().key()] = r.normalized()
	}
	for _, c := range batch.Changes {
		r := c.ResourceRecordSet.normalized()
		found, exists := existing[r.key()]
		switch {
		case c.Action == "CREATE" && exists:
			return invalidBatch("create", r, "it already exists")
		case c.Action == "DELETE" && !exists:
			return invalidBatch("delete", r, "it was not found")
		case c.Action == "DELETE" && !reflect.DeepEqual(found, r):
			return invalidBatch("delete", r, "the values provided do not match the current values")
		case c.Action == "DELETE":
			delete(existing, r.key())
		default:
			existing[r.key()] = r
		}
	}
	x.Body = bytes.ReplaceAll(inStoredOrder(x.Body, list.Records), []byte("<Action>CREATE</Action>"), []byte("<Action>UPSERT</Action>"))
	return nil
}

// inStoredOrder lists the values of existing record sets in moto's order: it deletes only record sets that the request repeats to the
// letter.
func inStoredOrder(body []byte, stored []recordSet) []byte {
	return recordSetBlock.ReplaceAllFunc(body, func(block []byte) []byte {
		var r recordSet
		if decodeXML(block, &r) != nil {
			return block
		}
		i := slices.IndexFunc(stored, func(s recordSet) bool { return reflect.DeepEqual(s.normalized(), r.normalized()) })
		if i < 0 || len(r.Values) < 2 {
			return block
		}
		n := -1
		return valueElement.ReplaceAllFunc(block, func([]byte) []byte {
			n++
			return []byte("<Value>" + proxy.Escape(stored[i].Values[n]) + "</Value>")
		})
	})
}

var (
	valueElement    = regexp.MustCompile(`(?s)<Value>.*?</Value>`)
	recordSetBlock  = regexp.MustCompile(`(?s)<ResourceRecordSet>.*?</ResourceRecordSet>`)
	holdsNames      = regexp.MustCompile(`<Type>(CNAME|MX|NS|PTR|SRV)</Type>`)
	lastDotOfRecord = regexp.MustCompile(`\.</Value>`)
)

// withoutLastDots lets records hold names without their last dot, as if they had been made so: Route 53 takes both for the same, and keeps
// the stored name.
func withoutLastDots(body []byte) []byte {
	return recordSetBlock.ReplaceAllFunc(body, func(set []byte) []byte {
		if !holdsNames.Match(set) {
			return set
		}
		return lastDotOfRecord.ReplaceAll(set, []byte("</Value>"))
	})
}

func decodeXML(text []byte, into any) error {
	return xml.NewDecoder(bytes.NewReader(text)).Decode(into)
}

// invalidBatch is the only error of Route 53 with a list of messages.
func invalidBatch(verb string, r recordSet, why string) *proxy.Answer {
	message := fmt.Sprintf("[Tried to %s resource record set [name='%s', type='%s'] but %s]", verb, r.Name, r.Type, why)
	return &proxy.Answer{Status: http.StatusBadRequest, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: []byte(`<InvalidChangeBatch xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Messages><Message>` +
			proxy.Escape(message) + `</Message></Messages><RequestId>` + proxy.RequestID + `</RequestId></InvalidChangeBatch>`)}
}

var (
	octal        = regexp.MustCompile(`\\[0-7]{3}`)
	changeID     = regexp.MustCompile(`<Id>/change/[^<]*</Id>`)
	changeStatus = regexp.MustCompile(`<Status>[^<]*</Status>`)
	special      = strings.NewReplacer("*", `\052`, "/", `\057`)
)

// unescapeName writes a name as moto keeps it.
func unescapeName(element []byte) []byte {
	return octal.ReplaceAllFunc(element, func(code []byte) []byte {
		n, err := strconv.ParseUint(string(code[1:]), 8, 8)
		if err != nil {
			return code
		}
		return []byte{byte(n)}
	})
}

// escapeNames: Route 53 answers with special characters in octal form, in names of zones and of records.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DomainNameFormat.html
func (s *Service) escapeNames(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	escaped := nameElement.ReplaceAllFunc(a.Body, func(element []byte) []byte {
		return []byte("<Name>" + special.Replace(string(nameElement.FindSubmatch(element)[1])) + "</Name>")
	})
	if x.Op == "ListResourceRecordSets" && string(escaped) != string(a.Body) {
		s.Meet("Route53RecordSet.name")
	}
	return a.WithBody(escaped)
}

// showChange: moto has one identifier for all changes, and is done at once.
// https://docs.aws.amazon.com/Route53/latest/APIReference/API_GetChange.html
func (s *Service) showChange(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	body := a.Body
	if x.IsWrite() {
		s.records.number++
		s.records.changed = s.Now()
		body = changeID.ReplaceAll(body, fmt.Appendf(nil, "<Id>/change/C%d</Id>", s.records.number))
	}
	if s.Now().Sub(s.records.changed) < s.records.takes {
		body = changeStatus.ReplaceAll(body, []byte("<Status>PENDING</Status>"))
	}
	return a.WithBody(body)
}
