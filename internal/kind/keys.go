// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"slices"
	"strings"
)

// Keys settles the entries of map fields with one call for all entries to add, one for all entries with values that differ in a member,
// and, after these unless UnsetFirst, one for all entries to remove.
type Keys[S any] struct {
	Set, Change, Unset KeysCall[S]
	// OneByOne makes a call for each key instead.
	OneByOne bool
	// LookAfter requires a look after each call before the next call is sent; see Step.
	LookAfter bool
	// UnsetFirst reports whether entries are removed before others are added; nil is never.
	UnsetFirst func(want, have S) bool
	// UnsetStages counts the stages between the calls that add entries and those that remove some; 0 stands for 1.
	UnsetStages int
	// New are the keys that a new resource has.
	New []string
	// InCreate returns the keys of those wanted entries that the create makes; nil is none.
	InCreate func(want S) []string
}

// KeysCall is one AWS call for some keys of a map.
type KeysCall[S any] struct {
	Action string
	Do     func(ctx context.Context, want, have S, keys []string) error
}

// keysSteps returns the steps that settle the changes of the part's fields.
func keysSteps[S any](p Part[S], want, have S, diff Diff) []Step {
	var steps []Step
	for _, field := range p.Fields {
		set, changed, unset := diff.entries(field)
		last := Either(p.Keys.UnsetFirst != nil && p.Keys.UnsetFirst(want, have), -1, max(1, p.Keys.UnsetStages))
		for _, call := range []struct {
			keys  []string
			stage int
			KeysCall[S]
		}{{set, 0, p.Keys.Set}, {changed, 0, p.Keys.Change}, {unset, last, p.Keys.Unset}} {
			for _, keys := range p.Keys.batches(call.keys) {
				s := step(Call[S]{Action: call.Action, Do: func(ctx context.Context, want, have S) error {
					return call.Do(ctx, want, have, keys)
				}}, want, have, KeyPaths(field, keys)...)
				s.Stage, s.LookAfter = call.stage, p.Keys.LookAfter
				if p.Stage != nil {
					s.Stage += p.Stage(want, have)
				}
				steps = append(steps, s)
			}
		}
	}
	return steps
}

// batches returns the keys of each call.
func (k *Keys[S]) batches(keys []string) [][]string {
	return slices.Collect(slices.Chunk(keys, Either(k.OneByOne, 1, max(1, len(keys)))))
}

// entries splits the changes of a map field into the keys to add, those of entries with a member that differs, and those
// to remove. A key must not contain "]".
func (d Diff) entries(field string) (set, changed, unset []string) {
	for _, c := range d {
		rest, ok := strings.CutPrefix(c.Path, field+"[")
		if !ok {
			continue
		}
		key, member, _ := strings.Cut(rest, "]")
		switch {
		case c.Gone:
			unset = append(unset, key)
		case member == "":
			set = append(set, key)
		case !slices.Contains(changed, key):
			changed = append(changed, key)
		}
	}
	return set, changed, unset
}

// ofNew returns the keys that a new resource has before its entries are settled.
func (k *Keys[S]) ofNew(want S) []string {
	switch {
	case k == nil:
		return nil
	case k.InCreate != nil:
		return append(slices.Clone(k.New), k.InCreate(want)...)
	default:
		return k.New
	}
}

// newEntries returns the changes that give a new resource the wanted entries.
func newEntries[S any](p Part[S], want S) Diff {
	var diff Diff
	for _, field := range p.Fields {
		wanted := wantedKeys(want, field)
		for _, key := range wanted {
			if !slices.Contains(p.Keys.ofNew(want), key) {
				diff = append(diff, Change{Path: field + "[" + key + "]"})
			}
		}
		if p.Keys == nil || fieldOf(&want, field).IsNil() {
			continue
		}
		for _, key := range p.Keys.New {
			if !slices.Contains(wanted, key) {
				diff = append(diff, Change{Path: field + "[" + key + "]", Gone: true})
			}
		}
	}
	return diff
}

// WantedMembers returns the declared members by their names, and nil for those that the operator recorded and that are no
// longer declared; nil for none at all.
func WantedMembers[In, M any](recorded []string, declared []In, wanted func(In) (string, *M)) map[string]*M {
	if len(recorded)+len(declared) == 0 {
		return nil
	}
	out := map[string]*M{}
	for _, name := range recorded {
		out[name] = nil
	}
	for _, in := range declared {
		name, member := wanted(in)
		out[name] = member
	}
	return out
}

// ManagedMembers returns the names of the members that exist or are declared, in order.
func ManagedMembers[In, M any](found map[string]*M, declared []In, name func(In) string) []string {
	names := SortedKeys(found)
	for _, in := range declared {
		names = append(names, name(in))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// stageOf returns the stage of the step for a key of a map.
func (p Part[S]) stageOf(want, have S, key string) int {
	switch {
	case p.Each.Stage != nil:
		return p.Each.Stage(want, key)
	case p.Stage != nil:
		return p.Stage(want, have)
	default:
		return 0
	}
}

func eachSteps[S any](p Part[S], want, have S, diff Diff) []Step {
	var steps []Step
	for _, field := range p.Fields {
		set, unset := diff.Keys(field)
		for _, call := range []struct {
			keys []string
			KeyCall[S]
		}{{set, p.Each.Set}, {unset, p.Each.Unset}} {
			for _, key := range call.keys {
				if call.Do == nil || p.Each.Keys != nil && !p.Each.Keys(key) {
					continue
				}
				s := step(Call[S]{Action: call.Action, Do: func(ctx context.Context, want, have S) error {
					return call.Do(ctx, want, have, key)
				}}, want, have, field+"["+key+"]")
				s.Stage = p.stageOf(want, have, key)
				steps = append(steps, s)
			}
		}
	}
	return steps
}
