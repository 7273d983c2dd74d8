// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// noteExistingBucket: in us-east-1 creating one's own bucket again succeeds and resets its access control list, and nothing else.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
func noteExistingBucket(ctx context.Context, p *Proxy, x *exchange) *answer {
	if x.region != "us-east-1" {
		return nil // BucketAlreadyOwnedByYou
	}
	if a, err := p.ask(ctx, x, http.MethodHead, "/"+x.bucket, http.Header{}, nil); err == nil {
		x.existed = a.status == http.StatusOK
	}
	return nil
}

// refuseTakenName: moto denies the creation of a bucket that another account has as it denies each use of it.
func refuseTakenName(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if a.status != http.StatusForbidden {
		return a
	}
	if head, err := p.ask(ctx, x, http.MethodHead, "/"+x.bucket, http.Header{}, nil); err != nil || head.status != http.StatusForbidden {
		return a // the caller has no right to create buckets
	}
	return errorAnswer(x.request, awsError{http.StatusConflict, "BucketAlreadyExists",
		"The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again."})
}

const xmlns = `xmlns="http://s3.amazonaws.com/doc/2006-03-01/"`

// disableACLs: moto leaves new buckets without ownership control, and changes that of a bucket that exists; AWS has disabled ACLs
// of new buckets since April 2023.
func disableACLs(_ context.Context, _ *Proxy, x *exchange) *answer {
	const ownership = "X-Amz-Object-Ownership"
	switch {
	case x.existed:
		x.http.Header.Del(ownership)
	case x.http.Header.Get(ownership) == "":
		x.http.Header.Set(ownership, "BucketOwnerEnforced")
	}
	return nil
}

// finishBucket: moto ignores the tags of CreateBucket and leaves new buckets open to public access, which AWS has blocked since April
// 2023. It keeps the access control list of a bucket that exists.
func finishBucket(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	switch {
	case a.status >= 300:
		return a
	case x.existed:
		if _, err := p.ask(ctx, x, http.MethodPut, "/"+x.bucket+"?acl", http.Header{"X-Amz-Acl": {"private"}}, nil); err != nil {
			return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
		}
		return a
	}
	settings := []struct{ sub, body string }{
		{"publicAccessBlock", "<PublicAccessBlockConfiguration " + xmlns + "><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>" +
			"<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>"},
	}
	if tags := createBucketTags(x.body); tags != "" {
		settings = append(settings, struct{ sub, body string }{"tagging", tags})
	}
	for _, s := range settings {
		put, err := p.ask(ctx, x, http.MethodPut, "/"+x.bucket+"?"+s.sub, http.Header{"Content-Type": {"application/xml"}}, []byte(s.body))
		if err != nil || put.status >= 300 {
			return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", fmt.Sprintf("setting %s of a new bucket: %v %v", s.sub, put, err)})
		}
		if s.sub == "tagging" {
			p.state.setUntagged(x.bucket, false)
		}
	}
	return a
}

// createBucketTags turns the tags of a CreateBucketConfiguration into the body
// of PutBucketTagging; "" if there are none.
func createBucketTags(body []byte) string {
	var configuration struct {
		Tags []struct{ Key, Value string } `xml:"Tags>Tag"`
	}
	if xml.Unmarshal(body, &configuration) != nil || len(configuration.Tags) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<Tagging " + xmlns + "><TagSet>")
	for _, tag := range configuration.Tags {
		fmt.Fprintf(&b, "<Tag><Key>%s</Key><Value>%s</Value></Tag>", escape(tag.Key), escape(tag.Value))
	}
	b.WriteString("</TagSet></Tagging>")
	return b.String()
}

// defaultEncryption: every bucket is encrypted with SSE-S3 unless told
// otherwise (since January 2023); moto says that nothing is configured.
func defaultEncryption(_ context.Context, _ *Proxy, _ *exchange, a *answer) *answer {
	if a.status != http.StatusNotFound || errorCode(a) != "ServerSideEncryptionConfigurationNotFoundError" {
		return a
	}
	return &answer{http.StatusOK, http.Header{"Content-Type": {"application/xml"}, "X-Amz-Request-Id": {requestID}}, []byte(
		`<?xml version="1.0" encoding="UTF-8"?><ServerSideEncryptionConfiguration ` + xmlns + `><Rule><ApplyServerSideEncryptionByDefault>` +
			`<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`)}
}

// writtenPolicy is a policy of a bucket as moto keeps it: what it is to enforce, and what was written.
type writtenPolicy struct {
	Statement []map[string]any
	Written   []byte `json:",omitempty"`
}

// hideConditions: moto reads a statement with a condition as a Deny, whether the condition holds or not. No condition holds
// for the requests of the tests, so that moto gets the policy without such statements.
func hideConditions(_ context.Context, _ *Proxy, x *exchange) *answer {
	policy := writtenPolicy{Written: x.body}
	if json.Unmarshal(x.body, &policy) != nil {
		return nil // one statement alone is no list: the operator writes none
	}
	policy.Statement = slices.DeleteFunc(policy.Statement, func(s map[string]any) bool { return s["Condition"] != nil })
	body, err := json.Marshal(policy)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	x.body = body
	return nil
}

// showConditions shows the policy that was written.
func showConditions(_ context.Context, _ *Proxy, _ *exchange, a *answer) *answer {
	var policy writtenPolicy
	if !a.ok() || json.Unmarshal(a.body, &policy) != nil || policy.Written == nil {
		return a
	}
	return a.withBody(policy.Written)
}
