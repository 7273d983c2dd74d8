// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// DriftReport lists the differences between AWS and the specs of objects, as their statuses report them.
type DriftReport struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Objects    []ObjectDrift `json:"objects"`
}

// Len returns the number of its entries.
func (r *DriftReport) Len() int { return len(r.Objects) }

// ObjectDrift is the drift of one AWS resource object.
type ObjectDrift struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Capability is the name of the capability that created the object.
	Capability string `json:"capability,omitempty"`
	// Policy is Correct or Report.
	Policy string `json:"policy"`
	// Fields lists the fields that differ; it is empty for an object with a Message only.
	Fields []v1alpha1.DriftEntry `json:"fields"`
	// Message says of an object with the reason NotSettling which field AWS does not keep.
	Message string `json:"message,omitempty"`
	// Since is the time of the first notice of the drift.
	Since *metav1.Time `json:"since,omitempty"`
}

// Drift reads the drift of every AWS resource object of a namespace, or of all namespaces when it is empty.
func (r *Reader) Drift(ctx context.Context, namespace string) (*DriftReport, error) {
	out := &DriftReport{APIVersion: APIVersion, Kind: "DriftReport", Objects: []ObjectDrift{}}
	for _, e := range r.Kinds {
		list, err := newList(r.Client.Scheme(), v1alpha1.GroupVersion.WithKind(e.Name()))
		if err != nil {
			return nil, err
		}
		if err := r.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("listing %s objects: %w", e.Name(), err)
		}
		err = meta.EachListItem(list, func(item runtime.Object) error {
			o, ok := item.(v1alpha1.Resource)
			if !ok {
				return errors.New(e.Name() + " is no AWS resource object")
			}
			if d := driftOf(e.Name(), o); len(d.Fields) > 0 || d.Message != "" {
				out.Objects = append(out.Objects, d)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out.Objects, func(a, b ObjectDrift) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

func driftOf(kind string, o v1alpha1.Resource) ObjectDrift {
	st := o.CommonStatus()
	d := ObjectDrift{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(),
		Policy: string(cmp.Or(o.CommonSpec().DriftPolicy, v1alpha1.DriftCorrect)), Fields: append([]v1alpha1.DriftEntry{}, st.Drift...),
		Since: st.LastSyncTime}
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "NexusAICapability" {
		d.Capability = owner.Name
	}
	c := meta.FindStatusCondition(st.Conditions, status.Ready)
	if c != nil && (c.Reason == status.ReasonDrift || c.Reason == status.ReasonNotSettling) {
		d.Since = &c.LastTransitionTime
	}
	if c != nil && c.Status == metav1.ConditionFalse && c.Reason == status.ReasonNotSettling {
		d.Message = c.Message
	}
	return d
}
