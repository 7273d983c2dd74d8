// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// going is a node in deletion.
func going(n *Node) *Node {
	n.deleting = true
	return n
}

func TestExplain_FindsWhatHoldsADeletion(t *testing.T) {
	const inUse, users = "InUse", "the objects that name this KMSKey to be deleted: S3Bucket ns/b (being deleted); delete them"
	provider := func() *Node { return used(going(node("AWSProvider/p", Deleting, inUse, "S3Bucket ns/b needs it"))) }
	bucket := func(children ...*Node) *Node {
		return going(node("S3Bucket/b", Deleting, "BucketNotEmpty", "the bucket holds objects", children...))
	}
	for name, tc := range map[string]struct {
		root *Node
		path string
	}{
		"a bucket holds its provider": {bucket(provider()), "S3Bucket/b"},
		"a bucket holds its capability": {going(node("NexusAICapability/c", Deleting, "Deleting", "", provider(), bucket())),
			"NexusAICapability/c S3Bucket/b"},
		"a provider is held by a bucket": {going(node("AWSProvider/p", Deleting, inUse, "S3Bucket ns/b needs it", bucket())),
			"AWSProvider/p S3Bucket/b"},
		"a key is held by a bucket that is held": {going(node("NexusAICapability/c", Deleting, "Deleting", "", provider(),
			going(node("KMSKey/k", Deleting, inUse, users)), bucket())), "NexusAICapability/c KMSKey/k S3Bucket/b"},
		"a failed provider holds what it serves": {going(node("S3Bucket/b", Waiting, "ProviderNotReady",
			"waiting for AWSProvider/p to be ready", used(going(node("AWSProvider/p", Failed, "CredentialsInvalid", ""))))),
			"S3Bucket/b AWSProvider/p"},
		"a missing provider holds what it served": {going(node("S3Bucket/b", Waiting, "ProviderMissing", "waiting for AWSProvider/p to exist",
			used(node("AWSProvider/p", Missing, "Missing", "")))), "S3Bucket/b AWSProvider/p"},
		"a living object of a provider that goes": {node("S3Bucket/b", Waiting, "ProviderDeleting", "waiting for another provider", provider()),
			"S3Bucket/b AWSProvider/p"},
		"an object under way after one that holds": {going(node("NexusAICapability/c", Deleting, "Deleting", "",
			going(node("IAMRole/r", Deleting, "Busy", "")), bucket())), "NexusAICapability/c S3Bucket/b"},
		"a pod of a node that does not answer": {going(node("NexusAICapability/c", Deleting, "Deleting", "", bucketUnderWay(),
			going(node("Pod/p", Deleting, "Deleting", "", used(node("Node/n", Failed, status.ReasonNodeNotReady, "")))))),
			"NexusAICapability/c Pod/p Node/n"},
	} {
		if got := pathOf(explain(tc.root)); got != tc.path {
			t.Errorf("%s: %s, want %s", name, got, tc.path)
		}
	}
}

func bucketUnderWay() *Node { return going(node("S3Bucket/b", Deleting, "Deleting", "")) }

func pathOf(e *Explanation) string {
	var path []string
	for _, n := range e.Path {
		path = append(path, n.ID())
	}
	return strings.Join(path, " ")
}

// Each reason, with each health, of a living object and of one in deletion: the advice acts on the cause, and its commands end.
func TestExplain_AdviceEndsForEveryCause(t *testing.T) {
	reasons := []string{"", status.ReasonProgressing, status.ReasonWaiting, status.ReasonDeleting, status.ReasonBusy, status.ReasonPaused,
		notObserved, status.ReasonNodeNotReady}
	for _, c := range status.Codes() {
		reasons = append(reasons, c.Reason)
	}
	for _, reason := range reasons {
		for h := range severity {
			for _, kind := range []string{"S3Bucket", "AWSProvider", "Pod"} {
				for _, deleting := range []bool{false, true} {
					cause := node(kind+"/x", h, reason, "m")
					cause.deleting = deleting
					cause.addCode()
					checkAdvice(t, explain(cause), deleting)
					inside := node("NexusAICapability/c", Progressing, "Progressing", "", cause)
					inside.deleting = deleting
					checkAdvice(t, explain(inside), deleting)
				}
			}
		}
	}
}

func checkAdvice(t *testing.T, e *Explanation, deleting bool) {
	t.Helper()
	of := pathOf(e) + " " + string(e.Cause.Health) + " " + e.Cause.Reason
	if len(e.Commands) == 0 {
		t.Errorf("%s: no command", of)
	}
	if needsPerson(e.Cause.Reason) && e.Cause.Code != "" && e.Remedy == "" {
		t.Errorf("%s: no remedy in words", of)
	}
	for _, c := range e.Commands {
		waits := strings.Contains(c, "--for=condition=Ready")
		underWay := e.Cause.Health == Progressing || e.Cause.Health == Deleting
		if waits && (deleting || needsPerson(e.Cause.Reason) || !underWay) {
			t.Errorf("%s, deleting %v: %q never ends", of, deleting, c)
		}
		if deleting && strings.Contains(c, "reconcile") && strings.Contains(c, "--wait") {
			t.Errorf("%s: %q waits for an object that goes", of, c)
		}
		if strings.Contains(c, "kubectl wait") && !strings.Contains(c, "--timeout=") {
			t.Errorf("%s: %q has no limit", of, c)
		}
		if strings.ContainsAny(strings.ReplaceAll(c, deleteVersions[strings.Index(deleteVersions, "'{"):], ""), "{}") {
			t.Errorf("%s: %q has a hole", of, c)
		}
	}
}

// leaving are objects of a namespace in deletion: a bucket that is not empty, and its provider.
func leaving(t *testing.T) (*Reader, *v1alpha1.S3Bucket, *v1alpha1.AWSProvider, *corev1.Pod) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name, DeletionTimestamp: new(metav1.Unix(1, 0)), Finalizers: []string{"x/y"}}
	}
	b := &v1alpha1.S3Bucket{ObjectMeta: meta("b"),
		Spec: v1alpha1.S3BucketSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "p"}}}}
	b.Status.ARN = "arn:aws:s3:::data-of-b"
	status.Summarize(&b.Status.Conditions,
		status.Result{Now: time.Unix(2, 0), Err: &status.Waiting{Reason: status.ReasonBucketNotEmpty, For: "the bucket to be empty"}})
	p := &v1alpha1.AWSProvider{ObjectMeta: meta("p")}
	status.Summarize(&p.Status.Conditions, status.Result{Now: time.Unix(2, 0)})
	status.Set(&p.Status.Conditions, 0, time.Unix(2, 0),
		metav1.Condition{Type: "InUse", Status: metav1.ConditionTrue, Reason: status.ReasonInUse,
			Message: "1 object still needs this provider: S3Bucket ns/b"})
	pod := &corev1.Pod{ObjectMeta: meta("web-1"), Spec: corev1.PodSpec{NodeName: "n1"}}
	dead := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(b, p, pod, dead).Build()
	return &Reader{Client: c,
		Kinds: []engine.Entry{engine.For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, struct{}] { return bucketKind{} })}}, b, p, pod
}

// A provider that is to go is held by an object that stays, whatever that object suffers from.
func TestExplain_AFailureOfAUserDoesNotHoldItsProvider(t *testing.T) {
	p := &Node{Kind: "AWSProvider", Name: "p", Namespace: "ns", Health: Deleting, deleting: true, Reason: status.ReasonInUse,
		Message: "1 object still needs this provider: IAMRole ns/r"}
	role := &Node{Kind: "IAMRole", Name: "r", Namespace: "ns", Health: Failed, Reason: status.ReasonNotPermitted, Relation: UsedBy}
	p.Children = []*Node{role}
	if e := explain(p); pathOf(e) != "AWSProvider/p" {
		t.Errorf("path %s", pathOf(e))
	}
	role.deleting = true
	if e := explain(p); pathOf(e) != "AWSProvider/p IAMRole/r" {
		t.Errorf("of a role that is to go: path %s", pathOf(e))
	}
}

func TestExplain_ReadsWhatHoldsADeletion(t *testing.T) {
	r, b, p, pod := leaving(t)
	for name, tc := range map[string]struct {
		object  client.Object
		kind    schema.GroupVersionKind
		path    string
		command string
	}{
		"a bucket that is not empty": {b, v1alpha1.GroupVersion.WithKind("S3Bucket"), "S3Bucket/b",
			"aws s3 rm s3://data-of-b --recursive"},
		"the provider that it needs": {p, v1alpha1.GroupVersion.WithKind("AWSProvider"), "AWSProvider/p S3Bucket/b",
			"aws s3 rm s3://data-of-b --recursive"},
		"a pod on a node that is not there": {pod, corev1.SchemeGroupVersion.WithKind("Pod"), "Pod/web-1 Node/n1", "kubectl describe node n1"},
	} {
		root, err := r.grower().grow(t.Context(), tc.kind, tc.object)
		if err != nil {
			t.Fatal(err)
		}
		if e := explain(root); pathOf(e) != tc.path || e.Commands[0] != tc.command {
			t.Errorf("%s: path %s, commands %q; want %s, %q first", name, pathOf(e), e.Commands, tc.path, tc.command)
		}
	}
}
