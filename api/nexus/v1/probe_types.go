// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ProbesSpec replaces the default probes of a component's container. A probe that is absent stays as the operator sets it.
type ProbesSpec struct {
	// Startup holds back the other probes until it succeeds; default TCP on the port, every 5 seconds, 60 times.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.successThreshold) || self.successThreshold == 1",message="must be 1 for this probe",fieldPath=".successThreshold"
	Startup *Probe `json:"startup,omitempty"`
	// Liveness restarts the container when it fails; default TCP on the port, every 20 seconds.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.successThreshold) || self.successThreshold == 1",message="must be 1 for this probe",fieldPath=".successThreshold"
	Liveness *Probe `json:"liveness,omitempty"`
	// Readiness takes the pod out of the Services while it fails; default HTTP on ingress.healthCheckPath, every 10 seconds.
	// +optional
	Readiness *Probe `json:"readiness,omitempty"`
}

// Probe asks a container whether it works.
// https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
// +kubebuilder:validation:XValidation:rule="[has(self.httpGet), has(self.tcpSocket), has(self.grpc), has(self.exec)].filter(x, x).size() == 1",message="set exactly one of httpGet, tcpSocket, grpc and exec"
type Probe struct {
	// HTTPGet succeeds when the answer has a status of 200 to 399.
	// +optional
	HTTPGet *HTTPProbe `json:"httpGet,omitempty"`
	// TCPSocket succeeds when the port accepts a connection.
	// +optional
	TCPSocket *TCPProbe `json:"tcpSocket,omitempty"`
	// GRPC succeeds when the gRPC health service answers SERVING.
	// +optional
	GRPC *GRPCProbe `json:"grpc,omitempty"`
	// Exec succeeds when a command in the container exits with 0.
	// +optional
	Exec *ExecProbe `json:"exec,omitempty"`
	// InitialDelaySeconds before the first probe; default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	InitialDelaySeconds int32 `json:"initialDelaySeconds,omitempty"`
	// TimeoutSeconds of one probe; default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
	// PeriodSeconds between two probes; default 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	PeriodSeconds int32 `json:"periodSeconds,omitempty"`
	// SuccessThreshold is the number of successes in a row that end a failure; default 1, the only value for startup and liveness.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	SuccessThreshold int32 `json:"successThreshold,omitempty"`
	// FailureThreshold is the number of failures in a row that count as one; default 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}

// HTTPProbe is a GET request to the pod. The host is always that of the pod.
type HTTPProbe struct {
	// Path of the request; default /.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[!-~]*$`
	Path string `json:"path,omitempty"`
	// Port number, or http for the container's port; default http.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : self == 'http'",message="1 to 65535, or http"
	Port *intstr.IntOrString `json:"port,omitempty"`
	// Scheme of the request; default HTTP.
	// +optional
	// +kubebuilder:validation:Enum=HTTP;HTTPS
	Scheme corev1.URIScheme `json:"scheme,omitempty"`
	// HTTPHeaders of the request.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	HTTPHeaders []HTTPHeader `json:"httpHeaders,omitempty"`
}

// HTTPHeader is a header of a request.
type HTTPHeader struct {
	// Name of the header.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9]+$`
	Name string `json:"name"`
	// Value of the header.
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value"`
}

// TCPProbe opens a connection to the pod.
type TCPProbe struct {
	// Port number, or http for the container's port; default http.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : self == 'http'",message="1 to 65535, or http"
	Port *intstr.IntOrString `json:"port,omitempty"`
}

// GRPCProbe asks the gRPC health service of the pod.
type GRPCProbe struct {
	// Port number; default the container's port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Service whose health is asked; default the server's.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Service string `json:"service,omitempty"`
}

// ExecProbe runs a command in the container.
type ExecProbe struct {
	// Command and its arguments, without a shell.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Command []CommandArgument `json:"command"`
}

// CommandArgument is one word of a command.
// +kubebuilder:validation:MaxLength=4096
type CommandArgument string
