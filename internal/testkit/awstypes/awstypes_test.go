// SPDX-License-Identifier: Apache-2.0

package awstypes_test

import (
	"encoding/json"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

func TestTypes_AreThoseThatAWSPublishes(t *testing.T) {
	types, err := awstypes.Open("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = types.Close() })
	if n := len(types.Names()); n < 1800 {
		t.Errorf("%d types", n)
	}
	text, err := types.Schema("AWS::Kinesis::Stream")
	var schema struct {
		TypeName string         `json:"typeName"`
		Handlers map[string]any `json:"handlers"`
	}
	if err != nil || json.Unmarshal(text, &schema) != nil || schema.TypeName != "AWS::Kinesis::Stream" || len(schema.Handlers) < 4 {
		t.Errorf("%+v, %v", schema, err)
	}
	if text, err := types.Schema("AWS::No::Type"); text != nil || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := awstypes.Open("nowhere-1"); err == nil {
		t.Error("a region that does not exist has types")
	}
}
