package controller

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// applying bounds how many children are applied at a time.
const applying = 8

// rollout applies the open nodes of a graph, and those that this opens, and remembers how far each came.
type rollout struct {
	r      *Capability
	owner  apply.Owner
	graph  *graph.Graph
	states map[string]capability.State
	// stopped is true when nothing was applied at all.
	stopped bool

	mu   sync.Mutex
	errs map[string]error
}

func newRollout(r *Capability, c *nexusv1.NexusAICapability, g *graph.Graph) *rollout {
	return &rollout{r: r, owner: ownerOf(c), graph: g, states: map[string]capability.State{}, errs: map[string]error{}}
}

func ownerOf(c *nexusv1.NexusAICapability) apply.Owner {
	return apply.Owner{UID: c.UID, Namespace: c.Namespace, Name: c.Name, Kind: nexusv1.GroupVersion.WithKind("NexusAICapability")}
}

// run goes wave by wave for as long as a wave opens another. One child's failure does not keep the
// others from being applied; the errors that are nobody's fault but ours are returned.
func (o *rollout) run(ctx context.Context) error {
	if o.barred(ctx) {
		return nil
	}
	tried := map[string]bool{}
	for {
		var wave []string
		for _, id := range o.graph.Open(o.progress) {
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
			group.Go(func() error {
				o.apply(ctx, id)
				return nil
			})
		}
		_ = group.Wait() // each child's error is in its state
	}
}

// barred says whether the namespace of the workloads cannot be had. Then nothing is made at all: half a
// capability is of no use to anybody.
func (o *rollout) barred(ctx context.Context) bool {
	for _, n := range o.graph.Nodes() {
		if n.Object.GetKind() != "Namespace" {
			continue
		}
		_, err := o.r.Applier.Plan(ctx, o.owner, n.Object)
		if s, ok := status.AsStalled(err); ok {
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
	case s.Applied:
		return graph.Applied
	default:
		return graph.Pending
	}
}

// apply makes one child true and reads its health.
func (o *rollout) apply(ctx context.Context, id string) {
	n, _ := o.graph.Node(id)
	res, err := o.r.Applier.Apply(ctx, o.owner, n.Object)
	if err == nil && exact(n.Object.GroupVersionKind().Group) {
		res.Live, err = o.r.Applier.Exact(ctx, n.Object, res.Live)
	}
	var h health
	if err == nil {
		h, err = o.health(ctx, res.Live)
	}
	s := capability.State{Applied: err == nil, Ready: h.ready, Reason: h.reason, Message: h.message, Stalled: h.stalled, ARN: h.arn}
	if err != nil {
		s.Reason, s.Message = reasonOf(err), err.Error()
		_, s.Stalled = status.AsStalled(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if res.Live != nil {
		s.Live = res.Live
	}
	o.states[id] = s
	if err != nil {
		o.errs[id] = err
	}
}

// exact says whether nobody but the capability has a say in a child's spec: what somebody adds to it
// could reach further in AWS, or make a policy select fewer pods.
func exact(group string) bool {
	return group == v1alpha1.GroupName || group == intentv1alpha1.GroupName
}

func (o *rollout) health(ctx context.Context, live *unstructured.Unstructured) (health, error) {
	typed, err := o.r.Client.Scheme().New(live.GroupVersionKind())
	if err != nil {
		return health{}, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, typed); err != nil {
		return health{}, err
	}
	return o.r.healthOf(ctx, typed.(client.Object))
}

// wait returns what must be tried again: a conflict with another writer, an API server that failed.
// What a person must help with, or what is waited for, stands in the states and needs no error.
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

func reasonOf(err error) string {
	if s, ok := status.AsStalled(err); ok {
		return s.Reason
	}
	if w, ok := status.AsWaiting(err); ok && w.Reason != "" {
		return w.Reason
	}
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return status.ReasonInvalidSpec
	}
	return status.ReasonRetrying
}
