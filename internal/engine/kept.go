// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// annotationKept is the prefix of the annotations of an object for resources of deleted objects in AWS that still need its resource. Each
// of them has its own annotation, so that two objects that end at the same time do not overwrite each other's.
const annotationKept = wellknown.Prefix + "kept-"

// Kept describes a resource that a deleted object left in AWS.
type Kept struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// What names the remains, such as a final snapshot; empty for the resource itself.
	What string `json:"what,omitempty"`
	// Until is the end of the period during which AWS can restore the deleted resource. Zero for a resource that stays until a person
	// deletes it.
	Until time.Time `json:"until,omitzero"`
	// Elsewhere is true for a record on an object of another namespace: its readers must not learn about the objects of this one.
	Elsewhere bool `json:"-"`
}

// Recoverable is implemented by objects with a resource that AWS can restore for some days after its deletion.
type Recoverable interface {
	// RecoverableDays describes the data that AWS can restore, and for how many days; 0 days for none.
	RecoverableDays() (what string, days int)
}

// Annotation returns the annotation that records the resource.
func (k Kept) Annotation() (key, value string) {
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Kind, k.Namespace, k.Name, k.What}, "/")))
	if k.Elsewhere {
		k = Kept{Until: k.Until}
	}
	text, _ := json.Marshal(k) // texts only
	return annotationKept + hex.EncodeToString(sum[:8]), string(text)
}

// mostKept bounds the records of one object, so that its annotations stay within the limit of the API server. More records without an end
// would hold the object no longer than these do.
const mostKept = 500

// RecordKept returns annotations with the record of the resource that was left and, unless that is the object's resource itself, without
// the record that an earlier object of the same name had left its resource. It drops records of resources that AWS can no longer restore.
func RecordKept(annotations map[string]string, left Kept, stays bool, now time.Time) map[string]string {
	out := maps.Clone(annotations)
	maps.DeleteFunc(out, func(key, value string) bool {
		k := readKept(value)
		return strings.HasPrefix(key, annotationKept) && !k.Until.IsZero() && k.Until.Before(now)
	})
	if !stays || left.What != "" { // the resource itself is gone, which an earlier object may have left
		key, _ := Kept{Kind: left.Kind, Namespace: left.Namespace, Name: left.Name}.Annotation()
		delete(out, key)
	}
	if !stays {
		return out
	}
	key, value := left.Annotation()
	if _, known := out[key]; !known && len(KeptOf(out)) >= mostKept && !dropFirstToEnd(out) {
		return out
	}
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}

// dropFirstToEnd removes the record with the shortest time left for a restore; false if no record has an end.
func dropFirstToEnd(annotations map[string]string) bool {
	first, until := "", time.Time{}
	for key, value := range annotations {
		k := readKept(value)
		if strings.HasPrefix(key, annotationKept) && !k.Until.IsZero() && (first == "" || k.Until.Before(until)) {
			first, until = key, k.Until
		}
	}
	delete(annotations, first)
	return first != ""
}

// KeptOf reads the records of resources of deleted objects that need the resource of an object, in a fixed order. A record that cannot be
// read counts as one of an unknown object.
func KeptOf(annotations map[string]string) []Kept {
	var out []Kept
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasPrefix(key, annotationKept) {
			out = append(out, readKept(annotations[key]))
		}
	}
	return out
}

func readKept(value string) (k Kept) {
	_ = json.Unmarshal([]byte(value), &k)
	return k
}

// NeededDays returns for how many days AWS can still restore the resources that deleted objects left, and 0 for none.
func NeededDays(left []Kept, now time.Time) (days int) {
	const day = 24 * time.Hour
	for _, k := range left {
		days = max(days, int((k.Until.Sub(now)+day-1)/day))
	}
	return days
}

// FinalSnapshotter is implemented by objects with a status that names the final snapshot of AWS if it is not the declared one.
type FinalSnapshotter interface {
	// FinalSnapshot returns the name that the deletion chose, or "" for the declared one, and whether AWS makes a snapshot at all.
	FinalSnapshot() (name string, made bool)
}

// LeftBy returns the resource that an object leaves in AWS when its deletion ends: its own resource, or the remains of it. ok is false when
// nothing stays. stays is true if the resource stays for another reason than the deletion policy.
func LeftBy(o v1alpha1.Resource, kindName string, m kind.Meta, stays bool, now time.Time) (left Kept, ok bool) {
	intent, err := ReadIntent(o.GetAnnotations(), string(o.GetUID()))
	left = Kept{Kind: kindName, Namespace: o.GetNamespace(), Name: o.GetName()}
	if !mayExist(o, intent, err) {
		return left, false
	}
	if stays || DeletionPolicyOf(o, m) != v1alpha1.DeletionDelete || o.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve {
		return left, true
	}
	left.What = cmp.Or(finalSnapshotOf(o), volumesOf(o))
	if r, restorable := o.(Recoverable); restorable && left.What == "" {
		if what, days := r.RecoverableDays(); days > 0 {
			left.What, left.Until = what, now.AddDate(0, 0, days).UTC().Truncate(time.Second)
		}
	}
	return left, left.What != ""
}

// finalSnapshotOf names the snapshot that the deletion of an object's resource makes; empty where the kind has none
// or the spec skips it.
func finalSnapshotOf(o v1alpha1.Resource) string {
	spec := specOf(o)
	skip := spec.FieldByName("SkipFinalSnapshot")
	if !skip.IsValid() {
		return ""
	}
	chosen, made := "", true
	if s, ok := o.(FinalSnapshotter); ok {
		chosen, made = s.FinalSnapshot()
	}
	sc := kind.Scope{UID: string(o.GetUID())}
	name := sc.FinalSnapshot(o.CommonStatus().ID, cmp.Or(chosen, spec.FieldByName("FinalSnapshotIdentifier").String()), skip.Bool() || !made)
	return kind.Either(name == "", "", "snapshot "+name)
}

// volumesOf says that volumes of an instance outlive it; empty where none does. EC2 deletes the root device by default, and keeps
// the others.
func volumesOf(o v1alpha1.Resource) string {
	instance, ok := o.(*v1alpha1.EC2Instance)
	if !ok {
		return ""
	}
	for _, m := range instance.Spec.BlockDeviceMappings {
		isRoot := m.DeviceName == "/dev/xvda" || m.DeviceName == "/dev/sda1"
		ends := isRoot && m.EBS.DeleteOnTermination == nil || m.EBS.DeleteOnTermination != nil && *m.EBS.DeleteOnTermination
		if !ends && (m.EBS.KMSKeyRef != nil || m.EBS.KMSKeyID != "") {
			return "volume " + m.DeviceName
		}
	}
	return ""
}
