// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

// A create that fails may leave the resource behind: https://github.com/go-to-k/cdkd/pull/957. The object finds it, by its tags, or because AWS
// assigned its identifier to this request, and neither makes a second one nor leaves it behind when it is deleted.
func TestCreate_FindsWhatAFailureLeft(t *testing.T) {
	types, err := awstypes.Bundled()
	must(t, err)
	for typeName, properties := range map[string]string{
		stream: eventsStream, prefixList: officeList,
		"AWS::EC2::SubnetRouteTableAssociation": `{"SubnetId":"subnet-1","RouteTableId":"rtb-1"}`, // without tags
	} {
		for _, code := range []string{"NotStabilized", "GeneralServiceException", "ServiceInternalError", "InternalFailure", "NetworkFailure", "ServiceTimeout", "Throttling"} {
			for _, deleted := range []bool{false, true} {
				t.Run(typeName+" "+code, func(t *testing.T) {
					b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(typeName, properties)), types)
					b.double.SetDuration(2 * time.Second)
					b.double.Fail("CREATE", double.Failure{Code: code, Message: "the handler says why", Leaves: true})
					if deleted { // once AWS has failed, and before the operator has tried again
						_, _ = b.Pass(t.Context(), nil)
						b.Clock = b.Clock.Add(5 * time.Second)
						b.Deleting = true
					}
					kindtest.Settled(t, b.Subject)
					if have := b.double.Identifiers(typeName); !deleted && len(have) != 1 {
						t.Fatalf("%v\n%s", have, b.Rig.AWS.Calls())
					}
					b.Deleting = true
					kindtest.Settled(t, b.Subject)
					if have := b.double.Identifiers(typeName); len(have) > 0 {
						t.Errorf("left behind: %v\n%s", have, b.Rig.AWS.Calls())
					}
				})
			}
		}
	}
}

func TestStream_SurvivesLag(t *testing.T) {
	kindtest.Lag(t, entry, lifeOf(t, resourceOf(stream, eventsStream), `{"Name":"events","RetentionPeriodHours":72}`, ""))
}

func TestPrefixList_SurvivesLag(t *testing.T) {
	kindtest.Lag(t, entry, lifeOf(t, resourceOf(prefixList, officeList), `{"PrefixListName":"offices","AddressFamily":"IPv4","MaxEntries":5}`, ""))
}

// The resource has no tags, and its identifier is in its properties.
func TestMetricFilter_SurvivesLag(t *testing.T) {
	edited := `{"FilterName":"errors","LogGroupName":"shop","FilterPattern":"FATAL","MetricTransformations":[{"MetricName":"errors","MetricNamespace":"shop","MetricValue":"1"}]}`
	kindtest.Lag(t, entry, lifeOf(t, resourceOf(metricFilter, errorsFilter), edited, ""))
}
