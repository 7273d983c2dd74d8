// SPDX-License-Identifier: Apache-2.0

package ecs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name     = "shop"
	stored   = "team-shop"
	of       = kindtest.Region + ":" + kindtest.Account
	keyARN   = "arn:aws:kms:" + of + ":key/1234abcd-12ab-34cd-56ef-1234567890ab"
	services = "arn:aws:servicediscovery:" + of + ":namespace/ns-a"

	create      = "ecs:CreateCluster"
	update      = "ecs:UpdateCluster"
	put         = "ecs:PutClusterCapacityProviders"
	tag         = "ecs:TagResource"
	untag       = "ecs:UntagResource"
	removeWhole = "ecs:DeleteCluster"
)

type (
	spec = v1alpha1.ECSClusterSpec
	edit = func(s *spec)
	item = v1alpha1.ECSCapacityProviderStrategyItem
)

func clusterOf(edits ...edit) *v1alpha1.ECSCluster {
	o := &v1alpha1.ECSCluster{}
	o.Name, o.Spec.ClusterName = name, stored
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

func providers(names ...string) edit {
	return func(s *spec) { s.CapacityProviders = kind.Ptr(append([]string{}, names...)) }
}

func strategy(items ...item) edit {
	return func(s *spec) { s.DefaultCapacityProviderStrategy = kind.Ptr(append([]item{}, items...)) }
}

func monitored(value string) edit {
	return func(s *spec) {
		s.Settings = []v1alpha1.ECSClusterSetting{{Name: "containerInsights", Value: value}}
	}
}

func executes(in v1alpha1.ECSExecuteCommandConfiguration) edit {
	return func(s *spec) {
		s.Configuration = &v1alpha1.ECSClusterConfiguration{ExecuteCommandConfiguration: &in}
	}
}

func logged(in v1alpha1.ECSExecuteCommandLogConfiguration) edit {
	return executes(v1alpha1.ECSExecuteCommandConfiguration{KMSKeyID: keyARN, Logging: "OVERRIDE", LogConfiguration: &in})
}

func connects(namespace string) edit {
	return func(s *spec) { s.ServiceConnectDefaults = &v1alpha1.ECSServiceConnectDefaults{Namespace: namespace} }
}

func tagged(k, v string) edit {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) edit { return func(s *spec) { s.DeletionPolicy = p } }

func api(r *kindtest.Rig) *ecs.Client { return ecs.NewFromConfig(r.Config) }

func observed(t *testing.T, r *kindtest.Rig) *types.Cluster {
	t.Helper()
	out, err := api(r).DescribeClusters(t.Context(), &ecs.DescribeClustersInput{Clusters: []string{stored},
		Include: []types.ClusterField{types.ClusterFieldConfigurations, types.ClusterFieldTags}})
	kindtest.Must(t, err)
	if len(out.Clusters) == 0 || *out.Clusters[0].Status == "INACTIVE" {
		return nil
	}
	return &out.Clusters[0]
}

func exists(t *testing.T, r *kindtest.Rig) bool { return observed(t, r) != nil }

func makeCluster(t *testing.T, r *kindtest.Rig, tags map[string]string) {
	t.Helper()
	_, err := api(r).CreateCluster(t.Context(), &ecs.CreateClusterInput{ClusterName: aws.String(stored), Tags: kind.SDKTags[types.Tag](tags)})
	kindtest.Must(t, err)
}

func before(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeCluster(t, r, tags) }
}

func foreign(t *testing.T, r *kindtest.Rig) { makeCluster(t, r, map[string]string{"made": "by hand"}) }

func remove(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteCluster(t.Context(), &ecs.DeleteClusterInput{Cluster: aws.String(stored)})
	kindtest.Must(t, err)
}

// change makes a change outside the operator.
func change(in ecs.UpdateClusterInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.Cluster = aws.String(stored)
		_, err := api(r).UpdateCluster(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

func replace(names []string, items ...types.CapacityProviderStrategyItem) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutClusterCapacityProviders(t.Context(),
			&ecs.PutClusterCapacityProvidersInput{Cluster: aws.String(stored), CapacityProviders: names, DefaultCapacityProviderStrategy: items})
		kindtest.Must(t, err)
	}
}

func targets(s *kindtest.Subject) {
	s.Targets = map[string]kind.Target{"KMSKey/logs": {ID: keyARN[strings.LastIndex(keyARN, "/")+1:], ARN: keyARN},
		"S3Bucket/logs": {ID: "team-logs", ARN: "arn:aws:s3:::team-logs"}}
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "ECSCluster", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestCluster(t *testing.T) {
	kindtest.Run(t, engine.For(NewCluster), slices.Concat(lives(), refusals(), capacityEdits(), otherEdits(), owners()))
}

func lives() []kindtest.Case {
	full := clusterOf(providers("FARGATE", "FARGATE_SPOT"),
		strategy(item{CapacityProvider: "FARGATE", Base: 1, Weight: 1}, item{CapacityProvider: "FARGATE_SPOT", Weight: 3}),
		monitored("enabled"), logged(v1alpha1.ECSExecuteCommandLogConfiguration{CloudWatchLogGroupName: "/ecs/exec",
			CloudWatchEncryptionEnabled: true, S3BucketName: "team-logs", S3EncryptionEnabled: true, S3KeyPrefix: "exec"}),
		connects(services), tagged("team", "a"))
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: clusterOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with all that it can have", Object: full, Cause: engine.New, Actions: []string{create}},
		{Name: "in sync", Existing: full, Object: full, Cause: engine.InSync},
		{Name: "another order is no difference", Existing: clusterOf(providers("FARGATE", "FARGATE_SPOT")),
			Object: clusterOf(providers("FARGATE_SPOT", "FARGATE")), Cause: engine.InSync},
		{Name: "what is not declared is left alone", Existing: clusterOf(), Object: clusterOf(), Drift: true,
			Before: change(ecs.UpdateClusterInput{Settings: settings("enhanced")}), Cause: engine.InSync},
		{Name: "deleted by hand, it is created again", Existing: clusterOf(), Object: clusterOf(), Drift: true, Before: remove, Cause: engine.New,
			Actions: []string{create}},
		{Name: "deleting", Existing: clusterOf(), Object: clusterOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{removeWhole}},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: clusterOf(deletion(v1alpha1.DeletionOrphan)),
			Object:   clusterOf(deletion(v1alpha1.DeletionOrphan)),
			Deleting: true, Drift: true, Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func refusals() []kindtest.Case {
	refused := func(name string, edits ...edit) kindtest.Case {
		return kindtest.Case{Name: name, Object: clusterOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		refused("a name with a slash", func(s *spec) { s.ClusterName = "team/shop" }),
		refused("a strategy of another capacity provider", providers("FARGATE"), strategy(item{CapacityProvider: "FARGATE_SPOT", Weight: 1})),
		refused("two bases", strategy(item{CapacityProvider: "FARGATE", Base: 1}, item{CapacityProvider: "FARGATE_SPOT", Base: 1})),
		refused("a setting that does not exist",
			func(s *spec) { s.Settings = []v1alpha1.ECSClusterSetting{{Name: "insights", Value: "enabled"}} }),
		refused("a value that does not exist", monitored("on")),
		refused("a configuration of logs without OVERRIDE", executes(v1alpha1.ECSExecuteCommandConfiguration{Logging: "NONE",
			LogConfiguration: &v1alpha1.ECSExecuteCommandLogConfiguration{S3BucketName: "logs"}})),
		refused("OVERRIDE without a configuration of logs", executes(v1alpha1.ECSExecuteCommandConfiguration{Logging: "OVERRIDE"})),
		refused("logs nowhere", logged(v1alpha1.ECSExecuteCommandLogConfiguration{S3KeyPrefix: "exec"})),
		refused("two buckets", logged(v1alpha1.ECSExecuteCommandLogConfiguration{S3BucketName: "logs",
			S3BucketRef: &v1alpha1.ObjectReference{Name: "logs"}})),
		refused("two keys", executes(v1alpha1.ECSExecuteCommandConfiguration{KMSKeyID: keyARN,
			KMSKeyRef: &v1alpha1.ObjectReference{Name: "logs"}})),
		refused("a namespace by its name", connects("internal")),
		{Name: "another name", Existing: clusterOf(), Object: clusterOf(func(s *spec) { s.ClusterName = "other" }),
			Stalled: status.ReasonIdentityChanged},
	}
}

func capacityEdits() []kindtest.Case {
	managed := func(_ *testing.T, r *kindtest.Rig) { r.AWS.ECS.SetProviderOfCluster("managed") }
	both := clusterOf(providers("FARGATE"), strategy(item{CapacityProvider: "FARGATE", Weight: 1, Base: 2}))
	return []kindtest.Case{
		{Name: "capacity providers are added", Existing: clusterOf(), Object: clusterOf(providers("FARGATE")), Cause: engine.Edited,
			Diff: []string{"Providers"}, Actions: []string{put}},
		{Name: "and changed by hand, corrected; the strategy that is not declared stays", Existing: clusterOf(providers("FARGATE")),
			Object: clusterOf(providers("FARGATE")), Drift: true,
			Before: replace([]string{"FARGATE", "FARGATE_SPOT"},
				types.CapacityProviderStrategyItem{CapacityProvider: aws.String("FARGATE"), Weight: 2}), Cause: engine.Drifted,
			Diff: []string{"Providers"}, Actions: []string{put}},
		{Name: "a strategy is added", Existing: clusterOf(providers("FARGATE")), Object: both, Cause: engine.Edited, Diff: []string{"Strategy"},
			Actions: []string{put}},
		{Name: "and changed by hand, corrected", Existing: both, Object: both, Drift: true,
			Before: replace([]string{"FARGATE"}, types.CapacityProviderStrategyItem{CapacityProvider: aws.String("FARGATE"), Weight: 9, Base: 1}),
			Cause:  engine.Drifted, Diff: []string{"Strategy"}, Actions: []string{put}},
		{Name: "a provider of Managed Instances stays", Existing: clusterOf(providers("FARGATE")), Object: clusterOf(providers("FARGATE")),
			Drift: true, Before: managed, Cause: engine.InSync},
		{Name: "and may be declared", Existing: clusterOf(providers("FARGATE")), Object: clusterOf(providers("FARGATE", "managed")),
			Before: managed, Cause: engine.InSync},
		{Name: "others change beside it", Existing: clusterOf(providers("FARGATE")), Object: clusterOf(providers("FARGATE_SPOT", "managed")),
			Before: managed, Cause: engine.Edited, Diff: []string{"Providers"}, Actions: []string{put}},
		{Name: "the strategy changes beside it", Existing: clusterOf(providers("FARGATE")),
			Object: clusterOf(strategy(item{CapacityProvider: "managed", Weight: 1})), Before: managed, Cause: engine.Edited,
			Diff: []string{"Strategy"}, Actions: []string{put}},
		{Name: "both are removed", Existing: both, Object: clusterOf(providers(), strategy()), Cause: engine.Edited,
			Diff: []string{"Providers", "Strategy"}, Actions: []string{put}},
	}
}

func otherEdits() []kindtest.Case {
	toGroup := v1alpha1.ECSExecuteCommandLogConfiguration{CloudWatchLogGroupName: "/ecs/exec"}
	everywhere := v1alpha1.ECSExecuteCommandLogConfiguration{CloudWatchLogGroupName: "/ecs/exec", CloudWatchEncryptionEnabled: true,
		S3BucketName: "team-logs", S3EncryptionEnabled: true, S3KeyPrefix: "exec"}
	byRefs := executes(v1alpha1.ECSExecuteCommandConfiguration{KMSKeyRef: &v1alpha1.ObjectReference{Name: "logs"}, Logging: "OVERRIDE",
		LogConfiguration: &v1alpha1.ECSExecuteCommandLogConfiguration{S3BucketRef: &v1alpha1.ObjectReference{Name: "logs"}}})
	return []kindtest.Case{
		{Name: "insights are switched on", Existing: clusterOf(), Object: clusterOf(monitored("enhanced")), Cause: engine.Edited,
			Diff: []string{"Insights"}, Actions: []string{update}},
		{Name: "and off by hand, corrected", Existing: clusterOf(monitored("enabled")), Object: clusterOf(monitored("enabled")), Drift: true,
			Before: change(ecs.UpdateClusterInput{Settings: settings("disabled")}),
			Cause:  engine.Drifted, Diff: []string{"Insights"}, Actions: []string{update}},
		{Name: "commands are logged elsewhere", Existing: clusterOf(executes(v1alpha1.ECSExecuteCommandConfiguration{})),
			Object: clusterOf(logged(toGroup)), Cause: engine.Edited,
			Diff: []string{"Exec.KMSKeyID", "Exec.Logging", "Exec.Group"}, Actions: []string{update}},
		{Name: "commands are logged in two places", Existing: clusterOf(logged(toGroup)), Object: clusterOf(logged(everywhere)),
			Cause: engine.Edited,
			Diff:  []string{"Exec.Bucket", "Exec.Prefix", "Exec.GroupEncrypted", "Exec.BucketEncrypted"}, Actions: []string{update}},
		{Name: "and as by default", Existing: clusterOf(logged(toGroup)), Object: clusterOf(executes(v1alpha1.ECSExecuteCommandConfiguration{})),
			Cause: engine.Edited,
			Diff:  []string{"Exec.KMSKeyID", "Exec.Logging", "Exec.Group"}, Actions: []string{update}},
		{Name: "a log of commands that ended by hand is corrected", Existing: clusterOf(logged(toGroup)), Object: clusterOf(logged(toGroup)),
			Drift: true,
			Before: change(ecs.UpdateClusterInput{Configuration: &types.ClusterConfiguration{ExecuteCommandConfiguration: execution{KMSKeyID: keyARN,
				Logging: "NONE"}.sdk()}}),
			Cause: engine.Drifted, Diff: []string{"Exec.Logging", "Exec.Group"}, Actions: []string{update}},
		{Name: "the key and the bucket of references", Existing: clusterOf(), Object: clusterOf(byRefs), Facts: targets, Cause: engine.Edited,
			Diff: []string{"Exec.KMSKeyID", "Exec.Logging", "Exec.Bucket"}, Actions: []string{update}},
		{Name: "a namespace of Service Connect", Existing: clusterOf(), Object: clusterOf(connects(services)), Cause: engine.Edited,
			Diff: []string{"Namespace"}, Actions: []string{update}},
		{Name: "removed by hand, corrected", Existing: clusterOf(connects(services)), Object: clusterOf(connects(services)), Drift: true,
			Before: change(ecs.UpdateClusterInput{ServiceConnectDefaults: &types.ClusterServiceConnectDefaultsRequest{Namespace: aws.String("")}}),
			Cause:  engine.Drifted, Diff: []string{"Namespace"}, Actions: []string{update}},
		{Name: "and removed", Existing: clusterOf(connects(services)), Object: clusterOf(connects("")), Cause: engine.Edited,
			Diff: []string{"Namespace"}, Actions: []string{update}},
		{Name: "tags are added and dropped", Existing: clusterOf(tagged("old", "1")), Object: clusterOf(tagged("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: clusterOf(),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: clusterOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's operator has it", Object: clusterOf(), Before: before(ownerTags("an-earlier-one", "another")),
			Stalled: status.ReasonConflict},
		{Name: "made by hand, it is a conflict", Object: clusterOf(), Before: foreign, Stalled: status.ReasonConflict},
		{Name: "made by hand, it is adopted where both sides allow",
			Object: clusterOf(func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }),
			Facts:  func(s *kindtest.Subject) { s.AllowAdoption = true }, Before: foreign, Cause: engine.Edited, Diff: ownerPaths,
			Actions: []string{tag}},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: clusterOf(providers("FARGATE"), monitored("enabled"), tagged("team", "a")), Exists: exists, Foreign: foreign,
		Edited: clusterOf(providers("FARGATE", "FARGATE_SPOT"), monitored("disabled"),
			executes(v1alpha1.ECSExecuteCommandConfiguration{Logging: "NONE"}), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{clusterOf(providers("FARGATE"), tagged("team", "a"), connects("internal"))},
	}
}

func TestClusterSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewCluster), life()) }

func TestClusterSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewCluster), life()) }

func subject(t *testing.T, o *v1alpha1.ECSCluster) *kindtest.Subject {
	t.Helper()
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewCluster), o)
	targets(s)
	return s
}

func TestAReferenceThatIsNotReadyIsWaitedFor(t *testing.T) {
	for kindName, o := range map[string]v1alpha1.ECSExecuteCommandConfiguration{
		"KMSKey": {KMSKeyRef: &v1alpha1.ObjectReference{Name: "late"}},
		"S3Bucket": {Logging: "OVERRIDE",
			LogConfiguration: &v1alpha1.ECSExecuteCommandLogConfiguration{S3BucketRef: &v1alpha1.ObjectReference{Name: "late"}}},
	} {
		_, err := subject(t, clusterOf(executes(o))).Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.For != kindName+"/late" {
			t.Errorf("%s: got %v", kindName, err)
		}
	}
}

// ECS keeps settings that a request does not name, but not the other parts of a configuration that it names.
func TestAConfigurationOfStorageOutsideTheOperatorStays(t *testing.T) {
	s := subject(t, clusterOf(executes(v1alpha1.ECSExecuteCommandConfiguration{Logging: "NONE"})))
	kindtest.Settled(t, s)
	storage := &types.ManagedStorageConfiguration{KmsKeyId: aws.String(keyARN)}
	change(ecs.UpdateClusterInput{Configuration: &types.ClusterConfiguration{ExecuteCommandConfiguration: execution{Logging: "NONE"}.sdk(),
		ManagedStorageConfiguration: storage}})(t, s.Rig)
	s.Edit(clusterOf(executes(v1alpha1.ECSExecuteCommandConfiguration{Logging: "DEFAULT"})))
	kindtest.Settled(t, s)
	c := observed(t, s.Rig).Configuration
	if c.ManagedStorageConfiguration == nil || *c.ManagedStorageConfiguration.KmsKeyId != keyARN ||
		c.ExecuteCommandConfiguration.Logging != "DEFAULT" {
		t.Errorf("%+v", c)
	}
}

func TestAnyNameOfTheKeyIsNoDifference(t *testing.T) {
	byID := executes(v1alpha1.ECSExecuteCommandConfiguration{KMSKeyID: keyARN[strings.LastIndex(keyARN, "/")+1:]})
	s := subject(t, clusterOf(executes(v1alpha1.ECSExecuteCommandConfiguration{KMSKeyID: keyARN})))
	kindtest.Settled(t, s)
	s.Edit(clusterOf(byID))
	if p, err := s.Decide(t.Context()); err != nil || p.Cause != engine.InSync {
		t.Errorf("%v %v %+v", err, p.Cause, p.Diff)
	}
}

// ECS takes some time to change capacity providers, and refuses further changes of them until then.
func TestChangesOfCapacityProvidersAreAwaited(t *testing.T) {
	s := subject(t, clusterOf(providers("FARGATE")))
	s.Rig.AWS.SetClock(func() time.Time { return s.Clock })
	t.Cleanup(func() { s.Rig.AWS.SetClock(nil) })
	s.Rig.AWS.ECS.SetClustersTake(20 * time.Second)
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.Error(), "the cluster is PROVISIONING") {
		t.Errorf("got %v", err)
	}
	kindtest.Settled(t, s)
	mark := s.Rig.AWS.Mark()
	s.Edit(clusterOf(providers("FARGATE_SPOT")))
	kindtest.Settled(t, s)
	s.Edit(clusterOf(providers("FARGATE")))
	kindtest.Settled(t, s)
	s.Edit(clusterOf(providers("FARGATE_SPOT")))
	kindtest.Settled(t, s)
	if failed := s.Rig.AWS.Since(mark).Failed(); len(failed) > 0 {
		t.Errorf("ECS refused\n%s", failed)
	}
	if d := observed(t, s.Rig); !slices.Equal(d.CapacityProviders, []string{"FARGATE_SPOT"}) {
		t.Errorf("%+v", d)
	}
}

// ECS shows the capacity providers that were sent although it could not make the resources that they need.
func TestAFailedChangeOfCapacityProvidersIsShown(t *testing.T) {
	s := subject(t, clusterOf(providers("FARGATE")))
	kindtest.Settled(t, s)
	shown := func() *metav1.Condition {
		return meta.FindStatusCondition(s.Object.(*v1alpha1.ECSCluster).Status.Conditions, v1alpha1.ConditionLastUpdateSucceeded)
	}
	s.Rig.AWS.ECS.SetClusterUpdatesFail(true)
	t.Cleanup(func() { s.Rig.AWS.ECS.SetClusterUpdatesFail(false) })
	s.Edit(clusterOf(providers("FARGATE_SPOT")))
	kindtest.Settled(t, s)
	if c := shown(); c == nil || c.Status != metav1.ConditionFalse || c.Reason != status.ReasonRefusedByAWS ||
		!strings.Contains(c.Message, "--include ATTACHMENTS") {
		t.Errorf("%+v", c)
	}
	s.Rig.AWS.ECS.SetClusterUpdatesFail(false)
	s.Edit(clusterOf(providers("FARGATE")))
	kindtest.Settled(t, s)
	if c := shown(); c == nil || c.Status != metav1.ConditionTrue {
		t.Errorf("%+v", c)
	}
}

func TestAClusterInUseIsNotDeleted(t *testing.T) {
	s := subject(t, clusterOf())
	kindtest.Settled(t, s)
	machines, err := ec2.NewFromConfig(s.Rig.Config).RunInstances(t.Context(),
		&ec2.RunInstancesInput{ImageId: aws.String("ami-12c6146b"), MinCount: aws.Int32(1), MaxCount: aws.Int32(1)})
	kindtest.Must(t, err)
	identity := fmt.Sprintf(`{"instanceId": %q}`, *machines.Instances[0].InstanceId)
	_, err = api(s.Rig).RegisterContainerInstance(t.Context(),
		&ecs.RegisterContainerInstanceInput{Cluster: aws.String(stored), InstanceIdentityDocument: &identity})
	kindtest.Must(t, err)
	s.Deleting = true
	_, err = s.Settle(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "the cluster to be unused: it has 1 container instances") || !exists(t, s.Rig) {
		t.Errorf("got %v", err)
	}
}

func TestClusterPublishesWhatECSAssigned(t *testing.T) {
	s := subject(t, clusterOf())
	kindtest.Settled(t, s)
	if st := s.Object.(*v1alpha1.ECSCluster).Status; st.ARN != "arn:aws:ecs:"+of+":cluster/"+stored || st.ClusterARN != st.ARN ||
		st.ID != stored || st.Status != "ACTIVE" {
		t.Errorf("%+v", st)
	}
}

func TestClusterCosts(t *testing.T) {
	s := subject(t, clusterOf(providers("FARGATE"), monitored("enabled"), tagged("team", "a")))
	const describe = "DescribeClusters"
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"CreateCluster": 1, describe: 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{describe: 1}, Change: s.Forget},
		kindtest.Cost{Name: "capacity providers and insights",
			Calls:  map[string]int{describe: 2, "PutClusterCapacityProviders": 1, "UpdateCluster": 1},
			Change: func() { s.Edit(clusterOf(providers("FARGATE_SPOT"), monitored("disabled"), tagged("team", "a"))) }},
		kindtest.Cost{Name: "delete", Calls: map[string]int{describe: 2, "DeleteCluster": 1}, Change: func() { s.Deleting = true }})
}
