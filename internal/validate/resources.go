// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// problemsOfResources returns the values that the definitions of kinds, and the bundled schemas of types, refuse in dataServices.resources
// and spec.ai of a capability that compiles.
func (s *Validator) problemsOfResources(ctx context.Context, schemas *crdschema.Schemas, c *nexusv1.NexusAICapability) ([]error, error) {
	if c.Spec.AI == nil && (c.Spec.DataServices == nil || len(c.Spec.DataServices.Resources) == 0) {
		return nil, nil
	}
	options, err := s.OfflineOptions()
	if err != nil {
		return nil, err
	}
	g, err := capability.Compile(c, connection.SettingsOf(options).Facts(c))
	if err != nil {
		return nil, err
	}
	err = capability.CheckResources(ctx, c, g, schemas)
	if _, refused := status.AsStalled(err); refused {
		return []error{err}, nil
	}
	if err != nil {
		return nil, err
	}
	var out []error
	for _, n := range g.Nodes() {
		if n.Object.GetKind() != "AWSResource" {
			continue
		}
		problems, err := s.problemsOfPart(c, n.Object)
		if err != nil {
			return nil, err
		}
		out = append(out, problems...)
	}
	return out, nil
}

// problemsOfPart returns the values that the bundled schema of its type refuses in a resource of a capability, with the field of the
// capability.
func (s *Validator) problemsOfPart(c *nexusv1.NexusAICapability, object *unstructured.Unstructured) ([]error, error) {
	r := &v1alpha1.AWSResource{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, r); err != nil {
		return nil, err
	}
	problems, err := s.typeProblems(r)
	for i, problem := range problems {
		if stalled, is := status.AsStalled(problem); is {
			problems[i] = status.Invalid(capability.FieldOfResource(c, object.GetKind(), object.GetName(), stalled.Field), "%s", stalled.Message)
		}
	}
	return problems, err
}
