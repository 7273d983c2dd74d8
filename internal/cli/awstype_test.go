// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// Validate names the values that AWS would refuse, each with its path.
func TestValidate_ChecksThePropertiesOfAnyType(t *testing.T) {
	const head = "apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: AWSResource\nmetadata: {name: a, namespace: b}\nspec:\n  providerRef: {name: p}\n"
	for _, row := range []struct {
		name, spec string
		want       []string
	}{
		{"valid", "  typeName: AWS::Kinesis::Stream\n  tags: {a: b}\n  properties: {Name: events, StreamEncryption: {EncryptionType: KMS, KeyId: {$ref: KMSKey/k, field: status.arn}}}\n",
			[]string{"AWSResource b/a: valid\n"}},
		{"every mistake", "  typeName: AWS::Kinesis::Stream\n  properties: {Name: a b, Arn: x, RetentionPeriodHours: two, StreamEncryption: {EncryptionType: AES}, Tags: [], Color: red, DesiredShardLevelMetrics: {$ref: k}}\n",
			[]string{"spec.properties.Name: must match the pattern", "spec.properties.Arn: is assigned by AWS",
				"spec.properties.RetentionPeriodHours: must be an integer, and is a string",
				"spec.properties.StreamEncryption.EncryptionType: must be one of KMS", "spec.properties.StreamEncryption.KeyId: is required",
				"spec.properties.Tags: declares tags",
				"spec.properties.Color: is no property", "nexusctl plan reads those of today",
				"spec.properties.DesiredShardLevelMetrics: is no reference"}},
		{"ignored properties", "  typeName: AWS::Kinesis::Stream\n  ignore: [/ShardCount, /Shards, /Name, Name]\n  properties: {Name: events, ShardCount: 1}\n",
			[]string{"spec.ignore[1]: is /Shards, and AWS::Kinesis::Stream has no property Shards",
				"spec.ignore[2]: is /Name, which identifies the resource", "spec.ignore[3]: "}},
		{"a misspelled type", "  typeName: AWS::Kinesis::Steam\n  properties: {Name: events}\n",
			[]string{"spec.typeName: AWS has no resource type AWS::Kinesis::Steam; did you mean AWS::Kinesis::Stream?"}},
		{"a type that may be newer", "  typeName: AWS::Zebra::Crossing\n  properties: {Name: events}\n",
			[]string{"valid, apart from its properties, which were not checked: the schemas of 20", "have no type AWS::Zebra::Crossing"}},
		{"a type without handlers", "  typeName: AWS::AppMesh::Mesh\n  properties: {MeshName: m}\n",
			[]string{"spec.typeName: AWS::AppMesh::Mesh has no handlers to create, read, delete resources"}},
		{"tags of a type without",
			"  typeName: AWS::Logs::MetricFilter\n  tags: {a: b}\n  properties: {LogGroupName: g, FilterPattern: '', MetricTransformations: [{MetricName: m, MetricNamespace: team, MetricValue: '1'}]}\n",
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

func TestSchema_ShowsWhatAWSPublishes(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"a type": {[]string{"AWS::Kinesis::Stream"}, 0,
			[]string{"Managed by:   AWSResource, where --types allows it", "Identifier:   Name, declared in the properties",
				"Tags:         spec.tags, which property Tags gets",
				"DesiredShardLevelMetrics            []string   in any order\n", "Name                                string     cannot be changed\n",
				"StreamEncryption.EncryptionType     string     required; one of KMS\n",
				"Arn                                 string     assigned by AWS\n",
				"WarmThroughputMiBps                 integer    never shown by AWS\n", "To delete: kinesis:DeleteStream, "}},
		"an identifier of AWS": {[]string{"AWS::EC2::PrefixList"}, 0,
			[]string{"Identifier:   PrefixListId, assigned by AWS", "Entries[*].Cidr"}},
		"a type with a kind": {[]string{"AWS::S3::Bucket"}, 0,
			[]string{"Managed by:   S3Bucket; an AWSResource only where --types has this exact name"}},
		"a type without tags": {[]string{"AWS::Logs::MetricFilter"}, 0,
			[]string{"Identifier:   LogGroupName|FilterName", "Tags:         none"}},
		"a type without handlers": {[]string{"AWS::AppMesh::Mesh"}, 0, []string{"Managed by:   nothing: AWS::AppMesh::Mesh has no handlers"}},
		"the names alone": {[]string{"AWS::Kinesis::Stream", "--depth=0", "-o", "yaml"}, 0,
			[]string{"typeName: AWS::Kinesis::Stream", "path: StreamEncryption\n", "- kinesis:DeleteStream"}},
		"a part of a name":       {[]string{"kinesis::"}, 0, []string{"AWS::Kinesis::Stream\n", "AWS::Kinesis::StreamConsumer\n"}},
		"a misspelled type":      {[]string{"AWS::Kinesis::Steam"}, 2, []string{"did you mean AWS::Kinesis::Stream?"}},
		"nothing":                {[]string{"Zebra"}, 2, []string{"AWS has no resource type Zebra in the schemas of 20"}},
		"a part for an editor":   {[]string{"kinesis", "-o", "json-schema"}, 2, []string{"AWS has no resource type kinesis"}},
		"an editor for no type":  {[]string{"AWS::AppMesh::Mesh", "-o", "json-schema"}, 2, []string{"has no handlers"}},
		"a list for a program":   {[]string{"kinesis::", "-o", "json"}, 0, []string{`"kind": "ResourceTypeList"`}},
		"more than one argument": {[]string{"a", "b"}, 2, nil},
	} {
		out, errs, code := run(t, append([]string{"schema"}, row.args...)...)
		if code != row.code {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
		for _, want := range row.want {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%s: the output lacks %q:\n%s%s", name, want, out, errs)
			}
		}
	}
	if out, _, _ := run(t, "schema", "AWS::Kinesis::Stream", "--depth=0"); strings.Contains(out, "EncryptionType") {
		t.Error("depth 0 shows members")
	}
}

// editor returns the JSON schema of manifests of a type.
func editor(t *testing.T, typeName string) *jsonschema.Schema {
	t.Helper()
	out, errs, code := run(t, "schema", typeName, "-o", "json-schema")
	if code != 0 {
		t.Fatalf("%s: %s", typeName, errs)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	// editors have that of JavaScript
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { return regexp.MustCompile(``), nil })
	if err := c.AddResource("https://example.com/schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("https://example.com/schema.json")
	if err != nil {
		t.Fatalf("%s: %v", typeName, err)
	}
	return schema
}

// Editors find the same mistakes as validate, and accept references, Secrets and null in the place of values.
func TestSchema_OfManifestsForEditors(t *testing.T) {
	const head = `{"apiVersion":"aws-infra-operator.runner.codes/v1alpha1","kind":"AWSResource","metadata":{"name":"a"},"spec":{"providerRef":{"name":"p"},"typeName":"AWS::Kinesis::Stream",`
	stream := editor(t, "AWS::Kinesis::Stream")
	for manifest, valid := range map[string]bool{
		head + `"properties":{"Name":"events","RetentionPeriodHours":48}}}`:                                                        true,
		head + `"tags":{"a":"b"},"properties":{"Name":{"$ref":"AWSResource/x","field":"status.id"},"RetentionPeriodHours":null}}}`: true,
		head + `"properties":{"StreamEncryption":{"EncryptionType":"KMS","KeyId":{"$secret":"s","key":"k"}}}}}`:                    true,
		head + `"properties":{"DesiredShardLevelMetrics":[{"$ref":"X/y","field":"status.arn"}]}}}`:                                 true,
		head + `"properties":{"RetentionPeriodHours":"48"}}}`:                                                                      false,
		head + `"properties":{"Color":"red"}}}`:                                                                                    false,
		head + `"properties":{"Arn":"arn:aws:kinesis:eu-west-1:123456789012:stream/x"}}}`:                                          false,
		head + `"properties":{"Tags":[]}}}`:                                                                                        false,
		head + `"properties":{"StreamEncryption":{"EncryptionType":"AES","KeyId":"k"}}}}`:                                          false,
		head + `"color":"red","properties":{}}}`:                                                                                   false,
		strings.Replace(head, "Stream", "StreamConsumer", 1) + `"properties":{}}}`:                                                 false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(manifest))
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Validate(value); (err == nil) != valid {
			t.Errorf("%s: %v", manifest, err)
		}
	}
}

// The JSON schema of each type is one: every 50th here, and all of them in full runs.
func TestSchema_OfManifestsOfAllTypes(t *testing.T) {
	b, err := bundled.Open()
	if err != nil {
		t.Fatal(err)
	}
	step, checked := extent.Size(t, 50, 1), 0
	for i := 0; i < len(b.Types); i += step {
		text, err := b.Schema(b.Types[i])
		if err != nil {
			t.Fatal(err)
		}
		of, err := awsschema.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if of.Unmanageable() == "" {
			editor(t, of.Name)
			checked++
		}
	}
	if checked < 1500/step {
		t.Errorf("%d types", checked)
	}
}
