// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"encoding/json"
	"slices"
	"strings"
)

// demand is a right that a request takes: an action on a resource. A demand without a resource is about any, where the proxy does
// not know what AWS evaluates.
type demand struct {
	action, resource string
	// context are the values of the condition keys of the request, by key in lower case. A key that is missing is absent.
	context map[string][]string
	// tags returns those of the resource; nil for one that does not exist yet.
	tags func() map[string]string
}

// value returns the values of a condition key. Tags of the resource are asked for where a policy has a condition on them.
func (d demand) value(key string) (values []string, present bool) {
	key = strings.ToLower(key)
	if values, present := d.context[key]; present {
		return values, true
	}
	name, isTag := strings.CutPrefix(key, "aws:resourcetag/")
	if !isTag || d.tags == nil {
		return nil, false
	}
	for tag, v := range d.tags() {
		if strings.ToLower(tag) == name {
			return []string{v}, true
		}
	}
	return nil, false
}

// rights are the policies of a caller. The proxy reads documents in another way than the operator does, so that both do not
// share a mistake.
type rights struct {
	caller   string // ARN
	identity []statement
	boundary []statement
	bounded  bool
}

// statement is one of an identity policy.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
type statement struct {
	Effect                                   string
	Action, NotAction, Resource, NotResource any
	Condition                                map[string]map[string]any
}

// statementsOf reads a document; one that cannot be read allows nothing.
func statementsOf(document string) []statement {
	var several struct{ Statement []statement }
	if json.Unmarshal([]byte(document), &several) == nil {
		return several.Statement
	}
	var single struct{ Statement statement }
	if json.Unmarshal([]byte(document), &single) == nil {
		return []statement{single.Statement}
	}
	return nil
}

// allow decides as AWS does for a caller of the account of the resource: a statement of the caller allows it, within the
// boundary, and none denies it.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
func (r *rights) allow(d demand) bool {
	if isDenied(r.identity, d) || isDenied(r.boundary, d) {
		return false
	}
	return isAllowed(r.identity, d) && (!r.bounded || isAllowed(r.boundary, d))
}

func isAllowed(statements []statement, d demand) bool {
	return slices.ContainsFunc(statements, func(s statement) bool { return s.Effect == "Allow" && s.covers(d) })
}

// isDenied leaves a Deny with resources out where the proxy does not know the resource.
func isDenied(statements []statement, d demand) bool {
	return slices.ContainsFunc(statements, func(s statement) bool {
		everything := slices.Contains(list(s.Resource), "*")
		return s.Effect == "Deny" && (d.resource != "" || everything) && s.covers(d)
	})
}

func (s statement) covers(d demand) bool {
	action := func(pattern string) bool { return matches(strings.ToLower(pattern), strings.ToLower(d.action)) }
	resource := func(pattern string) bool { return d.resource == "" || matches(pattern, d.resource) }
	return element(s.Action, s.NotAction, action) && element(s.Resource, s.NotResource, resource) && s.holds(d)
}

// element reports whether some value of an element matches, or none of its opposite.
func element(values, not any, match func(string) bool) bool {
	if not != nil {
		return !slices.ContainsFunc(list(not), match)
	}
	return slices.ContainsFunc(list(values), match)
}

// matches compares with a pattern of IAM, in which * and ? stand for any characters.
func matches(pattern, s string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			rest := strings.TrimLeft(pattern, "*")
			for i := 0; i <= len(s); i++ {
				if matches(rest, s[i:]) {
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
func (s statement) holds(d demand) bool {
	for operator, keys := range s.Condition {
		for key, wanted := range keys {
			values, present := d.value(key)
			if !conditionHolds(operator, list(wanted), values, present) {
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
	"StringLike":             matches,
	"ArnEquals":              matches,
	"ArnLike":                matches,
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
