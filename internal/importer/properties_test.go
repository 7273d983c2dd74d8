// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// fieldNames adds the names of the fields of a type and of those below it, in lower case.
func fieldNames(t reflect.Type, into map[string]bool, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		into[strings.ToLower(name)] = true
		fieldNames(t.Field(i).Type, into, seen)
	}
}

// knownNames are the names, in lower case, of everything that a kind declares by a field, or that an import reports where AWS has it.
func knownNames(t *testing.T, e engine.Entry) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	spec, _ := reflect.TypeOf(e.New()).Elem().FieldByName("Spec")
	fieldNames(spec.Type, known, map[reflect.Type]bool{})
	lists, err := filepath.Glob("../kinds/*/testdata/not-declarable-" + strings.ToLower(e.Name()) + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, strings.Fields(string(text))...)
	}
	for _, entry := range notSettings[e.Name()] {
		if path, _, isDefault := strings.Cut(entry, "="); isDefault {
			paths = append(paths, path)
		}
	}
	for _, r := range e.Meta().ImportReads {
		paths = append(paths, r.Setting)
	}
	for _, path := range paths {
		for _, name := range separators.Split(path, -1) {
			known[strings.ToLower(name)] = true
		}
	}
	return known
}

var separators = regexp.MustCompile(`[][.]+`)

// Each setting that AWS's resource schemas have is declared by a field, or reported by an import, or decided about.
func TestProperties_AreDeclaredReportedOrDecided(t *testing.T) {
	schemas, err := awsmodels.ReadHandlers()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range catalog.Kinds() {
		known := knownNames(t, e)
		for _, name := range e.Meta().Facts.Schemas.Types {
			for _, property := range schemas.Properties[name].All() {
				n++
				decided := decisionOn(name, property)
				alias, isAlias := strings.CutPrefix(decided, "as ")
				switch {
				case known[strings.ToLower(property)]:
					if decided != "" {
						t.Errorf("%s: %s of %s needs no decision", e.Name(), property, name)
					}
				case decided == "":
					t.Errorf("%s: no field says %s of %s, and no import reports it: decide", e.Name(), property, name)
				case isAlias && !known[strings.ToLower(alias)]:
					t.Errorf("%s: there is no %s, by which %s of %s would be declared or reported", e.Name(), alias, property, name)
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d properties: run make awsmodels", n)
	}
}

// decisionOn returns the decision about a property; "" for none.
func decisionOn(schema, property string) string {
	for properties, decision := range decisions[strings.TrimPrefix(schema, "AWS::")] {
		if slices.Contains(strings.Fields(properties), property) {
			return decision
		}
	}
	return ""
}

const (
	isParent    = "it names the resource that this one is a part of"
	inAnswer    = "AWS answers with all attributes by name, so that an import reports those that no field says"
	isRequest   = "it is an instruction of one request and no setting"
	isInput     = "it is a choice at the creation, which AWS shows by its result"
	isAllocator = "it chooses an address range, which AWS shows as the range itself"
)

// decisions are by type without AWS:: and by properties, separated by spaces. "as NAME" is for one that is declared or reported under
// another name, anything else is a reason why it is neither.
var decisions = map[string]map[string]string{
	"CertificateManager::Certificate": {"CertificateExport": "as options", "DomainValidationOptions Id": isInput},
	"Cognito::UserPool": {
		"EmailAuthenticationMessage EmailAuthenticationSubject": "as emailMFAConfiguration",
		"EnabledMfas MfaConfiguration":                          "as mfa", "Schema": "an import reports the attributes that are not those of each pool", "UserPoolName": "as poolName", "UserPoolTags": "as tags",
		"WebAuthnFactorConfiguration WebAuthnRelyingPartyID WebAuthnUserVerification": "as webAuthnConfiguration",
	},
	"Cognito::UserPoolClient": {
		"AccessTokenValidity AllowedOAuthFlows AllowedOAuthFlowsUserPoolClient AllowedOAuthScopes AnalyticsConfiguration DefaultRedirectURI EnablePropagateAdditionalUserContextData IdTokenValidity ReadAttributes RefreshTokenRotation TokenValidityUnits WriteAttributes": "as clients",
		"ClientName": "as clients", "GenerateSecret": isInput, "UserPoolId": isParent,
	},
	"Cognito::UserPoolDomain": {"CustomDomainConfig ManagedLoginVersion Routing": "as domain", "UserPoolId": isParent},
	"Cognito::UserPoolGroup":  {"GroupName RoleArn": "as groups", "UserPoolId": isParent},
	"DynamoDB::Table": {
		"AttributeDefinitions": "as attributes", "DeletionProtectionEnabled": "as deletionProtection", "ImportSourceSpecification": isInput, "KeySchema": "as hashKey",
		"PointInTimeRecoverySpecification": "as pointInTimeRecovery", "SSESpecification": "as sse", "StreamSpecification": "as streamEnabled",
		"TimeToLiveSpecification": "as ttl", "WarmThroughput": "AWS raises it",
	},
	"EC2::EIP": {"Address IpamPoolId TransferAddress": isInput, "InstanceId": "an association is no setting of the address"},
	"EC2::Instance": {
		"AdditionalInfo PropagateTagsToVolumeOnCreation LaunchTemplate Ipv6AddressCount": isInput, "ElasticGpuSpecifications": "as elasticGpuAssociations",
		"ElasticInferenceAccelerators": "as elasticInferenceAcceleratorAssociations", "Ipv6Addresses": "as ipv6Address", "LicenseSpecifications": "as licenses",
		"NetworkInterfaces PrivateIpAddress": "network interfaces are other resources", "PlacementGroupName": "as placement", "SecurityGroups": "as securityGroupIDs",
		"SsmAssociations Volumes": "they are other resources",
	},
	"EC2::VPCGatewayAttachment": {"InternetGatewayId VpnGatewayId": isParent},
	"EC2::KeyPair":              {"KeyFormat KeyType": isInput},
	"EC2::NatGateway": {
		"AvailabilityZoneAddresses": "as availabilityMode", "MaxDrainDurationSeconds": isRequest, "VpcId": "the subnet says it",
		"PrivateIpAddress SecondaryAllocationIds SecondaryPrivateIpAddressCount SecondaryPrivateIpAddresses": "AWS shows them as addresses, which notSettings lists: an import does not tell them from the first one",
	},
	"EC2::Route":                               {"RouteTableId": isParent, "VpcEndpointId": "routes of gateway endpoints belong to the endpoint"},
	"EC2::SubnetRouteTableAssociation":         {"RouteTableId": isParent, "SubnetId": "as subnetAssociations"},
	"EC2::SecurityGroup":                       {"GroupDescription": "as description", "SecurityGroupEgress": "as egressRules", "SecurityGroupIngress": "as ingressRules"},
	"EC2::SecurityGroupIngress":                {"CidrIp CidrIpv6 SourcePrefixListId SourceSecurityGroupName": "as ingressRules", "GroupId": isParent},
	"EC2::SecurityGroupEgress":                 {"CidrIp CidrIpv6 DestinationPrefixListId DestinationSecurityGroupId": "as egressRules", "GroupId": isParent},
	"EC2::Subnet":                              {"AvailabilityZoneId": "as availabilityZone", "Ipv6CidrBlock": "as ipv6CidrBlockAssociationSet", "Ipv4IpamPoolId Ipv4NetmaskLength Ipv6IpamPoolId Ipv6NetmaskLength": isAllocator},
	"EC2::VPC":                                 {"Ipv4IpamPoolId Ipv4NetmaskLength": isAllocator, "VpcEncryptionControl": "as encryptionControl"},
	"ECR::Repository":                          {"EmptyOnDelete": "as forceDelete", "ImageScanningConfiguration": "as scanOnPush", "RepositoryPolicyText": "as repositoryPolicy"},
	"ECS::Cluster":                             {"ClusterSettings": "as settings"},
	"ECS::ClusterCapacityProviderAssociations": {"Cluster": isParent},
	"EKS::Cluster": {
		"ActiveCertificateAuthorityId CertificateAuthority": "EKS makes the authority, and rotates it on a person's request", "BootstrapSelfManagedAddons": isInput, "Force RollbackConfig": isRequest,
	},
	"EKS::AccessEntry": {"AccessPolicies Type Username": "as accessEntries"},
	"ElastiCache::CacheCluster": {
		"CacheNodeType": "as nodeType", "CacheParameterGroupName": "as parameterGroupName", "CacheSubnetGroupName": "as subnetGroupName", "ClusterName": "as clusterID",
		"VpcSecurityGroupIds": "as securityGroupIds", "CacheSecurityGroupNames": "they are of EC2-Classic, which AWS has ended",
		"PreferredAvailabilityZone PreferredAvailabilityZones SnapshotArns SnapshotName": isInput,
	},
	"Glue::Database":       {"CatalogId": "it is the account", "DatabaseInput": "its members are the fields of the spec"},
	"Glue::Table":          {"CatalogId": "it is the account", "TableInput": "its members are the fields of the spec", "OpenTableFormatInput": "as icebergTableMetadata"},
	"IAM::Role":            {"Policies": "as inlinePolicies"},
	"IAM::InstanceProfile": {"InstanceProfileName": "as instanceProfile", "Roles": isParent},
	"KMS::Key":             {"BypassPolicyLockoutSafetyCheck": isRequest},
	"KMS::Alias":           {"AliasName": "as aliases", "TargetKeyId": isParent},
	"Lambda::Function": {
		"FunctionScalingConfig": "it is of versions with a capacity provider, which an import reports as capacityProviderConfig", "PackageType": "as imageURI", "PublishToLatestPublished": isRequest,
	},
	"RDS::DBInstance": {
		"ApplyImmediately CertificateRotationRestart DeleteAutomatedBackups UseDefaultProcessorFeatures TdeCredentialPassword":                                                       isRequest,
		"AutomaticBackupReplicationKmsKeyId AutomaticBackupReplicationRegion AutomaticBackupReplicationRetentionPeriod":                                                              "as dbInstanceAutomatedBackupsReplications",
		"AvailabilityZone DBClusterSnapshotIdentifier DBSnapshotIdentifier RestoreTime SourceDBInstanceAutomatedBackupsArn SourceDbiResourceId SourceRegion UseLatestRestorableTime": isInput,
		"Domain DomainAuthSecretArn DomainDnsIps DomainFqdn DomainIAMRoleName DomainOu":                                                                                              "as domainMemberships",
		"EnableCloudwatchLogsExports": "as enabledCloudwatchLogsExports", "EnableIAMDatabaseAuthentication": "as iamDatabaseAuthenticationEnabled",
		"EnablePerformanceInsights": "as performanceInsightsEnabled", "MasterUserSecret": "as manageMasterUserPassword",
		"MasterUserAuthenticationType": "AWS shows it as iamDatabaseAuthenticationEnabled", "VPCSecurityGroups": "as vpcSecurityGroupIDs",
		"SourceDBClusterIdentifier": "as readReplicaSourceDBClusterIdentifier", "SourceDBInstanceIdentifier": "as readReplicaSourceDBInstanceIdentifier",
	},
	"RDS::DBSubnetGroup": {"DBSubnetGroupDescription": "as description"},
	"Route53::HostedZone": {
		"DelegationSetId": "notSettings lists the delegation set, which each public zone has", "HostedZoneConfig": "as comment", "HostedZoneFeatures": "as features", "HostedZoneTags": "as tags",
	},
	"Route53::RecordSet": {"Comment": isRequest, "HostedZoneName": isParent},
	"S3::Bucket": {
		"AccessControl": "as acl", "BucketEncryption": "as encryption", "BucketNamePrefix BucketNamespace": isInput, "CorsConfiguration": "as corsRules", "LifecycleConfiguration": "as lifecycleRules",
		"LoggingConfiguration": "as logging", "MetadataTableConfiguration": "as metadataConfiguration", "NotificationConfiguration": "as notification", "ObjectLockConfiguration ObjectLockEnabled": "as objectLock",
		"OwnershipControls": "as objectOwnership", "PublicAccessBlockConfiguration": "as publicAccessBlock", "ReplicationConfiguration": "as replication", "VersioningConfiguration": "as versioning", "WebsiteConfiguration": "as website",
	},
	"S3::BucketPolicy":                 {"Bucket": isParent, "PolicyDocument": "as policy"},
	"SecretsManager::Secret":           {"GenerateSecretString": "as generate", "ReplicaRegions": "as replicationStatus", "SecretString": "as secretStringRef"},
	"SecretsManager::ResourcePolicy":   {"BlockPublicPolicy": isRequest, "SecretId": isParent},
	"SecretsManager::RotationSchedule": {"HostedRotationLambda": "the function is another resource", "RotateImmediatelyOnUpdate": isRequest, "SecretId": isParent},
	"SNS::Topic":                       {"ArchivePolicy DeliveryStatusLogging FifoThroughputScope MaximumMessageSize SignatureVersion": inAnswer, "Subscription": "as subscriptions"},
	"SNS::Subscription":                {"RedrivePolicy": "as deadLetterQueueRef", "Region TopicArn": isParent, "ReplayPolicy": inAnswer},
	"SQS::Queue":                       {"RedriveAllowPolicy": inAnswer, "RedrivePolicy": "as deadLetterQueue"},
}
