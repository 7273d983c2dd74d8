// SPDX-License-Identifier: Apache-2.0

package kind

// Document is a value of a state with members that are known only at run time, such as the properties of a type with a schema from AWS. The
// engine compares it as it compares structs: members that the wanted value does not have are not managed, and one that is nil is wanted to
// be absent. A list is compared as a whole, and the same holds for the members of its elements.
type Document struct {
	// Value is JSON: objects, lists, texts, float64, true and false. It may contain *WriteOnly.
	Value map[string]any
	// Rule returns the comparison rule of the member at a path of names; elements of lists have the name EveryElement. Only the rules of
	// the wanted value count. Nil compares every member.
	Rule func(at []string) DocumentRule
}

// EveryElement stands for the elements of a list in the path of a rule.
const EveryElement = "*"

// DocumentRule says how a member of a document is compared. A mode holds for all members below.
type DocumentRule struct {
	// Skip leaves the member out.
	Skip bool
	// Ignored is true, beside Skip, for a member that the object leaves alone: how it differs is shown in plans.
	Ignored bool
	// Mode is that of the differences.
	Mode Mode
	// Unordered is true for a list in any order.
	Unordered bool
	// Same reports whether AWS shows a wanted value in another form, which is no difference. It gets the object with the wanted value, and is
	// asked where the two values differ and neither is absent or secret. Nil where AWS shows values as they were written.
	Same func(within map[string]any, want, have any) bool
	// Omitted reports whether AWS may leave a wanted value out of its answers, so that its absence is no difference. AWS may always leave
	// out an empty string or list, and, once it was written, an object with only empty values. Nil if AWS shows every other value.
	Omitted func(want any) bool
}

// RuleAt returns the rule of a member.
func (d *Document) RuleAt(at []string) DocumentRule {
	if d.Rule == nil {
		return DocumentRule{}
	}
	return d.Rule(at)
}
