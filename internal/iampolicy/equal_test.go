// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"strings"
	"testing"
)

// pair is two documents and whether they mean the same.
type pair struct {
	name, a, b string
	equal      bool
}

func (c pair) check(t *testing.T) {
	t.Helper()
	if got := Equal(c.a, c.b); got != c.equal {
		t.Errorf("%s: got %v for\n%s\n%s", c.name, got, c.a, c.b)
	}
	if got := Equal(c.b, c.a); got != c.equal {
		t.Errorf("%s, the other way around: got %v", c.name, got)
	}
}

// bucketPolicy is a resource policy of one statement with further elements.
func bucketPolicy(elements string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*",` + elements + `}]}`
}

func trustPolicy(principal string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":` + principal + `}]}`
}

func condition(text string) string { return bucketPolicy(`"Principal":"*","Condition":` + text) }

// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_version.html
func TestEqual_MissingVersionIs2008(t *testing.T) {
	with := func(version string) string {
		return `{` + version + `"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"${aws:username}"}]}`
	}
	for _, c := range []pair{
		{"missing and 2008-10-17", with(``), with(`"Version":"2008-10-17",`), true},
		{"empty and 2008-10-17", with(`"Version":"",`), with(`"Version":"2008-10-17",`), true},
		{"missing and 2012-10-17", with(``), with(`"Version":"2012-10-17",`), false},
		{"2008-10-17 and 2012-10-17", with(`"Version":"2008-10-17",`), with(`"Version":"2012-10-17",`), false},
	} {
		c.check(t)
	}
}

func TestEqual_NumberEqualsString(t *testing.T) {
	for _, c := range []pair{
		{"a number", condition(`{"NumericLessThan":{"s3:max-keys":10}}`), condition(`{"NumericLessThan":{"s3:max-keys":"10"}}`), true},
		{"a list of numbers", condition(`{"NumericEquals":{"k":[100.01,200]}}`), condition(`{"NumericEquals":{"k":["200","100.01"]}}`), true},
		{"a number under a string operator", condition(`{"StringEquals":{"k":10}}`), condition(`{"StringEquals":{"k":"10"}}`), true},
		{"another spelling of a number", condition(`{"NumericEquals":{"k":1e1}}`), condition(`{"NumericEquals":{"k":"10.0"}}`), true},
		{"another spelling with a qualifier", condition(`{"ForAnyValue:NumericEqualsIfExists":{"k":"10"}}`),
			condition(`{"ForAnyValue:NumericEqualsIfExists":{"k":"10.0"}}`), true},
		{"another spelling that a string operator sees", condition(`{"StringEquals":{"k":"10"}}`), condition(`{"StringEquals":{"k":"10.0"}}`),
			false},
		{"no number under a numeric operator", condition(`{"NumericEquals":{"k":"${a}"}}`), condition(`{"NumericEquals":{"k":"${b}"}}`), false},
		{"another number", condition(`{"NumericEquals":{"k":10}}`), condition(`{"NumericEquals":{"k":"11"}}`), false},
		{"large numbers that differ in the last digit", condition(`{"NumericEquals":{"k":12345678901234567890}}`),
			condition(`{"NumericEquals":{"k":12345678901234567891}}`), false},
	} {
		c.check(t)
	}
}

func TestEqual_BooleanEqualsString(t *testing.T) {
	for _, c := range []pair{
		{"a boolean", condition(`{"Bool":{"aws:SecureTransport":false}}`), condition(`{"Bool":{"aws:SecureTransport":["false"]}}`), true},
		{"the other boolean", condition(`{"Bool":{"aws:SecureTransport":false}}`), condition(`{"Bool":{"aws:SecureTransport":"true"}}`), false},
	} {
		c.check(t)
	}
}

func TestEqual_OrderHasNoMeaning(t *testing.T) {
	const one, two = `{"Sid":"1","Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":["x","y"],"Principal":{"AWS":["111111111111","222222222222"],"Service":"s"}}`,
		`{"Sid":"2","Effect":"Deny","NotAction":["s3:GetObject","s3:PutObject"],"NotResource":["x","y"],"NotPrincipal":{"AWS":["111111111111","222222222222"]},"Condition":{"StringLike":{"k":["a","b"],"l":"c"},"Bool":{"m":"true"}}}`
	swap := strings.NewReplacer(`["s3:GetObject","s3:PutObject"]`, `["s3:PutObject","s3:GetObject"]`, `["x","y"]`, `["y","x"]`, `["a","b"]`,
		`["b","a"]`,
		`["111111111111","222222222222"]`, `["222222222222","111111111111"]`, `{"StringLike":{"k":["a","b"],"l":"c"},"Bool":{"m":"true"}}`,
		`{"Bool":{"m":"true"},"StringLike":{"l":"c","k":["b","a"]}}`)
	for _, c := range []pair{
		{"statements", `{"Statement":[` + one + `,` + two + `]}`, `{"Statement":[` + two + `,` + one + `]}`, true},
		{"values", `{"Statement":[` + one + `,` + two + `]}`, `{"Statement":[` + swap.Replace(one) + `,` + swap.Replace(two) + `]}`, true},
		{"repeated statements", `{"Statement":[` + one + `,` + one + `]}`, `{"Statement":` + one + `}`, true},
		{"repeated values", bucketPolicy(`"Principal":{"AWS":["111111111111","111111111111"]}`),
			bucketPolicy(`"Principal":{"AWS":"111111111111"}`), true},
		{"one statement less", `{"Statement":[` + one + `,` + two + `]}`, `{"Statement":[` + one + `]}`, false},
		{"one value less", `{"Statement":[` + one + `]}`, `{"Statement":[` + strings.Replace(one, `,"y"`, ``, 1) + `]}`, false},
		{"values swapped between elements", bucketPolicy(`"NotAction":"x","NotResource":"y"`), bucketPolicy(`"NotAction":"y","NotResource":"x"`),
			false},
		{"values swapped between statements", `{"Statement":[{"Sid":"1","Action":"a"},{"Sid":"2","Action":"b"}]}`,
			`{"Statement":[{"Sid":"1","Action":"b"},{"Sid":"2","Action":"a"}]}`, false},
		{"a value that looks like two", bucketPolicy(`"NotResource":["a","b"]`), bucketPolicy(`"NotResource":["a1:b"]`), false},
	} {
		c.check(t)
	}
}

func TestEqual_SingleValueEqualsList(t *testing.T) {
	const single = `{"Statement":{"Effect":"Allow","Action":"a","Resource":"r","Principal":{"Service":"s"},"Condition":{"StringLike":{"k":"v"}}}}`
	const list = `{"Statement":[{"Effect":"Allow","Action":["a"],"Resource":["r"],"Principal":{"Service":["s"]},"Condition":{"StringLike":{"k":["v"]}}}]}`
	for _, c := range []pair{
		{"all elements", single, list, true},
		{"an empty list is not absent", bucketPolicy(`"Condition":{"StringLike":{"k":[]}}`), bucketPolicy(`"Condition":{}`), false},
	} {
		c.check(t)
	}
}

func TestEqual_ActionCaseHasNoMeaning(t *testing.T) {
	const upper, lower = `{"Statement":{"Effect":"Allow","Action":["S3:GETOBJECT"],"Resource":"r"}}`,
		`{"Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"r"}}`
	for _, c := range []pair{
		{"Action", upper, lower, true},
		{"NotAction", strings.Replace(upper, "Action", "NotAction", 1), strings.Replace(lower, "Action", "NotAction", 1), true},
		{"context keys", condition(`{"IpAddress":{"AWS:sourceip":"10.0.0.0/8"}}`),
			condition(`{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}`), true},
		{"two spellings of one context key", condition(`{"StringLike":{"k":"a","K":"b"}}`), condition(`{"StringLike":{"k":["a","b"]}}`), false},
		{"resources keep their case", strings.Replace(lower, `"r"`, `"R"`, 1), lower, false},
		{"condition values keep their case", condition(`{"StringLike":{"k":"a"}}`), condition(`{"StringLike":{"k":"A"}}`), false},
	} {
		c.check(t)
	}
}

func TestEqual_EveryPrincipal(t *testing.T) {
	for _, c := range []pair{
		{"* and AWS *", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Principal":{"AWS":"*"}`), true},
		{"* and AWS * of NotPrincipal", bucketPolicy(`"NotPrincipal":"*"`), bucketPolicy(`"NotPrincipal":{"AWS":["*"]}`), true},
		{"* and the form that AWS rewrites to it", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Principal":{"*":"*"}`), true},
		{"* and AWS * differ in a trust policy", trustPolicy(`"*"`), trustPolicy(`{"AWS":"*"}`), false},
		{"* and no principal", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Sid":""`), false},
		{"* and an account", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Principal":"123456789012"`), false},
		{"* and every service", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Principal":{"Service":"*"}`), false},
		{"Principal and NotPrincipal", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"NotPrincipal":"*"`), false},
	} {
		c.check(t)
	}
}

func TestEqual_AccountEqualsItsRoot(t *testing.T) {
	for _, c := range []pair{
		{"in a trust policy", trustPolicy(`{"AWS":"123456789012"}`), trustPolicy(`{"AWS":["arn:aws:iam::123456789012:root"]}`), true},
		{"in another partition", trustPolicy(`{"AWS":"123456789012"}`), trustPolicy(`{"AWS":"arn:aws-us-gov:iam::123456789012:root"}`), true},
		{"both at once", trustPolicy(`{"AWS":["123456789012","arn:aws:iam::123456789012:root"]}`), trustPolicy(`{"AWS":"123456789012"}`), true},
		{"another account", trustPolicy(`{"AWS":"123456789012"}`), trustPolicy(`{"AWS":"arn:aws:iam::123456789013:root"}`), false},
		{"a user named root", trustPolicy(`{"AWS":"123456789012"}`), trustPolicy(`{"AWS":"arn:aws:iam::123456789012:user/root"}`), false},
		{"another type", trustPolicy(`{"Federated":"123456789012"}`), trustPolicy(`{"Federated":"arn:aws:iam::123456789012:root"}`), false},
		{"a condition value", condition(`{"StringEquals":{"aws:PrincipalArn":"123456789012"}}`),
			condition(`{"StringEquals":{"aws:PrincipalArn":"arn:aws:iam::123456789012:root"}}`), false},
	} {
		c.check(t)
	}
}

// A deleted principal shows as its unique ID. Taking the ID for the ARN would leave a new role of the
// same name without access, for the drift would never be corrected.
func TestEqual_UniqueIDIsNotTheARN(t *testing.T) {
	for _, c := range []pair{
		{"a role", trustPolicy(`{"AWS":"arn:aws:iam::123456789012:role/ci"}`), trustPolicy(`{"AWS":"AROAKSCDLFT9R5DQP782U"}`), false},
		{"a user", trustPolicy(`{"AWS":"arn:aws:iam::123456789012:user/ci"}`), trustPolicy(`{"AWS":"AIDAJQABLZS4A3QDU576Q"}`), false},
		{"one of two", trustPolicy(`{"AWS":["123456789012","arn:aws:iam::123456789012:role/ci"]}`),
			trustPolicy(`{"AWS":["123456789012","AROAKSCDLFT9R5DQP782U"]}`), false},
		{"two IDs", trustPolicy(`{"AWS":"AROAKSCDLFT9R5DQP782U"}`), trustPolicy(`{"AWS":"AROAKSCDLFT9R5DQP782V"}`), false},
	} {
		c.check(t)
	}
}

func TestEqual_EmptyElementsAreAbsent(t *testing.T) {
	for _, c := range []pair{
		{"Sid", bucketPolicy(`"Sid":""`), bucketPolicy(`"Condition":{}`), true},
		{"Id", `{"Id":"","Statement":{"Effect":"Deny"}}`, `{"Statement":{"Effect":"Deny"}}`, true},
		{"a condition operator", condition(`{"Bool":{}}`), condition(`{}`), true},
		{"another Sid", bucketPolicy(`"Sid":"a"`), bucketPolicy(`"Sid":"b"`), false},
		{"another Id", `{"Id":"a","Statement":{"Effect":"Deny"}}`, `{"Statement":{"Effect":"Deny"}}`, false},
		{"another effect", `{"Statement":{"Effect":"Allow"}}`, `{"Statement":{"Effect":"Deny"}}`, false},
	} {
		c.check(t)
	}
}

func TestEqual_TextsThatAreNoDocuments(t *testing.T) {
	const invalid = `{"Statement":{"Effect":"Allow","Effect":"Deny"}}`
	for _, c := range []pair{
		{"the same text", "no JSON", "no JSON", true},
		{"two texts", "no JSON", "other", false},
		{"the same JSON", `{"a":[1,{"b":null,"c":2}]}`, ` {"a": [1, {"c": 2, "b": null}]} `, true},
		{"another order of a list", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"another type", `{"a":1}`, `{"a":"1"}`, false},
		{"a list and a value", `{"a":[1]}`, `{"a":1}`, false},
		{"a document and an element that occurs twice", invalid, `{"Statement":{"Effect":"Deny"}}`, false},
		{"a document and no document", bucketPolicy(`"Sid":""`), `{}`, false},
		{"a document and text", bucketPolicy(`"Sid":""`), ``, false},
		{"too long", strings.Repeat(" ", MaxSize) + `{}`, `{}`, false},
	} {
		c.check(t)
	}
}

// A number that AWS gives a statement as its Sid is no difference. One that is wanted is.
func TestIsAsWanted_SidsThatNobodyWants(t *testing.T) {
	statement := func(sid, action string) string {
		return `{` + sid + `"Effect":"Allow","Action":"` + action + `","Resource":"*"}`
	}
	document := func(statements ...string) string {
		return `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
	}
	none, numbered := document(statement("", "s3:*"), statement("", "sqs:*")),
		document(statement(`"Sid":"1",`, "s3:*"), statement(`"Sid":"2",`, "sqs:*"))
	for name, c := range map[string]struct {
		want, have string
		as         bool
	}{
		"AWS numbers statements":        {none, numbered, true},
		"a Sid is wanted":               {numbered, none, false},
		"one of the Sids is wanted":     {document(statement(`"Sid":"a",`, "s3:*"), statement("", "sqs:*")), numbered, false},
		"another action under a number": {none, document(statement(`"Sid":"1",`, "s3:*"), statement(`"Sid":"2",`, "sns:*")), false},
		"no document":                   {"{", numbered, false},
	} {
		if got := IsAsWanted(c.want, c.have); got != c.as {
			t.Errorf("%s: %v", name, got)
		}
	}
}
