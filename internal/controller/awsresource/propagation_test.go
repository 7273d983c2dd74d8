// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestARoleThatAWSDoesNotKnowForLongStallsUntilItDoes(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	r := &Reconciler{Environment: reconciler.Environment{Clock: clock}, refusals: reconciler.NewSchedule(), tagged: reconciler.NewSchedule()}
	unknown := &smithy.GenericAPIError{Code: "InvalidInputException",
		Message: "Service is unable to assume provided role. Please verify role's TrustPolicy"}
	look := func(err error) error {
		p := newPass(r, &v1alpha1.GlueCrawler{})
		defer p.propagation.record()
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

// Each refusal is waited for as long as its row says.
func TestARefusalIsWaitedForAsLongAsAWSTakes(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	r := &Reconciler{Environment: reconciler.Environment{Clock: clock}, refusals: reconciler.NewSchedule(), tagged: reconciler.NewSchedule()}
	refused := &smithy.OperationError{ServiceID: "S3", OperationName: "PutBucketReplication",
		Err: &smithy.GenericAPIError{Code: "InvalidRequest",
			Message: "Destination bucket must have versioning enabled."}}
	for _, c := range []struct {
		after time.Duration
		waits bool
	}{{0, true}, {15 * time.Minute, true}, {time.Second, false}} {
		clock.SetTime(clock.Now().Add(c.after))
		if err := newPass(r, &v1alpha1.S3Bucket{}).Explain(refused, "s3:PutReplicationConfiguration"); isWaiting(err) != c.waits {
			t.Errorf("at %s: %v", clock.Now(), err)
		}
	}
}

// KMS: "It might take up to five minutes for tag and alias changes to affect KMS key authorization."
func TestARightByTagsIsAwaitedForFiveMinutesAfterThem(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	refused := &smithy.GenericAPIError{Code: "AccessDeniedException",
		Message: "User: u is not authorized to perform: kms:EnableKeyRotation on resource: k because no identity-based policy allows the kms:EnableKeyRotation action"}
	explicit := &smithy.GenericAPIError{Code: "AccessDeniedException",
		Message: "User: u is not authorized to perform: kms:EnableKeyRotation on resource: k with an explicit deny in a service control policy"}
	newOne := func() *pass {
		r := &Reconciler{Environment: reconciler.Environment{Clock: clock}, refusals: reconciler.NewSchedule(), tagged: reconciler.NewSchedule()}
		return newPass(r, &v1alpha1.KMSKey{})
	}
	for name, give := range map[string]func(p *pass){
		"tags with a create": func(p *pass) { _ = p.Store(t.Context(), kind.Accepted{}) }, // no status changes by it
		"tags alone":         func(p *pass) { p.Did(engine.Plan{}, []kind.Step{{Action: "ec2:CreateTags"}}) },
		"tags of a key":      func(p *pass) { p.propagation.newestKey = clock.Now() },
	} {
		p := newOne()
		if isWaiting(p.Explain(refused, "kms:EnableKeyRotation")) {
			t.Errorf("%s: waits before there are tags", name)
		}
		give(p)
		if err := p.Explain(explicit, "kms:EnableKeyRotation"); isWaiting(err) {
			t.Errorf("%s: waits for an explicit deny: %v", name, err)
		}
		for _, step := range []struct {
			after time.Duration
			waits bool
		}{{0, true}, {tagging - time.Second, true}, {time.Second, false}} {
			clock.SetTime(clock.Now().Add(step.after))
			err := p.Explain(refused, "kms:EnableKeyRotation")
			if s, stalled := status.AsStalled(err); isWaiting(err) != step.waits || !step.waits &&
				(!stalled || s.Reason != status.ReasonAccessDenied) {
				t.Errorf("%s, %s later: %v", name, step.after, err)
			}
			if step.waits && !strings.Contains(err.Error(), "kms:EnableKeyRotation") {
				t.Errorf("%s: AWS's words are missing: %v", name, err)
			}
		}
	}
}

// AWS accepts a create, and answers later that the caller had no right to it. No resource has its tags.
func TestADenialOfACreateThatAWSHadAcceptedStalls(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	refused := &smithy.GenericAPIError{Code: "AccessDenied",
		Message: "User: u is not authorized to perform: dsql:CreateCluster on resource: c because no identity-based policy allows the dsql:CreateCluster action"}
	for action, waits := range map[string]bool{"cloudformation:CreateResource": false, "cloudformation:UpdateResource": true} {
		r := &Reconciler{Environment: reconciler.Environment{Clock: clock}, refusals: reconciler.NewSchedule(), tagged: reconciler.NewSchedule()}
		p := newPass(r, &v1alpha1.AWSResource{})
		p.propagation.recordTags() // with a create
		err := p.Explain(&kind.FailedRequest{Request: "t", Action: action, Creates: !waits, Err: refused}, action)
		if s, stalled := status.AsStalled(err); isWaiting(err) != waits || stalled == waits || stalled && s.Reason != status.ReasonAccessDenied {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func isWaiting(err error) bool {
	_, ok := status.AsWaiting(err)
	return ok
}
