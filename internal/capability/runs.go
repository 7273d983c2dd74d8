// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// AnnotationRun on a Job identifies the declaration that it runs. A Job whose annotation differs from the declared one is replaced
// (docs/design/0083).
const AnnotationRun = "nexus.ai/run"

// maxCronJobNames bounds capabilityName, environment and the name of a CronJob: Kubernetes allows it 52 characters, as it appends the
// time of a run to the name.
const maxCronJobNames = 50

// runs describes when and how often a Job or a CronJob runs.
type runs struct {
	schedule, timeZone    string
	concurrency           nexusv1.ConcurrencyPolicy
	backoffLimit          *int32
	activeDeadlineSeconds *int64
}

// addRun adds the Job or the CronJob of a component.
func addRun(k *compiler, c component, settings settingsNode) {
	p, after := child{kindJob, k.names.Of(c.name), c.step, c.name}, beforePods(k, c, settings)
	spec := jobSpec(k, c, settings)
	if c.kind == nexusv1.ComponentJob {
		o := &batchv1.Job{Spec: spec}
		o.Annotations = map[string]string{AnnotationRun: runOf(k, c, settings)}
		k.workload(p, o, after...)
		return
	}
	p.kind = kindCronJob
	o := &batchv1.CronJob{Spec: batchv1.CronJobSpec{
		Schedule:          c.runs.schedule,
		ConcurrencyPolicy: batchv1.ConcurrencyPolicy(cmp.Or(c.runs.concurrency, nexusv1.ConcurrencyPolicy(batchv1.ForbidConcurrent))),
		Suspend:           new(false),
		JobTemplate: batchv1.JobTemplateSpec{Spec: spec, ObjectMeta: metav1.ObjectMeta{
			// The Jobs belong to the CronJob, which removes them: without the label of the capability they are no children of it.
			Labels:      mergeMaps(k.selector(c.name), map[string]string{wellknown.LabelManagedBy: wellknown.OperatorName}),
			Annotations: map[string]string{wellknown.AnnotationCapability: k.c.Namespace + "/" + k.c.Name},
		}},
	}}
	if c.runs.timeZone != "" {
		o.Spec.TimeZone = &c.runs.timeZone
	}
	k.workload(p, o, after...)
}

// jobSpec is that of one run. A pod that fails stays for its log, and another one is started. The template of a Job is immutable: it has
// neither the version nor the mode of identity, whose change alone must not run a Job again.
func jobSpec(k *compiler, c component, settings settingsNode) batchv1.JobSpec {
	pod := podSpec(k, c)
	pod.RestartPolicy = corev1.RestartPolicyNever
	return batchv1.JobSpec{
		BackoffLimit:          c.runs.backoffLimit,
		ActiveDeadlineSeconds: c.runs.activeDeadlineSeconds,
		Suspend:               suspendOf(c),
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: k.labels(c.name, nil), Annotations: map[string]string{AnnotationChecksum: settings.checksum}},
			Spec:       pod,
		},
	}
}

// suspendOf has a Job that somebody suspended go on. The Jobs of a CronJob are its own to suspend.
func suspendOf(c component) *bool {
	if c.kind == nexusv1.ComponentCronJob {
		return nil
	}
	return new(false)
}

// runOf identifies what a Job runs: the fields of the component as they are declared, its identity, and its settings. Defaults are not
// part of it, so that an operator with other defaults runs no Job again.
func runOf(k *compiler, c component, settings settingsNode) string {
	declared := c.ComponentSpec
	declared.Routes, declared.Access = nil, nil // an access has the name of its contents
	b, err := json.Marshal([]any{declared, c.runs.backoffLimit, c.runs.activeDeadlineSeconds, k.accessOf(c).serviceAccount(k.names), settings.checksum})
	if err != nil {
		k.fail(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// IsSameRun reports whether a Job runs, or ran, what another one declares.
func IsSameRun(live, desired metav1.Object) bool {
	return live.GetAnnotations()[AnnotationRun] == desired.GetAnnotations()[AnnotationRun]
}

// IsJobAtWork reports whether a Job has not ended and a container of it runs. One whose pods cannot start is not at work.
func IsJobAtWork(live *unstructured.Unstructured) bool {
	ready, _, _ := unstructured.NestedInt64(live.Object, "status", "ready")
	terminating, _, _ := unstructured.NestedInt64(live.Object, "status", "terminating")
	return ready+terminating > 0
}

// runsOf returns the runs of a component by its objects; nil of one that is kept running.
func runsOf(nodes []view) *nexusv1.RunStatus {
	for _, v := range nodes {
		if v.Runs != nil {
			return v.Runs
		}
	}
	return nil
}

// withoutRuns turns a component that runs to its end into one that has no pods at all.
func withoutRuns(n *nexusv1.NamedComponentSpec) {
	if n.Type != nexusv1.ComponentJob && n.Type != nexusv1.ComponentCronJob {
		return
	}
	n.Type, n.Schedule, n.TimeZone, n.ConcurrencyPolicy, n.BackoffLimit, n.ActiveDeadlineSeconds = nexusv1.ComponentWorker, "", "", "", nil, nil
}

// checkRuns checks when and how often a component runs.
func checkRuns(v *verdict, s *nexusv1.NexusAICapabilitySpec, c component) {
	checkSchedule(v, s, c)
	v.require(c.endsAlone() || c.runs.backoffLimit == nil, c.field+".backoffLimit", "only a Job and a CronJob have it: remove it, or set another type")
	v.require(c.endsAlone() || c.runs.activeDeadlineSeconds == nil, c.field+".activeDeadlineSeconds", "only a Job and a CronJob have it: remove it, or set another type")
	if !c.endsAlone() {
		return
	}
	if n := c.runs.backoffLimit; n != nil {
		checkWithin(v, c.field+".backoffLimit", int64(*n), 0, 100)
	}
	if n := c.runs.activeDeadlineSeconds; n != nil {
		checkWithin(v, c.field+".activeDeadlineSeconds", *n, 1, 2592000)
	}
	const called, counted = "nothing calls a %s: remove %s, or set type: Service", "a %s runs one pod at a time: remove %s, or set type: Worker"
	v.require(c.Port == nil, c.field+".port", called, c.kind, "port")
	v.require(c.Probes == nil || c.Probes.Readiness == nil, c.field+".probes", called, c.kind, "probes.readiness")
	v.require(c.DrainSeconds == nil, c.field+".drainSeconds", called, c.kind, "drainSeconds")
	v.require(c.Replicas == nil, c.field+".replicas", counted, c.kind, "replicas")
	v.require(c.Autoscaling == nil, c.field+".autoscaling", counted, c.kind, "autoscaling")
	v.require(c.PDB == nil, c.field+".pdb", "is for pods that serve: remove it from a %s", c.kind)
}

// checkSchedule checks the fields that only a CronJob has.
func checkSchedule(v *verdict, s *nexusv1.NexusAICapabilitySpec, c component) {
	is := c.kind == nexusv1.ComponentCronJob
	v.require(is == (c.runs.schedule != ""), c.field+".schedule", "a CronJob needs a schedule, and only a CronJob has one")
	v.require(is || c.runs.timeZone == "", c.field+".timeZone", "only a CronJob has it: remove it, or set type: CronJob")
	v.require(is || c.runs.concurrency == "", c.field+".concurrencyPolicy", "only a CronJob has it: remove it, or set type: CronJob")
	if !is {
		return
	}
	if _, err := cron.ParseStandard(c.runs.schedule); err != nil || strings.Contains(c.runs.schedule, "=") {
		v.require(false, c.field+".schedule", "%q is no schedule: write minute, hour, day of the month, month and day of the week, such as \"0 3 * * *\"", c.runs.schedule)
	}
	oneOf(v, c.field+".concurrencyPolicy", batchv1.ConcurrencyPolicy(c.runs.concurrency), "", batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)
	v.require(len(s.CapabilityName)+len(s.Environment)+len(c.name) <= maxCronJobNames, c.field+".name",
		"capabilityName, environment and the name of a CronJob together have at most %d characters", maxCronJobNames)
}
