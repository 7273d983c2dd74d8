// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestASilentServiceIsTriedByFewCallsAtATime(t *testing.T) {
	b := newBucket(Rate{PerSecond: 10, Burst: 10}, newClock().now)
	gone := context.DeadlineExceeded
	enter := func(want bool) {
		t.Helper()
		if trying, err := b.allow(); err != nil || trying != want {
			t.Fatalf("trying %t, %v", trying, err)
		}
	}
	enter(false)
	enter(false) // as many as come, as long as there are answers
	b.done(false, gone, time.Second)
	enter(false) // a short wait says nothing
	b.done(false, gone, openAfter)
	enter(true)
	enter(true)
	if _, err := b.allow(); !isOpenCircuit(err) {
		t.Fatalf("a third call is let through: %v", err)
	}
	b.done(true, gone, openAfter)
	enter(true) // the next one tries
	if _, err := b.allow(); !isOpenCircuit(err) {
		t.Fatalf("a third call is let through: %v", err)
	}
	b.done(true, errors.New("connection reset by peer"), 0)
	enter(true) // that was no answer either
	b.done(true, nil, time.Millisecond)
	enter(false)
	enter(false)
	enter(false)
	b.done(true, gone, openAfter)
	b.done(false, nil, 0)
	b.done(false, gone, openAfter)
	enter(true) // those that left are no longer counted
	enter(true)
}

func TestAnAnswerToAnEarlierCallEndsTheSilence(t *testing.T) {
	b := newBucket(Rate{PerSecond: 10, Burst: 10}, newClock().now)
	b.done(false, context.DeadlineExceeded, openAfter)
	for range maxProbes {
		if trying, err := b.allow(); !trying || err != nil {
			t.Fatal(trying, err)
		}
	}
	b.done(false, nil, time.Minute) // made before
	if trying, err := b.allow(); trying || err != nil {
		t.Errorf("still silent: %v", err)
	}
}

func TestACallThatIsNotMadeReadsLikeOneWithoutAnAnswer(t *testing.T) {
	m := newMetered(t, nil)
	bucket := m.calls.limiter.bucket(here, "s3", "PutBucketPolicy")
	bucket.done(false, context.DeadlineExceeded, openAfter)
	for range maxProbes {
		if trying, err := bucket.allow(); !trying || err != nil {
			t.Fatal(trying, err)
		}
	}
	m.answer = bare(200, "", "")
	err := m.put(t.Context())
	if !isOpenCircuit(err) || !Is(err, Transient) {
		t.Fatalf("the call was made: %v", err)
	}
	r, ok := errors.AsType[*status.Retrying](Explain(err, "s3:PutBucketPolicy"))
	if !ok || r.Reason != status.ReasonUnreachable {
		t.Errorf("explained as %v", Explain(err, "s3:PutBucketPolicy"))
	}
	bucket.done(true, nil, time.Millisecond)
	if err := m.put(t.Context()); err != nil {
		t.Error(err)
	}
}
