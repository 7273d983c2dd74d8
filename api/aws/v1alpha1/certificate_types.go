// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CertificateSpec declares a public certificate of AWS Certificate Manager, which DNS records validate.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[0-9a-f-]+$')",message="importID is the ARN of a certificate"
// +kubebuilder:validation:XValidation:rule="has(self.subjectAlternativeNames) == has(oldSelf.subjectAlternativeNames) && (!has(self.subjectAlternativeNames) || self.subjectAlternativeNames == oldSelf.subjectAlternativeNames)",message="subjectAlternativeNames are immutable: declare another Certificate with the names, and delete this one when nothing uses it any more"
// +kubebuilder:validation:XValidation:rule="has(self.keyAlgorithm) == has(oldSelf.keyAlgorithm) && (!has(self.keyAlgorithm) || self.keyAlgorithm == oldSelf.keyAlgorithm)",message="keyAlgorithm is immutable"
type CertificateSpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// DomainName is the first name of the certificate, such as example.com or *.example.com, in lowercase letters. ACM
	// allows 64 characters; longer names can be among subjectAlternativeNames. Immutable: a certificate for another name
	// is another Certificate.
	// https://docs.aws.amazon.com/acm/latest/APIReference/API_RequestCertificate.html
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="domainName is immutable: declare another Certificate, and delete this one when nothing uses it any more"
	DomainName string `json:"domainName"`
	// SubjectAlternativeNames are further names of the certificate. ACM allows 10 names in total unless the quota of the
	// account was raised. Immutable.
	// +optional
	// +kubebuilder:validation:MaxItems=99
	// +listType=set
	SubjectAlternativeNames []CertificateName `json:"subjectAlternativeNames,omitempty"`
	// ValidationMethod is the method by which ACM verifies that the names are yours. Only DNS: ACM then also renews the certificate
	// without you, as long as the records exist. Default DNS.
	// +optional
	// +kubebuilder:validation:Enum=DNS
	ValidationMethod string `json:"validationMethod,omitempty"`
	// KeyAlgorithm is the algorithm of the key pair. Absent: ACM requests RSA_2048. Immutable.
	// +optional
	// +kubebuilder:validation:Enum=RSA_2048;EC_prime256v1;EC_secp384r1
	KeyAlgorithm string `json:"keyAlgorithm,omitempty"`
}

// CertificateName is a name that a certificate is for.
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$`
type CertificateName string

// CertificateStatus reports the certificate.
type CertificateStatus struct {
	CommonStatus `json:",inline"`
	// CertificateStatus is the status that ACM reports, such as PENDING_VALIDATION or ISSUED.
	// +optional
	CertificateStatus string `json:"certificateStatus,omitempty"`
	// ValidationRecords are the DNS records that ACM looks for, one for each name; a name and its wildcard share one.
	// Create them in the zone of the name, and keep them: ACM looks for them again before each renewal.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	ValidationRecords []CertificateRecord `json:"validationRecords,omitempty"`
	// NotAfter is the time at which the certificate expires. ACM renews it before.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
	// RenewalStatus is the state of the renewal, such as PENDING_VALIDATION while ACM does not find the records; empty before
	// the first renewal.
	// +optional
	RenewalStatus string `json:"renewalStatus,omitempty"`
}

// CertificateRecord is a DNS record that proves that a name is yours.
type CertificateRecord struct {
	// Name of the record, with a dot at the end.
	Name string `json:"name"`
	// Type of the record: CNAME.
	Type string `json:"type"`
	// Value of the record, with a dot at the end.
	Value string `json:"value"`
}

// Certificate is a public certificate of AWS Certificate Manager. It is Ready when ACM has issued it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=acm,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Domain",type=string,JSONPath=`.spec.domainName`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.certificateStatus`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Expires",type=date,priority=1,JSONPath=`.status.notAfter`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type Certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec CertificateSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status CertificateStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *Certificate) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *Certificate) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the ARN of the certificate to adopt.
func (o *Certificate) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns the records that validate the names, by name: the name of the record, a space, and its value. A
// record of ACM has one label before the name that it validates.
func (o *Certificate) ReferableAttributes() map[string]string {
	out := map[string]string{}
	for _, r := range o.Status.ValidationRecords {
		if _, domain, ok := strings.Cut(strings.TrimSuffix(r.Name, "."), "."); ok {
			out["validation/"+domain] = r.Name + " " + r.Value
		}
	}
	return out
}

// CertificateList is a list of Certificate.
// +kubebuilder:object:root=true
type CertificateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Certificate `json:"items"`
}
