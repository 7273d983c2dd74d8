// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// bucketOps names the operations on a bucket's configuration by the sub-resource in the query: the text after Get, Put and Delete.
var bucketOps = map[string]string{
	"abac": "BucketAbac", "accelerate": "BucketAccelerateConfiguration", "acl": "BucketAcl", "analytics": "BucketAnalyticsConfiguration",
	"cors": "BucketCors", "encryption": "BucketEncryption", "intelligent-tiering": "BucketIntelligentTieringConfiguration",
	"inventory": "BucketInventoryConfiguration", "lifecycle": "BucketLifecycleConfiguration", "location": "BucketLocation",
	"logging": "BucketLogging", "metadataConfiguration": "BucketMetadataConfiguration", "metrics": "BucketMetricsConfiguration",
	"notification": "BucketNotificationConfiguration",
	"object-lock":  "ObjectLockConfiguration", "ownershipControls": "BucketOwnershipControls", "policy": "BucketPolicy",
	"policyStatus": "BucketPolicyStatus", "publicAccessBlock": "PublicAccessBlock", "replication": "BucketReplication",
	"requestPayment": "BucketRequestPayment", "tagging": "BucketTagging", "versioning": "BucketVersioning", "website": "BucketWebsite",
}

// objectOps is the same for objects.
var objectOps = map[string]string{
	"acl": "ObjectAcl", "attributes": "ObjectAttributes", "legal-hold": "ObjectLegalHold", "retention": "ObjectRetention",
	"tagging": "ObjectTagging", "torrent": "ObjectTorrent",
}

// listOps are the sub-resources that list.
var listOps = map[string]string{"versions": "ListObjectVersions", "uploads": "ListMultipartUploads"}

// collections are lists when no id is given: ListBucketMetricsConfigurations.
var collections = []string{"analytics", "intelligent-tiering", "inventory", "metrics"}

var verbs = map[string]string{http.MethodGet: "Get", http.MethodHead: "Head", http.MethodPut: "Put", http.MethodDelete: "Delete",
	http.MethodPost: "Post"}

func decodeS3(d *proxy.Request) {
	d.Protocol, d.Service = proxy.ProtocolS3, "s3"
	path := strings.TrimPrefix(d.HTTP.URL.Path, "/")
	if rest, ok := strings.CutPrefix(path, "v20180820/"); ok {
		decodeS3Control(d, rest)
		return
	}
	if d.Bucket = virtualBucket(d.HTTP.Host); d.Bucket != "" {
		d.Key = path
	} else {
		d.Bucket, d.Key, _ = strings.Cut(path, "/")
	}
	query := d.HTTP.URL.Query()
	d.Resource = d.Bucket
	switch {
	case d.Bucket == "":
		d.Op = "ListBuckets"
	case d.Key == "":
		d.Op = bucketOp(d.HTTP.Method, query)
	default:
		d.Op = objectOp(d.HTTP.Method, query, d.HTTP.Header)
		d.Resource = d.Bucket + "/" + d.Key
	}
}

// decodeS3Control names the few operations of the control API that concern
// buckets: tags by ARN.
func decodeS3Control(d *proxy.Request, path string) {
	d.Op, d.Resource = d.HTTP.Method, path
	arn, ok := strings.CutPrefix(path, "tags/")
	if !ok {
		return
	}
	if decoded, err := url.PathUnescape(arn); err == nil {
		arn = decoded
	}
	d.Resource = d.ShortName(arn)
	d.Op = map[string]string{http.MethodGet: "ListTagsForResource", http.MethodPost: "TagResource",
		http.MethodDelete: "UntagResource"}[d.HTTP.Method]
}

// virtualBucket gives the bucket of a host such as name.s3.amazonaws.com or
// name.localhost:4566; addresses have none.
func virtualBucket(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if net.ParseIP(name) != nil || name == "localhost" || strings.HasPrefix(name, "s3.") || strings.HasPrefix(name, "s3-") {
		return ""
	}
	for _, mark := range []string{".s3.", ".s3-"} {
		if bucket, _, ok := strings.Cut(name, mark); ok {
			return bucket
		}
	}
	bucket, _ := strings.CutSuffix(name, ".localhost")
	if bucket == name {
		return ""
	}
	return bucket
}

func bucketOp(method string, query url.Values) string {
	for sub, name := range listOps {
		if method == http.MethodGet && query.Has(sub) {
			return name
		}
	}
	for sub, name := range bucketOps {
		if query.Has(sub) {
			return configurationOp(method, sub, name, query)
		}
	}
	switch {
	case method == http.MethodPost && query.Has("delete"):
		return "DeleteObjects"
	case query.Has("session"):
		return "CreateSession"
	case method == http.MethodGet && query.Get("list-type") == "2":
		return "ListObjectsV2"
	}
	return plainBucketOps[method]
}

// plainBucketOps lists the ops without a sub-resource.
var plainBucketOps = map[string]string{
	http.MethodGet: "ListObjects", http.MethodPut: "CreateBucket", http.MethodHead: "HeadBucket",
	http.MethodDelete: "DeleteBucket", http.MethodPost: "PostObject",
}

func configurationOp(method, sub, name string, query url.Values) string {
	switch {
	case method == http.MethodGet && slices.Contains(collections, sub) && !query.Has("id"):
		return "List" + name + "s"
	case method == http.MethodDelete && sub == "lifecycle":
		return "DeleteBucketLifecycle" // its one name without "Configuration"
	}
	return verbs[method] + name
}

func objectOp(method string, query url.Values, header http.Header) string {
	if query.Has("uploadId") || query.Has("uploads") {
		return uploadOp(method, query)
	}
	for sub, name := range objectOps {
		if query.Has(sub) {
			return verbs[method] + name
		}
	}
	switch {
	case method == http.MethodPost && query.Has("restore"):
		return "RestoreObject"
	case method == http.MethodPost && query.Has("select"):
		return "SelectObjectContent"
	case method == http.MethodPut && header.Get("X-Amz-Copy-Source") != "":
		return "CopyObject"
	}
	return verbs[method] + "Object"
}

func uploadOp(method string, query url.Values) string {
	switch method {
	case http.MethodGet:
		return "ListParts"
	case http.MethodPut:
		return "UploadPart"
	case http.MethodDelete:
		return "AbortMultipartUpload"
	}
	if query.Has("uploads") {
		return "CreateMultipartUpload"
	}
	return "CompleteMultipartUpload"
}
