// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// CapabilityWords are the names of the kind that may stand before a slash instead of a namespace.
var CapabilityWords = []string{"ncap", "nexusaicapability", "nexusaicapabilities", "nexuscapability", "nexuscapabilities",
	"nexuscapabilities.nexus.ai"}

// CapabilityName is an argument that names a capability.
type CapabilityName struct {
	client.ObjectKey
	// alone is true for a word without a slash, which may be the name of a namespace, too.
	alone bool
	// anywhere is true where neither the argument nor -n names a namespace.
	anywhere bool
}

// CapabilityKey reads an argument NAMESPACE/NAME, ncap/NAME or NAME. Without a namespace it is that of -n or of the
// context. The name is empty without an argument.
func (s *Connection) CapabilityKey(args []string) (CapabilityName, error) {
	namespace, _, err := s.Cluster.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return CapabilityName{}, exit.Precondition(fmt.Errorf("finding the namespace (-n, --kubeconfig): %w", err))
	}
	out := CapabilityName{ObjectKey: client.ObjectKey{Namespace: namespace}, anywhere: !s.EnforcesNamespace()}
	if len(args) == 0 {
		return out, nil
	}
	first, name, qualified := strings.Cut(args[0], "/")
	switch {
	case !qualified && first != "":
		out.Name, out.alone = first, true
	case first == "" || name == "" || strings.Contains(name, "/"):
		return CapabilityName{}, exit.Usage("%q names no capability: write NAMESPACE/NAME, ncap/NAME or NAME", args[0])
	case slices.Contains(CapabilityWords, strings.ToLower(first)):
		out.Name = name
	case s.EnforcesNamespace() && *s.Cluster.Namespace != first:
		return CapabilityName{}, exit.Usage("%q and --namespace=%s contradict each other", args[0], *s.Cluster.Namespace)
	default:
		out.ObjectKey = client.ObjectKey{Namespace: first, Name: name}
	}
	return out, nil
}

// CapabilityNamed reads the capability of a name. Without one it is the only capability of the namespace or, where no namespace was named,
// of the cluster. A word alone that no capability has as its name, but a namespace has, stands for the only capability of that namespace.
func CapabilityNamed(ctx context.Context, c client.Reader, name CapabilityName) (*nexusv1.NexusAICapability, error) {
	if name.Name == "" {
		return onlyCapability(ctx, c, name.Namespace, name.anywhere)
	}
	found := &nexusv1.NexusAICapability{}
	err := c.Get(ctx, name.ObjectKey, found)
	if apierrors.IsNotFound(err) && name.alone && name.anywhere {
		if c.Get(ctx, client.ObjectKey{Name: name.Name}, &corev1.Namespace{}) == nil {
			return onlyCapability(ctx, c, name.Name, false)
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, exit.Precondition(fmt.Errorf("NexusAICapability %s does not exist: list them with kubectl get ncap -A", name.ObjectKey))
	case err != nil:
		return nil, ReadFailure(fmt.Errorf("reading NexusAICapability %s: %w", name.ObjectKey, err))
	}
	return found, nil
}

// onlyCapability returns the capability of a namespace that has exactly one. Where it has none, that of the cluster is returned if asked
// for.
func onlyCapability(ctx context.Context, c client.Reader, namespace string, anywhere bool) (*nexusv1.NexusAICapability, error) {
	list := &nexusv1.NexusAICapabilityList{}
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, ReadFailure(fmt.Errorf("listing NexusAICapability objects in namespace %s: %w", namespace, err))
	}
	where := "namespace " + namespace
	if len(list.Items) == 0 && anywhere {
		if err := c.List(ctx, list); err != nil && !apierrors.IsForbidden(err) {
			return nil, ReadFailure(fmt.Errorf("listing NexusAICapability objects: %w", err))
		}
		if len(list.Items) > 0 {
			where = "the cluster"
		}
	}
	switch len(list.Items) {
	case 1:
		return &list.Items[0], nil
	case 0:
		return nil, exit.Usage("%s has no NexusAICapability: name one as NAMESPACE/NAME, or choose the namespace with -n", where)
	default:
		var names []string
		for _, i := range list.Items {
			names = append(names, i.Namespace+"/"+i.Name)
		}
		return nil, exit.Usage("%s has %d capabilities: name one of %s", where, len(names), strings.Join(names, ", "))
	}
}

// Opened is the capability that a command line names, with the cluster that has it.
type Opened struct {
	Config  *rest.Config
	Client  client.Client
	Key     client.ObjectKey
	Subject *nexusv1.NexusAICapability
}

// OpenCapability connects to the cluster, and reads the capability that a command line names.
func (s *Connection) OpenCapability(ctx context.Context, args []string) (Opened, error) {
	name, out, err := s.openNamed(args)
	if err != nil {
		return Opened{}, err
	}
	out.Subject, err = CapabilityNamed(ctx, out.Client, name)
	return out, err
}

// OpenDeleted is OpenCapability for commands that accept a deleted capability: the subject is nil then.
func (s *Connection) OpenDeleted(ctx context.Context, args []string) (Opened, error) {
	_, out, err := s.openNamed(args)
	if err != nil {
		return Opened{}, err
	}
	found := &nexusv1.NexusAICapability{}
	switch err := out.Client.Get(ctx, out.Key, found); {
	case apierrors.IsNotFound(err):
		return out, nil
	case err != nil:
		return Opened{}, ReadFailure(fmt.Errorf("reading NexusAICapability %s: %w", out.Key, err))
	}
	out.Subject = found
	return out, nil
}

func (s *Connection) openNamed(args []string) (CapabilityName, Opened, error) {
	name, err := s.CapabilityKey(args)
	if err != nil {
		return name, Opened{}, err
	}
	cfg, c, err := s.Connect()
	return name, Opened{Config: cfg, Client: c, Key: name.ObjectKey}, err
}
