// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// describeCluster is the method of a client. As an interface, the client itself would keep all its methods in the binary.
type describeCluster func(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)

// ClusterIssuer reads the OIDC issuer of an EKS cluster in the session's account and region:
// docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html.
// It needs the right eks:DescribeCluster on that cluster. A failure is of the kinds that Explain returns.
func (s *Session) ClusterIssuer(ctx context.Context, cluster string) (string, error) {
	const action = "eks:DescribeCluster"
	describe := s.Memo(action, func() any { return describeCluster(eks.NewFromConfig(s.Config).DescribeCluster) }).(describeCluster)
	out, err := describe(ctx, &eks.DescribeClusterInput{Name: &cluster})
	if IsNotFound(err) {
		return "", &status.Stalled{Reason: status.ReasonIssuerUnknown, Cause: err, Message: fmt.Sprintf(
			"account %s has no EKS cluster %s in %s: correct --eks-cluster-name (EKS_CLUSTER_NAME) or --region (AWS_REGION) of the operator", s.Account, cluster, s.Region)}
	}
	if err != nil {
		return "", Explain(err, action)
	}
	if out.Cluster == nil || out.Cluster.Identity == nil || out.Cluster.Identity.Oidc == nil || aws.ToString(out.Cluster.Identity.Oidc.Issuer) == "" {
		return "", &status.Waiting{Reason: status.ReasonIssuerUnknown, For: "EKS cluster " + cluster + " to have an OIDC issuer"}
	}
	return *out.Cluster.Identity.Oidc.Issuer, nil
}
