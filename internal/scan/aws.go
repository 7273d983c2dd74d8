// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// scanAWS looks up the owner of the credentials.
func (x *scanner) scanAWS(ctx context.Context) error {
	const title = "AWS accepts your credentials"
	session, err := x.open(ctx)
	if err != nil {
		x.add(check.Lacks(title, err.Error(), "give AWS credentials (AWS_PROFILE, --profile) of the cluster's account"))
		return nil
	}
	x.report.Account, x.report.Region = session.Account, session.Region
	x.add(check.Pass(title, session.CallerARN+", region "+session.Region))
	return nil
}

// account is the AWS account for a check; nil, with the check skipped, when AWS does not accept the credentials.
func (x *scanner) account(ctx context.Context, title string) *awsclient.Session {
	session, err := x.open(ctx)
	if err != nil {
		x.add(check.Skip(title, "your AWS credentials are not accepted"))
		return nil
	}
	return session
}

// scanImage looks for the operator's image.
func (x *scanner) scanImage(ctx context.Context) error {
	const title = "the operator's image is in the account's registry"
	session := x.account(ctx, title)
	if session == nil {
		return nil
	}
	registry := install.NewAccount(session, "").Registry
	image, name := x.ImageOf(registry, x.Image)
	if image == nil {
		x.add(check.Skip(title, cmp.Or(name, "the image of a nexusctl without a version")+
			" is not looked for; name an image of the account's registry with --image"))
		return nil
	}
	changes, there, err := registry.Look(ctx, *image)
	switch {
	case awsclient.Is(err, awsclient.Denied):
		x.add(check.Lacks(title, err.Error(), "ask for the rights ecr:DescribeRepositories and ecr:DescribeImages"))
	case err != nil:
		return err
	case len(changes) > 0:
		x.add(check.Warn(title, name+": the repository does not exist", "nexusctl deploy --image "+name+" creates it; then push the image"))
	case !there:
		x.add(check.Warn(title, name+" was not pushed yet", "nexusctl build operator --push "+name+", in the operator's source tree"))
	default:
		x.add(check.Pass(title, name))
	}
	return nil
}

// scanIdentity looks whether pods can get credentials of roles.
func (x *scanner) scanIdentity(ctx context.Context) error {
	const title = "the OIDC issuer of the cluster is known"
	issuer, err := x.issuer.URL(ctx)
	if err != nil {
		x.add(check.Fail(title, err.Error(), "name the EKS cluster: --cluster-name NAME"))
	} else {
		x.add(check.Pass(title, issuer))
		if err := x.scanOIDCProvider(ctx, issuer); err != nil {
			return err
		}
	}
	return x.scanPodIdentity(ctx)
}

func (x *scanner) scanOIDCProvider(ctx context.Context, issuer string) error {
	const title = "IAM accepts the tokens of the cluster's ServiceAccounts"
	session := x.account(ctx, title)
	if session == nil {
		return nil
	}
	provider, changes, err := install.NewAccount(session, "").Providers.Look(ctx, issuer)
	switch {
	case awsclient.Is(err, awsclient.Denied):
		x.add(check.Lacks(title, err.Error(), "ask for the right iam:GetOpenIDConnectProvider"))
	case err != nil:
		return err
	case len(changes) > 0:
		x.add(check.Fail(title, provider+" is not as it must be; to do: "+changes[0].Action, "nexusctl fix-irsa"))
	default:
		x.add(check.Pass(title, provider))
	}
	return nil
}

// podIdentityWebhook is the webhook of EKS that gives pods the token and the role of their ServiceAccount:
// https://github.com/aws/amazon-eks-pod-identity-webhook
const podIdentityWebhook = "pod-identity-webhook"

func (x *scanner) scanPodIdentity(ctx context.Context) error {
	const title = "pods are given the credentials of their ServiceAccount's role"
	list := &admissionregistrationv1.MutatingWebhookConfigurationList{}
	if err := x.client.List(ctx, list); err != nil {
		return err
	}
	if slices.ContainsFunc(list.Items, func(c admissionregistrationv1.MutatingWebhookConfiguration) bool {
		return strings.Contains(c.Name, podIdentityWebhook)
	}) {
		x.add(check.Pass(title, "MutatingWebhookConfiguration "+podIdentityWebhook))
		return nil
	}
	x.add(check.Warn(title, "there is no MutatingWebhookConfiguration "+podIdentityWebhook,
		"on EKS it is part of the control plane; elsewhere install the EKS pod identity webhook"))
	return nil
}

// rolesOfSubnets are the tags of subnets for the AWS Load Balancer Controller:
// https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
var rolesOfSubnets = []struct{ tag, use string }{{"kubernetes.io/role/elb", "internet-facing"},
	{"kubernetes.io/role/internal-elb", "internal"}}

// scanNetwork looks whether load balancers find subnets in two zones, as an Application Load Balancer needs them.
func (x *scanner) scanNetwork(ctx context.Context) error {
	const title = "subnets of two zones are tagged for load balancers"
	if x.EKS == "" {
		x.add(check.Skip(title, "the name of the EKS cluster is not known: use --cluster-name"))
		return nil
	}
	session := x.account(ctx, title)
	if session == nil {
		return nil
	}
	cluster, err := eks.NewFromConfig(session.Config).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &x.EKS})
	if err != nil || cluster.Cluster == nil || cluster.Cluster.ResourcesVpcConfig == nil {
		x.add(x.awsFailure(title, err, "eks:DescribeCluster"))
		return nil
	}
	vpc := aws.ToString(cluster.Cluster.ResourcesVpcConfig.VpcId)
	in := &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: aws.String("vpc-id"), Values: []string{vpc}}}}
	subnets, err := kind.Pages(ctx, ec2.NewFromConfig(session.Config).DescribeSubnets, in, &in.NextToken,
		func(out *ec2.DescribeSubnetsOutput) ([]ec2types.Subnet, *string) { return out.Subnets, out.NextToken })
	if err != nil {
		x.add(x.awsFailure(title, err, "ec2:DescribeSubnets"))
		return nil
	}
	x.add(judgeSubnets(title, vpc, subnets))
	return nil
}

// awsFailure is a check that AWS did not let be made.
func (x *scanner) awsFailure(title string, err error, action string) check.Result {
	err = awsclient.ExplainOnce(err, action)
	if awsclient.Is(err, awsclient.Denied) {
		return check.Lacks(title, err.Error(), "ask for the right "+action)
	}
	if err == nil {
		return check.Fail(title, "EKS describes no network of cluster "+x.EKS, "correct --cluster-name, or wait until the cluster is active")
	}
	return check.Fail(title, err.Error(), "correct --cluster-name ("+x.EKS+") or --region, and run the command again")
}

// judgeSubnets passes when one kind of load balancers finds two zones.
func judgeSubnets(title, vpc string, subnets []ec2types.Subnet) check.Result {
	var seen []string
	for _, role := range rolesOfSubnets {
		zones := map[string]bool{}
		for _, s := range subnets {
			if slices.ContainsFunc(s.Tags, func(t ec2types.Tag) bool { return aws.ToString(t.Key) == role.tag }) {
				zones[aws.ToString(s.AvailabilityZone)] = true
			}
		}
		if len(zones) >= 2 {
			seen = append(seen, fmt.Sprintf("%s: %d zones", role.use, len(zones)))
		}
	}
	if len(seen) > 0 {
		return check.Pass(title, vpc+", "+strings.Join(seen, ", "))
	}
	return check.Warn(title, fmt.Sprintf("%s has %d subnets, and no two zones with the tag %s or %s", vpc, len(subnets), rolesOfSubnets[0].tag,
		rolesOfSubnets[1].tag),
		"aws ec2 create-tags --resources SUBNET SUBNET --tags Key="+rolesOfSubnets[0].tag+",Value=1")
}
