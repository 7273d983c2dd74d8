// SPDX-License-Identifier: Apache-2.0

package awsschema_test

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestDeprecated_NamesWhatIsDeclared(t *testing.T) {
	for _, row := range []struct {
		typeName, properties string
		want                 []string
	}{
		{"AWS::Kinesis::Stream", `{"Name":"events"}`, nil},
		{"AWS::Location::Tracker", `{"TrackerName":"vans","Description":"of the shop"}`, nil},
		{"AWS::Location::Tracker", `{"TrackerName":"vans","PricingPlanDataSource":"Esri","PricingPlan":"RequestBasedUsage"}`,
			[]string{"PricingPlan", "PricingPlanDataSource"}},
		{"AWS::Location::Tracker", `{"TrackerName":"vans","PricingPlan":null}`, nil},
		{"AWS::GameLiftStreams::StreamGroup",
			`{"LocationConfigurations":[{"LocationName":"a","OnDemandCapacity":1},{"LocationName":"b","OnDemandCapacity":2},{"LocationName":"c"}]}`,
			[]string{"LocationConfigurations[*].OnDemandCapacity"}},
		{"AWS::GameLiftStreams::StreamGroup", `{"LocationConfigurations":[{"LocationName":"a","AlwaysOnCapacity":1}]}`, nil},
		{"AWS::SSO::InstanceAccessControlAttributeConfiguration",
			`{"InstanceAccessControlAttributeConfiguration":{"AccessControlAttributes":[]}}`,
			[]string{"InstanceAccessControlAttributeConfiguration"}},
		{"AWS::MediaConnect::FlowEntitlement", `{"Encryption":{"Algorithm":"aes128","Url":"https://example.com","Region":"eu-west-1"}}`,
			[]string{"Encryption.Region", "Encryption.Url"}},
	} {
		of, properties := typeOf(t, row.typeName), map[string]any{}
		if err := json.Unmarshal([]byte(row.properties), &properties); err != nil {
			t.Fatal(err)
		}
		if got := of.Deprecated(properties); !slices.Equal(got, row.want) {
			t.Errorf("%s %s: %v, want %v", row.typeName, row.properties, got, row.want)
		}
	}
	if typeOf(t, "AWS::Kinesis::Stream").Deprecates() || !typeOf(t, "AWS::Location::Tracker").Deprecates() {
		t.Error("the types that deprecate properties are others")
	}
}
