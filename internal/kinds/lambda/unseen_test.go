// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Lambda answers a reader who may not use the key with an error in the place of the variables, and with success.
func TestVariablesThatLambdaDoesNotShowAreNotWritten(t *testing.T) {
	s := subject(t, functionOf(encrypted(key+"a"), variables("A1", "b")))
	kindtest.Settled(t, s)
	s.Rig.AWS.Lambda.SetVariablesHidden("AccessDeniedException")
	mark := s.Rig.AWS.Mark()
	_, err := s.Pass(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonAccessDenied || !strings.Contains(st.Message, "allow kms:Decrypt") ||
		!strings.Contains(st.Message, key+"a") {
		t.Errorf("got %v", err)
	}
	if n := s.Rig.AWS.Since(mark).Match("lambda", "Update*", "").Count(); n > 0 {
		t.Errorf("%d updates", n)
	}
	seen, err := NewFunction(s.Rig.Config).Observe(t.Context(), FunctionState{FunctionName: stored}, kind.Look{})
	if kindtest.Must(t, err); !slices.ContainsFunc(seen.Omitted, func(o string) bool {
		return strings.HasPrefix(o, "spec.environment: ") && strings.Contains(o, "kms:Decrypt")
	}) {
		t.Errorf("an export leaves out %q", seen.Omitted)
	}
	s.Edit(functionOf(encrypted(key+"a"), sized(512, 30))) // variables that are not declared need not be seen
	kindtest.Settled(t, s)
	s.Edit(functionOf(encrypted(key+"a"), variables("A1", "b")))
	s.Deleting = true
	kindtest.Settled(t, s)
	if exists(t, s.Rig) {
		t.Error("the function is left")
	}
}

// AWS binds a function to the unique ID of its role, so that another role of the name does not serve it.
func TestARoleThatWasCreatedAgainIsSentAgain(t *testing.T) {
	s := subject(t, functionOf(encrypted(key+"a"), variables("A1", "b")))
	role := func(id string) {
		s.Targets["IAMRole/worker"] = kind.Target{ID: "worker", ARN: roles + "worker", Attributes: map[string]string{"roleId": id}}
	}
	updates := func() int { return s.Rig.AWS.Calls().Match("lambda", "UpdateFunctionConfiguration", "").Count() }
	role("AROA1")
	kindtest.Settled(t, s)
	kindtest.Settled(t, s)
	if n := updates(); n != 0 {
		t.Fatalf("%d updates of a new function", n)
	}
	role("AROA2")
	kindtest.Settled(t, s)
	kindtest.Settled(t, s)
	if n := updates(); n != 1 {
		t.Errorf("%d updates after the role was created again", n)
	}
	if got := observed(t, s.Rig).Configuration; got.Environment.Variables["A1"] != "b" || aws.ToString(got.KMSKeyArn) != key+"a" {
		t.Errorf("%+v", got)
	}
}

// A pipeline pushes the image later: that is no mistake of the manifest.
func TestAnImageThatIsNotPushedYetIsWaitedFor(t *testing.T) {
	s := subject(t, functionOf(imaged("later")))
	waits := func() {
		t.Helper()
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.For, "image "+image+"later to be pushed") {
			t.Errorf("got %v", err)
		}
		// By these conditions kstatus takes the object for in progress, and not for failed.
		var conditions []metav1.Condition
		status.Summarize(&conditions, status.Result{Err: err, Generation: 1, Now: s.Clock})
		if !meta.IsStatusConditionTrue(conditions, status.Reconciling) || meta.IsStatusConditionTrue(conditions, status.Stall) {
			t.Errorf("%+v", conditions)
		}
	}
	s.Rig.AWS.Lambda.SetImagesMissing("later")
	waits()
	s.Rig.AWS.Lambda.SetImagesMissing("")
	kindtest.Settled(t, s)
	s.Rig.AWS.Lambda.SetImagesMissing("latest")
	s.Edit(functionOf(imaged("latest")))
	_, err := s.Pass(t.Context(), nil)
	if _, ok := status.AsWaiting(err); !ok {
		t.Errorf("got %v", err)
	}
	s.Rig.AWS.Lambda.SetImagesMissing("")
	kindtest.Settled(t, s)
}

func TestAnArchiveThatIsNotUploadedYetIsWaitedFor(t *testing.T) {
	s := subject(t, functionOf(zipped("later.zip")))
	s.Rig.AWS.Lambda.SetImagesMissing("later.zip")
	waits := func(key string) {
		t.Helper()
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.For, "archive s3://"+bucket+"/"+key+" to be uploaded") ||
			w.After > time.Minute {
			t.Errorf("got %v", err)
		}
		s.Rig.AWS.Lambda.SetImagesMissing("")
		kindtest.Settled(t, s)
	}
	waits("later.zip")
	s.Rig.AWS.Lambda.SetImagesMissing("next.zip")
	s.Edit(functionOf(zipped("next.zip")))
	waits("next.zip")
}

// The documentation leaves open how Lambda shows a key that was named by an alias.
func TestAKeyNamedByItsAliasIsAtRestInBothForms(t *testing.T) {
	want := alias + "own"
	for _, shown := range []string{want, key + "a"} {
		if got := keyAs(&want, &shown); *got != want {
			t.Errorf("%s counts as %s", shown, *got)
		}
	}
	for _, shown := range []string{"", alias + "other"} {
		if got := keyAs(&want, &shown); *got != shown {
			t.Errorf("%s counts as %s", shown, *got)
		}
	}
}

func TestStatesInWhichAFunctionDoesNotServe(t *testing.T) {
	s := subject(t, functionOf())
	kindtest.Settled(t, s)
	for _, state := range []string{"Pending", "Deactivating", "Deleting"} {
		s.Rig.AWS.Lambda.SetFunctionState(state)
		if _, err := s.Pass(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the function is "+state) {
			t.Errorf("%s: %v", state, err)
		}
	}
	for _, state := range []string{"Failed", "Deactivated", "ActiveNonInvocable"} {
		s.Rig.AWS.Lambda.SetFunctionState(state)
		_, err := s.Pass(t.Context(), nil)
		if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonRefusedByAWS {
			t.Errorf("%s: %v", state, err)
		}
	}
	for _, state := range []string{"Inactive", ""} {
		s.Rig.AWS.Lambda.SetFunctionState(state)
		kindtest.Settled(t, s)
	}
}
