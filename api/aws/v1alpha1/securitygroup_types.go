// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPv4Range is a range of IPv4 addresses, such as 10.0.0.0/8.
// +kubebuilder:validation:MaxLength=18
// +kubebuilder:validation:Pattern=`^([0-9]{1,3}\.){3}[0-9]{1,3}/([0-9]|[12][0-9]|3[0-2])$`
type IPv4Range string

// IPv6Range is a range of IPv6 addresses, such as 2001:db8::/32.
// +kubebuilder:validation:MaxLength=43
// +kubebuilder:validation:Pattern=`^[0-9a-fA-F:.]+/[0-9]{1,3}$`
type IPv6Range string

// PrefixListID is the identifier of a managed prefix list.
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^pl-[0-9a-f]{8,17}$`
type PrefixListID string

// SecurityGroupRule allows traffic of a protocol and ports with each of its peers: the sources of an ingress rule, the
// destinations of an egress rule.
// +kubebuilder:validation:XValidation:rule="has(self.cidrBlocks) || has(self.ipv6CidrBlocks) || has(self.prefixListIDs) || has(self.sourceSecurityGroupID) || has(self.sourceSecurityGroupRef)",message="a rule needs a peer: cidrBlocks, ipv6CidrBlocks, prefixListIDs, sourceSecurityGroupID or sourceSecurityGroupRef"
// +kubebuilder:validation:XValidation:rule="!has(self.sourceSecurityGroupID) || !has(self.sourceSecurityGroupRef)",message="sourceSecurityGroupID and sourceSecurityGroupRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!(self.ipProtocol in ['tcp', 'udp', '6', '17']) || has(self.fromPort) && has(self.toPort) && self.fromPort >= 0 && self.fromPort <= self.toPort",message="tcp and udp need fromPort and toPort, from 0 to 65535 and in this order"
type SecurityGroupRule struct {
	// IPProtocol is tcp, udp, icmp, icmpv6, the number of a protocol, or -1 for all protocols and ports.
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:Pattern=`^(tcp|udp|icmp|icmpv6|-1|[0-9]{1,3})$`
	IPProtocol string `json:"ipProtocol"`
	// FromPort is the first port of tcp and udp, or the type of icmp and icmpv6, of which -1 is all. Other protocols have
	// no ports. Absent: -1.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=65535
	FromPort *int32 `json:"fromPort,omitempty"`
	// ToPort is the last port of tcp and udp, or the code of icmp and icmpv6, of which -1 is all. Absent: -1.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=65535
	ToPort *int32 `json:"toPort,omitempty"`
	// CIDRBlocks are IPv4 ranges: network addresses.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=60
	CIDRBlocks []IPv4Range `json:"cidrBlocks,omitempty"`
	// IPv6CIDRBlocks are IPv6 ranges: network addresses.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=60
	IPv6CIDRBlocks []IPv6Range `json:"ipv6CidrBlocks,omitempty"`
	// PrefixListIDs are managed prefix lists.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	PrefixListIDs []PrefixListID `json:"prefixListIDs,omitempty" names:"ec2:prefix-list"`
	// SourceSecurityGroupID is a security group, such as sg-0123456789abcdef0; in an egress rule it is the destination.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^sg-[0-9a-f]{8,17}$`
	SourceSecurityGroupID string `json:"sourceSecurityGroupID,omitempty" names:"ec2:security-group"`
	// SourceSecurityGroupOwnerID is the account of sourceSecurityGroupID, for a group of a peered VPC in another account. Absent: the
	// account of the provider.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
	SourceSecurityGroupOwnerID string `json:"sourceSecurityGroupOwnerID,omitempty"`
	// SourceSecurityGroupRef names a SecurityGroup object in the same namespace, which may be this object itself.
	// +optional
	SourceSecurityGroupRef *ObjectReference `json:"sourceSecurityGroupRef,omitempty"`
	// Description of the rule, at most 255 characters. Absent: not managed. Empty removes it.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9. _\-:/()#,@\[\]+=&;{}!$*]*$`
	Description *string `json:"description,omitempty"`
}

// SecurityGroupSpec declares a security group of a VPC.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^sg-[0-9a-f]{8,17}$')",message="importID is sg- and 8 to 17 hexadecimal digits"
type SecurityGroupSpec struct {
	CommonSpec   `json:",inline"`
	ImportSpec   `json:",inline"`
	VPCReference `json:",inline"`

	// GroupName is the name of the group, which no other group of the VPC has. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._\-:/()#,@\[\]+=&;{}!$*]([a-zA-Z0-9. _\-:/()#,@\[\]+=&;{}!$*]*[a-zA-Z0-9._\-:/()#,@\[\]+=&;{}!$*])?$`
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('sg-') && self != 'default'",message="groupName must not begin with sg- and must not be default"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="groupName is immutable"
	GroupName string `json:"groupName"`
	// Description of the group. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9. _\-:/()#,@\[\]+=&;{}!$*]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="description is immutable"
	Description string `json:"description"`
	// IngressRules are the rules for incoming traffic, in any order. Rules that are not declared are removed, but for those of
	// load balancer controllers (see exclusiveRules). Absent: not managed; AWS creates groups without any. [] removes all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=60
	IngressRules *[]SecurityGroupRule `json:"ingressRules,omitempty"`
	// EgressRules are the rules for outgoing traffic, in any order. Rules that are not declared are removed, among them the
	// one with which AWS creates groups and which allows all traffic, but for those of load balancer controllers (see
	// exclusiveRules). Absent: not managed. [] removes all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=60
	EgressRules *[]SecurityGroupRule `json:"egressRules,omitempty"`
	// ExclusiveRules removes the rules of controllers, too: those whose descriptions begin with elbv2.k8s.aws/ (the AWS Load
	// Balancer Controller) or kubernetes.io/rule/ (the AWS cloud provider), and without which their load balancers reach no
	// pod of this group. By default they stay, and status.controllerRules lists them.
	// +optional
	ExclusiveRules bool `json:"exclusiveRules,omitempty"`
}

// SecurityGroupStatus reports the security group.
type SecurityGroupStatus struct {
	CommonStatus `json:",inline"`
	// GroupID repeats id.
	// +optional
	GroupID string `json:"groupID,omitempty"`
	// GroupName is the name of the group.
	// +optional
	GroupName string `json:"groupName,omitempty"`
	// VPCID is the identifier of the VPC.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// ControllerRules describes the rules that controllers of Kubernetes added to the group and that stay, at most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	ControllerRules []string `json:"controllerRules,omitempty"`
}

// SecurityGroup is a security group of a VPC.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=securitygroups,shortName=sg,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.status.groupID`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Name in AWS",type=string,priority=1,JSONPath=`.spec.groupName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type SecurityGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SecurityGroupSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SecurityGroupStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *SecurityGroup) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *SecurityGroup) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the security group to adopt.
func (o *SecurityGroup) ImportID() string { return o.Spec.ImportID }

// ReferableAttributes returns what objects that refer to the security group can use beside its ID and ARN.
func (o *SecurityGroup) ReferableAttributes() map[string]string {
	return map[string]string{"groupID": o.Status.GroupID, "groupName": o.Status.GroupName, "vpcID": o.Status.VPCID}
}

// SecurityGroupList is a list of SecurityGroup.
// +kubebuilder:object:root=true
type SecurityGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SecurityGroup `json:"items"`
}
