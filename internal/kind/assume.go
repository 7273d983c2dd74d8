// SPDX-License-Identifier: Apache-2.0

package kind

import "slices"

// writesWhenNew reports whether the defaults of a new resource are known and a part is to be written to it.
func (t *table[CR, S]) writesWhenNew(want S) bool {
	return t.DefaultsWhenNew && slices.ContainsFunc(t.Parts, func(p Part[S]) bool { return p.afterCreate(want) && !isDefault(p, want) })
}

// afterCreate reports whether the part is declared and is not set by the create.
func (p Part[S]) afterCreate(want S) bool { return !p.InCreate && isDeclared(want, p.Fields) }

// mayBeAssumed reports whether the fields of a new resource need no look: they have their defaults.
func (p Part[S]) mayBeAssumed(want S) bool {
	return p.afterCreate(want) && (!p.NeedsLook || isDefault(p, want))
}

// assumeDefault fills in the fields of a new resource: the wanted values if they are the defaults, and otherwise no values, which differ
// from the wanted ones.
func (p Part[S]) assumeDefault(want S, have *S) {
	if isDefault(p, want) {
		for _, f := range p.Fields {
			fieldOf(have, f).Set(fieldOf(&want, f))
		}
	}
}
