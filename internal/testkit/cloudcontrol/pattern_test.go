// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"regexp"
	"testing"
)

// The values that AWS assigns match the pattern of the schema, and differ from one resource to the next.
func TestFitting_MatchesThePatternOfTheProperty(t *testing.T) {
	const arn = "arn:aws:any:eu-west-1:123456789012:thing/1"
	for pattern, text := range map[string]string{
		`^arn:aws[-a-z0-9]*:s3vectors:[a-z0-9-]+:[0-9]{12}:bucket/[a-z0-9][a-z0-9-.]{1,61}[a-z0-9]$`:                      arn,
		`^arn:(aws[a-zA-Z-]*)?:bedrock-agentcore:[a-z0-9-]+:[0-9]{12}:memory/[a-zA-Z][a-zA-Z0-9_]{0,99}-[a-zA-Z0-9]{10}$`: arn,
		`^[a-z0-9]{26}$`: "identifier-1", `^([a-z0-9A-Z]*)$`: "id-1", `^pl-[0-9a-f]{8,17}$`: "prefixlistid-1", `^[A-Z]{2}(a|b)$`: "x",
	} {
		schema := map[string]any{"pattern": pattern}
		first, second := fitting(schema, text, 41), fitting(schema, text, 42)
		if re := regexp.MustCompile(pattern); !re.MatchString(first) || !re.MatchString(second) || first == second {
			t.Errorf("%s: %s and %s", pattern, first, second)
		}
		if text == arn && !regexp.MustCompile(`:eu-west-1:123456789012:`).MatchString(first) {
			t.Errorf("%s is of another place", first)
		}
	}
	for _, schema := range []map[string]any{{}, {"pattern": "^identifier"}, {"pattern": "(?!x)"}} {
		if got := fitting(schema, "identifier-1", 1); got != "identifier-1" {
			t.Errorf("%v: %s", schema, got)
		}
	}
}

// An index needs the ARN of a vector bucket. Only the schema of the index has the pattern of that ARN.
func TestARN_OfAVectorBucketIsWhatAnIndexNames(t *testing.T) {
	bucket := &model{TypeName: "AWS::S3Vectors::VectorBucket"}
	got := account{id: "123456789012"}.arn(bucket, "eu-west-1", 0, map[string]any{"VectorBucketName": "vectors"})
	if want := "arn:aws:s3vectors:eu-west-1:123456789012:bucket/vectors"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
