// SPDX-License-Identifier: Apache-2.0

// Package tlsassessor makes CronJobs that assess the TLS of a policy's targets, and says from their results how far
// that goes. It only looks: nothing is ever blocked. The CronJobs are namespaced, so a policy over the cluster has
// nothing to add to those in the namespaces.
package tlsassessor

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const (
	name = "TLSAssessor"
	// maxName limits how long a CronJob's name may be: its Jobs add to it.
	// https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/
	maxName = 52
)

type engine struct{}

// New returns the engine.
func New() intent.Engine { return engine{} }

func (engine) Name() string { return name }

// Requires is empty: every cluster serves CronJobs.
func (engine) Requires() []schema.GroupVersionKind { return nil }

func (engine) Makes() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{batchv1.SchemeGroupVersion.WithKind("CronJob")}
}

func (engine) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	var t intent.Translation
	for _, r := range p.Rules {
		claim, targets := answer(p, r, f.TLS)
		if claim.Level != v1alpha1.LevelNone {
			t.Objects = append(t.Objects, cronJob(p, r, f.TLS.Image, targets))
		}
		t.Claims = append(t.Claims, claim)
	}
	return t
}

// answer returns the claim for a rule, and the targets of its CronJob.
func answer(p intent.Policy, r intent.Rule, f intent.TLS) (intent.Claim, []string) {
	switch {
	case r.Canonical != "assessTLS":
		return intent.Not(r, intent.ReasonNotCovered, "TLSAssessor only assesses TLS: it has no means for "+r.ID), nil
	case p.Namespace == "":
		return intent.Not(r, intent.ReasonElsewhere, "TLSAssessor's CronJobs are in the namespaces"), nil
	case f.Image == "":
		return intent.Not(r, intent.ReasonImageMissing,
			"the operator has no image that assesses TLS: an administrator sets --tls-assessor-image"), nil
	}
	targets, dropped := intent.TLSTargets(p, r, f.Services)
	if len(targets) == 0 {
		return intent.Not(r, intent.ReasonNoTargets,
			"params.external_addresses is empty, and no Service of the namespace with TCP ports selects bound pods only: "+
				"add an address, or bind the intent by labels that a Service selects"), nil
	}
	return assessed(r, f, targets, dropped), targets
}

// assessed returns the claim for a rule that has a CronJob.
func assessed(r intent.Rule, f intent.TLS, targets []string, dropped int) intent.Claim {
	waiting := slices.DeleteFunc(slices.Clone(targets), func(t string) bool {
		return slices.ContainsFunc(f.Results, func(a v1alpha1.Assessment) bool { return a.Target == t })
	})
	switch {
	case f.Reason != "":
		return intent.Partly(r, f.Reason, f.Problem)
	case len(waiting) > 0:
		return intent.Partly(r, intent.ReasonNoResultYet,
			fmt.Sprintf("no assessment of %s has ended: wait for the next run of the CronJob, or start one by kubectl create job --from; if runs leave no result, see kubectl describe cronjob and kubectl get events", listed(waiting)))
	case f.Outdated:
		return intent.Partly(r, intent.ReasonResultOutdated,
			"the last results are older than two intervals of params.schedule: see kubectl describe cronjob")
	case dropped > 0:
		return intent.Partly(r, intent.ReasonTooManyTargets,
			fmt.Sprintf("only the first %d of %d targets are assessed: divide them among several bindings", len(targets), len(targets)+dropped))
	case !r.Audit():
		return intent.Partly(r, intent.ReasonReportsOnly, "TLSAssessor reports and blocks nothing: set action: Audit in SecurityIntent "+r.Intent)
	}
	claim := intent.Enforces(r)
	claim.Message = found(f.Results)
	return claim
}

// found counts the targets with problems.
func found(results []v1alpha1.Assessment) string {
	n := 0
	for _, a := range results {
		if a.Result == v1alpha1.AssessmentFailed {
			n++
		}
	}
	if n == 0 {
		return fmt.Sprintf("targets with problems: 0 of %d", len(results))
	}
	return fmt.Sprintf("targets with problems: %d of %d; see status.assessments", n, len(results))
}

// listed names the first of several targets.
func listed(targets []string) string {
	if len(targets) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(targets[:3], ", "), len(targets)-3)
	}
	return strings.Join(targets, ", ")
}

// cronJob makes the CronJob of a rule. Its pods meet the Pod Security Standard "restricted" and have no token.
func cronJob(p intent.Policy, r intent.Rule, image string, targets []string) *unstructured.Unstructured {
	u := intent.NewObject(name, batchv1.SchemeGroupVersion.WithKind("CronJob"), p, r, "")
	u.SetName(intent.ShortenName(u.GetName(), maxName))
	u.Object["spec"] = map[string]any{
		"schedule": intent.TLSSchedule(r), "timeZone": "Etc/UTC", "suspend": false, "concurrencyPolicy": "Forbid",
		"startingDeadlineSeconds":    int64(3600),
		"successfulJobsHistoryLimit": int64(1), "failedJobsHistoryLimit": int64(1),
		"jobTemplate": map[string]any{
			"metadata": map[string]any{"labels": marks()},
			"spec": map[string]any{
				"backoffLimit": int64(0),
				"template":     map[string]any{"metadata": podMetadata(p), "spec": podSpec(image, targets)},
			},
		},
	}
	return u
}

// marks returns the labels of Jobs and pods that the operator finds them by.
func marks() map[string]any {
	return map[string]any{wellknown.LabelManagedBy: wellknown.OperatorName, intent.LabelAssessment: intent.AssessmentTLS}
}

// podMetadata keeps Istio from adding its proxy, which would assess itself and keep the pod from ending.
func podMetadata(p intent.Policy) map[string]any {
	l := marks()
	l["sidecar.istio.io/inject"] = "false"
	return map[string]any{"labels": l, "annotations": map[string]any{intent.AnnotationPolicy: p.Name}}
}

func podSpec(image string, targets []string) map[string]any {
	return map[string]any{
		"restartPolicy": "Never", "automountServiceAccountToken": false, "enableServiceLinks": false,
		// The deadline of a Job would delete the pod, and with it the message.
		"activeDeadlineSeconds": int64(600),
		"securityContext":       map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
		"containers": []any{map[string]any{
			"name": intent.AssessorContainer, "image": image,
			"env":                      []any{map[string]any{"name": "TLS_TARGETS", "value": strings.Join(targets, ",")}},
			"terminationMessagePath":   "/dev/termination-log",
			"terminationMessagePolicy": "File",
			"resources": map[string]any{
				"requests": map[string]any{"cpu": "10m", "memory": "32Mi"}, "limits": map[string]any{"cpu": "500m", "memory": "128Mi"},
			},
			"securityContext": map[string]any{
				"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []any{"ALL"}},
			},
		}},
	}
}
