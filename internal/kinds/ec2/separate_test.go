// SPDX-License-Identifier: Apache-2.0

package ec2_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	kindec2 "github.com/nexus-operator/nexus-operator/internal/kinds/ec2"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestInstance_ImportsReadWhatNoPartReads(t *testing.T) {
	kindtest.ReadsSeparately(t, kindec2.NewInstance,
		kindec2.InstanceState{Resource: kindec2.Resource{ID: "i-1"}, InstanceType: aws.String("t3.small")}, []kindtest.Separate{
			{Setting: "creditSpecification", Operation: "EC2 DescribeInstanceCreditSpecifications",
				Output: &ec2.DescribeInstanceCreditSpecificationsOutput{InstanceCreditSpecifications: []types.InstanceCreditSpecification{{CpuCredits: aws.String("standard")}}}},
			{Setting: "disableApiStop", Operation: "EC2 DescribeInstanceAttribute",
				Output: &ec2.DescribeInstanceAttributeOutput{DisableApiStop: &types.AttributeBooleanValue{Value: aws.Bool(true)}}},
			{Setting: "instanceInitiatedShutdownBehavior", Operation: "EC2 DescribeInstanceAttribute",
				Output: &ec2.DescribeInstanceAttributeOutput{InstanceInitiatedShutdownBehavior: &types.AttributeValue{Value: aws.String("terminate")}}},
		})
}
