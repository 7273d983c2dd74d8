// SPDX-License-Identifier: Apache-2.0

package capability

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Compile turns a capability into the graph of its objects. The same capability and facts give the same
// graph. A capability that is not being deleted is checked first: the error is a *status.Stalled that
// names the field.
func Compile(c *nexusv1.NexusAICapability, f part.Facts) (*graph.Graph, error) {
	out, err := CompileAfter(nil, c, f)
	if err != nil {
		return nil, err
	}
	return out.Graph, nil
}
