// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// appliedChild remembers a child that was found to be as desired, or was made so: a pass does not compare it again until its node or a part
// that an apply compares changes.
type appliedChild struct {
	owner types.UID
	// desired is the node's object.
	desired *unstructured.Unstructured
	applied mark
	// version is the version of the object in this state.
	version string
	state   capability.State
}

// mark holds the parts of a child that an apply compares, in their shortest form: the generation stands for the specification,
// where a kind has one, and the version for everything where it has none.
type mark struct {
	uid         types.UID
	generation  int64
	version     string
	deleting    bool
	labels      map[string]string
	annotations map[string]string
	owners      []metav1.OwnerReference
}

// markOf leaves out the annotations that an apply of the desired object does not write, such as the record of a
// resource's controller.
func markOf(desired *unstructured.Unstructured, live client.Object) mark {
	m := mark{uid: live.GetUID(), generation: live.GetGeneration(), deleting: live.GetDeletionTimestamp() != nil,
		labels: live.GetLabels(), annotations: map[string]string{}, owners: live.GetOwnerReferences()}
	if m.generation == 0 {
		m.version = live.GetResourceVersion()
	}
	for k, v := range live.GetAnnotations() {
		if _, ours := desired.GetAnnotations()[k]; ours || k == apply.AnnotationOwner || k == apply.AnnotationHash {
			m.annotations[k] = v
		}
	}
	return m
}

func (m mark) equals(o mark) bool {
	return m.uid == o.uid && m.generation == o.generation && m.version == o.version && m.deleting == o.deleting &&
		maps.Equal(m.labels, o.labels) && maps.Equal(m.annotations, o.annotations) && equality.Semantic.DeepEqual(m.owners, o.owners)
}

// appliedChild returns the memory of a child.
func (m *memories) appliedChild(c *nexusv1.NexusAICapability, id string) (child appliedChild, known bool) {
	m.use(c, func(of *memory) { child, known = of.applied[id] })
	return child, known
}

func (m *memories) rememberApplied(c *nexusv1.NexusAICapability, id string, child appliedChild) {
	m.use(c, func(of *memory) {
		if of.applied == nil {
			of.applied = map[string]appliedChild{}
		}
		of.applied[id] = child
	})
}

// remembered returns the state of a child if an apply would find nothing to do.
func (o *rollout) remembered(ctx context.Context, id string, desired *unstructured.Unstructured) (capability.State, bool, error) {
	child, ok := o.r.memories.appliedChild(o.Capability, id)
	if !ok || !child.isOf(o.Owner.UID, desired) {
		return capability.State{}, false, nil
	}
	live := o.cached(ctx, desired)
	if live == nil || o.Applier.Lags(apply.RefOf(desired), live.GetResourceVersion()) || !child.isAsApplied(desired, live) {
		return capability.State{}, false, nil
	}
	same := child.desired == desired
	child.desired = desired // the graph before is not kept alive
	if live.GetResourceVersion() != child.version || !dependsOnItselfAlone(desired) {
		state, err := o.stateOfLive(ctx, live)
		if err != nil {
			return capability.State{}, false, err
		}
		child.version, child.state, same = live.GetResourceVersion(), state, false
	}
	if !same {
		o.r.memories.rememberApplied(o.Capability, id, child)
	}
	return child.state, true, nil
}

// isOf reports whether this is the memory of the same desired object.
func (a appliedChild) isOf(owner types.UID, desired *unstructured.Unstructured) bool {
	return a.owner == owner && (a.desired == desired || equality.Semantic.DeepEqual(a.desired.Object, desired.Object))
}

// isAsApplied reports whether an apply would find nothing to do. That is known for the remembered version.
func (a appliedChild) isAsApplied(desired *unstructured.Unstructured, live client.Object) bool {
	return a.desired == desired && a.version == live.GetResourceVersion() && a.applied.uid == live.GetUID() || a.applied.equals(markOf(desired, live))
}

// cached returns a child from the cache, nil when it is not there. It shares its contents with the cache and must not be changed.
func (o *rollout) cached(ctx context.Context, desired *unstructured.Unstructured) client.Object {
	typed, err := o.r.Client.Scheme().New(desired.GroupVersionKind())
	if err != nil {
		return nil
	}
	live, ok := typed.(client.Object)
	if !ok || o.r.Client.Get(ctx, client.ObjectKeyFromObject(desired), live, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	return live
}

// stateOfLive is the state of a child that is as desired.
func (o *rollout) stateOfLive(ctx context.Context, live client.Object) (capability.State, error) {
	h, err := o.r.health.Of(ctx, live)
	if err != nil {
		return capability.State{}, err
	}
	s := stateOf(apply.Result{}, h, nil)
	said, err := statusOf(live)
	if err != nil {
		return capability.State{}, err
	}
	s.Live = reported(live, said)
	return s, nil
}

// statusOf is the status of a typed object; nil for a kind without one.
func statusOf(live client.Object) (map[string]any, error) {
	field := reflect.Indirect(reflect.ValueOf(live)).FieldByName("Status")
	if !field.IsValid() || field.Kind() != reflect.Struct {
		return nil, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(field.Addr().Interface())
}

// reported returns the part of a child that its capability's status repeats: a capability remembers some forty of them, whole ones
// took a quarter of the operator's memory.
func reported(live metav1.Object, said map[string]any) *unstructured.Unstructured {
	kept := map[string]any{}
	for _, field := range []string{"observedGeneration", "loadBalancer", "populated", "drift", "coverage"} {
		if v, ok := said[field]; ok {
			kept[field] = v
		}
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetName(live.GetName())
	u.SetGeneration(live.GetGeneration())
	if len(kept) > 0 {
		u.Object["status"] = kept
	}
	return u
}

// dependsOnItselfAlone reports whether the health of a child is read from nothing but the child.
func dependsOnItselfAlone(desired *unstructured.Unstructured) bool {
	return isExactGroup(desired.GroupVersionKind().Group) || desired.GetKind() == "ConfigMap"
}

// remember keeps the state of a child that is as desired.
func (o *rollout) remember(id string, desired *unstructured.Unstructured, res apply.Result, s capability.State) {
	if res.Live == nil || len(res.Unsettled) > 0 {
		return
	}
	o.r.memories.rememberApplied(o.Capability, id, appliedChild{owner: o.Owner.UID, desired: desired,
		applied: markOf(desired, res.Live), version: res.Live.GetResourceVersion(), state: s})
}
