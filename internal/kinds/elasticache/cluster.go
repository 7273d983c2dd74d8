// SPDX-License-Identifier: Apache-2.0

// Package elasticache is the ElastiCache kinds.
package elasticache

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/elasticache/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ClusterState is a cache cluster as both the spec and ElastiCache can express it. The fields that ElastiCache can set have the
// names that its requests and descriptions give them.
type ClusterState struct {
	CacheClusterId string `drift:"identity"` //nolint:revive // a name of ElastiCache
	ARN            string `drift:"id"`
	// FinalSnapshot is the snapshot that the deletion makes; empty where it makes none.
	FinalSnapshot string `drift:"id"`
	// OtherSnapshot is its name where the declared one is taken; empty where none is declared.
	OtherSnapshot string `drift:"id"`
	// Guarded is set while the cluster must not be deleted without a final snapshot.
	Guarded bool `drift:"id"`

	CacheClusterStatus string `drift:"observed"`
	// Version is the one that runs, also where that counts as declared.
	Version string `drift:"observed"`
	// SnapshotTaken is set while a snapshot has the declared name of the final one.
	SnapshotTaken bool `drift:"observed"`
	// Endpoint says where clients connect to; nil while there is none.
	Endpoint *types.Endpoint   `drift:"observed"`
	Nodes    []types.CacheNode `drift:"observed"`

	Engine                   *string `drift:"immutable"`
	AZMode                   *string `drift:"immutable"`
	Port                     *int32  `drift:"immutable"`
	CacheSubnetGroupName     *string `drift:"immutable"`
	TransitEncryptionEnabled *bool   `drift:"immutable"`

	EngineVersion, CacheNodeType, CacheParameterGroupName *string
	PreferredMaintenanceWindow, SnapshotWindow            *string
	// NotificationTopicArn is the topic of events; "" is none.
	NotificationTopicArn                  *string
	NumCacheNodes, SnapshotRetentionLimit *int32
	AutoMinorVersionUpgrade               *bool
	SecurityGroupIds                      []string          `drift:"set"` //nolint:revive // a name of ElastiCache
	Tags                                  map[string]string `drift:"tags"`
}

// settings are the fields that ModifyCacheCluster changes. Read only.
var settings = []string{
	"EngineVersion", "CacheNodeType", "CacheParameterGroupName", "PreferredMaintenanceWindow", "SnapshotWindow", "NotificationTopicArn",
	"NumCacheNodes", "SnapshotRetentionLimit", "AutoMinorVersionUpgrade", "SecurityGroupIds",
}

const (
	redis     = "redis"
	available = "available"
)

// The states of a cluster that serves its users while it changes, and those that only a person can end. Read only.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_CacheCluster.html
var (
	usableStates = []string{"modifying", "snapshotting"}
	brokenStates = []string{"incompatible-network", "restore-failed"}
)

type cluster struct{ api *elasticache.Client }

// NewCluster binds the ElastiCacheCluster kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticache.html
func NewCluster(cfg aws.Config) kind.Kind[*v1alpha1.ElastiCacheCluster, ClusterState] {
	c := &cluster{api: elasticache.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.ElastiCacheCluster, ClusterState]{
		Meta:     kind.Meta{Facts: clusterFacts(), Identity: kind.ByName, HoldsData: true, CreatesFirst: true, References: []string{"SecurityGroup"}},
		Identify: identify, Declare: declare, Publish: publish, Explain: awsclient.ExplainVanished[ClusterState]("ElastiCache described the cache cluster and answered that it does not exist"),
		Export:   kind.Export[*v1alpha1.ElastiCacheCluster, ClusterState]{Identity: []string{"clusterID"}, Spec: exported},
		Describe: kind.Read[ClusterState]{Actions: []string{"elasticache:DescribeCacheClusters"}, Do: c.describe},
		Create:   kind.Call[ClusterState]{Action: "elasticache:CreateCacheCluster", Do: kind.Send(c.api.CreateCacheCluster, creation)},
		Tagging: kind.Tagging[ClusterState]{
			Reads: "elasticache:ListTagsForResource", List: c.tags,
			Sets: "elasticache:AddTagsToResource", Set: kind.Send(c.api.AddTagsToResource, func(have ClusterState, tags map[string]string) *elasticache.AddTagsToResourceInput {
				return &elasticache.AddTagsToResourceInput{ResourceName: &have.ARN, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "elasticache:RemoveTagsFromResource", Remove: kind.Send(c.api.RemoveTagsFromResource, func(have ClusterState, keys []string) *elasticache.RemoveTagsFromResourceInput {
				return &elasticache.RemoveTagsFromResourceInput{ResourceName: &have.ARN, TagKeys: keys}
			}),
		},
		Holds: c.findSnapshot, HoldsReads: []string{"elasticache:DescribeSnapshots"},
		// ElastiCache changes no tags of a cluster that is being modified, so that they come first.
		OneByOne: true,
		Parts: []kind.Part[ClusterState]{{Fields: settings, InCreate: true,
			Write: kind.Call[ClusterState]{Action: "elasticache:ModifyCacheCluster", DoDiff: kind.SendDiff(c.api.ModifyCacheCluster, changes)}}},
		Delete: []kind.Ending[ClusterState]{{Call: kind.Call[ClusterState]{Action: "elasticache:DeleteCacheCluster", Effect: kind.Deletes, Do: kind.Send(c.api.DeleteCacheCluster, func(want, have ClusterState) *elasticache.DeleteCacheClusterInput {
			name := kind.Either(have.SnapshotTaken, want.OtherSnapshot, want.FinalSnapshot)
			return &elasticache.DeleteCacheClusterInput{CacheClusterId: &want.CacheClusterId, FinalSnapshotIdentifier: kind.NonEmpty(&name)}
		})}}},
	})
}

func identify(sc kind.Scope, cr *v1alpha1.ElastiCacheCluster) (ClusterState, error) {
	in := cr.Spec
	s := ClusterState{CacheClusterId: in.ClusterID, Engine: &in.Engine}
	if in.Engine == redis {
		s.Guarded, s.FinalSnapshot = sc.Data.Guarded, sc.FinalSnapshot(in.ClusterID, in.FinalSnapshotIdentifier, in.SkipFinalSnapshot)
		s.OtherSnapshot = sc.OtherSnapshot(in.FinalSnapshotIdentifier)
	}
	return s, nil
}

func declare(sc kind.Scope, cr *v1alpha1.ElastiCacheCluster, s *ClusterState) error {
	in, tags := cr.Spec, s.Tags
	kind.Overlay(s, in) // the fields of the same names
	s.Tags, s.CacheNodeType, s.NotificationTopicArn = tags, &in.NodeType, in.NotificationTopicARN
	s.CacheSubnetGroupName, s.CacheParameterGroupName = in.SubnetGroupName, in.ParameterGroupName
	groups, err := kind.ReferredIDs(sc.Lookups, "SecurityGroup", in.SecurityGroupIDs, in.SecurityGroupRefs)
	s.SecurityGroupIds = groups
	return err
}

func creation(want, _ ClusterState) *elasticache.CreateCacheClusterInput {
	tags := kind.SDKTags[types.Tag](want.Tags)
	want.Tags = nil
	in := kind.Convert[elasticache.CreateCacheClusterInput](want)
	in.Tags, in.NotificationTopicArn, in.NumCacheNodes = tags, kind.NonEmpty(want.NotificationTopicArn), cmp.Or(want.NumCacheNodes, aws.Int32(1))
	return &in
}

// changes returns a request for the differences, without delay. ElastiCache keeps settings that a request does not name.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_ModifyCacheCluster.html
func changes(want, have ClusterState, diff kind.Diff) *elasticache.ModifyCacheClusterInput {
	in := kind.Convert[elasticache.ModifyCacheClusterInput](kind.OnlyChanged(want, settings, diff))
	in.CacheClusterId, in.ApplyImmediately = &have.CacheClusterId, aws.Bool(true)
	if diff.Under("NotificationTopicArn") {
		in.NotificationTopicArn, in.NotificationTopicStatus = kind.NonEmpty(want.NotificationTopicArn), aws.String(kind.Either(*want.NotificationTopicArn == "", "inactive", "active"))
	}
	if diff.Under("NumCacheNodes") && int(*want.NumCacheNodes) < len(have.Nodes) {
		for _, node := range have.Nodes[*want.NumCacheNodes:] {
			in.CacheNodeIdsToRemove = append(in.CacheNodeIdsToRemove, aws.ToString(node.CacheNodeId))
		}
	}
	return &in
}

func publish(cr *v1alpha1.ElastiCacheCluster, s ClusterState) {
	st := &cr.Status
	st.ARN, st.ID, st.CacheClusterARN, st.ClusterStatus, st.EngineVersion = s.ARN, s.CacheClusterId, s.ARN, s.CacheClusterStatus, s.Version
	endpoint := kind.Convert[*v1alpha1.ElastiCacheEndpoint](s.Endpoint)
	st.ConfigurationEndpoint, st.PrimaryEndpoint, st.NodeEndpoints = endpoint, nil, nil
	if aws.ToString(s.Engine) == redis {
		st.ConfigurationEndpoint, st.PrimaryEndpoint = nil, endpoint
	}
	for _, node := range s.Nodes {
		if node.Endpoint != nil {
			st.NodeEndpoints = append(st.NodeEndpoints, kind.Convert[v1alpha1.ElastiCacheEndpoint](node.Endpoint))
		}
	}
}

func (c *cluster) describe(ctx context.Context, want ClusterState, look kind.Look) (kind.Seen[ClusterState], error) {
	absent := kind.Seen[ClusterState]{}
	out, err := awsclient.Lookup(ctx, c.api.DescribeCacheClusters, &elasticache.DescribeCacheClustersInput{CacheClusterId: &want.CacheClusterId, ShowCacheNodeInfo: aws.Bool(true)})
	if out == nil || len(out.CacheClusters) == 0 {
		return absent, err
	}
	have := stateOf(want, out.CacheClusters[0])
	state, broken := have.CacheClusterStatus, slices.Contains(brokenStates, have.CacheClusterStatus)
	if err := refuseCluster(out.CacheClusters[0], broken && !look.Deleting); state == "deleted" || err != nil {
		return absent, err
	}
	seen := kind.Seen[ClusterState]{Exists: true, State: have, Created: aws.ToTime(out.CacheClusters[0].CacheClusterCreateTime), Holds: holds(want, state, broken)}
	seen.Usable = slices.Contains(usableStates, state)
	switch {
	case broken || state == available && look.Deleting:
		return seen, nil
	case state == available:
		seen.Notes = notesOn(want, have)
		seen.Busy, seen.Usable = busyTopic(out.CacheClusters[0]), true
		return seen, nil
	}
	seen.Busy = "the cache cluster is " + state
	// ElastiCache shows no tags of a cluster that is not available, and without them its owner is unknown.
	if !look.TagsKnown {
		return absent, &status.Waiting{Reason: status.ReasonBusy, For: "the cache cluster to be available: it is " + state, Usable: seen.Usable}
	}
	return seen, nil
}

func notesOn(want, have ClusterState) []kind.Note {
	if want.EngineVersion == nil {
		return nil
	}
	return []kind.Note{versionNote(*want.EngineVersion, have.Version)}
}

// busyTopic says that ElastiCache has not carried out a change of the notifications.
func busyTopic(d types.CacheCluster) string {
	return kind.BusyUnless("the topic of the cache cluster", aws.ToString(kind.NonNil(d.NotificationConfiguration).TopicStatus), "active", "inactive")
}

// refuseCluster refuses a cluster that the operator cannot manage: a member of a replication group, and one that ElastiCache could not
// make.
func refuseCluster(d types.CacheCluster, broken bool) error {
	id, group := aws.ToString(d.CacheClusterId), aws.ToString(d.ReplicationGroupId)
	switch {
	case aws.ToString(d.CacheClusterStatus) == "deleted":
		return nil
	case group != "":
		return &status.Stalled{Reason: status.ReasonConflict, Field: "spec.clusterID", Message: "cache cluster " + id + " belongs to replication group " + group + ", which decides about it: declare another clusterID"}
	case broken:
		return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: "cache cluster " + id + " is " + aws.ToString(d.CacheClusterStatus) + ": see its events with aws elasticache describe-events, and delete it in AWS; set recreateOnLoss: true to create it again"}
	default:
		return nil
	}
}

func stateOf(want ClusterState, d types.CacheCluster) ClusterState {
	tell := kind.NonNil(d.NotificationConfiguration)
	slices.SortFunc(d.CacheNodes, func(a, b types.CacheNode) int {
		return cmp.Compare(aws.ToString(a.CacheNodeId), aws.ToString(b.CacheNodeId))
	})
	s := kind.Convert[ClusterState](d)
	kind.FalseIfAbsent(&s.AutoMinorVersionUpgrade)
	s.ARN, s.Version, s.Nodes, s.Endpoint = aws.ToString(d.ARN), aws.ToString(d.EngineVersion), d.CacheNodes, d.ConfigurationEndpoint
	if s.Endpoint == nil && len(d.CacheNodes) > 0 {
		s.Endpoint = d.CacheNodes[0].Endpoint
	}
	s.Port, s.EngineVersion = kind.NonNil(s.Endpoint).Port, versionAs(want.EngineVersion, d.EngineVersion)
	s.CacheParameterGroupName = kind.NonNil(d.CacheParameterGroup).CacheParameterGroupName
	if want.AutoMinorVersionUpgrade != nil && !upgradesMinorVersions(s.Engine, d.EngineVersion) {
		s.AutoMinorVersionUpgrade = want.AutoMinorVersionUpgrade
	}
	s.NotificationTopicArn = aws.String(kind.Either(aws.ToString(tell.TopicStatus) == "active", aws.ToString(tell.TopicArn), ""))
	s.AZMode = aws.String(kind.Either(aws.ToString(d.PreferredAvailabilityZone) == "Multiple", "cross-az", "single-az"))
	for _, g := range d.SecurityGroups {
		if aws.ToString(g.Status) != "removing" {
			s.SecurityGroupIds = append(s.SecurityGroupIds, aws.ToString(g.SecurityGroupId))
		}
	}
	return s
}

// upgradesMinorVersions reports whether the engine has the setting autoMinorVersionUpgrade. Of others, ElastiCache takes any value
// and keeps none.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_CacheCluster.html
func upgradesMinorVersions(engine, version *string) bool {
	return aws.ToString(engine) == redis && kind.CompareVersions(aws.ToString(version), "6") >= 0
}

// versionAs returns the wanted version where have is a version that it names, such as 6.2.6 for 6.x, or a later one: ElastiCache
// upgrades clusters and downgrades none. It also counts where ElastiCache shows fewer parts than are wanted. Else have.
func versionAs(want, have *string) *string {
	if want == nil || have == nil || kind.CompareVersions(*have, strings.TrimSuffix(*want, ".x")) < 0 {
		return have
	}
	return want
}

// versionNote reports whether the major version that is declared runs.
func versionNote(want, have string) kind.Note {
	major, _, _ := strings.Cut(want, ".")
	return awsclient.VersionNote(kind.CompareVersions(have, major) == 0, want, have, "ElastiCache downgrades no cache cluster")
}

// holds returns why the cluster must not be deleted.
func holds(want ClusterState, state string, broken bool) []kind.Hold {
	const keep = "; or set deletionPolicy: Retain to keep it"
	switch {
	case want.Guarded && want.FinalSnapshot == "":
		return []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: "a final snapshot: the data of the cache cluster would be lost; set skipFinalSnapshot: false" + keep}}
	case broken && want.FinalSnapshot != "":
		return []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: "a final snapshot, which ElastiCache cannot make of a cache cluster that is " + state + ": set skipFinalSnapshot: true to lose its data" + keep}}
	default:
		return nil
	}
}

// findSnapshot reads whether a snapshot has the declared name of the final one, such as that of an earlier cluster of the same manifest.
func (c *cluster) findSnapshot(ctx context.Context, want ClusterState, seen *kind.Seen[ClusterState]) error {
	if want.OtherSnapshot == "" || seen.Busy != "" || len(seen.Holds) > 0 {
		return nil
	}
	out, err := awsclient.Lookup(ctx, c.api.DescribeSnapshots, &elasticache.DescribeSnapshotsInput{SnapshotName: &want.FinalSnapshot})
	seen.State.SnapshotTaken = out != nil && len(out.Snapshots) > 0
	return err
}

// tags returns none of a broken cluster, because ElastiCache shows them only of available ones: its creation time proves the owner.
func (c *cluster) tags(ctx context.Context, have ClusterState) (map[string]string, error) {
	if slices.Contains(brokenStates, have.CacheClusterStatus) {
		return nil, nil
	}
	out, err := c.api.ListTagsForResource(ctx, &elasticache.ListTagsForResourceInput{ResourceName: &have.ARN})
	if err != nil {
		return nil, err
	}
	return kind.TagMap(out.TagList), nil
}
