// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Where the schema gives the order of replacement, the message gives the steps for a person.
func TestReplacement_FollowsTheOrderOfTheType(t *testing.T) {
	for _, row := range []struct {
		typeName, before, after string
		says                    []string
	}{
		{"AWS::EC2::LocalGatewayRouteTable", `{"LocalGatewayId":"lgw-1","Mode":"coip"}`, `{"LocalGatewayId":"lgw-1","Mode":"direct-vpc-routing"}`,
			[]string{"Properties.Mode cannot be changed in place: want direct-vpc-routing, have coip; declare what exists, or replace the resource",
				"only when the old one is gone: delete this object with deletionPolicy: Delete, wait until it is gone, and create another"}},
		{"AWS::BedrockAgentCore::RuntimeEndpoint", `{"AgentRuntimeId":"shop-1234567890","Name":"live"}`,
			`{"AgentRuntimeId":"shop-1234567890","Name":"next"}`,
			[]string{"The new one can be created before the old one is deleted: create another object, let what uses this resource use the new one, and delete this object"}},
		{"AWS::EKS::AccessEntry", `{"ClusterName":"shop","PrincipalArn":"arn:aws:iam::123456789012:user/ann","Type":"STANDARD"}`,
			`{"ClusterName":"shop","PrincipalArn":"arn:aws:iam::123456789012:user/ann","Type":"EC2_LINUX"}`,
			[]string{"create another object with another PrincipalArn or ClusterName, let"}},
		{"AWS::Location::Tracker", `{"TrackerName":"vans","KmsKeyId":"alias/shop"}`, `{"TrackerName":"vans","KmsKeyId":"alias/vans"}`,
			[]string{"; declare what exists, or delete this object and create another"}},
	} {
		t.Run(row.typeName, func(t *testing.T) {
			b := bundledBench(t, resourceOf(row.typeName, row.before))
			kindtest.Settled(t, b.Subject)
			b.edit(row.after)
			text := b.stalls(status.ReasonImmutable)
			for _, want := range row.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s\ndoes not say: %s", text, want)
				}
			}
		})
	}
}
