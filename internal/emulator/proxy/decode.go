// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Protocol says how a service speaks: it decides how its errors look.
type Protocol int

// The protocols of AWS.
const (
	protocolJSON  Protocol = iota // X-Amz-Target and a JSON body
	protocolQuery                 // Action= in a form
	ProtocolEC2                   // the same with other errors
	ProtocolS3                    // REST and XML
	protocolREST                  // REST and JSON
	ProtocolXML                   // REST and XML, not S3
	protocolCBOR                  // Smithy RPC v2
)

// Request is a decoded request of an AWS client.
type Request struct {
	catalog   *Catalog
	HTTP      *http.Request
	Body      []byte
	Protocol  Protocol
	Service   string // IAM prefix
	Op        string
	Resource  string
	Region    string
	AccessKey string
	Form      url.Values     // query protocol
	JSON      map[string]any // JSON protocols
	Bucket    string         // S3
	Key       string         // S3
}

var credentialPattern = regexp.MustCompile(`Credential=([^/,\s]+)/\d+/([^/]+)/([^/]+)/aws4_request`)

// decode names a request. It never fails: an unknown request becomes `service.METHOD(/path)`.
func (c *Catalog) decode(r *http.Request, body []byte) *Request {
	d := &Request{catalog: c, HTTP: r, Body: body}
	d.readScope()
	switch target := r.Header.Get("X-Amz-Target"); {
	case target != "":
		d.decodeJSON(target)
	case strings.HasPrefix(r.URL.Path, "/service/") && strings.Contains(r.URL.Path, "/operation/"):
		d.Protocol = protocolCBOR
		d.Op = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		d.decodeQuery()
	default:
		d.decodeREST()
	}
	return d
}

// readScope takes key, region and service from the signature.
func (d *Request) readScope() {
	credential := d.HTTP.Header.Get("Authorization")
	if presigned := d.HTTP.URL.Query().Get("X-Amz-Credential"); presigned != "" {
		credential = "Credential=" + presigned
	}
	m := credentialPattern.FindStringSubmatch(credential)
	if m == nil {
		return
	}
	d.AccessKey, d.Region, d.Service = m[1], m[2], m[3]
	if f := d.catalog.find(func(f *Facts) bool { return slices.Contains(f.Requests.SigningNames, d.Service) }); f != nil {
		d.Service = f.Prefix
	}
}

func (d *Request) decodeJSON(target string) {
	d.Protocol = protocolJSON
	prefix, op, _ := strings.Cut(target, ".")
	if i := strings.LastIndexByte(target, '.'); i >= 0 {
		op = target[i+1:]
	}
	d.Op = op
	if f := d.catalog.find(func(f *Facts) bool { return slices.Contains(f.Requests.Targets, prefix) }); d.Service == "" && f != nil {
		d.Service = f.Prefix
	}
	if err := json.Unmarshal(d.Body, &d.JSON); err != nil {
		d.JSON = map[string]any{}
	}
	d.Resource = d.jsonResource()
}

func (d *Request) decodeQuery() {
	form, err := url.ParseQuery(string(d.Body))
	if err != nil {
		form = url.Values{}
	}
	d.Form, d.Op = form, form.Get("Action")
	unsigned := func(f *Facts) bool { return f.Requests.IsUnsigned != nil && f.Requests.IsUnsigned(d.Op) }
	if f := d.catalog.find(unsigned); d.Service == "" && f != nil {
		d.Service = f.Prefix
	}
	d.Protocol = cmp.Or(d.facts().Requests.Form, protocolQuery)
	d.Resource = d.queryResource()
}

// decodeREST names a REST request. A request without any name of a service is one for the service that has requests without a signature.
func (d *Request) decodeREST() {
	if f := d.catalog.find(func(f *Facts) bool { return f.Requests.IsAnonymous }); d.Service == "" && f != nil {
		d.Service = f.Prefix
	}
	f := d.facts().Requests
	d.Protocol = cmp.Or(f.REST, protocolREST)
	d.Op, d.Resource = d.HTTP.Method, d.HTTP.URL.Path
	if len(d.Body) > 0 && d.Protocol == protocolREST {
		_ = json.Unmarshal(d.Body, &d.JSON)
	}
	if f.Decode != nil {
		f.Decode(d)
	}
}

// reads are the first words of operations that change nothing.
var reads = []string{
	"Get", "List", "Describe", "Head", "BatchGet", "Query", "Scan", "Lookup", "Search", "Check", "Simulate", "Select",
	"Filter", "Preview", "Validate", "Test", "Estimate", "GET", "HEAD",
}

// IsWrite reports whether a request can change something, by its operation.
func (d *Request) IsWrite() bool {
	return !slices.ContainsFunc(slices.Concat(reads, d.facts().Requests.Reads),
		func(verb string) bool { return strings.HasPrefix(d.Op, verb) })
}

// Operation names the operation of a request with its resource, and reports whether it changes something.
func (c *Catalog) Operation(r *http.Request, body []byte) (name string, write bool) {
	d := c.decode(r, body)
	return d.Service + "." + d.Op + "(" + d.Resource + ")", d.IsWrite()
}
