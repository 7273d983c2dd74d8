// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// leftOutState is the state of an object of a kind that --kinds leaves out. It keeps the ARN that the status records.
func leftOutState(c *nexusv1.NexusAICapability, ref apply.Ref, err error) capability.State {
	s := capability.State{Stalled: true, Reason: status.ReasonKindNotServed, Message: err.Error()}
	for _, had := range c.Status.Resources {
		if had.Kind == ref.Kind.Kind && had.Name == ref.Name && had.Namespace == "" {
			s.ARN = had.ARN
		}
	}
	return s
}

// zoneServed refuses a capability that refers to a hosted zone of a kind that --kinds leaves out.
func (r *Reconciler) zoneServed(c *nexusv1.NexusAICapability) error {
	name, made := capability.ZoneObject(c)
	if name == "" || made || r.Facts.Kinds.Serves("Route53HostedZone") {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonKindNotServed, Field: "spec.ingress.hostedZoneRef", Message: fmt.Sprintf(
		"the ID of Route53HostedZone/%s is not known, because --kinds of the operator leaves Route53HostedZone out: set spec.ingress.hostedZoneID instead, or an administrator adds the kind to --kinds", name)}
}

// noneLeftOut holds the deletion of a capability while its status records AWS resources of kinds that --kinds leaves out: nothing
// would delete them, and the provider, which that needs, would be deleted first. The objects themselves are not looked at, because
// the operator may have no right to them. The states get those of the recorded ones.
func (t teardown) noneLeftOut(c *nexusv1.NexusAICapability, states map[string]capability.State) error {
	var held error
	t.eachLeftOut(c, func(had nexusv1.ResourceStatus, ref apply.Ref) {
		if had.ARN != "" && held == nil {
			held = &status.Stalled{Reason: status.ReasonKindNotServed, Message: fmt.Sprintf(
				"the deletion waits for %s/%s, because --kinds of the operator leaves %s out: an administrator adds the kind to --kinds", had.Kind, had.Name, had.Kind)}
		}
	})
	if held != nil {
		t.eachLeftOut(c, func(_ nexusv1.ResourceStatus, ref apply.Ref) { states[childID(c, ref)] = leftOutState(c, ref, held) })
	}
	return held
}

// eachLeftOut calls do for every object that the status records of a kind that --kinds leaves out.
func (t teardown) eachLeftOut(c *nexusv1.NexusAICapability, do func(nexusv1.ResourceStatus, apply.Ref)) {
	for _, had := range c.Status.Resources {
		ref := apply.Ref{Kind: v1alpha1.GroupVersion.WithKind(had.Kind), Namespace: c.Namespace, Name: had.Name}
		if isDeletable(ref.Kind) && !t.sources.Settings.Serves(ref.Kind) {
			do(had, ref)
		}
	}
}

// isDeletable reports whether a kind is one of AWS resources that the deletion of a capability removes.
func isDeletable(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(capability.DeletionOrder, func(s capability.Stage) bool { return slices.Contains(s.Kinds, kind) })
}
