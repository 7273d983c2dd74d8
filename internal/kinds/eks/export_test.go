// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// Where no key was given, EKS encrypts a cluster with a key that AWS owns, which no one can name. It shows no encryption then, or one
// without a key.
// https://docs.aws.amazon.com/eks/latest/userguide/envelope-encryption.html
func TestImport_DeclaresNoKeyThatAWSOwns(t *testing.T) {
	for name, encryption := range map[string][]types.EncryptionConfig{
		"none": nil, "empty": {}, "without a provider": {{Resources: []string{"secrets"}}}, "without a key": {{Provider: &types.Provider{}}},
		"with an empty key": {{Provider: &types.Provider{KeyArn: new("")}}},
	} {
		settings, _, exported := kindtest.NotDeclared(t, engine.For(NewCluster), clusterWith(), clusterTargets, func(output any) {
			if d, ok := output.(*eks.DescribeClusterOutput); ok {
				d.Cluster.EncryptionConfig = encryption
			}
		})
		if e := exported.(*v1alpha1.EKSCluster).Spec.Encryption; e != nil || len(settings) > 0 {
			t.Errorf("%s: declared %+v, not declared: %q", name, e, settings)
		}
	}
}

// https://docs.aws.amazon.com/eks/latest/APIReference/API_PodIdentityAssociation.html
func TestImport_DeclaresTargetRoleAndSessionPolicy(t *testing.T) {
	settings, _, _ := kindtest.NotDeclared(t, engine.For(NewPodIdentityAssociation), associationOf(),
		func(s *kindtest.Subject) { inCluster(t, s) }, func(output any) {
			if d, ok := output.(*eks.DescribePodIdentityAssociationOutput); ok {
				d.Association.TargetRoleArn, d.Association.ExternalId = aws.String(target), aws.String("region/account/cluster/namespace/name")
				d.Association.Policy, d.Association.DisableSessionTags = aws.String(`{"Version":"2012-10-17","Statement":[]}`), aws.Bool(true)
			}
		})
	if len(settings) > 0 {
		t.Errorf("not declared: %q", settings)
	}
}
