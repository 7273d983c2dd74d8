// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// ec2CreateTags gives tags to resources of any type of EC2.
const ec2CreateTags = "ec2:CreateTags"

// ec2Creates has the order of actions in the condition on creates. Those of kinds that were added later follow, sorted.
var ec2Creates = []string{"CreateVpc", "CreateSubnet", "CreateSecurityGroup", "CreateInternetGateway", "CreateRouteTable",
	"AllocateAddress", "CreateNatGateway", "ImportKeyPair", "RunInstances"}

// ec2Made are the actions of EC2 in a policy that make resources with their tags.
type ec2Made struct {
	creates []string // without the service
	// resources are the ARNs of what they make, and withParts also of the parts that get tags with it and are not changed later.
	resources, withParts []string
}

func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// ec2Made returns what the actions of the policy make, by the facts of the kinds that give tags.
func (s Scope) ec2Made(takers []kind.Rights, all []string) (m ec2Made) {
	var parts []string
	for _, rights := range takers {
		for _, right := range rights.Calls {
			if right.If != kind.GivesTag {
				continue
			}
			if right.Actions == ec2CreateTags {
				parts = append(parts, s.fill(ec2CreateTags, right.On)...)
				continue
			}
			for action := range strings.FieldsSeq(right.Actions) {
				if operation, ok := strings.CutPrefix(action, "ec2:"); ok && slices.Contains(all, action) {
					m.creates = append(m.creates, operation)
					m.resources = append(m.resources, s.fill(action, right.On)...)
				}
			}
		}
	}
	m.resources, m.creates = sorted(m.resources), sorted(m.creates)
	first := slices.DeleteFunc(slices.Clone(ec2Creates), func(c string) bool { return !slices.Contains(m.creates, c) })
	m.creates = append(first, slices.DeleteFunc(m.creates, func(c string) bool { return slices.Contains(first, c) })...)
	m.withParts = slices.Concat(m.resources, parts)
	return m
}

// ec2Tagging returns where the right to change tags is needed: with a create, for which EC2 alone has a condition, and otherwise on
// resources that carry the operator's tag. With Adopt, all resources of the types get tags. It returns nil for other actions.
func (s Scope) ec2Tagging(action string, takers []kind.Rights, all []string) []target {
	if action != ec2CreateTags && action != "ec2:DeleteTags" {
		return nil
	}
	made := s.ec2Made(takers, all)
	with := target{made.withParts, iampolicy.Conditions{"StringEquals": {"ec2:CreateAction": made.creates}}}
	switch {
	case action == "ec2:DeleteTags":
		return []target{{made.resources, ours}}
	case !s.Adopt:
		return []target{with, {made.resources, ours}}
	case len(made.withParts) > len(made.resources):
		return []target{{resources: made.resources}, with}
	default:
		return []target{{resources: made.resources}}
	}
}
