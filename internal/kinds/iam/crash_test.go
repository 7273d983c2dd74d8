// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// killAfter makes the operator die right after the call, before it writes the status.
func killAfter(t *testing.T, s *kindtest.Subject, op string) {
	t.Helper()
	var killed atomic.Bool
	s.Rig.AWS.Fault(emulator.Match{Service: "iam", Op: op, Times: 1}, emulator.ForwardThen(func() { killed.Store(true) }))
	for range 5 {
		_, _ = s.Pass(t.Context(), killed.Load)
		if killed.Load() {
			return
		}
		s.Clock = s.Clock.Add(10 * time.Second)
	}
	t.Fatalf("%s was never called", op)
}

func TestDroppedPolicyOfACrashedPassIsRemoved(t *testing.T) {
	for _, c := range []struct {
		name, op string
		existing []func(*spec)
		edit     []func(*spec)
	}{
		{"an inline policy of a new role", "PutRolePolicy", nil, []func(*spec){inline("one", readOne)}},
		{"an attached policy of a new role", "AttachRolePolicy", nil, []func(*spec){attach(policyA)}},
		{"an inline policy added to a role", "PutRolePolicy", []func(*spec){inline("kept", readTwo)},
			[]func(*spec){inline("kept", readTwo, "one", readOne)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(c.existing...))
			trusted(t)(s)
			if c.existing == nil {
				s.Edit(roleOf(c.edit...))
			} else {
				_, err := s.Settle(t.Context(), nil)
				kindtest.Must(t, err)
				s.Edit(roleOf(c.edit...))
			}
			killAfter(t, s, c.op)
			if st := s.Object.(*v1alpha1.IAMRole).Status; slices.Contains(st.ManagedPolicyNames, "one") ||
				slices.Contains(st.AttachedPolicyArns, policyA) {
				t.Fatalf("the status was written before the kill: %+v", st)
			}
			s.Edit(roleOf(c.existing...))
			if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
				t.Fatalf("%v\n%s", err, s.Rig.AWS.Calls())
			}
			attached, err := api(s.Rig).ListAttachedRolePolicies(t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(name)})
			kindtest.Must(t, err)
			if left := inlineNamesIn(t, s.Rig); slices.Contains(left, "one") || len(left) != len(c.existing) || len(attached.AttachedPolicies) > 0 {
				t.Errorf("left behind: %q %v", left, attached.AttachedPolicies)
			}
		})
	}
}

// Two passes crash, one after writing "one" and one after writing "two"; both are dropped then.
func TestPoliciesOfTwoCrashedPassesAreRemoved(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(inline("one", readOne)))
	trusted(t)(s)
	killAfter(t, s, "PutRolePolicy")
	s.Edit(roleOf(inline("two", readTwo)))
	killAfter(t, s, "PutRolePolicy")
	s.Edit(roleOf())
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatalf("%v\n%s", err, s.Rig.AWS.Calls())
	}
	if left := inlineNamesIn(t, s.Rig); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A deletion that follows a crashed pass removes the role with the policy that the pass wrote.
func TestRoleOfACrashedPassIsDeleted(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(inline("one", readOne)))
	trusted(t)(s)
	killAfter(t, s, "PutRolePolicy")
	s.Edit(roleOf())
	s.Deleting = true
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Gone || exists(t, s.Rig) {
		t.Fatalf("%v\n%s", err, s.Rig.AWS.Calls())
	}
}

// A name on an old record is not proof: another person may have used it again.
func TestPolicyOfOthersWithAnOldNameStays(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(inline("one", readOne)))
	trusted(t)(s)
	for _, o := range []*v1alpha1.IAMRole{roleOf(inline("one", readOne)), roleOf()} {
		s.Edit(o)
		_, err := s.Settle(t.Context(), nil)
		kindtest.Must(t, err)
	}
	putPolicy("one", readTwo)(t, s.Rig)
	s.Edit(roleOf(described("d")))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if left := inlineNamesIn(t, s.Rig); !slices.Equal(left, []string{"one"}) {
		t.Errorf("the role has %q, want the policy of others", left)
	}
}

// A replica of IAM that does not show the role yet must not make the operator forget an attached policy.
func TestHiddenRoleKeepsTheRecordOfItsPolicies(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(attach(policyA)))
	trusted(t)(s)
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	s.Edit(roleOf())
	rule := s.Rig.AWS.Fault(emulator.Match{Service: "iam", Op: "ListAttachedRolePolicies", Times: 1}, emulator.NotFound())
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	out, err := api(s.Rig).ListAttachedRolePolicies(t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(name)})
	kindtest.Must(t, err)
	if rule.Hits() != 1 || len(out.AttachedPolicies) > 0 {
		t.Errorf("left attached: %v (the fault struck %d times)", out.AttachedPolicies, rule.Hits())
	}
}

func TestNamesAreRecordedOnlyForNewPolicies(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(inline("one", readOne)))
	trusted(t)(s)
	commits := func(o *v1alpha1.IAMRole) int {
		before := s.Commits
		if o != nil {
			s.Edit(o)
		}
		_, err := s.Settle(t.Context(), nil)
		kindtest.Must(t, err)
		return s.Commits - before
	}
	if n := commits(nil); n != 1 {
		t.Errorf("a create took %d commits, want 1", n)
	}
	if n := commits(roleOf(inline("one", readOne, "two", readTwo))); n != 1 {
		t.Errorf("a new policy took %d commits, want 1", n)
	}
	if n := commits(roleOf(inline("one", readTwo, "two", readTwo))); n != 0 {
		t.Errorf("an edited document took %d commits, want none", n)
	}
	if n := commits(roleOf(inline("one", readTwo))); n != 0 {
		t.Errorf("a dropped policy took %d commits, want none", n)
	}
}

// Replicas of IAM may not know a new role when its policies are written.
func TestPoliciesOfANewRoleWaitUntilItShows(t *testing.T) {
	for op, policy := range map[string]func(*spec){"PutRolePolicy": inline("one", readOne), "AttachRolePolicy": attach(policyA)} {
		t.Run(op, func(t *testing.T) {
			s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(policy))
			trusted(t)(s)
			rule := s.Rig.AWS.Fault(emulator.Match{Service: "iam", Op: op, Times: 1},
				emulator.Fail(404, "NoSuchEntity", "The role with name "+name+" cannot be found."))
			mark := s.Rig.AWS.Mark()
			_, err := s.Pass(t.Context(), nil)
			if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonProgressing || rule.Hits() != 1 {
				t.Fatalf("got %v, want to wait for the role", err)
			}
			if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
				t.Fatalf("%v\n%s", err, s.Rig.AWS.Calls())
			}
			if writes := s.Rig.AWS.Since(mark).Writes(); writes.Count() != 3 || writes.Match("iam", "CreateRole", "").Count() != 1 {
				t.Errorf("wrote:\n%s", writes)
			}
		})
	}
}

// A policy that does not exist is no reason to wait: a person must name another.
func TestMissingManagedPolicyIsReported(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRole), roleOf(attach(policyA)))
	trusted(t)(s)
	s.Rig.AWS.Fault(emulator.Match{Service: "iam", Op: "AttachRolePolicy"},
		emulator.Fail(404, "NoSuchEntity", "Policy "+policyA+" does not exist or is not attachable."))
	_, err := s.Pass(t.Context(), nil)
	if _, waits := status.AsWaiting(err); err == nil || waits || !strings.Contains(err.Error(), "iam:AttachRolePolicy") {
		t.Fatalf("got %v, want the failed call", err)
	}
}
