// SPDX-License-Identifier: Apache-2.0

// Package progress reads from a capability, its Deployments and events how far it has come, and the changes since the last look.
package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// The conditions of a capability that monitor and verify-capability read by name.
const (
	ConditionReady   = "Ready"
	ConditionStalled = "Stalled"
)

// stepState is the progress of a step, in a word.
type stepState string

// The states of a step.
const (
	stepWaiting    stepState = "waiting"
	stepInProgress stepState = "in progress"
	stepFailed     stepState = "failed"
	stepDone       stepState = "done"
	stepSkipped    stepState = "skipped"
)

// stepProgress is one step of a capability.
type stepProgress struct {
	number int
	name   string
	state  stepState
	detail string
	// took is the duration of the step; negative when monitor did not see it begin.
	took time.Duration
}

// Workload is the pods of one Deployment.
type Workload struct {
	name             string
	Desired, Current int32
	// Settled is true when exactly the desired pods exist, in the declared version, and all are available.
	Settled bool
}

// eventLine is an event about the capability or one of its objects.
type eventLine struct {
	key                   string
	at                    time.Time
	warning               bool
	subject, reason, note string
}

// Progress is a capability at one moment.
type Progress struct {
	Namespace, Name string
	Exists          bool
	// created is the start time of the first steps of a capability that has never run; zero for others.
	created        time.Time
	Phase, Message string
	// seen is true when the status speaks of the capability as it is declared now.
	seen           bool
	Running        bool
	Stalled        string
	Frozen         string
	steps          []stepProgress
	workloads      []Workload
	wantsAddress   bool
	address        string
	events         []eventLine
	done, declared int
}

// Of reads how far a capability has come from its status, its Deployments and the events.
func Of(c *nexusv1.NexusAICapability, deployments []*appsv1.Deployment, events []*corev1.Event) Progress {
	st := c.Status
	p := Progress{
		Namespace: c.Namespace, Name: c.Name, Exists: true, Phase: cmp.Or(string(st.Phase), string(nexusv1.PhasePending)), Message: st.Message,
		created: firstStepsOf(c), seen: st.ObservedGeneration == c.Generation, wantsAddress: wantsAddress(c), Frozen: frozenBecause(c),
		steps: stepsOf(c), workloads: WorkloadsOf(deployments), events: eventsOf(c, events),
	}
	p.Running = p.seen && st.Ready && st.Phase == nexusv1.PhaseRunning
	p.Stalled = stalledBecause(c)
	if st.Endpoints != nil {
		p.address = st.Endpoints.URL
	}
	p.declared = len(capability.Steps)
	for _, s := range p.steps {
		if s.number > 0 && (s.state == stepDone || s.state == stepSkipped) {
			p.done++
		}
	}
	return p
}

// firstStepsOf returns when the first steps of a capability began that is neither edited nor has ever run; zero for others.
func firstStepsOf(c *nexusv1.NexusAICapability) time.Time {
	hasRun := slices.ContainsFunc(c.Status.History, func(h nexusv1.PhaseChange) bool { return h.Phase == nexusv1.PhaseRunning })
	if hasRun || c.Generation != 1 {
		return time.Time{}
	}
	return c.CreationTimestamp.Time
}

// stalledBecause returns the problem that a person must solve in the capability as it is declared now; "" when none is known.
func stalledBecause(c *nexusv1.NexusAICapability) string {
	stalled := meta.FindStatusCondition(c.Status.Conditions, ConditionStalled)
	if stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.ObservedGeneration != c.Generation {
		return ""
	}
	return stalled.Reason + ": " + stalled.Message
}

// frozenBecause says why the operator does not work on a capability.
func frozenBecause(c *nexusv1.NexusAICapability) string {
	switch {
	case c.DeletionTimestamp != nil:
		return "it is being deleted"
	case c.Spec.Suspend:
		return "it is suspended: set spec.suspend to false"
	case c.Annotations[wellknown.AnnotationPaused] == "true":
		return "it is paused: remove the annotation " + wellknown.AnnotationPaused
	default:
		return ""
	}
}

// wantsAddress reports whether a load balancer is declared for users.
func wantsAddress(c *nexusv1.NexusAICapability) bool {
	return capability.WantsAddress(c)
}

// stepsOf reads the steps from status.resources, and after them the parts that the steps do not count. A step without
// objects is skipped.
func stepsOf(c *nexusv1.NexusAICapability) []stepProgress {
	objects := map[string][]nexusv1.ResourceStatus{}
	for _, r := range c.Status.Resources {
		step := capability.StepOfResource(c, r)
		objects[step] = append(objects[step], r)
	}
	all := slices.Concat(capability.Steps, capability.UncountedSteps)
	out := make([]stepProgress, len(all))
	for i, step := range all {
		out[i] = stepProgress{number: step.Number, name: step.Name, state: stepWaiting, took: -1}
		if len(c.Status.Resources) > 0 {
			condition := meta.FindStatusCondition(c.Status.Conditions, step.Condition)
			out[i].state, out[i].detail = stepOf(objects[step.Name], condition)
		}
	}
	return out
}

// isShown reports whether there is something to say of a step: of a part without a number only if it is declared.
func (s stepProgress) isShown() bool {
	return s.number > 0 || s.state != stepSkipped && s.detail != ""
}

// numberText is the number of a step; a part that the steps do not count has none.
func (s stepProgress) numberText() string {
	if s.number == 0 {
		return ""
	}
	return strconv.Itoa(s.number)
}

// stepOf judges a step by its objects; the condition that speaks of it may say more.
func stepOf(objects []nexusv1.ResourceStatus, condition *metav1.Condition) (stepState, string) {
	count := map[nexusv1.ResourceState]int{}
	for _, r := range objects {
		count[r.State]++
	}
	ready := count[nexusv1.ResourceReady]
	switch {
	case len(objects) == 0:
		return stepSkipped, "not declared"
	case ready == len(objects):
		return stepDone, fmt.Sprintf("%d ready", ready)
	}
	state := stepWaiting
	switch {
	case count[nexusv1.ResourceFailed] > 0:
		state = stepFailed
	case ready+count[nexusv1.ResourceProgressing] > 0:
		state = stepInProgress
	}
	detail := fmt.Sprintf("%d of %d ready", ready, len(objects))
	if why := whyNotReady(objects, condition); why != "" {
		detail += "; " + why
	}
	return state, detail
}

// whyNotReady is the message of the condition if it speaks of one of the objects, otherwise the reason of the first that is not ready,
// those that failed before others.
func whyNotReady(objects []nexusv1.ResourceStatus, condition *metav1.Condition) string {
	for _, state := range []nexusv1.ResourceState{nexusv1.ResourceFailed, nexusv1.ResourceProgressing, nexusv1.ResourceWaiting} {
		for _, r := range objects {
			id := r.Kind + "/" + r.Name
			switch {
			case r.State != state:
			case condition != nil && condition.Status != metav1.ConditionTrue && strings.HasPrefix(condition.Message, id):
				return condition.Message
			case r.Reason != "":
				return id + ": " + r.Reason
			}
		}
	}
	return ""
}

// WorkloadsOf reads the pods of Deployments from their statuses.
func WorkloadsOf(deployments []*appsv1.Deployment) []Workload {
	var out []Workload
	for _, d := range deployments {
		w := Workload{name: d.Name, Desired: 1, Current: d.Status.AvailableReplicas}
		if d.Spec.Replicas != nil {
			w.Desired = *d.Spec.Replicas
		}
		st := d.Status
		w.Settled = st.ObservedGeneration == d.Generation && st.UpdatedReplicas == w.Desired && st.Replicas == w.Desired &&
			st.AvailableReplicas == w.Desired
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Workload) int { return cmp.Compare(a.name, b.name) })
	return out
}

// eventsOf are the events about a capability and its objects, the newest last.
func eventsOf(c *nexusv1.NexusAICapability, events []*corev1.Event) []eventLine {
	about := map[string]bool{"NexusAICapability/" + c.Name: true}
	for _, r := range c.Status.Resources {
		about[r.Kind+"/"+r.Name] = true
	}
	var out []eventLine
	for _, e := range events {
		subject := e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name
		if !about[subject] {
			continue
		}
		count := e.Count
		at := cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.CreationTimestamp.Time)
		if e.Series != nil {
			count, at = e.Series.Count, e.Series.LastObservedTime.Time
		}
		out = append(out, eventLine{key: fmt.Sprintf("%s %d", e.UID, count), at: at, warning: e.Type == corev1.EventTypeWarning,
			subject: subject, reason: e.Reason, note: e.Message})
	}
	slices.SortFunc(out, func(a, b eventLine) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.key, b.key)) })
	return out
}

// The ends that monitor waits for, each with those before it.
const (
	UntilRunning = "running"
	UntilPods    = "pods"
	UntilAddress = "address"
)

// End is the result of monitoring a capability; its zero value means that monitoring continues.
type End struct {
	Reached, Failed bool
	Text            string
}

// EndOf reports whether a capability has reached the awaited state, or cannot reach it without a person.
func (p Progress) EndOf(until string) End {
	switch {
	case !p.Exists:
		return End{Failed: true, Text: "it no longer exists"}
	case p.Running:
		if p.Missing(until) != "" {
			return End{}
		}
		return End{Reached: true, Text: p.arrived(until)}
	case p.Frozen != "":
		return End{Failed: true, Text: p.Frozen}
	case p.Stalled != "":
		return End{Failed: true, Text: p.Stalled}
	default:
		return End{}
	}
}

// Missing describes the part that is still missing.
func (p Progress) Missing(until string) string {
	switch {
	case !p.seen:
		return "still waiting for the operator to see the last edit: check that it runs"
	case !p.Running:
		return cmp.Or(p.Message, "still waiting for the phase to be Running")
	case until == UntilRunning:
		return ""
	}
	if len(p.workloads) == 0 {
		return "still waiting for the Deployments of the capability"
	}
	for _, w := range p.workloads {
		if !w.Settled {
			return fmt.Sprintf("still waiting for the pods of Deployment/%s, of which %d of %d are available", w.name, w.Current, w.Desired)
		}
	}
	if until == UntilAddress && p.wantsAddress && p.address == "" {
		return "still waiting for the address of the load balancer"
	}
	return ""
}

func (p Progress) arrived(until string) string {
	if until != UntilRunning && p.address != "" {
		return "Running at " + p.address
	}
	return "Running"
}
