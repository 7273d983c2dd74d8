// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// A plan refuses the types that the operator will refuse.
func TestPlan_KnowsTheTypesOfTheOperator(t *testing.T) {
	s := &Connection{Console: &console.Console{Getenv: func(string) string { return "" }}, Product: Product{Kinds: catalog.Kinds},
		OperatorArgs: []string{"--types=AWS::Kinesis::*,AWS::Logs::MetricFilter"}}
	o, err := s.OptionsOf(nil, "nexus-system")
	if err != nil {
		t.Fatal(err)
	}
	types := s.operatorOf(o, capabilityfacts.Settings{}).Types
	if types == nil || !slices.Equal(types.Operator, []string{"AWS::Kinesis::*", "AWS::Logs::MetricFilter"}) ||
		types.Kinds["AWS::S3::Bucket"] != "S3Bucket" {
		t.Errorf("%+v", types)
	}
	if types := s.operatorOf(options.Options{}, capabilityfacts.Settings{}).Types; types == nil || len(types.Operator) > 0 {
		t.Errorf("an operator without --types allows %+v", types)
	}
}
