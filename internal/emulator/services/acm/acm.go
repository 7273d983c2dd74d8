// SPDX-License-Identifier: Apache-2.0

// Package acm holds the emulator's facts and corrections for AWS Certificate Manager.
package acm

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service holds the state of certificates that moto lacks.
type Service struct {
	proxy.Base
	certificates certificates
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "acm",
		Requests: proxy.RequestFacts{Keys: []string{"CertificateArn", "DomainName"}},
		Writes: proxy.WriteFacts{
			CreatedID: proxy.IDAt(map[string]string{"RequestCertificate": "CertificateArn"}),
			Endings:   map[string]string{"RequestCertificate": "DeleteCertificate"},
			TagReads:  []proxy.TagRead{{Op: "ListTagsForCertificate", Where: "Tags"}},
		},
		Rights: proxy.RightFacts{
			Namings:    map[string]proxy.Naming{"acm certificate/*": {Members: []string{"CertificateArn"}}},
			Dependents: []proxy.Dependent{proxy.Tagging("acm:RequestCertificate", "acm:AddTagsToCertificate", "acm certificate/*")},
			TagsOf: func(q *proxy.Asker, arn, _ string) map[string]string {
				return q.TagsOf("acm", "CertificateManager.ListTagsForCertificate", "CertificateArn", arn)
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "acm/certificate", Global: false,
			List: proxy.ListJSON("acm", "CertificateManager.ListCertificates", "CertificateSummaryList", "CertificateArn")}},
		Rewrites: []proxy.Rewrite{
			{Kind: "Certificate", Field: "keyAlgorithm", What: "RSA_2048 becomes RSA-2048", Ops: []string{"DescribeCertificate"},
				Members: func(body map[string]any) {
					if c, _ := body["Certificate"].(map[string]any); c != nil {
						c["KeyAlgorithm"] = strings.Replace(proxy.Text(c["KeyAlgorithm"]), "RSA_", "RSA-", 1)
					}
				}},
			{Kind: "Certificate", Field: "subjectAlternativeNames", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeCertificate"}, Members: proxy.Reverses("Certificate.SubjectAlternativeNames")},
		},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "keys of certificates", Ops: []string{"RequestCertificate"}, After: s.recordCertificate},
		{Name: "certificates in use are kept", Ops: []string{"DeleteCertificate"}, Before: s.keepUsedCertificate},
		{Name: "states of certificates", Ops: []string{"DescribeCertificate"}, After: s.showCertificate},
	}
}

// Reset forgets the state.
func (s *Service) Reset() { s.Locked(func() { s.certificates = certificates{} }) }

// certificates holds the state of certificates that moto lacks, by ARN.
type certificates struct {
	algorithms map[string]string
	users      map[string][]string
	pending    bool
}

// SetUnvalidated lets certificates wait until the hosted zones have their records, or until it is ended. Otherwise ACM finds
// the records of every certificate.
func (s *Service) SetUnvalidated(on bool) { s.Locked(func() { s.certificates.pending = on }) }

// SetCertificateUsers sets the users of a certificate, such as the ARNs of load balancers. AWS does not delete a certificate that has
// users.
func (s *Service) SetCertificateUsers(arn string, users ...string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.certificates.users == nil {
		s.certificates.users = map[string][]string{}
	}
	s.certificates.users[arn] = users
}

func (s *Service) certificate(arn string) (algorithm string, users []string, pending bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.certificates.algorithms[arn], slices.Clone(s.certificates.users[arn]), s.certificates.pending
}

// recordCertificate: moto makes keys of RSA whatever the request asks for.
func (s *Service) recordCertificate(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	body, _ := proxy.DecodeJSON(a.Body).(map[string]any)
	arn, algorithm := proxy.Text(body["CertificateArn"]), proxy.Text(x.JSON["KeyAlgorithm"])
	if a.OK() && arn != "" && algorithm != "" {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if s.certificates.algorithms == nil {
			s.certificates.algorithms = map[string]string{}
		}
		s.certificates.algorithms[arn] = algorithm
	}
	return a
}

// showCertificate: moto issues certificates after a minute, and shows dates of those that are not issued.
func (s *Service) showCertificate(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	body, _ := proxy.DecodeJSON(a.Body).(map[string]any)
	c, _ := proxy.Member(body, "Certificate").(map[string]any)
	if !a.OK() || c == nil {
		return a
	}
	algorithm, users, pending := s.certificate(proxy.Text(c["CertificateArn"]))
	if algorithm != "" {
		c["KeyAlgorithm"] = algorithm
	}
	if len(users) > 0 {
		c["InUseBy"] = users
	}
	if c["Type"] != "AMAZON_ISSUED" {
		return a.WithJSON(body)
	}
	options, _ := c["DomainValidationOptions"].([]any)
	validation := "SUCCESS"
	if c["Status"] = "ISSUED"; pending && !s.hasRecordsOf(ctx, x, options) {
		validation, c["Status"] = "PENDING_VALIDATION", "PENDING_VALIDATION"
		for _, name := range []string{"IssuedAt", "NotAfter", "NotBefore", "Serial"} {
			delete(c, name)
		}
	}
	for _, o := range options {
		if option, ok := o.(map[string]any); ok {
			option["ValidationStatus"] = validation
		}
	}
	return a.WithJSON(body)
}

// hasRecordsOf reports whether the hosted zones have the record of each name.
func (s *Service) hasRecordsOf(ctx context.Context, x *proxy.Exchange, options []any) bool {
	records, err := s.Names(ctx, x, "route53/record")
	for _, o := range options {
		option, _ := o.(map[string]any)
		if err != nil || !slices.Contains(records, proxy.Text(proxy.Member(option, "ResourceRecord.Name"))+" CNAME") {
			return false
		}
	}
	return true
}

// keepUsedCertificate: moto deletes certificates that are in use.
func (s *Service) keepUsedCertificate(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	arn := proxy.Text(x.JSON["CertificateArn"])
	if _, users, _ := s.certificate(arn); len(users) > 0 {
		return x.Refuse(http.StatusBadRequest, "ResourceInUseException", "Certificate "+arn+" in account "+proxy.DefaultAccount+" is in use.")
	}
	return nil
}
