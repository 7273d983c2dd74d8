// Package kind is the contract between the engine and one AWS resource type.
//
// A kind says what is wanted, what is there, and which calls lead from one to the other. It never
// decides whether to act, never retries, never touches Kubernetes: that is the engine's, written once.
package kind

import (
	"context"
	"time"
)

// Kind describes one AWS resource type, bound to one account, region and identity.
// CR is its custom resource. S is its state: the one struct into which both the spec and AWS can be
// read, so that the engine, not the kind, compares them (see the drift tags in package engine).
type Kind[CR any, S any] interface {
	// Meta is constant: the same value on every call.
	Meta() Meta
	// Desired turns the spec into the wanted state. Pure but for sc's look-ups. A nil field means
	// "not ours to manage". Errors are a *status.Stalled naming the field, or what sc.Ref returned.
	Desired(sc Scope, cr CR) (S, error)
	// Observe reads AWS and changes nothing; it reads only what want declares. Absent, and what AWS
	// cannot use again under that identity (deleting for good, terminated), is Seen{}, never an error.
	Observe(ctx context.Context, want S) (Seen[S], error)
	// Converge names the calls that bring seen to want: exactly the create when absent (the engine
	// observes again after it), otherwise steps that settle every path of diff exactly once. Pure.
	Converge(want S, seen Seen[S], diff Diff) []Step
	// Remove names the calls that end the resource. Pure. It may return only the first part (a page
	// of a bucket's objects): the engine observes and asks again until the resource is absent.
	Remove(seen Seen[S]) []Step
	// Publish copies what AWS assigned into the status: ARN and ID through CommonStatus, and the
	// kind's own fields. Pure, and never touches conditions.
	Publish(cr CR, s S)
}

// Seen is what Observe found.
type Seen[S any] struct {
	// Exists is false for what is absent or unusable.
	Exists bool
	State  S
	// Busy says that AWS is still at work (creating, updating, deleting), so nothing may be written yet.
	Busy string
	// Tags are all tags found on the resource (for a Glue table: its nexus.ai/ parameters). The
	// engine reads the owner from them. Nil means that the resource carries none.
	Tags map[string]string
	// Created is AWS's creation time; zero when AWS does not say.
	Created time.Time
	// Holds are reasons why AWS would refuse, or we must refuse, to delete it now.
	Holds []Hold
	// Notes become conditions of the object beside Ready, such as SecretsPopulated.
	Notes []Note
}

// Hold is a reason not to delete yet: BucketNotEmpty with its count, DeletionProtected with its remedy.
type Hold struct{ Reason, Message string }

// Note is an additional condition a kind reports on its object.
type Note struct {
	Type, Reason, Message string
	True                  bool
}

// Step is one AWS call, as a value: printed by plan, counted by metrics, named by events.
type Step struct {
	// Action is the IAM action: "s3:PutBucketVersioning".
	Action string
	// Fixes are the diff paths the step settles; empty for create and delete.
	Fixes []string
	// Risk says what the step may cost the user.
	Risk Risk
	// Stage orders steps: those of one stage may run at the same time, a later stage waits for it.
	Stage int
	// Do makes exactly one AWS call. The token is stable for object, attempt and action, and fits AWS's
	// client token fields. A non-empty id is an identifier that AWS assigned: it is stored at once.
	Do func(ctx context.Context, token string) (id string, err error)
}

// Risk says what a step may cost the user.
type Risk int

// The risks: Safe changes settings, Disrupts may interrupt use, Destroys loses the resource or data.
const (
	Safe Risk = iota
	Disrupts
	Destroys
)

// Meta is what the engine, the IAM generator and the docs need without calling AWS.
type Meta struct {
	// Reads and Writes are IAM actions; kindtest proves that the declared are the used.
	Reads, Writes []string
	// Implied are IAM actions that AWS checks beside those: tags inside a create, roles passed on.
	Implied []string
	// Identity says how a create whose answer was lost is found again.
	Identity Identity
	// Poll is how often AWS is checked for drift; 0 is the engine's default.
	Poll time.Duration
	// HoldsData marks stores: one that vanished behind our back is reported Missing rather than made
	// anew empty, unless its object says recreateOnLoss.
	HoldsData bool
	// Retains makes Retain the default deletion policy.
	Retains bool
	// Settle is how long AWS may need to show what was just created or deleted.
	Settle time.Duration
}

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
	// Tags are all tags the resource shall carry: the provider's defaults, the object's, the owner's.
	Tags map[string]string
	// OwnerTags are only the operator's own, for resources that keep them elsewhere than in tags.
	OwnerTags map[string]string
	// Partition, Account and Region are the home the provider leads to.
	Partition, Account, Region string
	// UID is the object's, a salt that AWS and other objects do not share.
	UID string
	// Namespace is the object's.
	Namespace string
	// Deleting is true when the object is being deleted: only identity matters then.
	Deleting bool
	// DeletionPolicy in force, defaults applied.
	DeletionPolicy string
	// Issuer is the cluster's OIDC issuer URL, empty while unknown.
	Issuer string
	// Trusted is true for objects that a capability compiled: what they declare was checked there.
	Trusted bool
	// Boundary and RolePath are the provider's guards for IAM roles.
	Boundary, RolePath string
	// Ref resolves a reference to another object. It returns *status.Waiting while the target has no
	// ID; while deleting it answers from what was recorded with the write-ahead intent.
	Ref func(kind, name string) (Target, error)
	// Secret reads one key of a Secret in the object's namespace. It returns *status.Stalled with
	// the remedy when it is missing or may not be read. Not to be called while deleting.
	Secret func(name, key string) ([]byte, error)
}

// Target is what another object published.
type Target struct {
	ID  string `json:"id,omitempty"`
	ARN string `json:"arn,omitempty"`
}

// Mode says how a difference may be treated; it comes from the field's drift tag.
type Mode string

// Modes of a difference.
const (
	Mutable   Mode = ""
	Immutable Mode = "immutable"
	Secret    Mode = "secret"
)

// Change is one field where AWS is not as wanted.
type Change struct {
	// Path is the Go path in the state struct: "PublicAccessBlock.BlockPublicAcls", "Tags[team]".
	Path, Want, Have string
	Mode             Mode
	// Gone is true when the wanted state is absence: a tag key the user dropped.
	Gone bool
}

// Diff is every difference between wanted and seen, in the order of the state's fields.
type Diff []Change

// Under says whether any change lies at or below one of the paths.
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

// At says whether the change lies at or below path.
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
