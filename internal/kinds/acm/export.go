// SPDX-License-Identifier: Apache-2.0

package acm

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a certificate as it is.
func exported(cr *v1alpha1.Certificate, have CertificateState) {
	out := &cr.Spec
	out.DomainName, out.KeyAlgorithm = aws.ToString(have.Domain), aws.ToString(have.KeyAlgorithm)
	others := slices.DeleteFunc(slices.Clone(*have.Names), func(n string) bool { return n == out.DomainName })
	out.SubjectAlternativeNames = kind.Convert[[]v1alpha1.CertificateName](others)
}
