// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/testkit/creation"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

var midday = creation.Midday()

// story returns the observations of monitor during a creation, a look each.
func story() []*nexusv1.NexusAICapability {
	const w, p, r, f = nexusv1.ResourceWaiting, nexusv1.ResourceProgressing, nexusv1.ResourceReady, nexusv1.ResourceFailed
	failed := creation.At(nexusv1.PhaseFailed, r, r, f, w, w, w)
	failed.Status.Message = "Conflict"
	failed.Status.Conditions = []metav1.Condition{
		{Type: nexusv1.ConditionDataServicesReady, Status: metav1.ConditionFalse, Reason: "Conflict",
			Message: "S3Bucket/myapp-dev-logs: it belongs to another owner"},
		{Type: "Stalled", Status: metav1.ConditionTrue, ObservedGeneration: 2, Reason: "Conflict",
			Message: "S3Bucket/myapp-dev-logs: it belongs to another owner"}}
	failed.Status.Resources[2].Reason = "Conflict"
	running := creation.At(nexusv1.PhaseRunning, r, r, r, r, r, r)
	running.Status.Message = "everything runs"
	running.Status.Endpoints = &nexusv1.EndpointsStatus{URL: "http://balancer.example.com"}
	return []*nexusv1.NexusAICapability{
		creation.At(nexusv1.PhasePending), creation.At(nexusv1.PhaseProvisioningDataServices, w, w, w, w, w, w),
		creation.At(nexusv1.PhaseProvisioningDataServices, p, r, w, w, w, w), failed, running}
}

func deployment(current int32) []*appsv1.Deployment {
	return []*appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-backend", Generation: 1},
		Spec:   appsv1.DeploymentSpec{Replicas: new(int32(2))},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: current}}}
}

func eventAt(second int, kind, name, reason string) *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{UID: "u-" + "1"}, InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name},
		Reason:  reason,
		Message: "the table was created", Type: corev1.EventTypeNormal,
		LastTimestamp: metav1.NewTime(midday.Add(time.Duration(second) * time.Second)), Count: 1}
}

func TestMonitor_PrintsEveryChangeOnce(t *testing.T) {
	r := NewRecorder(midday)
	var lines, objects, tables strings.Builder
	screen := &console.Canvas{Width: 80}
	for i, c := range story() {
		now := midday.Add(time.Duration(i*2) * time.Second)
		var events []*corev1.Event
		if i > 1 {
			events = []*corev1.Event{eventAt(3, "DynamoDBTable", "myapp-dev-license", "Created"),
				eventAt(3, "DynamoDBTable", "somebody-elses", "Created")}
		}
		p := Of(c, deployment(int32(min(i, 2))), events)
		for range 2 { // the second look sees nothing new
			for _, c := range r.Observe(&p, now) {
				lines.WriteString(LineOf(c) + "\n")
				b, err := json.Marshal(c)
				if err != nil {
					t.Fatal(err)
				}
				objects.WriteString(string(b) + "\n")
			}
		}
		tables.WriteString(strings.Join(Table(screen, p, now.Sub(midday)), "\n") + "\n\n")
		if ended := p.EndOf(UntilAddress); ended.Failed || ended.Reached {
			lines.WriteString(LineOf(r.Result(p, now, map[bool]string{true: ResultFailed, false: ResultReached}[ended.Failed], ended.Text)) + "\n")
		}
	}
	golden.Check(t, "monitor.txt", lines.String())
	golden.Check(t, "monitor.ndjson", objects.String())
	golden.Check(t, "monitor-table.txt", tables.String())
}

// Queues, topics and the user pool are shown where they are declared, and no step counts them.
func TestMonitor_ShowsOtherServicesBesideTheSteps(t *testing.T) {
	r, screen := NewRecorder(midday), &console.Canvas{Width: 80}
	c := story()[4]
	c.Status.Resources = append(c.Status.Resources,
		nexusv1.ResourceStatus{Kind: "SQSQueue", Name: "myapp-dev-jobs", State: nexusv1.ResourceReady},
		nexusv1.ResourceStatus{Kind: "SNSTopic", Name: "myapp-dev-news", State: nexusv1.ResourceProgressing, Reason: "Busy"})
	c.Status.Resources = append(c.Status.Resources,
		nexusv1.ResourceStatus{Kind: "CognitoUserPool", Name: "myapp-dev-users", State: nexusv1.ResourceReady})
	p := Of(c, nil, nil)
	if p.done != 11 || p.declared != 11 {
		t.Errorf("%d of %d steps are done", p.done, p.declared)
	}
	var said strings.Builder
	for _, c := range r.Observe(&p, midday) {
		said.WriteString(LineOf(c) + "\n")
	}
	said.WriteString(strings.Join(Table(screen, p, 0), "\n"))
	for _, want := range []string{"service SQS: done (1 ready)", "service SNS: in progress (0 of 1 ready; SNSTopic/myapp-dev-news: Busy)",
		"\n    SQS             ", "\n    SNS             ", "service Cognito: done (1 ready)"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("monitor does not say %q:\n%s", want, said.String())
		}
	}
}

func TestMonitor_MeasuresWhatBeganBeforeItOnlyIfNew(t *testing.T) {
	for name, tc := range map[string]struct {
		generation int64
		want       time.Duration
	}{"new": {1, 9 * time.Second}, "edited": {2, -1}} {
		t.Run(name, func(t *testing.T) {
			r := NewRecorder(midday)
			for i, c := range []*nexusv1.NexusAICapability{story()[2], story()[3]} {
				c.CreationTimestamp, c.Generation, c.Status.ObservedGeneration = metav1.NewTime(midday.Add(-5*time.Second)), tc.generation,
					tc.generation
				p := Of(c, nil, nil)
				r.Observe(&p, midday.Add(time.Duration(i*4)*time.Second))
				if got := p.steps[0].took; i == 1 && got != tc.want {
					t.Errorf("took %s, want %s", got, tc.want)
				}
			}
		})
	}
}

func TestEndOf_WaitsForWhatWasAskedFor(t *testing.T) {
	running := story()[4]
	withoutAddress := running.DeepCopy()
	withoutAddress.Status.Endpoints = nil
	internal := withoutAddress.DeepCopy()
	internal.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
	internal.Spec.Frontend.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}
	edited := running.DeepCopy()
	edited.Generation = 3
	stalledBefore := story()[3]
	stalledBefore.Generation = 3
	retrying := story()[3]
	retrying.Status.Conditions[1].Status = metav1.ConditionFalse
	for name, tc := range map[string]struct {
		c       *nexusv1.NexusAICapability
		pods    []*appsv1.Deployment
		until   string
		want    End
		missing string
	}{
		"runs, all there": {running, deployment(2), UntilAddress,
			End{Reached: true, Text: "Running at http://balancer.example.com"}, ""},
		"runs, pods to come":       {running, deployment(1), UntilPods, End{}, "Deployment/myapp-dev-backend, of which 1 of 2"},
		"runs, pods not asked for": {running, deployment(1), UntilRunning, End{Reached: true, Text: "Running"}, ""},
		"runs, no Deployments":     {running, nil, UntilPods, End{}, "the Deployments"},
		"runs, address to come":    {withoutAddress, deployment(2), UntilAddress, End{}, "the address"},
		"runs, no balancer":        {internal, deployment(2), UntilAddress, End{Reached: true, Text: "Running"}, ""},
		"ran before the edit":      {edited, deployment(2), UntilRunning, End{}, "to see the last edit"},
		"stalled": {story()[3], nil, UntilAddress,
			End{Failed: true, Text: "Conflict: S3Bucket/myapp-dev-logs: it belongs to another owner"}, "Conflict"},
		"stalled before the edit": {stalledBefore, nil, UntilAddress, End{}, "to see the last edit"},
		"retrying":                {retrying, nil, UntilAddress, End{}, "Conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Of(tc.c, tc.pods, nil)
			if got := p.EndOf(tc.until); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
			if got := p.Missing(tc.until); (tc.missing == "") != (got == "") || !strings.Contains(got, tc.missing) {
				t.Errorf("missing %q, want %q", got, tc.missing)
			}
		})
	}
	if got := (Progress{}).EndOf(UntilRunning); !got.Failed {
		t.Errorf("of one that is gone: %+v", got)
	}
}

func TestMonitor_AnEventIsToldOfOnceACount(t *testing.T) {
	r := NewRecorder(midday)
	one := eventAt(1, "NexusAICapability", "myapp", "Running")
	p := Of(story()[4], nil, []*corev1.Event{one})
	if n := len(r.newEvents(p.events)); n != 1 {
		t.Errorf("%d new, want 1", n)
	}
	if n := len(r.newEvents(p.events)); n != 0 {
		t.Errorf("%d new again, want none", n)
	}
	again := one.DeepCopy()
	again.Count = 2
	if n := len(r.newEvents(Of(story()[4], nil, []*corev1.Event{again}).events)); n != 1 {
		t.Errorf("%d new of one that happened again, want 1", n)
	}
	var many []eventLine
	for i := range 9 {
		many = append(many, eventLine{key: string(rune('a' + i))})
	}
	if n := len(NewRecorder(midday).newEvents(many)); n != lastEvents {
		t.Errorf("%d of those before the start, want %d", n, lastEvents)
	}
}
