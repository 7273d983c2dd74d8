// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Transform describes how AWS rewrites the values of a property: the propertyTransform of a schema. It is safe for concurrent use.
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
type Transform struct {
	at           path
	alternatives []alternative
}

// alternative is one of the values that AWS may show for a declared one.
type alternative struct {
	text string
	expression
	// fromRoot is true where the names of the expression are those of the whole resource, and not those of the object with the property.
	fromRoot bool
	// isPattern is true if the value is a regular expression for the value that AWS shows.
	isPattern bool
	// unused says why the alternative is not evaluated; empty where it is.
	unused string
}

// transformsOf reads the transforms of a schema, by the pointers to their properties.
func transformsOf(doc document, texts map[string]string) []*Transform {
	var out []*Transform
	for _, pointer := range slices.Sorted(maps.Keys(texts)) {
		tr := &Transform{at: pathsOf([]string{pointer})[0]}
		for _, text := range alternativesIn(texts[pointer]) {
			tr.alternatives = append(tr.alternatives, alternativeOf(doc, tr.at, text))
		}
		out = append(out, tr)
	}
	return out
}

// alternativeOf reads one alternative.
func alternativeOf(doc document, at path, text string) alternative {
	a := alternative{text: text}
	own, parent := at[len(at)-1], at[:len(at)-1]
	e, err := compile(text)
	if err != nil {
		a.unused = err.Error()
		return a
	}
	a.expression = e
	knows := func(parent path) bool {
		return !slices.ContainsFunc(a.context, func(name string) bool { return !doc.has(append(slices.Clone(parent), name)...) })
	}
	switch {
	case !doc.has(at...):
		a.unused = "is of no property of the schema"
	case !slices.Contains(a.names, own):
		a.unused = "does not read the property" // whatever AWS showed would be as declared
	case knows(parent):
	case knows(nil) && !slices.Contains(at, Every):
		a.fromRoot = true
	default:
		a.unused = "reads names that the schema does not have"
	}
	if a.unused == "" {
		a.readPattern(at)
	}
	return a
}

// probe stands for a declared text: two characters that no value has, which no function changes.
const probe = "\ue000\ue001"

// readPattern finds out whether the value is a regular expression, from its value for the probe: texts of the expression have signs of one.
// It must require the declared value; in a class of characters, it matches almost everything.
func (a *alternative) readPattern(at path) {
	context := map[string]any{at[len(at)-1]: probe}
	if a.fromRoot {
		for _, name := range slices.Backward(at[:len(at)-1]) {
			context = map[string]any{name: context}
		}
	}
	value, _ := a.eval(context)
	text, _ := value.(string)
	if !strings.ContainsAny(text, `*+?[(^$|\`) {
		return
	}
	tree, err := syntax.Parse(anchored(text), syntax.Perl)
	if err != nil || !requires(tree, probe) {
		a.unused = "is a pattern that does not require the value"
		return
	}
	a.isPattern = true
}

func anchored(pattern string) string { return "^(?:" + pattern + ")$" }

// requires reports whether each match of a pattern contains a text.
func requires(pattern *syntax.Regexp, text string) bool {
	one := func(part *syntax.Regexp) bool { return requires(part, text) }
	switch pattern.Op {
	case syntax.OpLiteral:
		return strings.Contains(string(pattern.Rune), text)
	case syntax.OpConcat:
		return slices.ContainsFunc(pattern.Sub, one)
	case syntax.OpCapture, syntax.OpPlus:
		return one(pattern.Sub[0])
	case syntax.OpRepeat:
		return pattern.Min > 0 && one(pattern.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(pattern.Sub, func(part *syntax.Regexp) bool { return !one(part) })
	default:
		return false
	}
}

// TransformAt returns the transform of the property at a path; nil if the schema has none.
func (t *Type) TransformAt(at ...string) *Transform {
	for _, tr := range t.transforms {
		if tr.at.contains(at) && !tr.at.contains(at[:len(at)-1]) {
			return tr
		}
	}
	return nil
}

// Same reports whether AWS shows a declared value as its schema says, with the value in the object within, and that in the properties
// root. Neither may have values that AWS hides, or that are secret. An expression without a value, and one that fails, says nothing.
func (tr *Transform) Same(root, within map[string]any, want, have any) bool {
	return slices.ContainsFunc(tr.alternatives, func(a alternative) bool { return a.same(root, within, want, have) })
}

func (a alternative) same(root, within map[string]any, want, have any) bool {
	if a.unused != "" || ofDifferentAccounts(want, have) {
		return false
	}
	context := within
	if a.fromRoot {
		context = root
	}
	if text, err := json.Marshal(context); err != nil || len(text) > maxContext {
		return false
	}
	shown, ok := a.eval(context)
	if !ok {
		return false
	}
	return reflect.DeepEqual(shown, have) || a.isPattern && matches(shown, want, have)
}

// ofDifferentAccounts reports whether two values are ARNs of different partitions, services, regions or accounts. The patterns of some
// schemas match the ARNs of all accounts, and the name of a function is one in each.
func ofDifferentAccounts(want, have any) bool {
	declared, _ := want.(string)
	text, _ := have.(string)
	a, b := strings.SplitN(declared, ":", 6), strings.SplitN(text, ":", 6)
	return len(a) == 6 && len(b) == 6 && a[0] == "arn" && b[0] == "arn" && !slices.EqualFunc(a[1:5], b[1:5], strings.EqualFold)
}

// maxPattern limits the length of patterns, and of the texts that are compared with them.
const maxPattern = 4 << 10

// matches reports whether a pattern matches the whole value that AWS shows. The declared value in it stands for itself.
func matches(shown, want, have any) bool {
	pattern, _ := shown.(string)
	declared, isText := want.(string)
	text, _ := have.(string)
	if !isText || declared == "" || len(pattern) > maxPattern || len(text) > maxPattern {
		return false
	}
	re, err := regexp.Compile(anchored(strings.Replace(pattern, declared, regexp.QuoteMeta(declared), 1)))
	return err == nil && re.MatchString(text)
}
