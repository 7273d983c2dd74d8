// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blues/jsonata-go"
	"github.com/blues/jsonata-go/jparse"
)

// Limits of expressions and their input: a schema comes from the endpoint of a provider, and an expression must neither run long nor need
// much memory.
const (
	maxExpression = 4 << 10
	maxContext    = 64 << 10
	// maxWork limits the bytes of all values that an expression can make of a context of maxContext.
	maxWork = 16 << 20
)

// expression is one alternative of a propertyTransform, in JSONata: https://docs.jsonata.org
type expression struct {
	compiled *jsonata.Expr
	// calls are the functions that it calls.
	calls map[string]jsonata.Extension
	// context are the names that are read from the input of the expression, and names are all names.
	context, names []string
}

// compile reads an expression. It refuses those that use more of JSONata than expressions without loops.
func compile(text string) (expression, error) {
	if len(text) > maxExpression {
		return expression{}, fmt.Errorf("has more than %d bytes", maxExpression)
	}
	node, err := jparse.Parse(text)
	if err != nil {
		return expression{}, fmt.Errorf("cannot be read: %w", err)
	}
	c := &costs{variables: map[string]float64{}, calls: map[string]jsonata.Extension{}}
	c.of(node)
	switch {
	case c.refused != nil:
		return expression{}, c.refused
	case c.work > maxWork:
		return expression{}, errors.New("could make too much of a value")
	}
	compiled, err := jsonata.Compile(text)
	if err != nil {
		return expression{}, fmt.Errorf("cannot be read: %w", err)
	}
	return expression{compiled, c.calls, c.context, c.names}, nil
}

// eval returns the value of the expression, and false where it has none. Each evaluation gets new instances of the functions: the library
// keeps the context of a call in the function, and shares those that come with it among all expressions.
func (e expression) eval(context map[string]any) (value any, ok bool) {
	defer func() {
		if recover() != nil { // the library is built on reflection
			value, ok = nil, false
		}
	}()
	own := *e.compiled
	if err := own.RegisterExts(e.calls); err != nil {
		return nil, false
	}
	found, err := own.Eval(context)
	if err != nil || found == nil {
		return nil, false
	}
	text, err := json.Marshal(found) // its lists and numbers have other Go types than those of JSON
	if err != nil {
		return nil, false
	}
	return value, json.Unmarshal(text, &value) == nil && value != nil
}

// costs bounds the memory and time of evaluating an expression: it adds up the greatest sizes of all values, in bytes. Without functions
// that are declared or called again, an expression evaluates each of its parts once.
type costs struct {
	variables      map[string]float64
	calls          map[string]jsonata.Extension
	work           float64
	context, names []string
	refused        error
}

// of returns the greatest size of a value, and counts it.
func (c *costs) of(node jparse.Node) float64 {
	size := c.sizeOf(node)
	c.work += size
	return size
}

func (c *costs) sum(nodes ...jparse.Node) float64 {
	size := float64(1)
	for _, node := range nodes {
		size += c.of(node)
	}
	return size
}

func (c *costs) refuse(format string, args ...any) float64 {
	if c.refused == nil {
		c.refused = fmt.Errorf(format, args...)
	}
	return 0
}

// sizeOfNumber is that of a number, true, false and null.
const sizeOfNumber = 32

func (c *costs) sizeOf(node jparse.Node) float64 {
	switch n := node.(type) {
	case nil:
		return 0
	case *jparse.StringNode:
		return float64(len(n.Value))
	case *jparse.NumberNode, *jparse.BooleanNode, *jparse.NullNode, *jparse.RegexNode:
		return sizeOfNumber
	case *jparse.NameNode:
		c.reads(n.Value, true)
		return maxContext
	case *jparse.PathNode:
		return c.path(n)
	case *jparse.VariableNode:
		size, known := c.variables[n.Name]
		if !known {
			return c.refuse("reads variable $%s", n.Name)
		}
		return size
	case *jparse.AssignmentNode:
		c.variables[n.Name] = c.of(n.Value)
		return c.variables[n.Name]
	case *jparse.FunctionCallNode:
		return c.call(n)
	case *jparse.PredicateNode:
		return c.element(n)
	default:
		return c.operation(node)
	}
}

// operation returns the greatest size of the results of operators: no more than their operands together.
func (c *costs) operation(node jparse.Node) float64 {
	switch n := node.(type) {
	case *jparse.ArrayNode:
		return c.sum(n.Items...)
	case *jparse.ObjectNode:
		size := float64(1)
		for _, pair := range n.Pairs {
			size += c.sum(pair[:]...)
		}
		return size
	case *jparse.BlockNode:
		return c.sum(n.Exprs...)
	case *jparse.ConditionalNode:
		return c.sum(n.If, n.Then, n.Else)
	case *jparse.StringConcatenationNode:
		return c.sum(n.LHS, n.RHS)
	case *jparse.NumericOperatorNode:
		return sizeOfNumber + 0*c.sum(n.LHS, n.RHS)
	case *jparse.ComparisonOperatorNode:
		return sizeOfNumber + 0*c.sum(n.LHS, n.RHS)
	case *jparse.BooleanOperatorNode:
		return sizeOfNumber + 0*c.sum(n.LHS, n.RHS)
	default:
		return c.refuse("uses %s", strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", node), "*jparse."), "Node"))
	}
}

// reads notes a name, and whether it is one of the context.
func (c *costs) reads(name string, ofContext bool) {
	c.names = append(c.names, name)
	if ofContext && !slices.Contains(c.context, name) {
		c.context = append(c.context, name)
	}
}

// path returns the greatest size of the values that steps lead to: no more than that of the first one. The others are names.
func (c *costs) path(n *jparse.PathNode) float64 {
	size := c.of(n.Steps[0])
	for _, step := range n.Steps[1:] {
		name, ok := step.(*jparse.NameNode)
		if !ok {
			return c.refuse("has a step that is no name")
		}
		c.reads(name.Value, false)
	}
	return size
}

// element returns the greatest size of an element that is chosen by its index.
func (c *costs) element(n *jparse.PredicateNode) float64 {
	for _, filter := range n.Filters {
		if _, isNumber := filter.(*jparse.NumberNode); !isNumber {
			return c.refuse("chooses elements by their contents")
		}
	}
	return c.of(n.Expr)
}

// alternativesIn splits a propertyTransform at $OR, where that is not within a text, a regular expression or brackets.
func alternativesIn(text string) []string {
	var out []string
	begin, depth := 0, 0
	before := byte('(') // the last character that is no space
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case isQuote(b) || b == '/' && precedesOperand(before):
			i = endOf(text, i)
		case depth == 0 && strings.HasPrefix(text[i:], separator):
			out, begin = append(out, strings.TrimSpace(text[begin:i])), i+len(separator)
			i = begin - 1
		default:
			depth += nesting(b)
		}
		if i < len(text) && text[i] != ' ' {
			before = text[i]
		}
	}
	return append(out, strings.TrimSpace(text[begin:]))
}

// separator is between alternatives. It is no part of JSONata.
const separator = "$OR"

func isQuote(b byte) bool { return strings.IndexByte("\"'`", b) >= 0 }

// precedesOperand reports whether a slash after a character begins a regular expression, and is no division.
func precedesOperand(b byte) bool { return strings.IndexByte("(,=:?[{&|;~>", b) >= 0 }

// nesting returns by how much a character changes the depth of brackets.
func nesting(b byte) int {
	switch b {
	case '(', '[', '{':
		return 1
	case ')', ']', '}':
		return -1
	default:
		return 0
	}
}

// endOf returns the index of the delimiter that ends the quoted text beginning at i; that of the last character if there is none.
func endOf(text string, i int) int {
	for end := i + 1; end < len(text); end++ {
		switch text[end] {
		case '\\':
			end++
		case text[i]:
			return end
		}
	}
	return len(text) - 1
}
