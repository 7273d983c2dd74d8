// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestCertificates_AreIssuedKeptAndHaveTheirKeys(t *testing.T) {
	p := proxy(t)
	c, ctx := acm.NewFromConfig(config(p.URL())), t.Context()
	out, err := c.RequestCertificate(ctx,
		&acm.RequestCertificateInput{DomainName: aws.String("a.example.com"), ValidationMethod: types.ValidationMethodDns,
			KeyAlgorithm: types.KeyAlgorithmEcPrime256v1})
	must.Succeed(t, err)
	arn := out.CertificateArn
	describe := func() *types.CertificateDetail {
		t.Helper()
		d, err := c.DescribeCertificate(ctx, &acm.DescribeCertificateInput{CertificateArn: arn})
		must.Succeed(t, err)
		return d.Certificate
	}
	p.ACM.SetUnvalidated(true)
	if d := describe(); d.Status != types.CertificateStatusPendingValidation || d.NotAfter != nil ||
		d.KeyAlgorithm != types.KeyAlgorithmEcPrime256v1 ||
		d.DomainValidationOptions[0].ValidationStatus != types.DomainStatusPendingValidation {
		t.Errorf("%+v", d)
	}
	p.ACM.SetUnvalidated(false)
	if d := describe(); d.Status != types.CertificateStatusIssued || d.NotAfter == nil ||
		d.DomainValidationOptions[0].ValidationStatus != types.DomainStatusSuccess {
		t.Errorf("%+v", d)
	}
	p.ACM.SetCertificateUsers(*arn, "arn:of:balancer")
	_, err = c.DeleteCertificate(ctx, &acm.DeleteCertificateInput{CertificateArn: arn})
	if d := describe(); code(err) != "ResourceInUseException" || len(d.InUseBy) != 1 {
		t.Errorf("%v, %v", err, d.InUseBy)
	}
	p.ACM.SetCertificateUsers(*arn)
	_, err = c.DeleteCertificate(ctx, &acm.DeleteCertificateInput{CertificateArn: arn})
	must.Succeed(t, err)
}
