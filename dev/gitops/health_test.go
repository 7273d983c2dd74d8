// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	operator "github.com/nexus-operator/nexus-operator/internal/status"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// healthOf is the health in Argo CD for each status of kstatus.
var healthOf = map[status.Status]string{
	status.CurrentStatus: "Healthy", status.InProgressStatus: "Progressing", status.FailedStatus: "Degraded",
	status.TerminatingStatus: "Progressing",
}

// at returns an object of a generation whose status the operator wrote for another; conditions are the operator's.
func at(generation, observed int64, conditions []metav1.Condition) *unstructured.Unstructured {
	list := []any{}
	for i := range conditions {
		c, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
		if err != nil {
			panic(err)
		}
		list = append(list, c)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "aws-infra-operator.runner.codes/v1alpha1", "kind": "S3Bucket",
		"metadata": map[string]any{"name": "x", "namespace": "default", "generation": generation},
		"spec":     map[string]any{},
		"status":   map[string]any{"observedGeneration": observed, "conditions": list},
	}}
}

// after returns the conditions that the operator writes after passes with these results, at generation 1.
func after(results ...operator.Result) []metav1.Condition {
	var conditions []metav1.Condition
	for _, r := range results {
		r.Generation, r.Now = 1, noon
		operator.Summarize(&conditions, r)
	}
	return conditions
}

func deleting(o *unstructured.Unstructured) *unstructured.Unstructured {
	o.SetDeletionTimestamp(&metav1.Time{Time: noon})
	return o
}

func paused(o *unstructured.Unstructured) *unstructured.Unstructured {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	conditions = append(conditions,
		map[string]any{"type": operator.Paused, "status": "True", "reason": operator.ReasonPaused, "message": "annotation freezes this object"})
	o.Object["status"].(map[string]any)["conditions"] = conditions
	return o
}

func suspended(o *unstructured.Unstructured, phase string) *unstructured.Unstructured {
	o.SetKind("NexusAICapability")
	o.SetAPIVersion("nexus.ai/v1")
	o.Object["spec"].(map[string]any)["suspend"] = true
	o.Object["status"].(map[string]any)["phase"] = phase
	return o
}

// results of passes.
var (
	succeeded = operator.Result{ReadyMessage: "bucket x is as declared"}
	waiting   = operator.Result{Err: &operator.Waiting{For: "AWSProvider/x to be ready"}}
	busy      = operator.Result{Err: &operator.Waiting{Reason: operator.ReasonBusy, For: "AWS", Usable: true}}
	missing   = operator.Result{Err: &operator.Waiting{Reason: operator.ReasonWaiting, For: "image registry/app:v2 to be pushed"}}
	pending   = operator.Result{Err: &operator.Waiting{Reason: operator.ReasonPlanPending, For: "approval of plan 5f1d"}}
	stalled   = operator.Result{Err: operator.Invalid("spec.region", "no such region")}
	retrying  = operator.Result{Err: &operator.Retrying{Reason: operator.ReasonThrottled, Cause: errors.New("AWS throttles")}}
	given     = operator.Result{Err: retrying.Err, FailingSince: noon.Add(-time.Hour)}
)

var cases = []struct {
	name   string
	object *unstructured.Unstructured
	want   health
}{
	{"ready", at(1, 1, after(succeeded)), health{"Healthy", "bucket x is as declared"}},
	{"ready without a message", at(1, 1, after(operator.Result{})), health{"Healthy", "The object is ready"}},
	{"waiting", at(1, 1, after(waiting)), health{"Progressing", "waiting for AWSProvider/x to be ready"}},
	{"ready while AWS changes it", at(1, 1, after(succeeded, busy)), health{"Progressing", "waiting for AWS"}},
	{"before its image is pushed", at(1, 1, after(missing)), health{"Progressing", "waiting for image registry/app:v2 to be pushed"}},
	{"before its next image is pushed", at(2, 2, after(succeeded, missing)),
		health{"Progressing", "waiting for image registry/app:v2 to be pushed"}},
	{"a failure that passes", at(1, 1, after(retrying)), health{"Progressing", "AWS throttles (NX-AWS-001)"}},
	{"a failure that passes, once ready", at(1, 1, after(succeeded, retrying)), health{"Progressing", "AWS throttles (NX-AWS-001)"}},
	{"a failure that lasts", at(1, 1, after(succeeded, given)), health{"Progressing", "AWS throttles (NX-AWS-001)"}},
	{"stalled", at(1, 1, after(stalled)), health{"Degraded", "spec.region: no such region (NX-SPEC-001)"}},
	{"stalled, once ready", at(1, 1, after(succeeded, stalled)), health{"Degraded", "spec.region: no such region (NX-SPEC-001)"}},
	{"recovered", at(1, 1, after(stalled, succeeded)), health{"Healthy", "bucket x is as declared"}},
	{"ready, then edited", at(2, 1, after(succeeded)), health{"Progressing", "The operator has not processed this generation yet"}},
	{"stalled, then edited", at(2, 1, after(stalled)), health{"Progressing", "The operator has not processed this generation yet"}},
	{"observed before the first pass", at(1, -1, nil), health{"Progressing", "The operator has not processed this generation yet"}},
	{"ready, being deleted", deleting(at(1, 1, after(succeeded))), health{"Progressing", "The object is being deleted"}},
	{"being deleted", deleting(at(1, 1, after(succeeded, waiting))), health{"Progressing", "waiting for AWSProvider/x to be ready"}},
	{"stalled in deletion", deleting(at(2, 1, after(stalled))), health{"Progressing", "The object is being deleted"}},
	{"paused, being deleted", deleting(paused(at(1, 1, after(succeeded)))), health{"Progressing", "The object is being deleted"}},
	{"suspended, then resumed", resumed(), health{"Progressing", "The operator has not processed this generation yet"}},
}

func resumed() *unstructured.Unstructured {
	o := suspended(at(2, 1, after(waiting)), "Suspended")
	o.Object["spec"].(map[string]any)["suspend"] = false
	return o
}

func TestHealth_ArgoCDAndFluxAgree(t *testing.T) {
	script := read(t, scriptFile)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := judge(t, script, c.object)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			flux, err := status.Compute(c.object)
			if err != nil {
				t.Fatal(err)
			}
			if healthOf[flux.Status] != got.Status {
				t.Errorf("Argo CD reports %s, kstatus %s: %s", got.Status, flux.Status, flux.Message)
			}
		})
	}
}

// Flux has no word for a paused object: it reports what the object was before. An object whose plan waits for an approval is no failure.
func TestHealth_PausedObjectsAreSuspended(t *testing.T) {
	for name, c := range map[string]struct {
		object *unstructured.Unstructured
		argo   string
		flux   status.Status
	}{
		"ready":                          {paused(at(1, 1, after(succeeded))), "Suspended", status.CurrentStatus},
		"edited":                         {paused(at(2, 1, after(succeeded))), "Suspended", status.InProgressStatus},
		"stalled":                        {paused(at(1, 1, after(stalled))), "Suspended", status.FailedStatus},
		"spec.suspend":                   {suspended(at(1, 1, after(waiting)), "Suspended"), "Suspended", status.InProgressStatus},
		"a plan that waits":              {at(1, 1, after(succeeded, pending)), "Suspended", status.InProgressStatus},
		"a plan that waits, and an edit": {at(2, 1, after(pending)), "Progressing", status.InProgressStatus},
		"a deletion that waits":          {deleting(at(1, 1, after(pending))), "Suspended", status.TerminatingStatus},
		// The operator has not processed spec.suspend: it is part of the next generation.
		"spec.suspend, not seen": {suspended(at(2, 1, after(succeeded)), "Running"), "Progressing", status.InProgressStatus},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(t, read(t, scriptFile), c.object); got.Status != c.argo || got.Message == "" {
				t.Errorf("got %+v, want %s", got, c.argo)
			}
			if flux, err := status.Compute(c.object); err != nil || flux.Status != c.flux {
				t.Errorf("kstatus: %+v %v, want %s", flux, err, c.flux)
			}
		})
	}
}
