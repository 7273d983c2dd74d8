// SPDX-License-Identifier: Apache-2.0

package wellknown_test

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

func TestBalancerOf_ReadsNamesOfLoadBalancers(t *testing.T) {
	for name, want := range map[string]struct {
		wellknown.Balancer
		zone string
	}{
		"k8s-shop-1a2b3c4d5e-1234567890.eu-west-1.elb.amazonaws.com": {wellknown.Balancer{Name: "k8s-shop-1a2b3c4d5e", Region: "eu-west-1"},
			"Z32O12XQLNTSW2"},
		"dualstack.internal-Shop-1.eu-west-1.elb.amazonaws.com.": {wellknown.Balancer{Name: "Shop", Region: "eu-west-1"}, "Z32O12XQLNTSW2"},
		"shop-1.cn-north-1.elb.amazonaws.com.cn":                 {wellknown.Balancer{Name: "shop", Region: "cn-north-1"}, "Z1GDH35T77C1KE"},
		"shop-1.eusc-de-east-1.elb.amazonaws.eu":                 {wellknown.Balancer{Name: "shop", Region: "eusc-de-east-1"}, ""},
		"shop-0123456789abcdef.elb.eu-west-1.amazonaws.com":      {wellknown.Balancer{Name: "shop", Region: "eu-west-1", Network: true}, ""},
		"shop-0123456789abcdef.elb.cn-northwest-1.amazonaws.com.cn": {wellknown.Balancer{Name: "shop", Region: "cn-northwest-1",
			Network: true}, ""},
		"lb.example.net":                              {},
		"d111111abcdef8.cloudfront.net":               {},
		"shop-1.eu-west-1.elb.amazonaws.com.evil.io.": {},
		"a.shop-1.eu-west-1.elb.amazonaws.com":        {},
	} {
		b, ok := wellknown.BalancerOf(name)
		if b != want.Balancer || ok != (want.Name != "") || b.HostedZone() != want.zone {
			t.Errorf("%s: %+v %q", name, b, b.HostedZone())
		}
	}
}
