// SPDX-License-Identifier: Apache-2.0

// Package elb holds the emulator's facts and corrections for Elastic Load Balancing.
package elb

import (
	"bytes"
	"context"
	"net/http"
	"regexp"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service keeps nothing: moto has all that is needed.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "elasticloadbalancing",
		Requests: proxy.RequestFacts{Keys: []string{"Name", "LoadBalancerArn", "TargetGroupArn"}},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{
				"":                     {Status: http.StatusBadRequest, Code: "LoadBalancerNotFound", Message: "Load balancer '%s' not found"},
				"DescribeTargetGroups": {Status: http.StatusBadRequest, Code: "TargetGroupNotFound", Message: "Target group '%s' not found"},
			},
			Throttled: proxy.RateExceeded,
		},
		Writes: proxy.WriteFacts{TagReads: []proxy.TagRead{{Op: "DescribeTags", Where: "Tags"}}},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{{Name: "names of Network Load Balancers", Ops: []string{"CreateLoadBalancer", "DescribeLoadBalancers"},
		After: s.nameNetworkBalancers}}
}

var (
	balancerARN = []byte("<LoadBalancerArn>")
	networkType = []byte("<Type>network</Type>")
	balancerDNS = regexp.MustCompile(`<DNSName>([^<]*)\.([a-z0-9-]+)\.elb\.amazonaws\.com</DNSName>`)
)

// nameNetworkBalancers: moto names Network Load Balancers as it names Application Load Balancers. In AWS, elb stands before the region.
// https://docs.aws.amazon.com/elasticloadbalancing/latest/network/network-load-balancers.html
func (s *Service) nameNetworkBalancers(_ context.Context, _ *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	parts := bytes.Split(a.Body, balancerARN)
	for i, part := range parts {
		if bytes.Contains(part, networkType) {
			parts[i] = balancerDNS.ReplaceAll(part, []byte("<DNSName>$1.elb.$2.amazonaws.com</DNSName>"))
		}
	}
	return a.WithBody(bytes.Join(parts, balancerARN))
}
