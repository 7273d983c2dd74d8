// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"regexp"
	"strings"
	"testing"
)

// operations lists the operations that have another name than their IAM action.
var operations = map[string]string{
	"s3:GetBucketCORS": "GetBucketCors", "s3:GetBucketNotification": "GetBucketNotificationConfiguration",
	"s3:GetBucketObjectLockConfiguration": "GetObjectLockConfiguration", "s3:GetBucketPublicAccessBlock": "GetPublicAccessBlock",
	"s3:GetEncryptionConfiguration": "GetBucketEncryption", "s3:GetLifecycleConfiguration": "GetBucketLifecycleConfiguration",
	"s3:GetReplicationConfiguration": "GetBucketReplication", "s3:ListAllMyBuckets": "ListBuckets",
	"s3:ListBucketVersions": "ListObjectVersions",
}

// namesRole finds the members of AWS's answers that name a role or an instance profile.
var namesRole = regexp.MustCompile(`(Role|RoleArn|RoleARN|RoleName|IamInstanceProfile|CallerArn)$`)

// Reasons why an adoption does not judge a role that AWS shows; "" where it does.
const (
	handlers  = "the role of a private type's handlers; AWS's own types, which alone have schemas of AWS, have none"
	judged    = ""
	itself    = "it is the role that is adopted, which needs the boundary of the provider"
	metrics   = "RDS sends metrics, or calls the directory, with it: nobody who changes the instance can steer that"
	others    = "the read is about what uses the resource, which the adoption leaves alone"
	providers = "a capacity provider of Managed Instances is a separate resource, which an adoption of its cluster leaves alone"
	events    = "Cognito sends the events of the client with it, and nothing else"
)

// rolesShown are the members that name a role, by kind, IAM action and path.
var rolesShown = map[string]string{
	"AWSResource cloudformation:DescribeType ExecutionRoleArn":                                                  handlers,
	"AWSResource cloudformation:DescribeType LoggingConfig.LogRoleArn":                                          handlers,
	"LambdaFunction lambda:GetFunction Configuration.Role":                                                      judged,
	"GlueCrawler glue:GetCrawler Crawler.Role":                                                                  judged,
	"SecretsManagerSecret secretsmanager:DescribeSecret ExternalSecretRotationRoleArn":                          judged,
	"PodIdentityAssociation eks:DescribePodIdentityAssociation Association.RoleArn":                             judged,
	"PodIdentityAssociation eks:DescribePodIdentityAssociation Association.TargetRoleArn":                       judged,
	"CognitoUserPool cognito-idp:DescribeUserPool UserPool.SmsConfiguration.SnsCallerArn":                       judged,
	"CognitoUserPool cognito-idp:GetUserPoolMfaConfig SmsMfaConfiguration.SmsConfiguration.SnsCallerArn":        judged,
	"CognitoUserPool cognito-idp:ListGroups Groups.RoleArn":                                                     judged,
	"CognitoUserPool cognito-idp:DescribeUserPoolClient UserPoolClient.AnalyticsConfiguration.RoleArn":          events,
	"ECSCluster ecs:DescribeCapacityProviders CapacityProviders.ManagedInstancesProvider.InfrastructureRoleArn": providers,
	"EKSCluster eks:DescribeCluster Cluster.ComputeConfig.NodeRoleArn":                                          judged,
	"EKSCluster eks:DescribeCluster Cluster.ConnectorConfig.RoleArn":                                            judged,
	"EKSCluster eks:DescribeCluster Cluster.RoleArn":                                                            judged,
	"EC2Instance ec2:DescribeIamInstanceProfileAssociations IamInstanceProfileAssociations.IamInstanceProfile":  judged,
	"EC2Instance ec2:DescribeInstances Reservations.Instances.IamInstanceProfile":                               judged,
	"EC2Instance iam:GetInstanceProfile InstanceProfile.Roles.RoleName":                                         judged,
	"S3Bucket s3:GetReplicationConfiguration ReplicationConfiguration.Role":                                     judged,
	"RDSInstance rds:DescribeDBInstances DBInstances.AssociatedRoles.RoleArn":                                   judged,
	"RDSInstance rds:DescribeDBInstances DBInstances.CustomIamInstanceProfile":                                  judged,
	"RDSInstance rds:DescribeDBInstances DBInstances.MonitoringRoleArn":                                         metrics,
	"RDSInstance rds:DescribeDBInstances DBInstances.DomainMemberships.IAMRoleName":                             metrics,
	"DBSubnetGroup rds:DescribeDBInstances DBInstances.AssociatedRoles.RoleArn":                                 others,
	"DBSubnetGroup rds:DescribeDBInstances DBInstances.CustomIamInstanceProfile":                                others,
	"DBSubnetGroup rds:DescribeDBInstances DBInstances.MonitoringRoleArn":                                       others,
	"DBSubnetGroup rds:DescribeDBInstances DBInstances.DomainMemberships.IAMRoleName":                           others,
	"IAMRole iam:GetInstanceProfile InstanceProfile.Roles.RoleName":                                             itself,
	"IAMRole iam:GetRole Role.RoleName":                                                                         itself,
	"IAMRole iam:GetRolePolicy RoleName":                                                                        itself,
	"IAMRole iam:ListInstanceProfilesForRole InstanceProfiles.Roles.RoleName":                                   itself,
}

// A resource that acts as a role brings the rights of the role along when it is adopted. Each role that AWS shows to a kind is
// judged, or has a reason here.
func TestRolesThatAWSShowsAreJudgedBeforeAnAdoption(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Kinds() {
		judges := false
		for _, action := range e.Meta().Reads {
			service, op, _ := strings.Cut(action, ":")
			if other, ok := operations[action]; ok {
				op = other
			}
			answer, types := answerOf(t, service, op)
			if answer == nil {
				t.Errorf("%s of %s: add the name of its operation", action, e.Name())
				continue
			}
			for _, path := range types.rolesIn(answer, nil, nil) {
				key := e.Name() + " " + action + " " + path
				why, known := rolesShown[key]
				if seen[key] = true; !known {
					t.Errorf("%s: judge the role in kind.Roles, or say here why not", key)
				}
				judges = judges || known && why == judged
			}
		}
		if judges && !e.Meta().JudgesAdoption {
			t.Errorf("%s judges no role before an adoption", e.Name())
		}
	}
	for key := range rolesShown {
		if !seen[key] {
			t.Errorf("%s: AWS shows no such role", key)
		}
	}
}
