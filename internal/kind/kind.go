// SPDX-License-Identifier: Apache-2.0

// Package kind is the contract between the engine and one AWS resource type.
//
// A kind computes the wanted state, reads the existing state, and plans the calls that turn the one into the other. It never decides
// whether to act, never retries, and never touches Kubernetes: the engine does that, once for all kinds. Most kinds are written as a Table;
// FromTable derives the methods of Kind from it.
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
	// Desired turns the spec into the wanted state. Pure except for sc's lookups. A nil field means that the field is not managed. Errors
	// are a *status.Stalled naming the field, or errors of the lookups of sc. While sc.Deleting, Desired fills in only the identity of the
	// resource and the settings of its deletion, and it returns no error because of the rest of the spec.
	Desired(sc Scope, cr CR) (S, error)
	// Observe reads AWS and changes nothing; it reads only the settings that want declares. A resource that is absent, or that AWS cannot
	// use again under that identity (scheduled for deletion, terminated), is Seen{}, never an error.
	Observe(ctx context.Context, want S, look Look) (Seen[S], error)
	// Converge returns the calls that turn seen into want. For an absent resource, the first step creates it and the steps behind it may
	// set the settings that the create call cannot. Otherwise exactly one step settles each path of diff. Pure.
	Converge(want S, seen Seen[S], diff Diff) []Step
	// Remove returns the calls that delete the resource. Pure. It may return only the first part (one
	// page of a bucket's objects): the engine observes and asks again until the resource is absent.
	Remove(want S, seen Seen[S]) []Step
	// Publish copies the values that AWS assigned into the status: ARN and ID through CommonStatus, and the kind's own fields. Pure; it
	// never touches conditions.
	Publish(cr CR, s S)
}

// Stopper is implemented by kinds that offer deletionPolicy Stop: the resource stays and is stopped.
type Stopper[S any] interface {
	// Stop returns the calls that stop the resource; none when it is stopped. Pure.
	Stop(want S, seen Seen[S]) []Step
}

// Store is implemented by kinds if only some of their resources hold data.
type Store[S any] interface {
	// HoldsData decides for one resource; for other kinds Meta.HoldsData decides for all resources. Pure.
	HoldsData(want S) bool
}

// Follower is implemented by kinds with a Converge that does not return all calls at once, because some of them can only be sent when AWS
// shows the effect of others. A plan names them, too.
type Follower[S any] interface {
	// Follow returns the calls that come after a create; none when Converge returns them together with it. Pure.
	Follow(want S) []Step
	// Continue returns the calls that come after those that Converge returns for an existing resource. Pure.
	Continue(want, have S, diff Diff) []Step
}

// Preparer is implemented by kinds with a Desired that needs facts from AWS that depend on the spec, such as the schema of a resource type.
type Preparer[CR any] interface {
	// Prepare reads these facts, which become Scope.Prepared, and changes nothing. Its errors have the meaning of those of Observe.
	Prepare(ctx context.Context, sc Scope, cr CR) (any, error)
}

// Look tells Observe how the resource is looked at.
type Look struct {
	// Deleting is true when the object is being deleted: Observe reads the obstacles to the deletion (Seen.Holds) and no settings.
	Deleting bool
	// TagsKnown is true when a create call that carried the wanted tags was just acknowledged. Observe
	// may then skip reading the tags and report the wanted ones.
	TagsKnown bool
	// New is true for the settle time after a create call was acknowledged, while no further write was sent to
	// the resource: it still has the settings that it was created with.
	New bool
	// Wrote is true for ten minutes after AWS acknowledged a create or a change of a setting: a pending change in AWS may be that one.
	Wrote bool
	// Contents is true while deleting, once a call returned a *NotEmptyError: Observe reads the contents
	// too, so that Remove can empty the resource or Seen.Holds can report them.
	Contents bool
	// Created are the diff paths of creates that AWS acknowledged within the settle time, with the tags that are wanted now. They are for
	// resources that consist of members created one by one.
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

// NotEmptyError is returned by a step that deletes the resource if AWS refused it because of the resource's contents. The engine then looks
// again with Look.Contents, so that the contents of resources that are empty are never listed.
type NotEmptyError struct{ Err error }

// Error implements error.
func (e *NotEmptyError) Error() string { return e.Err.Error() }

// Unwrap returns the AWS error.
func (e *NotEmptyError) Unwrap() error { return e.Err }

// Seen holds the result of Observe.
type Seen[S any] struct {
	// Exists is false for a resource that is absent or unusable.
	Exists bool
	State  S
	// Busy names the operation that AWS carries out (creating, updating, deleting); nothing may be written until it ends.
	Busy string
	// LookAt is the time from AWS for the next look at a busy resource; zero if AWS names none.
	LookAt time.Time
	// Usable is true if a busy resource keeps serving its users, such as a table that is UPDATING or a database that is backing up: an
	// object that was Ready stays Ready.
	Usable bool
	// NotRead is true for a busy resource with a State that was not read. A later look compares it with the spec.
	NotRead bool
	// Writable is true when AWS accepts changes and the deletion of a busy resource, such as a certificate that waits for its
	// validation: it may wait for days.
	Writable bool
	// Tags are all tags found on the resource (for a Glue table: its nexus.ai/ parameters). The
	// engine reads the owner from them. Nil means that the resource carries none.
	Tags map[string]string
	// TagsFixed is true where nothing can change the tags that the create gave. A resource that an earlier object of the name left, or that
	// had no owner, keeps its tags, and only the status records its owner.
	TagsFixed bool
	// Member is the member that Tags belong to, for a resource of members with one owner each: the one that is furthest from being this
	// object's. Nil when all are this object's.
	Member *Member
	// Created is AWS's creation time; zero when AWS reports none.
	Created time.Time
	// Proven is true when something of the resource that cannot be changed shows that this object created it, such as a caller reference
	// that contains the object's UID. It is for resources with a create that cannot carry tags.
	Proven bool
	// AskByCreate is true for a resource without tags if only the answer to a create shows whether this object created it: AWS answers a
	// create with the token of the recorded attempt with that request. The engine asks only if the status records the object as the owner.
	AskByCreate bool
	// Shared is true for a resource that is right for every object that declares it, such as the record that proves a host to ACM:
	// another owner's is used as it is, and never written.
	Shared bool
	// Failed is the recorded request, where AWS accepted it and then failed to carry it out; nil otherwise. It is reported once before the
	// next write. A resource that matches the spec, or that another owner has, makes it meaningless.
	Failed *FailedRequest
	// Holds are reasons why AWS would refuse, or the operator must refuse, to delete the resource now.
	Holds []Hold
	// Notes become conditions of the object in addition to Ready, such as SecretsPopulated. Notes about the spec may come without a
	// resource.
	Notes []Note
	// Duplicates are identifiers of further resources that carry the object's UID in their owner tags.
	Duplicates []string
	// Omitted holds the settings that an export leaves out, and why. Unread holds the settings that it cannot read.
	Omitted, Unread []string
}

// Hold is a reason not to delete yet: BucketNotEmpty with its count, DeletionProtected with its remedy.
type Hold struct {
	Reason, Message string
	// After is the delay until the next look; 0 is the engine's default.
	After time.Duration
}

// Note is an additional condition that a kind reports on its object.
type Note struct {
	Type, Reason, Message string
	True                  bool
	// Unknown is true when the kind could not find out whether the note is true; True is then ignored.
	Unknown bool
	// Recheck asks for another look after the retry interval of stalled objects: a person has to solve the reported problem outside the
	// operator.
	Recheck bool
}

// STSAudience is the audience of the ServiceAccount tokens that pods exchange for AWS credentials:
// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
const STSAudience = "sts.amazonaws.com"

// OIDCProvider holds the facts from IAM about an issuer of ServiceAccount tokens.
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

// Replacer is implemented by kinds with special instructions to replace a resource for the change of an immutable field.
type Replacer[S any] interface {
	// HowToReplace returns the instructions for another value of such a field, in place of the usual remedy; empty for the usual remedy.
	// Pure.
	HowToReplace(want S) string
}

// Adopter is implemented by kinds of resources with rights that an adoption would bring along.
type Adopter[S any] interface {
	// WhyNotAdopted returns why a resource without an owner must not become the object's because of its rights; empty when it may. It may
	// read AWS, and is asked only before an adoption.
	WhyNotAdopted(ctx context.Context, sc Scope, want, have S) (string, error)
}

// Step is one AWS call, as a value: printed by plan, counted by metrics, named by events.
type Step struct {
	// Action is the IAM action: "s3:PutBucketVersioning".
	Action string
	// Effect is the effect of the call on the resource as a whole.
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

// Accepted holds the parts of AWS's answer to a call that must be stored at once.
type Accepted struct {
	// ID is an identifier that AWS assigned; empty for none.
	ID string
	// Request is the token to ask AWS for the progress of an asynchronous request, and Operation names its operation; empty for none.
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

// Effect is the effect of a step on the resource as a whole.
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

// Meta holds the static facts about a kind that the engine, the IAM generator and the docs need without a call to AWS.
type Meta struct {
	// Reads and Writes are IAM actions; kindtest proves that the declared are the used.
	Reads, Writes []string
	// ImportReads are the settings that only an import reads, with the IAM actions. A table derives them.
	ImportReads []ImportRead
	// Optional are IAM actions without which everything works, only slower; kindtest does not require rows
	// that use them.
	Optional []string
	// Judges are IAM actions that read the owners of the resources that a spec names by identifiers. The engine derives them from the
	// fields.
	Judges []string
	// Facts holds the properties of the kind that other packages use.
	Facts Facts
	// Identity says how the engine finds a resource again after the answer of its create was lost.
	Identity Identity
	// HoldsData marks stores: one that vanished is reported Missing rather than created again, empty,
	// unless its object sets recreateOnLoss. A Store decides that for each resource.
	HoldsData bool
	// Retains makes Retain the default deletion policy.
	Retains bool
	// Settle limits how long AWS may take to show a write to every read; 0 is the engine's default.
	Settle time.Duration
	// NoCreationTime marks kinds without a creation time in AWS, or with one that AWS changes later (S3 buckets): it does not distinguish a
	// resource from one that was created again under the same name.
	NoCreationTime bool
	// CreatesFirst lets the engine send the first create of an object without looking for the resource. It is for kinds with a create that
	// AWS refuses when the name is taken, and that carries the owner tags: the look after a refusal shows the owner of the resource. Not
	// where the create's effect is Ensures, unless each look reads the tags.
	CreatesFirst bool
	// References are the kinds that objects of this kind can refer to; AnyKind stands for all.
	References []string
	// Users says which objects that name the resource hold its deletion.
	Users Users
	// JudgesAdoption is true if the rights of a resource are judged before an adoption. A table derives it.
	JudgesAdoption bool
	// Ignores is the field of the spec that lists, as JSON pointers, members of documents that are left alone; empty for none.
	Ignores string
	// Units names in the plural, by IAM action, the items that one call writes, such as "parameters", for messages with the number of those
	// left; "calls" if absent.
	Units map[string]string
}

// AnyKind stands for every kind in Meta.References.
const AnyKind = "*"

// Users says which of the objects that name a resource hold its deletion, although AWS would carry it out.
type Users int

// The users of a resource.
const (
	// NoUsers hold it: AWS refuses to delete a resource in use, or nothing is lost.
	NoUsers Users = iota
	// UsersOfNamespace hold it: they cannot be deleted, or work, without it. Objects of other namespaces do not, so that
	// no one can keep the namespace of another team from being deleted.
	UsersOfNamespace
	// UsersOfCluster hold it, and so do resources that deleted objects left in AWS: their data cannot be read without it.
	UsersOfCluster
)

// Identity says how the engine finds a resource again after the answer of its create was lost.
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
	Place
	Search
	Lookups
	Guards     RoleGuards
	Federation Federation
	Data       DataGuard

	// Tags are all tags that the resource is to carry: the provider's defaults, the object's, the owner's.
	Tags map[string]string
	// UID is the object's, a salt that AWS and other objects do not share.
	UID string
	// Namespace is the object's.
	Namespace string
	// Observing is true for an object that only observes: it gives no role to a service.
	Observing bool
	// Trusted is true for objects that a capability compiled: the compiler checked their specs.
	Trusted bool
	// Keys are the keys of the map fields tagged `drift:"keys"` that the operator may have written and that
	// the status does not record, by field: the operator may have stopped between the two. Those that
	// exist and are not declared are to be removed.
	Keys map[string][]string
	// WrittenTags are the keys of the tags that the operator wrote, or was about to write. Those that exist and are not
	// declared are to be removed.
	WrittenTags []string
	// Prepared holds the result of Prepare; nil for kinds that prepare nothing.
	Prepared any
	// AllowedTypes are the AWS resource types that the object may manage; nil in a plan that is made without the settings of the
	// operator, which allows every type.
	AllowedTypes *AllowedTypes
	// Signer signs owners that are kept where others can write. Nil in a plan without the operator's key, which trusts the owners that it
	// reads.
	Signer Signer
	// Recorded reports whether the status says that a resource with the identifier was the object's at the last look.
	Recorded func(id string) bool
}

// Place is the part of AWS that a provider leads to.
type Place struct {
	Partition, Account, Region string
}

// RoleGuards are the provider's guards for IAM roles.
type RoleGuards struct {
	// Boundary is the permissions boundary of every role, and RolePath the prefix of its path; empty for none.
	Boundary, RolePath string
}

// DataGuard protects the data of a store.
type DataGuard struct {
	// Guarded asks a store that is being deleted for a Hold, with a count, while it holds data: only its object
	// is being deleted, not the capability that it belongs to.
	Guarded bool
	// MayDelete says that the annotation of the object gives up the data of its store.
	MayDelete bool
	// NeededDays is the number of days that AWS can still restore data that is unreadable without the resource, for kinds with
	// UsersOfCluster.
	NeededDays int
}

// Federation holds the facts by which pods of the cluster assume roles.
type Federation struct {
	// Issuer is the cluster's OIDC issuer URL, empty while unknown; NoIssuer then says why.
	Issuer   string
	NoIssuer error
	// OIDCProvider returns the facts from IAM about an issuer, in the account of the scope. It answers from memory if it can. An error is a
	// failed lookup; it never means that the provider is absent.
	OIDCProvider func(issuer string) (OIDCProvider, error)
	// EKSCluster is the name of the operator's EKS cluster; empty while it is not known.
	EKSCluster string
}

// Lookups ask for facts that only some objects need.
type Lookups struct {
	// Ref resolves a reference to another object. It returns *status.Waiting while the target has no ID; while deleting it answers from the
	// write-ahead intent in the status.
	Ref func(kind, name string) (Target, error)
	// Secret reads one key of a Secret in the object's namespace. It returns *status.Stalled with
	// the remedy when it is missing or may not be read. Not to be called while deleting.
	Secret func(name, key string) ([]byte, error)
	// OwnersOf returns the tags of resources by their ARNs, to judge the resources that a spec names by identifiers. It returns none for
	// resources without tags or that do not exist. Nil if nothing is judged.
	OwnersOf func(ctx context.Context, arns []string) (map[string]map[string]string, error)
	// Callers returns the ARNs of the identities as which the operator itself and the provider of the object call AWS. Nil where no
	// provider is asked.
	Callers func() ([]string, error)
}

// AllowedTypes are names and patterns of AWS resource types, such as AWS::Kinesis::*: those that the operator may manage, and those
// that the provider of the object leaves of them. An empty list of the provider leaves all. A type with a kind is allowed by its name only.
type AllowedTypes struct {
	Operator, Provider []string
	// Kinds are the kinds that manage resources of one type, by the name of the type.
	Kinds map[string]string
}

// ReferredIDs returns the literal identifiers and those of the objects that the references name.
func ReferredIDs[ID ~string](look Lookups, kindName string, literal []ID, refs []v1alpha1.ObjectReference) ([]string, error) {
	var out []string
	for _, id := range literal {
		out = append(out, string(id))
	}
	for _, ref := range refs {
		target, err := look.Ref(kindName, ref.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, target.ID)
	}
	return out, nil
}

// Target holds the values that another object published.
type Target struct {
	ID  string `json:"id,omitempty"`
	ARN string `json:"arn,omitempty"`
	// Attributes are further published values that the kind declares referable, such as the VPC of a
	// subnet or the URL of a queue, by their name in the status.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Type is the AWS resource type where objects of the kind have resources of different types. It is not recorded: a deletion needs the
	// identifier of the target, not its type.
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
