// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Tree is the objects below one object.
type Tree struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Root       *Node  `json:"root"`
}

// Tree reads an object and everything below it: the objects of a capability, the policies of a binding and the objects of the engines, the
// pods of a Deployment, and the AWSProvider that an object uses.
func (r *Reader) Tree(ctx context.Context, root *unstructured.Unstructured) (*Tree, error) {
	obj, err := typed(r.Client.Scheme(), root)
	if err != nil {
		return nil, err
	}
	n, err := r.grower().grow(ctx, root.GroupVersionKind(), obj)
	if err != nil {
		return nil, err
	}
	return &Tree{APIVersion: APIVersion, Kind: "Tree", Root: n}, nil
}

// grower makes nodes with everything below them.
type grower struct {
	client  client.Client
	kinds   []engine.Entry
	engines []intent.Engine
	order   func(*nexusv1.NexusAICapability) map[string][]string
	nodes   nodes
}

func (r *Reader) nodes() nodes { return nodes{client: r.Client, health: r.health()} }

func (r *Reader) grower() grower {
	return grower{client: r.Client, kinds: r.Kinds, engines: r.Engines, order: r.Order, nodes: r.nodes()}
}

// typed returns an object as the type of its kind where there is one.
func typed(scheme *runtime.Scheme, u *unstructured.Unstructured) (client.Object, error) {
	made, err := scheme.New(u.GroupVersionKind())
	if err != nil {
		return u, nil //nolint:nilerr // a kind of others
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, made); err != nil {
		return nil, fmt.Errorf("reading %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return made.(client.Object), nil
}

// grow makes the node of an object with everything below it.
func (g grower) grow(ctx context.Context, gvk schema.GroupVersionKind, o client.Object) (*Node, error) {
	n, err := g.nodes.of(ctx, gvk, o)
	if err != nil {
		return nil, err
	}
	switch o := o.(type) {
	case *nexusv1.NexusAICapability:
		err = g.addChildren(ctx, n, o)
	case v1alpha1.Resource:
		err = g.addDependencies(ctx, n, o)
	case *intentv1alpha1.SecurityIntentBinding:
		err = g.addOwned(ctx, n, o, []schema.GroupVersionKind{intentv1alpha1.GroupVersion.WithKind("NimbusPolicy")}, o.Namespace)
	case *intentv1alpha1.ClusterSecurityIntentBinding:
		err = g.addOwned(ctx, n, o, []schema.GroupVersionKind{intentv1alpha1.GroupVersion.WithKind("ClusterNimbusPolicy"),
			intentv1alpha1.GroupVersion.WithKind("NimbusPolicy")}, "")
	case *intentv1alpha1.NimbusPolicy:
		err = g.addEnforcing(ctx, n, o, o.Status.AdapterPolicies)
	case *intentv1alpha1.ClusterNimbusPolicy:
		err = g.addEnforcing(ctx, n, o, o.Status.AdapterPolicies)
	case *appsv1.Deployment:
		err = g.addPods(ctx, n, o)
	case *corev1.Pod:
		err = g.addDeadNode(ctx, n, o)
	case *v1alpha1.AWSProvider:
		err = g.addUsers(ctx, n, o)
	}
	return n, err
}

// addChildren adds the objects of a capability, in the order of their creation: existing ones, and by the capability's own status those
// that do not exist yet.
func (g grower) addChildren(ctx context.Context, n *Node, c *nexusv1.NexusAICapability) error {
	if err := g.addProvider(ctx, n, capability.ProviderName(c), c.Spec.ProviderRef != nil); err != nil {
		return err
	}
	for _, stage := range slices.Backward(capability.DeletionOrder) {
		for _, kind := range stage.Kinds {
			for _, namespace := range capabilityfacts.NamespacesOf(c) {
				children, err := g.list(ctx, kind, namespace, wellknown.LabelCapabilityUID, string(c.UID))
				if err != nil {
					return err
				}
				children = slices.DeleteFunc(children, func(o client.Object) bool { return !stage.Includes(kind.Kind, o.GetName()) })
				if err := g.addAll(ctx, n, kind, children); err != nil {
					return err
				}
			}
		}
	}
	n.addExpected(c)
	if g.order != nil {
		n.addOrder(g.order(c))
	}
	return g.addRemainingPods(ctx, n, c)
}

// addOrder adds to each object of a capability the objects that it waits for, as far as they are in the tree.
func (n *Node) addOrder(after map[string][]string) {
	known := map[string]*Node{}
	for _, c := range n.Children {
		known[c.idBelow(n)] = c
	}
	for id, c := range known {
		for _, other := range after[id] {
			if known[other] != nil {
				c.WaitsFor = append(c.WaitsFor, other)
			}
		}
	}
}

// idBelow is the ID of an object in the graph of a capability.
func (n *Node) idBelow(root *Node) string {
	if n.Namespace == "" || n.Namespace == root.Namespace {
		return n.ID()
	}
	return n.Kind + "/" + n.Namespace + "/" + n.Name
}

// addAll grows children that are not part of the node yet.
func (g grower) addAll(ctx context.Context, n *Node, kind schema.GroupVersionKind, children []client.Object) error {
	for _, o := range children {
		if n.child(kind.Kind, o.GetNamespace(), o.GetName()) != nil {
			continue
		}
		child, err := g.grow(ctx, kind, o)
		if err != nil {
			return err
		}
		if child.Kind != "AWSProvider" { // every object of the capability uses the provider, which stands beside them
			child.Children = slices.DeleteFunc(child.Children, func(d *Node) bool { return d.Relation == Uses && d.Kind != "Node" })
		} else {
			child.Children = slices.DeleteFunc(child.Children, func(d *Node) bool { return d.Relation == UsedBy })
		}
		n.Children = append(n.Children, child)
	}
	return nil
}

func (n *Node) child(kind, namespace, name string) *Node {
	for _, c := range n.Children {
		if c.Kind == kind && c.Namespace == namespace && c.Name == name {
			return c
		}
	}
	return nil
}

// addExpected adds the objects that the capability has not created yet.
func (n *Node) addExpected(c *nexusv1.NexusAICapability) {
	for _, res := range c.Status.Resources {
		namespace := res.Namespace
		if namespace == "" {
			namespace = c.Namespace
		}
		known := n.child(res.Kind, namespace, res.Name) != nil || n.child(res.Kind, "", res.Name) != nil
		if known || res.State == nexusv1.ResourceReady {
			continue
		}
		missing := &Node{Kind: res.Kind, Namespace: namespace, Name: res.Name, Health: Waiting, Reason: res.Reason,
			Code: status.CodeOf(res.Reason), Message: "it has not been created yet"}
		if res.State == nexusv1.ResourceFailed {
			missing.Health, missing.Message = Failed, "it could not be created: "+n.whyFailed(missing.ID(), res.Reason)
		}
		n.Children = append(n.Children, missing)
	}
}

// whyFailed finds the words for a failure of an object that does not exist: in the conditions of its capability, otherwise in the table of
// error codes.
func (n *Node) whyFailed(id, reason string) string {
	said := ""
	for _, c := range n.conditions {
		if c.Reason != reason || c.Status != metav1.ConditionFalse {
			continue
		}
		if own, ok := strings.CutPrefix(c.Message, id+": "); ok {
			return own
		}
		said = cmp.Or(said, c.Message)
	}
	if code, ok := status.LookupCode(status.CodeOf(reason)); ok {
		said = cmp.Or(said, reason+": "+code.Cause)
	}
	return cmp.Or(said, reason, "the operator has not said why")
}

// namedObject finds the objects that a message names, such as GlueDatabase/calls, or S3Bucket team-a/logs with its namespace.
var namedObject = regexp.MustCompile(`\b([A-Z][A-Za-z0-9]+)(?:/| [a-z0-9](?:[-a-z0-9]*[a-z0-9])?/)([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)`)

// addDependencies adds the objects that an AWS resource object uses: its provider, and the objects that it waits for.
func (g grower) addDependencies(ctx context.Context, n *Node, o v1alpha1.Resource) error {
	if err := g.addProvider(ctx, n, o.CommonSpec().ProviderRef.Name, true); err != nil {
		return err
	}
	if n.Health == Ready {
		return nil
	}
	for _, m := range namedObject.FindAllStringSubmatch(n.Message, -1) {
		kind, name := v1alpha1.GroupVersion.WithKind(m[1]), m[2]
		if !g.isAWSKind(kind.Kind) || n.child(kind.Kind, o.GetNamespace(), name) != nil || kind.Kind+"/"+name == n.ID() {
			continue
		}
		if err := g.addUsed(ctx, n, kind, name); err != nil {
			return err
		}
	}
	return nil
}

// addProvider adds the AWSProvider that a node uses. A generated one that does not exist yet is no dependency.
func (g grower) addProvider(ctx context.Context, n *Node, name string, used bool) error {
	if !used || name == "" {
		return nil
	}
	return g.addUsed(ctx, n, v1alpha1.GroupVersion.WithKind("AWSProvider"), name)
}

// addUsed adds an object that a node uses and does not own, which may be missing.
func (g grower) addUsed(ctx context.Context, n *Node, kind schema.GroupVersionKind, name string) error {
	made, err := g.client.Scheme().New(kind)
	if err != nil {
		return err
	}
	o := made.(client.Object)
	used := &Node{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: n.Namespace, Name: name}
	switch err := g.client.Get(ctx, client.ObjectKey{Namespace: n.Namespace, Name: name}, o); {
	case apierrors.IsNotFound(err):
		used.Health, used.Reason, used.Message = Missing, "Missing", kind.Kind+" "+n.Namespace+"/"+name+" does not exist"
	case apierrors.IsForbidden(err):
		used.Health, used.Reason, used.Message = Unknown, "Forbidden", err.Error()
	case err != nil:
		return fmt.Errorf("reading %s %s/%s: %w", kind.Kind, n.Namespace, name, err)
	default:
		if used, err = g.nodes.of(ctx, kind, o); err != nil {
			return err
		}
	}
	used.Relation = Uses
	n.Children = append(n.Children, used)
	return nil
}

// addOwned adds the objects of some kinds that were derived from a binding or a policy.
func (g grower) addOwned(ctx context.Context, n *Node, owner client.Object, kinds []schema.GroupVersionKind, namespace string) error {
	for _, kind := range kinds {
		children, err := g.list(ctx, kind, namespace, wellknown.LabelPolicyOwner, string(owner.GetUID()))
		if err != nil {
			return err
		}
		if err := g.addAll(ctx, n, kind, children); err != nil {
			return err
		}
	}
	return nil
}

// addEnforcing adds the engines' objects that enforce a policy. The policy's status has their names as Kind/name, for users who may not
// read them.
func (g grower) addEnforcing(ctx context.Context, n *Node, policy client.Object, names []string) error {
	for _, kind := range g.engineKinds() {
		var made []string
		for _, name := range names {
			if name, ok := strings.CutPrefix(name, kind.Kind+"/"); ok {
				made = append(made, name)
			}
		}
		if len(made) == 0 {
			continue
		}
		err := g.addOwned(ctx, n, policy, []schema.GroupVersionKind{kind}, policy.GetNamespace())
		if !apierrors.IsForbidden(err) {
			if err != nil {
				return err
			}
			continue
		}
		for _, name := range made {
			n.Children = append(n.Children,
				&Node{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: policy.GetNamespace(), Name: name,
					Health: Unknown, Reason: "Forbidden", Message: "you may not list " + kind.Kind + " objects"})
		}
	}
	return nil
}

// engineKinds are the kinds of objects that the engines make, each once.
func (g grower) engineKinds() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, e := range g.engines {
		for _, k := range e.Makes() {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	served := intent.PreferredOnly(out, g.serves)
	return slices.DeleteFunc(out, func(k schema.GroupVersionKind) bool {
		// Of a kind that is not served at all there are no objects; of one that is, only one version is listed.
		return g.serves(k) && !served(k)
	})
}

// serves reports whether the API server serves a kind; a failure to find out counts as no.
func (g grower) serves(k schema.GroupVersionKind) bool {
	_, err := g.client.RESTMapper().RESTMapping(k.GroupKind(), k.Version)
	return err == nil
}

// addPods adds the pods of a Deployment, and says how many are ready.
func (g grower) addPods(ctx context.Context, n *Node, d *appsv1.Deployment) error {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return err
	}
	// Without the right to list pods, the Deployment's own counts remain.
	if err := g.addPodsThat(ctx, n, client.InNamespace(d.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return err
	}
	slices.SortFunc(n.Children, func(a, b *Node) int { return compareNames(a, b) })
	return nil
}

// list returns the objects of a kind with a label. A kind that the cluster does not serve has none.
func (g grower) list(ctx context.Context, kind schema.GroupVersionKind, namespace, label, value string) ([]client.Object, error) {
	if kind.Group == "" && kind.Kind == "Namespace" {
		return g.namespace(ctx, namespace, label, value)
	}
	list, err := newList(g.client.Scheme(), kind)
	if err != nil {
		return nil, err
	}
	err = g.client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{label: value})
	if isAbsent(err) && !IsOurs(kind) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s objects: %w", kind.Kind, err)
	}
	var out []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		o, ok := item.(client.Object)
		if !ok {
			return errors.New(kind.Kind + " is no object")
		}
		out = append(out, o)
		return nil
	})
	return out, err
}

// namespace returns a namespace with the label, and none when the caller has no right to read it.
func (g grower) namespace(ctx context.Context, name, label, value string) ([]client.Object, error) {
	ns := &corev1.Namespace{}
	err := g.client.Get(ctx, client.ObjectKey{Name: name}, ns)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || err == nil && ns.Labels[label] != value {
		return nil, nil
	}
	return []client.Object{ns}, err
}

func (g grower) isAWSKind(kind string) bool {
	for _, e := range g.kinds {
		if e.Name() == kind {
			return true
		}
	}
	return kind == "AWSProvider"
}

// newList returns an empty list of the type of a kind where there is one.
func newList(scheme *runtime.Scheme, kind schema.GroupVersionKind) (client.ObjectList, error) {
	kind.Kind += "List"
	made, err := scheme.New(kind)
	if err != nil {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		return list, nil //nolint:nilerr // a kind of others
	}
	list, ok := made.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%s is no list", kind.Kind)
	}
	return list, nil
}
