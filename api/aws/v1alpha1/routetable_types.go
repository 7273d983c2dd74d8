// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SubnetID is the identifier of a subnet.
// +kubebuilder:validation:MaxLength=24
// +kubebuilder:validation:Pattern=`^subnet-[0-9a-f]{8,17}$`
type SubnetID string

// Route leads traffic for a range of addresses to one target.
// +kubebuilder:validation:XValidation:rule="[has(self.gatewayID), has(self.gatewayRef), has(self.natGatewayID), has(self.natGatewayRef), has(self.instanceID), has(self.networkInterfaceID), has(self.vpcPeeringConnectionID), has(self.transitGatewayID)].filter(x, x).size() == 1",message="a route needs exactly one target"
type Route struct {
	// DestinationCIDRBlock is the IPv4 range whose traffic takes the route: a network address, such as 0.0.0.0/0.
	// +kubebuilder:validation:MaxLength=18
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}\.){3}[0-9]{1,3}/([0-9]|[12][0-9]|3[0-2])$`
	DestinationCIDRBlock string `json:"destinationCidrBlock"`
	// GatewayID is an internet gateway or a virtual private gateway, such as igw-0123456789abcdef0.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^(igw|vgw)-[0-9a-f]{8,17}$`
	GatewayID string `json:"gatewayID,omitempty" names:"ec2:internet-gateway"`
	// GatewayRef names an InternetGateway object in the same namespace.
	// +optional
	GatewayRef *ObjectReference `json:"gatewayRef,omitempty"`
	// NATGatewayID is a NAT gateway.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^nat-[0-9a-f]{8,17}$`
	NATGatewayID string `json:"natGatewayID,omitempty" names:"ec2:natgateway"`
	// NATGatewayRef names a NATGateway object in the same namespace.
	// +optional
	NATGatewayRef *ObjectReference `json:"natGatewayRef,omitempty"`
	// InstanceID is an instance with one network interface.
	// +optional
	// +kubebuilder:validation:MaxLength=19
	// +kubebuilder:validation:Pattern=`^i-[0-9a-f]{8,17}$`
	InstanceID string `json:"instanceID,omitempty" names:"ec2:instance"`
	// NetworkInterfaceID is a network interface.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^eni-[0-9a-f]{8,17}$`
	NetworkInterfaceID string `json:"networkInterfaceID,omitempty" names:"ec2:network-interface"`
	// VPCPeeringConnectionID is a peering connection of the VPC.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^pcx-[0-9a-f]{8,17}$`
	VPCPeeringConnectionID string `json:"vpcPeeringConnectionID,omitempty" names:"ec2:vpc-peering-connection"`
	// TransitGatewayID is a transit gateway to which the VPC is attached.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^tgw-[0-9a-f]{8,17}$`
	TransitGatewayID string `json:"transitGatewayID,omitempty" names:"ec2:transit-gateway"`
}

// RouteTableSpec declares a route table of a VPC.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^rtb-[0-9a-f]{8,17}$')",message="importID is rtb- and 8 to 17 hexadecimal digits"
type RouteTableSpec struct {
	CommonSpec   `json:",inline"`
	ImportSpec   `json:",inline"`
	VPCReference `json:",inline"`

	// Routes are the IPv4 routes beside those within the VPC, those of virtual private gateways that are propagated, and those
	// of gateway endpoints, none of which are ever changed. Other routes that are not declared are removed. Absent: not
	// managed. [] removes all.
	// +optional
	// +listType=map
	// +listMapKey=destinationCidrBlock
	// +kubebuilder:validation:MaxItems=100
	Routes *[]Route `json:"routes,omitempty"`
	// SubnetAssociations are the identifiers of the subnets that use the table. Subnets that are declared neither here nor in
	// subnetRefs return to the main route table of the VPC. Absent, without subnetRefs: not managed. [] removes all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	SubnetAssociations *[]SubnetID `json:"subnetAssociations,omitempty" names:"ec2:subnet"`
	// SubnetRefs name the Subnet objects in the same namespace whose subnets use the table, beside subnetAssociations.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	SubnetRefs *[]ObjectReference `json:"subnetRefs,omitempty"`
}

// RouteTableStatus reports the route table.
type RouteTableStatus struct {
	CommonStatus `json:",inline"`
	// RouteTableID repeats id.
	// +optional
	RouteTableID string `json:"routeTableID,omitempty"`
	// VPCID is the identifier of the VPC.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// AssociatedSubnets are the subnets that use the table.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=200
	AssociatedSubnets []string `json:"associatedSubnets,omitempty"`
}

// RouteTable is a route table of a VPC, with the subnets that use it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=routetables,shortName=rtb,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Table",type=string,JSONPath=`.status.routeTableID`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="VPC",type=string,priority=1,JSONPath=`.status.vpcID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type RouteTable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RouteTableSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status RouteTableStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *RouteTable) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *RouteTable) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the route table to adopt.
func (o *RouteTable) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns what objects that refer to the route table can use beside its ID and ARN.
func (o *RouteTable) ReferableAttributes() map[string]string {
	return map[string]string{"routeTableID": o.Status.RouteTableID, "vpcID": o.Status.VPCID}
}

// RouteTableList is a list of RouteTable.
// +kubebuilder:object:root=true
type RouteTableList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RouteTable `json:"items"`
}
