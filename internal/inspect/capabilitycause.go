// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// InWords returns the message of a node, or its health if it has no message.
func InWords(n *Node) string {
	if n.Message != "" {
		return n.Message
	}
	return "it is " + strings.ToLower(string(n.Health))
}

// ExplainCapability finds why a capability is not ready, as explain does; nil where it is ready. So all commands that name a cause name the
// same one.
func ExplainCapability(ctx context.Context, r *Reader, c *nexusv1.NexusAICapability) (*Explanation, error) {
	u, err := CapabilityObject(c)
	if err != nil {
		return nil, err
	}
	tree, err := r.Tree(ctx, u)
	if err != nil {
		return nil, err
	}
	e, err := r.Explain(ctx, tree)
	if err != nil || e.Ready {
		return nil, err
	}
	return e, nil
}

// CapabilityObject is a capability as an object of any kind.
func CapabilityObject(c *nexusv1.NexusAICapability) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(nexusv1.GroupVersion.WithKind("NexusAICapability"))
	return u, nil
}

// CauseText names the cause of an explanation in a line.
func CauseText(e *Explanation) string {
	title := e.Cause.Title()
	if e.Cause.Reason != "" {
		title += ": " + e.Cause.Reason
	}
	return title + ": " + InWords(e.Cause)
}

// ExplainCommand is the command that explains a capability.
func ExplainCommand(c *nexusv1.NexusAICapability) string {
	return "nexusctl explain ncap/" + c.Name + " -n " + c.Namespace
}
