// SPDX-License-Identifier: Apache-2.0

// Package s3double answers S3's bucket API from memory, as AWS documents it. Benchmarks use it in place of the emulator: that one answers
// about 200 requests per second and would set the pace of the measured code.
//
// The double keeps buckets, their tags and their configuration. It has no objects: every operation on an object
// answers NotImplemented. It understands path-style requests only and checks no signatures. The test of this package
// sends the same requests to the double and to the corrected emulator and compares the answers.
package s3double

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody is the largest request body that the double reads.
const maxBody = 1 << 20

// namespace is the XML namespace of every document of S3.
const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// Double is an S3 of one account that lives in memory. It is an http.Handler and safe for concurrent use.
type Double struct {
	account string
	now     func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

// bucket is the state of one bucket: its configuration documents as they were sent.
type bucket struct {
	region    string
	created   time.Time
	documents map[string][]byte // by sub-resource: versioning, tagging, policy …
}

// New returns an empty S3 of the account. now gives the creation time of buckets.
func New(account string, now func() time.Time) *Double {
	return &Double{account: account, now: now, buckets: map[string]*bucket{}}
}

// Names returns the names of all buckets in order.
func (d *Double) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := make([]string, 0, len(d.buckets))
	for name := range d.buckets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// call is one request to the double.
type call struct {
	*http.Request
	name   string // of the bucket
	region string
	body   []byte
}

// reply is the answer to a call.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ServeHTTP implements http.Handler.
func (d *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client closed the connection
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	c := &call{Request: r, name: name, region: signedRegion(r), body: body}
	d.mu.Lock()
	answer := d.answer(c, key)
	d.mu.Unlock()
	for field, values := range answer.header {
		w.Header()[field] = values
	}
	w.Header().Set("X-Amz-Request-Id", "S3DOUBLE00000000")
	if len(answer.body) > 0 && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/xml")
	}
	w.WriteHeader(answer.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(answer.body)
	}
}

func (d *Double) answer(c *call, key string) reply {
	query := c.URL.Query()
	query.Del("x-id") // a client's hint of the operation
	switch {
	case c.name == "":
		return d.listBuckets(query.Get("prefix"))
	case key != "":
		return failure(http.StatusNotImplemented, "NotImplemented", "The S3 double has no objects.", c.name)
	case c.Method == http.MethodPut && len(query) == 0:
		return d.createBucket(c)
	}
	b, exists := d.buckets[c.name]
	if !exists {
		return failure(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist", c.name)
	}
	if owner := c.Header.Get("X-Amz-Expected-Bucket-Owner"); owner != "" && owner != d.account {
		return failure(http.StatusForbidden, "AccessDenied", "Access Denied", c.name)
	}
	return d.onBucket(c, b, query)
}

// onBucket answers a request about a bucket that exists.
func (d *Double) onBucket(c *call, b *bucket, query url.Values) reply {
	for i := range documents {
		if query.Has(documents[i].sub) {
			return documents[i].answer(c, b)
		}
	}
	switch {
	case c.Method == http.MethodGet && query.Has("versions"):
		return listVersions(c.name, query.Get("max-keys"))
	case c.Method == http.MethodHead && len(query) == 0:
		return reply{status: http.StatusOK, header: http.Header{"X-Amz-Bucket-Region": {b.region}}}
	case c.Method == http.MethodDelete && len(query) == 0:
		delete(d.buckets, c.name)
		return reply{status: http.StatusNoContent}
	}
	return failure(http.StatusNotImplemented, "NotImplemented", "The S3 double does not implement "+c.Method+" "+c.URL.RequestURI()+".",
		c.name)
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// createBucket follows https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html: tags and object
// ownership are part of the request, and us-east-1 accepts the creation of a bucket that the caller owns.
func (d *Double) createBucket(c *call) reply {
	if !validName.MatchString(c.name) {
		return failure(http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid.", c.name)
	}
	if b, exists := d.buckets[c.name]; exists {
		if c.region == defaultRegion && b.region == defaultRegion {
			return reply{status: http.StatusOK, header: http.Header{"Location": {"/" + c.name}}}
		}
		return failure(http.StatusConflict, "BucketAlreadyOwnedByYou",
			"Your previous request to create the named bucket succeeded and you already own it.", c.name)
	}
	var configuration createConfiguration
	if len(c.body) > 0 && xml.Unmarshal(c.body, &configuration) != nil {
		return malformed(c.name)
	}
	if problem := configuration.problem(c); problem != nil {
		return *problem
	}
	b := &bucket{region: c.region, created: d.now().UTC(), documents: map[string][]byte{}}
	ownership := c.Header.Get("X-Amz-Object-Ownership")
	if ownership == "" {
		ownership = "BucketOwnerEnforced"
	}
	b.documents["ownershipControls"] = document("OwnershipControls", ownershipControls{Rules: []ownershipRule{{ownership}}})
	b.documents["publicAccessBlock"] = document("PublicAccessBlockConfiguration", publicAccessBlock{true, true, true, true})
	b.documents["encryption"] = defaultEncryption()
	if len(configuration.Tags) > 0 {
		b.documents["tagging"] = document("Tagging", tagging{configuration.Tags})
	}
	d.buckets[c.name] = b
	return reply{status: http.StatusOK, header: http.Header{"Location": {"/" + c.name}}}
}

// defaultRegion is the one region that is never named as a location constraint.
const defaultRegion = "us-east-1"

type createConfiguration struct {
	LocationConstraint string
	Tags               []tag `xml:"Tags>Tag"`
}

func (c createConfiguration) problem(call *call) *reply {
	location := c.LocationConstraint
	if location == "" {
		location = defaultRegion
	}
	if location != call.region {
		r := failure(http.StatusBadRequest, "IllegalLocationConstraintException",
			"The "+location+" location constraint is incompatible for the region specific endpoint this request was sent to.", call.name)
		return &r
	}
	return tagProblem(c.Tags, call.name)
}

// listBuckets answers with every bucket in one page.
func (d *Double) listBuckets(prefix string) reply {
	type entry struct {
		Name         string
		CreationDate string
		BucketRegion string
	}
	out := struct {
		Owner struct{ ID string }
		Items []entry `xml:"Buckets>Bucket"`
	}{}
	out.Owner.ID = d.account
	for name, b := range d.buckets {
		if strings.HasPrefix(name, prefix) {
			out.Items = append(out.Items, entry{name, b.created.Format("2006-01-02T15:04:05.000Z"), b.region})
		}
	}
	slices.SortFunc(out.Items, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return reply{status: http.StatusOK, body: document("ListAllMyBucketsResult", out)}
}

func listVersions(name, maxKeys string) reply {
	if maxKeys == "" {
		maxKeys = "1000"
	}
	return reply{status: http.StatusOK, body: document("ListVersionsResult", struct {
		Name, Prefix, KeyMarker, VersionIdMarker, MaxKeys string
		IsTruncated                                       bool
	}{Name: name, MaxKeys: maxKeys})}
}

func failure(status int, code, message, name string) reply {
	type body struct{ Code, Message, BucketName, RequestId string }
	text, _ := xml.Marshal(struct {
		XMLName xml.Name `xml:"Error"`
		body
	}{body: body{code, message, name, "S3DOUBLE00000000"}})
	return reply{status: status, body: append([]byte(xml.Header), text...)}
}

func malformed(name string) reply {
	return failure(http.StatusBadRequest, "MalformedXML",
		"The XML you provided was not well-formed or did not validate against our published schema", name)
}

// document renders a value as an S3 document with the root element.
func document(root string, value any) []byte {
	text, err := marshalAs(root, value)
	if err != nil {
		panic(fmt.Sprintf("s3double: rendering %s: %v", root, err)) // only types of this package are rendered
	}
	return append([]byte(xml.Header), text...)
}

func marshalAs(root string, value any) ([]byte, error) {
	var b strings.Builder
	err := xml.NewEncoder(&b).EncodeElement(value, xml.StartElement{Name: xml.Name{Space: namespace, Local: root}})
	return []byte(b.String()), err
}

var credential = regexp.MustCompile(`Credential=[^/,\s]+/\d+/([^/]+)/`)

// signedRegion is the region of the request's signature.
func signedRegion(r *http.Request) string {
	if m := credential.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		return m[1]
	}
	return defaultRegion
}
