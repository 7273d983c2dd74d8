// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// describeCluster is the method of a client. As an interface, the client itself would keep all its methods in the binary.
type describeCluster func(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)

// ClusterIssuer reads the OIDC issuer of an EKS cluster in the session's account and region:
// docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html.
// It needs the right eks:DescribeCluster on that cluster. A failure is of the kinds that Explain returns.
func (s *Session) ClusterIssuer(ctx context.Context, cluster string) (string, error) {
	c, err := s.cluster(ctx, cluster)
	if err != nil {
		return "", err
	}
	if c == nil || c.Identity == nil || c.Identity.Oidc == nil || aws.ToString(c.Identity.Oidc.Issuer) == "" {
		return "", &status.Waiting{Reason: status.ReasonIssuerUnknown, For: "EKS cluster " + cluster + " to have an OIDC issuer"}
	}
	return *c.Identity.Oidc.Issuer, nil
}

// IsAutoMode reports whether EKS Auto Mode is enabled in an EKS cluster, which then starts and ends nodes as pods need them. It needs
// the same right as ClusterIssuer, and fails in the same way.
func (s *Session) IsAutoMode(ctx context.Context, cluster string) (bool, error) {
	c, err := s.cluster(ctx, cluster)
	return err == nil && c != nil && c.ComputeConfig != nil && aws.ToBool(c.ComputeConfig.Enabled), err
}

func (s *Session) cluster(ctx context.Context, cluster string) (*types.Cluster, error) {
	const action = "eks:DescribeCluster"
	describe := s.Memo(action, func() any { return describeCluster(eks.NewFromConfig(s.Config).DescribeCluster) }).(describeCluster)
	out, err := describe(ctx, &eks.DescribeClusterInput{Name: &cluster})
	if IsNotFound(err) {
		return nil, &status.Stalled{Reason: status.ReasonIssuerUnknown, Cause: err, Message: fmt.Sprintf(
			"account %s has no EKS cluster %s in %s: correct --eks-cluster-name (EKS_CLUSTER_NAME) or --region (AWS_REGION) of the operator",
			s.Account, cluster, s.Region)}
	}
	if err != nil {
		return nil, Explain(err, action)
	}
	return out.Cluster, nil
}
