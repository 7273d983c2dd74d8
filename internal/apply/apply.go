package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// FieldOwner is the field manager of everything applied.
const FieldOwner = "nexus-operator"

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

	memory memory
}

// errReplaced: the object that was judged is gone, and another has its name.
var errReplaced = errors.New("the object was replaced")

// Change is what an apply does to a child.
type Change string

// The changes.
const (
	Created   Change = "Created"
	Updated   Change = "Updated"
	Unchanged Change = "Unchanged"
)

// Result is what became of a child.
type Result struct {
	Change Change
	// Drift is what had changed behind our back: where the live object was not as applied last. It is
	// settled when Change is Updated; when Unchanged the server insists on it.
	Drift []Difference
	// Live is the child as it is now.
	Live *unstructured.Unstructured
}

// Plan is what an apply would do; it comes from reads alone.
type Plan struct {
	Change Change
	// Differences is what of the desired state the live object lacks; none when it is absent.
	Differences []Difference
	// Drift are the differences of an object whose desired state is what was applied last.
	Drift []Difference
	// Live is the child as it is, nil when absent.
	Live *unstructured.Unstructured

	want *unstructured.Unstructured
	// sole is the owner's: additions are taken out.
	sole bool
}

// Apply makes one desired child true. A child that already is as desired is not written. The owner's
// label, annotations and, where it can have one, controller reference are added to what is desired.
//
// An object of that name that is not the owner's, or a namespace that must not be used, is a
// *status.Stalled with ReasonConflict, and nothing is written; one that is being deleted, by whomever,
// is a *status.Waiting. A write that lost a race is a Conflict of the API server: try again.
func (a *Applier) Apply(ctx context.Context, owner Owner, desired *unstructured.Unstructured) (Result, error) {
	p, err := a.Plan(ctx, owner, desired)
	if err != nil {
		return Result{}, err
	}
	res := Result{Change: Unchanged, Drift: p.Drift, Live: p.Live}
	if p.Change != Unchanged {
		if res, err = a.run(ctx, p); err != nil {
			return Result{}, err
		}
	}
	if p.sole {
		return a.alone(ctx, p.want, res)
	}
	return res, nil
}

// Plan says what Apply would do, with the same errors, and writes nothing.
func (a *Applier) Plan(ctx context.Context, owner Owner, desired *unstructured.Unstructured) (Plan, error) {
	ref := RefOf(desired)
	if err := errors.Join(owner.complete(), ref.complete()); err != nil {
		return Plan{}, err
	}
	if a.reserved(owner, ref) {
		return Plan{}, &status.Stalled{Reason: status.ReasonConflict, Message: fmt.Sprintf(
			"%s would use a namespace of the cluster or of the operator; choose another name", ref)}
	}
	want, err := stamp(owner, desired)
	if err != nil {
		return Plan{}, err
	}
	live, err := a.current(ctx, ref)
	if err != nil {
		return Plan{}, explain(ref, "reading", err)
	}
	if live == nil {
		return Plan{Change: Created, want: want, sole: owner.Sole}, nil
	}
	if err := writable(owner, ref, live); err != nil {
		return Plan{}, err
	}
	return a.compare(owner, want, live), nil
}

// writable says whether an existing object may be written as the owner's.
func writable(owner Owner, ref Ref, live *unstructured.Unstructured) error {
	whose, why := judge(owner, ref, live)
	switch {
	case live.GetDeletionTimestamp() != nil:
		return &status.Waiting{For: ref.String() + " to be gone: it is being deleted" + finalizers(live), After: retry}
	case whose == doomed:
		return &status.Waiting{For: ref.String() + ", left by an earlier " + owner.String() + ", to be removed by the garbage collector", After: retry}
	case whose == foreign:
		return &status.Stalled{Reason: status.ReasonConflict, Message: fmt.Sprintf(
			"%s exists and is not ours: %s; delete or rename it, or choose another name", ref, why)}
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

// retry is how soon to look again at what somebody else must do; the watch on children is sooner.
const retry = 5 * time.Second

func (a *Applier) compare(owner Owner, want, live *unstructured.Unstructured) Plan {
	p, ref := Plan{Change: Updated, Live: live, want: want, sole: owner.Sole}, RefOf(want)
	p.Differences = a.differences(p, live)
	if want.GetAnnotations()[AnnotationHash] == live.GetAnnotations()[AnnotationHash] {
		p.Drift = p.Differences
	}
	if len(p.Differences) == 0 || a.memory.insists(ref, fingerprint(want, p.Differences)) {
		p.Change = Unchanged
	}
	return p
}

// differences compares what is wanted with what is there. Where managed fields tell who added what, kinds
// of which we know no Go type may have defaults everywhere.
func (a *Applier) differences(p Plan, live *unstructured.Unstructured) []Difference {
	return differences(a.wanted(p.want), a.normal(live), p.sole && a.typed(p.want.GroupVersionKind()) == nil)
}

// run applies a plan that has something to do.
func (a *Applier) run(ctx context.Context, p Plan) (Result, error) {
	ref := RefOf(p.want)
	answer := p.want.DeepCopy()
	opts := []client.ApplyOption{client.FieldOwner(FieldOwner)}
	if p.Live != nil {
		if err := a.empty(ctx, p); err != nil {
			return Result{}, err
		}
		// The object that was judged, and no other: a mismatch is a conflict.
		answer.SetUID(p.Live.GetUID())
		opts = append(opts, client.ForceOwnership)
	}
	if err := a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(answer), opts...); err != nil {
		return Result{}, explain(ref, "applying", err)
	}
	if p.Live == nil {
		if who := intruder(answer); who != "" {
			return Result{}, a.withdraw(ctx, answer, who)
		}
	}
	a.memory.wrote(ref, answer.GetResourceVersion())
	rest := a.differences(p, answer)
	a.memory.insist(ref, len(rest) > 0, fingerprint(p.want, rest))
	return Result{Change: changeOf(p, answer), Drift: p.Drift, Live: answer}, nil
}

func changeOf(p Plan, answer *unstructured.Unstructured) Change {
	if p.Live != nil && p.Live.GetResourceVersion() == answer.GetResourceVersion() {
		return Unchanged // the server found nothing to do
	}
	return p.Change
}

// intruder names who made the object that we meant to create, between our look and our write. The
// server cannot be asked to apply only if absent, but the answer to a create knows no manager but us.
func intruder(answer *unstructured.Unstructured) string {
	for _, m := range answer.GetManagedFields() {
		if m.Manager != FieldOwner {
			return m.Manager
		}
	}
	return ""
}

// withdraw gives back an object that turned out to be another's. It was not applied with force, so no
// value of theirs was changed; applying nothing removes what we added.
func (a *Applier) withdraw(ctx context.Context, answer *unstructured.Unstructured, who string) error {
	ref := RefOf(answer)
	nothing := ref.empty()
	nothing.SetUID(answer.GetUID())
	err := a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(nothing), client.FieldOwner(FieldOwner), client.ForceOwnership)
	if err != nil {
		return explain(ref, "withdrawing from", err)
	}
	return &status.Stalled{Reason: status.ReasonConflict, Message: fmt.Sprintf(
		"%s was just made by %s and is not ours; delete or rename it, or choose another name", ref, who)}
}

// fingerprint identifies a desired state and what the server makes of it instead.
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
