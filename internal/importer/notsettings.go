// SPDX-License-Identifier: Apache-2.0

package importer

// notSettings lists, by kind, what AWS answers with beside settings: identifiers, states, counters, and the settings of other
// resources. An entry is an operation, or the path of a member; with "=" and a value it is a setting that has the value where no one
// set it, and with "[]" a list whose unread elements are other resources. Those of "" are of all kinds. It never lists what a manifest
// says: that is found by reading it.
//
// Members that are not in the list are reported as settings that the manifest does not declare, so that one that AWS adds is reported
// until a person finds it to be none. The contract suite of kinds notices entries that are no members of answers.
var notSettings = map[string][]string{
	"": {"IsTruncated", "MaxItems", "NextToken", "NextMarker", "NextRecordName", "NextRecordType", "NextRecordIdentifier", "Marker", "Truncated"},
	"CognitoUserPool": {
		"cognitoidentityprovider.ListUserPoolClients", "cognitoidentityprovider.ListUserPools", "UserPool.Status", "UserPool.AdminCreateUserConfig.UnusedAccountValidityDays=7",
		"UserPool.AdminCreateUserConfig.InviteMessageTemplate=Your username is {username} and temporary password is {####}*", "UserPool.AdminCreateUserConfig.InviteMessageTemplate=Your temporary password",
		"UserPool.EstimatedNumberOfUsers",
		"UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_email].Name", "UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_email].Priority=1",
		"UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_phone_number].Name", "UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_phone_number].Priority=2",
		"UserPool.EmailConfiguration.EmailSendingAccount=COGNITO_DEFAULT", "UserPool.EmailVerificationMessage=Your verification code is {####}. ",
		"UserPool.EmailVerificationSubject=Your verification code", "UserPool.SmsVerificationMessage=Your verification code is {####}. ",
		"UserPool.VerificationMessageTemplate.DefaultEmailOption=CONFIRM_WITH_CODE", "UserPool.VerificationMessageTemplate.EmailMessage=Your verification code is {####}. ",
		"UserPool.VerificationMessageTemplate.EmailSubject=Your verification code", "UserPool.VerificationMessageTemplate.SmsMessage=Your verification code is {####}. ",
		"UserPool.UserPoolTier=ESSENTIALS", "UserPool.Policies.SignInPolicy.AllowedFirstAuthFactors=PASSWORD", "UserPool.MfaConfiguration",
		// Each pool has the standard attributes of OpenID Connect: those of users begin with custom: or dev:.
		"UserPool.SchemaAttributes[address]", "UserPool.SchemaAttributes[birthdate]", "UserPool.SchemaAttributes[email]", "UserPool.SchemaAttributes[email_verified]",
		"UserPool.SchemaAttributes[family_name]", "UserPool.SchemaAttributes[gender]", "UserPool.SchemaAttributes[given_name]", "UserPool.SchemaAttributes[identities]",
		"UserPool.SchemaAttributes[locale]", "UserPool.SchemaAttributes[middle_name]", "UserPool.SchemaAttributes[name]", "UserPool.SchemaAttributes[nickname]",
		"UserPool.SchemaAttributes[phone_number]", "UserPool.SchemaAttributes[phone_number_verified]", "UserPool.SchemaAttributes[picture]",
		"UserPool.SchemaAttributes[preferred_username]", "UserPool.SchemaAttributes[profile]", "UserPool.SchemaAttributes[sub]", "UserPool.SchemaAttributes[updated_at]",
		"UserPool.SchemaAttributes[website]", "UserPool.SchemaAttributes[zoneinfo]",
		"UserPoolClient.ClientId", "UserPoolClient.AuthSessionValidity=3", "UserPoolClient.EnableTokenRevocation=true", "UserPoolClient.ExplicitAuthFlows=ALLOW_REFRESH_TOKEN_AUTH",
		"UserPoolClient.PreventUserExistenceErrors=ENABLED", "UserPoolClient.RefreshTokenValidity=30", "UserPoolClient.SupportedIdentityProviders=COGNITO",
	},
	"Certificate": {
		"Certificate.DomainValidationOptions", "Certificate.ExtendedKeyUsages", "Certificate.FailureReason", "Certificate.InUseBy", "Certificate.Issuer", "Certificate.KeyUsages",
		"Certificate.Options.CertificateTransparencyLoggingPreference=ENABLED", "Certificate.Options.Export=DISABLED", "Certificate.RenewalEligibility", "Certificate.RenewalSummary",
		"Certificate.RevocationReason", "Certificate.Serial", "Certificate.SignatureAlgorithm", "Certificate.Status", "Certificate.Subject", "Certificate.Type=AMAZON_ISSUED",
	},
	"DBSubnetGroup": {"DBSubnetGroups.SubnetGroupStatus", "DBSubnetGroups.Subnets", "DBSubnetGroups.SupportedNetworkTypes", "DBSubnetGroups.VpcId"},
	"DynamoDBTable": {
		"ContinuousBackupsDescription.ContinuousBackupsStatus", "ContinuousBackupsDescription.PointInTimeRecoveryDescription.RecoveryPeriodInDays=35",
		"Table.ArchivalSummary", "Table.AttributeDefinitions", "Table.GlobalSecondaryIndexes.Backfilling", "Table.GlobalSecondaryIndexes.IndexArn", "Table.GlobalSecondaryIndexes.IndexSizeBytes",
		"Table.GlobalSecondaryIndexes.IndexStatus", "Table.GlobalSecondaryIndexes.ItemCount", "Table.GlobalSecondaryIndexes.ProvisionedThroughput.NumberOfDecreasesToday",
		"Table.GlobalSecondaryIndexes.WarmThroughput", "Table.GlobalTableVersion", "Table.LatestStreamLabel", "Table.LocalSecondaryIndexes.IndexArn",
		"Table.LocalSecondaryIndexes.IndexSizeBytes", "Table.LocalSecondaryIndexes.ItemCount", "Table.LocalSecondaryIndexes.KeySchema.KeyType",
		"Table.ProvisionedThroughput.NumberOfDecreasesToday", "Table.Replicas.ReplicaArn", "Table.Replicas.ReplicaStatus", "Table.Replicas.ReplicaStatusDescription",
		"Table.Replicas.ReplicaStatusPercentProgress", "Table.RestoreSummary", "Table.SSEDescription.SSEType=KMS", "Table.SSEDescription.Status", "Table.TableId",
		"Table.TableSizeBytes", "Table.TableStatus", "TimeToLiveDescription.TimeToLiveStatus",
		"Table.WarmThroughput", // AWS raises it
	},
	"EC2Instance": {
		"InstanceId", "Reservations.Groups", "Reservations.OwnerId", "Reservations.RequesterId", "Reservations.ReservationId", "Reservations.Instances.AmiLaunchIndex",
		"Reservations.Instances.Architecture", "Reservations.Instances.BlockDeviceMappings.Ebs.DeleteOnTermination=true", "Reservations.Instances.BlockDeviceMappings.Ebs.Status",
		"Reservations.Instances.BlockDeviceMappings.Ebs.VolumeId", "Reservations.Instances.CapacityReservationSpecification.CapacityReservationPreference=open",
		"Reservations.Instances.ClientToken", "Reservations.Instances.CpuOptions.CoreCount", "Reservations.Instances.CpuOptions.ThreadsPerCore", "Reservations.Instances.CurrentInstanceBootMode", "Reservations.Instances.Hypervisor",
		"Reservations.Instances.IamInstanceProfile.Id", "Reservations.Instances.MaintenanceOptions.AutoRecovery=default", "Reservations.Instances.MaintenanceOptions.RebootMigration=default",
		"Reservations.Instances.MetadataOptions.HttpProtocolIpv6=disabled", "Reservations.Instances.MetadataOptions.InstanceMetadataTags=disabled",
		"Reservations.Instances.MetadataOptions.State", "Reservations.Instances.Monitoring.State", "Reservations.Instances.NetworkInterfaces",
		"Reservations.Instances.NetworkPerformanceOptions.BandwidthWeighting=default", "Reservations.Instances.Operator", "Reservations.Instances.Placement.AvailabilityZoneId",
		"Reservations.Instances.Placement.Tenancy=default", "Reservations.Instances.Platform", "Reservations.Instances.PlatformDetails",
		"Reservations.Instances.PrivateDnsNameOptions.HostnameType=ip-name", "Reservations.Instances.ProductCodes", "Reservations.Instances.PublicDnsName",
		"Reservations.Instances.RootDeviceName", "Reservations.Instances.RootDeviceType", "Reservations.Instances.SourceDestCheck=true", "Reservations.Instances.SriovNetSupport=simple",
		"Reservations.Instances.State", "Reservations.Instances.StateReason", "Reservations.Instances.StateTransitionReason", "Reservations.Instances.UsageOperation",
		"Reservations.Instances.VirtualizationType", "Reservations.Instances.EnaSupport=true", "Reservations.Instances.BlockDeviceMappings.Ebs.EbsCardIndex",
		"Reservations.Instances.SecurityGroups.GroupName",
	},
	"EC2KeyPair":    {"KeyPairs.KeyFingerprint", "KeyPairs.KeyType"},
	"ECRRepository": {"RegistryId", "RepositoryName", "Repositories.RegistryId"},
	"ECSCluster": {
		"Clusters.ActiveServicesCount", "Clusters.Attachments", "Clusters.AttachmentsStatus", "Clusters.PendingTasksCount", "Clusters.RegisteredContainerInstancesCount",
		"Clusters.RunningTasksCount", "Clusters.Statistics", "Clusters.Status",
	},
	"EKSCluster": {"AccessEntries",
		"Cluster.CertificateAuthority", "Cluster.ClientRequestToken", "Cluster.EncryptionConfig.Resources=secrets", "Cluster.Health", "Cluster.Identity",
		"Cluster.KubernetesNetworkConfig.IpFamily=ipv4", "Cluster.Logging.ClusterLogging.Types", "Cluster.PlatformVersion", "Cluster.ResourcesVpcConfig.ClusterSecurityGroupId",
		"Cluster.ResourcesVpcConfig.PublicAccessCidrs=0.0.0.0/0", "Cluster.ResourcesVpcConfig.VpcId", "Cluster.Status",
		// EKS chooses one of these where no one did.
		"Cluster.KubernetesNetworkConfig.ServiceIpv4Cidr=172.20.0.0/16", "Cluster.KubernetesNetworkConfig.ServiceIpv4Cidr=10.100.0.0/16",
	},
	"ElastiCacheCluster": {
		"CacheClusters.CacheClusterStatus", "CacheClusters.CacheNodes", "CacheClusters.CacheParameterGroup.ParameterApplyStatus", "CacheClusters.CacheSecurityGroups",
		"CacheClusters.ClientDownloadLandingPage", "CacheClusters.PendingModifiedValues", "CacheClusters.PreferredAvailabilityZone", "CacheClusters.SecurityGroups.Status",
		"CacheClusters.NetworkType=ipv4", "CacheClusters.IpDiscovery=ipv4", "CacheClusters.NotificationConfiguration.TopicStatus",
	},
	"GlueCrawler":  {"Crawler.CrawlElapsedTime", "Crawler.LastCrawl", "Crawler.Schedule.State", "Crawler.State", "Crawler.Version", "Crawler.LineageConfiguration.CrawlerLineageSettings=DISABLE"},
	"GlueDatabase": {"Database.CatalogId", "Database.CreateTableDefaultPermissions"},
	"GlueTable":    {"Table.CatalogId", "Table.CreatedBy", "Table.DatabaseName", "Table.VersionId"},
	"IAMRole": {
		"iam.ListInstanceProfilesForRole", "PolicyName", "RoleName", "AttachedPolicies.PolicyName", "Role.PermissionsBoundary.PermissionsBoundaryType", "Role.RoleId",
		"Role.RoleLastUsed",
	},
	// What AWS shows of the resource is declared by its schema.
	"AWSResource": {"cloudformation.DescribeType", "TypeName"},
	"KMSKey": {
		"KeyMetadata.AWSAccountId", "KeyMetadata.CustomerMasterKeySpec", "KeyMetadata.EncryptionAlgorithms", "KeyMetadata.KeyAgreementAlgorithms", "KeyMetadata.KeyManager",
		"KeyMetadata.KeyState", "KeyMetadata.MacAlgorithms", "KeyMetadata.MultiRegionConfiguration.MultiRegionKeyType", "KeyMetadata.MultiRegionConfiguration.PrimaryKey", "KeyMetadata.Origin=AWS_KMS", "KeyMetadata.SigningAlgorithms",
		"KeyMetadata.CurrentKeyMaterialId", "RotationPeriodInDays=365", "KeyId", "Aliases.AliasArn", "Aliases.TargetKeyId",
	},
	"LambdaFunction": {
		"Code.Location", "Code.RepositoryType", "Code.ResolvedImageUri", "Configuration.CodeSize", "Configuration.ConfigSha256", "Configuration.LastUpdateStatus",
		"Configuration.LastUpdateStatusReason", "Configuration.LastUpdateStatusReasonCode", "Configuration.Layers.CodeSize", "Configuration.RevisionId",
		"Configuration.RuntimeVersionConfig.RuntimeVersionArn", "Configuration.SnapStart.ApplyOn=None", "Configuration.SnapStart.OptimizationStatus", "Configuration.State",
		"Configuration.StateReason", "Configuration.StateReasonCode", "Configuration.Version", "Configuration.VpcConfig.VpcId", "Configuration.LoggingConfig.LogFormat=Text",
		"Configuration.LoggingConfig.LogGroup=/aws/lambda/*",
	},
	"NATGateway": {
		"NatGateways.NatGatewayAddresses.AssociationId", "NatGateways.NatGatewayAddresses.IsPrimary", "NatGateways.NatGatewayAddresses.NetworkInterfaceId",
		"NatGateways.NatGatewayAddresses.Status", "NatGateways.State",
	},
	"PodIdentityAssociation": {"eks.ListPodIdentityAssociations", "Association.ExternalId"},
	"RDSInstance": {
		"DBInstances.CACertificateIdentifier=rds-ca-rsa2048-g1", "DBInstances.CACertificateIdentifier=rds-ca-default", "DBInstances.CertificateDetails", "DBInstances.DBInstanceStatus",
		"DBInstances.DBParameterGroups.ParameterApplyStatus", "DBInstances.DBSubnetGroup", "DBInstances.DbInstancePort", "DBInstances.DbiResourceId", "DBInstances.DedicatedLogVolume=false",
		"DBInstances.LicenseModel=general-public-license", "DBInstances.LicenseModel=postgresql-license",
		"DBInstances.MasterUserSecret.KmsKeyId", "DBInstances.MasterUserSecret.SecretStatus", "DBInstances.NetworkType=IPV4", "DBInstances.OptionGroupMemberships.OptionGroupName=default:*",
		"DBInstances.OptionGroupMemberships.Status", "DBInstances.PendingModifiedValues", "DBInstances.SecondaryAvailabilityZone", "DBInstances.StatusInfos",
		"DBInstances.StorageEncryptionType", "DBInstances.VpcSecurityGroups.Status", "DBInstances.BackupTarget=region", "DBInstances.DatabaseInsightsMode=standard",
		"DBInstances.ActivityStreamStatus=stopped", "DBInstances.DBParameterGroups.DBParameterGroupName=default.*",
	},
	"Route53HostedZone": {"DelegationSet", "HostedZone.CallerReference", "HostedZone.ResourceRecordSetCount", "HostedZone.LinkedService", "ResourceTagSet.ResourceType", "ResourceTagSet.ResourceId"},
	// A list begins with the record set and goes on with others, such as the one with its owner.
	"Route53RecordSet": {"ResourceRecordSets[]", "ResourceRecordSets.TTL"},
	"RouteTable": {
		"RouteTables.Associations.AssociationState", "RouteTables.Associations.RouteTableAssociationId", "RouteTables.Associations.RouteTableId", "RouteTables.OwnerId",
		"RouteTables.Routes.DestinationCidrBlock", "RouteTables.Routes.GatewayId=local", "RouteTables.Routes.Origin", "RouteTables.Routes.State",
	},
	"S3Bucket": {
		"Grants.Grantee.DisplayName", "Grants.Grantee.ID", "Grants.Grantee.Type", "Grants.Permission=FULL_CONTROL", "Owner", "TransitionDefaultMinimumObjectSize=all_storage_classes_128K",
	},
	"SNSTopic": {
		"Attributes[ConfirmationWasAuthenticated]", "Attributes[EffectiveDeliveryPolicy]", "Attributes[Endpoint]", "Attributes[FifoTopic]", "Attributes[Owner]",
		"Attributes[PendingConfirmation]", "Attributes[Protocol]", "Attributes[RawMessageDelivery]=false", "Attributes[SubscriptionArn]", "Attributes[SubscriptionPrincipal]",
		"Attributes[SubscriptionsConfirmed]", "Attributes[SubscriptionsDeleted]", "Attributes[SubscriptionsPending]", "Attributes[TopicArn]", "Attributes[TracingConfig]=PassThrough",
		"Attributes[EffectiveDeliveryPolicy]", "Subscriptions.Owner", "Subscriptions.TopicArn", "Attributes[BeginningArchiveTime]",
	},
	"SQSQueue": {
		"Attributes[ApproximateNumberOfMessages]", "Attributes[ApproximateNumberOfMessagesDelayed]", "Attributes[ApproximateNumberOfMessagesNotVisible]",
		"Attributes[CreatedTimestamp]", "Attributes[FifoQueue]", "Attributes[KmsDataKeyReusePeriodSeconds]=300", "Attributes[LastModifiedTimestamp]", "Attributes[SqsManagedSseEnabled]=false",
	},
	"SSMParameterSet":      {"Parameters.DataType=text", "Parameters.LastModifiedUser", "Parameters.Version", "Parameters.ARN", "Parameters.Name", "Parameters.Tier", "Parameters.KeyId", "Parameters.Type"},
	"SecretsManagerSecret": {"ARN", "Name", "CreatedDate", "VersionIdsToStages", "secretsmanager.ListSecretVersionIds"},
	"SecurityGroup":        {"SecurityGroups.IpPermissions.UserIdGroupPairs.UserId", "SecurityGroups.IpPermissionsEgress.UserIdGroupPairs.UserId", "SecurityGroups.OwnerId", "SecurityGroups.SecurityGroupArn"},
	"Subnet": {
		"Subnets.AvailabilityZoneId", "Subnets.AvailableIpAddressCount", "Subnets.OwnerId", "Subnets.PrivateDnsNameOptionsOnLaunch.HostnameType=ip-name", "Subnets.State", "Subnets.SubnetArn",
	},
	"VPC": {
		"VpcId", "Vpcs.CidrBlockAssociationSet.AssociationId", "Vpcs.CidrBlockAssociationSet.CidrBlockState", "Vpcs.OwnerId", "Vpcs.State",
	},
}
