// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// InProcess computes the object that results from a manifest of one of the operator's own kinds, without a request to the API server: by
// the merge of `kubectl apply`, the defaults, the schema and the rules of its CRD. It does not know the admission webhooks and policies of
// the cluster. It grants nothing that these would refuse, because nothing is written.
type InProcess struct {
	Scheme  *runtime.Scheme
	Schemas *crdschema.Schemas
	Clock   clock.PassiveClock
}

// Admit is a Planner's Admit. Of the manifest it takes the labels, the annotations and the spec; status, UID, owners and the
// operator's own annotations are those of the live object.
func (a InProcess) Admit(ctx context.Context, live, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	declared := declaredPart(manifest)
	if err := a.checkFields(declared); err != nil {
		return nil, err
	}
	after := declared
	if live != nil {
		merged, err := merge(live, declared)
		if err != nil {
			return nil, err
		}
		after = merged
	}
	if err := a.Schemas.Default(after); err != nil {
		return nil, err
	}
	if live == nil {
		after.SetUID(futureUID(after))
		after.SetGeneration(1)
		after.SetCreationTimestamp(metav1.NewTime(a.Clock.Now()))
		return after, a.Schemas.Validate(ctx, after.GetKind(), after)
	}
	if !reflect.DeepEqual(live.Object["spec"], after.Object["spec"]) {
		after.SetGeneration(live.GetGeneration() + 1)
	}
	return after, a.Schemas.ValidateUpdate(ctx, after.GetKind(), after, live.Object)
}

// checkFields refuses unknown fields, as the strict validation of kubectl does.
func (a InProcess) checkFields(u *unstructured.Unstructured) error {
	typed, err := a.Scheme.New(u.GroupVersionKind())
	if err != nil {
		return status.Invalid("apiVersion", "%s %s is not known", u.GetAPIVersion(), u.GetKind())
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, typed, true); err != nil {
		return status.Invalid("", "%v", err)
	}
	return nil
}

// declaredPart returns the fields of an object that a person may declare.
func declaredPart(manifest *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(manifest.GetAPIVersion())
	out.SetKind(manifest.GetKind())
	out.SetNamespace(manifest.GetNamespace())
	out.SetName(manifest.GetName())
	out.SetLabels(manifest.GetLabels())
	annotations := map[string]string{}
	for k, v := range manifest.GetAnnotations() {
		if !isOperators(k) {
			annotations[k] = v
		}
	}
	if len(annotations) > 0 {
		out.SetAnnotations(annotations)
	}
	if spec, ok := manifest.Object["spec"]; ok {
		out.Object["spec"] = runtime.DeepCopyJSONValue(spec)
	}
	return out
}

// isOperators reports whether an annotation is a record of the operator or of kubectl, which no manifest of a plan sets.
func isOperators(annotation string) bool {
	ofPeople := annotation == wellknown.AnnotationPaused || annotation == wellknown.AnnotationDeleteData
	return annotation == lastApplied || strings.HasPrefix(annotation, wellknown.Prefix) && !ofPeople
}

// merge is the live object after `kubectl apply` of the manifest. Where kubectl has no record, nothing is removed.
func merge(live, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	original := live.GetAnnotations()[lastApplied]
	if original == "" {
		original = "{}"
	}
	text, err := mergePatch(live, manifest, []byte(original))
	if err != nil {
		return nil, fmt.Errorf("merging the manifest: %w", err)
	}
	var patch map[string]any
	if err := json.Unmarshal(text, &patch); err != nil {
		return nil, err
	}
	out := live.DeepCopy()
	patched, err := json.Marshal(patchObject(out.Object, patch))
	if err != nil {
		return nil, err
	}
	after := &unstructured.Unstructured{}
	return after, after.UnmarshalJSON(patched) // which has integers where encoding/json has floats
}

// patchObject applies a JSON merge patch: https://www.rfc-editor.org/rfc/rfc7386
func patchObject(target, patch map[string]any) map[string]any {
	if target == nil {
		target = map[string]any{}
	}
	for k, v := range patch {
		child, isObject := v.(map[string]any)
		switch {
		case v == nil:
			delete(target, k)
		case isObject:
			was, _ := target[k].(map[string]any)
			target[k] = patchObject(was, child)
		default:
			target[k] = v
		}
	}
	return target
}
