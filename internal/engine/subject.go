// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Facts holds the facts about an object that are gathered before the engine works on it.
type Facts struct {
	kind.Place
	kind.Lookups
	// Cluster is the cluster's ID.
	Cluster   string
	Neighbors Neighbors
	// Provider is the spec of the object's provider.
	Provider   v1alpha1.AWSProviderSpec
	Federation kind.Federation
	// Data guards the data of the object. ScopeOf adds the annotation of the object.
	Data kind.DataGuard

	// Trusted is true for an object that its capability compiles to exactly this.
	Trusted bool
	// Borrowed is true when the provider uses the operator's own identity only because a capability
	// generated it.
	Borrowed bool
	// Signed is true for an object with a record that the operator signed; see CheckSignature. It counts if Borrowed is true.
	Signed bool
	// Gated is true where an edit of the object waits until its plan is approved.
	Gated bool
	// Covered is true where an approval of the object's capability holds for the object.
	Covered bool
	// Types are the AWS resource types that objects of the operator may manage; nil where they are not known. ScopeOf adds those of
	// the provider.
	Types *kind.AllowedTypes
	// Check is that of kind.Look, for an object that is Ready and was not touched since; nil for every other object.
	Check *kind.Check
	// Signer is that of kind.Scope.
	Signer kind.Signer
}

// Importer is implemented by objects with identifiers that AWS assigns and that can adopt an existing resource by its identifier.
type Importer interface {
	// ImportID returns the identifier of the resource to adopt; empty for none.
	ImportID() string
}

// DeletionPolicyOf is the deletion policy in force, defaults applied.
func DeletionPolicyOf(obj v1alpha1.Resource, m kind.Meta) v1alpha1.DeletionPolicy {
	if d := obj.CommonSpec().DeletionPolicy; d != "" {
		return d
	}
	if m.Retains {
		return v1alpha1.DeletionRetain
	}
	return v1alpha1.DeletionDelete
}

// OwnerOf is the engine's view of an object.
func OwnerOf(e Entry, obj v1alpha1.Resource, intent *Intent, f Facts) Owner {
	spec, st := obj.CommonSpec(), obj.CommonStatus()
	o := Owner{
		Identity: Identity{Kind: e.Name(), Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: string(obj.GetUID()),
			Cluster: f.Cluster},
		Neighbors: f.Neighbors,
		Policy: Policy{Deletion: DeletionPolicyOf(obj, e.Meta()), Adoption: spec.AdoptionPolicy, Management: spec.ManagementPolicy,
			Drift: spec.DriftPolicy, AllowAdoption: f.Provider.AllowsAdoptionOf(e.Name()) && spec.DeletionPolicy != "",
			MayDeleteData: MayDeleteData(obj, obj.GetName())},
		Record: recordOf(e, obj, intent),
		Written: Written{TagKeys: writtenTags(st, intent), Paths: writtenPaths(obj, intent), Hidden: hiddenPaths(st, intent),
			Versions: st.WrittenVersions},
		Generation: obj.GetGeneration(), Deleting: obj.GetDeletionTimestamp() != nil,
		HasFinalizer: slices.Contains(obj.GetFinalizers(), v1alpha1.FinalizerOf(e.Name())),
		Unnamed:      e.Meta().Identity != kind.ByName, Import: importID(obj), KeyNames: keyNames(obj), Check: f.Check,
	}
	o.Provided, o.Recent.Provided = providedBy(f.Provider), st.Provided
	if s, ok := obj.(interface{ RecreatesOnLoss() bool }); ok {
		o.Policy.RecreateOnLoss = s.RecreatesOnLoss()
	}
	// Where no capability vouches for the object, only its UID counts, which its author cannot choose.
	o.OnlyOwn = o.Deleting && (!intent.MayHaveCreated() || !f.Trusted && f.Borrowed)
	o.Gate = gateOf(obj, o, f.Gated)
	o.Gate.Covered = f.Covered
	o.ProvesNothing = f.provesNothing(o)
	return o
}

// recordOf reads the records about the resource of an object.
func recordOf(e Entry, obj v1alpha1.Resource, intent *Intent) Record {
	st := obj.CommonStatus()
	r := Record{Known: st.ARN != "" || st.ID != "", SyncedGeneration: st.SyncedGeneration, NoCreationTime: e.Meta().NoCreationTime,
		Intent: intent, Earlier: readEarlier(obj.GetAnnotations(), string(obj.GetUID()))}
	if st.CreationTime != nil {
		r.CreatedAt = st.CreationTime.Time
	}
	if st.OwnsResource() {
		r.Home = st.Home
	}
	return r
}

// providedBy returns the hash of the additions of a provider to the desired state; empty for none.
func providedBy(p v1alpha1.AWSProviderSpec) string {
	if len(p.DefaultTags) == 0 && p.PermissionsBoundaryARN == "" && p.RolePathPrefix == "" {
		return ""
	}
	return sumOf([]any{p.DefaultTags, p.PermissionsBoundaryARN, p.RolePathPrefix})
}

// Published reports whether an object's status has the values that references need. An ID without an ARN records a create with a result
// that has not been read yet; the ARN is set when it is read.
func Published(o v1alpha1.Resource) bool {
	return o.CommonStatus().ID != "" && isRead(o) && mayBeReferredTo(o)
}

// isRead reports whether the status has the result of a look at the resource. Some kinds have resources without an ARN.
func isRead(o v1alpha1.Resource) bool {
	if r, ok := o.(interface{ IsRead() bool }); ok {
		return r.IsRead()
	}
	return o.CommonStatus().ARN != ""
}

// mayBeReferredTo reports whether the resource in an object's status is the object's own, or one that the object only observes and that no
// other object owns. The status proves nothing about a resource that the object does not own: any object can name any resource.
func mayBeReferredTo(o v1alpha1.Resource) bool {
	st := o.CommonStatus()
	if o.GetAnnotations()[wellknown.AnnotationPaused] == "true" && !st.OwnsResource() {
		return false // while it is paused, the object does not notice that its resource has got an owner
	}
	if o.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve {
		return st.Ownership == v1alpha1.OwnershipOwned || st.Ownership == v1alpha1.OwnershipObserved
	}
	return st.OwnsResource() && !status.IsDisputed(st.Conditions)
}

// Referrer is the object that refers to others.
type Referrer struct {
	// Home is the place of its resource; see Home.
	Home string
	// Foreign are patterns of ARNs of resources without an owner that it may use; none allows all.
	Foreign []string
}

// TargetOf returns the target of a reference to an object of a kind, from the status of that object. A nil target does not exist. It
// requires the ID and the ARN in the target's status, and that the target owns its resource, or only observes one without another owner. It
// does not require readiness. Errors are *status.Waiting until that is so, and *status.Stalled for an object that must not be referred to.
func TargetOf(by Referrer, of Entry, name string, target v1alpha1.Resource) (kind.Target, error) {
	kindName := of.Name()
	id := kindName + "/" + name
	if target != nil {
		if err := cmp.Or(refuseObserved(by, id, kindName, target), refuseElsewhere(by, id, of.Meta().Facts.Reach, target)); err != nil {
			return kind.Target{}, err
		}
	}
	if target == nil || !Published(target) || v1alpha1.IsLeftBehind(kindName, target) {
		return kind.Target{}, &status.Waiting{Reason: status.ReasonWaiting, For: whatIsMissing(id, target), After: 30 * time.Second}
	}
	st := target.CommonStatus()
	t := kind.Target{ID: st.ID, ARN: st.ARN, Type: kind.TypeOf(target)}
	if a, ok := target.(kind.Referable); ok {
		t.Attributes = a.ReferableAttributes()
	}
	return t, nil
}

// refuseObserved refuses references to an object that only observes a role, or a resource of another owner. A person who may
// write objects could observe any role, and have a service act as it, and any network, and use it as their own.
func refuseObserved(by Referrer, id, kindName string, target v1alpha1.Resource) error {
	message, st := "", target.CommonStatus()
	switch {
	case target.CommonSpec().ManagementPolicy != v1alpha1.ManageObserve:
	case kindName == "IAMRole":
		message = id + " only observes a role: refer to an IAMRole that manages its role"
	case kind.GivesRole(kind.TypeOf(target)):
		message = id + " only observes a resource that gives a role to its users: refer to an object that manages its resource"
	case st.Ownership == v1alpha1.OwnershipObservedForeign:
		message = id + " only observes a resource that belongs to another owner: refer to an object that manages its resource"
	case st.Ownership == v1alpha1.OwnershipObserved && st.ARN != "" && !allowsForeign(by.Foreign, st.ARN):
		message = id + " only observes a resource that --foreign-resources of the operator does not allow: refer to an object that manages its resource, or have an administrator add " + st.ARN + ", or a pattern of it"
	}
	if message == "" {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonNotPermitted, Message: message}
}

// refuseElsewhere refuses references to an object with a resource in another account or region, if the name in use could be that of another
// resource there.
func refuseElsewhere(by Referrer, id string, reach kind.Reach, target v1alpha1.Resource) error {
	here, there := strings.Split(by.Home, "/"), strings.Split(homeOf(target), "/")
	if len(here) != 3 || len(there) != 3 || reach == kind.Everywhere {
		return nil
	}
	if here[0] == there[0] && here[1] == there[1] && (here[2] == there[2] || reach == kind.WithinAccount) {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonInvalidSpec,
		Message: fmt.Sprintf("%s is in %s, and this object is in %s: refer to an object whose AWSProvider leads to the same account and region",
			id, strings.Join(there, "/"), by.Home)}
}

// homeOf is the place of the resource in the status of an object. Earlier versions recorded only the ARN.
func homeOf(o v1alpha1.Resource) string {
	st := o.CommonStatus()
	arn := strings.SplitN(st.ARN, ":", 6)
	if st.Home != "" || len(arn) < 6 || arn[3] == "" || arn[4] == "" {
		return st.Home
	}
	return Home(arn[1], arn[4], arn[3])
}

// whatIsMissing names the condition that a reference to an object waits for.
func whatIsMissing(id string, target v1alpha1.Resource) string {
	if target != nil && target.GetDeletionTimestamp() == nil && target.CommonStatus().ID != "" && !mayBeReferredTo(target) {
		return id + " to own its AWS resource: see its conditions, and whether it is paused"
	}
	return id + " to exist in AWS"
}

// ForgetObserved removes the values that were published while the object only observed from its status, once the object manages its
// resource: the resource may be another owner's. A resource of the object itself stays recorded.
func ForgetObserved(obj v1alpha1.Resource) {
	st := obj.CommonStatus()
	observed := st.Ownership == v1alpha1.OwnershipObserved || st.Ownership == v1alpha1.OwnershipObservedForeign
	if !observed || obj.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve {
		return
	}
	kept := *st
	whole := reflect.ValueOf(obj).Elem().FieldByName("Status")
	whole.SetZero()
	kept.ID, kept.ARN, kept.Home, kept.Ownership, kept.CreationTime, kept.SyncedGeneration = "", "", "", "", nil, 0
	*st = kept
}

// ErrorOfLeftOut returns the failure of a reference to an object of a kind that --kinds leaves out.
func ErrorOfLeftOut(kindName, name string) error {
	return &status.Stalled{Reason: status.ReasonKindNotServed,
		Message: fmt.Sprintf("the reference to %s/%s cannot be resolved, because --kinds of the operator leaves %s out: "+
			"an administrator adds the kind to --kinds, or name the resource by its ID or ARN in the field beside the reference, if there is one",
			kindName, name, kindName)}
}

// ErrorOfNoKind returns the failure of a reference to an object of a kind that does not exist.
func ErrorOfNoKind(kindName, name string) error {
	return &status.Stalled{Reason: status.ReasonInvalidSpec,
		Message: fmt.Sprintf("the reference to %s/%s cannot be resolved: %s is no kind of an AWS resource", kindName, name, kindName)}
}

// maxTags is the number of AWS's 50 tags per resource that are left to users.
const maxTags = 40

// ScopeOf returns the facts that a kind gets in addition to the spec. A deletion never fails because of the tags.
func ScopeOf(obj v1alpha1.Resource, o Owner, f Facts) (kind.Scope, error) {
	tags := map[string]string{}
	if o.Policy.Management != v1alpha1.ManageObserve { // an observed resource was not made through the provider
		for k, v := range f.Provider.DefaultTags {
			tags[k] = string(v)
		}
	}
	for k, v := range obj.CommonSpec().Tags {
		tags[k] = string(v)
	}
	if until, kept := obj.GetAnnotations()[wellknown.AnnotationRecoverableUntil]; kept && isTime(until) {
		tags[wellknown.TagRecoverableUntil] = until
	}
	if len(tags) > maxTags && !o.Deleting {
		return kind.Scope{}, status.Invalid("spec.tags", "%d tags together with the provider's defaultTags; at most %d are possible", len(tags),
			maxTags)
	}
	if o.Policy.Management != v1alpha1.ManageObserve { // an object that only observes owns nothing
		maps.Copy(tags, o.OwnerTags())
	}
	data := f.Data
	data.MayDelete = MayDeleteData(obj, obj.GetName())
	return kind.Scope{
		Place: f.Place, Search: searchFor(obj, o), Lookups: f.Lookups, Federation: f.Federation, Data: data,
		Guards: kind.RoleGuards{Boundary: f.Provider.PermissionsBoundaryARN, RolePath: f.Provider.RolePathPrefix},
		Tags:   tags, UID: o.UID, Namespace: o.Namespace, Observing: o.Policy.Management == v1alpha1.ManageObserve, Trusted: f.Trusted,
		Keys: o.Record.unrecordedKeys(), WrittenTags: o.Written.TagKeys, AllowedTypes: allowedTypes(f), Signer: f.Signer,
		Recorded: recordedIn(*obj.CommonStatus()),
	}, nil
}

// searchFor returns the facts to find the resource of an object.
func searchFor(obj v1alpha1.Resource, o Owner) kind.Search {
	return kind.Search{ID: IDOf(obj), Imported: o.Import != "", OwnerTags: o.OwnerTags(),
		Clusters:   append([]string{o.Cluster}, o.Neighbors.Previous...),
		Duplicated: meta.IsStatusConditionTrue(obj.CommonStatus().Conditions, status.DuplicateResources),
		Deleting:   o.Deleting, MayUse: o.mayUse}
}

// isTime reports whether a text is a time in the format of the operator.
func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// MayDeleteData reports whether the annotation of an object names a store, so that its data may be deleted with it.
func MayDeleteData(o metav1.Object, store string) bool {
	names := strings.Split(o.GetAnnotations()[wellknown.AnnotationDeleteData], ",")
	return slices.ContainsFunc(names, func(name string) bool { return strings.TrimSpace(name) == store })
}

// WithoutDataOf returns the value of the annotation that MayDeleteData reads, without some of the stores that it names.
func WithoutDataOf(o metav1.Object, stores []string) string {
	names := strings.Split(o.GetAnnotations()[wellknown.AnnotationDeleteData], ",")
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(stores, strings.TrimSpace(name)) })
	return strings.Join(names, ",")
}

// allowedTypes returns the resource types that objects of the provider may manage; nil where those of the operator are not known.
func allowedTypes(f Facts) *kind.AllowedTypes {
	if f.Types == nil {
		return nil
	}
	out := &kind.AllowedTypes{Operator: f.Types.Operator, Kinds: f.Types.Kinds}
	for _, pattern := range f.Provider.Types {
		out.Provider = append(out.Provider, string(pattern))
	}
	return out
}

// AllowedTypes names the AWS resource types that objects may manage; see kind.AllowedTypes.
type AllowedTypes = kind.AllowedTypes

// TypesOf returns the allowed types of an operator with these kinds.
func TypesOf(patterns []string, kinds []Entry) *AllowedTypes {
	out := &AllowedTypes{Operator: patterns, Kinds: map[string]string{}}
	for _, e := range kinds {
		for _, name := range e.Meta().Facts.Schemas.Types {
			out.Kinds[name] = e.Name()
		}
	}
	return out
}

// recordedIn returns a function that reports whether a status records a resource as the object's own.
func recordedIn(st v1alpha1.CommonStatus) func(id string) bool {
	return func(id string) bool { return st.ID == id && st.OwnsResource() }
}

// Requester is implemented by objects with a status that records the request that AWS carries out.
type Requester interface {
	// RecordRequest records a request that AWS accepted at a time.
	RecordRequest(operation, token string, at metav1.Time)
}

// RecordAccepted records the answer of AWS to a call in the status of an object, in memory.
func RecordAccepted(obj v1alpha1.Resource, a kind.Accepted, now time.Time) {
	if st := obj.CommonStatus(); a.ID != "" && st.ID != a.ID {
		st.ID, st.ARN, st.Ownership = a.ID, "", "" // the ARN was that of the lost resource; references wait for the new one
	}
	if r, ok := obj.(Requester); ok && a.Request != "" {
		r.RecordRequest(a.Operation, a.Request, metav1.NewTime(now.UTC().Truncate(time.Second)))
	}
}

// IDOf returns the identifier of the object's resource: the recorded one, otherwise the one to import.
func IDOf(obj v1alpha1.Resource) string {
	if id := obj.CommonStatus().ID; id != "" {
		return id
	}
	return importID(obj)
}

func importID(obj v1alpha1.Resource) string {
	if i, ok := obj.(Importer); ok {
		return i.ImportID()
	}
	return ""
}

// Attend makes a Decider of a binding: it decides for the object and publishes the values that AWS assigned into it, so that the next
// decision of the pass sees them.
func Attend(b Binding, sc kind.Scope, obj v1alpha1.Resource) Decider {
	return func(ctx context.Context, o Owner) (Plan, error) {
		sc.ID = IDOf(obj)
		p, err := b.Decide(ctx, sc, o, obj)
		p.record(obj)
		if p.Ownership != "" {
			obj.CommonStatus().Ownership = p.Ownership
		}
		if p.Ownership != "" && p.Ownership != v1alpha1.OwnershipDisputed {
			obj.CommonStatus().Home = Home(sc.Partition, sc.Account, sc.Region)
		}
		sc.Duplicated = sc.Duplicated || len(p.Duplicates) > 0
		return p, err
	}
}

// Summarize writes the result of a pass into the object's status, in memory. failingSince is when an
// unbroken series of passing failures began; zero when the pass did not fail so.
func Summarize(obj v1alpha1.Resource, out Outcome, err error, now, failingSince time.Time) {
	st, generation := obj.CommonStatus(), obj.GetGeneration()
	meta.RemoveStatusCondition(&st.Conditions, status.Paused)
	status.Summarize(&st.Conditions, status.Result{Err: err, Generation: generation, Now: now, FailingSince: failingSince,
		ReadyMessage: readyMessage(obj, out)})
	for _, n := range out.Plan.Notes {
		status.Set(&st.Conditions, generation, now, conditionOf(n))
	}
	if out.Plan.Owned && st.CreationTime == nil {
		t := metav1.NewTime(now.UTC().Truncate(time.Second)) // AWS reports none
		st.CreationTime = &t
	}
	out.Plan.reportDuplicates(obj, now)
	reportPassage(obj, out, now)
	st.Ready = status.ReadyAt(st.Conditions, generation)
	st.Drift = driftEntries(out.Drift)
	if out.Written != nil { // AWS has them, even if the pass ended in a failure or waits for AWS
		st.WrittenVersions = out.Written
	}
	if out.Synced && err == nil {
		recordSynced(obj, out.Plan)
	}
	_, transient := errors.AsType[*status.Retrying](err)
	if !transient {
		st.ObservedGeneration = generation
	}
	// A Ready object stays Ready if its check met a transient failure, and the check is repeated soon.
	if checked(out, err) && (!transient || !st.Ready) {
		st.LastHandledReconcileAt = ReconcileRequestOf(obj)
	}
}

// readyMessage reports how far the AWS resource is as declared: differences that are only reported leave an object Ready.
func readyMessage(obj v1alpha1.Resource, out Outcome) string {
	const declared = "the AWS resource exists and is as declared"
	if len(out.Drift) == 0 {
		return declared
	}
	policy := "driftPolicy " + string(v1alpha1.DriftReport)
	if obj.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve {
		policy = "managementPolicy " + string(v1alpha1.ManageObserve)
	}
	return declared + " except " + status.Counted(len(out.Drift), "field", "fields") + " (" + policy + "), see status.drift"
}

// recordSynced records that the last look found AWS as declared.
func recordSynced(obj v1alpha1.Resource, p Plan) {
	st := obj.CommonStatus()
	st.SyncedGeneration = obj.GetGeneration()
	if p.Cause != InSync {
		return
	}
	st.ManagedTagKeys, st.WrittenVersions, st.Provided = p.Written.TagKeys, p.Written.Versions, p.Provided
	if keeper, ok := obj.(PathKeeper); ok && obj.CommonSpec().ManagementPolicy != v1alpha1.ManageObserve {
		keeper.RecordPaths(p.Written.Paths)
	}
}

// checked reports whether a requested check was done, with any result, including a hold on a deletion, a plan that waits for an approval,
// and a failure that is retried.
func checked(out Outcome, err error) bool {
	_, waiting := status.AsWaiting(err)
	return !waiting || out.Plan.Cause == Deleting || out.Passage.Pending != ""
}

// conditionOf turns a note of a kind into a condition.
func conditionOf(n kind.Note) metav1.Condition {
	c := metav1.Condition{Type: n.Type, Status: metav1.ConditionFalse, Reason: n.Reason, Message: n.Message}
	switch {
	case n.Unknown:
		c.Status = metav1.ConditionUnknown
	case n.True:
		c.Status = metav1.ConditionTrue
	}
	return c
}

// maxRequest is the length of a reconcile request that the status can hold.
const maxRequest = 64

// ReconcileRequestOf returns the value of the annotation that asks for a check now, cut to the size that the status can hold.
func ReconcileRequestOf(obj metav1.Object) string {
	return status.Truncate(obj.GetAnnotations()[wellknown.AnnotationReconcileAt], maxRequest)
}

// maxDrift and maxDriftValue are the bounds of status.drift in the schema.
const (
	maxDrift      = 32
	maxDriftPath  = 256
	maxDriftValue = 512
)

func driftEntries(d kind.Diff) []v1alpha1.DriftEntry {
	var out []v1alpha1.DriftEntry
	for _, c := range d[:min(len(d), maxDrift)] {
		out = append(out, v1alpha1.DriftEntry{Path: status.Truncate(c.Path, maxDriftPath),
			Want: status.Truncate(c.Want, maxDriftValue), Have: status.Truncate(c.Have, maxDriftValue)})
	}
	return out
}
