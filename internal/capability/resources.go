// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// UsersOf returns the IDs of the nodes of the resources that use an object, which are deleted before it.
func UsersOf(c *nexusv1.NexusAICapability, kind, name string) (out []string) {
	used, is := resources.Find(parts.All, c, kind, name)
	if !is {
		return nil
	}
	for _, r := range parts.All.ResourcesByName(&c.Spec) {
		if slices.Contains(r.Uses, nexusv1.PartName(used.Name)) {
			out = append(out, resources.ID(part.NamesOf(c), r))
		}
	}
	return out
}

// Schemas check objects against the definitions of their kinds.
type Schemas interface {
	// ValidatePlanned returns a *status.Stalled that names the first field at fault, leaving out values that are not known yet.
	ValidatePlanned(ctx context.Context, kind string, obj runtime.Object, isUnknown func(value string) bool) error
}

// CheckResources checks the objects of dataServices.resources and spec.ai against the schemas of their kinds, before any object of the
// capability is applied. The error is a *status.Stalled that names the field of the capability.
func CheckResources(ctx context.Context, c *nexusv1.NexusAICapability, g *graph.Graph, schemas Schemas) error {
	if c.DeletionTimestamp != nil {
		return nil
	}
	for _, r := range parts.All.ResourcesByName(&c.Spec) {
		n, ok := g.Node(resources.ID(part.NamesOf(c), r))
		if !ok {
			continue
		}
		err := schemas.ValidatePlanned(ctx, resources.KindOfResource(r.ResourcePart), n.Object, IsUnknownValue)
		stalled, is := status.AsStalled(err)
		if err != nil && !is {
			return err
		}
		if is {
			return &status.Stalled{Reason: stalled.Reason, Field: resources.FieldBelow(r, stalled.Field), Message: stalled.Message,
				Cause: stalled.Cause}
		}
	}
	return nil
}

// FieldOfResource is the field of a capability that decides a field of the object of a resource.
func FieldOfResource(c *nexusv1.NexusAICapability, kind, name, field string) string {
	r, ok := resources.Find(parts.All, c, kind, name)
	if !ok {
		return field
	}
	return resources.FieldBelow(r, field)
}

// IsUnknownValue reports whether a text of a compiled object has a value that another object is yet to publish.
func IsUnknownValue(value string) bool { return strings.Contains(value, "<known after ") }
