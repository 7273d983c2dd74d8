// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// The labels and annotations that mark a child as ours.
const (
	// AnnotationOwner names the owner for people: Kind/namespace/name.
	AnnotationOwner = "nexus.ai/owner"
	// AnnotationHash is the hash of the manifest that was applied last.
	AnnotationHash = "nexus.ai/desired-hash"

	// AnnotationOrphanedFrom names, on an object that was orphaned, the owner that it had: a later owner of that
	// kind, namespace and name takes the object over.
	AnnotationOrphanedFrom = "nexus.ai/orphaned-from"
)

// Owner identifies an object that has its children applied, listed and removed.
type Owner struct {
	Kind schema.GroupVersionKind
	// Namespace is empty for an owner of cluster scope.
	Namespace, Name string
	UID             types.UID
	// Label is the key of the label that holds the UID; empty is wellknown.LabelCapabilityUID.
	Label string
	// Sole removes the additions of others from the owner's children: fields of the spec, and a ConfigMap's data. It needs a cache that
	// keeps managed fields.
	Sole bool
	// Optimistic says that a child is written only as it was when it was judged: a write by another operator in
	// between is a conflict.
	Optimistic bool
	// Shared holds the kinds that Sole leaves alone.
	Shared []schema.GroupKind
	// Namespaces lists the namespaces that the owner's children are in, and that a Namespace among them is; empty is every one.
	// Everyone who may write in another namespace can put the owner's label on an object there.
	Namespaces []string
}

// mayOwn reports whether a child could be one of the owner's by its namespace.
func (o Owner) mayOwn(child Ref) bool {
	ns := child.Namespace
	if child.isNamespace() {
		ns = child.Name
	}
	return len(o.Namespaces) == 0 || ns == "" || slices.Contains(o.Namespaces, ns)
}

func (o Owner) isController(child Ref) bool {
	return o.Sole && !slices.Contains(o.Shared, child.Kind.GroupKind())
}

// String gives the owner as Kind/namespace/name.
func (o Owner) String() string {
	if o.Namespace == "" {
		return o.Kind.Kind + "/" + o.Name
	}
	return o.Kind.Kind + "/" + o.Namespace + "/" + o.Name
}

func (o Owner) label() string {
	if o.Label == "" {
		return wellknown.LabelCapabilityUID
	}
	return o.Label
}

// validate keeps an owner without a UID from matching objects without a label.
func (o Owner) validate() error {
	if o.UID == "" || o.Name == "" || o.Kind.Kind == "" {
		return fmt.Errorf("the owner %q of children has no UID, name or kind", o)
	}
	return nil
}

// refersTo reports whether a child may carry an owner reference: those never cross namespaces.
func (o Owner) refersTo(child metav1.Object) bool {
	return o.Namespace == "" || o.Namespace == child.GetNamespace()
}

func (o Owner) reference() map[string]any {
	return map[string]any{
		"apiVersion": o.Kind.GroupVersion().String(), "kind": o.Kind.Kind, "name": o.Name, "uid": string(o.UID),
		"controller": true, "blockOwnerDeletion": true,
	}
}

// is reports whether a reference names an object of the owner's kind and name, of whichever UID.
func (o Owner) is(r metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	return err == nil && gv.Group == o.Kind.Group && r.Kind == o.Kind.Kind && r.Name == o.Name
}

// Ref names a child.
type Ref struct {
	Kind            schema.GroupVersionKind
	Namespace, Name string
}

// RefOf names an object that knows its kind, such as an unstructured one.
func RefOf(o client.Object) Ref {
	return Ref{Kind: o.GetObjectKind().GroupVersionKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// String gives the child as Kind namespace/name.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind.Kind + " " + r.Name
	}
	return r.Kind.Kind + " " + r.Namespace + "/" + r.Name
}

func (r Ref) validate() error {
	if r.Name == "" || r.Kind.Kind == "" || r.Kind.Version == "" {
		return errors.New("a child needs apiVersion, kind and name: " + r.String())
	}
	return nil
}

func (r Ref) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

func (r Ref) isNamespace() bool { return r.Kind.Group == "" && r.Kind.Kind == "Namespace" }

func (r Ref) emptyObject() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.Kind)
	u.SetNamespace(r.Namespace)
	u.SetName(r.Name)
	return u
}

// verdict names the relation of an existing object to an owner.
type verdict int

const (
	ours verdict = iota
	// inherited: left, without a controller, by an earlier owner of the same kind, namespace and name.
	inherited
	// doomed: still controlled by such an earlier owner; the garbage collector removes it.
	doomed
	foreign
)

// judgeOwnership returns the relation of an existing object to the owner, and for a foreign one the reason.
func judgeOwnership(o Owner, ref Ref, have metav1.Object) (verdict, string) {
	if c := metav1.GetControllerOf(have); c != nil {
		return judgeController(o, c, have)
	}
	uid, labeled := have.GetLabels()[o.label()]
	if !labeled {
		return judgeUnlabelled(o, ref, have)
	}
	switch owner := have.GetAnnotations()[AnnotationOwner]; {
	case uid == string(o.UID):
		return ours, ""
	// Only one object of a kind, namespace and name can exist: the UID of another one is past. A namespace also holds objects that we did
	// not make, so it is never taken over.
	case owner == o.String() && !ref.isNamespace():
		return inherited, ""
	default:
		return foreign, "it belongs to " + o.nameForeign(have, owner, uid)
	}
}

// judgeUnlabelled judges by the remaining marks if a person removed the label.
func judgeUnlabelled(o Owner, ref Ref, have metav1.Object) (verdict, string) {
	owner, orphanedFrom := have.GetAnnotations()[AnnotationOwner], have.GetAnnotations()[AnnotationOrphanedFrom]
	switch {
	case orphanedFrom == o.String():
		return inherited, ""
	case o.Sole && owner == o.String():
		return ours, ""
	case o.Sole && owner == "" && orphanedFrom == "" && !ref.isNamespace() && wasApplied(have):
		return ours, ""
	default:
		return foreign, "it was not made by this operator"
	}
}

// wasApplied reports whether this operator created an object: it uses server-side apply only for objects that it creates. The API server
// keeps the entry when a person removes every label and annotation.
func wasApplied(have metav1.Object) bool {
	return slices.ContainsFunc(have.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == FieldOwner && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
	})
}

// judgeController goes by the object's controller, which weighs more than any label.
func judgeController(o Owner, c *metav1.OwnerReference, have metav1.Object) (verdict, string) {
	switch {
	case c.UID == o.UID:
		return ours, ""
	case o.is(*c) && o.refersTo(have):
		return doomed, ""
	case o.Namespace != "" && have.GetNamespace() != o.Namespace:
		return foreign, "it is controlled by " + hiddenOwner
	default:
		return foreign, fmt.Sprintf("it is controlled by %s/%s", c.Kind, c.Name)
	}
}

// hiddenOwner stands for an owner that people who can see an object may not be allowed to see.
const hiddenOwner = "an object of another namespace"

// nameForeign names the owner of a foreign object to people who can see o: one of their namespace, and the UID that an object of it has
// as its label.
func (o Owner) nameForeign(have metav1.Object, owner, uid string) string {
	_, object, _ := strings.Cut(owner, "/")
	ns, _, namespaced := strings.Cut(object, "/")
	if owner == "" {
		ns, namespaced = have.GetNamespace(), true
	}
	if o.Namespace != "" && (!namespaced || ns != o.Namespace) {
		return hiddenOwner
	}
	return orUnknown(owner) + " with UID " + uid
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown owner"
	}
	return s
}

// reserved reports whether a child would be, or be in, a namespace that belongs to the cluster or to the
// operator. The owner's own namespace is where its user may write anyway.
func (a *Applier) reserved(o Owner, ref Ref) bool {
	ns := ref.Namespace
	if ref.isNamespace() {
		ns = ref.Name
	} else if ns == o.Namespace || o.Namespace == "" {
		return false
	}
	return ns == metav1.NamespaceDefault || strings.HasPrefix(ns, "kube-") || ns != "" && ns == a.OperatorNamespace
}
