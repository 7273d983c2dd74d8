// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// balancerTags are the tags of load balancers that the AWS Load Balancer Controller, the cloud provider of Kubernetes and EKS Auto Mode
// make. https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/#resource-tags
func balancerTags(cluster string) []map[string][]string {
	return []map[string][]string{
		{"elbv2.k8s.aws/cluster": {cluster}},
		{"kubernetes.io/cluster/" + cluster: {"owned"}},
		{"eks:eks-cluster-name": {cluster}},
	}
}

// interfaceTag is the tag of the network interfaces that the VPC CNI plugin makes.
// https://github.com/aws/amazon-vpc-cni-k8s#cluster_name
const interfaceTag = "tag:cluster.k8s.amazonaws.com/name"

// leftoverReads are the IAM actions that find the resources that controllers in a cluster made.
var leftoverReads = []string{"eks:ListCapabilities", "tag:GetResources", "ec2:DescribeNetworkInterfaces"}

// leftovers holds the deletion of a cluster for the capabilities of EKS in it, and for load balancers and network interfaces of
// controllers in it: no one deletes these without the cluster, and they keep its networks.
// https://docs.aws.amazon.com/eks/latest/userguide/delete-cluster.html
func (c *cluster) leftovers(ctx context.Context, name string) (out []kind.Hold, err error) {
	hold := func(format string, args ...any) {
		out = append(out, kind.Hold{Reason: status.ReasonInUse, Message: fmt.Sprintf(format, args...) + keepCluster})
	}
	in := &eks.ListCapabilitiesInput{ClusterName: &name}
	capabilities, err := kind.Pages(ctx, c.api.ListCapabilities, in, &in.NextToken, func(out *eks.ListCapabilitiesOutput) ([]types.CapabilitySummary, *string) {
		return out.Capabilities, out.NextToken
	})
	if err = unlessGone(err); err != nil {
		return nil, err
	}
	if n := len(capabilities); n > 0 {
		hold("the EKS capabilities of the cluster to be deleted: %d (%s); delete them", n, named(namesOf(capabilities, func(s types.CapabilitySummary) *string { return s.CapabilityName })))
	}
	balancers, err := c.balancers(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(balancers) > 0 {
		hold("the load balancers that controllers in the cluster made to be deleted: %d (%s); delete the Services, Ingresses and Gateways, or the load balancers", len(balancers), named(balancers))
	}
	interfaces, err := c.interfaces(ctx, interfaceTag, name)
	if len(interfaces) > 0 {
		hold("the network interfaces that nodes of the cluster made to be deleted: %d (%s); terminate the nodes, and delete the interfaces that they leave", len(interfaces),
			named(namesOf(interfaces, func(n ec2types.NetworkInterface) *string { return n.NetworkInterfaceId })))
	}
	return out, err
}

func namesOf[T any](all []T, name func(T) *string) []string {
	out := make([]string, 0, len(all))
	for _, one := range all {
		out = append(out, aws.ToString(name(one)))
	}
	return out
}

// balancers returns the names of the load balancers of controllers in a cluster. The tagging API shows some that were deleted, so only
// those that have network interfaces count.
func (c *cluster) balancers(ctx context.Context, name string) ([]string, error) {
	var descriptions []string
	for _, tags := range balancerTags(name) {
		arns, err := awsclient.TaggedARNs(ctx, c.tags.GetResources, "elasticloadbalancing:loadbalancer", tags)
		if err != nil {
			return nil, err
		}
		for _, arn := range arns {
			_, path, _ := strings.Cut(arn, ":loadbalancer/")
			descriptions = append(descriptions, "ELB "+path)
		}
	}
	slices.Sort(descriptions)
	var out []string
	for some := range slices.Chunk(slices.Compact(descriptions), 200) { // the values that a filter of EC2 takes
		found, err := c.interfaces(ctx, "description", some...)
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			out = append(out, balancerOf(aws.ToString(n.Description)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// balancerOf returns the name in the description of a load balancer's interface: "ELB app/NAME/ID", or "ELB NAME" of a classic one.
func balancerOf(description string) string {
	parts := strings.Split(strings.TrimPrefix(description, "ELB "), "/")
	return parts[min(1, len(parts)-1)]
}

func (c *cluster) interfaces(ctx context.Context, filter string, values ...string) ([]ec2types.NetworkInterface, error) {
	in := &ec2.DescribeNetworkInterfacesInput{Filters: []ec2types.Filter{{Name: &filter, Values: values}}}
	return kind.Pages(ctx, c.ec2.DescribeNetworkInterfaces, in, &in.NextToken, func(out *ec2.DescribeNetworkInterfacesOutput) ([]ec2types.NetworkInterface, *string) {
		return out.NetworkInterfaces, out.NextToken
	})
}
