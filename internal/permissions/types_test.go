// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// anyKind declares the rights of AWSResource.
var anyKind = []kind.Meta{{Writes: []string{anyCreate}}}

func teams(types ...string) Scope {
	return Scope{Region: "eu-west-1", Account: "123456789012", NamePrefix: "team-", RolePath: "/teams/", Types: types,
		TypedTypes: map[string]string{"AWS::S3::Bucket": "S3Bucket"}}
}

// targetsOf returns where the policies allow an action.
func targetsOf(documents []iampolicy.Document, action string) (out []string) {
	for _, d := range documents {
		for _, s := range d.Statement {
			if slices.Contains(s.Action, action) {
				out = append(out, fmt.Sprint([]string(s.Resource), s.Condition))
			}
		}
	}
	slices.Sort(out)
	return out
}

func printedFor(t *testing.T, scope Scope) ([]iampolicy.Document, string) {
	t.Helper()
	documents, notices, err := operator(t, anyKind, scope)
	if err != nil {
		t.Fatal(err)
	}
	return documents, strings.Join(notices, "\n")
}

const tagged, tags = "map[StringEquals:map[aws:ResourceTag/nexus.ai/managed-by:[nexus-operator]]]",
	"map[StringEquals:map[aws:RequestTag/nexus.ai/managed-by:[nexus-operator]]]"

// A role is passed to the service that acts as it for a type which a capability composes.
func TestTypes_RolesOfComposedTypesArePassedToTheirServices(t *testing.T) {
	for service, types := range map[string][]string{"bedrock": {"AWS::Bedrock::KnowledgeBase", "AWS::Bedrock::DataSource"},
		"bedrock-agentcore": {"AWS::BedrockAgentCore::Runtime", "AWS::BedrockAgentCore::Gateway"}} {
		documents, _ := printedFor(t, teams(types...))
		want := []string{"[arn:aws:iam::123456789012:role/teams/team-*] map[StringEquals:map[iam:PassedToService:[" + service +
			".amazonaws.com]]]"}
		if got := targetsOf(documents, passRole); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// Where one action is about the resources of many types, the operator changes the tags of its own ones of the type, also after the
// create. A create that names other resources only if the properties do is allowed without them, with the operator's tags. A list is
// about all.
func TestTypes_OfOneOfManyTypesAreLimitedToIt(t *testing.T) {
	documents, _ := printedFor(t, teams("AWS::Bedrock::Guardrail", "AWS::BedrockAgentCore::Memory"))
	const bedrock, core = "arn:aws:bedrock:eu-west-1:123456789012:", "arn:aws:bedrock-agentcore:eu-west-1:123456789012:"
	for action, want := range map[string]string{
		"bedrock:TagResource": "[" + bedrock + "guardrail/*] " + tagged, "bedrock:UntagResource": "[" + bedrock + "guardrail/*] " + tagged,
		"bedrock-agentcore:TagResource": "[" + core + "memory/*] " + tagged, "bedrock-agentcore:UntagResource": "[" + core + "memory/*] " +
			tagged,
		"bedrock:CreateGuardrail": "[*] " + tags, "bedrock:ListGuardrails": "[*] map[]",
		"bedrock:DeleteGuardrail": "[" + bedrock + "guardrail/*] " + tagged,
	} {
		got := targetsOf(documents, action)
		if !slices.Contains(got, want) {
			t.Errorf("%s: %v lack %s", action, got, want)
		}
		if strings.Contains(action, "Untag") && len(got) > 1 {
			t.Errorf("%s: %v", action, got)
		}
	}
}

func TestTypes_AreLimitedByNameTagAndPath(t *testing.T) {
	scope := teams("AWS::Kinesis::Stream", "AWS::EC2::PrefixList", "AWS::DSQL::Cluster", "AWS::StepFunctions::StateMachine")
	documents, notices := printedFor(t, scope)
	for action, want := range map[string][]string{
		anyCreate:                     {"[*] map[]"},
		"kinesis:CreateStream":        {"[arn:aws:kinesis:eu-west-1:123456789012:stream/team-*] map[]"},
		"kinesis:DeleteStream":        {"[arn:aws:kinesis:eu-west-1:123456789012:stream/team-*] map[]"},
		"kinesis:ListStreams":         {"[*] map[]"},
		"ec2:CreateManagedPrefixList": {"[arn:aws:ec2:eu-west-1:123456789012:prefix-list/*] map[]"},
		"ec2:DeleteManagedPrefixList": {"[arn:aws:ec2:eu-west-1:123456789012:prefix-list/*] " + tagged},
		"dsql:CreateCluster":          {"[arn:aws:dsql:eu-west-1:123456789012:cluster/*] map[]"},
		"dsql:DeleteCluster":          {"[arn:aws:dsql:eu-west-1:123456789012:cluster/*] " + tagged},
		"dsql:TagResource": {"[arn:aws:dsql:eu-west-1:123456789012:cluster/*] " + tags,
			"[arn:aws:dsql:eu-west-1:123456789012:cluster/*] " + tagged},
		"kms:Decrypt":               {"[arn:aws:kms:eu-west-1:123456789012:key/*] " + tagged},
		"states:CreateStateMachine": {"[arn:aws:states:eu-west-1:123456789012:stateMachine:team-*] map[]"},
		passRole:                    {"[arn:aws:iam::123456789012:role/teams/team-*] map[]"},
		serviceLinkedRole:           {"[arn:aws:iam::123456789012:role/aws-service-role/*] map[]"},
	} {
		slices.Sort(want)
		if got := targetsOf(documents, action); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", action, got, want)
		}
	}
	if created := strings.Join(targetsOf(documents, "ec2:CreateTags"), "\n"); !strings.Contains(created,
		"ec2:CreateAction:[CreateManagedPrefixList]") || strings.Contains(created, "map[]") {
		t.Errorf("ec2:CreateTags: %s", created)
	}
	for _, notice := range []string{"4 resource types", "cfn-lint",
		"AWS::EC2::PrefixList: the policy does not limit these to resources of the operator: ec2:CreateManagedPrefixList",
		"kinesis:EnableEnhancedMonitoring"} {
		if !strings.Contains(notices, notice) {
			t.Errorf("%q is not in: %s", notice, notices)
		}
	}
	if strings.Contains(notices, "kinesis:DeleteStream") || strings.Contains(notices, "ec2:DeleteManagedPrefixList") {
		t.Errorf("limited rights are among those that are not: %s", notices)
	}
}

// Patterns allow the same types as the operator does for them: no guarded type, and none with a kind.
func TestTypes_OfAPatternAreThoseOfTheOperator(t *testing.T) {
	table, err := typeRightsOfAWS()
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Types) < 1500 {
		t.Errorf("%d types: run make awsmodels", len(table.Types))
	}
	names, err := teams("AWS::S3::*", "AWS::Lambda::*", "AWS::Kinesis::Stream").allowedTypes(table)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"AWS::S3::AccessPoint": true, "AWS::S3::Bucket": false, "AWS::S3::BucketPolicy": false,
		"AWS::Lambda::Permission": false, "AWS::Lambda::Alias": true,
		"AWS::Kinesis::Stream": true, "AWS::Kinesis::StreamConsumer": false} {
		if got := slices.Contains(names, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if names, err = teams("AWS::S3::Bucket", "AWS::IAM::User").allowedTypes(table); err != nil || len(names) != 2 {
		t.Errorf("exact names: %v %v", names, err)
	}
	for pattern, says := range map[string]string{"AWS::IAM::*": "exact names", "AWS::CloudFormation::*": "exact names",
		"AWS::Kinesis::Strem": "describe-type", "AWS::*": "describe-type", "*": "describe-type"} {
		if _, err := teams("AWS::Kinesis::Stream", pattern).allowedTypes(table); err == nil || !strings.Contains(err.Error(), pattern) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if _, _, err := operator(t, []kind.Meta{{Writes: []string{"sqs:CreateQueue"}}}, teams("AWS::Kinesis::Stream")); err == nil ||
		!strings.Contains(err.Error(), "AWSResource") {
		t.Errorf("without the kind: %v", err)
	}
}

// Whatever the schemas list, no policy gives a right to everything, passes any role, or lets a handler give rights.
func TestTypes_OfEveryServiceGiveNoRightsToOthers(t *testing.T) {
	table, err := typeRightsOfAWS()
	if err != nil {
		t.Fatal(err)
	}
	services := map[string]bool{}
	for name := range table.Types {
		services[strings.Join(strings.Split(name, "::")[:2], "::")+"::*"] = true
	}
	n := 0
	for pattern := range services {
		for _, prefix := range []string{"team-", ""} {
			scope := Scope{NamePrefix: prefix, Types: []string{pattern}}
			if names, err := scope.allowedTypes(table); err != nil || len(names) == 0 {
				continue // all of its types are guarded
			}
			documents, _ := printedFor(t, scope)
			for _, d := range documents {
				for _, s := range d.Statement {
					for _, action := range s.Action {
						n++
						if why := tooMuch(action, s, prefix); why != "" {
							t.Errorf("%s with prefix %q: %s on %v: %s", pattern, prefix, action, s.Resource, why)
						}
					}
				}
			}
		}
	}
	if n < 10000 {
		t.Errorf("only %d rights were looked at", n)
	}
}

// tooMuch says why a statement must not have an action of a type that is not one of IAM.
func tooMuch(action string, s iampolicy.Statement, prefix string) string {
	service, operation, _ := strings.Cut(action, ":")
	reads := strings.HasPrefix(operation, "Get") || strings.HasPrefix(operation, "List") || strings.HasPrefix(operation, "Simulate") ||
		strings.HasPrefix(operation, "Generate")
	switch {
	case strings.HasSuffix(action, "*") && !harmlessWildcards.MatchString(action):
		return "a wildcard"
	case action == passRole && (prefix == "" || !slices.Equal(s.Resource, []string{"arn:aws:iam::*:role/" + prefix + "*"})):
		return "any role is passed"
	case action == passRole:
		return ""
	case action == serviceLinkedRole:
		return map[bool]string{false: "any role"}[slices.Equal(s.Resource, []string{"arn:aws:iam::*:role/aws-service-role/*"})]
	case service == "sts", service == "iam" && !reads:
		return "it gives rights"
	case action == "ec2:CreateTags" && len(s.Condition) == 0, action == "ec2:DeleteTags" && len(s.Condition) == 0:
		return "the tags of everything"
	default:
		return ""
	}
}

// A boundary limits the users of IAM as it limits roles, and nothing may remove it.
func TestTypes_OfIAMKeepTheBoundary(t *testing.T) {
	scope := teams("AWS::IAM::User")
	scope.Boundary = "arn:aws:iam::123456789012:policy/b"
	documents, notices := printedFor(t, scope)
	want := []string{"[arn:aws:iam::123456789012:user/teams/team-*] map[StringEquals:map[iam:PermissionsBoundary:[" + scope.Boundary + "]]]"}
	for _, action := range []string{"iam:CreateUser", "iam:PutUserPolicy", "iam:AttachUserPolicy", "iam:PutUserPermissionsBoundary"} {
		if got := targetsOf(documents, action); !slices.Equal(got, want) {
			t.Errorf("%s: %v", action, got)
		}
	}
	if got := targetsOf(documents, "iam:DeleteUserPermissionsBoundary"); len(got) > 0 ||
		!strings.Contains(notices, "iam:DeleteUserPermissionsBoundary") {
		t.Errorf("%v: %s", got, notices)
	}
}

// The rights of a whole service are longer than a policy, and so may be those of one statement.
func TestTypes_OfALargeServiceFitIntoPolicies(t *testing.T) {
	documents, notices := printedFor(t, teams("AWS::EC2::*"))
	all := map[string]bool{}
	for _, d := range documents {
		if text, err := d.Encode(); err != nil || len(text) > maxPolicy {
			t.Errorf("%d characters: %v", len(text), err)
		}
		for _, s := range d.Statement {
			for _, action := range s.Action {
				all[action] = true
			}
		}
	}
	if quota := fmt.Sprintf("%d policies, of which AWS attaches 10", len(documents)); !strings.Contains(notices, quota) {
		t.Errorf("%q is not in: %s", quota, notices)
	}
	if len(documents) < 11 || !all["ec2:CreateManagedPrefixList"] || !all["ec2:CreateVolume"] {
		t.Errorf("%d documents with %d actions: %v", len(documents), len(all), slices.Sorted(maps.Keys(all)))
	}
}

// A type is guarded if its handlers change permissions, apart from passing a role to a service and letting it use a key. Otherwise a person
// has found that it gives no rights to others, and the file lists it with the actions. The next type that AWS publishes is neither, and
// fails the test.
func TestTypes_ThatChangePermissionsAreGuarded(t *testing.T) {
	const path = "testdata/types-with-permissions.txt"
	table, err := typeRightsOfAWS()
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	guarded := 0
	for _, name := range slices.Sorted(maps.Keys(table.Types)) {
		rights := table.Types[name]
		manages := slices.DeleteFunc(slices.Concat(rights.Create.all(), rights.Update.all()), func(action string) bool {
			return table.Actions[action].Level != "Permissions management" ||
				slices.Contains([]string{passRole, serviceLinkedRole, "kms:CreateGrant"}, action)
		})
		slices.Sort(manages)
		switch {
		case len(manages) == 0:
		case kind.IsGuardedType(name):
			guarded++
		default:
			have = append(have, name+" "+strings.Join(slices.Compact(manages), " "))
		}
	}
	if os.Getenv("NEXUS_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(strings.Join(have, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range have {
		if !slices.Contains(listed, line) {
			t.Errorf("%s does not have %q: guard a type that gives rights in package kind, or run the test with NEXUS_UPDATE=1", path, line)
		}
	}
	if len(listed) != len(have) || guarded < 50 {
		t.Errorf("%d types are guarded, %d are not, and %s has %d: run the test with NEXUS_UPDATE=1", guarded, len(have), path, len(listed))
	}
}
