// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The bounds of an expression: as long as the schema allows, and nested deeper than anybody means to.
const (
	maxExpressionSize  = 1024
	maxExpressionDepth = 32
)

// translateCEL reads a CEL expression on labels as requirements that must all hold. It is parsed and never evaluated. These forms are
// supported, on one label each, joined by && and negated by !:
//
//	labels["k"] == "v"   labels.k != "v"   labels["k"] in ["a", "b"]   "k" in labels   has(labels.k)   true
//
// where object.metadata.labels is the same as labels. In CEL it is an error to read a label that is not
// there; here such a label is equal to nothing: == and in do not hold, != and !(… in …) do, as in every
// selector of Kubernetes.
func translateCEL(field, expression string) ([]metav1.LabelSelectorRequirement, *Problem) {
	t := translation{expression: expression}
	if why := t.parse(); why != "" {
		return nil, &Problem{
			Condition: v1alpha1.ConditionSelectorUnsupported, Reason: ReasonSelectorUnsupported, Field: field, Fatal: true,
			Message: fmt.Sprintf("%#q cannot be translated, and nothing is selected: %s", status.Truncate(expression, maxQuoted), why),
		}
	}
	return t.requirements, nil
}

type translation struct {
	expression   string
	info         *ast.SourceInfo
	requirements []metav1.LabelSelectorRequirement
}

// parse says why the expression cannot be translated, or nothing.
func (t *translation) parse() (why string) {
	p, err := parser.NewParser(
		parser.Macros(parser.HasMacro),
		parser.MaxRecursionDepth(maxExpressionDepth),
		parser.ExpressionSizeCodePointLimit(maxExpressionSize),
	)
	if err != nil {
		return err.Error()
	}
	tree, errs := p.Parse(common.NewTextSource(t.expression))
	if e := errs.GetErrors(); len(e) > 0 {
		return fmt.Sprintf("at column %d: %s", e[0].Location.Column()+1, status.Truncate(e[0].Message, maxQuoted))
	}
	t.info = tree.SourceInfo()
	return t.all(tree.Expr(), false)
}

// all adds the requirements of a conjunction.
func (t *translation) all(e ast.Expr, negated bool) (why string) {
	if e.Kind() == ast.LiteralKind && e.AsLiteral().Type() == types.BoolType {
		if e.AsLiteral() == types.Bool(negated) {
			return "it never holds"
		}
		return ""
	}
	switch operator(e) {
	case operators.LogicalNot:
		return t.all(e.AsCall().Args()[0], !negated)
	case operators.LogicalAnd:
		if negated {
			return t.part(e) + " is negated as a whole: negate each side, in its own binding"
		}
		for _, side := range e.AsCall().Args() {
			if why := t.all(side, false); why != "" {
				return why
			}
		}
		return ""
	}
	r, why := t.requirement(e)
	if why != "" {
		return why
	}
	if negated {
		r.Operator = negatedOperator(r.Operator)
	}
	t.requirements = append(t.requirements, r)
	return ""
}

// requirement reads a condition on one label.
func (t *translation) requirement(e ast.Expr) (metav1.LabelSelectorRequirement, string) {
	if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() && isLabels(e.AsSelect().Operand()) {
		return newRequirement(e.AsSelect().FieldName(), metav1.LabelSelectorOpExists), ""
	}
	var r metav1.LabelSelectorRequirement
	ok := false
	switch operator(e) {
	case operators.Equals:
		r, ok = comparisonRequirement(e.AsCall().Args(), metav1.LabelSelectorOpIn)
	case operators.NotEquals:
		r, ok = comparisonRequirement(e.AsCall().Args(), metav1.LabelSelectorOpNotIn)
	case operators.In:
		r, ok = inRequirement(e.AsCall().Args())
	case operators.LogicalOr:
		return r, t.part(e) + " has no form in a selector: use in, or a binding for each side"
	}
	if !ok {
		return r, t.part(e) + ` is not one of labels["k"] == "v", labels["k"] != "v", labels["k"] in ["v", …], "k" in labels, has(labels.k)`
	}
	return r, ""
}

// comparisonRequirement reads the operands of == and !=, in either order.
func comparisonRequirement(args []ast.Expr, op metav1.LabelSelectorOperator) (metav1.LabelSelectorRequirement, bool) {
	key, isLabel := label(args[0])
	value, isText := text(args[1])
	if !isLabel {
		key, isLabel = label(args[1])
		value, isText = text(args[0])
	}
	return newRequirement(key, op, value), isLabel && isText
}

// inRequirement reads the operands of in: a label in a list of values, or a key in the labels.
func inRequirement(args []ast.Expr) (r metav1.LabelSelectorRequirement, ok bool) {
	if key, ok := text(args[0]); ok {
		return newRequirement(key, metav1.LabelSelectorOpExists), isLabels(args[1])
	}
	key, ok := label(args[0])
	if !ok || args[1].Kind() != ast.ListKind || args[1].AsList().Size() == 0 {
		return r, false
	}
	r = newRequirement(key, metav1.LabelSelectorOpIn)
	for _, e := range args[1].AsList().Elements() {
		v, ok := text(e)
		if !ok {
			return r, false
		}
		r.Values = append(r.Values, v)
	}
	return r, true
}

func newRequirement(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
}

func negatedOperator(op metav1.LabelSelectorOperator) metav1.LabelSelectorOperator {
	switch op {
	case metav1.LabelSelectorOpIn:
		return metav1.LabelSelectorOpNotIn
	case metav1.LabelSelectorOpNotIn:
		return metav1.LabelSelectorOpIn
	case metav1.LabelSelectorOpExists:
		return metav1.LabelSelectorOpDoesNotExist
	default:
		return metav1.LabelSelectorOpExists
	}
}

// operator is that of a call, or the function's name, which is never written like an operator's.
func operator(e ast.Expr) string {
	if e.Kind() != ast.CallKind {
		return ""
	}
	return e.AsCall().FunctionName()
}

// label is the key in labels["key"] or labels.key.
func label(e ast.Expr) (string, bool) {
	if e.Kind() == ast.SelectKind {
		s := e.AsSelect()
		return s.FieldName(), !s.IsTestOnly() && isLabels(s.Operand())
	}
	if operator(e) != operators.Index || !isLabels(e.AsCall().Args()[0]) {
		return "", false
	}
	return text(e.AsCall().Args()[1])
}

// isLabels recognizes labels and object.metadata.labels.
func isLabels(e ast.Expr) bool {
	path := ""
	for e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly() && strings.Count(path, ".") < 3 {
		path = "." + e.AsSelect().FieldName() + path
		e = e.AsSelect().Operand()
	}
	if e.Kind() != ast.IdentKind {
		return false
	}
	path = e.AsIdent() + path
	return path == "labels" || path == "object.metadata.labels"
}

func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// part names a part of the expression, which is quoted already.
func (t *translation) part(e ast.Expr) string {
	s, err := parser.Unparse(e, t.info)
	switch {
	case err != nil:
		return "a part of it"
	case s == t.expression:
		return "it"
	default:
		return fmt.Sprintf("%#q", status.Truncate(s, maxQuoted))
	}
}

// maxQuoted bounds the part of a user's input that a message quotes, in bytes.
const maxQuoted = 128
