// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	cctypes "github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

// A create that fails may leave the resource behind: https://github.com/go-to-k/cdkd/pull/957. The object finds it, by its tags, or
// because AWS assigned its identifier to this request, and neither makes a second one nor leaves it behind when it is deleted.
func TestCreate_FindsWhatAFailureLeft(t *testing.T) {
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	for typeName, properties := range map[string]string{
		stream: eventsStream, prefixList: officeList,
		"AWS::EC2::SubnetRouteTableAssociation": `{"SubnetId":"subnet-1","RouteTableId":"rtb-1"}`, // without tags
	} {
		for _, code := range []string{"NotStabilized", "GeneralServiceException", "ServiceInternalError", "InternalFailure", "NetworkFailure",
			"ServiceTimeout", "Throttling"} {
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

// An identifier that consists of declared names may be that of another owner's resource, and so may one that AWS tells with a refusal.
func TestCreate_ProvesNothingByARefusal(t *testing.T) {
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	for typeName, of := range map[string]struct {
		properties, id string
		isNew          bool
	}{
		"AWS::Lambda::Alias": {`{"FunctionName":"orders","FunctionVersion":"7","Name":"live"}`,
			"arn:aws:lambda:eu-west-1:123456789012:function:orders:live", false},
		"AWS::EC2::SubnetRouteTableAssociation": {`{"SubnetId":"subnet-1","RouteTableId":"rtb-1"}`, "rtbassoc-057e9d978d69d1620", true},
	} {
		text, err := types.Schema(typeName)
		kindtest.Must(t, err)
		schema, err := awsschema.Parse(text)
		kindtest.Must(t, err)
		declared := map[string]any{}
		kindtest.Must(t, json.Unmarshal([]byte(of.properties), &declared))
		s := State{TypeName: typeName, schema: schema, declared: documents.Texts(declared)}
		failed := func(code cctypes.HandlerErrorCode) *cctypes.ProgressEvent {
			return &cctypes.ProgressEvent{Operation: cctypes.OperationCreate, OperationStatus: cctypes.OperationStatusFailed, ErrorCode: code,
				Identifier: &of.id}
		}
		if got := s.createdBy(failed(cctypes.HandlerErrorCodeServiceInternalError)); (got == of.id) != of.isNew {
			t.Errorf("%s after a failure: %q", typeName, got)
		}
		for _, code := range []cctypes.HandlerErrorCode{"InvalidRequest", "ResourceConflict", "AccessDenied", "AlreadyExists", "NotFound",
			"InvalidCredentials", "ServiceLimitExceeded", "UnauthorizedTaggingOperation"} {
			if got := s.createdBy(failed(code)); got != "" {
				t.Errorf("%s after %s: %q", typeName, code, got)
			}
		}
	}
}

// If the handler of a request takes longer than its type allows, the condition says how to end it.
func TestStream_ARequestThatHangsSaysSo(t *testing.T) {
	b := newBench(t, resourceOf(stream, eventsStream))
	b.double.SetDuration(30 * 24 * time.Hour)
	b.learns()
	busy := func() string {
		t.Helper()
		_, err := b.Pass(t.Context(), nil)
		w, ok := status.AsWaiting(err)
		if !ok || w.Reason != status.ReasonBusy {
			t.Fatalf("%v", err)
		}
		return w.For
	}
	if text := busy(); strings.Contains(text, "cancel-resource-request") {
		t.Error(text)
	}
	b.Clock = b.Clock.Add(3 * time.Hour)
	if text := busy(); !strings.Contains(text, "longer than the 2h0m0s") ||
		!strings.Contains(text, "aws cloudcontrol cancel-resource-request --request-token "+b.resource().Status.Request.Token) {
		t.Error(text)
	}
}

func TestStream_SurvivesLag(t *testing.T) {
	kindtest.Lag(t, entry, lifeOf(t, resourceOf(stream, eventsStream), `{"Name":"events","RetentionPeriodHours":72}`, ""))
}

func TestPrefixList_SurvivesLag(t *testing.T) {
	kindtest.Lag(t, entry, lifeOf(t, resourceOf(prefixList, officeList),
		`{"PrefixListName":"offices","AddressFamily":"IPv4","MaxEntries":5}`, ""))
}

// The resource has no tags, and its identifier is in its properties.
func TestMetricFilter_SurvivesLag(t *testing.T) {
	edited := `{"FilterName":"errors","LogGroupName":"shop","FilterPattern":"FATAL","MetricTransformations":[{"MetricName":"errors","MetricNamespace":"shop","MetricValue":"1"}]}`
	kindtest.Lag(t, entry, lifeOf(t, resourceOf(metricFilter, errorsFilter), edited, ""))
}
