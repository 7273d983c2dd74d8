// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// referenceFields lists the fields of a spec that refer to another object, by their paths.
func referenceFields(t reflect.Type, path string) (out []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t == reflect.TypeFor[v1alpha1.ObjectReference]() {
		return []string{path}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			out = append(out, referenceFields(f.Type, path)...)
		} else {
			out = append(out, referenceFields(f.Type, path+"."+name)...)
		}
	}
	return out
}

// reaches are the kinds with identifiers that mean the same resource in other regions, or in other accounts, with the reason.
var reaches = map[string]struct {
	kind.Reach
	why string
}{
	"Certificate":       {kind.Everywhere, "it is named by its ARN, which has the region and the account"},
	"KMSKey":            {kind.Everywhere, "it is named by its ARN, which has the region and the account"},
	"Route53HostedZone": {kind.Everywhere, "AWS assigns the ID, and no other zone has it"},
	"S3Bucket":          {kind.Everywhere, "the name of a bucket is unique in a partition"},
	"SNSTopic":          {kind.Everywhere, "it is named by its ARN, which has the region and the account"},
	"SQSQueue":          {kind.Everywhere, "it is named by its URL or ARN, which have the region and the account"},
	"IAMRole":           {kind.WithinAccount, "IAM has no regions"},
}

// A kind with identifiers that reach further than the region of its resource says so, and no other kind does.
func TestReach_IsDecidedForEveryKind(t *testing.T) {
	for _, e := range catalog.Kinds() {
		if want := reaches[e.Name()]; e.Meta().Facts.Reach != want.Reach {
			t.Errorf("%s: reach %v, want %v: %s", e.Name(), e.Meta().Facts.Reach, want.Reach, want.why)
		}
	}
}

// target is the state of an object that a reference names, and whether the reference may lead to its resource: for a role and for
// every other kind.
type target struct {
	name        string
	edit        func(spec *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus)
	role, other bool
	// foreign are the patterns of --foreign-resources; anywhere says that kinds with identifiers that mean the same everywhere may be referred
	// to all the same.
	foreign  []string
	anywhere bool
	// deleting objects have a deletion timestamp; theirs are kept by the operator's finalizer, those that are left behind by another.
	deleting, leftBehind, paused bool
}

var targets = []target{
	{name: "owned", role: true, other: true, edit: func(*v1alpha1.CommonSpec, *v1alpha1.CommonStatus) {}},
	{name: "adopted", role: true, other: true,
		edit: func(s *v1alpha1.CommonSpec, _ *v1alpha1.CommonStatus) { s.AdoptionPolicy = v1alpha1.AdoptAlways }},
	{name: "observed", other: true, edit: func(s *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
		s.ManagementPolicy, st.Ownership = v1alpha1.ManageObserve, v1alpha1.OwnershipObserved
	}},
	{name: "observed, another namespace's", edit: func(s *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
		s.ManagementPolicy, st.Ownership = v1alpha1.ManageObserve, v1alpha1.OwnershipObservedForeign
	}},
	// A paused object keeps the status of the time before.
	{name: "paused after it observed",
		edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) { st.Ownership = v1alpha1.OwnershipObserved }},
	{name: "disputed", edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) { st.Ownership = v1alpha1.OwnershipDisputed }},
	{name: "in conflict", edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
		st.Conditions = []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonConflict}}
	}},
	// While AWS may still be slow to show tags, the status stays as it is; after that time the owner is unproven.
	{name: "untagged", edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
		st.Ownership = v1alpha1.OwnershipDisputed
		st.Conditions = []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonOwnershipUnknown}}
	}},
	{name: "in deletion", role: true, other: true, deleting: true, edit: func(*v1alpha1.CommonSpec, *v1alpha1.CommonStatus) {}},
	{name: "deleted, and kept by another's finalizer", leftBehind: true, edit: func(*v1alpha1.CommonSpec, *v1alpha1.CommonStatus) {}},
	{name: "observed, deleted, and kept by another's finalizer", leftBehind: true,
		edit: func(s *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
			s.ManagementPolicy, st.Ownership = v1alpha1.ManageObserve, v1alpha1.OwnershipObserved
		}},
	{name: "in deletion, and paused", deleting: true, paused: true, edit: func(*v1alpha1.CommonSpec, *v1alpha1.CommonStatus) {}},
	{name: "owned, and paused", role: true, other: true, paused: true, edit: func(*v1alpha1.CommonSpec, *v1alpha1.CommonStatus) {}},
	{name: "observed, and paused", edit: func(s *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
		s.ManagementPolicy, st.Ownership = v1alpha1.ManageObserve, v1alpha1.OwnershipObserved
	}, paused: true},
	{name: "observed, and no pattern allows it", foreign: []string{"arn:aws:y:*"},
		edit: func(s *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
			s.ManagementPolicy, st.Ownership = v1alpha1.ManageObserve, v1alpha1.OwnershipObserved
		}},
	{name: "observed, and a pattern allows it", other: true, foreign: []string{"arn:aws:x:*"},
		edit: func(s *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
			s.ManagementPolicy, st.Ownership = v1alpha1.ManageObserve, v1alpha1.OwnershipObserved
		}},
	{name: "in this place", role: true, other: true,
		edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) { st.Home = "aws/123456789012/eu-west-1" }},
	{name: "in another region", role: true, anywhere: true,
		edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) { st.Home = "aws/123456789012/eu-west-2" }},
	{name: "in another account", anywhere: true,
		edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) { st.Home = "aws/999999999999/eu-west-1" }},
	{name: "in another region, by its ARN", role: true, anywhere: true, edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) {
		st.ARN = "arn:aws:x:eu-west-2:123456789012:id"
	}},
	{name: "not looked at yet", edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) { *st = v1alpha1.CommonStatus{} }},
	{name: "created and not read yet", edit: func(_ *v1alpha1.CommonSpec, st *v1alpha1.CommonStatus) { st.ARN, st.Ownership = "", "" }},
}

// stateOf makes an object of a kind in a state.
func stateOf(e engine.Entry, of target) v1alpha1.Resource {
	obj := e.New()
	obj.SetNamespace("team")
	st := obj.CommonStatus()
	st.ID, st.ARN, st.Ownership = "id", "arn:aws:x:::id", v1alpha1.OwnershipOwned
	of.edit(obj.CommonSpec(), st)
	if of.paused {
		obj.SetAnnotations(map[string]string{wellknown.AnnotationPaused: "true"})
	}
	if of.deleting || of.leftBehind {
		now := metav1.Now()
		obj.SetDeletionTimestamp(&now)
		obj.SetFinalizers([]string{"example.com/keep"})
	}
	if of.deleting {
		obj.SetFinalizers(append(obj.GetFinalizers(), v1alpha1.FinalizerOf(e.Name())))
	}
	return obj
}

// referable returns the kinds that objects of a kind can refer to.
func referable(e engine.Entry, all map[string]engine.Entry) []string {
	names := e.Meta().References
	if slices.Contains(names, kind.AnyKind) {
		return slices.Sorted(maps.Keys(all))
	}
	return names
}

// Every field that refers to an object is resolved by the state of that object: each kind that a reference can name, in every state,
// and an object that is deleted, or of another namespace, which no reference finds.
func TestReferencesLeadOnlyToWhatTheirObjectsOwn(t *testing.T) {
	entries := map[string]engine.Entry{}
	for _, e := range catalog.Kinds() {
		entries[e.Name()] = e
	}
	rows := 0
	for _, e := range catalog.Kinds() {
		spec, _ := reflect.TypeOf(e.New()).Elem().FieldByName("Spec")
		fields := slices.DeleteFunc(referenceFields(spec.Type, "spec"), func(path string) bool { return path == "spec.providerRef" })
		if len(fields) > 0 && len(e.Meta().References) == 0 {
			t.Errorf("%s: %v refer to kinds that Meta.References does not name", e.Name(), fields)
		}
		for _, kindName := range referable(e, entries) {
			for _, of := range targets {
				rows++
				may := mayReferTo(of, entries[kindName])
				if got, err := engine.TargetOf(engine.Referrer{Home: "aws/123456789012/eu-west-1", Foreign: of.foreign}, entries[kindName], "x",
					stateOf(entries[kindName], of)); (err == nil) != may {
					t.Errorf("%s to %s, %s: %+v, %v", e.Name(), kindName, of.name, got, err)
				}
			}
			if got, err := engine.TargetOf(engine.Referrer{}, entries[kindName], "x", nil); err == nil {
				t.Errorf("%s to an absent %s: %+v", e.Name(), kindName, got)
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows", rows)
	}
}
