// SPDX-License-Identifier: Apache-2.0

package eks

import "github.com/nexus-operator/nexus-operator/internal/kind"

// clusterFacts returns the facts about an EKSCluster that other packages use.
func clusterFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {
				"eks:DescribeCluster Cluster.ComputeConfig.NodeRoleArn",
				"eks:DescribeCluster Cluster.ConnectorConfig.RoleArn",
				"eks:DescribeCluster Cluster.RoleArn",
			},
		},
		EarlierKeys: kind.EarlierKeys{NotKept: "the key is immutable, and compared with that of the cluster"},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "eks:CreateCluster", If: kind.GivesTag},
				{Actions: "eks:DescribeAccessEntry eks:UpdateAccessEntry eks:DeleteAccessEntry eks:ListAssociatedAccessPolicies " +
					"eks:AssociateAccessPolicy eks:DisassociateAccessPolicy", On: []string{"access-entry/${Name}"}},
				{Actions: "eks:UntagResource", On: []string{"cluster/${Name}"}, If: kind.HasTag},
				{Actions: "eks:*", On: []string{"cluster/${Name}"}},
			},
			Needs: []kind.Need{
				{For: "eks:CreateCluster", Actions: "ec2:DescribeSecurityGroups ec2:DescribeSubnets ec2:DescribeVpcs"},
			},
			ServiceRoles: map[string]string{ // https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
				"eks.amazonaws.com": "eks:CreateCluster",
			},
			Encrypts: map[string]string{ // https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html
				"eks:CreateCluster": "kms:CreateGrant kms:DescribeKey",
			},
			Passes: []kind.Pass{{For: "eks:CreateCluster", To: "eks.amazonaws.com"}},
		},
		Services: awsServices,
		NotSettings: []string{
			"AccessEntries", "Cluster.CertificateAuthority", "Cluster.ClientRequestToken", "Cluster.EncryptionConfig.Resources=secrets",
			"Cluster.Health", "Cluster.Identity", "Cluster.KubernetesNetworkConfig.IpFamily=ipv4",
			"Cluster.Logging.ClusterLogging.Types", "Cluster.PlatformVersion", "Cluster.ResourcesVpcConfig.ClusterSecurityGroupId",
			"Cluster.ResourcesVpcConfig.PublicAccessCidrs=0.0.0.0/0", "Cluster.ResourcesVpcConfig.VpcId", "Cluster.Status",
			// EKS chooses one of these where no one did.
			"Cluster.KubernetesNetworkConfig.ServiceIpv4Cidr=172.20.0.0/16",
			"Cluster.KubernetesNetworkConfig.ServiceIpv4Cidr=10.100.0.0/16",
		},
		Declarable: true,
		OneValue: map[string]string{
			"RoleRef": kind.KeptFromCreation,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EKS::Cluster", "AWS::EKS::AccessEntry"},
			Properties: map[string]map[string]string{
				"AWS::EKS::Cluster": {
					"ActiveCertificateAuthorityId CertificateAuthority": "EKS makes the authority, and rotates it on a person's request",
					"BootstrapSelfManagedAddons":                        kind.IsInput,
					"Force RollbackConfig":                              kind.IsRequest,
				},
				"AWS::EKS::AccessEntry": {
					"AccessPolicies Type Username": "as accessEntries",
				},
			},
			Unneeded: map[string]string{
				"eks:ActivateCertificateAuthority": "there is no field for certificate authorities",
			},
		},
		ARN: kind.ARNForm{
			Service: "eks",
			Prefix:  "cluster/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_eks_cluster",
			Identity: []string{"name"},
		},
	}
}

// podIdentityAssociationFacts returns the facts about a PodIdentityAssociation that other packages use.
func podIdentityAssociationFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {
				"eks:DescribePodIdentityAssociation Association.RoleArn",
				"eks:DescribePodIdentityAssociation Association.TargetRoleArn",
			},
		},
		Rights: kind.Rights{
			Calls: []kind.Right{ // associations are made in the operator's own cluster, and EKS chooses their identifiers
				{Actions: "eks:CreatePodIdentityAssociation", On: []string{"cluster/${Cluster}"}, If: kind.GivesTag},
				{Actions: "eks:ListPodIdentityAssociations", On: []string{"cluster/${Cluster}"}},
				{Actions: "eks:DescribePodIdentityAssociation", On: []string{"podidentityassociation/${Cluster}/*"}},
				{Actions: "eks:TagResource", On: []string{"podidentityassociation/${Cluster}/*"}, If: kind.GivesTag},
				{Actions: "eks:TagResource", On: []string{"podidentityassociation/${Cluster}/*"}, If: kind.HasTagOrIsAdopted},
				{Actions: "eks:*", On: []string{"podidentityassociation/${Cluster}/*"}, If: kind.HasTag},
			},
			Passes: []kind.Pass{{For: "eks:CreatePodIdentityAssociation eks:UpdatePodIdentityAssociation", To: kind.PodIdentityService}},
		},
		Services: awsServices,
		NotSettings: []string{
			"eks.ListPodIdentityAssociations", "Association.ExternalId",
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::EKS::PodIdentityAssociation"},
		},
		Terraform: kind.Terraform{
			Type:     "aws_eks_pod_identity_association",
			Identity: []string{"cluster_name", "namespace", "service_account"},
		},
	}
}
