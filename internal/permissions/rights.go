// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// ours is the condition that a resource carries the operator's tag, and given that a request gives it.
var ours, given = stringEquals("aws:ResourceTag/"+managedBy, operatorName), stringEquals("aws:RequestTag/"+managedBy, operatorName)

// catalogPrefixes are the beginnings of the names of databases.
func (s Scope) catalogPrefixes() []string {
	return slices.Compact([]string{s.NamePrefix, strings.ReplaceAll(s.NamePrefix, "-", "_")})
}

// shared are the rights to the reads that kinds of any service make: of what a spec names, and of what uses a resource.
func shared(action string) []kind.Right {
	return kind.Rights{Calls: []kind.Right{
		{Actions: "tag:GetResources elasticloadbalancing:Describe* ec2:Describe*"},
		{Actions: "kms:DescribeKey", On: []string{"key/*"}},
		{Actions: "iam:GetRole", On: []string{"arn:${Partition}:iam::${Account}:role/${RoleName}"}},
		// also that of an instance
		{Actions: "iam:GetInstanceProfile", On: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}},
	}}.Of(action)
}

// takersOf returns the rights in the facts of the kinds that take an action, or name it beside one that does.
func takersOf(metas []kind.Meta, action string) (out []kind.Rights) {
	for _, m := range metas {
		if slices.Contains(actionsOfKind(m), action) || m.Facts.Rights.Names(action) {
			out = append(out, m.Facts.Rights)
		}
	}
	return out
}

// limited is a target, with its condition as the facts say it, and the number of the kind.
type limited struct {
	resources []string
	condition kind.Condition
	of        int
}

// targets returns where an action is needed, by the facts of the kinds that take it. All are the actions of the policy. An action without a
// right in the facts is an error, so that no one adds a kind with rights to everything.
func (s Scope) targets(action string, takers []kind.Rights, all []string) ([]target, error) {
	if tagging := s.ec2Tagging(action, takers, all); tagging != nil {
		return tagging, nil
	}
	var found []limited
	for i, rights := range takers {
		of := shared(action)
		if len(of) == 0 {
			of = rights.Of(action)
		}
		if len(of) == 0 {
			return nil, fmt.Errorf("%s: its resources are not known: declare them in Rights of the kind's facts", action)
		}
		for _, right := range of {
			found = addTo(found, limited{s.fill(action, right.On), right.If, i})
		}
	}
	var out []target
	for _, l := range found {
		out = append(out, target{l.resources, s.condition(l.condition, action)})
	}
	return slices.DeleteFunc(out, func(t target) bool {
		return t.condition != nil && slices.ContainsFunc(out, func(other target) bool {
			return other.condition == nil && slices.Equal(other.resources, t.resources)
		})
	}), nil
}

// addTo adds a target, to that of another kind if neither has a condition.
func addTo(found []limited, l limited) []limited {
	for i, other := range found {
		if other.of == l.of || other.condition != kind.Unconditional || l.condition != kind.Unconditional {
			continue
		}
		if !slices.Equal(other.resources, l.resources) {
			both := slices.Concat(other.resources, l.resources)
			slices.Sort(both)
			found[i].resources = slices.Compact(both)
		}
		return found
	}
	return append(found, l)
}

// condition returns the condition that a fact names.
func (s Scope) condition(c kind.Condition, action string) iampolicy.Conditions {
	_, operation, _ := strings.Cut(action, ":")
	reads := strings.HasPrefix(operation, "Get") || strings.HasPrefix(operation, "List") || strings.HasPrefix(operation, "Describe")
	switch {
	case c == kind.GivesTag:
		return given
	case c == kind.HasTag && !(s.Adopt && reads), c == kind.HasTagOrIsAdopted && !s.Adopt:
		return ours
	case c == kind.HasBoundary && s.Boundary != "" && slices.Contains(grantsPermissions, operation):
		return stringEquals("iam:PermissionsBoundary", s.Boundary)
	default:
		return nil
	}
}

// fill returns the ARNs of the resources that a fact names.
func (s Scope) fill(action string, resources []string) (out []string) {
	if len(resources) == 0 {
		return everywhere
	}
	service, _, _ := strings.Cut(action, ":")
	path := strings.TrimPrefix(strings.Trim(s.RolePath, "/")+"/", "/")
	for _, catalogName := range s.catalogPrefixes() {
		names := strings.NewReplacer("${Partition}", s.partition(), "${Region}", cmp.Or(s.Region, "*"),
			"${Account}", cmp.Or(s.Account, "*"), "${Name}", s.NamePrefix+"*", "${CatalogName}", catalogName+"*",
			"${RoleName}", path+s.NamePrefix+"*", "${Cluster}", s.ownCluster())
		for _, r := range resources {
			if !strings.HasPrefix(r, "arn:") {
				r = "arn:${Partition}:" + service + ":${Region}:${Account}:" + r
			}
			if arn := names.Replace(r); !slices.Contains(out, arn) {
				out = append(out, arn)
			}
		}
	}
	return out
}

// addNeeds adds the rights that the caller of an action needs to other actions, to keys and to roles.
func (s Scope) addNeeds(g *grants, action string, rights kind.Rights) {
	for _, need := range rights.Needs {
		if !kind.NamesAction(need.For, action) {
			continue
		}
		for needed := range strings.FieldsSeq(need.Actions) {
			g.add(needed, target{s.fill(needed, need.On), s.condition(need.If, needed)})
		}
	}
	for _, service := range slices.Sorted(maps.Keys(rights.ServiceRoles)) {
		if kind.NamesAction(rights.ServiceRoles[service], action) {
			g.add(serviceLinkedRole, target{[]string{s.inIAM("role/aws-service-role/" + service + "/*")},
				stringEquals("iam:AWSServiceName", service)})
		}
	}
	for _, actions := range slices.Sorted(maps.Keys(rights.Encrypts)) {
		if kind.NamesAction(actions, action) {
			service, _, _ := strings.Cut(action, ":")
			g.allow(s.ownKeys(service), strings.Fields(rights.Encrypts[actions])...)
		}
	}
	for _, pass := range rights.Passes {
		if kind.NamesAction(pass.For, action) {
			g.add(passRole, target{s.passable(pass), s.passedTo(pass.To)})
		}
	}
}

// passable returns the roles that may be given to a service.
func (s Scope) passable(pass kind.Pass) []string {
	if pass.AnyRole {
		return []string{s.inIAM("role/*")}
	}
	return s.roles()
}
