// SPDX-License-Identifier: Apache-2.0

package v1

// EnvVar is an environment variable of a component's container.
// +kubebuilder:validation:XValidation:rule="!has(self.value) || !has(self.valueFrom)",message="value and valueFrom exclude each other: set one of them"
// +kubebuilder:validation:XValidation:rule="!self.name.startsWith('NEXUS_') && !(self.name in ['AWS_REGION', 'AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE'])",message="NEXUS_*, AWS_REGION, AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE are set by the operator and by EKS: choose another name",fieldPath=".name"
type EnvVar struct {
	// Name of the variable. NEXUS_*, AWS_REGION, AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE are refused: the operator and EKS
	// set them.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z][-._a-zA-Z0-9]*$`
	Name string `json:"name"`
	// Value of the variable; default empty. $(NAME) is replaced by the value of an earlier variable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
	// ValueFrom reads the value from a ConfigMap, a Secret or the pod.
	// +optional
	ValueFrom *EnvVarSource `json:"valueFrom,omitempty"`
}

// EnvVarSource names the source of the value of an environment variable.
// +kubebuilder:validation:XValidation:rule="[has(self.configMapKeyRef), has(self.secretKeyRef), has(self.fieldRef)].filter(x, x).size() == 1",message="set exactly one of configMapKeyRef, secretKeyRef and fieldRef"
type EnvVarSource struct {
	// ConfigMapKeyRef is a key of a ConfigMap in the namespace of the workloads.
	// +optional
	ConfigMapKeyRef *EnvKeySelector `json:"configMapKeyRef,omitempty"`
	// SecretKeyRef is a key of a Secret in the namespace of the workloads.
	// +optional
	SecretKeyRef *EnvKeySelector `json:"secretKeyRef,omitempty"`
	// FieldRef is a field of the pod.
	// +optional
	FieldRef *PodFieldSelector `json:"fieldRef,omitempty"`
}

// EnvKeySelector names a key of a ConfigMap or of a Secret in the namespace of the workloads. The operator neither reads nor
// watches the object: a pod reads it when it starts.
type EnvKeySelector struct {
	// Name of the ConfigMap or Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Key of the value.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key"`
	// Optional lets pods start while the object or the key does not exist; default false.
	// +optional
	Optional *bool `json:"optional,omitempty"`
}

// PodFieldSelector names a field of the pod.
type PodFieldSelector struct {
	// FieldPath such as metadata.name or status.podIP.
	// +kubebuilder:validation:MaxLength=400
	// +kubebuilder:validation:Pattern=`^(metadata[.](name|namespace|uid)|metadata[.](labels|annotations)\['[-A-Za-z0-9_./]+'\]|spec[.](nodeName|serviceAccountName)|status[.](hostIPs?|podIPs?))$`
	FieldPath string `json:"fieldPath"`
}

// EnvFromSource makes each key of a ConfigMap or of a Secret an environment variable.
// +kubebuilder:validation:XValidation:rule="has(self.configMapRef) != has(self.secretRef)",message="set exactly one of configMapRef and secretRef"
type EnvFromSource struct {
	// Prefix of the names of the variables; default none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z][-._a-zA-Z0-9]*$`
	Prefix string `json:"prefix,omitempty"`
	// ConfigMapRef names a ConfigMap in the namespace of the workloads.
	// +optional
	ConfigMapRef *EnvSourceReference `json:"configMapRef,omitempty"`
	// SecretRef names a Secret in the namespace of the workloads.
	// +optional
	SecretRef *EnvSourceReference `json:"secretRef,omitempty"`
}

// EnvSourceReference names a ConfigMap or a Secret in the namespace of the workloads. The operator neither reads nor watches
// the object: a pod reads it when it starts.
type EnvSourceReference struct {
	// Name of the ConfigMap or Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Optional lets pods start while the object does not exist; default false.
	// +optional
	Optional *bool `json:"optional,omitempty"`
}

// ImagePullSecret names a Secret in the namespace of the workloads with the credentials of an image registry.
type ImagePullSecret struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}
