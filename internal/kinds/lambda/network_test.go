// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// https://docs.aws.amazon.com/lambda/latest/api/API_VpcConfig.html
func TestNetwork_AnEditKeepsTheWayOutByIPv6(t *testing.T) {
	from, to := functionOf(reaches([]string{"subnet-0a"}, []string{"sg-0a"})), functionOf(reaches([]string{"subnet-0a"}, []string{"sg-0b"}))
	in := kindtest.Request[lambda.UpdateFunctionConfigurationInput](t, engine.For(NewFunction), from, to,
		func(s *kindtest.Subject) { withParents(t, s) }, func(output any) {
			if d, ok := output.(*lambda.GetFunctionOutput); ok && d.Configuration != nil {
				d.Configuration.VpcConfig = &types.VpcConfigResponse{SubnetIds: []string{"subnet-0a"}, SecurityGroupIds: []string{"sg-0a"},
					Ipv6AllowedForDualStack: aws.Bool(true)}
			}
		})
	if !aws.ToBool(in.VpcConfig.Ipv6AllowedForDualStack) || !slices.Equal(in.VpcConfig.SecurityGroupIds, []string{"sg-0b"}) {
		t.Errorf("%+v", in.VpcConfig)
	}
}
