// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
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

// Gate says how the plans of an object are approved. Its zero value lets every plan run.
type Gate struct {
	// Closed is true where an edit waits until its plan is approved.
	Closed bool
	// Asked is the hash of the plan that the annotation approves; empty for none.
	Asked string
	// Approved is true once the operator recorded the approval of the current spec.
	Approved bool
	// Covered is true if an approval of the object's capability holds for the object.
	Covered bool
}

// Passage is the result of a pass over an object at its gate.
type Passage struct {
	// Judged is true when the pass knows whether a plan waits. Other passes leave the condition as it is.
	Judged bool
	// Closed is that of Gate.
	Closed bool
	// Pending is the hash of the plan that waits for an approval; empty for none.
	Pending string
}

// IsGated reports whether one of the patterns of --plan-gate, which options checked, matches a namespace.
func IsGated(patterns []string, namespace string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, namespace)
		return err == nil && matches
	})
}

// pendingLook is the interval between new plans while a plan waits: AWS may have changed.
const pendingLook = 5 * time.Minute

// gateOf reads the gate of an object from its annotation and from the condition that only the operator writes.
func gateOf(obj v1alpha1.Resource, o Owner, closed bool) Gate {
	c := meta.FindStatusCondition(obj.CommonStatus().Conditions, status.PlanApproved)
	return Gate{Closed: closed, Asked: obj.GetAnnotations()[wellknown.AnnotationApprovedPlan],
		Approved: c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.Generation &&
			strings.HasSuffix(c.Message, o.approvedScope())}
}

// passageAfter begins the report of a decision. A decision that failed for a transient cause gives no information about the plan.
func passageAfter(o Owner, err error) Passage {
	_, isStalled := status.AsStalled(err)
	return Passage{Judged: err == nil || isStalled, Closed: o.Gate.Closed}
}

// approvedScope describes the scope of an approval. The rest of the approved plan, after a crash or a failed call, belongs to it, and so
// does every correction of a drift. An edit of the object or of the additions of its provider, its deletion, and the loss of data with it
// do not.
func (o Owner) approvedScope() string {
	scope := fmt.Sprintf("for generation %d", o.Generation)
	switch {
	case o.Deleting && o.Policy.MayDeleteData:
		scope += ", the deletion of the object and of its data"
	case o.Deleting:
		scope += ", the deletion of the object"
	}
	if o.Provided != "" {
		scope += ", with the additions " + o.Provided + " of its AWSProvider"
	}
	return scope
}

// RecordApproval sets the condition that records the approval of a plan, in memory.
func RecordApproval(obj v1alpha1.Resource, o Owner, hash string, now time.Time) {
	status.Set(&obj.CommonStatus().Conditions, o.Generation, now, metav1.Condition{Type: status.PlanApproved, Status: metav1.ConditionTrue,
		Reason: status.ReasonPlanApproved, Message: "plan " + hash + " is approved " + o.approvedScope()})
}

// needsApproval reports whether a plan makes a change in AWS that no one approved. Corrections of a drift restore the approved state, or
// the state before the gate was closed.
func (o Owner) needsApproval(p Plan) bool {
	return o.Gate.Closed && !o.Gate.Approved && p.Writes() && !o.restores(p) && !o.isCovered()
}

// isCovered reports whether an approval of the capability holds. It does not hold for later additions of another person to the AWSProvider.
func (o Owner) isCovered() bool {
	return o.Gate.Covered && (o.Deleting || o.Record.SyncedGeneration == 0 || o.Recent.Provided == o.Provided)
}

// restores reports whether a plan restores a state that AWS had for this generation before.
func (o Owner) restores(p Plan) bool {
	lost := p.Cause == New && o.Record.Known && o.Record.SyncedGeneration == o.Generation && o.Recent.Provided == o.Provided
	return !o.Deleting && (p.Cause == Drifted || lost)
}

// WaitsForApproval reports whether the plan would wait at the gate of the object, and returns its hash.
func (o Owner) WaitsForApproval(p Plan, home string) (hash string, waits bool) {
	if !o.needsApproval(p) || o.ReportsOnly(p) {
		return "", false
	}
	hash = p.Hash(o, home)
	return hash, hash != o.Gate.Asked
}

// awaitApproval ends the pass unless the plan may run. A plan that the annotation approves runs after the host recorded the approval. From
// then on the approval holds for the current spec, so that the rest of the plan does not wait again after a crash in the middle.
func (a *advance) awaitApproval(ctx context.Context, p Plan) error {
	if !a.o.needsApproval(p) {
		return nil
	}
	hash := p.Hash(a.o, a.h.Home())
	if hash == a.o.Gate.Asked {
		if err := a.h.Approve(ctx, a.o, hash); err != nil {
			if _, waits := status.AsWaiting(err); waits {
				a.out.Passage.Pending = hash
			}
			return err
		}
		a.o.Gate.Approved = true
		return nil
	}
	a.out.Passage.Pending = hash
	return &status.Waiting{Reason: status.ReasonPlanPending, After: pendingLook,
		For: fmt.Sprintf("approval of plan %s (%s): review it with nexusctl plan %[3]s/%[4]s -n %[5]s, approve it with nexusctl approve %[3]s/%[4]s -n %[5]s --hash %[1]s",
			hash, p.summary(a.o), strings.ToLower(a.o.Kind), a.o.Name, a.o.Namespace)}
}

// summary describes a plan in a few words.
func (p Plan) summary(o Owner) string {
	what := "update"
	switch {
	case o.Deleting:
		what = "delete"
	case p.Cause == New:
		what = "create"
	}
	var calls []string
	for _, s := range slices.Concat(p.Steps, p.Later) {
		calls = append(calls, s.Action)
	}
	slices.Sort(calls)
	what += " by " + listed(slices.Compact(calls))
	var fields []string
	for _, c := range p.Diff {
		if p.Cause != New && !c.MarksOwner() {
			fields = append(fields, c.Path)
		}
	}
	if len(fields) > 0 {
		what += ", fields " + listed(fields)
	}
	return what
}

// listed names the first of some words, and how many there are more.
func listed(words []string) string {
	const most = 5
	text := strings.Join(words[:min(most, len(words))], ", ")
	if more := len(words) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// planned holds everything that the approval of a plan covers. It has no time, no UID and no value of a secret, so that the plan of a
// manifest and that of the object that is created from it are the same.
type planned struct {
	Kind, Namespace, Name, Home string
	Generation                  int64
	Deleting, MayDeleteData     bool
	Deletion                    v1alpha1.DeletionPolicy
	Exists, TakesOver           bool
	Identity                    map[string]string
	Provided                    string
	Changes, Sets               []plannedChange
	Calls, Later                []plannedCall
}

type plannedChange struct{ Path, Want, Have string }

type plannedCall struct {
	Action string
	Stage  int
	Effect string
	Fixes  []string
}

// hashLength is the number of hexadecimal digits of a hash. People with the right to edit an object control the content of the plan: with
// 128 bits they find no two plans with the same hash.
const hashLength = 32

// Hash identifies the changes of a plan and the state that it found, for an approval. The home is the place of the resource; see Home.
func (p Plan) Hash(o Owner, home string) string {
	content := planned{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Home: home, Generation: o.Generation, Deleting: o.Deleting,
		MayDeleteData: o.Policy.MayDeleteData, Deletion: o.Policy.Deletion,
		Exists: p.Exists, TakesOver: p.TakesOver, Identity: p.Identity, Provided: o.Provided,
		Changes: changesFor(o, p.Diff), Sets: changesFor(o, p.sets), Calls: callsFor(p.Steps), Later: callsFor(p.Later)}
	text, err := json.Marshal(content) // which orders the keys of maps
	if err != nil {
		panic(err) // the type has nothing that cannot be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:hashLength]
}

func changesFor(o Owner, d kind.Diff) []plannedChange {
	out := []plannedChange{}
	for _, c := range d {
		if !c.MarksOwner() {
			out = append(out, plannedChange{Path: c.Path, Want: withoutUID(o, c.Want), Have: withoutUID(o, c.Have)})
		}
	}
	return out
}

// withoutUID takes the UID of the object out of a text: a manifest has none yet.
func withoutUID(o Owner, text string) string {
	if o.UID == "" {
		return text
	}
	return strings.ReplaceAll(text, o.UID, "")
}

func callsFor(steps []kind.Step) []plannedCall {
	out := []plannedCall{}
	for _, s := range steps {
		out = append(out, plannedCall{Action: s.Action, Stage: s.Stage, Effect: fmt.Sprint(s.Effect), Fixes: s.Fixes})
	}
	return out
}

// reportPassage sets the condition PlanApproved from a pass. A recorded approval stays until the object is edited.
func reportPassage(obj v1alpha1.Resource, out Outcome, now time.Time) {
	conditions := &obj.CommonStatus().Conditions
	switch was := meta.FindStatusCondition(*conditions, status.PlanApproved); {
	case !out.Passage.Judged:
	case out.Passage.Pending != "":
		status.Set(conditions, obj.GetGeneration(), now, metav1.Condition{Type: status.PlanApproved, Status: metav1.ConditionFalse,
			Reason: status.ReasonPlanPending, Message: status.PendingMessage(out.Passage.Pending)})
	case was != nil && (!out.Passage.Closed || was.Status != metav1.ConditionTrue):
		meta.RemoveStatusCondition(conditions, status.PlanApproved)
	}
}
