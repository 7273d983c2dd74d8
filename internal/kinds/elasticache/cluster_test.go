// SPDX-License-Identifier: Apache-2.0

package elasticache

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/elasticache/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	id    = "sessions"
	of    = kindtest.Region + ":" + kindtest.Account
	topic = "arn:aws:sns:" + of + ":events"

	create = "elasticache:CreateCacheCluster"
	modify = "elasticache:ModifyCacheCluster"
	remove = "elasticache:DeleteCacheCluster"
	tag    = "elasticache:AddTagsToResource"
	untag  = "elasticache:RemoveTagsFromResource"
)

type (
	spec = v1alpha1.ElastiCacheClusterSpec
	edit = func(s *spec)
)

// memcached returns a cluster of two nodes.
func memcached(edits ...edit) *v1alpha1.ElastiCacheCluster {
	o := &v1alpha1.ElastiCacheCluster{}
	o.Name = id
	o.Spec = spec{ClusterID: id, Engine: "memcached", EngineVersion: aws.String("1.6.17"), NodeType: "cache.t4g.micro",
		NumCacheNodes: aws.Int32(2)}
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

// aRedis returns a cluster of one node.
func aRedis(edits ...edit) *v1alpha1.ElastiCacheCluster {
	return memcached(append([]edit{func(s *spec) { s.Engine, s.EngineVersion, s.NumCacheNodes = redis, aws.String("7.0"), nil }}, edits...)...)
}

// everything declares all that Memcached and Redis have in common.
func everything(s *spec) {
	s.Port, s.SubnetGroupName, s.ParameterGroupName = aws.Int32(11300), aws.String("private"), aws.String("tuned")
	s.SecurityGroupIDs, s.SecurityGroupRefs = []v1alpha1.SecurityGroupID{"sg-0a1b2c3d"}, []v1alpha1.ObjectReference{{Name: "web"}}
	s.PreferredMaintenanceWindow, s.AutoMinorVersionUpgrade, s.NotificationTopicARN = aws.String("sun:04:00-sun:05:00"), aws.Bool(true),
		aws.String(topic)
}

func spread(s *spec) { s.AZMode, s.TransitEncryptionEnabled = aws.String("cross-az"), aws.Bool(true) }

func backedUp(s *spec) {
	s.SnapshotRetentionLimit, s.SnapshotWindow = aws.Int32(7), aws.String("03:00-04:00")
}

func noUpgrades(s *spec) { s.AutoMinorVersionUpgrade = aws.Bool(false) }

func nodes(n int32) edit { return func(s *spec) { s.NumCacheNodes = &n } }

func version(v string) edit { return func(s *spec) { s.EngineVersion = &v } }

func tagged(k, v string) edit {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func skipping(s *spec) { s.SkipFinalSnapshot = true }

func api(r *kindtest.Rig) *elasticache.Client { return elasticache.NewFromConfig(r.Config) }

func observed(t *testing.T, r *kindtest.Rig) *types.CacheCluster {
	t.Helper()
	out, err := api(r).DescribeCacheClusters(t.Context(),
		&elasticache.DescribeCacheClustersInput{CacheClusterId: aws.String(id), ShowCacheNodeInfo: aws.Bool(true)})
	if awsclient.IsNotFound(err) {
		return nil
	}
	kindtest.Must(t, err)
	return &out.CacheClusters[0]
}

func exists(t *testing.T, r *kindtest.Rig) bool { return observed(t, r) != nil }

func before(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateCacheCluster(t.Context(),
			&elasticache.CreateCacheClusterInput{CacheClusterId: aws.String(id), Engine: aws.String("memcached"),
				EngineVersion: aws.String("1.6.17"),
				CacheNodeType: aws.String("cache.t4g.micro"), NumCacheNodes: aws.Int32(2), Tags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
	}
}

func change(in elasticache.ModifyCacheClusterInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.CacheClusterId, in.ApplyImmediately = aws.String(id), aws.Bool(true)
		_, err := api(r).ModifyCacheCluster(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

func removeByHand(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteCacheCluster(t.Context(), &elasticache.DeleteCacheClusterInput{CacheClusterId: aws.String(id)})
	kindtest.Must(t, err)
}

func snapshots(t *testing.T, r *kindtest.Rig) (names []string) {
	t.Helper()
	out, err := api(r).DescribeSnapshots(t.Context(), &elasticache.DescribeSnapshotsInput{})
	kindtest.Must(t, err)
	for _, s := range out.Snapshots {
		names = append(names, aws.ToString(s.SnapshotName))
	}
	return names
}

func placed(_ *testing.T, s *kindtest.Subject) {
	s.Targets = map[string]kind.Target{"SecurityGroup/web": {ID: "sg-11111111"}, "SecurityGroup/others": {ID: "sg-22222222"}}
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "ElastiCacheCluster", Namespace: kindtest.Namespace, Name: id, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestCluster(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewCluster), placed, slices.Concat(lives(), refusals(), edits(), drifts(), deletions(), owners()))
}

func lives() []kindtest.Case {
	again := func(s *spec) { s.RecreateOnLoss = true }
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: memcached(), Cause: engine.New, Actions: []string{create}},
		{Name: "with as little as possible", Object: memcached(func(s *spec) { s.EngineVersion, s.NumCacheNodes = nil, nil }), Cause: engine.New,
			Actions: []string{create}},
		{Name: "Memcached with every field", Object: memcached(everything, spread, tagged("team", "a")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "Redis with every field", Object: aRedis(everything, backedUp, tagged("team", "a")), Cause: engine.New, Actions: []string{create}},
		{Name: "without events and snapshots",
			Object: aRedis(func(s *spec) { s.NotificationTopicARN, s.SnapshotRetentionLimit = aws.String(""), aws.Int32(0) }), Cause: engine.New,
			Actions: []string{create}},
		{Name: "in sync", Existing: memcached(everything, spread), Object: memcached(everything, spread), Cause: engine.InSync},
		{Name: "settings that are no longer declared stay as they are", Existing: aRedis(everything, backedUp),
			Object: aRedis(func(s *spec) { everything(s); s.NotificationTopicARN, s.ParameterGroupName = nil, nil }), Cause: engine.InSync},
		{Name: "a lost cluster is reported, not created again", Existing: memcached(), Object: memcached(), Drift: true, Before: removeByHand,
			Stalled: status.ReasonMissing},
		{Name: "and created again where the object says so", Existing: memcached(again), Object: memcached(again), Drift: true,
			Before: removeByHand, Cause: engine.New, Actions: []string{create}},
	}
}

func refusals() []kindtest.Case {
	refused := func(name string, o *v1alpha1.ElastiCacheCluster) kindtest.Case {
		return kindtest.Case{Name: name, Object: o, Stalled: status.ReasonInvalidSpec}
	}
	edited := func(name, reason string, from, to *v1alpha1.ElastiCacheCluster) kindtest.Case {
		return kindtest.Case{Name: name, Existing: from, Object: to, Stalled: reason}
	}
	return []kindtest.Case{
		refused("a name in upper case", memcached(func(s *spec) { s.ClusterID = "Sessions" })),
		refused("an engine of replication groups", memcached(func(s *spec) { s.Engine = "valkey" })),
		refused("two nodes of Redis", aRedis(nodes(2))),
		refused("zones of Redis", aRedis(func(s *spec) { s.AZMode = aws.String("single-az") })),
		refused("encryption of Redis", aRedis(func(s *spec) { s.TransitEncryptionEnabled = aws.Bool(true) })),
		refused("snapshots of Memcached", memcached(backedUp)),
		refused("a final snapshot of Memcached", memcached(func(s *spec) { s.FinalSnapshotIdentifier = "last" })),
		refused("one node in several zones", memcached(spread, nodes(1))),
		refused("a name for a snapshot that is skipped", aRedis(skipping, func(s *spec) { s.FinalSnapshotIdentifier = "last" })),
		edited("another engine", status.ReasonImmutable, memcached(), memcached(func(s *spec) { s.Engine, s.NumCacheNodes = redis, nil })),
		edited("another port", status.ReasonImmutable, memcached(everything), memcached(everything, func(s *spec) { s.Port = aws.Int32(11400) })),
		edited("another subnet group", status.ReasonImmutable, memcached(everything),
			memcached(everything, func(s *spec) { s.SubnetGroupName = aws.String("other") })),
		edited("other zones", status.ReasonImmutable, memcached(spread), memcached(spread, func(s *spec) { s.AZMode = aws.String("single-az") })),
		edited("no encryption", status.ReasonImmutable, memcached(spread),
			memcached(spread, func(s *spec) { s.TransitEncryptionEnabled = aws.Bool(false) })),
		edited("another name", status.ReasonIdentityChanged, memcached(), memcached(func(s *spec) { s.ClusterID = "other" })),
	}
}

// settingRows are another value of each setting that can be changed, and how others set a third.
var settingRows = []struct {
	path   string
	object func(edits ...edit) *v1alpha1.ElastiCacheCluster
	from   edit
	to     edit
	theirs elasticache.ModifyCacheClusterInput
}{
	{"CacheNodeType", memcached, everything, func(s *spec) { s.NodeType = "cache.t4g.small" },
		elasticache.ModifyCacheClusterInput{CacheNodeType: aws.String("cache.t4g.medium")}},
	{"CacheParameterGroupName", memcached, everything, func(s *spec) { s.ParameterGroupName = aws.String("other") },
		elasticache.ModifyCacheClusterInput{CacheParameterGroupName: aws.String("default.memcached1.6")}},
	{"PreferredMaintenanceWindow", memcached, everything, func(s *spec) { s.PreferredMaintenanceWindow = aws.String("mon:04:00-mon:05:00") },
		elasticache.ModifyCacheClusterInput{PreferredMaintenanceWindow: aws.String("tue:04:00-tue:05:00")}},
	{"SnapshotWindow", aRedis, backedUp, func(s *spec) { s.SnapshotWindow = aws.String("01:00-02:00") },
		elasticache.ModifyCacheClusterInput{SnapshotWindow: aws.String("02:00-03:00")}},
	{"NotificationTopicArn", memcached, everything, func(s *spec) { s.NotificationTopicARN = aws.String("") },
		elasticache.ModifyCacheClusterInput{NotificationTopicArn: aws.String(topic + "-2")}},
	{"NumCacheNodes", memcached, everything, nodes(4), elasticache.ModifyCacheClusterInput{NumCacheNodes: aws.Int32(3)}},
	{"SnapshotRetentionLimit", aRedis, backedUp, func(s *spec) { s.SnapshotRetentionLimit = aws.Int32(0) },
		elasticache.ModifyCacheClusterInput{SnapshotRetentionLimit: aws.Int32(1)}},
	{"AutoMinorVersionUpgrade", aRedis, everything, noUpgrades, elasticache.ModifyCacheClusterInput{AutoMinorVersionUpgrade: aws.Bool(false)}},
	{"SecurityGroupIds", memcached, everything, func(s *spec) { s.SecurityGroupRefs = []v1alpha1.ObjectReference{{Name: "others"}} },
		elasticache.ModifyCacheClusterInput{SecurityGroupIds: []string{"sg-33333333"}}},
}

func edits() []kindtest.Case {
	var out []kindtest.Case
	for _, row := range settingRows {
		out = append(out, kindtest.Case{Name: row.path + " is edited", Existing: row.object(row.from), Object: row.object(row.from, row.to),
			Cause: engine.Edited, Diff: []string{row.path}, Actions: []string{modify}})
	}
	return append(out,
		kindtest.Case{Name: "events are sent again", Existing: memcached(func(s *spec) { s.NotificationTopicARN = aws.String("") }),
			Object: memcached(func(s *spec) { s.NotificationTopicARN = aws.String(topic) }),
			Cause:  engine.Edited, Diff: []string{"NotificationTopicArn"}, Actions: []string{modify}},
		kindtest.Case{Name: "Memcached has no minor upgrades", Existing: memcached(everything), Object: memcached(everything, noUpgrades),
			Cause: engine.InSync},
		kindtest.Case{Name: "Redis 5 has no minor upgrades", Existing: aRedis(version("5.0.6"), noUpgrades),
			Object: aRedis(version("5.0.6"), noUpgrades), Cause: engine.InSync},
		kindtest.Case{Name: "fewer nodes", Existing: memcached(nodes(3)), Object: memcached(nodes(1)), Cause: engine.Edited,
			Diff: []string{"NumCacheNodes"}, Actions: []string{modify}},
		kindtest.Case{Name: "a later version", Existing: aRedis(), Object: aRedis(version("7.1")), Cause: engine.Edited,
			Diff: []string{"EngineVersion"}, Actions: []string{modify}},
		kindtest.Case{Name: "a later major version", Existing: aRedis(version("6.x")), Object: aRedis(version("7.1")), Cause: engine.Edited,
			Diff: []string{"EngineVersion"}, Actions: []string{modify}},
		kindtest.Case{Name: "an earlier version is what ElastiCache cannot return to", Existing: memcached(),
			Object: memcached(version("1.6.12")), Cause: engine.InSync},
		kindtest.Case{Name: "many settings take one call", Existing: memcached(),
			Object: memcached(nodes(3), func(s *spec) { s.NodeType = "cache.t4g.small" }), Cause: engine.Edited,
			Diff: []string{"CacheNodeType", "NumCacheNodes"}, Actions: []string{modify}},
		kindtest.Case{Name: "tags are added and dropped", Existing: memcached(tagged("old", "1")), Object: memcached(tagged("team", "a")),
			Cause: engine.Edited,
			Diff:  []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	)
}

func drifts() []kindtest.Case {
	var out []kindtest.Case
	for _, row := range settingRows {
		out = append(out, kindtest.Case{Name: row.path + " is restored", Existing: row.object(row.from), Object: row.object(row.from),
			Drift: true, Before: change(row.theirs),
			Cause: engine.Drifted, Diff: []string{row.path}, Actions: []string{modify}})
	}
	return append(out,
		kindtest.Case{Name: "a version that ElastiCache raised is kept", Existing: aRedis(), Object: aRedis(), Drift: true,
			Before: change(elasticache.ModifyCacheClusterInput{EngineVersion: aws.String("7.1")}), Cause: engine.InSync},
		kindtest.Case{Name: "settings that are not declared may change", Existing: aRedis(), Object: aRedis(), Drift: true, Cause: engine.InSync,
			Before: change(elasticache.ModifyCacheClusterInput{SnapshotRetentionLimit: aws.Int32(3), NotificationTopicArn: aws.String(topic)})},
	)
}

func deletions() []kindtest.Case {
	deleting := func(name string, o *v1alpha1.ElastiCacheCluster, actions ...string) kindtest.Case {
		return kindtest.Case{Name: name, Existing: o, Object: o, Deleting: true, Drift: true, Cause: engine.Deleting, Actions: actions}
	}
	gone, guarded := deleting("deleting what is gone", memcached()), deleting("guarded data needs a final snapshot", aRedis(skipping))
	gone.Cause, gone.Before = engine.Gone, removeByHand
	guarded.Cause, guarded.Waiting, guarded.Facts = "", status.ReasonDataWouldBeLost, func(s *kindtest.Subject) { s.Guarded = true }
	orphan := deleting("Orphan removes the owner tags and nothing else",
		memcached(func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }), untag)
	orphan.Diff = ownerPaths
	return []kindtest.Case{gone, guarded, orphan, deleting("deleting Memcached", memcached(), remove),
		deleting("deleting Redis", aRedis(), remove),
		deleting("deleting with a snapshot of a declared name", aRedis(func(s *spec) { s.FinalSnapshotIdentifier = "last" }), remove),
		deleting("deleting without a snapshot", aRedis(skipping), remove)}
}

func owners() []kindtest.Case {
	earlier := before(ownerTags("an-earlier-one", kindtest.Cluster))
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: memcached(), Before: earlier, Cause: engine.Edited,
			Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: memcached(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }), Before: earlier,
			Stalled: status.ReasonConflict},
		{Name: "another cluster's operator has it", Object: memcached(), Before: before(ownerTags("an-earlier-one", "another")),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: memcached(), Before: before(nil), Stalled: status.ReasonConflict},
		{Name: "and adopted where both sides allow",
			Object: memcached(func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }),
			Facts:  func(s *kindtest.Subject) { s.AllowAdoption = true }, Before: before(nil), Cause: engine.Edited, Diff: ownerPaths,
			Actions: []string{tag}},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: memcached(tagged("team", "a")), Exists: exists, Foreign: before(map[string]string{"theirs": "1"}),
		Edited:  memcached(tagged("team", "b"), nodes(3), func(s *spec) { s.PreferredMaintenanceWindow = aws.String("mon:04:00-mon:05:00") }),
		Invalid: []v1alpha1.Resource{memcached(backedUp)},
	}
}

func TestClusterSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewCluster), life()) }

func TestClusterSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewCluster), life()) }

func subject(t *testing.T, o *v1alpha1.ElastiCacheCluster) *kindtest.Subject {
	t.Helper()
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewCluster), o)
	placed(t, s)
	return s
}

// slow lets ElastiCache take ten minutes for each request, by the clock of the subject.
func slow(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	s.Rig.AWS.SetClock(func() time.Time { return s.Clock })
	s.Rig.AWS.ElastiCache.SetCacheClustersTake(10 * time.Minute)
	t.Cleanup(func() { s.Rig.AWS.SetClock(nil); s.Rig.AWS.ElastiCache.SetCacheClustersTake(0) })
}

// waits makes passes for nine minutes. All of them must wait for the state.
func waits(t *testing.T, s *kindtest.Subject, state string) {
	t.Helper()
	for range 3 {
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || !strings.Contains(w.For, "the cache cluster") ||
			!strings.Contains(w.For, "is "+state) {
			t.Fatalf("got %v, want to wait while it is %s\n%s", err, state, s.Rig.AWS.Calls())
		}
		s.Clock = s.Clock.Add(3 * time.Minute)
	}
	s.Clock = s.Clock.Add(2 * time.Minute)
}

// ElastiCache shows no tags of a cluster while it makes, changes or deletes it, so that its owner is unknown then.
func TestAClusterIsAwaitedWhileItIsNotAvailable(t *testing.T) {
	s := subject(t, memcached(tagged("team", "a")))
	slow(t, s)
	waits(t, s, "creating")
	kindtest.Settled(t, s)
	s.Edit(memcached(tagged("team", "b"), nodes(3)))
	waits(t, s, "modifying")
	kindtest.Settled(t, s)
	s.Deleting = true
	waits(t, s, "deleting")
	kindtest.Settled(t, s)
	calls := s.Rig.AWS.Calls()
	for _, op := range []string{"CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster", "AddTagsToResource"} {
		if n := calls.Match("elasticache", op, "").Count(); n != 1 {
			t.Errorf("%d calls of %s\n%s", n, op, calls)
		}
	}
	if failed := calls.Failed().Match("elasticache", "ListTagsForResource", ""); failed.Count() > 0 || exists(t, s.Rig) {
		t.Errorf("ElastiCache refused\n%s", failed)
	}
}

func TestAnOperatorThatStartsMeanwhileWaitsToo(t *testing.T) {
	s := subject(t, memcached())
	slow(t, s)
	if _, err := s.Pass(t.Context(), nil); err == nil {
		t.Fatal("the cluster is available at once")
	}
	s.Forget()
	waits(t, s, "creating")
	kindtest.Settled(t, s)
}

func TestTheLastNodesAreRemoved(t *testing.T) {
	s := subject(t, memcached(nodes(4)))
	kindtest.Settled(t, s)
	have := stateOf(ClusterState{}, *observed(t, s.Rig))
	in := changes(ClusterState{NumCacheNodes: aws.Int32(2)}, have, kind.Diff{{Path: "NumCacheNodes"}})
	if !slices.Equal(in.CacheNodeIdsToRemove, []string{"0003", "0004"}) || *in.NumCacheNodes != 2 {
		t.Errorf("%+v", in)
	}
	s.Edit(memcached(nodes(2)))
	kindtest.Settled(t, s)
	if d := observed(t, s.Rig); len(d.CacheNodes) != 2 {
		t.Errorf("%d nodes", len(d.CacheNodes))
	}
}

func TestTheFinalSnapshotOfRedisIsTheDefault(t *testing.T) {
	for name, c := range map[string]struct {
		object *v1alpha1.ElastiCacheCluster
		want   func(names []string) bool
	}{
		"the default name": {aRedis(), func(names []string) bool {
			return len(names) == 1 && strings.HasPrefix(names[0], id+"-final-") && len(names[0]) == len(id)+15
		}},
		"a name": {aRedis(func(s *spec) { s.FinalSnapshotIdentifier = "last" }),
			func(names []string) bool { return slices.Equal(names, []string{"last"}) }},
		"none":              {aRedis(skipping), func(names []string) bool { return len(names) == 0 }},
		"none of Memcached": {memcached(), func(names []string) bool { return len(names) == 0 }},
	} {
		s := subject(t, c.object)
		kindtest.Settled(t, s)
		s.Rig.AWS.Fault(emulator.Match{Service: "elasticache", Op: "DeleteCacheCluster", Times: 1}, emulator.LoseAnswer())
		s.Deleting = true
		kindtest.Settled(t, s)
		if names := snapshots(t, s.Rig); !c.want(names) || exists(t, s.Rig) {
			t.Errorf("%s: %q", name, names)
		}
	}
}

func TestStatesThatOnlyAPersonCanEnd(t *testing.T) {
	want := ClusterState{FinalSnapshot: "last"}
	if h := holds(want, "restore-failed", true); len(h) != 1 || h[0].Reason != status.ReasonDataWouldBeLost {
		t.Errorf("%+v", h)
	}
	if h := holds(ClusterState{}, "restore-failed", true); len(h) > 0 {
		t.Errorf("%+v", h)
	}
}

func TestABrokenClusterIsReportedAndDeletedWithoutItsTags(t *testing.T) {
	s := subject(t, aRedis(skipping))
	kindtest.Settled(t, s)
	s.Rig.AWS.ElastiCache.BreakCacheClusters("restore-failed")
	_, err := s.Pass(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonRefusedByAWS || !strings.Contains(st.Message, "restore-failed") {
		t.Errorf("got %v", err)
	}
	s.Deleting = true
	kindtest.Settled(t, s)
	if exists(t, s.Rig) {
		t.Error("the cluster is left")
	}
}

func TestVersionsThatCountAsDeclared(t *testing.T) {
	for _, c := range []struct {
		want, have string
		same       bool
	}{{"7.1", "7.1.0", true}, {"7.0", "7.1.0", true}, {"7.1", "7.0.7", false}, {"6.x", "6.2.6", true}, {"6.x", "7.1.0", true},
		{"6.2", "7.0.7", true}, {"1.6.22", "1.6", true}, {"7.1", "7", true}, {"7.1", "6.2.6", false}, {"1.6.22", "1.5", false},
		{"1.6.12", "1.6.22", true}, {"1.6.22", "1.6.12", false}, {"1.6.2", "1.6.22", true}} {
		if got := versionAs(&c.want, &c.have); (*got == c.want) != c.same {
			t.Errorf("%+v: %s", c, *got)
		}
	}
}

// ElastiCache may show fewer parts of a version than it was given.
func TestAVersionThatIsShownInPartIsNotWrittenAgain(t *testing.T) {
	s := subject(t, memcached(version("1.6.12")))
	s.Rig.AWS.ElastiCache.SetCacheVersionParts(2)
	kindtest.Settled(t, s)
	s.Edit(memcached(version("1.6.22")))
	kindtest.Settled(t, s)
	if n := s.Rig.AWS.Calls().Match("elasticache", "ModifyCacheCluster", "").Count(); n > 0 {
		t.Errorf("%d changes", n)
	}
}

func TestALaterMajorVersionBlocksNothing(t *testing.T) {
	s := subject(t, aRedis(version("6.x")))
	kindtest.Settled(t, s)
	change(elasticache.ModifyCacheClusterInput{EngineVersion: aws.String("7.1")})(t, s.Rig)
	s.Edit(aRedis(version("6.x"), func(s *spec) { s.NodeType = "cache.t4g.small" }))
	kindtest.Settled(t, s)
	if n := s.Rig.AWS.Calls().Match("elasticache", "ModifyCacheCluster", "").Count(); n != 2 {
		t.Errorf("%d changes, want theirs and that of the node type", n)
	}
	for _, c := range s.Object.CommonStatus().Conditions {
		if c.Type == v1alpha1.ConditionVersionAsDeclared && c.Status == "False" && strings.Contains(c.Message, "declare 7.1.0") {
			return
		}
	}
	t.Errorf("%+v", s.Object.CommonStatus().Conditions)
}

// A manifest that is applied and deleted again and again names the same final snapshot each time.
func TestASecondLifeEndsWithAnotherFinalSnapshot(t *testing.T) {
	s := subject(t, aRedis(func(s *spec) { s.FinalSnapshotIdentifier = "last" }))
	kindtest.Settled(t, s)
	_, err := api(s.Rig).CreateSnapshot(t.Context(),
		&elasticache.CreateSnapshotInput{SnapshotName: aws.String("last"), CacheClusterId: aws.String(id)})
	kindtest.Must(t, err)
	s.Deleting = true
	kindtest.Settled(t, s)
	if names := snapshots(t, s.Rig); len(names) != 2 || exists(t, s.Rig) || !strings.HasPrefix(slices.Max(names), "last-") {
		t.Errorf("%q", names)
	}
}

func TestAReferenceThatIsNotReadyIsWaitedFor(t *testing.T) {
	s := subject(t, memcached(everything))
	s.Targets = nil
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "SecurityGroup/web" || s.Rig.AWS.Calls().Count() > 0 {
		t.Errorf("got %v", err)
	}
}

func TestClusterPublishesItsEndpoints(t *testing.T) {
	s := subject(t, memcached(everything))
	kindtest.Settled(t, s)
	o := s.Object.(*v1alpha1.ElastiCacheCluster)
	st := o.Status
	if st.ARN != "arn:aws:elasticache:"+of+":cluster:"+id || st.CacheClusterARN != st.ARN || st.ID != id || st.ClusterStatus != "available" ||
		st.EngineVersion != "1.6" {
		t.Errorf("%+v", st)
	}
	if e := st.ConfigurationEndpoint; e == nil || !strings.Contains(e.Address, ".cfg.") || e.Port != 11300 || st.PrimaryEndpoint != nil ||
		len(st.NodeEndpoints) != 2 || o.ReferableAttributes()["address"] != e.Address {
		t.Errorf("%+v %+v", e, st.NodeEndpoints)
	}
	s = subject(t, aRedis())
	kindtest.Settled(t, s)
	if st := s.Object.(*v1alpha1.ElastiCacheCluster).Status; len(st.NodeEndpoints) != 1 || *st.PrimaryEndpoint != st.NodeEndpoints[0] ||
		st.PrimaryEndpoint.Port != 6379 || st.ConfigurationEndpoint != nil || st.EngineVersion != "7.0.0" {
		t.Errorf("%+v", st)
	}
}

func TestClusterCosts(t *testing.T) {
	s := subject(t, memcached(tagged("team", "a")))
	const describe, list = "DescribeCacheClusters", "ListTagsForResource"
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"CreateCacheCluster": 1, describe: 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{describe: 1, list: 1}, Change: s.Forget},
		kindtest.Cost{Name: "nodes", Calls: map[string]int{describe: 2, list: 2, "ModifyCacheCluster": 1},
			Change: func() { s.Edit(memcached(tagged("team", "a"), nodes(3))) }},
		kindtest.Cost{Name: "delete", Calls: map[string]int{describe: 2, list: 1, "DeleteCacheCluster": 1}, Change: func() { s.Deleting = true }},
	)
}
