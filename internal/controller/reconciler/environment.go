// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

// Environment holds everything that every reconciler needs of the cluster and of the operator's settings.
type Environment struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server itself: for objects that are not cached, and before a write that must not rest on a stale read.
	Live client.Reader
	// Discovery asks the API server which kinds it serves.
	Discovery discovery.DiscoveryInterfaceWithContext
	// Version is that of the API server when the operator started.
	Version version.Info
	Events  Events
	Clock   clock.PassiveClock
	// ClusterID marks our resources in AWS; PreviousClusterIDs are clusters we may inherit from.
	ClusterID          string
	PreviousClusterIDs []string
	// Signing are the keys that sign owner records.
	Signing *SigningKeys
	// Types are the AWS resource types that AWSResource objects may manage.
	Types *engine.AllowedTypes
	// SharedNamespaces are namespaces with AWS resources that objects of every namespace may name; see engine.Neighbors.
	SharedNamespaces []string
	// ForeignResources are patterns of ARNs of resources without an owner that objects may name; see engine.Neighbors.
	ForeignResources []string
	// Gate says where plans need approval.
	Gate PlanGate
	// Issuer answers with the cluster's OIDC issuer URL, or with a kind of failure that says why it is unknown.
	Issuer func(ctx context.Context) (string, error)
	// EKSCluster is the name of the cluster in EKS; empty while it is not known.
	EKSCluster string
	// AutoMode reports whether EKS says that EKS Auto Mode is enabled in the cluster; nil where it is not asked.
	AutoMode func(ctx context.Context) bool
	// DeletionGrace has the defaults of spec.deletion.graceful.
	DeletionGrace capability.DefaultGrace
	// Covered reports whether events of changes of an object's resource arrive; nil where none do.
	Covered func(v1alpha1.Resource) bool
	// IndexResources keeps an index of the resources of all objects, for events of changes that may be about any.
	IndexResources bool
	// Intervals are the pauses between retries and between looks at AWS.
	Intervals Intervals
	// Metrics count the actions of controllers; nil counts nothing.
	Metrics *metrics.Recorder
	// Failures has the log show each failure once; nil shows all.
	Failures *Failures
	// Shard is the part of the namespaces that this process reconciles.
	Shard shard.Shard
	// Large are the large objects of the cache; nil where none is trimmed.
	Large *LargeObjects
	// Schemas check objects against their CRDs once more, on servers that know no CEL rules as well.
	Schemas *crdschema.Schemas
}

// Newest reads an object from the cache, or from the API server while the cache lacks our own last write of it. A status patch that is
// computed from an older status would leave the fields that the write in between added.
func (e Environment) Newest(ctx context.Context, a *apply.Applier, ref apply.Ref, obj client.Object) error {
	key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	err := e.Client.Get(ctx, key, obj)
	if err == nil && a.Lags(ref, obj.GetResourceVersion()) {
		reflect.ValueOf(obj).Elem().SetZero() // decoding keeps the fields that the answer lacks
		err = e.Live.Get(ctx, key, obj)
	}
	return err
}

// RequeueAtRest returns a result that requeues an object behind everything that is new or was edited.
func RequeueAtRest(after time.Duration) reconcile.Result {
	low := handler.LowPriority
	return reconcile.Result{RequeueAfter: after, Priority: &low}
}
