// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SecurityContextSpec changes the security settings of a component's pods within the Pod Security standard "restricted".
// The operator sets the rest: no root, no privilege escalation, no Linux capabilities, seccomp profile RuntimeDefault.
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
type SecurityContextSpec struct {
	// RunAsUser is the user ID of the container's process; default that of the image, which must not be 0.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`
	// RunAsGroup is the group ID of the container's process; default that of the image.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsGroup *int64 `json:"runAsGroup,omitempty"`
	// FSGroup is the group that owns the scratch volumes; default none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	FSGroup *int64 `json:"fsGroup,omitempty"`
	// ReadOnlyRootFilesystem keeps the container from writing outside of scratchVolumes; default false, because most images
	// write to their root file system.
	// +optional
	ReadOnlyRootFilesystem *bool `json:"readOnlyRootFilesystem,omitempty"`
	// Capabilities of Linux that the container keeps; default none.
	// +optional
	Capabilities *CapabilitiesSpec `json:"capabilities,omitempty"`
	// SeccompProfile limits the system calls of the container; default RuntimeDefault.
	// +optional
	SeccompProfile *SeccompProfileSpec `json:"seccompProfile,omitempty"`
	// RunAsNonRoot is always true; false is refused.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self",message="must not be false: pods meet Pod Security restricted"
	RunAsNonRoot *bool `json:"runAsNonRoot,omitempty"`
	// AllowPrivilegeEscalation is always false; true is refused.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self",message="must not be true: pods meet Pod Security restricted"
	AllowPrivilegeEscalation *bool `json:"allowPrivilegeEscalation,omitempty"`
	// Privileged is always false; true is refused.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self",message="must not be true: pods meet Pod Security restricted"
	Privileged *bool `json:"privileged,omitempty"`
}

// CapabilitiesSpec are the Linux capabilities of a container. All others are dropped.
type CapabilitiesSpec struct {
	// Add may hold NET_BIND_SERVICE, which lets a process listen on ports below 1024.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=set
	// +kubebuilder:validation:XValidation:rule="self.all(c, c == 'NET_BIND_SERVICE')",message="only NET_BIND_SERVICE may be added: pods meet Pod Security restricted"
	Add []LinuxCapability `json:"add,omitempty"`
}

// LinuxCapability is the name of a Linux capability without CAP_.
// +kubebuilder:validation:MaxLength=64
type LinuxCapability string

// SeccompProfileSpec names a seccomp profile.
// +kubebuilder:validation:XValidation:rule="has(self.localhostProfile) == (self.type == 'Localhost')",message="Localhost needs it, and RuntimeDefault takes none",fieldPath=".localhostProfile"
type SeccompProfileSpec struct {
	// Type RuntimeDefault is the profile of the container runtime, Localhost a file of the nodes.
	// +kubebuilder:validation:Enum=RuntimeDefault;Localhost
	Type corev1.SeccompProfileType `json:"type"`
	// LocalhostProfile is the path of the file below the kubelet's seccomp folder.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)*$`
	LocalhostProfile string `json:"localhostProfile,omitempty"`
}

// ScratchVolume is an empty directory that lives as long as the pod.
type ScratchVolume struct {
	// Name of the volume.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// MountPath in the container, such as /tmp.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/var/run/secrets') && !self.startsWith('/run/secrets')",message="the credentials of the pod are there: choose another path"
	MountPath string `json:"mountPath"`
	// SizeLimit after which the pod is evicted; default 1Gi.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
	// Medium Memory keeps the files in memory, which counts against the container's limit; default the disk of the node.
	// +optional
	// +kubebuilder:validation:Enum="";Memory
	Medium corev1.StorageMedium `json:"medium,omitempty"`
}
