// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// The emulator has no associations of EKS Pod Identity at all.
func TestAssociationsOfPodIdentity(t *testing.T) {
	p := proxy(t)
	cfg, ctx := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(p.URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, t.Context()
	clusters, roles := eks.NewFromConfig(cfg), iam.NewFromConfig(cfg)
	in := &eks.CreatePodIdentityAssociationInput{ClusterName: aws.String("c"), Namespace: aws.String("n"), ServiceAccount: aws.String("s"),
		RoleArn:            aws.String("arn:aws:iam::123456789012:role/r"),
		ClientRequestToken: aws.String("one"), Tags: map[string]string{"team": "a"}}
	refused := func(says string) {
		t.Helper()
		if _, err := clusters.CreatePodIdentityAssociation(ctx, in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
	refused("ResourceNotFoundException")
	_, err := clusters.CreateCluster(ctx,
		&eks.CreateClusterInput{Name: aws.String("c"), RoleArn: aws.String("arn:aws:iam::123456789012:role/cluster"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{}})
	must.Succeed(t, err)
	refused("Role provided in the request does not exist")
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	_, err = roles.CreateRole(ctx,
		&iam.CreateRoleInput{RoleName: aws.String("r"), AssumeRolePolicyDocument: aws.String(strings.Replace(trust, "pods.eks", "ec2", 1))})
	must.Succeed(t, err)
	refused("Trust policy of the role provided is invalid")
	_, err = roles.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("r"), PolicyDocument: &trust})
	must.Succeed(t, err)
	made, err := clusters.CreatePodIdentityAssociation(ctx, in)
	must.Succeed(t, err)
	again, err := clusters.CreatePodIdentityAssociation(ctx, in)
	if must.Succeed(t, err); *again.Association.AssociationId != *made.Association.AssociationId {
		t.Error("a repeated request made another association")
	}
	in.ClientRequestToken = aws.String("two")
	refused("ResourceInUseException")
	arn := made.Association.AssociationArn
	_, err = clusters.TagResource(ctx, &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"more": "b"}})
	must.Succeed(t, err)
	_, err = clusters.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"team"}})
	must.Succeed(t, err)
	of := &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String("c"), AssociationId: made.Association.AssociationId}
	seen, err := clusters.DescribePodIdentityAssociation(ctx, of)
	if must.Succeed(t, err); len(seen.Association.Tags) != 1 || seen.Association.Tags["more"] != "b" ||
		aws.ToTime(seen.Association.CreatedAt).IsZero() {
		t.Errorf("%+v", seen.Association)
	}
	inventory, err := p.Inventory(ctx)
	if must.Succeed(t, err); len(inventory["eks/pod-identity-association"]) != 1 || inventory["eks/pod-identity-association"][0] != "c/n/s" {
		t.Errorf("%v", inventory["eks/pod-identity-association"])
	}
	_, err = clusters.DeletePodIdentityAssociation(ctx,
		&eks.DeletePodIdentityAssociationInput{ClusterName: aws.String("c"), AssociationId: made.Association.AssociationId})
	must.Succeed(t, err)
	if _, err := clusters.DescribePodIdentityAssociation(ctx, of); err == nil || !strings.Contains(err.Error(), "ResourceNotFoundException") {
		t.Errorf("got %v", err)
	}
}
