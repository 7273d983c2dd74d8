// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
)

// Dependent decides when a request for an action takes another one, too.
type Dependent struct {
	Action, Needs string
	// With is the member of the request that causes the other action; with a value behind =, only if the member has that value. "tags" stands
	// for the tags of the request. Empty means always.
	With string
	// Never says why it does not, although the reference lists the action.
	Never string
	// At are the types of the resources that the other action is evaluated for.
	At []string
	// On returns the demands where types do not say enough.
	On func(q *Asker) []policy.Demand
	// Page says where the need is documented or was seen, where the reference does not list it.
	Page string
}

// Conditions of dependents, and pages that say why.
const (
	WithTags     = "tags"
	tagsAtCreate = "https://docs.aws.amazon.com/IAM/latest/UserGuide/access_tags.html: AWS asks for the right to tag when a create has tags"
	UsersOfKeys  = "the service uses the key with the rights of the caller; the guide of each service lists the actions"
	OwnRoles     = "https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html"
)

// dependents returns the decisions of all services on the dependent actions of the reference, and on needs that it lacks.
func (c *Catalog) dependents() []Dependent {
	var out []Dependent
	for _, f := range c.all {
		out = append(out, f.Rights.Dependents...)
	}
	return out
}

// Tagging returns the actions that a create with tags takes, beyond the reference.
func Tagging(action, needs string, at ...string) Dependent {
	return Dependent{Action: action, Needs: needs, With: WithTags, At: at, Page: tagsAtCreate}
}

// holds reports whether the request is one that takes the other action.
func (d Dependent) holds(q *Asker) bool {
	field, want, valued := strings.Cut(d.With, "=")
	switch {
	case d.Never != "" || !policy.Matches(d.Action, q.Action):
		return false
	case d.With == "":
		return true
	case d.With == WithTags:
		return len(q.tags) > 0
	case strings.HasPrefix(d.With, "<"):
		return strings.Contains(string(q.X.Body), d.With)
	case strings.HasPrefix(d.With, "!"):
		return len(q.Values(field[1:])) == 0
	case valued && q.X.Form == nil:
		v, _ := Member(q.X.JSON, field).(bool)
		return v == (want == "true")
	case valued:
		return slices.Contains(q.Values(field), want)
	}
	return len(q.Values(field)) > 0 || q.X.Form == nil && Member(q.X.JSON, field) != nil
}

// demands returns the demands of the other action.
func (d Dependent) demands(q *Asker) []policy.Demand {
	if d.On != nil {
		return d.On(q)
	}
	if len(d.At) == 0 {
		return []policy.Demand{q.Need(d.Needs, "*", nil)}
	}
	var out []policy.Demand
	for _, kind := range d.At {
		arns := q.arnsOf(templates()[kind])
		if len(arns) == 0 {
			arns = []string{q.anyOf(templates()[kind])}
		}
		for _, arn := range arns {
			one := q.Need(d.Needs, arn, nil)
			if IsNew(q.X.Op) {
				one.Tags = nil // it has none yet
			}
			out = append(out, one)
		}
	}
	return out
}
