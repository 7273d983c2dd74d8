// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"reflect"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// Keys are keys of map fields of a state, by field.
type Keys map[string][]string

// keysOf returns the keys of the fields tagged keys: held are those that the resource has or is to get, and
// added those that it is to get. A tagged field holds parts of the resource that carry no tags,
// such as the inline policies of a role: only the record of their names shows that the operator wrote them.
func keysOf(want, have any) (held, added Keys) {
	w, h := reflect.ValueOf(want), reflect.ValueOf(have)
	held, added = Keys{}, Keys{}
	for i := range w.NumField() {
		f := w.Type().Field(i)
		if !slices.Contains(strings.Split(f.Tag.Get("drift"), ","), "keys") {
			continue
		}
		for _, k := range stringKeys(w.Field(i)) {
			key := reflect.ValueOf(k)
			wanted, exists := !w.Field(i).MapIndex(key).IsNil(), h.Field(i).MapIndex(key).IsValid()
			if wanted || exists {
				held[f.Name] = append(held[f.Name], k)
			}
			if wanted && !exists {
				added[f.Name] = append(added[f.Name], k)
			}
		}
	}
	return held, added
}

// covers reports whether k has every key of other.
func (k Keys) covers(other Keys) bool {
	for field, keys := range other {
		for _, key := range keys {
			if !slices.Contains(k[field], key) {
				return false
			}
		}
	}
	return true
}

// unrecordedKeys are the keys that were about to be written when the status was in sync last, and that the
// status may therefore not record.
func (r Record) unrecordedKeys() Keys {
	if r.Intent == nil || r.Intent.KeysGeneration <= r.SyncedGeneration {
		return nil
	}
	return r.Intent.Keys
}

// mustRecord reports whether keys that a plan adds must be persisted before it runs. At a generation that was
// in sync, the status records them.
func (o Owner) mustRecord(added Keys) bool {
	return o.Generation != o.Record.SyncedGeneration && !o.Record.unrecordedKeys().covers(added)
}

// writtenTags are the tag keys that the status or the intent records.
func writtenTags(st *v1alpha1.CommonStatus, i *Intent) []string {
	if i == nil || len(i.Tags) == 0 {
		return st.ManagedTagKeys
	}
	return union(st.ManagedTagKeys, i.Tags)
}

// removableTagKeys are the tag keys that are removed where they are not declared: those that were written, and the mark of a deletion that
// was undone, which an earlier object wrote.
func (w Written) removableTagKeys() []string {
	return append(slices.Clone(w.TagKeys), wellknown.TagRecoverableUntil)
}

// tagsToRecord returns the tag keys that the intent must record before a plan runs: those that it records, and
// those that the plan is to write and nothing records. A provider's defaultTags may be edited again before AWS was
// in sync once, and the tags written until then are still the operator's to remove. Once AWS was observed as
// declared, keys that are not declared are forgotten: from then on they would be another owner's.
func (o Owner) tagsToRecord(recorded []string, p Plan) []string {
	owners := o.OwnerTags()
	switch {
	case p.Cause == InSync:
		return slices.DeleteFunc(slices.Clone(recorded), func(key string) bool { return !slices.Contains(p.Written.TagKeys, key) })
	case p.Writes():
		return union(recorded, slices.DeleteFunc(slices.Clone(p.Written.TagKeys), func(key string) bool {
			_, always := owners[key]
			return always || slices.Contains(o.Written.TagKeys, key)
		}))
	default:
		return recorded
	}
}

// union returns the elements of both lists in order; nil for none.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
