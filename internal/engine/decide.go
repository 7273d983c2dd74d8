// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Cause is the reason for the steps of a plan.
type Cause string

// The causes of a plan.
const (
	// New: the resource does not exist and is to be created.
	New Cause = "New"
	// Edited: the object's spec changed, or the additions of its provider.
	Edited Cause = "SpecChanged"
	// Drifted: the resource was changed outside the operator.
	Drifted Cause = "Drift"
	InSync  Cause = "InSync"
	Busy    Cause = "Busy"
	// Unowned: the resource is on record as this object's and shows no owner tags (yet).
	Unowned Cause = "Unowned"
	// Lost: a store that existed is absent.
	Lost     Cause = "Lost"
	Deleting Cause = "Deleting"
	// Gone: the resource is deleted, retained or was never this object's; nothing is left to do in AWS.
	Gone Cause = "Gone"
)

// Plan is a reconcile, decided and not yet done.
type Plan struct {
	Findings
	// Written holds the parts of the resource that are the operator's once the plan is done.
	Written Written

	Cause Cause
	Diff  kind.Diff
	Steps []kind.Step
	// Later are the steps that follow once AWS shows the effect of Steps. They are for a plan: the next decision computes them.
	Later []kind.Step
	// Reason is the operation that AWS is busy with, or why a resource is left alone while deleting.
	Reason string
	// Usable is true when a busy resource serves its users.
	Usable bool
	// LookAt is the time from AWS for the next look at a busy resource; zero if AWS names none.
	LookAt time.Time
	// Unseen is true when the plan was made without a look: AWS refuses its create if the resource exists.
	Unseen bool
	// Provided is the hash of the additions of the provider to the declared state.
	Provided string
	// Identity identifies the resource in AWS.
	Identity map[string]string
	// sets are the values that a create plan gives the new resource, tagsSum is a hash of the wanted tags.
	sets    kind.Diff
	tagsSum string
	// keys are the keys of map fields that the resource has or is to get; added those that it is to get.
	keys, added Keys
	// ignores is the field of the spec that leaves members of these documents alone.
	ignores   string
	documents []string
}

// Writes reports whether running the plan changes AWS.
func (p Plan) Writes() bool { return len(p.Steps) > 0 }

// creates reports whether the plan creates the resource.
func (p Plan) creates() bool {
	return len(p.Steps) > 0 && p.Cause == New
}

// decider carries one decision through its parts, so that each part stays small.
type decider[CR v1alpha1.Resource, S any] struct {
	k    kind.Kind[CR, S]
	sc   kind.Scope
	o    Owner
	want S
	seen kind.Seen[S]
	// paths holds the members that the documents of the wanted state declare, and dropped the paths of differences in members that are no
	// longer declared.
	paths, dropped []string
}

// Decide reads AWS and returns a plan. It writes neither to AWS nor into cr: plan and drift detection call it as well as the reconciler.
func Decide[CR v1alpha1.Resource, S any](ctx context.Context, k kind.Kind[CR, S], sc kind.Scope, o Owner, cr CR) (Plan, error) {
	if o.ProvesNothing {
		return Plan{Cause: Gone, Reason: NothingOwn}, nil
	}
	if err := cmp.Or(sameHome(o, sc), o.checkEarlier(true)); err != nil {
		return Plan{}, err
	}
	sc, want, err := desired(ctx, k, sc, cr)
	if err != nil {
		return Plan{}, err
	}
	identity, d := identityOf(want), decider[CR, S]{k: k, sc: sc, o: o, want: want}
	d.readDocuments()
	if err := cmp.Or(sameIdentity(o, identity), d.checkSpec()); err != nil {
		return Plan{}, err
	}
	unseen := o.Recent.First && k.Meta().CreatesFirst
	if !unseen {
		if d.seen, err = k.Observe(ctx, want, d.look()); err != nil {
			return Plan{}, err
		}
	}
	d.forgetFailed()
	p, verdict, err := d.plan()
	d.logOwner(ctx, verdict)
	p.Unseen, p.Identity, p.Written.Paths, p.Written.Hidden = unseen, identity, d.paths, hiddenIn(want)
	refused := d.refuseAdoption(ctx, p, verdict)
	d.complete(&p, verdict, refused)
	if err == nil {
		err = cmp.Or(d.reportFailed(p), refused)
	}
	if err == nil {
		err = refuseOthersResources(ctx, sc, o, p, func() []kind.Naming { return namedBy(k, sc, cr) })
	}
	return p, err
}

// desired returns the wanted state, and the scope with the facts that the kind must read first.
func desired[CR v1alpha1.Resource, S any](ctx context.Context, k kind.Kind[CR, S], sc kind.Scope, cr CR) (_ kind.Scope, want S, err error) {
	if preparer, ok := k.(kind.Preparer[CR]); ok {
		if sc.Prepared, err = preparer.Prepare(ctx, sc, cr); err != nil {
			return sc, want, err
		}
	}
	want, err = k.Desired(sc, cr)
	return sc, want, err
}

// hasUnreportedFailure reports whether the recorded request failed, and the object does not say so yet.
func (d decider[CR, S]) hasUnreportedFailure() bool {
	return d.seen.Failed != nil && d.seen.Failed.Request != d.o.Recent.Reported
}

// forgetFailed forgets the versions of the values that a failed request should have written: AWS may not have these values.
func (d *decider[CR, S]) forgetFailed() {
	switch {
	case !d.hasUnreportedFailure():
	case d.seen.Failed.Creates:
		d.o.Written.Versions = nil
	default:
		d.o.Written.Versions = fixedVersions(d.want, d.o.Written.Versions)
	}
}

// reportFailed returns the failure of the recorded request, unless the plan writes nothing or the failure was reported before.
func (d decider[CR, S]) reportFailed(p Plan) error {
	if !p.Writes() || !d.hasUnreportedFailure() {
		return nil
	}
	return d.seen.Failed
}

// complete adds to a plan the findings of the look and the new content of the object's records.
func (d decider[CR, S]) complete(p *Plan, verdict Verdict, refused error) {
	p.Exists, p.TakesOver, p.HoldsData = d.seen.Exists, verdict == TakeOver, d.holdsData()
	if takes := verdict == Adopt || verdict == TakeOver && d.seen.TagsFixed; takes && p.Cause == InSync && refused == nil { // no tags have to be written
		verdict = Ours
	}
	if verdict == Ours || verdict == TakeOver {
		d.publish(p)
	}
	if !p.Exists {
		p.Notes = d.seen.Notes
	}
	p.Ownership = d.ownership(verdict)
	p.Provided = d.o.Provided
	p.Written.TagKeys, p.tagsSum, p.Written.Versions = sortedKeys(wantedTags(d.want, d.sc.Tags)), sumOf(d.sc.Tags),
		withHollow(d.want, d.seen.State, d.o.Written.Versions, writeOnlyVersions(d.want))
	p.keys, p.added = keysOf(d.want, d.seen.State)
	p.ignores, p.documents = d.k.Meta().Ignores, sortedKeys(documentsOf(d.want))
	d.addIgnored(p)
}

// addIgnored adds the ignored differences of a resource that was read.
func (d decider[CR, S]) addIgnored(p *Plan) {
	if p.Exists && !d.seen.NotRead && !d.o.Deleting {
		p.Ignored = d.o.Written.hideWritten(ignoredIn(d.want, d.seen.State, d.o.Written.Versions))
		p.Written.Versions = d.o.Written.keepIgnored(p.Written.Versions, p.Ignored)
	}
}

// refuseAdoption refuses to adopt a resource with rights that the object does not have.
func (d decider[CR, S]) refuseAdoption(ctx context.Context, p Plan, verdict Verdict) error {
	a, ok := d.k.(kind.Adopter[S])
	if !ok || verdict != Adopt || !p.Writes() && p.Cause != InSync {
		return nil
	}
	why, err := a.WhyNotAdopted(ctx, d.sc, d.want, d.seen.State)
	if err == nil && why != "" {
		err = &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.adoptionPolicy", Message: why}
	}
	return err
}

// wantedTags returns the tags of a state, with tags that the kind added, such as Name; all if the state has none.
func wantedTags(want any, all map[string]string) map[string]string {
	field := reflect.ValueOf(want).FieldByName("Tags")
	if !field.IsValid() {
		return all
	}
	if tags, ok := field.Interface().(map[string]string); ok && tags != nil {
		return tags
	}
	return all
}

// look returns the options for the look at the resource.
func (d decider[CR, S]) look() kind.Look {
	r := d.o.Recent
	return kind.Look{Deleting: d.o.Deleting, TagsKnown: r.TagsKnown, New: r.New, Wrote: r.Wrote, Contents: r.NotEmpty, Created: r.createdWith(d.sc.Tags), Check: d.o.Check}
}

// publish adds to the plan the values of the resource for the status. The status is proof of ownership, so only a resource of this object
// is published there.
func (d decider[CR, S]) publish(p *Plan) {
	if !d.seen.Exists || p.Cause == Gone {
		return
	}
	p.Notes, p.Duplicates = d.seen.Notes, d.seen.Duplicates
	p.Publish = func(r v1alpha1.Resource) { d.k.Publish(r.(CR), d.seen.State) }
	if p.Owned = d.seen.Tags[wellknown.TagOwnerUID] == d.o.UID; p.Owned && !d.o.Record.NoCreationTime {
		p.Created = d.seen.Created
	}
}

// ownership returns the ownership of the resource for the status. It is empty, so that the status keeps its value, if the look is not
// conclusive: for an absent resource, one that shows no tags yet, and one that still has the tags of an earlier object.
func (d decider[CR, S]) ownership(v Verdict) v1alpha1.Ownership {
	switch {
	case !d.seen.Exists:
		return ""
	case d.o.Policy.Management == v1alpha1.ManageObserve:
		return d.observedOwnership()
	case v == Ours:
		return v1alpha1.OwnershipOwned
	case v == Foreign, v == Unproven:
		return v1alpha1.OwnershipDisputed
	default:
		return ""
	}
}

// observedOwnership judges the owner of a resource that is only observed.
func (d decider[CR, S]) observedOwnership() v1alpha1.Ownership {
	o := d.o.ofMember(d.seen.Member)
	verdict, _ := Judge(o, d.seen.Tags, d.seen.Created)
	switch {
	case !o.mayUse(d.seen.Tags):
		return v1alpha1.OwnershipObservedForeign
	case verdict == Ours:
		return v1alpha1.OwnershipOwned
	default:
		return v1alpha1.OwnershipObserved
	}
}

// sameHome refuses to look for a resource in another account or region than the recorded one. The record before a create is in an
// annotation, which everyone with write access to the object can change. So the places that AWS showed since then count, too.
func sameHome(o Owner, sc kind.Scope) error {
	home := Home(sc.Partition, sc.Account, sc.Region)
	recorded := []string{cmp.Or(o.Record.Home, home), cmp.Or(o.Recent.CreatedIn, home)}
	if o.Record.Intent.MayHaveCreated() {
		recorded = append(recorded, o.Record.Intent.Home)
	}
	for _, was := range recorded {
		if was != home {
			return &status.Stalled{Reason: status.ReasonProviderMoved, Field: "spec.providerRef", Message: fmt.Sprintf(
				"the resource is in %s and the provider now leads to %s; point the provider back, or delete this object and create another", was, home)}
		}
	}
	return nil
}

// sameIdentity refuses to look for another resource than the recorded one: a name or a reference that resolves differently now would
// abandon the existing resource.
func sameIdentity(o Owner, identity map[string]string) error {
	if !o.Record.Intent.MayHaveCreated() || len(o.Record.Intent.Identity) == 0 {
		return nil
	}
	for _, field := range sortedKeys(identity) {
		if o.Deleting && o.Record.Known && identity[field] == "" { // the status names the resource to delete
			continue
		}
		if was, ok := o.Record.Intent.Identity[field]; ok && was != identity[field] {
			return &status.Stalled{Reason: status.ReasonIdentityChanged, Message: fmt.Sprintf(
				"this object's resource has %s %q and the spec now leads to %q; restore what the spec or the referenced object named before, or delete this object and create another",
				field, was, identity[field])}
		}
	}
	return nil
}

func (d decider[CR, S]) plan() (Plan, Verdict, error) {
	if !d.seen.Exists {
		p, err := d.planAbsent()
		return p, Ours, err
	}
	if d.o.Policy.Management == v1alpha1.ManageObserve { // an object that only observes needs no ownership
		p, err := d.planObserved()
		return p, Ours, err
	}
	o := d.o.ofMember(d.seen.Member)
	o.Proven, o.TagsFixed = d.seen.Proven, d.seen.TagsFixed
	verdict, why := Judge(o, d.seen.Tags, d.seen.Created)
	if m := d.seen.Member; m != nil {
		why += " (" + m.Name + ")"
	}
	p, err := d.planOwned(verdict, why)
	return p, verdict, err
}

// planOwned decides on a resource after its owner was judged.
func (d decider[CR, S]) planOwned(verdict Verdict, why string) (Plan, error) {
	switch {
	case verdict == Foreign:
		return d.planForeign(why)
	case d.seen.Busy != "" && !d.usable(verdict) && !d.writable():
		return Plan{Cause: Busy, Reason: d.seen.Busy, Usable: d.seen.Usable, LookAt: d.seen.LookAt}, nil
	case d.orphaned(verdict):
		return Plan{Cause: Gone, Reason: "orphaned"}, nil
	case verdict == Unknown:
		return d.planUnknown(why)
	case verdict == Unproven:
		return Plan{Cause: Unowned}, &status.Stalled{Reason: status.ReasonOwnershipUnknown, Message: why}
	case d.o.Deleting:
		return d.planRetain()
	default:
		return d.planConverge(verdict)
	}
}

// planUnknown decides on a resource that is on record as the object's and shows no owner.
func (d decider[CR, S]) planUnknown(why string) (Plan, error) {
	if d.seen.AskByCreate && !d.o.Deleting {
		return d.planAbsent()
	}
	return Plan{Cause: Unowned, Reason: why, Usable: true}, nil
}

// nameOf names a resource by its identity in AWS, which may differ from the name of its object.
func nameOf(want any) string {
	identity := identityOf(want)
	words := []string{"the AWS resource"}
	for _, field := range sortedKeys(identity) {
		if identity[field] != "" {
			words = append(words, identity[field])
		}
	}
	return strings.Join(words, " ")
}

// planForeign decides on a resource of another owner.
func (d decider[CR, S]) planForeign(why string) (Plan, error) {
	switch {
	case d.o.Deleting && d.o.OnlyOwn:
		return Plan{Cause: Gone, Reason: NothingOwn}, nil
	case d.o.Deleting:
		return Plan{Cause: Gone, Reason: "left alone: " + why}, nil
	case d.seen.Shared && d.isAsDeclared():
		return Plan{Cause: InSync}, nil
	default:
		return Plan{Cause: d.foreignCause()}, &status.Stalled{Reason: status.ReasonConflict, Message: nameOf(d.want) + " exists and belongs to another owner: " + why}
	}
}

// NothingOwn is the reason of the end of a deletion, the same for an absent resource and for another owner's.
const NothingOwn = "no resource of this object exists"

// isAsDeclared reports whether only the owner of the resource differs.
func (d decider[CR, S]) isAsDeclared() bool {
	return !slices.ContainsFunc(d.diff(), func(c kind.Change) bool { return !c.MarksOwner() })
}

// orphaned reports whether a resource that is to lose its owner tags shows none.
func (d decider[CR, S]) orphaned(v Verdict) bool {
	return d.o.Deleting && d.o.Policy.Deletion == v1alpha1.DeletionOrphan && (v == Unproven || v == Unknown && d.o.Recent.Untagged)
}

// foreignCause continues the series of untagged looks for a foreign resource that shows no owner.
func (d decider[CR, S]) foreignCause() Cause {
	if d.seen.Tags[wellknown.TagOwnerUID] == "" {
		return Unowned
	}
	return ""
}

// usable reports whether a busy resource serves its users and is as declared, so that nothing waits for it.
func (d decider[CR, S]) usable(v Verdict) bool {
	return v == Ours && d.seen.Usable && !d.seen.NotRead && !d.o.Deleting && len(d.diff()) == 0
}

// writable reports whether something is to be written to a busy resource that accepts it.
func (d decider[CR, S]) writable() bool {
	return d.seen.Writable && (d.o.Deleting || len(d.diff()) > 0)
}

func (d decider[CR, S]) diff() kind.Diff {
	diff := Compare(d.want, d.seen.State, d.o.Written.removableTagKeys(), d.o.Written.Versions)
	return d.o.Written.hideWritten(slices.DeleteFunc(diff, d.isRemoved))
}

func (d decider[CR, S]) planObserved() (Plan, error) {
	if d.o.Deleting {
		return Plan{Cause: Gone, Reason: "managementPolicy is Observe"}, nil
	}
	if d.seen.Busy != "" && !d.seen.Usable {
		return Plan{Cause: Busy, Reason: d.seen.Busy, LookAt: d.seen.LookAt}, nil
	}
	return d.planConverge(Ours)
}

// planRetain decides on a resource while its object is being deleted.
func (d decider[CR, S]) planRetain() (Plan, error) {
	switch d.o.Policy.Deletion {
	case v1alpha1.DeletionOrphan:
		return d.planOrphan(), nil
	case v1alpha1.DeletionStop:
		return d.planStop()
	default:
		return d.planDelete()
	}
}

func (d decider[CR, S]) afterCreate() []kind.Step {
	if f, ok := d.k.(kind.Follower[S]); ok {
		return f.Follow(d.want)
	}
	return nil
}

func (d decider[CR, S]) afterEdit(diff kind.Diff) []kind.Step {
	if f, ok := d.k.(kind.Follower[S]); ok {
		return f.Continue(d.want, d.seen.State, diff)
	}
	return nil
}

func (d decider[CR, S]) planDelete() (Plan, error) {
	if len(d.seen.Holds) > 0 {
		h := d.seen.Holds[0]
		return Plan{Cause: Deleting}, &status.Waiting{Reason: h.Reason, For: h.Message, After: cmp.Or(h.After, holdInterval)}
	}
	return Plan{Cause: Deleting, Steps: d.k.Remove(d.want, d.seen)}, nil
}

// planStop stops the resource and keeps it.
func (d decider[CR, S]) planStop() (Plan, error) {
	s, ok := d.k.(kind.Stopper[S])
	if !ok {
		return Plan{}, d.checkStoppable()
	}
	steps := s.Stop(d.want, d.seen)
	if len(steps) == 0 {
		return Plan{Cause: Gone, Reason: "stopped"}, nil
	}
	// Each step settles a difference, so that it is not sent again while AWS still shows the old state.
	p := Plan{Cause: Deleting, Steps: steps}
	for i, s := range steps {
		path := "(" + s.Action + ")"
		p.Diff = append(p.Diff, kind.Change{Path: path, Want: "stopped", Have: "running", Sum: sumOf(path)})
		steps[i].Fixes = []string{path}
	}
	return p, nil
}

// checkSpec checks the fields that no kind checks. It never stops a deletion.
func (d decider[CR, S]) checkSpec() error {
	switch {
	case d.o.Deleting:
		return nil
	case d.o.Import != "" && d.o.Import != d.sc.ID: // the CRD refuses the edit, too, where its rules are evaluated
		return &status.Stalled{Reason: status.ReasonIdentityChanged, Field: "spec.importID", Message: fmt.Sprintf(
			"names %s and this object's resource is %s; restore what it was, or delete this object and create another", d.o.Import, d.sc.ID)}
	default:
		return d.checkStoppable()
	}
}

// checkStoppable refuses deletionPolicy Stop for kinds that cannot be stopped.
func (d decider[CR, S]) checkStoppable() error {
	if _, ok := d.k.(kind.Stopper[S]); ok || d.o.Policy.Deletion != v1alpha1.DeletionStop {
		return nil
	}
	return status.Invalid("spec.deletionPolicy", "%s resources cannot be stopped; use Delete, Retain or Orphan", d.o.Kind)
}

// holdInterval is the pause between looks at a deletion that AWS would refuse.
const holdInterval = 30 * time.Second

// planOrphan removes the owner tags and makes no other change.
func (d decider[CR, S]) planOrphan() Plan {
	var diff kind.Diff
	for _, key := range sortedKeys(d.o.OwnerTags()) {
		if v, ok := d.seen.Tags[key]; ok {
			diff = append(diff, kind.Change{Path: "Tags[" + key + "]", Want: unset, Have: v, Gone: true, Sum: sumOf(unset)})
		}
	}
	if len(diff) == 0 || d.seen.TagsFixed {
		return Plan{Cause: Gone, Reason: "orphaned"}
	}
	return Plan{Cause: Deleting, Diff: diff, Steps: d.k.Converge(d.want, d.seen, diff)}
}

func (d decider[CR, S]) planConverge(v Verdict) (Plan, error) {
	p := Plan{Cause: InSync, Diff: d.diff()}
	if len(p.Diff) == 0 {
		return p, nil
	}
	p.Cause = Edited
	if d.o.Generation == d.o.Record.SyncedGeneration && v == Ours && !d.o.providerEdited(p.Diff) {
		p.Cause = Drifted
	}
	for _, c := range p.Diff {
		if c.Mode == kind.Immutable {
			return p, &status.Stalled{Reason: status.ReasonImmutable, Message: fmt.Sprintf(
				"%s cannot be changed in place: want %s, have %s; %s", c.Path, c.Want, c.Have, d.howToReplace())}
		}
	}
	if r, ok := d.k.(kind.Refuser[S]); ok {
		if err := r.Refuse(d.want, d.seen, p.Diff); err != nil {
			return p, err
		}
	}
	p.Steps, p.Later = d.k.Converge(d.want, d.seen, p.Diff), d.afterEdit(p.Diff)
	return p, checkCovered(p)
}

// howToReplace returns the instructions for the change of an immutable field.
func (d decider[CR, S]) howToReplace() string {
	if r, ok := d.k.(kind.Replacer[S]); ok {
		if text := r.HowToReplace(d.want); text != "" {
			return text
		}
	}
	return "declare what exists, or delete this object and create another"
}

// checkCovered refuses a plan if no step, or more than one, settles a difference: such a reconcile would never end.
func checkCovered(p Plan) error {
	for _, c := range p.Diff {
		n := 0
		for _, s := range p.Steps {
			if (kind.Diff{c}).Under(s.Fixes...) {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("%s differs and %d steps settle it: a kind must have exactly one", c.Path, n)
		}
	}
	return nil
}

// sameIntent reports whether two records say the same.
func sameIntent(a, b *Intent) bool {
	return a.UID == b.UID && a.Attempt == b.Attempt && a.At.Equal(b.At) && a.Refused == b.Refused && a.Generation == b.Generation &&
		a.KeysGeneration == b.KeysGeneration && maps.EqualFunc(a.Keys, b.Keys, slices.Equal) &&
		slices.EqualFunc([][]string{a.Tags, a.Paths, a.Hidden, a.Needed}, [][]string{b.Tags, b.Paths, b.Hidden, b.Needed}, slices.Equal) &&
		maps.Equal(a.Identity, b.Identity) && maps.EqualFunc(a.Refs, b.Refs, sameTarget)
}

func sameTarget(a, b kind.Target) bool {
	return a.ID == b.ID && a.ARN == b.ARN && maps.Equal(a.Attributes, b.Attributes)
}
