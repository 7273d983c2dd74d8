// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

func TestConsoleURL_IsThatOfThePartition(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:s3:::logs":                        "https://console.aws.amazon.com/go/view?arn=arn%3Aaws%3As3%3A%3A%3Alogs",
		"arn:aws-cn:sqs:cn-north-1:123456789012:q": "https://console.amazonaws.cn/go/view?arn=arn%3Aaws-cn%3Asqs%3Acn-north-1%3A123456789012%3Aq",
		"arn:aws-us-gov:iam::123456789012:role/a":  "https://console.amazonaws-us-gov.com/go/view?arn=arn%3Aaws-us-gov%3Aiam%3A%3A123456789012%3Arole%2Fa",
		"arn:aws-iso:s3:::logs":                    "",
		"ap-southeast-1_Ab3":                       "",
		"":                                         "",
		"arn:aws:s3":                               "",
		"arn:aws:s3:::a&redirect=https://evil.example":           "https://console.aws.amazon.com/go/view?arn=arn%3Aaws%3As3%3A%3A%3Aa%26redirect%3Dhttps%3A%2F%2Fevil.example",
		"arn:aws.evil.example/:s3:::a":                           "",
		"javascript:aws:s3:::a":                                  "",
		"arn:aws:dynamodb:eu-west-1:123456789012:table/a:more:b": "https://console.aws.amazon.com/go/view?arn=arn%3Aaws%3Adynamodb%3Aeu-west-1%3A123456789012%3Atable%2Fa%3Amore%3Ab",
	} {
		if got := ConsoleURL(arn); got != want {
			t.Errorf("%s: %s, want %s", arn, got, want)
		}
	}
}

// live is an object as the API server returns it, with a Ready condition.
func live(kind, name, ready, reason, message string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "nexus.ai/v1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": "team-a", "generation": int64(2), "resourceVersion": "7"},
		"status": map[string]any{"observedGeneration": int64(2), "phase": "Failed", "progress": "3/11", "conditions": []any{
			map[string]any{"type": "Ready", "status": ready, "reason": reason, "message": message, "observedGeneration": int64(2),
				"lastTransitionTime": "2026-01-01T00:00:00Z"},
			map[string]any{"type": "Stalled", "status": map[string]string{"True": "False", "False": "True"}[ready], "reason": reason,
				"message": message, "observedGeneration": int64(2), "lastTransitionTime": "2026-01-01T00:00:00Z"}}}}}
}

func TestRowOf_NamesTheObjectInTrouble(t *testing.T) {
	for name, tc := range map[string]struct {
		u       *unstructured.Unstructured
		health  Health
		trouble string
	}{
		"ready":   {live("NexusAICapability", "a", "True", "Ready", "all components are ready"), Ready, ""},
		"a child": {live("NexusAICapability", "a", "False", "Conflict", "S3Bucket/logs: taken"), Failed, "S3Bucket/logs"},
		"itself":  {live("NexusAICapability", "a", "False", "InvalidSpec", "spec.region: unknown"), Failed, "NexusAICapability/a"},
		"another, inside": {live("NexusAICapability", "a", "False", "InvalidSpec", "the name of S3Bucket/logs is too long"), Failed,
			"NexusAICapability/a"},
		"no status": {&unstructured.Unstructured{Object: map[string]any{"apiVersion": "nexus.ai/v1", "kind": "NexusAICapability",
			"metadata": map[string]any{"name": "a"}}}, Progressing, "NexusAICapability/a"},
		"no conditions": {&unstructured.Unstructured{Object: map[string]any{"apiVersion": "nexus.ai/v1", "kind": "PlanRequest",
			"metadata": map[string]any{"name": "a"}}}, Ready, ""},
	} {
		row := RowOf(tc.u)
		if row.Health != tc.health || row.Trouble != tc.trouble || row.Name != "a" {
			t.Errorf("%s: %+v", name, row)
		}
	}
	row := RowOf(live("NexusAICapability", "a", "False", "Conflict", "S3Bucket/logs: taken (NX-SPEC-005)"))
	if row.Code != "NX-SPEC-005" || row.Phase != "Failed" || row.Progress != "3/11" || row.Version != "7" || row.Reason != "Conflict" {
		t.Errorf("%+v", row)
	}
}

func TestCoverage_IsThatOfThePoliciesThatSelectThePod(t *testing.T) {
	policy := func(name string, labels map[string]string, coverage ...intentv1alpha1.Coverage) intentv1alpha1.NimbusPolicy {
		p := intentv1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
		p.Spec.Selector.MatchLabels = labels
		p.Spec.Rules = []intentv1alpha1.Rule{{ID: "dnsManipulation"}}
		p.Status.Coverage = coverage
		return p
	}
	pod := func(namespace, name, app string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
			Labels: map[string]string{"app": app}}}
	}
	enforced := intentv1alpha1.Coverage{Intent: "dnsManipulation", Engine: "KubernetesNetworkPolicy", Level: intentv1alpha1.LevelEnforced}
	missing := intentv1alpha1.Coverage{Intent: "dnsManipulation", Engine: "KubeArmor", Level: intentv1alpha1.LevelNone, Reason: "NotInstalled"}
	wide := intentv1alpha1.ClusterNimbusPolicy{ObjectMeta: metav1.ObjectMeta{Name: "everywhere"}}
	wide.Spec.Selector.NsSelector.ExcludeNames = []intentv1alpha1.NamespaceName{"team-a"}
	wide.Spec.Rules, wide.Status.Coverage = []intentv1alpha1.Rule{{ID: "dnsManipulation"}}, []intentv1alpha1.Coverage{enforced}
	all, err := selectingPolicies([]intentv1alpha1.NimbusPolicy{policy("web", map[string]string{"app": "web"}, enforced, missing),
		policy("all", nil, enforced), policy("idle", map[string]string{"app": "none"})}, []intentv1alpha1.ClusterNimbusPolicy{wide})
	if err != nil {
		t.Fatal(err)
	}
	got := coverageOf(all, []metav1.PartialObjectMetadata{pod("team-a", "web-1", "web"), pod("team-a", "db-1", "db"),
		pod("team-b", "web-1", "web"), pod("kube-system", "dns-1", "dns")})
	if !slices.Equal(got.Engines, []string{"KubeArmor", "KubernetesNetworkPolicy"}) || len(got.Pods) != 3 || len(got.Idle) != 1 ||
		got.Idle[0].Name != "idle" {
		t.Fatalf("%+v", got)
	}
	if there := got.Pods[2]; there.Namespace != "team-b" || len(there.Intents) != 1 || !there.Intents[0].Cluster ||
		there.Intents[0].Policy != "everywhere" {
		t.Errorf("%+v", there)
	}
	if db, web := got.Pods[0], got.Pods[1]; db.Name != "db-1" || len(db.Intents) != 1 || web.Name != "web-1" || len(web.Intents) != 2 ||
		web.Intents[1].Policy != "web" || len(web.Intents[1].Engines) != 2 {
		t.Errorf("%+v", got.Pods)
	}
	broken := policy("broken", nil)
	broken.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}
	if _, err := selectingPolicies([]intentv1alpha1.NimbusPolicy{broken}, nil); err == nil {
		t.Error("a selector that cannot be read selects nothing, silently")
	}
}

func TestTimeline_HasEventsWritesAndPhases(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)) }
	c := live("NexusAICapability", "shop", "True", "Ready", "")
	first, second := at(1), at(4)
	c.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, Time: &first,
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{},"f:spec":{"f:a":{}}}`)},
		{Manager: "nexus-operator", Operation: metav1.ManagedFieldsOperationUpdate, Time: &second, Subresource: "status"},
		{Manager: "unknown", Operation: metav1.ManagedFieldsOperationUpdate},
	})
	if err := unstructured.SetNestedSlice(c.Object,
		[]any{map[string]any{"phase": "Running", "time": "2026-01-01T00:03:00Z", "reason": "Ready"}, "no entry"}, "status",
		"history"); err != nil {
		t.Fatal(err)
	}
	tl := newTimeline()
	tl.addObject(c)
	event := corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "S3Bucket", Name: "logs", Namespace: "team-a"}, Reason: "Created",
		Type: corev1.EventTypeNormal, LastTimestamp: at(2), ReportingController: "nexus-operator"}
	tl.Items = append(tl.Items, happeningOf(event))
	event.ReportingController = "someone-else"
	event.LastTimestamp = at(0)
	tl.Items = append(tl.Items, happeningOf(event))
	var got []string
	for _, h := range tl.sorted(10).Items {
		text := h.Source + " " + h.Object + " " + h.Who + " " + h.Reason + " " + h.Message
		if h.AWS {
			text += " in AWS"
		}
		got = append(got, text)
	}
	want := []string{"Write NexusAICapability/shop nexus-operator Update wrote the status",
		"Phase NexusAICapability/shop nexus-operator Running Ready",
		"Event S3Bucket/logs nexus-operator Created  in AWS", "Write NexusAICapability/shop kubectl Apply wrote metadata and spec",
		"Event S3Bucket/logs someone-else Created "}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if n := len(tl.sorted(2).Items); n != 2 {
		t.Errorf("%d items, want 2", n)
	}
}
