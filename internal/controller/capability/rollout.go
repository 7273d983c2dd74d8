// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"errors"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// applying bounds how many children are applied at a time.
const applying = 8

// rollout applies the open nodes of a graph, and those that this opens, and remembers how far each came.
type rollout struct {
	*pass.Pass
	r      *Reconciler
	states map[string]capability.State
	// stopped is true when nothing was applied at all.
	stopped bool

	mu      sync.Mutex
	errs    map[string]error
	changes []nexusv1.RolloutChange
}

func newRollout(r *Reconciler, ps *pass.Pass) *rollout {
	return &rollout{Pass: ps, r: r, states: map[string]capability.State{}, errs: map[string]error{}}
}

// run goes wave by wave for as long as a wave opens another. One child's failure does not keep the
// others from being applied; errors that only a defect of ours can cause are returned.
func (o *rollout) run(ctx context.Context) error {
	if o.stopsHere(ctx) {
		return nil
	}
	tried := o.refuseLeftOut()
	for {
		var wave []string
		for _, id := range o.Graph.Open(o.progress) {
			if !tried[id] {
				tried[id] = true
				wave = append(wave, id)
			}
		}
		if len(wave) == 0 {
			return o.wait()
		}
		group := errgroup.Group{}
		group.SetLimit(applying)
		for _, id := range wave {
			if o.recall(ctx, id) { // most children in most passes: the stack of a goroutine costs more than that
				continue
			}
			group.Go(func() error {
				o.apply(ctx, id)
				return nil
			})
		}
		_ = group.Wait() // each child's error is in its state
	}
}

// refuseLeftOut sets the state of the nodes of kinds that --kinds leaves out, also of those that would not be applied yet. It returns the
// nodes.
func (o *rollout) refuseLeftOut() map[string]bool {
	refused := map[string]bool{}
	for _, n := range o.Graph.Nodes() {
		ref := apply.RefOf(n.Object)
		if err := o.Settings.MayApply(ref.Kind, ref.Name); err != nil {
			o.states[n.ID], o.errs[n.ID], refused[n.ID] = leftOutState(o.Capability, ref, err), err, true
		}
	}
	return refused
}

// stopsHere reports whether the namespace of the workloads is not available. Then no object is created: half a
// capability is of no use to anybody.
func (o *rollout) stopsHere(ctx context.Context) bool {
	for _, n := range o.Graph.Nodes() {
		if n.Object.GetKind() != "Namespace" {
			continue
		}
		if s, ok := status.AsStalled(o.Pass.Write(ctx, n).Err); ok {
			o.states[n.ID] = capability.State{Stalled: true, Reason: s.Reason, Message: s.Error()}
			o.stopped = true
			return true
		}
	}
	return false
}

func (o *rollout) progress(id string) graph.Progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch s := o.states[id]; {
	case s.Ready:
		return graph.Ready
	case s.Applied && s.Present:
		return graph.Present
	case s.Applied:
		return graph.Applied
	default:
		return graph.Pending
	}
}

// recall sets the state of a child if an apply would find nothing to do, and reports whether it did.
func (o *rollout) recall(ctx context.Context, id string) bool {
	n, _ := o.Graph.Node(id)
	s, ok, err := o.remembered(ctx, id, n.Object)
	if !ok && err == nil {
		return false
	}
	if err != nil {
		s = stateOf(apply.Result{}, health.Health{}, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.states[id] = o.withheld(n.Object, s)
	if err != nil {
		o.errs[id] = err
	}
	return true
}

// apply makes one child true and reads its health.
func (o *rollout) apply(ctx context.Context, id string) {
	n, _ := o.Graph.Node(id)
	res, err := o.write(ctx, n)
	var h health.Health
	if err == nil {
		h, err = o.healthOf(ctx, res.Live)
	}
	o.record(id, n.Object, res, stateOf(res, h, err), err)
}

// write carries out the decision about a child, and keeps the store of a child that is being deleted although it is declared.
func (o *rollout) write(ctx context.Context, n graph.Node) (apply.Result, error) {
	desired := n.Object
	res, err := o.carryOut(ctx, desired, o.Pass.Write(ctx, n))
	if err == nil {
		err = o.r.gateways.watch(desired.GroupVersionKind())
	}
	if err == nil && isExactGroup(desired.GroupVersionKind().Group) {
		res.Live, err = o.Applier.Exact(ctx, desired, res.Live)
	}
	if err == nil && res.Change == apply.Updated {
		o.reportDrift(n.ID, res)
	}
	if _, waits := status.AsWaiting(err); waits && isKept(desired) {
		if kerr := o.r.stores.keepDeleted(ctx, o.Capability, apply.RefOf(desired)); kerr != nil {
			err = kerr
		}
	}
	return res, err
}

func (o *rollout) carryOut(ctx context.Context, desired *unstructured.Unstructured, act pass.Act) (apply.Result, error) {
	switch live := act.Written.Live; {
	case act.Err != nil:
		return apply.Result{}, act.Err
	case act.Verb == pass.Replace:
		return apply.Result{}, o.replaceJob(ctx, live)
	case act.Verb == pass.Keep:
		return apply.Result{Change: apply.Unchanged, Live: live}, nil
	default:
		return o.Applier.Run(ctx, o.Owner, desired, act.Written)
	}
}

// stateOf is the state of a child after it was applied and looked at.
func stateOf(res apply.Result, h health.Health, err error) capability.State {
	s := capability.State{Applied: err == nil, Ready: h.Ready, Present: h.Present, Reason: h.Reason, Message: h.Message, Stalled: h.Stalled, Unknown: h.Unknown, ARN: h.ARN, Serving: h.Serving, NoCredentials: h.NoCredentials, Runs: h.Runs}
	if err != nil {
		s.Reason, s.Message = reconciler.ReasonOf(err), err.Error()
		_, s.Stalled = status.AsStalled(err)
	}
	if res.Live != nil {
		said, _ := res.Live.Object["status"].(map[string]any)
		s.Live = reported(res.Live, said)
	}
	return s
}

// record keeps the state of a child and the changes to it.
func (o *rollout) record(id string, desired *unstructured.Unstructured, res apply.Result, s capability.State, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.states[id] = o.withheld(desired, s)
	if err != nil {
		o.errs[id] = err
	} else {
		o.remember(id, desired, res, s)
	}
	if res.Change == apply.Created || len(res.Edited) > 0 {
		o.changes = append(o.changes, capability.NewChange(desired.GetKind(), desired.GetName(), string(res.Change), pathsOf(res.Edited)))
	}
}

// withheld is the state of a child that observes an existing store: without consent to rights on the store, it is not fit for use, and pods
// that need the rights do not start.
func (o *rollout) withheld(desired *unstructured.Unstructured, s capability.State) capability.State {
	if why := capability.WithheldFrom(o.Facts, o.Capability, desired.GetKind(), desired.GetName()); why != "" {
		s.Ready, s.Present, s.Serving, s.Stalled, s.Unknown, s.Reason, s.Message = false, false, false, true, false, status.ReasonNotPermitted, why
	}
	return s
}

func pathsOf(diff []apply.Difference) []string {
	paths := make([]string, len(diff))
	for i, d := range diff {
		paths[i] = d.Path
	}
	return paths
}

// reportDrift emits an event for the fields of a child that another client changed and the apply restored.
func (o *rollout) reportDrift(id string, res apply.Result) {
	if len(res.Drift) == 0 {
		return
	}
	o.r.Events.RelatedTo(res.Live).Warning(o.Capability, status.ReasonDriftCorrected, "Apply",
		id+" was changed by somebody else and is as declared again: "+strings.Join(pathsOf(res.Drift), ", "))
}

// isExactGroup reports whether only the capability has a say in the spec of a child: an addition by another client could reach further in
// AWS, or make a policy select fewer pods.
func isExactGroup(group string) bool {
	return group == v1alpha1.GroupName || group == intentv1alpha1.GroupName
}

func (o *rollout) healthOf(ctx context.Context, live *unstructured.Unstructured) (health.Health, error) {
	if capability.IsGatewayKind(live.GroupVersionKind()) {
		return o.r.health.Of(ctx, live)
	}
	typed, err := o.r.Client.Scheme().New(live.GroupVersionKind())
	if err != nil {
		return health.Health{}, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, typed); err != nil {
		return health.Health{}, err
	}
	return o.r.health.Of(ctx, typed.(client.Object))
}

// wait returns the failures that must be tried again: a conflict with another writer, an API server that failed. Failures that need a
// person, and objects that a child waits for, stand in the states and need no error.
func (o *rollout) wait() error {
	var errs []error
	for _, err := range o.errs {
		_, stalled := status.AsStalled(err)
		_, waiting := status.AsWaiting(err)
		if !stalled && !waiting {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// complete reports whether every apply succeeded.
func (o *rollout) complete() bool { return len(o.errs) == 0 }
