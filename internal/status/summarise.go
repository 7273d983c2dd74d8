package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience is how long a passing failure may last before it is called Stalled.
const patience = 10 * time.Minute

// maxMessage bounds a condition's message, in bytes; the API's own limit is 32768.
const maxMessage = 1024

// Result is what a pass over an object came to.
type Result struct {
	// Err is nil, or a kind of failure.
	Err error
	// ReadyReason and ReadyMessage describe success; empty is ReasonReady.
	ReadyReason, ReadyMessage string
	Generation                int64
	Now                       time.Time
}

// Summarise computes Ready, Reconciling and Stalled from a pass's result. It is the only writer of
// these three. An object that was Ready at this generation stays so through a passing failure.
func Summarise(conds *[]metav1.Condition, r Result) {
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
		s.set(Ready, false, reason, waiting.Error())
		s.set(Reconciling, true, reason, waiting.Error())
		s.set(Stall, false, reason, "")
	default:
		s.retrying(wasReady)
	}
}

// ReadyAt says whether Ready is true for the generation.
func ReadyAt(conds []metav1.Condition, generation int64) bool {
	c := meta.FindStatusCondition(conds, Ready)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation
}

// Set writes one condition of a table, keeping its transition time while its status stays.
func Set(conds *[]metav1.Condition, generation int64, now time.Time, c metav1.Condition) {
	c.ObservedGeneration = generation
	c.LastTransitionTime = metav1.NewTime(now)
	c.Message = Bound(c.Message, maxMessage)
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
	if e, ok := asRetrying(s.r.Err); ok && e.Reason != "" {
		reason = e.Reason
	}
	long := s.lasted()
	s.set(Reconciling, true, reason, message)
	s.set(Stall, long, reason, ifElse(long, message, ""))
	if !wasReady || long {
		s.set(Ready, false, reason, message)
	}
}

// lasted says whether a passing failure has been the state of things for longer than patience.
func (s setter) lasted() bool {
	c := meta.FindStatusCondition(*s.conds, Reconciling)
	if c == nil || c.Status != metav1.ConditionTrue {
		return false
	}
	switch c.Reason {
	case ReasonThrottled, ReasonUnreachable, ReasonRetrying:
		return s.r.Now.Sub(c.LastTransitionTime.Time) > patience
	default:
		return false
	}
}

// Bound cuts s to at most n bytes, marking the cut.
func Bound(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	cut := n - len(mark)
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a UTF-8 sequence
		cut--
	}
	return s[:cut] + mark
}

func orElse(s, other string) string { return ifElse(s != "", s, other) }

func ifElse(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}
