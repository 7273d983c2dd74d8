// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

// Validate names what AWS would refuse, each with its path.
func TestValidate_ChecksThePropertiesOfAnyType(t *testing.T) {
	const head = "apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: AWSResource\nmetadata: {name: a, namespace: b}\nspec:\n  providerRef: {name: p}\n"
	for _, row := range []struct {
		name, spec string
		want       []string
	}{
		{"valid", "  typeName: AWS::Kinesis::Stream\n  tags: {a: b}\n  properties: {Name: events, StreamEncryption: {EncryptionType: KMS, KeyId: {$ref: KMSKey/k, field: status.arn}}}\n",
			[]string{"AWSResource b/a: valid\n"}},
		{"every mistake", "  typeName: AWS::Kinesis::Stream\n  properties: {Name: a b, Arn: x, RetentionPeriodHours: two, StreamEncryption: {EncryptionType: AES}, Tags: [], Color: red, DesiredShardLevelMetrics: {$ref: k}}\n",
			[]string{"spec.properties.Name: must match the pattern", "spec.properties.Arn: is assigned by AWS", "spec.properties.RetentionPeriodHours: must be an integer, and is a string",
				"spec.properties.StreamEncryption.EncryptionType: must be one of KMS", "spec.properties.StreamEncryption.KeyId: is required", "spec.properties.Tags: declares tags",
				"spec.properties.Color: is no property", "nexusctl plan reads those of today", "spec.properties.DesiredShardLevelMetrics: is no reference"}},
		{"a misspelled type", "  typeName: AWS::Kinesis::Steam\n  properties: {Name: events}\n", []string{"spec.typeName: AWS has no resource type AWS::Kinesis::Steam; did you mean AWS::Kinesis::Stream?"}},
		{"a type that may be newer", "  typeName: AWS::Zebra::Crossing\n  properties: {Name: events}\n", []string{"valid, apart from its properties, which were not checked: the schemas of 20", "have no type AWS::Zebra::Crossing"}},
		{"a type without handlers", "  typeName: AWS::AppMesh::Mesh\n  properties: {MeshName: m}\n", []string{"spec.typeName: AWS::AppMesh::Mesh has no handlers to create, read, delete resources"}},
		{"tags of a type without", "  typeName: AWS::Logs::MetricFilter\n  tags: {a: b}\n  properties: {LogGroupName: g, FilterPattern: '', MetricTransformations: [{MetricName: m, MetricNamespace: team, MetricValue: '1'}]}\n",
			[]string{"invalid: spec.tags: AWS::Logs::MetricFilter has no tags"}},
	} {
		out, errs, _ := run(t, "validate", "-f", file(t, head+row.spec))
		for _, want := range row.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s%s", row.name, want, out, errs)
			}
		}
	}
}
