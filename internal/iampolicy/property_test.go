// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sample draws a document of statements with different Sids, so that no change of one statement makes it the same as another.
func sample(t *rapid.T) Document {
	values := func(label string, choices ...string) Values {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(choices), 1, len(choices), rapid.ID).Draw(t, label)
	}
	d := Document{Version: rapid.SampledFrom([]string{Version2008, Version2012}).Draw(t, "version")}
	for i := range rapid.IntRange(1, 3).Draw(t, "statements") {
		s := Statement{Sid: "S" + strconv.Itoa(i), Effect: rapid.SampledFrom([]string{Allow, Deny}).Draw(t, "effect")}
		actions := values("actions", "s3:GetObject", "s3:PutObject", "s3:List*", "sqs:SendMessage", "sts:AssumeRole")
		if rapid.Bool().Draw(t, "not action") {
			s.NotAction = actions
		} else {
			s.Action = actions
		}
		if rapid.Bool().Draw(t, "resource") {
			s.Resource = values("resources", "*", "arn:aws:s3:::b", "arn:aws:s3:::b/*", "arn:aws:s3:::B/*")
		}
		if rapid.Bool().Draw(t, "principal") {
			s.Principal = Principals{
				"AWS": values("accounts", "111111111111", "arn:aws:iam::222222222222:root", "arn:aws:iam::333333333333:role/x",
					"AROAKSCDLFT9R5DQP782U"),
				"Service": values("services", "glue.amazonaws.com", "ec2.amazonaws.com"),
			}
		}
		if rapid.Bool().Draw(t, "condition") {
			s.Condition = Conditions{
				"NumericLessThan": {"s3:max-keys": values("numbers", "1", "10", "2.5")},
				"Bool":            {"aws:SecureTransport": values("booleans", "true", "false")},
				"StringLike":      {"aws:UserAgent": values("strings", "a", "1", "true"), "s3:prefix": {"p"}},
			}
		}
		d.Statement = append(d.Statement, s)
	}
	return d
}

// rewriter writes a document in one of the forms that mean the same to AWS.
type rewriter struct {
	*rapid.T
	// plain leaves out the forms that awspolicyequivalence takes for differences.
	plain bool
}

func (r rewriter) chance(label string) bool { return rapid.Bool().Draw(r.T, label) }

func (r rewriter) bold(label string) bool { return !r.plain && r.chance(label) }

// list writes values in any order, repeated, and without a list where one will do.
func (r rewriter) list(values Values, each func(string) any) any {
	out := []any{}
	for _, v := range rapid.Permutation(values).Draw(r.T, "order") {
		out = append(out, each(v))
	}
	if r.bold("repeat") {
		out = append(out, out[0])
	}
	if len(out) == 1 && r.chance("single") {
		return out[0]
	}
	return out
}

func (r rewriter) text(v string) any { return v }

func (r rewriter) action(v string) any {
	if r.bold("upper case") {
		return strings.ToUpper(v)
	}
	return v
}

func (r rewriter) principal(v string) any {
	if id, ok := strings.CutPrefix(v, "arn:aws:iam::222222222222:"); ok && id == "root" && r.chance("number") {
		return "222222222222"
	}
	if v == "111111111111" && r.chance("root") {
		return "arn:aws:iam::111111111111:root"
	}
	return v
}

func (r rewriter) scalar(v string) any {
	if _, err := strconv.ParseFloat(v, 64); err == nil && r.chance("bare number") {
		return json.Number(v)
	}
	if b, err := strconv.ParseBool(v); err == nil && strconv.FormatBool(b) == v && r.chance("bare boolean") {
		return b
	}
	return v
}

func (r rewriter) statement(s Statement) map[string]any {
	out := map[string]any{"Sid": s.Sid, "Effect": s.Effect}
	for name, e := range map[string]Values{"Action": s.Action, "NotAction": s.NotAction} {
		if e != nil {
			out[name] = r.list(e, r.action)
		}
	}
	for name, e := range map[string]Values{"Resource": s.Resource, "NotResource": s.NotResource} {
		if e != nil {
			out[name] = r.list(e, r.text)
		}
	}
	for name, e := range map[string]Principals{"Principal": s.Principal, "NotPrincipal": s.NotPrincipal} {
		if e == nil {
			continue
		}
		byType := map[string]any{}
		for kind, names := range e {
			byType[kind] = r.list(names, r.principal)
		}
		out[name] = byType
	}
	if s.Condition != nil {
		operators := map[string]any{}
		for operator, keys := range s.Condition {
			block := map[string]any{}
			for key, values := range keys {
				if r.bold("key's case") {
					key = strings.ToLower(key)
				}
				block[key] = r.list(values, r.scalar)
			}
			operators[operator] = block
		}
		out["Condition"] = operators
	}
	return out
}

func (r rewriter) document(d Document) string {
	out := map[string]any{"Version": d.Version}
	if d.Version == Version2008 && r.bold("no version") {
		delete(out, "Version")
	}
	var list []any
	for _, s := range rapid.Permutation(d.Statement).Draw(r.T, "statements") {
		list = append(list, r.statement(s))
	}
	if r.bold("repeat a statement") {
		list = append(list, list[0])
	}
	out["Statement"] = list
	if len(list) == 1 && r.chance("single statement") {
		out["Statement"] = list[0]
	}
	b, err := json.MarshalIndent(out, "", strings.Repeat(" ", rapid.IntRange(0, 2).Draw(r.T, "indent")))
	if err != nil {
		r.Fatalf("%v", err)
	}
	return string(b)
}

// change makes one change that AWS sees.
func change(t *rapid.T, d Document) (Document, string) {
	changes := map[string]func(s *Statement){
		"the effect":          func(s *Statement) { s.Effect = map[string]string{Allow: Deny, Deny: Allow}[s.Effect] },
		"the Sid":             func(s *Statement) { s.Sid = "fresh" },
		"Action to NotAction": func(s *Statement) { s.Action, s.NotAction = s.NotAction, s.Action },
		"one more action": func(s *Statement) {
			if s.Action != nil {
				s.Action = append(Values{"kms:Decrypt"}, s.Action...)
			} else {
				s.NotAction = append(Values{"kms:Decrypt"}, s.NotAction...)
			}
		},
		"one more resource":   func(s *Statement) { s.Resource = append(Values{"arn:aws:s3:::fresh"}, s.Resource...) },
		"NotResource":         func(s *Statement) { s.NotResource = Values{"x"} },
		"one principal":       func(s *Statement) { s.Principal = with(s.Principal, "AWS", "arn:aws:iam::111111111111:role/fresh") },
		"every principal":     func(s *Statement) { s.Principal = with(s.Principal, "AWS", "*") },
		"a type of principal": func(s *Statement) { s.Principal = with(s.Principal, "Federated", "fresh") },
		"NotPrincipal":        func(s *Statement) { s.NotPrincipal = Principals{"AWS": {"*"}} },
		"an operator": func(s *Statement) {
			s.Condition = Conditions{"StringNotLike": {"aws:UserAgent": {"a"}}}
		},
		"a context key": func(s *Statement) { s.Condition = Conditions{"StringLike": {"fresh": {"a"}}} },
		"a value": func(s *Statement) {
			s.Condition = Conditions{"StringLike": {"aws:UserAgent": {"fresh"}, "s3:prefix": {"p"}}}
		},
	}
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	names = append(names, "the version", "one statement more")
	what := rapid.SampledFrom(names).Draw(t, "change")
	d.Statement = append([]Statement(nil), d.Statement...)
	switch what {
	case "the version":
		d.Version = map[string]string{Version2008: Version2012, Version2012: Version2008}[d.Version]
	case "one statement more":
		d.Statement = append(d.Statement, Statement{Sid: "fresh", Effect: Deny, Action: Values{"*"}})
	default:
		changes[what](&d.Statement[rapid.IntRange(0, len(d.Statement)-1).Draw(t, "which")])
	}
	return d, what
}

func with(p Principals, kind, name string) Principals {
	out := Principals{kind: append(Values{name}, p[kind]...)}
	for k, v := range p {
		if k != kind {
			out[k] = v
		}
	}
	return out
}

func TestEqual_IgnoresEveryRewriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sample(t)
		a, b := rewriter{T: t}.document(d), rewriter{T: t}.document(d)
		if !Equal(a, b) {
			t.Fatalf("differ:\n%s\n%s", a, b)
		}
		encoded, err := d.Encode()
		if err != nil || !Equal(encoded, a) {
			t.Fatalf("%v: differs from its encoded form:\n%s\n%s", err, a, encoded)
		}
	})
}

func TestEqual_SeesEveryChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sample(t)
		changed, what := change(t, d)
		a, b := rewriter{T: t}.document(d), rewriter{T: t}.document(changed)
		if Equal(a, b) || Equal(b, a) {
			t.Fatalf("%s changed, and the documents are equal:\n%s\n%s", what, a, b)
		}
	})
}

func TestParse_RejectsTruncatedDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rewriter{T: t}.document(sample(t))
		n := rapid.IntRange(0, len(text)-1).Draw(t, "length")
		if d, err := Parse(text[:n]); err == nil {
			t.Fatalf("%s was accepted as %s", text[:n], fmt.Sprint(d))
		}
	})
}
