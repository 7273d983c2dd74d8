// SPDX-License-Identifier: Apache-2.0

package ec2

import "github.com/nexus-operator/nexus-operator/internal/kind"

// elasticIPFacts returns the facts about an ElasticIP that other packages use.
func elasticIPFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:AllocateAddress", On: []string{"elastic-ip/*"}, If: kind.GivesTag},
				{Actions: "ec2:*", On: []string{"elastic-ip/*"}, If: kind.HasTag},
			},
		},
		Services:   awsServices,
		Declarable: true,
		OneValue: map[string]string{
			"CustomerOwnedIPv4Pool NetworkBorderGroup PublicIPv4Pool": kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::EIP"},
			Rewritten: map[string]string{
				"Domain": "domain of the spec has the one value that AWS shows",
			},
			Properties: map[string]map[string]string{
				"AWS::EC2::EIP": {
					"Address IpamPoolId TransferAddress": kind.IsInput,
					"InstanceId":                         "an association is no setting of the address",
				},
			},
			Unneeded: map[string]string{
				"ec2:AcceptAddressTransfer ec2:AssociateAddress ec2:DisassociateAddress": "addresses are associated by what uses them",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "elastic-ip/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_eip",
			Identity: []string{"id"},
		},
	}
}

// instanceFacts returns the facts about an EC2Instance that other packages use.
func instanceFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {
				"ec2:DescribeIamInstanceProfileAssociations IamInstanceProfileAssociations.IamInstanceProfile",
				"ec2:DescribeInstances Reservations.Instances.IamInstanceProfile",
				"iam:GetInstanceProfile InstanceProfile.Roles.RoleName",
			},
		},
		EarlierKeys: kind.EarlierKeys{Kept: "EC2 does not describe the keys of volumes with the instance, so that no look proves which key they have"},
		Rights:      instanceRights(),
		Services:    awsServices,
		NotSettings: []string{
			"InstanceId", "Reservations.Groups", "Reservations.OwnerId", "Reservations.RequesterId", "Reservations.ReservationId",
			"Reservations.Instances.AmiLaunchIndex", "Reservations.Instances.Architecture",
			"Reservations.Instances.BlockDeviceMappings.Ebs.DeleteOnTermination=true",
			"Reservations.Instances.BlockDeviceMappings.Ebs.Status", "Reservations.Instances.BlockDeviceMappings.Ebs.VolumeId",
			"Reservations.Instances.CapacityReservationSpecification.CapacityReservationPreference=open",
			"Reservations.Instances.ClientToken", "Reservations.Instances.CpuOptions.CoreCount",
			"Reservations.Instances.CpuOptions.ThreadsPerCore", "Reservations.Instances.CurrentInstanceBootMode",
			"Reservations.Instances.Hypervisor", "Reservations.Instances.IamInstanceProfile.Id",
			"Reservations.Instances.MaintenanceOptions.AutoRecovery=default",
			"Reservations.Instances.MaintenanceOptions.RebootMigration=default",
			"Reservations.Instances.MetadataOptions.HttpProtocolIpv6=disabled",
			"Reservations.Instances.MetadataOptions.InstanceMetadataTags=disabled", "Reservations.Instances.MetadataOptions.State",
			"Reservations.Instances.Monitoring.State", "Reservations.Instances.NetworkInterfaces",
			"Reservations.Instances.NetworkPerformanceOptions.BandwidthWeighting=default", "Reservations.Instances.Operator",
			"Reservations.Instances.Placement.AvailabilityZoneId", "Reservations.Instances.Placement.Tenancy=default",
			"Reservations.Instances.Platform", "Reservations.Instances.PlatformDetails",
			"Reservations.Instances.PrivateDnsNameOptions.HostnameType=ip-name", "Reservations.Instances.ProductCodes",
			"Reservations.Instances.PublicDnsName", "Reservations.Instances.RootDeviceName", "Reservations.Instances.RootDeviceType",
			"Reservations.Instances.SourceDestCheck=true", "Reservations.Instances.SriovNetSupport=simple",
			"Reservations.Instances.State", "Reservations.Instances.StateReason", "Reservations.Instances.StateTransitionReason",
			"Reservations.Instances.UsageOperation", "Reservations.Instances.VirtualizationType",
			"Reservations.Instances.EnaSupport=true", "Reservations.Instances.BlockDeviceMappings.Ebs.EbsCardIndex",
			"Reservations.Instances.SecurityGroups.GroupName",
		},
		Declarable: true,
		OneValue: map[string]string{
			"SecurityGroupIDs SubnetID": kind.ByReference,
			"KeyPairRef":                kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::Instance"},
			Properties: map[string]map[string]string{
				"AWS::EC2::Instance": {
					"AdditionalInfo PropagateTagsToVolumeOnCreation LaunchTemplate Ipv6AddressCount": kind.IsInput,
					"ElasticGpuSpecifications":           "as elasticGpuAssociations",
					"ElasticInferenceAccelerators":       "as elasticInferenceAcceleratorAssociations",
					"Ipv6Addresses":                      "as ipv6Address",
					"LicenseSpecifications":              "as licenses",
					"NetworkInterfaces PrivateIpAddress": "network interfaces are other resources",
					"PlacementGroupName":                 "as placement",
					"SecurityGroups":                     "as securityGroupIDs",
					"SsmAssociations Volumes":            "they are other resources",
				},
			},
			Unneeded: map[string]string{
				"ec2:AttachVolume ec2:DetachVolume ec2:DescribeVolumes": "volumes come with the instance and are not managed later",
				"ec2:*CreditSpecification* ec2:DescribeLaunchTemplate* ec2:ModifyInstanceMaintenanceOptions ec2:ModifyInstancePlacement ec2:ModifyPrivateDnsNameOptions ssm:*Association*": "there are no fields for these",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "instance/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_instance",
			Identity: []string{"id"},
		},
	}
}

// instanceRights returns the rights in IAM that the actions of an EC2Instance take.
func instanceRights() kind.Rights {
	return kind.Rights{
		Calls: []kind.Right{ // AWS chooses the identifiers
			{Actions: "ec2:RunInstances", On: []string{"instance/*"}, If: kind.GivesTag},
			{Actions: "ec2:RunInstances", On: []string{"arn:${Partition}:ec2:${Region}:*:image/*", "key-pair/*", "network-interface/*",
				"security-group/*", "subnet/*", "volume/*"}},
			{Actions: "ec2:CreateTags", On: []string{"volume/*"}, If: kind.GivesTag}, // with the instance, and never later
			{Actions: "ec2:ModifyInstanceAttribute", On: []string{"instance/*"}, If: kind.HasTag},
			{Actions: "ec2:ModifyInstanceAttribute", On: []string{"security-group/*"}},
			{Actions: "ec2:*", On: []string{"instance/*"}, If: kind.HasTag},
		},
		Passes: []kind.Pass{
			{For: "ec2:RunInstances ec2:AssociateIamInstanceProfile ec2:ReplaceIamInstanceProfileAssociation", To: "ec2.amazonaws.com"},
		},
		Encrypts: map[string]string{ // https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
			"ec2:RunInstances": "kms:CreateGrant kms:Decrypt kms:DescribeKey kms:GenerateDataKeyWithoutPlaintext " +
				"kms:ReEncryptFrom kms:ReEncryptTo",
		},
	}
}

// internetGatewayFacts returns the facts about an InternetGateway that other packages use.
func internetGatewayFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:CreateInternetGateway", On: []string{"internet-gateway/*"}, If: kind.GivesTag},
				{Actions: "ec2:AttachInternetGateway ec2:DetachInternetGateway", On: []string{"internet-gateway/*"}, If: kind.HasTag},
				{Actions: "ec2:AttachInternetGateway ec2:DetachInternetGateway", On: []string{"vpc/*"}},
				{Actions: "ec2:*", On: []string{"internet-gateway/*"}, If: kind.HasTag},
			},
		},
		Services:   awsServices,
		Declarable: true,
		OneValue: map[string]string{
			"VPCID": kind.ByReference,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::InternetGateway", "AWS::EC2::VPCGatewayAttachment"},
			Properties: map[string]map[string]string{
				"AWS::EC2::VPCGatewayAttachment": {
					"InternetGatewayId VpnGatewayId": kind.IsParent,
				},
			},
			Unneeded: map[string]string{
				"ec2:*VpnGateway": "there is no kind for VPN gateways",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "internet-gateway/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_internet_gateway",
			Identity: []string{"id"},
		},
	}
}

// keyPairFacts returns the facts about an EC2KeyPair that other packages use.
func keyPairFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:ImportKeyPair", On: []string{"key-pair/*"}, If: kind.GivesTag},
				{Actions: "ec2:*", On: []string{"key-pair/*"}, If: kind.HasTag},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"KeyPairs.KeyFingerprint", "KeyPairs.KeyType",
		},
		Declarable: true,
		OneValue: map[string]string{
			"SecretRef": kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::KeyPair"},
			Rewritten: map[string]string{
				"PublicKeyMaterial": "publicKey compares the key without what surrounds it",
			},
			Properties: map[string]map[string]string{
				"AWS::EC2::KeyPair": {
					"KeyFormat KeyType": kind.IsInput,
				},
			},
			Unneeded: map[string]string{
				"ec2:CreateKeyPair ssm:DeleteParameter": "keys are imported, so that no private key is stored",
			},
		},
		Terraform: kind.Terraform{
			Type:     "aws_key_pair",
			Identity: []string{"key_name"},
		},
	}
}

// natGatewayFacts returns the facts about a NATGateway that other packages use.
func natGatewayFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:CreateNatGateway", On: []string{"natgateway/*"}, If: kind.GivesTag},
				{Actions: "ec2:CreateNatGateway", On: []string{"subnet/*", "elastic-ip/*"}},
				{Actions: "ec2:*", On: []string{"natgateway/*"}, If: kind.HasTag},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"NatGateways.NatGatewayAddresses.AssociationId", "NatGateways.NatGatewayAddresses.IsPrimary",
			"NatGateways.NatGatewayAddresses.NetworkInterfaceId", "NatGateways.NatGatewayAddresses.Status", "NatGateways.State",
		},
		Declarable: true,
		OneValue: map[string]string{
			"AllocationID SubnetID": kind.ByReference,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::NatGateway"},
			Properties: map[string]map[string]string{
				"AWS::EC2::NatGateway": {
					"AvailabilityZoneAddresses": "as availabilityMode",
					"MaxDrainDurationSeconds":   kind.IsRequest,
					"VpcId":                     "the subnet says it",
					"PrivateIpAddress":          "the status says it",
					"SecondaryAllocationIds SecondaryPrivateIpAddressCount SecondaryPrivateIpAddresses": "an import reports each further address as an element of natGatewayAddresses",
				},
			},
			Unneeded: map[string]string{
				"ec2:*NatGatewayAddress": "there is no field for further addresses",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "natgateway/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_nat_gateway",
			Identity: []string{"id"},
		},
	}
}

// routeTableFacts returns the facts about a RouteTable that other packages use.
func routeTableFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:CreateRouteTable", On: []string{"route-table/*"}, If: kind.GivesTag},
				{Actions: "ec2:CreateRouteTable", On: []string{"vpc/*"}},
				{Actions: "ec2:AssociateRouteTable ec2:DisassociateRouteTable", On: []string{"route-table/*"}, If: kind.HasTag},
				{Actions: "ec2:AssociateRouteTable ec2:DisassociateRouteTable", On: []string{"subnet/*"}},
				{Actions: "ec2:*", On: []string{"route-table/*"}, If: kind.HasTag},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"RouteTables.Associations.AssociationState", "RouteTables.Associations.RouteTableAssociationId",
			"RouteTables.Associations.RouteTableId", "RouteTables.OwnerId", "RouteTables.Routes.DestinationCidrBlock",
			"RouteTables.Routes.GatewayId=local", "RouteTables.Routes.Origin", "RouteTables.Routes.State",
		},
		Declarable: true,
		OneValue: map[string]string{
			"SubnetAssociations": kind.ByReference,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::RouteTable", "AWS::EC2::Route", "AWS::EC2::SubnetRouteTableAssociation"},
			Properties: map[string]map[string]string{
				"AWS::EC2::Route": {
					"RouteTableId":  kind.IsParent,
					"VpcEndpointId": "routes of gateway endpoints belong to the endpoint",
				},
				"AWS::EC2::SubnetRouteTableAssociation": {
					"RouteTableId": kind.IsParent,
					"SubnetId":     "as subnetAssociations",
				},
			},
			Unneeded: map[string]string{
				"ec2:ReplaceRouteTableAssociation": "a subnet is associated anew",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "route-table/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_route_table",
			Identity: []string{"id"},
			Parts:    []string{"aws_route_table_association"},
		},
	}
}

// securityGroupFacts returns the facts about a SecurityGroup that other packages use.
func securityGroupFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:CreateSecurityGroup", On: []string{"security-group/*"}, If: kind.GivesTag},
				{Actions: "ec2:CreateSecurityGroup", On: []string{"vpc/*"}},
				{Actions: "ec2:*", On: []string{"security-group/*"}, If: kind.HasTag},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"SecurityGroups.IpPermissions.UserIdGroupPairs.UserId", "SecurityGroups.IpPermissionsEgress.UserIdGroupPairs.UserId",
			"SecurityGroups.OwnerId", "SecurityGroups.SecurityGroupArn",
		},
		Declarable: true,
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::SecurityGroup", "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"},
			Rewritten: map[string]string{
				"FromPort IpProtocol ToPort " +
					"SecurityGroupEgress/*/FromPort SecurityGroupEgress/*/IpProtocol SecurityGroupEgress/*/ToPort " +
					"SecurityGroupIngress/*/FromPort SecurityGroupIngress/*/IpProtocol SecurityGroupIngress/*/ToPort": "addRules compares the names and the numbers of protocols, and ports where the protocol has them",
			},
			Properties: map[string]map[string]string{
				"AWS::EC2::SecurityGroup": {
					"GroupDescription":     "as description",
					"SecurityGroupEgress":  "as egressRules",
					"SecurityGroupIngress": "as ingressRules",
				},
				"AWS::EC2::SecurityGroupIngress": {
					"CidrIp CidrIpv6 SourcePrefixListId SourceSecurityGroupName": "as ingressRules",
					"GroupId": kind.IsParent,
				},
				"AWS::EC2::SecurityGroupEgress": {
					"CidrIp CidrIpv6 DestinationPrefixListId DestinationSecurityGroupId": "as egressRules",
					"GroupId": kind.IsParent,
				},
			},
			Unneeded: map[string]string{
				"ec2:DescribeSecurityGroupRules": "DescribeSecurityGroups shows the rules",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "security-group/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_security_group",
			Identity: []string{"id"},
			Parts: []string{
				"aws_security_group_rule",
				"aws_vpc_security_group_",
			},
		},
	}
}

// subnetFacts returns the facts about a Subnet that other packages use.
func subnetFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:CreateSubnet", On: []string{"subnet/*"}, If: kind.GivesTag},
				{Actions: "ec2:CreateSubnet", On: []string{"vpc/*"}},
				{Actions: "ec2:*", On: []string{"subnet/*"}, If: kind.HasTag},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"Subnets.AvailabilityZoneId", "Subnets.AvailableIpAddressCount", "Subnets.OwnerId",
			"Subnets.PrivateDnsNameOptionsOnLaunch.HostnameType=ip-name", "Subnets.State", "Subnets.SubnetArn",
		},
		Declarable: true,
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::Subnet"},
			Rewritten: map[string]string{
				"CidrBlock": "checkNetwork refuses a range that is not the address of a network",
			},
			Properties: map[string]map[string]string{
				"AWS::EC2::Subnet": {
					"AvailabilityZoneId": "as availabilityZone",
					"Ipv6CidrBlock":      "as ipv6CidrBlockAssociationSet",
					"Ipv4IpamPoolId Ipv4NetmaskLength Ipv6IpamPoolId Ipv6NetmaskLength": kind.IsAllocator,
				},
			},
			Unneeded: map[string]string{
				"ec2:*SubnetCidrBlock": "ranges of IPv6 are set with the create alone",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "subnet/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_subnet",
			Identity: []string{"id"},
		},
	}
}

// vpcFacts returns the facts about a VPC that other packages use.
func vpcFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			Calls: []kind.Right{ // AWS chooses the identifiers
				{Actions: "ec2:CreateVpc", On: []string{"vpc/*"}, If: kind.GivesTag},
				{Actions: "ec2:*", On: []string{"vpc/*"}, If: kind.HasTag},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"VpcId", "Vpcs.CidrBlockAssociationSet.AssociationId", "Vpcs.CidrBlockAssociationSet.CidrBlockState", "Vpcs.OwnerId",
			"Vpcs.State",
		},
		Declarable: true,
		OneValue: map[string]string{
			"InstanceTenancy": kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EC2::VPC"},
			Properties: map[string]map[string]string{
				"AWS::EC2::VPC": {
					"Ipv4IpamPoolId Ipv4NetmaskLength": kind.IsAllocator,
					"VpcEncryptionControl":             "as encryptionControl",
				},
			},
			Unneeded: map[string]string{
				"ec2:CreateVpcEncryptionControl ec2:ModifyVpcTenancy": "there are no fields for these",
			},
		},
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "vpc/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_vpc",
			Identity: []string{"id"},
		},
	}
}
