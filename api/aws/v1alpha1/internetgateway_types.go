// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InternetGatewaySpec declares an internet gateway that is attached to a VPC.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^igw-[0-9a-f]{8,17}$')",message="importID is igw- and 8 to 17 hexadecimal digits"
// +kubebuilder:validation:XValidation:rule="!has(self.vpcID) || !has(self.vpcRef)",message="vpcID and vpcRef exclude each other"
type InternetGatewaySpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// VPCID is the identifier of the VPC to which the gateway is attached, such as vpc-0123456789abcdef0. A change detaches
	// the gateway from one VPC and attaches it to the other. Absent, without vpcRef: not managed; AWS creates gateways that
	// are not attached. Empty detaches the gateway.
	// +optional
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^(vpc-[0-9a-f]{8,17})?$`
	VPCID *string `json:"vpcID,omitempty" names:"ec2:vpc"`
	// VPCRef names a VPC object in the same namespace.
	// +optional
	VPCRef *ObjectReference `json:"vpcRef,omitempty"`
}

// InternetGatewayStatus reports the internet gateway.
type InternetGatewayStatus struct {
	CommonStatus `json:",inline"`
	// InternetGatewayID repeats id.
	// +optional
	InternetGatewayID string `json:"internetGatewayID,omitempty"`
	// VPCID is the identifier of the VPC to which the gateway is attached.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// State is the state of the attachment that EC2 reports, such as available; empty while there is none.
	// +optional
	State string `json:"state,omitempty"`
}

// InternetGateway is an internet gateway and its attachment to a VPC.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=internetgateways,shortName=igw,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.status.internetGatewayID`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="VPC",type=string,priority=1,JSONPath=`.status.vpcID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type InternetGateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec InternetGatewaySpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status InternetGatewayStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *InternetGateway) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *InternetGateway) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the internet gateway to adopt.
func (o *InternetGateway) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns what objects that refer to the internet gateway can use beside its ID and ARN.
func (o *InternetGateway) ReferableAttributes() map[string]string {
	return map[string]string{"internetGatewayID": o.Status.InternetGatewayID, "vpcID": o.Status.VPCID}
}

// InternetGatewayList is a list of InternetGateway.
// +kubebuilder:object:root=true
type InternetGatewayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InternetGateway `json:"items"`
}
