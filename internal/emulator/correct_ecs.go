// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// ecsCluster holds what the proxy remembers of a cluster of ECS.
type ecsCluster struct {
	body  string    // of the request that created it
	ready time.Time // when its capacity providers are
	isNew bool      // until then

}

// SetClustersTake lets changes of the capacity providers of ECS clusters last so long. Zero, the default, is no time.
func (p *Proxy) SetClustersTake(d time.Duration) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.clustersTake = d
}

// SetClusterUpdatesFail lets changes of the capacity providers of ECS clusters fail: ECS shows the declared ones nevertheless.
func (p *Proxy) SetClusterUpdatesFail(fail bool) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.clustersFail = fail
}

const clusterTarget = "AmazonEC2ContainerServiceV20141113."

// createCluster: moto replaces a cluster that exists. ECS answers the same request with the cluster, and refuses another one.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CreateCluster.html
func createCluster(ctx context.Context, p *Proxy, x *exchange) *answer {
	a, found, err := p.askJSON(ctx, x, "DescribeClusters", map[string]any{"clusters": []string{x.resource}, "include": []string{"TAGS", "SETTINGS", "CONFIGURATIONS"}})
	if err != nil || !a.ok() {
		return a
	}
	d, _ := member(found, "clusters.0").(map[string]any)
	s := &p.state
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
func refuseClusterRequest(ctx context.Context, p *Proxy, x *exchange) *answer {
	a, found, err := p.askJSON(ctx, x, "DescribeClusters", map[string]any{"clusters": []string{x.resource}})
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
	if p.state.clusterChanging(x) != nil {
		return refuse("UpdateInProgressException", "The specified cluster is in a busy state. Cluster attachments must not be in UPDATE_IN_PROGRESS to update capacity providers.")
	}
	count := func(key string) float64 { n, _ := d[key].(float64); return n }
	switch {
	case x.op != "DeleteCluster" && slices.Contains(list(x.json["capacityProviders"]), p.providerOfCluster()):
		return refuse("InvalidParameterException", "Cannot associate Managed Instances capacity provider to clusters using this API.")
	case x.op != "DeleteCluster":
		p.state.changeProviders(x)
	case count("runningTasksCount")+count("pendingTasksCount") > 0:
		return refuse("ClusterContainsTasksException", "The Cluster cannot be deleted while Tasks are active.")
	case count("registeredContainerInstancesCount") > 0:
		return refuse("ClusterContainsContainerInstancesException", "The Cluster cannot be deleted while Container Instances are active or draining.")
	}
	return nil
}

// clusterChanging returns the cluster of a request while ECS changes its capacity providers.
func (s *state) clusterChanging(x *exchange) *ecsCluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clusters[s.identity(x, "ecs", x.resource)]; c != nil && s.now().Before(c.ready) {
		return c
	}
	return nil
}

// changeProviders begins a change of the capacity providers.
func (s *state) changeProviders(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clusters[s.identity(x, "ecs", x.resource)]; c != nil {
		c.ready, c.isNew = s.now().Add(s.clustersTake), false
	}
}

// SetProviderOfCluster lets ECS clusters have a capacity provider of Managed Instances. "" ends it.
func (p *Proxy) SetProviderOfCluster(name string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.providerOfCluster = name
}

func (p *Proxy) providerOfCluster() string {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	return p.state.providerOfCluster
}

// describeProviders: moto has no providers of Managed Instances, which belong to a cluster.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeCapacityProviders.html
func describeProviders(_ context.Context, p *Proxy, x *exchange) *answer {
	found := []any{}
	names, _ := x.json["capacityProviders"].([]any)
	for _, name := range names {
		provider := map[string]any{"name": name, "status": "ACTIVE"}
		if name == p.providerOfCluster() {
			provider["cluster"] = x.json["cluster"]
		}
		found = append(found, provider)
	}
	return jsonAnswer(map[string]any{"capacityProviders": found})
}

// showCluster shows what becomes of the capacity providers of a cluster.
func showCluster(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	body, ok := decodeJSON(a.body).(map[string]any)
	d, found := member(body, "clusters.0").(map[string]any)
	c := p.state.clusterChanging(x)
	providers, _ := d["capacityProviders"].([]any)
	if own := p.providerOfCluster(); ok && found && own != "" {
		d["capacityProviders"] = append(providers, own)
		a = a.withJSON(body)
	}
	if !ok || !found || c == nil && (len(providers) == 0 || d["status"] != "ACTIVE") {
		return a
	}
	switch {
	case c != nil:
		d["attachmentsStatus"] = "UPDATE_IN_PROGRESS"
	case p.clusterUpdatesFail():
		d["attachmentsStatus"] = "UPDATE_FAILED"
	default:
		d["attachmentsStatus"] = "UPDATE_COMPLETE"
	}
	if c != nil && c.isNew {
		d["status"] = "PROVISIONING"
	}
	return a.withJSON(body)
}

func (p *Proxy) clusterUpdatesFail() bool {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	return p.state.clustersFail
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
