// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// ours is the condition that a resource carries the operator's tag, and given that a request gives it.
var ours, given = stringEquals("aws:ResourceTag/"+managedBy, operatorName), stringEquals("aws:RequestTag/"+managedBy, operatorName)

// tagging returns where an action is needed that puts tags on resources which are limited by their tags alone; nil for other
// actions. A right to tag any resource would be a right to do everything with it. So tags are given with a create, and otherwise
// to resources that carry the operator's tag. With Adopt, all resources of the type get tags. All are the actions of the policy.
//
// Only EC2 has a condition that is met by creates alone. In the other services the right to tag with a create is one to give the
// operator's tag to any resource. They are in the list of docs/security.md.
func (s Scope) tagging(action string, all []string) []target {
	var resources []string // that exist
	var made []target      // by a create
	creates := slices.DeleteFunc(slices.Clone(ec2Creates), func(c string) bool { return !slices.Contains(all, "ec2:"+c) })
	switch action {
	case "ec2:DeleteTags":
		return []target{{s.ec2Made(creates), ours}}
	case "ec2:CreateTags":
		resources = s.ec2Made(creates)
		withParts := resources
		if slices.Contains(creates, "RunInstances") {
			withParts = append(slices.Clone(resources), s.arns("ec2", "volume/*")...)
		}
		made = []target{{withParts, iampolicy.Conditions{"StringEquals": {"ec2:CreateAction": creates}}}}
	case "kms:TagResource": // of a key that does not exist yet, AWS knows no ARN
		resources, made = s.arns("kms", "key/*"), []target{{everywhere, given}}
	case "acm:AddTagsToCertificate":
		resources = s.arns("acm", "certificate/*")
		made = []target{{resources, given}}
	case "cognito-idp:UpdateUserPool": // replaces the tags
		resources = s.arns("cognito-idp", "userpool/*")
	case "eks:TagResource", "eks:UntagResource":
		return s.eksTagging(action, all)
	case "rds:AddTagsToResource", "rds:ListTagsForResource", "rds:RemoveTagsFromResource", "glue:GetTags", "glue:TagResource",
		"glue:UntagResource":
		return s.taggingByName(action, all)
	default:
		return nil
	}
	return s.tagsOn(resources, made...)
}

// tagsOn returns where tags are given to resources that exist, and with a create.
func (s Scope) tagsOn(resources []string, made ...target) []target {
	if s.Adopt {
		return append([]target{{resources: resources}},
			slices.DeleteFunc(made, func(t target) bool { return slices.Equal(t.resources, resources) })...)
	}
	return append(made, target{resources, ours})
}

// eksTagging limits clusters by name, and associations by tags.
func (s Scope) eksTagging(action string, all []string) (out []target) {
	if clusters := (target{resources: s.arns("eks", "cluster/"+s.NamePrefix+"*")}); slices.Contains(all, "eks:CreateCluster") {
		if action == "eks:UntagResource" {
			clusters.condition = ours
		}
		out = append(out, clusters)
	}
	if !slices.Contains(all, "eks:CreatePodIdentityAssociation") {
		return out
	}
	associations := s.arns("eks", "podidentityassociation/"+s.ownCluster()+"/*")
	if action == "eks:UntagResource" {
		return append(out, target{associations, ours})
	}
	return append(out, s.tagsOn(associations, target{associations, given})...)
}

// taggingByName returns where an action on tags is needed in services that limit by name: the resources that the policy lets be created.
func (s Scope) taggingByName(action string, all []string) []target {
	service, _, _ := strings.Cut(action, ":")
	var resources []string
	for create, types := range map[string][]string{
		"rds:CreateDBInstance": {"db:" + s.NamePrefix}, "rds:CreateDBSubnetGroup": {"subgrp:" + s.NamePrefix},
		"glue:CreateCrawler": {"crawler/" + s.NamePrefix}, "glue:CreateDatabase": s.withPrefixes("database/"),
	} {
		if strings.HasPrefix(create, service+":") && slices.Contains(all, create) {
			for _, t := range types {
				resources = append(resources, s.arns(service, t+"*")...)
			}
		}
	}
	slices.Sort(resources)
	return []target{{resources: resources}}
}

// withPrefixes returns a type in the catalog with each beginning of the names.
func (s Scope) withPrefixes(resource string) (out []string) {
	for _, prefix := range s.catalogPrefixes() {
		out = append(out, resource+prefix)
	}
	return out
}

// ec2Made returns the ARNs of the resources that EC2's create actions make. The volumes of an instance, which get tags with it, are not
// changed later.
func (s Scope) ec2Made(creates []string) []string {
	var out []string
	for _, c := range creates {
		out = append(out, s.ec2Resources(c)...)
	}
	slices.Sort(out)
	return out
}

// aliases returns where actions on aliases of keys are needed: AWS evaluates the alias and the key. A key that an object adopts
// has no tag yet when it gets an alias.
func (s Scope) aliases(action string) []target {
	if service, operation, _ := strings.Cut(action, ":"); service != "kms" || !strings.HasSuffix(operation, "Alias") {
		return nil
	}
	key := target{s.arns("kms", "key/*"), ours}
	if s.Adopt {
		key.condition = nil
	}
	return []target{{resources: s.arns("kms", "alias/"+s.NamePrefix+"*")}, key}
}
