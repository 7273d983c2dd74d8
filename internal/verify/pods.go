// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/health"
)

// fixOfPods returns the remedy for a Service that does not answer, by the first of its pods that is not ready: the node of the pod is dead,
// or the pod is sick or starting. Where all pods are ready, and where they may not be listed, it is byDefault.
func (v *verifier) fixOfPods(ctx context.Context, s *corev1.Service, byDefault string) (string, error) {
	pods := &corev1.PodList{}
	err := v.client.List(ctx, pods, client.InNamespace(s.Namespace), client.MatchingLabels(s.Spec.Selector))
	if apierrors.IsForbidden(err) {
		return byDefault, nil
	}
	if err != nil {
		return "", err
	}
	if len(pods.Items) == 0 {
		return "there are no pods: see the check of the workloads", nil
	}
	r := health.Reader{Client: v.client, Clock: clock.RealClock{}}
	for i := range pods.Items {
		p := &pods.Items[i]
		h := r.OfPod(p)
		if h.Ready {
			continue
		}
		if p.Spec.NodeName != "" {
			if dead, err := r.DeadNode(ctx, p.Spec.NodeName); err != nil || dead != "" {
				return dead + ": kubectl describe node " + p.Spec.NodeName, err
			}
		}
		return h.Message + ": kubectl describe pod -n " + p.Namespace + " " + p.Name, nil
	}
	return byDefault, nil
}
