// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// capabilityWords are the names of the kind that may stand before a slash instead of a namespace.
var capabilityWords = []string{"ncap", "nexusaicapability", "nexusaicapabilities", "nexuscapability", "nexuscapabilities", "nexuscapabilities.nexus.ai"}

// capabilityKey reads an argument NAMESPACE/NAME, ncap/NAME or NAME. Without a namespace it is that of -n or of the
// context. The name is empty without an argument.
func (s *shared) capabilityKey(args []string) (client.ObjectKey, error) {
	namespace, _, err := s.cluster.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return client.ObjectKey{}, precondition(fmt.Errorf("finding the namespace (-n, --kubeconfig): %w", err))
	}
	if len(args) == 0 {
		return client.ObjectKey{Namespace: namespace}, nil
	}
	first, name, qualified := strings.Cut(args[0], "/")
	switch {
	case !qualified && first != "":
		return client.ObjectKey{Namespace: namespace, Name: first}, nil
	case first == "" || name == "" || strings.Contains(name, "/"):
		return client.ObjectKey{}, usage("%q names no capability: write NAMESPACE/NAME, ncap/NAME or NAME", args[0])
	case slices.Contains(capabilityWords, strings.ToLower(first)):
		return client.ObjectKey{Namespace: namespace, Name: name}, nil
	case s.enforcesNamespace() && *s.cluster.Namespace != first:
		return client.ObjectKey{}, usage("%q and --namespace=%s contradict each other", args[0], *s.cluster.Namespace)
	default:
		return client.ObjectKey{Namespace: first, Name: name}, nil
	}
}

// capabilityNamed reads the capability of a key, or without a name the only one of the namespace.
func capabilityNamed(ctx context.Context, c client.Reader, key client.ObjectKey) (*nexusv1.NexusAICapability, error) {
	if key.Name == "" {
		return onlyCapability(ctx, c, key.Namespace)
	}
	found := &nexusv1.NexusAICapability{}
	switch err := c.Get(ctx, key, found); {
	case apierrors.IsNotFound(err):
		return nil, precondition(fmt.Errorf("NexusAICapability %s does not exist: list them with kubectl get ncap -A", key))
	case err != nil:
		return nil, readFailure(fmt.Errorf("reading NexusAICapability %s: %w", key, err))
	}
	return found, nil
}

// onlyCapability returns the capability of a namespace that has exactly one.
func onlyCapability(ctx context.Context, c client.Reader, namespace string) (*nexusv1.NexusAICapability, error) {
	list := &nexusv1.NexusAICapabilityList{}
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, readFailure(fmt.Errorf("listing NexusAICapability objects in namespace %s: %w", namespace, err))
	}
	switch len(list.Items) {
	case 1:
		return &list.Items[0], nil
	case 0:
		return nil, usage("namespace %s has no NexusAICapability: name one as NAMESPACE/NAME, or choose the namespace with -n", namespace)
	default:
		var names []string
		for _, i := range list.Items {
			names = append(names, "ncap/"+i.Name)
		}
		return nil, usage("namespace %s has %d capabilities: name one of %s", namespace, len(names), strings.Join(names, ", "))
	}
}
