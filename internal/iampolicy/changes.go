// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"cmp"
	"slices"
	"strings"
)

// StatementChange is one statement that differs between two documents.
type StatementChange struct {
	// Change is Added, Removed or Changed.
	Change ChangeKind `json:"change"`
	// Widens is true where the second document may allow something that the first does not: a statement that allows more, or one
	// that denies less. It is false only where that is certain.
	Widens bool   `json:"widens"`
	Sid    string `json:"sid,omitempty"`
	Effect string `json:"effect"`
	// Elements are the elements of an added or removed statement, and those that differ of a changed one.
	Elements []ElementChange `json:"elements"`
}

// ChangeKind is the kind of the change of a statement.
type ChangeKind string

// The kinds of changes.
const (
	StatementAdded   ChangeKind = "Added"
	StatementRemoved ChangeKind = "Removed"
	StatementChanged ChangeKind = "Changed"
)

// ElementChange lists the values that one element of a statement gains and loses. A condition is written as "OPERATOR KEY VALUE", and a
// principal as "TYPE NAME".
type ElementChange struct {
	Element string   `json:"element"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Changes compares two documents by statement. An empty text is a document without statements. It reports false where a text is no
// policy document.
func Changes(before, after string) ([]StatementChange, bool) {
	a, aok := statementsOf(before)
	b, bok := statementsOf(after)
	if !aok || !bok {
		return nil, false
	}
	a, b = withoutEqual(a, b)
	var out []StatementChange
	for _, s := range a {
		i := closest(s, b)
		if i < 0 {
			out = append(out, compareStatements(StatementRemoved, s, Statement{Effect: s.Effect}))
			continue
		}
		out = append(out, compareStatements(StatementChanged, s, b[i]))
		b = slices.Delete(b, i, i+1)
	}
	for _, s := range b {
		out = append(out, compareStatements(StatementAdded, Statement{Effect: s.Effect}, s))
	}
	return out, true
}

func statementsOf(text string) ([]Statement, bool) {
	if text == "" {
		return nil, true
	}
	if !strings.Contains(text, `"Statement"`) {
		return nil, false
	}
	d, err := Parse(text)
	return slices.Clone(d.Statement), err == nil
}

// withoutEqual leaves out the statements that both lists have, and repetitions.
func withoutEqual(a, b []Statement) (onlyA, onlyB []Statement) {
	missing := func(of, in []Statement) []Statement {
		known := canonicalStatements(in)
		return slices.DeleteFunc(slices.Clone(of), func(s Statement) bool {
			text := s.canonical()
			isKnown := slices.Contains(known, text)
			known = append(known, text)
			return isKnown
		})
	}
	return missing(a, b), missing(b, a)
}

// closest returns the index of the statement that another one became: that of the same name, or otherwise the one that shares the most
// actions and resources with it; -1 where there is none.
func closest(s Statement, among []Statement) int {
	best, most := -1, 0
	for i, o := range among {
		if !strings.EqualFold(s.Effect, o.Effect) {
			continue
		}
		if s.Sid != "" && s.Sid == o.Sid {
			return i
		}
		if n := shared(s, o); n > most && (s.Sid == "" || o.Sid == "") {
			best, most = i, n
		}
	}
	return best
}

// shared counts the actions and resources of two statements, and weighs actions more: resources are often "*".
func shared(a, b Statement) int {
	count := func(x, y Values) (n int) {
		for _, v := range x {
			if slices.Contains(y, v) {
				n++
			}
		}
		return n
	}
	return 2*count(mapValues(a.Action, strings.ToLower), mapValues(b.Action, strings.ToLower)) + count(a.Resource, b.Resource)
}

func compareStatements(kind ChangeKind, before, after Statement) StatementChange {
	out := StatementChange{Change: kind, Sid: cmp.Or(after.Sid, before.Sid), Effect: after.Effect}
	x, y := before.elements(), after.elements()
	for i, name := range elementNames {
		added, removed := minus(y[i], x[i]), minus(x[i], y[i])
		if len(added)+len(removed) > 0 {
			out.Elements = append(out.Elements, ElementChange{Element: name, Added: added, Removed: removed})
		}
	}
	out.Widens = out.widens()
	return out
}

// word is a value of an element as a document spells it, with the common meaning of all spellings of it.
type word struct{ text, meaning string }

// minus returns the values of a that b lacks in any spelling; nil where there are none.
func minus(a, b []word) (out []string) {
	for _, v := range a {
		if !slices.ContainsFunc(b, func(w word) bool { return w.meaning == v.meaning }) {
			out = append(out, v.text)
		}
	}
	return out
}

// elementNames are the elements that select the principals, actions and resources of a statement, in the order of elements.
var elementNames = [...]string{"Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition"}

func (s Statement) elements() [len(elementNames)][]word {
	same := func(v string) string { return v }
	return [...][]word{
		s.principalWords(s.Principal), s.principalWords(s.NotPrincipal), wordsOf(s.Action, strings.ToLower),
		wordsOf(s.NotAction, strings.ToLower),
		wordsOf(s.Resource, same), wordsOf(s.NotResource, same), s.Condition.words(),
	}
}

func wordsOf(values Values, meaning func(string) string) (out []word) {
	for _, v := range values {
		out = append(out, word{v, meaning(v)})
	}
	return sortedWords(out)
}

func sortedWords(words []word) []word {
	slices.SortFunc(words, func(a, b word) int {
		return cmp.Or(strings.Compare(a.meaning, b.meaning), strings.Compare(a.text, b.text))
	})
	return slices.CompactFunc(words, func(a, b word) bool { return a.meaning == b.meaning })
}

func (s Statement) principalWords(p Principals) (out []word) {
	for kind, names := range p {
		for _, name := range names {
			out = append(out, word{strings.TrimPrefix(kind+" "+name, Everyone+" "), s.canonicalPrincipal(kind, name)})
		}
	}
	return sortedWords(out)
}

func (c Conditions) words() (out []word) {
	for operator, keys := range c {
		for key, values := range keys {
			for _, v := range values {
				out = append(out, word{operator + " " + key + " " + v, operator + " " + strings.ToLower(key) + " " + asOperand(operator)(v)})
			}
		}
	}
	return sortedWords(out)
}

// widens reports whether the change may allow more. Any change of an element that excludes, and of a condition, may.
func (c StatementChange) widens() bool {
	allows := strings.EqualFold(c.Effect, Allow)
	if c.Change != StatementChanged {
		return allows == (c.Change == StatementAdded)
	}
	return slices.ContainsFunc(c.Elements, func(e ElementChange) bool {
		return e.Element == "Condition" || strings.HasPrefix(e.Element, "Not") || allows && len(e.Added) > 0 || !allows && len(e.Removed) > 0
	})
}
