// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSummary_CountsEachItemOnce(t *testing.T) {
	p := Of([]Item{
		{Action: Create, Risk: Safe, AWS: &Resource{Action: Create, Calls: []Call{{Action: "s3:CreateBucket", Count: 1}, {Action: "s3:PutBucketPolicy", Count: 2}}}},
		{Action: None, AWS: &Resource{Action: Update, Risk: Safe, Calls: []Call{{Action: "s3:PutBucketTagging", Count: 1}}}},
		{Action: Delete, Risk: Safe, AWS: &Resource{Action: Delete, Risk: DataLoss}},
		{Action: Update, Risk: Disrupts, Waits: "x"},
		{Action: None, Problem: &Problem{Reason: "Conflict"}},
		{Action: None},
	})
	if want := (Summary{Create: 1, Update: 2, Delete: 1, Calls: 4, Problems: 1, Waits: 1, Risk: DataLoss}); p.Summary != want {
		t.Errorf("%+v, want %+v", p.Summary, want)
	}
	if p.Empty() || !Of([]Item{{Action: None}, {Action: None, AWS: &Resource{Action: None}}}).Empty() {
		t.Error("a plan is empty when nothing changes, waits or is in the way")
	}
}

func TestNotes_AreThoseThatAPersonShouldKnow(t *testing.T) {
	it := Item{}
	it.addNotes([]kind.Note{{Message: "all is well", True: true}, {Message: "it may not be read", Unknown: true}, {Message: "AWS deprecates spec.properties.A"}, {Message: "a later version runs"}})
	if it.Note != "AWS deprecates spec.properties.A; a later version runs" {
		t.Errorf("%q", it.Note)
	}
}

func TestEmptyPlansAreListsInJSON(t *testing.T) {
	if Of(nil).Items == nil {
		t.Error("items is null")
	}
}

func TestFieldsBetween_IgnoresWhatTheAPIServerWrites(t *testing.T) {
	before := parse(t, "{metadata: {name: a, resourceVersion: '1', generation: 1, uid: u, annotations: {"+lastApplied+": '{}'}, managedFields: [{manager: x}]}, spec: {a: 1, b: {c: x}, l: [1]}, status: {ready: true}}")
	after := parse(t, "{metadata: {name: a, resourceVersion: '2', generation: 2, uid: u, labels: {team: a}}, spec: {a: 2, l: [1, 2]}}")
	want := []Field{{Path: "metadata.labels.team", Want: "a"}, {Path: "spec.a", Have: "1", Want: "2"}, {Path: "spec.b.c", Have: "x"}, {Path: "spec.l", Have: "[1]", Want: "[1,2]"}}
	if got := fieldsBetween(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := fieldsBetween(before, before.DeepCopy()); len(got) > 0 {
		t.Errorf("the same object: %+v", got)
	}
}

func TestFieldsBetween_MasksSecrets(t *testing.T) {
	before := parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {key: b2xk, gone: eA==}}")
	after := parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {key: bmV3}, stringData: {more: text}}")
	for _, f := range fieldsBetween(before, after) {
		if strings.ContainsAny(f.Have+f.Want, "bxt") || f.Have+f.Want == "" {
			t.Errorf("%+v", f)
		}
	}
	if n := len(fieldsBetween(before, after)); n != 3 {
		t.Errorf("%d fields, want 3: a changed key is a change", n)
	}
}

func TestFieldsOf_LeaveOutTheOperatorsOwnAnnotations(t *testing.T) {
	got := fieldsOf([]apply.Difference{{Path: "metadata.annotations.nexus.ai/desired-hash", Want: "x"}, {Path: "spec.replicas", Have: int64(2), Want: int64(3)}})
	if want := []Field{{Path: "spec.replicas", Have: "2", Want: "3"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A field that others own as well is found by several comparisons.
func TestFieldsOf_ListAFieldOnce(t *testing.T) {
	gone := apply.Difference{Path: "data.A", Have: "b"}
	if got := fieldsOf([]apply.Difference{gone, {Path: "data.B", Have: "b"}, gone}); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

// Server-side apply has no type for the fields that it does not know: https://github.com/kubernetes-sigs/structured-merge-diff
func TestRefusal_KnowsWhatServerSideApplyDoesNot(t *testing.T) {
	const begin = "failed to create typed patch object (a/b; nexus.ai/v1, Kind=NexusAICapability): "
	for text, want := range map[string]Problem{
		".spec.bogus: field not declared in schema":                                              {Field: "spec.bogus", Message: "field not declared in schema"},
		"errors:\n  .spec.a: field not declared in schema\n  .spec.b: expected string, got &{1}": {Message: ".spec.a: field not declared in schema; .spec.b: expected string, got &{1}"},
	} {
		got := refusal(&apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: begin + text}})
		if got == nil || got.Field != want.Field || got.Message != want.Message || got.Reason != status.ReasonInvalidSpec {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := refusal(&apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: "etcd is gone"}}); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestFieldsIn_ShowsWhatIsToGo(t *testing.T) {
	got := fieldsIn(kind.Diff{{Path: "Tags[a]", Want: "(unset)", Have: "1", Gone: true}, {Path: "Versioning", Want: "Enabled", Have: strings.Repeat("x", 1000)}})
	if got[0].Want != "" || got[0].Have != "1" || len(got[1].Have) != 1000 {
		t.Errorf("%+v", got)
	}
}

// policyOf is the policy of a capability with tables. It is so long that a new part comes far behind the unchanged part.
func policyOf(tables ...string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["dynamodb:BatchGetItem","dynamodb:BatchWriteItem","dynamodb:ConditionCheckItem",` +
		`"dynamodb:DeleteItem","dynamodb:DescribeTable","dynamodb:GetItem","dynamodb:PutItem","dynamodb:Query","dynamodb:Scan","dynamodb:UpdateItem"],"Resource":["arn:aws:dynamodb:eu-west-1:123456789012:table/` +
		strings.Join(tables, `","arn:aws:dynamodb:eu-west-1:123456789012:table/`) + `"]}]}`
}

func TestFields_ShowWhatAPolicyGains(t *testing.T) {
	before, after := policyOf("a"), policyOf("a", "b")
	object := func(policy string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": "IAMRole", "spec": map[string]any{"inlinePolicies": []any{map[string]any{"policyName": "app", "policyDocument": policy}}}}}
	}
	for name, got := range map[string][]Field{
		"spec.inlinePolicies[app].policyDocument": fieldsBetween(object(before), object(after)),
		"spec.policyDocument":                     fieldsOf([]apply.Difference{{Path: "spec.policyDocument", Have: before, Want: after}}),
		"Inline[app]":                             fieldsIn(kind.Diff{{Path: "Inline[app]", Have: before, Want: after}}),
	} {
		if len(got) != 1 || got[0].Path != name || got[0].Have != before || got[0].Want != after || len(got[0].Statements) != 1 {
			t.Fatalf("%s: %+v", name, got)
		}
		want := []iampolicy.ElementChange{{Element: "Resource", Added: []string{"arn:aws:dynamodb:eu-west-1:123456789012:table/b"}}}
		if s := got[0].Statements[0]; !s.Widens || !reflect.DeepEqual(s.Elements, want) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if got := fieldsIn(kind.Diff{{Path: "Policy", Have: "(unset)", Want: after}}); len(got[0].Statements) != 1 || got[0].Statements[0].Change != iampolicy.StatementAdded {
		t.Errorf("a first policy: %+v", got)
	}
}

func TestContentOf_ShowsWhatIsCreated(t *testing.T) {
	got := contentOf(parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b, labels: {team: x}, annotations: {nexus.ai/desired-hash: x}, ownerReferences: [{name: c}]}, data: {key: b2xk}, l: [{name: x, v: 1}]}"))
	want := []Field{{Path: "data.key", Want: "***"}, {Path: "l[x].name", Want: "x"}, {Path: "l[x].v", Want: "1"}, {Path: "metadata.labels.team", Want: "x"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestCallsOfOneActionAreCounted(t *testing.T) {
	got := sortCalls([]Call{{Action: "b", Count: 1, Risk: Safe}, {Action: "a", Count: 1, Risk: Safe}, {Action: "b", Count: 1, Risk: Safe}, {Action: "b", Count: 1, Risk: DataLoss}})
	if want := []Call{{Action: "a", Count: 1, Risk: Safe}, {Action: "b", Count: 2, Risk: Safe}, {Action: "b", Count: 1, Risk: DataLoss}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAWorseRiskWins(t *testing.T) {
	for i, a := range risks {
		for j, b := range risks {
			if got := worst(a, b); got != risks[max(i, j)] {
				t.Errorf("%q and %q: %q", a, b, got)
			}
		}
	}
}

func TestTheMergePatchRemovesWhatTheManifestNoLongerNames(t *testing.T) {
	live := parse(t, "{metadata: {name: a, annotations: {kept: by-others}}, spec: {a: 1, b: 2, c: by-others}}")
	patch, err := mergePatch(live, parse(t, "{metadata: {name: a}, spec: {a: 1}}"), []byte(`{"metadata":{"name":"a","annotations":{}},"spec":{"a":1,"b":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := string(patch); !strings.Contains(s, `"b":null`) || strings.Contains(s, "by-others") || strings.Contains(s, `"annotations":null`) || strings.Contains(s, `"c"`) {
		t.Errorf("%s", s)
	}
}
