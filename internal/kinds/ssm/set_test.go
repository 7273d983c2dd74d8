// SPDX-License-Identifier: Apache-2.0

package ssm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const path = "/myapp/dev"

type (
	spec  = v1alpha1.SSMParameterSetSpec
	param = v1alpha1.SSMParameter
)

func setOf(changes ...func(s *spec)) *v1alpha1.SSMParameterSet {
	o := &v1alpha1.SSMParameterSet{}
	o.Name = "params"
	o.Spec.Path, o.Spec.Parameters = path, map[string]param{}
	for _, change := range changes {
		change(&o.Spec)
	}
	return o
}

func full(s *spec) {
	s.Parameters = map[string]param{
		"dynamodb/license-table": {Value: "licenses", Description: aws.String("where licenses are")},
		"features":               {Value: "a,b", Type: "StringList", Tier: "Advanced"},
		"key":                    {Value: "hush", Type: "SecureString", KeyID: "alias/nexus"},
	}
}

func set(name string, change func(p *param)) func(s *spec) {
	return func(s *spec) {
		p := s.Parameters[name]
		change(&p)
		s.Parameters[name] = p
	}
}

func value(name, v string) func(s *spec) { return set(name, func(p *param) { p.Value = v }) }

func drop(name string) func(s *spec) { return func(s *spec) { delete(s.Parameters, name) } }

func api(r *kindtest.Rig) *ssm.Client { return ssm.NewFromConfig(r.Config) }

func putRaw(t *testing.T, r *kindtest.Rig, name, v string, tags map[string]string) {
	t.Helper()
	in := &ssm.PutParameterInput{Name: aws.String(path + "/" + name), Value: &v, Type: types.ParameterTypeString}
	if tags != nil {
		in.Tags = kind.SDKTags[types.Tag](tags)
	} else {
		in.Overwrite = aws.Bool(true)
	}
	_, err := api(r).PutParameter(t.Context(), in)
	kindtest.Must(t, err)
}

// write changes a value behind our back; make makes a parameter with tags.
func write(name, v string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { t.Helper(); putRaw(t, r, name, v, nil) }
}

func made(name, v string, tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { t.Helper(); putRaw(t, r, name, v, tags) }
}

func remove(names ...string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).DeleteParameters(t.Context(), &ssm.DeleteParametersInput{Names: ParameterSetState{Path: path}.fulls(names)})
		kindtest.Must(t, err)
	}
}

// there are the parameters under the path, with their values.
func there(t *testing.T, r *kindtest.Rig) map[string]string {
	t.Helper()
	out := map[string]string{}
	pages := ssm.NewGetParametersByPathPaginator(api(r),
		&ssm.GetParametersByPathInput{Path: aws.String(path), Recursive: aws.Bool(true), WithDecryption: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		kindtest.Must(t, err)
		for _, p := range page.Parameters {
			out[strings.TrimPrefix(*p.Name, path+"/")] = *p.Value
		}
	}
	return out
}

func tagsOf(t *testing.T, r *kindtest.Rig, name string) map[string]string {
	t.Helper()
	out, err := api(r).ListTagsForResource(t.Context(),
		&ssm.ListTagsForResourceInput{ResourceType: types.ResourceTypeForTaggingParameter, ResourceId: aws.String(path + "/" + name)})
	kindtest.Must(t, err)
	tags := map[string]string{}
	for _, tag := range out.TagList {
		tags[*tag.Key] = *tag.Value
	}
	return tags
}

func leftBehind() map[string]string {
	return map[string]string{wellknown.TagManagedBy: "nexus-operator", wellknown.TagCluster: kindtest.Cluster,
		wellknown.TagOwner: "SSMParameterSet/" + kindtest.Namespace + "/params", wellknown.TagOwnerUID: "an-earlier-one"}
}

func with(tags map[string]string, k, v string) map[string]string {
	out := maps.Clone(tags)
	out[k] = v
	return out
}

func all(fs ...func(*testing.T, *kindtest.Rig)) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		for _, f := range fs {
			f(t, r)
		}
	}
}

func times(n int, action string) []string { return slices.Repeat([]string{action}, n) }

const (
	putAction    = "ssm:PutParameter"
	deleteAction = "ssm:DeleteParameters"
	tagAction    = "ssm:AddTagsToResource"
	untagAction  = "ssm:RemoveTagsFromResource"
)

// onPath is one diff path.
func onPath(name, field string) []string { return []string{"Parameters[" + name + "]" + field} }

func TestParameterSet(t *testing.T) {
	edited := func(name string, diff []string, actions []string, change func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: setOf(full), Object: setOf(full, change), Cause: engine.Edited, Diff: diff, Actions: actions}
	}
	drifted := func(name string, before func(*testing.T, *kindtest.Rig), diff []string, actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: setOf(full), Object: setOf(full), Drift: true, Before: before, Cause: engine.Drifted,
			Diff: diff, Actions: actions}
	}
	tagged := func(tags map[string]v1alpha1.TagValue) func(s *spec) { return func(s *spec) { s.Tags = tags } }
	orphan := func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }
	adopt := func(s *spec) {
		s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain
	}
	one := func(s *spec) { s.Parameters["a"] = param{Value: "1"} }
	put := []string{putAction}
	kindtest.Run(t, engine.For(NewParameterSet), []kindtest.Case{
		{Name: "absent ones are created, each by one call", Object: setOf(full), Cause: engine.New, Actions: times(3, putAction)},
		{Name: "an empty set is in sync", Object: setOf(), Cause: engine.InSync},
		{Name: "an empty set grows", Existing: setOf(), Object: setOf(one), Cause: engine.New, Actions: put},
		{Name: "AWS may choose the tier",
			Object: setOf(one, set("a", func(p *param) { p.Tier = "Intelligent-Tiering"; p.Value = strings.Repeat("x", 5000) })), Cause: engine.New,
			Actions: put},
		edited("a value is edited", onPath("features", ".Value"), put, value("features", "c")),
		edited("a secret is edited", onPath("key", ".Secret"), put, value("key", "hush!")),
		edited("a secret becomes plain", []string{"Parameters[key].Type", "Parameters[key].Value"}, put,
			set("key", func(p *param) { p.Type, p.KeyID = "", "" })),
		edited("a plain value becomes a secret", []string{"Parameters[features].Type", "Parameters[features].Secret"}, put,
			set("features", func(p *param) { p.Type = "SecureString" })),
		edited("a list becomes a string", onPath("features", ".Type"), put, set("features", func(p *param) { p.Type = "String" })),
		edited("a description is edited", onPath("dynamodb/license-table", ".Description"), put,
			set("dynamodb/license-table", func(p *param) { p.Description = aws.String("new") })),
		edited("a description is cleared", onPath("dynamodb/license-table", ".Description"), put,
			set("dynamodb/license-table", func(p *param) { p.Description = aws.String("") })),
		edited("an advanced secret is encrypted by a data key", onPath("key", ".Tier"), put, set("key", func(p *param) { p.Tier = "Advanced" })),
		edited("a key is edited", onPath("key", ".KeyID"), put, set("key", func(p *param) { p.KeyID = "alias/other" })),
		{Name: "a tier is raised", Existing: setOf(one, set("a", func(p *param) { p.Tier = "Standard" })),
			Object: setOf(one, set("a", func(p *param) { p.Tier = "Advanced" })),
			Cause:  engine.Edited, Diff: onPath("a", ".Tier"), Actions: put},
		edited("one is added and one dropped", []string{"Parameters[a]", "Parameters[key]"}, []string{putAction, deleteAction},
			func(s *spec) { one(s); drop("key")(s) }),
		edited("all are dropped, ten a call", []string{"Parameters[dynamodb/license-table]", "Parameters[features]", "Parameters[key]"},
			[]string{deleteAction},
			func(s *spec) { s.Parameters = map[string]param{} }),
		edited("all are renamed", []string{"Parameters[a]", "Parameters[dynamodb/license-table]", "Parameters[features]", "Parameters[key]"},
			[]string{putAction, deleteAction},
			func(s *spec) { s.Parameters = map[string]param{}; one(s) }),
		{Name: "what is not declared is not managed", Existing: setOf(one), Object: setOf(one), Drift: true, Cause: engine.InSync,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).PutParameter(t.Context(),
					&ssm.PutParameterInput{Name: aws.String(path + "/a"), Value: aws.String("1"), Overwrite: aws.Bool(true),
						Description: aws.String("theirs"), Tier: types.ParameterTierAdvanced})
				kindtest.Must(t, err)
			}},
		drifted("a value changed outside is set again", write("features", "x"),
			[]string{"Parameters[features].Type", "Parameters[features].Value"}, putAction),
		drifted("one that vanished is made again", remove("key"), onPath("key", ""), putAction),
		{Name: "all that vanished are made again", Existing: setOf(full), Object: setOf(full), Drift: true,
			Before: remove("key", "features", "dynamodb/license-table"),
			Cause:  engine.New, Actions: times(3, putAction)},
		{Name: "others under the path are left alone", Existing: setOf(full), Object: setOf(full), Drift: true,
			Before: made("theirs", "x", map[string]string{"k": "v"}), Cause: engine.InSync},
		{Name: "tags are added, changed and dropped on each, and others' stay",
			Existing: setOf(one, tagged(map[string]v1alpha1.TagValue{"old": "1", "team": "a"})),
			Object:   setOf(one, tagged(map[string]v1alpha1.TagValue{"team": "b", "new": ""})), Cause: engine.Edited,
			Diff:    []string{"Parameters[a].Tags[new]", "Parameters[a].Tags[team]", "Parameters[a].Tags[old]"},
			Actions: []string{tagAction, untagAction}},
		{Name: "tags of two are two calls", Existing: setOf(one, value("b", "2")),
			Object: setOf(one, value("b", "2"), tagged(map[string]v1alpha1.TagValue{"team": "b"})), Cause: engine.Edited,
			Diff: []string{"Parameters[a].Tags[team]", "Parameters[b].Tags[team]"}, Actions: times(2, tagAction)},
		{Name: "an empty value is refused", Object: setOf(value("a", "")), Stalled: status.ReasonInvalidSpec},
		{Name: "a value of 5000 bytes needs a higher tier", Object: setOf(value("a", strings.Repeat("x", 5000))),
			Stalled: status.ReasonInvalidSpec},
		{Name: "deleting", Existing: setOf(full), Object: setOf(full), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{deleteAction}},
		{Name: "deleting an empty set", Existing: setOf(), Object: setOf(), Deleting: true, Drift: true, Cause: engine.Gone},
		{Name: "deleting leaves another owner's parameter alone", Existing: setOf(full), Object: setOf(full), Deleting: true, Drift: true,
			Before: all(remove("features"), made("features", "x", with(leftBehind(), wellknown.TagOwner, "SSMParameterSet/team-b/params"))),
			Cause:  engine.Deleting, Actions: []string{deleteAction}},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: setOf(full, orphan), Object: setOf(full, orphan),
			Deleting: true, Drift: true, Cause: engine.Deleting,
			Diff:    []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"},
			Actions: times(3, untagAction)},
		{Name: "left by an earlier object of this name, it is taken over", Object: setOf(one, value("b", "2")),
			Before: made("a", "old", leftBehind()),
			Cause:  engine.Edited, Diff: []string{"Parameters[a].Value", "Parameters[a].Tags[nexus.ai/owner-uid]", "Parameters[b]"},
			Actions: []string{putAction, tagAction, putAction}},
		{Name: "unless adoption is refused", Object: setOf(one, func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: made("a", "1", leftBehind()), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: setOf(one), Before: made("a", "1", with(leftBehind(), wellknown.TagCluster, "another")),
			Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone among an earlier object's", Object: setOf(one, value("b", "1")),
			Before:  all(made("a", "1", with(leftBehind(), wellknown.TagCluster, "another")), made("b", "1", leftBehind())),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: setOf(one), Before: made("a", "1", map[string]string{"k": "v"}),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone where the provider does not agree", Object: setOf(one, adopt),
			Before: made("a", "1", map[string]string{"k": "v"}), Stalled: status.ReasonConflict},
		{Name: "one without an owner among an earlier object's is left alone", Object: setOf(one, value("b", "1"), adopt),
			Facts:  func(s *kindtest.Subject) { s.AllowAdoption = true },
			Before: all(made("a", "1", map[string]string{"k": "v"}), made("b", "1", leftBehind())), Stalled: status.ReasonConflict},
		{Name: "one without an owner is adopted where user and provider say so", Object: setOf(one, adopt),
			Before: made("a", "1", map[string]string{"k": "v"}),
			Facts:  func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.Edited,
			Diff: []string{"Parameters[a].Tags[nexus.ai/cluster]", "Parameters[a].Tags[nexus.ai/managed-by]",
				"Parameters[a].Tags[nexus.ai/owner]", "Parameters[a].Tags[nexus.ai/owner-uid]"},
			Actions: []string{tagAction}},
	})
}

func TestParameterSetSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewParameterSet), setLife())
}

func TestParameterSetSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewParameterSet), setLife())
}

func setLife() kindtest.Life {
	return kindtest.Life{
		Sample: setOf(full), Invalid: []v1alpha1.Resource{
			setOf(full, value("features", "")), setOf(full, value("features", strings.Repeat("x", 8193))),
			setOf(full, set("features", func(p *param) { p.KeyID = "k" })), setOf(full, value(strings.Repeat("a/", 13)+"b", "x")),
		}, Foreign: made("key", "theirs", map[string]string{"owner": "somebody"}),
		Exists: func(t *testing.T, r *kindtest.Rig) bool { return len(there(t, r)) > 0 },
		Edited: setOf(full, drop("features"), value("key", "hush-2"), value("a", "1"),
			set("dynamodb/license-table", func(p *param) { p.Description = aws.String("new") }),
			func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }),
	}
}

func many(n int) func(s *spec) {
	return func(s *spec) {
		for i := range n {
			s.Parameters[fmt.Sprintf("p%02d", i)] = param{Value: fmt.Sprint(i), Type: []string{"String", "SecureString"}[i%2]}
		}
	}
}

func settle(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	out, err := s.Settle(t.Context(), nil)
	if err != nil || !out.Synced && !out.Gone {
		t.Fatalf("does not settle: %v\n%s", err, s.Rig.AWS.Calls())
	}
}

// counts asserts the calls by operation, and that there were no others. Pages of DescribeParameters hold
// 50 parameters at AWS and ten at the emulator.
func counts(t *testing.T, what string, c emulator.Calls, want map[string]int) {
	t.Helper()
	total := 0
	for op, n := range want {
		total += n
		if got := c.Match("ssm", op, "").Count(); got != n {
			t.Errorf("%s: %d calls of %s, want %d", what, got, op, n)
		}
	}
	if c.Count() != total {
		t.Errorf("%s: %d calls, want %d:\n%s", what, c.Count(), total, c)
	}
}

func TestParameterSetCosts(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(many(17)))
	settle(t, s)
	counts(t, "create", r.AWS.Calls(), map[string]int{"PutParameter": 17, "GetParameters": 4})
	mark := r.AWS.Mark()
	_, err := s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	counts(t, "check", r.AWS.Since(mark), map[string]int{"GetParameters": 2})
	mark = r.AWS.Mark()
	s.Edit(setOf(many(17), value("p03", "x"), value("p04", "y")))
	settle(t, s)
	counts(t, "edit of two values", r.AWS.Since(mark), map[string]int{"PutParameter": 2, "GetParameters": 4, "DescribeParameters": 4})
	mark = r.AWS.Mark()
	s.Deleting = true
	settle(t, s)
	counts(t, "delete", r.AWS.Since(mark), map[string]int{"DeleteParameters": 2, "DescribeParameters": 2})
	if left := there(t, r); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Drift needs no edit and no search for strays: several owners are verified together, one by its tags.
func TestDriftedParametersAreVerifiedTogether(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(value("a", "1"), value("b", "2"), value("c", "3")))
	settle(t, s)
	write("a", "x")(t, r)
	mark := r.AWS.Mark()
	settle(t, s)
	counts(t, "one", r.AWS.Since(mark), map[string]int{"PutParameter": 1, "GetParameters": 2, "ListTagsForResource": 1})
	write("b", "x")(t, r)
	write("c", "x")(t, r)
	mark = r.AWS.Mark()
	settle(t, s)
	counts(t, "two", r.AWS.Since(mark), map[string]int{"PutParameter": 2, "GetParameters": 2, "DescribeParameters": 1})
}

func TestThePlanShowsNoSecret(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	settle(t, s)
	s.Edit(setOf(full, value("key", "hush-2"), func(s *spec) { s.Parameters["k2"] = param{Value: "hush-3", Type: "SecureString"} },
		drop("features")))
	write("key", "hush-4")(t, r)
	p, err := s.Decide(t.Context())
	kindtest.Must(t, err)
	if text := fmt.Sprintf("%+v", p.Diff); strings.Contains(text, "hush") || !strings.Contains(text, "a,b") ||
		!strings.Contains(text, "SecureString") {
		t.Errorf("%s", text)
	}
}

func TestParameterSpecsThatCannotBe(t *testing.T) {
	k := NewParameterSet(aws.Config{})
	for _, c := range []struct {
		field  string
		change func(s *spec)
	}{
		{"spec.parameters[a].value", value("a", strings.Repeat("x", 4097))},
		{"spec.parameters[a].value", set("a", func(p *param) { p.Value, p.Tier = strings.Repeat("x", 8193), "Advanced" })},
		{"spec.parameters[a].keyID", set("a", func(p *param) { p.Value, p.KeyID = "x", "k" })},
		{"spec.parameters[" + strings.Repeat("a/", 13) + "b]", value(strings.Repeat("a/", 13)+"b", "x")},
	} {
		_, err := k.Desired(kind.Scope{}, setOf(c.change))
		if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonInvalidSpec || st.Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
		if _, err := k.Desired(kind.Scope{Search: kind.Search{Deleting: true}}, setOf(c.change)); err != nil {
			t.Errorf("%s keeps a deletion from happening: %v", c.field, err)
		}
	}
	for _, v := range []param{{Value: strings.Repeat("x", 4096)}, {Value: strings.Repeat("x", 8192), Tier: "Advanced"},
		{Value: strings.Repeat("x", 8192), Tier: "Intelligent-Tiering"}} {
		if _, err := k.Desired(kind.Scope{}, setOf(func(s *spec) { s.Parameters["a"] = v })); err != nil {
			t.Error(err)
		}
	}
}

func TestStraysAreSearchedOnlyWhenARecordCanBeLost(t *testing.T) {
	k := NewParameterSet(aws.Config{})
	ready := func(generation int64) []metav1.Condition {
		return []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionTrue, ObservedGeneration: generation,
			LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}}
	}
	for _, c := range []struct {
		name       string
		generation int64
		conditions []metav1.Condition
		want       bool
	}{
		{name: "the first generation", generation: 1},
		{name: "at rest", generation: 4, conditions: ready(4)},
		{name: "edited", generation: 4, conditions: ready(3), want: true},
		{name: "failing", generation: 4, want: true},
	} {
		o := setOf(full)
		o.Generation, o.Status.Conditions = c.generation, c.conditions
		s, err := k.Desired(kind.Scope{}, o)
		kindtest.Must(t, err)
		if s.Search != c.want {
			t.Errorf("%s: %v", c.name, s.Search)
		}
	}
}

func TestASetPublishesWhatItHas(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewParameterSet), setOf(full))
	settle(t, s)
	st := s.Object.(*v1alpha1.SSMParameterSet).Status
	if st.ARN != "arn:aws:ssm:ap-southeast-1:123456789012:parameter/myapp/dev" || st.ID != path || st.Count != 3 ||
		!slices.Equal(st.ManagedNames, []string{"dynamodb/license-table", "features", "key"}) ||
		!maps.Equal(st.Versions, map[string]int64{"dynamodb/license-table": 1, "features": 1, "key": 1}) {
		t.Errorf("%+v", st)
	}
}

func TestExport_LeavesOutSecureStrings(t *testing.T) {
	r := kindtest.NewRig(t)
	export := func(names ...string) (*v1alpha1.SSMParameterSet, engine.Exported, error) {
		o := setOf()
		o.Spec.Path, o.Spec.ManagementPolicy, o.Spec.Parameters = "myapp/dev", v1alpha1.ManageObserve, map[string]v1alpha1.SSMParameter{}
		for _, n := range names {
			o.Spec.Parameters[n] = v1alpha1.SSMParameter{}
		}
		found, err := engine.For(NewParameterSet).Bind(r.Config).Export(t.Context(),
			kindtest.NewSubject(r, engine.For(NewParameterSet), o).Scope(), o)
		return o, found, err
	}
	if _, found, err := export(); err != nil || found.Exists {
		t.Errorf("without parameters: %+v, %v", found, err)
	}
	_, err := api(r).PutParameter(t.Context(),
		&ssm.PutParameterInput{Name: aws.String(path + "/db/password"), Value: aws.String("hush"), Type: types.ParameterTypeSecureString})
	kindtest.Must(t, err)
	_, _, err = export()
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonInvalidSpec ||
		!strings.Contains(err.Error(), "every parameter below /myapp/dev is a SecureString") {
		t.Errorf("with a SecureString alone: %v", err)
	}
	putRaw(t, r, "db/host", "x", map[string]string{"team": "a", "part": "db"})
	putRaw(t, r, "web/port", "80", map[string]string{"team": "a"})
	o, found, err := export()
	kindtest.Must(t, err)
	if got := slices.Sorted(maps.Keys(o.Spec.Parameters)); !found.Exists || o.Spec.Path != path ||
		!slices.Equal(got, []string{"db/host", "web/port"}) || !maps.Equal(found.Tags, map[string]string{"team": "a"}) {
		t.Errorf("%+v, %+v", o.Spec, found)
	}
	if len(found.Omitted) != 1 || !strings.HasPrefix(found.Omitted[0], "/myapp/dev/db/password: ") {
		t.Errorf("left out: %q", found.Omitted)
	}
	o, found, err = export("db/host", "db/gone", "db/password")
	kindtest.Must(t, err)
	if got := slices.Sorted(maps.Keys(o.Spec.Parameters)); !slices.Equal(got, []string{"db/host"}) ||
		o.Spec.Parameters["db/host"].Value != "x" {
		t.Errorf("of three names: %+v", o.Spec)
	}
	if len(found.Omitted) != 2 || found.Omitted[0] != "/myapp/dev/db/gone: does not exist" ||
		!strings.HasPrefix(found.Omitted[1], "/myapp/dev/db/password: ") {
		t.Errorf("of three names, left out: %q", found.Omitted)
	}
}
