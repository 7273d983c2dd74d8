// SPDX-License-Identifier: Apache-2.0

// Package iampolicy builds, parses, compares and checks IAM policy documents: identity policies, trust
// policies and resource policies alike. It is the only package that knows their form.
//
//   - New and Encode build a document from structs, never from text.
//   - Parse reads the forms that the policy grammar allows into the one form of Document.
//   - Equal compares two documents by their meaning to AWS.
//   - CheckTrust, CheckPermissions and CheckPrincipals refuse documents that users must not write.
//
// The grammar: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
package iampolicy

import (
	"bytes"
	"encoding/json"
	"slices"
)

// The values of Version and Effect.
const (
	// Version2012 is the current version of the policy language; every document that we build has it.
	Version2012 = "2012-10-17"
	// Version2008 is the version that AWS assumes where a document has none. Policy variables such as
	// ${aws:username} are plain text in it:
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_version.html
	Version2008 = "2008-10-17"

	// Allow is the effect of a statement that grants.
	Allow = "Allow"
	// Deny is the effect of a statement that refuses.
	Deny = "Deny"
)

// Everyone is the type, and the only name, of the principal "*".
const Everyone = "*"

// Document is a policy document.
type Document struct {
	// Version is the version of the policy language; empty means Version2008.
	Version string `json:",omitempty"`
	// ID is the optional name of a resource policy.
	ID        string `json:"Id,omitempty"`
	Statement []Statement
}

// Statement is one statement of a document. A nil element is absent, an empty one is present and empty.
type Statement struct {
	Sid          string `json:",omitempty"`
	Effect       string
	Principal    Principals `json:",omitzero"`
	NotPrincipal Principals `json:",omitzero"`
	Action       Values     `json:",omitzero"`
	NotAction    Values     `json:",omitzero"`
	Resource     Values     `json:",omitzero"`
	NotResource  Values     `json:",omitzero"`
	Condition    Conditions `json:",omitzero"`
}

// Values are the strings of one element. AWS reads them as a set.
type Values []string

// Principals are identities by type: AWS, Service, Federated or CanonicalUser. The principal "*" is
// {Everyone: {Everyone}}, a form that AWS accepts too and rewrites to "*".
type Principals map[string]Values

// Conditions are condition values by operator and context key.
type Conditions map[string]map[string]Values

// New returns a document of the current version.
func New(statements ...Statement) Document {
	return Document{Version: Version2012, Statement: statements}
}

// Contains reports whether the document has a statement that means the same.
func (d Document) Contains(s Statement) bool {
	return slices.ContainsFunc(d.Statement, func(o Statement) bool { return o.canonical() == s.canonical() })
}

// Names reports whether the document has a statement of the Sid.
func (d Document) Names(sid string) bool {
	return slices.ContainsFunc(d.Statement, func(s Statement) bool { return s.Sid == sid })
}

// Without returns the document without the statements of the Sid.
func (d Document) Without(sid string) Document {
	d.Statement = slices.DeleteFunc(slices.Clone(d.Statement), func(s Statement) bool { return s.Sid == sid })
	return d
}

// Encode returns the document as compact JSON, because AWS limits the length of documents. An element
// with one value is written without a list. Equal documents built in the same order encode alike.
func (d Document) Encode() (string, error) {
	b, err := encode(d)
	return string(b), err
}

// MarshalJSON writes a single value without a list.
func (v Values) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return encode(v[0])
	}
	return encode([]string(v))
}

// MarshalJSON writes the principal of every identity as "*".
func (p Principals) MarshalJSON() ([]byte, error) {
	if names := p[Everyone]; len(p) == 1 && len(names) == 1 {
		return encode(names[0])
	}
	return encode(map[string]Values(p))
}

// encode leaves <, > and & as they are: AWS counts characters, and the placeholders of values that are
// not known yet stay readable.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
