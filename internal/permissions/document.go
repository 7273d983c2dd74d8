// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// maxPolicy limits how many characters a managed policy may have, white space not counted:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const maxPolicy = 6144

// maxPoliciesOfRole is the default quota of the managed policies that are attached to one role, on the same page.
const maxPoliciesOfRole = 10

// target says where an action is allowed: resources, under a condition.
type target struct {
	resources []string
	condition iampolicy.Conditions
}

// stringEquals is the condition that a key of the request's context has a value.
func stringEquals(key, value string) iampolicy.Conditions {
	return iampolicy.Conditions{"StringEquals": {key: {value}}}
}

// grants are actions by target, in the form of statements.
type grants []iampolicy.Statement

// add allows an action, in the statement of its target if there is one.
func (g *grants) add(action string, where target) {
	same := func(s iampolicy.Statement) bool {
		return slices.Equal(s.Resource, where.resources) && fmt.Sprint(s.Condition) == fmt.Sprint(where.condition)
	}
	i := slices.IndexFunc(*g, same)
	if i < 0 {
		*g = append(*g, iampolicy.Statement{Effect: iampolicy.Allow, Resource: where.resources, Condition: where.condition})
		i = len(*g) - 1
	}
	if s := &(*g)[i]; !slices.Contains(s.Action, action) {
		s.Action = append(s.Action, action)
	}
}

// allow allows actions on one target.
func (g *grants) allow(where target, actions ...string) {
	for _, action := range actions {
		g.add(action, where)
	}
}

// documents distributes the statements over as many policies as AWS's limit of their length needs.
func (g grants) documents() ([]iampolicy.Document, error) {
	slices.SortStableFunc(g, func(a, b iampolicy.Statement) int {
		return cmp.Or(strings.Compare(a.Action[0], b.Action[0]), slices.Compare(a.Resource, b.Resource))
	})
	var out []iampolicy.Document
	for _, s := range g.inParts() {
		if n := len(out); n > 0 {
			longer := iampolicy.New(append(slices.Clone(out[n-1].Statement), s)...)
			if fitsQuota(longer) {
				out[n-1] = longer
				continue
			}
		}
		alone := iampolicy.New(s)
		if !fitsQuota(alone) {
			return nil, fmt.Errorf("the statement that allows %s is longer than the %d characters of a policy: name fewer resources", s.Action[0],
				maxPolicy)
		}
		out = append(out, alone)
	}
	return out, nil
}

// inParts returns the statements, with the actions of one that no policy can hold distributed over several.
func (g grants) inParts() grants {
	var out grants
	for _, s := range g {
		if half := len(s.Action) / 2; half > 0 && !fitsQuota(iampolicy.New(s)) {
			first, second := s, s
			first.Action, second.Action = s.Action[:half], s.Action[half:]
			out = append(out, grants{first, second}.inParts()...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// fitsQuota reports whether a managed policy can hold the document. No element that the operator writes has white space.
func fitsQuota(d iampolicy.Document) bool {
	text, err := d.Encode()
	return err == nil && len(text) <= maxPolicy
}
