// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// policyParts write the bucket policy: all of it if the spec has a policy. Otherwise they write the statement of tlsOnly, and the
// statements of others stay, such as those that AWS adds for the delivery of logs:
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-infrastructure-V2-S3.html
func (b *bucket) policyParts() []kind.Part[BucketState] {
	fields := []string{"Policy", "TLSOnly"}
	isEmpty := func(want, have BucketState) bool {
		text, err := resultingPolicy(want, have)
		return text == "" && err == nil
	}
	return []kind.Part[BucketState]{
		{Fields: fields, When: func(want, have BucketState) bool { return !isEmpty(want, have) }, Stage: stageOfPolicy, Reads: "s3:GetBucketPolicy",
			Read:  read(b.api.GetBucketPolicy, fromPolicy),
			Write: kind.Call[BucketState]{Action: "s3:PutBucketPolicy", Do: b.putPolicy}},
		{Fields: fields, When: isEmpty, Stage: stageOfPolicy,
			Write: write("s3:DeleteBucketPolicy", b.api.DeleteBucketPolicy, func(*s3.DeleteBucketPolicyInput, BucketState, BucketState) {})},
	}
}

func fromPolicy(out *s3.GetBucketPolicyOutput, want BucketState, have *BucketState) {
	have.FoundPolicy, have.Policy, have.TLSOnly = aws.ToString(out.Policy), out.Policy, kind.Ptr(false)
	found, err := iampolicy.Parse(have.FoundPolicy)
	if err != nil { // there is none
		return
	}
	isOurs := found.Contains(tlsStatement(want.ARN))
	if want.TLSOnly != nil && !*want.TLSOnly { // a statement of the Sid that a person changed goes, too
		isOurs = found.Names(tlsOnlySid)
	}
	have.TLSOnly = &isOurs
}

func (b *bucket) putPolicy(ctx context.Context, want, have BucketState) error {
	text, err := resultingPolicy(want, have)
	if err != nil {
		return err
	}
	_, err = send(ctx, want, b.api.PutBucketPolicy, &s3.PutBucketPolicyInput{Policy: &text})
	return err
}

// resultingPolicy returns the policy that the bucket is to have; "" for none.
func resultingPolicy(want, have BucketState) (string, error) {
	if want.Policy != nil {
		return *want.Policy, nil
	}
	doc := iampolicy.New()
	if have.FoundPolicy != "" {
		var err error
		if doc, err = iampolicy.Parse(have.FoundPolicy); err != nil {
			return "", status.Invalid("spec.tlsOnly", "the bucket has a policy that cannot be read, so that no statement can be added: %v. Replace it by hand or by spec.policy", err)
		}
	}
	doc = doc.Without(tlsOnlySid)
	if aws.ToBool(want.TLSOnly) {
		doc.Statement = append(doc.Statement, tlsStatement(want.ARN))
	}
	if len(doc.Statement) == 0 {
		return "", nil
	}
	return doc.Encode()
}

// tlsOnlySid is the Sid of the statement of tlsOnly, which distinguishes it from those of others.
const tlsOnlySid = "NexusTLSOnly"

// tlsStatement refuses requests without TLS.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html
func tlsStatement(arn string) iampolicy.Statement {
	return iampolicy.Statement{
		Sid: tlsOnlySid, Effect: iampolicy.Deny, Principal: iampolicy.Principals{iampolicy.Everyone: {iampolicy.Everyone}},
		Action: iampolicy.Values{"s3:*"}, Resource: iampolicy.Values{arn, arn + "/*"},
		Condition: iampolicy.Conditions{"Bool": {"aws:SecureTransport": {"false"}}},
	}
}

// wantedPolicy returns the user's statements and, with tlsOnly, a further one behind them. Nil means that the spec has no
// policy; "" that the bucket is to have none. The user's Version stays: with another one, the document would change its
// meaning.
func wantedPolicy(in v1alpha1.S3BucketSpec, arn string) (*string, error) {
	if in.Policy == nil {
		return nil, nil
	}
	doc, err := iampolicy.New(), error(nil)
	if *in.Policy != "" {
		doc, err = iampolicy.ParseOfUser(*in.Policy)
	}
	if err != nil {
		return nil, err
	}
	if aws.ToBool(in.TLSOnly) {
		doc.Statement = append(doc.Statement, tlsStatement(arn))
	}
	if len(doc.Statement) == 0 {
		return new(string), nil
	}
	text, err := doc.Encode()
	return &text, err
}

// admitsPolicies reports whether the public access block is to stop refusing public policies.
func admitsPolicies(want, have BucketState) bool {
	return want.PublicAccessBlock != nil && !want.PublicAccessBlock.BlockPublicPolicy &&
		(have.PublicAccessBlock == nil || have.PublicAccessBlock.BlockPublicPolicy)
}

// stageOfBlock delays the public access block only for a policy that changes: no other refused setting may
// keep a bucket open.
func stageOfBlock(want, have BucketState) int {
	policyChanges := want.Policy != nil && *want.Policy != aws.ToString(have.Policy) ||
		want.TLSOnly != nil && *want.TLSOnly != aws.ToBool(have.TLSOnly)
	return kind.Either(policyChanges && !admitsPolicies(want, have), 1, 0)
}

func stageOfPolicy(want, have BucketState) int { return kind.Either(admitsPolicies(want, have), 1, 0) }
