// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestConsent_IsTheAdministrators(t *testing.T) {
	list := func(patterns ...string) []string { return patterns }
	for _, c := range []struct {
		name, typeName     string
		operator, provider []string
		says               string // empty where the type is allowed
	}{
		{"nothing is allowed by default", stream, nil, nil, "--types"},
		{"by name", stream, list(stream), nil, ""},
		{"by service", stream, list("AWS::Kinesis::*"), nil, ""},
		{"another service", stream, list("AWS::KinesisFirehose::*"), nil, "--types"},
		{"the provider narrows", stream, list("AWS::Kinesis::*"), list("AWS::Logs::*"), "spec.types"},
		{"the provider does not widen", metricFilter, list("AWS::Kinesis::*"), list("AWS::Logs::*"), "--types"},
		{"both allow", stream, list("AWS::Kinesis::*"), list(stream), ""},
		{"IAM by service", "AWS::IAM::User", list("AWS::IAM::*"), nil, "exact name"},
		{"IAM by name", "AWS::IAM::User", list("AWS::IAM::User"), nil, ""},
		{"IAM by name, and the provider by service", "AWS::IAM::User", list("AWS::IAM::User"), list("AWS::IAM::*"), "exact name"},
		{"a stack by service", "AWS::CloudFormation::Stack", list("AWS::CloudFormation::*"), nil, "exact name"},
		{"an account by service", "AWS::Organizations::Account", list("AWS::Organizations::*"), nil, "exact name"},
		{"a permission set by service", "AWS::SSO::PermissionSet", list("AWS::SSO::*"), nil, "exact name"},
		{"a policy of a resource", "AWS::Kinesis::ResourcePolicy", list("AWS::Kinesis::*"), nil, "exact name"},
		{"a policy of a bucket", "AWS::S3::BucketPolicy", list("AWS::S3::*"), nil, "exact name"},
		{"a permission of a function", "AWS::Lambda::Permission", list("AWS::Lambda::*"), nil, "exact name"},
		{"a type with a kind", "AWS::S3::Bucket", list("AWS::S3::*"), nil, "kind S3Bucket"},
		{"a type with a kind by name", "AWS::S3::Bucket", list("AWS::S3::Bucket"), nil, ""},
	} {
		err := checkConsent(&kind.AllowedTypes{Operator: c.operator, Provider: c.provider, Kinds: map[string]string{"AWS::S3::Bucket": "S3Bucket"}}, c.typeName)
		s, refused := status.AsStalled(err)
		if refused != (c.says != "") || refused && (s.Reason != status.ReasonNotPermitted || !strings.Contains(s.Message, c.says)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A property that names a role is subject to what the provider says of roles, wherever it stands.
func TestRoles_AreThoseOfTheProvider(t *testing.T) {
	const machine = "AWS::StepFunctions::StateMachine"
	for properties, field := range map[string]string{
		`{"RoleArn":"arn:aws:iam::123456789012:role/admin","DefinitionString":"{}"}`:                                            "spec.properties.RoleArn",
		`{"RoleArn":"arn:aws:iam::210987654321:role/team/a","DefinitionString":"{}"}`:                                           "spec.properties.RoleArn",
		`{"RoleArn":"arn:aws:iam::123456789012:role/team/a","DefinitionString":"{\"R\":\"arn:aws:iam::123456789012:role/x\"}"}`: "spec.properties.DefinitionString",
		`{"RoleArn":"admin","DefinitionString":"{}"}`:                                                                           "spec.properties.RoleArn",
		`{"RoleArn":"arn:aws:iam::123456789012:role/team/a","DefinitionString":"{}"}`:                                           "",
	} {
		b := newBench(t, resourceOf(machine, properties))
		b.RolePath = "/team/"
		_, err := b.Settle(t.Context(), nil)
		s, refused := status.AsStalled(err)
		if refused != (field != "") || refused && (s.Reason != status.ReasonNotPermitted || s.Field != field) || err != nil && !refused {
			t.Errorf("%s: %v", properties, err)
		}
	}
}
