// SPDX-License-Identifier: Apache-2.0

package v1

import corev1 "k8s.io/api/core/v1"

// FrontendSpec declares the frontend.
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.requests) || ['cpu', 'memory'].all(k, !(k in self.resources.requests) || !isQuantity(string(self.resources.requests[k])) || !quantity(string(self.resources.requests[k])).isLessThan(quantity('0')))",message="cpu and memory must not be negative",fieldPath=".resources.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.limits) || ['cpu', 'memory'].all(k, !(k in self.resources.limits) || !isQuantity(string(self.resources.limits[k])) || !quantity(string(self.resources.limits[k])).isLessThan(quantity('0')))",message="cpu and memory must not be negative",fieldPath=".resources.limits"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.requests) || !has(self.resources.limits) || ['cpu', 'memory'].all(k, !(k in self.resources.requests) || !(k in self.resources.limits) || !isQuantity(string(self.resources.requests[k])) || !isQuantity(string(self.resources.limits[k])) || !quantity(string(self.resources.requests[k])).isGreaterThan(quantity(string(self.resources.limits[k]))))",message="a request is greater than its limit: lower requests, or raise limits",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="!has(self.pdb) || !has(self.pdb.minAvailable) || type(self.pdb.minAvailable) == int || size(self.pdb.minAvailable) <= 4 && self.pdb.minAvailable.matches('^(100|[1-9]?[0-9])%$')",message="0 to 1000, or 0% to 100%",fieldPath=".pdb.minAvailable"
// +kubebuilder:validation:XValidation:rule="!has(self.pdb) || !has(self.pdb.maxUnavailable) || type(self.pdb.maxUnavailable) == int || size(self.pdb.maxUnavailable) <= 4 && self.pdb.maxUnavailable.matches('^(100|[1-9]?[0-9])%$')",message="0 to 1000, or 0% to 100%",fieldPath=".pdb.maxUnavailable"
type FrontendSpec struct {
	ComponentSpec `json:",inline"`
}

// BackendSpec declares the backend.
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.requests) || ['cpu', 'memory'].all(k, !(k in self.resources.requests) || !isQuantity(string(self.resources.requests[k])) || !quantity(string(self.resources.requests[k])).isLessThan(quantity('0')))",message="cpu and memory must not be negative",fieldPath=".resources.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.limits) || ['cpu', 'memory'].all(k, !(k in self.resources.limits) || !isQuantity(string(self.resources.limits[k])) || !quantity(string(self.resources.limits[k])).isLessThan(quantity('0')))",message="cpu and memory must not be negative",fieldPath=".resources.limits"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.requests) || !has(self.resources.limits) || ['cpu', 'memory'].all(k, !(k in self.resources.requests) || !(k in self.resources.limits) || !isQuantity(string(self.resources.requests[k])) || !isQuantity(string(self.resources.limits[k])) || !quantity(string(self.resources.requests[k])).isGreaterThan(quantity(string(self.resources.limits[k]))))",message="a request is greater than its limit: lower requests, or raise limits",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="!has(self.pdb) || !has(self.pdb.minAvailable) || type(self.pdb.minAvailable) == int || size(self.pdb.minAvailable) <= 4 && self.pdb.minAvailable.matches('^(100|[1-9]?[0-9])%$')",message="0 to 1000, or 0% to 100%",fieldPath=".pdb.minAvailable"
// +kubebuilder:validation:XValidation:rule="!has(self.pdb) || !has(self.pdb.maxUnavailable) || type(self.pdb.maxUnavailable) == int || size(self.pdb.maxUnavailable) <= 4 && self.pdb.maxUnavailable.matches('^(100|[1-9]?[0-9])%$')",message="0 to 1000, or 0% to 100%",fieldPath=".pdb.maxUnavailable"
type BackendSpec struct {
	ComponentSpec `json:",inline"`

	// DualService adds a Service for traffic inside the cluster beside the one for traffic from outside; default true.
	// +optional
	DualService *bool `json:"dualService,omitempty"`
}

// ComponentSpec has the fields that all components have in common.
type ComponentSpec struct {
	// Image of the container, taken as it is.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^\s]+$`
	Image string `json:"image"`
	// Command runs in the place of the ENTRYPOINT of the image, without a shell; default the ENTRYPOINT. The CMD of the image does not count
	// then. $(NAME) stands for the variable NAME of the container, and $$(NAME) for that text itself.
	// https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Command []CommandArgument `json:"command,omitempty"`
	// Args follow the command in the place of the CMD of the image; default the CMD, unless command is set. $(NAME) stands for a variable, as
	// in command.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Args []CommandArgument `json:"args,omitempty"`
	// Replicas; default 2. While autoscaling is set, it sets their number.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`
	// Port the container listens on; default 8080 for the frontend and for other components, 8000 for the backend, none for a Worker.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Resources of the container.
	// +optional
	Resources *ComponentResources `json:"resources,omitempty"`
	// Service through which the component is reached.
	// +optional
	Service *ServiceSpec `json:"service,omitempty"`
	// Env are environment variables of the container. They come after those that the operator sets.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Env []EnvVar `json:"env,omitempty"`
	// EnvFrom makes the keys of ConfigMaps and Secrets environment variables. Of two sources with one key the last counts; the
	// operator's settings count before all.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	EnvFrom []EnvFromSource `json:"envFrom,omitempty"`
	// ImagePullSecrets are Secrets in the namespace of the workloads with the credentials of private registries.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []ImagePullSecret `json:"imagePullSecrets,omitempty"`
	// Probes of the container.
	// +optional
	Probes *ProbesSpec `json:"probes,omitempty"`
	// DrainSeconds keeps a terminating pod serving for this many seconds before it gets the signal to terminate, so that load balancers
	// and nodes stop sending it requests first; default 5. 0 sends the signal at once. It needs Kubernetes 1.30 or later, and comes on top of
	// terminationGracePeriodSeconds.
	// https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/#hook-handler-implementations
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	DrainSeconds *int64 `json:"drainSeconds,omitempty"`
	// TerminationGracePeriodSeconds that a pod has to end after the signal to terminate; default 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=7200
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// NodeSelector are the labels of nodes that pods run on; default every node.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$'))",message="not a legal label key"
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`
	// Tolerations let pods run on nodes with taints.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// Affinity chooses nodes by their labels and by the pods that run there.
	// +optional
	Affinity *AffinitySpec `json:"affinity,omitempty"`
	// TopologySpreadConstraints spread the pods of the component; default over zones and nodes where that is possible.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	TopologySpreadConstraints []TopologySpread `json:"topologySpreadConstraints,omitempty"`
	// SecurityContext changes the security settings of the pods within Pod Security restricted.
	// +optional
	SecurityContext *SecurityContextSpec `json:"securityContext,omitempty"`
	// ScratchVolumes are empty directories for temporary files, which a read-only root file system needs.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.mountPath == b.mountPath))",message="each mountPath is used once"
	ScratchVolumes []ScratchVolume `json:"scratchVolumes,omitempty"`
	// PDB limits how many pods are evicted at a time; default one.
	// +optional
	PDB *DisruptionBudgetSpec `json:"pdb,omitempty"`
	// Autoscaling has a HorizontalPodAutoscaler set the number of replicas; default off. When it is removed, replicas counts again.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`
	// Routes lead requests from outside to the component, through the Ingress or the Gateway. Absent: / for the frontend, /api for the
	// backend, none for others. An empty list is none.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=path
	Routes *[]Route `json:"routes,omitempty"`
	// Access names what of the capability the pods may use in AWS: data services and secrets by their names, and glue. A name stands for
	// everything that has it; {field}/{name}, such as queues/jobs, secrets/license or resources/vectors, for one. Absent: everything. An
	// empty list: the pods have no rights in AWS. Components with different access have different roles, and identity.extraPolicyStatements
	// belong to that of components without access.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Access *[]AccessName `json:"access,omitempty"`
}

// ComponentResources are the compute resources of a container. Admission compares requests and limits of CPU and memory of frontend and
// backend; the operator, and nexusctl validate, those of every resource of every component: rules over quantities, whose length has no
// bound, cost the API server too much in a list.
// https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
type ComponentResources struct {
	// Requests lists the resources that the scheduler reserves; without limits too, default 100m CPU and 128Mi memory.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// Limits lists the resources that the container may use; default none.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// ServiceSpec sets the type and the annotations of a component's Service.
type ServiceSpec struct {
	// Type; default ClusterIP while ingress is enabled, else LoadBalancer for frontend and backend.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`
	// Annotations are passed through to the Service. Those that the operator sets are refused: the type, the target type, the
	// scheme and the tags of its load balancer. The Service for callers inside the cluster has none.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('nexus.ai/') || k in ['kubectl.kubernetes.io/last-applied-configuration', 'service.beta.kubernetes.io/aws-load-balancer-type', 'service.beta.kubernetes.io/aws-load-balancer-nlb-target-type', 'service.beta.kubernetes.io/aws-load-balancer-scheme', 'service.beta.kubernetes.io/aws-load-balancer-internal', 'service.beta.kubernetes.io/aws-load-balancer-additional-resource-tags'])",message="nexus.ai/*, last-applied-configuration and the type, nlb-target-type, scheme, internal and additional-resource-tags of the load balancer are set by the operator: remove them, and set service.type and spec.ingress.scheme"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$'))",message="not a legal annotation key"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
}

// Scheme says who can reach a load balancer.
// +kubebuilder:validation:Enum=internal;internet-facing
type Scheme string

// The schemes of a load balancer.
const (
	SchemeInternal       Scheme = "internal"
	SchemeInternetFacing Scheme = "internet-facing"
)

// IngressSpec exposes the capability outside the cluster, through an Application Load Balancer.
// +kubebuilder:validation:XValidation:rule="!has(self.hostedZoneID) && !has(self.hostedZoneRef) && !has(self.hostedZoneName) || has(self.host)",message="the hosted zone gets the records of host: set host",fieldPath=".host"
// +kubebuilder:validation:XValidation:rule="!has(self.hostedZoneID) || !has(self.hostedZoneRef)",message="excludes hostedZoneID",fieldPath=".hostedZoneRef"
// +kubebuilder:validation:XValidation:rule="!has(self.hostedZoneName) || !has(self.hostedZoneID) && !has(self.hostedZoneRef)",message="excludes hostedZoneID and hostedZoneRef",fieldPath=".hostedZoneName"
// +kubebuilder:validation:XValidation:rule="!has(self.hostedZoneName) || !has(self.host) || self.host == self.hostedZoneName || self.host.endsWith('.' + self.hostedZoneName)",message="host is not within this zone",fieldPath=".hostedZoneName"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.annotations) && !has(self.groupName)",message="excludes annotations and groupName, which are for an Ingress",fieldPath=".gateway"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.gateway.name) || !has(self.certificateArn)",message="the listeners of an existing Gateway have their own certificates",fieldPath=".certificateArn"
type IngressSpec struct {
	// Enabled; default true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Scheme of the load balancer, also without an ingress; default internal.
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`
	// HealthCheckPath answers 2xx or 3xx when a component can serve; default /health.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[!-~]*$`
	HealthCheckPath string `json:"healthCheckPath,omitempty"`
	// Host limits the ingress to one host name, which may begin with *. as a wildcard.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([*][.])?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Host string `json:"host,omitempty"`
	// HostedZoneID is a public hosted zone of Route 53 in the provider's account that serves host. The operator creates the record that
	// leads host to the load balancer and, unless certificateArn is set, a certificate of AWS Certificate Manager with the record that
	// validates it: the capability then serves HTTPS. A record of the same name that exists is never changed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[A-Z0-9]+$`
	HostedZoneID string `json:"hostedZoneID,omitempty"`
	// HostedZoneRef names a Route53HostedZone in the namespace of the capability, instead of hostedZoneID.
	// +optional
	HostedZoneRef *HostedZoneReference `json:"hostedZoneRef,omitempty"`
	// HostedZoneName is the name of the zone, such as example.com, instead of hostedZoneID. It must lead to one public zone in the
	// provider's account; a zone that was found stays in use when another one gets the same name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?([.][a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$`
	HostedZoneName string `json:"hostedZoneName,omitempty"`
	// CertificateArn turns on HTTPS with a certificate that exists, and redirects HTTP to it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:(acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+|iam::[0-9]{12}:server-certificate/[A-Za-z0-9+=,.@_/-]+)$`
	CertificateArn string `json:"certificateArn,omitempty"`
	// Annotations are passed through to the Ingress. Those that the operator sets are refused, and those of
	// alb.ingress.kubernetes.io/group.*: set groupName.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$'))",message="not a legal annotation key"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('nexus.ai/') || k in ['kubernetes.io/ingress.class', 'kubectl.kubernetes.io/last-applied-configuration', 'alb.ingress.kubernetes.io/scheme', 'alb.ingress.kubernetes.io/target-type', 'alb.ingress.kubernetes.io/listen-ports', 'alb.ingress.kubernetes.io/certificate-arn', 'alb.ingress.kubernetes.io/ssl-redirect', 'alb.ingress.kubernetes.io/ssl-policy', 'alb.ingress.kubernetes.io/healthcheck-path', 'alb.ingress.kubernetes.io/success-codes', 'alb.ingress.kubernetes.io/tags'])",message="nexus.ai/*, last-applied-configuration, ingress.class and the scheme, target-type, listen-ports, certificate-arn, ssl-redirect, ssl-policy, healthcheck-path, success-codes and tags of the load balancer are set by the operator: remove them, and set scheme, healthCheckPath, certificateArn, host and hostedZoneName of spec.ingress"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('alb.ingress.kubernetes.io/group.'))",message="alb.ingress.kubernetes.io/group.* is not passed on: set spec.ingress.groupName, which an administrator must allow"
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
	// GroupName shares one load balancer with the other members of the group. The operator's
	// --allowed-ingress-groups must match it: members of a group can overwrite each other.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	GroupName string `json:"groupName,omitempty"`
	// Gateway uses the Gateway API instead of an Ingress: HTTPRoutes with the same rules. The cluster must have its definitions and a
	// controller.
	// +optional
	Gateway *GatewaySpec `json:"gateway,omitempty"`
}

// GatewaySpec declares the Gateway that leads traffic to the capability.
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.class)",message="name and class exclude each other, and one of them is given"
// +kubebuilder:validation:XValidation:rule="!has(self.__namespace__) || has(self.name)",message="is that of an existing Gateway: set name",fieldPath=".namespace"
type GatewaySpec struct {
	// Name of a Gateway that exists. Its listeners must admit routes from the namespace of the workloads.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// Namespace of that Gateway; default the namespace of the workloads.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
	// Class is the GatewayClass of a Gateway that the operator creates for the capability alone.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Class string `json:"class,omitempty"`
}

// HostedZoneReference names a Route53HostedZone.
type HostedZoneReference struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`
}

// AnnotationValue is the value of an annotation, at most 1024 characters.
// +kubebuilder:validation:MaxLength=1024
type AnnotationValue string
