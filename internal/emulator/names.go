// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"fmt"
	"net/http"
	"regexp"
)

// nameRule holds what AWS demands of a name that moto accepts unseen.
type nameRule struct {
	member   string
	min, max int
	pattern  *regexp.Regexp
	code     string
}

const validation = "ValidationException"

// refuseBadName: moto accepts many names that AWS does not. The rules are taken from the service models (and, for DynamoDB and SSM,
// the narrower rules of the documentation).
func refuseBadName(x *exchange) *answer {
	f := x.facts()
	if rule, ok := f.Names[x.op]; ok {
		name := text(member(x.json, rule.member))
		if x.form != nil {
			name = x.form.Get(rule.member)
		}
		if problem := rule.check(name); problem != "" {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, rule.code,
				fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", name, rule.member, problem)})
		}
	}
	if f.CheckName != nil {
		return f.CheckName(x)
	}
	return nil
}

func (r nameRule) check(name string) string {
	switch {
	case len(name) < r.min:
		return fmt.Sprintf("Member must have length greater than or equal to %d", r.min)
	case len(name) > r.max:
		return fmt.Sprintf("Member must have length less than or equal to %d", r.max)
	case !r.pattern.MatchString(name):
		return "Member must satisfy regular expression pattern: " + r.pattern.String()
	}
	return ""
}
