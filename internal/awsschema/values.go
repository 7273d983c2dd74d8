// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Problem is why AWS would refuse a property. No problem repeats a value, which may be secret.
type Problem struct {
	// At is the path of the property, such as Rules[1].Id; empty for the properties as a whole.
	At string
	// Text continues a sentence that begins with the path, such as "is required".
	Text string

	// unseen is the path of the property without which the value has the problem, and that AWS never shows; empty for every other problem. Of
	// several such properties, their paths are joined by "and".
	unseen string
}

// isRequired is the text of a problem with a property that is not there.
const isRequired = "is required"

// Below returns the path of the property within the field that has the properties.
func (p Problem) Below(field string) string { return strings.TrimSuffix(field+"."+p.At, ".") }

// maxJoined limits the problems in one message.
const maxJoined = 5

// Joined returns the path of the first problem and a text that continues it, with the other problems; empty for none. The field has the
// properties.
func Joined(field string, problems []Problem) (at, text string) {
	for i, p := range problems {
		switch i {
		case 0:
			at, text = p.Below(field), p.Text
		case maxJoined:
			return at, text + "; …"
		default:
			text += "; " + p.Below(field) + ": " + p.Text
		}
	}
	return at, text
}

// CheckSchema returns why values cannot be checked against the schema; AWS checks them then. The validator is made at the first use.
func (t *Type) CheckSchema() error {
	t.once.Do(func() { t.valid, t.invalid = validatorOf(t.doc.root) })
	return t.invalid
}

// validatorOf reads a schema as AWS writes them, in draft 7 of JSON schema. The schema's own $schema and $id are left out: it is at no
// address.
func validatorOf(doc map[string]any) (*jsonschema.Schema, error) {
	own := maps.Clone(doc)
	delete(own, "$schema")
	delete(own, "$id")
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	rules, err := jsonschema.UnmarshalJSON(bytes.NewReader(text)) // with the numbers that the validator wants
	if err != nil {
		return nil, err
	}
	const location = "https://schema.cloudformation.us-east-1.amazonaws.com/type.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(location, rules); err != nil {
		return nil, err
	}
	return c.Compile(location)
}

// anyText matches every text.
var anyText = regexp.MustCompile(``)

// unicodeEscape is a character by its number, as JavaScript and Java write it.
var unicodeEscape = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// manyTimes is a repetition of up to 1001 times and more, which package regexp refuses.
var manyTimes = regexp.MustCompile(`\{(\d{1,3}),([1-9]\d{3,})\}`)

// compilePattern compiles a pattern of a schema. AWS evaluates patterns with Java. Package regexp has no look-ahead and no intersection of
// classes: such a pattern matches every text here, and a repetition of more than 1000 times has no upper bound. AWS checks the rest.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(manyTimes.ReplaceAllString(unicodeEscape.ReplaceAllString(pattern, `\x{$1}`), `{$1,}`)); err == nil &&
		!strings.Contains(pattern, "&&[") {
		return re, nil
	}
	return anyText, nil
}

// Problems returns why AWS would refuse properties for a new resource, in the order of the schema's own checks: names, properties that AWS
// assigns, required properties, and then each value by its path. It leaves out values if isUnknown reports true for them, such as
// references that are not resolved yet; nil knows all values. Members that are null are absent.
func (t *Type) Problems(properties map[string]any, isUnknown func(any) bool) []Problem {
	out := t.namesAt(properties)
	if at := t.At().assignedIn(properties); at != "" {
		out = append(out, Problem{At: at, Text: "is assigned by AWS and cannot be declared"})
	}
	if name := t.Tags.Property(); name != "" && properties[name] != nil {
		out = append(out, Problem{At: name, Text: "declares tags, which the operator merges with those of the owner: declare them in spec.tags"})
	}
	for _, name := range t.required {
		if properties[name] == nil && name != t.Tags.Property() && !t.At(name).isAssigned() {
			out = append(out, t.marks.missingAt(name))
		}
	}
	return append(out, t.wrongValues(properties, isUnknown)...)
}

// missingAt returns the problem of a required property that is not there.
func (m *marks) missingAt(at string) Problem {
	p := Problem{At: at, Text: isRequired}
	if anyContains(m.write, PathOf(at)) {
		p.unseen = at
	}
	return p
}

func (t *Type) namesAt(properties map[string]any) []Problem {
	var out []Problem
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !t.doc.has(name) {
			out = append(out, Problem{At: name, Text: "is no property of " + t.Name + "; it has " + strings.Join(t.Properties(), ", ")})
		}
	}
	return out
}

// wrongValues returns the problems below the names of the properties. A schema that cannot be compiled leaves them to AWS.
func (t *Type) wrongValues(properties map[string]any, isUnknown func(any) bool) []Problem {
	if t.CheckSchema() != nil {
		return nil
	}
	known := known(properties, isUnknown)
	var invalid *jsonschema.ValidationError
	switch err := t.validate(known); {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []Problem{{Text: "cannot be read: " + err.Error()}}
	}
	f := &finder{marks: t.marks, known: known, given: withoutNulls(properties), isUnknown: isUnknown}
	f.find(invalid)
	slices.SortStableFunc(f.found, func(a, b Problem) int { return strings.Compare(a.At, b.At) })
	return slices.Compact(f.found)
}

// validate returns the validator's error for a value.
func (t *Type) validate(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	numbered, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return t.valid.Validate(numbered)
}

// EmptyRefused returns the paths of the members of objects in properties that are empty texts, lists or objects, and that the schema
// refuses where they are, in order. The names of elements of lists are their numbers.
func (t *Type) EmptyRefused(properties map[string]any) [][]string {
	var invalid *jsonschema.ValidationError
	if t.CheckSchema() != nil || !errors.As(t.validate(properties), &invalid) {
		return nil
	}
	var out [][]string
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		if at := e.InstanceLocation; isEmptyMember(properties, at) {
			out = append(out, at)
			return
		}
		switch e.ErrorKind.(type) {
		case *kind.OneOf, *kind.AnyOf: // of several forms, only the one that is meant counts
			if meant := meantForm(e.InstanceLocation, e.Causes); meant != nil {
				visit(meant)
			}
		default:
			for _, cause := range e.Causes {
				visit(cause)
			}
		}
	}
	visit(invalid)
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

// isEmptyMember reports whether a path leads to an empty member of an object.
func isEmptyMember(value any, at []string) bool {
	isObject := false
	for _, name := range at {
		_, isObject = value.(map[string]any)
		value = member(value, name)
	}
	return isObject && isEmpty(value)
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	default:
		return false
	}
}

// unknownText stands for a value that is not known yet. No value may contain its first character.
const unknownText = "\x00unknown"

// known returns a value for the validator: without members that are null, and with a text in the place of each unknown value.
func known(value any, isUnknown func(any) bool) any {
	if isUnknown != nil && isUnknown(value) {
		return unknownText
	}
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			if member != nil {
				out[name] = known(member, isUnknown)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = known(element, isUnknown)
		}
		return out
	default:
		return value
	}
}

func withoutNulls(value any) any { return known(value, nil) }

// finder translates the errors of the validator.
type finder struct {
	marks        *marks
	known, given any
	isUnknown    func(any) bool
	found        []Problem
}

// find collects the innermost problems below one that the validator reports.
func (f *finder) find(invalid *jsonschema.ValidationError) {
	switch at := invalid.InstanceLocation; what := invalid.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		f.findForm(invalid)
	case *kind.Required:
		if len(at) > 0 { // those of the type itself are known
			for _, name := range what.Missing {
				f.found = append(f.found, f.marks.missingAt(f.locateMember(at, name)))
			}
		}
	case *kind.Dependency:
		f.found = append(f.found, Problem{locate(f.given, at), missing(what.Missing), f.unseenIn(invalid)})
	case *kind.AdditionalProperties:
		if len(at) > 0 {
			f.add(at, "has no property "+strings.Join(what.Properties, ", "))
		}
	default:
		if len(invalid.Causes) == 0 && !f.hasUnknown(at) {
			f.add(at, textOfProblem(what))
		}
		for _, cause := range invalid.Causes {
			f.find(cause)
		}
	}
}

// findForm collects the problems with the form that a value is meant to have, or the forms that it may have.
func (f *finder) findForm(invalid *jsonschema.ValidationError) {
	switch meant := meantForm(invalid.InstanceLocation, invalid.Causes); {
	case meant != nil:
		f.find(meant)
	case !f.hasUnknown(invalid.InstanceLocation):
		at := locate(f.given, invalid.InstanceLocation)
		f.found = append(f.found, Problem{at, alternatives(invalid.ErrorKind, invalid.Causes), f.unseenIn(invalid)})
	}
}

// unseenIn returns the paths of the properties that AWS never shows, if a value or one of its possible forms lacks only these; empty if it
// has another problem, too.
func (f *finder) unseenIn(invalid *jsonschema.ValidationError) string {
	switch what := invalid.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		for _, form := range invalid.Causes {
			if at := f.unseenIn(form); at != "" {
				return at
			}
		}
		return ""
	case *kind.Required:
		return f.unseenOf(invalid.InstanceLocation, what.Missing)
	case *kind.Dependency:
		return f.unseenOf(invalid.InstanceLocation, what.Missing)
	default:
		return allOf(invalid.Causes, f.unseenIn)
	}
}

// unseenOf returns the paths of the members of an object if AWS shows none of them.
func (f *finder) unseenOf(at, names []string) string {
	return allOf(names, func(name string) string { return f.marks.missingAt(f.locateMember(at, name)).unseen })
}

// allOf joins the results of a function for each element; empty if it returns nothing for one.
func allOf[E any](elements []E, text func(E) string) string {
	out := make([]string, len(elements))
	for i, e := range elements {
		if out[i] = text(e); out[i] == "" {
			return ""
		}
	}
	return strings.Join(out, " and ")
}

// locateMember returns the path of a member of an object that need not have it.
func (f *finder) locateMember(at []string, name string) string {
	return locate(f.given, append(slices.Clone(at), name))
}

func (f *finder) add(at []string, text string) {
	f.found = append(f.found, Problem{At: locate(f.given, at), Text: text})
}

// hasUnknown reports whether a value is, or contains, one that is not known yet.
func (f *finder) hasUnknown(at []string) bool {
	if f.isUnknown == nil {
		return false
	}
	value := f.known
	for _, key := range at {
		value = member(value, key)
	}
	text, err := json.Marshal(value)
	return err != nil || bytes.Contains(text, []byte(`\u0000unknown`))
}

// member returns a member of an object or an element of a list.
func member(value any, key string) any {
	switch value := value.(type) {
	case map[string]any:
		return value[key]
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i < len(value) {
			return value[i]
		}
	}
	return nil
}

// locate returns the path that leads through a value, such as Rules[1].Id.
func locate(value any, at []string) string {
	var b strings.Builder
	for _, key := range at {
		switch _, isList := value.([]any); {
		case isList:
			b.WriteString("[" + key + "]")
		case b.Len() > 0:
			b.WriteString("." + key)
		default:
			b.WriteString(key)
		}
		value = member(value, key)
	}
	return b.String()
}

func missing(names []string) string {
	if len(names) == 1 {
		return "needs the property " + names[0]
	}
	return "needs the properties " + strings.Join(names, ", ")
}

// maxAlternatives limits the forms of a value that a problem describes.
const maxAlternatives = 4

// alternatives says that a value has none of the forms that the schema offers, or several that exclude each other.
func alternatives(what jsonschema.ErrorKind, causes []*jsonschema.ValidationError) string {
	if one, is := what.(*kind.OneOf); is && len(one.Subschemas) > 0 {
		return "has several forms that exclude each other"
	}
	var forms []string
	for _, cause := range causes {
		if text := innermost(cause); !slices.Contains(forms, text) {
			forms = append(forms, text)
		}
	}
	if len(forms) > maxAlternatives {
		forms = append(forms[:maxAlternatives], "…")
	}
	return strings.Join(forms, ", or ")
}

// meantForm returns the only form that a value has, apart from problems within its members; nil for none, and for several.
func meantForm(at []string, causes []*jsonschema.ValidationError) *jsonschema.ValidationError {
	within := slices.DeleteFunc(slices.Clone(causes), func(cause *jsonschema.ValidationError) bool { return !isWithin(at, cause) })
	if len(within) != 1 {
		return nil
	}
	return within[0]
}

// isWithin reports whether all innermost problems are those of members.
func isWithin(at []string, invalid *jsonschema.ValidationError) bool {
	if len(invalid.Causes) == 0 {
		return len(invalid.InstanceLocation) > len(at)
	}
	return !slices.ContainsFunc(invalid.Causes, func(cause *jsonschema.ValidationError) bool { return !isWithin(at, cause) })
}

// innermost describes the first problem of one form.
func innermost(invalid *jsonschema.ValidationError) string {
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	switch what := invalid.ErrorKind.(type) {
	case *kind.Required:
		return missing(what.Missing)
	case *kind.AdditionalProperties:
		return "has no property " + strings.Join(what.Properties, ", ")
	default:
		return textOfProblem(what)
	}
}

// textOfProblem describes a problem without the value that has it.
func textOfProblem(what jsonschema.ErrorKind) string {
	switch what := what.(type) {
	case *kind.Type:
		return "must be " + articles(what.Want) + ", and is " + articles([]string{what.Got})
	case *kind.Enum:
		return "must be one of " + listed(what.Want)
	case *kind.Const:
		return "must be " + listed([]any{what.Want})
	case *kind.Pattern:
		return "must match the pattern " + what.Want
	default:
		return textOfLimit(what)
	}
}

func textOfLimit(what jsonschema.ErrorKind) string {
	switch what := what.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("has %d characters, and needs %d or more", what.Got, what.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters, and may have %d", what.Got, what.Want)
	case *kind.MinItems:
		return fmt.Sprintf("has %d elements, and needs %d or more", what.Got, what.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d elements, and may have %d", what.Got, what.Want)
	case *kind.Minimum:
		return "must be at least " + what.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + what.Want.RatString()
	case *kind.UniqueItems:
		return fmt.Sprintf("has the element %d twice, at %d as well", what.Duplicates[0], what.Duplicates[1])
	default:
		return "does not satisfy " + strings.Join(what.KeywordPath(), "/") + " of the schema of the type"
	}
}

// articles writes names of JSON types as nouns.
func articles(types []string) string {
	out := make([]string, len(types))
	for i, name := range types {
		switch name {
		case "null":
			out[i] = name
		case "array":
			out[i] = "a list"
		case "object", "integer":
			out[i] = "an " + name
		default:
			out[i] = "a " + name
		}
	}
	return strings.Join(out, " or ")
}

// listed writes values that a schema allows.
func listed(values []any) string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = textOf(value)
	}
	return strings.Join(out, ", ")
}
