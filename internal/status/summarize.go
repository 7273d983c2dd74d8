// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience is the longest unbroken series of passing failures, or bounded wait, that is not yet reported as Stalled.
const patience = 10 * time.Minute

// maxMessage bounds a condition's message, in bytes; the API's own limit is 32768.
const maxMessage = 1024

// Result is the result of a pass over an object.
type Result struct {
	// Err is nil, or a kind of failure.
	Err error
	// ReadyReason and ReadyMessage describe success; an empty reason is ReasonReady.
	ReadyReason, ReadyMessage string
	Generation                int64
	Now                       time.Time
	// FailingSince is the beginning of an unbroken series of passing failures (Retrying) or bounded waits. Waiting for another object does not
	// count. Zero when the series begins now.
	FailingSince time.Time
}

// Summarize computes Ready, Reconciling and Stalled from a pass's result. It is the only writer of
// these three. An object that was Ready at this generation stays so through a passing failure.
func Summarize(conds *[]metav1.Condition, r Result) {
	wasReady := ReadyAt(*conds, r.Generation)
	s := setter{conds: conds, r: r}
	stalled, isStalled := AsStalled(r.Err)
	waiting, isWaiting := AsWaiting(r.Err)
	switch {
	case r.Err == nil:
		reason := orElse(r.ReadyReason, ReasonReady)
		s.set(Ready, true, reason, r.ReadyMessage)
		s.set(Reconciling, false, reason, "")
		s.set(Stall, false, reason, "")
	case isStalled:
		s.set(Ready, false, stalled.Reason, stalled.Error())
		s.set(Reconciling, false, stalled.Reason, "")
		s.set(Stall, true, stalled.Reason, stalled.Error())
	case isWaiting:
		reason := orElse(waiting.Reason, ReasonWaiting)
		if !wasReady || !waiting.Usable {
			s.set(Ready, false, reason, waiting.Error())
		}
		long := waiting.Bounded && s.lasted()
		s.set(Reconciling, true, reason, waiting.Error())
		s.set(Stall, long, reason, ifElse(long, waiting.Error(), ""))
	default:
		s.retrying(wasReady)
	}
}

// ReadyAt reports whether Ready is true for the generation.
func ReadyAt(conds []metav1.Condition, generation int64) bool {
	c := meta.FindStatusCondition(conds, Ready)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation
}

// WhyNotReady returns the message of a Ready condition that is not True, after a colon; empty when there is none.
func WhyNotReady(conds []metav1.Condition) string {
	c := meta.FindStatusCondition(conds, Ready)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return ": " + c.Message
}

// Set writes one condition of a table, keeping its transition time while its status stays. It is the only writer of
// conditions, and so the only place where their messages get the codes of their reasons.
func Set(conds *[]metav1.Condition, generation int64, now time.Time, c metav1.Condition) {
	c.ObservedGeneration = generation
	c.LastTransitionTime = metav1.NewTime(now)
	c.Message = WithCode(c.Reason, c.Message, maxMessage)
	meta.SetStatusCondition(conds, c)
}

type setter struct {
	conds *[]metav1.Condition
	r     Result
}

func (s setter) set(t string, v bool, reason, message string) {
	st := metav1.ConditionFalse
	if v {
		st = metav1.ConditionTrue
	}
	Set(s.conds, s.r.Generation, s.r.Now, metav1.Condition{Type: t, Status: st, Reason: reason, Message: message})
}

func (s setter) retrying(wasReady bool) {
	reason, message := ReasonRetrying, s.r.Err.Error()
	if e, ok := AsRetrying(s.r.Err); ok && e.Reason != "" {
		reason = e.Reason
		if reason == ReasonWebhookFailing {
			message = e.Error() // names the webhook first
		}
	}
	long := s.lasted()
	s.set(Reconciling, true, reason, message)
	s.set(Stall, long, reason, ifElse(long, message, ""))
	if !wasReady || long {
		s.set(Ready, false, reason, message)
	}
}

// lasted reports whether passing failures have lasted longer than patience.
func (s setter) lasted() bool {
	return !s.r.FailingSince.IsZero() && s.r.Now.Sub(s.r.FailingSince) > patience
}

// Truncate shortens text to at most n bytes at a character boundary; an ellipsis marks the cut.
func Truncate(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	cut := n - len(mark)
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a UTF-8 sequence
		cut--
	}
	return strings.TrimSpace(s[:cut]) + mark
}

func orElse(s, other string) string { return ifElse(s != "", s, other) }

func ifElse(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

// IsDisputed reports whether the conditions of an object say that its AWS resource belongs to another owner.
func IsDisputed(conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, Ready)
	return ready != nil && ready.Reason == ReasonConflict
}
