// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/runtime"

// ResourcePart declares one AWS resource as a part of the capability, by a resource type of AWS or by a kind of the operator: the
// object {capabilityName}-{environment}-{name}. In the texts of properties and spec, {name} stands for the name of that object, and
// {capability}, {environment}, {account} and {region} for what the capability has; {{name}} is the text {name}, and all other braces stay
// as they are. The provider, the deletion policy and the drift policy are those of the capability.
// +kubebuilder:validation:XValidation:rule="has(self.type) != has(self.kind)",message="set type with properties, or kind with spec"
// +kubebuilder:validation:XValidation:rule="!has(self.properties) || has(self.type)",message="properties belong to type"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || has(self.kind)",message="spec belongs to kind"
// +kubebuilder:validation:XValidation:rule="!has(self.ignore) || has(self.type)",message="ignore belongs to type"
// +kubebuilder:validation:XValidation:rule="has(self.type) == has(oldSelf.type) && (!has(self.type) || self.type == oldSelf.type)",message="type is immutable: declare a resource of another name"
// +kubebuilder:validation:XValidation:rule="has(self.kind) == has(oldSelf.kind) && (!has(self.kind) || self.kind == oldSelf.kind)",message="kind is immutable: declare a resource of another name"
type ResourcePart struct {
	// Name is the purpose of the resource. No other part of the capability has it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Type is a resource type of AWS, such as AWS::S3Vectors::VectorBucket, which becomes an AWSResource. An administrator allows types with
	// --types of the operator, and the provider may allow fewer of them. Immutable.
	// +optional
	// +kubebuilder:validation:Pattern=`^AWS::[A-Za-z0-9]{1,64}::[A-Za-z0-9]{1,64}$`
	// +kubebuilder:validation:MaxLength=140
	Type string `json:"type,omitempty"`
	// Properties of a resource of the type, as in an AWSResource, with $ref and $secret. Absent: none.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Properties *runtime.RawExtension `json:"properties,omitempty"`
	// Ignore lists the properties that are left alone once the resource exists, as in an AWSResource. Absent: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^(/([^/~]|~[01])+)+$`
	Ignore []string `json:"ignore,omitempty"`
	// Kind is a kind of the operator for which the capability has no field, such as RDSInstance. Immutable.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`
	// Spec of an object of the kind, without providerRef, deletionPolicy, driftPolicy, adoptionPolicy, managementPolicy and importID, which
	// the capability decides. Absent: empty.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec *runtime.RawExtension `json:"spec,omitempty"`
	// RecreateOnLoss creates a resource of a type that holds data again, empty, when it was deleted outside the operator; default false.
	// Of a kind, its spec says it.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
	// Access allows the workloads to use the resource. Absent: they may not.
	// +optional
	Access *PartAccess `json:"access,omitempty"`
	// Exports give values of the resource to the workloads, by the names of environment variables: in the ConfigMap and as SSM parameters
	// resources/{variable}. A value is arn, id, properties.X for the text X of the properties of a type, or status.x for the text x in the
	// status of an object of a kind. Secret values cannot be exported. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 64 && k.matches('^[A-Z][A-Z0-9_]*$') && !k.startsWith('NEXUS_') && !k.startsWith('AWS_'))",message="the name of an exported variable has upper case letters, digits and underscores, and begins with neither NEXUS_ nor AWS_"
	Exports map[string]ExportedValue `json:"exports,omitempty"`
	// Uses are the names of other parts that are created before this one and deleted after it: resources, tables, buckets, queues, topics
	// and secrets of this capability. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	Uses []PartName `json:"uses,omitempty"`
}

// PartAccess lists what the workloads may do with a resource.
type PartAccess struct {
	// Actions are actions of IAM, such as s3vectors:QueryVectors, that AWS can limit to the resource and to what lies below it. They are
	// of the service of the resource, have no wildcards, and neither change tags nor give rights.
	// https://docs.aws.amazon.com/service-authorization/latest/reference/reference.html
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Actions []PartAction `json:"actions"`
}

// PartAction is an action of IAM without wildcards.
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:Pattern=`^[a-z0-9-]+:[A-Za-z0-9]+$`
type PartAction string

// ExportedValue names a value of a resource: arn, id, properties.X or status.x.
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^(arn|id|(properties|status)([.][A-Za-z][A-Za-z0-9]*)+)$`
type ExportedValue string

// PartName is the name of a part of the capability.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=40
// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
type PartName string
