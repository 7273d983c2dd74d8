// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/intentbinding"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// stateMetrics collects the gauges of objects from the cache while this replica leads. The caches of a standby are filled
// as well; its gauges would count everything twice.
type stateMetrics struct {
	reader client.Reader
	scheme *runtime.Scheme
	shard  shard.Shard
	// namespace is the operator's, which has the records of deletions.
	namespace string
	kinds     []schema.GroupVersionKind
	// awsKinds are the kinds of AWS resources among them.
	awsKinds, engines []string
	// leading is the context of the time as leader; nil before and after.
	leading atomic.Pointer[context.Context]
}

// setupMetrics registers the metrics of the controllers, and has those of objects collected.
func setupMetrics(mgr manager.Manager, o options.Options, kinds []engine.Entry, engines []intentbinding.Engine) (*metrics.Recorder, error) {
	s := newStateMetrics(mgr.GetClient(), mgr.GetScheme(), kinds, engines)
	part := o.Shard
	s.namespace = o.Namespace
	s.only(part)
	recorder, err := metrics.NewRecorder(ctrlmetrics.Registry, s.awsKinds, capability.StepNames())
	return recorder, errors.Join(err, metrics.Replace(ctrlmetrics.Registry, s),
		metrics.Replace(ctrlmetrics.Registry, metrics.ShardInfo(part.Index, part.Shards())), mgr.Add(s))
}

// newStateMetrics prepares the collector. The reader reads from the cache, and kinds are the AWS kinds.
func newStateMetrics(reader client.Reader, scheme *runtime.Scheme, kinds []engine.Entry, engines []intentbinding.Engine) *stateMetrics {
	s := &stateMetrics{reader: reader, scheme: scheme, kinds: []schema.GroupVersionKind{
		nexusv1.GroupVersion.WithKind("NexusAICapability"), v1alpha1.GroupVersion.WithKind("AWSProvider"),
		intentv1alpha1.GroupVersion.WithKind("SecurityIntent"),
		intentv1alpha1.GroupVersion.WithKind("SecurityIntentBinding"), intentv1alpha1.GroupVersion.WithKind("ClusterSecurityIntentBinding"),
	}}
	for _, e := range kinds {
		s.kinds, s.awsKinds = append(s.kinds, v1alpha1.GroupVersion.WithKind(e.Name())), append(s.awsKinds, e.Name())
	}
	for _, e := range engines {
		s.engines = append(s.engines, e.Name())
	}
	return s
}

// only limits the gauges to the objects that a shard serves, so that those of all shards add up.
func (s *stateMetrics) only(part shard.Shard) {
	s.shard = part
	if !part.IsFirst() {
		s.kinds = slices.DeleteFunc(s.kinds, isIntent)
	}
}

// isIntent reports whether the first shard serves the objects of a kind in every namespace.
func isIntent(kind schema.GroupVersionKind) bool {
	return kind.Group == intentv1alpha1.GroupVersion.Group
}

// Start implements manager.Runnable. The manager calls it once this replica leads and its caches are filled.
func (s *stateMetrics) Start(ctx context.Context) error {
	s.leading.Store(&ctx)
	<-ctx.Done()
	s.leading.Store(nil)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*stateMetrics) NeedLeaderElection() bool { return true }

// Describe implements prometheus.Collector.
func (*stateMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []metrics.Definition{metrics.Capabilities, metrics.CapabilityPhase, metrics.CapabilityConditions,
		metrics.Resources, metrics.StalledResources, metrics.DriftedResources, metrics.PendingPlans, metrics.OldestPendingPlan,
		metrics.RecoveryEnd, metrics.Intents} {
		to <- d.Desc()
	}
}

// Collect implements prometheus.Collector. Where a kind cannot be listed, there are no gauges at all: a count of zero
// would be wrong.
func (s *stateMetrics) Collect(to chan<- prometheus.Metric) {
	leading := s.leading.Load()
	if leading == nil {
		return
	}
	if c, err := s.count(*leading); err == nil {
		c.sendMetrics(to)
	}
}

// listTimeout bounds the wait for a cache that is not filled yet.
const listTimeout = 2 * time.Second

// count takes the census. The objects are those of the cache, not copies.
func (s *stateMetrics) count(ctx context.Context) (*census, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	c := newCensus(namesOfKinds(s.kinds), s.awsKinds, s.engines)
	for _, kind := range s.kinds {
		made, err := s.scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err != nil {
			return nil, err
		}
		list := made.(client.ObjectList)
		if err := s.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			if obj := o.(client.Object); isIntent(kind) || s.shard.Owns(obj.GetNamespace()) {
				c.add(kind.Kind, obj)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return c, s.countReleased(ctx, c)
}

// countReleased adds the deletions that have left only their record. The cache has the annotations of records, and not their contents.
func (s *stateMetrics) countReleased(ctx context.Context, to *census) error {
	list := &corev1.ConfigMapList{}
	if err := s.reader.List(ctx, list, client.InNamespace(s.namespace), client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range list.Items {
		namespace, _, _ := strings.Cut(list.Items[i].Annotations[wellknown.AnnotationCapability], "/")
		if until, released := capability.ReleasedUntil(&list.Items[i]); released && s.shard.Owns(namespace) {
			to.addRecovery(nexusv1.RecoveryReleased, until)
		}
	}
	return nil
}

func namesOfKinds(kinds []schema.GroupVersionKind) []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.Kind
	}
	return out
}

// sendMetrics emits the counts.
func (c *census) sendMetrics(to chan<- prometheus.Metric) {
	gauge := func(d metrics.Definition, n int, values ...string) {
		to <- prometheus.MustNewConstMetric(d.Desc(), prometheus.GaugeValue, float64(n), values...)
	}
	for d, counts := range map[*metrics.Definition]map[pair]int{&metrics.Resources: c.states, &metrics.StalledResources: c.stalled,
		&metrics.CapabilityConditions: c.conditions, &metrics.Intents: c.coverage} {
		for p, n := range counts {
			gauge(*d, n, p[:]...)
		}
	}
	for kind, n := range c.drifted {
		gauge(metrics.DriftedResources, n, kind)
	}
	for kind, n := range c.pending {
		gauge(metrics.PendingPlans, n, kind)
	}
	for kind, since := range c.pendingSince {
		gauge(metrics.OldestPendingPlan, since, kind)
	}
	for state, end := range c.recoveryEnds {
		gauge(metrics.RecoveryEnd, end, string(state))
	}
	for phase, n := range c.phases {
		gauge(metrics.Capabilities, n, phase)
	}
	for _, key := range c.shownCapabilities() {
		gauge(metrics.CapabilityPhase, 1, key.Namespace, key.Name, c.capabilities[key])
	}
}
