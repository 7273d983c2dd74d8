// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"
	"time"

	"github.com/aws/smithy-go"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestARoleThatAWSDoesNotKnowForLongStallsUntilItDoes(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	r := &Reconciler{Environment: reconciler.Environment{Clock: clock}, refusals: reconciler.NewSchedule()}
	unknown := &smithy.GenericAPIError{Code: "InvalidInputException", Message: "Service is unable to assume provided role. Please verify role's TrustPolicy"}
	look := func(err error) error {
		p := newPass(r, &v1alpha1.GlueCrawler{})
		defer p.recordPropagation()
		if err == nil {
			return nil
		}
		return p.Explain(err, "glue:CreateCrawler")
	}
	for _, after := range []time.Duration{0, time.Minute, time.Minute} {
		clock.SetTime(clock.Now().Add(after))
		if err := look(unknown); !isWaiting(err) {
			t.Fatalf("at %s: %v, want to wait for IAM", clock.Now(), err)
		}
	}
	clock.SetTime(clock.Now().Add(time.Second))
	for range 2 {
		s, ok := status.AsStalled(look(unknown))
		if !ok || s.Reason != status.ReasonRefusedByAWS {
			t.Fatalf("after two minutes: %v", s)
		}
	}
	_ = look(nil) // the role is known
	if err := look(unknown); !isWaiting(err) {
		t.Errorf("a new refusal has its own two minutes: %v", err)
	}
	if err := look(&smithy.GenericAPIError{Code: "ThrottlingException"}); isWaiting(err) {
		t.Errorf("any other failure is told as before: %v", err)
	}
}

func isWaiting(err error) bool {
	_, ok := status.AsWaiting(err)
	return ok
}
