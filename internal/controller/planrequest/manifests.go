// SPDX-License-Identifier: Apache-2.0

package planrequest

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// refusedKinds are the kinds of a namespace that no request may declare. An AWSProvider chooses the identity and the account: a
// plan goes by the AWSProviders that exist. The operator makes the policies of security intents.
var refusedKinds = []string{"AWSProvider", "NimbusPolicy", "PlanRequest"}

// planned makes the plan that a request asks for.
func (r *Reconciler) planned(ctx context.Context, p *plan.Planner, q *nexusv1.PlanRequest) (plan.Plan, error) {
	if len(q.Spec.Manifests) == 0 {
		objects, err := r.objects(ctx, p, q)
		if err != nil {
			return plan.Plan{}, err
		}
		if q.Spec.Deletion {
			return p.Remove(ctx, objects)
		}
		return p.Check(ctx, objects)
	}
	manifests := make([]*unstructured.Unstructured, len(q.Spec.Manifests))
	for i, text := range q.Spec.Manifests {
		u, err := r.manifest(q.Namespace, fmt.Sprintf("spec.manifests[%d]", i), string(text))
		if err != nil {
			return plan.Plan{}, err
		}
		manifests[i] = u
	}
	return p.Apply(ctx, manifests)
}

// manifest reads one object of a request, and refuses an object outside the request's namespace.
func (r *Reconciler) manifest(namespace, field, text string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		return nil, status.Invalid(field, "is no object as JSON: %s", status.Truncate(err.Error(), 256))
	}
	if u.IsList() {
		return nil, status.Invalid(field, "must be one object, not a list")
	}
	if _, err := r.kindOf(field+".kind", u.GetKind(), refusedKinds); err != nil {
		return nil, err
	}
	gvk := u.GroupVersionKind()
	if known, err := r.kindOf(field+".kind", gvk.Kind, nil); err != nil || known != gvk {
		return nil, status.Invalid(field+".apiVersion", "must be %s for kind %s", known.GroupVersion(), status.Truncate(gvk.Kind, 63))
	}
	switch ns := u.GetNamespace(); {
	case ns == "":
		u.SetNamespace(namespace)
	case ns != namespace:
		return nil, status.Invalid(field+".metadata.namespace", "must be empty or %s, the namespace of the request", namespace)
	}
	if len(validation.IsDNS1123Subdomain(u.GetName())) > 0 {
		return nil, status.Invalid(field+".metadata.name", "must be the name of an object: lower case letters, digits, hyphens and dots")
	}
	return u, nil
}

// kindOf finds a kind of the operator's own that lives in a namespace.
func (r *Reconciler) kindOf(field, kind string, refused []string) (schema.GroupVersionKind, error) {
	none := schema.GroupVersionKind{}
	switch {
	case kind == "AWSProvider" && slices.Contains(refused, kind):
		return none, status.Invalid(field, "AWSProvider is refused: a plan of the operator goes by the AWSProviders that exist in the namespace")
	case !r.Schemas.Namespaced(kind) || slices.Contains(refused, kind):
		return none, status.Invalid(field, "%q is no kind of this operator that people create in a namespace", status.Truncate(kind, 63))
	}
	for gvk := range r.Client.Scheme().AllKnownTypes() {
		if gvk.Kind == kind && isOwnGroup(gvk.Group) {
			return gvk, nil
		}
	}
	return none, fmt.Errorf("kind %s has a CRD and no Go type", kind)
}

// objects reads the objects that a request names.
func (r *Reconciler) objects(ctx context.Context, p *plan.Planner, q *nexusv1.PlanRequest) ([]*unstructured.Unstructured, error) {
	out := make([]*unstructured.Unstructured, 0, len(q.Spec.Objects))
	for i, o := range q.Spec.Objects {
		field := fmt.Sprintf("spec.objects[%d]", i)
		gvk, err := r.kindOf(field+".kind", o.Kind, refusedKinds)
		if err != nil {
			return nil, err
		}
		if len(validation.IsDNS1123Subdomain(o.Name)) > 0 {
			return nil, status.Invalid(field+".name", "must be the name of an object: lower case letters, digits, hyphens and dots")
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		err = p.Client.Get(ctx, client.ObjectKey{Namespace: q.Namespace, Name: o.Name}, u)
		if apierrors.IsNotFound(err) && q.Spec.Deletion && q.Spec.IgnoreNotFound {
			continue
		}
		if apierrors.IsNotFound(err) {
			return nil, status.Invalid(field+".name", "%s %s does not exist in namespace %s", o.Kind, o.Name, q.Namespace)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", o.Kind, o.Name, err)
		}
		out = append(out, u)
	}
	return out, nil
}
