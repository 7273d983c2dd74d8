// SPDX-License-Identifier: Apache-2.0

package acm

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/acm/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "acm",
		Rows: []kind.ErrorRow{
			{Code: "ResourceNotFound", Class: awsclient.NotFound},
			{Code: "ResourceInUse", Class: awsclient.Busy},
			{Code: "InvalidArn|InvalidArgs|InvalidDomainValidationOptions|TagPolicy", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeCertificate", Code: "ResourceNotFoundException", Status: 400, Class: awsclient.NotFound},
			{Operation: "DeleteCertificate", Code: "ResourceInUseException", Status: 400, Class: awsclient.Busy},
			{Operation: "RequestCertificate", Code: "InvalidDomainValidationOptionsException", Status: 400, Class: awsclient.Invalid},
		},
	},
}
