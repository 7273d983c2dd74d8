// SPDX-License-Identifier: Apache-2.0

package acm

import "github.com/nexus-operator/nexus-operator/internal/kind"

// certificateFacts returns the facts about a Certificate that other packages use.
func certificateFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "acm:RequestCertificate", If: kind.GivesTag},
				{Actions: "acm:DescribeCertificate acm:ListTagsForCertificate", On: []string{"certificate/*"}},
				{Actions: "acm:AddTagsToCertificate", On: []string{"certificate/*"}, If: kind.GivesTag},
				{Actions: "acm:AddTagsToCertificate", On: []string{"certificate/*"}, If: kind.HasTagOrIsAdopted},
				{Actions: "acm:*", On: []string{"certificate/*"}, If: kind.HasTag},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"Certificate.DomainValidationOptions", "Certificate.ExtendedKeyUsages", "Certificate.FailureReason", "Certificate.InUseBy",
			"Certificate.Issuer", "Certificate.KeyUsages", "Certificate.Options.CertificateTransparencyLoggingPreference=ENABLED",
			"Certificate.Options.Export=DISABLED", "Certificate.RenewalEligibility", "Certificate.RenewalSummary",
			"Certificate.RevocationReason", "Certificate.Serial", "Certificate.SignatureAlgorithm", "Certificate.Status",
			"Certificate.Subject", "Certificate.Type=AMAZON_ISSUED",
		},
		Reach: kind.Everywhere,
		OneValue: map[string]string{
			"ValidationMethod": kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::CertificateManager::Certificate"},
			Properties: map[string]map[string]string{
				"AWS::CertificateManager::Certificate": {
					"CertificateExport":          "as options",
					"DomainValidationOptions Id": kind.IsInput,
				},
			},
			Unneeded: map[string]string{
				"acm-pca:*":                    "there is no field for private authorities",
				"acm:UpdateCertificateOptions": "there is no field for transparency logging",
			},
		},
		ARN: kind.ARNForm{
			Service: "acm",
			Prefix:  "certificate/",
			Without: "/",
			Name:    wholeARN,
		},
		Terraform: kind.Terraform{
			Type:     "aws_acm_certificate",
			Identity: []string{"arn"},
			Parts:    []string{"aws_acm_certificate_validation"},
		},
	}
}

// wholeARN returns the ARN, which identifies a certificate.
func wholeARN(_, arn string) string { return arn }
