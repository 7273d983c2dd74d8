// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"regexp"
)

// NameRule holds the rule of AWS for a name that moto accepts unseen.
type NameRule struct {
	Member   string
	Min, Max int
	Pattern  *regexp.Regexp
	Code     string
}

// Validation is the code of many services for a name that they refuse.
const Validation = "ValidationException"

// refuseBadName: moto accepts many names that AWS does not. The rules are taken from the service models (and, for DynamoDB and SSM,
// the narrower rules of the documentation).
func refuseBadName(x *Exchange) *Answer {
	f := x.facts()
	if rule, ok := f.Names[x.Op]; ok {
		name := Text(Member(x.JSON, rule.Member))
		if x.Form != nil {
			name = x.Form.Get(rule.Member)
		}
		if problem := rule.check(name); problem != "" {
			return x.Refuse(http.StatusBadRequest, rule.Code,
				fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", name, rule.Member, problem))
		}
	}
	if f.CheckName != nil {
		return f.CheckName(x)
	}
	return nil
}

func (r NameRule) check(name string) string {
	switch {
	case len(name) < r.Min:
		return fmt.Sprintf("Member must have length greater than or equal to %d", r.Min)
	case len(name) > r.Max:
		return fmt.Sprintf("Member must have length less than or equal to %d", r.Max)
	case !r.Pattern.MatchString(name):
		return "Member must satisfy regular expression pattern: " + r.Pattern.String()
	}
	return ""
}
