// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// fitting returns a text, or, where it does not match the pattern of the property, one that does and differs by the serial number. The text
// stays where no other is found.
func fitting(schema map[string]any, text string, serial int) string {
	pattern, _ := schema["pattern"].(string)
	whole := pattern
	if !strings.ContainsAny(pattern, "^$") { // the whole text, because ARNs contain identifiers, and their patterns have them as a whole
		whole = "^(?:" + pattern + ")$"
	}
	re, err := regexp.Compile(whole)
	if pattern == "" || err != nil || re.MatchString(text) {
		return text
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return text
	}
	if made := written(tree.Simplify(), fmt.Sprintf("%012d", serial)); made != "" && re.MatchString(made) {
		return withPlace(re, made, text)
	}
	return text
}

// withPlace returns an ARN with the region and the account of another, if it matches then.
func withPlace(re *regexp.Regexp, arn, other string) string {
	fields, of := strings.SplitN(arn, ":", 6), strings.SplitN(other, ":", 6)
	if len(fields) == 6 && len(of) == 6 {
		fields[3], fields[4] = of[3], of[4]
	}
	if placed := strings.Join(fields, ":"); re.MatchString(placed) {
		return placed
	}
	return arn
}

// fullLength is the length of repetitions that may be that long, so that they differ.
const fullLength = 12

// written returns a text that matches the tree of a pattern. Repeated characters are digits where they may be.
func written(tree *syntax.Regexp, digits string) string {
	switch tree.Op {
	case syntax.OpLiteral:
		return string(tree.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return character(tree, '0')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpStar:
		return repeated(tree.Sub[0], digits, tree.Op != syntax.OpCapture)
	case syntax.OpConcat:
		return concatenated(tree.Sub, digits)
	case syntax.OpAlternate:
		return written(tree.Sub[0], digits)
	default: // optional parts, and positions
		return ""
	}
}

// concatenated writes the parts one after the other. Single characters get the digits in turn, the last one first, so that short texts
// differ.
func concatenated(parts []*syntax.Regexp, digits string) string {
	var b strings.Builder
	single := 0
	for _, part := range parts {
		if part.Op != syntax.OpCharClass {
			b.WriteString(written(part, digits))
			continue
		}
		b.WriteString(character(part, rune(digits[len(digits)-1-single%len(digits)])))
		single++
	}
	return b.String()
}

// repeated writes a character as often as it differs, and any other expression once.
func repeated(tree *syntax.Regexp, digits string, plus bool) string {
	if !plus || tree.Op != syntax.OpCharClass {
		return written(tree, digits)
	}
	var b strings.Builder
	for _, digit := range digits[:fullLength] {
		b.WriteString(character(tree, digit))
	}
	return b.String()
}

// character returns a wanted character, or another that a class has.
func character(class *syntax.Regexp, wanted rune) string {
	if class.Op != syntax.OpCharClass {
		return string(wanted)
	}
	has := func(r rune) bool {
		for i := 0; i+1 < len(class.Rune); i += 2 {
			if class.Rune[i] <= r && r <= class.Rune[i+1] {
				return true
			}
		}
		return false
	}
	for _, r := range []rune{wanted, 'a' + wanted - '0', 'A' + wanted - '0', 'a'} {
		if has(r) {
			return string(r)
		}
	}
	return string(class.Rune[0])
}
