// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// APIVersion is that of a plan as JSON or YAML.
const APIVersion = "plan.nexus.ai/v1alpha1"

// Action names the change of an object or of a resource as a whole.
type Action string

// The actions.
const (
	Create Action = "Create"
	Update Action = "Update"
	Delete Action = "Delete"
	// None: it stays as it is.
	None Action = "None"
)

// Risk is the worst that a change does to its users.
type Risk string

// The risks, the least first.
const (
	Safe Risk = "Safe"
	// Disrupts: a running workload is replaced or restarted, or a policy changes its rights.
	Disrupts Risk = "Disrupts"
	// Destroys: an AWS resource is deleted.
	Destroys Risk = "Destroys"
	// DataLoss: data is deleted with it.
	DataLoss Risk = "DataLoss"
)

var risks = []Risk{"", Safe, Disrupts, Destroys, DataLoss}

func worst(a, b Risk) Risk {
	if slices.Index(risks, a) < slices.Index(risks, b) {
		return b
	}
	return a
}

// Plan is everything that follows from applying manifests, or from leaving objects as they are.
type Plan struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Items      []Item  `json:"items"`
	Summary    Summary `json:"summary"`
}

// Item describes the change of one Kubernetes object, and of the AWS resource behind it.
type Item struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Owner is the capability, or the binding or policy of security intents, that the operator makes the object for: as
	// namespace/name, or the name alone of one of the cluster.
	Owner  string `json:"owner,omitempty"`
	Action Action `json:"action"`
	Risk   Risk   `json:"risk,omitempty"`
	// Fields are the fields of the object that change, and those of a created object that a manifest declares or that stands for an
	// AWS resource; none for an object that is deleted.
	Fields []Field `json:"fields,omitempty"`
	// AWS describes the change in AWS; nil for objects that stand for nothing there.
	AWS *Resource `json:"aws,omitempty"`
	// Approval is set where the operator makes the change of a capability, with everything that follows from it, only after an approval.
	Approval *Approval `json:"approval,omitempty"`
	// Recoverable says how long a deletion can be undone with nexusctl undo; nil where it cannot.
	Recoverable *Recoverable `json:"recoverable,omitempty"`
	// Note is a remark, such as about values that AWS keeps.
	Note string `json:"note,omitempty"`
	// Waits names the condition that must hold before the rest of the item can be known.
	Waits string `json:"waits,omitempty"`
	// Problem says why the operator cannot make the change.
	Problem *Problem `json:"problem,omitempty"`
}

// Recoverable says how long a deletion can be undone. One of its fields is set.
type Recoverable struct {
	// Until is the end of the time of a deletion that has begun, as in RFC 3339.
	Until string `json:"until,omitempty"`
	// For is the time that follows a deletion, such as 24h.
	For string `json:"for,omitempty"`
}

// Resource describes the change of an AWS resource.
type Resource struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	ID      string `json:"id,omitempty"`
	Action  Action `json:"action"`
	Risk    Risk   `json:"risk,omitempty"`
	// Cause is why: the engine's word, such as New, SpecChanged or Drift.
	Cause  string  `json:"cause,omitempty"`
	Fields []Field `json:"fields,omitempty"`
	// Ignored are values that differ and that the object leaves alone.
	Ignored []Field `json:"ignored,omitempty"`
	// Calls are the calls that write to AWS.
	Calls []Call `json:"calls,omitempty"`
	// Reported is true where the resource differs, and the object only reports it.
	Reported bool `json:"reported,omitempty"`
	// Reason says why nothing, or not everything, is done.
	Reason string `json:"reason,omitempty"`
	// Approval is set where the operator makes the change only after an approval.
	Approval *Approval `json:"approval,omitempty"`
}

// Approval names the plan that needs an approval.
type Approval struct {
	// Hash identifies the plan; empty where it is not known before another object exists, or before the operator has planned the edit of a
	// capability.
	Hash string `json:"hash,omitempty"`
}

// Field is one value that changes. Secret values are masked.
type Field struct {
	Path string `json:"path"`
	// Have and Want are the whole values as text; empty where there is none.
	Have string `json:"have,omitempty"`
	Want string `json:"want,omitempty"`
	// Statements lists the statements that a policy document gains and loses.
	Statements []iampolicy.StatementChange `json:"statements,omitempty"`
	// Note names a possible reason why the value does not change; empty if none is known.
	Note string `json:"note,omitempty"`
}

// Call is an AWS call, by its IAM action.
type Call struct {
	Action string `json:"action"`
	Count  int    `json:"count"`
	Risk   Risk   `json:"risk"`
}

// Problem says why the operator cannot do as declared.
type Problem struct {
	Reason string `json:"reason"`
	// Code is the stable error code of the reason.
	Code string `json:"code,omitempty"`
	// Field is the field at fault; empty where it is none.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Summary counts a plan.
type Summary struct {
	Create int `json:"create"`
	Update int `json:"update"`
	Delete int `json:"delete"`
	// Calls is the number of AWS calls that write.
	Calls    int `json:"calls"`
	Problems int `json:"problems"`
	Waits    int `json:"waits"`
	// Reported is the number of AWS resources that differ from their spec and stay so: their objects only report differences.
	Reported int  `json:"reported,omitempty"`
	Risk     Risk `json:"risk,omitempty"`
}

// Of makes a plan of items.
func Of(items []Item) Plan {
	p := Plan{APIVersion: APIVersion, Kind: "Plan", Items: items}
	if items == nil {
		p.Items = []Item{}
	}
	for _, it := range items {
		p.Summary.add(it)
	}
	return p
}

// With returns a plan of the actions of both plans. Items that were left out of one of them stay counted.
func (p Plan) With(other Plan) Plan {
	p.Items = append(slices.Clip(p.Items), other.Items...)
	a, b := &p.Summary, other.Summary
	a.Create, a.Update, a.Delete, a.Calls = a.Create+b.Create, a.Update+b.Update, a.Delete+b.Delete, a.Calls+b.Calls
	a.Problems, a.Waits, a.Reported, a.Risk = a.Problems+b.Problems, a.Waits+b.Waits, a.Reported+b.Reported, worst(a.Risk, b.Risk)
	return p
}

func (s *Summary) add(it Item) {
	switch it.change() {
	case Create:
		s.Create++
	case Update:
		s.Update++
	case Delete:
		s.Delete++
	}
	s.Risk = worst(s.Risk, it.Risk)
	if it.AWS != nil {
		s.Risk = worst(s.Risk, it.AWS.Risk)
		for _, c := range it.AWS.Calls {
			s.Calls += c.Count
		}
		if it.AWS.Reported {
			s.Reported++
		}
	}
	if it.Problem != nil {
		s.Problems++
	}
	if it.Waits != "" {
		s.Waits++
	}
}

// change returns the change of the item as a whole: of its object, or of its resource if the object does not change.
func (it Item) change() Action {
	if it.Action == None && it.AWS != nil {
		return it.AWS.Action
	}
	return it.Action
}

// addNote adds a sentence to the note of the item.
func (it *Item) addNote(text string) {
	if it.Note != "" {
		it.Note += "; "
	}
	it.Note += text
}

// addNotes adds the operator's reports on a resource that a person should know, apart from its actions.
func (it *Item) addNotes(notes []kind.Note) {
	for _, n := range notes {
		if !n.True && !n.Unknown {
			it.addNote(n.Message)
		}
	}
}

// Changes reports whether anything happens to the item.
func (it Item) Changes() bool { return it.change() != None }

// Empty reports whether the plan has no changes and no obstacles to the declared state. Differences that are only reported change nothing.
func (p Plan) Empty() bool {
	s := p.Summary
	return s.Create+s.Update+s.Delete+s.Calls+s.Problems+s.Waits == 0
}

// sortCalls joins equal calls.
func sortCalls(calls []Call) []Call {
	var out []Call
	for _, c := range calls {
		i := slices.IndexFunc(out, func(o Call) bool { return o.Action == c.Action && o.Risk == c.Risk })
		if i < 0 {
			out = append(out, c)
		} else {
			out[i].Count += c.Count
		}
	}
	slices.SortStableFunc(out, func(a, b Call) int { return cmp.Compare(a.Action, b.Action) })
	return out
}
