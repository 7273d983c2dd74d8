// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestTelling_DropsTheRecordOfTheIntentAlone(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(o *v1alpha1.S3Bucket)
		tells bool
	}{
		"the first record, with the finalizer": {func(o *v1alpha1.S3Bucket) {
			o.Finalizers = []string{v1alpha1.FinalizerOf("S3Bucket")}
			o.Annotations = map[string]string{"a": "1", engine.AnnotationHome: "aws/1/r", engine.AnnotationIntent: "{}"}
		}, false},
		"managed fields":  {func(o *v1alpha1.S3Bucket) { o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}} }, false},
		"the spec":        {func(o *v1alpha1.S3Bucket) { o.Generation++ }, true},
		"a label":         {func(o *v1alpha1.S3Bucket) { o.Labels = map[string]string{"a": "2"} }, true},
		"an annotation":   {func(o *v1alpha1.S3Bucket) { o.Annotations = map[string]string{} }, true},
		"the owner":       {func(o *v1alpha1.S3Bucket) { o.OwnerReferences = nil }, true},
		"its deletion":    {func(o *v1alpha1.S3Bucket) { o.DeletionTimestamp = new(metav1.Now()) }, true},
		"another object":  {func(o *v1alpha1.S3Bucket) { o.UID = "2" }, true},
		"a condition":     {func(o *v1alpha1.S3Bucket) { o.Status.Conditions = []metav1.Condition{{Type: status.Ready}} }, true},
		"its ARN":         {func(o *v1alpha1.S3Bucket) { o.Status.ARN = "arn" }, true},
		"a look again":    {func(o *v1alpha1.S3Bucket) { o.ResourceVersion = "1" }, true},
		"nothing of note": {func(*v1alpha1.S3Bucket) {}, false},
	} {
		was := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "1", ResourceVersion: "1", Generation: 1, Labels: map[string]string{"a": "1"},
			Annotations: map[string]string{"a": "1"}, OwnerReferences: []metav1.OwnerReference{{UID: "c"}}}}
		is := was.DeepCopy()
		is.ResourceVersion = "2"
		c.edit(is)
		if got := (telling{}).Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != c.tells {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTelling_EveryAWSResourceHasAStatus(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for kind := range scheme.KnownTypes(v1alpha1.GroupVersion) {
		made, err := scheme.New(v1alpha1.GroupVersion.WithKind(kind))
		if o, ok := made.(v1alpha1.Resource); err == nil && ok && !strings.HasSuffix(kind, "List") && statusField(o) == nil {
			t.Errorf("%s has no status", kind)
		}
	}
}
