// SPDX-License-Identifier: Apache-2.0

// Package kind is the contract between the engine and one AWS resource type.
//
// A kind says what is wanted, what exists, and which calls lead from one to the other. It never
// decides whether to act, never retries, and never touches Kubernetes: the engine does that, once for
// all kinds. Most kinds are written as a Table, from which the methods of Kind are derived.
package kind

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// Kind describes one AWS resource type, bound to one account, region and identity.
// CR is its custom resource. S is its state: the one struct into which both the spec and AWS can be
// read, so that the engine, not the kind, compares them (see the drift tags in package engine).
type Kind[CR any, S any] interface {
	// Meta is constant: the same value on every call.
	Meta() Meta
	// Desired turns the spec into the wanted state. Pure except for sc's lookups. A nil field means
	// that the field is not managed. Errors are a *status.Stalled naming the field, or what the
	// lookups of sc returned. While sc.Deleting, Desired fills in only what identifies the resource
	// and how it is to be deleted, and it returns no error because of the rest of the spec.
	Desired(sc Scope, cr CR) (S, error)
	// Observe reads AWS and changes nothing; it reads only what want declares. A resource that is
	// absent, or that AWS cannot use again under that identity (scheduled for deletion, terminated), is
	// Seen{}, never an error.
	Observe(ctx context.Context, want S, look Look) (Seen[S], error)
	// Converge returns the calls that turn seen into want. For an absent resource, the first step
	// creates it and the steps behind it may set what the create call cannot. Otherwise exactly one
	// step settles each path of diff. Pure.
	Converge(want S, seen Seen[S], diff Diff) []Step
	// Remove returns the calls that delete the resource. Pure. It may return only the first part (one
	// page of a bucket's objects): the engine observes and asks again until the resource is absent.
	Remove(want S, seen Seen[S]) []Step
	// Publish copies what AWS assigned into the status: ARN and ID through CommonStatus, and the
	// kind's own fields. Pure; it never touches conditions.
	Publish(cr CR, s S)
}

// Stopper is implemented by kinds that offer deletionPolicy Stop: the resource stays and is stopped.
type Stopper[S any] interface {
	// Stop returns the calls that stop the resource; none when it is stopped. Pure.
	Stop(want S, seen Seen[S]) []Step
}

// Store is implemented by kinds of which only some resources hold data.
type Store[S any] interface {
	// HoldsData says of one resource what Meta.HoldsData says of all resources of other kinds. Pure.
	HoldsData(want S) bool
}

// Follower is implemented by kinds of which Converge does not return all calls at once, because some of them can only
// be sent when AWS shows the effect of others. A plan names them, too.
type Follower[S any] interface {
	// Follow returns the calls that come after a create; none when Converge returns them together with it. Pure.
	Follow(want S) []Step
	// Continue returns the calls that come after those that Converge returns for an existing resource. Pure.
	Continue(want, have S, diff Diff) []Step
}

// Preparer is implemented by kinds of which Desired needs facts of AWS that depend on the spec, such as the schema of a resource type.
type Preparer[CR any] interface {
	// Prepare reads these facts, which become Scope.Prepared, and changes nothing. Its errors are those of Observe.
	Prepare(ctx context.Context, sc Scope, cr CR) (any, error)
}

// Look tells Observe how the resource is looked at.
type Look struct {
	// Deleting is true when the object is being deleted: Observe reads what stands in the way of the
	// deletion (Seen.Holds) and no settings.
	Deleting bool
	// TagsKnown is true when a create call that carried the wanted tags was just acknowledged. Observe
	// may then skip reading the tags and report the wanted ones.
	TagsKnown bool
	// New is true for the settle time after a create call was acknowledged, while no further write was sent to
	// the resource: it still has the settings that it was created with.
	New bool
	// Wrote is true for ten minutes after AWS acknowledged a create or a change of a setting: what AWS is about to change may be that.
	Wrote bool
	// Contents is true while deleting, once a call returned a *NotEmptyError: Observe reads the contents
	// too, so that Remove can empty the resource or Seen.Holds can report them.
	Contents bool
	// Created are the diff paths whose creates AWS acknowledged within the settle time, with the tags
	// that are wanted now. It is for resources that consist of members created one by one.
	Created map[string]bool
	// Check is set for a look that only searches for drift, so that Observe may share a read with other checks; see Batch.
	Check *Check
}

// Member is one member of a resource that consists of many, each with an owner.
type Member struct {
	// Name is for messages: "parameter /myapp/dev/key".
	Name string
	// Recorded is true when the status records the member as this object's.
	Recorded bool
}

// NotEmptyError holds what a step that deletes the resource returns when AWS refused it because of the
// resource's contents. The engine then looks again with Look.Contents, so that the contents of
// resources that are empty are never listed.
type NotEmptyError struct{ Err error }

// Error implements error.
func (e *NotEmptyError) Error() string { return e.Err.Error() }

// Unwrap returns the AWS error.
func (e *NotEmptyError) Unwrap() error { return e.Err }

// Seen holds what Observe found.
type Seen[S any] struct {
	// Exists is false for a resource that is absent or unusable.
	Exists bool
	State  S
	// Busy says what AWS is doing (creating, updating, deleting); nothing may be written until it ends.
	Busy string
	// LookAt is the time at which AWS says that a look at a busy resource is worth a call; zero where it does not say.
	LookAt time.Time
	// Usable is true when a busy resource serves its users meanwhile, such as a table that is
	// UPDATING or a database that is backing up: an object that was Ready stays Ready.
	Usable bool
	// NotRead is true for a busy resource whose State says nothing, because it was not read: whether it is as declared shows later.
	NotRead bool
	// Writable is true when AWS accepts changes and the deletion of a busy resource, such as a certificate that waits for its
	// validation: it may wait for days.
	Writable bool
	// Tags are all tags found on the resource (for a Glue table: its nexus.ai/ parameters). The
	// engine reads the owner from them. Nil means that the resource carries none.
	Tags map[string]string
	// TagsFixed is true where nothing can change the tags that the create gave. A resource that an earlier object of the name left, or that
	// had no owner, keeps its tags, and the status alone records whose it is.
	TagsFixed bool
	// Member is the member that Tags belong to, for a resource whose members have an owner each: the one
	// that is furthest from being this object's. Nil when all are this object's.
	Member *Member
	// Created is AWS's creation time; zero when AWS reports none.
	Created time.Time
	// Proven is true when something of the resource that cannot be changed shows that this object created it, such as a
	// caller reference that contains the object's UID. It is for resources whose create cannot carry tags.
	Proven bool
	// AskByCreate is true for a resource without tags of which only the answer to a create shows whether this object created it: one that
	// carries the token of the recorded attempt is answered with that request. It is asked only where the object is on record as the owner.
	AskByCreate bool
	// Shared is true for a resource that is right for every object that declares it, such as the record that proves a host to ACM:
	// another owner's is used as it is, and never written.
	Shared bool
	// Failed is the recorded request, where AWS accepted it and then failed to carry it out; nil otherwise. It is reported once before
	// anything else is written. A resource that is as declared, or another owner's, makes it meaningless.
	Failed *FailedRequest
	// Holds are reasons why AWS would refuse, or the operator must refuse, to delete the resource now.
	Holds []Hold
	// Notes become conditions of the object beside Ready, such as SecretsPopulated. Those on what is declared may come without a resource.
	Notes []Note
	// Duplicates are identifiers of further resources that carry the object's UID in their owner tags.
	Duplicates []string
	// Omitted holds what an export leaves out, and why. Unread holds what it does not know.
	Omitted, Unread []string
}

// Hold is a reason not to delete yet: BucketNotEmpty with its count, DeletionProtected with its remedy.
type Hold struct {
	Reason, Message string
	// After is the time at which to look again; 0 is the engine's default.
	After time.Duration
}

// Note is an additional condition that a kind reports on its object.
type Note struct {
	Type, Reason, Message string
	True                  bool
	// Unknown is true when the kind could not find out whether the note is true; True is then ignored.
	Unknown bool
	// Recheck asks to look again after the retry interval of stalled objects: a person has to repair, outside
	// the operator, what the note reports.
	Recheck bool
}

// STSAudience is the audience of the ServiceAccount tokens that pods exchange for AWS credentials:
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
const STSAudience = "sts.amazonaws.com"

// OIDCProvider holds what IAM knows of an issuer of ServiceAccount tokens.
type OIDCProvider struct {
	// ARN is the provider's, whether it exists or not.
	ARN    string
	Exists bool
	// Audiences are the client IDs that it accepts.
	Audiences []string
}

// Accepts reports whether IAM accepts the issuer's tokens for the audience.
func (p OIDCProvider) Accepts(audience string) bool {
	return p.Exists && slices.Contains(p.Audiences, audience)
}

// Refuser is implemented by kinds that refuse some changes of an existing resource.
type Refuser[S any] interface {
	// Refuse returns a *status.Stalled that names the field and the remedy when the differences must not be settled,
	// and nil otherwise. It is asked only about a resource that belongs to the object, and never while deleting.
	Refuse(want S, seen Seen[S], diff Diff) error
}

// Replacer is implemented by kinds that know how a resource is replaced of which a field cannot be changed.
type Replacer[S any] interface {
	// HowToReplace says what a person has to do for another value of such a field, instead of the usual remedy; empty for that. Pure.
	HowToReplace(want S) string
}

// Adopter is implemented by kinds whose resources have rights that an adoption would bring along.
type Adopter[S any] interface {
	// WhyNotAdopted says why a resource without an owner must not become the object's because of what it has; empty when it may. It
	// may read AWS, and is asked only before an adoption.
	WhyNotAdopted(ctx context.Context, sc Scope, want, have S) (string, error)
}

// Step is one AWS call, as a value: printed by plan, counted by metrics, named by events.
type Step struct {
	// Action is the IAM action: "s3:PutBucketVersioning".
	Action string
	// Effect holds what the call does to the resource as a whole.
	Effect Effect
	// Spares is true for a delete that AWS refuses while the resource holds data.
	Spares bool
	// Fixes are the diff paths that the step settles; empty for create and delete.
	Fixes []string
	// Stage orders steps: those of one stage may run at the same time, a later stage waits for it.
	Stage int
	// LookAfter ends the run after the step's stage: AWS accepts nothing more until it has carried out the step, so the
	// resource is observed and the rest planned again.
	LookAfter bool
	// Do makes exactly one AWS call. The token is stable for object, attempt and action, and fits AWS's
	// client token fields. A non-empty id is an identifier that AWS assigned: it is stored at once.
	Do func(ctx context.Context, token string) (id string, err error)
	// Submit is used instead of Do by calls that AWS carries out later.
	Submit func(ctx context.Context, token string) (Accepted, error)
}

// Send makes the AWS call of the step.
func (s Step) Send(ctx context.Context, token string) (Accepted, error) {
	if s.Submit != nil {
		return s.Submit(ctx, token)
	}
	id, err := s.Do(ctx, token)
	return Accepted{ID: id}, err
}

// Accepted holds what AWS answered to a call and what must be stored at once.
type Accepted struct {
	// ID is an identifier that AWS assigned; empty for none.
	ID string
	// Request is the token by which AWS tells how far it is with what it carries out later, and Operation says what that is; empty for none.
	Request, Operation string
}

// FailedRequest is the failure of a request that AWS had accepted.
type FailedRequest struct {
	// Request is the token of the request, Action the IAM action of the call.
	Request, Action string
	// Creates is true where the request was to create the resource.
	Creates bool
	Err     error
}

// Error implements error.
func (e *FailedRequest) Error() string { return e.Action + ": " + e.Err.Error() }

// Unwrap returns the failure as AWS describes it.
func (e *FailedRequest) Unwrap() error { return e.Err }

// Effect holds what a step does to the resource as a whole.
type Effect int

// The effects of a step.
const (
	// Sets changes settings.
	Sets Effect = iota
	// Creates creates the resource; AWS refuses the call when the resource exists.
	Creates
	// Ensures creates the resource, or succeeds when it exists (S3 in us-east-1, SQS, SNS). Success
	// proves nothing of the owner, so no other call may follow before the tags were read.
	Ensures
	// Empties deletes a part of the resource's contents, so that the resource can be deleted.
	Empties
	// Deletes starts the deletion of the resource; it is complete when Observe sees no resource.
	Deletes
	// Ends deletes the resource; AWS has completed the deletion when the call succeeds.
	Ends
)

// Meta holds what the engine, the IAM generator and the docs need without calling AWS.
type Meta struct {
	// Reads and Writes are IAM actions; kindtest proves that the declared are the used.
	Reads, Writes []string
	// ImportReads are the settings that only an import reads, with the IAM actions. A table derives them.
	ImportReads []ImportRead
	// Optional are IAM actions without which everything works, only slower; kindtest does not require rows
	// that use them.
	Optional []string
	// Judges are IAM actions that read who owns what a spec names by identifiers. The engine derives them from the fields.
	Judges []string
	// Facts holds what other packages know about the kind.
	Facts Facts
	// Identity says how a create whose answer was lost is found again.
	Identity Identity
	// HoldsData marks stores: one that vanished is reported Missing rather than created again, empty,
	// unless its object sets recreateOnLoss. A Store decides that for each resource.
	HoldsData bool
	// Retains makes Retain the default deletion policy.
	Retains bool
	// Settle limits how long AWS may take to show a write to every read; 0 is the engine's default.
	Settle time.Duration
	// NoCreationTime marks kinds whose creation time AWS does not report, or changes later (S3 buckets): it
	// cannot tell a resource from one that was created again under the same name.
	NoCreationTime bool
	// CreatesFirst lets the engine send the first create of an object without looking for the resource. It is for
	// kinds whose create AWS refuses when the name is taken, and whose create carries the owner tags: the look
	// after a refusal shows whose the resource is. Not where the create's effect is Ensures, unless each look reads the tags.
	CreatesFirst bool
	// References are the kinds that objects of this kind can refer to; AnyKind stands for all.
	References []string
	// Users says which objects that name the resource hold its deletion.
	Users Users
	// KeepsEarlierKeys is true where data stays encrypted with the key of before when the resource gets another one, and for keys, whose
	// aliases may move.
	KeepsEarlierKeys bool
	// JudgesAdoption is true where what a resource has is judged before an adoption. A table derives it.
	JudgesAdoption bool
	// Ignores is the field of the spec that lists, as JSON pointers, members of documents that are left alone; empty for none.
	Ignores string
	// Units names in the plural, by IAM action, what one call writes, such as "parameters", for messages that
	// say how many are left; "calls" where absent.
	Units map[string]string
}

// AnyKind stands for every kind in Meta.References.
const AnyKind = "*"

// Users says which of the objects that name a resource hold its deletion, although AWS would carry it out.
type Users int

// The users of a resource.
const (
	// NoUsers hold it: AWS refuses to delete what is in use, or nothing is lost.
	NoUsers Users = iota
	// UsersOfNamespace hold it: they cannot be deleted, or work, without it. Objects of other namespaces do not, so that
	// no one can keep the namespace of another team from being deleted.
	UsersOfNamespace
	// UsersOfCluster hold it, and so does what deleted objects left in AWS: their data cannot be read without it.
	UsersOfCluster
)

// Identity says how a create whose answer was lost is found again.
type Identity int

// The identity classes of the design.
const (
	// ByName: the user names it (S3, DynamoDB, IAM, SSM, SQS, Glue, RDS, Secrets Manager).
	ByName Identity = iota
	// ByToken: the API takes an idempotency token (EC2 instances, NAT gateways).
	ByToken
	// ByTag: found by the owner tag set at create (Cognito pools, VPCs, KMS keys).
	ByTag
	// ByParent: a name inside an owned parent (Cognito clients, Glue tables).
	ByParent
)

// Scope gives Desired the facts outside the spec.
type Scope struct {
	// Tags are all tags that the resource is to carry: the provider's defaults, the object's, the owner's.
	Tags map[string]string
	// OwnerTags are only the operator's own, for resources that keep them elsewhere than in tags.
	OwnerTags map[string]string
	// Partition, Account and Region are where the provider leads to.
	Partition, Account, Region string
	// UID is the object's, a salt that AWS and other objects do not share.
	UID string
	// ID is the identifier that AWS assigned, from the status, or the one to import; empty while there
	// is none. Only kinds whose identifiers AWS assigns read it.
	ID string
	// Imported is true when the spec names ID.
	Imported bool
	// Clusters are the clusters whose resources the object may take over, its own first.
	Clusters []string
	// Duplicated is true while the object reports DuplicateResources.
	Duplicated bool
	// Namespace is the object's.
	Namespace string
	// Deleting is true when the object is being deleted: only identity matters then.
	Deleting bool
	// Observing is true for an object that only observes: it gives no role to a service.
	Observing bool
	// GuardData asks a store that is being deleted for a Hold, with a count, while it holds data: only its object
	// is being deleted, not the capability that it belongs to.
	GuardData bool
	// MayDeleteData says that the annotation of the object gives up the data of its store.
	MayDeleteData bool
	// NeededDays is the time for which AWS can restore what cannot be read without the resource, of kinds with UsersOfCluster.
	NeededDays int
	// Issuer is the cluster's OIDC issuer URL, empty while unknown; NoIssuer then says why.
	Issuer   string
	NoIssuer error
	// OIDCProvider reports what IAM knows of an issuer, in the account of the scope. It answers from memory where
	// it can; its errors are kinds of failure, of which none says that the provider is absent.
	OIDCProvider func(issuer string) (OIDCProvider, error)
	// EKSCluster is the name of the operator's EKS cluster; empty while it is not known.
	EKSCluster string
	// Trusted is true for objects that a capability compiled: what they declare was checked there.
	Trusted bool
	// Boundary and RolePath are the provider's guards for IAM roles.
	Boundary, RolePath string
	// Keys are the keys of the map fields tagged `drift:"keys"` that the operator may have written and that
	// the status does not record, by field: the operator may have stopped between the two. Those that
	// exist and are not declared are to be removed.
	Keys map[string][]string
	// WrittenTags are the keys of the tags that the operator wrote, or was about to write. Those that exist and are not
	// declared are to be removed.
	WrittenTags []string
	// OwnersOf returns the tags of resources by their ARNs, for the judgment of what a spec names by identifiers; none of those
	// without tags, and of those that do not exist. Nil where nothing is judged.
	OwnersOf func(ctx context.Context, arns []string) (map[string]map[string]string, error)
	// MayUse reports whether the object may use a resource with these tags without owning it: one without an owner, of the object's
	// namespace, or of a namespace that an administrator shares.
	MayUse func(tags map[string]string) bool
	// Prepared holds the result of Prepare; nil for kinds that prepare nothing.
	Prepared any
	// AllowedTypes are the AWS resource types that the object may manage; nil in a plan that is made without the settings of the
	// operator, which allows every type.
	AllowedTypes *AllowedTypes
	// Signer signs owners that are kept where others can write. Nil in a plan that is made without the operator's key, which
	// believes what it reads.
	Signer Signer
	// Callers returns the ARNs of the identities as which the operator itself and the provider of the object call AWS. Nil where no
	// provider is asked.
	Callers func() ([]string, error)
	// Recorded reports whether the status says that a resource with the identifier was the object's at the last look.
	Recorded func(id string) bool
	// Ref resolves a reference to another object. It returns *status.Waiting while the target has no
	// ID; while deleting it answers from what was recorded with the write-ahead intent.
	Ref func(kind, name string) (Target, error)
	// Secret reads one key of a Secret in the object's namespace. It returns *status.Stalled with
	// the remedy when it is missing or may not be read. Not to be called while deleting.
	Secret func(name, key string) ([]byte, error)
}

// AllowedTypes are names and patterns of AWS resource types, such as AWS::Kinesis::*: those that the operator may manage, and those
// that the provider of the object leaves of them. An empty list of the provider leaves all. A type with a kind is allowed by its name only.
type AllowedTypes struct {
	Operator, Provider []string
	// Kinds are the kinds that manage resources of one type, by the name of the type.
	Kinds map[string]string
}

// ReferredIDs returns the literal identifiers and those of the objects that the references name.
func ReferredIDs[ID ~string](sc Scope, kindName string, literal []ID, refs []v1alpha1.ObjectReference) ([]string, error) {
	var out []string
	for _, id := range literal {
		out = append(out, string(id))
	}
	for _, ref := range refs {
		target, err := sc.Ref(kindName, ref.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, target.ID)
	}
	return out, nil
}

// Target holds what another object published.
type Target struct {
	ID  string `json:"id,omitempty"`
	ARN string `json:"arn,omitempty"`
	// Attributes are further published values that the kind declares referable, such as the VPC of a
	// subnet or the URL of a queue, by their name in the status.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Type is the AWS resource type where objects of the kind have resources of different types. It is not recorded: a deletion needs
	// what was created, and not what it is.
	Type string `json:"-"`
}

// Mode says how a difference may be treated; it comes from the field's drift tag.
type Mode string

// Modes of a difference.
const (
	Mutable   Mode = ""
	Immutable Mode = "immutable"
	Secret    Mode = "secret"
	// Conditional is that of a field that AWS lets be changed in some states, or to some values.
	Conditional Mode = "conditional"
)

// Change is one field where AWS is not as wanted.
type Change struct {
	// Path is the Go path in the state struct: "PublicAccessBlock.BlockPublicAcls", "Tags[team]".
	// Want and Have are printed values; secrets are masked.
	Path, Want, Have string
	// Sum is a hash of the wanted value, secrets included.
	Sum  string
	Mode Mode
	// Gone is true when absence is wanted: a tag key that the user dropped.
	Gone bool
}

// MarksOwner reports whether the field is a tag of the owner, on the resource or on a member of it.
func (c Change) MarksOwner() bool {
	return strings.Contains(c.Path, "Tags["+wellknown.Prefix)
}

// Diff is every difference between wanted and seen, in the order of the state's fields.
type Diff []Change

// Under reports whether any change lies at or below one of the paths.
func (d Diff) Under(paths ...string) bool {
	for _, c := range d {
		for _, p := range paths {
			if c.At(p) {
				return true
			}
		}
	}
	return false
}

// At reports whether the change lies at or below path.
func (c Change) At(path string) bool {
	if c.Path == path {
		return true
	}
	n := len(path)
	return len(c.Path) > n && c.Path[:n] == path && (c.Path[n] == '.' || c.Path[n] == '[')
}

// Keys splits the changes of a map field into keys to set and keys to remove.
func (d Diff) Keys(field string) (set, remove []string) {
	for _, c := range d {
		if !c.At(field) || len(c.Path) < len(field)+2 {
			continue
		}
		key := c.Path[len(field)+1 : len(c.Path)-1]
		if c.Gone {
			remove = append(remove, key)
		} else {
			set = append(set, key)
		}
	}
	return set, remove
}

// Typed is implemented by objects of a kind that has resources of different AWS resource types.
type Typed interface {
	// ResourceType returns the name of the type, such as AWS::Kinesis::Stream.
	ResourceType() string
}

// TypeOf returns the AWS resource type of an object; empty where its kind says it.
func TypeOf(o any) string {
	if typed, ok := o.(Typed); ok {
		return typed.ResourceType()
	}
	return ""
}

// Referable is implemented by objects that publish values beyond ID and ARN for others to refer to.
type Referable interface {
	// ReferableAttributes returns the published values by their names in the status.
	ReferableAttributes() map[string]string
}
