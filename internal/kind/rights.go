// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"path"
	"slices"
	"strings"
)

// Rights describes the rights in IAM that the actions of a kind take. Package permissions makes policies of them:
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
//
// Lists of actions are separated by spaces, and a star stands for any letters.
type Rights struct {
	// Calls are the rights to the actions of the kind. Every right that names an action counts, also where another kind of the policy
	// takes the action. One to all actions of a service, such as ecs:*, counts for those of the kind that no other names. The reads that
	// kinds of any service make, such as kms:DescribeKey, need none.
	Calls []Right
	// Needs are the rights to further actions that AWS asks of the caller of an action. No call has their names.
	Needs []Need
	// Passes are the services that get a role with an action, which needs iam:PassRole.
	Passes []Pass
	// ServiceRoles are the services that have a separate role, by the actions with which AWS makes it for its caller:
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/using-service-linked-roles.html
	ServiceRoles map[string]string
	// Encrypts are the rights to a KMS key that a service uses on behalf of the caller, by the actions.
	Encrypts map[string]string
	// Decided are differences to AWS's reference and to the texts of its service models, with the reason. The key is an action, or an
	// action and a further action or resource that it needs by the reference; or an operation of a service and an action that its text
	// names.
	Decided map[string]string
}

// Right is the right to actions on resources.
type Right struct {
	Actions string
	// On are the resources: ARNs, or the last field of ARNs of the service in the region and account. If it is empty, AWS evaluates no
	// resource. Package permissions fills in:
	//
	//	${Partition} ${Region} ${Account}
	//	${Name}        a name that begins with the prefix of the operator's names, up to its end
	//	${CatalogName} the same, and with underscores for hyphens
	//	${RoleName}    the same, after the path of roles
	//	${Cluster}     the operator's own cluster
	On []string
	If Condition
}

// Need is the right to further actions that the caller of an action needs.
type Need struct {
	For string
	// Actions, On and If are those of a Right.
	Actions string
	On      []string
	If      Condition
}

// Pass is the right to give roles to a service with an action.
type Pass struct {
	For string
	// To is the service, such as glue.amazonaws.com.
	To string
	// AnyRole is true where no spec names the role: updates repeat the one that others set.
	AnyRole bool
}

// Condition limits a right beyond its resources.
type Condition int

// The conditions of rights.
const (
	// Unconditional is for resources that are limited by their names, and for those that need not be the operator's.
	Unconditional Condition = iota
	// GivesTag allows requests that give the tag of the operator to a resource. It is for creates, and for actions that AWS evaluates
	// with a create that has tags. Only EC2 has a condition that creates alone meet: a right to ec2:CreateTags is for the parts of a
	// resource, and that for the resource follows from its create. In other services it is a right to tag any resource, which
	// docs/security.md lists.
	GivesTag
	// HasTag allows actions on resources with the tag of the operator. An adoption compares the whole resource with the object before the
	// first write, so that an operator that adopts may read every one.
	HasTag
	// HasTagOrIsAdopted allows actions on resources with the tag of the operator, and on every one for an operator that adopts. A right
	// to tag any resource would be a right to do everything with it.
	HasTagOrIsAdopted
	// HasBoundary allows actions on roles with the boundary of the operator's roles, where there is one and AWS evaluates it.
	HasBoundary
)

// Of returns the rights to the calls of an action.
func (r Rights) Of(action string) (out []Right) {
	named, others := r.split(action)
	if len(named) == 0 {
		return others
	}
	return named
}

// Names reports whether a right other than one to all actions of a service names an action.
func (r Rights) Names(action string) bool {
	named, _ := r.split(action)
	return len(named) > 0
}

// split returns the rights that name an action, and those to all other actions of its service.
func (r Rights) split(action string) (named, others []Right) {
	service, _, _ := strings.Cut(action, ":")
	for _, right := range r.Calls {
		switch {
		case right.Actions == service+":*":
			others = append(others, right)
		case NamesAction(right.Actions, action):
			named = append(named, right)
		}
	}
	return named, others
}

// NamesAction reports whether a list of actions, with stars for any letters, has an action.
func NamesAction(list, action string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(pattern string) bool {
		ok, err := path.Match(pattern, action)
		return err == nil && ok
	})
}
