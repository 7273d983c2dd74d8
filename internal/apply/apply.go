// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// FieldOwner is the field manager of everything applied.
const FieldOwner = wellknown.OperatorName

// Applier writes and removes the children of owners. Its zero value with both clients is ready for use
// by many workers; it must not be copied.
type Applier struct {
	// Client reads from the cache, which of Kubernetes' own kinds holds only objects with an owner's
	// label, and writes to the API server. Kinds of its scheme are read through their Go types, so that
	// they share the controllers' informers.
	Client client.Client
	// Live reads from the API server itself.
	Live client.Reader
	// OperatorNamespace is never used for children of owners elsewhere.
	OperatorNamespace string
	// OwnerIndex is the cache's index of objects by the value of the owner's label, where it has one for every kind.
	// Without it, listing an owner's children takes a look at every object of a kind.
	OwnerIndex string

	memory memory
}

// errReplaced: the object that was judged is gone, and another has its name.
var errReplaced = errors.New("the object was replaced")

// Change names the effect of an apply on a child.
type Change string

// The changes.
const (
	Created   Change = "Created"
	Updated   Change = "Updated"
	Unchanged Change = "Unchanged"
)

// Result holds the outcome of an apply for a child.
type Result struct {
	Change Change
	// Drift holds the changes by others since the last apply: the differences of the live object from it. It is settled when Change is
	// Updated; when Unchanged, the server insists on it.
	Drift []Difference
	// Edited holds the changes that the desired state made to the live object, without our own annotations.
	Edited []Difference
	// Live is the child as it is now.
	Live *unstructured.Unstructured
	// Unsettled holds the parts of the desired state that the live object still lacks, because the API server or a webhook wrote other
	// values.
	Unsettled []Difference
}

// Plan holds the planned effect of an apply; it comes from reads alone.
type Plan struct {
	Change Change
	// Differences holds the parts of the desired state that the live object lacks; none when it is absent.
	Differences []Difference
	// Drift holds the differences of the live object if the desired state is the one that was applied last.
	Drift []Difference
	// Live is the child as it is, nil when absent.
	Live *unstructured.Unstructured

	want *unstructured.Unstructured
	// sole and optimistic are the owner's.
	sole, optimistic bool
}

// Apply creates or updates one desired child. A child that already has its desired state is not written. The owner's label, annotations
// and, where it can have one, controller reference are added to the desired object.
//
// An object of that name that is not the owner's, or a namespace that must not be used, is a
// *status.Stalled with ReasonConflict, and nothing is written; one that is being deleted, by whomever,
// is a *status.Waiting. A write that lost a race is a Conflict of the API server: try again.
func (a *Applier) Apply(ctx context.Context, owner Owner, desired *unstructured.Unstructured) (Result, error) {
	p, err := a.Decide(ctx, owner, desired)
	if err != nil {
		return Result{}, err
	}
	return a.Run(ctx, owner, desired, p)
}

// reader returns a child as it is, nil when it is absent.
type reader func(context.Context, Ref) (*unstructured.Unstructured, error)

// Decide returns the plan of Apply by the state of the cache. Unlike Plan, it does not ask the API server about a child that was never
// seen: Run finds out.
func (a *Applier) Decide(ctx context.Context, owner Owner, desired *unstructured.Unstructured) (Plan, error) {
	return a.plan(ctx, owner, desired, a.expected)
}

// Run carries a plan of Decide or Plan out. The errors are those of Apply.
func (a *Applier) Run(ctx context.Context, owner Owner, desired *unstructured.Unstructured, p Plan) (Result, error) {
	res, err := a.run(ctx, owner, p)
	if p.Change == Created && apierrors.IsConflict(err) {
		// There is an object that the cache does not show, or it appeared just now: look and judge its owner.
		a.memory.recordSeen(RefOf(desired))
		if p, err = a.Plan(ctx, owner, desired); err == nil {
			res, err = a.run(ctx, owner, p)
		}
	}
	if err != nil {
		return Result{}, err
	}
	if p.sole {
		return a.removeAdditions(ctx, p.want, res)
	}
	return res, nil
}

func (a *Applier) run(ctx context.Context, owner Owner, p Plan) (Result, error) {
	if p.Change == Unchanged {
		return Result{Change: Unchanged, Drift: p.Drift, Live: p.Live, Unsettled: p.Differences}, nil
	}
	if err := a.checkOwnerStays(ctx, owner, p); err != nil {
		return Result{}, err
	}
	return a.execute(ctx, p)
}

// checkOwnerStays asks the API server about the owner before an owner reference is restored. Where the garbage collector
// removed the reference, because the objects are to outlive their owner, the deletion of the owner came before, and the
// caller's cache may not show it yet. A restored reference would tell the collector to delete the object.
func (a *Applier) checkOwnerStays(ctx context.Context, owner Owner, p Plan) error {
	if p.Live == nil || !owner.refersTo(p.Live) || isController(owner, p.Live) {
		return nil
	}
	self := &metav1.PartialObjectMetadata{}
	self.SetGroupVersionKind(owner.Kind)
	err := a.Live.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, self)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading %s, the owner of %s: %w", owner, RefOf(p.want), err)
	}
	if err != nil || self.GetUID() != owner.UID || self.GetDeletionTimestamp() != nil {
		return &status.Waiting{For: "the deletion of " + owner.String() + " to be seen; " + RefOf(p.want).String() + " is left as it is",
			After: retry}
	}
	return nil
}

// Plan returns the plan of Apply, with the same errors, and writes nothing.
func (a *Applier) Plan(ctx context.Context, owner Owner, desired *unstructured.Unstructured) (Plan, error) {
	return a.plan(ctx, owner, desired, a.current)
}

func (a *Applier) plan(ctx context.Context, owner Owner, desired *unstructured.Unstructured, read reader) (Plan, error) {
	ref := RefOf(desired)
	if err := errors.Join(owner.validate(), ref.validate()); err != nil {
		return Plan{}, err
	}
	if a.reserved(owner, ref) {
		return Plan{}, &status.Stalled{Reason: status.ReasonConflict, Message: fmt.Sprintf(
			"%s would use a namespace of the cluster or of the operator; choose another name", ref)}
	}
	want, err := addMarks(owner, desired)
	if err != nil {
		return Plan{}, err
	}
	live, err := read(ctx, ref)
	if err != nil {
		return Plan{}, explain(ref, "reading", err)
	}
	if live == nil {
		return Plan{Change: Created, want: want, sole: owner.isController(ref)}, nil
	}
	if err := checkWritable(owner, ref, live); err != nil {
		return Plan{}, err
	}
	return a.compare(owner, want, live), nil
}

// checkWritable reports whether an existing object may be written as the owner's.
func checkWritable(owner Owner, ref Ref, live *unstructured.Unstructured) error {
	whose, why := judgeOwnership(owner, ref, live)
	switch {
	case live.GetDeletionTimestamp() != nil:
		return &status.Waiting{For: ref.String() + " to be gone: it is being deleted" + finalizers(live), After: retry}
	case whose == doomed:
		return &status.Waiting{For: ref.String() + ", left by an earlier " + owner.String() + ", to be removed by the garbage collector",
			After: retry}
	case whose == foreign:
		return &status.Stalled{Reason: status.ReasonConflict, Message: fmt.Sprintf(
			"%s exists and does not belong to %s: %s; choose another name for one of the two", ref, owner, why)}
	default:
		return nil
	}
}

func finalizers(live *unstructured.Unstructured) string {
	if f := live.GetFinalizers(); len(f) > 0 {
		return fmt.Sprintf(" and held by %v", f)
	}
	return ""
}

// retry is the interval of checks for a change that another party must make; the watch on children usually reports it sooner.
const retry = 5 * time.Second

func (a *Applier) compare(owner Owner, want, live *unstructured.Unstructured) Plan {
	p, ref := Plan{Change: Updated, Live: live, want: want, sole: owner.isController(RefOf(want)), optimistic: owner.Optimistic}, RefOf(want)
	p.Differences = a.differences(p, live)
	if want.GetAnnotations()[AnnotationHash] == live.GetAnnotations()[AnnotationHash] {
		p.Drift = p.Differences
	}
	if len(p.Differences) == 0 || a.memory.isContested(ref, fingerprint(want, p.Differences)) {
		p.Change = Unchanged
	}
	return p
}

// differences compares the wanted object with the live one, and with the fields that our field manager applied. Where managed fields
// identify each writer, kinds without a known Go type may have defaults everywhere. Most objects of the operator's own kinds contain the
// wanted object in its original form. They then contain it in the common form too, and conversion takes longer than comparison.
func (a *Applier) differences(p Plan, live *unstructured.Unstructured) []Difference {
	defaulted := p.sole && !a.Client.Scheme().Recognizes(p.want.GroupVersionKind())
	found := differences(p.want, live, defaulted)
	if len(found) > 0 {
		found = differences(a.wanted(p.want), a.normal(live), defaulted)
	}
	if p.sole && p.want.GetAnnotations()[AnnotationHash] == live.GetAnnotations()[AnnotationHash] {
		found = append(found, forgedApplies(p.want, live)...)
		if len(found) == 0 {
			found = takenOver(p.want, live)
		}
	}
	return found
}

// neverStored is a resourceVersion that no object can have: etcd counts revisions from 1, and its first
// write is revision 2. An apply that carries it creates an absent object, and conflicts with one that exists:
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
const neverStored = "1"

// execute applies a plan that changes something. A create conflicts when the object appeared after Plan looked:
// the next Plan reads it and judges its owner by its marks, which another instance of the operator writes as
// well. An update conflicts when the object that Plan judged was replaced.
func (a *Applier) execute(ctx context.Context, p Plan) (Result, error) {
	ref := RefOf(p.want)
	answer := p.want.DeepCopy()
	opts := []client.ApplyOption{client.FieldOwner(FieldOwner)}
	if p.Live == nil {
		answer.SetResourceVersion(neverStored)
		if err := startWithMinReplicas(answer); err != nil {
			return Result{}, err
		}
	} else {
		if err := a.prepareUpdate(ctx, p); err != nil {
			return Result{}, err
		}
		answer.SetUID(p.Live.GetUID())
		if p.optimistic {
			answer.SetResourceVersion(p.Live.GetResourceVersion())
		}
		opts = append(opts, client.ForceOwnership)
	}
	if err := a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(answer), opts...); err != nil {
		return Result{}, explain(ref, "applying", err)
	}
	a.memory.recordWrite(ref, answer.GetResourceVersion())
	rest := a.differences(p, answer)
	a.memory.recordContested(ref, len(rest) > 0, fingerprint(p.want, rest))
	return Result{Change: changeOf(p, answer), Drift: p.Drift, Edited: editedFields(p), Live: answer, Unsettled: rest}, nil
}

func editedFields(p Plan) []Difference {
	if len(p.Drift) > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Differences), func(d Difference) bool {
		return strings.HasPrefix(d.Path, "metadata.annotations."+wellknown.Prefix)
	})
}

func changeOf(p Plan, answer *unstructured.Unstructured) Change {
	if p.Live != nil && p.Live.GetResourceVersion() == answer.GetResourceVersion() {
		return Unchanged // the server found nothing to do
	}
	return p.Change
}

// fingerprint identifies a desired state together with the different state that the server makes of it.
func fingerprint(want *unstructured.Unstructured, d []Difference) string {
	if len(d) == 0 {
		return ""
	}
	b, err := json.Marshal(d)
	if err != nil {
		return "" // not possible for what came as JSON
	}
	sum := sha256.Sum256(append(b, want.GetAnnotations()[AnnotationHash]...))
	return hex.EncodeToString(sum[:8])
}
