// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol/sample"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// typesApart lists the types that do not live in the suite, a line each with the reason.
//
//go:embed testdata/types-apart.txt
var typesApart string

// apart returns why a type does not live in the suite; empty for one that does.
func apart(name string) string { return reasonIn(typesApart, name) }

// reasonIn returns the reason that a list of types gives for one; empty if it is not in the list.
func reasonIn(list, name string) string {
	for line := range strings.Lines(list) {
		if of, why, _ := strings.Cut(strings.TrimSpace(line), ": "); of == name {
			return why
		}
	}
	return ""
}

// anyLife is the life of one type with generated properties.
type anyLife struct {
	*bench
	schema     *awsschema.Type
	sample     *sample.Type
	properties map[string]any
	fields     []awsschema.Field // read once: schemas may contain themselves
	// inSample is true for a type of the sample, in a run that is not of everything.
	inSample bool
}

// typeLife prepares the life of a type; nil if AWS cannot manage it, or if no properties are found.
func typeLife(t *testing.T, types *awstypes.Types, name string) (*anyLife, string) {
	t.Helper()
	text, err := types.Schema(name)
	kindtest.Must(t, err)
	schema, err := awsschema.Parse(text)
	kindtest.Must(t, err)
	if why := schema.Unmanageable(); why != "" {
		return nil, "no handlers"
	}
	of, err := sample.New(text)
	kindtest.Must(t, err)
	properties, err := of.Properties(1, schema.Tags.Property())
	if err != nil {
		return nil, "no properties"
	}
	delete(properties, schema.Tags.Property())
	return &anyLife{schema: schema, sample: of, properties: properties}, ""
}

// shapeOf describes how the resources of a type are found and owned: how many parts of the identifier are declared and how many AWS
// assigns, and the form of the tags and the operations that set them.
func shapeOf(schema *awsschema.Type) string {
	declared, assigned := 0, 0
	for _, part := range schema.Identity.Parts() {
		if schema.At(awsschema.PathOf(part)...).Rule().ReadOnly {
			assigned++
		} else {
			declared++
		}
	}
	tags := "no tags"
	if schema.Tags.Property() != "" {
		tags = fmt.Sprintf("tags in a %T, on create %v, fixed %v", schema.Tags.Write(nil), schema.Tags.OnCreate(), schema.Tags.AreFixed())
	}
	return fmt.Sprintf("%d declared, %d assigned, %s", min(declared, 2), min(assigned, 2), tags)
}

// shapes lists the types that live in the suites, and the shape of each.
var shapes = sync.OnceValues(func() (map[string]string, error) {
	types, err := awstypes.Bundled()
	if err != nil {
		return nil, err
	}
	defer func() { _ = types.Close() }() // it was only read
	out := map[string]string{}
	for _, name := range types.Names() {
		text, err := types.Schema(name)
		if err != nil {
			return nil, err
		}
		schema, err := awsschema.Parse(text)
		if err != nil {
			return nil, err
		}
		if apart(name) == "" && schema.Unmanageable() == "" {
			out[name] = shapeOf(schema)
		}
	}
	return out, nil
})

// sampled chooses types for the sample: one of each shape, and every 300th. Each suite begins with another one.
func sampled(t *testing.T, names []string, first int) []string {
	t.Helper()
	shapeOf, err := shapes()
	kindtest.Must(t, err)
	names = slices.Concat(names[first:], names[:first])
	seen := map[string]bool{}
	var out []string
	for i, name := range names {
		shape := shapeOf[name]
		if shape != "" && !seen[shape] && hasProperties(t, name) || i%300 == 0 {
			seen[shape] = true
			out = append(out, name)
		}
	}
	return out
}

// hasProperties reports whether the generator finds properties for a type.
func hasProperties(t *testing.T, name string) bool {
	t.Helper()
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	defer func() { _ = types.Close() }() // it was only read
	l, _ := typeLife(t, types, name)
	return l != nil
}

// Numbers of types in the sample of a suite: someOfSample where a type takes long.
const (
	allOfSample  = 20
	someOfSample = 5
)

// eachType runs a test for every type that lives in the suites, or, in the sample, for at most that many, which are of different shapes,
// and for those of the part of the run. Each gets another turn.
func eachType(t *testing.T, first, most int, do func(t *testing.T, types *awstypes.Types, l *anyLife, turn int)) {
	t.Helper()
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	names := types.Names()
	sample := sampled(t, names, first*30)
	if !extent.IsAll(t) {
		sample = evenly(sample, most)
	}
	lived := 0
	for turn, name := range extent.Spread(t, names, sample) {
		if apart(name) != "" {
			continue
		}
		l, _ := typeLife(t, types, name)
		if l == nil {
			continue
		}
		l.inSample = !extent.IsAll(t) && slices.Contains(sample, name)
		lived++
		t.Run(strings.ReplaceAll(strings.TrimPrefix(name, "AWS::"), "::", "."), func(t *testing.T) { do(t, types, l, turn) })
	}
	t.Logf("%d types", lived)
	if lived < leastTypes(t, min(most, 34)*9/10) {
		t.Errorf("%d types live", lived)
	}
}

// evenly returns at most n of the names, from all of the list.
func evenly(names []string, n int) (out []string) {
	for i := range min(n, len(names)) {
		out = append(out, names[i*len(names)/min(n, len(names))])
	}
	return out
}

// leastTypes returns the number of types that a suite must find: that of the sample, or 1,000 in a run of everything.
func leastTypes(t *testing.T, sample int) int {
	t.Helper()
	if extent.IsAll(t) {
		return 1000
	}
	return sample
}

// The page says how many types there are, and how many of them live in the suites.
func TestTypes_AreAsManyAsThePageSays(t *testing.T) {
	extent.Full(t)
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	names := types.Names()
	live, without := 0, map[string]int{}
	for _, name := range names {
		if apart(name) != "" {
			continue
		}
		if l, why := typeLife(t, types, name); l == nil {
			without[why]++
		} else {
			live++
		}
	}
	pageSays(t, fmt.Sprintf("of %s types, %d have no handlers, properties were not found for %d, and %s of the other %s are created",
		thousands(len(names)),
		without["no handlers"], without["no properties"], thousands(live), thousands(len(names)-without["no handlers"]-without["no properties"])))
}

// pageSays fails unless the page about these types has a sentence, whatever the ends of its lines.
func pageSays(t *testing.T, sentence string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/any-type.md")
	kindtest.Must(t, err)
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), sentence) {
		t.Errorf("docs/any-type.md does not say: %s", sentence)
	}
}

// thousands prints a number with a comma before its last three digits.
func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

func (l *anyLife) declare(properties map[string]any) {
	l.Edit(l.object(properties))
}

// shown returns the value of a property in AWS.
func (l *anyLife) shown(name string) any {
	found := l.double.Identifiers(l.schema.Name)
	if len(found) != 1 {
		l.t.Fatalf("%d resources", len(found))
	}
	return l.double.Properties(l.schema.Name, found[0])[name]
}

// begin creates the resource, and looks at it once more.
func (l *anyLife) begin(t *testing.T, types *awstypes.Types) {
	t.Helper()
	l.place(t, types, l.properties)
	kindtest.Settled(t, l.Subject)
	mark := l.Rig.AWS.Mark()
	kindtest.Settled(t, l.Subject)
	if calls := l.Rig.AWS.Since(mark); calls.Writes().Count() > 0 || len(calls) != 1 {
		t.Errorf("a look at what is as declared:\n%s", calls)
	}
}

// editable returns the properties that may be changed, and fixed those that may not.
func (l *anyLife) editable() (names, fixed []string) {
	for _, name := range slices.Sorted(maps.Keys(l.properties)) {
		rule := l.schema.At(name).Rule()
		switch {
		case rule.CreateOnly || l.schema.Identity.Contains(name):
			fixed = append(fixed, name)
		case !rule.Conditionally && !rule.WriteOnly && !l.hasFixedMember(name) && l.schema.Handlers.Support(awsschema.Update):
			names = append(names, name)
		}
	}
	return names, fixed
}

// hasFixedMember reports whether a member of a property has another rule.
func (l *anyLife) hasFixedMember(name string) bool {
	if l.fields == nil {
		l.fields = l.schema.Fields(5)
	}
	for _, f := range l.fields {
		if strings.HasPrefix(f.Path, name+".") || strings.HasPrefix(f.Path, name+"[") {
			if f.CreateOnly || f.ReadOnly || f.WriteOnly || f.Conditionally {
				return true
			}
		}
	}
	return false
}

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return reflect.DeepEqual(x, y)
}

// includes reports whether a value has everything that another one has: members of others stay.
func includes(got, want any) bool {
	members, isObject := want.(map[string]any)
	have, _ := got.(map[string]any)
	if elements, isList := want.([]any); isList {
		list, _ := got.([]any)
		return sameJSON(got, want) || slices.EqualFunc(list, elements, includes)
	}
	if !isObject {
		return sameJSON(got, want)
	}
	for name := range members {
		if !includes(have[name], members[name]) {
			return false
		}
	}
	return true
}

// changes edits a property, lets it drift and drops it.
func (l *anyLife) changes(name string) {
	before := l.properties[name]
	after, ok := l.sample.Another(l.properties, name, 2)
	if !ok || sameJSON(before, after) || l.sameSet(name, before, after) {
		return
	}
	edited := maps.Clone(l.properties)
	edited[name] = after
	l.declare(edited)
	kindtest.Settled(l.t, l.Subject)
	if got := l.shown(name); !sameJSON(got, after) {
		l.t.Errorf("%s after an edit is %v, want %v", name, got, after)
	}
	l.drifts(edited, name, before)
	dropped := maps.Clone(edited)
	delete(dropped, name)
	if l.schema.At(name).IsRequired() || !l.sample.IsValid(dropped) {
		l.declare(l.properties)
		kindtest.Settled(l.t, l.Subject)
		return
	}
	l.declare(dropped)
	kindtest.Settled(l.t, l.Subject)
	if got := l.shown(name); got != nil {
		l.t.Errorf("%s after it was dropped is %v", name, got)
	}
	delete(l.properties, name)
}

// drifts changes a property behind the operator. Members of others stay, so that two forms that exclude each other may not meet.
func (l *anyLife) drifts(declared map[string]any, name string, to any) {
	together := maps.Clone(declared)
	if members, isObject := declared[name].(map[string]any); isObject {
		both, _ := to.(map[string]any)
		both = maps.Clone(both)
		maps.Copy(both, members)
		together[name] = both
	}
	if !l.sample.IsValid(together) {
		return
	}
	kindtest.Must(l.t, l.double.Set(l.schema.Name, l.double.Identifiers(l.schema.Name)[0], name, to))
	l.Clock = l.Clock.Add(time.Hour)
	kindtest.Settled(l.t, l.Subject)
	if got := l.shown(name); !includes(got, declared[name]) {
		l.t.Errorf("%s after a drift is %v, want %v", name, got, declared[name])
	}
}

// sameSet reports whether two lists differ in their order alone.
func (l *anyLife) sameSet(name string, a, b any) bool {
	x, isList := a.([]any)
	y, _ := b.([]any)
	if !isList || len(x) != len(y) || !l.schema.At(name).Rule().Unordered {
		return false
	}
	texts := func(list []any) []string {
		var out []string
		for _, e := range list {
			out = append(out, fmt.Sprint(e))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(texts(x), texts(y))
}

// refuses declares another value of a property that cannot be changed.
func (l *anyLife) refuses(name string) {
	other, ok := l.sample.Another(l.properties, name, 2)
	if !ok || sameJSON(other, l.properties[name]) || l.sameSet(name, other, l.properties[name]) {
		return
	}
	edited := maps.Clone(l.properties)
	edited[name] = other
	l.declare(edited)
	mark := l.Rig.AWS.Mark()
	_, err := l.Settle(l.t.Context(), nil)
	if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonImmutable && s.Reason != status.ReasonIdentityChanged {
		l.t.Errorf("a change of %s, which is fixed: %v", name, err)
	}
	if n := l.Rig.AWS.Since(mark).Writes().Count(); n > 0 {
		l.t.Errorf("a change of %s, which is fixed, wrote:\n%s", name, l.Rig.AWS.Since(mark))
	}
	l.declare(l.properties)
	kindtest.Settled(l.t, l.Subject)
}

// Any type has the life of every kind, with properties that its schema generates: 40 types of the sample, and all of them in full runs.
func TestTypes_LiveTheLifeOfEveryKind(t *testing.T) {
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	names := types.Names()
	lived, left, sample := 0, map[string][]string{}, []string{}
	for i := 0; i < len(names); i += 41 {
		sample = append(sample, names[i])
	}
	for _, name := range extent.Spread(t, names, sample) {
		if why := apart(name); why != "" {
			left[why] = append(left[why], name)
			continue
		}
		l, why := typeLife(t, types, name)
		if l == nil {
			left[why] = append(left[why], name)
			continue
		}
		lived++
		t.Run(strings.ReplaceAll(strings.TrimPrefix(name, "AWS::"), "::", "."), func(t *testing.T) {
			l.begin(t, types)
			names, fixed := l.editable()
			for _, property := range extent.Sample(t, names, 3) {
				l.changes(property)
			}
			for _, property := range extent.Sample(t, fixed, 2) {
				l.refuses(property)
			}
			l.Deleting = true
			kindtest.Settled(t, l.Subject)
			if remaining := l.double.Identifiers(name); len(remaining) > 0 {
				t.Errorf("%v", remaining)
			}
		})
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		t.Logf("%d types, %s: %s", len(left[why]), why, strings.Join(left[why], ", "))
	}
	t.Logf("%d types live", lived)
	if lived < leastTypes(t, 30) {
		t.Errorf("%d types live", lived)
	}
}
