// SPDX-License-Identifier: Apache-2.0

// Package ecs holds the emulator's facts and corrections for Amazon ECS.
package ecs

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service holds the state of clusters of ECS that moto lacks.
type Service struct {
	proxy.Base
	clusters     map[string]*ecsCluster // by identity
	clustersTake time.Duration          // how long changes of their capacity providers take
	clustersFail bool                   // whether those changes fail
	ownProvider  string                 // a capacity provider of Managed Instances that clusters have
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "ecs",
		Requests: proxy.RequestFacts{Keys: []string{"clusterName", "cluster", "clusters"}},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{"": {Status: http.StatusBadRequest, Code: "ClusterNotFoundException", Message: "Cluster not found."}},
			IsGone:  isClusterGone,
			Answer: func(d *proxy.Request, a *proxy.Answer) *proxy.Answer {
				if d.Op == "DescribeClusters" {
					return noCluster(d)
				}
				return a
			},
		},
		Writes: proxy.WriteFacts{IdempotentCreates: []string{"CreateCluster"},
			TagReads: []proxy.TagRead{{Op: "DescribeClusters", Where: "clusters.0.tags"}}},
		Names: map[string]proxy.NameRule{"CreateCluster": {Member: "clusterName", Min: 1, Max: 255,
			Pattern: regexp.MustCompile(`^[A-Za-z0-9_-]+$`), Code: "InvalidParameterException"}},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"ecs capacity-provider/*": {Members: []string{"capacityProviders"}},
				"ecs cluster/*":           {Members: []string{"cluster", "clusters", "clusterName"}},
			},
			Dependents: []proxy.Dependent{proxy.Tagging("ecs:CreateCluster", "ecs:TagResource", "ecs cluster/*")},
		},
		Inventory: []proxy.InventoryKind{{Name: "ecs/cluster", Global: false, List: listClusters}},
		Rewrites: []proxy.Rewrite{
			{Kind: "ECSCluster", Field: "capacityProviders", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeClusters"}, Members: proxy.Reverses("clusters.0.capacityProviders")},
			{Kind: "ECSCluster", Field: "defaultCapacityProviderStrategy", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeClusters"}, Members: proxy.Reverses("clusters.0.defaultCapacityProviderStrategy")},
		},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "clusters that exist", Ops: []string{"CreateCluster"}, Before: s.createCluster},
		{Name: "requests about clusters that ECS refuses",
			Ops: []string{"PutClusterCapacityProviders", "DeleteCluster"}, Before: s.refuseClusterRequest},
		{Name: "capacity providers of Managed Instances belong to a cluster",
			Ops: []string{"DescribeCapacityProviders"}, Before: s.describeProviders},
		{Name: "capacity providers of clusters take their time", Ops: []string{"DescribeClusters"}, After: s.showCluster},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Locked(func() {
		s.clusters, s.clustersTake, s.clustersFail, s.ownProvider = map[string]*ecsCluster{}, 0, false, ""
	})
}

// ecsCluster holds the extra state of a cluster of ECS.
type ecsCluster struct {
	body  string    // of the request that created it
	ready time.Time // when its capacity providers are
	isNew bool      // until then

}

// SetClustersTake lets changes of the capacity providers of ECS clusters last so long. Zero, the default, is no time.
func (s *Service) SetClustersTake(d time.Duration) { s.Locked(func() { s.clustersTake = d }) }

// SetClusterUpdatesFail lets changes of the capacity providers of ECS clusters fail: ECS shows the declared ones nevertheless.
func (s *Service) SetClusterUpdatesFail(fail bool) { s.Locked(func() { s.clustersFail = fail }) }

const clusterTarget = "AmazonEC2ContainerServiceV20141113."

// createCluster: moto replaces a cluster that exists. ECS answers the same request with the cluster, and refuses another one.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CreateCluster.html
func (s *Service) createCluster(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	a, found, err := s.AskJSON(ctx, x, "DescribeClusters",
		map[string]any{"clusters": []string{x.Resource}, "include": []string{"TAGS", "SETTINGS", "CONFIGURATIONS"}})
	if err != nil || !a.OK() {
		return a
	}
	d, _ := proxy.Member(found, "clusters.0").(map[string]any)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	id := s.Identity(x, "ecs", x.Resource)
	if d == nil || d["status"] == "INACTIVE" {
		providers, _ := x.JSON["capacityProviders"].([]any)
		s.clusters[id] = &ecsCluster{body: string(x.Body), isNew: true}
		if len(providers) > 0 {
			s.clusters[id].ready = s.Now().Add(s.clustersTake)
		}
		return nil
	}
	if c := s.clusters[id]; c == nil || c.body != string(x.Body) {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterException",
			"Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
	}
	x.Existed = true
	return proxy.JSONAnswer(map[string]any{"cluster": d})
}

// refuseClusterRequest: moto deletes a cluster with tasks or instances, deletes it again, and changes it while ECS changes it.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DeleteCluster.html
func (s *Service) refuseClusterRequest(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	a, found, err := s.AskJSON(ctx, x, "DescribeClusters", map[string]any{"clusters": []string{x.Resource}})
	if err != nil || !a.OK() {
		return a
	}
	refuse := func(code, message string) *proxy.Answer {
		return x.Refuse(http.StatusBadRequest, code, message)
	}
	d, _ := proxy.Member(found, "clusters.0").(map[string]any)
	if d == nil || d["status"] == "INACTIVE" {
		return refuse("ClusterNotFoundException", "Cluster not found.")
	}
	if s.clusterChanging(x) != nil {
		return refuse("UpdateInProgressException",
			"The specified cluster is in a busy state. Cluster attachments must not be in UPDATE_IN_PROGRESS to update capacity providers.")
	}
	count := func(key string) float64 { n, _ := d[key].(float64); return n }
	switch {
	case x.Op != "DeleteCluster" && slices.Contains(policy.List(x.JSON["capacityProviders"]), s.providerOfCluster()):
		return refuse("InvalidParameterException", "Cannot associate Managed Instances capacity provider to clusters using this API.")
	case x.Op != "DeleteCluster":
		s.changeProviders(x)
	case count("runningTasksCount")+count("pendingTasksCount") > 0:
		return refuse("ClusterContainsTasksException", "The Cluster cannot be deleted while Tasks are active.")
	case count("registeredContainerInstancesCount") > 0:
		return refuse("ClusterContainsContainerInstancesException",
			"The Cluster cannot be deleted while Container Instances are active or draining.")
	}
	return nil
}

// clusterChanging returns the cluster of a request while ECS changes its capacity providers.
func (s *Service) clusterChanging(x *proxy.Exchange) *ecsCluster {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if c := s.clusters[s.Identity(x, "ecs", x.Resource)]; c != nil && s.Now().Before(c.ready) {
		return c
	}
	return nil
}

// changeProviders begins a change of the capacity providers.
func (s *Service) changeProviders(x *proxy.Exchange) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if c := s.clusters[s.Identity(x, "ecs", x.Resource)]; c != nil {
		c.ready, c.isNew = s.Now().Add(s.clustersTake), false
	}
}

// SetProviderOfCluster lets ECS clusters have a capacity provider of Managed Instances. "" ends it.
func (s *Service) SetProviderOfCluster(name string) { s.Locked(func() { s.ownProvider = name }) }

func (s *Service) providerOfCluster() string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.ownProvider
}

// describeProviders: moto has no providers of Managed Instances, which belong to a cluster.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeCapacityProviders.html
func (s *Service) describeProviders(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	found := []any{}
	names, _ := x.JSON["capacityProviders"].([]any)
	for _, name := range names {
		provider := map[string]any{"name": name, "status": "ACTIVE"}
		if name == s.providerOfCluster() {
			provider["cluster"] = x.JSON["cluster"]
		}
		found = append(found, provider)
	}
	return proxy.JSONAnswer(map[string]any{"capacityProviders": found})
}

// showCluster shows the state of the capacity providers of a cluster.
func (s *Service) showCluster(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	body, ok := proxy.DecodeJSON(a.Body).(map[string]any)
	d, found := proxy.Member(body, "clusters.0").(map[string]any)
	c := s.clusterChanging(x)
	providers, _ := d["capacityProviders"].([]any)
	if own := s.providerOfCluster(); ok && found && own != "" {
		d["capacityProviders"] = append(providers, own)
		a = a.WithJSON(body)
	}
	if !ok || !found || c == nil && (len(providers) == 0 || d["status"] != "ACTIVE") {
		return a
	}
	switch {
	case c != nil:
		d["attachmentsStatus"] = "UPDATE_IN_PROGRESS"
	case s.clusterUpdatesFail():
		d["attachmentsStatus"] = "UPDATE_FAILED"
	default:
		d["attachmentsStatus"] = "UPDATE_COMPLETE"
	}
	if c != nil && c.isNew {
		d["status"] = "PROVISIONING"
	}
	return a.WithJSON(body)
}

func (s *Service) clusterUpdatesFail() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.clustersFail
}

// isClusterGone reports whether an answer of ECS says that a cluster does not exist, or does not any more.
func isClusterGone(d *proxy.Request, a *proxy.Answer) bool {
	if d.Service != "ecs" || d.Op != "DescribeClusters" {
		return false
	}
	var body struct{ Clusters []struct{ Status string } }
	return json.Unmarshal(a.Body, &body) == nil && (len(body.Clusters) == 0 || body.Clusters[0].Status == "INACTIVE")
}

// noCluster returns how ECS answers about a cluster that does not exist: with success.
func noCluster(d *proxy.Request) *proxy.Answer {
	return proxy.JSONAnswer(map[string]any{"clusters": []any{}, "failures": []any{map[string]any{"arn": d.Resource, "reason": "MISSING"}}})
}

// listClusters lists the clusters of ECS that were not deleted.
func listClusters(ctx context.Context, l *proxy.Lister) ([]string, error) {
	names, err := proxy.ListJSON("ecs", clusterTarget+"ListClusters", "clusterArns", "")(ctx, l)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	pages, err := l.JSON(ctx, "ecs", clusterTarget+"DescribeClusters", map[string]any{"clusters": names})
	var out []string
	for _, page := range pages {
		found, _ := page["clusters"].([]any)
		for _, f := range found {
			if d, _ := f.(map[string]any); d["status"] != "INACTIVE" {
				out = append(out, proxy.Text(d["clusterName"]))
			}
		}
	}
	return out, err
}
