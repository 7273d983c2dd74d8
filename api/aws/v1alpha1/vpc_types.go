// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VPCSpec declares a virtual private cloud.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^vpc-[0-9a-f]{8,17}$')",message="importID is vpc- and 8 to 17 hexadecimal digits"
// +kubebuilder:validation:XValidation:rule="has(self.instanceTenancy) == has(oldSelf.instanceTenancy) && (!has(self.instanceTenancy) || self.instanceTenancy == oldSelf.instanceTenancy)",message="instanceTenancy is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.enableDnsHostnames) || !self.enableDnsHostnames || !has(self.enableDnsSupport) || self.enableDnsSupport",message="enableDnsHostnames needs enableDnsSupport"
type VPCSpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// CIDRBlock is the IPv4 range of the VPC, such as 10.0.0.0/16: a network address with a prefix of 16
	// to 28 bits. Immutable. With importID it is the range of the existing VPC.
	// +kubebuilder:validation:MaxLength=18
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}\.){3}[0-9]{1,3}/(1[6-9]|2[0-8])$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cidrBlock is immutable"
	CIDRBlock string `json:"cidrBlock"`
	// InstanceTenancy is default, or dedicated for instances on hardware of a single tenant. Absent: AWS
	// creates the VPC with default. Immutable.
	// +optional
	// +kubebuilder:validation:Enum=default;dedicated
	InstanceTenancy string `json:"instanceTenancy,omitempty"`
	// EnableDNSSupport lets instances resolve names with the Amazon DNS server. Absent: not managed; AWS
	// creates VPCs with true.
	// +optional
	EnableDNSSupport *bool `json:"enableDnsSupport,omitempty"`
	// EnableDNSHostnames gives instances with public addresses DNS names; it needs DNS support. Absent:
	// not managed; AWS creates VPCs with false.
	// +optional
	EnableDNSHostnames *bool `json:"enableDnsHostnames,omitempty"`
}

// VPCStatus reports the VPC.
type VPCStatus struct {
	CommonStatus `json:",inline"`
	// VPCID repeats id.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// State is the state that EC2 reports: pending or available.
	// +optional
	State string `json:"state,omitempty"`
	// CIDRBlock is the primary IPv4 range.
	// +optional
	CIDRBlock string `json:"cidrBlock,omitempty"`
	// OwnerID is the account that owns the VPC.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// IsDefault is true for the default VPC of the region.
	// +optional
	IsDefault bool `json:"isDefault,omitempty"`
	// DHCPOptionsID is the set of DHCP options of the VPC.
	// +optional
	DHCPOptionsID string `json:"dhcpOptionsID,omitempty"`
}

// VPC is a virtual private cloud.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=vpcs,shortName=awsvpc,categories={nexus,aws}
// +kubebuilder:printcolumn:name="VPC",type=string,JSONPath=`.status.vpcID`
// +kubebuilder:printcolumn:name="CIDR",type=string,JSONPath=`.spec.cidrBlock`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type VPC struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec VPCSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status VPCStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *VPC) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *VPC) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the VPC to adopt.
func (o *VPC) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns what objects that refer to the VPC can use beside its ID and ARN.
func (o *VPC) ReferableAttributes() map[string]string {
	return map[string]string{"vpcID": o.Status.VPCID, "cidrBlock": o.Status.CIDRBlock, "ownerID": o.Status.OwnerID}
}

// VPCList is a list of VPC.
// +kubebuilder:object:root=true
type VPCList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VPC `json:"items"`
}
