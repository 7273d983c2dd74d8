// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// labelVersion is Kubernetes' recommended label for the version of an application.
const labelVersion = "app.kubernetes.io/version"

// Workload runs the operator: a Deployment, or a StatefulSet where the namespaces are divided among shards.
type Workload struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Image    string `json:"image"`
	Version  string `json:"version,omitempty"`
	Replicas int32  `json:"replicas"`
	Ready    int32  `json:"ready"`

	// Created is the creation time of the workload.
	Created metav1.Time `json:"created"`

	template corev1.PodTemplateSpec
	selector *metav1.LabelSelector
	outdated bool
}

// Workloads returns the Deployment and the StatefulSet of the operator in a namespace, as far as they exist.
func Workloads(ctx context.Context, c client.Reader, namespace string) ([]Workload, error) {
	key := client.ObjectKey{Namespace: namespace, Name: wellknown.OperatorName}
	var out []Workload
	d := &appsv1.Deployment{}
	if err := c.Get(ctx, key, d); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", key, err)
	} else if err == nil {
		out = append(out, WorkloadOf(d))
	}
	s := &appsv1.StatefulSet{}
	if err := c.Get(ctx, key, s); apierrors.IsForbidden(err) && len(out) > 0 {
		return out, nil // the right to read the Deployment suffices where there is one
	} else if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading StatefulSet %s: %w", key, err)
	} else if err == nil {
		out = append(out, workloadOf("StatefulSet", s, s.Spec.Template,
			counts{s.Spec.Replicas, s.Status.ReadyReplicas, s.Status.UpdatedReplicas, s.Spec.Selector}))
	}
	return out, nil
}

// WorkloadOf returns a Deployment as a workload, also one of a capability.
func WorkloadOf(d *appsv1.Deployment) Workload {
	return workloadOf("Deployment", d, d.Spec.Template,
		counts{d.Spec.Replicas, d.Status.ReadyReplicas, d.Status.UpdatedReplicas, d.Spec.Selector})
}

// counts are the fields that a Deployment and a StatefulSet have in common.
type counts struct {
	want           *int32
	ready, updated int32
	selector       *metav1.LabelSelector
}

func workloadOf(kind string, o client.Object, template corev1.PodTemplateSpec, n counts) Workload {
	w := Workload{Kind: kind, Name: o.GetName(), Replicas: 1, Ready: n.ready, Created: o.GetCreationTimestamp(), template: template,
		selector: n.selector}
	if n.want != nil {
		w.Replicas = *n.want
	}
	w.outdated = n.updated < w.Replicas
	if container := w.Container(); container != nil {
		w.Image = container.Image
	}
	w.Version = versionOf(w.Image, template.Labels)
	return w
}

// Container returns the container that runs the operator, nil if there is none.
func (w Workload) Container() *corev1.Container {
	containers := w.template.Spec.Containers
	for i := range containers {
		if name := containers[i].Name; name == "operator" || name == wellknown.OperatorName || len(containers) == 1 {
			return &containers[i]
		}
	}
	return nil
}

// ServiceAccount is the name of the ServiceAccount that the operator runs as.
func (w Workload) ServiceAccount() string {
	return cmp.Or(w.template.Spec.ServiceAccountName, "default")
}

// Args returns the operator's flags, with the variables of the container in them replaced as the kubelet does. Values that a variable takes
// from the pod are taken from the first pod.
func (w Workload) Args(namespace string) []string {
	container := w.Container()
	if container == nil {
		return nil
	}
	getenv := w.Getenv(namespace)
	var out []string
	for _, arg := range container.Args {
		for _, e := range container.Env {
			arg = strings.ReplaceAll(arg, "$("+e.Name+")", getenv(e.Name))
		}
		out = append(out, arg)
	}
	return out
}

// Getenv returns a reader of the container's variables: those with a value, and those that the operator's own
// manifests take from the pod.
func (w Workload) Getenv(namespace string) func(string) string {
	return func(name string) string {
		container := w.Container()
		if container == nil {
			return ""
		}
		for _, e := range container.Env {
			if e.Name == name && e.Value != "" {
				return e.Value
			}
		}
		switch name {
		case "OPERATOR_NAMESPACE":
			return namespace
		case "POD_INDEX":
			return "0"
		default:
			return ""
		}
	}
}

// versionOf reads the version of an image from its tag, or from the labels of its pods if the tag has none.
func versionOf(image string, labels map[string]string) string {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		return name[i+1:]
	}
	return labels[labelVersion]
}

// Digests are the images that the pods of the workload run, as the nodes pulled them, sorted and each once. They are
// empty where no node has reported one.
func (w Workload) Digests(ctx context.Context, c client.Reader, namespace string) ([]string, error) {
	selector, err := metav1.LabelSelectorAsSelector(w.selector)
	if err != nil {
		return nil, fmt.Errorf("the selector of %s %s: %w", w.Kind, w.Name, err)
	}
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("listing the pods of %s %s: %w", w.Kind, w.Name, err)
	}
	var out []string
	for _, p := range pods.Items {
		for _, container := range p.Status.ContainerStatuses {
			if _, digest, ok := strings.Cut(container.ImageID, "@"); ok && w.Container() != nil && container.Name == w.Container().Name &&
				p.DeletionTimestamp == nil {
				out = append(out, digest)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
