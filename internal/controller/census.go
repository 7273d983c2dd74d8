// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/intentbinding"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The values of label state.
const (
	stateDeleting    = "Deleting"
	statePaused      = "Paused"
	stateStalled     = "Stalled"
	stateReady       = "Ready"
	stateRecoverable = "Recoverable"
	stateProgressing = "Progressing"
)

const (
	// mostSeries bounds the series of single capabilities.
	mostSeries = 1000
	// mostReasons bounds the reasons of each kind.
	mostReasons = 32
)

// pair are the values of two labels.
type pair [2]string

// census counts objects by their status. It reads objects of the cache and never changes them.
type census struct {
	states, stalled, conditions, coverage map[pair]int
	drifted, phases, pending              map[string]int
	// pendingSince holds the seconds since the epoch; 0 for none.
	pendingSince map[string]int
	// recoveryEnds holds the seconds since the epoch by the state of a recovery; 0 for none.
	recoveryEnds map[nexusv1.RecoveryState]int
	reasons      map[string]*metrics.Bound
	capabilities map[client.ObjectKey]string
}

// newCensus counts zero for everything that may occur, so that a rate or an alert finds its series before the first object.
func newCensus(kinds, awsKinds, engines []string) *census {
	c := &census{states: map[pair]int{}, stalled: map[pair]int{}, conditions: map[pair]int{}, coverage: map[pair]int{},
		drifted: map[string]int{}, phases: map[string]int{}, pending: map[string]int{}, pendingSince: map[string]int{},
		recoveryEnds: map[nexusv1.RecoveryState]int{nexusv1.RecoveryWaiting: 0, nexusv1.RecoveryReleased: 0},
		reasons:      map[string]*metrics.Bound{}, capabilities: map[client.ObjectKey]string{}}
	for _, k := range kinds {
		for _, s := range []string{stateRecoverable, stateDeleting, statePaused, stateStalled, stateReady, stateProgressing} {
			c.states[pair{k, s}] = 0
		}
		c.reasons[k] = metrics.NewBound(mostReasons)
	}
	for _, k := range awsKinds {
		c.drifted[k], c.pending[k], c.pendingSince[k] = 0, 0, 0
	}
	c.pending["NexusAICapability"], c.pendingSince["NexusAICapability"] = 0, 0
	for _, p := range phases() {
		c.phases[string(p)] = 0
	}
	for _, t := range conditionTypes() {
		for _, s := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
			c.conditions[pair{t, string(s)}] = 0
		}
	}
	for _, e := range engines {
		for _, l := range levels() {
			c.coverage[pair{e, string(l)}] = 0
		}
	}
	return c
}

func phases() []nexusv1.Phase {
	return []nexusv1.Phase{nexusv1.PhasePending, nexusv1.PhaseProvisioningDataServices, nexusv1.PhaseProvisioningSSM,
		nexusv1.PhaseProvisioningSecrets,
		nexusv1.PhaseProvisioningCognito, nexusv1.PhaseProvisioningIAM, nexusv1.PhaseDeploying, nexusv1.PhaseDeployingBackend,
		nexusv1.PhaseDeployingFrontend, nexusv1.PhaseUpdating, nexusv1.PhaseDegraded,
		nexusv1.PhaseRunning, nexusv1.PhaseFailed, nexusv1.PhaseDeleting, nexusv1.PhaseRecoverable, nexusv1.PhaseSuspended}
}

func conditionTypes() []string {
	return []string{status.Ready, status.Reconciling, status.Stall, status.Paused, nexusv1.ConditionDataServicesReady,
		nexusv1.ConditionParametersReady,
		nexusv1.ConditionSecretsReady, nexusv1.ConditionSecretsPopulated, nexusv1.ConditionCognitoReady, nexusv1.ConditionIdentityReady,
		nexusv1.ConditionNamespaceReady,
		nexusv1.ConditionBackendReady, nexusv1.ConditionFrontendReady, nexusv1.ConditionComponentsReady, nexusv1.ConditionIngressReady,
		nexusv1.ConditionPoliciesReady,
		nexusv1.ConditionDriftFree, nexusv1.ConditionCredentialsInPods}
}

func levels() []intentv1alpha1.Level {
	return []intentv1alpha1.Level{intentv1alpha1.LevelEnforced, intentv1alpha1.LevelAudited, intentv1alpha1.LevelPartial,
		intentv1alpha1.LevelNone}
}

// add counts an object.
func (c *census) add(kind string, o client.Object) {
	conditions := conditionsIn(o)
	c.states[pair{kind, objectState(o, conditions)}]++
	if s := meta.FindStatusCondition(conditions, status.Stall); s != nil && s.Status == metav1.ConditionTrue {
		c.stalled[pair{kind, c.reasons[kind].Value(s.Reason)}]++
	}
	switch o := o.(type) {
	case *nexusv1.NexusAICapability:
		c.addCapability(o)
		c.addPending(kind, conditions)
	case v1alpha1.Resource:
		if len(o.CommonStatus().Drift) > 0 {
			c.drifted[kind]++
		}
		c.addPending(kind, conditions)
	default:
		for _, of := range coverageOf(o) {
			if p := (pair{of.Engine, string(of.Level)}); has(c.coverage, p) {
				c.coverage[p]++
			}
		}
	}
}

// addPending counts an object if its plan waits for an approval.
func (c *census) addPending(kind string, conditions []metav1.Condition) {
	of := meta.FindStatusCondition(conditions, status.PlanApproved)
	if of == nil || of.Status != metav1.ConditionFalse {
		return
	}
	c.pending[kind]++
	if at := int(of.LastTransitionTime.Unix()); c.pendingSince[kind] == 0 || at < c.pendingSince[kind] {
		c.pendingSince[kind] = at
	}
}

// addRecovery counts the end of the time of a deletion.
func (c *census) addRecovery(state nexusv1.RecoveryState, until time.Time) {
	if at := int(until.Unix()); c.recoveryEnds[state] == 0 || at < c.recoveryEnds[state] {
		c.recoveryEnds[state] = at
	}
}

func (c *census) addCapability(o *nexusv1.NexusAICapability) {
	phase := string(o.Status.Phase)
	if phase == "" {
		phase = string(nexusv1.PhasePending)
	}
	if !has(c.phases, phase) {
		phase = metrics.Other
	}
	c.phases[phase]++
	if capability.IsWaiting(o) {
		c.addRecovery(nexusv1.RecoveryWaiting, o.Status.Recovery.Until.Time)
	}
	c.capabilities[client.ObjectKeyFromObject(o)] = phase
	for _, of := range o.Status.Conditions {
		if p := (pair{of.Type, string(of.Status)}); has(c.conditions, p) {
			c.conditions[p]++
		}
	}
}

func has[K comparable](m map[K]int, key K) bool {
	_, ok := m[key]
	return ok
}

// shownCapabilities returns the capabilities that have a series.
func (c *census) shownCapabilities() []client.ObjectKey {
	keys := slices.SortedFunc(maps.Keys(c.capabilities), func(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) })
	return keys[:min(len(keys), mostSeries)]
}

// coverageOf returns the coverage of intents in a binding's status; policies repeat it.
func coverageOf(o client.Object) []intentv1alpha1.Coverage {
	switch o := o.(type) {
	case *intentv1alpha1.SecurityIntentBinding:
		return o.Status.Coverage
	case *intentv1alpha1.ClusterSecurityIntentBinding:
		return o.Status.Coverage
	default:
		return nil
	}
}

func conditionsIn(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case v1alpha1.Resource:
		return o.CommonStatus().Conditions
	case *v1alpha1.AWSProvider:
		return o.Status.Conditions
	case *nexusv1.NexusAICapability:
		return o.Status.Conditions
	case *intentv1alpha1.SecurityIntent:
		return o.Status.Conditions
	default:
		return intentbinding.CommonOf(o).Conditions
	}
}

func objectState(o client.Object, conditions []metav1.Condition) string {
	ready := meta.FindStatusCondition(conditions, status.Ready)
	switch {
	case o.GetDeletionTimestamp() != nil && ready != nil && ready.Reason == status.ReasonRecoverable:
		return stateRecoverable
	case o.GetDeletionTimestamp() != nil:
		return stateDeleting
	case meta.IsStatusConditionTrue(conditions, status.Paused):
		return statePaused
	case meta.IsStatusConditionTrue(conditions, status.Stall):
		return stateStalled
	case status.ReadyAt(conditions, o.GetGeneration()):
		return stateReady
	default:
		return stateProgressing
	}
}
