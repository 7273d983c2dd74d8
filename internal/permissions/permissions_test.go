// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func statementOf(t *testing.T, documents []iampolicy.Document, action string) iampolicy.Statement {
	t.Helper()
	for _, d := range documents {
		for _, s := range d.Statement {
			if slices.Contains(s.Action, action) {
				return s
			}
		}
	}
	t.Fatalf("nothing allows %s", action)
	return iampolicy.Statement{}
}

// takenBy returns the kinds that take one of the actions and no other kind does, with their facts and those of the actions that they take.
// Other actions have no facts.
func takenBy(actions []string) (out []kind.Meta) {
	takers, taken := map[string]int{}, map[string]bool{}
	for _, e := range catalog.Kinds() {
		for _, action := range actionsOf([]kind.Meta{e.Meta()}) {
			takers[action]++
		}
	}
	for _, e := range catalog.Kinds() {
		m, alone := kind.Meta{Facts: e.Meta().Facts}, false
		for _, action := range actionsOf([]kind.Meta{e.Meta()}) {
			if slices.Contains(actions, action) {
				m.Writes = append(m.Writes, action)
				alone = alone || takers[action] == 1
			}
		}
		for _, action := range m.Writes {
			taken[action] = taken[action] || alone
		}
		if alone {
			out = append(out, m)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(actions), func(action string) bool { return taken[action] })
	return append(out, kind.Meta{Writes: rest})
}

// operator returns the policies for actions of any kinds.
func operator(t *testing.T, metas []kind.Meta, scope Scope) ([]iampolicy.Document, []string, error) {
	t.Helper()
	return Operator(takenBy(actionsOf(metas)), scope)
}

func TestOperator_LimitsActionsByNameTagAndBoundary(t *testing.T) {
	scope := Scope{Region: "eu-west-1", Account: "123456789012", NamePrefix: "team-", RolePath: "/teams/",
		Boundary: "arn:aws:iam::123456789012:policy/b"}
	documents, _, err := operator(t, []kind.Meta{{
		Reads: []string{"s3:ListAllMyBuckets", "ssm:DescribeParameters", "ec2:DescribeVpcs", "iam:GetRole", "iam:GetOpenIDConnectProvider",
			"cognito-idp:ListUserPools", "logs:DescribeLogGroups"},
		Writes: []string{"s3:CreateBucket", "s3:DeleteObjectVersion", "s3:PutBucketObjectLockConfiguration", "dynamodb:CreateTable",
			"ecs:CreateCluster", "ecs:UpdateCluster", "elasticache:CreateCacheCluster", "elasticache:DeleteCacheCluster",
			"elasticache:ModifyCacheCluster", "elasticache:AddTagsToResource", "lambda:CreateFunction", "iam:CreateRole",
			"iam:CreateInstanceProfile", "glue:CreateCrawler", "glue:CreateTable", "ssm:PutParameter", "secretsmanager:CreateSecret",
			"secretsmanager:PutSecretValue", "secretsmanager:RotateSecret", "ec2:CreateVpc", "ec2:DeleteVpc", "ec2:CreateTags", "ec2:DeleteSubnet",
			"ec2:AllocateAddress", "ec2:CreateNatGateway", "ec2:DeleteNatGateway", "ec2:ReleaseAddress", "ec2:ImportKeyPair", "ec2:DeleteKeyPair",
			"logs:DeleteLogGroup",
			"rds:CreateDBSubnetGroup", "rds:AddTagsToResource", "rds:DescribeDBInstances", "rds:CreateDBInstance", "rds:DeleteDBInstance",
			"sqs:CreateQueue", "route53:CreateHostedZone", "route53:DeleteHostedZone", "route53:GetChange", "ecr:CreateRepository",
			"sns:Unsubscribe", "sns:SetSubscriptionAttributes", "acm:RequestCertificate", "acm:AddTagsToCertificate", "acm:DeleteCertificate", "kms:CreateKey", "kms:CreateAlias", "kms:ScheduleKeyDeletion", "kms:TagResource", "cognito-idp:CreateUserPool", "cognito-idp:CreateGroup", "cognito-idp:DeleteUserPool"},
		Optional: []string{"ssm:GetServiceSetting"},
	}}, scope)
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]string{
		"s3:ListAllMyBuckets":            "[*] map[]",
		"ssm:DescribeParameters":         "[*] map[]",
		"ec2:DescribeVpcs":               "[*] map[]",
		"iam:GetRole":                    "[arn:aws:iam::123456789012:role/teams/team-*] map[]",
		"iam:GetOpenIDConnectProvider":   "[arn:aws:iam::123456789012:oidc-provider/*] map[]",
		"s3:CreateBucket":                "[arn:aws:s3:::team-*] map[]",
		"s3:DeleteObjectVersion":         "[arn:aws:s3:::team-*/*] map[]",
		"dynamodb:CreateTable":           "[arn:aws:dynamodb:eu-west-1:123456789012:table/team-*] map[]",
		"iam:CreateRole":                 "[arn:aws:iam::123456789012:role/teams/team-*] map[StringEquals:map[iam:PermissionsBoundary:[arn:aws:iam::123456789012:policy/b]]]",
		"iam:CreateInstanceProfile":      "[arn:aws:iam::123456789012:instance-profile/teams/team-*] map[]",
		"iam:PassRole":                   "[arn:aws:iam::123456789012:role/teams/team-*] map[StringEquals:map[iam:PassedToService:[glue.amazonaws.com]]]",
		"glue:CreateCrawler":             "[*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ssm:PutParameter":               "[arn:aws:ssm:eu-west-1:123456789012:parameter/team-*] map[]",
		"ssm:GetServiceSetting":          "[arn:aws:ssm:eu-west-1:123456789012:servicesetting/ssm/parameter-store/*] map[]",
		"lambda:InvokeFunction":          "[arn:aws:lambda:eu-west-1:123456789012:function:SecretsManager*] map[]",
		"kms:CreateKey":                  "[*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"acm:RequestCertificate":         "[*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"acm:AddTagsToCertificate":       "[arn:aws:acm:eu-west-1:123456789012:certificate/*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"acm:DeleteCertificate":          "[arn:aws:acm:eu-west-1:123456789012:certificate/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"kms:CreateAlias":                "[arn:aws:kms:eu-west-1:123456789012:alias/team-*] map[]",
		"kms:TagResource":                "[*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"kms:ScheduleKeyDeletion":        "[arn:aws:kms:eu-west-1:123456789012:key/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"cognito-idp:ListUserPools":      "[*] map[]",
		"cognito-idp:CreateUserPool":     "[*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"cognito-idp:CreateGroup":        "[arn:aws:cognito-idp:eu-west-1:123456789012:userpool/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"cognito-idp:DeleteUserPool":     "[arn:aws:cognito-idp:eu-west-1:123456789012:userpool/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"sns:Unsubscribe":                "[*] map[]",
		"sqs:CreateQueue":                "[arn:aws:sqs:eu-west-1:123456789012:team-*] map[]",
		"logs:DeleteLogGroup":            "[arn:aws:logs:eu-west-1:123456789012:log-group:team-*] map[]",
		"logs:DescribeLogGroups":         "[*] map[]",
		"route53:CreateHostedZone":       "[*] map[]",
		"route53:GetChange":              "[arn:aws:route53:::change/*] map[]",
		"route53:DeleteHostedZone":       "[arn:aws:route53:::hostedzone/*] map[]",
		"lambda:CreateFunction":          "[arn:aws:lambda:eu-west-1:123456789012:function:team-*] map[]",
		"lambda:GetLayerVersion":         "[arn:aws:lambda:*:*:layer:*] map[]",
		"ecs:CreateCluster":              "[*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"elasticache:CreateCacheCluster": "[arn:aws:elasticache:eu-west-1:123456789012:cluster:team-* arn:aws:elasticache:eu-west-1:123456789012:parametergroup:* arn:aws:elasticache:eu-west-1:123456789012:subnetgroup:*] map[]",
		"elasticache:ModifyCacheCluster": "[arn:aws:elasticache:eu-west-1:123456789012:cluster:team-* arn:aws:elasticache:eu-west-1:123456789012:parametergroup:*] map[]",
		"elasticache:DeleteCacheCluster": "[arn:aws:elasticache:eu-west-1:123456789012:cluster:team-* arn:aws:elasticache:eu-west-1:123456789012:snapshot:*] map[]",
		"elasticache:AddTagsToResource":  "[arn:aws:elasticache:eu-west-1:123456789012:cluster:team-*] map[]",
		"ecs:UpdateCluster":              "[arn:aws:ecs:eu-west-1:123456789012:cluster/team-*] map[]",
		"ecr:CreateRepository":           "[arn:aws:ecr:eu-west-1:123456789012:repository/team-*] map[]",
		"secretsmanager:PutSecretValue":  "[arn:aws:secretsmanager:eu-west-1:123456789012:secret:team-*] map[]",
		"rds:CreateDBSubnetGroup":        "[arn:aws:rds:eu-west-1:123456789012:subgrp:team-*] map[]",
		"rds:AddTagsToResource":          "[arn:aws:rds:eu-west-1:123456789012:db:team-* arn:aws:rds:eu-west-1:123456789012:subgrp:team-*] map[]",
		"rds:DescribeDBInstances":        "[arn:aws:rds:eu-west-1:123456789012:db:*] map[]",
		"rds:CreateDBInstance":           "[arn:aws:rds:eu-west-1:123456789012:db:team-* arn:aws:rds:eu-west-1:123456789012:subgrp:* arn:aws:rds:eu-west-1:123456789012:og:* arn:aws:rds:eu-west-1:123456789012:pg:*] map[]",
		"rds:DeleteDBInstance":           "[arn:aws:rds:eu-west-1:123456789012:db:team-* arn:aws:rds:eu-west-1:123456789012:snapshot:*] map[]",
		"ec2:CreateVpc":                  "[arn:aws:ec2:eu-west-1:123456789012:vpc/*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ec2:DeleteNatGateway":           "[arn:aws:ec2:eu-west-1:123456789012:natgateway/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ec2:ImportKeyPair":              "[arn:aws:ec2:eu-west-1:123456789012:key-pair/*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ec2:DeleteKeyPair":              "[arn:aws:ec2:eu-west-1:123456789012:key-pair/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ec2:AllocateAddress":            "[arn:aws:ec2:eu-west-1:123456789012:elastic-ip/*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ec2:ReleaseAddress":             "[arn:aws:ec2:eu-west-1:123456789012:elastic-ip/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ec2:DeleteSubnet":               "[arn:aws:ec2:eu-west-1:123456789012:subnet/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"ec2:DeleteVpc":                  "[arn:aws:ec2:eu-west-1:123456789012:vpc/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",

		"s3:PutBucketObjectLockConfiguration": "[arn:aws:s3:::team-*] map[]",
	} {
		s := statementOf(t, documents, action)
		if got := fmt.Sprint([]string(s.Resource), s.Condition); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
	if r := strings.Join(statementOf(t, documents, "glue:CreateTable").Resource, " "); !strings.Contains(r, "catalog") ||
		!strings.Contains(r, ":database/team_*") || !strings.Contains(r, ":table/team-*/*") {
		t.Errorf("glue:CreateTable: %s", r)
	}
}

// DynamoDB and Secrets Manager need rights to the key that they encrypt with, and an action without encryption needs none.
func TestOperator_UsesItsKeysThroughTheServicesOnly(t *testing.T) {
	for region, want := range map[string]string{
		"eu-west-1":  "[arn:aws:kms:eu-west-1:*:key/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]] StringLike:map[kms:ViaService:[%s.eu-west-1.amazonaws.com]]]",
		"":           "[arn:aws:kms:*:*:key/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]] StringLike:map[kms:ViaService:[%s.*.amazonaws.com]]]",
		"cn-north-1": "[arn:aws-cn:kms:cn-north-1:*:key/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]] StringLike:map[kms:ViaService:[%s.cn-north-1.amazonaws.com.cn]]]",
	} {
		partition := ""
		if strings.HasPrefix(region, "cn-") {
			partition = "aws-cn"
		}
		for action, used := range map[string]string{"dynamodb:UpdateTable": "kms:CreateGrant",
			"secretsmanager:CreateSecret": "kms:GenerateDataKey", "sqs:CreateQueue": ""} {
			documents, _, err := operator(t, []kind.Meta{{Writes: []string{action}}}, Scope{Region: region, Partition: partition})
			if err != nil {
				t.Fatal(err)
			}
			if used == "" {
				if text, _ := Text(documents); strings.Contains(text, "kms:") {
					t.Errorf("%s: %s", action, text)
				}
				continue
			}
			service, _, _ := strings.Cut(action, ":")
			s := statementOf(t, documents, used)
			if got := fmt.Sprint([]string(s.Resource), s.Condition); got != fmt.Sprintf(want, service) {
				t.Errorf("%s: %s", action, got)
			}
		}
	}
}

func TestOperator_GivesTheRoleOfAReplicationToS3(t *testing.T) {
	documents, _, err := operator(t, []kind.Meta{{Reads: []string{"s3:GetReplicationConfiguration"},
		Writes: []string{"s3:PutReplicationConfiguration"}}},
		Scope{Account: "123456789012", NamePrefix: "team-", RolePath: "/teams/"})
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]string{
		"s3:GetReplicationConfiguration": "[arn:aws:s3:::team-*] map[]",
		"s3:PutReplicationConfiguration": "[arn:aws:s3:::team-*] map[]",
		"iam:PassRole":                   "[arn:aws:iam::123456789012:role/teams/team-*] map[StringEquals:map[iam:PassedToService:[s3.amazonaws.com]]]",
	} {
		s := statementOf(t, documents, action)
		if got := fmt.Sprint([]string(s.Resource), s.Condition); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
}

// AWS evaluates everything that a new instance is made of, and the role that it gets.
func TestOperator_AllowsNewInstancesOfAnyImage(t *testing.T) {
	documents, _, err := operator(t, []kind.Meta{{Reads: []string{"iam:GetInstanceProfile"},
		Writes: []string{"ec2:RunInstances", "ec2:StopInstances", "ec2:ModifyInstanceAttribute", "ec2:CreateTags"}}},
		Scope{Region: "eu-west-1", Account: "123456789012", RolePath: "/teams/"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, s := range documents[0].Statement {
		for _, action := range s.Action {
			got[action] = append(got[action], fmt.Sprint([]string(s.Resource), s.Condition))
		}
	}
	const arn, ours = "arn:aws:ec2:eu-west-1:123456789012:", "map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]"
	for action, want := range map[string][]string{
		"ec2:RunInstances": {"[" + arn + "instance/*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
			"[arn:aws:ec2:eu-west-1:*:image/* " + arn + "key-pair/* " + arn + "network-interface/* " + arn + "security-group/* " + arn +
				"subnet/* " + arn + "volume/*] map[]"},
		"ec2:StopInstances":           {"[" + arn + "instance/*] " + ours},
		"ec2:ModifyInstanceAttribute": {"[" + arn + "instance/*] " + ours, "[" + arn + "security-group/*] map[]"},
		"iam:GetInstanceProfile":      {"[arn:aws:iam::123456789012:instance-profile/*] map[]"},
		"iam:PassRole":                {"[arn:aws:iam::123456789012:role/teams/*] map[StringEquals:map[iam:PassedToService:[ec2.amazonaws.com]]]"},
	} {
		slices.Sort(got[action])
		slices.Sort(want)
		if !slices.Equal(got[action], want) {
			t.Errorf("%s:\n got %q\nwant %q", action, got[action], want)
		}
	}
	slices.Sort(got["ec2:CreateTags"])
	if want := []string{"[" + arn + "instance/* " + arn + "volume/*] map[StringEquals:map[ec2:CreateAction:[RunInstances]]]",
		"[" + arn + "instance/*] " + ours}; !slices.Equal(got["ec2:CreateTags"], want) {
		t.Errorf("tags: %q", got["ec2:CreateTags"])
	}
}

func TestOperator_TagsOthersResourcesOnlyToAdopt(t *testing.T) {
	metas := []kind.Meta{{Writes: []string{"ec2:CreateVpc", "ec2:CreateTags", "kms:CreateKey", "kms:TagResource", "kms:CreateAlias",
		"cognito-idp:UpdateUserPool",
		"acm:RequestCertificate", "acm:AddTagsToCertificate", "eks:CreatePodIdentityAssociation", "eks:TagResource"}}}
	for _, adopt := range []bool{false, true} {
		documents, _, err := operator(t, metas, Scope{Region: "eu-west-1", Account: "123456789012", Adopt: adopt})
		if err != nil {
			t.Fatal(err)
		}
		open := map[string]bool{}
		for _, s := range documents[0].Statement {
			for _, action := range s.Action {
				if len(s.Condition) == 0 && !strings.Contains(s.Resource[0], "alias/") {
					open[action] = true
				}
			}
		}
		for _, action := range []string{"ec2:CreateTags", "kms:TagResource", "kms:CreateAlias", "cognito-idp:UpdateUserPool",
			"acm:AddTagsToCertificate", "eks:TagResource"} {
			if open[action] != adopt {
				t.Errorf("adopting %t: %s is allowed on every resource: %t", adopt, action, open[action])
			}
		}
	}
}

// The names that services have in a partition, where they are not those of aws.
func TestOperator_NamesServicesAsThePartitionDoes(t *testing.T) {
	for partition, want := range map[string][2]string{"aws": {"ec2.amazonaws.com", "rds.*.amazonaws.com"},
		"aws-cn":     {"ec2.amazonaws.com.cn", "rds.*.amazonaws.com.cn"},
		"aws-us-gov": {"ec2.amazonaws.com", "rds.*.amazonaws.com"}, "aws-eusc": {"ec2.amazonaws.com", "rds.*.amazonaws.eu"}} {
		documents, _, err := operator(t, []kind.Meta{{Writes: []string{"ec2:AssociateIamInstanceProfile", "rds:CreateDBInstance"}}},
			Scope{Partition: partition})
		if err != nil {
			t.Fatal(err)
		}
		passed := statementOf(t, documents, "iam:PassRole").Condition["StringEquals"]["iam:PassedToService"]
		through := statementOf(t, documents, "kms:CreateGrant").Condition["StringLike"]["kms:ViaService"]
		if !slices.Equal(passed, want[:1]) || !slices.Equal(through, want[1:]) {
			t.Errorf("%s: %q %q", partition, passed, through)
		}
	}
}

func TestOperator_PassesRolesToTopicsAndUserPools(t *testing.T) {
	const roles = "arn:aws:iam::123456789012:role/"
	for action, want := range map[string][2]string{
		"sns:Subscribe": {"[arn:aws:sns:eu-west-1:123456789012:team-*] map[]",
			"[" + roles + "teams/team-*] map[StringEquals:map[iam:PassedToService:[sns.amazonaws.com]]]"},
		"cognito-idp:UpdateUserPool": {"[arn:aws:cognito-idp:eu-west-1:123456789012:userpool/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]", "[" + roles + "*] map[StringEquals:map[iam:PassedToService:[cognito-idp.amazonaws.com]]]"},
	} {
		documents, _, err := operator(t, []kind.Meta{{Writes: []string{action}}},
			Scope{Region: "eu-west-1", Account: "123456789012", NamePrefix: "team-", RolePath: "/teams/"})
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range []string{action, "iam:PassRole"} {
			s := statementOf(t, documents, a)
			if got := fmt.Sprint([]string(s.Resource), s.Condition); got != want[i] {
				t.Errorf("%s: %s, want %s", a, got, want[i])
			}
		}
	}
}

// AWS evaluates the VPC of a new subnet too, which need not be the operator's own.
func TestOperator_AllowsNewSubnetsInAnyVPC(t *testing.T) {
	documents, _, err := operator(t, []kind.Meta{{Writes: []string{"ec2:CreateSubnet", "ec2:CreateTags"}}},
		Scope{Region: "eu-west-1", Account: "123456789012"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range documents[0].Statement {
		if slices.Contains(s.Action, "ec2:CreateSubnet") {
			got = append(got, fmt.Sprint([]string(s.Resource), s.Condition))
		}
	}
	slices.Sort(got)
	if want := []string{"[arn:aws:ec2:eu-west-1:123456789012:subnet/*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"[arn:aws:ec2:eu-west-1:123456789012:vpc/*] map[]"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if tags := statementOf(t, documents, "ec2:CreateTags").Resource; !slices.Equal(tags,
		[]string{"arn:aws:ec2:eu-west-1:123456789012:subnet/*"}) {
		t.Errorf("tags: %q", tags)
	}
}

func TestOperator_RefusesServicesWhoseResourcesAreUnknown(t *testing.T) {
	if _, _, err := operator(t, []kind.Meta{{Writes: []string{"batch:CreateJobQueue"}}}, Scope{}); err == nil ||
		!strings.Contains(err.Error(), "batch:CreateJobQueue") {
		t.Errorf("got %v", err)
	}
}

func TestDocuments_AreSplitAtTheLimitOfAPolicy(t *testing.T) {
	g := grants{}
	for i := range 200 {
		g.add("s3:GetBucketPolicy", target{resources: []string{fmt.Sprintf("arn:aws:s3:::a-bucket-with-a-long-name-%d", i)}})
	}
	documents, err := g.documents()
	if err != nil || len(documents) < 3 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	statements := 0
	for i, d := range documents {
		text, err := d.Encode()
		if err != nil || len(text) > maxPolicy || i < len(documents)-1 && len(text) < maxPolicy*9/10 {
			t.Errorf("document %d has %d characters, %v", i, len(text), err)
		}
		statements += len(d.Statement)
	}
	if statements != 200 {
		t.Errorf("%d statements", statements)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("arn:aws:iam::123456789012:role/a-role-with-a-very-long-name-that-fills-a-policy-%d", i))
	}
	if _, _, err := operator(t, nil, Scope{AssumeRoles: many}); err == nil || !strings.Contains(err.Error(), "sts:AssumeRole") {
		t.Errorf("a statement that fits no policy: %v", err)
	}
}

func TestInstaller_ReachesOnlyWhatItInstalls(t *testing.T) {
	documents, err := Installer(Scope{Account: "123456789012", Role: "NexusAIOperatorRole", Repository: "nexus-operator"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		for _, s := range d.Statement {
			if s.Resource[0] == "*" && !slices.Equal(s.Action, []string{"ecr:GetAuthorizationToken", "iam:ListRoles"}) {
				t.Errorf("%v reach everything", s.Action)
			}
		}
	}
	if s := statementOf(t, documents,
		"iam:AttachRolePolicy"); fmt.Sprint(s.Condition) != "map[ArnLike:map[iam:PolicyARN:[arn:aws:iam::123456789012:policy/NexusAIOperatorRole*]]]" {
		t.Errorf("any policy can be attached: %v", s.Condition)
	}
}

func TestOperator_LimitsClustersOfEKSByName(t *testing.T) {
	documents, _, err := operator(t, []kind.Meta{{Writes: []string{"eks:CreateCluster", "eks:UpdateClusterVersion", "eks:UntagResource"}}},
		Scope{Region: "eu-west-1", Account: "123456789012", NamePrefix: "team-", EKSCluster: "c"})
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]string{
		"eks:CreateCluster":           "[*] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"eks:UpdateClusterVersion":    "[arn:aws:eks:eu-west-1:123456789012:cluster/team-*] map[]",
		"eks:UntagResource":           "[arn:aws:eks:eu-west-1:123456789012:cluster/team-*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"iam:PassRole":                "[arn:aws:iam::123456789012:role/team-*] map[StringEquals:map[iam:PassedToService:[eks.amazonaws.com]]]",
		"iam:CreateServiceLinkedRole": "[arn:aws:iam::123456789012:role/aws-service-role/eks.amazonaws.com/*] map[StringEquals:map[iam:AWSServiceName:[eks.amazonaws.com]]]",
		"kms:CreateGrant":             "[arn:aws:kms:eu-west-1:123456789012:key/*] map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]] StringLike:map[kms:ViaService:[eks.eu-west-1.amazonaws.com]]]",
	} {
		s := statementOf(t, documents, action)
		if got := fmt.Sprint([]string(s.Resource), s.Condition); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
}

func TestOperator_LimitsPodIdentityToTheCluster(t *testing.T) {
	documents, _, err := operator(t, []kind.Meta{{
		Reads:  []string{"eks:ListPodIdentityAssociations", "eks:DescribePodIdentityAssociation"},
		Writes: []string{"eks:CreatePodIdentityAssociation", "eks:TagResource", "eks:DeletePodIdentityAssociation"},
	}}, Scope{Region: "eu-west-1", Account: "123456789012", EKSCluster: "c", NamePrefix: "team-"})
	if err != nil {
		t.Fatal(err)
	}
	const associations = "[arn:aws:eks:eu-west-1:123456789012:podidentityassociation/c/*]"
	for action, want := range map[string]string{
		"eks:CreatePodIdentityAssociation":   "[arn:aws:eks:eu-west-1:123456789012:cluster/c] map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]",
		"eks:ListPodIdentityAssociations":    "[arn:aws:eks:eu-west-1:123456789012:cluster/c] map[]",
		"eks:DescribePodIdentityAssociation": associations + " map[]",
		"eks:TagResource":                    associations + " map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"eks:DeletePodIdentityAssociation":   associations + " map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
		"iam:PassRole":                       "[arn:aws:iam::123456789012:role/team-*] map[StringEquals:map[iam:PassedToService:[pods.eks.amazonaws.com]]]",
	} {
		s := statementOf(t, documents, action)
		if got := fmt.Sprint([]string(s.Resource), s.Condition); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
}
