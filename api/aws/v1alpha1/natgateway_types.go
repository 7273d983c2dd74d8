// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NATGatewaySpec declares a NAT gateway in a subnet.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^nat-[0-9a-f]{8,17}$')",message="importID is nat- and 8 to 17 hexadecimal digits"
// +kubebuilder:validation:XValidation:rule="has(self.subnetID) != has(self.subnetRef)",message="exactly one of subnetID and subnetRef must be set"
// +kubebuilder:validation:XValidation:rule="has(self.connectivityType) && self.connectivityType == 'private' ? !has(self.allocationID) && !has(self.allocationRef) : has(self.allocationID) != has(self.allocationRef)",message="a public NAT gateway needs exactly one of allocationID and allocationRef, and a private one has neither"
// +kubebuilder:validation:XValidation:rule="has(self.subnetID) == has(oldSelf.subnetID) && (!has(self.subnetID) || self.subnetID == oldSelf.subnetID)",message="subnetID is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.subnetRef) == has(oldSelf.subnetRef) && (!has(self.subnetRef) || self.subnetRef.name == oldSelf.subnetRef.name)",message="subnetRef is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.allocationID) == has(oldSelf.allocationID) && (!has(self.allocationID) || self.allocationID == oldSelf.allocationID)",message="allocationID is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.allocationRef) == has(oldSelf.allocationRef) && (!has(self.allocationRef) || self.allocationRef.name == oldSelf.allocationRef.name)",message="allocationRef is immutable"
// +kubebuilder:validation:XValidation:rule="(has(self.connectivityType) ? self.connectivityType : 'public') == (has(oldSelf.connectivityType) ? oldSelf.connectivityType : 'public')",message="connectivityType is immutable"
type NATGatewaySpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// SubnetID is the identifier of the subnet that contains the gateway, such as subnet-0123456789abcdef0. Exactly one of
	// subnetID and subnetRef is set. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^subnet-[0-9a-f]{8,17}$`
	SubnetID string `json:"subnetID,omitempty" names:"ec2:subnet"`
	// SubnetRef names a Subnet object in the same namespace. Immutable.
	// +optional
	SubnetRef *ObjectReference `json:"subnetRef,omitempty"`
	// AllocationID is the allocation identifier of the Elastic IP address of a public gateway, such as
	// eipalloc-0123456789abcdef0. The gateway is created once nothing else uses the address. A public gateway has exactly one
	// of allocationID and allocationRef, a private one neither. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=26
	// +kubebuilder:validation:Pattern=`^eipalloc-[0-9a-f]{8,17}$`
	AllocationID string `json:"allocationID,omitempty" names:"ec2:elastic-ip"`
	// AllocationRef names an ElasticIP object in the same namespace. Immutable.
	// +optional
	AllocationRef *ObjectReference `json:"allocationRef,omitempty"`
	// ConnectivityType is public or private. A public gateway leads to the internet, through the internet gateway that is
	// attached to its VPC and without which it is not created; a private one to other VPCs and networks. Absent: public.
	// Immutable.
	// +optional
	// +kubebuilder:validation:Enum=public;private
	ConnectivityType string `json:"connectivityType,omitempty"`
}

// NATGatewayStatus reports the NAT gateway.
type NATGatewayStatus struct {
	CommonStatus `json:",inline"`
	// NATGatewayID repeats id.
	// +optional
	NATGatewayID string `json:"natGatewayID,omitempty"`
	// State is the state that EC2 reports, such as pending or available.
	// +optional
	State string `json:"state,omitempty"`
	// SubnetID is the identifier of the subnet.
	// +optional
	SubnetID string `json:"subnetID,omitempty"`
	// VPCID is the identifier of the VPC.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// PublicIP is the public address; empty for a private gateway.
	// +optional
	PublicIP string `json:"publicIP,omitempty"`
	// PrivateIP is the address in the subnet.
	// +optional
	PrivateIP string `json:"privateIP,omitempty"`
	// NetworkInterfaceID is the network interface of the gateway.
	// +optional
	NetworkInterfaceID string `json:"networkInterfaceID,omitempty"`
}

// NATGateway is a NAT gateway: a way out for subnets without public addresses.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=natgateways,shortName=natgw,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.status.natGatewayID`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Address",type=string,priority=1,JSONPath=`.status.publicIP`
// +kubebuilder:printcolumn:name="Subnet",type=string,priority=1,JSONPath=`.status.subnetID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type NATGateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NATGatewaySpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status NATGatewayStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *NATGateway) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *NATGateway) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the NAT gateway to adopt.
func (o *NATGateway) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns what objects that refer to the NAT gateway can use beside its ID and ARN.
func (o *NATGateway) ReferableAttributes() map[string]string {
	return map[string]string{"natGatewayID": o.Status.NATGatewayID, "vpcID": o.Status.VPCID, "subnetID": o.Status.SubnetID,
		"publicIP": o.Status.PublicIP}
}

// NATGatewayList is a list of NATGateway.
// +kubebuilder:object:root=true
type NATGatewayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NATGateway `json:"items"`
}
