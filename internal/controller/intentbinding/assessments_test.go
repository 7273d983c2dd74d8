// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

const assessorImage = "registry.example/assessor:1"

func service(name string, change func(s *corev1.Service)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	s.Spec.Selector = map[string]string{"app": "web"}
	s.Spec.Ports = []corev1.ServicePort{{Port: 443, Protocol: corev1.ProtocolTCP}, {Port: 53, Protocol: corev1.ProtocolUDP}}
	change(s)
	return s
}

// assessment is a pod that assessed TLS for a policy.
func assessment(name, policy string, state corev1.ContainerState) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name, CreationTimestamp: metav1.NewTime(start),
		Labels: map[string]string{intent.LabelAssessment: intent.AssessmentTLS}, Annotations: map[string]string{intent.AnnotationPolicy: policy}}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: intent.AssessorContainer, State: state}}
	return p
}

func TestRuns_SayHowAPodEnded(t *testing.T) {
	ended := metav1.NewTime(start.Add(time.Minute))
	for _, c := range []struct {
		name    string
		pod     *corev1.Pod
		failure string
		message string
	}{
		{"running", assessment("p", "web", corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), "", ""},
		{"ended", assessment("p", "web", corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: ended, Message: "results"}}), "", "results"},
		{"failed", assessment("p", "web", corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}}), "the container ended with exit code 2 (Error)", ""},
		{"is being created", assessment("p", "web", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}), "", ""},
		{"cannot pull", assessment("p", "web", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}), "the container cannot start (ImagePullBackOff)", ""},
		{"cannot pull, later", assessment("p", "web", corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}), "the container cannot start (ImagePullBackOff)", ""},
		{"evicted before it began", &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}, "it failed (Evicted)", ""},
		{"failed without a reason", &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, "it failed", ""},
		{"not scheduled", &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, "", ""},
	} {
		got := intentfacts.RunOf(c.pod)
		if got.Failure != c.failure || got.Message != c.message || (got.Message != "") != got.Finished.Equal(ended.Time) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestAssessed_PassesEventsThatMayHoldAResult(t *testing.T) {
	running := assessment("p", "web", corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	ended := assessment("p", "web", corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})
	labeled := running.DeepCopy()
	labeled.Labels["x"] = "y"
	failed := running.DeepCopy()
	failed.Status.Phase = corev1.PodFailed
	other := ended.DeepCopy()
	other.Labels = nil
	for _, c := range []struct {
		name    string
		was, is client.Object
		want    bool
	}{
		{"ended", running, ended, true},
		{"evicted", running, failed, true},
		{"another label", running, labeled, false},
		{"a pod of somebody else", running, other, false},
		{"no pod", running, namespaceOf("x", nil), false},
	} {
		if got := (assessed{}).Update(event.UpdateEvent{ObjectOld: c.was, ObjectNew: c.is}); got != c.want {
			t.Errorf("%s: passes %v", c.name, got)
		}
	}
	if !(assessed{}).Create(event.CreateEvent{Object: ended}) || (assessed{}).Create(event.CreateEvent{Object: other}) {
		t.Error("after a restart the pods that ended meanwhile are not looked at, or all pods are")
	}
	if (assessed{}).Delete(event.DeleteEvent{Object: ended}) {
		t.Error("the deletion of a pod wakes its binding")
	}
}

func TestServices_WhoseTLSIsAssessed(t *testing.T) {
	b := newBed(t,
		service("web", func(*corev1.Service) {}),
		service("elsewhere", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeExternalName }),
		service("going", func(s *corev1.Service) {
			s.Finalizers, s.DeletionTimestamp = []string{"example.com/x"}, &metav1.Time{Time: start}
		}),
		service("other", func(s *corev1.Service) { s.Namespace = "other" }))
	got, err := intentfacts.ServicesIn(t.Context(), b.Live, team)
	if err != nil || len(got) != 1 || got[0].Name != "web" || !slices.Equal(got[0].Ports, []int32{443}) {
		t.Errorf("%+v %v", got, err)
	}
	b.api.Fail("live list Service", errForbidden)
	if _, err := intentfacts.ServicesIn(t.Context(), b.Live, team); err == nil || !strings.Contains(err.Error(), "Services whose TLS is assessed") {
		t.Errorf("got %v", err)
	}
}

func TestReconcile_AssessesTLSAndLooksAgain(t *testing.T) {
	web := bindingTo("web", "assesstls")
	b := newBedOf(t, options.Options{Intents: options.Intents{TLSAssessorImage: assessorImage}},
		web, intentOf("assessTLS", "Audit", nil), service("web", func(*corev1.Service) {}),
		assessment("of-web", "web", corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), assessment("of-other", "other", corev1.ContainerState{}))
	if res := b.passed(web); res.RequeueAfter != assessmentsEvery {
		t.Errorf("%+v: Services are not watched", res)
	}
	if got := b.api.Writes(); !slices.ContainsFunc(got, func(w string) bool { return strings.HasPrefix(w, "apply CronJob team/web-") }) {
		t.Errorf("writes %q", got)
	}
	runs, err := intentfacts.RunsOf(t.Context(), b.Client, intent.Policy{Namespace: team, Name: "web"})
	if err != nil || len(runs) != 1 || runs[0].Pod != "of-web" {
		t.Errorf("runs of the policy: %+v %v", runs, err)
	}
	for _, call := range []string{"live list Service", "list Pod"} {
		b.api.Fail(call, errOutage)
		if _, err := b.pass(web); err == nil {
			t.Errorf("%s: no error", call)
		}
		b.api.Fail(call, nil)
	}
	b.passed(web)
	b.api.Writes()
	b.passed(web)
	b.writes()
}

func TestReconcile_ReadsNoServicesWithoutAnAssessor(t *testing.T) {
	web := bindingTo("web", "assesstls")
	b := newBed(t, web, intentOf("assessTLS", "Audit", nil))
	b.passed(web)
	if got := b.api.Calls("live list Service", "list Pod"); len(got) != 0 {
		t.Errorf("asked %q without an image to assess with", got)
	}
	b.shows(web, "Enforced", "False", "NotEnforced")
}

func TestAssessments_WarnOnceWhenTheyBeginToFail(t *testing.T) {
	failed := []v1alpha1.Coverage{{Intent: "assessTLS", Engine: "TLSAssessor", Reason: intent.ReasonAssessmentFailed, Message: "exit code 2"}}
	invalid := []v1alpha1.Coverage{{Intent: "assessTLS", Engine: "TLSAssessor", Reason: intent.ReasonResultInvalid, Message: "not JSON"}}
	fine := []v1alpha1.Coverage{{Intent: "assessTLS", Engine: "TLSAssessor", Level: "Audited"}}
	b := newBed(t)
	for _, c := range []struct {
		name    string
		was, is []v1alpha1.Coverage
		want    []string
	}{
		{"first failure", fine, failed, []string{"Warning AssessmentFailed exit code 2 (NX-SEC-027)"}},
		{"still failing", failed, failed, nil},
		{"another failure", failed, invalid, []string{"Warning " + intent.ReasonResultInvalid + " not JSON (NX-SEC-028)"}},
		{"recovered", failed, fine, nil},
	} {
		b.warnOfAssessment(bindingTo("web"), c.was, c.is)
		if got := b.takeEvents(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
