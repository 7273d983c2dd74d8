// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"net/http"
	"slices"
)

// certificates holds what moto does not know of certificates, by ARN.
type certificates struct {
	algorithms map[string]string
	users      map[string][]string
	pending    bool
}

// SetUnvalidated lets certificates wait until the hosted zones have their records, or until it is ended. Otherwise ACM finds
// the records of every certificate.
func (p *Proxy) SetUnvalidated(on bool) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.certificates.pending = on
}

// SetCertificateUsers says what uses a certificate, such as the ARNs of load balancers: AWS keeps it so long.
func (p *Proxy) SetCertificateUsers(arn string, users ...string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.certificates.users == nil {
		p.state.certificates.users = map[string][]string{}
	}
	p.state.certificates.users[arn] = users
}

func (s *state) certificate(arn string) (algorithm string, users []string, pending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.certificates.algorithms[arn], slices.Clone(s.certificates.users[arn]), s.certificates.pending
}

// recordCertificate: moto makes keys of RSA whatever the request asks for.
func recordCertificate(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	body, _ := decodeJSON(a.body).(map[string]any)
	arn, algorithm := text(body["CertificateArn"]), text(x.json["KeyAlgorithm"])
	if a.ok() && arn != "" && algorithm != "" {
		p.state.mu.Lock()
		defer p.state.mu.Unlock()
		if p.state.certificates.algorithms == nil {
			p.state.certificates.algorithms = map[string]string{}
		}
		p.state.certificates.algorithms[arn] = algorithm
	}
	return a
}

// showCertificate: moto issues certificates after a minute, and shows dates of those that are not issued.
func showCertificate(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	body, _ := decodeJSON(a.body).(map[string]any)
	c, _ := member(body, "Certificate").(map[string]any)
	if !a.ok() || c == nil {
		return a
	}
	algorithm, users, pending := p.state.certificate(text(c["CertificateArn"]))
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
	if c["Status"] = "ISSUED"; pending && !p.hasRecordsOf(ctx, x, options) {
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
func (p *Proxy) hasRecordsOf(ctx context.Context, x *exchange, options []any) bool {
	records, err := listRecords(ctx, p.lister(x.accessKey, x.region))
	for _, o := range options {
		option, _ := o.(map[string]any)
		if err != nil || !slices.Contains(records, text(member(option, "ResourceRecord.Name"))+" CNAME") {
			return false
		}
	}
	return true
}

// keepUsedCertificate: moto deletes certificates that are in use.
func keepUsedCertificate(_ context.Context, p *Proxy, x *exchange) *answer {
	arn := text(x.json["CertificateArn"])
	if _, users, _ := p.state.certificate(arn); len(users) > 0 {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "ResourceInUseException", "Certificate " + arn + " in account " + defaultAccount + " is in use."})
	}
	return nil
}
