// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestWantedPolicy(t *testing.T) {
	const statement = `{"Effect":"Allow","Principal":{"AWS":"1"},"Action":"s3:*","Resource":"${aws:username}"}`
	const deny = `{"Sid":"NexusTLSOnly","Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"],` +
		`"Condition":{"Bool":{"aws:SecureTransport":"false"}}}`
	for _, c := range []struct {
		name   string
		policy *string
		tls    *bool
		want   *string
	}{
		{"neither is declared", nil, nil, nil},
		{"an empty policy", aws.String(""), nil, aws.String("")},
		{"TLS without a policy", nil, aws.Bool(true), nil},
		{"TLS and an empty policy", aws.String(""), aws.Bool(true), aws.String(`{"Version":"2012-10-17","Statement":[` + deny + `]}`)},
		{"a single statement", aws.String(`{"Version":"2012-10-17","Id":"x","Statement":` + statement + `}`), aws.Bool(true),
			aws.String(`{"Version":"2012-10-17","Id":"x","Statement":[` + statement + `,` + deny + `]}`)},
		{"TLS does not change the version", aws.String(`{"Statement":[` + statement + `]}`), aws.Bool(true),
			aws.String(`{"Statement":[` + statement + `,` + deny + `]}`)},
		{"only the user's", aws.String(` {"Statement" : ` + statement + `}`), nil, aws.String(`{"Statement":[` + statement + `]}`)},
	} {
		got, err := wantedPolicy(v1alpha1.S3BucketSpec{Policy: c.policy, TLSOnly: c.tls}, "arn:aws:s3:::b")
		if err != nil || (got == nil) != (c.want == nil) || aws.ToString(got) != aws.ToString(c.want) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, aws.ToString(got), aws.ToString(c.want))
		}
	}
}

func TestDesired_InvalidPolicyNamesItsElement(t *testing.T) {
	for policy, message := range map[string]string{
		`{"Statement":{"Effect":"Allow","Action":7}}`: "Statement.Action must be a string or a list of strings, not a number (line 1, column 41)",
		`{"Statement":{"Action":"a","Action":"b"}}`:   "Statement.Action occurs twice",
		`{"Statement":`: "is not valid JSON",
		`{"Statement":{"Principal":{"AWS":"AROAKSCDLFT9R5DQP782U"}}}`: "AROAKSCDLFT9R5DQP782U is the unique ID",
	} {
		b := bucketOf(func(s *spec) { s.Policy = aws.String(policy) })
		_, err := NewBucket(aws.Config{}).Desired(kind.Scope{Place: kind.Place{Partition: "aws"}}, b)
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonInvalidSpec || s.Field != "spec.policy" ||
			!strings.Contains(s.Message, message) {
			t.Errorf("%s: got %v, want %s", policy, err, message)
		}
		sc := kind.Scope{Place: kind.Place{Partition: "aws"}, Search: kind.Search{Deleting: true}}
		if _, err := NewBucket(aws.Config{}).Desired(sc, b); err != nil {
			t.Errorf("%s stops the deletion: %v", policy, err)
		}
	}
}
