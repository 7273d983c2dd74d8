// SPDX-License-Identifier: Apache-2.0

package route53_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	kindroute53 "github.com/nexus-operator/nexus-operator/internal/kinds/route53"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestHostedZone_ImportsReadWhatNoPartReads(t *testing.T) {
	kindtest.ReadsSeparately(t, kindroute53.NewHostedZone, kindroute53.HostedZoneState{ID: "Z1"}, []kindtest.Separate{
		{Setting: "dnssec", Operation: "Route 53 GetDNSSEC",
			Output: &route53.GetDNSSECOutput{Status: &types.DNSSECStatus{ServeSignature: aws.String("SIGNING")}}},
		{Setting: "queryLoggingConfig", Operation: "Route 53 ListQueryLoggingConfigs",
			Output: &route53.ListQueryLoggingConfigsOutput{QueryLoggingConfigs: make([]types.QueryLoggingConfig, 1)}},
	})
}
