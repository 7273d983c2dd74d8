// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestELB_NamesNetworkLoadBalancersAsAWSDoes(t *testing.T) {
	p := proxy(t)
	c, ctx := elasticloadbalancingv2.NewFromConfig(config(p.URL())), t.Context()
	subnets, err := ec2.NewFromConfig(config(p.URL())).DescribeSubnets(ctx, nil)
	must.Succeed(t, err)
	for name, kind := range map[string]types.LoadBalancerTypeEnum{"net": types.LoadBalancerTypeEnumNetwork,
		"app": types.LoadBalancerTypeEnumApplication} {
		_, err := c.CreateLoadBalancer(ctx,
			&elasticloadbalancingv2.CreateLoadBalancerInput{Name: &name, Type: kind, Subnets: []string{*subnets.Subnets[0].SubnetId}})
		must.Succeed(t, err)
	}
	out, err := c.DescribeLoadBalancers(ctx, nil)
	must.Succeed(t, err)
	var names []string
	for _, b := range out.LoadBalancers {
		names = append(names, aws.ToString(b.DNSName))
	}
	slices.Sort(names)
	region := config(p.URL()).Region
	if want := []string{"app-1." + region + ".elb.amazonaws.com", "net-1.elb." + region + ".amazonaws.com"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
