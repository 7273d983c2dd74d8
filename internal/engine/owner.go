// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxTagValue is AWS's limit for tag values, in characters.
// https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
const maxTagValue = 256

// Identity identifies an object in the owner tags of its resource.
type Identity struct {
	Kind, Namespace, Name, UID string
	// Cluster is the cluster's ID.
	Cluster string
}

// Neighbors are the resources of others that an object may take over or name.
type Neighbors struct {
	// Previous are clusters that this one may take over resources from.
	Previous []string
	// Shared are further namespaces with resources that the object may name like those of its own namespace: NAMESPACE of the cluster, or
	// CLUSTER-ID/NAMESPACE.
	Shared []string
	// Foreign are patterns of ARNs of resources without an owner that the object may name; none allows all.
	Foreign []string
}

// Policy holds the policies of an object's spec, defaults applied, and the consents that they need.
type Policy struct {
	Deletion       v1alpha1.DeletionPolicy
	Adoption       v1alpha1.AdoptionPolicy
	Management     v1alpha1.ManagementPolicy
	Drift          v1alpha1.DriftPolicy
	RecreateOnLoss bool
	// AllowAdoption is the provider's consent to adoptionPolicy Always.
	AllowAdoption bool
	// MayDeleteData is true when the annotation of the object allows the deletion of its data.
	MayDeleteData bool
}

// Record holds the records about an object's resource, in its status and its annotations.
type Record struct {
	// Home is the place that the status gives for a resource of the object; empty when there is none yet.
	Home string
	// Known is true once the status records the resource.
	Known bool
	// SyncedGeneration is the last generation of the object that AWS was observed to match.
	SyncedGeneration int64
	// CreatedAt is the creation time that the status recorded while the resource carried this object's
	// owner tags; zero when none was recorded. Tenants cannot write the status.
	CreatedAt time.Time
	// NoCreationTime is that of kind.Meta: CreatedAt then is when the owner tags were first seen.
	NoCreationTime bool
	// Intent holds the record that was persisted before the first write to AWS; nil when there was none.
	Intent *Intent
	// Earlier is the record of the other object that this one was restored or copied from; nil when there is none.
	Earlier *Intent
}

// Written holds the parts of a resource that the operator wrote, or was about to write.
type Written struct {
	// TagKeys are the keys of the tags.
	TagKeys []string
	// Paths are the paths of members of documents, and Hidden those of their write-only values.
	Paths, Hidden []string
	// Versions are the versions of the write-only values, by path.
	Versions map[string]string
}

// Owner holds the facts about an object that the engine needs to decide who owns a resource and which actions are allowed.
type Owner struct {
	Identity
	Neighbors Neighbors
	Policy    Policy
	Record    Record
	// Written holds what was written so far.
	Written Written

	Generation int64
	Deleting   bool
	// OnlyOwn limits a deletion to resources that carry the object's own UID, which the author of an
	// object cannot choose: for deletions that no capability vouches for, and where the capability that made
	// the object is gone.
	OnlyOwn bool
	// ProvesNothing is true for an object in deletion that no one vouches for and that never had a resource as far as the operator
	// knows: AWS is not asked about it.
	ProvesNothing bool
	// HasFinalizer is true when the object carries the operator's finalizer.
	HasFinalizer bool
	// Unnamed is true for kinds with identifiers that AWS assigns: another name is no remedy.
	Unnamed bool
	// Proven and TagsFixed are those of kind.Seen.
	Proven, TagsFixed bool
	// Import is the identifier of the resource that the spec imports; empty for none.
	Import string
	// KeyNames are the names of keys in the spec, without those of references.
	KeyNames []string
	// Check is that of kind.Look; nil for a look that something may be done after.
	Check *kind.Check
	// Provided is the hash of the additions of the provider to the desired state, such as its defaultTags; empty for none.
	Provided string
	// Gate says how the plans of the object are approved.
	Gate Gate
	// Recent holds the results of the last calls of this process.
	Recent Recent
}

// Recent holds the results of the last calls of this process for one object.
type Recent struct {
	// CreatedIn is the place of the last create that AWS acknowledged; empty while this process knows of none.
	CreatedIn string
	// Created is true for the settle time after AWS acknowledged a create that carried the owner tags.
	Created bool
	// First is true when nothing suggests that a resource of the object exists, so that the create may come
	// before any look.
	First bool
	// Wrote is true for some time after an acknowledged create or change of a setting.
	Wrote bool
	// TagsKnown is true within the pass that created the resource.
	TagsKnown bool
	// New is true as long as Created holds and no further call was sent to the resource.
	New bool
	// Reported is the last request that was reported as failed.
	Reported string
	// Untagged is true after AWS acknowledged the removal of the owner tags.
	Untagged bool
	// Members are the diff paths of creates that AWS acknowledged within the settle time, each with a hash of the tags that the create
	// carried.
	Members map[string]string
	// Removed are the diff paths with a removal that AWS acknowledged.
	Removed []string
	// UntaggedSettled is true once the resource was seen without owner tags over the whole settle time.
	UntaggedSettled bool
	// Provided is the hash of the additions of the provider to the desired state when AWS was last seen as declared; empty for none.
	Provided string
	// NotEmpty is true once AWS refused to delete the resource because of its contents.
	NotEmpty bool
}

// ReportsOnly reports whether the differences of a plan are only reported and not corrected.
func (o Owner) ReportsOnly(p Plan) bool {
	outside := p.Cause == Drifted || p.Cause == New && o.Record.Known
	return o.Policy.Management == v1alpha1.ManageObserve || o.Policy.Drift == v1alpha1.DriftReport && outside && !o.Deleting
}

// providerEdited reports whether a difference follows from an edit of the provider. If an edit was not yet applied when AWS was last as
// declared, the keys of tags show it: only an edit adds a key that was never written, or removes one that was.
func (o Owner) providerEdited(diff kind.Diff) bool {
	if o.Recent.Provided != o.Provided {
		return true
	}
	return slices.ContainsFunc(diff, func(c kind.Change) bool {
		key, isTag := strings.CutPrefix(c.Path, "Tags[")
		return isTag && !c.MarksOwner() && (c.Gone || !slices.Contains(o.Written.TagKeys, strings.TrimSuffix(key, "]")))
	})
}

// createdWith returns the paths in Members with creates that carried the tags.
func (r Recent) createdWith(tags map[string]string) map[string]bool {
	if len(r.Members) == 0 {
		return nil
	}
	out, sum := map[string]bool{}, sumOf(tags)
	for path, carried := range r.Members {
		if carried == sum {
			out[path] = true
		}
	}
	return out
}

// OwnerTags are the tags that mark a resource as this object's.
func (i Identity) OwnerTags() map[string]string {
	return map[string]string{
		wellknown.TagManagedBy: wellknown.OperatorName,
		wellknown.TagCluster:   i.Cluster,
		wellknown.TagOwner:     i.label(),
		wellknown.TagOwnerUID:  i.UID,
	}
}

func (i Identity) label() string {
	return shortenWithHash(fmt.Sprintf("%s/%s/%s", i.Kind, i.Namespace, i.Name), maxTagValue)
}

// shortenWithHash shortens s to at most n characters, the last 8 of them hex digits of a hash of s, so that
// two long names stay two names.
func shortenWithHash(s string, n int) string {
	if len(s) <= n {
		return s
	}
	h := sha256.Sum256([]byte(s))
	return s[:n-9] + "-" + hex.EncodeToString(h[:4])
}

// Verdict is the result of Judge: who owns a resource.
type Verdict int

// The verdicts of Judge.
const (
	// Ours: the tags carry our UID, or records or members of the resource that a tenant cannot forge prove the same.
	Ours Verdict = iota
	// TakeOver: left by an earlier object of the same kind, namespace and name.
	TakeOver
	// Adopt: the resource has no owner, and the object may adopt it.
	Adopt
	// Unknown: the resource shows no owner, but it is on record as this object's. AWS documents that tag
	// lists may be empty for seconds after a write, so it is looked at again.
	Unknown
	// Unproven: as Unknown, after the settle time. Neither written to nor given up.
	Unproven
	// Foreign: another owner's tags, or no owner and nothing on record.
	Foreign
)

// Judge reads the owner from a resource's tags: the ownership table of the design, in its order.
// The message explains every verdict that stops the object.
func Judge(o Owner, tags map[string]string, created time.Time) (Verdict, string) {
	if differing := o.contradictions(tags); len(differing) > 0 {
		if o.hides(tags) {
			return Foreign, ownerHidden
		}
		return Foreign, "its tags name another owner: " + strings.Join(differing, ", ")
	}
	uid := tags[wellknown.TagOwnerUID]
	switch {
	case uid == o.UID, o.TagsFixed && o.Proven:
		return Ours, ""
	case uid == "" || tags[wellknown.TagOwner] == "" || tags[wellknown.TagCluster] == "":
		return judgeUntagged(o, created)
	case o.OnlyOwn:
		return Foreign, fmt.Sprintf("its tag %s is %q and this object's UID is %q", wellknown.TagOwnerUID, uid, o.UID)
	case o.Policy.Adoption == v1alpha1.AdoptNever:
		return Foreign, "it was left by an earlier object of this name, and adoptionPolicy is Never"
	default:
		return TakeOver, ""
	}
}

// ownerHidden stands for an owner of another namespace. Users of this namespace must learn nothing about it: administrators find the tags
// in the log of the operator.
const ownerHidden = "its tags name an object of another namespace, which the log of the operator names for administrators"

// hides reports whether the tags name an owner that the users of the object's namespace must not know of.
func (i Identity) hides(tags map[string]string) bool {
	owner := tags[wellknown.TagOwner]
	parts := strings.SplitN(owner, "/", 3)
	return owner != "" && (len(parts) < 3 || parts[1] != i.Namespace)
}

// contradictions lists the owner tags with values of another owner. A missing tag is no contradiction.
func (o Owner) contradictions(tags map[string]string) []string {
	var out []string
	for _, key := range []string{wellknown.TagManagedBy, wellknown.TagCluster, wellknown.TagOwner} {
		have, want := tags[key], o.OwnerTags()[key]
		if have == "" || have == want || key == wellknown.TagCluster && o.Neighbors.inherits(have) {
			continue
		}
		out = append(out, fmt.Sprintf("%s=%s", key, have))
	}
	return out
}

// checkEarlier refuses to create a second resource in addition to that of an earlier object of another cluster. unseen is true before the
// resource was looked for: an object that may adopt a resource that it finds, or only observes it, looks first. So does one with a record
// that does not name its cluster.
func (o Owner) checkEarlier(unseen bool) error {
	e := o.Record.Earlier
	if e == nil || o.Deleting || o.Record.Known || o.isOurs(e.Cluster) {
		return nil
	}
	looks := e.Cluster == "" || o.Policy.Adoption == v1alpha1.AdoptAlways || o.Policy.Management == v1alpha1.ManageObserve
	if unseen && looks || e.Cluster == "" && len(o.Neighbors.Previous) > 0 {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonConflict, Message: fmt.Sprintf(
		"annotations %s and %s come from an earlier life of this object, with UID %s%s, whose AWS resource is not taken over: "+
			"to take it over, add that cluster's ID to --previous-cluster-ids (aws.previousClusterIDs of the chart); to have a new resource created, remove both annotations",
		AnnotationHome, AnnotationIntent, e.UID, kind.Either(e.Cluster == "", "", " in cluster "+e.Cluster))}
}

// isOurs reports whether a cluster is the operator's, or one that it may take over resources from.
func (o Owner) isOurs(cluster string) bool {
	return cluster == o.Cluster || o.Neighbors.inherits(cluster)
}

func (n Neighbors) inherits(cluster string) bool {
	for _, p := range n.Previous {
		if p == cluster {
			return true
		}
	}
	return false
}

// mayUse reports whether the object may use a resource with these tags without owning it: one that shows no owner, one of an
// object of the same namespace, and one of a namespace that an administrator shares.
func (o Owner) mayUse(tags map[string]string) bool {
	owner, uid, cluster := tags[wellknown.TagOwner], tags[wellknown.TagOwnerUID], tags[wellknown.TagCluster]
	if owner == "" {
		return uid == "" || uid == o.UID
	}
	parts := strings.SplitN(owner, "/", 3)
	if len(parts) < 3 {
		return false
	}
	ours := cluster == "" || o.isOurs(cluster)
	shared := o.Neighbors.Shared
	return ours && (parts[1] == o.Namespace || slices.Contains(shared, parts[1])) || slices.Contains(shared, cluster+"/"+parts[1])
}

func judgeUntagged(o Owner, created time.Time) (Verdict, string) {
	switch {
	case o.Proven, o.Recent.Created:
		return Ours, ""
	case o.Record.onRecord() && !o.Recent.UntaggedSettled:
		return Unknown, "AWS to show the owner tags of the resource"
	case o.Record.createdThen(created):
		return Ours, ""
	case o.mayAdopt():
		return Adopt, ""
	case o.Record.onRecord():
		return Unproven, o.whyUnproven()
	}
	return Foreign, "it carries no owner tags; import it (nexusctl import --adopt) with adoptionPolicy: Always, an explicit deletionPolicy and " + o.Kind + " in adoptableKinds of the provider, or " + o.elsewhere()
}

// elsewhere is the remedy that leaves a resource of another owner alone.
func (o Owner) elsewhere() string {
	if o.Unnamed {
		return "delete this object and create another"
	}
	return "choose another name"
}

// createdThen reports whether the status proves that the resource with this creation time is the object's.
func (r Record) createdThen(created time.Time) bool {
	return r.Known && !r.CreatedAt.IsZero() && (r.NoCreationTime || sameSecond(r.CreatedAt, created))
}

// mayAdopt reports whether the object may adopt a resource without an owner.
func (o Owner) mayAdopt() bool {
	return !o.Deleting && o.Policy.Adoption == v1alpha1.AdoptAlways && o.Policy.AllowAdoption && o.Policy.Deletion != ""
}

// onRecord reports whether the object's status or annotations claim the resource. Annotations prove
// nothing, but they are reason enough not to give a resource up.
func (r Record) onRecord() bool { return r.Known || r.Intent.MayHaveCreated() }

func (o Owner) whyUnproven() string {
	var tags []string
	for _, k := range sortedKeys(o.OwnerTags()) {
		tags = append(tags, k+"="+o.OwnerTags()[k])
	}
	message := "the AWS resource carries no owner tags, and nothing else proves that this object created it; if it did, restore the tags " +
		strings.Join(tags, ", ")
	if o.Deleting {
		return message + "; otherwise set deletionPolicy: Retain to leave the resource as it is"
	}
	return message + "; otherwise " + o.elsewhere() + ", or adopt it with adoptionPolicy: Always, an explicit deletionPolicy and " + o.Kind +
		" in adoptableKinds of the provider"
}

// ofMember returns the owner for the judgment of one member of a resource: facts about the resource as a
// whole prove nothing about a member. Members carry their tags from their creation on, so that after the
// settle time an untagged one is this object's only if the status records it.
func (o Owner) ofMember(m *kind.Member) Owner {
	if m == nil {
		return o
	}
	o.Recent.Created, o.Record.CreatedAt, o.Record.Known = false, time.Time{}, m.Recorded
	if o.Recent.UntaggedSettled && !m.Recorded {
		o.Record.Intent = nil
	}
	return o
}

func sameSecond(a, b time.Time) bool {
	return a.UTC().Truncate(time.Second).Equal(b.UTC().Truncate(time.Second))
}

// logOwner logs the owner of a resource where no message names it.
func (d decider[CR, S]) logOwner(ctx context.Context, verdict Verdict) {
	if verdict == Foreign && d.o.hides(d.seen.Tags) {
		logr.FromContextOrDiscard(ctx).Info("The AWS resource belongs to another owner", "tags",
			kind.Only(d.seen.Tags, sortedKeys(d.o.OwnerTags())))
	}
}
