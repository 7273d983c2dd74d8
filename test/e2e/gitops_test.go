// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// applyAsArgoCD applies an object server-side without force and returns it as the API server does.
func (b *bed) applyAsArgoCD(o *unstructured.Unstructured) *unstructured.Unstructured {
	b.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	out := o.DeepCopy()
	if err := b.Client.Patch(b.Ctx(), out, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner("argocd-controller")); err != nil {
		b.Fatal(err)
	}
	return out
}

// operatorFields are the top-level fields, and those of the metadata, that the operator's writes own.
func operatorFields(t *testing.T, o *unstructured.Unstructured) []string {
	t.Helper()
	var out []string
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == "argocd-controller" {
			continue
		}
		fields := map[string]map[string]any{}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		for top, below := range fields {
			for field := range below {
				if top != "f:status" {
					out = append(out, top+"."+field)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unprocessed reports whether kstatus and the health script report that the operator has not processed an object.
func unprocessed(o *unstructured.Unstructured) bool {
	observed, found, err := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	return err == nil && found && observed == -1
}

// settled applies a manifest until that no longer changes the object, and returns the object.
func (b *bed) settled(manifest *unstructured.Unstructured) *unstructured.Unstructured {
	b.Helper()
	var again *unstructured.Unstructured
	b.Eventually(30*time.Second, "the same manifest to change nothing", func() error {
		before := b.applyAsArgoCD(manifest).GetResourceVersion()
		if again = b.applyAsArgoCD(manifest); again.GetResourceVersion() != before {
			return fmt.Errorf("version %s became %s", before, again.GetResourceVersion())
		}
		return nil
	})
	return again
}

func TestGitOps_TheOperatorOwnsNoFieldOfAManifest(t *testing.T) {
	b := newBed(t)
	b.provider()
	c := b.Capability("examples/test-capability.yaml")
	bucket := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "aws-infra-operator.runner.codes/v1alpha1", "kind": "S3Bucket",
		"metadata": map[string]any{"name": "gitops", "namespace": b.Namespace},
		"spec":     map[string]any{"bucketName": "gitops-bucket", "providerRef": map[string]any{"name": "aws"}},
	}}
	manifests := append(b.File("examples/test-capability.yaml"), bucket)
	for _, manifest := range manifests {
		if created := b.applyAsArgoCD(manifest); !unprocessed(created) {
			t.Errorf("a new %s has the status %v", created.GetKind(), created.Object["status"])
		}
	}
	b.Running(c)
	b.Ready(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "gitops", Namespace: b.Namespace}})
	want := map[string][]string{"NexusAICapability": {"f:metadata.f:finalizers"},
		"S3Bucket": {"f:metadata.f:annotations", "f:metadata.f:finalizers"}}
	for _, manifest := range manifests {
		if got := operatorFields(t, b.settled(manifest)); !slices.Equal(got, want[manifest.GetKind()]) {
			t.Errorf("%s: the operator owns %q", manifest.GetKind(), got)
		}
	}
}
