// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// findBalancers is the IAM action of DescribeLoadBalancers. AWS evaluates no resource for it.
const findBalancers = "elasticloadbalancing:DescribeLoadBalancers"

// zoneField is the field that an alias needs if the zone of its target is unknown.
const zoneField = "spec.aliasTarget.hostedZoneID"

// balancerPause is the pause before AWS is asked again for a load balancer that it does not show.
const balancerPause = 15 * time.Second

// aimAtBalancer takes the zone of an alias without hostedZoneID from the name of the load balancer, or leaves it to AWS.
func (s *RecordSetState) aimAtBalancer(target string) error {
	if s.Alias.HostedZoneID != "" {
		return nil
	}
	b, ok := wellknown.BalancerOf(target)
	if !ok {
		return &status.Stalled{Reason: status.ReasonInvalidSpec, Field: zoneField, Message: strings.TrimSuffix(target, ".") + " is no name of a load balancer: set the hosted zone of the target"}
	}
	if s.Alias.HostedZoneID = b.HostedZone(); s.Alias.HostedZoneID == "" {
		s.Target = strings.TrimSuffix(target, ".")
	}
	return nil
}

// forgetZone leaves out the zone of an alias that leads to the wanted load balancer: Route 53 accepts a name only with its zone.
func (s *RecordSetState) forgetZone(want RecordSetState) {
	if want.Target != "" && s.Alias.DNSName == want.Alias.DNSName {
		s.Alias.HostedZoneID = ""
	}
}

// complete adds the zone of the load balancer to an alias that is to be written without one.
func (r *recordSet) complete(ctx context.Context, want, have RecordSetState) (RecordSetState, error) {
	switch {
	case want.Target == "":
		return want, nil
	case have.Found != nil && have.Found.AliasTarget != nil && have.Alias.DNSName == want.Alias.DNSName:
		want.Alias.HostedZoneID = aws.ToString(have.Found.AliasTarget.HostedZoneId)
		return want, nil
	}
	var err error
	want.Alias.HostedZoneID, err = r.zoneOfBalancer(ctx, want.Target)
	return want, err
}

// zoneOfBalancer asks for the load balancer with the DNS name, in the account and region of the identity.
func (r *recordSet) zoneOfBalancer(ctx context.Context, target string) (string, error) {
	b, _ := wellknown.BalancerOf(target)
	if b.Region != r.region {
		return "", &status.Stalled{Reason: status.ReasonInvalidSpec, Field: zoneField, Message: fmt.Sprintf(
			"%s is in %s, and the provider finds load balancers of %s: set the hosted zone of the load balancer", target, b.Region, r.region)}
	}
	out, err := awsclient.Lookup(ctx, r.balancers.DescribeLoadBalancers, &elasticloadbalancingv2.DescribeLoadBalancersInput{Names: []string{b.Name}})
	if err != nil {
		return "", awsclient.Explain(err, findBalancers) // not the write that needs the zone
	}
	if out != nil {
		for _, found := range out.LoadBalancers {
			if canonicalName(aws.ToString(found.DNSName)) == balancerAddress(target) && aws.ToString(found.CanonicalHostedZoneId) != "" {
				return *found.CanonicalHostedZoneId, nil
			}
		}
	}
	return "", &status.Waiting{For: fmt.Sprintf("load balancer %s, of which AWS shows none with the name %s in the account of the provider; if it is another account's, set %s",
		b.Name, target, zoneField), After: balancerPause}
}

// balancerAddress is the DNS name that ELB reports, in the form of canonicalName; an alias may have dualstack. before it.
func balancerAddress(target string) string {
	return strings.TrimPrefix(canonicalName(target), "dualstack.")
}
