// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VPCReference is the part of the spec of kinds that are inside a VPC.
// +kubebuilder:validation:XValidation:rule="has(self.vpcID) != has(self.vpcRef)",message="exactly one of vpcID and vpcRef must be set"
// +kubebuilder:validation:XValidation:rule="has(self.vpcID) == has(oldSelf.vpcID) && (!has(self.vpcID) || self.vpcID == oldSelf.vpcID)",message="vpcID is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.vpcRef) == has(oldSelf.vpcRef) && (!has(self.vpcRef) || self.vpcRef.name == oldSelf.vpcRef.name)",message="vpcRef is immutable"
type VPCReference struct {
	// VPCID is the identifier of the VPC, such as vpc-0123456789abcdef0. Exactly one of vpcID and vpcRef is set. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^vpc-[0-9a-f]{8,17}$`
	VPCID string `json:"vpcID,omitempty" names:"ec2:vpc"`
	// VPCRef names a VPC object in the same namespace. Immutable.
	// +optional
	VPCRef *ObjectReference `json:"vpcRef,omitempty"`
}

// SubnetSpec declares a subnet of a VPC.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^subnet-[0-9a-f]{8,17}$')",message="importID is subnet- and 8 to 17 hexadecimal digits"
// +kubebuilder:validation:XValidation:rule="has(self.availabilityZone) == has(oldSelf.availabilityZone) && (!has(self.availabilityZone) || self.availabilityZone == oldSelf.availabilityZone)",message="availabilityZone is immutable"
type SubnetSpec struct {
	CommonSpec   `json:",inline"`
	ImportSpec   `json:",inline"`
	VPCReference `json:",inline"`

	// CIDRBlock is the IPv4 range of the subnet, such as 10.0.1.0/24: a network address within the range of the
	// VPC, with a prefix of 16 to 28 bits. Immutable. With importID it is the range of the existing subnet.
	// +kubebuilder:validation:MaxLength=18
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}\.){3}[0-9]{1,3}/(1[6-9]|2[0-8])$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cidrBlock is immutable"
	CIDRBlock string `json:"cidrBlock"`
	// AvailabilityZone is the zone of the subnet, such as eu-west-1a. Absent: AWS chooses one. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z]{2,}-[a-z0-9-]+[0-9][a-z]$`
	AvailabilityZone string `json:"availabilityZone,omitempty"`
	// MapPublicIPOnLaunch gives instances that are launched in the subnet a public IPv4 address. Absent: not
	// managed; AWS creates subnets with false.
	// +optional
	MapPublicIPOnLaunch *bool `json:"mapPublicIpOnLaunch,omitempty"`
}

// SubnetStatus reports the subnet.
type SubnetStatus struct {
	CommonStatus `json:",inline"`
	// SubnetID repeats id.
	// +optional
	SubnetID string `json:"subnetID,omitempty"`
	// State is the state that EC2 reports: pending or available.
	// +optional
	State string `json:"state,omitempty"`
	// VPCID is the identifier of the VPC.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// CIDRBlock is the IPv4 range.
	// +optional
	CIDRBlock string `json:"cidrBlock,omitempty"`
	// AvailabilityZone is the zone of the subnet.
	// +optional
	AvailabilityZone string `json:"availabilityZone,omitempty"`
}

// Subnet is a range of addresses of a VPC in one Availability Zone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=subnets,shortName=awssubnet,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Subnet",type=string,JSONPath=`.status.subnetID`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.availabilityZone`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="CIDR",type=string,priority=1,JSONPath=`.spec.cidrBlock`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type Subnet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SubnetSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SubnetStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *Subnet) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *Subnet) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the subnet to adopt.
func (o *Subnet) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns what objects that refer to the subnet can use beside its ID and ARN.
func (o *Subnet) ReferableAttributes() map[string]string {
	return map[string]string{"subnetID": o.Status.SubnetID, "vpcID": o.Status.VPCID, "cidrBlock": o.Status.CIDRBlock,
		"availabilityZone": o.Status.AvailabilityZone}
}

// SubnetList is a list of Subnet.
// +kubebuilder:object:root=true
type SubnetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Subnet `json:"items"`
}
