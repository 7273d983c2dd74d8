// SPDX-License-Identifier: Apache-2.0

// Package ekswebhook stands for the mutating webhook of EKS. The webhook gives pods the settings that the SDKs of AWS need for credentials.
// https://github.com/aws/amazon-eks-pod-identity-webhook
package ekswebhook

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

const name = "pod-identity-webhook"

// The places of the tokens and the address of the agent are those of EKS.
const (
	tokens       = "/var/run/secrets/eks.amazonaws.com/serviceaccount"
	agentTokens  = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount"
	agentAddress = "http://169.254.170.23/v1/credentials"
)

// hook answers admission reviews of pods.
type hook struct {
	world   *world.World
	kube    kubernetes.Interface
	cluster string
	// skips reports whether the webhook fails for a pod, which then starts without credentials: its failure policy is Ignore.
	skips func(*corev1.Pod) bool
}

// StartFailing is Start with a webhook that fails for some pods. The namespace of the pod is set.
func StartFailing(t testing.TB, w *world.World, cluster string, skips func(*corev1.Pod) bool) {
	t.Helper()
	start(t, w, cluster, skips)
}

// Start registers the webhook of an EKS cluster for the pods of the world until the test ends.
func Start(t testing.TB, w *world.World, cluster string) {
	t.Helper()
	start(t, w, cluster, func(*corev1.Pod) bool { return false })
}

func start(t testing.TB, w *world.World, cluster string, skips func(*corev1.Pod) bool) {
	t.Helper()
	kube, err := kubernetes.NewForConfig(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(&hook{w, kube, cluster, skips})
	t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ignore, none := admissionregistrationv1.Ignore, admissionregistrationv1.SideEffectClassNone
	hooks := kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err = hooks.Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "iam-for-pods.amazonaws.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, FailurePolicy: &ignore,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: certificate},
			Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}},
		}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hooks.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	answer := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	pod := &corev1.Pod{}
	if json.Unmarshal(review.Request.Object.Raw, pod) == nil {
		pod.Namespace = review.Request.Namespace
		patch := h.patch(r.Context(), review.Request.Namespace, pod)
		if h.skips(pod) {
			if patch = unready(pod); patch == nil {
				http.Error(w, "the webhook fails", http.StatusInternalServerError)
				return
			}
		}
		if patch != nil {
			kind := admissionv1.PatchTypeJSONPatch
			answer.Patch, answer.PatchType = patch, &kind
		}
	}
	review.Request, review.Response = nil, answer
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// NeedsCredentials is the tag of images that do not become ready without credentials.
const NeedsCredentials = "NeedsCredentials"

// unready has the bed play a pod that does not become ready, where one of its images needs the credentials that it does not get; nil
// elsewhere.
func unready(pod *corev1.Pod) []byte {
	if !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return strings.HasSuffix(c.Image, ":"+NeedsCredentials) }) {
		return nil
	}
	annotations := map[string]string{"testbed.nexus.ai/pod-failure": "NotReady"}
	maps.Copy(annotations, pod.Annotations)
	patch, _ := json.Marshal([]map[string]any{{"op": "add", "path": "/metadata/annotations", "value": annotations}})
	return patch
}

// patch gives a pod the credentials of its ServiceAccount; nil without any. An association takes precedence over the annotation.
func (h *hook) patch(ctx context.Context, namespace string, pod *corev1.Pod) []byte {
	way := credentials{token: tokens, audience: "sts.amazonaws.com"}
	if h.world.AWS().EKS.IsAssociated(h.cluster, namespace, pod.Spec.ServiceAccountName) {
		way = credentials{token: agentTokens, audience: "pods.eks.amazonaws.com", env: []corev1.EnvVar{
			{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: agentAddress},
			{Name: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Value: agentTokens + "/token"}}}
		return way.of(pod)
	}
	account, err := h.kube.CoreV1().ServiceAccounts(namespace).Get(ctx, pod.Spec.ServiceAccountName, metav1.GetOptions{})
	if err != nil || account.Annotations["eks.amazonaws.com/role-arn"] == "" {
		return nil
	}
	way.env = []corev1.EnvVar{{Name: "AWS_ROLE_ARN", Value: account.Annotations["eks.amazonaws.com/role-arn"]},
		{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: tokens + "/token"}}
	return way.of(pod)
}

// credentials holds the additions to containers: variables, and a token for an audience.
type credentials struct {
	token, audience string
	env             []corev1.EnvVar
}

// of is the patch of a pod.
func (c credentials) of(pod *corev1.Pod) []byte {
	containers := pod.Spec.Containers
	for i := range containers {
		containers[i].Env = append(containers[i].Env, c.env...)
		containers[i].VolumeMounts = append(containers[i].VolumeMounts,
			corev1.VolumeMount{Name: "aws-iam-token", MountPath: c.token, ReadOnly: true})
	}
	source := corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: c.audience, Path: "token"}}
	volumes := append(pod.Spec.Volumes, corev1.Volume{Name: "aws-iam-token", VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{source}}}})
	patch, _ := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/spec/containers", "value": containers}, {"op": "add", "path": "/spec/volumes", "value": volumes}})
	return patch
}
