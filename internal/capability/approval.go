// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Edit is a change of a capability that needs an approval as a whole.
type Edit struct {
	Capability *nexusv1.NexusAICapability
	// Before and After are the objects that the capability compiles to: as approved, and as declared now. Before is nil when nothing was
	// approved, and both are nil for a deletion.
	Before, After *graph.Graph
	// Deletes are the objects that the edit deletes, as KIND/NAME, in order.
	Deletes []string
}

// Hash identifies everything that an approval of the edit covers: each object with its content, and each deletion.
func (e Edit) Hash() string {
	c := e.Capability
	content := struct {
		Namespace, Name, UID string
		Generation           int64
		Deleting             bool
		DeleteData           string
		Deletion             string
		Objects              []map[string]any
		Deletes              []string
	}{c.Namespace, c.Name, string(c.UID), c.Generation, c.DeletionTimestamp != nil, c.Annotations[wellknown.AnnotationDeleteData],
		string(part.EffectiveDeletionPolicy(c)), nil, e.Deletes}
	if e.After != nil {
		for _, n := range e.After.Nodes() {
			content.Objects = append(content.Objects, n.Object.Object)
		}
	}
	text, err := json.Marshal(content) // which orders the keys of maps
	if err != nil {
		panic(err) // manifests have nothing that cannot be encoded
	}
	sum := sha256.Sum256(text)
	const length = 32 // like the plan of one object: long enough that an attacker finds no harmless plan with the same hash
	return hex.EncodeToString(sum[:])[:length]
}

// Summary describes the edit in a few words.
func (e Edit) Summary() string {
	var said []string
	created, changed := e.written()
	for _, part := range []struct {
		verb string
		ids  []string
	}{{"create", created}, {"change", changed}, {"delete", e.Deletes}} {
		if len(part.ids) > 0 {
			said = append(said, part.verb+" "+listedShort(part.ids))
		}
	}
	if len(said) == 0 {
		return "no object changes"
	}
	return strings.Join(said, "; ")
}

// written returns the objects that the edit creates, and those that it changes.
func (e Edit) written() (created, changed []string) {
	if e.After == nil {
		return nil, nil
	}
	for _, n := range e.After.Nodes() {
		before, ok := beforeOf(e.Before, n.ID)
		switch {
		case !ok:
			created = append(created, n.ID)
		case !equality.Semantic.DeepEqual(before.Object, n.Object.Object):
			changed = append(changed, n.ID)
		}
	}
	return created, changed
}

func beforeOf(g *graph.Graph, id string) (*unstructured.Unstructured, bool) {
	if g == nil {
		return nil, false
	}
	n, ok := g.Node(id)
	return n.Object, ok
}

// listedShort names the first of some objects, and how many there are more.
func listedShort(ids []string) string {
	const most = 3
	text := strings.Join(ids[:min(most, len(ids))], ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// IsApproved reports whether the capability was approved as it is declared now, or its deletion once it is being deleted.
func IsApproved(c *nexusv1.NexusAICapability) bool {
	a := c.Status.Approved
	return a != nil && a.Generation == c.Generation && a.Deleting == (c.DeletionTimestamp != nil)
}

// Approve records in memory that the capability is approved as it is declared now. Hash is empty if no approval was needed.
func Approve(c *nexusv1.NexusAICapability, hash string, deletes []string) error {
	spec, err := json.Marshal(c.Spec)
	if err != nil {
		return fmt.Errorf("recording what is approved: %w", err)
	}
	c.Status.Approved = &nexusv1.ApprovedStatus{Generation: c.Generation, Spec: string(spec), Plan: hash, Deletes: deletes,
		DeleteData: c.Annotations[wellknown.AnnotationDeleteData], Deleting: c.DeletionTimestamp != nil}
	return nil
}

// InForce returns the capability as it was approved: the capability itself while no edit or deletion waits, and a copy with the approved
// specification and generation otherwise. Suspend needs no approval: it writes nothing.
func InForce(c *nexusv1.NexusAICapability) (*nexusv1.NexusAICapability, error) {
	a := c.Status.Approved
	if a == nil || a.Generation == c.Generation {
		return c, nil
	}
	out := c.DeepCopy()
	out.Spec = nexusv1.NexusAICapabilitySpec{}
	if err := json.Unmarshal([]byte(a.Spec), &out.Spec); err != nil {
		return nil, fmt.Errorf("reading status.approved.spec: %w", err)
	}
	out.Spec.Suspend, out.Generation = c.Spec.Suspend, a.Generation
	return out, nil
}

// NeedsNoApproval reports whether a capability may go on without an approval: its spec equals the approved one, apart from suspend, or the
// operator rolled it out before the namespace began to need approvals.
func NeedsNoApproval(c *nexusv1.NexusAICapability, waited bool) (bool, error) {
	if c.DeletionTimestamp != nil {
		return false, nil
	}
	if c.Status.Approved == nil {
		return !waited && c.Status.Step != nil && c.Status.ObservedGeneration == c.Generation, nil
	}
	approved, err := InForce(c)
	return err == nil && equality.Semantic.DeepEqual(approved.Spec, c.Spec), err
}

// CoversDeletion reports whether an approval of the capability covers the deletion of one of its objects, and of its data.
func CoversDeletion(c *nexusv1.NexusAICapability, id string, losesData bool) bool {
	a := c.Status.Approved
	if a == nil || !slices.Contains(a.Deletes, id) || a.Deleting && !IsApproved(c) {
		return false
	}
	return !losesData || a.DeleteData == c.Annotations[wellknown.AnnotationDeleteData]
}
