// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// withVectors declares a bucket of vectors, and an index that uses it.
func withVectors(c *nexusv1.NexusAICapability) {
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "team"}
	c.Spec.DataServices = &nexusv1.DataServicesSpec{Resources: []nexusv1.ResourcePart{
		{Name: "vectors", Type: "AWS::S3Vectors::VectorBucket", Properties: &runtime.RawExtension{Raw: []byte(`{"VectorBucketName":"{name}"}`)},
			Access:  &nexusv1.PartAccess{Actions: []nexusv1.PartAction{"s3vectors:QueryVectors"}},
			Exports: map[string]nexusv1.ExportedValue{"VECTORS_ARN": "arn"}},
		{Name: "index", Type: "AWS::S3Vectors::Index", Properties: &runtime.RawExtension{Raw: []byte(`{"IndexName":"index"}`)}, Uses: []nexusv1.PartName{"vectors"}},
	}}
}

// vectorsBed is a bed with the provider that the resources need.
func vectorsBed(t *testing.T) *bed {
	t.Helper()
	b := newBed(t)
	b.create(&v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "team"}, Spec: v1alpha1.AWSProviderSpec{Region: "eu-central-1"}})
	return b
}

func (b *bed) anyResource(purpose string) *v1alpha1.AWSResource {
	return &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-" + purpose}}
}

func TestResources_RunAndRest(t *testing.T) {
	b := vectorsBed(t)
	c := b.capability(withVectors)
	b.run(c)
	vectors := b.anyResource("vectors")
	b.read(vectors)
	if vectors.Spec.ProviderRef.Name != "team" || vectors.Spec.DeletionPolicy != v1alpha1.DeletionDelete || !strings.Contains(string(vectors.Spec.Properties.Raw), vectors.Name) {
		t.Errorf("%+v", vectors.Spec)
	}
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-app-role"}}
	b.read(role)
	if text := role.Spec.InlinePolicies[0].PolicyDocument; !strings.Contains(text, `"`+vectors.Status.ARN+`/index/*"`) || !strings.Contains(text, "s3vectors:QueryVectors") {
		t.Errorf("%s", text)
	}
	if !slices.ContainsFunc(c.Status.Resources, func(r nexusv1.ResourceStatus) bool { return r.Name == vectors.Name && r.ARN == vectors.Status.ARN }) {
		t.Errorf("%+v", c.Status.Resources)
	}
	b.pass(c)
	if writes := b.written(); len(writes) > 0 {
		t.Errorf("a second run writes %q", writes)
	}

	// Another instance, after a crash, finds everything as declared.
	b.Reconciler = b.newReconciler()
	b.pass(c)
	if writes := b.written(); len(writes) > 0 {
		t.Errorf("after a restart: %q", writes)
	}
}

// An object of somebody else with the name of a resource is left alone, and the role gets nothing on it.
func TestResources_LeaveForeignObjectsAlone(t *testing.T) {
	b := vectorsBed(t)
	foreign := b.anyResource("vectors")
	foreign.Spec.ProviderRef.Name, foreign.Spec.TypeName, foreign.Spec.Properties.Raw = "other", "AWS::Kinesis::Stream", []byte(`{"Name":"theirs"}`)
	b.create(foreign)
	c := b.capability(withVectors)
	b.eventually("the conflict to show", func() error {
		b.answer()
		_, _ = b.reconcile(c)
		b.read(c)
		return errorfUnless(c, status.ReasonConflict)
	})
	if b.read(foreign); foreign.Spec.ProviderRef.Name != "other" || len(foreign.OwnerReferences) > 0 {
		t.Errorf("%+v", foreign)
	}
	if role := (&v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-app-role"}}); b.exists(role) {
		t.Error("the role does not wait for the resource")
	}
}

func errorfUnless(c *nexusv1.NexusAICapability, reason string) error {
	for _, k := range c.Status.Conditions {
		if k.Type == status.Stall && k.Status == metav1.ConditionTrue && k.Reason == reason {
			return nil
		}
	}
	return errorf(c)
}
