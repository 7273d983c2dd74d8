// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Route53RecordSetSpec declares the records of one name and type in a hosted zone. Its tags are not written: a record set has
// none in Route 53.
// +kubebuilder:validation:XValidation:rule="has(self.hostedZoneID) != has(self.hostedZoneRef)",message="exactly one of hostedZoneID and hostedZoneRef must be set"
// +kubebuilder:validation:XValidation:rule="has(self.hostedZoneID) == has(oldSelf.hostedZoneID) && (!has(self.hostedZoneID) || self.hostedZoneID == oldSelf.hostedZoneID)",message="hostedZoneID is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.hostedZoneRef) == has(oldSelf.hostedZoneRef) && (!has(self.hostedZoneRef) || self.hostedZoneRef.name == oldSelf.hostedZoneRef.name)",message="hostedZoneRef is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.setIdentifier) == has(oldSelf.setIdentifier) && (!has(self.setIdentifier) || self.setIdentifier == oldSelf.setIdentifier)",message="setIdentifier is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.validates)",message="exactly one of name and validates must be set"
// +kubebuilder:validation:XValidation:rule="has(self.name) == has(self.type)",message="name needs type, and validates excludes both"
// +kubebuilder:validation:XValidation:rule="has(self.validates) == has(oldSelf.validates) && (!has(self.validates) || (self.validates.domainName == oldSelf.validates.domainName || self.validates.domainName == '*.' + oldSelf.validates.domainName || '*.' + self.validates.domainName == oldSelf.validates.domainName))",message="validates is immutable, except for its certificate and a leading *. of the name, which have the same record"
// +kubebuilder:validation:XValidation:rule="!has(self.validates) || !has(self.aliasTarget) && !has(self.resourceRecords) && !has(self.setIdentifier)",message="validates excludes aliasTarget, resourceRecords and setIdentifier: the certificate says what the record is"
// +kubebuilder:validation:XValidation:rule="has(self.validates) || has(self.aliasTarget) != has(self.resourceRecords)",message="exactly one of aliasTarget and resourceRecords must be set"
// +kubebuilder:validation:XValidation:rule="has(self.resourceRecords) == has(self.ttl)",message="resourceRecords need ttl, and aliasTarget excludes it"
// +kubebuilder:validation:XValidation:rule="has(self.setIdentifier) == (has(self.weight) || has(self.region) || has(self.failover) || has(self.geoLocation) || has(self.multiValueAnswer) && self.multiValueAnswer)",message="setIdentifier needs weight, region, failover, geoLocation or multiValueAnswer, and each of them needs setIdentifier"
// +kubebuilder:validation:XValidation:rule="(has(self.weight) ? 1 : 0) + (has(self.region) ? 1 : 0) + (has(self.failover) ? 1 : 0) + (has(self.geoLocation) ? 1 : 0) + (has(self.multiValueAnswer) && self.multiValueAnswer ? 1 : 0) <= 1",message="weight, region, failover, geoLocation and multiValueAnswer exclude each other"
type Route53RecordSetSpec struct {
	CommonSpec `json:",inline"`

	// HostedZoneID is the ID of the hosted zone, such as Z1D633PJN98FT9. Exactly one of hostedZoneID and hostedZoneRef is set.
	// Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[A-Z0-9]{1,32}$`
	HostedZoneID string `json:"hostedZoneID,omitempty" names:"route53:hostedzone"`
	// HostedZoneRef names a Route53HostedZone in the same namespace. Immutable.
	// +optional
	HostedZoneRef *ObjectReference `json:"hostedZoneRef,omitempty"`
	// Name is the full name, such as www.example.com, with or without a trailing dot. Uppercase letters count as lowercase
	// letters, and * as the first label stands for all names that have no records. Labels that begin with _nexus- are reserved for
	// the owners of record sets. Required unless validates is set. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=230
	// +kubebuilder:validation:Pattern=`^(\*|[A-Za-z0-9_/-]{1,63})(\.[A-Za-z0-9_/-]{1,63})*\.?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="name is immutable"
	// +kubebuilder:validation:XValidation:rule="!self.lowerAscii().split('.').exists(l, l.startsWith('_nexus-'))",message="labels that begin with _nexus- are reserved for the owners of record sets"
	Name string `json:"name,omitempty"`
	// Type is the type of the records. Immutable.
	// +optional
	// +kubebuilder:validation:Enum=A;AAAA;CAA;CNAME;DS;HTTPS;MX;NAPTR;NS;PTR;SPF;SRV;SSHFP;SVCB;TLSA;TXT
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="type is immutable"
	Type string `json:"type,omitempty"`
	// Validates makes this the record that proves a name of a Certificate to AWS Certificate Manager, instead of name, type and
	// resourceRecords. Keep it: ACM looks for it again before each renewal. Certificates of one account for the same name
	// and for all names below it share a record: one Route53RecordSet owns it, and others use it as it is. Immutable, except for the
	// certificate and a leading *. of the name.
	// +optional
	Validates *RecordOfCertificate `json:"validates,omitempty"`
	// TTL is the time in seconds for which resolvers may keep the records. It belongs to resourceRecords.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TTL *int64 `json:"ttl,omitempty"`
	// ResourceRecords are the values, in any order, in the form that Route 53 expects for the type: those of TXT records are in
	// double quotes. The list is exact: other values of the record set are removed.
	// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/ResourceRecordTypes.html
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=400
	ResourceRecords []RecordValue `json:"resourceRecords,omitempty"`
	// AliasTarget leads to another AWS resource, or to another record of the zone, instead of resourceRecords.
	// +optional
	AliasTarget *RecordAliasTarget `json:"aliasTarget,omitempty"`
	// SetIdentifier tells record sets of the same name and type apart. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	SetIdentifier string `json:"setIdentifier,omitempty"`
	// Weight is the share of the answers among the record sets of the same name and type, from 0 to 255.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	Weight *int64 `json:"weight,omitempty"`
	// Region is the AWS region of the resource: Route 53 answers with the record set of the lowest latency.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z]{2,}(-[a-z0-9]+)+$`
	Region string `json:"region,omitempty"`
	// Failover is PRIMARY, or SECONDARY for the record set that answers while the health check of the primary one fails.
	// +optional
	// +kubebuilder:validation:Enum=PRIMARY;SECONDARY
	Failover string `json:"failover,omitempty"`
	// GeoLocation is the location of the users who get this record set.
	// +optional
	GeoLocation *RecordGeoLocation `json:"geoLocation,omitempty"`
	// MultiValueAnswer lets Route 53 answer with up to eight healthy record sets of the same name and type. Default false.
	// +optional
	MultiValueAnswer bool `json:"multiValueAnswer,omitempty"`
	// HealthCheckID is a health check of Route 53: while it fails, the record set is not used. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9-]*$`
	HealthCheckID string `json:"healthCheckID,omitempty" names:"route53:healthcheck"`
}

// RecordOfCertificate is a name of a certificate.
type RecordOfCertificate struct {
	// CertificateRef names a Certificate in the same namespace.
	CertificateRef ObjectReference `json:"certificateRef"`
	// DomainName is one of the names of the certificate. A name and its wildcard share a record.
	DomainName CertificateName `json:"domainName"`
}

// RecordValue is the value of one record.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=4000
type RecordValue string

// RecordAliasTarget is the target of an alias record.
type RecordAliasTarget struct {
	// HostedZoneID is the hosted zone of the target: for a load balancer that of its region, for a record of this zone the ID
	// of the zone itself. Absent: the target is a load balancer, whose zone follows from its name. Where the operator does not
	// know it, as for a Network Load Balancer, it asks AWS for the load balancer, which must then be in the account and region of
	// the provider.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[A-Z0-9]+$`
	HostedZoneID string `json:"hostedZoneID,omitempty"`
	// DNSName is the DNS name of the target.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	DNSName string `json:"dnsName"`
	// EvaluateTargetHealth takes the target's health for that of the record set. Default false.
	// +optional
	EvaluateTargetHealth bool `json:"evaluateTargetHealth,omitempty"`
}

// RecordGeoLocation is a continent, a country, or a state of one.
// +kubebuilder:validation:XValidation:rule="has(self.continentCode) != has(self.countryCode)",message="exactly one of continentCode and countryCode must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.subdivisionCode) || has(self.countryCode)",message="subdivisionCode needs countryCode"
type RecordGeoLocation struct {
	// ContinentCode is a continent, such as EU.
	// +optional
	// +kubebuilder:validation:Enum=AF;AN;AS;EU;OC;NA;SA
	ContinentCode string `json:"continentCode,omitempty"`
	// CountryCode is a country, such as DE, or * for all users that no other record set names.
	// +optional
	// +kubebuilder:validation:MaxLength=2
	// +kubebuilder:validation:Pattern=`^([A-Z]{2}|\*)$`
	CountryCode string `json:"countryCode,omitempty"`
	// SubdivisionCode is a state of the country, such as CA of US.
	// +optional
	// +kubebuilder:validation:MaxLength=3
	// +kubebuilder:validation:Pattern=`^[A-Z0-9]{1,3}$`
	SubdivisionCode string `json:"subdivisionCode,omitempty"`
}

// Route53RecordSetStatus reports the record set.
type Route53RecordSetStatus struct {
	CommonStatus `json:",inline"`
	// HostedZoneID is the ID of the hosted zone.
	// +optional
	HostedZoneID string `json:"hostedZoneID,omitempty"`
	// OwnerRecord is the name of the TXT record that says which object the record set belongs to.
	// +optional
	OwnerRecord string `json:"ownerRecord,omitempty"`
	// ChangeID is the last change of the record set that the operator requested.
	// +optional
	ChangeID string `json:"changeID,omitempty"`
	// ChangeStatus is PENDING until all name servers of Route 53 have the change, and then INSYNC.
	// +optional
	ChangeStatus string `json:"changeStatus,omitempty"`
}

// Route53RecordSet is the records of one name and type in a hosted zone of Route 53.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=route53recordsets,shortName=r53rs,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Record",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Zone",type=string,priority=1,JSONPath=`.status.hostedZoneID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type Route53RecordSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Route53RecordSetSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status Route53RecordSetStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *Route53RecordSet) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *Route53RecordSet) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// Route53RecordSetList is a list of Route53RecordSet.
// +kubebuilder:object:root=true
type Route53RecordSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Route53RecordSet `json:"items"`
}
