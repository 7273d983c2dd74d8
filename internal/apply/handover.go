// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// prepareUpdate prepares an object for a server-side apply that takes fields out of it.
func (a *Applier) prepareUpdate(ctx context.Context, p Plan) error {
	if err := a.emptyMaps(ctx, p); err != nil {
		return err
	}
	return a.handOverReplicas(ctx, p)
}

// replicasOwner is the field manager of the number of replicas between the operator and an autoscaler.
const replicasOwner = FieldOwner + "-replicas"

// handOverReplicas makes a second field manager own the number of replicas of a Deployment if the desired state no longer names it, and is
// done before an apply. Without another owner, server-side apply removes the field, and the API server sets the default of one replica.
// Fewer replicas than the least number become that many: autoscalers act every 15 seconds, and leave a Deployment without replicas alone.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#transferring-ownership
func (a *Applier) handOverReplicas(ctx context.Context, p Plan) error {
	ref := RefOf(p.want)
	if _, named, _ := unstructured.NestedFieldNoCopy(p.want.Object, "spec", "replicas"); named || ref.Kind.Kind != "Deployment" {
		return nil
	}
	if ours, theirs := managedSets(p.Live); !ours.Has(replicas) || theirs.Has(replicas) {
		return nil
	}
	live := ref.emptyObject() // the cache may lag behind an edit of the number
	if err := a.Live.Get(ctx, ref.key(), live); err != nil {
		return explain(ref, "reading", err)
	}
	if live.GetUID() != p.Live.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: ref.Kind.Group, Resource: ref.Kind.Kind}, ref.Name, errReplaced)
	}
	number, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	held := ref.emptyObject()
	held.SetName(ref.Name)
	held.SetNamespace(ref.Namespace)
	held.SetUID(live.GetUID())
	held.SetResourceVersion(live.GetResourceVersion())
	if err := unstructured.SetNestedField(held.Object, max(number, minReplicas(p.want)), "spec", "replicas"); err != nil {
		return err
	}
	if err := a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(held), client.FieldOwner(replicasOwner),
		client.ForceOwnership); err != nil {
		return explain(ref, "handing over the replicas of", err)
	}
	a.memory.recordWrite(ref, held.GetResourceVersion())
	return nil
}

// minReplicas is the least number of replicas of a Deployment with an autoscaler.
func minReplicas(want *unstructured.Unstructured) int64 {
	n, err := strconv.ParseInt(want.GetAnnotations()[wellknown.AnnotationMinReplicas], 10, 32)
	if err != nil {
		return 1
	}
	return n
}

// startWithMinReplicas sets the number of replicas in the manifest that creates a Deployment with an autoscaler. The field
// manager gives it up with the first apply after the autoscaler set another one.
func startWithMinReplicas(manifest *unstructured.Unstructured) error {
	if manifest.GetAnnotations()[wellknown.AnnotationMinReplicas] == "" {
		return nil
	}
	return unstructured.SetNestedField(manifest.Object, minReplicas(manifest), "spec", "replicas")
}
