// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
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
		{"commands on instances by their tags", "AWS::SSM::Association", list("AWS::SSM::*"), nil, "exact name"},
		{"backups by tags", "AWS::Backup::BackupSelection", list("AWS::Backup::*"), nil, "exact name"},
		{"a type with a kind", "AWS::S3::Bucket", list("AWS::S3::*"), nil, "kind S3Bucket"},
		{"a type with a kind by name", "AWS::S3::Bucket", list("AWS::S3::Bucket"), nil, ""},
	} {
		err := checkConsent(&kind.AllowedTypes{Operator: c.operator, Provider: c.provider,
			Kinds: map[string]string{"AWS::S3::Bucket": "S3Bucket"}}, c.typeName)
		s, refused := status.AsStalled(err)
		if refused != (c.says != "") || refused && (s.Reason != status.ReasonNotPermitted || !strings.Contains(s.Message, c.says)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A property that names a role is subject to the provider's rules for roles, at any place.
func TestRoles_AreThoseOfTheProvider(t *testing.T) {
	const (
		machine, launch, template = "AWS::StepFunctions::StateMachine", "AWS::AutoScaling::LaunchConfiguration", "AWS::EC2::LaunchTemplate"
		builder, agents           = "AWS::ImageBuilder::InfrastructureConfiguration", "AWS::SecurityAgent::AgentSpace"
	)
	types, _ := bundledTypes(t)
	for _, c := range []struct{ typeName, path, properties, field string }{
		{machine, "/team/", `{"RoleArn":"arn:aws:iam::123456789012:role/admin","DefinitionString":"{}"}`, "RoleArn"},
		{machine, "/team/", `{"RoleArn":"arn:aws:iam::210987654321:role/team/a","DefinitionString":"{}"}`, "RoleArn"},
		{machine, "/team/", `{"RoleArn":"arn:aws:iam::123456789012:role/team/a","DefinitionString":"{\"R\":\"arn:aws:iam::123456789012:role/x\"}"}`, "DefinitionString"},
		{machine, "/team/", `{"RoleArn":"admin","DefinitionString":"{}"}`, "RoleArn"},
		{machine, "/team/", `{"RoleArn":"arn:aws:iam::123456789012:role/team/a","DefinitionString":"{}"}`, ""},
		{machine, "/team/", `{"RoleArn":"arn:aws:iam::123456789012:role/team/a","DefinitionString":"{\"P\":\"arn:aws:iam::123456789012:instance-profile/team/a\"}"}`, "DefinitionString"},
		{launch, "/team/", `{"ImageId":"ami-1","InstanceType":"t3.nano","IamInstanceProfile":"admin"}`, "IamInstanceProfile"},
		{launch, "/", `{"ImageId":"ami-1","InstanceType":"t3.nano","IamInstanceProfile":"admin"}`, ""},
		{launch, "", `{"ImageId":"ami-1","InstanceType":"t3.nano","IamInstanceProfile":"admin"}`, "IamInstanceProfile"},
		{launch, "", `{"ImageId":"ami-1","InstanceType":"t3.nano"}`, ""},
		{template, "/team/", `{"LaunchTemplateName":"a-template","LaunchTemplateData":{"IamInstanceProfile":{"Name":"admin"}}}`,
			"LaunchTemplateData.IamInstanceProfile.Name"},
		{template, "/team/", `{"LaunchTemplateName":"a-template","LaunchTemplateData":{"IamInstanceProfile":{"Arn":"arn:aws:iam::123456789012:instance-profile/team/a"}}}`, "LaunchTemplateData.IamInstanceProfile.Arn"},
		{builder, "/team/", `{"Name":"images","InstanceProfileName":"admin"}`, "InstanceProfileName"},
		{builder, "/team/", `{"Name":"images","InstanceProfileName":{"$ref":"IAMRole/worker","field":"status.id"}}`, "InstanceProfileName"},
		{builder, "/team/", `{"Name":"images","InstanceProfileName":{"$ref":"IAMRole/worker","field":"status.instanceProfileName"}}`, ""},
		{agents, "/team/", `{"Name":"a","AwsResources":{"IamRoles":["admin"]}}`, "AwsResources.IamRoles[*]"},
		{agents, "/team/", `{"Name":"a","AwsResources":{"IamRoles":["arn:aws:iam::123456789012:role/team/a"]}}`, ""},
		{"AWS::DMS::InstanceProfile", "/team/", `{"InstanceProfileName":"a"}`, ""}, // no profile of IAM
	} {
		b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(c.typeName, c.properties)), types)
		b.RolePath = c.path
		b.Targets = map[string]kind.Target{"IAMRole/worker": {ID: "worker", ARN: "arn:aws:iam::123456789012:role/worker",
			Attributes: map[string]string{"instanceProfileName": "workers"}}}
		_, err := b.Settle(t.Context(), nil)
		s, refused := status.AsStalled(err)
		if refused != (c.field != "") || refused && (s.Reason != status.ReasonNotPermitted || s.Field != "spec.properties."+c.field) ||
			err != nil && !refused {
			t.Errorf("%s %s: %v", c.typeName, c.properties, err)
		}
	}
}

// Not every role is one of IAM.
func TestRoles_AreThoseOfIAM(t *testing.T) {
	_, schemaOf := bundledTypes(t)
	for path, typeName := range map[string]string{
		"Triggers.PullRequestBuildPolicy.ApproverRoles[*]":    "AWS::CodeBuild::Project",
		"EncoderSettings.AudioDescriptions.AudioDashRoles[*]": "AWS::MediaLive::Channel",
		"Roles[*].Value": "AWS::IdentityStore::User",
	} {
		if found := actingAs(schemaOf(typeName), awsschema.PathOf(path), "admin"); len(found) > 0 {
			t.Errorf("%s %s: %+v", typeName, path, found)
		}
	}
}
