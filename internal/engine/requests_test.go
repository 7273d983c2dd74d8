// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// failedWith is a request that AWS accepted and did not carry out.
func failedWith(token string) *kind.FailedRequest {
	return &kind.FailedRequest{Request: token, Action: "box:Paint", Err: errRefused}
}

func failsOnce(t *testing.T, err error) {
	t.Helper()
	if r, ok := errors.AsType[*status.Retrying](err); !ok || r.Reason != "box:Paint" || !errors.Is(err, errRefused) {
		t.Fatalf("got %v, want the failure of box:Paint", err)
	}
}

func TestFailedRequest_IsReportedOnceAndSentAgain(t *testing.T) {
	o := us()
	o.Record.Intent = recorded()
	h := &host{t: t, b: &box{exists: true, tags: o.OwnerTags(), color: "blue", stale: 99, was: "blue"}, now: noon}
	if _, err := advanceOn(t, h, o, map[string]string{"color": "red"}); err == nil {
		t.Fatal("AWS shows the change at once")
	}
	h.b.failed, h.b.stale, h.b.color = failedWith("1"), 0, "blue"
	_, err := advanceOn(t, h, o, map[string]string{"color": "red"})
	failsOnce(t, err)
	if out, err := advanceOn(t, h, o, map[string]string{"color": "red"}); err != nil || !out.Synced {
		t.Fatal(out, err)
	}
	if !slices.Equal(h.b.writes, []string{"box:Paint", "box:Paint"}) {
		t.Error(h.b.writes)
	}
	h.b.color, h.b.failed = "blue", failedWith("2")
	_, err = advanceOn(t, h, o, map[string]string{"color": "red"})
	failsOnce(t, err)
}

func TestFailedRequest_OfACreateGetsANewToken(t *testing.T) {
	h := &host{t: t, b: &box{meta: kind.Meta{Identity: kind.ByToken}, hidden: 99}, now: noon}
	_, err := advanceOn(t, h, us(), nil)
	waits(t, err, status.ReasonProgressing)
	o := us()
	o.Record.Intent = &h.committed[0]
	h.b.exists, h.b.hidden, h.b.failed, h.now = false, 0, failedWith("1"), noon.Add(time.Second)
	_, err = advanceOn(t, h, o, nil)
	failsOnce(t, err)
	if out, err := advanceOn(t, h, o, nil); err != nil || !out.Synced || len(h.b.tokens) != 2 {
		t.Fatal(out, err, h.b.tokens)
	}
}

func TestFailedRequest_OfAForeignResourceIsAConflict(t *testing.T) {
	h := &host{t: t, b: &box{exists: true, failed: failedWith("1")}, now: noon}
	_, err := advanceOn(t, h, us(), nil)
	stalls(t, err, status.ReasonConflict)
}

func TestFailedRequest_OfWhatIsAsDeclaredIsForgotten(t *testing.T) {
	o := us()
	h := &host{t: t, b: &box{exists: true, tags: o.OwnerTags(), failed: failedWith("1")}, now: noon}
	if out, err := advanceOn(t, h, o, nil); err != nil || !out.Synced {
		t.Fatal(out, err)
	}
}

// preparedBox is a box with a color that is only known after a read.
type preparedBox struct {
	*box
	fails error
}

func (p preparedBox) Prepare(context.Context, kind.Scope, *v1alpha1.S3Bucket) (any, error) {
	return "red", p.fails
}

func (p preparedBox) Desired(sc kind.Scope, cr *v1alpha1.S3Bucket) (boxState, error) {
	color := sc.Prepared.(string)
	want, err := p.box.Desired(sc, cr)
	want.Color = &color
	return want, err
}

func TestDecide_PreparesWhatDesiredNeeds(t *testing.T) {
	for _, fails := range []error{nil, errRefused} {
		o := us()
		b := preparedBox{&box{exists: true, tags: o.OwnerTags(), color: "blue"}, fails}
		e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return b })
		p, err := e.Bind(aws.Config{}).Decide(t.Context(), kind.Scope{Tags: o.OwnerTags()}, o, e.New())
		if !errors.Is(err, fails) || fails == nil && (len(p.Diff) != 1 || p.Diff[0].Want != "red") || fails != nil && b.looks > 0 {
			t.Errorf("%+v %v, after %d looks", p.Diff, err, b.looks)
		}
	}
}
