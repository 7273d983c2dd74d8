// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/policies"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// State is the observed state of one node of the graph. The zero value stands for an object that does not exist.
type State struct {
	// Applied is true when the object exists as it was compiled.
	Applied bool
	// Ready is true when it is fit for use.
	Ready bool
	// Present is true when all that it declares exists under its name in AWS, perhaps with earlier values.
	Present bool
	// Skipped is true when there is nothing to be done for it; it counts as done.
	Skipped bool
	// Stalled is true when only a person can help; Reason and Message then describe the remedy. On an object that is Ready they describe a
	// transient problem that leaves the object in its last observed state.
	Stalled         bool
	Reason, Message string
	// Unknown is true when the operator cannot find out whether the object is fit for use; the condition of its part
	// is then Unknown rather than False.
	Unknown bool
	// Serving is true while the previous version of the object still works, though the object is not Ready as declared now.
	Serving bool
	// NoCredentials says how many pods of the object run without a way to AWS credentials, as "1 of 2 pods"; empty for none of them.
	NoCredentials string
	// Runs reports the runs of a Job or a CronJob; nil for other kinds.
	Runs *nexusv1.RunStatus
	// ARN or identifier in AWS, once known.
	ARN string
	// Live is the object as the cluster has it; nil when there is none.
	Live *unstructured.Unstructured
}

func (s State) isDone() bool { return !s.Stalled && !s.Unknown && (s.Skipped || s.Applied && s.Ready) }

// hasTrouble reports whether an object is as declared as far as is known, but could not be observed lately or does not work completely.
func (s State) hasTrouble() bool { return s.isDone() && !s.Skipped && s.Reason != "" }

// exists reports whether the object exists at all.
func (s State) exists() bool { return s.Live != nil || s.Applied }

// resourceState is the state in one word.
func (s State) resourceState() nexusv1.ResourceState {
	switch {
	case s.Stalled:
		return nexusv1.ResourceFailed
	case s.isDone():
		return nexusv1.ResourceReady
	case s.exists():
		return nexusv1.ResourceProgressing
	default:
		return nexusv1.ResourceWaiting
	}
}

// address is the first address of an object's load balancer, or "".
func (s State) address() string {
	if s.Live == nil {
		return ""
	}
	list, _, _ := unstructured.NestedSlice(s.Live.Object, "status", "loadBalancer", "ingress")
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	if host, _ := first["hostname"].(string); host != "" {
		return host
	}
	ip, _ := first["ip"].(string)
	return ip
}

// isUnpopulated reports whether a secret still holds the placeholders that the operator put.
func (s State) isUnpopulated() bool {
	if s.Live == nil {
		return false
	}
	populated, found, err := unstructured.NestedBool(s.Live.Object, "status", "populated")
	return err == nil && found && !populated
}

// isDrifted reports whether the AWS resource is observed to differ from the spec.
func (s State) isDrifted() bool {
	if s.Live == nil {
		return false
	}
	list, _, _ := unstructured.NestedSlice(s.Live.Object, "status", "drift")
	return len(list) > 0
}

// Observed is all that a capability's status is made of.
type Observed struct {
	// Capability with the status it had.
	Capability *nexusv1.NexusAICapability
	Facts      part.Facts
	// Graph is nil when there is none, because Err came first or the capability is being deleted; the parts then keep their last status.
	Graph *graph.Graph
	// States by node ID; a missing entry stands for an object that does not exist. While deleting, the states of the stage that is being
	// removed are enough.
	States map[string]State
	// Deleting is true while the capability is taken down.
	Deleting bool
	// Agent describes the EKS Pod Identity Agent; zero for a capability without associations.
	Agent Agent
	// Healing records the replacement of pods without credentials.
	Healing Healing
	// Evict are the pods to be evicted once the status has their records.
	Evict []nexusv1.ReplacedPod
	// Changes lists the changes that this reconciliation made because the capability was edited.
	Changes []nexusv1.RolloutChange
	// Err is the error that prevented the work, if any: a kind of failure of package status, or a transient failure. Failures of single
	// children belong in their State.
	Err error
}

// Stalled reports whether an object needs a person.
func (o Observed) Stalled() bool {
	for _, s := range o.States {
		if s.Stalled {
			return true
		}
	}
	return false
}

// progress is the graph's view of a state.
func (o Observed) progress(id string) graph.Progress {
	switch s := o.States[id]; {
	case s.isDone():
		return graph.Ready
	case s.Applied && s.Present:
		return graph.Present
	case s.Applied:
		return graph.Applied
	default:
		return graph.Pending
	}
}

// view is a node with its state.
type view struct {
	graph.Node
	State
}

// explain returns the ID of a node with its message or, without one, its reason.
func (v view) explain() string {
	switch {
	case v.State.Message != "":
		return v.ID + ": " + v.State.Message
	case v.State.Reason != "":
		return v.ID + ": " + v.State.Reason
	default:
		return v.ID
	}
}

// views returns the nodes of the graph with their states; while deleting, the remaining objects in the order of deletion.
func (o Observed) views() []view {
	if o.Deleting {
		return o.remaining()
	}
	if o.Graph == nil {
		return nil
	}
	nodes := o.Graph.Nodes()
	out := make([]view, len(nodes))
	for i, n := range nodes {
		out[i] = view{n, o.stateOf(n)}
	}
	return out
}

func (o Observed) remaining() []view {
	var out []view
	for id, s := range o.States {
		if s.exists() {
			out = append(out, view{graph.Node{ID: id}, s})
		}
	}
	slices.SortFunc(out, func(a, b view) int {
		return cmp.Or(cmp.Compare(parts.StageOf(a.ID), parts.StageOf(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// endpoints returns the addresses that serve the capability by now.
func (o Observed) endpoints() *nexusv1.EndpointsStatus {
	c := o.Capability
	n := part.NamesOf(c)
	out := &nexusv1.EndpointsStatus{BackendInternal: workloads.BackendInternalURL(c)}
	state := func(kind, name string) State {
		return o.States[graph.ID(kind, n.WorkloadNamespace(), name, c.Namespace)]
	}
	if !traffic.IsEnabled(&c.Spec) {
		if of, ok := part.Front(&c.Spec); ok && state(part.KindService, n.Service(of.Name)).address() != "" {
			out.URL = fmt.Sprintf("http://%s:%d", state(part.KindService, n.Service(of.Name)).address(), of.PortNumber)
		}
		return out
	}
	in := traffic.Settings(&c.Spec)
	host := o.entryAddress()
	if host == "" {
		return out
	}
	if in.Host != "" && in.Host[0] != '*' {
		host = in.Host
	}
	scheme := "http://"
	if o.servesHTTPS() {
		scheme = "https://"
	}
	out.URL = scheme + host
	return out
}

// encryptsStill reports whether a store may still be encrypted with a key that the capability no longer declares. The key stays until the
// declared stores are done: AWS needs it to change the encryption of a store.
func (o Observed) encryptsStill(kind string) bool {
	var steps []string
	for _, p := range parts.All {
		if p.Entries.EncryptedBy != "" {
			steps = append(steps, p.Steps[0].Name)
		}
	}
	return kind == part.KindKey && slices.ContainsFunc(o.views(), func(v view) bool { return slices.Contains(steps, v.Step) && !v.isDone() })
}

// awaitsBudget reports whether an object with these labels belongs to a budget, and the declared budget is not ready: the former one
// notifies until then.
func (o Observed) awaitsBudget(labels map[string]string) bool {
	return labels[part.LabelComponent] == part.ComponentBudget && slices.ContainsFunc(o.views(), func(v view) bool {
		return v.Object.GetLabels()[part.LabelComponent] == part.ComponentBudget && !v.isDone()
	})
}

// entryAddress returns the address of the load balancer that receives external traffic, or "".
func (o Observed) entryAddress() string {
	if traffic.GatewayOf(o.Capability) != nil {
		return o.Facts.Balancer.Name
	}
	return o.States[traffic.EntryID(o.Capability)].address()
}

// servesHTTPS reports whether the load balancer has a certificate.
func (o Observed) servesHTTPS() bool {
	s := &o.Capability.Spec
	if !traffic.MayCertify(s, o.Facts) {
		return o.Facts.Gateway.HTTPS
	}
	return traffic.Settings(s).CertificateArn != "" || traffic.UsesZone(s)
}

// servesStill reports whether an object that the capability no longer declares may serve its users until its replacement does: the records,
// the zone and the certificate of the previous host, while the Ingress waits for the certificate of the next one, and the previous Ingress
// or Gateway.
func (o Observed) servesStill(kind string) bool {
	return parts.All.FactsOf(kind).Step == traffic.StepIngress &&
		slices.ContainsFunc(o.views(), func(v view) bool { return v.Step == traffic.StepIngress && !v.isDone() })
}

// Prunable reports whether an object of a kind that the capability does not declare any more may be deleted by now. While an object is
// stalled, only policies, quotas and autoscalers may be deleted. A policy or a quota may be the cause of the stall. An autoscaler sets
// another number of replicas than the capability declares.
func (o Observed) Prunable(kind string) bool {
	switch kind {
	case policies.KindPolicies:
		return !o.Settling()
	case part.KindQuota, workloads.KindAutoscaler:
		return true
	default:
		return !o.Stalled() && !o.servesStill(kind) && !o.encryptsStill(kind)
	}
}

// AppliesStill reports whether an object with these labels is still needed: a version of a guardrail that pods may apply until they are
// replaced, or a budget while its successor is not ready.
func (o Observed) AppliesStill(labels map[string]string) bool {
	return o.awaitsBudget(labels) || labels[part.LabelComponent] == part.ComponentVersions &&
		slices.ContainsFunc(o.views(), func(v view) bool { return v.Object.GetKind() == workloads.KindDeployment && !v.isDone() })
}

// stateOf returns the state of a node. A binding that blocks traffic that the capability needs is stalled.
func (o Observed) stateOf(n graph.Node) State {
	s := o.States[n.ID]
	if n.Object.GetKind() == identity.KindAssociation && s.isDone() {
		return o.Agent.reportIn(s, o.Facts.Cluster.EKSName)
	}
	if against := policies.Contradiction(parts.All, o.Facts, o.Capability, n); against != nil {
		s.Stalled, s.Reason, s.Message = true, against.Reason, against.Message
	}
	return s
}

func observedGeneration(o *unstructured.Unstructured) int64 {
	g, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	return g
}

// Settling reports whether the current generation of a binding is not observed yet. Until then the bindings that it replaces have to stay.
// Otherwise an intent that moves from one binding to another would not be enforced in between.
func (o Observed) Settling() bool {
	if o.Graph == nil {
		return false
	}
	return slices.ContainsFunc(o.Graph.Nodes(), func(n graph.Node) bool {
		live := o.States[n.ID].Live
		return n.Step == policies.StepPolicies && live != nil && observedGeneration(live) != live.GetGeneration()
	})
}
