// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/policies"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/secrets"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// partConditions speak of the steps, and of the policies; Ready is true only when all objects of all of
// them are done.
var partConditions = []string{
	nexusv1.ConditionDataServicesReady, nexusv1.ConditionParametersReady, nexusv1.ConditionSecretsReady, nexusv1.ConditionCognitoReady,
	nexusv1.ConditionIdentityReady,
	nexusv1.ConditionNamespaceReady, nexusv1.ConditionBackendReady, nexusv1.ConditionFrontendReady, nexusv1.ConditionComponentsReady,
	nexusv1.ConditionIngressReady,
	nexusv1.ConditionPoliciesReady,
}

func (s summary) conditions() []metav1.Condition {
	out := make([]metav1.Condition, 0, len(partConditions)+2)
	for _, t := range partConditions {
		c := s.part(s.partOf(t))
		c.Type = t
		if t == nexusv1.ConditionNamespaceReady && c.Reason == status.ReasonSkipped {
			c.Reason, c.Message = status.ReasonReady, "the capability's own namespace"
		}
		if t == nexusv1.ConditionIngressReady && c.Reason == status.ReasonReady {
			c.Message = s.recordToCreate()
		}
		out = append(out, c)
	}
	return append(out, s.secretsPopulated(), s.credentials(), s.driftFree())
}

// deletionConditions returns the conditions of the parts during a deletion: the progress of the removal of each part.
func (s summary) deletionConditions() []metav1.Condition {
	var out []metav1.Condition
	for _, t := range partConditions {
		out = append(out, metav1.Condition{Type: t, Status: metav1.ConditionFalse, Reason: status.ReasonDeleting})
	}
	return out
}

// partOf returns the nodes that a condition speaks of.
func (s summary) partOf(condition string) []view {
	var out []view
	for _, v := range s.nodes {
		if step, ok := parts.All.Step(v.Step); ok && step.Condition == condition || v.Step == policies.StepPolicies &&
			condition == nexusv1.ConditionPoliciesReady {
			out = append(out, v)
		}
	}
	return out
}

// part is the condition of some of the nodes.
func (s summary) part(nodes []view) metav1.Condition {
	if len(nodes) == 0 {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: status.ReasonSkipped, Message: "not asked for"}
	}
	worst := worstOf(nodes)
	if worst < 0 {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: status.ReasonReady}
	}
	if !slices.ContainsFunc(nodes, func(v view) bool { return !v.isDone() && !v.Serving }) {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: status.ReasonPreviousVersion, Message: nodes[worst].explain()}
	}
	v := nodes[worst]
	if unmet := s.Graph.Unmet(v.ID, s.progress); len(unmet) > 0 && !v.exists() && v.Reason == "" {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: status.ReasonNotStarted, Message: v.ID + " waits for " + unmet[0]}
	}
	c := metav1.Condition{Status: metav1.ConditionFalse, Reason: cmp.Or(v.Reason, status.ReasonProgressing), Message: v.explain()}
	if v.Unknown {
		c.Status = metav1.ConditionUnknown
	}
	return c
}

// worstOf returns the index of the node to report, or -1. It prefers a stalled node, and of those one that blocks traffic on purpose,
// because only its condition has the remedy.
func worstOf(nodes []view) int {
	for _, is := range []func(view) bool{
		func(v view) bool { return v.Stalled && v.Reason == status.ReasonEgressToAWSBlocked },
		func(v view) bool { return v.Stalled && v.Reason == status.ReasonLoadBalancerBlocked },
		func(v view) bool { return v.Stalled },
	} {
		if i := slices.IndexFunc(nodes, is); i >= 0 {
			return i
		}
	}
	return tellingOf(nodes)
}

// secretsPopulated returns the condition with the secrets that people have yet to fill in. It does not count for Ready: it may take days.
func (s summary) secretsPopulated() metav1.Condition {
	c := metav1.Condition{Type: nexusv1.ConditionSecretsPopulated, Status: metav1.ConditionFalse}
	names, secrets := s.unpopulatedSecrets(), s.ofStep(secrets.StepSecrets)
	switch {
	case len(secrets) == 0:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, status.ReasonSkipped, "the capability has no secrets"
	case len(names) > 0:
		c.Reason = status.ReasonPlaceholdersEmpty
		c.Message = "to be filled in: " + strings.Join(names, ", ") + "; use nexusctl secrets set, or spec.secrets[].valueFrom"
	case slices.ContainsFunc(secrets, func(v view) bool { return !v.isDone() }):
		c.Reason = status.ReasonNotStarted
	default:
		c.Status, c.Reason = metav1.ConditionTrue, status.ReasonPopulated
	}
	return c
}

// driftFree returns the condition with the resources that differ in AWS. It does not count for Ready: with driftPolicy Report a difference
// stays.
func (s summary) driftFree() metav1.Condition {
	var ids, missing []string
	for _, v := range s.nodes {
		if v.isDrifted() {
			ids = append(ids, v.ID)
		}
		if v.Reason == status.ReasonMissing {
			missing = append(missing, v.ID)
		}
	}
	if len(missing) > 0 {
		return metav1.Condition{Type: nexusv1.ConditionDriftFree, Status: metav1.ConditionFalse, Reason: status.ReasonMissing,
			Message: strings.Join(missing, ", ") + " existed in AWS and is gone"}
	}
	if len(ids) == 0 {
		return metav1.Condition{Type: nexusv1.ConditionDriftFree, Status: metav1.ConditionTrue, Reason: status.ReasonReady}
	}
	return metav1.Condition{Type: nexusv1.ConditionDriftFree, Status: metav1.ConditionFalse, Reason: status.ReasonDrift,
		Message: "AWS differs from what is declared, see status.drift of " + strings.Join(ids, ", ")}
}

func nestedString(v view, path ...string) (string, bool, error) {
	return unstructured.NestedString(v.Object.Object, path...)
}

// maxHistory limits the changes of phase that are kept.
const maxHistory = 20

// outlastsFailure reports whether the phase stays as it is although the capability is stalled.
func (r Report) outlastsFailure() bool {
	return r.Phase == nexusv1.PhaseDeleting || r.Phase == nexusv1.PhaseSuspended || r.Serving && r.Phase == nexusv1.PhaseDegraded
}

// WriteTo writes the report to a status. A report that equals the status changes nothing, not even a time. The caller sets LastSyncTime
// when something did change.
func (r Report) WriteTo(st *nexusv1.NexusAICapabilityStatus, generation int64, now time.Time) {
	for _, c := range r.Conditions {
		status.Set(&st.Conditions, generation, now, c)
	}
	status.Summarize(&st.Conditions, status.Result{Err: r.Err, ReadyMessage: r.readyMessage(), Generation: generation, Now: now,
		FailingSince: r.FailingSince})
	st.Ready = status.ReadyAt(st.Conditions, generation)
	st.Phase = r.Phase
	if meta.IsStatusConditionTrue(st.Conditions, status.Stall) && !r.outlastsFailure() {
		st.Phase = nexusv1.PhaseFailed // a passing failure that lasts
	}
	st.Message, st.ObservedGeneration = r.Message, generation
	if r.Step != nil {
		st.Step, st.Progress = r.Step, fmt.Sprintf("%d/%d", r.Step.Current, r.Step.Total)
	}
	if r.Resources != nil {
		st.Resources = r.Resources
	}
	if r.Components != nil {
		st.Components = r.Components
	}
	if len(st.Components) == 0 {
		st.Components = nil
	}
	if r.Coverage != nil {
		st.Coverage = r.Coverage
	}
	st.Endpoints, st.Rollout = cmp.Or(r.Endpoints, st.Endpoints), cmp.Or(r.Rollout, st.Rollout)
	st.Region = cmp.Or(r.Region, st.Region)
	r.writeIdentity(st)
	reason := ""
	if c := meta.FindStatusCondition(st.Conditions, status.Ready); c != nil {
		reason = c.Reason
	}
	st.History = AppendHistory(st.History, st.Phase, reason, now)
}

// writeIdentity keeps the identity of the status while the identity mode is not known.
func (r Report) writeIdentity(st *nexusv1.NexusAICapabilityStatus) {
	switch {
	case r.Identity.Mode == "":
	case r.Identity.Requested == "":
		st.Identity = nil
	default:
		st.Identity = &r.Identity
	}
}

func (r Report) readyMessage() string {
	if r.Err != nil {
		return ""
	}
	return r.Message
}

// AppendHistory returns the history with a change of phase at its end, if it is one, and without the
// oldest ones beyond the last 20.
func AppendHistory(history []nexusv1.PhaseChange, phase nexusv1.Phase, reason string, now time.Time) []nexusv1.PhaseChange {
	if n := len(history); n > 0 && history[n-1].Phase == phase {
		return history
	}
	out := append(slices.Clone(history), nexusv1.PhaseChange{Phase: phase, Time: metav1.NewTime(now), Reason: reason})
	return out[max(0, len(out)-maxHistory):]
}

// OnlyProgress reports whether a status differs from the one before only in the progress of the capability within its phase. Such a status
// may be written a little later, together with the next change.
func OnlyProgress(before, after nexusv1.NexusAICapabilityStatus) bool {
	wasAt, was := rolloutOf(before)
	isAt, is := rolloutOf(after)
	return before.Phase == after.Phase && wasAt == isAt && was == is && !before.Ready && !after.Ready &&
		before.ObservedGeneration == after.ObservedGeneration && before.LastHandledReconcileAt == after.LastHandledReconcileAt &&
		equality.Semantic.DeepEqual(before.Recovery, after.Recovery) && equality.Semantic.DeepEqual(before.Dropped, after.Dropped) &&
		statesOf(before) == statesOf(after) &&
		slices.EqualFunc(before.ReplacedPods, after.ReplacedPods, func(a, b nexusv1.ReplacedPod) bool { return a.UID == b.UID })
}

// statesOf are the states of the conditions that a person or a tool waits for, or must know of at once.
func statesOf(s nexusv1.NexusAICapabilityStatus) (states [3]metav1.ConditionStatus) {
	for i, name := range []string{status.Ready, status.Stall, status.Paused} {
		if c := meta.FindStatusCondition(s.Conditions, name); c != nil {
			states[i] = c.Status
		}
	}
	return states
}

func rolloutOf(s nexusv1.NexusAICapabilityStatus) (generation int64, state nexusv1.RolloutState) {
	if s.Rollout == nil {
		return 0, ""
	}
	return s.Rollout.Generation, s.Rollout.State
}

// recordToCreate describes the DNS record that a person must create for a host. It is empty if the capability knows the zone of the host.
func (s summary) recordToCreate() string {
	c := s.Capability
	host := traffic.Settings(&c.Spec).Host
	if host == "" || !traffic.IsEnabled(&c.Spec) || traffic.UsesZone(&c.Spec) {
		return ""
	}
	address := s.entryAddress()
	if address == "" {
		return ""
	}
	return "create a DNS record that leads " + host + " to " + address + " unless there is one, or set spec.ingress.hostedZoneID"
}

// components reports each of spec.components.
func (s summary) components() []nexusv1.ComponentStatus {
	out := []nexusv1.ComponentStatus{}
	for _, c := range part.ComponentsOf(&s.Capability.Spec) {
		if c.IsFixed() {
			continue
		}
		var nodes []view
		for _, v := range s.ofStep(part.StepComponents) {
			if v.Object.GetLabels()[part.LabelComponent] == c.Name {
				nodes = append(nodes, v)
			}
		}
		row := nexusv1.ComponentStatus{Name: c.Name, Type: c.Kind, State: nexusv1.ResourceReady, URL: workloads.URLOf(c, s.Capability)}
		if said := s.part(nodes); worstOf(nodes) >= 0 {
			row.State = nodes[worstOf(nodes)].resourceState()
			row.Reason, row.Message = said.Reason, status.Truncate(said.Message, 512)
		}
		row.Runs = runsOf(nodes)
		if i := slices.IndexFunc(nodes, func(v view) bool { return v.hasTrouble() && v.Object.GetKind() == workloads.KindCronJob }); i >= 0 &&
			row.State == nexusv1.ResourceReady {
			row.Reason, row.Message = nodes[i].Reason, status.Truncate(nodes[i].explain(), 512)
		}
		out = append(out, row)
	}
	return out
}

// cannotDrain reports whether a component is to drain and the API server does not know how.
func (s summary) cannotDrain() bool {
	return s.Facts.Cluster.NoDrain && slices.ContainsFunc(part.ComponentsOf(&s.Capability.Spec),
		func(c part.Component) bool { return workloads.Drain(c, part.ClusterFacts{}) > 0 })
}

// runsOf returns the runs of a component by its objects; nil of one that is kept running.
func runsOf(nodes []view) *nexusv1.RunStatus {
	for _, v := range nodes {
		if v.Runs != nil {
			return v.Runs
		}
	}
	return nil
}

// maxCoverage is the bound of status.coverage.
const maxCoverage = 256

// coverage copies the coverage by the policy engines from the status of each binding that has observed its current generation.
func (s summary) coverage() []nexusv1.PolicyCoverage {
	out := []nexusv1.PolicyCoverage{}
	for _, v := range s.nodes {
		if v.Step != policies.StepPolicies || v.Live == nil || observedGeneration(v.Live) != v.Live.GetGeneration() {
			continue
		}
		list, _, _ := unstructured.NestedSlice(v.Live.Object, "status", "coverage")
		for _, item := range list {
			row, _ := item.(map[string]any)
			text := func(field string) string {
				t, _ := row[field].(string)
				return t
			}
			out = append(out, nexusv1.PolicyCoverage{
				Component: policies.BoundTo(v.Node), Intent: text("intent"), Engine: text("engine"),
				Level: text("level"), Reason: text("reason"), Message: text("message"),
			})
		}
	}
	return out[:min(len(out), maxCoverage)]
}
