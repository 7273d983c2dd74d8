// SPDX-License-Identifier: Apache-2.0

package eks

import "github.com/nexus-operator/nexus-operator/internal/kind"

// clusterFacts returns the facts about an EKSCluster that other packages use.
func clusterFacts() kind.Facts {
	return kind.Facts{
		Errors: awsErrors,
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
		Errors: awsErrors,
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
