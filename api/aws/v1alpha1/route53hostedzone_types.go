// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Route53HostedZoneSpec declares a hosted zone of Route 53: the records of a domain.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^[A-Z0-9]{1,32}$')",message="importID is the ID of a hosted zone, such as Z1D633PJN98FT9"
// +kubebuilder:validation:XValidation:rule="(has(self.privateZone) && self.privateZone) == (has(oldSelf.privateZone) && oldSelf.privateZone)",message="privateZone is immutable"
// +kubebuilder:validation:XValidation:rule="(has(self.privateZone) && self.privateZone) == (has(self.vpcId) || has(self.vpcRef) || has(self.vpcs))",message="a private zone needs vpcId, vpcRef or vpcs, and a public zone has none of them"
// +kubebuilder:validation:XValidation:rule="!has(self.vpcId) || !has(self.vpcRef)",message="vpcId and vpcRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.vpcs) || !has(self.vpcId) && !has(self.vpcRef) && !has(self.vpcRegion)",message="vpcs excludes vpcId, vpcRef and vpcRegion"
// +kubebuilder:validation:XValidation:rule="!has(self.vpcRegion) || has(self.vpcId) || has(self.vpcRef)",message="vpcRegion needs vpcId or vpcRef"
type Route53HostedZoneSpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// Name is the domain, such as example.com, with or without a trailing dot. Uppercase letters count as lowercase
	// letters. Other zones may have the same name. Immutable. With managementPolicy Observe and without importID, the object
	// leads to the zone of this name, if there is only one that is public, or private, as declared.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_/-]{1,63}(\.[A-Za-z0-9_/-]{1,63})*\.?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="name is immutable"
	Name string `json:"name"`
	// Comment is any text of at most 256 characters. Absent: not managed; "" removes the comment.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Comment *string `json:"comment,omitempty"`
	// PrivateZone is true for a zone whose records only VPCs see. Absent: false, a zone of the public DNS. Immutable.
	// +optional
	PrivateZone bool `json:"privateZone,omitempty"`
	// VPCID is the only VPC of a private zone, such as vpc-0123456789abcdef0.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^vpc-[0-9a-f]{8,17}$`
	VPCID string `json:"vpcId,omitempty" names:"ec2:vpc"`
	// VPCRef names a VPC object in the same namespace instead.
	// +optional
	VPCRef *ObjectReference `json:"vpcRef,omitempty"`
	// VPCRegion is the region of that VPC. Absent: the provider's region.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z]{2,}(-[a-z0-9]+)+$`
	VPCRegion string `json:"vpcRegion,omitempty"`
	// VPCs are all VPCs of a private zone, instead of vpcId. A VPC that is not declared is disassociated. The VPCs belong to
	// the provider's account.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=300
	VPCs []HostedZoneVPC `json:"vpcs,omitempty"`
	// RecreateOnLoss creates the zone again, without its records and with other name servers, when it was deleted outside the
	// operator; the default is to report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// HostedZoneVPC is a VPC that sees the records of a private zone.
// +kubebuilder:validation:XValidation:rule="has(self.vpcId) != has(self.vpcRef)",message="exactly one of vpcId and vpcRef must be set"
type HostedZoneVPC struct {
	// VPCID is the identifier of the VPC.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^vpc-[0-9a-f]{8,17}$`
	VPCID string `json:"vpcId,omitempty" names:"ec2:vpc"`
	// VPCRef names a VPC object in the same namespace instead.
	// +optional
	VPCRef *ObjectReference `json:"vpcRef,omitempty"`
	// VPCRegion is the region of the VPC. Absent: the provider's region.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z]{2,}(-[a-z0-9]+)+$`
	VPCRegion string `json:"vpcRegion,omitempty"`
}

// Route53HostedZoneStatus reports the hosted zone.
type Route53HostedZoneStatus struct {
	CommonStatus `json:",inline"`
	// HostedZoneID repeats id.
	// +optional
	HostedZoneID string `json:"hostedZoneID,omitempty"`
	// NameServers are the name servers of a public zone, to which the registrar of the domain or the parent zone must
	// delegate.
	// +optional
	// +listType=atomic
	NameServers []string `json:"nameServers,omitempty"`
	// ResourceRecordSetCount is the number of record sets at the last check, with the NS and SOA records that each zone has.
	// +optional
	ResourceRecordSetCount int64 `json:"resourceRecordSetCount,omitempty"`
}

// Route53HostedZone is a hosted zone of Route 53, public or private.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=route53hostedzones,shortName=r53zone,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Domain",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.hostedZoneID`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Private",type=boolean,priority=1,JSONPath=`.spec.privateZone`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type Route53HostedZone struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Route53HostedZoneSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status Route53HostedZoneStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *Route53HostedZone) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *Route53HostedZone) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the hosted zone to adopt.
func (o *Route53HostedZone) ImportID() string { return o.Spec.ImportID }

// RecreatesOnLoss reports whether a zone that no longer exists is created again, without its records.
func (o *Route53HostedZone) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ReferableAttributes returns what objects that refer to the zone can use beside its ID and ARN.
func (o *Route53HostedZone) ReferableAttributes() map[string]string {
	return map[string]string{"hostedZoneID": o.Status.HostedZoneID}
}

// Route53HostedZoneList is a list of Route53HostedZone.
// +kubebuilder:object:root=true
type Route53HostedZoneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Route53HostedZone `json:"items"`
}
