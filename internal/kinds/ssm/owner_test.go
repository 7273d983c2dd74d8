package ssm

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

func conflictNames(t *testing.T, err error, name string) {
	t.Helper()
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict || !strings.Contains(st.Message, "parameter "+path+"/"+name+" is not ours") {
		t.Fatalf("got %v, want a Conflict that names %s", err, name)
	}
}

func TestOneForeignParameterKeepsTheSetFromBeingWritten(t *testing.T) {
	for _, tags := range []map[string]string{{"k": "v"}, with(leftBehind(), engine.TagOwner, "SSMParameterSet/team-b/params")} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
		putRaw(t, r, "features", "theirs", tags)
		mark := r.AWS.Mark()
		_, err := s.Settle(t.Context(), nil)
		conflictNames(t, err, "features")
		if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
			t.Errorf("written by halves:\n%s", w)
		}
	}
}

// A value that drifted may be another's, who made it anew under the name.
func TestAParameterMadeAnewByAnotherIsNotOverwritten(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	settle(t, s)
	remove("features")(t, r)
	putRaw(t, r, "features", "theirs", map[string]string{"k": "v"})
	_, err := s.Settle(t.Context(), nil)
	conflictNames(t, err, "features")
	// Dropped from the spec it is none of our business, and nobody deletes it.
	s.Edit(setOf(full, drop("features")))
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
	r.AWS.Fault(awsproxy.Match{Service: "ssm", Op: "GetParameters", Times: 1},
		awsproxy.Observe(func() { putRaw(t, r, "features", "theirs", map[string]string{"k": "v"}) }))
	_, err := s.Settle(t.Context(), nil)
	conflictNames(t, err, "features")
	if got := there(t, r); got["features"] != "theirs" {
		t.Errorf("%v", got)
	}
	s.Deleting = true
	settle(t, s)
	if got := there(t, r); len(got) != 1 || got["features"] != "theirs" {
		t.Errorf("after deletion: %v", got)
	}
}

func once() func() bool {
	done := false
	return func() bool { was := done; done = true; return !was }
}

// The record of what was made is lost with the operator, and the user drops it before it comes back.
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
	_, err := api(r).AddTagsToResource(t.Context(), &ssm.AddTagsToResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: aws.String(path + "/key"),
		Tags: tagList(map[string]string{"team": "x", "theirs": "1"})})
	must(t, err)
	s.Object.SetAnnotations(map[string]string{engine.AnnotationReconcileAt: "now"})
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
	r.AWS.Fault(awsproxy.Match{Service: "ssm", Op: "RemoveTagsFromResource", Resource: path + "/key", Times: 1}, awsproxy.Throttle())
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
	r.AWS.Fault(awsproxy.Match{Service: "ssm", Op: "PutParameter"}, awsproxy.Fail(400, "HierarchyTypeMismatchException", "Parameter Store does not support changing a parameter type in a hierarchy."))
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonImmutable || st.Field != "spec.parameters[features].type" {
		t.Fatal(err)
	}
}

func TestAFailedReadIsNotAbsence(t *testing.T) {
	for op, again := range map[string]awsproxy.Action{
		"GetParameters": awsproxy.Throttle(), "DescribeParameters": awsproxy.Throttle(),
		"ListTagsForResource": awsproxy.Fail(400, "InvalidResourceId", "gone in between"),
	} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
		settle(t, s)
		s.Object.(*v1alpha1.SSMParameterSet).Status = v1alpha1.SSMParameterSetStatus{}
		mark := r.AWS.Mark()
		r.AWS.Fault(awsproxy.Match{Service: "ssm", Op: op, Times: 1}, again)
		settle(t, s)
		for _, w := range r.AWS.Since(mark).Writes() {
			if w.Error != "ParameterAlreadyExists" {
				t.Errorf("%s: %s", op, w)
			}
		}
	}
}
