// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/robfig/cron/v3"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// AnnotationRun on a Job identifies the declaration that it runs. A Job is replaced if its annotation differs from the declared one
// (docs/design/0083).
const AnnotationRun = "nexus.ai/run"

// maxCronJobNames bounds capabilityName, environment and the name of a CronJob: Kubernetes allows it 52 characters, as it appends the
// time of a run to the name.
const maxCronJobNames = 50

// addRun adds the Job or the CronJob of a component.
func addRun(k *part.Compiler, c part.Component, settings settingsNode) {
	p, after := part.Child{Kind: kindJob, Name: k.Names.Of(c.Name), Step: c.Step, Component: c.Name}, beforePods(k, c, settings)
	spec := jobSpec(k, c, settings)
	if c.Kind == nexusv1.ComponentJob {
		o := &batchv1.Job{Spec: spec}
		o.Annotations = map[string]string{AnnotationRun: runOf(k, c, settings)}
		k.Workload(p, o, after...)
		return
	}
	p.Kind = KindCronJob
	o := &batchv1.CronJob{Spec: batchv1.CronJobSpec{
		Schedule:          c.Runs.Schedule,
		ConcurrencyPolicy: batchv1.ConcurrencyPolicy(cmp.Or(c.Runs.Concurrency, nexusv1.ConcurrencyPolicy(batchv1.ForbidConcurrent))),
		Suspend:           new(false),
		JobTemplate: batchv1.JobTemplateSpec{Spec: spec, ObjectMeta: metav1.ObjectMeta{
			// The Jobs belong to the CronJob, which removes them: without the label of the capability they are no children of it.
			Labels:      part.MergeMaps(k.Selector(c.Name), map[string]string{wellknown.LabelManagedBy: wellknown.OperatorName}),
			Annotations: map[string]string{wellknown.AnnotationCapability: k.Capability.Namespace + "/" + k.Capability.Name},
		}},
	}}
	if c.Runs.TimeZone != "" {
		o.Spec.TimeZone = &c.Runs.TimeZone
	}
	k.Workload(p, o, after...)
}

// jobSpec is that of one run. A pod that fails stays for its log, and another one is started. The template of a Job is immutable: it has
// neither the version nor the identity mode, because a change of these alone must not run a Job again.
func jobSpec(k *part.Compiler, c part.Component, settings settingsNode) batchv1.JobSpec {
	pod := podSpec(k, c)
	pod.RestartPolicy = corev1.RestartPolicyNever
	return batchv1.JobSpec{
		BackoffLimit:          c.Runs.BackoffLimit,
		ActiveDeadlineSeconds: c.Runs.ActiveDeadlineSeconds,
		Suspend:               suspendOf(c),
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: k.Labels(c.Name, nil), Annotations: map[string]string{part.AnnotationChecksum: settings.checksum}},
			Spec:       pod,
		},
	}
}

// suspendOf returns the value of suspend: false resumes a Job that a person suspended. For the Jobs of a CronJob it is nil, which leaves
// the field to the CronJob.
func suspendOf(c part.Component) *bool {
	if c.Kind == nexusv1.ComponentCronJob {
		return nil
	}
	return new(false)
}

// runOf returns a hash of the declaration that a Job runs: the declared fields of the component, its identity, and its settings. Defaults
// are not part of it, so that an operator with other defaults runs no Job again.
func runOf(k *part.Compiler, c part.Component, settings settingsNode) string {
	declared := c.ComponentSpec
	declared.Routes, declared.Access = nil, nil // an access has the name of its contents
	b, err := json.Marshal([]any{declared, c.Runs.BackoffLimit, c.Runs.ActiveDeadlineSeconds, k.AccessOf(c).ServiceAccount(k.Names),
		settings.checksum})
	if err != nil {
		k.Fail(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// IsSameRun reports whether a live Job runs, or ran, the declaration of the desired Job.
func IsSameRun(live, desired metav1.Object) bool {
	return live.GetAnnotations()[AnnotationRun] == desired.GetAnnotations()[AnnotationRun]
}

// IsJobAtWork reports whether a Job has not ended and a container of it runs. A Job is not at work if its pods cannot start.
func IsJobAtWork(live *unstructured.Unstructured) bool {
	ready, _, _ := unstructured.NestedInt64(live.Object, "status", "ready")
	terminating, _, _ := unstructured.NestedInt64(live.Object, "status", "terminating")
	return ready+terminating > 0
}

// WithoutRuns turns a component that runs to its end into one that has no pods at all.
func WithoutRuns(n *nexusv1.NamedComponentSpec) {
	if n.Type != nexusv1.ComponentJob && n.Type != nexusv1.ComponentCronJob {
		return
	}
	n.Type, n.Schedule, n.TimeZone, n.ConcurrencyPolicy, n.BackoffLimit, n.ActiveDeadlineSeconds = nexusv1.ComponentWorker, "", "", "", nil,
		nil
}

// checkRuns checks when and how often a component runs.
func checkRuns(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec, c part.Component) {
	checkSchedule(v, s, c)
	v.Require(c.EndsAlone() || c.Runs.BackoffLimit == nil, c.Field+".backoffLimit",
		"only a Job and a CronJob have it: remove it, or set another type")
	v.Require(c.EndsAlone() || c.Runs.ActiveDeadlineSeconds == nil, c.Field+".activeDeadlineSeconds",
		"only a Job and a CronJob have it: remove it, or set another type")
	if !c.EndsAlone() {
		return
	}
	const called, counted = "nothing calls a %s: remove %s, or set type: Service",
		"a %s runs one pod at a time: remove %s, or set type: Worker"
	v.Require(c.Port == nil, c.Field+".port", called, c.Kind, "port")
	v.Require(c.Probes == nil || c.Probes.Readiness == nil, c.Field+".probes", called, c.Kind, "probes.readiness")
	v.Require(c.DrainSeconds == nil, c.Field+".drainSeconds", called, c.Kind, "drainSeconds")
	v.Require(c.Replicas == nil, c.Field+".replicas", counted, c.Kind, "replicas")
	v.Require(c.Autoscaling == nil, c.Field+".autoscaling", counted, c.Kind, "autoscaling")
	v.Require(c.PDB == nil, c.Field+".pdb", "is for pods that serve: remove it from a %s", c.Kind)
}

// checkSchedule checks the fields that only a CronJob has.
func checkSchedule(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec, c part.Component) {
	is := c.Kind == nexusv1.ComponentCronJob
	v.Require(is == (c.Runs.Schedule != ""), c.Field+".schedule", "a CronJob needs a schedule, and only a CronJob has one")
	v.Require(is || c.Runs.TimeZone == "", c.Field+".timeZone", "only a CronJob has it: remove it, or set type: CronJob")
	v.Require(is || c.Runs.Concurrency == "", c.Field+".concurrencyPolicy", "only a CronJob has it: remove it, or set type: CronJob")
	if !is {
		return
	}
	if _, err := cron.ParseStandard(c.Runs.Schedule); err != nil || strings.Contains(c.Runs.Schedule, "=") {
		v.Require(false, c.Field+".schedule", "%q is no schedule: write minute, hour, day of the month, month and day of the week, such as \"0 3 * * *\"", c.Runs.Schedule)
	}
	v.Require(len(s.CapabilityName)+len(s.Environment)+len(c.Name) <= maxCronJobNames, c.Field+".name",
		"capabilityName, environment and the name of a CronJob together have at most %d characters", maxCronJobNames)
}

// The defaults of an autoscaler.
const (
	defaultMinReplicas int32 = 2
	defaultTargetCPU   int32 = 80
)

// addAutoscaler adds the HorizontalPodAutoscaler of a Deployment, if the component has one.
func addAutoscaler(k *part.Compiler, c part.Component, deployment string) {
	a := c.Autoscaling
	if a == nil {
		return
	}
	least, target := minReplicas(a), defaultTargetCPU
	if a.TargetCPU != nil {
		target = *a.TargetCPU
	}
	o := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: k.Parts.FactsOf(KindDeployment).Version.String(),
			Kind: KindDeployment, Name: k.Names.Of(c.Name)},
		MinReplicas: &least,
		MaxReplicas: a.Max,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &target},
		}}},
	}}
	k.Workload(part.Child{Kind: KindAutoscaler, Name: k.Names.Of(c.Name), Step: c.Step, Component: c.Name}, o,
		graph.NeedApplied(deployment)...)
}

// minReplicas is the least number of replicas of an autoscaler.
func minReplicas(a *nexusv1.AutoscalingSpec) int32 {
	if a.Min != nil {
		return *a.Min
	}
	return min(defaultMinReplicas, a.Max)
}

// addDisruptionBudget adds the PodDisruptionBudget of a component, unless that is off.
func addDisruptionBudget(k *part.Compiler, c part.Component) {
	// Pods that are not ready serve no traffic. Without AlwaysAllow none of them could be evicted while too few are ready, for want of
	// credentials or with an image that crashes: neither by the operator nor by the drain of a node.
	// https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
	spec := policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: k.Selector(c.Name)},
		UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow)}
	if p := c.PDB; p != nil {
		if !part.BoolOr(p.Enabled, true) {
			return
		}
		spec.MinAvailable, spec.MaxUnavailable = p.MinAvailable, p.MaxUnavailable
	}
	if spec.MinAvailable == nil && spec.MaxUnavailable == nil {
		spec.MaxUnavailable = new(intstr.FromInt32(1))
	}
	k.Workload(part.Child{Kind: KindDisruptionBudget, Name: k.Names.Of(c.Name), Step: c.Step, Component: c.Name},
		&policyv1.PodDisruptionBudget{Spec: spec})
}
