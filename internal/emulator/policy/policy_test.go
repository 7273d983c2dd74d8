// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
)

func TestRightsAreDecidedAsIAMDoes(t *testing.T) {
	const (
		orders = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
		read   = `{"Statement":{"Effect":"Allow","Action":"dynamodb:Get*","Resource":"arn:aws:dynamodb:*:123456789012:table/ord?rs"}}`
		all    = `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
		tagged = `{"Statement":[{"Effect":"Allow","Action":["kms:Decrypt"],"Resource":["*"],"Condition":{"StringEquals":{"aws:ResourceTag/Owner":["a","b"]}}}]}`
	)
	condition := func(c string) string {
		return `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":` + c + `}]}`
	}
	for _, row := range []struct {
		name, policy, boundary, action, resource string
		context                                  map[string][]string
		want                                     bool
	}{
		{name: "an allowed action on an allowed resource", policy: read, action: "dynamodb:GetItem", resource: orders, want: true},
		{name: "letters of actions may be small", policy: read, action: "DynamoDB:getitem", resource: orders, want: true},
		{name: "another action", policy: read, action: "dynamodb:PutItem", resource: orders},
		{name: "another resource", policy: read, action: "dynamodb:GetItem", resource: orders + "2"},
		{name: "a part of the name is not the name", policy: read, action: "dynamodb:GetItem",
			resource: "arn:aws:dynamodb:eu-west-1:123456789012:table/o"},
		{name: "an unknown resource needs the action alone", policy: read, action: "dynamodb:GetItem", want: true},
		{name: "no policy", action: "dynamodb:GetItem", resource: orders},
		{name: "a Deny counts more",
			policy: `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"dynamodb:*","Resource":"` + orders +
				`"}]}`,
			action: "dynamodb:GetItem", resource: orders},
		{name: "a Deny of something else does not",
			policy: `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","NotAction":"dynamodb:*","Resource":"*"}]}`,
			action: "dynamodb:GetItem", resource: orders, want: true},
		{name: "all but a resource", policy: `{"Statement":[{"Effect":"Allow","Action":"*","NotResource":"` + orders + `"}]}`,
			action: "dynamodb:GetItem", resource: orders},
		{name: "within the boundary", policy: all, boundary: read, action: "dynamodb:GetItem", resource: orders, want: true},
		{name: "beyond the boundary", policy: all, boundary: read, action: "dynamodb:PutItem", resource: orders},
		{name: "a boundary gives nothing", policy: read, boundary: all, action: "dynamodb:PutItem", resource: orders},
		{name: "the tag of the resource", policy: tagged, action: "kms:Decrypt", resource: "k",
			context: map[string][]string{"aws:resourcetag/owner": {"b"}}, want: true},
		{name: "another tag of the resource", policy: tagged, action: "kms:Decrypt", resource: "k",
			context: map[string][]string{"aws:resourcetag/owner": {"c"}}},
		{name: "no tag of the resource", policy: tagged, action: "kms:Decrypt", resource: "k"},
		{name: "not equal, and absent", policy: condition(`{"StringNotEquals":{"a":"x"}}`), action: "s3:Get", resource: "r", want: true},
		{name: "not equal, and equal", policy: condition(`{"StringNotEquals":{"a":"x"}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"x"}}},
		{name: "if it exists, and absent", policy: condition(`{"StringEqualsIfExists":{"a":"x"}}`), action: "s3:Get", resource: "r", want: true},
		{name: "if it exists, and differs", policy: condition(`{"StringEqualsIfExists":{"a":"x"}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"y"}}},
		{name: "all values", policy: condition(`{"ForAllValues:StringEquals":{"a":["x","y"]}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"x", "z"}}},
		{name: "any value", policy: condition(`{"ForAnyValue:StringLike":{"a":["x*"]}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"z", "xy"}}, want: true},
		{name: "null, and present", policy: condition(`{"Null":{"a":"true"}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"x"}}},
		{name: "not null, and present", policy: condition(`{"Null":{"a":"false"}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"x"}}, want: true},
		{name: "a boolean", policy: condition(`{"Bool":{"a":true}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"true"}}, want: true},
		{name: "an operator that is not known", policy: condition(`{"NumericLessThan":{"a":"5"}}`), action: "s3:Get", resource: "r",
			context: map[string][]string{"a": {"1"}}},
		{name: "what is no document", policy: `[`, action: "s3:Get", resource: "r"},
	} {
		r := &policy.Rights{Identity: policy.StatementsOf(row.policy), Boundary: policy.StatementsOf(row.boundary), Bounded: row.boundary != ""}
		if got := r.Allow(policy.Demand{Action: row.action, Resource: row.resource, Context: row.context}); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
