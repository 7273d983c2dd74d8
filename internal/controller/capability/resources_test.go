// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
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

// An object with the name of a resource that has another owner is left alone, and the role gets nothing on it.
func TestResources_LeaveForeignObjectsAlone(t *testing.T) {
	extent.Full(t)
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

func TestResources_MissingRightToCreate(t *testing.T) {
	extent.Full(t)
	b := vectorsBed(t)
	b.refuseWith("apply", "AWSResource", forbidden)
	c := b.capability(withVectors)
	b.eventually("the refusal to show", func() error {
		b.answer()
		_, _ = b.reconcile(c)
		b.read(c)
		return errorfUnless(c, status.ReasonAccessDenied)
	})
	b.allowAll()
	b.run(c)
}

// If a kind's definition refuses an object, the capability stalls before anything is created.
func TestResources_AreCheckedBeforeAnythingIsApplied(t *testing.T) {
	extent.Full(t)
	b := vectorsBed(t)
	c := b.capability(withVectors, withBucketBeside, func(c *nexusv1.NexusAICapability) {
		c.Spec.DataServices.Resources = append(c.Spec.DataServices.Resources, nexusv1.ResourcePart{Name: "net", Kind: "VPC", Spec: &runtime.RawExtension{Raw: []byte(`{"cidrBlock":"none"}`)}})
	})
	b.eventually("the field to be named", func() error {
		b.answer()
		_, _ = b.reconcile(c)
		b.read(c)
		return errorfUnless(c, status.ReasonInvalidSpec)
	})
	if m := b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonInvalidSpec); !strings.Contains(m, "spec.dataServices.resources[2].spec.cidrBlock") {
		t.Errorf("%s", m)
	}
	if b.exists(b.bucket()) || b.exists(b.anyResource("vectors")) {
		t.Error("something was created")
	}
}

func withBucketBeside(c *nexusv1.NexusAICapability) {
	c.Spec.DataServices.S3 = &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "media"}}}
}

// A dropped store is held until a person names it.
func TestResources_DroppedStoresAreHeld(t *testing.T) {
	extent.Full(t)
	b := vectorsBed(t)
	c := b.capability(withVectors)
	b.run(c)
	index := b.anyResource("index")
	b.edit(index, func() { index.Finalizers = append(index.Finalizers, holdsData) })
	b.Cleanup(func() {
		if b.person.Get(b.ctx(), client.ObjectKeyFromObject(index), index) == nil {
			index.Finalizers = nil
			_ = b.person.Update(b.ctx(), index)
		}
	})
	b.run(c)
	b.edit(c, func() { c.Spec.DataServices.Resources = c.Spec.DataServices.Resources[:1] })
	b.run(c)
	b.read(index)
	status.Summarize(&index.Status.Conditions, status.Result{Generation: index.Generation, Now: b.clock.Now(),
		Err: &status.Stalled{Reason: status.ReasonDataWouldBeLost, Message: "waiting for the data: it may hold data"}})
	if err := b.person.Status().Update(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	_, _ = b.reconcile(c)
	b.read(c)
	if m := b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonDataWouldBeLost); !strings.Contains(m, "AWSResource/"+index.Name) {
		t.Errorf("%s", m)
	}
	b.edit(c, func() { c.Annotations = map[string]string{reconciler.AnnotationDeleteData: index.Name} })
	_, _ = b.reconcile(c)
	if b.read(index); !reconciler.MayDeleteData(index, index.Name) {
		t.Errorf("the object is not told: %v", index.Annotations)
	}
}

// The index goes before the bucket that it uses.
func TestResources_AreDeletedInTheOrderOfTheirUse(t *testing.T) {
	extent.Full(t)
	b := vectorsBed(t)
	c := b.capability(withVectors)
	b.run(c)
	index, vectors := b.anyResource("index"), b.anyResource("vectors")
	b.edit(index, func() { index.Finalizers = append(index.Finalizers, holdsData) })
	if err := b.person.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	b.eventually("the index to be deleted", func() error {
		_, _ = b.reconcile(c)
		if b.read(index); index.DeletionTimestamp == nil {
			return errorf(c)
		}
		return nil
	})
	for range 3 {
		_, _ = b.reconcile(c)
	}
	if b.read(vectors); vectors.DeletionTimestamp != nil {
		t.Error("the bucket is deleted before the index that uses it")
	}
	b.edit(index, func() { index.Finalizers = nil })
	b.eventually("the bucket to go", func() error {
		_, _ = b.reconcile(c)
		if b.exists(vectors) {
			return errorf(c)
		}
		return nil
	})
}
