// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

func existing(kind schema.GroupVersionKind, name string) apply.Child {
	return apply.Child{Ref: apply.Ref{Kind: kind, Namespace: "app-dev", Name: name}}
}

// passOf is a pass of a capability that declares objects by their IDs.
func passOf(t *testing.T, policy nexusv1.DeletionPolicy, declared ...string) *Pass {
	t.Helper()
	c := &nexusv1.NexusAICapability{}
	c.Namespace, c.Name, c.Spec.DeletionPolicy = "app-dev", "app-dev", policy
	var nodes []graph.Node
	for _, id := range declared {
		nodes = append(nodes, graph.Node{ID: id, Object: &unstructured.Unstructured{}})
	}
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	p := Sources{}.Ending(c)
	p.Graph = g
	return p
}

func TestSurplus_LeavesARoleUntilItsResourceIsGone(t *testing.T) {
	p := passOf(t, nexusv1.DeletionDelete, "S3Bucket/app-dev-notes")
	resource, role := v1alpha1.GroupVersion.WithKind("AWSResource"), v1alpha1.GroupVersion.WithKind("IAMRole")
	acts := p.Surplus([][]apply.Child{
		{existing(v1alpha1.GroupVersion.WithKind("S3Bucket"), "app-dev-notes")},
		{existing(resource, "app-dev-agent")},
		{existing(role, "app-dev-agent.service"), existing(role, "app-dev-app-role")},
	})
	after := map[string]string{}
	for _, act := range acts {
		if act.Verb != Delete || act.Err != nil {
			t.Errorf("%+v", act)
		}
		after[act.Ref.Name] = act.After
	}
	want := map[string]string{"app-dev-agent": "", "app-dev-agent.service": "AWSResource/app-dev-agent", "app-dev-app-role": ""}
	if len(after) != len(want) {
		t.Fatalf("got %v, want %v", after, want)
	}
	for name, resource := range want {
		if after[name] != resource {
			t.Errorf("%s goes after %q, want %q", name, after[name], resource)
		}
	}
}

func TestEnd_ReleasesWhatAnOrphanedCapabilityLeaves(t *testing.T) {
	deployment := existing(appsv1.SchemeGroupVersion.WithKind("Deployment"), "app-dev-backend")
	bucket := existing(v1alpha1.GroupVersion.WithKind("S3Bucket"), "app-dev-notes")
	edited := passOf(t, nexusv1.DeletionOrphan)
	ending := passOf(t, nexusv1.DeletionOrphan)
	ending.Graph = nil
	for name, x := range map[string]struct {
		pass  *Pass
		child apply.Child
		want  Verb
	}{
		"an object that an edit drops":           {edited, deployment, Delete},
		"an object of a deleted capability":      {ending, deployment, Release},
		"a resource of AWS, which stays by kind": {ending, bucket, Delete},
	} {
		if act := x.pass.End(x.child); act.Verb != x.want {
			t.Errorf("%s: %s, want %s", name, act.Verb, x.want)
		}
	}
}
