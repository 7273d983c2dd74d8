// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// explainCapability finds what keeps a capability from being ready, as explain does; nil where it is ready. So all commands that
// name a cause name the same one.
func explainCapability(ctx context.Context, r *inspect.Reader, c *nexusv1.NexusAICapability) (*inspect.Explanation, error) {
	u, err := objectOf(c)
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

// objectOf is a capability as an object of any kind.
func objectOf(c *nexusv1.NexusAICapability) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(nexusv1.GroupVersion.WithKind("NexusAICapability"))
	return u, nil
}

// causeText names the cause of an explanation in a line.
func causeText(e *inspect.Explanation) string {
	return e.Cause.Title() + console.Prefixed(": ", e.Cause.Reason) + ": " + causeInWords(e.Cause)
}

// explainCommandOf is the command that explains a capability.
func explainCommandOf(c *nexusv1.NexusAICapability) string {
	return "nexusctl explain ncap/" + c.Name + " -n " + c.Namespace
}

// failCapability is the check of a capability that does not run. It names the cause and the first command that helps.
func (v *verifier) failCapability(title, phase, message string) check.Result {
	see := explainCommandOf(v.subject)
	if v.cause == nil {
		return check.Fail(title, fmt.Sprintf("phase %s: %s", phase, message), see+" looks for the cause")
	}
	fix := see + " shows more"
	if len(v.cause.Commands) > 0 {
		fix = v.cause.Commands[0] + "; " + fix
	}
	return check.Fail(title, fmt.Sprintf("phase %s; the cause is %s", phase, causeText(v.cause)), fix)
}

// consequence skips a check whose failure follows from the cause that an earlier check names, so that one cause is one failure.
func (v *verifier) consequence(r check.Result) check.Result {
	if v.cause == nil || v.causeCheck == 0 || !r.Consequence {
		return r
	}
	skipped := check.Skip(r.Title, fmt.Sprintf("%s: this follows from check %d", r.Evidence, v.causeCheck))
	skipped.Cause = v.causeCheck
	return skipped
}
