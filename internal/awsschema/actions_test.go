// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
)

func grantsOf(t *testing.T, typeName string) Grants {
	t.Helper()
	g, known, err := GrantsOf(typeName)
	if err != nil || !known {
		t.Fatalf("%s: %v, %v", typeName, known, err)
	}
	return g
}

func TestGrants_RefuseActionsByName(t *testing.T) {
	for _, c := range []struct{ typeName, action, why string }{
		{"AWS::S3Vectors::VectorBucket", "s3vectors:QueryVectors", ""},
		{"AWS::S3Vectors::VectorBucket", "s3vectors:GetVectorBucket", ""},
		{"AWS::S3Vectors::Index", "s3vectors:QueryVectors", ""},
		{"AWS::S3Vectors::Index", "s3vectors:GetVectorBucket", "cannot be limited"},
		{"AWS::S3Vectors::VectorBucket", "s3vectors:*", "without wildcards"},
		{"AWS::S3Vectors::VectorBucket", "s3vectors:Query?ectors", "without wildcards"},
		{"AWS::S3Vectors::VectorBucket", "*", "without wildcards"},
		{"AWS::S3Vectors::VectorBucket", "s3:GetObject", "is an action of s3"},
		{"AWS::S3Vectors::VectorBucket", "s3vectors:ReadVectors", "no action that AWS documents"},
		{"AWS::S3Vectors::VectorBucket", "s3vectors:queryVectors", "write s3vectors:QueryVectors"},
		{"AWS::S3Vectors::VectorBucket", "s3vectors:PutVectorBucketPolicy", "gives rights"},
		{"AWS::S3Vectors::VectorBucket", "s3vectors:TagResource", "changes tags"},
		{"AWS::Kinesis::Stream", "kinesis:PutRecord", ""},
		{"AWS::Kinesis::Stream", "kinesis:ListStreams", "resource *"},
		{"AWS::Logs::LogGroup", "logs:PutLogEvents", ""},
		{"AWS::RDS::DBInstance", "rds-db:connect", "is an action of rds-db"},
	} {
		why := grantsOf(t, c.typeName).WhyNot(c.action)
		if (c.why == "") != (why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s on %s: %q, want %q", c.action, c.typeName, why, c.why)
		}
	}
}

func TestGrants_NameTheResourceAndWhatLiesBelow(t *testing.T) {
	const bucket = "arn:aws:s3vectors:eu-west-1:123456789012:bucket/docs"
	g := grantsOf(t, "AWS::S3Vectors::VectorBucket")
	for action, want := range map[string]string{
		"s3vectors:GetVectorBucket": bucket, "s3vectors:QueryVectors": bucket + "/index/*", "s3vectors:TagResource": "", "s3:GetObject": "",
	} {
		if got := strings.Join(g.ResourcesOf(action, bucket), " "); got != want {
			t.Errorf("%s: %q, want %q", action, got, want)
		}
	}
	for arn, want := range map[string]bool{
		bucket: true, "arn:aws-cn:s3vectors:cn-north-1:123456789012:bucket/docs": true,
		"arn:aws:s3vectors:eu-west-1:999999999999:bucket/docs": false,
		"arn:aws:s3vectors:eu-west-1:123456789012:bucket/*":    false, "arn:aws:s3:::docs": false, "docs": false, "": false,
	} {
		if g.IsOf(arn, "123456789012") != want {
			t.Errorf("%q: %v", arn, !want)
		}
	}
}

// Whatever the table says, an action that is allowed names the resource, or a pattern below it, and nothing wider.
func TestGrants_NoActionReachesBeyondTheResource(t *testing.T) {
	b, err := bundled.Open()
	if err != nil {
		t.Fatal(err)
	}
	const arn = "arn:aws:service:eu-west-1:123456789012:thing/one"
	granted := 0
	for _, typeName := range b.Types {
		g, known, err := GrantsOf(typeName)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; known && i < len(g.actions); i++ {
			action := g.Service + ":" + nameIn(g.actions[i])
			resources := g.ResourcesOf(action, arn)
			if (len(resources) == 0) != (g.WhyNot(action) != "") {
				t.Fatalf("%s %s: %v, %q", typeName, action, resources, g.WhyNot(action))
			}
			for _, resource := range resources {
				ending := strings.TrimPrefix(resource, arn)
				if !strings.HasPrefix(resource, arn) || ending != "" && !strings.HasPrefix(ending, "/") && !strings.HasPrefix(ending, ":") {
					t.Errorf("%s %s: %s", typeName, action, resource)
				}
				granted++
			}
		}
	}
	if granted < 5000 {
		t.Errorf("only %d actions were looked at", granted)
	}
}

// The table has every type that Cloud Control manages, with its write-only properties.
func TestGrants_OfEveryBundledType(t *testing.T) {
	b, err := bundled.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, typeName := range b.Types {
		text, err := b.Schema(typeName)
		if err != nil {
			t.Fatal(err)
		}
		schema, err := Parse(text)
		if err != nil || schema.Unmanageable() != "" {
			continue
		}
		g := grantsOf(t, typeName)
		if g.HoldsData() != schema.HoldsData() || !slices.Equal(g.hidden, schema.HiddenProperties()) {
			t.Errorf("%s: %v %v, the schema says %v %v", typeName, g.HoldsData(), g.hidden, schema.HoldsData(), schema.HiddenProperties())
		}
	}
	if _, known, err := GrantsOf("AWS::New::Thing"); known || err != nil {
		t.Errorf("%v, %v", known, err)
	}
}

// The lists name types that AWS publishes, and none twice.
func TestHoldsData_ListsTypesThatExist(t *testing.T) {
	b, err := bundled.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(others, withoutData) {
		if !slices.Contains(b.Types, name) {
			t.Errorf("AWS has no type %s", name)
		}
	}
	for _, name := range others {
		if g, _, _ := GrantsOf(name); IsNamedAsStore(name) || g.protectable {
			t.Errorf("%s is guarded without being listed", name)
		}
	}
}
