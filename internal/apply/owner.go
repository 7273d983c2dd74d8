package apply

import (
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What marks a child as ours.
const (
	// LabelOwnerUID holds the UID of a child's owner.
	LabelOwnerUID = "nexus.ai/capability-uid"
	// AnnotationOwner names the owner for people: Kind/namespace/name.
	AnnotationOwner = "nexus.ai/owner"
	// AnnotationHash is the hash of the manifest that was applied last.
	AnnotationHash = "nexus.ai/desired-hash"

	labelManagedBy = "app.kubernetes.io/managed-by"
	// prefix is that of every label that only we write.
	prefix = "nexus.ai/"
	// annotationCapability leads from a child in another namespace to its capability.
	annotationCapability = "nexus.ai/capability"
)

// Owner is the object whose children are applied, listed and removed.
type Owner struct {
	Kind schema.GroupVersionKind
	// Namespace is empty for an owner of cluster scope.
	Namespace, Name string
	UID             types.UID
	// Label is the key of the label that holds the UID; empty is LabelOwnerUID.
	Label string
	// Sole says that nobody else has a say in the specs of the owner's children: what others add to them
	// is taken out again. It needs a cache that keeps managed fields.
	Sole bool
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
		return LabelOwnerUID
	}
	return o.Label
}

// complete keeps an owner without a UID from matching objects without a label.
func (o Owner) complete() error {
	if o.UID == "" || o.Name == "" || o.Kind.Kind == "" {
		return fmt.Errorf("the owner %q of children has no UID, name or kind", o)
	}
	return nil
}

// refersTo says whether a child may carry an owner reference: those never cross namespaces.
func (o Owner) refersTo(child metav1.Object) bool {
	return o.Namespace == "" || o.Namespace == child.GetNamespace()
}

func (o Owner) reference() map[string]any {
	return map[string]any{
		"apiVersion": o.Kind.GroupVersion().String(), "kind": o.Kind.Kind, "name": o.Name, "uid": string(o.UID),
		"controller": true, "blockOwnerDeletion": true,
	}
}

// is says whether a reference names an object of the owner's kind and name, of whichever UID.
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

func (r Ref) complete() error {
	if r.Name == "" || r.Kind.Kind == "" || r.Kind.Version == "" {
		return errors.New("a child needs apiVersion, kind and name: " + r.String())
	}
	return nil
}

func (r Ref) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

func (r Ref) isNamespace() bool { return r.Kind.Group == "" && r.Kind.Kind == "Namespace" }

func (r Ref) empty() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.Kind)
	u.SetNamespace(r.Namespace)
	u.SetName(r.Name)
	return u
}

// verdict is whose an existing object is.
type verdict int

const (
	ours verdict = iota
	// inherited: left, without a controller, by an earlier owner of the same kind, namespace and name.
	inherited
	// doomed: still controlled by such an earlier owner; the garbage collector removes it.
	doomed
	foreign
)

// judge says whose an existing object is, and for a foreign one why.
func judge(o Owner, ref Ref, have metav1.Object) (verdict, string) {
	if c := metav1.GetControllerOf(have); c != nil {
		return judgeController(o, c, have)
	}
	uid, labelled := have.GetLabels()[o.label()]
	switch {
	case uid == string(o.UID):
		return ours, ""
	case !labelled:
		return foreign, "it was not made by this operator"
	// Only one object of a kind, namespace and name can exist: the UID of another one is past. A
	// namespace holds more than what we made, so it is never taken over.
	case have.GetAnnotations()[AnnotationOwner] == o.String() && !ref.isNamespace():
		return inherited, ""
	default:
		return foreign, "it belongs to " + orUnknown(have.GetAnnotations()[AnnotationOwner]) + " with UID " + uid
	}
}

// judgeController goes by the object's controller, which weighs more than any label.
func judgeController(o Owner, c *metav1.OwnerReference, have metav1.Object) (verdict, string) {
	switch {
	case c.UID == o.UID:
		return ours, ""
	case o.is(*c) && o.refersTo(have):
		return doomed, ""
	default:
		return foreign, fmt.Sprintf("it is controlled by %s/%s", c.Kind, c.Name)
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown owner"
	}
	return s
}

// reserved says whether a child would be, or be in, a namespace that belongs to the cluster or to the
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
