// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxDeadNodes limits the nodes that a message names.
const maxDeadNodes = 3

// onDeadNodes names the nodes that are not ready among those of pods that are not ready; empty where there are none, and where nodes
// may not be read: the message then says the rest.
func (r Reader) onDeadNodes(ctx context.Context, pods []corev1.Pod) (string, error) {
	var names []string
	for i := range pods {
		if n := pods[i].Spec.NodeName; n != "" && !isReady(&pods[i]) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	var said []string
	for _, name := range slices.Compact(names) {
		if len(said) == maxDeadNodes {
			return strings.Join(said, ", ") + ", and perhaps more", nil
		}
		text, err := r.DeadNode(ctx, name)
		if err != nil {
			return "", err
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, ", "), nil
}

// DeadNode says since when a node is not ready, as "node a is not ready since TIME"; empty for one that is ready, is gone or may not be
// read. The cluster removes the pods of a node that is gone.
func (r Reader) DeadNode(ctx context.Context, name string) (string, error) {
	n := &corev1.Node{}
	err := r.nodes().Get(ctx, client.ObjectKey{Name: name}, n)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading Node %s: %w", name, err)
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return fmt.Sprintf("node %s is not ready since %s: repair it, or delete the Node if the machine is gone", name,
				c.LastTransitionTime.UTC().Format(time.RFC3339)), nil
		}
	}
	return "", nil
}

// nodes reads Nodes, which the operator does not cache.
func (r Reader) nodes() client.Reader {
	if r.Live != nil {
		return r.Live
	}
	return r.Client
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
