package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// The tags that say whose a resource is. User tags and default tags never override them.
const (
	TagPrefix    = "nexus.ai/"
	TagManagedBy = TagPrefix + "managed-by"
	TagCluster   = TagPrefix + "cluster"
	TagOwner     = TagPrefix + "owner"
	TagOwnerUID  = TagPrefix + "owner-uid"

	managedBy = "nexus-operator"
)

// maxTagValue is AWS's limit for tag values, in characters.
// https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
const maxTagValue = 256

// Owner is the little the engine needs of an object to decide whose a resource is and what may be done.
type Owner struct {
	Kind, Namespace, Name, UID string
	// Cluster is the cluster's ID, Previous those it may inherit from.
	Cluster  string
	Previous []string

	// Generation is the object's; SyncedGeneration the last one at which AWS was seen to be as declared.
	Generation, SyncedGeneration int64
	Deleting                     bool
	Deletion                     v1alpha1.DeletionPolicy
	Adoption                     v1alpha1.AdoptionPolicy
	Management                   v1alpha1.ManagementPolicy
	Drift                        v1alpha1.DriftPolicy
	// AllowAdoption is the provider's word on adoptionPolicy Always.
	AllowAdoption bool
	// OnlyOwn leaves everything alone that does not carry the object's own UID, which no author of an
	// object can choose: for deletions that nobody vouches for.
	OnlyOwn bool
	// TrustAttempts accepts an untagged resource as the fruit of a recorded attempt. The record is an
	// annotation, which the object's author could forge: it is for endpoints whose creates drop tags.
	TrustAttempts bool
	// Intent is what was persisted before the first write to AWS; nil when nothing was.
	Intent *Intent
	// Known is true once the resource was seen to exist.
	Known          bool
	RecreateOnLoss bool
	// ManagedTagKeys are the tag keys written so far.
	ManagedTagKeys []string
}

// OwnerTags are the tags that mark a resource as this object's.
func (o Owner) OwnerTags() map[string]string {
	return map[string]string{
		TagManagedBy: managedBy,
		TagCluster:   o.Cluster,
		TagOwner:     o.label(),
		TagOwnerUID:  o.UID,
	}
}

func (o Owner) label() string {
	return Truncate(fmt.Sprintf("%s/%s/%s", o.Kind, o.Namespace, o.Name), maxTagValue)
}

// Truncate shortens s to at most n characters, the last 8 of them hex digits of a hash of s, so that
// two long names stay two names.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	h := sha256.Sum256([]byte(s))
	return s[:n-9] + "-" + hex.EncodeToString(h[:4])
}

// Verdict is whose a resource turned out to be.
type Verdict int

// The verdicts of Judge.
const (
	// Ours: tagged with our UID, or provably the result of our own recorded attempt.
	Ours Verdict = iota
	// TakeOver: left by an earlier object of the same kind, namespace and name.
	TakeOver
	// Adopt: nobody's, and the object may have it.
	Adopt
	// Foreign: somebody else's, or nobody's and not to be had.
	Foreign
)

// Judge reads the owner from a resource's tags: the ownership table of the design, in its order.
// The message says why a Foreign resource is not touched.
func Judge(o Owner, tags map[string]string, created time.Time) (Verdict, string) {
	if !owned(tags) {
		return judgeUnowned(o, created)
	}
	if o.OnlyOwn && tags[TagOwnerUID] != o.UID {
		return Foreign, "it was not made for this object"
	}
	who := fmt.Sprintf("%s in cluster %s", orUnknown(tags[TagOwner]), orUnknown(tags[TagCluster]))
	ourCluster := tags[TagCluster] == o.Cluster
	for _, p := range o.Previous {
		ourCluster = ourCluster || p == tags[TagCluster]
	}
	switch {
	case !ourCluster || tags[TagOwner] != o.label() || tags[TagManagedBy] != managedBy:
		return Foreign, "it is owned by " + who
	case tags[TagOwnerUID] == o.UID:
		return Ours, ""
	case o.Adoption == v1alpha1.AdoptNever:
		return Foreign, "it was left by an earlier object of this name and adoptionPolicy is Never"
	default:
		return TakeOver, ""
	}
}

func judgeUnowned(o Owner, created time.Time) (Verdict, string) {
	switch {
	case o.OnlyOwn:
		return Foreign, "it carries no owner tags"
	case o.TrustAttempts && o.Intent.proves(created):
		return Ours, ""
	case o.Adoption == v1alpha1.AdoptAlways && o.AllowAdoption && o.Deletion != "":
		return Adopt, ""
	}
	return Foreign, "it already exists and carries no owner tags; import it with adoptionPolicy: Always, an explicit deletionPolicy and allowAdoption on the provider, or choose another name"
}

func owned(tags map[string]string) bool {
	for k := range tags {
		if strings.HasPrefix(k, TagPrefix) {
			return true
		}
	}
	return false
}

func orUnknown(s string) string {
	if s == "" {
		return "(unknown)"
	}
	return s
}
