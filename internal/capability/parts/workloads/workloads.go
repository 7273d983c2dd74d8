// SPDX-License-Identifier: Apache-2.0

// Package workloads is spec.backend, spec.frontend and spec.components.
package workloads

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
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Names of the workloads: of their kinds and steps.
const (
	KindConfigMap        = "ConfigMap"
	KindDeployment       = "Deployment"
	kindJob              = "Job"
	KindCronJob          = "CronJob"
	KindDisruptionBudget = "PodDisruptionBudget"
	KindAutoscaler       = "HorizontalPodAutoscaler"
)

// Part is spec.backend, spec.frontend and spec.components.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{
			{Number: 9, Name: part.StepBackend, Phase: nexusv1.PhaseDeployingBackend, Condition: nexusv1.ConditionBackendReady},
			{Number: 10, Name: part.StepFrontend, Phase: nexusv1.PhaseDeployingFrontend, Condition: nexusv1.ConditionFrontendReady},
			{Name: part.StepComponents, Phase: nexusv1.PhaseDeploying, Condition: nexusv1.ConditionComponentsReady},
		},
		Kinds: []part.KindFacts{
			{Kind: KindDeployment, StepOf: stepOfWorkload, Version: schema.GroupVersion{Group: "apps", Version: "v1"},
				Removed: part.Removal{Stage: part.RemovesWorkloads, Steps: []string{part.StepFrontend, part.StepBackend}}},
			{Kind: kindJob, StepOf: stepOfWorkload, Version: schema.GroupVersion{Group: "batch", Version: "v1"},
				Removed: part.Removal{Stage: part.RemovesWorkloads}},
			{Kind: KindCronJob, StepOf: stepOfWorkload, Version: schema.GroupVersion{Group: "batch", Version: "v1"},
				Removed: part.Removal{Stage: part.RemovesWorkloads}},
			{Kind: part.KindService, StepOf: stepOfWorkload, Version: part.CoreV1, Removed: part.Removal{Stage: part.RemovesWorkloads}},
			{Kind: KindConfigMap, StepOf: stepOfSettings, Version: part.CoreV1, Step: part.StepBackend,
				Removed: part.Removal{Stage: part.RemovesWorkloads}},
			{Kind: KindDisruptionBudget, StepOf: stepOfWorkload, Version: schema.GroupVersion{Group: "policy", Version: "v1"},
				Removed: part.Removal{Stage: part.RemovesWorkloads}},
			{Kind: KindAutoscaler, StepOf: stepOfWorkload, Version: schema.GroupVersion{Group: "autoscaling", Version: "v2"},
				Removed: part.Removal{Stage: part.RemovesWorkloads}},
		},
		Checks: []part.Turn[part.Checking]{part.At(3,
			func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkComponents(v, &c.Spec) })},
		Compile: []func(*part.Compiler){addWorkloads},
		Values:  workloadValues,
	}
}

// workloadValues returns the settings with the address of the backend.
func workloadValues(k *part.Compiler) (out []part.Value) {
	b, ok := part.Named(k.Spec, part.Backend)
	if !ok {
		return nil
	}
	out = append(out, part.Value{Variable: "NEXUS_BACKEND_INTERNAL_URL", Text: URLOf(b, k.Capability)})
	if len(b.Paths) > 0 {
		out = append(out, part.Value{Variable: "NEXUS_BACKEND_URL", Text: b.Paths[0]})
	}
	return out
}

// dualService reports whether the backend has a separate Service for traffic inside the cluster.
func dualService(s *nexusv1.NexusAICapabilitySpec) bool {
	return part.BoolOr(s.Backend.DualService, true)
}

// BackendInternalURL returns the URL of the backend for clients inside the cluster, such as the frontend; "" without a backend.
func BackendInternalURL(c *nexusv1.NexusAICapability) string {
	b, ok := part.Named(&c.Spec, part.Backend)
	if !ok {
		return ""
	}
	return URLOf(b, c)
}

func addWorkloads(k *part.Compiler) {
	settings := map[string]settingsNode{}
	for _, a := range k.Parts.AccessSets(k.Spec) {
		settings[a.Purpose()] = addConfigMap(k, a)
	}
	for _, c := range part.ComponentsOf(k.Spec) {
		if c.EndsAlone() {
			addRun(k, c, settings[k.AccessOf(c).Purpose()])
			continue
		}
		addAutoscaler(k, c, addDeployment(k, c, settings[k.AccessOf(c).Purpose()]))
		addDisruptionBudget(k, c)
		if !c.IsServed() {
			continue
		}
		addService(k, c, k.Names.Service(c.Name), ServiceType(k.Spec, c), serviceAnnotations(c))
		if c.Name == part.Backend && dualService(k.Spec) {
			addService(k, c, k.Names.InternalService(c.Name), corev1.ServiceTypeClusterIP, nil)
		}
	}
}

// settingsNode is the ID of the node of a ConfigMap, and the checksum of its settings.
type settingsNode struct{ id, checksum string }

// addConfigMap adds the settings of the components with an access.
func addConfigMap(k *part.Compiler, a part.AccessSet) settingsNode {
	settings := k.Within(a).Settings()
	of := settingsOwner(k.Parts, k.Spec, a)
	id := k.Workload(part.Child{Kind: KindConfigMap, Name: a.ConfigMap(k.Names), Step: of.Step, Component: of.Name},
		&corev1.ConfigMap{Data: settings})
	return settingsNode{id, checksumOf(k, settings)}
}

// settingsOwner returns the component that owns the settings of an access: the first component with that access, usually the backend for
// the access to everything.
func settingsOwner(ps part.Parts, s *nexusv1.NexusAICapabilitySpec, a part.AccessSet) part.Component {
	all := part.ComponentsOf(s)
	i := slices.IndexFunc(all, func(c part.Component) bool { return ps.AccessOf(s, c.Access).Purpose() == a.Purpose() })
	return all[max(i, 0)]
}

// checksumOf changes whenever a setting does; JSON sorts the keys. While a setting is not known, neither is the checksum.
func checksumOf(k *part.Compiler, settings map[string]string) string {
	for _, name := range part.SortedKeys(settings) {
		if id := k.Unresolved(settings[name]); id != "" {
			return part.PlaceholderFor(id)
		}
	}
	b, err := json.Marshal(settings)
	if err != nil {
		k.Fail(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// addDeployment waits for all AWS resources, so that an application finds its data when it starts. Of the parameters, which
// applications read while they run, it waits only for the existence: a pod that starts without a parameter fails, but an
// edit of values need not delay a rollout by as long as Parameter Store takes for them.
func addDeployment(k *part.Compiler, c part.Component, settings settingsNode) string {
	version := map[string]string{part.LabelVersion: k.Spec.Version}
	o := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: version}, Spec: appsv1.DeploymentSpec{
		Replicas:             &c.Count,
		RevisionHistoryLimit: new(int32(5)),
		Selector:             &metav1.LabelSelector{MatchLabels: k.Selector(c.Name)},
		Strategy: appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(1))},
		},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: k.Labels(c.Name, version), Annotations: identity.PodAnnotations(k, settings.checksum)},
			Spec:       podSpec(k, c),
		},
	}}
	if c.Autoscaling != nil { // its controller owns the number; package apply hands it over
		o.Spec.Replicas = nil
		o.Annotations = map[string]string{wellknown.AnnotationMinReplicas: strconv.Itoa(int(minReplicas(c.Autoscaling)))}
	}
	return k.Workload(part.Child{Kind: KindDeployment, Name: k.Names.Of(c.Name), Step: c.Step, Component: c.Name}, o,
		beforePods(k, c, settings)...)
}

// beforePods returns the edges to the objects that pods need when they start.
func beforePods(k *part.Compiler, c part.Component, settings settingsNode) []graph.Edge {
	account := graph.ID(identity.KindServiceAccount, k.Names.WorkloadNamespace(), k.AccessOf(c).ServiceAccount(k.Names),
		k.Capability.Namespace)
	stores := slices.DeleteFunc(slices.Clone(k.AWS), func(id string) bool { return id == k.ParameterSet })
	return slices.Concat(graph.NeedReady(stores...), graph.NeedPresent(k.ParameterSet), graph.NeedApplied(settings.id, account))
}

// podSpec meets the Pod Security standard "restricted".
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
func podSpec(k *part.Compiler, c part.Component) corev1.PodSpec {
	pod := corev1.PodSpec{
		ServiceAccountName: k.AccessOf(c).ServiceAccount(k.Names),
		// The credentials for AWS come in their own volume; the Kubernetes API is none of the app's business.
		AutomountServiceAccountToken: new(false),
		Containers: []corev1.Container{{
			Name:      c.Name,
			Image:     c.Image,
			Command:   translate[[]string](k, c.Command),
			Args:      translate[[]string](k, c.Args),
			Resources: resourcesOf(c),
		}},
	}
	if c.PortNumber != 0 {
		pod.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: c.PortNumber, Protocol: corev1.ProtocolTCP}}
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

func spreadOver(k *part.Compiler, c part.Component, topology string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: k.Selector(c.Name)},
	}
}

// resourcesOf asks for a little when nothing is said, so that the scheduler has something to count.
func resourcesOf(c part.Component) corev1.ResourceRequirements {
	if r := c.Resources; r != nil && len(r.Requests)+len(r.Limits) > 0 {
		return corev1.ResourceRequirements{Requests: r.Requests, Limits: r.Limits}
	}
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
	}}
}

// ServiceType returns the declared type of the Service of a component. The default is LoadBalancer for frontend and backend without an
// ingress, and ClusterIP in all other cases.
func ServiceType(s *nexusv1.NexusAICapabilitySpec, c part.Component) corev1.ServiceType {
	if c.Service != nil && c.Service.Type != "" {
		return c.Service.Type
	}
	if traffic.IsAsked(s) || !c.IsFixed() {
		return corev1.ServiceTypeClusterIP
	}
	return corev1.ServiceTypeLoadBalancer
}

// ownServiceAnnotations are set by the operator, or would contradict those that are: a user's value for them is refused.
var ownServiceAnnotations = []string{
	balancer + "type", balancer + "nlb-target-type", balancer + "scheme", balancer + "internal", balancer + "additional-resource-tags",
	part.AnnotationLastApplied,
}

// serviceAnnotations returns the annotations of the component's Service that are passed through.
func serviceAnnotations(c part.Component) map[string]string {
	out := map[string]string{}
	if c.Service == nil {
		return out
	}
	for key, v := range c.Service.Annotations {
		if !slices.Contains(ownServiceAnnotations, key) && !strings.HasPrefix(key, part.ReservedNexus) {
			out[key] = string(v)
		}
	}
	return out
}

func addService(k *part.Compiler, c part.Component, name string, t corev1.ServiceType, annotations map[string]string) {
	o := &corev1.Service{Spec: corev1.ServiceSpec{
		Type:     t,
		Selector: k.Selector(c.Name),
		Ports:    []corev1.ServicePort{{Name: "http", Port: c.PortNumber, TargetPort: intstr.FromString("http"), Protocol: corev1.ProtocolTCP}},
	}}
	if t == corev1.ServiceTypeLoadBalancer {
		annotations = part.MergeMaps(annotations, balancerAnnotations(k))
	}
	o.Annotations = annotations
	k.Workload(part.Child{Kind: part.KindService, Name: name, Step: c.Step, Component: c.Name}, o)
}

// balancer begins the annotations of the AWS Load Balancer Controller for Services.
const balancer = "service.beta.kubernetes.io/aws-load-balancer-"

// balancerAnnotations must be there when the Service is made: without them the cluster's own cloud
// provider would make a public Classic Load Balancer.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/
func balancerAnnotations(k *part.Compiler) map[string]string {
	return map[string]string{
		balancer + "type":                     "external",
		balancer + "nlb-target-type":          "ip",
		balancer + "scheme":                   string(cmp.Or(traffic.Settings(k.Spec).Scheme, nexusv1.SchemeInternal)),
		balancer + "additional-resource-tags": traffic.BalancerTags(k),
	}
}

// stepOfWorkload returns the step of an object of a component, by its name.
func stepOfWorkload(_ part.Parts, c *nexusv1.NexusAICapability, name string) string {
	n := part.NamesOf(c)
	for _, of := range part.ComponentsOf(&c.Spec) {
		if slices.Contains([]string{n.Of(of.Name), n.Service(of.Name), n.InternalService(of.Name)}, name) {
			return of.Step
		}
	}
	switch { // of a component that is not declared any more
	case strings.HasPrefix(name, n.Of(part.Frontend)):
		return part.StepFrontend
	case strings.HasPrefix(name, n.Of(part.Backend)):
		return part.StepBackend
	default:
		return part.StepComponents
	}
}

// stepOfSettings returns the step of a ConfigMap.
func stepOfSettings(ps part.Parts, c *nexusv1.NexusAICapability, name string) string {
	for _, a := range ps.AccessSets(&c.Spec) {
		if a.ConfigMap(part.NamesOf(c)) == name {
			return settingsOwner(ps, &c.Spec, a).Step
		}
	}
	return ""
}
