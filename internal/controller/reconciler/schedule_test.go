// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A Secret that an object refers to changes while a pass, which has read it, is about to end.
func TestSchedule_ARequestDuringAPassStaysDue(t *testing.T) {
	s, key, now := NewSchedule(), types.NamespacedName{Namespace: "ns", Name: "n"}, time.Unix(1000, 0)
	next := func() time.Duration {
		due, _ := s.Due(key)
		return due.Sub(now)
	}
	began := s.Requested(key)
	s.Request(key, now)
	s.Checked(key, began, now.Add(time.Hour))
	if next() != 0 {
		t.Errorf("the requested check comes after %s", next())
	}
	s.Checked(key, s.Requested(key), now.Add(time.Hour))
	if next() != time.Hour {
		t.Errorf("the check after that comes after %s", next())
	}
	s.Forget(key)
	if _, known := s.Due(key); known || s.Requested(key) != 0 {
		t.Error("an object that is gone is remembered")
	}
}

func TestSchedule_ARequestIsServedByACheckThatBeganAfterIt(t *testing.T) {
	s, key, now := NewSchedule(), types.NamespacedName{Name: "a"}, time.Unix(0, 0)
	if s.IsRequested(key) {
		t.Error("requested before anybody did")
	}
	s.Request(key, now)
	began := s.Requested(key)
	s.Request(key, now)
	s.Checked(key, began, now)
	if !s.IsRequested(key) {
		t.Error("a check that began before a request serves it")
	}
	s.Checked(key, s.Requested(key), now)
	if s.IsRequested(key) {
		t.Error("requested after the check")
	}
}
