// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// job is ready when it has completed, and stalled when it failed: only an edit or a person runs it again.
func (r Reader) job(ctx context.Context, j *batchv1.Job) (Health, error) {
	runs := &nexusv1.RunStatus{Last: j.Status.StartTime, Failures: j.Status.Failed}
	if jobCondition(j, batchv1.JobComplete) != nil {
		runs.LastSuccess = j.Status.CompletionTime
		return Health{Ready: true, Runs: runs}, nil
	}
	pods, err := r.podsOfJob(ctx, j)
	if err != nil {
		return Health{}, err
	}
	if failed := jobCondition(j, batchv1.JobFailed); failed != nil {
		return Health{Reason: status.ReasonJobFailed, Stalled: true, Runs: runs, Message: fmt.Sprintf(
			"the Job failed: %s; correct it by an edit of the component, which runs it again, or run it again as it is with kubectl delete job -n %s %s",
			failureOf(j, failed, pods), j.Namespace, j.Name)}, nil
	}
	for i := range pods {
		if h, sick := r.sickPod(&pods[i]); sick && h.Reason != status.ReasonProbeFailing {
			h.Runs = runs
			return h, nil
		}
	}
	said := fmt.Sprintf("the Job runs: %d of its pods are active", j.Status.Active)
	if j.Status.Failed > 0 {
		said += fmt.Sprintf(", and %d failed: %s", j.Status.Failed, failureOf(j, nil, pods))
	}
	return Health{Reason: status.ReasonProgressing, Message: said, Runs: runs}, nil
}

// cronJob is ready once it exists. Its last run may have failed, which the next one may repair.
func (r Reader) cronJob(ctx context.Context, c *batchv1.CronJob) (Health, error) {
	h := Health{Ready: true, Runs: &nexusv1.RunStatus{Last: c.Status.LastScheduleTime, LastSuccess: c.Status.LastSuccessfulTime,
		Next: nextRun(c)}}
	list := &batchv1.JobList{}
	if err := r.Client.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels(c.Spec.JobTemplate.Labels)); err != nil {
		return Health{}, err
	}
	ended := slices.DeleteFunc(list.Items, func(j batchv1.Job) bool {
		return !metav1.IsControlledBy(&j, c) || jobCondition(&j, batchv1.JobComplete) == nil && jobCondition(&j, batchv1.JobFailed) == nil
	})
	slices.SortFunc(ended, func(a, b batchv1.Job) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	for i := range ended {
		failed := jobCondition(&ended[i], batchv1.JobFailed)
		if failed == nil {
			break
		}
		if h.Runs.Failures++; h.Runs.Failures > 1 {
			continue
		}
		pods, err := r.podsOfJob(ctx, &ended[i])
		if err != nil {
			return Health{}, err
		}
		h.Reason, h.Message = status.ReasonJobFailed, "the last run failed: "+failureOf(&ended[i], failed, pods)
	}
	return h, nil
}

// nextRun is the first time of the schedule after the last run, or after the CronJob was created; nil where the schedule or its time zone
// cannot be read.
func nextRun(c *batchv1.CronJob) *metav1.Time {
	zone, err := time.LoadLocation(ptr.Deref(c.Spec.TimeZone, "UTC"))
	if err != nil {
		return nil
	}
	schedule, err := cron.ParseStandard(c.Spec.Schedule)
	if err != nil {
		return nil
	}
	next := schedule.Next(ptr.Deref(c.Status.LastScheduleTime, c.CreationTimestamp).In(zone))
	if next.IsZero() {
		return nil
	}
	return &metav1.Time{Time: next.UTC()}
}

func jobCondition(j *batchv1.Job, of batchv1.JobConditionType) *batchv1.JobCondition {
	for i, c := range j.Status.Conditions {
		if c.Type == of && c.Status == corev1.ConditionTrue {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

// podsOfJob lists the pods that a Job made, the newest first.
func (r Reader) podsOfJob(ctx context.Context, j *batchv1.Job) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(j.Namespace), client.MatchingLabels{batchv1.JobNameLabel: j.Name}); err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return !metav1.IsControlledBy(&p, j) })
	slices.SortFunc(own, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return own, nil
}

// failureOf says why a run failed, by its newest pod that failed, and where to read more.
func failureOf(j *batchv1.Job, failed *batchv1.JobCondition, pods []corev1.Pod) string {
	said := "run " + j.Name
	if failed != nil && failed.Reason != "" {
		said += " ended with " + failed.Reason + " (" + strings.TrimRight(status.Truncate(failed.Message, 200), ".") + ")"
	}
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if i < 0 {
		return said + ", and no pod of it is left: see kubectl describe job -n " + j.Namespace + " " + j.Name
	}
	p := &pods[i]
	said += ", pod " + p.Name
	switch t := terminated(p); {
	case t != nil && t.Reason != "" && t.Reason != "Error":
		said += fmt.Sprintf(" with %s, exit code %d", t.Reason, t.ExitCode)
	case t != nil:
		said += fmt.Sprintf(" with exit code %d", t.ExitCode)
	case p.Status.Reason != "":
		said += " with " + p.Status.Reason
	}
	return said + ": see kubectl logs -n " + p.Namespace + " " + p.Name
}

// terminated returns how the first container of a pod that failed ended; nil where none did.
func terminated(p *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return t
		}
	}
	return nil
}
