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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

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

// heldByUsers holds the deletion of a resource that other objects name; see kind.Users. The cache of the namespace ends most looks.
// Before something is deleted without which data cannot be read, the API server itself is asked, for the whole cluster. The
// deletion is planned to end no sooner than in the given number of days.
func (p *pass) heldByUsers(ctx context.Context, neededDays int) error {
	scope := p.r.Entry.Meta().Users
	if scope == kind.NoUsers || scope == kind.UsersOfCluster && reconciler.MayDeleteData(p.obj, p.obj.GetName()) {
		return nil
	}
	u := &users{}
	err := p.findUsers(ctx, false, u, client.InNamespace(p.obj.GetNamespace()), client.UnsafeDisableDeepCopy)
	if err != nil || scope == kind.UsersOfNamespace {
		return cmp.Or(err, p.waitForUsers(u))
	}
	if u.none() {
		if err := p.findUsers(ctx, true, u); err != nil {
			return err
		}
	}
	if err := p.findKept(ctx, u, neededDays); err != nil { // after the users: they record what they leave before they go
		return err
	}
	return p.waitForDataUsers(u)
}

// findUsers adds the objects that name the resource, as the API server has them, or the cache.
func (p *pass) findUsers(ctx context.Context, live bool, u *users, options ...client.ListOption) error {
	for _, name := range slices.Sorted(maps.Keys(p.r.Kinds)) {
		e := p.r.Kinds[name]
		if !engine.MayUse(e.New(), p.r.Entry.Name()) {
			continue
		}
		err := p.r.eachOf(ctx, live, e, options, func(item runtime.Object) error {
			if o := item.(v1alpha1.Resource); o.GetUID() != p.obj.GetUID() && engine.Uses(o, p.obj, p.r.Entry.Name()) && mayHold(o, p.obj) {
				deleting := o.GetDeletionTimestamp() != nil
				how := kind.Either(deleting, " (being deleted)",
					kind.Either(engine.UsedEarlier(o, p.obj, p.r.Entry.Name()), " (encrypted with it earlier)", ""))
				u.add(p.obj.GetNamespace(), o.GetNamespace(), fmt.Sprintf("%s %s/%s", name, o.GetNamespace(), o.GetName())+how, !deleting)
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
func (r *Reconciler) eachOf(ctx context.Context, live bool, e engine.Entry, options []client.ListOption,
	do func(runtime.Object) error) error {
	from := kind.Either[client.Reader](live, r.Live, r.Client)
	for next := ""; ; {
		list, asked := reconciler.NewList(r.Client, e), options
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
func (p *pass) kept(ctx context.Context) ([]engine.Kept, error) {
	now := &metav1.PartialObjectMetadata{}
	now.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(p.r.Entry.Name()))
	err := p.r.Live.Get(ctx, client.ObjectKeyFromObject(p.obj), now)
	return engine.KeptOf(now.GetAnnotations()), client.IgnoreNotFound(err) // the fence of the next write notices an object that is gone
}

// neededDays returns for how many days AWS can restore resources that cannot be read without this one, unless a person gave that up.
func (p *pass) neededDays(ctx context.Context) (int, error) {
	if p.obj.GetDeletionTimestamp() == nil || p.r.Entry.Meta().Users != kind.UsersOfCluster ||
		reconciler.MayDeleteData(p.obj, p.obj.GetName()) {
		return 0, nil
	}
	left, err := p.kept(ctx)
	return engine.NeededDays(left, p.r.Clock.Now()), err
}

// findKept adds the resources that deleted objects left in AWS. A resource that AWS can restore for some days only holds nothing: the plan
// is to outlast it, for the given number of days.
func (p *pass) findKept(ctx context.Context, u *users, planned int) error {
	left, err := p.kept(ctx)
	if err != nil {
		return err
	}
	if engine.NeededDays(left, p.r.Clock.Now()) > planned {
		return &status.Waiting{Reason: status.ReasonInUse, After: time.Second, For: "another look at the objects that named it and are gone now"}
	}
	for _, k := range left {
		if !k.Until.IsZero() {
			continue
		}
		what := cmp.Or(k.What, "the retained resource")
		u.add(p.obj.GetNamespace(), k.Namespace, fmt.Sprintf("%s of %s %s/%s", what, k.Kind, k.Namespace, k.Name), true)
	}
	return nil
}

// waitForUsers is the hold of a resource that its users need until they are gone.
func (p *pass) waitForUsers(u *users) error {
	if u.none() {
		return nil
	}
	return &status.Waiting{Reason: status.ReasonInUse, After: usersPoll, For: fmt.Sprintf(
		"the objects that name this %s to be deleted: %s; delete them, let them name another one, or set deletionPolicy: Retain",
		p.r.Entry.Name(), u)}
}

// waitForDataUsers is the hold of a resource without which data cannot be read.
func (p *pass) waitForDataUsers(u *users) error {
	if u.none() {
		return nil
	}
	if !u.permanent {
		return p.waitForUsers(u)
	}
	return &status.Waiting{Reason: status.ReasonDataWouldBeLost, After: usersPoll, For: fmt.Sprintf(
		"this %s to be given up: without it, nobody can read the data of %s; delete them, set deletionPolicy: Retain, or give the data up with annotation %s: %s",
		p.r.Entry.Name(), u, reconciler.AnnotationDeleteData, p.obj.GetName())}
}

// recordLeft records the resources that the object leaves in AWS, before the object is gone. The record is on the objects with resources
// that are needed to read them. A record of an earlier object of the name ends when nothing is left.
func (p *pass) recordLeft(ctx context.Context, out engine.Outcome) error {
	left, ok := engine.LeftBy(p.obj, p.r.Entry.Name(), p.r.Entry.Meta(), isAbandoned(p.obj), p.r.Clock.Now())
	foreign := ok && left.What != "" && out.Plan.Exists
	for name, e := range p.r.Kinds {
		if e.Meta().Users != kind.UsersOfCluster || foreign || !engine.NamesAny(p.obj, name) {
			continue
		}
		// A record that stays too long can be given up, so that the end of one needs no look at the API server.
		err := p.r.eachOf(ctx, ok, e, nil, func(item runtime.Object) error {
			if target := item.(v1alpha1.Resource); engine.Uses(p.obj, target, name) && mayHold(p.obj, target) {
				return p.recordOn(ctx, target, name, left, ok)
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
func (p *pass) recordOn(ctx context.Context, target v1alpha1.Resource, kindName string, left engine.Kept, stays bool) error {
	was := &metav1.PartialObjectMetadata{}
	was.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kindName))
	was.SetNamespace(target.GetNamespace())
	was.SetName(target.GetName())
	was.SetUID(target.GetUID())
	was.SetAnnotations(target.GetAnnotations())
	next := was.DeepCopy()
	left.Elsewhere = left.Namespace != target.GetNamespace()
	annotations := engine.RecordKept(target.GetAnnotations(), left, stays, p.r.Clock.Now())
	if maps.Equal(annotations, target.GetAnnotations()) {
		return nil
	}
	next.SetAnnotations(annotations)
	if err := p.r.Client.Patch(ctx, next, client.MergeFrom(was)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("recording on %s %s/%s what stays in AWS: %w", kindName, target.GetNamespace(), target.GetName(), err)
	}
	return nil
}

// heldObjects maps an object that is gone to those of the reconciler's kind in deletion that it may have held.
func (r *Reconciler) heldObjects(ctx context.Context, gone client.Object) []reconcile.Request {
	list := reconciler.NewList(r.Client, r.Entry)
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if r.Entry.Meta().Users == kind.UsersOfNamespace {
		options = append(options, client.InNamespace(gone.GetNamespace()))
	}
	if err := r.Client.List(ctx, list, options...); err != nil {
		return nil // the next look comes all the same
	}
	var out []reconcile.Request
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if o := item.(client.Object); o.GetDeletionTimestamp() != nil {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
		}
		return nil
	})
	return out
}

// goneOnly lets only the events of objects through that are gone.
var goneOnly = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}
