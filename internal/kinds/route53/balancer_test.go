// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// networkBalancer is the name of the load balancer that makeBalancer makes; the emulator's identifiers are all 1.
const networkBalancer = "shop-1.elb." + kindtest.Region + ".amazonaws.com"

// makeBalancer makes a Network Load Balancer.
func makeBalancer(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	subnets, err := ec2.NewFromConfig(r.Config).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	kindtest.Must(t, err)
	made, err := elasticloadbalancingv2.NewFromConfig(r.Config).CreateLoadBalancer(t.Context(),
		&elasticloadbalancingv2.CreateLoadBalancerInput{
			Name: aws.String("shop"), Type: elbtypes.LoadBalancerTypeEnumNetwork, Subnets: []string{*subnets.Subnets[0].SubnetId}})
	kindtest.Must(t, err)
	if got := *made.LoadBalancers[0].DNSName; got != networkBalancer {
		t.Fatalf("the load balancer is %s", got)
	}
}

// zoneOfAlias is the hosted zone of the target of the alias www.
func zoneOfAlias(t *testing.T, r *kindtest.Rig) string {
	t.Helper()
	found, _ := ofWWW(t, r)
	if len(found) != 1 || found[0].AliasTarget == nil {
		t.Fatalf("%+v", found)
	}
	return aws.ToString(found[0].AliasTarget.HostedZoneId)
}

func TestAnAliasWaitsForItsLoadBalancer(t *testing.T) {
	s, r := recordSubject(t, recordsOf(aliasOf(networkBalancer)))
	_, err := s.Settle(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.For, "load balancer shop") ||
		!strings.Contains(w.For, "set spec.aliasTarget.hostedZoneID") {
		t.Fatalf("got %v, want to wait for the load balancer", err)
	}
	makeBalancer(t, r)
	kindtest.Settled(t, s)
	out, err := elasticloadbalancingv2.NewFromConfig(r.Config).DescribeLoadBalancers(t.Context(), nil)
	kindtest.Must(t, err)
	if got := zoneOfAlias(t, r); got == "" || got != *out.LoadBalancers[0].CanonicalHostedZoneId {
		t.Errorf("zone %s", got)
	}
}

// Route 53 accepts the name of a load balancer only with its zone, so that one look at the load balancer is enough.
func TestAnAliasKeepsTheZoneOfItsLoadBalancer(t *testing.T) {
	s, r := recordSubject(t, recordsOf(aliasOf(networkBalancer)))
	makeBalancer(t, r)
	kindtest.Settled(t, s)
	zone, mark := zoneOfAlias(t, r), r.AWS.Mark()
	s.Forget()
	kindtest.Settled(t, s)
	if calls := r.AWS.Since(mark); len(calls.Writes()) > 0 {
		t.Errorf("a check wrote\n%s", calls)
	}
	s.Edit(recordsOf(aliasOf(networkBalancer), func(s *recordSpec) { s.AliasTarget.EvaluateTargetHealth = true }))
	kindtest.Settled(t, s)
	if got := zoneOfAlias(t, r); got != zone || strings.Contains(r.AWS.Since(mark).String(), "DescribeLoadBalancers") {
		t.Errorf("zone %s, want %s\n%s", got, zone, r.AWS.Since(mark))
	}
}

func TestAnAliasFindsNoLoadBalancerElsewhere(t *testing.T) {
	s, _ := recordSubject(t, recordsOf(aliasOf("shop-1.elb.eu-west-9.amazonaws.com")))
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonInvalidSpec || st.Field != "spec.aliasTarget.hostedZoneID" ||
		!strings.Contains(st.Message, "is in eu-west-9") {
		t.Errorf("got %v, want to be told to set the zone", err)
	}
	s, r := recordSubject(t, recordsOf(aliasOf("shop-2.elb."+kindtest.Region+".amazonaws.com")))
	makeBalancer(t, r)
	if _, err := s.Settle(t.Context(), nil); err == nil {
		t.Error("a load balancer of the same name and another identifier was taken for the target")
	}
	if found, _ := ofWWW(t, r); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// An alias without its zone cannot be written, so that a denied look at the load balancer writes nothing.
func TestAnAliasNamesTheRightThatItsZoneNeeds(t *testing.T) {
	s, r := recordSubject(t, recordsOf(aliasOf(networkBalancer)))
	makeBalancer(t, r)
	mark := r.AWS.Mark()
	look := r.AWS.Fault(emulator.Match{Service: "elasticloadbalancing", Op: "DescribeLoadBalancers", Times: 1},
		emulator.Fail(403, "AccessDenied", "not authorized"))
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonAccessDenied || !strings.Contains(st.Message, findBalancers) ||
		look.Hits() != 1 {
		t.Errorf("got %v, want to be told to allow %s", err, findBalancers)
	}
	if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
		t.Errorf("written to:\n%s", w)
	}
	kindtest.Settled(t, s)
}

// The alias to another load balancer takes that one's zone, whatever it led to before.
func TestAnAliasTakesTheZoneOfItsNextTarget(t *testing.T) {
	s, r := recordSubject(t, recordsOf(aliasOf(loadBalancer)))
	makeBalancer(t, r)
	kindtest.Settled(t, s)
	first := zoneOfAlias(t, r)
	s.Edit(recordsOf(aliasOf(networkBalancer)))
	kindtest.Settled(t, s)
	if second := zoneOfAlias(t, r); first != "Z32O12XQLNTSW2" || second == first || second == "" {
		t.Errorf("from %s to %s", first, second)
	}
	s.Deleting = true
	kindtest.Settled(t, s)
	if left := records(t, r); len(left) > 0 {
		t.Errorf("left behind: %+v", left)
	}
}
