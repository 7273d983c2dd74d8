// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_RotationRulesType.html
func TestRotation_AnEditKeepsTheWindow(t *testing.T) {
	change := func(found types.RotationRulesType) *types.RotationRulesType {
		return kindtest.Request[secretsmanager.RotateSecretInput](t, engine.For(NewSecret), secretOf(capability, rotates(function, 30)),
			secretOf(capability, rotates(function, 60)), nil, func(output any) {
				if d, ok := output.(*secretsmanager.DescribeSecretOutput); ok {
					d.RotationRules = &found
				}
			}).RotationRules
	}
	if got := change(types.RotationRulesType{AutomaticallyAfterDays: aws.Int64(30),
		Duration: aws.String("3h")}); aws.ToString(got.Duration) != "3h" || *got.AutomaticallyAfterDays != 60 {
		t.Errorf("the window is lost: %+v", got)
	}
	// The window of an expression may begin too late to fit into a day that begins at midnight.
	got := change(types.RotationRulesType{AutomaticallyAfterDays: aws.Int64(30), ScheduleExpression: aws.String("cron(0 10 1 * ? *)"),
		Duration: aws.String("3h")})
	if got.Duration != nil || got.ScheduleExpression != nil {
		t.Errorf("the window of another schedule is kept: %+v", got)
	}
}
