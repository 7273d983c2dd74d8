// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

// shown is the condition that reports a failure, with its reason; zero for a failure that needs no report.
type shown struct{ condition, reason string }

// stalls and passes return a failure that a person has to end, and one that the operator overcomes.
func stalls(reason string) shown { return shown{status.Stall, reason} }
func passes(reason string) shown { return shown{status.Reconciling, reason} }

// always returns the same for each operation.
func always(s shown) map[types.Operation]shown {
	return map[types.Operation]shown{types.OperationCreate: s, types.OperationUpdate: s, types.OperationDelete: s}
}

// failuresOfHandlers has the condition for each error code of handlers.
var failuresOfHandlers = map[types.HandlerErrorCode]map[types.Operation]shown{
	types.HandlerErrorCodeInvalidRequest:               always(stalls(status.ReasonRefusedByAWS)),
	types.HandlerErrorCodeNotUpdatable:                 always(stalls(status.ReasonRefusedByAWS)),
	types.HandlerErrorCodeAccessDenied:                 always(stalls(status.ReasonAccessDenied)),
	types.HandlerErrorCodeUnauthorizedTaggingOperation: always(stalls(status.ReasonAccessDenied)),
	types.HandlerErrorCodeInvalidCredentials:           always(stalls(status.ReasonCredentialsInvalid)),
	types.HandlerErrorCodeServiceLimitExceeded:         always(stalls(status.ReasonLimitExceeded)),
	types.HandlerErrorCodeResourceConflict:             always(passes(status.ReasonBusy)),
	types.HandlerErrorCodeThrottling:                   always(passes(status.ReasonThrottled)),
	types.HandlerErrorCodeGeneralServiceException:      always(passes(status.ReasonRetrying)),
	types.HandlerErrorCodeServiceInternalError:         always(passes(status.ReasonRetrying)),
	types.HandlerErrorCodeServiceTimeout:               always(passes(status.ReasonRetrying)),
	types.HandlerErrorCodeNetworkFailure:               always(passes(status.ReasonRetrying)),
	types.HandlerErrorCodeInternalFailure:              always(passes(status.ReasonRetrying)),
	// The create has made the resource, and the next look shows whether it is as declared.
	types.HandlerErrorCodeNotStabilized: {
		types.OperationCreate: {}, types.OperationUpdate: passes(status.ReasonRetrying), types.OperationDelete: passes(status.ReasonRetrying),
	},
	// A look after the create shows the owner of the resource. An update gives the resource a name that another one has.
	types.HandlerErrorCodeAlreadyExists: {
		types.OperationCreate: passes(status.ReasonRetrying), types.OperationUpdate: stalls(status.ReasonRefusedByAWS),
		types.OperationDelete: passes(status.ReasonRetrying),
	},
	// A create names a resource that does not exist yet.
	types.HandlerErrorCodeNotFound: {
		types.OperationCreate: passes(status.ReasonNotFoundInAWS), types.OperationUpdate: passes(status.ReasonRetrying),
		types.OperationDelete: passes(status.ReasonRetrying),
	},
}

// A request that AWS accepted may fail: a condition says why, and the operator sends the request again.
func TestStream_FailuresOfHandlers(t *testing.T) {
	for _, code := range types.HandlerErrorCode("").Values() {
		for _, operation := range types.Operation("").Values() {
			t.Run(string(operation)+" "+string(code), func(t *testing.T) {
				want, known := failuresOfHandlers[code][operation]
				if !known {
					t.Fatal("decide what this failure means: add a row to errors.go, and one to this test")
				}
				failsOnce(t, operation, code, want)
			})
		}
	}
}

func failsOnce(t *testing.T, operation types.Operation, code types.HandlerErrorCode, want shown) {
	b := newBench(t, resourceOf(stream, eventsStream))
	b.double.SetDuration(2 * time.Second)
	if operation != types.OperationCreate {
		kindtest.Settled(t, b.Subject)
		b.edit(`{"Name":"events","RetentionPeriodHours":72}`)
	}
	b.Deleting = operation == types.OperationDelete
	b.double.Fail(string(operation),
		double.Failure{Code: string(code), Message: "the handler says why", Leaves: code == types.HandlerErrorCodeNotStabilized &&
			operation == types.OperationCreate})
	if got := b.reported(); got != want {
		t.Errorf("the object shows %v, want %v", got, want)
	}
	conditions := fmt.Sprint(b.resource().Status.Conditions)
	if told := strings.Contains(conditions, "the handler says why"); want.condition != "" && !told {
		t.Errorf("the text of AWS is not in %s", conditions)
	}
	kindtest.Settled(t, b.Subject)
	left := []string{"events"}
	if b.Deleting {
		left = nil
	}
	if have := b.double.Identifiers(stream); !slices.Equal(have, left) {
		t.Errorf("%v", have)
	}
}

// reported passes until the object reports a failure, and returns the condition that does; zero where it gets ready, or is gone, without.
func (b *bench) reported() shown {
	b.t.Helper()
	for range 10 {
		_, err := b.Pass(b.t.Context(), nil)
		if err == nil {
			return shown{}
		}
		b.Clock = b.Clock.Add(time.Second)
		w, waits := status.AsWaiting(err)
		if waits {
			b.Clock = b.Clock.Add(w.After)
		}
		if waits && !strings.Contains(w.For, "the handler says why") { // AWS works on the request, or a deletion is verified
			continue
		}
		for _, condition := range []string{status.Stall, status.Reconciling} {
			if c := meta.FindStatusCondition(b.resource().Status.Conditions, condition); c != nil && c.Status == metav1.ConditionTrue {
				return shown{condition, c.Reason}
			}
		}
	}
	b.t.Fatal("no failure is reported")
	return shown{}
}

const resolverRule = "AWS::Route53Resolver::ResolverRule"

// AWS decides by the state of a resource, or by the value, whether some properties can be changed.
func TestResolverRule_ChangesThatAWSRefusesAreImmutable(t *testing.T) {
	declared := func(domain, name string) string {
		return `{"RuleType":"FORWARD","DomainName":"` + domain + `","Name":"` + name + `"}`
	}
	for name, c := range map[string]struct {
		failure double.Failure
		reason  string
	}{
		"NotUpdatable that names it": {double.Failure{Code: "NotUpdatable",
			Message: "DomainName cannot be updated while VPCs use the rule"}, status.ReasonImmutable},
		"NotUpdatable without a name": {double.Failure{Code: "NotUpdatable", Message: "the update requires a replacement"},
			status.ReasonImmutable},
		"InvalidRequest that names it": {double.Failure{Code: "InvalidRequest",
			Message: "Value for domainName is not valid (Request ID: 1234)"}, status.ReasonImmutable},
		"InvalidRequest for another reason": {double.Failure{Code: "InvalidRequest", Message: "no more than 200 rules"},
			status.ReasonRefusedByAWS},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, resourceOf(resolverRule, declared("example.com", "a")))
			kindtest.Settled(t, b.Subject)
			b.double.Fix(resolverRule, "/properties/DomainName", c.failure)
			b.edit(declared("example.org", "b"))
			for range 2 { // and sends it again, because AWS may let it be changed in another state
				text := b.stalls(c.reason)
				if !strings.Contains(text, c.failure.Message[:20]) || c.reason == status.ReasonImmutable &&
					(!strings.HasPrefix(text, "spec.properties.DomainName: ") || !strings.Contains(text, "have example.com")) {
					t.Error(text)
				}
				b.Clock = b.Clock.Add(time.Hour)
			}
			if n := b.Rig.AWS.Calls().Match("cloudformation", "UpdateResource", "*").Count(); n != 2 {
				t.Errorf("%d updates:\n%s", n, b.Rig.AWS.Calls())
			}
			b.edit(declared("example.com", "b"))
			kindtest.Settled(t, b.Subject)
			if have := b.double.Properties(resolverRule, b.resource().Status.ID); have["Name"] != "b" {
				t.Errorf("%v", have)
			}
		})
	}
}

// A change that AWS allows is carried out, and a plan says before that AWS may refuse it.
func TestResolverRule_ChangesThatAWSAllowsAreMade(t *testing.T) {
	b := newBench(t, resourceOf(resolverRule, `{"RuleType":"FORWARD","DomainName":"example.com"}`))
	kindtest.Settled(t, b.Subject)
	b.edit(`{"RuleType":"FORWARD","DomainName":"example.org"}`)
	p, err := b.Decide(t.Context())
	if err != nil || len(p.Diff) != 1 || p.Diff[0].Mode != kind.Conditional || !p.Writes() {
		t.Errorf("%v, %+v", err, p.Diff)
	}
	kindtest.Settled(t, b.Subject)
}
