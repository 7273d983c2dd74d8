// SPDX-License-Identifier: Apache-2.0

package awsschema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
)

// refused returns the problems of properties in JSON, a line each.
func refused(t *testing.T, of *awsschema.Type, properties string, isUnknown func(any) bool) []string {
	t.Helper()
	value := map[string]any{}
	if err := json.Unmarshal([]byte(properties), &value); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range of.Problems(value, isUnknown) {
		out = append(out, strings.TrimSpace(p.At+" "+p.Text))
	}
	return out
}

func bundle(t *testing.T) *bundled.Bundle {
	t.Helper()
	b, err := bundled.Open()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func typeOf(t *testing.T, name string) *awsschema.Type {
	t.Helper()
	text, err := bundle(t).Schema(name)
	if err != nil || text == nil {
		t.Fatalf("%s: %v", name, err)
	}
	of, err := awsschema.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return of
}

func TestProblems_NameThePathOfEachValue(t *testing.T) {
	for _, row := range []struct {
		name, typeName, properties string
		want                       []string
	}{
		{"nothing", "AWS::Kinesis::Stream", `{"Name":"events","RetentionPeriodHours":48}`, nil},
		{"null is absent", "AWS::Kinesis::Stream", `{"Name":"events","RetentionPeriodHours":null}`, nil},
		{"a type", "AWS::Kinesis::Stream", `{"RetentionPeriodHours":"48"}`, []string{"RetentionPeriodHours must be an integer, and is a string"}},
		{"a limit", "AWS::Kinesis::Stream", `{"RetentionPeriodHours":0}`, []string{"RetentionPeriodHours must be at least 1"}},
		{"a pattern", "AWS::Kinesis::Stream", `{"Name":"a b"}`, []string{"Name must match the pattern ^[a-zA-Z0-9_.-]+$"}},
		{"a choice", "AWS::Kinesis::Stream", `{"StreamModeDetails":{"StreamMode":"on"}}`,
			[]string{"StreamModeDetails.StreamMode must be one of ON_DEMAND, PROVISIONED"}},
		{"a member", "AWS::Kinesis::Stream", `{"StreamModeDetails":{"Mode":"ON_DEMAND"}}`,
			[]string{"StreamModeDetails has no property Mode", "StreamModeDetails.StreamMode is required"}},
		{"an element", "AWS::EC2::PrefixList",
			`{"PrefixListName":"a","AddressFamily":"IPv4","Entries":[{"Cidr":"10.0.0.0/8"},{"Description":"no"}]}`,
			[]string{"Entries[1].Cidr is required"}},
		{"two at once", "AWS::Kinesis::Stream", `{"Color":1,"ShardCount":"x"}`, []string{
			"Color is no property of AWS::Kinesis::Stream; it has Arn, DesiredShardLevelMetrics, MaxRecordSizeInKiB, Name, RecordDistributionStrategy, RetentionPeriodHours, ShardCount, StreamEncryption, StreamModeDetails, Tags, WarmThroughputMiBps, WarmThroughputObject",
			"ShardCount must be an integer, and is a string"}},
		{"no form", "AWS::GameLift::Alias", `{"Name":"a","RoutingStrategy":{"Type":"SIMPLE"}}`,
			[]string{"RoutingStrategy needs the property FleetId, or needs the property Message"}},
		{"the form that is meant", "AWS::PCAConnectorSCEP::Connector",
			`{"CertificateAuthorityArn":"arn:aws:acm-pca:eu-west-1:123456789012:certificate-authority/12345678-1234-1234-1234-123456789012","MobileDeviceManagement":{"Intune":{"Domain":"d"}}}`,
			[]string{"MobileDeviceManagement.Intune.AzureApplicationId is required"}},
		{"required", "AWS::Logs::MetricFilter", `{"FilterPattern":""}`,
			[]string{"MetricTransformations is required", "LogGroupName is required"}},
	} {
		if got := refused(t, typeOf(t, row.typeName), row.properties, nil); !sameLines(got, row.want) {
			t.Errorf("%s:\n%s", row.name, strings.Join(got, "\n"))
		}
	}
}

func sameLines(a, b []string) bool {
	in := func(all []string) map[string]bool {
		m := map[string]bool{}
		for _, s := range all {
			m[s] = true
		}
		return m
	}
	return reflect.DeepEqual(in(a), in(b))
}

// A reference stands for a value that only the cluster knows, and the data of a Secret must not be described.
func TestProblems_SayNothingOfUnknownValues(t *testing.T) {
	isReference := func(v any) bool {
		m, is := v.(map[string]any)
		return is && m["$ref"] != nil
	}
	stream := typeOf(t, "AWS::Kinesis::Stream")
	for _, properties := range []string{`{"Name":{"$ref":"X/y"}}`, `{"RetentionPeriodHours":{"$ref":"X/y"}}`,
		`{"StreamModeDetails":{"$ref":"X/y"}}`,
		`{"StreamModeDetails":{"StreamMode":{"$ref":"X/y"}}}`, `{"DesiredShardLevelMetrics":[{"$ref":"X/y"}]}`} {
		if got := refused(t, stream, properties, isReference); got != nil {
			t.Errorf("%s: %q", properties, got)
		}
		if got := refused(t, stream, properties, nil); got == nil {
			t.Errorf("%s: valid as a value", properties)
		}
	}
	if got := refused(t, stream, `{"Name":{"$ref":"X/y"},"ShardCount":-1}`, isReference); len(got) != 1 {
		t.Errorf("beside a reference: %q", got)
	}
}

// No problem may show a value: a property may hold a password.
func TestProblems_ShowNoValue(t *testing.T) {
	const secret = "s3cr3t"
	for _, name := range []string{"AWS::Kinesis::Stream", "AWS::SecretsManager::Secret", "AWS::EFS::FileSystem", "AWS::SSM::Parameter",
		"AWS::StepFunctions::StateMachine"} {
		of := typeOf(t, name)
		for _, property := range of.Properties() {
			for _, value := range []any{secret, []any{secret}, map[string]any{"x": secret}} {
				for _, p := range of.Problems(map[string]any{property: value}, nil) {
					if strings.Contains(p.Text+p.At, secret) {
						t.Errorf("%s: %s %s", name, p.At, p.Text)
					}
				}
			}
		}
	}
}

// Every schema that AWS publishes can be used to check values.
func TestProblems_EverySchemaChecksValues(t *testing.T) {
	b := bundle(t)
	if len(b.Types) < 1850 {
		t.Errorf("%d types", len(b.Types))
	}
	for _, name := range b.Types {
		text, err := b.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		of, err := awsschema.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := of.CheckSchema(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A member of one of several forms is not required: an edit may choose another form.
func TestIsRequired_OnlyInEveryForm(t *testing.T) {
	for _, row := range []struct {
		typeName string
		at       []string
		want     bool
	}{
		{"AWS::Macie::AllowList", []string{"Criteria", "Regex"}, false},
		{"AWS::Macie::AllowList", []string{"Criteria"}, true},
		{"AWS::Kinesis::Stream", []string{"StreamEncryption", "KeyId"}, true},
		{"AWS::Kinesis::Stream", []string{"Name"}, false},
		{"AWS::EC2::PrefixList", []string{"Entries", awsschema.Every, "Cidr"}, true},
		{"AWS::RolesAnywhere::TrustAnchor", []string{"Source", "SourceData", "AcmPcaArn"}, false},
	} {
		if got := typeOf(t, row.typeName).At(row.at...).IsRequired(); got != row.want {
			t.Errorf("%s %v is required: %t", row.typeName, row.at, got)
		}
	}
}

// Tags that only a create gives are fixed: where the schema says so, where it lists the property or its members among the fixed ones, and
// where there is no update. A type that can be given none has none.
func TestTagsAreFixed_WhereNoUpdateChangesThem(t *testing.T) {
	for name, want := range map[string]struct {
		property string
		fixed    bool
	}{
		"AWS::Kinesis::Stream": {"Tags", false}, "AWS::CE::AnomalyMonitor": {"ResourceTags", true}, "AWS::S3::AccessGrant": {"Tags", true},
		"AWS::RefactorSpaces::Service":      {"Tags", true},
		"AWS::RedshiftServerless::Snapshot": {"Tags", true}, "AWS::Kinesis::StreamConsumer": {"Tags", true},
		"AWS::Route53RecoveryControl::SafetyRule": {"Tags", false}, "AWS::Logs::MetricFilter": {"", false},
	} {
		of := typeOf(t, name)
		if of.Tags.Property() != want.property || of.Tags.AreFixed() != want.fixed || want.fixed && !of.Tags.OnCreate() {
			t.Errorf("%s has tags in %q, fixed: %t", name, of.Tags.Property(), of.Tags.AreFixed())
		}
	}
}

// The tags of some types cannot have the keys of an owner, or are never shown: their resources have no tags of an owner.
func TestTagProperty_CanNameAnOwner(t *testing.T) {
	for name, want := range map[string]string{
		"AWS::RoboMaker::Fleet": "", "AWS::SSMContacts::Contact": "", "AWS::SSO::Application": "", "AWS::ManagedBlockchain::Accessor": "",
		"AWS::Kinesis::Stream": "Tags", "AWS::EFS::FileSystem": "FileSystemTags",
	} {
		if got := typeOf(t, name).Tags.Property(); got != want {
			t.Errorf("%s has tags in %q, want %q", name, got, want)
		}
	}
}
