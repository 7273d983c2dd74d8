// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

// everyObject lists the capabilities, and the AWS resource objects that belong to none.
func everyObject(ctx context.Context, s *connection.Connection, c client.Client, entries []engine.Entry,
	everywhere bool) ([]*unstructured.Unstructured, error) {
	var in []client.ListOption
	namespace, err := s.NamespaceOf(everywhere)
	if err != nil {
		return nil, err
	}
	if namespace != "" {
		in = append(in, client.InNamespace(namespace))
	}
	kinds := []schema.GroupVersionKind{objectrequest.CapabilityKind}
	for _, e := range entries {
		kinds = append(kinds, v1alpha1.GroupVersion.WithKind(e.Name()))
	}
	var out []*unstructured.Unstructured
	for _, k := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(k)
		if err := c.List(ctx, list, in...); err != nil {
			return nil, fmt.Errorf("listing %s objects: %w", k.Kind, err)
		}
		for i := range list.Items {
			if owner := metav1.GetControllerOf(&list.Items[i]); owner == nil || owner.Kind != "NexusAICapability" {
				out = append(out, &list.Items[i])
			}
		}
	}
	return out, nil
}
