// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// telling drops updates of an AWS resource that mean nothing to its capability: the finalizer and the record of the intent, which are
// written before each first call to AWS. They are a third of the events of a new capability's children.
type telling struct{ predicate.Funcs }

// Update implements predicate.Predicate. A repetition of the cache's own, which has one version twice, is kept.
func (telling) Update(e event.UpdateEvent) bool {
	was, is := e.ObjectOld, e.ObjectNew
	return was.GetResourceVersion() == is.GetResourceVersion() || was.GetUID() != is.GetUID() || was.GetGeneration() != is.GetGeneration() ||
		was.GetDeletionTimestamp() != nil || is.GetDeletionTimestamp() != nil ||
		!maps.Equal(was.GetLabels(), is.GetLabels()) || !maps.Equal(withoutRecord(was), withoutRecord(is)) ||
		!equality.Semantic.DeepEqual(was.GetOwnerReferences(), is.GetOwnerReferences()) || !equality.Semantic.DeepEqual(statusField(was), statusField(is))
}

// withoutRecord are the annotations of an object without those that the controller of AWS resources writes.
func withoutRecord(o client.Object) map[string]string {
	out := maps.Clone(o.GetAnnotations())
	delete(out, engine.AnnotationHome)
	delete(out, engine.AnnotationIntent)
	return out
}

func statusField(o client.Object) any {
	return reflect.Indirect(reflect.ValueOf(o)).FieldByName("Status").Interface()
}
