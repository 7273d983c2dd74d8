// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"strconv"
	"strings"
)

// Parse reads a policy document of at most MaxSize bytes. It accepts the forms that the grammar of policies allows: a single statement or a
// list, a single value or a list, numbers and booleans as condition values (they become strings), and the principal "*". Names of elements
// may be in any case. It refuses unknown elements, elements that occur twice and a document without a statement, as AWS does, so that a
// check of the result holds for the document that AWS reads. Every error is a *SyntaxError.
func Parse(text string) (Document, error) {
	n, r, err := readJSON(text)
	if err != nil {
		return Document{}, err
	}
	return (&parser{reader: r}).document(n)
}

// ParseOfUser reads a policy document that a user declares: it also checks the principals.
func ParseOfUser(text string) (Document, error) {
	doc, err := Parse(text)
	if err != nil {
		return doc, err
	}
	return doc, CheckPrincipals(doc)
}

// parser keeps the first error; the zero values that follow it are never returned.
type parser struct {
	reader *reader
	err    error
}

func (p *parser) fail(path string, n node, format string, args ...any) {
	if p.err == nil {
		p.err = p.reader.fail(path, n.offset, format, args...)
	}
}

// elements calls set for each field of an object; set reports whether it knows the name, which is given
// in lower case.
func (p *parser) elements(path string, n node, set func(name, at string, n node) bool) {
	if n.shape != anObject {
		p.fail(path, n, "must be a JSON object, not %s", n.shape)
		return
	}
	seen := map[string]bool{}
	for _, f := range n.fields {
		name, at := strings.ToLower(f.name), childPath(path, f.name)
		switch {
		case seen[name]:
			p.fail(at, f.node, "occurs twice")
		case !set(name, at, f.node):
			p.fail(at, f.node, "is not an element of a policy document")
		}
		seen[name] = true
	}
}

func (p *parser) document(n node) (Document, error) {
	var d Document
	p.elements("", n, func(name, at string, n node) bool {
		switch name {
		case "version":
			d.Version = p.string(at, n)
		case "id":
			d.ID = p.string(at, n)
		case "statement":
			d.Statement = p.statements(at, n)
		default:
			return false
		}
		return true
	})
	if len(d.Statement) == 0 {
		p.fail("", n, "has no Statement")
	}
	if p.err != nil {
		return Document{}, p.err
	}
	return d, nil
}

func (p *parser) statements(path string, n node) []Statement {
	if n.shape != aList {
		return []Statement{p.statement(path, n)}
	}
	out := make([]Statement, 0, len(n.items))
	for i, item := range n.items {
		out = append(out, p.statement(path+"["+strconv.Itoa(i)+"]", item))
	}
	return out
}

func (p *parser) statement(path string, n node) Statement {
	var s Statement
	lists := map[string]*Values{"action": &s.Action, "notaction": &s.NotAction, "resource": &s.Resource, "notresource": &s.NotResource}
	p.elements(path, n, func(name, at string, n node) bool {
		switch name {
		case "sid":
			s.Sid = p.string(at, n)
		case "effect":
			s.Effect = p.string(at, n)
		case "principal":
			s.Principal = p.principals(at, n)
		case "notprincipal":
			s.NotPrincipal = p.principals(at, n)
		case "condition":
			s.Condition = p.conditions(at, n)
		default:
			v, ok := lists[name]
			if ok {
				*v = p.values(at, n, aString)
			}
			return ok
		}
		return true
	})
	return s
}

func (p *parser) string(path string, n node) string {
	if n.shape != aString {
		p.fail(path, n, "must be a string, not %s", n.shape)
	}
	return n.text
}

// values reads a value of one of the shapes, or a list of such.
func (p *parser) values(path string, n node, shapes ...shape) Values {
	items := n.items
	if n.shape != aList {
		items = []node{n}
	}
	out := make(Values, 0, len(items))
	for _, item := range items {
		out = append(out, p.scalar(path, item, shapes))
	}
	return out
}

func (p *parser) scalar(path string, n node, shapes []shape) string {
	for _, s := range shapes {
		if n.shape != s {
			continue
		}
		text := n.text
		if s == aNumber {
			var ok bool
			if text, ok = decimal(text); !ok {
				p.fail(path, n, "has a number that is too large")
			}
		}
		return text
	}
	p.fail(path, n, "must be a string or a list of strings, not %s", n.shape)
	return ""
}

func (p *parser) principals(path string, n node) Principals {
	if n.shape == aString {
		return Principals{Everyone: {n.text}}
	}
	if n.shape != anObject {
		p.fail(path, n, `must be "*" or a JSON object of principals by type, not %s`, n.shape)
	}
	out := make(Principals, len(n.fields))
	for _, f := range n.fields {
		out[f.name] = p.values(childPath(path, f.name), f.node, aString)
	}
	return out
}

func (p *parser) conditions(path string, n node) Conditions {
	if n.shape != anObject {
		p.fail(path, n, "must be a JSON object of operators, not %s", n.shape)
	}
	out := make(Conditions, len(n.fields))
	for _, operator := range n.fields {
		at := childPath(path, operator.name)
		if operator.shape != anObject {
			p.fail(at, operator.node, "must be a JSON object of context keys, not %s", operator.shape)
		}
		keys := make(map[string]Values, len(operator.fields))
		for _, key := range operator.fields {
			keys[key.name] = p.values(childPath(at, key.name), key.node, aString, aNumber, aBoolean)
		}
		out[operator.name] = keys
	}
	return out
}

// decimal writes a number without exponent and without trailing zeros; integers of any length keep
// their digits.
func decimal(number string) (string, bool) {
	if !strings.ContainsAny(number, ".eE") {
		return number, true
	}
	f, err := strconv.ParseFloat(number, 64)
	return strconv.FormatFloat(f, 'f', -1, 64), err == nil
}
