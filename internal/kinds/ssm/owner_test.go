// SPDX-License-Identifier: Apache-2.0

package ssm

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func stalledOver(t *testing.T, err error, reason, name string) {
	t.Helper()
	if st, ok := status.AsStalled(err); !ok || st.Reason != reason || !strings.Contains(st.Message, "(parameter "+path+"/"+name+")") {
		t.Fatalf("got %v, want %s that names %s", err, reason, name)
	}
}

func TestOneForeignParameterKeepsTheSetFromBeingWritten(t *testing.T) {
	for _, tags := range []map[string]string{{"k": "v"}, with(leftBehind(), wellknown.TagOwner, "SSMParameterSet/team-b/params")} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
		putRaw(t, r, "features", "theirs", tags)
		mark := r.AWS.Mark()
		_, err := s.Settle(t.Context(), nil)
		stalledOver(t, err, status.ReasonConflict, "features")
		if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
			t.Errorf("written by halves:\n%s", w)
		}
	}
}

// A recorded parameter that lost its tags may be another's, who created the name again. It is neither
// overwritten nor deleted, and not given up.
func TestAParameterThatAnotherCreatedAgainIsNotOverwritten(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	settle(t, s)
	remove("features")(t, r)
	putRaw(t, r, "features", "theirs", map[string]string{"k": "v"})
	_, err := s.Settle(t.Context(), nil)
	stalledOver(t, err, status.ReasonOwnershipUnknown, "features")
	// Dropped from the spec, it is still on record.
	s.Edit(setOf(full, drop("features")))
	_, err = s.Settle(t.Context(), nil)
	stalledOver(t, err, status.ReasonOwnershipUnknown, "features")
	if got := there(t, r); got["features"] != "theirs" || len(got) != 3 {
		t.Errorf("%v", got)
	}
	// With another owner's tags it is left alone at once.
	_, err = api(r).AddTagsToResource(t.Context(),
		&ssm.AddTagsToResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: aws.String(path + "/features"),
			Tags: kind.SDKTags[types.Tag](with(leftBehind(), wellknown.TagOwner, "SSMParameterSet/team-b/params"))})
	kindtest.Must(t, err)
	settle(t, s)
	if got := there(t, r); got["features"] != "theirs" || len(got) != 3 {
		t.Errorf("%v", got)
	}
	if got := s.Object.(*v1alpha1.SSMParameterSet).Status; slices.Contains(got.ManagedNames, "features") || got.Count != 2 {
		t.Errorf("%+v", got)
	}
}

func TestAForeignParameterMadeInBetweenIsNotOverwritten(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	r.AWS.Fault(emulator.Match{Service: "ssm", Op: "GetParameters", Times: 1},
		emulator.Observe(func() { putRaw(t, r, "features", "theirs", map[string]string{"k": "v"}) }))
	_, err := s.Settle(t.Context(), nil)
	stalledOver(t, err, status.ReasonConflict, "features")
	if got := there(t, r); got["features"] != "theirs" {
		t.Errorf("%v", got)
	}
	s.Deleting = true
	settle(t, s)
	if got := there(t, r); len(got) != 1 || got["features"] != "theirs" {
		t.Errorf("after deletion: %v", got)
	}
}

// AWS creates a parameter that is to be overwritten and was deleted in between, and it has no tags then. It is tagged again,
// and the set can still be deleted.
func TestAParameterDeletedBeforeItIsOverwrittenIsStillTheSets(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	settle(t, s)
	ours := tagsOf(t, r, "features")
	s.Edit(setOf(full, set("features", func(p *param) { p.Value = "other" })))
	r.AWS.Fault(emulator.Match{Service: "ssm", Op: "PutParameter", Times: 1}, emulator.After(func() { remove("features")(t, r) }))
	settle(t, s)
	if got := tagsOf(t, r, "features"); !maps.Equal(got, ours) {
		t.Errorf("tags %v, want %v", got, ours)
	}
	if got := there(t, r); got["features"] != "other" {
		t.Errorf("%v", got)
	}
	s.Deleting = true
	settle(t, s)
	if got := there(t, r); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

// The parameters that are proven to be the object's are deleted, and the one in doubt is held.
func TestADeletionHoldsARecordedParameterWithoutTags(t *testing.T) {
	for _, back := range []bool{false, true} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
		settle(t, s)
		ours := tagsOf(t, r, "features")
		remove("features")(t, r)
		putRaw(t, r, "features", "theirs", map[string]string{"k": "v"})
		s.Deleting = true
		_, err := s.Settle(t.Context(), nil)
		stalledOver(t, err, status.ReasonOwnershipUnknown, "features")
		if got := there(t, r); len(got) != 1 || got["features"] != "theirs" {
			t.Fatalf("%v", got)
		}
		if got := s.Object.(*v1alpha1.SSMParameterSet).Status.ManagedNames; !slices.Contains(got, "features") {
			t.Fatalf("recorded: %v", got)
		}
		// The remedy: restore the tags, or mark it as another's.
		if !back {
			ours = with(ours, wellknown.TagOwner, "SSMParameterSet/team-b/params")
		}
		_, err = api(r).AddTagsToResource(t.Context(),
			&ssm.AddTagsToResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: aws.String(path + "/features"),
				Tags: kind.SDKTags[types.Tag](ours)})
		kindtest.Must(t, err)
		settle(t, s)
		if got := there(t, r); (len(got) == 0) != back {
			t.Errorf("%v", got)
		}
	}
}

func once() func() bool {
	done := false
	return func() bool { was := done; done = true; return !was }
}

// The record of a created parameter is lost with the operator, and the user drops the parameter before the operator comes back.
func TestWhatACrashLeftUnrecordedIsFoundAndDeleted(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
		settle(t, s)
		s.Edit(setOf(full, value("stray", "x")))
		_, err := s.Pass(t.Context(), once())
		if err == nil || there(t, r)["stray"] != "x" {
			t.Fatal("not killed after the write")
		}
		s.Edit(setOf(full))
		s.Deleting = deleting
		settle(t, s)
		if !deleting {
			settle(t, s) // the next check
		}
		if got := there(t, r); got["stray"] != "" || len(got) != map[bool]int{false: 3, true: 0}[deleting] {
			t.Errorf("deleting=%v: %v", deleting, got)
		}
	}
}

func TestATagChangedOutsideIsSeenWhenAskedFor(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full, func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }))
	settle(t, s)
	_, err := api(r).AddTagsToResource(t.Context(),
		&ssm.AddTagsToResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: aws.String(path + "/key"),
			Tags: kind.SDKTags[types.Tag](map[string]string{"team": "x", "theirs": "1"})})
	kindtest.Must(t, err)
	s.Object.SetAnnotations(map[string]string{wellknown.AnnotationReconcileAt: "now"})
	settle(t, s)
	if got := tagsOf(t, r, "key"); got["team"] != "a" || got["theirs"] != "1" {
		t.Errorf("%v", got)
	}
}

// The provider's default tags change without an edit of the object.
func TestOtherDefaultTagsReachEveryParameter(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	settle(t, s)
	s.DefaultTags = map[string]string{"cost": "1"}
	settle(t, s)
	for name := range there(t, r) {
		if tagsOf(t, r, name)["cost"] != "1" {
			t.Errorf("%s is not tagged", name)
		}
	}
	// A removal that fails is not forgotten.
	s.DefaultTags = nil
	r.AWS.Fault(emulator.Match{Service: "ssm", Op: "RemoveTagsFromResource", Resource: path + "/key", Times: 1}, emulator.Throttle())
	settle(t, s)
	for name := range there(t, r) {
		if _, ok := tagsOf(t, r, name)["cost"]; ok {
			t.Errorf("%s is still tagged", name)
		}
	}
}

func TestAnOrphanKeepsItsValuesAndOthersTags(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full, func(s *spec) {
		s.DeletionPolicy, s.Tags = v1alpha1.DeletionOrphan, map[string]v1alpha1.TagValue{"team": "a"}
	}))
	settle(t, s)
	s.Deleting = true
	settle(t, s)
	if got := there(t, r); len(got) != 3 || got["key"] != "hush" {
		t.Errorf("%v", got)
	}
	if got := tagsOf(t, r, "key"); !maps.Equal(got, map[string]string{"team": "a"}) {
		t.Errorf("%v", got)
	}
}

func TestATypeThatAWSDoesNotChangeIsExplained(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	settle(t, s)
	s.Edit(setOf(full, set("features", func(p *param) { p.Type = "SecureString" })))
	r.AWS.Fault(emulator.Match{Service: "ssm", Op: "PutParameter"},
		emulator.Fail(400, "HierarchyTypeMismatchException", "Parameter Store does not support changing a parameter type in a hierarchy."))
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonImmutable || st.Field != "spec.parameters[features].type" {
		t.Fatal(err)
	}
}

func TestAFailedReadIsNotAbsence(t *testing.T) {
	for op, again := range map[string]emulator.Action{
		"GetParameters": emulator.Throttle(), "DescribeParameters": emulator.Throttle(),
		"ListTagsForResource": emulator.Fail(400, "InvalidResourceId", "gone in between"),
	} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
		settle(t, s)
		s.Object.(*v1alpha1.SSMParameterSet).Status = v1alpha1.SSMParameterSetStatus{}
		mark := r.AWS.Mark()
		r.AWS.Fault(emulator.Match{Service: "ssm", Op: op, Times: 1}, again)
		settle(t, s)
		for _, w := range r.AWS.Since(mark).Writes() {
			if w.Error != "ParameterAlreadyExists" {
				t.Errorf("%s: %s", op, w)
			}
		}
	}
}

// A throttled create leaves parameters that no status records. Their tags may be empty for seconds: the
// set is neither in Conflict, nor written again, nor leaked by a deletion.
func TestParameterSet_LaggingTagsAreNotForeign(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
		r.AWS.Fault(emulator.Match{Service: "ssm", Op: "PutParameter", Resource: path + "/key", Times: 1}, emulator.Throttle())
		r.AWS.SetClock(func() time.Time { return s.Clock })
		r.AWS.SetLag(emulator.Lag{Tags: emulator.TagLag{Window: emulator.ForTime(10 * time.Second), Empty: true},
			Lists: emulator.ForTime(10 * time.Second)})
		t.Cleanup(func() { r.AWS.SetLag(emulator.Lag{}); r.AWS.SetClock(nil) })
		if _, err := s.Pass(t.Context(), nil); err == nil || len(there(t, r)) != 2 {
			t.Fatalf("the create is not interrupted: %v", err)
		}
		s.Forget()
		s.Deleting = deleting
		settle(t, s)
		r.AWS.SetLag(emulator.Lag{})
		if got := there(t, r); len(got) != map[bool]int{false: 3, true: 0}[deleting] {
			t.Errorf("deleting=%v: %v", deleting, got)
		}
		if n := r.AWS.Calls().Match("ssm", "PutParameter",
			"").Filter(func(c emulator.Call) bool { return c.Status < 300 }).Count(); n != map[bool]int{false: 3, true: 2}[deleting] {
			t.Errorf("deleting=%v: %d puts", deleting, n)
		}
	}
}
