// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

var namingScope = kind.Scope{Place: kind.Place{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}}

func bundledTypes(t *testing.T) (*awstypes.Types, func(name string) *awsschema.Type) {
	t.Helper()
	all, err := awstypes.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	return all, func(name string) *awsschema.Type {
		t.Helper()
		text, err := all.Schema(name)
		if err != nil || text == nil {
			t.Fatalf("%s: %v", name, err)
		}
		schema, err := awsschema.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
}

func TestNames_FindsWhatPropertiesName(t *testing.T) {
	_, schemaOf := bundledTypes(t)
	for _, c := range []struct{ typeName, properties, field, arn string }{
		{"AWS::EFS::MountTarget", `{"FileSystemId":"fs-0123abcd"}`, "FileSystemId",
			"arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-0123abcd"},
		{"AWS::EFS::MountTarget", `{"SubnetId":"subnet-0123abcd"}`, "SubnetId", "arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-0123abcd"},
		{"AWS::Logs::SubscriptionFilter", `{"LogGroupName":"finance"}`, "LogGroupName", "arn:aws:logs:eu-west-1:123456789012:log-group:finance"},
		{"AWS::Cognito::UserPoolUser", `{"UserPoolId":"eu-west-1_abc"}`, "UserPoolId",
			"arn:aws:cognito-idp:eu-west-1:123456789012:userpool/eu-west-1_abc"},
		{"AWS::Lambda::EventSourceMapping", `{"FunctionName":"finance"}`, "FunctionName",
			"arn:aws:lambda:eu-west-1:123456789012:function:finance"},
		{"AWS::ApiGateway::Method", `{"RestApiId":"a1b2c3"}`, "RestApiId", "arn:aws:apigateway:eu-west-1::/restapis/a1b2c3"},
		{"AWS::S3::AccessPoint", `{"Bucket":"finance"}`, "Bucket", "arn:aws:s3:::finance"},
		{"AWS::RDS::DBCluster", `{"SourceDBClusterIdentifier":"Finance"}`, "SourceDBClusterIdentifier",
			"arn:aws:rds:eu-west-1:123456789012:cluster:finance"},
		{"AWS::RDS::DBCluster", `{"SnapshotIdentifier":"before"}`, "SnapshotIdentifier",
			"arn:aws:rds:eu-west-1:123456789012:cluster-snapshot:before"},
		{"AWS::Route53::DNSSEC", `{"HostedZoneId":"Z1D633PJN98FT9"}`, "HostedZoneId", "arn:aws:route53:::hostedzone/Z1D633PJN98FT9"},
		{"AWS::ECS::Service", `{"Cluster":"finance"}`, "Cluster", "arn:aws:ecs:eu-west-1:123456789012:cluster/finance"},
		{"AWS::EKS::Addon", `{"ClusterName":"finance"}`, "ClusterName", "arn:aws:eks:eu-west-1:123456789012:cluster/finance"},
		{"AWS::Events::Rule", `{"EventBusName":"finance"}`, "EventBusName", "arn:aws:events:eu-west-1:123456789012:event-bus/finance"},
		{"AWS::EC2::TrafficMirrorSession", `{"NetworkInterfaceId":"eni-0123abcd"}`, "NetworkInterfaceId",
			"arn:aws:ec2:eu-west-1:123456789012:network-interface/eni-0123abcd"},
		{"AWS::ElasticLoadBalancingV2::TargetGroup", `{"Targets":[{"Id":"i-0123abcd"}]}`, "Targets[0].Id",
			"arn:aws:ec2:eu-west-1:123456789012:instance/i-0123abcd"},
		{"AWS::SQS::QueueInlinePolicy", `{"Queue":"https://sqs.eu-west-1.amazonaws.com/123456789012/finance"}`, "Queue",
			"arn:aws:sqs:eu-west-1:123456789012:finance"},
		{"AWS::EFS::FileSystem", `{"KmsKeyId":"alias/finance"}`, "KmsKeyId", "arn:aws:kms:eu-west-1:123456789012:alias/finance"},
		{"AWS::EFS::FileSystem", `{"ReplicationConfiguration":{"ReplicationDestinations":[{"FileSystemId":"fs-1"}]}}`,
			"ReplicationConfiguration.ReplicationDestinations[0].FileSystemId", "arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-1"},
		{"AWS::AppSync::GraphQLSchema", `{"DefinitionS3Location":"s3://finance/schema"}`, "DefinitionS3Location", "arn:aws:s3:::finance"},
		{"AWS::ApiGateway::Method",
			`{"Integration":{"Uri":"arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:finance/invocations"}}`, "Integration.Uri", "arn:aws:lambda:eu-west-1:123456789012:function:finance"},
		{"AWS::CloudFront::Distribution", `{"DistributionConfig":{"Origins":[{"DomainName":"finance.s3.eu-west-1.amazonaws.com"}]}}`,
			"DistributionConfig.Origins[0].DomainName", "arn:aws:s3:::finance"},
		{"AWS::Lambda::EventSourceMapping", `{"EventSourceArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/finance/stream/2026"}`,
			"EventSourceArn", "arn:aws:dynamodb:eu-west-1:123456789012:table/finance"},
		{"AWS::Logs::LogGroup", `{"LogGroupName":"mine"}`, "LogGroupName", ""},                   // the resource of the object
		{"AWS::Logs::LogGroup", `{"RetentionInDays":"3","LogGroupClass":"STANDARD"}`, "", ""},    // no names
		{"AWS::EFS::FileSystem", `{"KmsKeyId":{"$ref":"KMSKey/a","field":"status.id"}}`, "", ""}, // judged by the object
	} {
		cr := &v1alpha1.AWSResource{}
		cr.Spec.Properties.Raw = []byte(c.properties)
		sc := namingScope
		sc.Prepared = schemaOf(c.typeName)
		found := (*resource)(nil).Names(sc, cr)
		i := slices.IndexFunc(found, func(n kind.Naming) bool { return n.Field == "spec.properties."+c.field })
		switch {
		case c.arn == "" && len(found) > 0, c.arn != "" && (i < 0 || !slices.Contains(found[i].ARNs, c.arn)):
			t.Errorf("%s %s: %+v, want %s", c.typeName, c.properties, found, c.arn)
		}
	}
}

// The name of a resource may be that of another owner's resource of another type, wherever the name stands.
func TestNames_JudgesWhatReferencesSpell(t *testing.T) {
	_, schemaOf := bundledTypes(t)
	const stream, logs = "arn:aws:kinesis:eu-west-1:123456789012:stream/finance", "arn:aws:logs:eu-west-1:123456789012:log-group:finance"
	for _, c := range []struct{ typeName, property, kind, field, id, arn string }{
		{"AWS::Logs::SubscriptionFilter", "LogGroupName", "AWSResource", "status.identifier", "finance", logs},
		{"AWS::Logs::SubscriptionFilter", "LogGroupName", "SQSQueue", "status.id", "finance", logs},
		{"AWS::Logs::SubscriptionFilter", "DestinationArn", "AWSResource", "status.arn", "finance", ""},
		{"AWS::EFS::MountTarget", "SubnetId", "AWSResource", "status.identifier", "subnet-0123abcd",
			"arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-0123abcd"},
	} {
		sc := namingScope
		sc.Prepared = schemaOf(c.typeName)
		sc.Ref = func(string, string) (kind.Target, error) {
			return kind.Target{ID: c.id, ARN: stream, Attributes: map[string]string{"identifier": c.id}}, nil
		}
		cr := &v1alpha1.AWSResource{}
		cr.Spec.Properties.Raw = fmt.Appendf(nil, `{%q:{"$ref":"%s/x","field":%q}}`, c.property, c.kind, c.field)
		found := (*resource)(nil).Names(sc, cr)
		if c.arn == "" && len(found) > 0 || c.arn != "" && (len(found) != 1 || !slices.Contains(found[0].ARNs, c.arn)) {
			t.Errorf("%+v: %+v", c, found)
		}
	}
}

// A name in a Secret is checked, too, and no message shows its value.
func TestNames_JudgesWhatSecretsSpell(t *testing.T) {
	_, schemaOf := bundledTypes(t)
	for _, c := range []struct{ typeName, property, value, arn string }{
		{"AWS::Logs::SubscriptionFilter", "LogGroupName", "finance", "arn:aws:logs:eu-west-1:123456789012:log-group:finance"},
		{"AWS::EFS::MountTarget", "SubnetId", "subnet-0123456789abcdef0", "arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-0123456789abcdef0"},
		{"AWS::SSM::Parameter", "Value", "correct horse", ""},
	} {
		sc := namingScope
		sc.Prepared = schemaOf(c.typeName)
		sc.Secret = func(string, string) ([]byte, error) { return []byte(c.value), nil }
		cr := &v1alpha1.AWSResource{}
		cr.Spec.Properties.Raw = fmt.Appendf(nil, `{%q:{"$secret":"s","key":"k"}}`, c.property)
		found := (*resource)(nil).Names(sc, cr)
		if c.arn == "" && len(found) > 0 || c.arn != "" &&
			(len(found) != 1 || !slices.Contains(found[0].ARNs, c.arn) || strings.Contains(found[0].Value, c.value)) {
			t.Errorf("%+v: %+v", c, found)
		}
	}
	l := lookups{sc: namingScope, schema: schemaOf("AWS::SSM::Parameter")}
	l.sc.Secret = func(string, string) ([]byte, error) { return []byte("subnet-0123456789abcdef0"), nil }
	if _, err := l.SecretOf("spec.properties.Value", documents.SecretKey{Name: "s", Key: "k"}); err == nil {
		t.Error("an identifier in a Secret is not refused")
	}
}

// The parts of a primary identifier before the last name the parent of the resource. AWS gives most parents ARNs that contain these names.
// The file lists the parts without such an ARN, and those that only an identifier with a special form shows.
func TestNames_JudgesTheContainersOfEveryType(t *testing.T) {
	all, schemaOf := bundledTypes(t)
	var unjudged []string
	judged := 0
	for _, name := range all.Names() {
		schema := schemaOf(name)
		parts := schema.Identity.Parts()
		for _, part := range parts[:max(len(parts)-1, 0)] {
			at := awsschema.PathOf(part)
			if place := schema.At(at...); place.Rule().ReadOnly || place.IsChoice() {
				continue
			}
			if len(guessARNs(namingScope, schema, at, "x")) > 0 || hasForm(name, part) {
				judged++
			} else {
				unjudged = append(unjudged, fmt.Sprintf("%s %s", name, part))
			}
		}
	}
	checkList(t, "containers-unjudged.txt", unjudged, "judge what a new type names")
	if judged < 2*len(unjudged) {
		t.Errorf("%d are judged, and %d are not", judged, len(unjudged))
	}
}

// checkList compares lines with those of a file in testdata, which NEXUS_UPDATE=1 writes. The remedy is for a line that the file does not
// have.
func checkList(t *testing.T, file string, have []string, remedy string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv("NEXUS_UPDATE") != "" {
		kindtest.Must(t, os.WriteFile(path, []byte(strings.Join(have, "\n")+"\n"), 0o600))
	}
	text, err := os.ReadFile(path)
	kindtest.Must(t, err)
	listed := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range have {
		if !slices.Contains(listed, line) {
			t.Errorf("%s does not have %q: %s, or run the test with NEXUS_UPDATE=1", path, line, remedy)
		}
	}
	for _, line := range listed {
		if !slices.Contains(have, line) {
			t.Errorf("%s has %q, which does not hold: run the test with NEXUS_UPDATE=1", path, line)
		}
	}
}

// hasForm reports whether a property holds an ARN or an identifier of EC2, which are judged wherever they are.
func hasForm(typeName, name string) bool {
	return strings.HasSuffix(strings.ToLower(name), "arn") || strings.HasPrefix(typeName, "AWS::EC2::") && strings.HasSuffix(name, "Id") ||
		name == "VolumeId"
}
