// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestLackCredentials_LooksForWhatAWebhookAdds(t *testing.T) {
	pod := func(token bool, env ...string) corev1.Pod {
		p := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		for _, name := range env {
			p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: "x"})
		}
		if token {
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "sts.amazonaws.com"}}}}}}}
		}
		return p
	}
	for name, tc := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"no pods":                     {nil, ""},
		"nothing":                     {[]corev1.Pod{pod(false)}, "1 of 1 pods"},
		"a role without a token":      {[]corev1.Pod{pod(false, "AWS_ROLE_ARN")}, "1 of 1 pods"},
		"a token without a role":      {[]corev1.Pod{pod(true)}, "1 of 1 pods"},
		"the pod identity webhook":    {[]corev1.Pod{pod(true, "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE")}, ""},
		"the EKS Pod Identity agent":  {[]corev1.Pod{pod(false, "AWS_CONTAINER_CREDENTIALS_FULL_URI")}, ""},
		"keys of the user's own":      {[]corev1.Pod{pod(false, "AWS_ACCESS_KEY_ID")}, ""},
		"one that the webhook missed": {[]corev1.Pod{pod(true, "AWS_ROLE_ARN"), pod(false)}, "1 of 2 pods"},
	} {
		if got := lackCredentials(&appsv1.Deployment{}, tc.pods); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// A webhook may give credentials to a container that another webhook adds, and leave out the application's.
func TestLackCredentials_LooksAtTheContainersOfTheTemplate(t *testing.T) {
	d := &appsv1.Deployment{}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app"}}
	given := []corev1.EnvVar{{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23/v1/credentials"}}
	for name, tc := range map[string]struct {
		app, sidecar []corev1.EnvVar
		want         string
	}{
		"both have them": {given, given, ""}, "the application alone": {given, nil, ""}, "the sidecar alone": {nil, given, "1 of 1 pods"},
		"none": {nil, nil, "1 of 1 pods"},
	} {
		p := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.Spec.Containers = []corev1.Container{{Name: "proxy", Env: tc.sidecar}, {Name: "app", Env: tc.app}}
		if got := lackCredentials(d, []corev1.Pod{p}); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// Pods that were started for the agent get nothing from the webhook of IRSA.
func TestPodsForTheAgentNeedItsAddress(t *testing.T) {
	d := &appsv1.Deployment{}
	d.Spec.Template.Annotations = map[string]string{annotationIdentity: "PodIdentity"}
	pod := func(env string) corev1.Pod {
		p := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: env}}}}
		p.Spec.Volumes = []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}}}}}}}
		return p
	}
	if token := []corev1.Pod{pod("AWS_ROLE_ARN")}; lackCredentials(d, token) == "" || RolledOutWithCredentials(d, token) {
		t.Error("pods with a token count as pods of the agent")
	}
	d.Spec.Replicas = new(int32(1))
	d.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	agent := []corev1.Pod{pod("AWS_CONTAINER_CREDENTIALS_FULL_URI")}
	if lackCredentials(d, agent) != "" || !RolledOutWithCredentials(d, agent) {
		t.Error("pods with the address of the agent do not count")
	}
	if one := append(agent, pod("AWS_ROLE_ARN")); RolledOutWithCredentials(d, one) {
		t.Error("one of the pods lacks the address of the agent")
	}
}

// A pod with the previous image, which the rollout has not removed yet, may have a problem that the edit has repaired: the order of the two
// in a cache must not change the reported status.
func TestTheFailureOfTheNewestTemplateIsReported(t *testing.T) {
	created := metav1.Now()
	sick := func(name, hash, image, reason string, after time.Duration) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(created.Add(after)),
				Labels: map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Image: image,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}},
		}
	}
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "back:2"}}}}}}
	waiting := sick("b-new", "2", "back:2", "ContainerCreating", time.Second)
	for name, tc := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"both are sick": {[]corev1.Pod{sick("old", "1", "back:1", "ImagePullBackOff", 0),
			sick("new", "2", "back:2", "CrashLoopBackOff", time.Second)}, status.ReasonCrashLoop},
		"both of one second": {[]corev1.Pod{sick("a-old", "1", "back:1", "ImagePullBackOff", 0),
			sick("b-new", "2", "back:2", "CrashLoopBackOff", 0)},
			status.ReasonCrashLoop},
		"the new one starts":          {[]corev1.Pod{sick("old", "1", "back:1", "ImagePullBackOff", 0), waiting}, status.ReasonProgressing},
		"only the old one exists":     {[]corev1.Pod{sick("old", "1", "back:1", "ImagePullBackOff", 0)}, status.ReasonImagePull},
		"one of two new pods is sick": {[]corev1.Pod{sick("c-new", "2", "back:2", "ImagePullBackOff", 0), waiting}, status.ReasonImagePull},
		"a rollback uses the old hash": {[]corev1.Pod{sick("back", "1", "back:2", "CrashLoopBackOff", time.Minute),
			sick("failed", "2", "back:3", "ImagePullBackOff", 0)}, status.ReasonCrashLoop},
		"without a pod there is no ill": {nil, status.ReasonProgressing},
	} {
		for range 2 {
			slices.Reverse(tc.pods)
			r := Reader{Clock: clock.RealClock{}}
			if got := r.notRolledOut(d, 1, ofNewestTemplate(d, tc.pods)); got.Reason != tc.want {
				t.Errorf("%s: %s, want %s", name, got.Reason, tc.want)
			}
		}
	}
}

func TestOfPod_IsReadySickOrOnItsWay(t *testing.T) {
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	waiting := []corev1.ContainerStatus{{Name: "app",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
	for name, tc := range map[string]struct {
		pod    corev1.Pod
		ready  bool
		reason string
	}{
		"ready":            {corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{ready}}}, true, ""},
		"done":             {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, true, ""},
		"without an image": {corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: waiting}}, false, status.ReasonImagePull},
		"starting":         {corev1.Pod{}, false, status.ReasonProgressing},
		"being deleted": {corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{ready}}}, false, status.ReasonDeleting},
	} {
		if got := (Reader{Clock: clock.RealClock{}}).OfPod(&tc.pod); got.Ready != tc.ready || got.Reason != tc.reason {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestOfPod_NamesTheSecretsOfAnImageThatCannotBePulled(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"},
		Spec: corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}, {Name: "mirror"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Image: "a:1",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}}}
	r := Reader{Clock: clock.RealClock{}}
	if got := r.OfPod(p).Message; !strings.HasSuffix(got,
		"; check that its imagePullSecrets exist in namespace team-a and are valid: registry, mirror") {
		t.Errorf("%q", got)
	}
	p.Spec.ImagePullSecrets = nil
	if got := r.OfPod(p).Message; strings.Contains(got, "imagePullSecrets") {
		t.Errorf("%q", got)
	}
}
