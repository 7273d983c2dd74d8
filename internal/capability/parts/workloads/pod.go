// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
)

// translate returns a field of a component as the type of Kubernetes that has the same JSON form.
func translate[T any](k *part.Compiler, from any) T {
	var out T
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		k.Fail(err)
	}
	return out
}

// setEnvironment sets the sources of the container's environment variables. The operator's settings come last, so that no
// key of another source replaces one of them.
func setEnvironment(k *part.Compiler, c part.Component, pod *corev1.PodSpec) {
	container := &pod.Containers[0]
	container.Env = translate[[]corev1.EnvVar](k, c.Env)
	container.EnvFrom = append(translate[[]corev1.EnvFromSource](k, c.EnvFrom), corev1.EnvFromSource{
		ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: k.AccessOf(c).ConfigMap(k.Names)}},
	})
	pod.ImagePullSecrets = translate[[]corev1.LocalObjectReference](k, c.ImagePullSecrets)
}

// setProbes sets the probes of the container: each declared probe, or its default. Only a component of type Service has defaults: the
// others need not listen on a port.
func setProbes(k *part.Compiler, c part.Component, container *corev1.Container) {
	declared := nexusv1.ProbesSpec{}
	if c.Probes != nil {
		declared = *c.Probes
	}
	if !c.IsServed() {
		container.StartupProbe, container.LivenessProbe, container.ReadinessProbe = probeOf(k, c, declared.Startup, nil),
			probeOf(k, c, declared.Liveness, nil), probeOf(k, c, declared.Readiness, nil)
		return
	}
	container.StartupProbe = probeOf(k, c, declared.Startup, &corev1.Probe{ProbeHandler: tcpProbe(), PeriodSeconds: 5, FailureThreshold: 60})
	container.LivenessProbe = probeOf(k, c, declared.Liveness, &corev1.Probe{ProbeHandler: tcpProbe(), PeriodSeconds: 20, TimeoutSeconds: 5})
	container.ReadinessProbe = probeOf(k, c, declared.Readiness,
		&corev1.Probe{PeriodSeconds: 10, TimeoutSeconds: 5, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: traffic.Settings(k.Spec).HealthCheckPath, Port: intstr.FromString("http")},
		}})
}

// probeOf returns a declared probe with its ports, or the default.
func probeOf(k *part.Compiler, c part.Component, declared *nexusv1.Probe, byDefault *corev1.Probe) *corev1.Probe {
	if declared == nil {
		return byDefault
	}
	p := declared.DeepCopy()
	port := intstr.FromString("http")
	if p.HTTPGet != nil && p.HTTPGet.Port == nil {
		p.HTTPGet.Port = &port
	}
	if p.TCPSocket != nil && p.TCPSocket.Port == nil {
		p.TCPSocket.Port = &port
	}
	if p.GRPC != nil && p.GRPC.Port == nil {
		p.GRPC.Port = &c.PortNumber
	}
	return translate[*corev1.Probe](k, p)
}

// setPlacement sets where pods run.
func setPlacement(k *part.Compiler, c part.Component, pod *corev1.PodSpec) {
	pod.NodeSelector = translate[map[string]string](k, c.NodeSelector)
	pod.Tolerations = translate[[]corev1.Toleration](k, c.Tolerations)
	pod.Affinity = translate[*corev1.Affinity](k, c.Affinity)
	pod.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spreadOver(k, c, corev1.LabelTopologyZone),
		spreadOver(k, c, corev1.LabelHostname)}
	if len(c.TopologySpreadConstraints) == 0 {
		return
	}
	pod.TopologySpreadConstraints = translate[[]corev1.TopologySpreadConstraint](k, c.TopologySpreadConstraints)
	for i := range pod.TopologySpreadConstraints {
		pod.TopologySpreadConstraints[i].LabelSelector = &metav1.LabelSelector{MatchLabels: k.Selector(c.Name)}
	}
}

// defaultSizeLimit of a scratch volume.
var defaultSizeLimit = resource.MustParse("1Gi")

// setScratchVolumes mounts the empty directories of the container.
func setScratchVolumes(c part.Component, pod *corev1.PodSpec) {
	for _, s := range c.ScratchVolumes {
		limit := defaultSizeLimit.DeepCopy()
		if s.SizeLimit != nil {
			limit = s.SizeLimit.DeepCopy()
		}
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: s.Name, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: s.Medium, SizeLimit: &limit},
		}})
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: s.Name, MountPath: s.MountPath})
	}
}

// setSecurity sets the security settings of the pod: those of Pod Security restricted, with the component's changes, which
// validation keeps within it.
func setSecurity(k *part.Compiler, c part.Component, pod *corev1.PodSpec) {
	own := &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	all := &corev1.PodSecurityContext{RunAsNonRoot: new(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	pod.SecurityContext, pod.Containers[0].SecurityContext = all, own
	s := c.SecurityContext
	if s == nil {
		return
	}
	all.RunAsUser, all.RunAsGroup, all.FSGroup = s.RunAsUser, s.RunAsGroup, s.FSGroup
	own.ReadOnlyRootFilesystem = s.ReadOnlyRootFilesystem
	if s.Capabilities != nil {
		own.Capabilities.Add = translate[[]corev1.Capability](k, s.Capabilities.Add)
	}
	if s.SeccompProfile != nil {
		all.SeccompProfile = translate[*corev1.SeccompProfile](k, s.SeccompProfile)
	}
}

// The defaults of how pods end. Nodes take about a second to learn that a pod ends; the targets of a load balancer take longer.
const (
	defaultDrain int64 = 5
	defaultGrace int64 = 30
)

// Drain is for how many seconds a pod of a component serves on before it gets the signal to terminate.
func Drain(c part.Component, on part.ClusterFacts) int64 {
	if on.NoDrain {
		return 0
	}
	if !c.IsServed() { // nothing sends it requests
		return ptr.Deref(c.DrainSeconds, 0)
	}
	return ptr.Deref(c.DrainSeconds, defaultDrain)
}

// setTermination sets how pods end: they serve on while the cluster stops sending them requests, and then have the grace period to end.
// The grace period of Kubernetes includes the time of the hook.
func setTermination(k *part.Compiler, c part.Component, pod *corev1.PodSpec) {
	pod.TerminationGracePeriodSeconds = c.TerminationGracePeriodSeconds
	seconds := Drain(c, k.Facts.Cluster)
	if seconds == 0 {
		return
	}
	pod.TerminationGracePeriodSeconds = new(seconds + ptr.Deref(c.TerminationGracePeriodSeconds, defaultGrace))
	pod.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}}
}
