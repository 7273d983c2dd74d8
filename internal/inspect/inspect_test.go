// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/health"
)

func TestVersionIsReadFromTheTagOrTheLabels(t *testing.T) {
	labels := map[string]string{"app.kubernetes.io/version": "9.9.9"}
	for image, want := range map[string]string{"nexus-operator:v1.2.3": "v1.2.3", "host:5000/nexus-operator": "9.9.9",
		"host:5000/nexus-operator:v1": "v1",
		"nexus-operator@sha256:abc":   "9.9.9", "nexus-operator:v2@sha256:abc": "v2"} {
		if got := versionOf(image, labels); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

func TestArgsReplaceTheVariablesOfTheContainer(t *testing.T) {
	w := Workload{template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "proxy", Args: []string{"x"}},
		{Name: "operator", Args: []string{"--shard=$(POD_INDEX)/2", "--region=$(REGION)", "--cluster-id=$(NONE)"},
			Env: []corev1.EnvVar{{Name: "POD_INDEX", ValueFrom: &corev1.EnvVarSource{}}, {Name: "REGION", Value: "eu-west-3"}}}}}}}
	if got := w.Args("ns"); !slices.Equal(got, []string{"--shard=0/2", "--region=eu-west-3", "--cluster-id=$(NONE)"}) {
		t.Errorf("%q", got)
	}
	if got := w.Getenv("ns")("OPERATOR_NAMESPACE"); got != "ns" {
		t.Errorf("%q", got)
	}
	if got := (Workload{}).Args("ns"); got != nil {
		t.Errorf("without a container: %q", got)
	}
}

func TestOperatorIsHealthyWithoutProblems(t *testing.T) {
	well := func() *OperatorStatus {
		return &OperatorStatus{Namespace: "ns", Client: "1.0.0",
			Workloads: []Workload{{Kind: "Deployment", Name: "nexus-operator", Version: "v1.0.0", Replicas: 2, Ready: 2}},
			Leases:    []Lease{{Name: "a", Holder: "x"}}, CRDs: []Definition{{Name: "c", Established: true}}}
	}
	if s := well(); func() bool { s.judge(false); return !s.Healthy || s.Skew }() {
		t.Errorf("%+v", s)
	}
	for name, change := range map[string]func(*OperatorStatus){
		"a pod is not ready":      func(s *OperatorStatus) { s.Workloads[0].Ready = 1 },
		"scaled to nothing":       func(s *OperatorStatus) { s.Workloads[0].Replicas, s.Workloads[0].Ready = 0, 0 },
		"a rollout":               func(s *OperatorStatus) { s.Workloads[0].outdated = true },
		"no leader":               func(s *OperatorStatus) { s.Leases[0].Holder = "" },
		"a definition is missing": func(s *OperatorStatus) { s.CRDs[0].Established = false },
	} {
		s := well()
		change(s)
		if s.judge(false); s.Healthy || len(s.Problems) != 1 {
			t.Errorf("%s: %q", name, s.Problems)
		}
	}
	for name, change := range map[string]func(*OperatorStatus){
		"pods start":          func(s *OperatorStatus) { s.Workloads[0].Ready = 0 },
		"a rollout":           func(s *OperatorStatus) { s.Workloads[0].outdated = true },
		"nobody leads as yet": func(s *OperatorStatus) { s.Leases[0].Holder = "" },
	} {
		s := well()
		change(s)
		if s.judge(true); !s.Healthy || len(s.Starting) != 1 {
			t.Errorf("%s: %q, %q", name, s.Problems, s.Starting)
		}
	}
	if s := well(); func() bool { s.CRDs[0].Established = false; s.judge(true); return s.Healthy }() {
		t.Error("a missing definition is no problem of a start")
	}
	skewed := well()
	skewed.Client = "v1.1.0"
	if skewed.judge(false); !skewed.Skew || !skewed.Healthy {
		t.Errorf("another version: %+v", skewed)
	}
}

func TestPodsHaveTheDurationOfALeaseToStart(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	r := (&Reader{Clock: clocktesting.NewFakePassiveClock(now)}).operator(OperatorQuery{LeaseDuration: 12 * time.Second})
	pod := func(created, ready time.Duration) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-created))}}
		if ready > 0 {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(now.Add(-ready))}}
		}
		return p
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"created a moment ago":            {pod(time.Second, 0), true},
		"ready for a moment":              {pod(time.Minute, 5*time.Second), true},
		"ready for long":                  {pod(time.Hour, time.Minute), false},
		"not ready, and created long ago": {pod(time.Hour, 0), false},
	} {
		if got := r.hasJustStarted(&OperatorStatus{Pods: []Pod{r.podOf(tc.pod)}}); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestHealthInOneWord(t *testing.T) {
	alive, leaving := &v1alpha1.S3Bucket{}, &v1alpha1.S3Bucket{}
	leaving.DeletionTimestamp = new(metav1.Now())
	paused := []metav1.Condition{{Type: "Paused", Status: metav1.ConditionTrue}}
	for name, tc := range map[string]struct {
		h     health.Health
		o     *v1alpha1.S3Bucket
		conds []metav1.Condition
		want  Health
	}{
		"ready":                       {health.Health{Ready: true}, alive, nil, Ready},
		"ready with trouble":          {health.Health{Ready: true, Stalled: true, Reason: "OIDCProviderMissing"}, alive, nil, Failed},
		"a person must help":          {health.Health{Stalled: true, Reason: "Conflict"}, alive, nil, Failed},
		"its provider is not ready":   {health.Health{Stalled: true, Reason: "ProviderNotReady"}, alive, nil, Waiting},
		"it waits":                    {health.Health{Reason: "Waiting"}, alive, nil, Waiting},
		"it is under way":             {health.Health{Reason: "Busy"}, alive, nil, Progressing},
		"it cannot be known":          {health.Health{Unknown: true, Stalled: true}, alive, nil, Unknown},
		"it is being deleted":         {health.Health{Ready: true}, leaving, nil, Deleting},
		"its deletion fails":          {health.Health{Stalled: true, Reason: "BucketNotEmpty"}, leaving, nil, Failed},
		"it is paused":                {health.Health{Reason: "Progressing"}, alive, paused, Paused},
		"it is suspended":             {health.Health{Reason: "Paused"}, alive, nil, Paused},
		"it failed before":            {health.Health{Stalled: true, Reason: "Conflict"}, alive, paused, Paused},
		"it was ready when it paused": {health.Health{Ready: true}, alive, paused, Ready},
	} {
		n := &Node{}
		if n.judge(tc.h, tc.o, tc.conds); n.Health != tc.want {
			t.Errorf("%s: %s, want %s", name, n.Health, tc.want)
		}
	}
}

func TestStatusesPutTheUsualConditionsFirst(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"kind": "S3Bucket", "metadata": map[string]any{"name": "a", "generation": int64(2)},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "BackendReady", "status": "True", "observedGeneration": int64(2)},
			map[string]any{"type": "Stalled", "status": "False"},
			map[string]any{"type": "Ready", "status": "True", "observedGeneration": int64(1)}}}}}
	list := Statuses([]*unstructured.Unstructured{u})
	conds := list.Objects[0].Conditions
	if len(conds) != 3 || conds[0].Type != "Ready" || conds[1].Type != "Stalled" {
		t.Errorf("%+v", conds)
	}
	if list.Objects[0].Ready || !meta.IsStatusConditionTrue(conds, "Ready") {
		t.Error("an object that was ready at an earlier generation is said to be ready")
	}
}

func TestEventsOfBothAPIsAreRead(t *testing.T) {
	at := metav1.NewMicroTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	series := eventOf(corev1.Event{Series: &corev1.EventSeries{Count: 3, LastObservedTime: at}})
	if series.Count != 3 || !series.Last.Time.Equal(at.Time) {
		t.Errorf("%+v", series)
	}
	single := eventOf(corev1.Event{EventTime: at})
	if single.Count != 1 || !single.Last.Time.Equal(at.Time) {
		t.Errorf("%+v", single)
	}
	old := eventOf(corev1.Event{Count: 2, LastTimestamp: metav1.NewTime(at.Time)})
	if got := newest([]Event{old, single, series}, 2); len(got) != 2 || old.Count != 2 {
		t.Errorf("%+v", got)
	}
}
