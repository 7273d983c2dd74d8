// SPDX-License-Identifier: Apache-2.0

package rds

import "github.com/nexus-operator/nexus-operator/internal/kind"

// instanceFacts returns the facts about an RDSInstance that other packages use.
func instanceFacts() kind.Facts {
	return kind.Facts{
		Errors: awsErrors,
		NotSettings: []string{
			"DBInstances.CACertificateIdentifier=rds-ca-rsa2048-g1", "DBInstances.CACertificateIdentifier=rds-ca-default",
			"DBInstances.CertificateDetails", "DBInstances.DBInstanceStatus", "DBInstances.DBParameterGroups.ParameterApplyStatus",
			"DBInstances.DBSubnetGroup", "DBInstances.DbInstancePort", "DBInstances.DbiResourceId",
			"DBInstances.DedicatedLogVolume=false", "DBInstances.LicenseModel=general-public-license",
			"DBInstances.LicenseModel=postgresql-license", "DBInstances.MasterUserSecret.KmsKeyId",
			"DBInstances.MasterUserSecret.SecretStatus", "DBInstances.NetworkType=IPV4",
			"DBInstances.OptionGroupMemberships.OptionGroupName=default:*", "DBInstances.OptionGroupMemberships.Status",
			"DBInstances.PendingModifiedValues", "DBInstances.SecondaryAvailabilityZone", "DBInstances.StatusInfos",
			"DBInstances.StorageEncryptionType", "DBInstances.VpcSecurityGroups.Status", "DBInstances.BackupTarget=region",
			"DBInstances.DatabaseInsightsMode=standard", "DBInstances.ActivityStreamStatus=stopped",
			"DBInstances.DBParameterGroups.DBParameterGroupName=default.*",
		},
		Declarable: true,
		OneValue: map[string]string{
			"VPCSecurityGroupIDs":                         kind.ByReference,
			"MasterUserPassword ParameterGroup":           kind.InItsOwnTest,
			"DBSubnetGroupRef KMSKeyRef StorageEncrypted": kind.KeptFromCreation,
			"FinalSnapshotIdentifier":                     kind.OfTheDeletion,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::RDS::DBInstance"},
			Rewritten: map[string]string{
				"DBInstanceIdentifier DBSubnetGroupName PreferredMaintenanceWindow": kind.SentLower,
				"DBName":                    kind.InCatalog,
				"Engine StorageType":        kind.LowerCaseOnly,
				"EngineVersion":             "a longer version is one of those that the declared one names: TestALaterVersionOfAnyFormIsKept",
				"KmsKeyId":                  kind.KeyByID,
				"MasterUserSecret/KmsKeyId": "no field names the key of the password",
			},
			Properties: map[string]map[string]string{
				"AWS::RDS::DBInstance": {
					"ApplyImmediately CertificateRotationRestart DeleteAutomatedBackups UseDefaultProcessorFeatures TdeCredentialPassword":                                                       kind.IsRequest,
					"AutomaticBackupReplicationKmsKeyId AutomaticBackupReplicationRegion AutomaticBackupReplicationRetentionPeriod":                                                              "as dbInstanceAutomatedBackupsReplications",
					"AvailabilityZone DBClusterSnapshotIdentifier DBSnapshotIdentifier RestoreTime SourceDBInstanceAutomatedBackupsArn SourceDbiResourceId SourceRegion UseLatestRestorableTime": kind.IsInput,
					"Domain DomainAuthSecretArn DomainDnsIps DomainFqdn DomainIAMRoleName DomainOu":                                                                                              "as domainMemberships",
					"EnableCloudwatchLogsExports":     "as enabledCloudwatchLogsExports",
					"EnableIAMDatabaseAuthentication": "as iamDatabaseAuthenticationEnabled",
					"EnablePerformanceInsights":       "as performanceInsightsEnabled",
					"MasterUserSecret":                "as manageMasterUserPassword",
					"MasterUserAuthenticationType":    "AWS shows it as iamDatabaseAuthenticationEnabled",
					"VPCSecurityGroups":               "as vpcSecurityGroupIDs",
					"SourceDBClusterIdentifier":       "as readReplicaSourceDBClusterIdentifier",
					"SourceDBInstanceIdentifier":      "an import says that the instance is a read replica, and of which one",
				},
			},
			Unneeded: map[string]string{
				"ec2:DescribeAccountAttributes ec2:DescribeAvailabilityZones rds:DescribeDBEngineVersions rds:DescribeDBParameterGroups rds:DescribeDBClusters rds:DescribeEvents": "AWS's provider checks with them what the operator lets RDS check",
				"iam:ListRoles rds:*RoleToDBInstance rds:*RoleFromDBInstance":            "there is no field for roles",
				"rds:*ReadReplica rds:RestoreDBInstance* rds:DescribeDBClusterSnapshots": "there are no fields for replicas and restores",
				"rds:*AutomatedBackups*": "there is no field for backups in other regions",
				"rds:RebootDBInstance":   "the operator reboots nothing",
			},
		},
		ARN: kind.ARNForm{
			Service: "rds",
			Prefix:  "db:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_db_instance",
			Identity: []string{"identifier"},
		},
	}
}

// subnetGroupFacts returns the facts about a DBSubnetGroup that other packages use.
func subnetGroupFacts() kind.Facts {
	return kind.Facts{
		Errors: awsErrors,
		NotSettings: []string{
			"DBSubnetGroups.SubnetGroupStatus", "DBSubnetGroups.Subnets", "DBSubnetGroups.SupportedNetworkTypes", "DBSubnetGroups.VpcId",
		},
		Declarable: true,
		OneValue: map[string]string{
			"SubnetIDs": kind.ByReference,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::RDS::DBSubnetGroup"},
			Rewritten: map[string]string{
				"DBSubnetGroupName": kind.SentLower,
			},
			Properties: map[string]map[string]string{
				"AWS::RDS::DBSubnetGroup": {
					"DBSubnetGroupDescription": "as description",
				},
			},
		},
		ARN: kind.ARNForm{
			Service: "rds",
			Prefix:  "subgrp:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_db_subnet_group",
			Identity: []string{"name"},
		},
	}
}
