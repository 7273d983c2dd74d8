// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

var cronJob = batchv1.SchemeGroupVersion.WithKind("CronJob")

// assessorImage has a tag that makes the test bed leave the container running, so that the test ends it.
const assessorImage = "registry.example.com/assessor:NotReady"

// runs creates a Job of a CronJob as kubectl create job --from does, and returns the pod that the Job controller
// makes of it, once its container runs.
func (h *home) runs(ns, cron, job string) *corev1.Pod {
	h.Helper()
	c := &batchv1.CronJob{}
	if err := h.c.Get(h.ctx(), client.ObjectKey{Namespace: ns, Name: cron}, c); err != nil {
		h.Fatal(err)
	}
	h.make(&batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: job, Labels: c.Spec.JobTemplate.Labels,
			Annotations:     map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, cronJob)},
		},
		Spec: c.Spec.JobTemplate.Spec,
	})
	pods := &corev1.PodList{}
	h.eventually("the pod of Job "+job, func() error {
		err := h.c.List(h.ctx(), pods, client.InNamespace(ns), client.MatchingLabels{"batch.kubernetes.io/job-name": job})
		if err == nil && len(pods.Items) != 1 {
			err = fmt.Errorf("%d pods", len(pods.Items))
		}
		if err == nil && pods.Items[0].Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("%+v", pods.Items[0].Status)
		}
		return err
	})
	return &pods.Items[0]
}

// ends writes the status of a pod as the kubelet does when its container has ended.
func (h *home) ends(pod *corev1.Pod, code int32, message string) {
	h.Helper()
	was := pod.DeepCopy()
	now := metav1.Now()
	pod.Status.Phase = map[bool]corev1.PodPhase{true: corev1.PodSucceeded, false: corev1.PodFailed}[code == 0]
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "assessor", Image: assessorImage, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: map[bool]string{true: "Completed", false: "Error"}[code == 0],
			Message: message, StartedAt: now, FinishedAt: now},
	}}}
	if err := h.c.Status().Patch(h.ctx(), pod, client.MergeFrom(was)); err != nil {
		h.Fatal(err)
	}
}

// assesses waits for a binding to show results, as target=result (message).
func (h *home) assesses(b *intentv1alpha1.SecurityIntentBinding, want ...string) {
	h.Helper()
	h.eventually(fmt.Sprintf("%s to show %q", b.Name, want), func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		np := &intentv1alpha1.NimbusPolicy{}
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), np); err != nil {
			return err
		}
		for _, list := range [][]intentv1alpha1.Assessment{b.Status.Assessments, np.Status.Assessments} {
			var got []string
			for _, a := range list {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s=%s %s", a.Target, a.Result, a.Message)))
			}
			if strings.Join(got, "|") != strings.Join(want, "|") {
				return fmt.Errorf("%q", got)
			}
		}
		return nil
	})
}

// warnings counts the warnings about a NimbusPolicy with a reason.
func (h *home) warnings(ns, name, reason string) (n int) {
	h.Helper()
	events := &eventsv1.EventList{}
	if err := h.c.List(h.ctx(), events, client.InNamespace(ns)); err != nil {
		h.Fatal(err)
	}
	for _, e := range events.Items {
		if e.Type == "Warning" && e.Reason == reason && e.Regarding.Kind == "NimbusPolicy" && e.Regarding.Name == name {
			n++
		}
	}
	return n
}

func assessment(host, rest string) string {
	return fmt.Sprintf(`{"version": 1, "targets": [{"host": %q, "port": 443, %s}]}`, host, rest)
}

func TestAssessTLS_ResultsShowInTheStatus(t *testing.T) {
	h := start(t, "--tls-assessor-image="+assessorImage)
	ns := h.namespace(map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	h.make(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"},
		Spec: corev1.ServiceSpec{Selector: app, Ports: []corev1.ServicePort{{Port: 443}}}})
	b := h.binds(ns, "web", app,
		h.declared("assessTLS", intentv1alpha1.Audit, intentv1alpha1.Params{"external_addresses": {"example.com:443"}}))
	h.make(b)
	h.covers(b, "assessTLS", "TLSAssessor", "Partial", "NoResultYet")
	h.shows(b, "Ready", "True", "Ready")
	h.shows(b, "Enforced", "False", "NotEnforced")

	first := h.runs(ns, "web-assesstls", "first")
	if c := first.Spec.Containers[0]; c.Env[0].Value != "example.com:443,web."+ns+".svc:443" || c.Image != assessorImage {
		t.Errorf("%+v", c)
	}
	h.ends(first, 0, assessment("example.com", `"protocols": ["TLSv1.0"], "problems": ["TLSv1.0 is offered"]`))
	h.assesses(b, "example.com:443=Failed TLSv1.0 is offered")
	h.covers(b, "assessTLS", "TLSAssessor", "Partial", "NoResultYet")

	time.Sleep(time.Second) // the age of pods is counted in seconds, and the latest one counts
	second := h.runs(ns, "web-assesstls", "second")
	h.ends(second, 0, assessment("web."+ns+".svc", `"protocols": ["TLSv1.3"]`))
	h.assesses(b, "example.com:443=Failed TLSv1.0 is offered", "web."+ns+".svc:443=Passed")
	h.covers(b, "assessTLS", "TLSAssessor", "Audited", "")
	h.shows(b, "Enforced", "True", "Enforced")
	if m := h.messageOf(b, "assessTLS", "TLSAssessor"); !strings.Contains(m, "1 of 2") {
		t.Errorf("the message is %q", m)
	}
	// Results outlast the pods, which go with their node or with the history of the CronJob.
	for _, job := range []string{"first", "second"} {
		if err := h.c.Delete(h.ctx(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: job}},
			client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
	}
	h.gone(corev1.SchemeGroupVersion.WithKind("Pod"), ns, first.Name)
	h.gone(corev1.SchemeGroupVersion.WithKind("Pod"), ns, second.Name)
	h.alter(b, func() { b.Labels = map[string]string{"again": "yes"} })
	h.shows(&intentv1alpha1.NimbusPolicy{ObjectMeta: b.ObjectMeta}, "TLSAssessor", "True", "Enforced")
	h.assesses(b, "example.com:443=Failed TLSv1.0 is offered", "web."+ns+".svc:443=Passed")
}

func TestAssessTLS_TheScheduleStartsRuns(t *testing.T) {
	extent.Full(t)
	h := start(t, "--tls-assessor-image="+assessorImage)
	ns := h.namespace(map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	b := h.binds(ns, "web", app, h.declared("assessTLS", intentv1alpha1.Audit,
		intentv1alpha1.Params{"external_addresses": {"example.com:443"}, "schedule": {"@every 1s"}}))
	h.make(b)
	pods := &corev1.PodList{}
	h.eventually("a pod that the schedule started", func() error {
		err := h.c.List(h.ctx(), pods, client.InNamespace(ns))
		if err == nil && (len(pods.Items) == 0 || pods.Items[0].Status.Phase != corev1.PodRunning) {
			err = fmt.Errorf("%d pods", len(pods.Items))
		}
		return err
	})
	h.ends(&pods.Items[0], 0, assessment("example.com", `"protocols": ["TLSv1.3"]`))
	h.covers(b, "assessTLS", "TLSAssessor", "Audited", "")
	h.assesses(b, "example.com:443=Passed")
}

func TestAssessTLS_HostileResultsAreRefused(t *testing.T) {
	extent.Full(t)
	h := start(t, "--tls-assessor-image="+assessorImage)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app,
		h.declared("assessTLS", intentv1alpha1.Audit, intentv1alpha1.Params{"external_addresses": {"example.com:443"}}))
	h.make(b)
	h.covers(b, "assessTLS", "TLSAssessor", "Partial", "NoResultYet")
	policy := &intentv1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	for i, message := range []string{
		"no route to host", "", assessment("example.com", `"protocols": ["TLSv1.3"]`) + strings.Repeat(" ", 4096),
		assessment("--help", `"protocols": ["TLSv1.3"]`),
		assessment("example.com", `"problems": ["\u001b[2J\u202eReady=True"]`), strings.Repeat("[", 4000), "\u202e\u001b[2J",
	} {
		job := fmt.Sprintf("hostile-%d", i)
		h.ends(h.runs(ns, "web-assesstls", job), 0, message)
		said := h.shows(policy, "TLSAssessor", "False", "ResultInvalid")
		h.eventually("the coverage to name the pod of "+job, func() error {
			if m := h.messageOf(b, "assessTLS", "TLSAssessor"); !strings.Contains(m, "pod "+job) || strings.ContainsAny(m+said, "\x1b\u202e\n") {
				return fmt.Errorf("%q, %q", m, said)
			}
			return nil
		})
		h.assesses(b)
		time.Sleep(time.Second) // the age of pods is counted in seconds
	}
	h.shows(b, "Ready", "True", "Ready")
	if n := h.warnings(ns, "web", "ResultInvalid"); n != 1 {
		t.Errorf("%d warnings, expected one for all", n)
	}
	h.ends(h.runs(ns, "web-assesstls", "broken"), 1, assessment("example.com", `"protocols": ["TLSv1.3"]`))
	h.covers(b, "assessTLS", "TLSAssessor", "Partial", "AssessmentFailed")
	h.assesses(b)
	time.Sleep(time.Second) // the age of pods is counted in seconds
	h.ends(h.runs(ns, "web-assesstls", "good"), 0, assessment("example.com", `"protocols": ["TLSv1.3"]`))
	h.covers(b, "assessTLS", "TLSAssessor", "Audited", "")
	h.assesses(b, "example.com:443=Passed")
	if n := h.warnings(ns, "web", "AssessmentFailed"); n != 1 {
		t.Errorf("%d warnings of the failure", n)
	}
}

func TestAssessTLS_CronJobIsHealedAndGoesWithItsBinding(t *testing.T) {
	extent.Full(t)
	h := start(t, "--tls-assessor-image="+assessorImage)
	ns := h.namespace(nil)
	i := h.declared("assessTLS", intentv1alpha1.Audit, intentv1alpha1.Params{"external_addresses": {"example.com:443"}})
	b := h.binds(ns, "web", app, i)
	h.make(b)
	u := h.there(cronJob, ns, "web-assesstls")
	for what, edit := range map[string]func(spec map[string]any){
		"suspend":  func(spec map[string]any) { spec["suspend"] = true },
		"schedule": func(spec map[string]any) { spec["schedule"] = "* * * * *" },
		"an added ServiceAccount": func(spec map[string]any) {
			_ = unstructured.SetNestedField(spec, "default", "jobTemplate", "spec", "template", "spec", "serviceAccountName")
		},
		"the image": func(spec map[string]any) {
			pod := spec["jobTemplate"].(map[string]any)["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			pod["containers"].([]any)[0].(map[string]any)["image"] = "elsewhere.example.com/x"
		},
	} {
		h.healed(what, h.there(cronJob, ns, "web-assesstls"), func(u *unstructured.Unstructured) { edit(u.Object["spec"].(map[string]any)) })
	}
	if err := h.c.Delete(h.ctx(), u); err != nil {
		t.Fatal(err)
	}
	h.eventually("the CronJob to be made again", func() error {
		again, err := h.object(cronJob, ns, "web-assesstls")
		if err == nil && again.GetUID() == u.GetUID() {
			err = fmt.Errorf("it is still there")
		}
		return err
	})
	h.alter(i, func() { i.Spec.Intent.Params = nil })
	h.covers(b, "assessTLS", "TLSAssessor", "None", "NoTargets")
	h.gone(cronJob, ns, "web-assesstls")
	h.alter(i, func() {
		i.Spec.Intent.Params = intentv1alpha1.Params{"external_addresses": {"example.com:443"}, "schedule": {"@daily"}}
	})
	h.there(cronJob, ns, "web-assesstls")
	h.ends(h.runs(ns, "web-assesstls", "last"), 0, assessment("example.com", `"protocols": ["TLSv1.3"]`))
	h.assesses(b, "example.com:443=Passed")
	h.covers(b, "assessTLS", "TLSAssessor", "Audited", "")
	passed := h.writes(func() {
		h.passes("securityintentbinding", 1, func() { h.touch(ns) })
	})
	if len(passed) > 0 {
		t.Errorf("a pass that changes nothing made %d writes: %v", len(passed), passed)
	}
	h.remove(b)
	h.gone(cronJob, ns, "web-assesstls")
	h.gone(batchv1.SchemeGroupVersion.WithKind("Job"), ns, "last")
}

func TestAssessTLS_WithoutImageDoesNothingAndSaysSo(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app,
		h.declared("assessTLS", intentv1alpha1.Audit, intentv1alpha1.Params{"external_addresses": {"example.com:443"}}))
	h.make(b)
	h.covers(b, "assessTLS", "TLSAssessor", "None", "ImageMissing")
	if m := h.messageOf(b, "assessTLS", "TLSAssessor"); !strings.Contains(m, "--tls-assessor-image") {
		t.Errorf("the message is %q", m)
	}
	if found := h.derived(ns, cronJob); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

func TestAssessTLS_ReportsAnImageThatCannotBePulled(t *testing.T) {
	extent.Full(t)
	h := start(t, "--tls-assessor-image=registry.example.com/assessor:ImagePullBackOff")
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app,
		h.declared("assessTLS", intentv1alpha1.Audit, intentv1alpha1.Params{"external_addresses": {"example.com:443"}}))
	h.make(b)
	h.covers(b, "assessTLS", "TLSAssessor", "Partial", "NoResultYet")
	c := &batchv1.CronJob{}
	if err := h.c.Get(h.ctx(), client.ObjectKey{Namespace: ns, Name: "web-assesstls"}, c); err != nil {
		t.Fatal(err)
	}
	h.make(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "now", Labels: c.Spec.JobTemplate.Labels},
		Spec: c.Spec.JobTemplate.Spec})
	h.covers(b, "assessTLS", "TLSAssessor", "Partial", "AssessmentFailed")
	if m := h.messageOf(b, "assessTLS", "TLSAssessor"); !strings.Contains(m, "cannot start") || !strings.Contains(m, "PullBackOff") {
		t.Errorf("the message is %q", m)
	}
	h.eventually("one warning", func() error {
		if n := h.warnings(ns, "web", "AssessmentFailed"); n != 1 {
			return fmt.Errorf("%d warnings", n)
		}
		return nil
	})
}

func TestAssessTLS_WithoutItsRightsOtherEnginesWork(t *testing.T) {
	extent.Full(t)
	h := start(t, "--tls-assessor-image="+assessorImage)
	restore := h.rob(right{"batch", "cronjobs", "list"})
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil),
		h.declared("assessTLS", intentv1alpha1.Audit, intentv1alpha1.Params{"external_addresses": {"example.com:443"}}))
	h.make(b)
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	h.covers(b, "assessTLS", "TLSAssessor", "None", "AccessDenied")
	if m := h.shows(b, "Stalled", "True", "AccessDenied"); !strings.Contains(m, "may not list CronJob") {
		t.Errorf("the message does not name the right: %s", m)
	}
	restore()
	h.covers(b, "assessTLS", "TLSAssessor", "Partial", "NoResultYet")
	h.shows(b, "Ready", "True", "Ready")
}
