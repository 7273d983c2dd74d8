// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"slices"
	"strings"
)

// dependent decides when a request for an action takes another one, too.
type dependent struct {
	action, needs string
	// with is the member of the request with which it does; with a value behind =, if the member has that. "tags" are tags. Empty is
	// always.
	with string
	// never says why it does not, although the reference lists the action.
	never string
	// at are the types of the resources that the other action is evaluated for.
	at []string
	// on returns the demands where types do not say enough.
	on func(q *asker) []demand
	// page says where the need is documented or was seen, where the reference does not list it.
	page string
}

const (
	withTags     = "tags"
	tagsAtCreate = "https://docs.aws.amazon.com/IAM/latest/UserGuide/access_tags.html: AWS asks for the right to tag when a create has tags"
	usersOfKeys  = "the service uses the key with the rights of the caller; the guide of each service lists the actions"
	ownRoles     = "https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html"
)

// dependents are the decisions of all services on the dependent actions of the reference, and on needs that it lacks.
func dependents() []dependent {
	var out []dependent
	for _, f := range allFacts() {
		out = append(out, f.Rights.Dependents...)
	}
	return out
}

// tagging returns what a create with tags takes, beyond the reference.
func tagging(action, needs string, at ...string) dependent {
	return dependent{action: action, needs: needs, with: withTags, at: at, page: tagsAtCreate}
}

// holds reports whether the request is one that takes the other action.
func (d dependent) holds(q *asker) bool {
	field, want, valued := strings.Cut(d.with, "=")
	switch {
	case d.never != "" || !matches(d.action, q.action):
		return false
	case d.with == "":
		return true
	case d.with == withTags:
		return len(q.tags) > 0
	case strings.HasPrefix(d.with, "<"):
		return strings.Contains(string(q.x.body), d.with)
	case strings.HasPrefix(d.with, "!"):
		return len(q.values(field[1:])) == 0
	case valued && q.x.form == nil:
		v, _ := member(q.x.json, field).(bool)
		return v == (want == "true")
	case valued:
		return slices.Contains(q.values(field), want)
	}
	return len(q.values(field)) > 0 || q.x.form == nil && member(q.x.json, field) != nil
}

// demands returns the demands of the other action.
func (d dependent) demands(q *asker) []demand {
	if d.on != nil {
		return d.on(q)
	}
	if len(d.at) == 0 {
		return []demand{q.need(d.needs, "*", nil)}
	}
	var out []demand
	for _, kind := range d.at {
		arns := q.arnsOf(templates()[kind])
		if len(arns) == 0 {
			arns = []string{q.anyOf(templates()[kind])}
		}
		for _, arn := range arns {
			one := q.need(d.needs, arn, nil)
			if isNew(q.x.op) {
				one.tags = nil // it has none yet
			}
			out = append(out, one)
		}
	}
	return out
}
