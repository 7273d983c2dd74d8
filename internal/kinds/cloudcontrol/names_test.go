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
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

var namingScope = kind.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}

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
		{"AWS::EFS::MountTarget", `{"FileSystemId":"fs-0123abcd"}`, "FileSystemId", "arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-0123abcd"},
		{"AWS::EFS::MountTarget", `{"SubnetId":"subnet-0123abcd"}`, "SubnetId", "arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-0123abcd"},
		{"AWS::Logs::SubscriptionFilter", `{"LogGroupName":"finance"}`, "LogGroupName", "arn:aws:logs:eu-west-1:123456789012:log-group:finance"},
		{"AWS::Cognito::UserPoolUser", `{"UserPoolId":"eu-west-1_abc"}`, "UserPoolId", "arn:aws:cognito-idp:eu-west-1:123456789012:userpool/eu-west-1_abc"},
		{"AWS::Lambda::EventSourceMapping", `{"FunctionName":"finance"}`, "FunctionName", "arn:aws:lambda:eu-west-1:123456789012:function:finance"},
		{"AWS::ApiGateway::Method", `{"RestApiId":"a1b2c3"}`, "RestApiId", "arn:aws:apigateway:eu-west-1::/restapis/a1b2c3"},
		{"AWS::S3::AccessPoint", `{"Bucket":"finance"}`, "Bucket", "arn:aws:s3:::finance"},
		{"AWS::RDS::DBCluster", `{"SourceDBClusterIdentifier":"Finance"}`, "SourceDBClusterIdentifier", "arn:aws:rds:eu-west-1:123456789012:cluster:finance"},
		{"AWS::RDS::DBCluster", `{"SnapshotIdentifier":"before"}`, "SnapshotIdentifier", "arn:aws:rds:eu-west-1:123456789012:cluster-snapshot:before"},
		{"AWS::Route53::DNSSEC", `{"HostedZoneId":"Z1D633PJN98FT9"}`, "HostedZoneId", "arn:aws:route53:::hostedzone/Z1D633PJN98FT9"},
		{"AWS::ECS::Service", `{"Cluster":"finance"}`, "Cluster", "arn:aws:ecs:eu-west-1:123456789012:cluster/finance"},
		{"AWS::EKS::Addon", `{"ClusterName":"finance"}`, "ClusterName", "arn:aws:eks:eu-west-1:123456789012:cluster/finance"},
		{"AWS::Events::Rule", `{"EventBusName":"finance"}`, "EventBusName", "arn:aws:events:eu-west-1:123456789012:event-bus/finance"},
		{"AWS::EC2::TrafficMirrorSession", `{"NetworkInterfaceId":"eni-0123abcd"}`, "NetworkInterfaceId", "arn:aws:ec2:eu-west-1:123456789012:network-interface/eni-0123abcd"},
		{"AWS::ElasticLoadBalancingV2::TargetGroup", `{"Targets":[{"Id":"i-0123abcd"}]}`, "Targets[0].Id", "arn:aws:ec2:eu-west-1:123456789012:instance/i-0123abcd"},
		{"AWS::SQS::QueueInlinePolicy", `{"Queue":"https://sqs.eu-west-1.amazonaws.com/123456789012/finance"}`, "Queue", "arn:aws:sqs:eu-west-1:123456789012:finance"},
		{"AWS::EFS::FileSystem", `{"KmsKeyId":"alias/finance"}`, "KmsKeyId", "arn:aws:kms:eu-west-1:123456789012:alias/finance"},
		{"AWS::EFS::FileSystem", `{"ReplicationConfiguration":{"ReplicationDestinations":[{"FileSystemId":"fs-1"}]}}`, "ReplicationConfiguration.ReplicationDestinations[0].FileSystemId", "arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-1"},
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

// The parts of a primary identifier before the last name what contains the resource. AWS gives most containers ARNs that contain these
// names; the file lists the parts of which it does not, or that only identifiers with a form of their own tell.
func TestNames_JudgesTheContainersOfEveryType(t *testing.T) {
	all, schemaOf := bundledTypes(t)
	var unjudged []string
	judged := 0
	for _, name := range all.Names() {
		schema := schemaOf(name)
		parts := schema.IdentifiedBy()
		for _, part := range parts[:max(len(parts)-1, 0)] {
			at := awsschema.PathOf(part)
			if schema.RuleAt(at...).ReadOnly || schema.IsChoice(at...) {
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

// checkList compares lines with those of a file in testdata, which NEXUS_UPDATE=1 writes. The remedy says what to do about a line that the file
// does not have.
func checkList(t *testing.T, file string, have []string, remedy string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv("NEXUS_UPDATE") != "" {
		must(t, os.WriteFile(path, []byte(strings.Join(have, "\n")+"\n"), 0o600))
	}
	text, err := os.ReadFile(path)
	must(t, err)
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
	return strings.HasSuffix(strings.ToLower(name), "arn") || strings.HasPrefix(typeName, "AWS::EC2::") && strings.HasSuffix(name, "Id") || name == "VolumeId"
}
