// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ElasticIPSpec declares a public IPv4 address that AWS chooses.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^eipalloc-[0-9a-f]{8,17}$')",message="importID is eipalloc- and 8 to 17 hexadecimal digits"
// +kubebuilder:validation:XValidation:rule="!has(self.networkBorderGroup)",message="networkBorderGroup is not supported: allocate the address in AWS, and adopt it with importID"
// +kubebuilder:validation:XValidation:rule="!has(self.publicIpv4Pool)",message="publicIpv4Pool is not supported: allocate the address in AWS, and adopt it with importID"
// +kubebuilder:validation:XValidation:rule="!has(self.customerOwnedIpv4Pool)",message="customerOwnedIpv4Pool is not supported: allocate the address in AWS, and adopt it with importID"
type ElasticIPSpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// Domain is vpc: an address for network interfaces and NAT gateways of VPCs. Absent: vpc. AWS has no other
	// addresses since it retired EC2-Classic.
	// +optional
	// +kubebuilder:validation:Enum=vpc
	Domain string `json:"domain,omitempty"`
	// NetworkBorderGroup is not supported and refused. To use an address of a Local Zone, allocate it in AWS and adopt it
	// with importID.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	NetworkBorderGroup *string `json:"networkBorderGroup,omitempty"`
	// PublicIPv4Pool is not supported and refused. To use an address of a pool, allocate it in AWS and adopt it with
	// importID.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	PublicIPv4Pool *string `json:"publicIpv4Pool,omitempty"`
	// CustomerOwnedIPv4Pool is not supported and refused. To use an address of a pool, allocate it in AWS and adopt it
	// with importID.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	CustomerOwnedIPv4Pool *string `json:"customerOwnedIpv4Pool,omitempty"`
}

// ElasticIPStatus reports the address and what uses it.
type ElasticIPStatus struct {
	CommonStatus `json:",inline"`
	// AllocationID repeats id.
	// +optional
	AllocationID string `json:"allocationID,omitempty"`
	// PublicIP is the address.
	// +optional
	PublicIP string `json:"publicIP,omitempty"`
	// Domain is vpc.
	// +optional
	Domain string `json:"domain,omitempty"`
	// AssociationID is the identifier of the association with a network interface; empty while nothing uses the address.
	// +optional
	AssociationID string `json:"associationID,omitempty"`
	// InstanceID is the instance that uses the address.
	// +optional
	InstanceID string `json:"instanceID,omitempty"`
	// NetworkInterfaceID is the network interface that uses the address: of an instance, or of a NAT gateway.
	// +optional
	NetworkInterfaceID string `json:"networkInterfaceID,omitempty"`
	// PrivateIPAddress is the private address of the network interface that uses the address.
	// +optional
	PrivateIPAddress string `json:"privateIPAddress,omitempty"`
}

// ElasticIP is a public IPv4 address. What uses it, such as a NATGateway, associates it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=elasticips,shortName=eip,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.status.publicIP`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Allocation",type=string,priority=1,JSONPath=`.status.allocationID`
// +kubebuilder:printcolumn:name="Interface",type=string,priority=1,JSONPath=`.status.networkInterfaceID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type ElasticIP struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ElasticIPSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status ElasticIPStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *ElasticIP) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *ElasticIP) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the allocation identifier of the address to adopt.
func (o *ElasticIP) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns what objects that refer to the address can use beside its ID and ARN.
func (o *ElasticIP) ReferableAttributes() map[string]string {
	return map[string]string{"allocationID": o.Status.AllocationID, "publicIP": o.Status.PublicIP}
}

// ElasticIPList is a list of ElasticIP.
// +kubebuilder:object:root=true
type ElasticIPList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ElasticIP `json:"items"`
}
