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
	"Policy", "Permission", "Permissions", "Grant", "Grants", "PolicyGrant", "PolicyStatement", "PortfolioShare", "PrincipalAssociation",
	"PrincipalAttachment",
}

// guardedTypes are such types with other names, and types that act on every resource in the account with certain tags or of a certain type:
// their resources run commands on the instances of other owners, or copy, keep, scale or change resources of other owners.
var guardedTypes = []string{
	"AWS::EC2::SnapshotBlockPublicAccess", "AWS::EMR::StudioSessionMapping", "AWS::QuickSight::Assignment",
	"AWS::Redshift::EndpointAuthorization", "AWS::Shield::DRTAccess",

	"AWS::AutoScalingPlans::ScalingPlan", "AWS::Backup::BackupSelection", "AWS::Budgets::BudgetsAction", "AWS::CodeDeploy::DeploymentGroup",
	"AWS::ComputeOptimizer::AutomationRule", "AWS::Config::RemediationConfiguration",
	"AWS::FIS::ExperimentTemplate", "AWS::FIS::TargetAccountConfiguration", "AWS::Rbin::Rule", "AWS::ResourceGroups::TagSyncTask",
	"AWS::SSM::Association",
	"AWS::SSM::MaintenanceWindowTarget", "AWS::SSM::MaintenanceWindowTask",
}

// IsGuardedType reports whether only the exact name of a resource type allows it: the type gives rights, is that of a policy of a
// resource, or acts on resources of others by their tags.
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

// LaunchTemplate is the type of the launch templates of EC2. Instances get the role of the instance profile that a template names.
const LaunchTemplate = "AWS::EC2::LaunchTemplate"

// GivesRole reports whether resources of a type give the role that they have to those who use them.
func GivesRole(typeName string) bool {
	return slices.Contains([]string{"AWS::IAM::Role", "AWS::IAM::InstanceProfile", LaunchTemplate}, typeName)
}
