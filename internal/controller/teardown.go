package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// delete takes the capability down stage by stage and lets it go when nothing is left.
func (r *Capability) delete(ctx context.Context, c, was *nexusv1.NexusAICapability) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(c)
	if !controllerutil.ContainsFinalizer(c, CapabilityFinalizer) {
		return reconcile.Result{}, nil
	}
	observed, done, err := r.takeDown(ctx, c)
	if err == nil && done {
		controllerutil.RemoveFinalizer(c, CapabilityFinalizer)
		if err := r.Client.Patch(ctx, c, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
			return r.again(key, err)
		}
		r.pauses.forget(key)
		return reconcile.Result{}, nil
	}
	r.report(c, observed, err)
	if werr := r.patchStatus(ctx, c, was); werr != nil {
		return reconcile.Result{}, client.IgnoreNotFound(werr)
	}
	if err != nil {
		return reconcile.Result{RequeueAfter: r.pauses.after(key, err)}, nil
	}
	return reconcile.Result{RequeueAfter: r.Pace.jitter(sickPoll)}, nil
}

// takeDown deletes the first stage of which something is left, and says of everything that is left why.
func (r *Capability) takeDown(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Observed, bool, error) {
	observed := capability.Observed{States: map[string]capability.State{}}
	facts, err := r.facts(ctx, c)
	if err != nil {
		return observed, false, err
	}
	observed.Facts = facts
	if g, err := capability.Compile(c, facts); err == nil {
		observed.Graph = g // only for telling: what goes is what exists
	}
	stages, err := r.childrenOf(ctx, c)
	if err != nil {
		return observed, false, err
	}
	for _, child := range slices.Concat(stages...) {
		if observed.States[childID(c, child.Ref)], err = r.remains(ctx, child.Ref); err != nil {
			return observed, false, err
		}
	}
	switch {
	case len(stages) == 0:
		empty, err := r.nothingLeft(ctx, c)
		return observed, empty, err
	case keepsChildren(c, stages):
		return observed, false, r.letGo(ctx, c, stages)
	default:
		return observed, false, r.removeStage(ctx, c, observed, stages)
	}
}

// childrenOf lists what exists of the capability, stage by stage; stages without anything are left out.
func (r *Capability) childrenOf(ctx context.Context, c *nexusv1.NexusAICapability) ([][]apply.Child, error) {
	var out [][]apply.Child
	for _, stage := range capability.DeletionOrder {
		children, err := r.Applier.Children(ctx, ownerOf(c), stage.Kinds)
		if err != nil {
			return nil, err
		}
		if len(children) > 0 {
			out = append(out, children)
		}
	}
	return out, nil
}

// keepsChildren says whether the user asked to keep the objects (kubectl delete --cascade=orphan). The
// API server's finalizer says so until the garbage collector has cut the owner references; from then
// on, also if we were not there to see the finalizer, the missing references do.
func keepsChildren(c *nexusv1.NexusAICapability, stages [][]apply.Child) bool {
	if slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents) {
		return true
	}
	near := 0
	for _, child := range slices.Concat(stages...) {
		if child.Namespace == c.Namespace {
			near++
			if child.Controlled {
				return false
			}
		}
	}
	return near > 0
}

// letGo takes our marks off every child, which stays and, in AWS, goes on being kept as declared. What
// the garbage collector cannot reach comes first: what is near proves until the end what was asked for.
func (r *Capability) letGo(ctx context.Context, c *nexusv1.NexusAICapability, stages [][]apply.Child) error {
	all := slices.Concat(stages...)
	slices.SortStableFunc(all, func(a, b apply.Child) int {
		return cmp.Compare(near(a, c), near(b, c))
	})
	for _, child := range all {
		if err := r.Applier.Orphan(ctx, ownerOf(c), child.Ref); err != nil {
			return err
		}
	}
	return nil
}

func near(child apply.Child, c *nexusv1.NexusAICapability) int {
	if child.Namespace == c.Namespace {
		return 1
	}
	return 0
}

// removeStage deletes what is first in order. Every AWS child is told before what the capability says
// now: policies may be edited right before the deletion, and while it waits for a bucket to be emptied.
func (r *Capability) removeStage(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, stages [][]apply.Child) error {
	for _, child := range slices.Concat(stages...) {
		if child.Kind.Group != v1alpha1.GroupName || child.Kind.Kind == "AWSProvider" {
			continue
		}
		if err := r.tell(ctx, c, o, child.Ref); err != nil {
			return err
		}
	}
	orphan := capability.EffectiveDeletionPolicy(c) == nexusv1.DeletionOrphan
	if stages[0][0].Kind.Group == intentv1alpha1.GroupName && !orphan {
		if wait, err := r.shelter(ctx, c, o, stages[0]); wait || err != nil {
			return err
		}
	}
	for _, child := range stages[0] {
		if err := r.removeChild(ctx, c, child.Ref, orphan); err != nil {
			return err
		}
	}
	return nil
}

// tell brings the spec of a child that is to go in line with its capability; its deletionPolicy at least,
// where the rest is not known.
func (r *Capability) tell(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, ref apply.Ref) error {
	made, err := r.Client.Scheme().New(ref.Kind)
	if err != nil {
		return err
	}
	obj := made.(v1alpha1.Resource)
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj); err != nil {
		return client.IgnoreNotFound(err)
	}
	live, err := manifest(r.Client.Scheme(), obj)
	if err != nil {
		return err
	}
	want := live.DeepCopy()
	if err := unstructured.SetNestedField(want.Object, string(capability.EffectiveDeletionPolicy(c)), "spec", "deletionPolicy"); err != nil {
		return err
	}
	if o.Graph != nil && o.Facts.Account != "" {
		if n, ok := o.Graph.Node(childID(c, ref)); ok && n.Unresolved == "" {
			want = n.Object
		}
	}
	_, err = r.Applier.Exact(ctx, want, live)
	return client.IgnoreNotFound(err)
}

// nothingLeft asks the API server itself, once, at the end: the cache may lag behind the last creates.
func (r *Capability) nothingLeft(ctx context.Context, c *nexusv1.NexusAICapability) (bool, error) {
	for _, stage := range capability.DeletionOrder {
		for _, k := range stage.Kinds {
			o, err := r.Client.Scheme().New(k.GroupVersion().WithKind(k.Kind + "List"))
			if err != nil {
				return false, err
			}
			list := o.(client.ObjectList)
			if err := r.Live.List(ctx, list, client.MatchingLabels{apply.LabelOwnerUID: string(c.UID)}, client.Limit(1)); err != nil {
				return false, fmt.Errorf("looking for %s that are left: %w", k.Kind, err)
			}
			if meta.LenList(list) > 0 {
				return false, nil
			}
		}
	}
	return true, nil
}

func childID(c *nexusv1.NexusAICapability, ref apply.Ref) string {
	return graph.ID(ref.Kind.Kind, ref.Namespace, ref.Name, c.Namespace)
}

// removeChild asks for one child to go, or lets go of it; the watch tells when it is gone.
func (r *Capability) removeChild(ctx context.Context, c *nexusv1.NexusAICapability, ref apply.Ref, orphan bool) error {
	if orphan && ref.Kind.Group != v1alpha1.GroupName {
		return r.Applier.Orphan(ctx, ownerOf(c), ref)
	}
	if ref.Kind.Kind == "Namespace" {
		guests, err := r.guests(ctx, ref.Name)
		if err != nil {
			return err
		}
		if guests != "" { // it is somebody's home by now: it stays, and only our mark goes
			r.Events.Eventf(c, nil, "Normal", status.ReasonInUse, "Delete", "namespace %s stays: it holds %s", ref.Name, guests)
			return r.Applier.Orphan(ctx, ownerOf(c), ref)
		}
	}
	_, err := r.Applier.Delete(ctx, ownerOf(c), ref)
	return err
}

// guests names something in a namespace that is neither ours nor made by Kubernetes itself. Secrets are not
// looked for: the operator may not see them.
func (r *Capability) guests(ctx context.Context, namespace string) (string, error) {
	for _, gvk := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), batchv1.SchemeGroupVersion.WithKind("CronJob"), batchv1.SchemeGroupVersion.WithKind("Job"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
		appsv1.SchemeGroupVersion.WithKind("StatefulSet"), appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
		networkingv1.SchemeGroupVersion.WithKind("Ingress"), intentv1alpha1.GroupVersion.WithKind("SecurityIntentBinding"), nexusv1.GroupVersion.WithKind("NexusAICapability"),
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := r.Live.List(ctx, list, client.InNamespace(namespace), client.Limit(8)); err != nil {
			return "", fmt.Errorf("looking for guests in namespace %s: %w", namespace, err)
		}
		for _, o := range list.Items {
			own := o.GetLabels()[LabelManagedBy] == ManagedBy || o.GetDeletionTimestamp() != nil
			if !own && o.GetName() != "kube-root-ca.crt" {
				return gvk.Kind + " " + o.GetName(), nil
			}
		}
	}
	return "", nil
}

// remains says why a child in deletion is still there, in its own words.
func (r *Capability) remains(ctx context.Context, ref apply.Ref) (capability.State, error) {
	s := capability.State{Applied: true, Reason: status.ReasonDeleting, Message: "is being deleted"}
	o, err := r.Client.Scheme().New(ref.Kind)
	if err != nil {
		return s, err
	}
	obj := o.(client.Object)
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj); err != nil {
		return s, client.IgnoreNotFound(err)
	}
	if _, ok := obj.(*intentv1alpha1.SecurityIntentBinding); ok {
		return s, nil // whether it is in force is no longer the question
	}
	h, err := r.healthOf(ctx, obj)
	if i, ok := obj.(*networkingv1.Ingress); ok && err == nil {
		h, err = r.held(ctx, i)
	}
	if err == nil && h.reason != "" && !h.ready {
		s.Reason, s.Message, s.Stalled = h.reason, h.message, h.stalled
	}
	return s, err
}

// held says whom an Ingress in deletion waits for, if nobody is left to let it go.
func (r *Capability) held(ctx context.Context, i *networkingv1.Ingress) (health, error) {
	if i.DeletionTimestamp == nil || len(i.Finalizers) == 0 {
		return health{}, nil
	}
	err := r.Client.Get(ctx, client.ObjectKey{Name: ptr.Deref(i.Spec.IngressClassName, "alb")}, &networkingv1.IngressClass{})
	if !apierrors.IsNotFound(err) {
		return health{}, err
	}
	return health{reason: status.ReasonIngressControllerGone, stalled: true, message: fmt.Sprintf(
		"finalizers %v hold it and the load balancer controller is gone: install it again, or remove the finalizers and delete the load balancer in AWS by hand", i.Finalizers)}, nil
}

// prune deletes what the capability no longer compiles to. It is only asked after every apply succeeded.
func (r *Capability) prune(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed) error {
	for _, stage := range capability.DeletionOrder {
		children, err := r.Applier.Children(ctx, ownerOf(c), stage.Kinds)
		if err != nil {
			return err
		}
		for _, child := range children {
			if _, wanted := o.Graph.Node(childID(c, child.Ref)); wanted || child.Kind.Group == intentv1alpha1.GroupName && o.Settling() {
				continue
			}
			if child.Kind.Group == v1alpha1.GroupName && child.Kind.Kind != "AWSProvider" {
				if err := r.tell(ctx, c, capability.Observed{}, child.Ref); err != nil {
					return err
				}
			}
			if err := r.removeChild(ctx, c, child.Ref, false); err != nil {
				return err
			}
		}
	}
	return nil
}
