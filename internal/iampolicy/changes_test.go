// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const tables = `{"Version":"2012-10-17","Statement":[
	{"Sid":"Tables","Effect":"Allow","Action":["dynamodb:GetItem","dynamodb:PutItem"],"Resource":"arn:aws:dynamodb:eu-west-1:1:table/a"},
	{"Effect":"Deny","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`

func TestChanges_NameWhatAStatementGainsAndLoses(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"another resource", `"Resource":"arn:aws:dynamodb:eu-west-1:1:table/a"`,
			`"Resource":["arn:aws:dynamodb:eu-west-1:1:table/a","arn:aws:dynamodb:eu-west-1:1:table/b"]`,
			"Changed Tables Allow true Resource [arn:aws:dynamodb:eu-west-1:1:table/b] []"},
		{"one action less", `["dynamodb:GetItem","dynamodb:PutItem"]`, `"dynamodb:GetItem"`,
			"Changed Tables Allow false Action [] [dynamodb:PutItem]"},
		{"every action but", `"Action":["dynamodb:GetItem","dynamodb:PutItem"]`, `"NotAction":"dynamodb:DeleteTable"`,
			"Changed Tables Allow true Action [] [dynamodb:GetItem dynamodb:PutItem] NotAction [dynamodb:DeleteTable] []"},
		{"denied less", `"Action":"s3:*"`, `"Action":"s3:Put*"`, "Changed  Deny true Action [s3:Put*] [s3:*]"},
		{"a condition", `"false"`, `"true"`, "Changed  Deny true Condition [Bool aws:SecureTransport true] [Bool aws:SecureTransport false]"},
		{"a new statement", `"Statement":[`, `"Statement":[{"Effect":"Allow","Action":"sqs:*","Resource":"*"},`,
			"Added  Allow true Action [sqs:*] [] Resource [*] []"},
		{"an account in another form", `"Effect":"Deny","Action":"s3:*"`,
			`"Effect":"Deny","Action":"S3:*","Principal":{"AWS":["111111111111","arn:aws:iam::111111111111:root"]}`,
			"Changed  Deny false Principal [AWS 111111111111] []"},
		{"another form of the same", `"Effect":"Deny","Action":"s3:*"`, `"Effect":"Deny","Action":["S3:*"]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Changes(tables, strings.Replace(tables, c.from, c.to, 1))
			if s := written(got); !ok || s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}

func written(changes []StatementChange) string {
	var out []string
	for _, c := range changes {
		s := fmt.Sprint(c.Change, " ", c.Sid, " ", c.Effect, " ", c.Widens)
		for _, e := range c.Elements {
			s += fmt.Sprint(" ", e.Element, " ", e.Added, " ", e.Removed)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestChanges_RefuseWhatIsNoPolicy(t *testing.T) {
	for _, text := range []string{"x", `{"a":1}`, `{"Statement":7}`, `[]`} {
		if got, ok := Changes(tables, text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got, ok := Changes("", tables); !ok || len(got) != 2 || got[0].Change != StatementAdded {
		t.Errorf("%v", got)
	}
}

// TestChanges_AgreeWithEqual: no change means an equal document, and each change is found again in the other direction.
func TestChanges_AgreeWithEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := sample(t), sample(t)
		x, errX := a.Encode()
		y, errY := b.Encode()
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		there, ok := Changes(x, y)
		back, okBack := Changes(y, x)
		if !ok || !okBack || len(there) != len(back) {
			t.Fatalf("%v and %v", there, back)
		}
		if same := reflect.DeepEqual(canonicalStatements(a.Statement), canonicalStatements(b.Statement)); same != (len(there) == 0) {
			t.Fatalf("equal %v, changes %v", same, there)
		}
	})
}

// A rewriting by AWS beside a change is no change: a reviewer would read that a right is taken and given.
func TestChanges_NameNoRewriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := sample(t)
		after := before
		after.Statement = append([]Statement(nil), before.Statement...)
		s := &after.Statement[rapid.IntRange(0, len(after.Statement)-1).Draw(t, "which")]
		s.Resource = append(Values{"arn:aws:s3:::fresh"}, s.Resource...)
		a, b := rewriter{T: t}.document(before), rewriter{T: t}.document(after)
		got, ok := Changes(a, b)
		if want := fmt.Sprintf("Changed %s %s %t Resource [arn:aws:s3:::fresh] []", s.Sid, s.Effect, s.Effect == Allow); !ok ||
			written(got) != want {
			t.Fatalf("%q, want %q:\n%s\n%s", written(got), want, a, b)
		}
	})
}
