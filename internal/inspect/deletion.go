// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// passing are the reasons with an error code that usually end without a person, as their remedies say.
var passing = []string{status.ReasonThrottled, status.ReasonRetrying, status.ReasonOwnedByCapability, status.ReasonStoreKept, "NotCovered",
	"Overlaps", "NotLive"}

// needsPerson reports whether an object with the reason stays as it is until a person acts.
func needsPerson(reason string) bool {
	return reason == status.ReasonPaused || status.CodeOf(reason) != "" && !slices.Contains(passing, reason)
}

// waitsForUsers reports whether a provider is only kept by the objects that use it.
func (n *Node) waitsForUsers() bool {
	return n.deleting && n.Kind == "AWSProvider" && n.Reason == status.ReasonInUse
}

// addUsers adds, to a provider in deletion, the objects that need it and so hold it.
func (g grower) addUsers(ctx context.Context, n *Node, p *v1alpha1.AWSProvider) error {
	if p.DeletionTimestamp == nil {
		return nil
	}
	for _, e := range g.kinds {
		list, err := newList(g.client.Scheme(), v1alpha1.GroupVersion.WithKind(e.Name()))
		if err != nil {
			return err
		}
		err = g.client.List(ctx, list, client.InNamespace(p.Namespace))
		if isAbsent(err) || apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("listing %s objects: %w", e.Name(), err)
		}
		err = meta.EachListItem(list, func(item runtime.Object) error {
			o, ok := item.(v1alpha1.Resource)
			if !ok || o.CommonSpec().ProviderRef.Name != p.Name {
				return nil
			}
			user, err := g.nodes.of(ctx, v1alpha1.GroupVersion.WithKind(e.Name()), o)
			if err == nil {
				user.Relation = UsedBy
				n.Children = append(n.Children, user)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addRemainingPods adds the pods of a capability in deletion that outlive their Deployment.
func (g grower) addRemainingPods(ctx context.Context, n *Node, c *nexusv1.NexusAICapability) error {
	if c.DeletionTimestamp == nil {
		return nil
	}
	in := client.InNamespace(capability.NamesOf(c).WorkloadNamespace())
	return g.addPodsThat(ctx, n, in, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)})
}

// addPodsThat adds the pods that match. Without the right to list them there are none.
func (g grower) addPodsThat(ctx context.Context, n *Node, match ...client.ListOption) error {
	pods := &corev1.PodList{}
	if err := g.client.List(ctx, pods, match...); apierrors.IsForbidden(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("listing the pods of %s: %w", n.Title(), err)
	}
	for i := range pods.Items {
		pod, err := g.grow(ctx, corev1.SchemeGroupVersion.WithKind("Pod"), &pods.Items[i])
		if err != nil {
			return err
		}
		n.Children = append(n.Children, pod)
	}
	return nil
}

// addDeadNode adds, to a pod that is not ready, the node that it runs on if that does not answer: until it does, no container
// of it starts or ends.
func (g grower) addDeadNode(ctx context.Context, n *Node, p *corev1.Pod) error {
	if n.Health == Ready || p.Spec.NodeName == "" {
		return nil
	}
	machine := &corev1.Node{}
	err := g.client.Get(ctx, client.ObjectKey{Name: p.Spec.NodeName}, machine)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil // the cluster removes the pods of a node that is gone
	}
	if err != nil {
		return fmt.Errorf("reading Node %s: %w", p.Spec.NodeName, err)
	}
	for _, c := range machine.Status.Conditions {
		if c.Type != corev1.NodeReady || c.Status == corev1.ConditionTrue {
			continue
		}
		n.Children = append(n.Children,
			&Node{APIVersion: "v1", Kind: "Node", Name: machine.Name, Relation: Uses, Health: Failed, Reason: status.ReasonNodeNotReady,
				Created: &metav1.Time{Time: machine.CreationTimestamp.Time},
				Message: fmt.Sprintf("node %s is not ready since %s (%s: %s), so its pods neither start nor end: repair it, or delete the Node if the machine is gone",
					machine.Name, c.LastTransitionTime.UTC().Format(time.RFC3339), c.Reason, c.Message)})
	}
	return nil
}
