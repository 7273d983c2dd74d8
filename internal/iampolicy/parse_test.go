// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParse_AcceptsAllForms(t *testing.T) {
	want := Document{Version: Version2012, ID: "p", Statement: []Statement{{
		Sid: "s", Effect: Allow,
		Principal: Principals{"AWS": {"123456789012"}, "Service": {"a", "b"}},
		Action:    Values{"s3:GetObject"}, NotResource: Values{"x", "y"},
		Condition: Conditions{"NumericEquals": {"k": {"1", "2.5", "100", "12345678901234567890"}}, "Bool": {"b": {"false"}},
			"StringLike": {"s": {}}},
	}}}
	for name, text := range map[string]string{
		"lists": `{"Version":"2012-10-17","Id":"p","Statement":[{"Sid":"s","Effect":"Allow","Principal":{"AWS":["123456789012"],"Service":["a","b"]},
			"Action":["s3:GetObject"],"NotResource":["x","y"],
			"Condition":{"NumericEquals":{"k":["1","2.5","100","12345678901234567890"]},"Bool":{"b":["false"]},"StringLike":{"s":[]}}}]}`,
		"single values and bare scalars": `{"Statement":{"Condition":{"Bool":{"b":false},"NumericEquals":{"k":[1,2.50,1e2,12345678901234567890]},"StringLike":{"s":[]}},
			"NotResource":["x","y"],"Action":"s3:GetObject","Principal":{"Service":["a","b"],"AWS":"123456789012"},"Effect":"Allow","Sid":"s"},"Id":"p","Version":"2012-10-17"}`,
		"names in another case": `{"version":"2012-10-17","ID":"p","statement":[{"sid":"s","EFFECT":"Allow","principal":{"AWS":"123456789012","Service":["a","b"]},
			"action":"s3:GetObject","notResource":["x","y"],"condition":{"NumericEquals":{"k":[1,2.5,100,12345678901234567890]},"Bool":{"b":false},"StringLike":{"s":[]}}}]}`,
	} {
		if got := parse(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
	for text, want := range map[string]Principals{`"*"`: {Everyone: {Everyone}}, `{"*":"*"}`: {Everyone: {Everyone}}, `{}`: {},
		`{"AWS":[]}`: {"AWS": {}}} {
		if got := parse(t, `{"Statement":{"Principal":`+text+`}}`).Statement[0].Principal; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", text, got, want)
		}
	}
}

func TestParse_ErrorNamesFieldAndPlace(t *testing.T) {
	for _, c := range []struct {
		text         string
		field        string
		line, column int
		message      string
	}{
		{``, "", 1, 1, "is not valid JSON: the text ends too early"},
		{"{\n", "", 2, 1, "is not valid JSON: the text ends too early"},
		{"{\"Statement\":\n [}", "Statement", 2, 3, "is not valid JSON: invalid character '}'"},
		{`{"Statement":[{}]`, "", 1, 18, "is not valid JSON: the text ends too early"},
		{`{"Statement":[{"Effect":"Allow"}]} {}`, "", 1, 36, "has text after the end of the JSON value"},
		{`{"Statement":[{"Effect":"Allow"}]}x`, "", 1, 35, "has text after the end of the JSON value"},
		{`[]`, "", 1, 1, "must be a JSON object, not a list"},
		{`null`, "", 1, 1, "must be a JSON object, not null"},
		{`{}`, "", 1, 1, "has no Statement"},
		{`{"Version":"2012-10-17","Statement":[]}`, "", 1, 1, "has no Statement"},
		{`{"Statement":null}`, "Statement", 1, 14, "must be a JSON object, not null"},
		{`{"Statement":[{},"x"]}`, "Statement[1]", 1, 18, "must be a JSON object, not a string"},
		{`{"Version":2012,"Statement":{}}`, "Version", 1, 12, "must be a string, not a number"},
		{`{"Statment":{}}`, "Statment", 1, 13, "is not an element of a policy document"},
		{"{\"Statement\":[\n  {\"Effekt\":\"Allow\"}]}", "Statement[0].Effekt", 2, 13, "is not an element of a policy document"},
		{`{"Statement":{"Action":"*","Action":"s3:GetObject"}}`, "Statement.Action", 1, 28, "occurs twice"},
		{`{"Statement":{"Action":"*","action":"s3:GetObject"}}`, "Statement.action", 1, 37, "occurs twice"},
		{`{"Statement":{"Effect":["Deny"]}}`, "Statement.Effect", 1, 24, "must be a string, not a list"},
		{`{"Statement":{"Action":{"a":"*"}}}`, "Statement.Action", 1, 24, "must be a string or a list of strings, not an object"},
		{`{"Statement":{"Action":[["*"]]}}`, "Statement.Action", 1, 25, "must be a string or a list of strings, not a list"},
		{`{"Statement":{"Resource":7}}`, "Statement.Resource", 1, 26, "must be a string or a list of strings, not a number"},
		{`{"Statement":{"NotAction":null}}`, "Statement.NotAction", 1, 27, "must be a string or a list of strings, not null"},
		{`{"Statement":{"Principal":["*"]}}`, "Statement.Principal", 1, 27, `must be "*" or a JSON object of principals by type, not a list`},
		{`{"Statement":{"Principal":{"AWS":123456789012}}}`, "Statement.Principal.AWS", 1, 34,
			"must be a string or a list of strings, not a number"},
		{`{"Statement":{"Condition":"x"}}`, "Statement.Condition", 1, 27, "must be a JSON object of operators, not a string"},
		{`{"Statement":{"Condition":{"Bool":true}}}`, "Statement.Condition.Bool", 1, 35, "must be a JSON object of context keys, not a boolean"},
		{`{"Statement":{"Condition":{"Bool":{"k":null}}}}`, "Statement.Condition.Bool.k", 1, 40,
			"must be a string or a list of strings, not null"},
		{`{"Statement":{"Condition":{"NumericEquals":{"k":1e999}}}}`, "Statement.Condition.NumericEquals.k", 1, 49,
			"has a number that is too large"},
		{`{"` + strings.Repeat("x", 70) + `":1}`, strings.Repeat("x", 64) + "…", 1, 75, "is not an element of a policy document"},
		{strings.Repeat(" ", MaxSize) + "{}", "", 0, 0, "has 131074 bytes, at most 131072 are allowed"},
		{strings.Repeat("[", 50), strings.Repeat("[0]", 12), 1, 13, "is nested too deeply: at most 12 levels are allowed"},
	} {
		d, err := Parse(c.text)
		s, ok := errors.AsType[*SyntaxError](err)
		if !ok || d.Statement != nil {
			t.Errorf("%.60s: got %+v, %v", c.text, d, err)
			continue
		}
		if s.Field != c.field || s.Line != c.line || s.Column != c.column || !strings.HasPrefix(s.Message, c.message) {
			t.Errorf("%.60s: got %q", c.text, s)
		}
		if text := err.Error(); !strings.Contains(text, s.Message) || !strings.Contains(text, s.Field) || s.Line > 0 &&
			!strings.HasSuffix(text, fmt.Sprintf("(line %d, column %d)", s.Line, s.Column)) {
			t.Errorf("the message leaves something out: %s", text)
		}
	}
}

func TestEncode_WritesTheShortestForm(t *testing.T) {
	d := New(
		Statement{Sid: "one", Effect: Allow, Principal: Principals{Everyone: {Everyone}}, Action: Values{"s3:GetObject"},
			Resource: Values{"a<b>&c", "${known after X}"}},
		Statement{Effect: Deny, NotPrincipal: Principals{"AWS": {"1"}}, NotAction: Values{}, NotResource: Values{"x"},
			Condition: Conditions{"Bool": {"k": {"false"}}}},
	)
	const want = `{"Version":"2012-10-17","Statement":[` +
		`{"Sid":"one","Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":["a<b>&c","${known after X}"]},` +
		`{"Effect":"Deny","NotPrincipal":{"AWS":"1"},"NotAction":[],"NotResource":"x","Condition":{"Bool":{"k":"false"}}}]}`
	got, err := d.Encode()
	if err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if back := parse(t, got); !reflect.DeepEqual(back, d) {
		t.Errorf("parsed back as %+v", back)
	}
}

// FuzzParse checks that no input breaks the decoder, and that an accepted document survives being
// encoded. Run it with: go test -fuzz=FuzzParse ./internal/iampolicy
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `null`, `{"Statement":`, `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`,
		allow("s3:GetObject", "a<b>&c\\u2028"),
		`{"Version":"2008-10-17","Id":"x","Statement":{"Sid":"","Effect":"Deny","Principal":"*","NotAction":[],"Condition":{"Bool":{"a":true,"A":"true"},"NumericEquals":{"n":[1e2,-0.50]}}}}`,
		`{"Statement":{"Principal":{"*":["*"],"AWS":["arn:aws:iam::123456789012:root","AROAKSCDLFT9R5DQP782U"]},"NotPrincipal":{}}}`,
		`{"Statement":{"Action":"*","Action":"x"}}`, "{\"Statement\":{\"Sid\":\"\xff\"}}", strings.Repeat("[", 100), `{"Statement":{}}{}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Fatalf("%v is no SyntaxError", err)
			}
			return
		}
		encoded, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) > MaxSize {
			return // \u2028 and decimals may be longer than they were
		}
		if back := parse(t, encoded); !reflect.DeepEqual(back, d) {
			t.Fatalf("%s\nparsed as    %#v\nencoded as   %s\nparsed again %#v", text, d, encoded, back)
		}
		if !Equal(text, encoded) || !Equal(encoded, text) {
			t.Fatalf("%s\ndiffers from its encoded form\n%s", text, encoded)
		}
		_, _, _ = CheckTrust(d), CheckPermissions(d, "aws", "123456789012"), CheckPrincipals(d)
	})
}
