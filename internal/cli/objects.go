// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// capabilityKind is that of capabilities.
var capabilityKind = nexusv1.GroupVersion.WithKind("NexusAICapability")

// everyObject lists the capabilities, and the AWS resource objects that belong to none.
func (s *shared) everyObject(ctx context.Context, c client.Client, entries []engine.Entry, everywhere bool) ([]*unstructured.Unstructured, error) {
	var in []client.ListOption
	namespace, err := s.namespaceOf(everywhere)
	if err != nil {
		return nil, err
	}
	if namespace != "" {
		in = append(in, client.InNamespace(namespace))
	}
	kinds := []schema.GroupVersionKind{capabilityKind}
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

// lookFailure says of a read of objects that are named on the command line how they are named.
func lookFailure(err error, namespace string) error {
	var s apierrors.APIStatus
	switch {
	case errors.As(err, &s) && apierrors.IsNotFound(err) && s.Status().Details != nil && s.Status().Details.Kind != "namespaces":
		return fmt.Errorf("%w in namespace %s; -n names another", err, namespace)
	case strings.Contains(err.Error(), "doesn't have a resource type"):
		_, word, _ := strings.Cut(err.Error(), "resource type ")
		return usage("%w: objects are named KIND/NAME, such as ncap/%s", err, strings.Trim(word, `"`))
	default:
		return readFailure(err)
	}
}

// readFailure says whose mistake a failed read is.
func readFailure(err error) error {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return precondition(err)
	case apierrors.IsNotFound(err):
		return err
	case meta.IsNoMatchError(err):
		return precondition(fmt.Errorf("%w: install the operator's CustomResourceDefinitions first", err))
	case strings.Contains(err.Error(), "recognized file extensions are"):
		return usage("%w; for the folders below it, add --recursive (-R)", err)
	case os.IsNotExist(err), slices.ContainsFunc(inputMistakes, func(text string) bool { return strings.Contains(err.Error(), text) }):
		return usage("%w", err)
	default:
		return err
	}
}

// inputMistakes are texts of cli-runtime's errors about its input, which have no types.
var inputMistakes = []string{"error parsing", "does not exist", "unable to decode", "doesn't have a resource type", "does not match the namespace", "no objects passed"}
