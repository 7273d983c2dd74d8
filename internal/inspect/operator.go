// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// APIVersion is the version of the shapes of this package.
const APIVersion = "inspect.nexus.ai/v1alpha1"

// OperatorStatus is the health of an operator and a summary of the objects that it manages.
type OperatorStatus struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Healthy is false when Problems has an entry.
	Healthy bool `json:"healthy"`
	// Starting lists the remaining steps of pods that have just started. It ends within the duration of a lease, and is no problem.
	Starting  []string `json:"starting,omitempty"`
	Namespace string   `json:"namespace"`
	// Client is the version of nexusctl.
	Client string `json:"client,omitempty"`
	// Skew is true when an operator's version is known and differs from that of nexusctl.
	Skew bool `json:"skew"`
	// Workloads are empty for an operator that runs outside of the cluster, as in a local world.
	Workloads []Workload   `json:"workloads"`
	Pods      []Pod        `json:"pods"`
	Leases    []Lease      `json:"leases"`
	CRDs      []Definition `json:"customResourceDefinitions"`
	// Capabilities counts the capabilities by their phase, in every namespace.
	Capabilities []PhaseCount `json:"capabilities"`
	// Warnings are the last Warning events of the operator and of its pods, the newest first.
	Warnings []Event `json:"warnings"`
	// Problems are the reasons why the operator is not healthy, each with a remedy.
	Problems []string `json:"problems"`
}

// Pod is one pod of the operator.
type Pod struct {
	Name     string      `json:"name"`
	Ready    bool        `json:"ready"`
	Restarts int32       `json:"restarts"`
	Image    string      `json:"image"`
	Reason   string      `json:"reason,omitempty"`
	Message  string      `json:"message,omitempty"`
	Created  metav1.Time `json:"created"`

	// changed is the time when the pod became ready, or not ready, and its creation before that.
	changed time.Time
}

// Lease is the leader election of one shard.
type Lease struct {
	Name  string `json:"name"`
	Shard string `json:"shard"`
	// Holder is the identity of the leader; empty when no one leads.
	Holder  string       `json:"holder,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	Renewed *metav1.Time `json:"renewed,omitempty"`
}

// Definition is a CustomResourceDefinition of the operator.
type Definition struct {
	Name        string `json:"name"`
	Established bool   `json:"established"`
}

// PhaseCount counts the capabilities in a phase.
type PhaseCount struct {
	Phase string `json:"phase"`
	Count int    `json:"count"`
}

// OperatorQuery says which operator is looked at.
type OperatorQuery struct {
	Namespace string
	// Shards is the number of leases that must be held; 0 when the operator runs without leader election.
	Shards int
	// LeaseDuration limits how long a pod may take to lead after it started.
	LeaseDuration time.Duration
	// Definitions are the names of the operator's CustomResourceDefinitions.
	Definitions []string
	// Client is the version of nexusctl.
	Client string
	// Workloads lists the workloads of the operator.
	Workloads []Workload
}

// IsHeld reports whether an operator leads one of the shards, wherever it runs.
func (s *OperatorStatus) IsHeld() bool {
	return slices.ContainsFunc(s.Leases, func(l Lease) bool { return l.Holder != "" })
}

// maxWarnings limits the events that a status shows.
const maxWarnings = 5

// Operator gathers the health of an operator.
func (r *Reader) Operator(ctx context.Context, q OperatorQuery) (*OperatorStatus, error) {
	s := &OperatorStatus{APIVersion: APIVersion, Kind: "OperatorStatus", Namespace: q.Namespace, Client: q.Client, Workloads: q.Workloads,
		Pods: []Pod{}, Leases: []Lease{}, CRDs: []Definition{}, Capabilities: []PhaseCount{}, Warnings: []Event{}, Problems: []string{}}
	from := r.operator(q)
	for _, gather := range []func(context.Context, *OperatorStatus) error{from.pods, from.leases, from.definitions, from.phases,
		from.warnings} {
		if err := gather(ctx, s); err != nil {
			return nil, err
		}
	}
	s.judge(from.hasJustStarted(s))
	return s, nil
}

// operatorReader reads the parts of the state of one operator.
type operatorReader struct {
	client client.Client
	health health.Reader
	clock  clock.PassiveClock
	query  OperatorQuery
}

func (r *Reader) operator(q OperatorQuery) operatorReader {
	return operatorReader{client: r.Client, health: r.health(), clock: r.Clock, query: q}
}

// hasJustStarted reports whether a pod of the operator was created, or became ready, within the duration of a lease.
func (r operatorReader) hasJustStarted(s *OperatorStatus) bool {
	return slices.ContainsFunc(s.Pods, func(p Pod) bool { return r.clock.Now().Sub(p.changed) <= r.query.LeaseDuration })
}

func (r operatorReader) pods(ctx context.Context, s *OperatorStatus) error {
	for _, w := range r.query.Workloads {
		selector, err := metav1.LabelSelectorAsSelector(w.selector)
		if err != nil {
			return err
		}
		list := &corev1.PodList{}
		if err := r.client.List(ctx, list, client.InNamespace(r.query.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return fmt.Errorf("listing the pods of %s %s/%s: %w", w.Kind, r.query.Namespace, w.Name, err)
		}
		for i := range list.Items {
			if p := r.podOf(&list.Items[i]); !slices.ContainsFunc(s.Pods, func(o Pod) bool { return o.Name == p.Name }) {
				s.Pods = append(s.Pods, p)
			}
		}
	}
	slices.SortFunc(s.Pods, func(a, b Pod) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

func (r operatorReader) podOf(p *corev1.Pod) Pod {
	h := r.health.OfPod(p)
	out := Pod{Name: p.Name, Ready: h.Ready, Reason: h.Reason, Message: h.Message, Created: p.CreationTimestamp,
		changed: p.CreationTimestamp.Time}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.LastTransitionTime.After(out.changed) {
			out.changed = c.LastTransitionTime.Time
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		out.Restarts += c.RestartCount
	}
	if len(p.Spec.Containers) > 0 {
		out.Image = p.Spec.Containers[0].Image
	}
	return out
}

func (r operatorReader) leases(ctx context.Context, s *OperatorStatus) error {
	for i := range r.query.Shards {
		part := shard.Shard{Index: i, Count: r.query.Shards}
		lease := &coordinationv1.Lease{}
		err := r.client.Get(ctx, client.ObjectKey{Namespace: r.query.Namespace, Name: part.Lease()}, lease)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading Lease %s/%s: %w", r.query.Namespace, part.Lease(), err)
		}
		out := Lease{Name: part.Lease(), Shard: part.String()}
		if err == nil && r.isHeld(lease) {
			out.Holder = *lease.Spec.HolderIdentity
			out.Since, out.Renewed = secondsOf(lease.Spec.AcquireTime), secondsOf(lease.Spec.RenewTime)
		}
		s.Leases = append(s.Leases, out)
	}
	return nil
}

// isHeld reports whether a lease has a holder that renewed it in time, by the clock of this machine.
func (r operatorReader) isHeld(l *coordinationv1.Lease) bool {
	if ptr.Deref(l.Spec.HolderIdentity, "") == "" || l.Spec.RenewTime == nil {
		return false
	}
	return r.clock.Now().Sub(l.Spec.RenewTime.Time) <= time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0))*time.Second
}

func secondsOf(t *metav1.MicroTime) *metav1.Time {
	if t == nil {
		return nil
	}
	return &metav1.Time{Time: t.Time}
}

func (r operatorReader) definitions(ctx context.Context, s *OperatorStatus) error {
	for _, name := range r.query.Definitions {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		err := r.client.Get(ctx, client.ObjectKey{Name: name}, crd)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading CustomResourceDefinition %s: %w", name, err)
		}
		established := meta.IsStatusConditionTrue(conditionsOf(crd), "Established")
		s.CRDs = append(s.CRDs, Definition{Name: name, Established: err == nil && established})
	}
	return nil
}

func (r operatorReader) phases(ctx context.Context, s *OperatorStatus) error {
	list := &nexusv1.NexusAICapabilityList{}
	if err := r.client.List(ctx, list); meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil // the missing definition is one of the problems
	} else if err != nil {
		return fmt.Errorf("listing NexusAICapability objects of every namespace: %w", err)
	}
	counts := map[string]int{}
	for _, c := range list.Items {
		counts[cmp.Or(string(c.Status.Phase), "NotObserved")]++
	}
	for phase, n := range counts {
		s.Capabilities = append(s.Capabilities, PhaseCount{Phase: phase, Count: n})
	}
	slices.SortFunc(s.Capabilities, func(a, b PhaseCount) int { return cmp.Compare(a.Phase, b.Phase) })
	return nil
}

func (r operatorReader) warnings(ctx context.Context, s *OperatorStatus) error {
	own, err := warnings(ctx, r.client, "", "source="+reporter)
	if err != nil {
		return err
	}
	around, err := warnings(ctx, r.client, r.query.Namespace, "")
	if err != nil {
		return err
	}
	isOurs := func(e Event) bool {
		_, name, _ := strings.Cut(e.Object, "/")
		return slices.ContainsFunc(r.query.Workloads, func(w Workload) bool { return name == w.Name || strings.HasPrefix(name, w.Name+"-") })
	}
	for _, e := range around {
		if isOurs(e) && !slices.Contains(own, e) {
			own = append(own, e)
		}
	}
	s.Warnings = append(s.Warnings, newest(own, maxWarnings)...)
	return nil
}

// judge derives the health from the parts. Pods that have just started are given time to become ready and to lead.
func (s *OperatorStatus) judge(starting bool) {
	unfinished := s.problem
	if starting {
		unfinished = s.starts
	}
	for _, w := range s.Workloads {
		s.Skew = s.Skew || w.differsFrom(s.Client)
		switch {
		case w.Replicas == 0:
			s.problem("%s %s is scaled to 0, so nothing is reconciled: kubectl -n %s scale %s/%s --replicas=1", w.Kind, w.Name, s.Namespace,
				strings.ToLower(w.Kind), w.Name)
		case w.Ready < w.Replicas:
			unfinished("%d of %d pods of %s %s are ready: kubectl -n %s describe pods", w.Ready, w.Replicas, w.Kind, w.Name, s.Namespace)
		case w.outdated:
			unfinished("%s %s is being rolled out: kubectl -n %s rollout status %s/%s", w.Kind, w.Name, s.Namespace, strings.ToLower(w.Kind), w.Name)
		}
	}
	for _, l := range s.Leases {
		if l.Holder == "" {
			unfinished("nobody holds Lease %s, so shard %s reconciles nothing: kubectl -n %s logs -l app.kubernetes.io/name=nexus-operator", l.Name,
				l.Shard, s.Namespace)
		}
	}
	for _, d := range s.CRDs {
		if !d.Established {
			s.problem("CustomResourceDefinition %s is missing or not established: apply charts/nexus-operator/files/crd of the operator's version",
				d.Name)
		}
	}
	s.Healthy = len(s.Problems) == 0
}

// differsFrom reports whether the version of the operator is known and is another one.
func (w Workload) differsFrom(client string) bool {
	return w.Version != "" && client != "" && strings.TrimPrefix(w.Version, "v") != strings.TrimPrefix(client, "v")
}

func (s *OperatorStatus) problem(format string, args ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
}

// starts notes a remaining step of pods that have just started.
func (s *OperatorStatus) starts(format string, args ...any) {
	s.Starting = append(s.Starting, fmt.Sprintf(format, args...))
}
