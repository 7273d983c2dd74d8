// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// PolicyKinds lists the kinds of the objects that bindings own.
var PolicyKinds = []schema.GroupVersionKind{
	v1alpha1.GroupVersion.WithKind("NimbusPolicy"),
	v1alpha1.GroupVersion.WithKind("ClusterNimbusPolicy"),
}

// KindOf returns the kind of an object of the security intents API that has a status.
func KindOf(obj client.Object) schema.GroupVersionKind {
	kind := ""
	switch obj.(type) {
	case *v1alpha1.SecurityIntentBinding:
		kind = "SecurityIntentBinding"
	case *v1alpha1.ClusterSecurityIntentBinding:
		kind = "ClusterSecurityIntentBinding"
	case *v1alpha1.NimbusPolicy:
		kind = "NimbusPolicy"
	case *v1alpha1.ClusterNimbusPolicy:
		kind = "ClusterNimbusPolicy"
	}
	return v1alpha1.GroupVersion.WithKind(kind)
}

// ManifestOf returns the NimbusPolicy or ClusterNimbusPolicy that represents a policy in the API.
func ManifestOf(p intent.Policy) (*unstructured.Unstructured, error) {
	var obj runtime.Object = intent.NimbusPolicyOf(p)
	if p.Namespace == "" {
		obj = intent.ClusterNimbusPolicyOf(p)
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", p.Name, err)
	}
	return &unstructured.Unstructured{Object: m}, nil
}

// RefsOf returns references to the objects that represent policies in the API.
func RefsOf(policies []intent.Policy) []apply.Ref {
	refs := make([]apply.Ref, len(policies))
	for i, p := range policies {
		kind := PolicyKinds[0]
		if p.Namespace == "" {
			kind = PolicyKinds[1]
		}
		refs[i] = apply.Ref{Kind: kind, Namespace: p.Namespace, Name: p.Name}
	}
	return refs
}

// BindingOf reads a binding of either kind.
func BindingOf(obj client.Object) intent.Binding {
	if b, ok := obj.(*v1alpha1.SecurityIntentBinding); ok {
		return intent.OfBinding(b)
	}
	return intent.OfClusterBinding(obj.(*v1alpha1.ClusterSecurityIntentBinding))
}

// OwnerOfDerived is a binding as the owner of its policies, or a policy as the owner of the engines' objects.
func OwnerOfDerived(kind schema.GroupVersionKind, obj metav1.Object) apply.Owner {
	return apply.Owner{
		Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		Label: wellknown.LabelPolicyOwner, Sole: true, Namespaces: onlyNamespace(obj.GetNamespace()),
	}
}

// onlyNamespace returns the namespaces of the objects that an object in ns owns. For a cluster-scoped object it returns nil, which stands
// for all namespaces.
func onlyNamespace(ns string) []string {
	if ns == "" {
		return nil
	}
	return []string{ns}
}

// IsDerived reports whether an object is controlled by a policy of ours.
func IsDerived(o metav1.Object) bool {
	c := metav1.GetControllerOf(o)
	if c == nil {
		return false
	}
	gv, err := schema.ParseGroupVersion(c.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName
}

// IsOfPolicy reports whether a network policy is of one of our policies. One that lost its owner reference is still ours,
// as long as its label or its annotation names a policy that exists: if it counted as foreign, its pods would count as
// isolated without us, and it would never be written again. That is not clear once and for all: the policy may come and
// go.
func IsOfPolicy(np metav1.Object, policies func() (map[string]bool, error)) (mine, clear bool, err error) {
	if IsDerived(np) {
		return true, true, nil
	}
	uid, owner := np.GetLabels()[wellknown.LabelPolicyOwner], np.GetAnnotations()[apply.AnnotationOwner]
	if metav1.GetControllerOf(np) != nil || uid+owner == "" {
		return false, true, nil
	}
	known, err := policies()
	return known[uid] || known[owner], false, err
}

// PolicyMarks returns the set of marks that the policies of a namespace leave on their objects: their UID, in a label, and their name, in
// an annotation.
func PolicyMarks(ctx context.Context, c client.Reader, namespace string) (map[string]bool, error) {
	list := &v1alpha1.NimbusPolicyList{}
	if err := c.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	out := make(map[string]bool, 2*len(list.Items))
	for i := range list.Items {
		p := &list.Items[i]
		out[string(p.UID)] = true
		out[apply.Owner{Kind: KindOf(p), Namespace: p.Namespace, Name: p.Name}.String()] = true
	}
	return out, nil
}

// AddedSwitches lists the annotations of a live object that may switch its engine off, such as istio.io/dry-run, and that are
// not wanted; sorted.
func AddedSwitches(want, live *unstructured.Unstructured) []string {
	var out []string
	for k := range live.GetAnnotations() {
		if _, ours := want.GetAnnotations()[k]; !ours && IsSwitchedBy(want.GroupVersionKind().Group, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// IsSwitchedBy reports whether an annotation is of the domain of an engine's kinds: istio.io for security.istio.io.
func IsSwitchedBy(group, annotation string) bool {
	prefix, _, found := strings.Cut(annotation, "/")
	labels := strings.Split(group, ".")
	domain := strings.Join(labels[max(0, len(labels)-2):], ".")
	return found && group != networkingv1.GroupName && (prefix == domain || strings.HasSuffix(prefix, "."+domain))
}
