// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Health sums an object up in one word.
type Health string

// The states of health, from good to bad.
const (
	// Ready objects are as declared, or exist and have no status.
	Ready Health = "Ready"
	// Paused objects are frozen by a person.
	Paused Health = "Paused"
	// Deleting objects are being deleted.
	Deleting Health = "Deleting"
	// Unknown means that the health cannot be determined, for example without a right.
	Unknown Health = "Unknown"
	// Waiting objects need another object first.
	Waiting Health = "Waiting"
	// Progressing objects are being brought in line.
	Progressing Health = "Progressing"
	// Missing objects are needed and do not exist.
	Missing Health = "Missing"
	// Failed objects need a person.
	Failed Health = "Failed"
)

// Node is one object of a tree.
type Node struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Relation is Uses for an object that does not belong to its parent, and UsedBy for one that uses it; empty for one that
	// belongs to it.
	Relation string `json:"relation,omitempty"`
	Health   Health `json:"health"`
	// Reason and Message say why the object is not ready, or name a problem of one that is. Code is the stable error code.
	Code    string `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// ARN or identifier of the AWS resource, once known.
	ARN string `json:"arn,omitempty"`
	// Resource tells of the AWS resource of an object of any type; nil for other objects.
	Resource *Resource `json:"resource,omitempty"`
	// WaitsFor names the objects of the same capability that the operator creates before this one, as Kind/name, or Kind/namespace/name
	// in another namespace than the capability's.
	WaitsFor []string `json:"waitsFor,omitempty"`
	// Pods is ready and wanted pods of a workload, such as 2/3.
	Pods     string       `json:"pods,omitempty"`
	Created  *metav1.Time `json:"created,omitempty"`
	Children []*Node      `json:"children,omitempty"`

	conditions []metav1.Condition
	// deleting is true from the request to delete the object until it is gone.
	deleting bool
}

const (
	// Uses is the relation of an object that does not belong to its parent.
	Uses = "Uses"
	// UsedBy is the relation of an object that uses its parent, and thereby holds the parent's deletion.
	UsedBy = "UsedBy"
)

// ID is Kind/name, as messages name objects.
func (n *Node) ID() string { return n.Kind + "/" + n.Name }

// Title is the kind with namespace and name.
func (n *Node) Title() string {
	if n.Namespace == "" {
		return n.Kind + " " + n.Name
	}
	return n.Kind + " " + n.Namespace + "/" + n.Name
}

func (n *Node) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(n.APIVersion, n.Kind)
}

// walk visits the node and everything below it.
func (n *Node) walk(visit func(*Node)) {
	visit(n)
	for _, c := range n.Children {
		c.walk(visit)
	}
}
