// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// protocol says how a service speaks: it decides how its errors look.
type protocol int

const (
	protocolJSON  protocol = iota // X-Amz-Target and a JSON body
	protocolQuery                 // Action= in a form
	protocolEC2                   // the same with other errors
	protocolS3                    // REST and XML
	protocolREST                  // REST and JSON
	protocolXML                   // REST and XML, not S3
	protocolCBOR                  // Smithy RPC v2
)

// request is a decoded request of an AWS client.
type request struct {
	http      *http.Request
	body      []byte
	protocol  protocol
	service   string // IAM prefix
	op        string
	resource  string
	region    string
	accessKey string
	form      url.Values     // query protocol
	json      map[string]any // JSON protocols
	bucket    string         // S3
	key       string         // S3
}

var credentialPattern = regexp.MustCompile(`Credential=([^/,\s]+)/\d+/([^/]+)/([^/]+)/aws4_request`)

// decode names a request. It never fails: what it does not know becomes
// `service.METHOD(/path)`.
func decode(r *http.Request, body []byte) *request {
	d := &request{http: r, body: body}
	d.readScope()
	switch target := r.Header.Get("X-Amz-Target"); {
	case target != "":
		d.decodeJSON(target)
	case strings.HasPrefix(r.URL.Path, "/service/") && strings.Contains(r.URL.Path, "/operation/"):
		d.protocol = protocolCBOR
		d.op = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		d.decodeQuery()
	default:
		d.decodeREST()
	}
	return d
}

// readScope takes key, region and service from the signature.
func (d *request) readScope() {
	credential := d.http.Header.Get("Authorization")
	if presigned := d.http.URL.Query().Get("X-Amz-Credential"); presigned != "" {
		credential = "Credential=" + presigned
	}
	m := credentialPattern.FindStringSubmatch(credential)
	if m == nil {
		return
	}
	d.accessKey, d.region, d.service = m[1], m[2], m[3]
	if f := serviceBy(func(f *Facts) bool { return slices.Contains(f.Requests.SigningNames, d.service) }); f != nil {
		d.service = f.Prefix
	}
}

// serviceBy returns the facts of the service for which a condition holds; nil for none.
func serviceBy(holds func(*Facts) bool) *Facts {
	for _, f := range allFacts() {
		if holds(f) {
			return f
		}
	}
	return nil
}

func (d *request) decodeJSON(target string) {
	d.protocol = protocolJSON
	prefix, op, _ := strings.Cut(target, ".")
	if i := strings.LastIndexByte(target, '.'); i >= 0 {
		op = target[i+1:]
	}
	d.op = op
	if f := serviceBy(func(f *Facts) bool { return slices.Contains(f.Requests.Targets, prefix) }); d.service == "" && f != nil {
		d.service = f.Prefix
	}
	if err := json.Unmarshal(d.body, &d.json); err != nil {
		d.json = map[string]any{}
	}
	d.resource = jsonResource(d.service, d.op, d.json)
}

func (d *request) decodeQuery() {
	form, err := url.ParseQuery(string(d.body))
	if err != nil {
		form = url.Values{}
	}
	d.form, d.op = form, form.Get("Action")
	unsigned := func(f *Facts) bool { return f.Requests.IsUnsigned != nil && f.Requests.IsUnsigned(d.op) }
	if f := serviceBy(unsigned); d.service == "" && f != nil {
		d.service = f.Prefix
	}
	d.protocol = cmp.Or(d.facts().Requests.Form, protocolQuery)
	d.resource = queryResource(d.service, form)
}

// decodeREST names a REST request. The service that gets what nothing names is the one that has requests without a signature.
func (d *request) decodeREST() {
	if f := serviceBy(func(f *Facts) bool { return f.Requests.IsAnonymous }); d.service == "" && f != nil {
		d.service = f.Prefix
	}
	f := d.facts().Requests
	d.protocol = cmp.Or(f.REST, protocolREST)
	d.op, d.resource = d.http.Method, d.http.URL.Path
	if len(d.body) > 0 && d.protocol == protocolREST {
		_ = json.Unmarshal(d.body, &d.json)
	}
	if f.Decode != nil {
		f.Decode(d)
	}
}

// reads are the first words of operations that change nothing.
var reads = []string{
	"Get", "List", "Describe", "Head", "BatchGet", "Query", "Scan", "Lookup", "Search", "Check", "Simulate", "Select",
	"Filter", "Preview", "Validate", "Test", "Estimate", "AdminGet", "AdminList", "AssumeRole", "Decode", "GET", "HEAD",
	"GenerateDataKey", "Encrypt", "Decrypt", "Sign", "Verify",
}

func isWrite(op string) bool {
	for _, verb := range reads {
		if strings.HasPrefix(op, verb) {
			return false
		}
	}
	return true
}

// Operation names the operation of a request with its resource, and reports whether it changes something.
func Operation(r *http.Request, body []byte) (name string, write bool) {
	d := decode(r, body)
	return d.service + "." + d.op + "(" + d.resource + ")", isWrite(d.op)
}
