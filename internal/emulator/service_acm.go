// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// acmService holds what moto does not know of certificates.
type acmService struct {
	base
	certificates certificates
}

func (s *acmService) Facts() *Facts {
	return &Facts{
		Prefix:   "acm",
		Requests: RequestFacts{Keys: []string{"CertificateArn", "DomainName"}},
		Writes: WriteFacts{
			CreatedID: idAt(map[string]string{"RequestCertificate": "CertificateArn"}),
			Endings:   map[string]string{"RequestCertificate": "DeleteCertificate"},
			TagReads:  []tagRead{{op: "ListTagsForCertificate", where: "Tags"}},
		},
		Rights: RightFacts{
			Namings:    map[string]naming{"acm certificate/*": {members: []string{"CertificateArn"}}},
			Dependents: []dependent{tagging("acm:RequestCertificate", "acm:AddTagsToCertificate", "acm certificate/*")},
			TagsOf: func(q *asker, arn, _ string) map[string]string {
				return q.tagsOf("acm", "CertificateManager.ListTagsForCertificate", "CertificateArn", arn)
			},
		},
		Inventory: []inventoryKind{{"acm/certificate", false, listJSON("acm", "CertificateManager.ListCertificates", "CertificateSummaryList", "CertificateArn")}},
		Rewrites: []Rewrite{
			{Kind: "Certificate", Field: "keyAlgorithm", What: "RSA_2048 becomes RSA-2048", ops: []string{"DescribeCertificate"},
				members: func(body map[string]any) {
					if c, _ := body["Certificate"].(map[string]any); c != nil {
						c["KeyAlgorithm"] = strings.Replace(text(c["KeyAlgorithm"]), "RSA_", "RSA-", 1)
					}
				}},
			{Kind: "Certificate", Field: "subjectAlternativeNames", What: anyOrder, isRecorded: true, ops: []string{"DescribeCertificate"}, members: reverses("Certificate.SubjectAlternativeNames")},
		},
	}
}

func (s *acmService) Corrections() []Correction {
	return []Correction{
		{Name: "keys of certificates", Ops: []string{"RequestCertificate"}, After: s.recordCertificate},
		{Name: "certificates in use are kept", Ops: []string{"DeleteCertificate"}, Before: s.keepUsedCertificate},
		{Name: "states of certificates", Ops: []string{"DescribeCertificate"}, After: s.showCertificate},
	}
}

func (s *acmService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.certificates = certificates{}
}

// certificates holds what moto does not know of certificates, by ARN.
type certificates struct {
	algorithms map[string]string
	users      map[string][]string
	pending    bool
}

// SetUnvalidated lets certificates wait until the hosted zones have their records, or until it is ended. Otherwise ACM finds
// the records of every certificate.
func (s *acmService) SetUnvalidated(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.certificates.pending = on
}

// SetCertificateUsers says what uses a certificate, such as the ARNs of load balancers: AWS keeps it so long.
func (s *acmService) SetCertificateUsers(arn string, users ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.certificates.users == nil {
		s.certificates.users = map[string][]string{}
	}
	s.certificates.users[arn] = users
}

func (s *acmService) certificate(arn string) (algorithm string, users []string, pending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.certificates.algorithms[arn], slices.Clone(s.certificates.users[arn]), s.certificates.pending
}

// recordCertificate: moto makes keys of RSA whatever the request asks for.
func (s *acmService) recordCertificate(_ context.Context, x *exchange, a *answer) *answer {
	body, _ := decodeJSON(a.body).(map[string]any)
	arn, algorithm := text(body["CertificateArn"]), text(x.json["KeyAlgorithm"])
	if a.ok() && arn != "" && algorithm != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.certificates.algorithms == nil {
			s.certificates.algorithms = map[string]string{}
		}
		s.certificates.algorithms[arn] = algorithm
	}
	return a
}

// showCertificate: moto issues certificates after a minute, and shows dates of those that are not issued.
func (s *acmService) showCertificate(ctx context.Context, x *exchange, a *answer) *answer {
	body, _ := decodeJSON(a.body).(map[string]any)
	c, _ := member(body, "Certificate").(map[string]any)
	if !a.ok() || c == nil {
		return a
	}
	algorithm, users, pending := s.certificate(text(c["CertificateArn"]))
	if algorithm != "" {
		c["KeyAlgorithm"] = algorithm
	}
	if len(users) > 0 {
		c["InUseBy"] = users
	}
	if c["Type"] != "AMAZON_ISSUED" {
		return a.withJSON(body)
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
	return a.withJSON(body)
}

// hasRecordsOf reports whether the hosted zones have the record of each name.
func (s *acmService) hasRecordsOf(ctx context.Context, x *exchange, options []any) bool {
	records, err := s.names(ctx, x, "route53/record")
	for _, o := range options {
		option, _ := o.(map[string]any)
		if err != nil || !slices.Contains(records, text(member(option, "ResourceRecord.Name"))+" CNAME") {
			return false
		}
	}
	return true
}

// keepUsedCertificate: moto deletes certificates that are in use.
func (s *acmService) keepUsedCertificate(_ context.Context, x *exchange) *answer {
	arn := text(x.json["CertificateArn"])
	if _, users, _ := s.certificate(arn); len(users) > 0 {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "ResourceInUseException", "Certificate " + arn + " in account " + defaultAccount + " is in use."})
	}
	return nil
}
