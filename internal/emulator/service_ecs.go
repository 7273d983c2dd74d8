// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// ecsService holds what moto does not know of clusters of ECS.
type ecsService struct {
	base
	clusters     map[string]*ecsCluster // by identity
	clustersTake time.Duration          // how long changes of their capacity providers take
	clustersFail bool                   // whether those changes fail
	ownProvider  string                 // a capacity provider of Managed Instances that clusters have
}

func (s *ecsService) Facts() *Facts {
	return &Facts{
		Prefix:   "ecs",
		Requests: RequestFacts{Keys: []string{"clusterName", "cluster", "clusters"}},
		Errors: ErrorFacts{
			Missing: map[string]awsError{"": {http.StatusBadRequest, "ClusterNotFoundException", "Cluster not found."}},
			IsGone:  isClusterGone,
			Answer: func(d *request, a *answer) *answer {
				if d.op == "DescribeClusters" {
					return noCluster(d)
				}
				return a
			},
		},
		Writes: WriteFacts{IdempotentCreates: []string{"CreateCluster"}, TagReads: []tagRead{{op: "DescribeClusters", where: "clusters.0.tags"}}},
		Names:  map[string]nameRule{"CreateCluster": {"clusterName", 1, 255, regexp.MustCompile(`^[A-Za-z0-9_-]+$`), "InvalidParameterException"}},
		Rights: RightFacts{
			Namings: map[string]naming{
				"ecs capacity-provider/*": {members: []string{"capacityProviders"}},
				"ecs cluster/*":           {members: []string{"cluster", "clusters", "clusterName"}},
			},
			Dependents: []dependent{tagging("ecs:CreateCluster", "ecs:TagResource", "ecs cluster/*")},
		},
		Inventory: []inventoryKind{{"ecs/cluster", false, listClusters}},
		Rewrites: []Rewrite{
			{Kind: "ECSCluster", Field: "capacityProviders", What: anyOrder, isRecorded: true, ops: []string{"DescribeClusters"}, members: reverses("clusters.0.capacityProviders")},
			{Kind: "ECSCluster", Field: "defaultCapacityProviderStrategy", What: anyOrder, isRecorded: true, ops: []string{"DescribeClusters"}, members: reverses("clusters.0.defaultCapacityProviderStrategy")},
		},
	}
}

func (s *ecsService) Corrections() []Correction {
	return []Correction{
		{Name: "clusters that exist", Ops: []string{"CreateCluster"}, Before: s.createCluster},
		{Name: "requests about clusters that ECS refuses", Ops: []string{"PutClusterCapacityProviders", "DeleteCluster"}, Before: s.refuseClusterRequest},
		{Name: "capacity providers of Managed Instances belong to a cluster", Ops: []string{"DescribeCapacityProviders"}, Before: s.describeProviders},
		{Name: "capacity providers of clusters take their time", Ops: []string{"DescribeClusters"}, After: s.showCluster},
	}
}

func (s *ecsService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clusters, s.clustersTake, s.clustersFail, s.ownProvider = map[string]*ecsCluster{}, 0, false, ""
}

// ecsCluster holds what the proxy remembers of a cluster of ECS.
type ecsCluster struct {
	body  string    // of the request that created it
	ready time.Time // when its capacity providers are
	isNew bool      // until then

}

// SetClustersTake lets changes of the capacity providers of ECS clusters last so long. Zero, the default, is no time.
func (s *ecsService) SetClustersTake(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clustersTake = d
}

// SetClusterUpdatesFail lets changes of the capacity providers of ECS clusters fail: ECS shows the declared ones nevertheless.
func (s *ecsService) SetClusterUpdatesFail(fail bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clustersFail = fail
}

const clusterTarget = "AmazonEC2ContainerServiceV20141113."

// createCluster: moto replaces a cluster that exists. ECS answers the same request with the cluster, and refuses another one.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CreateCluster.html
func (s *ecsService) createCluster(ctx context.Context, x *exchange) *answer {
	a, found, err := s.askJSON(ctx, x, "DescribeClusters", map[string]any{"clusters": []string{x.resource}, "include": []string{"TAGS", "SETTINGS", "CONFIGURATIONS"}})
	if err != nil || !a.ok() {
		return a
	}
	d, _ := member(found, "clusters.0").(map[string]any)
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.identity(x, "ecs", x.resource)
	if d == nil || d["status"] == "INACTIVE" {
		providers, _ := x.json["capacityProviders"].([]any)
		s.clusters[id] = &ecsCluster{body: string(x.body), isNew: true}
		if len(providers) > 0 {
			s.clusters[id].ready = s.now().Add(s.clustersTake)
		}
		return nil
	}
	if c := s.clusters[id]; c == nil || c.body != string(x.body) {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", "Arguments on this idempotent request are inconsistent with arguments used in previous request(s)."})
	}
	x.existed = true
	return jsonAnswer(map[string]any{"cluster": d})
}

// refuseClusterRequest: moto deletes a cluster with tasks or instances, deletes it again, and changes it while ECS changes it.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DeleteCluster.html
func (s *ecsService) refuseClusterRequest(ctx context.Context, x *exchange) *answer {
	a, found, err := s.askJSON(ctx, x, "DescribeClusters", map[string]any{"clusters": []string{x.resource}})
	if err != nil || !a.ok() {
		return a
	}
	refuse := func(code, message string) *answer {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, code, message})
	}
	d, _ := member(found, "clusters.0").(map[string]any)
	if d == nil || d["status"] == "INACTIVE" {
		return refuse("ClusterNotFoundException", "Cluster not found.")
	}
	if s.clusterChanging(x) != nil {
		return refuse("UpdateInProgressException", "The specified cluster is in a busy state. Cluster attachments must not be in UPDATE_IN_PROGRESS to update capacity providers.")
	}
	count := func(key string) float64 { n, _ := d[key].(float64); return n }
	switch {
	case x.op != "DeleteCluster" && slices.Contains(list(x.json["capacityProviders"]), s.providerOfCluster()):
		return refuse("InvalidParameterException", "Cannot associate Managed Instances capacity provider to clusters using this API.")
	case x.op != "DeleteCluster":
		s.changeProviders(x)
	case count("runningTasksCount")+count("pendingTasksCount") > 0:
		return refuse("ClusterContainsTasksException", "The Cluster cannot be deleted while Tasks are active.")
	case count("registeredContainerInstancesCount") > 0:
		return refuse("ClusterContainsContainerInstancesException", "The Cluster cannot be deleted while Container Instances are active or draining.")
	}
	return nil
}

// clusterChanging returns the cluster of a request while ECS changes its capacity providers.
func (s *ecsService) clusterChanging(x *exchange) *ecsCluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clusters[s.identity(x, "ecs", x.resource)]; c != nil && s.now().Before(c.ready) {
		return c
	}
	return nil
}

// changeProviders begins a change of the capacity providers.
func (s *ecsService) changeProviders(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clusters[s.identity(x, "ecs", x.resource)]; c != nil {
		c.ready, c.isNew = s.now().Add(s.clustersTake), false
	}
}

// SetProviderOfCluster lets ECS clusters have a capacity provider of Managed Instances. "" ends it.
func (s *ecsService) SetProviderOfCluster(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ownProvider = name
}

func (s *ecsService) providerOfCluster() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ownProvider
}

// describeProviders: moto has no providers of Managed Instances, which belong to a cluster.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeCapacityProviders.html
func (s *ecsService) describeProviders(_ context.Context, x *exchange) *answer {
	found := []any{}
	names, _ := x.json["capacityProviders"].([]any)
	for _, name := range names {
		provider := map[string]any{"name": name, "status": "ACTIVE"}
		if name == s.providerOfCluster() {
			provider["cluster"] = x.json["cluster"]
		}
		found = append(found, provider)
	}
	return jsonAnswer(map[string]any{"capacityProviders": found})
}

// showCluster shows what becomes of the capacity providers of a cluster.
func (s *ecsService) showCluster(_ context.Context, x *exchange, a *answer) *answer {
	body, ok := decodeJSON(a.body).(map[string]any)
	d, found := member(body, "clusters.0").(map[string]any)
	c := s.clusterChanging(x)
	providers, _ := d["capacityProviders"].([]any)
	if own := s.providerOfCluster(); ok && found && own != "" {
		d["capacityProviders"] = append(providers, own)
		a = a.withJSON(body)
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
	return a.withJSON(body)
}

func (s *ecsService) clusterUpdatesFail() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clustersFail
}

// isClusterGone reports whether an answer of ECS says that a cluster does not exist, or does not any more.
func isClusterGone(d *request, a *answer) bool {
	if d.service != "ecs" || d.op != "DescribeClusters" {
		return false
	}
	var body struct{ Clusters []struct{ Status string } }
	return json.Unmarshal(a.body, &body) == nil && (len(body.Clusters) == 0 || body.Clusters[0].Status == "INACTIVE")
}

// noCluster returns how ECS answers about a cluster that does not exist: with success.
func noCluster(d *request) *answer {
	return jsonAnswer(map[string]any{"clusters": []any{}, "failures": []any{map[string]any{"arn": d.resource, "reason": "MISSING"}}})
}

// listClusters lists the clusters of ECS that were not deleted.
func listClusters(ctx context.Context, l *lister) ([]string, error) {
	names, err := listJSON("ecs", clusterTarget+"ListClusters", "clusterArns", "")(ctx, l)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	pages, err := l.json(ctx, "ecs", clusterTarget+"DescribeClusters", map[string]any{"clusters": names})
	var out []string
	for _, page := range pages {
		found, _ := page["clusters"].([]any)
		for _, f := range found {
			if d, _ := f.(map[string]any); d["status"] != "INACTIVE" {
				out = append(out, text(d["clusterName"]))
			}
		}
	}
	return out, err
}
