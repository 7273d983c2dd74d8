package awsclient

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestASilentServiceIsTriedByFewCallsAtATime(t *testing.T) {
	b := newBucket(Rate{PerSecond: 10, Burst: 10}, newClock().now())
	gone := context.DeadlineExceeded
	enter := func(want bool) {
		t.Helper()
		if trying, err := b.enter(); err != nil || trying != want {
			t.Fatalf("trying %t, %v", trying, err)
		}
	}
	enter(false)
	enter(false) // as many as come, as long as there are answers
	b.leave(false, gone, time.Second)
	enter(false) // a short wait says nothing
	b.leave(false, gone, silenceAfter)
	enter(true)
	enter(true)
	if _, err := b.enter(); !isSilent(err) {
		t.Fatalf("a third call is let through: %v", err)
	}
	b.leave(true, gone, silenceAfter)
	enter(true) // the next one tries
	if _, err := b.enter(); !isSilent(err) {
		t.Fatalf("a third call is let through: %v", err)
	}
	b.leave(true, errors.New("connection reset by peer"), 0)
	enter(true) // that was no answer either
	b.leave(true, nil, time.Millisecond)
	enter(false)
	enter(false)
	enter(false)
	b.leave(true, gone, silenceAfter)
	b.leave(false, nil, 0)
	b.leave(false, gone, silenceAfter)
	enter(true) // those that left are no longer counted
	enter(true)
}

func TestAnAnswerToAnEarlierCallEndsTheSilence(t *testing.T) {
	b := newBucket(Rate{PerSecond: 10, Burst: 10}, newClock().now())
	b.leave(false, context.DeadlineExceeded, silenceAfter)
	for range tries {
		if trying, err := b.enter(); !trying || err != nil {
			t.Fatal(trying, err)
		}
	}
	b.leave(false, nil, time.Minute) // made before
	if trying, err := b.enter(); trying || err != nil {
		t.Errorf("still silent: %v", err)
	}
}

func TestACallThatIsNotMadeReadsLikeOneWithoutAnAnswer(t *testing.T) {
	m := newMetered(t, nil)
	bucket := m.calls.limiter.bucket(here, "s3", "PutBucketPolicy")
	bucket.leave(false, context.DeadlineExceeded, silenceAfter)
	for range tries {
		if trying, err := bucket.enter(); !trying || err != nil {
			t.Fatal(trying, err)
		}
	}
	m.answer = bare(200, "", "")
	err := m.put(t.Context())
	if !isSilent(err) || !Is(err, Transient) {
		t.Fatalf("the call was made: %v", err)
	}
	r, ok := errors.AsType[*status.Retrying](Explain(err, "s3:PutBucketPolicy"))
	if !ok || r.Reason != status.ReasonUnreachable {
		t.Errorf("explained as %v", Explain(err, "s3:PutBucketPolicy"))
	}
	bucket.leave(true, nil, time.Millisecond)
	if err := m.put(t.Context()); err != nil {
		t.Error(err)
	}
}
