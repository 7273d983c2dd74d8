// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
)

// elbService keeps nothing: moto has all that is needed.
type elbService struct{ base }

func (s *elbService) Facts() *Facts {
	return &Facts{
		Prefix:   "elasticloadbalancing",
		Requests: RequestFacts{Keys: []string{"Name", "LoadBalancerArn", "TargetGroupArn"}},
		Errors: ErrorFacts{
			Missing: map[string]awsError{
				"":                     {http.StatusBadRequest, "LoadBalancerNotFound", "Load balancer '%s' not found"},
				"DescribeTargetGroups": {http.StatusBadRequest, "TargetGroupNotFound", "Target group '%s' not found"},
			},
			Throttled: rateExceeded,
		},
		Writes: WriteFacts{TagReads: []tagRead{{op: "DescribeTags", where: "Tags"}}},
	}
}

func (s *elbService) Corrections() []Correction {
	return []Correction{{Name: "names of Network Load Balancers", Ops: []string{"CreateLoadBalancer", "DescribeLoadBalancers"}, After: s.nameNetworkBalancers}}
}

var (
	balancerARN = []byte("<LoadBalancerArn>")
	networkType = []byte("<Type>network</Type>")
	balancerDNS = regexp.MustCompile(`<DNSName>([^<]*)\.([a-z0-9-]+)\.elb\.amazonaws\.com</DNSName>`)
)

// nameNetworkBalancers: moto names Network Load Balancers as it names Application Load Balancers. In AWS, elb stands before the region.
// https://docs.aws.amazon.com/elasticloadbalancing/latest/network/network-load-balancers.html
func (s *elbService) nameNetworkBalancers(_ context.Context, _ *exchange, a *answer) *answer {
	parts := bytes.Split(a.body, balancerARN)
	for i, part := range parts {
		if bytes.Contains(part, networkType) {
			parts[i] = balancerDNS.ReplaceAll(part, []byte("<DNSName>$1.elb.$2.amazonaws.com</DNSName>"))
		}
	}
	return a.withBody(bytes.Join(parts, balancerARN))
}
