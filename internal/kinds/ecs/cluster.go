// SPDX-License-Identifier: Apache-2.0

// Package ecs is the ECS kinds.
package ecs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ClusterState is a cluster as both the spec and ECS can express it.
type ClusterState struct {
	Name   string `drift:"identity"`
	ARN    string `drift:"id"`
	Status string `drift:"observed"`
	// Storage is the configuration of managed storage, which the spec cannot declare and each change repeats.
	Storage *types.ManagedStorageConfiguration `drift:"observed"`

	// Providers can be associated with the cluster and removed from it. OfCluster cannot: providers of Managed Instances belong to a
	// cluster from their creation on.
	Providers *[]string                             `drift:"set"`
	OfCluster []string                              `drift:"observed"`
	Strategy  *[]types.CapacityProviderStrategyItem `drift:"set"`
	Insights  *string
	// Exec is the encryption and logging of commands; a field that it does not set has the default of ECS.
	Exec *execution
	// Namespace is the ARN of the default namespace of Service Connect; "" where there is none.
	Namespace *string
	Tags      map[string]string `drift:"tags"`
}

// execution is types.ExecuteCommandConfiguration in values that can be compared.
type execution struct {
	KMSKeyID, Logging, Group, Bucket, Prefix string
	GroupEncrypted, BucketEncrypted          bool
}

// insights is the only setting of clusters.
const insights = string(types.ClusterSettingNameContainerInsights)

type cluster struct{ api *ecs.Client }

// NewCluster binds the ECSCluster kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerservice.html
func NewCluster(cfg aws.Config) kind.Kind[*v1alpha1.ECSCluster, ClusterState] {
	c := &cluster{api: ecs.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.ECSCluster, ClusterState]{
		// Each look reads the tags, so that the first create of an object needs none before it.
		Meta: kind.Meta{Facts: clusterFacts(), Identity: kind.ByName, NoCreationTime: true, CreatesFirst: true, References: []string{"KMSKey", "S3Bucket"}},
		Identify: func(_ kind.Scope, cr *v1alpha1.ECSCluster) (ClusterState, error) {
			return ClusterState{Name: cr.Spec.ClusterName}, nil
		},
		Declare: declare, Export: kind.Export[*v1alpha1.ECSCluster, ClusterState]{Identity: []string{"clusterName"}, Spec: exported},
		Publish: func(cr *v1alpha1.ECSCluster, s ClusterState) {
			st := &cr.Status
			st.ARN, st.ID, st.ClusterARN, st.Status = s.ARN, s.Name, s.ARN, s.Status
		},
		Describe: kind.Read[ClusterState]{Actions: []string{"ecs:DescribeClusters", "ecs:DescribeCapacityProviders"}, Do: c.describe},
		// ECS answers the create of a cluster that exists, with the same settings, with that cluster.
		Create: kind.Call[ClusterState]{Action: "ecs:CreateCluster", Effect: kind.Ensures, Do: kind.Send(c.api.CreateCluster, creation)},
		Tagging: kind.Tagging[ClusterState]{
			Sets: "ecs:TagResource", Set: kind.Send(c.api.TagResource, func(have ClusterState, tags map[string]string) *ecs.TagResourceInput {
				return &ecs.TagResourceInput{ResourceArn: &have.ARN, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "ecs:UntagResource", Remove: kind.Send(c.api.UntagResource, func(have ClusterState, keys []string) *ecs.UntagResourceInput {
				return &ecs.UntagResourceInput{ResourceArn: &have.ARN, TagKeys: keys}
			}),
		},
		Parts: []kind.Part[ClusterState]{
			{Fields: []string{"Insights", "Exec", "Namespace"}, InCreate: true,
				Write: kind.Call[ClusterState]{Action: "ecs:UpdateCluster", DoDiff: kind.SendDiff(c.api.UpdateCluster, changes)}},
			// The request replaces both lists, so that it repeats the one that is not declared.
			{Fields: []string{"Providers", "Strategy"}, InCreate: true,
				Write: kind.Call[ClusterState]{Action: "ecs:PutClusterCapacityProviders", Do: kind.Send(c.api.PutClusterCapacityProviders, func(want, have ClusterState) *ecs.PutClusterCapacityProvidersInput {
					return &ecs.PutClusterCapacityProvidersInput{Cluster: &want.Name,
						CapacityProviders: want.associated(have), DefaultCapacityProviderStrategy: listOf(want.Strategy, have.Strategy)}
				})}},
		},
		Delete: []kind.Ending[ClusterState]{{Call: kind.Call[ClusterState]{Action: "ecs:DeleteCluster", Effect: kind.Deletes, Do: func(ctx context.Context, want, _ ClusterState) error {
			_, err := c.api.DeleteCluster(ctx, &ecs.DeleteClusterInput{Cluster: &want.Name})
			return awsclient.MarkNotEmpty(err)
		}}}},
	})
}

// associated returns the providers of a request. ECS refuses those that belong to the cluster.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_PutClusterCapacityProviders.html
func (s ClusterState) associated(have ClusterState) []string {
	return slices.DeleteFunc(listOf(s.Providers, have.Providers), func(name string) bool { return slices.Contains(have.OfCluster, name) })
}

// ownProviders finds the providers that belong to the cluster, and takes those for declared that are not: nothing removes them from it.
func (c *cluster) ownProviders(ctx context.Context, want ClusterState, have *ClusterState) error {
	named := slices.DeleteFunc(slices.Clone(*have.Providers), func(name string) bool { return name == "FARGATE" || name == "FARGATE_SPOT" })
	if len(named) == 0 || want.Providers == nil && want.Strategy == nil {
		return nil
	}
	in := &ecs.DescribeCapacityProvidersInput{CapacityProviders: named, Cluster: &want.Name}
	all, err := kind.Pages(ctx, c.api.DescribeCapacityProviders, in, &in.NextToken, func(out *ecs.DescribeCapacityProvidersOutput) ([]types.CapacityProvider, *string) {
		return out.CapacityProviders, out.NextToken
	})
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Cluster != nil {
			have.OfCluster = append(have.OfCluster, aws.ToString(p.Name))
		}
	}
	have.Providers = kind.Ptr(slices.DeleteFunc(slices.Clone(*have.Providers), func(name string) bool {
		return slices.Contains(have.OfCluster, name) && !slices.Contains(*kind.NonNil(want.Providers), name)
	}))
	return nil
}

// listOf returns the wanted list, or the one that exists where none is declared. The request needs it even where it is empty.
func listOf[T any](want, have *[]T) []T { return append([]T{}, *cmp.Or(want, have)...) }

func declare(sc kind.Scope, cr *v1alpha1.ECSCluster, s *ClusterState) error {
	in := cr.Spec
	s.Providers = in.CapacityProviders
	if in.DefaultCapacityProviderStrategy != nil {
		s.Strategy = kind.Ptr(kind.Convert[[]types.CapacityProviderStrategyItem](*in.DefaultCapacityProviderStrategy))
	}
	for _, setting := range in.Settings {
		s.Insights = aws.String(setting.Value)
	}
	if in.ServiceConnectDefaults != nil {
		s.Namespace = &in.ServiceConnectDefaults.Namespace
	}
	if in.Configuration == nil || in.Configuration.ExecuteCommandConfiguration == nil {
		return nil
	}
	return declareExecution(sc, *in.Configuration.ExecuteCommandConfiguration, s)
}

func declareExecution(sc kind.Scope, in v1alpha1.ECSExecuteCommandConfiguration, s *ClusterState) error {
	logs := kind.NonNil(in.LogConfiguration)
	s.Exec = &execution{KMSKeyID: in.KMSKeyID, Logging: cmp.Or(in.Logging, string(types.ExecuteCommandLoggingDefault)), Group: logs.CloudWatchLogGroupName,
		GroupEncrypted: logs.CloudWatchEncryptionEnabled, Bucket: logs.S3BucketName, BucketEncrypted: logs.S3EncryptionEnabled, Prefix: logs.S3KeyPrefix}
	if in.KMSKeyRef != nil {
		target, err := sc.Ref("KMSKey", in.KMSKeyRef.Name)
		if err != nil {
			return err
		}
		s.Exec.KMSKeyID = target.ARN
	}
	if logs.S3BucketRef != nil {
		target, err := sc.Ref("S3Bucket", logs.S3BucketRef.Name)
		if err != nil {
			return err
		}
		s.Exec.Bucket = target.ID
	}
	return nil
}

// creation leaves out fields that are declared empty: a new cluster has no values for them.
func creation(want, _ ClusterState) *ecs.CreateClusterInput {
	in := &ecs.CreateClusterInput{ClusterName: &want.Name, CapacityProviders: *kind.NonNil(want.Providers), DefaultCapacityProviderStrategy: *kind.NonNil(want.Strategy), Tags: kind.SDKTags[types.Tag](want.Tags)}
	if want.Insights != nil {
		in.Settings = settings(*want.Insights)
	}
	if want.Exec != nil {
		in.Configuration = &types.ClusterConfiguration{ExecuteCommandConfiguration: want.Exec.sdk()}
	}
	if name := kind.NonEmpty(want.Namespace); name != nil {
		in.ServiceConnectDefaults = &types.ClusterServiceConnectDefaultsRequest{Namespace: name}
	}
	return in
}

// changes returns a request for the differences. ECS keeps settings that it does not name.
func changes(want, have ClusterState, diff kind.Diff) *ecs.UpdateClusterInput {
	in := &ecs.UpdateClusterInput{Cluster: &want.Name}
	if diff.Under("Insights") {
		in.Settings = settings(*want.Insights)
	}
	if diff.Under("Exec") {
		in.Configuration = &types.ClusterConfiguration{ExecuteCommandConfiguration: want.Exec.sdk(), ManagedStorageConfiguration: have.Storage}
	}
	if diff.Under("Namespace") {
		in.ServiceConnectDefaults = &types.ClusterServiceConnectDefaultsRequest{Namespace: want.Namespace}
	}
	return in
}

func settings(value string) []types.ClusterSetting {
	return []types.ClusterSetting{{Name: types.ClusterSettingNameContainerInsights, Value: &value}}
}

// sdk returns the request's form, without a configuration of logs where none is declared: ECS then refuses one.
func (e execution) sdk() *types.ExecuteCommandConfiguration {
	out := &types.ExecuteCommandConfiguration{KmsKeyId: kind.NonEmpty(&e.KMSKeyID), Logging: types.ExecuteCommandLogging(e.Logging)}
	if e.Group != "" || e.Bucket != "" {
		out.LogConfiguration = &types.ExecuteCommandLogConfiguration{CloudWatchLogGroupName: kind.NonEmpty(&e.Group), CloudWatchEncryptionEnabled: e.GroupEncrypted,
			S3BucketName: kind.NonEmpty(&e.Bucket), S3EncryptionEnabled: e.BucketEncrypted, S3KeyPrefix: kind.NonEmpty(&e.Prefix)}
	}
	return out
}

func (c *cluster) describe(ctx context.Context, want ClusterState, look kind.Look) (kind.Seen[ClusterState], error) {
	absent := kind.Seen[ClusterState]{}
	out, err := c.api.DescribeClusters(ctx, &ecs.DescribeClustersInput{Clusters: []string{want.Name},
		Include: []types.ClusterField{types.ClusterFieldAttachments, types.ClusterFieldConfigurations, types.ClusterFieldSettings, types.ClusterFieldTags}})
	if err != nil || len(out.Clusters) == 0 { // ECS reports a cluster that does not exist as a failure within a successful answer
		return absent, err
	}
	d := out.Clusters[0]
	seen := kind.Seen[ClusterState]{Exists: true, Tags: kind.TagMap(d.Tags), State: stateOf(want, d)}
	switch s := aws.ToString(d.Status); {
	case s == "INACTIVE": // deleted: it may be shown for a while
		return absent, nil
	case look.Deleting:
		seen.Holds = holds(d)
	case s == "FAILED":
		return absent, &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf(
			"cluster %s is FAILED: ECS could not create what its capacity providers need; see aws ecs describe-clusters --clusters %s --include ATTACHMENTS, correct the cause, and delete the cluster in AWS: the operator then creates it again", want.Name, want.Name)}
	}
	switch {
	case strings.HasSuffix(seen.State.Status, "PROVISIONING"): // also DEPROVISIONING
		seen.Busy = "the cluster is " + seen.State.Status
	case look.Deleting && aws.ToString(d.AttachmentsStatus) != "UPDATE_IN_PROGRESS":
	case !look.Deleting && seen.State.Status != "ACTIVE":
		seen.Busy = kind.BusyUnless("the cluster", seen.State.Status, "ACTIVE")
	default: // none of the states stands for a cluster without capacity providers
		seen.Busy = kind.BusyUnless("the change of the cluster's capacity providers", aws.ToString(d.AttachmentsStatus), "", "UPDATE_COMPLETE", "UPDATE_FAILED")
		seen.Usable = aws.ToString(d.AttachmentsStatus) == "UPDATE_IN_PROGRESS"
	}
	seen.Notes = []kind.Note{lastUpdate(want.Name, d)}
	return seen, c.ownProviders(ctx, want, &seen.State)
}

// lastUpdate reports whether ECS could make the resources that the capacity providers need: ECS shows the providers that were sent in
// either case.
func lastUpdate(name string, d types.Cluster) kind.Note {
	if aws.ToString(d.AttachmentsStatus) != "UPDATE_FAILED" {
		return kind.Note{Type: v1alpha1.ConditionLastUpdateSucceeded, Reason: status.ReasonReady, True: true, Message: "no change of the capacity providers failed"}
	}
	return kind.Note{Type: v1alpha1.ConditionLastUpdateSucceeded, Reason: status.ReasonRefusedByAWS, Recheck: true, Message: fmt.Sprintf(
		"ECS could not make what the capacity providers of cluster %s need: see aws ecs describe-clusters --clusters %s --include ATTACHMENTS, correct the cause, and change capacityProviders", name, name)}
}

func stateOf(want ClusterState, d types.Cluster) ClusterState {
	configuration := kind.NonNil(d.Configuration)
	exec, logs := kind.NonNil(configuration.ExecuteCommandConfiguration), types.ExecuteCommandLogConfiguration{}
	if exec.LogConfiguration != nil {
		logs = *exec.LogConfiguration
	}
	s := ClusterState{Name: want.Name, ARN: aws.ToString(d.ClusterArn), Status: aws.ToString(d.Status), Storage: configuration.ManagedStorageConfiguration,
		Providers: &d.CapacityProviders, Strategy: &d.DefaultCapacityProviderStrategy, Namespace: kind.NonNil(d.ServiceConnectDefaults).Namespace,
		Exec: &execution{KMSKeyID: aws.ToString(exec.KmsKeyId), Logging: cmp.Or(string(exec.Logging), string(types.ExecuteCommandLoggingDefault)), Group: aws.ToString(logs.CloudWatchLogGroupName), GroupEncrypted: logs.CloudWatchEncryptionEnabled,
			Bucket: aws.ToString(logs.S3BucketName), BucketEncrypted: logs.S3EncryptionEnabled, Prefix: aws.ToString(logs.S3KeyPrefix)}}
	if want.Exec != nil {
		s.Exec.KMSKeyID = *kind.KMSKeyAs(&want.Exec.KMSKeyID, &s.Exec.KMSKeyID)
	}
	for _, setting := range d.Settings {
		if string(setting.Name) == insights {
			s.Insights = setting.Value
		}
	}
	return s
}

// holds keeps a cluster that is used: ECS would refuse to delete it.
func holds(d types.Cluster) []kind.Hold {
	var used []string
	for _, of := range []struct {
		n    int32
		what string
	}{{d.ActiveServicesCount, "services"}, {d.RunningTasksCount + d.PendingTasksCount, "tasks"}, {d.RegisteredContainerInstancesCount, "container instances"}} {
		if of.n > 0 {
			used = append(used, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	if len(used) == 0 {
		return nil
	}
	return []kind.Hold{{Reason: status.ReasonInUse, Message: "the cluster to be unused: it has " + strings.Join(used, " and ") + "; delete, stop and deregister them, or set deletionPolicy: Retain to keep it"}}
}
