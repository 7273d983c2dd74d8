// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
)

// Service is one AWS service: all that the emulator knows of it, and its state. The core asks services and knows none of them.
type Service interface {
	// Facts returns the constant facts. The core asks a service without a state for it, too.
	Facts() *Facts
	// Corrections returns the corrections of the deviations of moto, in the order of application.
	Corrections() []Correction
	// Reset forgets the state.
	Reset()
	// Attach gives a service the core that it uses, before anything is asked of it but Facts.
	Attach(c *Core)
}

// Correction makes up for one deviation of moto from AWS. The requests that it makes itself are not in the ledger.
type Correction struct {
	Name string
	// Ops are the operations that it is about; empty for all.
	Ops []string
	// Before may answer the request before moto gets it, and change it.
	Before func(ctx context.Context, x *Exchange) *Answer
	// Instead may answer the request in the place of moto. Its answer is corrected as one of moto.
	Instead func(ctx context.Context, x *Exchange) *Answer
	// After may change the answer.
	After func(ctx context.Context, x *Exchange, a *Answer) *Answer
}

func (c *Correction) applies(x *Exchange) bool {
	return len(c.Ops) == 0 || slices.Contains(c.Ops, x.Op)
}

// Facts hold all that the emulator knows of a service.
type Facts struct {
	// Prefix is the name of the service in the actions of IAM, and everywhere in the emulator.
	Prefix string
	// IsGlobal is true where names are those of an account and not of a region.
	IsGlobal bool

	Requests RequestFacts
	Errors   ErrorFacts
	Writes   WriteFacts
	Rights   RightFacts
	Events   EventFacts

	// Names hold the demands of AWS on names that moto accepts unseen, by operation. CheckName has those that no pattern says.
	Names     map[string]NameRule
	CheckName func(x *Exchange) *Answer
	// Inventory lists the existing resources. Pages are the names of the token in a request and in an answer; empty for NextToken.
	Inventory []InventoryKind
	Pages     [2]string
	// Rewrites are the fields that AWS shows in another form than they were sent, and moto as they were sent.
	Rewrites []Rewrite
	// Unset are AWS's answers about settings that no one made and that moto does not know, by operation, UnsetErrors its errors.
	Unset       map[string]string
	UnsetErrors map[string]Error
}

// RequestFacts say how requests are read.
type RequestFacts struct {
	// SigningNames are the names in signatures that differ from the prefix, Targets the beginnings of X-Amz-Target of requests that
	// are not signed. IsUnsigned reports whether an operation of the query protocol is one that needs no signature.
	SigningNames, Targets []string
	IsUnsigned            func(op string) bool
	// IsAnonymous is true for the service that gets the requests that nothing names.
	IsAnonymous bool
	// Form and REST are the protocols of requests with a form and of REST requests, where they are not the usual ones.
	Form, REST Protocol
	// Decode names the operation and the resource of a REST request.
	Decode func(d *Request)
	// Keys are the members of a request that name its resource, before those that all services have. Resource says it where no
	// member does.
	Keys     []string
	Resource func(op string, body map[string]any) (name string, ok bool)
	// Reads are the first words of operations of the service that change nothing, beside those that all services have.
	Reads []string
	// ShortName returns the name in the last part of an ARN; without it, the name follows the first slash.
	ShortName func(name string) string
	// MaxSkew limits the distance of the time of a signature from the clock of the service, if not to five minutes.
	MaxSkew time.Duration
}

// ErrorFacts say how the service refuses.
type ErrorFacts struct {
	// Missing are the errors about resources that do not exist, by operation, "" for all others. %s is the resource.
	Missing map[string]Error
	// Throttled is the error about too many requests, and Denied the code of a missing right, where they are not the usual ones.
	Throttled Error
	Denied    string
	// Answer completes an answer that a resource does not exist. IsGone reports whether an answer without an error says so. Hide answers
	// a read as if some of the resources that it names did not exist; nil where all of it fails.
	Answer func(d *Request, a *Answer) *Answer
	IsGone func(d *Request, a *Answer) bool
	Hide   func(d *Request, a *Answer, names []string) *Answer
}

// WriteFacts describe the changes that writes make and the reads that show them.
type WriteFacts struct {
	// Data are operations on the content of resources, which do not change settings and do not lag. Documents are reads that answer with
	// documents of the user.
	Data, Documents []string
	// Creates reports whether a request creates something though its operation does not begin with Create. Endings are the deletions of the
	// resources that such operations create, by the operation.
	Creates func(x *Exchange) bool
	Endings map[string]string
	// IdempotentCreates succeed and change nothing if the resource exists.
	IdempotentCreates []string
	// CreatedID returns the identifier that AWS gives to a new resource; "" if the request names it.
	CreatedID func(x *Exchange, a *Answer) string
	// TagReads are the reads that show tags. TagWrites are operations without Tag in their names that change tags, or parameters that
	// the operator uses as tags; all creations do.
	TagReads  []TagRead
	TagWrites []string
	// ListsAll is true for a service that lists the resources of all others.
	ListsAll bool
	// InTurn are operations that are answered one after the other: some of them are done in several steps (a resource is read, deleted
	// and created again), and a change between the steps would be lost, which does not happen in AWS.
	InTurn []string
}

// RightFacts describe the rights that requests take.
type RightFacts struct {
	// Action is the name of an operation in IAM, where it differs; Evaluated the action that a request takes in its place.
	Action    func(op string) string
	Evaluated func(q *Asker) string
	// Namings say how requests name resources of the types of the service, NotNamed which they never name, with the reason.
	Namings  map[string]Naming
	NotNamed map[string]string
	// Identifiers are types of resources by the beginning of their identifiers.
	Identifiers map[string]string
	// Dependents decide which further actions requests take.
	Dependents []Dependent
	// Demands replaces the reference, where it does not list the rights that a request takes. Context adds to the values of condition keys.
	Demands func(q *Asker) []policy.Demand
	Context func(q *Asker)
	// TagsOf returns the tags of a resource, by its ARN and the last part of it, where conditions are about them.
	TagsOf func(q *Asker, arn, id string) map[string]string
	// RequestTags returns the tags that a request gives in a form of the service.
	RequestTags func(d *Request) map[string]string
	// Open are operations that take no right. ChangesRights is true where writes change who has which, and GivesKeys where answers may
	// have the access key of a role.
	Open                     []string
	ChangesRights, GivesKeys bool
}

// EventFacts say how CloudTrail reports requests.
type EventFacts struct {
	// Source is the name of the service in events, and Region their region, where they differ.
	Source func(x *Exchange) string
	Region string
	// Data are operations on data, which are no management events.
	Data []string
}

// GlobalRegion is the region of the events of services without regions.
const GlobalRegion = "us-east-1"

// Base gives every service the core, and a lock for its own state.
type Base struct {
	*Core
	Mu sync.Mutex
}

// Attach gives the service the core that it uses.
func (b *Base) Attach(c *Core) { b.Core = c }

// Locked changes the state of the service while no request reads it.
func (b *Base) Locked(change func()) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	change()
}

// Corrections returns none, for services that moto emulates well enough.
func (*Base) Corrections() []Correction { return nil }

// Reset forgets nothing, for services without a state.
func (*Base) Reset() {}

// IDAt returns a function that finds the identifier of a new resource in an answer in JSON, by the operation.
func IDAt(paths map[string]string) func(x *Exchange, a *Answer) string {
	return func(x *Exchange, a *Answer) string {
		path, ok := paths[x.Op]
		if !ok {
			return ""
		}
		parsed := map[string]any{}
		_ = json.Unmarshal(a.Body, &parsed)
		return x.ShortName(Text(Member(parsed, path)))
	}
}

// Errors about too many requests that several services have.
var (
	RateExceeded    = Error{http.StatusBadRequest, "Throttling", "Rate exceeded"}
	TooManyRequests = Error{http.StatusTooManyRequests, "TooManyRequestsException", "Too many requests"}
)
