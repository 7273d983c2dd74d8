// SPDX-License-Identifier: Apache-2.0

// Package policy decides by policies of IAM as AWS does. It is pure.
package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Demand is a right that a request takes: an action on a resource. A demand without a resource is for any resource: the proxy does not know
// which ones AWS evaluates.
type Demand struct {
	Action, Resource string
	// Context are the values of the condition keys of the request, by key in lower case. A key that is missing is absent.
	Context map[string][]string
	// Tags returns those of the resource; nil for one that does not exist yet.
	Tags func() map[string]string
}

// value returns the values of a condition key. Tags of the resource are asked for where a policy has a condition on them.
func (d Demand) value(key string) (values []string, present bool) {
	key = strings.ToLower(key)
	if values, present := d.Context[key]; present {
		return values, true
	}
	name, isTag := strings.CutPrefix(key, "aws:resourcetag/")
	if !isTag || d.Tags == nil {
		return nil, false
	}
	for tag, v := range d.Tags() {
		if strings.ToLower(tag) == name {
			return []string{v}, true
		}
	}
	return nil, false
}

// Rights are the policies of a caller. The proxy reads documents in another way than the operator does, so that both do not
// share a mistake.
type Rights struct {
	Caller   string // ARN
	Identity []Statement
	Boundary []Statement
	Bounded  bool
}

// Statement is one of an identity policy.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
type Statement struct {
	Effect                                   string
	Action, NotAction, Resource, NotResource any
	Condition                                map[string]map[string]any
}

// StatementsOf reads a document; one that cannot be read allows nothing.
func StatementsOf(document string) []Statement {
	var several struct{ Statement []Statement }
	if json.Unmarshal([]byte(document), &several) == nil {
		return several.Statement
	}
	var single struct{ Statement Statement }
	if json.Unmarshal([]byte(document), &single) == nil {
		return []Statement{single.Statement}
	}
	return nil
}

// Allow decides as AWS does for a caller of the account of the resource: a statement of the caller allows it, within the
// boundary, and none denies it.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
func (r *Rights) Allow(d Demand) bool {
	if isDenied(r.Identity, d) || isDenied(r.Boundary, d) {
		return false
	}
	return isAllowed(r.Identity, d) && (!r.Bounded || isAllowed(r.Boundary, d))
}

// Refusal is the text of the error of AWS for a demand that it denies.
func (r *Rights) Refusal(d Demand) string {
	return "User: " + r.Caller + " is not authorized to perform: " + d.Action + " on resource: " + d.Resource +
		" because no identity-based policy allows the " + d.Action + " action"
}

func isAllowed(statements []Statement, d Demand) bool {
	return slices.ContainsFunc(statements, func(s Statement) bool { return s.Effect == "Allow" && s.Covers(d) })
}

// isDenied leaves a Deny with resources out where the proxy does not know the resource.
func isDenied(statements []Statement, d Demand) bool {
	return slices.ContainsFunc(statements, func(s Statement) bool {
		everything := slices.Contains(List(s.Resource), "*")
		return s.Effect == "Deny" && (d.Resource != "" || everything) && s.Covers(d)
	})
}

// Covers reports whether the statement is about a demand.
func (s Statement) Covers(d Demand) bool {
	action := func(pattern string) bool { return Matches(strings.ToLower(pattern), strings.ToLower(d.Action)) }
	resource := func(pattern string) bool { return d.Resource == "" || Matches(pattern, d.Resource) }
	return element(s.Action, s.NotAction, action) && element(s.Resource, s.NotResource, resource) && s.holds(d)
}

// element reports whether some value of an element matches, or none of its opposite.
func element(values, not any, match func(string) bool) bool {
	if not != nil {
		return !slices.ContainsFunc(List(not), match)
	}
	return slices.ContainsFunc(List(values), match)
}

// Matches compares a string with a pattern of IAM: * and ? stand for any characters.
func Matches(pattern, s string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			rest := strings.TrimLeft(pattern, "*")
			for i := 0; i <= len(s); i++ {
				if Matches(rest, s[i:]) {
					return true
				}
			}
			return false
		case s == "" || pattern[0] != '?' && pattern[0] != s[0]:
			return false
		}
		pattern, s = pattern[1:], s[1:]
	}
	return s == ""
}

// holds reports whether all conditions of a statement are met.
func (s Statement) holds(d Demand) bool {
	for operator, keys := range s.Condition {
		for key, wanted := range keys {
			values, present := d.value(key)
			if !conditionHolds(operator, List(wanted), values, present) {
				return false
			}
		}
	}
	return true
}

// comparisons are the operators that the proxy knows, without their opposites. One that it does not know is never met.
var comparisons = map[string]func(want, have string) bool{
	"StringEquals":           func(want, have string) bool { return want == have },
	"StringEqualsIgnoreCase": strings.EqualFold,
	"StringLike":             Matches,
	"ArnEquals":              Matches,
	"ArnLike":                Matches,
	"Bool":                   strings.EqualFold,
}

// conditionHolds evaluates one key of a condition.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
func conditionHolds(operator string, wanted, values []string, present bool) bool {
	operator, ifExists := strings.CutSuffix(operator, "IfExists")
	operator, all := strings.CutPrefix(operator, "ForAllValues:")
	operator = strings.TrimPrefix(operator, "ForAnyValue:")
	if operator == "Null" {
		return slices.Contains(wanted, "true") == !present
	}
	positive := strings.Replace(operator, "Not", "", 1)
	compare, known := comparisons[positive]
	if !known {
		return false
	}
	if !present {
		return ifExists || all || positive != operator
	}
	met := func(have string) bool {
		return slices.ContainsFunc(wanted, func(want string) bool { return compare(want, have) }) == (positive == operator)
	}
	if all || positive != operator {
		return !slices.ContainsFunc(values, func(have string) bool { return !met(have) })
	}
	return slices.ContainsFunc(values, met)
}

// List gives the strings of a value that is one or has several.
func List(v any) []string {
	switch t := v.(type) {
	case string:
		return []string{t}
	case bool:
		return []string{fmt.Sprint(t)}
	case []any:
		var out []string
		for _, e := range t {
			out = append(out, fmt.Sprint(e))
		}
		return out
	}
	return nil
}
