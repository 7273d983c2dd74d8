// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// values is a set of the values that an object may have under one label key.
type values struct {
	// absent is true if objects without the key are in.
	absent bool
	// others is true if every value but the listed ones is in; otherwise only the listed ones are.
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
		out.listed = withoutValues(w.listed, v.listed)
	case w.others:
		out.listed = withoutValues(v.listed, w.listed)
	default:
		out.listed = withoutValues(v.listed, withoutValues(v.listed, w.listed))
	}
	return out
}

// meets reports whether a value is in both, without allocating.
func (v values) meets(w values) bool {
	switch {
	case v.absent && w.absent, v.others && w.others:
		return true
	case v.others:
		return slices.ContainsFunc(w.listed, func(s string) bool { return !slices.Contains(v.listed, s) })
	case w.others:
		return slices.ContainsFunc(v.listed, func(s string) bool { return !slices.Contains(w.listed, s) })
	default:
		return slices.ContainsFunc(v.listed, func(s string) bool { return slices.Contains(w.listed, s) })
	}
}

func withoutValues[T comparable](list, drop []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(item T) bool { return slices.Contains(drop, item) })
}

func (v values) equal(w values) bool {
	return v.absent == w.absent && v.others == w.others && slices.Equal(v.listed, w.listed)
}

// expressible splits a set into those that label requirements can say: "no such key, or one of these values"
// takes two selectors.
func (v values) expressible() []values {
	if v.absent && !v.others && len(v.listed) > 0 {
		return []values{{absent: true}, {listed: v.listed}}
	}
	return []values{v}
}

// requirements returns the set as label requirements, which is expressible and neither empty nor everything.
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

// podSet is a conjunction: the requirements on each key, sorted by key. A key that is not there may hold anything. No set has a key that
// nothing satisfies: it would be no set. It is a list because a namespace of a thousand policies compares millions of them, and ranging
// over small maps took a tenth of the time of a pass.
type podSet []requirement

type requirement struct {
	key string
	values
}

// podsWith returns a set of one key.
func podsWith(key string, v values) podSet { return podSet{{key, v}} }

// podSetOf reads a selector. A requirement that it cannot read is left out, and exact is false: the set then
// holds more objects than the selector. No set at all is returned for a selector that contradicts itself.
func podSetOf(s *metav1.LabelSelector) (b podSet, exact, some bool) {
	b, exact = podSet{}, true
	parts := []podSet{}
	for k, v := range s.MatchLabels {
		parts = append(parts, podsWith(k, values{listed: []string{v}}))
	}
	for _, e := range s.MatchExpressions {
		v, ok := parseRequirement(e)
		if !ok {
			exact = false
			continue
		}
		parts = append(parts, podsWith(e.Key, v))
	}
	for _, part := range parts {
		if b, some = b.and(part); !some {
			return nil, exact, false
		}
	}
	return b, exact, true
}

func parseRequirement(e metav1.LabelSelectorRequirement) (values, bool) {
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

// find returns where a key is, or where it would be.
func (b podSet) find(key string) (int, bool) {
	return slices.BinarySearchFunc(b, key, func(r requirement, key string) int { return strings.Compare(r.key, key) })
}

func (b podSet) at(key string) values {
	if i, ok := b.find(key); ok {
		return b[i].values
	}
	return values{absent: true, others: true}
}

// with is the set with another set under a key.
func (b podSet) with(key string, v values) podSet {
	i, ok := b.find(key)
	if ok {
		out := slices.Clone(b)
		out[i].values = v
		return out
	}
	out := make(podSet, 0, len(b)+1)
	return append(append(append(out, b[:i]...), requirement{key, v}), b[i:]...)
}

// and returns the intersection; false if it is empty.
func (b podSet) and(c podSet) (podSet, bool) {
	out := b
	for _, r := range c {
		both := b.at(r.key).and(r.values)
		if both.empty() {
			return nil, false
		}
		out = out.with(r.key, both)
	}
	return out, true
}

// meets reports whether something may be in both, without allocating.
func (b podSet) meets(c podSet) bool {
	for len(b) > 0 && len(c) > 0 {
		switch order := strings.Compare(b[0].key, c[0].key); {
		case order < 0:
			b = b[1:]
		case order > 0:
			c = c[1:]
		case !b[0].meets(c[0].values):
			return false
		default:
			b, c = b[1:], c[1:]
		}
	}
	return true
}

// within reports whether every pod in b is in c.
func (b podSet) within(c podSet) bool {
	return !slices.ContainsFunc(c, func(r requirement) bool { return !b.at(r.key).and(r.not()).empty() })
}

func (b podSet) equal(c podSet) bool {
	return slices.EqualFunc(b, c, func(r, s requirement) bool { return r.key == s.key && r.values.equal(s.values) })
}

// minus returns the pods of b that are not in c, as disjoint sets: the first is outside under the first key, the second inside under the
// first and outside under the second, and so on. The keys are at least those of c.
func (b podSet) minus(c podSet, keys []string) []podSet {
	if !b.meets(c) {
		return []podSet{b}
	}
	var out []podSet
	rest := b
	for _, k := range keys {
		i, ok := c.find(k)
		if !ok {
			continue
		}
		outside := rest.at(k).and(c[i].not())
		for _, v := range outside.expressible() {
			if !v.empty() {
				out = append(out, rest.with(k, v))
			}
		}
		rest = rest.with(k, rest.at(k).and(c[i].values))
	}
	return out
}

// or returns the union if one set can express it: if they differ under one key only.
func (b podSet) or(c podSet) (podSet, bool) {
	var differ []string
	for _, r := range b {
		if !r.equal(c.at(r.key)) {
			differ = append(differ, r.key)
		}
	}
	for _, r := range c {
		if _, seen := b.find(r.key); !seen {
			differ = append(differ, r.key)
		}
	}
	if len(differ) != 1 {
		return nil, false
	}
	k := differ[0]
	either := b.at(k).not().and(c.at(k).not()).not()
	out := b.with(k, either)
	if either.not().empty() {
		out = slices.DeleteFunc(out, func(r requirement) bool { return r.key == k })
	}
	return out, len(either.expressible()) == 1
}

// join adds a set to others that it does not meet, as one with them where it can.
func join(sets []podSet, b podSet) []podSet {
	for i, other := range sets {
		if both, one := other.or(b); one {
			return join(slices.Delete(slices.Clone(sets), i, i+1), both)
		}
	}
	return append(sets, b)
}

// selector returns the set as a selector, with labels where one value is asked for.
func (b podSet) selector() metav1.LabelSelector {
	var s metav1.LabelSelector
	for _, r := range b {
		if !r.absent && !r.others && len(r.listed) == 1 {
			if s.MatchLabels == nil {
				s.MatchLabels = map[string]string{}
			}
			s.MatchLabels[r.key] = r.listed[0]
			continue
		}
		s.MatchExpressions = append(s.MatchExpressions, r.requirements(r.key)...)
	}
	return s
}
