// SPDX-License-Identifier: Apache-2.0

package s3double

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
)

// configuration describes one configuration document of a bucket: a sub-resource that is put, read and deleted as a
// whole.
type configuration struct {
	sub, root string
	// absent is the error code for a bucket without the document; empty: the document is never absent.
	absent, message string
	// created is the status of a successful PUT.
	created int
	// problem rejects a body that AWS rejects.
	problem func(c *call) *reply
	// reset is the document after a deletion; nil: none.
	reset func() []byte
}

// documents is the table of all configuration documents.
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#ErrorCodeList
var documents = []configuration{
	{sub: "tagging", root: "Tagging", absent: "NoSuchTagSet", message: "The TagSet does not exist", created: http.StatusNoContent,
		problem: badTags},
	{sub: "versioning", root: "VersioningConfiguration", created: http.StatusOK, problem: badVersioning},
	{sub: "encryption", root: "ServerSideEncryptionConfiguration", absent: "ServerSideEncryptionConfigurationNotFoundError",
		message: "The server side encryption configuration was not found", created: http.StatusOK, reset: defaultEncryption},
	{sub: "publicAccessBlock", root: "PublicAccessBlockConfiguration", absent: "NoSuchPublicAccessBlockConfiguration",
		message: "The public access block configuration was not found", created: http.StatusOK},
	{sub: "ownershipControls", root: "OwnershipControls", absent: "OwnershipControlsNotFoundError",
		message: "The bucket ownership controls were not found", created: http.StatusOK},
	{sub: "policy", absent: "NoSuchBucketPolicy", message: "The bucket policy does not exist", created: http.StatusNoContent,
		problem: badPolicy},
	{sub: "lifecycle", root: "LifecycleConfiguration", absent: "NoSuchLifecycleConfiguration",
		message: "The lifecycle configuration does not exist", created: http.StatusOK},
}

func (d *configuration) answer(c *call, b *bucket) reply {
	switch c.Method {
	case http.MethodGet:
		return d.get(c, b)
	case http.MethodPut:
		return d.put(c, b)
	case http.MethodDelete:
		return d.remove(b)
	}
	return failure(http.StatusMethodNotAllowed, "MethodNotAllowed", "The specified method is not allowed against this resource.", c.name)
}

func (d *configuration) get(c *call, b *bucket) reply {
	text, exists := b.documents[d.sub]
	switch {
	case !exists && d.absent != "":
		return failure(http.StatusNotFound, d.absent, d.message, c.name)
	case !exists:
		text = document(d.root, struct{}{})
	}
	out := reply{status: http.StatusOK, body: text}
	if d.root == "" {
		out.header = http.Header{"Content-Type": {"application/json"}}
	}
	return out
}

func (d *configuration) put(c *call, b *bucket) reply {
	if d.root != "" && rootOf(c.body) != d.root {
		return malformed(c.name)
	}
	if d.problem != nil {
		if r := d.problem(c); r != nil {
			return *r
		}
	}
	b.documents[d.sub] = c.body
	return reply{status: d.created}
}

func (d *configuration) remove(b *bucket) reply {
	delete(b.documents, d.sub)
	if d.reset != nil {
		b.documents[d.sub] = d.reset()
	}
	return reply{status: http.StatusNoContent}
}

// rootOf returns the name of the root element of a well-formed document, or "".
func rootOf(body []byte) string {
	var root struct{ XMLName xml.Name }
	if xml.Unmarshal(body, &root) != nil {
		return ""
	}
	return root.XMLName.Local
}

type tag struct{ Key, Value string }

type tagging struct {
	TagSet []tag `xml:"TagSet>Tag"`
}

func badTags(c *call) *reply {
	var t tagging
	if xml.Unmarshal(c.body, &t) != nil {
		r := malformed(c.name)
		return &r
	}
	return tagProblem(t.TagSet, c.name)
}

// maxTags is AWS's limit for one bucket.
const maxTags = 50

func tagProblem(tags []tag, name string) *reply {
	seen := map[string]bool{}
	for _, t := range tags {
		if seen[t.Key] || strings.HasPrefix(t.Key, "aws:") || len(tags) > maxTags {
			r := failure(http.StatusBadRequest, "InvalidTag", "The tag "+t.Key+" is not valid: it is a duplicate, reserved or one too many.", name)
			return &r
		}
		seen[t.Key] = true
	}
	return nil
}

func badVersioning(c *call) *reply {
	var v struct{ Status string }
	if xml.Unmarshal(c.body, &v) == nil && (v.Status == "Enabled" || v.Status == "Suspended") {
		return nil
	}
	r := malformed(c.name)
	return &r
}

func badPolicy(c *call) *reply {
	var p struct{ Statement any }
	if json.Unmarshal(c.body, &p) == nil && p.Statement != nil {
		return nil
	}
	r := failure(http.StatusBadRequest, "MalformedPolicy", "Policies must be valid JSON and the first byte must be '{'", c.name)
	return &r
}

type ownershipControls struct {
	Rules []ownershipRule `xml:"Rule"`
}

type ownershipRule struct{ ObjectOwnership string }

type publicAccessBlock struct{ BlockPublicAcls, IgnorePublicAcls, BlockPublicPolicy, RestrictPublicBuckets bool }

// defaultEncryption returns the encryption of every bucket unless it was configured otherwise: SSE-S3.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html
func defaultEncryption() []byte {
	type rule struct {
		Algorithm        string `xml:"ApplyServerSideEncryptionByDefault>SSEAlgorithm"`
		BucketKeyEnabled bool
	}
	return document("ServerSideEncryptionConfiguration", struct {
		Rules []rule `xml:"Rule"`
	}{[]rule{{Algorithm: "AES256"}}})
}
