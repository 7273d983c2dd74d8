// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// gateways watches the kinds of the Gateway API once a capability uses them. A cluster need not have their definitions.
type gateways struct {
	controller controller.Controller
	cache      cache.Cache
	handler    handler.EventHandler

	mu      sync.Mutex
	watched map[schema.GroupVersionKind]bool
}

func newGateways() *gateways { return &gateways{watched: map[schema.GroupVersionKind]bool{}} }

// kindsOf leaves the kinds of the Gateway API out of a list for a capability that is known to have no such object: to list them takes a
// request.
func (m *memories) kindsOf(c *nexusv1.NexusAICapability, kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	var without bool
	m.use(c, func(of *memory) {
		of.withoutGateways = of.withoutGateways && capability.GatewayOf(c) == nil
		without = of.withoutGateways
	})
	if !without {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), capability.IsGatewayKind)
}

// noGatewaysLeft notes that a capability that declares no Gateway has none of these objects.
func (m *memories) noGatewaysLeft(c *nexusv1.NexusAICapability) {
	m.use(c, func(of *memory) { of.withoutGateways = capability.GatewayOf(c) == nil })
}

// watch has changes of a kind that the API server serves wake the capabilities.
func (g *gateways) watch(kind schema.GroupVersionKind) error {
	if !capability.IsGatewayKind(kind) || g.controller == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watched[kind] {
		return nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	err := g.controller.Watch(source.Kind[client.Object](g.cache, u, g.handler))
	g.watched[kind] = err == nil
	return err
}
