// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Equal reports whether two documents mean the same to AWS. AWS stores and returns documents in another
// form than they were sent; none of the following is a difference:
//
//   - A missing Version and 2008-10-17.
//   - A missing Sid, Id or Condition and an empty one.
//   - A single value and a list of one; the order and the repetition of statements, values, principals.
//   - A number or boolean in a condition and its string; 10 and 10.0 under a numeric operator.
//   - The case of effects, actions and context keys.
//   - An account's number and the ARN of its root.
//   - The principals "*", {"*": "*"} and, outside of trust policies, {"AWS": "*"}.
//
// A principal's unique ID (AROA…, AIDA…) never equals an ARN. AWS returns an ID instead of the ARN that
// was sent once the role or user behind it is deleted. The statement then applies to no identity, not even to a
// new role of the same name, until the document is written again. That is drift:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
//
// Texts that are not policy documents are compared as JSON values, and as text if they are not JSON.
func Equal(a, b string) bool {
	if a == b {
		return true
	}
	x, xr, xerr := readJSON(a)
	y, yr, yerr := readJSON(b)
	if xerr != nil || yerr != nil {
		return false
	}
	p, perr := (&parser{reader: xr}).document(x)
	q, qerr := (&parser{reader: yr}).document(y)
	if perr != nil || qerr != nil {
		return x.sameAs(y)
	}
	return p.Equal(q)
}

// IsAsWanted reports whether the text that AWS shows has the wanted meaning: they are Equal, or differ in Sids that AWS gave to a document
// without any, as users saw of resource policies.
func IsAsWanted(want, have string) bool {
	if Equal(want, have) {
		return true
	}
	w, err := Parse(want)
	h, otherErr := Parse(have)
	return err == nil && otherErr == nil && !w.hasSids() && w.Equal(h.withoutSids())
}

func (d Document) hasSids() bool {
	return slices.ContainsFunc(d.Statement, func(s Statement) bool { return s.Sid != "" })
}

func (d Document) withoutSids() Document {
	d.Statement = slices.Clone(d.Statement)
	for i := range d.Statement {
		d.Statement[i].Sid = ""
	}
	return d
}

// Equal reports whether two documents mean the same to AWS; see the function Equal.
func (d Document) Equal(o Document) bool {
	return cmp.Or(d.Version, Version2008) == cmp.Or(o.Version, Version2008) && d.ID == o.ID &&
		slices.Equal(canonicalStatements(d.Statement), canonicalStatements(o.Statement))
}

// canonicalStatements returns one string for each statement, sorted and without repetitions.
func canonicalStatements(statements []Statement) []string {
	out := make([]string, 0, len(statements))
	for _, s := range statements {
		out = append(out, s.canonical())
	}
	return sortedSet(out)
}

// canonical returns the same string for all forms of a statement. Each value is quoted by its length, so
// that no value can pass for two or for the end of an element.
func (s Statement) canonical() string {
	var b strings.Builder
	write := func(name string, values []string) {
		b.WriteString(quote(name))
		for _, v := range values {
			b.WriteString(quote(v))
		}
		b.WriteByte(';')
	}
	write("Sid", []string{s.Sid})
	write("Effect", []string{strings.ToLower(s.Effect)})
	write("Principal", s.canonicalPrincipals(s.Principal))
	write("NotPrincipal", s.canonicalPrincipals(s.NotPrincipal))
	write("Action", mapValues(s.Action, strings.ToLower))
	write("NotAction", mapValues(s.NotAction, strings.ToLower))
	write("Resource", sortedSet(s.Resource))
	write("NotResource", sortedSet(s.NotResource))
	write("Condition", s.Condition.canonical())
	return b.String()
}

// accountRoot is the ARN that AWS returns for an account's number.
var accountRoot = regexp.MustCompile(`^arn:[^:]+:iam::([0-9]{12}):root$`)

func (s Statement) canonicalPrincipals(p Principals) []string {
	var out []string
	for kind, names := range p {
		for _, name := range names {
			out = append(out, s.canonicalPrincipal(kind, name))
		}
	}
	return sortedSet(out)
}

func (s Statement) canonicalPrincipal(kind, name string) string {
	if kind == Everyone && name == Everyone && !s.trusts() {
		kind = "AWS"
	}
	if m := accountRoot.FindStringSubmatch(name); m != nil && (kind == "AWS" || kind == Everyone) {
		name = m[1]
	}
	return quote(kind) + quote(name)
}

// trusts reports whether the statement belongs to a role's trust policy, where "*" and {"AWS": "*"}
// differ: IAM has refused the former (https://github.com/aws/aws-cdk/issues/5732).
func (s Statement) trusts() bool {
	return slices.ContainsFunc(s.Action, func(a string) bool { return strings.HasPrefix(strings.ToLower(a), "sts:") })
}

func (c Conditions) canonical() []string {
	var out []string
	for operator, keys := range c {
		for key, values := range keys {
			var b strings.Builder
			b.WriteString(quote(operator) + quote(strings.ToLower(key)))
			for _, v := range mapValues(values, asOperand(operator)) {
				b.WriteString(quote(v))
			}
			out = append(out, b.String())
		}
	}
	slices.Sort(out) // two spellings of one key are two conditions, so repetitions stay
	return out
}

var numeric = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// asOperand returns how an operator reads a value.
func asOperand(operator string) func(string) string {
	if _, name, ok := strings.Cut(operator, ":"); ok { // ForAnyValue:NumericEquals
		operator = name
	}
	if !strings.HasPrefix(operator, "Numeric") {
		return func(v string) string { return v }
	}
	return func(v string) string {
		if !numeric.MatchString(v) {
			return v
		}
		if d, ok := decimal(v); ok {
			return d
		}
		return v
	}
}

func mapValues(values []string, f func(string) string) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, f(v))
	}
	return sortedSet(out)
}

// sortedSet returns the values sorted, each once.
func sortedSet(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }

// quote prefixes a value with its length.
func quote(v string) string { return strconv.Itoa(len(v)) + ":" + v }
