// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// want holds the wanted three conditions of kstatus, as True/False, and the reason of Ready.
type want struct {
	ready, reconciling, stalled bool
	reason                      string
}

func conditions(ready bool) []metav1.Condition {
	var conds []metav1.Condition
	Summarize(&conds, Result{Err: map[bool]error{true: nil, false: &Waiting{For: "x"}}[ready], Generation: 1, Now: noon.Add(-time.Hour)})
	return conds
}

func TestSummarize(t *testing.T) {
	retrying := &Retrying{Reason: ReasonThrottled, Cause: errors.New("AWS throttles")}
	for _, c := range []struct {
		name     string
		wasReady bool
		result   Result
		want     want
	}{
		{"success", false, Result{}, want{true, false, false, ReasonReady}},
		{"stalled", true, Result{Err: &Stalled{Reason: ReasonConflict, Message: "m"}}, want{false, false, true, ReasonConflict}},
		{"waiting", true, Result{Err: &Waiting{For: "x"}}, want{false, true, false, ReasonWaiting}},
		{"waiting with a reason", false, Result{Err: &Waiting{Reason: ReasonBusy, For: "x"}}, want{false, true, false, ReasonBusy}},
		{"waiting while usable, was ready", true, Result{Err: &Waiting{Reason: ReasonBusy, For: "x", Usable: true}},
			want{true, true, false, ReasonReady}},
		{"waiting while usable, was not ready", false, Result{Err: &Waiting{Reason: ReasonBusy, For: "x", Usable: true}},
			want{false, true, false, ReasonBusy}},
		{"a bounded wait within patience", false, Result{Err: &Waiting{For: "x", Bounded: true}, FailingSince: noon.Add(-patience)},
			want{false, true, false, ReasonWaiting}},
		{"a bounded wait beyond patience", false, Result{Err: &Waiting{For: "x", Bounded: true}, FailingSince: noon.Add(-patience - time.Second)},
			want{false, true, true, ReasonWaiting}},
		{"an unbounded wait beyond patience", false, Result{Err: &Waiting{For: "x"}, FailingSince: noon.Add(-patience - time.Second)},
			want{false, true, false, ReasonWaiting}},
		{"a passing failure, was ready", true, Result{Err: retrying}, want{true, true, false, ReasonReady}},
		{"a passing failure, was not ready", false, Result{Err: retrying}, want{false, true, false, ReasonThrottled}},
		{"a passing failure within patience", true, Result{Err: retrying, FailingSince: noon.Add(-patience)},
			want{true, true, false, ReasonReady}},
		{"a passing failure beyond patience", true, Result{Err: retrying, FailingSince: noon.Add(-patience - time.Second)},
			want{false, true, true, ReasonThrottled}},
		{"an error of no kind", false, Result{Err: errors.New("odd")}, want{false, true, false, ReasonRetrying}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conds := conditions(c.wasReady)
			c.result.Generation, c.result.Now = 1, noon
			Summarize(&conds, c.result)
			is := func(kind string) bool { return meta.IsStatusConditionTrue(conds, kind) }
			got := want{is(Ready), is(Reconciling), is(Stall), meta.FindStatusCondition(conds, Ready).Reason}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// Twenty minutes of waiting for another object and then two throttles are no ten minutes of failure.
func TestSummarize_WaitingIsNotFailing(t *testing.T) {
	var conds []metav1.Condition
	Summarize(&conds, Result{Err: &Waiting{For: "its provider"}, Generation: 1, Now: noon.Add(-20 * time.Minute)})
	throttled := &Retrying{Reason: ReasonThrottled, Cause: errors.New("AWS throttles")}
	Summarize(&conds, Result{Err: throttled, Generation: 1, Now: noon.Add(-time.Second), FailingSince: noon.Add(-time.Second)})
	Summarize(&conds, Result{Err: throttled, Generation: 1, Now: noon, FailingSince: noon.Add(-time.Second)})
	if meta.IsStatusConditionTrue(conds, Stall) {
		t.Errorf("stalled after one second of failure: %+v", conds)
	}
}

func TestSummarize_ReadyOfAnOlderGenerationDoesNotCount(t *testing.T) {
	conds := conditions(true)
	Summarize(&conds, Result{Err: &Retrying{Cause: errors.New("x")}, Generation: 2, Now: noon})
	if ReadyAt(conds, 2) || meta.IsStatusConditionTrue(conds, Ready) {
		t.Error("an edited object keeps Ready although it was not applied")
	}
}

func TestSet_KeepsTheTransitionTimeAndBoundsTheMessage(t *testing.T) {
	conds := conditions(true)
	before := meta.FindStatusCondition(conds, Ready).LastTransitionTime
	Summarize(&conds, Result{Generation: 1, Now: noon, ReadyMessage: strings.Repeat("ü", maxMessage)})
	after := meta.FindStatusCondition(conds, Ready)
	if !after.LastTransitionTime.Equal(&before) || len(after.Message) > maxMessage || !strings.HasSuffix(after.Message, "…") {
		t.Errorf("%v %d", after.LastTransitionTime, len(after.Message))
	}
}
