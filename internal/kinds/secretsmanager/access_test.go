// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	function  = "arn:aws:lambda:" + kindtest.Region + ":" + kindtest.Account + ":function:SecretsManagerRotation"
	putPolicy = "secretsmanager:PutResourcePolicy"
	noPolicy  = "secretsmanager:DeleteResourcePolicy"
	rotate    = "secretsmanager:RotateSecret"
	cancel    = "secretsmanager:CancelRotateSecret"
)

// reader is a policy, and reader2 the same in other words.
var (
	reader  = allow(`"secretsmanager:GetSecretValue"`)
	reader2 = allow(`["secretsmanager:getsecretvalue"]`)
	lister  = allow(`"secretsmanager:DescribeSecret"`)
)

func allow(action string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + kindtest.Account +
		`:root"},"Action":` + action + `,"Resource":"*"}]}`
}

func binary(s *spec) { s.SecretBinaryRef = &v1alpha1.SecretKeyReference{Name: "k8s", Key: "value"} }

func policy(document string) func(s *spec) {
	return func(s *spec) { s.ResourcePolicy = &document }
}

func rotates(lambda string, days int64) func(s *spec) {
	return func(s *spec) { s.Rotation = &v1alpha1.SecretRotation{LambdaARN: lambda, AutomaticallyAfterDays: &days} }
}

func noRotation(s *spec) { s.Rotation = &v1alpha1.SecretRotation{} }

func accessRows() []kindtest.Case {
	theirs := func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutResourcePolicy(t.Context(),
			&secretsmanager.PutResourcePolicyInput{SecretId: aws.String(name), ResourcePolicy: aws.String(lister)})
		kindtest.Must(t, err)
	}
	canceled := func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CancelRotateSecret(t.Context(), &secretsmanager.CancelRotateSecretInput{SecretId: aws.String(name)})
		kindtest.Must(t, err)
	}
	anyone := strings.Replace(reader, `{"AWS":"arn:aws:iam::`+kindtest.Account+`:root"}`, `"*"`, 1)
	return []kindtest.Case{
		{Name: "with a policy and a rotation", Object: secretOf(capability, policy(reader), rotates(function, 30)), Cause: engine.New,
			Actions: []string{create}},
		{Name: "a policy", Existing: secretOf(), Object: secretOf(policy(reader)), Cause: engine.Edited, Diff: []string{"Policy"},
			Actions: []string{putPolicy}},
		{Name: "another policy", Existing: secretOf(policy(reader)), Object: secretOf(policy(lister)), Cause: engine.Edited,
			Diff: []string{"Policy"}, Actions: []string{putPolicy}},
		{Name: "the same policy in other words", Existing: secretOf(policy(reader)), Object: secretOf(policy(reader2)), Cause: engine.InSync},
		{Name: "an empty policy removes it", Existing: secretOf(policy(reader)), Object: secretOf(policy("")), Cause: engine.Edited,
			Diff: []string{"Policy"}, Actions: []string{noPolicy}},
		{Name: "no policy is what there is", Existing: secretOf(), Object: secretOf(policy("")), Cause: engine.InSync},
		{Name: "a policy that is no longer declared stays", Existing: secretOf(policy(reader)), Object: secretOf(), Cause: engine.InSync},
		{Name: "a policy is restored", Existing: secretOf(policy(reader)), Object: secretOf(policy(reader)), Drift: true, Before: theirs,
			Cause: engine.Drifted, Diff: []string{"Policy"}, Actions: []string{putPolicy}},
		{Name: "a policy that is not one", Object: secretOf(policy("{")), Stalled: status.ReasonInvalidSpec},
		{Name: "a policy for everyone", Existing: secretOf(), Object: secretOf(policy(anyone)), OnRun: true, Stalled: status.ReasonRefusedByAWS},
		{Name: "a policy is judged after the restore", Existing: secretOf(policy(reader)), Object: secretOf(policy(lister)), Before: schedule,
			Cause: engine.Edited, Diff: []string{"ScheduledForDeletion"}, Actions: []string{restore}},

		{Name: "a rotation", Existing: secretOf(capability), Object: secretOf(capability, rotates(function, 30)),
			Cause: engine.Edited, Diff: []string{"Rotation.LambdaARN", "Rotation.Days"}, Actions: []string{rotate}},
		{Name: "another schedule", Existing: secretOf(capability, rotates(function, 30)), Object: secretOf(capability, rotates(function, 60)),
			Cause: engine.Edited, Diff: []string{"Rotation.Days"}, Actions: []string{rotate}},
		{Name: "another function", Existing: secretOf(capability, rotates(function, 30)), Object: secretOf(capability, rotates(function+"2", 30)),
			Cause: engine.Edited, Diff: []string{"Rotation.LambdaARN"}, Actions: []string{rotate}},
		{Name: "an empty rotation cancels it", Existing: secretOf(capability, rotates(function, 30)), Object: secretOf(capability, noRotation),
			Cause: engine.Edited, Diff: []string{"Rotation.LambdaARN"}, Actions: []string{cancel}},
		{Name: "no rotation is what there is", Existing: secretOf(capability), Object: secretOf(capability, noRotation), Cause: engine.InSync},
		{Name: "a rotation that is no longer declared stays", Existing: secretOf(capability, rotates(function, 30)), Object: secretOf(capability),
			Cause: engine.InSync},
		{Name: "a canceled rotation is restored", Existing: secretOf(capability, rotates(function, 30)),
			Object: secretOf(capability, rotates(function, 30)), Drift: true, Before: canceled,
			Cause: engine.Drifted, Diff: []string{"Rotation.LambdaARN", "Rotation.Days"}, Actions: []string{rotate}},
		{Name: "a rotated value stays", Existing: secretOf(source, rotates(function, 30)), Object: secretOf(source, rotates(function, 30)),
			Facts: with("v"), Drift: true,
			Before: person("rotated"), Cause: engine.InSync},
		{Name: "a function without a schedule", Object: secretOf(func(s *spec) { s.Rotation = &v1alpha1.SecretRotation{LambdaARN: function} }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a rotation by something else", Object: secretOf(rotates("arn:aws:sqs:eu-west-1:123456789012:queue", 30)),
			Stalled: status.ReasonInvalidSpec},

		{Name: "with bytes from a Kubernetes Secret", Object: secretOf(binary), Facts: with("\xff\x00"), Cause: engine.New,
			Actions: []string{create}},
		{Name: "the same bytes as text are another version", Existing: secretOf(source), Object: secretOf(binary), Facts: with("v"),
			Cause: engine.Edited, Diff: []string{"SourceVersion"}, Actions: []string{put}},
		{Name: "a person's value wins over the bytes", Existing: secretOf(binary), Object: secretOf(binary), Facts: with("\xff"), Drift: true,
			Before: person("p"), Cause: engine.InSync},
	}
}

// A rotation is turned on without rotating at once, and a public policy is never put.
func TestRotationsWaitAndPoliciesAreNotPublic(t *testing.T) {
	s := settled(t, secretOf(binary, policy(reader), rotates(function, 30)), with("\xff\x00"))
	for op, want := range map[string]string{"RotateSecret": `"RotateImmediately":false`, "PutResourcePolicy": `"BlockPublicPolicy":true`} {
		calls := s.Rig.AWS.Calls().Match("secretsmanager", op, "")
		if len(calls) != 1 || !strings.Contains(calls[0].Body, want) {
			t.Errorf("%s: want one call with %s:\n%s", op, want, calls)
		}
	}
	out, err := api(s.Rig).GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String(name)})
	kindtest.Must(t, err)
	if string(out.SecretBinary) != "\xff\x00" || out.SecretString != nil {
		t.Error("the value is not that of the source")
	}
	got := kindtest.Operations(s.Rig.AWS.Calls())
	delete(got, "GetSecretValue")
	want := map[string]int{"CreateSecret": 1, "PutResourcePolicy": 1, "RotateSecret": 1, "DescribeSecret": 2, "GetResourcePolicy": 2}
	if !maps.Equal(got, want) {
		t.Errorf("create took %v, want %v", got, want)
	}
	mark := s.Rig.AWS.Mark()
	settle(t, s)
	if got := s.Rig.AWS.Since(mark); got.Count() != 2 {
		t.Errorf("a check took %d calls, want 2:\n%s", got.Count(), got)
	}
}
