// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Reader reads with the rights of its client.
type Reader struct {
	// Client knows the kinds of Kubernetes and of the operator.
	Client client.Client
	// Kinds and Engines are those of the operator.
	Kinds   []engine.Entry
	Engines []intent.Engine
	Clock   clock.PassiveClock
	// Order returns the objects that each object of a capability waits for, by the IDs of its graph; nil leaves them out of trees.
	Order func(*nexusv1.NexusAICapability) map[string][]string
	// AutoMode asks EKS about EKS Auto Mode, as the operator does; nil leaves it to the nodes.
	AutoMode func(context.Context) bool
}

func (r *Reader) health() health.Reader {
	return health.Reader{Client: r.Client, AutoMode: r.AutoMode, Clock: r.Clock}
}

// IsOurs reports whether a kind is one of the operator's.
func IsOurs(gvk schema.GroupVersionKind) bool {
	return gvk.Group == nexusv1.GroupVersion.Group || gvk.Group == v1alpha1.GroupVersion.Group ||
		gvk.Group == intentv1alpha1.GroupVersion.Group
}

// conditionsOf returns the conditions of any object that has the usual ones.
func conditionsOf(u *unstructured.Unstructured) []metav1.Condition {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var out []metav1.Condition
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		c := metav1.Condition{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(m, &c) == nil {
			out = append(out, c)
		}
	}
	return out
}

// conditionOrder is that of the conditions that every kind has; others follow by name.
var conditionOrder = []string{status.Ready, status.Reconciling, status.Stall, status.Paused}

// ObjectStatus holds the status that an object has published.
type ObjectStatus struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Ready is true when the object is ready at its present generation.
	Ready bool `json:"ready"`
	// Phase is that of a capability.
	Phase string `json:"phase,omitempty"`
	// Progress is that of a capability, such as 9/11.
	Progress string `json:"progress,omitempty"`
	// Conditions lists the conditions of the object: Ready, Reconciling and Stalled first.
	Conditions []metav1.Condition `json:"conditions"`
}

// ObjectStatuses are the statuses of several objects.
type ObjectStatuses struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Objects    []ObjectStatus `json:"objects"`
}

// Statuses returns the statuses of objects.
func Statuses(objects []*unstructured.Unstructured) ObjectStatuses {
	out := ObjectStatuses{APIVersion: APIVersion, Kind: "ObjectStatusList", Objects: []ObjectStatus{}}
	for _, u := range objects {
		s := ObjectStatus{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Conditions: conditionsOf(u)}
		s.Phase, _, _ = unstructured.NestedString(u.Object, "status", "phase")
		s.Progress, _, _ = unstructured.NestedString(u.Object, "status", "progress")
		s.Ready = status.ReadyAt(s.Conditions, u.GetGeneration())
		place := func(c metav1.Condition) int {
			if i := slices.Index(conditionOrder, c.Type); i >= 0 {
				return i
			}
			return len(conditionOrder)
		}
		slices.SortStableFunc(s.Conditions, func(a, b metav1.Condition) int {
			return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Type, b.Type))
		})
		out.Objects = append(out.Objects, s)
	}
	return out
}

// isAbsent reports whether an error says that an object, or its kind, does not exist.
func isAbsent(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }
