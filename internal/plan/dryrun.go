// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// dryRun returns the object as `kubectl apply` would leave it: if kubectl's own record of the last manifest exists, fields that the
// manifest no longer names are removed, as kubectl does; otherwise by server-side apply.
func (a admission) dryRun(ctx context.Context, live, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	after, strict := manifest.DeepCopy(), client.WithFieldValidation(a.now, metav1.FieldValidationStrict) // as kubectl does
	if live == nil {
		err := strict.Create(ctx, after, client.DryRunAll, client.FieldOwner(a.fieldManager))
		return after, err
	}
	if original, ok := live.GetAnnotations()[lastApplied]; ok {
		patch, err := mergePatch(live, manifest, []byte(original))
		if err != nil {
			return nil, err
		}
		after = live.DeepCopy()
		return after, strict.Patch(ctx, after, client.RawPatch(types.MergePatchType, patch), client.DryRunAll, client.FieldOwner(a.fieldManager))
	}
	err := strict.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), client.DryRunAll, client.FieldOwner(a.fieldManager),
		client.ForceOwnership)
	return after, err
}

// mergePatch is the three-way merge of kubectl's client-side apply:
// https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/#how-apply-calculates-differences-and-merges-changes
func mergePatch(live, manifest *unstructured.Unstructured, original []byte) ([]byte, error) {
	modified, err := withRecord(manifest)
	if err != nil {
		return nil, err
	}
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	return jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
}

// withRecord is the manifest with kubectl's record of it. Without the record, the merge would take the annotations of
// the object, which kubectl always names, for removed.
func withRecord(manifest *unstructured.Unstructured) ([]byte, error) {
	m := manifest.DeepCopy()
	own := m.GetAnnotations()
	if own == nil {
		own = map[string]string{}
	}
	delete(own, lastApplied)
	m.SetAnnotations(own)
	record, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	own[lastApplied] = string(record)
	m.SetAnnotations(own)
	return json.Marshal(m)
}
