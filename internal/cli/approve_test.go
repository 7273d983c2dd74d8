// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// pendingObject returns an object of a kind; a plan with the hash waits, or none without one.
func pendingObject(kind, name, hash string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "aws-infra-operator.runner.codes/v1alpha1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": "team", "resourceVersion": "7"}}}
	if hash != "" {
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": status.PlanApproved, "status": "False",
			"reason": status.ReasonPlanPending, "message": status.PendingMessage(hash)}}}
	}
	return u
}

func TestApprovalsOf_AreOfPlansThatWait(t *testing.T) {
	capability := pendingObject("NexusAICapability", "app", "")
	capability.SetAPIVersion("nexus.ai/v1")
	edited := pendingObject("NexusAICapability", "app", "h0")
	edited.SetAPIVersion("nexus.ai/v1")
	child := func(hash string) *unstructured.Unstructured {
		u := pendingObject("S3Bucket", "child", hash)
		_ = unstructured.SetNestedSlice(u.Object,
			[]any{map[string]any{"apiVersion": "nexus.ai/v1", "kind": "NexusAICapability", "name": "app", "uid": "u", "controller": true}},
			"metadata", "ownerReferences")
		return u
	}
	for name, tc := range map[string]struct {
		objects []*unstructured.Unstructured
		hash    string
		want    []string
		refused string
	}{
		"one":            {[]*unstructured.Unstructured{pendingObject("S3Bucket", "a", "h1")}, "", []string{"h1"}, ""},
		"the named hash": {[]*unstructured.Unstructured{pendingObject("S3Bucket", "a", "h1")}, "h1", []string{"h1"}, ""},
		"another hash": {[]*unstructured.Unstructured{pendingObject("S3Bucket", "a", "h1")}, "h2", nil,
			"plan h1 of S3Bucket team/a waits for an approval, and not h2"},
		"no plan": {[]*unstructured.Unstructured{pendingObject("S3Bucket", "a", "")}, "", nil,
			"no plan of S3Bucket team/a waits"},
		"an edited capability":         {[]*unstructured.Unstructured{edited, child("")}, "", []string{"h0"}, ""},
		"an edit and a changed object": {[]*unstructured.Unstructured{edited, child("h1")}, "", []string{"h0", "h1"}, ""},
		"an edit by its hash alone":    {[]*unstructured.Unstructured{edited, child("h1")}, "h0", []string{"h0"}, ""},
		"a capability":                 {[]*unstructured.Unstructured{capability, child("h1"), child("")}, "", []string{"h1"}, ""},
		"a capability, nothing waits": {[]*unstructured.Unstructured{capability, child("")}, "", nil,
			"no plan of NexusAICapability team/app waits"},
		"a capability without objects": {[]*unstructured.Unstructured{capability}, "", nil, "no plan of NexusAICapability team/app waits"},
		"a capability with a named hash": {[]*unstructured.Unstructured{capability, child("h1")}, "h1", nil,
			"no plan of NexusAICapability team/app waits"},
	} {
		t.Run(name, func(t *testing.T) {
			requests, err := approvalsOf(tc.objects, tc.hash)
			if (err != nil) != (tc.refused != "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
				t.Fatalf("got %v, want %q", err, tc.refused)
			}
			if len(requests) != len(tc.want) {
				t.Fatalf("%d changes, want %d", len(requests), len(tc.want))
			}
			for i, q := range requests {
				annotation, _, _ := unstructured.NestedString(q.Patch, "metadata", "annotations", "nexus.ai/approved-plan")
				version, _, _ := unstructured.NestedString(q.Patch, "metadata", "resourceVersion")
				if annotation != tc.want[i] || version != "7" {
					t.Errorf("the change is %v, want %s", q.Patch, tc.want[i])
				}
			}
		})
	}
}
