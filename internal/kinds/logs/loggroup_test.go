// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name     = "shop"
	stored   = "/team/shop"
	keyARN   = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/1234abcd-12ab-34cd-56ef-1234567890ab"
	otherKey = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/4321abcd-12ab-34cd-56ef-1234567890ab"

	create       = "logs:CreateLogGroup"
	putDays      = "logs:PutRetentionPolicy"
	dropDays     = "logs:DeleteRetentionPolicy"
	associate    = "logs:AssociateKmsKey"
	disassociate = "logs:DisassociateKmsKey"
	protect      = "logs:PutLogGroupDeletionProtection"
	tag          = "logs:TagResource"
	untag        = "logs:UntagResource"
	remove       = "logs:DeleteLogGroup"
)

type (
	spec = v1alpha1.LogGroupSpec
	edit = func(s *spec)
)

func groupOf(edits ...edit) *v1alpha1.LogGroup {
	o := &v1alpha1.LogGroup{}
	o.Name, o.Spec.LogGroupName = name, stored
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func class(v string) edit { return func(s *spec) { s.LogGroupClass = &v } }

func days(v int32) edit { return func(s *spec) { s.RetentionInDays = &v } }

func key(v string) edit { return func(s *spec) { s.KMSKeyID = &v } }

func keyRef(s *spec) { s.KMSKeyRef = &v1alpha1.ObjectReference{Name: "events"} }

func protected(v bool) edit { return func(s *spec) { s.DeletionProtectionEnabled = &v } }

func tagged(k, v string) edit {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) edit { return func(s *spec) { s.DeletionPolicy = p } }

func api(r *kindtest.Rig) *cloudwatchlogs.Client { return cloudwatchlogs.NewFromConfig(r.Config) }

// existing makes a log group outside the operator.
func existing(stored string, tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateLogGroup(t.Context(), &cloudwatchlogs.CreateLogGroupInput{LogGroupName: &stored, Tags: tags})
		kindtest.Must(t, err)
	}
}

// protection sets the deletion protection outside the operator.
func protection(on bool) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutLogGroupDeletionProtection(t.Context(),
			&cloudwatchlogs.PutLogGroupDeletionProtectionInput{LogGroupIdentifier: groups(t, r)[0].LogGroupArn, DeletionProtectionEnabled: &on})
		kindtest.Must(t, err)
	}
}

// write adds two log streams.
func write(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	for _, stream := range []string{"a", "b"} {
		_, err := api(r).CreateLogStream(t.Context(),
			&cloudwatchlogs.CreateLogStreamInput{LogGroupName: aws.String(stored), LogStreamName: &stream})
		kindtest.Must(t, err)
	}
}

func drop(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteLogGroup(t.Context(), &cloudwatchlogs.DeleteLogGroupInput{LogGroupName: aws.String(stored)})
	kindtest.Must(t, err)
}

func groups(t *testing.T, r *kindtest.Rig) []types.LogGroup {
	t.Helper()
	out, err := api(r).DescribeLogGroups(t.Context(), &cloudwatchlogs.DescribeLogGroupsInput{})
	kindtest.Must(t, err)
	return out.LogGroups
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "LogGroup", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func targets(s *kindtest.Subject) { s.Targets = map[string]kind.Target{"KMSKey/events": {ARN: keyARN}} }

func guarded(s *kindtest.Subject) { s.Guarded = true }

func TestLogGroup(t *testing.T) {
	kindtest.Run(t, engine.For(NewGroup), slices.Concat(lives(), edits(), drifts(), deletions(), owners()))
}

func lives() []kindtest.Case {
	refused := func(name string, edits ...edit) kindtest.Case {
		return kindtest.Case{Name: name, Object: groupOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: groupOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with everything that a create sets",
			Object: groupOf(class("INFREQUENT_ACCESS"), key(keyARN), protected(true), tagged("team", "a")),
			Cause:  engine.New, Actions: []string{create}},
		{Name: "with a key by reference", Object: groupOf(keyRef), Facts: targets, Cause: engine.New, Actions: []string{create}},
		{Name: "with a retention", Object: groupOf(days(30)), Cause: engine.New, Actions: []string{create, putDays}},
		{Name: "for deliveries", Object: groupOf(class("DELIVERY")), Cause: engine.New, Actions: []string{create}},
		{Name: "settings that a new log group has", Object: groupOf(class("STANDARD"), days(0), key(""), protected(false)), Cause: engine.New,
			Actions: []string{create}},
		{Name: "settings that are no longer declared stay", Existing: groupOf(days(30), key(keyARN), protected(true)), Object: groupOf(),
			Cause: engine.InSync},
		{Name: "beside log groups whose names begin with its name", Object: groupOf(days(30)),
			Before: func(t *testing.T, r *kindtest.Rig) {
				existing(stored+"-a", nil)(t, r)
				existing(stored+"/b", nil)(t, r)
			},
			Cause: engine.New, Actions: []string{create, putDays}},
		refused("a name with a space", func(s *spec) { s.LogGroupName = "a b" }),
		refused("a name of AWS", func(s *spec) { s.LogGroupName = "aws/shop" }),
		refused("a number of days that AWS does not offer", days(2)),
		refused("a retention of deliveries", class("DELIVERY"), days(30)),
		refused("a key and a reference", key(keyARN), keyRef),
		refused("a key by its alias", key("alias/events")),
	}
}

func edits() []kindtest.Case {
	row := func(name, path, action string, from, to edit) kindtest.Case {
		return kindtest.Case{Name: name, Existing: groupOf(from), Object: groupOf(to), Cause: engine.Edited, Diff: []string{path},
			Actions: []string{action}}
	}
	none := func(*spec) {}
	return []kindtest.Case{
		row("a retention", "Retention", putDays, none, days(30)),
		row("another retention", "Retention", putDays, days(30), days(7)),
		row("no retention", "Retention", dropDays, days(30), days(0)),
		row("a key", "KMSKey", associate, none, key(keyARN)),
		row("another key", "KMSKey", associate, key(keyARN), key(otherKey)),
		row("no key", "KMSKey", disassociate, key(keyARN), key("")),
		row("protection", "DeletionProtection", protect, none, protected(true)),
		row("no protection", "DeletionProtection", protect, protected(true), protected(false)),
		{Name: "all settings at once", Existing: groupOf(tagged("old", "1")),
			Object: groupOf(days(30), key(keyARN), protected(true), tagged("team", "a")),
			Cause:  engine.Edited, Diff: []string{"Retention", "KMSKey", "DeletionProtection", "Tags[team]", "Tags[old]"},
			Actions: []string{tag, untag, putDays, associate, protect}},
		{Name: "another class", Existing: groupOf(class("STANDARD")), Object: groupOf(class("INFREQUENT_ACCESS")),
			Stalled: status.ReasonImmutable},
		{Name: "another name", Existing: groupOf(), Object: groupOf(func(s *spec) { s.LogGroupName = "other" }),
			Stalled: status.ReasonIdentityChanged},
	}
}

func drifts() []kindtest.Case {
	group := aws.String(stored)
	row := func(path, action string, object *v1alpha1.LogGroup, change func(*testing.T, *kindtest.Rig)) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: object, Object: object, Drift: true, Before: change, Cause: engine.Drifted,
			Diff: []string{path}, Actions: []string{action}}
	}
	return []kindtest.Case{
		row("Retention", putDays, groupOf(days(30)), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).DeleteRetentionPolicy(t.Context(), &cloudwatchlogs.DeleteRetentionPolicyInput{LogGroupName: group})
			kindtest.Must(t, err)
		}),
		row("KMSKey", associate, groupOf(key(keyARN)), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).AssociateKmsKey(t.Context(), &cloudwatchlogs.AssociateKmsKeyInput{LogGroupName: group, KmsKeyId: aws.String(otherKey)})
			kindtest.Must(t, err)
		}),
		row("DeletionProtection", protect, groupOf(protected(true)), protection(false)),
		row("Tags[team]", tag, groupOf(tagged("team", "a")), func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).TagResource(t.Context(),
				&cloudwatchlogs.TagResourceInput{ResourceArn: groups(t, r)[0].LogGroupArn, Tags: map[string]string{"team": "b"}})
			kindtest.Must(t, err)
		}),
		{Name: "a retention that a policy of the account decides is left alone", Existing: groupOf(days(30)), Object: groupOf(days(30)),
			Drift:  true,
			Before: func(_ *testing.T, r *kindtest.Rig) { r.AWS.Logs.SetRetentionPolicy("a-year", 365) }, Cause: engine.InSync},
		{Name: "log streams are none of the operator's business", Existing: groupOf(), Object: groupOf(), Drift: true, Before: write,
			Cause: engine.InSync},
		{Name: "a log group that vanished is reported", Existing: groupOf(), Object: groupOf(), Drift: true, Before: drop,
			Stalled: status.ReasonMissing},
	}
}

func deletions() []kindtest.Case {
	row := func(name string, o *v1alpha1.LogGroup, before func(*testing.T, *kindtest.Rig), actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Deleting: true, Drift: true, Before: before, Cause: engine.Deleting,
			Actions: actions}
	}
	gone := row("deleting what is gone", groupOf(), drop)
	gone.Cause = engine.Gone
	orphan := row("Orphan removes the owner tags and nothing else", groupOf(deletion(v1alpha1.DeletionOrphan), protected(true)), nil, untag)
	orphan.Diff = ownerPaths
	empty := row("deleting an empty log group, whose data is guarded", groupOf(), nil, remove)
	empty.Facts = guarded
	return []kindtest.Case{
		row("deleting", groupOf(days(30)), write, remove), gone, orphan, empty,
		row("an explicit false lifts the protection first", groupOf(protected(false)), protection(true), protect),
		{Name: "deleting a protected log group waits", Existing: groupOf(protected(true)), Object: groupOf(protected(true)), Deleting: true,
			Drift: true, Waiting: status.ReasonDeletionProtected},
		{Name: "also one that others protected", Existing: groupOf(), Object: groupOf(), Deleting: true, Drift: true, Before: protection(true),
			Waiting: status.ReasonDeletionProtected},
		{Name: "deleting a log group with log streams, whose data is guarded, waits", Existing: groupOf(), Object: groupOf(), Deleting: true,
			Drift: true, Before: write, Facts: guarded, Waiting: status.ReasonDataWouldBeLost},
	}
}

func owners() []kindtest.Case {
	adopts := func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionDelete }
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: groupOf(adopts),
			Before: existing(stored, ownerTags("an-earlier-one", kindtest.Cluster)), Cause: engine.Edited,
			Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "without an owner it is adopted where allowed", Object: groupOf(days(30), adopts), Before: existing(stored, nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.Edited, Diff: append([]string{"Retention"}, ownerPaths...),
			Actions: []string{tag, putDays}},
		{Name: "another cluster's is not taken", Object: groupOf(), Before: existing(stored, ownerTags("theirs", "another")),
			Stalled: status.ReasonConflict, OnRun: true},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample:  groupOf(days(30), key(keyARN), protected(false), tagged("team", "a")),
		Foreign: existing(stored, map[string]string{"theirs": "1"}),
		Exists:  func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return len(groups(t, r)) > 0 },
		Edited:  groupOf(days(7), key(""), protected(false), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{groupOf(days(2)), groupOf(key(keyARN), keyRef)},
	}
}

func TestLogGroupSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewGroup), life())
}

func TestLogGroupSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewGroup), life())
}

func subject(t *testing.T, o *v1alpha1.LogGroup) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewGroup), o), r
}

func TestAReferenceToAKeyThatIsNotReadyIsWaitedFor(t *testing.T) {
	s, r := subject(t, groupOf(keyRef))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "KMSKey/events" || r.AWS.Calls().Count() > 0 {
		t.Fatalf("got %v, want to wait for the key\n%s", err, r.AWS.Calls())
	}
	targets(s)
	kindtest.Settled(t, s)
	if got := groups(t, r)[0].KmsKeyId; aws.ToString(got) != keyARN {
		t.Errorf("the key is %q", aws.ToString(got))
	}
}

func TestLogGroupCosts(t *testing.T) {
	s, r := subject(t, groupOf(days(30), protected(false)))
	for _, more := range []string{"-a", "-b", "-c"} { // no more calls with log groups whose names begin with its name
		existing(stored+more, nil)(t, r)
	}
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"CreateLogGroup": 1, "PutRetentionPolicy": 1, "DescribeLogGroups": 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{"DescribeLogGroups": 1, "ListTagsForResource": 1}, Change: s.Forget},
		kindtest.Cost{Name: "delete", Calls: map[string]int{"DescribeLogGroups": 2, "ListTagsForResource": 1, "DeleteLogGroup": 1},
			Change: func() { s.Deleting = true }})
}

func TestPublishedFields(t *testing.T) {
	s, r := subject(t, groupOf())
	kindtest.Settled(t, s)
	r.AWS.Logs.SetRetentionPolicy("a-year", 365)
	s.Forget()
	kindtest.Settled(t, s)
	st, d := s.Object.(*v1alpha1.LogGroup).Status, groups(t, r)[0]
	if st.ID != stored || st.ARN != *d.LogGroupArn || st.LogGroupARN != st.ARN || st.RetentionPolicyName != "a-year" ||
		!strings.HasSuffix(st.ARN, ":log-group:"+stored) {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["logGroupName"] != stored {
		t.Error(a)
	}
}

// A policy of an account and classes of log groups that the spec has no value for are not declared by an export.
func TestImport_LeavesOutWhatASpecCannotSay(t *testing.T) {
	settings, omitted, _ := kindtest.NotDeclared(t, engine.For(NewGroup), groupOf(), nil, func(output any) {
		if d, ok := output.(*cloudwatchlogs.DescribeLogGroupsOutput); ok {
			g := &d.LogGroups[0]
			g.LogGroupClass, g.RetentionPolicyName, g.RetentionInDays = "ESSENTIALS", aws.String("a-year"), aws.Int32(365)
		}
	})
	if !slices.Equal(settings, []string{"retentionInDays"}) || len(omitted) != 1 || !strings.Contains(omitted[0], "ESSENTIALS") {
		t.Errorf("not declared: %q, left out: %q", settings, omitted)
	}
}

// The emulator keeps the settings that moto forgets.
func TestEmulator_KeepsWhatMotoForgets(t *testing.T) {
	p := world.Shared(t).AWS()
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	c, ctx, name := cloudwatchlogs.NewFromConfig(aws.Config{Region: kindtest.Region, BaseEndpoint: aws.String(p.URL()),
		Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", "")}), t.Context(), aws.String("/team/forgotten")
	group := func() types.LogGroup {
		t.Helper()
		out, err := c.DescribeLogGroups(ctx, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: name})
		must.Succeed(t, err)
		return out.LogGroups[0]
	}
	remove := func() error {
		_, err := c.DeleteLogGroup(ctx, &cloudwatchlogs.DeleteLogGroupInput{LogGroupName: name})
		return err
	}
	_, err := c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: name, LogGroupClass: types.LogGroupClassInfrequentAccess,
		KmsKeyId: aws.String("key"), DeletionProtectionEnabled: aws.Bool(true), Tags: map[string]string{"team": "a"}})
	must.Succeed(t, err)
	g := group()
	if g.LogGroupClass != types.LogGroupClassInfrequentAccess || aws.ToString(g.KmsKeyId) != "key" || !*g.DeletionProtectionEnabled ||
		*g.Arn != *g.LogGroupArn+":*" {
		t.Errorf("%+v", g)
	}
	if remove() == nil {
		t.Error("a protected log group was deleted")
	}
	_, err = c.DisassociateKmsKey(ctx, &cloudwatchlogs.DisassociateKmsKeyInput{LogGroupName: name})
	must.Succeed(t, err)
	_, err = c.PutLogGroupDeletionProtection(ctx,
		&cloudwatchlogs.PutLogGroupDeletionProtectionInput{LogGroupIdentifier: g.LogGroupArn, DeletionProtectionEnabled: aws.Bool(false)})
	must.Succeed(t, err)
	if g := group(); g.KmsKeyId != nil || *g.DeletionProtectionEnabled {
		t.Errorf("%+v", g)
	}
	must.Succeed(t, remove())
	if _, err := c.DisassociateKmsKey(ctx, &cloudwatchlogs.DisassociateKmsKeyInput{LogGroupName: name}); err == nil {
		t.Error("a log group that does not exist was changed")
	}
	_, err = c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: name})
	must.Succeed(t, err)
	tags, err := c.ListTagsForResource(ctx, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: g.LogGroupArn})
	must.Succeed(t, err)
	if g := group(); g.LogGroupClass != types.LogGroupClassStandard || len(tags.Tags) > 0 {
		t.Errorf("a new log group has the tags %v: %+v", tags.Tags, g)
	}
	for _, refused := range []string{"aws/shop", "a b"} {
		if _, err := c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: &refused}); err == nil {
			t.Errorf("%q was taken", refused)
		}
	}
}
