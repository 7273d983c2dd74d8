// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// groupOf says how an alternative is used.
func (a alternative) groupOf() string {
	switch {
	case a.unused != "":
		return "exact: " + a.unused
	case a.isPattern && a.fromRoot:
		return "pattern, of the resource"
	case a.isPattern:
		return "pattern"
	case a.fromRoot:
		return "value, of the resource"
	default:
		return "value"
	}
}

// describe returns a line for each alternative of a type, and the number of each group.
func describe(t *testing.T, all *awstypes.Types, names []string) (lines []string, groups map[string]int) {
	t.Helper()
	groups = map[string]int{}
	for _, name := range names {
		text, err := all.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		of, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range of.transforms {
			for _, a := range tr.alternatives {
				reasons := strings.SplitN(a.groupOf(), ": ", 3) // the third repeats the expression
				groups[strings.Join(reasons[:min(2, len(reasons))], ": ")]++
				lines = append(lines, fmt.Sprintf("%s %s\t%s\t%q", name, Text(tr.at), a.groupOf(), a.text))
			}
		}
	}
	return lines, groups
}

const transformsFile = "transforms.txt"

// Each expression that AWS publishes is read, and used in one way. The file is made of all schemas; the sample compares those of the
// excerpt.
func TestTransforms_OfEverySchemaThatAWSPublishes(t *testing.T) {
	all := awstypes.Published(t)
	names := all.Names()
	lines, groups := describe(t, all, names)
	if extent.IsFull(t) {
		golden.Check(t, transformsFile, strings.Join(lines, "\n")+"\n")
		t.Logf("%v", groups)
		return
	}
	file, err := os.ReadFile("testdata/" + transformsFile)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.SplitSeq(string(file), "\n") {
		if name, _, _ := strings.Cut(line, " "); slices.Contains(names, name) {
			want = append(want, line)
		}
	}
	if !slices.Equal(lines, want) || len(lines) < 9 {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// typeWith returns a type with an expression for its property Name.
func typeWith(t interface{ Fatal(...any) }, expression string) *Type {
	text, err := json.Marshal(map[string]any{
		"typeName": "AWS::A::B", "properties": map[string]any{"Name": map[string]any{"type": "string"}, "Mode": map[string]any{"type": "string"}},
		"propertyTransform": map[string]string{"/properties/Name": expression},
	})
	if err != nil {
		t.Fatal(err)
	}
	of, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// sameName reports whether a name is shown as the expression says.
func sameName(t interface{ Fatal(...any) }, expression string, want, have any) bool {
	properties := map[string]any{"Name": want, "Mode": "fast"}
	return typeWith(t, expression).TransformAt("Name").Same(properties, properties, want, have)
}

func TestTransform_IsTheValueOrAPatternForIt(t *testing.T) {
	const key, id = "arn:.+?:kms:.+?:.+?:key\\/", "1234abcd"
	arn := func(account, id string) string { return "arn:aws:kms:eu-west-1:" + account + ":key/" + id }
	for _, c := range []struct {
		expression string
		want, have any
		same       bool
	}{
		{`$lowercase(Name)`, "Shop", "shop", true},
		{`$lowercase(Name)`, "Shop", "shop2", false},
		{`$lowercase(Name)`, "S.op", "shop", false},
		{`Name $OR $join([Name, "."]) $OR $uppercase(Name)`, "a", "A", true},
		{`Name $OR $join([Name, "."]) $OR $uppercase(Name)`, "a", "a.", true},
		{`Name $OR $join([Name, "."]) $OR $uppercase(Name)`, "a", "ab", false},
		{`$join(["` + key + `", Name])`, id, arn("1", id), true},
		{`$join(["` + key + `", Name])`, id, arn("1", id) + "5", false},
		{`$join(["` + key + `", Name])`, id, "x" + arn("1", id), false},
		{`$join(["` + key + `", Name])`, id, arn("1", "9999abcd"), false},
		{`$join(["` + key + `", Name])`, ".*", arn("1", "9999abcd"), false},
		{`$join(["` + key + `", Name])`, id, 7.0, false},
		{`$split(Name, "/")[-1]`, arn("1", id), id, true},
		{`$join([".*key/", $split(Name, "/")[-1]])`, arn("1", id), arn("1", id), true},
		{`$join([".*key/", $split(Name, "/")[-1]])`, arn("1", id), arn("2", id), false}, // the key of another account
		{`"arn:.*"`, id, arn("1", id), false},
		{`$join(["[", Name, "a-z]+"])`, "a", "bcd", false},
		{`$join([Name, ".*"])`, "8.0", "8.0.42", true},
		{`$join([Name, ".*"])`, "8.0", "810", false},
		{`Mode = "fast" ? $uppercase(Name) : Name`, "a", "A", true},
		{`$contains(Name, ".") ? Name : Name & ".0"`, "5", "5.0", true},
		{`Name * 1000`, 3.0, 3000.0, true},
		{`Name = [] ? null : Name`, "a", nil, false},
		{`$split(Name, "$OR")[0] $OR $replace(Name, /$OR.*/, "")`, "a$ORb", "a", true},
		{`($known := $lookup({"6": "tcp"}, Name); $known ? $known : $lowercase(Name))`, "6", "tcp", true},
		{`($known := $lookup({"6": "tcp"}, Name); $known ? $known : $lowercase(Name))`, "UDP", "udp", true},
		{`$unknown(Name)`, "a", "a", false},
		{`Missing & Name`, "a", "a", false},
		{`Name & `, "a", "a", false},
		{`$lowercase(`, "a", "a", false},
	} {
		if got := sameName(t, c.expression, c.want, c.have); got != c.same {
			t.Errorf("%s of %v and %v: %v", c.expression, c.want, c.have, got)
		}
	}
}

// Names refer to the object with the property if it has them, and otherwise to the resource.
func TestTransform_ChoosesWhatItsNamesAreOf(t *testing.T) {
	of, err := Parse([]byte(`{"typeName":"AWS::A::B","properties":{
		"Key":{"type":"string"}, "Engine":{"type":"string"},
		"Secret":{"type":"object","properties":{"Key":{"type":"string"},"Alias":{"type":"string"}}},
		"Rules":{"type":"array","items":{"type":"object","properties":{"Name":{"type":"string"},"Key":{"type":"string"}}}}},
		"propertyTransform":{"/properties/Secret/Key":"Secret.Key & Engine","/properties/Secret/Alias":"$uppercase(Key) & Alias",
		"/properties/Rules/*/Name":"$lowercase(Name) & Key","/properties/Rules/*/Key":"Engine & Key"}}`))
	if err != nil {
		t.Fatal(err)
	}
	root := map[string]any{"Key": "root", "Engine": "e", "Secret": map[string]any{"Key": "k", "Alias": "a"},
		"Rules": []any{map[string]any{"Name": "N", "Key": "1"}}}
	secret, rule := root["Secret"].(map[string]any), root["Rules"].([]any)[0].(map[string]any)
	for _, c := range []struct {
		at         []string
		within     map[string]any
		want, have string
		same       bool
	}{
		{[]string{"Secret", "Key"}, secret, "k", "ke", true},
		{[]string{"Secret", "Alias"}, secret, "a", "Ka", true},
		{[]string{"Rules", Every, "Name"}, rule, "N", "n1", true},
		{[]string{"Rules", Every, "Key"}, rule, "1", "e1", false}, // of no one object
	} {
		if got := of.TransformAt(c.at...).Same(root, c.within, c.want, c.have); got != c.same {
			t.Errorf("%v: %v", c.at, got)
		}
	}
	if of.TransformAt("Engine") != nil || of.TransformAt("Rules") != nil || of.TransformAt("Secret", "Key", "More") != nil {
		t.Error("a transform of another property")
	}
}

// A schema comes from the endpoint of a provider: no expression of one may use up time or memory, or end the process.
func TestTransform_IsBounded(t *testing.T) {
	doubling := "$a := Name & Name;" + strings.Repeat("$a := $a & $a;", 60) + "$a"
	for _, expression := range []string{
		`($f := function($x){$f($x)}; $f(Name))`, `$map([1..10000000], function($i){Name})`, `[1..10000000][0] & Name`, `Name ~> $uppercase()`,
		`$pad(Name, 100000000)`,
		`(` + doubling + `)`, strings.Repeat("(", 5000) + "Name" + strings.Repeat(")", 5000), `**.Name`, `*.Name`, `$$.Name`, `$.Name`,
		`Name^(>Name)`, `Name{Name: Name}`, `$eval(Name)`, `$error(Name)`,
		`$replace($replace($replace(Name, /./, Name), /./, Name), /./, Name)`, `$join($split(Name, ""), Name)`, `Mode[Name = "a"]`,
		`Name.$uppercase(Name)`, `($join := $lookup; $join(Name, Name))`,
	} {
		begun := time.Now()
		long := strings.Repeat("a", maxContext/2)
		if sameName(t, expression, long, "x") || time.Since(begun) > 5*time.Second {
			t.Errorf("%.60s", expression)
		}
		if a := typeWith(t, expression).TransformAt("Name").alternatives[0]; a.unused == "" {
			t.Errorf("%.60s is evaluated", expression)
		}
	}
	if sameName(t, "$lowercase(Name)", strings.Repeat("A", maxContext), strings.Repeat("a", maxContext)) {
		t.Error("a value of any size is evaluated")
	}
}

// The costliest expressions that are allowed take no long time on the largest values.
func TestTransform_OfTheLargestValueIsQuick(t *testing.T) {
	long := strings.Repeat("a.x-/", maxContext/5-100)
	for _, expression := range []string{
		`$join(["^", $replace($replace(Name, ".", "\\."), "x", "[0-9]+"), "$"])`, `$replace(Name, /\s+$/, '')`, `$split(Name, "/")[-1]`,
		`$lowercase($replace(Name, /(.*)\.$/, "$1"))`,
		`$match(Name, /(a)(.)(x)/).groups[0] & Name`, `$string($split(Name, "")) & Name`,
	} {
		begun := time.Now()
		sameName(t, expression, long, "x")
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%s took %s", expression, took)
		}
	}
}

// anyExpression draws an expression of the parts of JSONata that the schemas of AWS have, and of those that are refused.
func anyExpression(depth int) *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{"Name", "Mode", "Missing", `"a"`, `".*"`, "'x'", "1", "-1", "true", "null", "$a", "$", "/a+/",
		"[]", "**"})
	if depth == 0 {
		return leaf
	}
	below := anyExpression(depth - 1)
	forms := rapid.SampledFrom([]string{
		"$lowercase(%s)", "$split(%s, %s)[-1]", "$join([%s, %s])", "$replace(%s, %s, %s)", "$match(%s, %s).groups", "%s & %s", "%s ? %s : %s",
		"%s = %s", "(%s; %s)", "($a := %s; %s)", "%s in [%s]",
		"%s $OR %s", "$lookup({'a': %s}, %s)", "%s.%s", "%s[%s]", "$map(%s, function($x){%s})", "%s ~> $uppercase", "$string(%s)", "$count(%s)",
		"$substringAfter(%s, %s)", "%s * %s", "[%s..%s]", "(%s", "%s\"",
	})
	return rapid.Custom(func(t *rapid.T) string {
		form := forms.Draw(t, "form")
		args := make([]any, strings.Count(form, "%s"))
		for i := range args {
			args[i] = below.Draw(t, "part")
		}
		return fmt.Sprintf(form, args...)
	})
}

func TestTransform_OfAnyExpressionEnds(t *testing.T) {
	values := rapid.SampledFrom([]any{"", "a", "A.b", ".*", "\x00", "é", "arn:aws:a:b:c:d", 1.0, true, nil, []any{}, []any{"a"},
		map[string]any{"groups": "a"}})
	rapid.Check(t, func(rt *rapid.T) {
		expression := anyExpression(3).Draw(rt, "expression")
		want, have := values.Draw(rt, "want"), values.Draw(rt, "have")
		properties := map[string]any{"Name": want, "Mode": values.Draw(rt, "mode")}
		tr := typeWith(rt, expression).TransformAt("Name")
		same := tr.Same(properties, properties, want, have)
		if again := tr.Same(properties, properties, want, have); again != same {
			rt.Fatalf("%s of %v and %v: %v, then %v", expression, want, have, same, again)
		}
	})
}
