// SPDX-License-Identifier: Apache-2.0

// Package acm is the Certificate Manager kinds.
package acm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// CertificateState is a certificate as both the spec and ACM can express it.
type CertificateState struct {
	Search kind.Search `drift:"id"`
	ARN    string      `drift:"id"`
	// Found holds the description by ACM.
	Found types.CertificateDetail `drift:"observed"`

	Domain *string `drift:"immutable"`
	// Names are all names, with that of Domain.
	Names        *[]string         `drift:"immutable,set"`
	KeyAlgorithm *string           `drift:"immutable"`
	Tags         map[string]string `drift:"tags"`
}

type certificate struct {
	api  *acm.Client
	tags *tagging.Client
}

// NewCertificate binds the Certificate kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscertificatemanager.html
func NewCertificate(cfg aws.Config) kind.Kind[*v1alpha1.Certificate, CertificateState] {
	c := &certificate{api: acm.NewFromConfig(cfg), tags: tagging.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.Certificate, CertificateState]{
		Meta: kind.Meta{Facts: certificateFacts(), Identity: kind.ByToken},
		Identify: func(sc kind.Scope, _ *v1alpha1.Certificate) (CertificateState, error) {
			return CertificateState{Search: sc.Search}, nil
		},
		Declare: declare, Publish: publish,
		Export:   kind.Export[*v1alpha1.Certificate, CertificateState]{Identity: []string{"importID"}, Spec: exported},
		Describe: kind.Read[CertificateState]{Actions: []string{"acm:DescribeCertificate", "acm:ListTagsForCertificate", "tag:GetResources"}, Do: c.describe},
		Create:   kind.Call[CertificateState]{Action: "acm:RequestCertificate", DoForID: c.request},
		Tagging: kind.Tagging[CertificateState]{
			Sets: "acm:AddTagsToCertificate", Set: kind.Send(c.api.AddTagsToCertificate, func(have CertificateState, tags map[string]string) *acm.AddTagsToCertificateInput {
				return &acm.AddTagsToCertificateInput{CertificateArn: &have.ARN, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "acm:RemoveTagsFromCertificate", Remove: kind.Send(c.api.RemoveTagsFromCertificate, func(have CertificateState, keys []string) *acm.RemoveTagsFromCertificateInput {
				in := &acm.RemoveTagsFromCertificateInput{CertificateArn: &have.ARN}
				for _, k := range keys {
					in.Tags = append(in.Tags, types.Tag{Key: aws.String(k)}) // without a value: whatever the value is
				}
				return in
			}),
		},
		Delete: []kind.Ending[CertificateState]{{Call: kind.Call[CertificateState]{Action: "acm:DeleteCertificate", Effect: kind.Deletes,
			Do: kind.Send(c.api.DeleteCertificate, func(_, have CertificateState) *acm.DeleteCertificateInput {
				return &acm.DeleteCertificateInput{CertificateArn: &have.ARN}
			})}}},
	})
}

func declare(_ kind.Scope, cr *v1alpha1.Certificate, want *CertificateState) error {
	in := cr.Spec
	names := append(kind.Convert[[]string](in.SubjectAlternativeNames), in.DomainName)
	slices.Sort(names)
	want.Domain, want.Names, want.KeyAlgorithm = &in.DomainName, kind.Ptr(slices.Compact(names)), kind.NonEmpty(&in.KeyAlgorithm)
	return nil
}

func publish(cr *v1alpha1.Certificate, s CertificateState) {
	st, found := &cr.Status, s.Found
	st.ID, st.ARN, st.CertificateStatus, st.ValidationRecords = s.ARN, s.ARN, string(found.Status), recordsOf(found)
	st.NotAfter, st.RenewalStatus = nil, string(kind.NonNil(found.RenewalSummary).RenewalStatus)
	if found.NotAfter != nil {
		st.NotAfter = &metav1.Time{Time: *found.NotAfter}
	}
}

// recordsOf returns the records that validate a certificate, in the order of their names. ACM assigns them some seconds
// after the request.
func recordsOf(found types.CertificateDetail) []v1alpha1.CertificateRecord {
	var out []v1alpha1.CertificateRecord
	for _, o := range found.DomainValidationOptions {
		if r := o.ResourceRecord; r != nil {
			out = append(out, v1alpha1.CertificateRecord{Name: aws.ToString(r.Name), Type: string(r.Type), Value: aws.ToString(r.Value)})
		}
	}
	slices.SortFunc(out, func(a, b v1alpha1.CertificateRecord) int { return cmp.Compare(a.Name, b.Name) })
	return slices.Compact(out)
}

// request sends the token of the attempt: ACM answers a request that is repeated within an hour with the certificate that it
// made before. It allows 32 characters without hyphens.
// https://docs.aws.amazon.com/acm/latest/APIReference/API_RequestCertificate.html
func (c *certificate) request(ctx context.Context, want CertificateState, token string) (string, error) {
	in := &acm.RequestCertificateInput{DomainName: want.Domain, ValidationMethod: types.ValidationMethodDns, KeyAlgorithm: types.KeyAlgorithm(aws.ToString(want.KeyAlgorithm)),
		IdempotencyToken: aws.String(strings.ReplaceAll(token, "-", "")), Tags: kind.SDKTags[types.Tag](want.Tags)}
	if len(*want.Names) > 1 {
		in.SubjectAlternativeNames = *want.Names
	}
	out, err := c.api.RequestCertificate(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.CertificateArn), nil
}

// found is a certificate with its tags.
type found struct {
	*types.CertificateDetail
	tags map[string]string
}

func (c *certificate) describe(ctx context.Context, want CertificateState, look kind.Look) (kind.Seen[CertificateState], error) {
	finder := kind.Finder[found]{
		ByID: c.byARN, ByTags: c.byTags,
		ID:   func(f found) string { return aws.ToString(f.CertificateArn) },
		Tags: func(f found) map[string]string { return f.tags },
	}
	d, duplicates, err := finder.Find(ctx, want.Search)
	if err != nil || d == nil {
		return kind.Seen[CertificateState]{}, err
	}
	seen := kind.Seen[CertificateState]{Exists: true, Tags: d.tags, Created: aws.ToTime(d.CreatedAt), Duplicates: duplicates, State: stateOf(d)}
	switch {
	case look.Deleting:
		seen.Holds = holds(d)
	case d.Status == types.CertificateStatusIssued:
	case d.Status == types.CertificateStatusPendingValidation:
		seen.Busy, seen.Writable = "the certificate is PENDING_VALIDATION: create the DNS records of status.validationRecords, and keep them", true
	case slices.Contains(ended, d.Status):
		return kind.Seen[CertificateState]{}, explainEnd(d)
	default:
		seen.Busy = kind.BusyUnless("the certificate", d.Status)
	}
	return seen, nil
}

func stateOf(d *found) CertificateState {
	names := slices.Clone(d.SubjectAlternativeNames)
	slices.Sort(names)
	return CertificateState{ARN: aws.ToString(d.CertificateArn), Found: *d.CertificateDetail, Domain: d.DomainName, Names: &names,
		// ACM has written RSA-2048, too.
		KeyAlgorithm: kind.Ptr(strings.ReplaceAll(string(d.KeyAlgorithm), "-", "_"))}
}

// holds keeps a certificate that load balancers and the like use: ACM would refuse to delete it.
func holds(d *found) []kind.Hold {
	if len(d.InUseBy) == 0 {
		return nil
	}
	return []kind.Hold{{Reason: status.ReasonInUse, Message: fmt.Sprintf("the certificate to be unused: %d %s it: %s; take it off there, or set deletionPolicy: Retain to keep it",
		len(d.InUseBy), kind.Either(len(d.InUseBy) == 1, "resource uses", "resources use"), strings.Join(d.InUseBy, ", "))}}
}

// ended are the states that ACM does not leave. Read only.
var ended = []types.CertificateStatus{types.CertificateStatusInactive, types.CertificateStatusExpired, types.CertificateStatusValidationTimedOut,
	types.CertificateStatusRevoked, types.CertificateStatusFailed}

// explainEnd reports a certificate that ACM will not make valid again.
// https://docs.aws.amazon.com/acm/latest/userguide/troubleshooting-failed.html
func explainEnd(d *found) error {
	arn, why := aws.ToString(d.CertificateArn), cmp.Or(string(d.FailureReason), string(d.RevocationReason))
	return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf("certificate %s is %s%s: correct the cause, and run aws acm delete-certificate --certificate-arn %s: the operator then requests another one",
		arn, d.Status, kind.Either(why != "", " ("+why+")", ""), arn)}
}

func (c *certificate) byARN(ctx context.Context, arn string) (*found, error) {
	out, err := awsclient.Lookup(ctx, c.api.DescribeCertificate, &acm.DescribeCertificateInput{CertificateArn: &arn})
	if out == nil || out.Certificate == nil {
		return nil, err
	}
	tags, err := awsclient.Lookup(ctx, c.api.ListTagsForCertificate, &acm.ListTagsForCertificateInput{CertificateArn: &arn})
	if tags == nil {
		return nil, err
	}
	return &found{out.Certificate, kind.TagMap(tags.Tags)}, nil
}

// byTags asks the tagging API, because ACM lists certificates without their tags.
func (c *certificate) byTags(ctx context.Context, tags map[string][]string) ([]found, error) {
	arns, err := awsclient.TaggedARNs(ctx, c.tags.GetResources, "acm", tags)
	if err != nil {
		return nil, err
	}
	return kind.DescribeEach(ctx, arns, c.byARN)
}
