package networkpolicy

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// values is a set of what an object may carry under one label key.
type values struct {
	// absent says that objects without the key are in.
	absent bool
	// others says that every value but the listed is in; else only the listed are.
	others bool
	// listed is sorted.
	listed []string
}

func (v values) empty() bool { return !v.absent && !v.others && len(v.listed) == 0 }

func (v values) not() values { return values{absent: !v.absent, others: !v.others, listed: v.listed} }

func (v values) and(w values) values {
	out := values{absent: v.absent && w.absent, others: v.others && w.others}
	switch {
	case v.others && w.others:
		out.listed = slices.Compact(slices.Sorted(slices.Values(slices.Concat(v.listed, w.listed))))
	case v.others:
		out.listed = without(w.listed, v.listed)
	case w.others:
		out.listed = without(v.listed, w.listed)
	default:
		out.listed = without(v.listed, without(v.listed, w.listed))
	}
	return out
}

func without[T comparable](list, drop []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(item T) bool { return slices.Contains(drop, item) })
}

func (v values) equal(w values) bool {
	return v.absent == w.absent && v.others == w.others && slices.Equal(v.listed, w.listed)
}

// sayable splits a set into those that label requirements can say: "no such key, or one of these values"
// takes two selectors.
func (v values) sayable() []values {
	if v.absent && !v.others && len(v.listed) > 0 {
		return []values{{absent: true}, {listed: v.listed}}
	}
	return []values{v}
}

// requirements says the set, which is sayable and neither empty nor everything.
func (v values) requirements(key string) []metav1.LabelSelectorRequirement {
	var out []metav1.LabelSelectorRequirement
	switch {
	case v.absent && !v.others:
		return []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpDoesNotExist}}
	case !v.others:
		return []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpIn, Values: v.listed}}
	case !v.absent:
		out = append(out, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpExists})
	}
	if len(v.listed) > 0 {
		out = append(out, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: v.listed})
	}
	return out
}

// box is a conjunction: what must hold under each key. A key that is not there may hold anything. No box
// has a key that nothing satisfies: it would be no box.
type box map[string]values

// boxOf reads a selector. A requirement that it cannot read is left out, and exact is false: the box then
// holds more objects than the selector. No box at all is returned for a selector that contradicts itself.
func boxOf(s *metav1.LabelSelector) (b box, exact, some bool) {
	b, exact = box{}, true
	parts := []box{}
	for k, v := range s.MatchLabels {
		parts = append(parts, box{k: {listed: []string{v}}})
	}
	for _, e := range s.MatchExpressions {
		v, ok := meaning(e)
		if !ok {
			exact = false
			continue
		}
		parts = append(parts, box{e.Key: v})
	}
	for _, part := range parts {
		if b, some = b.and(part); !some {
			return nil, exact, false
		}
	}
	return b, exact, true
}

func meaning(e metav1.LabelSelectorRequirement) (values, bool) {
	listed := slices.Compact(slices.Sorted(slices.Values(e.Values)))
	switch e.Operator {
	case metav1.LabelSelectorOpIn:
		return values{listed: listed}, len(listed) > 0
	case metav1.LabelSelectorOpNotIn:
		return values{absent: true, others: true, listed: listed}, len(listed) > 0
	case metav1.LabelSelectorOpExists:
		return values{others: true}, true
	case metav1.LabelSelectorOpDoesNotExist:
		return values{absent: true}, true
	}
	return values{}, false
}

func (b box) at(key string) values {
	if v, ok := b[key]; ok {
		return v
	}
	return values{absent: true, others: true}
}

// with is the box with another set under a key.
func (b box) with(key string, v values) box {
	out := box{}
	maps.Copy(out, b)
	out[key] = v
	return out
}

// and is what is in both, unless nothing is.
func (b box) and(c box) (box, bool) {
	out := maps.Clone(b)
	for k, v := range c {
		both := b.at(k).and(v)
		if both.empty() {
			return nil, false
		}
		out = out.with(k, both)
	}
	return out, true
}

func (b box) meets(c box) bool {
	_, ok := b.and(c)
	return ok
}

// within says that everything in b is in c.
func (b box) within(c box) bool {
	for k, v := range c {
		if !b.at(k).and(v.not()).empty() {
			return false
		}
	}
	return true
}

func (b box) equal(c box) bool { return maps.EqualFunc(b, c, values.equal) }

// minus is what is in b and not in c, as boxes that do not meet: the first is outside under the first key,
// the second inside under the first and outside under the second, and so on. The keys are at least those of c.
func (b box) minus(c box, keys []string) []box {
	if !b.meets(c) {
		return []box{b}
	}
	var out []box
	rest := b
	for _, k := range keys {
		if _, ok := c[k]; !ok {
			continue
		}
		outside := rest.at(k).and(c[k].not())
		for _, v := range outside.sayable() {
			if !v.empty() {
				out = append(out, rest.with(k, v))
			}
		}
		rest = rest.with(k, rest.at(k).and(c[k]))
	}
	return out
}

// or is what is in either, where one box can say it: where they differ under one key only.
func (b box) or(c box) (box, bool) {
	var differ []string
	for k := range b {
		if !b[k].equal(c.at(k)) {
			differ = append(differ, k)
		}
	}
	for k := range c {
		if _, seen := b[k]; !seen {
			differ = append(differ, k)
		}
	}
	if len(differ) != 1 {
		return nil, false
	}
	k := differ[0]
	either := b.at(k).not().and(c.at(k).not()).not()
	out := b.with(k, either)
	if either.not().empty() {
		delete(out, k)
	}
	return out, len(either.sayable()) == 1
}

// join adds a box to others that it does not meet, as one with them where it can.
func join(boxes []box, b box) []box {
	for i, other := range boxes {
		if both, one := other.or(b); one {
			return join(slices.Delete(slices.Clone(boxes), i, i+1), both)
		}
	}
	return append(boxes, b)
}

// selector says the box, with labels where one value is asked for.
func (b box) selector() metav1.LabelSelector {
	var s metav1.LabelSelector
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if v := b[k]; !v.absent && !v.others && len(v.listed) == 1 {
			if s.MatchLabels == nil {
				s.MatchLabels = map[string]string{}
			}
			s.MatchLabels[k] = v.listed[0]
			continue
		}
		s.MatchExpressions = append(s.MatchExpressions, b[k].requirements(k)...)
	}
	return s
}
