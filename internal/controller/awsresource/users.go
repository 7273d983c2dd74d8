// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// usersPoll is the interval between two searches for users of an object in deletion, if no event shows that they are gone.
const usersPoll = 30 * time.Second

// users are the objects that hold the deletion of another one.
type users struct {
	// own names the users of the object's namespace; others counts the rest: this namespace must not learn their names.
	own    []string
	others int
	// permanent is true when one of them is not being deleted itself, or is gone and left something in AWS.
	permanent bool
}

func (u *users) none() bool { return len(u.own)+u.others == 0 }

// add counts one user of an object in a namespace.
func (u *users) add(to, namespace, text string, permanent bool) {
	u.permanent = u.permanent || permanent
	if namespace == to {
		u.own = append(u.own, text)
	} else {
		u.others++
	}
}

// String names the users.
func (u *users) String() string {
	const most = 5
	parts := u.own
	if len(parts) > most {
		parts = append(slices.Clone(parts[:most]), fmt.Sprintf("%d more of this namespace", len(u.own)-most))
	}
	if u.others > 0 {
		parts = append(slices.Clone(parts), fmt.Sprintf("%d of other namespaces", u.others))
	}
	return strings.Join(parts, ", ")
}

// usage relates an object to the objects that need its AWS resource, and to those with resources that its own one needs.
type usage struct {
	entry  engine.Entry
	kinds  map[string]engine.Entry
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock
	obj    v1alpha1.Resource
}

func newUsage(r *Reconciler, obj v1alpha1.Resource) *usage {
	return &usage{entry: r.Entry, kinds: r.Kinds, client: r.Client, live: r.Live, clock: r.Clock, obj: obj}
}

// holdDeletion holds the deletion of a resource that other objects name; see kind.Users. The cache of the namespace ends most looks.
// Before something is deleted without which data cannot be read, the API server itself is asked, for the whole cluster. The
// deletion is planned to end no sooner than in the given number of days.
func (us *usage) holdDeletion(ctx context.Context, neededDays int) error {
	scope := us.entry.Meta().Users
	if scope == kind.NoUsers || scope == kind.UsersOfCluster && reconciler.MayDeleteData(us.obj, us.obj.GetName()) {
		return nil
	}
	u := &users{}
	err := us.find(ctx, false, u, client.InNamespace(us.obj.GetNamespace()), client.UnsafeDisableDeepCopy)
	if err != nil || scope == kind.UsersOfNamespace {
		return cmp.Or(err, us.waitForUsers(u))
	}
	if u.none() {
		if err := us.find(ctx, true, u); err != nil {
			return err
		}
	}
	if err := us.findKept(ctx, u, neededDays); err != nil { // after the users: they record what they leave before they go
		return err
	}
	return us.waitForDataUsers(u)
}

// find adds the objects that name the resource, as the API server has them, or the cache.
func (us *usage) find(ctx context.Context, live bool, u *users, options ...client.ListOption) error {
	for _, name := range slices.Sorted(maps.Keys(us.kinds)) {
		e := us.kinds[name]
		if !engine.MayUse(e.New(), us.entry.Name()) {
			continue
		}
		err := us.eachOf(ctx, live, e, options, func(item runtime.Object) error {
			o := item.(v1alpha1.Resource)
			if o.GetUID() != us.obj.GetUID() && engine.Uses(o, us.obj, us.entry.Name()) && mayHold(o, us.obj) {
				deleting := o.GetDeletionTimestamp() != nil
				how := kind.Either(deleting, " (being deleted)",
					kind.Either(engine.UsedEarlier(o, us.obj, us.entry.Name()), " (encrypted with it earlier)", ""))
				u.add(us.obj.GetNamespace(), o.GetNamespace(), fmt.Sprintf("%s %s/%s", name, o.GetNamespace(), o.GetName())+how, !deleting)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("listing the %s objects that may use it: %w", name, err)
		}
	}
	return nil
}

// pageOfObjects limits the objects that are read from the API server at once: each may have more than a mebibyte.
const pageOfObjects = 25

// eachOf calls do for each object of a kind. Those of the API server itself come in pages, so that it does not matter for the memory of the
// operator how many there are and how large they are.
func (us *usage) eachOf(ctx context.Context, live bool, e engine.Entry, options []client.ListOption,
	do func(runtime.Object) error) error {
	from := kind.Either[client.Reader](live, us.live, us.client)
	for next := ""; ; {
		list, asked := reconciler.NewList(us.client, e), options
		if live {
			asked = append(slices.Clone(options), client.Limit(pageOfObjects), client.Continue(next))
		}
		if err := from.List(ctx, list, asked...); err != nil {
			return err
		}
		if err := meta.EachListItem(list, do); err != nil {
			return err
		}
		if next = list.GetContinue(); !live || next == "" {
			return nil
		}
	}
}

// mayHold reports whether an object may hold the deletion of another one. One of another namespace that only names it must show in its
// status that it owns a resource in AWS: its record is an annotation, which anybody can write who may write the object.
func mayHold(user, target v1alpha1.Resource) bool {
	st := user.CommonStatus()
	return user.GetNamespace() == target.GetNamespace() || (st.ID != "" || st.ARN != "") && st.OwnsResource()
}

// kept reads the resources that deleted objects left in AWS.
func (us *usage) kept(ctx context.Context) ([]engine.Kept, error) {
	now := &metav1.PartialObjectMetadata{}
	now.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(us.entry.Name()))
	err := us.live.Get(ctx, client.ObjectKeyFromObject(us.obj), now)
	return engine.KeptOf(now.GetAnnotations()), client.IgnoreNotFound(err) // the fence of the next write notices an object that is gone
}

// neededDays returns for how many days AWS can restore resources that cannot be read without this one, unless a person gave that up.
func (us *usage) neededDays(ctx context.Context) (int, error) {
	if us.obj.GetDeletionTimestamp() == nil || us.entry.Meta().Users != kind.UsersOfCluster ||
		reconciler.MayDeleteData(us.obj, us.obj.GetName()) {
		return 0, nil
	}
	left, err := us.kept(ctx)
	return engine.NeededDays(left, us.clock.Now()), err
}

// findKept adds the resources that deleted objects left in AWS. A resource that AWS can restore for some days only holds nothing: the plan
// is to outlast it, for the given number of days.
func (us *usage) findKept(ctx context.Context, u *users, planned int) error {
	left, err := us.kept(ctx)
	if err != nil {
		return err
	}
	if engine.NeededDays(left, us.clock.Now()) > planned {
		return &status.Waiting{Reason: status.ReasonInUse, After: time.Second, For: "another look at the objects that named it and are gone now"}
	}
	for _, k := range left {
		if !k.Until.IsZero() {
			continue
		}
		what := cmp.Or(k.What, "the retained resource")
		u.add(us.obj.GetNamespace(), k.Namespace, fmt.Sprintf("%s of %s %s/%s", what, k.Kind, k.Namespace, k.Name), true)
	}
	return nil
}

// waitForUsers is the hold of a resource that its users need until they are gone.
func (us *usage) waitForUsers(u *users) error {
	if u.none() {
		return nil
	}
	return &status.Waiting{Reason: status.ReasonInUse, After: usersPoll, For: fmt.Sprintf(
		"the objects that name this %s to be deleted: %s; delete them, let them name another one, or set deletionPolicy: Retain",
		us.entry.Name(), u)}
}

// waitForDataUsers is the hold of a resource without which data cannot be read.
func (us *usage) waitForDataUsers(u *users) error {
	if u.none() {
		return nil
	}
	if !u.permanent {
		return us.waitForUsers(u)
	}
	return &status.Waiting{Reason: status.ReasonDataWouldBeLost, After: usersPoll, For: fmt.Sprintf(
		"this %s to be given up: without it, nobody can read the data of %s; delete them, set deletionPolicy: Retain, or give the data up with annotation %s: %s",
		us.entry.Name(), u, reconciler.AnnotationDeleteData, us.obj.GetName())}
}

// recordLeft records the resources that the object leaves in AWS, before the object is gone. The record is on the objects with resources
// that are needed to read them. A record of an earlier object of the name ends when nothing is left.
func (us *usage) recordLeft(ctx context.Context, out engine.Outcome) error {
	left, ok := engine.LeftBy(us.obj, us.entry.Name(), us.entry.Meta(), isAbandoned(us.obj), us.clock.Now())
	foreign := ok && left.What != "" && out.Plan.Exists
	for name, e := range us.kinds {
		if e.Meta().Users != kind.UsersOfCluster || foreign || !engine.NamesAny(us.obj, name) {
			continue
		}
		// A record that stays too long can be given up, so that the end of one needs no look at the API server.
		err := us.eachOf(ctx, ok, e, nil, func(item runtime.Object) error {
			if target := item.(v1alpha1.Resource); engine.Uses(us.obj, target, name) && mayHold(us.obj, target) {
				return us.recordOn(ctx, target, name, left, ok)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("going through the %s objects that are needed to read what stays in AWS: %w", name, err)
		}
	}
	return nil
}

// recordOn records on the target the resource that is left, or removes the record that an earlier object of the name had left.
func (us *usage) recordOn(ctx context.Context, target v1alpha1.Resource, kindName string, left engine.Kept, stays bool) error {
	was := &metav1.PartialObjectMetadata{}
	was.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kindName))
	was.SetNamespace(target.GetNamespace())
	was.SetName(target.GetName())
	was.SetUID(target.GetUID())
	was.SetAnnotations(target.GetAnnotations())
	next := was.DeepCopy()
	left.Elsewhere = left.Namespace != target.GetNamespace()
	annotations := engine.RecordKept(target.GetAnnotations(), left, stays, us.clock.Now())
	if maps.Equal(annotations, target.GetAnnotations()) {
		return nil
	}
	next.SetAnnotations(annotations)
	if err := us.client.Patch(ctx, next, client.MergeFrom(was)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("recording on %s %s/%s what stays in AWS: %w", kindName, target.GetNamespace(), target.GetName(), err)
	}
	return nil
}

// goneOnly lets only the events of objects through that are gone.
var goneOnly = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}
