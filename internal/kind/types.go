// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"slices"
	"strings"
)

// guardedServices have types that give rights, or change how an account is managed.
var guardedServices = []string{"IAM", "Organizations", "SSO", "CloudFormation", "IdentityStore", "RolesAnywhere", "RAM"}

// guardedEnds are the ends of the names of such types elsewhere.
var guardedEnds = []string{
	"Policy", "Permission", "Permissions", "Grant", "Grants", "PolicyGrant", "PolicyStatement", "PortfolioShare", "PrincipalAssociation", "PrincipalAttachment",
}

// guardedTypes are such types with other names.
var guardedTypes = []string{
	"AWS::EC2::SnapshotBlockPublicAccess", "AWS::EMR::StudioSessionMapping", "AWS::QuickSight::Assignment", "AWS::Redshift::EndpointAuthorization", "AWS::Shield::DRTAccess",
}

// IsGuardedType reports whether only the exact name of a resource type allows it: the type gives rights, or is that of a policy of a
// resource.
func IsGuardedType(typeName string) bool {
	parts := strings.Split(typeName, "::")
	return len(parts) == 3 && (slices.Contains(guardedServices, parts[1]) || slices.Contains(guardedTypes, typeName) ||
		slices.ContainsFunc(guardedEnds, func(end string) bool { return strings.HasSuffix(parts[2], end) }))
}

// AllowsType reports whether one of the patterns allows a resource type: its name, or all types of its service, such as AWS::Kinesis::*.
func AllowsType(patterns []string, typeName string) bool {
	service := typeName[:strings.LastIndex(typeName, ":")+1]
	return slices.Contains(patterns, typeName) || !IsGuardedType(typeName) && slices.Contains(patterns, service+"*")
}
