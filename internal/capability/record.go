// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
)

// RecordPrefix begins the names of the ConfigMaps in the operator's namespace that record deleted capabilities.
const RecordPrefix = "nexus-operator-deleted-"

// RecordName returns the name of the ConfigMap that records the deletion of the capability of a name.
func RecordName(namespace, name string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + name))
	return RecordPrefix + hex.EncodeToString(sum[:10])
}

// The keys of a record.
const (
	recordedCapability = "capability.json"
	recordedRecovery   = "recovery.json"
)

// Record describes a deleted capability, so that it can be created again as it was.
type Record struct {
	// Capability has the name, the labels and annotations of people, the specification, and the UID of the capability that is deleted.
	Capability *nexusv1.NexusAICapability
	// Recovery holds the last recovery that its status showed.
	Recovery *nexusv1.RecoveryStatus
}

// RecordOf returns the record of a capability in deletion. It has no values of Secrets, because a specification only refers to Secrets.
func RecordOf(c *nexusv1.NexusAICapability, operatorNamespace string) (*corev1.ConfigMap, error) {
	declared := AsDeclared(c)
	declared.UID, declared.Generation = c.UID, c.Generation
	manifest, err := json.Marshal(declared)
	if err != nil {
		return nil, fmt.Errorf("recording NexusAICapability %s/%s: %w", c.Namespace, c.Name, err)
	}
	recovery, err := json.Marshal(c.Status.Recovery)
	if err != nil {
		return nil, fmt.Errorf("recording NexusAICapability %s/%s: %w", c.Namespace, c.Name, err)
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: workloads.KindConfigMap},
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: RecordName(c.Namespace, c.Name),
			Labels: map[string]string{wellknown.LabelManagedBy: wellknown.OperatorName},
			Annotations: map[string]string{wellknown.AnnotationCapability: c.Namespace + "/" + c.Name,
				wellknown.AnnotationRecoveryState:    string(c.Status.Recovery.State),
				wellknown.AnnotationRecoverableUntil: c.Status.Recovery.Until.UTC().Format(time.RFC3339)}},
		Data: map[string]string{recordedCapability: string(manifest), recordedRecovery: string(recovery)},
	}, nil
}

// UpdatedRecord returns a record with the next recovery. The recorded declaration stays the first one.
func UpdatedRecord(before, next *corev1.ConfigMap) *corev1.ConfigMap {
	out := next.DeepCopy()
	out.Data[recordedCapability] = before.Data[recordedCapability]
	return out
}

// ReleasedUntil returns the end of the time of a deletion that left its AWS resources without objects, by the annotations of its
// record; false for other records and other objects.
func ReleasedUntil(o *corev1.ConfigMap) (time.Time, bool) {
	if !strings.HasPrefix(o.Name, RecordPrefix) || o.Annotations[wellknown.AnnotationRecoveryState] != string(nexusv1.RecoveryReleased) {
		return time.Time{}, false
	}
	until, err := time.Parse(time.RFC3339, o.Annotations[wellknown.AnnotationRecoverableUntil])
	return until, err == nil
}

// ReadRecord reads the record of a deleted capability.
func ReadRecord(o *corev1.ConfigMap) (Record, error) {
	out := Record{Capability: &nexusv1.NexusAICapability{}, Recovery: &nexusv1.RecoveryStatus{}}
	if err := json.Unmarshal([]byte(o.Data[recordedCapability]), out.Capability); err != nil {
		return Record{}, fmt.Errorf("reading %s of ConfigMap %s/%s: %w", recordedCapability, o.Namespace, o.Name, err)
	}
	if err := json.Unmarshal([]byte(o.Data[recordedRecovery]), out.Recovery); err != nil {
		return Record{}, fmt.Errorf("reading %s of ConfigMap %s/%s: %w", recordedRecovery, o.Namespace, o.Name, err)
	}
	return out, nil
}

// AsDeclared returns a capability as a person would create it again: without a status and without marks of its deletion.
func AsDeclared(c *nexusv1.NexusAICapability) *nexusv1.NexusAICapability {
	annotations := maps.Clone(c.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return key == wellknown.AnnotationUndo || key == wellknown.AnnotationDeleteNow || key == wellknown.AnnotationDeleteData ||
			key == corev1.LastAppliedConfigAnnotation || strings.HasPrefix(key, wellknown.AnnotationReconcileAt)
	})
	out := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, Labels: maps.Clone(c.Labels),
		Annotations: annotations},
		Spec: *c.Spec.DeepCopy()}
	out.SetGroupVersionKind(nexusv1.GroupVersion.WithKind(part.KindCapability))
	return out
}

// ToBeDeleted returns a capability that takes over the AWS resources of a deleted one, only to be deleted with them: without pods, without
// traffic and without a time to wait. The annotation holds the UID of the deleted capability, so that the creator finds it again.
func ToBeDeleted(c *nexusv1.NexusAICapability) *nexusv1.NexusAICapability {
	out := AsDeclared(c)
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[wellknown.AnnotationDeleteNow] = string(c.UID)
	out.Spec.DeletionPolicy, out.Spec.Deletion = nexusv1.DeletionDelete, &nexusv1.DeletionSpec{Graceful: &metav1.Duration{}}
	out.Spec.Suspend = false
	for i := range out.Spec.Components {
		workloads.WithoutRuns(&out.Spec.Components[i])
	}
	for _, w := range workloads.DeclaredComponents(&out.Spec) {
		w.Replicas, w.Autoscaling = new(int32), nil
	}
	if out.Spec.Ingress == nil {
		out.Spec.Ingress = &nexusv1.IngressSpec{}
	}
	out.Spec.Ingress.Enabled = new(bool)
	return out
}

// IsToBeDeleted reports whether ToBeDeleted made a capability. The annotation alone, which may be copied, marks none that serves.
func IsToBeDeleted(c *nexusv1.NexusAICapability) bool {
	of := c.Annotations[wellknown.AnnotationDeleteNow]
	return of != "" && of != string(c.UID) && equality.Semantic.DeepEqual(ToBeDeleted(c).Spec, c.Spec)
}
