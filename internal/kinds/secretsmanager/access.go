// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// declareAccess adds the resource policy and the rotation.
func declareAccess(in v1alpha1.SecretsManagerSecretSpec, want *SecretState) error {
	if policy := aws.ToString(in.ResourcePolicy); policy != "" {
		if _, err := iampolicy.ParseOfUser(policy); err != nil {
			return status.Invalid("spec.resourcePolicy", "%v", err)
		}
	}
	want.Policy = in.ResourcePolicy
	if in.Rotation != nil {
		want.Rotation = &Rotation{LambdaARN: in.Rotation.LambdaARN, Days: in.Rotation.AutomaticallyAfterDays}
	}
	return nil
}

// accessParts come after the value: a rotation needs one.
func (s *secret) accessParts() []kind.Part[SecretState] {
	return []kind.Part[SecretState]{
		{Fields: []string{"Policy"}, Reads: "secretsmanager:GetResourcePolicy", Read: s.readPolicy,
			Write: kind.Call[SecretState]{Action: "secretsmanager:PutResourcePolicy", Do: kind.Send(s.api.PutResourcePolicy, func(want, _ SecretState) *secretsmanager.PutResourcePolicyInput {
				return &secretsmanager.PutResourcePolicyInput{SecretId: &want.Name, ResourcePolicy: want.Policy, BlockPublicPolicy: aws.Bool(true)}
			})},
			Clear: kind.Call[SecretState]{Action: "secretsmanager:DeleteResourcePolicy", Do: kind.Send(s.api.DeleteResourcePolicy, func(want, _ SecretState) *secretsmanager.DeleteResourcePolicyInput {
				return &secretsmanager.DeleteResourcePolicyInput{SecretId: &want.Name}
			})}},
		// Rotating at once would replace a value that the object may have put in the same pass.
		{Fields: []string{"Rotation"},
			Write: kind.Call[SecretState]{Action: "secretsmanager:RotateSecret", Do: kind.Send(s.api.RotateSecret, func(want, have SecretState) *secretsmanager.RotateSecretInput {
				return &secretsmanager.RotateSecretInput{SecretId: &want.Name, RotationLambdaARN: &want.Rotation.LambdaARN, RotateImmediately: aws.Bool(false),
					RotationRules: &types.RotationRulesType{AutomaticallyAfterDays: want.Rotation.Days, Duration: kind.NonNil(have.Rotation).Window}}
			})},
			Clear: kind.Call[SecretState]{Action: "secretsmanager:CancelRotateSecret", Do: kind.Send(s.api.CancelRotateSecret, func(want, _ SecretState) *secretsmanager.CancelRotateSecretInput {
				return &secretsmanager.CancelRotateSecretInput{SecretId: &want.Name}
			})}},
	}
}

// readPolicy does not read the policy of a secret in its recovery window, which AWS does not show: it is judged after the restore.
func (s *secret) readPolicy(ctx context.Context, want SecretState, have *SecretState) error {
	if aws.ToBool(have.ScheduledForDeletion) {
		have.Policy = want.Policy
		return nil
	}
	out, err := s.api.GetResourcePolicy(ctx, &secretsmanager.GetResourcePolicyInput{SecretId: &want.Name})
	if err == nil {
		have.Policy = aws.String(aws.ToString(out.ResourcePolicy))
	}
	return err
}

// fromRotation: Secrets Manager describes the function and the schedule of a canceled rotation, too. The window of an expression begins
// at its hour, one of days at midnight, so that only the latter is kept.
func fromRotation(d *secretsmanager.DescribeSecretOutput) *Rotation {
	rules := kind.NonNil(d.RotationRules)
	found := Rotation{aws.ToString(d.RotationLambdaARN), rules.AutomaticallyAfterDays, kind.Either(rules.ScheduleExpression == nil, rules.Duration, nil)}
	return kind.Ptr(kind.Either(aws.ToBool(d.RotationEnabled), found, Rotation{}))
}
