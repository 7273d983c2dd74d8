// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/policies"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/secrets"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Report is the status of a capability without times; WriteTo writes it to a status. Nil and empty fields are not known now: their last
// values stay in the status.
type Report struct {
	Phase      nexusv1.Phase
	Message    string
	Step       *nexusv1.StepStatus
	Conditions []metav1.Condition
	Components []nexusv1.ComponentStatus
	Resources  []nexusv1.ResourceStatus
	Endpoints  *nexusv1.EndpointsStatus
	Coverage   []nexusv1.PolicyCoverage
	Region     string
	// Identity is empty while it is not known.
	Identity nexusv1.IdentityStatus
	Rollout  *nexusv1.RolloutStatus
	// Serving is true while an update failed or was refused and the previous version still works.
	Serving bool
	// Err is nil when the capability is Ready; Ready, Reconciling and Stalled follow from it.
	Err error
	// FailingSince is the beginning of an unbroken series of passing failures; the writer knows it.
	FailingSince time.Time
}

// maxResources is the bound of status.resources.
const maxResources = 128

// Summarize derives the report of a capability from the states of its objects. It is pure and uses no times: the same states give the same
// report.
func Summarize(o Observed) Report {
	o.Deleting = o.Deleting || o.Capability.DeletionTimestamp != nil
	s := summary{Observed: o, nodes: o.views()}
	r := Report{Err: s.err()}
	r.Rollout = s.rollout(r.Err)
	s.after = r.Rollout
	r.Serving, r.Phase, r.Message = s.serving(), s.phase(r.Err), s.message(r.Err)
	switch {
	case o.Deleting:
		r.Step = new(s.unfinishedStep())
		r.Conditions = s.deletionConditions()
		r.Endpoints = &nexusv1.EndpointsStatus{}
		r.Coverage = []nexusv1.PolicyCoverage{}
	case o.Graph != nil:
		r.Step = new(s.step())
		r.Conditions = s.conditions()
		r.Components, r.Resources = s.components(), s.resources()
		r.Endpoints = o.endpoints()
		r.Coverage = s.coverage()
		r.Region = o.Facts.RegionOf(o.Capability)
		r.Identity = nexusv1.IdentityStatus{Mode: identity.WaysOf(o.Capability, o.Facts).Mode,
			Requested: identity.RequestedIdentity(o.Capability)}
	}
	return r
}

type summary struct {
	Observed
	nodes []view
	// after is the rollout as this look leaves it; nil when there is none to report.
	after *nexusv1.RolloutStatus
}

func (s summary) ofStep(name string) []view {
	var out []view
	for i := range s.nodes {
		if s.nodes[i].Step == name {
			out = append(out, s.nodes[i])
		}
	}
	return out
}

// step counts the steps that are done; one without objects is skipped, which counts.
func (s summary) step() nexusv1.StepStatus {
	out := nexusv1.StepStatus{Total: int32(len(parts.Steps))}
	for _, t := range parts.Steps {
		if !slices.ContainsFunc(s.ofStep(t.Name), func(v view) bool { return !v.isDone() }) {
			out.Current++
		} else if out.Name == "" {
			out.Name = t.Name
		}
	}
	if out.Name == "" {
		out.Name = parts.Steps[len(parts.Steps)-1].Name
	}
	return out
}

// unfinishedStep returns the first step that still has objects, and the number of steps that the deletion has finished.
func (s summary) unfinishedStep() nexusv1.StepStatus {
	out := nexusv1.StepStatus{Total: int32(len(parts.Steps))}
	at := len(parts.DeletionOrder)
	if len(s.nodes) > 0 {
		at = parts.StageOf(s.nodes[0].ID)
	}
	for i, stage := range parts.DeletionOrder {
		switch {
		case i < at:
			out.Current += int32(len(stage.Steps))
		case out.Name == "" && len(stage.Steps) > 0:
			out.Name = stage.Steps[0]
		}
	}
	return out
}

// err returns why the capability is not Ready. The first of these counts: a failure of the operator's own work, the first stalled child,
// which only a person can help, and the unfinished child with the most specific message.
func (s summary) err() error {
	switch {
	case s.Err != nil:
		return s.Err
	case s.Capability.Spec.Suspend && !s.Deleting:
		return &status.Waiting{Reason: status.ReasonPaused, For: "spec.suspend to be false"}
	case s.Graph == nil && !s.Deleting:
		return &status.Waiting{For: "the first look at the capability"}
	}
	if err := s.stalled(); err != nil {
		return err
	}
	if s.Deleting {
		return s.deletionError()
	}
	if i := tellingOf(s.nodes); i >= 0 {
		v := s.nodes[i]
		reason := status.ReasonProgressing
		if v.hasMessage() {
			reason = v.Reason
		}
		return &status.Waiting{Reason: reason, For: s.missing(v)}
	}
	return s.credentialError()
}

// tellingOf returns the index of the first unfinished node with a reason beyond progress. Without one, it returns the index of the first
// unfinished node; -1 when all are done.
func tellingOf(nodes []view) int {
	if i := slices.IndexFunc(nodes, func(v view) bool { return !v.isDone() && v.hasMessage() }); i >= 0 {
		return i
	}
	return slices.IndexFunc(nodes, func(v view) bool { return !v.isDone() })
}

// hasMessage reports whether the reason is more specific than normal progress.
func (v view) hasMessage() bool {
	switch v.Reason {
	case "", status.ReasonProgressing, status.ReasonWaiting, status.ReasonNotStarted, status.ReasonBusy, status.ReasonDeleting:
		return false
	default:
		return true
	}
}

func (s summary) stalled() error {
	var first *view
	more := 0
	for i, v := range s.nodes {
		switch {
		case !v.Stalled:
		case first == nil:
			first = &s.nodes[i]
		default:
			more++
		}
	}
	if first == nil && s.Healing.Held != "" {
		return s.credentialError() // pods that lack credentials may never become ready
	}
	if first == nil {
		return nil
	}
	if first.Step == policies.StepPolicies {
		first = &s.nodes[worstOf(s.nodes)]
	}
	message := first.explain()
	if more > 0 {
		message = status.Extend(message, fmt.Sprintf(" (and %d more, see status.resources)", more))
	}
	return &status.Stalled{Reason: cmp.Or(first.Reason, status.ReasonProgressing), Message: message}
}

// deletionError returns the error that names the objects still to be removed.
func (s summary) deletionError() error {
	if s.keepsStores() {
		return s.recoverableError()
	}
	if len(s.nodes) == 0 {
		return &status.Waiting{Reason: status.ReasonDeleting, For: "the objects to be gone"}
	}
	what := s.nodes[0].explain()
	if n := len(s.nodes) - 1; n > 0 {
		what = status.Extend(what, fmt.Sprintf(" (and %d more)", n))
	}
	return &status.Waiting{Reason: status.ReasonDeleting, For: status.Extend(what, " to be gone")}
}

// missing describes the reason that a node waits: the first other node that it needs, or its own state.
func (s summary) missing(v view) string {
	if unmet := s.Graph.Unmet(v.ID, s.progress); len(unmet) > 0 && !v.exists() {
		return unmet[0]
	}
	return v.explain()
}

// phase is derived; the only thing it remembers is whether the capability has been Running before.
func (s summary) phase(err error) nexusv1.Phase {
	_, isStalled := status.AsStalled(err)
	_, isWaiting := status.AsWaiting(err)
	was := s.Capability.Status.Phase
	switch {
	case s.Deleting:
		return s.parting()
	case s.Capability.Spec.Suspend:
		return nexusv1.PhaseSuspended
	case isStalled && s.serving():
		return nexusv1.PhaseDegraded
	case isStalled:
		return nexusv1.PhaseFailed
	case err == nil:
		return nexusv1.PhaseRunning
	case !isWaiting && was != "": // a failure that passes changes nothing
		return was
	case s.hasRun():
		return s.unready()
	default:
		return s.provisioning()
	}
}

// parting is the phase of a capability that is being deleted.
func (s summary) parting() nexusv1.Phase {
	if s.keepsStores() {
		return nexusv1.PhaseRecoverable
	}
	return nexusv1.PhaseDeleting
}

// unready is the phase of a capability that has run and is not ready: an edit is rolled out, or something failed although nothing
// was edited.
func (s summary) unready() nexusv1.Phase {
	if s.updating() || s.rollsOut() {
		return nexusv1.PhaseUpdating
	}
	return nexusv1.PhaseDegraded
}

// rollsOut reports whether all unfinished objects serve in their previous version. That is also so after an update of the operator, which
// may change the pods without an edit of the capability.
func (s summary) rollsOut() bool {
	return s.Graph != nil && !slices.ContainsFunc(s.nodes, func(v view) bool { return !v.isDone() && !v.Serving })
}

// serving reports whether the previous version still works although an update failed or was refused: every object is as declared or serves
// in its previous version, or nothing was applied and all parts were ready.
func (s summary) serving() bool {
	if !s.updating() {
		return false
	}
	if s.Graph != nil {
		return s.rollsOut()
	}
	return !slices.ContainsFunc(partConditions, func(t string) bool {
		return !meta.IsStatusConditionTrue(s.Capability.Status.Conditions, t)
	})
}

func (s summary) hasRun() bool {
	return slices.ContainsFunc(s.Capability.Status.History, func(h nexusv1.PhaseChange) bool { return h.Phase == nexusv1.PhaseRunning })
}

// provisioning is the phase of the first step that is not done, and Pending before any can begin. When
// only policies lack, the last step's is not over.
func (s summary) provisioning() nexusv1.Phase {
	if s.Graph == nil || slices.ContainsFunc(s.ofStep(""), func(v view) bool { return !v.isDone() }) {
		return nexusv1.PhasePending // the provider is in no step
	}
	for _, v := range s.nodes {
		if t, ok := parts.All.Step(v.Step); ok && !v.isDone() {
			return t.Phase
		}
	}
	return parts.Steps[len(parts.Steps)-1].Phase
}

func (s summary) message(err error) string {
	if err != nil {
		return s.failureMessage(err)
	}
	lacking := slices.ContainsFunc(s.nodes, func(v view) bool { return v.NoCredentials != "" })
	said := []string{"everything runs"}
	if lacking {
		said[0] = "the workloads run without AWS credentials, see condition " + nexusv1.ConditionCredentialsInPods
	}
	if names := s.unpopulatedSecrets(); len(names) > 0 {
		said = append(said, "secrets to be filled in: "+strings.Join(names, ", "))
	}
	if s.cannotDrain() {
		said = append(said, "pods do not drain before they end, which needs Kubernetes 1.30 or later")
	}
	if trouble := s.firstTrouble(); trouble != "" {
		said = append(said, trouble)
	}
	return status.Truncate(strings.Join(said, "; "), 1024)
}

// failureMessage ends with the stable code of a failure that needs a person, as the condition Stalled does.
func (s summary) failureMessage(err error) string {
	reason, text := "", err.Error()
	if stalled, ok := status.AsStalled(err); ok {
		reason = stalled.Reason
		if s.serving() && !strings.Contains(text, "the previous version is serving") {
			text = "update refused, the previous version is serving: " + text
		}
	}
	return status.WithCode(reason, text, 1024)
}

// firstTrouble reports the first node that is ready but could not be observed lately, or has a problem that does not affect pods and data.
func (s summary) firstTrouble() string {
	troubled := slices.DeleteFunc(slices.Clone(s.nodes), func(v view) bool { return !v.hasTrouble() })
	if len(troubled) == 0 {
		return ""
	}
	out := troubled[0].explain()
	if kind := troubled[0].Object.GetKind(); !slices.Contains([]string{workloads.KindAutoscaler, workloads.KindDeployment,
		workloads.KindDisruptionBudget, workloads.KindCronJob}, kind) {
		out = "not seen lately: " + out
	}
	if more := len(troubled) - 1; more > 0 {
		out = status.Extend(out, fmt.Sprintf(" (and %d more, see status.resources)", more))
	}
	return out
}

func (s summary) unpopulatedSecrets() []string {
	var out []string
	for _, v := range s.ofStep(secrets.StepSecrets) {
		if !v.isUnpopulated() {
			continue
		}
		name, _, _ := nestedString(v, "spec", "secretName")
		out = append(out, name)
	}
	return out
}

func (s summary) resources() []nexusv1.ResourceStatus {
	var out []nexusv1.ResourceStatus
	for _, v := range s.nodes {
		if len(out) == maxResources {
			break
		}
		r := nexusv1.ResourceStatus{Kind: v.Object.GetKind(), Name: v.Object.GetName(), ARN: v.ARN, State: v.resourceState()}
		if ns := v.Object.GetNamespace(); ns != s.Capability.Namespace {
			r.Namespace = ns
		}
		if r.State != nexusv1.ResourceReady || v.hasTrouble() {
			r.Reason = v.Reason
		}
		out = append(out, r)
	}
	return out
}
