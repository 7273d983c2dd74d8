// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// admission says of manifests which objects they result in.
type admission struct {
	now     client.Client
	schemas *crdschema.Schemas
	clock   clock.PassiveClock
	// admit and fieldManager are those of Planner.
	admit        func(ctx context.Context, live, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error)
	fieldManager string
	// newNamespaces holds the namespaces that the manifests declare.
	newNamespaces map[string]bool
}

// edit asks the API server for the resulting object, with its defaults, its rules and its admission, by a dry run or by Admit. The object
// is nil if the API server refuses it; then the item says why.
func (a admission) edit(ctx context.Context, manifest *unstructured.Unstructured) (Item, *unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.GroupVersionKind())
	err := a.now.Get(ctx, client.ObjectKeyFromObject(manifest), live)
	if apierrors.IsNotFound(err) {
		live, err = nil, nil
	}
	if err != nil {
		return Item{}, nil, fmt.Errorf("reading %s: %w", apply.RefOf(manifest), err)
	}
	admit := a.admit
	if admit == nil {
		admit = a.dryRun
	}
	after, err := admit(ctx, live, manifest)
	it := itemOf(manifest, Create)
	if namespace := manifest.GetNamespace(); isMissingNamespace(err, namespace) {
		after, err = a.admitAhead(ctx, manifest)
		if !a.newNamespaces[namespace] { // the plan shows the object beside the problem
			it.Problem = &Problem{Reason: status.ReasonInvalidSpec, Code: status.CodeOf(status.ReasonInvalidSpec), Field: "metadata.namespace",
				Message: fmt.Sprintf("namespace %s does not exist: create it first, or add it to the manifests", namespace)}
		}
	}
	if refused := refusal(err); refused != nil {
		it.Action, it.Problem = None, refused
		return it, nil, nil
	}
	if err != nil {
		return Item{}, nil, fmt.Errorf("asking the API server what %s would be (dry run): %w", apply.RefOf(manifest), err)
	}
	if live == nil {
		it.Fields = contentOf(after)
		return it, after, nil
	}
	it.Action, it.Fields = None, fieldsBetween(live, after)
	if len(it.Fields) > 0 {
		it.Action = Update
	}
	return it, after, nil
}

// isMissingNamespace reports whether the API server refused an object because its namespace does not exist.
func isMissingNamespace(err error, namespace string) bool {
	var s apierrors.APIStatus
	if !errors.As(err, &s) || !apierrors.IsNotFound(err) {
		return false
	}
	d := s.Status().Details
	return d != nil && d.Kind == "namespaces" && d.Name == namespace
}

// admitAhead returns an object of a namespace that is created with it: the API server admits none there, not even as a dry run. Objects of
// the operator's own kinds get the defaults and rules of their definitions, and others stay as the manifest has them.
func (a admission) admitAhead(ctx context.Context, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	switch manifest.GroupVersionKind().Group {
	case nexusv1.GroupVersion.Group, v1alpha1.GroupName, intentv1alpha1.GroupName:
		return InProcess{Scheme: a.now.Scheme(), Schemas: a.schemas, Clock: a.clock}.Admit(ctx, nil, manifest)
	default:
		return manifest.DeepCopy(), nil
	}
}

// refusal returns the objection of the API server to a manifest itself; nil for other errors.
func refusal(err error) *Problem {
	if s, ok := status.AsStalled(err); ok {
		return &Problem{Reason: s.Reason, Code: status.CodeOf(s.Reason), Field: s.Field, Message: s.Message}
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) && typedPatch.MatchString(err.Error()) {
		return untyped(typedPatch.ReplaceAllString(err.Error(), ""))
	}
	if !errors.As(err, &s) || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && !apierrors.IsNotFound(err) {
		return nil
	}
	problem := &Problem{Reason: status.ReasonInvalidSpec, Code: status.CodeOf(status.ReasonInvalidSpec), Message: err.Error()}
	if d := s.Status().Details; d != nil && len(d.Causes) > 0 {
		problem.Field, problem.Message = d.Causes[0].Field, d.Causes[0].Message
	}
	return problem
}

// typedPatch matches the beginning of the internal error that server-side apply returns for a manifest with fields or types that the schema
// does not have: https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/structuredmerge.go
var typedPatch = regexp.MustCompile(`^failed to create typed patch object \(.*?\): (errors:\n\s*)?`)

// untyped is the problem of fields that the schema does not have as they are. Each line of the text begins with a field.
func untyped(text string) *Problem {
	problem := &Problem{Reason: status.ReasonInvalidSpec, Code: status.CodeOf(status.ReasonInvalidSpec)}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	problem.Message = strings.Join(lines, "; ")
	if path, message, found := strings.Cut(problem.Message, ": "); found && len(lines) == 1 {
		problem.Field, problem.Message = strings.TrimPrefix(path, "."), message
	}
	return problem
}
