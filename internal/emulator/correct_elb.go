// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"regexp"
)

var (
	balancerARN = []byte("<LoadBalancerArn>")
	networkType = []byte("<Type>network</Type>")
	balancerDNS = regexp.MustCompile(`<DNSName>([^<]*)\.([a-z0-9-]+)\.elb\.amazonaws\.com</DNSName>`)
)

// nameNetworkBalancers: moto names Network Load Balancers as it names Application Load Balancers. In AWS, elb stands before the region.
// https://docs.aws.amazon.com/elasticloadbalancing/latest/network/network-load-balancers.html
func nameNetworkBalancers(_ context.Context, _ *Proxy, _ *exchange, a *answer) *answer {
	parts := bytes.Split(a.body, balancerARN)
	for i, part := range parts {
		if bytes.Contains(part, networkType) {
			parts[i] = balancerDNS.ReplaceAll(part, []byte("<DNSName>$1.elb.$2.amazonaws.com</DNSName>"))
		}
	}
	return a.withBody(bytes.Join(parts, balancerARN))
}
