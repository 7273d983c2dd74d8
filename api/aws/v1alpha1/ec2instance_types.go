// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EC2MetadataOptions configure the instance metadata service (IMDS).
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html
type EC2MetadataOptions struct {
	// HTTPTokens is required, which allows only IMDSv2, or optional, which allows IMDSv1 too. Absent: required.
	// +optional
	// +kubebuilder:validation:Enum=required;optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
	// HTTPEndpoint is enabled or disabled, which turns the service off; the other options are not managed then. Absent: not
	// managed; EC2 creates instances with enabled.
	// +optional
	// +kubebuilder:validation:Enum=enabled;disabled
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`
	// HTTPPutResponseHopLimit limits the network hops that an answer may travel, 1 to 64; containers need 2. Absent: not managed;
	// EC2 creates instances with the value of the AMI or of the account, or 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	HTTPPutResponseHopLimit *int32 `json:"httpPutResponseHopLimit,omitempty"`
	// InstanceMetadataTags is enabled, which shows the tags of the instance in its metadata, or disabled. Absent: not
	// managed; EC2 creates instances with disabled.
	// +optional
	// +kubebuilder:validation:Enum=enabled;disabled
	InstanceMetadataTags *string `json:"instanceMetadataTags,omitempty"`
}

// EC2EBSBlockDevice is the volume of a device.
// +kubebuilder:validation:XValidation:rule="!(has(self.kmsKeyID) || has(self.kmsKeyRef)) || has(self.encrypted) && self.encrypted",message="kmsKeyID and kmsKeyRef need encrypted: true"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyID) || !has(self.kmsKeyRef)",message="kmsKeyID and kmsKeyRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.iops) || has(self.volumeType) && self.volumeType in ['gp3', 'io1', 'io2']",message="iops needs volumeType gp3, io1 or io2"
// +kubebuilder:validation:XValidation:rule="!has(self.throughput) || has(self.volumeType) && self.volumeType == 'gp3'",message="throughput needs volumeType gp3"
type EC2EBSBlockDevice struct {
	// VolumeSize is the size in GiB.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	VolumeSize int32 `json:"volumeSize"`
	// VolumeType is the type of the volume. Absent: that of the AMI, and gp2 for a device that the AMI does not have.
	// +optional
	// +kubebuilder:validation:Enum=gp2;gp3;io1;io2;st1;sc1;standard
	VolumeType string `json:"volumeType,omitempty"`
	// IOPS of a volume of type gp3, io1 or io2. Absent: the default of the type.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=256000
	IOPS *int32 `json:"iops,omitempty"`
	// Throughput of a volume of type gp3 in MiB/s. Absent: 125.
	// +optional
	// +kubebuilder:validation:Minimum=125
	// +kubebuilder:validation:Maximum=2000
	Throughput *int32 `json:"throughput,omitempty"`
	// DeleteOnTermination deletes the volume, and its data, with the instance. Absent: true for the root device and false
	// for others.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// Encrypted encrypts the volume. Absent: as the AMI and the account say.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// KMSKeyID is the ID, the ARN or the alias of the KMS key of an encrypted volume. Absent, without kmsKeyRef: the default
	// key of the account for EBS.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	KMSKeyID string `json:"kmsKeyID,omitempty" names:"kms:key"`
	// KMSKeyRef names a KMSKey object in the same namespace instead.
	// +optional
	KMSKeyRef *ObjectReference `json:"kmsKeyRef,omitempty"`
}

// EC2BlockDeviceMapping is a device of the instance and its volume.
type EC2BlockDeviceMapping struct {
	// DeviceName is the name of the device, such as /dev/sdf, or that of the root device of the AMI, such as /dev/xvda.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^(/dev/)?[a-z0-9]+$`
	DeviceName string `json:"deviceName"`
	// EBS is the volume.
	EBS EC2EBSBlockDevice `json:"ebs"`
}

// EC2InstanceSpec declares an EC2 instance.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^i-[0-9a-f]{8,17}$')",message="importID is i- and 8 to 17 hexadecimal digits"
// +kubebuilder:validation:XValidation:rule="!has(self.enableConsoleOutput) || !self.enableConsoleOutput",message="enableConsoleOutput is not supported, because consoles show secrets: remove it, and read the console with aws ec2 get-console-output"
// +kubebuilder:validation:XValidation:rule="!has(self.subnetID) || !has(self.subnetRef)",message="subnetID and subnetRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.keyName) || !has(self.keyPairRef)",message="keyName and keyPairRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.userData) || !has(self.userDataSecretRef)",message="userData and userDataSecretRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.instanceName) || !has(self.tags) || !('Name' in self.tags)",message="instanceName and the tag Name exclude each other"
// +kubebuilder:validation:XValidation:rule="self.imageID == oldSelf.imageID",message="imageID is immutable: create another EC2Instance"
// +kubebuilder:validation:XValidation:rule="has(self.availabilityZone) == has(oldSelf.availabilityZone) && (!has(self.availabilityZone) || self.availabilityZone == oldSelf.availabilityZone)",message="availabilityZone is immutable: create another EC2Instance"
// +kubebuilder:validation:XValidation:rule="has(self.subnetID) == has(oldSelf.subnetID) && (!has(self.subnetID) || self.subnetID == oldSelf.subnetID)",message="subnetID is immutable: create another EC2Instance"
// +kubebuilder:validation:XValidation:rule="has(self.subnetRef) == has(oldSelf.subnetRef) && (!has(self.subnetRef) || self.subnetRef.name == oldSelf.subnetRef.name)",message="subnetRef is immutable: create another EC2Instance"
// +kubebuilder:validation:XValidation:rule="has(self.keyName) == has(oldSelf.keyName) && (!has(self.keyName) || self.keyName == oldSelf.keyName)",message="keyName is immutable: create another EC2Instance"
// +kubebuilder:validation:XValidation:rule="has(self.keyPairRef) == has(oldSelf.keyPairRef) && (!has(self.keyPairRef) || self.keyPairRef.name == oldSelf.keyPairRef.name)",message="keyPairRef is immutable: create another EC2Instance"
// +kubebuilder:validation:XValidation:rule="has(self.blockDeviceMappings) == has(oldSelf.blockDeviceMappings) && (!has(self.blockDeviceMappings) || self.blockDeviceMappings == oldSelf.blockDeviceMappings)",message="blockDeviceMappings is immutable: create another EC2Instance"
type EC2InstanceSpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// InstanceName is the value of the tag Name, which the EC2 console shows. Absent: the tag is as in tags.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	InstanceName string `json:"instanceName,omitempty"`
	// InstanceType is the type, such as t3.micro. EC2 changes it only on a stopped instance: declare state: Stopped with it,
	// or before it. The operator does not stop an instance for that.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+\.[a-z0-9-]+$`
	InstanceType string `json:"instanceType"`
	// ImageID is the identifier of the AMI, such as ami-0123456789abcdef0. Immutable.
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:Pattern=`^ami-[0-9a-f]{8,17}$`
	ImageID string `json:"imageID"`
	// State is Running or Stopped. The operator starts and stops the instance accordingly. A stopped instance loses the data
	// of its instance store volumes and its public address. Absent: not managed; EC2 starts new instances.
	// +optional
	// +kubebuilder:validation:Enum=Running;Stopped
	State *string `json:"state,omitempty"`
	// KeyName is the name of the key pair whose public key EC2 installs. Absent, without keyPairRef: none. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[!-~]([ -~]*[!-~])?$`
	KeyName string `json:"keyName,omitempty"`
	// KeyPairRef names an EC2KeyPair object in the same namespace instead. Immutable.
	// +optional
	KeyPairRef *ObjectReference `json:"keyPairRef,omitempty"`
	// SubnetID is the identifier of the subnet, such as subnet-0123456789abcdef0. Absent, without subnetRef: a default subnet
	// of the default VPC. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^subnet-[0-9a-f]{8,17}$`
	SubnetID string `json:"subnetID,omitempty" names:"ec2:subnet"`
	// SubnetRef names a Subnet object in the same namespace instead. Immutable.
	// +optional
	SubnetRef *ObjectReference `json:"subnetRef,omitempty"`
	// AvailabilityZone is the zone, such as eu-west-1a. Absent: that of the subnet, or one that EC2 chooses. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+$`
	AvailabilityZone string `json:"availabilityZone,omitempty"`
	// SecurityGroupIDs are the identifiers of the security groups of the instance, in any order. Together with
	// securityGroupRefs they are all its groups: those that others add are removed. Absent, without securityGroupRefs: not
	// managed; EC2 creates instances with the default group of the VPC.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	SecurityGroupIDs []SecurityGroupID `json:"securityGroupIDs,omitempty" names:"ec2:security-group"`
	// SecurityGroupRefs name SecurityGroup objects in the same namespace, beside securityGroupIDs.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	SecurityGroupRefs []ObjectReference `json:"securityGroupRefs,omitempty"`
	// IAMInstanceProfile is the name of the instance profile, whose role the software on the instance acts as. The operator
	// gives an instance only roles under rolePathPrefix of its AWSProvider, and none where the provider bounds every role by
	// permissionsBoundaryARN. Empty: no profile. Absent: not managed; EC2 creates instances without one.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+=,.@_-]*$`
	IAMInstanceProfile *string `json:"iamInstanceProfile,omitempty"`
	// UserData is passed by EC2 to a new instance, such as a script for cloud-init: up to 16,384 bytes, not encoded. It is no
	// place for secrets: who may look at the object reads it. EC2 changes it only on a stopped instance: declare state:
	// Stopped with it, or before it. The operator does not read it back from AWS. Absent, without userDataSecretRef: not
	// managed; EC2 creates instances without user data.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	UserData string `json:"userData,omitempty"`
	// UserDataSecretRef names the key of a Secret that holds the user data instead. A change of the Secret changes the user
	// data, as soon as the instance is stopped.
	// +optional
	UserDataSecretRef *SecretKeyReference `json:"userDataSecretRef,omitempty"`
	// BlockDeviceMappings are the volumes that EC2 creates with the instance, and settings of the volumes of the AMI. Absent:
	// the volumes of the AMI. Immutable.
	// +optional
	// +listType=map
	// +listMapKey=deviceName
	// +kubebuilder:validation:MaxItems=26
	BlockDeviceMappings []EC2BlockDeviceMapping `json:"blockDeviceMappings,omitempty"`
	// MetadataOptions configure the instance metadata service. Absent: IMDSv2 is required.
	// +optional
	MetadataOptions *EC2MetadataOptions `json:"metadataOptions,omitempty"`
	// Monitoring turns detailed monitoring, with metrics of every minute, on or off. Absent: not managed; EC2 creates
	// instances without.
	// +optional
	Monitoring *bool `json:"monitoring,omitempty"`
	// DisableAPITermination makes EC2 refuse to terminate the instance. With deletionPolicy Delete, false lifts it for a
	// deletion. Absent: not managed; EC2 creates instances with false.
	// +optional
	DisableAPITermination *bool `json:"disableApiTermination,omitempty"`
	// EBSOptimized gives the instance dedicated throughput for its volumes; most types always have it. EC2 changes it only on
	// a stopped instance: declare state: Stopped with it, or before it. Absent: not managed.
	// +optional
	EBSOptimized *bool `json:"ebsOptimized,omitempty"`
	// EnableConsoleOutput is not supported, and true is refused: consoles show secrets. Read the console with aws ec2
	// get-console-output.
	// +optional
	EnableConsoleOutput bool `json:"enableConsoleOutput,omitempty"`
	// RecreateOnLoss launches another instance, with empty volumes, when the instance was terminated outside the operator;
	// the default is to report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// EC2InstanceStatus reports the instance.
type EC2InstanceStatus struct {
	CommonStatus `json:",inline"`
	// InstanceID repeats id.
	// +optional
	InstanceID string `json:"instanceID,omitempty"`
	// InstanceState is the state that EC2 reports: pending, running, stopping, stopped or shutting-down.
	// +optional
	InstanceState string `json:"instanceState,omitempty"`
	// PrivateIP is the address in the subnet.
	// +optional
	PrivateIP string `json:"privateIP,omitempty"`
	// PublicIP is the public address; empty without one.
	// +optional
	PublicIP string `json:"publicIP,omitempty"`
	// PrivateDNS is the name of the instance in the VPC.
	// +optional
	PrivateDNS string `json:"privateDNS,omitempty"`
	// PublicDNS is the public name; empty without one.
	// +optional
	PublicDNS string `json:"publicDNS,omitempty"`
	// VPCID is the identifier of the VPC.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
	// SubnetID is the identifier of the subnet.
	// +optional
	SubnetID string `json:"subnetID,omitempty"`
	// AvailabilityZone is the zone of the instance.
	// +optional
	AvailabilityZone string `json:"availabilityZone,omitempty"`
	// LaunchTime is the time of the last start of the instance.
	// +optional
	LaunchTime *metav1.Time `json:"launchTime,omitempty"`
}

// EC2Instance is a virtual server. Its volumes get the tags that the object has when the instance is created.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=ec2,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Instance",type=string,JSONPath=`.status.instanceID`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.instanceState`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Type",type=string,priority=1,JSONPath=`.spec.instanceType`
// +kubebuilder:printcolumn:name="Address",type=string,priority=1,JSONPath=`.status.privateIP`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type EC2Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EC2InstanceSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status EC2InstanceStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *EC2Instance) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *EC2Instance) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the instance to adopt.
func (o *EC2Instance) ImportID() string { return o.Spec.ImportID }

// RecreatesOnLoss reports whether an instance that no longer exists is created again, with empty volumes.
func (o *EC2Instance) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ReferableAttributes returns what objects that refer to the instance can use beside its ID and ARN.
func (o *EC2Instance) ReferableAttributes() map[string]string {
	st := o.Status
	return map[string]string{"instanceID": st.InstanceID, "privateIP": st.PrivateIP, "publicIP": st.PublicIP, "privateDNS": st.PrivateDNS,
		"publicDNS": st.PublicDNS}
}

// EC2InstanceList is a list of EC2Instance.
// +kubebuilder:object:root=true
type EC2InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EC2Instance `json:"items"`
}
