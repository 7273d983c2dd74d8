// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SecurityGroupID is the identifier of a security group.
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^sg-[0-9a-f]{8,17}$`
type SecurityGroupID string

// RDSInstanceSpec declares a DB instance.
// +kubebuilder:validation:XValidation:rule="!has(self.masterUserPassword)",message="masterUserPassword is refused because objects are no place for passwords: remove it, and use masterUserPasswordSecretRef or manageMasterUserPassword: true"
// +kubebuilder:validation:XValidation:rule="!has(self.masterUserPasswordSecretRef) || !has(self.manageMasterUserPassword) || !self.manageMasterUserPassword",message="masterUserPasswordSecretRef and manageMasterUserPassword: true exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyID) || !has(self.kmsKeyRef)",message="kmsKeyID and kmsKeyRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyID) && !has(self.kmsKeyRef) || has(self.storageEncrypted) && self.storageEncrypted",message="kmsKeyID and kmsKeyRef need storageEncrypted: true"
// +kubebuilder:validation:XValidation:rule="!has(self.dbSubnetGroupName) || !has(self.dbSubnetGroupRef)",message="dbSubnetGroupName and dbSubnetGroupRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.maxAllocatedStorage) || self.maxAllocatedStorage > self.allocatedStorage",message="maxAllocatedStorage must be greater than allocatedStorage"
// +kubebuilder:validation:XValidation:rule="!has(self.storageType) || !(self.storageType in ['io1', 'io2']) || has(self.iops)",message="storageType io1 and io2 need iops"
// +kubebuilder:validation:XValidation:rule="!has(self.iops) || has(self.storageType) && self.storageType in ['io1', 'io2', 'gp3']",message="iops needs storageType io1, io2 or gp3"
// +kubebuilder:validation:XValidation:rule="!has(self.skipFinalSnapshot) || !self.skipFinalSnapshot || !has(self.finalSnapshotIdentifier)",message="skipFinalSnapshot: true and finalSnapshotIdentifier exclude each other"
// +kubebuilder:validation:XValidation:rule="has(self.dbName) == has(oldSelf.dbName) && (!has(self.dbName) || self.dbName == oldSelf.dbName)",message="dbName is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.storageEncrypted) == has(oldSelf.storageEncrypted) && (!has(self.storageEncrypted) || self.storageEncrypted == oldSelf.storageEncrypted)",message="storageEncrypted is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.kmsKeyID) == has(oldSelf.kmsKeyID) && (!has(self.kmsKeyID) || self.kmsKeyID == oldSelf.kmsKeyID)",message="kmsKeyID is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.kmsKeyRef) == has(oldSelf.kmsKeyRef) && (!has(self.kmsKeyRef) || self.kmsKeyRef.name == oldSelf.kmsKeyRef.name)",message="kmsKeyRef is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.dbSubnetGroupName) == has(oldSelf.dbSubnetGroupName) && (!has(self.dbSubnetGroupName) || self.dbSubnetGroupName == oldSelf.dbSubnetGroupName)",message="dbSubnetGroupName is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.dbSubnetGroupRef) == has(oldSelf.dbSubnetGroupRef) && (!has(self.dbSubnetGroupRef) || self.dbSubnetGroupRef.name == oldSelf.dbSubnetGroupRef.name)",message="dbSubnetGroupRef is immutable"
type RDSInstanceSpec struct {
	CommonSpec `json:",inline"`

	// DBInstanceIdentifier is unique in account and region: 1 to 63 letters, digits and single hyphens, beginning with a
	// letter. RDS stores it in lower case. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z](-?[A-Za-z0-9])*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dbInstanceIdentifier is immutable"
	DBInstanceIdentifier string `json:"dbInstanceIdentifier"`
	// Engine is the database engine, such as postgres, mysql, mariadb, oracle-se2 or sqlserver-ex. Instances of Aurora
	// clusters are not supported. Immutable.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^(postgres|mysql|mariadb|oracle-[a-z0-9-]+|sqlserver-[a-z]+|db2-[a-z]+)$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="engine is immutable"
	Engine string `json:"engine"`
	// EngineVersion is the version of the engine, such as 16.4, or 16 for any minor version. A later version that runs already
	// is not changed back, because RDS upgrades automatically and never downgrades. Condition VersionAsDeclared is False where
	// that is another major version, such as after the end of support. Absent: not managed; RDS creates instances with its
	// default version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	EngineVersion *string `json:"engineVersion,omitempty"`
	// AllowMajorVersionUpgrade allows a change of engineVersion to a later major version. Default false.
	// +optional
	AllowMajorVersionUpgrade bool `json:"allowMajorVersionUpgrade,omitempty"`
	// DBInstanceClass is compute and memory, such as db.t4g.micro. A change restarts the instance. The operator has RDS make every
	// change of a setting at once, and with it the changes that others left for the maintenance window.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^db[.][a-z0-9-]+([.][a-z0-9-]+)+$`
	DBInstanceClass string `json:"dbInstanceClass"`
	// AllocatedStorage in GiB. RDS cannot reduce it, and raises it by at least 10 percent, except for SQL Server. Storage that
	// storage autoscaling has added is not drift. RDS accepts a change of storage about six hours after the one before.
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=65536
	AllocatedStorage int32 `json:"allocatedStorage"`
	// MaxAllocatedStorage limits the storage to which storage autoscaling may grow, in GiB. Absent: not managed; RDS creates
	// instances without storage autoscaling.
	// +optional
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=65536
	MaxAllocatedStorage *int32 `json:"maxAllocatedStorage,omitempty"`
	// StorageType is gp2, gp3, io1, io2 or standard. Absent: not managed; RDS chooses one.
	// +optional
	// +kubebuilder:validation:Enum=gp2;gp3;io1;io2;standard
	StorageType *string `json:"storageType,omitempty"`
	// IOPS are the provisioned I/O operations per second, for storageType io1, io2 and gp3. The ranges depend on the engine and
	// on allocatedStorage; gp3 takes them from 400 GiB on, with Oracle from 200 GiB and with SQL Server always. RDS raises them
	// by at least 10 percent. Absent: not managed.
	// +optional
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=256000
	IOPS *int32 `json:"iops,omitempty"`
	// StorageEncrypted encrypts the storage. Absent: not managed; RDS creates instances with false. Immutable.
	// +optional
	StorageEncrypted *bool `json:"storageEncrypted,omitempty"`
	// KMSKeyID is the ID or the ARN of the KMS key that encrypts the storage, or alias/aws/rds; other aliases are not
	// accepted, because RDS reports only keys. Absent: the key that AWS manages. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^(alias/aws/rds|(arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/)?[A-Za-z0-9-]+)$`
	KMSKeyID string `json:"kmsKeyID,omitempty" names:"kms:key"`
	// KMSKeyRef names a KMSKey of the same namespace instead. Immutable.
	// +optional
	KMSKeyRef *ObjectReference `json:"kmsKeyRef,omitempty"`
	// MasterUsername is the name of the master user, 1 to 63 characters. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_]*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="masterUsername is immutable"
	MasterUsername string `json:"masterUsername"`
	// MasterUserPassword is refused: use masterUserPasswordSecretRef or manageMasterUserPassword: true.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	MasterUserPassword string `json:"masterUserPassword,omitempty"`
	// MasterUserPasswordSecretRef names the key of a Secret that holds the password of the master user. A change of the
	// Secret changes the password. A new instance needs it or manageMasterUserPassword: true.
	// +optional
	MasterUserPasswordSecretRef *SecretKeyReference `json:"masterUserPasswordSecretRef,omitempty"`
	// ManageMasterUserPassword lets RDS generate the password, keep it in Secrets Manager and rotate it; status has the ARN
	// of the secret. To end it, set masterUserPasswordSecretRef. Absent: not managed.
	// +optional
	ManageMasterUserPassword *bool `json:"manageMasterUserPassword,omitempty"`
	// DBName is the name of the database that RDS creates in the instance; that of Oracle is stored in upper case. Absent: as the engine
	// does without. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	DBName string `json:"dbName,omitempty"`
	// Port that the database listens on, 1150 to 65535. A change restarts the instance. Absent: not managed; RDS creates
	// instances with the default port of the engine.
	// +optional
	// +kubebuilder:validation:Minimum=1150
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// VPCSecurityGroupIDs are the identifiers of the security groups of the instance, in any order. Together with
	// vpcSecurityGroupRefs they are all its groups. Absent, without vpcSecurityGroupRefs: not managed; RDS creates
	// instances with the default group of the VPC.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	VPCSecurityGroupIDs []SecurityGroupID `json:"vpcSecurityGroupIDs,omitempty" names:"ec2:security-group"`
	// VPCSecurityGroupRefs name SecurityGroup objects in the same namespace, beside vpcSecurityGroupIDs. Both lists are exact: other groups
	// are removed.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	VPCSecurityGroupRefs []ObjectReference `json:"vpcSecurityGroupRefs,omitempty"`
	// DBSubnetGroupName is the DB subnet group of the instance. Absent, without dbSubnetGroupRef: the default VPC. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9._ -]*$`
	DBSubnetGroupName string `json:"dbSubnetGroupName,omitempty" names:"rds:subgrp"`
	// DBSubnetGroupRef names a DBSubnetGroup object in the same namespace instead. Immutable.
	// +optional
	DBSubnetGroupRef *ObjectReference `json:"dbSubnetGroupRef,omitempty"`
	// ParameterGroup is the name of the DB parameter group of the instance; RDS stores it in lower case. After a change, parameters
	// that RDS calls static take effect when the instance is restarted, which the operator does not do. Absent: not managed; RDS
	// creates instances with the default group of the engine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z](-?[A-Za-z0-9.])*$`
	ParameterGroup *string `json:"parameterGroup,omitempty" names:"rds:pg"`
	// MultiAZ keeps a standby in another Availability Zone, to which RDS fails over. Absent: not managed; RDS creates
	// instances with false.
	// +optional
	MultiAZ *bool `json:"multiAZ,omitempty"`
	// PubliclyAccessible gives the instance a public address. Absent: not managed; RDS decides by the subnets.
	// +optional
	PubliclyAccessible *bool `json:"publiclyAccessible,omitempty"`
	// BackupRetentionPeriod is the time for which RDS keeps automated backups, 0 to 35 days; 0 turns them off. Absent: not managed;
	// RDS creates instances with 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=35
	BackupRetentionPeriod *int32 `json:"backupRetentionPeriod,omitempty"`
	// PreferredBackupWindow is the daily time of automated backups in UTC, such as 03:00-03:30. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxLength=11
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$`
	PreferredBackupWindow *string `json:"preferredBackupWindow,omitempty"`
	// PreferredMaintenanceWindow is the weekly time of maintenance in UTC, such as sun:04:00-sun:04:30. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxLength=19
	// +kubebuilder:validation:Pattern=`^[A-Za-z]{3}:([01][0-9]|2[0-3]):[0-5][0-9]-[A-Za-z]{3}:([01][0-9]|2[0-3]):[0-5][0-9]$`
	PreferredMaintenanceWindow *string `json:"preferredMaintenanceWindow,omitempty"`
	// AutoMinorVersionUpgrade lets RDS upgrade minor versions in the maintenance window. Absent: not managed; RDS creates
	// instances with true.
	// +optional
	AutoMinorVersionUpgrade *bool `json:"autoMinorVersionUpgrade,omitempty"`
	// EngineLifecycleSupport says what RDS does at the end of standard support of a major version of MySQL or PostgreSQL:
	// open-source-rds-extended-support, with which the version stays at a higher price, or
	// open-source-rds-extended-support-disabled, with which RDS upgrades it. Absent: not managed; RDS creates instances with extended
	// support.
	// +optional
	// +kubebuilder:validation:Enum=open-source-rds-extended-support;open-source-rds-extended-support-disabled
	EngineLifecycleSupport *string `json:"engineLifecycleSupport,omitempty"`
	// DeletionProtection makes RDS refuse to delete the instance. With deletionPolicy Delete, false lifts it for a deletion.
	// Absent: not managed; RDS creates instances with false.
	// +optional
	DeletionProtection *bool `json:"deletionProtection,omitempty"`
	// SkipFinalSnapshot deletes the instance without a final snapshot: its data is lost. Default false.
	// +optional
	SkipFinalSnapshot bool `json:"skipFinalSnapshot,omitempty"`
	// FinalSnapshotIdentifier names the snapshot that RDS makes when the instance is deleted. Absent: the identifier of the
	// instance, -final- and eight characters that are those of this object alone. Where a snapshot of the declared
	// name exists, the new one has the name with these characters at its end.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z](-?[A-Za-z0-9])*$`
	FinalSnapshotIdentifier string `json:"finalSnapshotIdentifier,omitempty"`
	// RecreateOnLoss creates the instance again, empty, when it was deleted outside the operator; the default is to
	// report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// RDSInstanceStatus reports the DB instance.
type RDSInstanceStatus struct {
	CommonStatus `json:",inline"`
	// DBInstanceARN repeats arn.
	// +optional
	DBInstanceARN string `json:"dbInstanceArn,omitempty"`
	// DBInstanceStatus is the state that RDS reports: creating, available, modifying, backing-up and others.
	// +optional
	DBInstanceStatus string `json:"dbInstanceStatus,omitempty"`
	// Endpoint is the endpoint to which clients connect.
	// +optional
	Endpoint *RDSEndpoint `json:"endpoint,omitempty"`
	// EngineVersion is the version that runs.
	// +optional
	EngineVersion string `json:"engineVersion,omitempty"`
	// AllocatedStorage is the storage that the instance has, in GiB.
	// +optional
	AllocatedStorage int32 `json:"allocatedStorage,omitempty"`
	// AvailabilityZone is the zone of the instance; RDS changes it when it fails over.
	// +optional
	AvailabilityZone string `json:"availabilityZone,omitempty"`
	// MasterUserSecretARN is the ARN of the secret in Secrets Manager with the password that RDS manages.
	// +optional
	MasterUserSecretARN string `json:"masterUserSecretARN,omitempty"`
	// ReadReplicaSource is the instance that this one is a read replica of; absent for other instances. RDS makes no final
	// snapshot of a replica.
	// +optional
	ReadReplicaSource string `json:"readReplicaSource,omitempty"`
	// FinalSnapshotIdentifier is the name of the final snapshot of a deletion, where spec.finalSnapshotIdentifier declares one: that
	// name, or a longer one where a snapshot has it already.
	// +optional
	FinalSnapshotIdentifier string `json:"finalSnapshotIdentifier,omitempty"`
}

// RDSEndpoint is an endpoint to which clients connect.
type RDSEndpoint struct {
	// Address is the DNS name.
	// +optional
	Address string `json:"address,omitempty"`
	// Port is the port.
	// +optional
	Port int32 `json:"port,omitempty"`
}

// RDSInstance is a DB instance.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=rds,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Instance",type=string,JSONPath=`.spec.dbInstanceIdentifier`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.dbInstanceStatus`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.status.endpoint.address`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type RDSInstance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RDSInstanceSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status RDSInstanceStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *RDSInstance) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *RDSInstance) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether an instance that no longer exists is created again, empty.
func (o *RDSInstance) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// FinalSnapshot returns the name of the final snapshot that the last look at RDS chose, or "" for the declared one, and whether RDS
// makes any.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBInstance.html
func (o *RDSInstance) FinalSnapshot() (name string, made bool) {
	return o.Status.FinalSnapshotIdentifier, o.Status.ReadReplicaSource == ""
}

// ReferableAttributes returns what objects that refer to the instance can use beside its ID and ARN.
func (o *RDSInstance) ReferableAttributes() map[string]string {
	out := map[string]string{"masterUserSecretARN": o.Status.MasterUserSecretARN}
	if e := o.Status.Endpoint; e != nil {
		out["address"] = e.Address
	}
	return out
}

// RDSInstanceList is a list of RDSInstance.
// +kubebuilder:object:root=true
type RDSInstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RDSInstance `json:"items"`
}

// ConditionParametersInUse is False while changed parameters of the instance's parameter group wait for a reboot.
const ConditionParametersInUse = "ParametersInUse"
