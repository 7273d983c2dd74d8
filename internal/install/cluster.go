// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// Cluster holds everything that a client needs to reach an EKS cluster.
type Cluster struct {
	ARN, Endpoint string
	// VPC is the ID of the cluster's network; empty when EKS names none.
	VPC string
	// CA is the certificate of the API server's authority, in PEM.
	CA []byte
}

// NoClusterError says that the account has no EKS cluster of a name in a region.
type NoClusterError struct{ Name, Account, Region string }

// Error implements error.
func (e *NoClusterError) Error() string {
	return fmt.Sprintf("account %s has no EKS cluster %s in %s", e.Account, e.Name, e.Region)
}

// FindCluster asks EKS for a cluster in the session's account and region. The error is a *NoClusterError, that of a
// cluster that has no endpoint yet, or one of the kinds that awsclient.Explain returns.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html
func FindCluster(ctx context.Context, s *awsclient.Session, name string) (Cluster, error) {
	answer, err := eks.NewFromConfig(s.Config).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
	if awsclient.IsNotFound(err) {
		return Cluster{}, &NoClusterError{Name: name, Account: s.Account, Region: s.Region}
	}
	if err != nil {
		return Cluster{}, awsclient.ExplainOnce(err, "eks:DescribeCluster")
	}
	c := answer.Cluster
	if aws.ToString(c.Endpoint) == "" || c.CertificateAuthority == nil {
		return Cluster{}, fmt.Errorf("EKS cluster %s has no endpoint: it is %s", name, c.Status)
	}
	ca, err := base64.StdEncoding.DecodeString(aws.ToString(c.CertificateAuthority.Data))
	if err != nil {
		return Cluster{}, fmt.Errorf("the certificate authority of EKS cluster %s: %w", name, err)
	}
	out := Cluster{ARN: aws.ToString(c.Arn), Endpoint: aws.ToString(c.Endpoint), CA: ca}
	if c.ResourcesVpcConfig != nil {
		out.VPC = aws.ToString(c.ResourcesVpcConfig.VpcId)
	}
	return out, nil
}

const (
	// tokenPrefix begins every token that EKS accepts: the rest is the URL of a signed request to STS.
	// https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html
	tokenPrefix = "k8s-aws-v1."
	// clusterHeader is signed with the request, so that the token of one cluster is none for another.
	clusterHeader = "x-k8s-aws-id"
	// urlSeconds is the validity that the URL states; EKS takes it for tokenLifetime.
	urlSeconds = "60"
	// tokenLifetime is a minute less than the 15 minutes of validity that EKS gives a token.
	tokenLifetime = 14 * time.Minute
)

// Token returns a token that authenticates the holder of the configuration's credentials to an EKS cluster, and when to ask for the next
// one. It is a signed sts:GetCallerIdentity that EKS sends; no call is made here.
func Token(ctx context.Context, cfg aws.Config, cluster string, now time.Time) (string, time.Time, error) {
	signed, err := sts.NewPresignClient(sts.NewFromConfig(cfg)).PresignGetCallerIdentity(ctx, &sts.GetCallerIdentityInput{},
		func(o *sts.PresignOptions) {
			o.ClientOptions = append(o.ClientOptions, func(o *sts.Options) {
				o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue(clusterHeader, cluster),
					smithyhttp.SetHeaderValue("X-Amz-Expires", urlSeconds))
			})
		})
	if err != nil {
		return "", time.Time{}, awsclient.ExplainOnce(err, "sts:GetCallerIdentity")
	}
	return tokenPrefix + strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(signed.URL)), "="), now.Add(tokenLifetime), nil
}
