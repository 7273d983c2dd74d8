// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// node makes one of namespace ns; its title is Kind/name.
func node(title string, h Health, reason, message string, children ...*Node) *Node {
	kind, name, _ := strings.Cut(title, "/")
	api := "v1"
	if strings.HasPrefix(kind, "Nexus") {
		api = "nexus.ai/v1"
	} else if kind != "Pod" && kind != "Deployment" {
		api = "aws-infra-operator.runner.codes/v1alpha1"
	}
	return &Node{APIVersion: api, Kind: kind, Namespace: "ns", Name: name, Health: h, Reason: reason, Message: message, Children: children}
}

func used(n *Node) *Node {
	n.Relation = Uses
	return n
}

func TestExplain_PathLeadsToTheCause(t *testing.T) {
	for name, tc := range map[string]struct {
		root    *Node
		path    string
		command string
	}{
		"a failure comes before what is under way": {node("NexusAICapability/c", Failed, "Conflict", "",
			node("IAMRole/r", Progressing, "Busy", ""), node("S3Bucket/b", Failed, "Conflict", "")),
			"NexusAICapability/c S3Bucket/b", "nexusctl plan s3bucket/b -n ns"},
		"what others wait for is the cause": {node("NexusAICapability/c", Progressing, "Progressing", "",
			node("GlueTable/t", Waiting, "Waiting", "waiting for GlueDatabase/d to be ready"), node("GlueDatabase/d", Progressing, "Busy", "")),
			"NexusAICapability/c GlueDatabase/d", "nexusctl tree ncap/c -n ns"},
		"a waiting object leads to a neighbor": {node("NexusAICapability/c", Progressing, "Progressing", "",
			node("GlueTable/t", Waiting, "Waiting", "waiting for GlueDatabase/d to be ready"), node("GlueDatabase/d", Deleting, "Deleting", "")),
			"NexusAICapability/c GlueDatabase/d", "nexusctl tree ncap/c -n ns"},
		"a missing provider stops everything": {node("S3Bucket/b", Waiting, "ProviderMissing", "",
			used(node("AWSProvider/p", Missing, "Missing", ""))), "S3Bucket/b AWSProvider/p", "kubectl get awsproviders -n ns"},
		"a pod tells why a Deployment fails": {node("NexusAICapability/c", Failed, "ProbeFailing", "",
			node("Deployment/d", Failed, "ProbeFailing", "", node("Pod/a", Ready, "", ""), node("Pod/b", Progressing, "ProbeFailing", ""))),
			"NexusAICapability/c Deployment/d Pod/b", "kubectl logs -n ns b"},
		"a dead node tells why a pod is not ready": {node("NexusAICapability/c", Failed, status.ReasonNodeNotReady,
			"Deployment/d: node n is not ready", node("Deployment/d", Progressing, status.ReasonNodeNotReady, "node n is not ready",
				node("Pod/a", Ready, "", ""), node("Pod/b", Progressing, status.ReasonProgressing, "the pod is starting",
					used(node("Node/n", Failed, status.ReasonNodeNotReady, "")))), node("S3Bucket/b", Progressing, "Busy", "")),
			"NexusAICapability/c Deployment/d Pod/b Node/n", "kubectl describe node n"},
		"a failure of the object itself": {node("NexusAICapability/c", Failed, "NameConflict", "",
			node("S3Bucket/b", Progressing, "Progressing", "")), "NexusAICapability/c", "kubectl edit ncap/c -n ns"},
		"what the status reports comes before other failures": {node("NexusAICapability/c", Failed, "NotPermitted", "Namespace/x: no",
			used(node("AWSProvider/p", Missing, "Missing", "")), node("Namespace/x", Failed, "NotPermitted", "")),
			"NexusAICapability/c Namespace/x", "kubectl edit ncap/c -n ns"},
		"what is reported and only waits leads on": {node("NexusAICapability/c", Failed, "ProviderMissing", "S3Bucket/b: no",
			used(node("AWSProvider/p", Missing, "Missing", "")), node("S3Bucket/b", Waiting, "ProviderMissing", "")),
			"NexusAICapability/c AWSProvider/p", "kubectl get awsproviders -n ns"},
		"nothing is done while paused": {node("NexusAICapability/c", Paused, "Paused", "", node("S3Bucket/b", Failed, "Conflict", "")),
			"NexusAICapability/c", "nexusctl resume ncap/c -n ns"},
		"the operator has not seen it": {node("NexusAICapability/c", Progressing, notObserved, "", node("S3Bucket/b", Failed, "Conflict", "")),
			"NexusAICapability/c", "nexusctl status"},
		"two objects wait for each other": {node("NexusAICapability/c", Progressing, "Progressing", "",
			node("S3Bucket/a", Waiting, "Waiting", "waiting for S3Bucket/b"), node("S3Bucket/b", Waiting, "Waiting", "waiting for S3Bucket/a")),
			"NexusAICapability/c S3Bucket/a S3Bucket/b", "nexusctl tree ncap/c -n ns"},
	} {
		e := explain(tc.root)
		var path []string
		for _, n := range e.Path {
			path = append(path, n.ID())
		}
		if got := strings.Join(path, " "); e.Ready || got != tc.path || e.Cause.ID() != path[len(path)-1] {
			t.Errorf("%s: %s, want %s", name, got, tc.path)
		}
		if len(e.Commands) == 0 || e.Commands[0] != tc.command {
			t.Errorf("%s: commands %q, want %q first", name, e.Commands, tc.command)
		}
	}
}

// A pod that no one deletes stays as it is on a node that died, for the five minutes that it tolerates that.
func TestExplain_ReadsTheDeadNodeOfALivingPod(t *testing.T) {
	r, _, _, pod := leaving(t)
	pod.DeletionTimestamp, pod.Finalizers = nil, nil
	for ready, want := range map[corev1.ConditionStatus]string{corev1.ConditionFalse: "Pod/web-1 Node/n1", corev1.ConditionTrue: ""} {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		root, err := r.grower().grow(t.Context(), corev1.SchemeGroupVersion.WithKind("Pod"), pod)
		if err != nil {
			t.Fatal(err)
		}
		e := explain(root)
		if pathOf(e) != want {
			t.Errorf("ready %s: path %q, want %q", ready, pathOf(e), want)
		}
		if want != "" && (e.Commands[0] != "kubectl describe node n1" ||
			!strings.Contains(e.Cause.Message, "Kubelet stopped posting node status.")) {
			t.Errorf("%q, commands %q", e.Cause.Message, e.Commands)
		}
	}
}

// An object that does not exist has no message: the words are in a condition of its capability, otherwise in the table of codes.
func TestExplain_AFailureOfAMissingObjectHasWords(t *testing.T) {
	c := &nexusv1.NexusAICapability{}
	c.Namespace = "ns"
	c.Status.Resources = []nexusv1.ResourceStatus{{Kind: "Namespace", Name: "x", State: nexusv1.ResourceFailed, Reason: "NotPermitted"},
		{Kind: "S3Bucket", Name: "b", State: nexusv1.ResourceFailed, Reason: "Conflict"}}
	n := &Node{conditions: []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Conflict", Message: "S3Bucket/a: of team-b"},
		{Type: "DataServicesReady", Status: "False", Reason: "Conflict", Message: "S3Bucket/b: of team-c"}}}
	n.addExpected(c)
	code, _ := status.LookupCode(status.CodeOf("NotPermitted"))
	if got := n.Children[0].Message; got != "it could not be created: NotPermitted: "+code.Cause || code.Cause == "" {
		t.Errorf("%q", got)
	}
	if got := n.Children[1].Message; got != "it could not be created: of team-c" {
		t.Errorf("%q", got)
	}
}

func TestExplain_TheLastCommandExplainsTheCode(t *testing.T) {
	cause := node("S3Bucket/b", Failed, "Conflict", "it has another owner")
	cause.addCode()
	e := explain(node("NexusAICapability/c", Failed, "Conflict", "", cause))
	if last := e.Commands[len(e.Commands)-1]; e.Cause.Code != "NX-SPEC-005" || e.Cause.Message != "it has another owner (NX-SPEC-005)" ||
		last != "nexusctl explain NX-SPEC-005" {
		t.Errorf("%+v, %q", e.Cause, e.Commands)
	}
}

func TestNodesHaveTheCodeOfTheirTrouble(t *testing.T) {
	for name, tc := range map[string]struct{ n, want *Node }{
		"a failure of Kubernetes": {&Node{Reason: "CrashLoopBackOff", Message: "ends"},
			&Node{Code: "NX-K8S-004", Reason: "CrashLoopBackOff", Message: "ends (NX-K8S-004)"}},
		"a code in the message": {&Node{Reason: "ProviderNotReady", Message: "no keys (NX-IAM-003)"},
			&Node{Code: "NX-IAM-003", Reason: "ProviderNotReady", Message: "no keys (NX-IAM-003)"}},
		"a reason alone": {&Node{Reason: "ImagePullBackOff"}, &Node{Code: "NX-K8S-001", Reason: "ImagePullBackOff"}},
		"no trouble":     {&Node{Reason: "Waiting", Message: "m"}, &Node{Reason: "Waiting", Message: "m"}},
		"a pause": {&Node{Health: Paused, Reason: "Paused", Message: "before: m (NX-IAM-003)"},
			&Node{Health: Paused, Reason: "Paused", Message: "before: m (NX-IAM-003)"}},
	} {
		if tc.n.addCode(); !reflect.DeepEqual(tc.n, tc.want) {
			t.Errorf("%s: got %+v, want %+v", name, tc.n, tc.want)
		}
	}
}

func TestExplain_CountsWhatWaitsAndListsOtherFailures(t *testing.T) {
	root := node("NexusAICapability/c", Failed, "Conflict", "", node("S3Bucket/b", Failed, "Conflict", ""),
		node("IAMRole/r", Failed, "AccessDenied", ""),
		node("Deployment/d", Failed, "CrashLoopBackOff", "", node("Pod/p", Failed, "CrashLoopBackOff", "")),
		node("GlueTable/t", Waiting, "Waiting", ""))
	root.Children[0].conditions = []metav1.Condition{{Type: "Ready", Status: "False"}, {Type: "Reconciling", Status: "True"},
		{Type: "Stalled", Status: "False"}, {Type: "BackendReady", Status: "Unknown", Reason: "Skipped"}}
	root.Children = append(root.Children, used(node("AWSProvider/gone", Missing, "Missing", "")))
	root.Message = "S3Bucket/b: it has another owner" // which makes it the cause
	e := explain(root)
	if e.Waiting != 1 || len(e.Failed) != 3 || e.Failed[2].Kind != "AWSProvider" || e.Failed[0].Kind != "IAMRole" ||
		e.Failed[1].Kind != "Pod" {
		t.Errorf("%d wait, failed: %+v", e.Waiting, e.Failed)
	}
	if len(e.Conditions) != 1 || e.Conditions[0].Type != "Ready" {
		t.Errorf("evidence: %+v", e.Conditions)
	}
	if ready := explain(node("S3Bucket/b", Ready, "", "")); !ready.Ready || ready.Cause != nil {
		t.Errorf("%+v", ready)
	}
}
