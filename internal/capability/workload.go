// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Names of the workloads: of their kinds and steps.
const (
	kindConfigMap        = "ConfigMap"
	kindDeployment       = "Deployment"
	kindJob              = "Job"
	kindCronJob          = "CronJob"
	kindDisruptionBudget = "PodDisruptionBudget"
	kindAutoscaler       = "HorizontalPodAutoscaler"
	kindService          = "Service"
	StepBackend          = "Backend"
	StepFrontend         = "Frontend"
	// StepComponents is the part of spec.components.
	StepComponents = "Components"
)

// workloadsPart is spec.backend, spec.frontend and spec.components.
func workloadsPart() part {
	return part{
		steps: []Step{
			{9, StepBackend, nexusv1.PhaseDeployingBackend, nexusv1.ConditionBackendReady},
			{10, StepFrontend, nexusv1.PhaseDeployingFrontend, nexusv1.ConditionFrontendReady},
			{0, StepComponents, nexusv1.PhaseDeploying, nexusv1.ConditionComponentsReady},
		},
		kinds: []kindFacts{
			{kind: kindDeployment, stepOf: stepOfWorkload, version: schema.GroupVersion{Group: "apps", Version: "v1"}, removed: removal{stage: removesWorkloads, steps: []string{StepFrontend, StepBackend}}},
			{kind: kindJob, stepOf: stepOfWorkload, version: schema.GroupVersion{Group: "batch", Version: "v1"}, removed: removal{stage: removesWorkloads}},
			{kind: kindCronJob, stepOf: stepOfWorkload, version: schema.GroupVersion{Group: "batch", Version: "v1"}, removed: removal{stage: removesWorkloads}},
			{kind: kindService, stepOf: stepOfWorkload, version: coreV1, removed: removal{stage: removesWorkloads}},
			{kind: kindConfigMap, stepOf: stepOfSettings, version: coreV1, step: StepBackend, removed: removal{stage: removesWorkloads}},
			{kind: kindDisruptionBudget, stepOf: stepOfWorkload, version: schema.GroupVersion{Group: "policy", Version: "v1"}, removed: removal{stage: removesWorkloads}},
			{kind: kindAutoscaler, stepOf: stepOfWorkload, version: schema.GroupVersion{Group: "autoscaling", Version: "v2"}, removed: removal{stage: removesWorkloads}},
		},
		checks:  []turn[checking]{at(3, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) { checkComponents(v, &c.Spec) })},
		compile: []func(*compiler){addWorkloads},
		values:  workloadValues,
	}
}

// workloadValues tell the application where its backend is.
func workloadValues(k *compiler) (out []value) {
	b, ok := named(k.spec, backend)
	if !ok {
		return nil
	}
	out = append(out, value{variable: "NEXUS_BACKEND_INTERNAL_URL", text: urlOf(b, k.c)})
	if len(b.routes) > 0 {
		out = append(out, value{variable: "NEXUS_BACKEND_URL", text: b.routes[0]})
	}
	return out
}

// dualService reports whether the backend has a separate Service for traffic inside the cluster.
func dualService(s *nexusv1.NexusAICapabilitySpec) bool { return boolOr(s.Backend.DualService, true) }

// backendInternalURL returns the address at which clients inside the cluster, such as the frontend, find the backend; "" without one.
func backendInternalURL(c *nexusv1.NexusAICapability) string {
	b, ok := named(&c.Spec, backend)
	if !ok {
		return ""
	}
	return urlOf(b, c)
}

func addWorkloads(k *compiler) {
	settings := map[string]settingsNode{}
	for _, a := range k.parts.accessSets(k.spec) {
		settings[a.purpose()] = addConfigMap(k, a)
	}
	for _, c := range componentsOf(k.spec) {
		if c.endsAlone() {
			addRun(k, c, settings[k.accessOf(c).purpose()])
			continue
		}
		addAutoscaler(k, c, addDeployment(k, c, settings[k.accessOf(c).purpose()]))
		addDisruptionBudget(k, c)
		if !c.isServed() {
			continue
		}
		addService(k, c, k.names.Service(c.name), serviceType(k.spec, c), serviceAnnotations(c))
		if c.name == backend && dualService(k.spec) {
			addService(k, c, k.names.InternalService(c.name), corev1.ServiceTypeClusterIP, nil)
		}
	}
}

// settingsNode is the ID of the node of a ConfigMap, and the checksum of its settings.
type settingsNode struct{ id, checksum string }

// addConfigMap adds the settings of the components with an access.
func addConfigMap(k *compiler, a accessSet) settingsNode {
	settings := k.within(a).settings()
	of := settingsOwner(k.parts, k.spec, a)
	id := k.workload(child{kindConfigMap, a.configMap(k.names), of.step, of.name}, &corev1.ConfigMap{Data: settings})
	return settingsNode{id, checksumOf(k, settings)}
}

// settingsOwner is the component to whose part the settings of an access belong: the first that has them, of those that
// have everything the backend.
func settingsOwner(ps parts, s *nexusv1.NexusAICapabilitySpec, a accessSet) component {
	all := componentsOf(s)
	i := slices.IndexFunc(all, func(c component) bool { return ps.accessOf(s, c.Access).purpose() == a.purpose() })
	return all[max(i, 0)]
}

// settings is the configuration of the workloads: names and places, never secret values.
func (k *compiler) settings() map[string]string {
	v := map[string]string{
		"NEXUS_CAPABILITY": k.names.Capability, "NEXUS_ENVIRONMENT": k.names.Environment, "NEXUS_VERSION": k.spec.Version,
		"NEXUS_REGION": k.home.region, "AWS_REGION": k.home.region,
		"NEXUS_SSM_PREFIX": k.names.ParameterPath(),
	}
	for _, found := range k.allValues() {
		if found.variable != "" {
			v[found.variable] = found.text
		}
	}
	return v
}

// checksumOf changes whenever a setting does; JSON sorts the keys. While a setting is not known, neither is the checksum.
func checksumOf(k *compiler, settings map[string]string) string {
	for _, name := range sortedKeys(settings) {
		if id := k.unresolved(settings[name]); id != "" {
			return placeholderFor(id)
		}
	}
	b, err := json.Marshal(settings)
	if err != nil {
		k.fail(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// addDeployment waits for all AWS resources, so that an application finds its data when it starts. Of the parameters, which
// applications read while they run, it waits only for the existence: a pod that starts without a parameter fails, but an
// edit of values need not delay a rollout by as long as Parameter Store takes for them.
func addDeployment(k *compiler, c component, settings settingsNode) string {
	version := map[string]string{LabelVersion: k.spec.Version}
	o := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: version}, Spec: appsv1.DeploymentSpec{
		Replicas:             &c.replicas,
		RevisionHistoryLimit: new(int32(5)),
		Selector:             &metav1.LabelSelector{MatchLabels: k.selector(c.name)},
		Strategy: appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(1))},
		},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: k.labels(c.name, version), Annotations: podAnnotations(k, settings.checksum)},
			Spec:       podSpec(k, c),
		},
	}}
	if c.Autoscaling != nil { // its controller owns the number; package apply hands it over
		o.Spec.Replicas = nil
		o.Annotations = map[string]string{wellknown.AnnotationMinReplicas: strconv.Itoa(int(minReplicas(c.Autoscaling)))}
	}
	return k.workload(child{kindDeployment, k.names.Of(c.name), c.step, c.name}, o, beforePods(k, c, settings)...)
}

// beforePods are the edges to what pods find when they start.
func beforePods(k *compiler, c component, settings settingsNode) []graph.Edge {
	account := graph.ID(kindServiceAccount, k.names.WorkloadNamespace(), k.accessOf(c).serviceAccount(k.names), k.c.Namespace)
	stores := slices.DeleteFunc(slices.Clone(k.aws), func(id string) bool { return id == k.parameterSet })
	return slices.Concat(graph.NeedReady(stores...), graph.NeedPresent(k.parameterSet), graph.NeedApplied(settings.id, account))
}

// podSpec meets the Pod Security standard "restricted".
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
func podSpec(k *compiler, c component) corev1.PodSpec {
	pod := corev1.PodSpec{
		ServiceAccountName: k.accessOf(c).serviceAccount(k.names),
		// The credentials for AWS come in their own volume; the Kubernetes API is none of the app's business.
		AutomountServiceAccountToken: new(false),
		Containers: []corev1.Container{{
			Name:      c.name,
			Image:     c.Image,
			Command:   translate[[]string](k, c.Command),
			Args:      translate[[]string](k, c.Args),
			Resources: resourcesOf(c),
		}},
	}
	if c.port != 0 {
		pod.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: c.port, Protocol: corev1.ProtocolTCP}}
	}
	setSecurity(k, c, &pod)
	setScratchVolumes(c, &pod)
	setEnvironment(k, c, &pod)
	setProbes(k, c, &pod.Containers[0])
	setPlacement(k, c, &pod)
	setTermination(k, c, &pod)
	return pod
}

func tcpProbe() corev1.ProbeHandler {
	return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}}
}

func spreadOver(k *compiler, c component, topology string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: k.selector(c.name)},
	}
}

// resourcesOf asks for a little when nothing is said, so that the scheduler has something to count.
func resourcesOf(c component) corev1.ResourceRequirements {
	if r := c.Resources; r != nil && len(r.Requests)+len(r.Limits) > 0 {
		return corev1.ResourceRequirements{Requests: r.Requests, Limits: r.Limits}
	}
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
	}}
}

// serviceType returns the type that the component asks for, else a load balancer only for frontend and backend while no ingress is
// asked for.
func serviceType(s *nexusv1.NexusAICapabilitySpec, c component) corev1.ServiceType {
	if c.Service != nil && c.Service.Type != "" {
		return c.Service.Type
	}
	if ingressAsked(s) || !c.isFixed() {
		return corev1.ServiceTypeClusterIP
	}
	return corev1.ServiceTypeLoadBalancer
}

// ownServiceAnnotations are set by the operator, or would contradict those that are: a user's value for them is refused.
var ownServiceAnnotations = []string{
	balancer + "type", balancer + "nlb-target-type", balancer + "scheme", balancer + "internal", balancer + "additional-resource-tags", AnnotationLastApplied,
}

// serviceAnnotations returns the annotations of the component's Service that are passed through.
func serviceAnnotations(c component) map[string]string {
	out := map[string]string{}
	if c.Service == nil {
		return out
	}
	for key, v := range c.Service.Annotations {
		if !slices.Contains(ownServiceAnnotations, key) && !strings.HasPrefix(key, reservedNexus) {
			out[key] = string(v)
		}
	}
	return out
}

func addService(k *compiler, c component, name string, t corev1.ServiceType, annotations map[string]string) {
	o := &corev1.Service{Spec: corev1.ServiceSpec{
		Type:     t,
		Selector: k.selector(c.name),
		Ports:    []corev1.ServicePort{{Name: "http", Port: c.port, TargetPort: intstr.FromString("http"), Protocol: corev1.ProtocolTCP}},
	}}
	if t == corev1.ServiceTypeLoadBalancer {
		annotations = mergeMaps(annotations, balancerAnnotations(k))
	}
	o.Annotations = annotations
	k.workload(child{kindService, name, c.step, c.name}, o)
}

// balancer begins the annotations of the AWS Load Balancer Controller for Services.
const balancer = "service.beta.kubernetes.io/aws-load-balancer-"

// balancerAnnotations must be there when the Service is made: without them the cluster's own cloud
// provider would make a public Classic Load Balancer.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/
func balancerAnnotations(k *compiler) map[string]string {
	return map[string]string{
		balancer + "type":                     "external",
		balancer + "nlb-target-type":          "ip",
		balancer + "scheme":                   string(cmp.Or(ingressOf(k.spec).Scheme, nexusv1.SchemeInternal)),
		balancer + "additional-resource-tags": balancerTags(k),
	}
}

// ConfigMap names the settings of the workloads.
func (n Names) ConfigMap() string { return n.Of("config") }

// Service names the Service of a component, through which traffic from outside comes.
func (n Names) Service(component string) string { return n.Of(component + "-svc") }

// InternalService names the Service of a component for traffic inside the cluster.
func (n Names) InternalService(component string) string { return n.Of(component + "-svc-internal") }

// stepOfWorkload returns the step of an object of a component, by its name.
func stepOfWorkload(_ parts, c *nexusv1.NexusAICapability, name string) string {
	n := NamesOf(c)
	for _, of := range componentsOf(&c.Spec) {
		if slices.Contains([]string{n.Of(of.name), n.Service(of.name), n.InternalService(of.name)}, name) {
			return of.step
		}
	}
	switch { // of a component that is not declared any more
	case strings.HasPrefix(name, n.Of(frontend)):
		return StepFrontend
	case strings.HasPrefix(name, n.Of(backend)):
		return StepBackend
	default:
		return StepComponents
	}
}

// stepOfSettings returns the step of a ConfigMap.
func stepOfSettings(ps parts, c *nexusv1.NexusAICapability, name string) string {
	for _, a := range ps.accessSets(&c.Spec) {
		if a.configMap(NamesOf(c)) == name {
			return settingsOwner(ps, &c.Spec, a).step
		}
	}
	return ""
}
