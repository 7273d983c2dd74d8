// SPDX-License-Identifier: Apache-2.0

package rds

import "github.com/nexus-operator/nexus-operator/internal/kind"

// instanceFacts returns the facts about an RDSInstance that other packages use.
func instanceFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {
				"rds:DescribeDBInstances DBInstances.AssociatedRoles.RoleArn",
				"rds:DescribeDBInstances DBInstances.CustomIamInstanceProfile",
			},
			"RDS sends metrics, or calls the directory, with it, and no setting of the instance steers what is done with it": {
				"rds:DescribeDBInstances DBInstances.MonitoringRoleArn",
				"rds:DescribeDBInstances DBInstances.DomainMemberships.IAMRoleName",
			},
		},
		EarlierKeys: kind.EarlierKeys{NotKept: "the key is immutable, and compared with that of the instance"},
		Rights:      instanceRights(),
		Services:    awsServices,
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

// instanceRights returns the rights in IAM that the actions of an RDSInstance take.
func instanceRights() kind.Rights {
	return kind.Rights{
		// An instance is placed in any subnet group and has any option group or parameter group that an object names, and its final
		// snapshot has any name.
		Calls: []kind.Right{
			{Actions: "rds:DescribeDBInstances", On: []string{"db:*"}},
			{Actions: "rds:DescribeDBSnapshots", On: []string{"snapshot:*"}}, // by the name of a final snapshot
			{Actions: "rds:DeleteDBInstance", On: []string{"db:${Name}", "snapshot:*"}},
			{Actions: "rds:ModifyDBInstance", On: []string{"db:${Name}", "pg:*"}},
			{Actions: "rds:CreateDBInstance", On: []string{"db:${Name}", "subgrp:*", "og:*", "pg:*"}},
			{Actions: "rds:AddTagsToResource rds:ListTagsForResource rds:RemoveTagsFromResource", On: []string{"db:${Name}"}},
		},
		Needs: []kind.Need{
			// The final snapshot, and its tags where the instance copies them.
			{For: "rds:DeleteDBInstance", Actions: "rds:CreateDBSnapshot", On: []string{"db:${Name}", "snapshot:*"}},
			{For: "rds:DeleteDBInstance", Actions: "rds:AddTagsToResource", On: []string{"snapshot:*"}},
			// The secret with the password that RDS manages, which RDS makes with the rights of the caller.
			{For: "rds:CreateDBInstance rds:ModifyDBInstance",
				Actions: "secretsmanager:CreateSecret secretsmanager:TagResource secretsmanager:RotateSecret", On: []string{"secret:rds!db-*"}},
		},
		Encrypts: map[string]string{ // https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Overview.Encryption.Keys.html
			"rds:CreateDBInstance rds:ModifyDBInstance": "kms:CreateGrant kms:Decrypt kms:DescribeKey kms:GenerateDataKey",
		},
		Decided: map[string]string{
			"rds:CreateDBInstance iam:PassRole":             "only for a monitoring or domain role, for which there is no field",
			"rds:ModifyDBInstance iam:PassRole":             "only for a monitoring or domain role, for which there is no field",
			"rds:CreateDBInstance rds:CreateTenantDatabase": "only for multi-tenant Oracle, for which there is no field",
			"rds:ModifyDBInstance rds:CreateTenantDatabase": "only for multi-tenant Oracle, for which there is no field",
			"rds:DeleteDBInstance rds:DeleteTenantDatabase": "only for multi-tenant Oracle, for which there is no field",
		},
	}
}

// subnetGroupFacts returns the facts about a DBSubnetGroup that other packages use.
func subnetGroupFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			"the read is about what uses the resource, which the adoption leaves alone": {
				"rds:DescribeDBInstances DBInstances.AssociatedRoles.RoleArn",
				"rds:DescribeDBInstances DBInstances.CustomIamInstanceProfile",
				"rds:DescribeDBInstances DBInstances.MonitoringRoleArn",
				"rds:DescribeDBInstances DBInstances.DomainMemberships.IAMRoleName",
			},
		},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "rds:DescribeDBInstances", On: []string{"db:*"}}, // the users of the group
				{Actions: "rds:*", On: []string{"subgrp:${Name}"}},
			},
		},
		Services: awsServices,
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
