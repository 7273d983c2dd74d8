// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DBSubnetGroupSpec declares a DB subnet group.
// +kubebuilder:validation:XValidation:rule="(has(self.subnetIDs) ? size(self.subnetIDs) : 0) + (has(self.subnetRefs) ? size(self.subnetRefs) : 0) >= 1",message="a DB subnet group needs subnetIDs or subnetRefs"
type DBSubnetGroupSpec struct {
	CommonSpec `json:",inline"`

	// DBSubnetGroupName is unique in account and region: 1 to 255 letters, digits, periods, underscores, hyphens and
	// spaces, and not default. RDS stores it in lower case. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9._ -]*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dbSubnetGroupName is immutable"
	// +kubebuilder:validation:XValidation:rule="self.lowerAscii() != 'default'",message="dbSubnetGroupName must not be default"
	DBSubnetGroupName string `json:"dbSubnetGroupName"`
	// Description of the group, up to 255 characters. Absent: not managed; the operator creates groups with their name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Description *string `json:"description,omitempty"`
	// SubnetIDs are the identifiers of the subnets of the group, in any order. Together with subnetRefs they are all
	// subnets of the group. They are in one VPC and in at least two Availability Zones.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	SubnetIDs []SubnetID `json:"subnetIDs,omitempty" names:"ec2:subnet"`
	// SubnetRefs name Subnet objects in the same namespace, beside subnetIDs. Both lists are exact: other subnets are removed.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	SubnetRefs []ObjectReference `json:"subnetRefs,omitempty"`
}

// DBSubnetGroupStatus reports the DB subnet group.
type DBSubnetGroupStatus struct {
	CommonStatus `json:",inline"`
	// DBSubnetGroupARN repeats arn.
	// +optional
	DBSubnetGroupARN string `json:"dbSubnetGroupARN,omitempty"`
	// VPCID is the identifier of the VPC of the subnets.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// SubnetGroupStatus is the state that RDS reports, such as Complete.
	// +optional
	SubnetGroupStatus string `json:"subnetGroupStatus,omitempty"`
}

// DBSubnetGroup is the set of subnets in which RDS places a DB instance.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=dbsg,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.spec.dbSubnetGroupName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="VPC",type=string,priority=1,JSONPath=`.status.vpcID`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type DBSubnetGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec DBSubnetGroupSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status DBSubnetGroupStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *DBSubnetGroup) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *DBSubnetGroup) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// DBSubnetGroupList is a list of DBSubnetGroup.
// +kubebuilder:object:root=true
type DBSubnetGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DBSubnetGroup `json:"items"`
}
