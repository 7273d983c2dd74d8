// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Row is an object in a live list: the columns that List prints, and the values that a person filters and sorts by.
type Row struct {
	ListedItem
	APIVersion string `json:"apiVersion"`
	Health     Health `json:"health"`
	// Code is the stable error code of the reason.
	Code string `json:"code,omitempty"`
	// Trouble names the object that keeps this one from being ready, as Kind/name; empty while the object is ready.
	Trouble string `json:"trouble,omitempty"`
	// Capability is the name of the capability that created the object.
	Capability string `json:"capability,omitempty"`
	// Drift counts the fields with different values in AWS and in the spec.
	Drift   int         `json:"drift,omitempty"`
	Created metav1.Time `json:"created"`
	// Version is the resourceVersion of the object, which changes with every write.
	Version string `json:"version"`
}

// RowOf returns the row of an object of the operator's kinds, by its own status alone.
func RowOf(u *unstructured.Unstructured) Row {
	conds := conditionsOf(u)
	n := &Node{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), conditions: conds,
		deleting: u.GetDeletionTimestamp() != nil}
	n.judge(healthOfRow(u, conds), u, conds)
	n.explainOwnState(u, u.Object)
	n.addCode()
	row := Row{ListedItem: listedItemOf(u), APIVersion: u.GetAPIVersion(), Health: n.Health, Code: n.Code, Created: u.GetCreationTimestamp(),
		Version: u.GetResourceVersion()}
	drift, _, _ := unstructured.NestedSlice(u.Object, "status", "drift")
	row.Drift = len(drift)
	if owner := metav1.GetControllerOf(u); owner != nil && owner.Kind == "NexusAICapability" {
		row.Capability = owner.Name
	}
	if n.Health != Ready {
		row.Trouble = troubleOf(n)
		row.Reason, row.Message = cmp.Or(row.Reason, n.Reason), cmp.Or(row.Message, n.Message)
	}
	return row
}

// healthOfRow is the health that an object reports. The kinds without a Ready condition, such as PlanRequest, are as they should be.
func healthOfRow(u *unstructured.Unstructured, conds []metav1.Condition) health.Health {
	if meta.FindStatusCondition(conds, status.Ready) == nil && slices.Contains(withoutConditions, u.GetKind()) {
		return health.Health{Ready: true}
	}
	return health.OfConditions(conds, u.GetGeneration())
}

// withoutConditions are the kinds of the operator that report no Ready condition.
var withoutConditions = []string{"PlanRequest"}

// troubleOf returns the object that a message names at its beginning, or that the object waits for; otherwise the object itself.
func troubleOf(n *Node) string {
	if m := namedObject.FindStringSubmatchIndex(n.Message); m != nil {
		if m[0] == 0 || n.Health == Waiting {
			return n.Message[m[2]:m[3]] + "/" + strings.TrimRight(n.Message[m[4]:m[5]], ".")
		}
	}
	return n.ID()
}
