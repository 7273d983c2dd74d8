// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"strings"
	"unicode/utf8"

	"github.com/blues/jsonata-go"
	"github.com/blues/jsonata-go/jlib"
	"github.com/blues/jsonata-go/jparse"
	"github.com/blues/jsonata-go/jtypes"
)

// function is one that an expression may call.
type function struct {
	do any
	// ofUndefined is true where the function has a value for an undefined argument.
	ofUndefined bool
	// grows says how many times larger than its arguments the result may be, by the sizes of these; nil for no larger.
	grows func(n *jparse.FunctionCallNode, sizes []float64) float64
}

// functions lists the functions of JSONata that have results bounded by their arguments, and that call no function.
// https://docs.jsonata.org/string-functions
var functions = map[string]function{
	"boolean": {do: jlib.Boolean}, "contains": {do: jlib.Contains}, "count": {do: jlib.Count, ofUndefined: true},
	"exists": {do: jlib.Exists, ofUndefined: true}, "length": {do: utf8.RuneCountInString}, "lookup": {do: lookup},
	"lowercase": {do: strings.ToLower}, "not": {do: jlib.Not, ofUndefined: true}, "number": {do: jlib.Number},
	"substring": {do: jlib.Substring}, "substringAfter": {do: jlib.SubstringAfter}, "substringBefore": {do: jlib.SubstringBefore},
	"trim": {do: jlib.Trim}, "uppercase": {do: strings.ToUpper},
	"string":  {do: jlib.String, grows: times(6)}, // a control character becomes an escape
	"split":   {do: jlib.Split, grows: times(2)},
	"join":    {do: jlib.Join, grows: byArgument(1)},
	"match":   {do: jlib.Match, grows: byGroups},
	"replace": {do: jlib.Replace, grows: byArgument(2)},
}

// times lets results be some times larger.
func times(n float64) func(*jparse.FunctionCallNode, []float64) float64 {
	return func(*jparse.FunctionCallNode, []float64) float64 { return n }
}

// byArgument lets an argument come again for each character of the others.
func byArgument(i int) func(*jparse.FunctionCallNode, []float64) float64 {
	return func(_ *jparse.FunctionCallNode, sizes []float64) float64 {
		if i >= len(sizes) {
			return 1
		}
		return 1 + sizes[i]
	}
}

// byGroups lets a text come again for each group of a pattern.
func byGroups(n *jparse.FunctionCallNode, _ []float64) float64 {
	groups := 0
	if len(n.Args) > 1 {
		if pattern, ok := n.Args[1].(*jparse.RegexNode); ok {
			groups = pattern.Value.NumSubexp()
		}
	}
	return float64(2 + groups)
}

// lookup returns a member of an object. That of the library fails for one that the object does not have.
func lookup(object map[string]any, name string) (any, error) {
	value, known := object[name]
	if !known || value == nil {
		return nil, jtypes.ErrUndefined
	}
	return value, nil
}

// call returns the greatest size of the result of a call.
func (c *costs) call(n *jparse.FunctionCallNode) float64 {
	name, ok := n.Func.(*jparse.VariableNode)
	if !ok || len(n.Args) == 0 {
		return c.refuse("calls a function that has no name, or without arguments")
	}
	called, known := functions[name.Name]
	if _, isDeclared := c.variables[name.Name]; !known || isDeclared {
		return c.refuse("calls $%s", name.Name)
	}
	c.calls[name.Name] = called.extension()
	size, sizes := float64(1), make([]float64, len(n.Args))
	for i, arg := range n.Args {
		sizes[i] = c.of(arg)
		size += sizes[i]
	}
	if called.grows != nil {
		size *= called.grows(n, sizes)
	}
	return size
}

func (f function) extension() jsonata.Extension {
	if f.ofUndefined {
		return jsonata.Extension{Func: f.do}
	}
	return jsonata.Extension{Func: f.do, UndefinedHandler: jtypes.ArgUndefined(0)}
}
