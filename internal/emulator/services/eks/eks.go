// SPDX-License-Identifier: Apache-2.0

// Package eks holds the emulator's facts and corrections for Amazon EKS.
package eks

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of clusters of EKS that moto lacks, and the associations of EKS Pod Identity. moto has none of the latter.
type Service struct {
	proxy.Base
	seq           int                     // number of the last update or association
	associations  map[string]*association // by identity
	controlPlanes controlPlanes
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "eks",
		Requests: proxy.RequestFacts{SigningNames: []string{"eks-auth"}, Decode: decodeEKS},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{
				"DescribePodIdentityAssociation": {Status: http.StatusNotFound, Code: proxy.ResourceNotFound,
					Message: "The specified association %s was not found."},
				"": {Status: http.StatusNotFound, Code: proxy.ResourceNotFound,
					Message: "No cluster found for name: %s."},
			},
			Throttled: proxy.TooManyRequests,
		},
		Writes: proxy.WriteFacts{
			CreatedID: proxy.IDAt(map[string]string{"CreatePodIdentityAssociation": "association.associationId"}),
			TagReads: []proxy.TagRead{{Op: "DescribeCluster", Where: "cluster.tags"},
				{Op: "DescribePodIdentityAssociation", Where: "association.tags"}},
		},
		Names: map[string]proxy.NameRule{"CreateCluster": {Member: "name", Min: 1, Max: 100,
			Pattern: regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]*$`), Code: "InvalidParameterException"}},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"eks access-entry/*/*/*/*/*":     {Names: namedAccessEntries},
				"eks cluster/*":                  {Names: namedControlPlanes},
				"eks podidentityassociation/*/*": {Names: namedAssociations},
			},
			Dependents: []proxy.Dependent{
				proxy.Tagging("eks:CreateCluster", "eks:TagResource", "eks cluster/*"),
				proxy.Tagging("eks:CreatePodIdentityAssociation", "eks:TagResource", "eks podidentityassociation/*/*"),
				{Action: "eks:CreateCluster", Needs: "ec2:DescribeSecurityGroups", Page: proxy.OwnRoles},
				{Action: "eks:CreateCluster", Needs: "ec2:DescribeSubnets", Page: proxy.OwnRoles},
				{Action: "eks:CreateCluster", Needs: "ec2:DescribeVpcs", Page: proxy.OwnRoles},
				iam.Hands("eks:CreateCluster", "roleArn", "eks"),
				iam.Hands("eks:CreatePodIdentityAssociation", "roleArn", "pods.eks"), iam.Hands("eks:UpdatePodIdentityAssociation", "roleArn",
					"pods.eks"),
				iam.Linked("eks:CreateCluster", "", "eks"),
				kms.Encrypted("eks:CreateCluster", "encryptionConfig.0.provider.keyArn", "eks", "kms:CreateGrant", "kms:DescribeKey"),
			},
			TagsOf: func(q *proxy.Asker, arn, _ string) map[string]string {
				body, err := q.Inside().Get(q.Ctx, "eks", "/tags/"+url.PathEscape(arn))
				if err != nil {
					return nil
				}
				tags, _ := proxy.DecodeJSON(body).(map[string]any)
				return proxy.TagsIn(tags["tags"])
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "eks/cluster", Global: false, List: listControlPlanes}},
		Rewrites: []proxy.Rewrite{{Kind: "EKSCluster", Field: "vpcConfig.publicAccessCidrs", What: "ranges get their usual spelling",
			IsSent: true, Ops: []string{"DescribeCluster"},
			Members: func(body map[string]any) {
				spellRanges(proxy.Member(body, "cluster.resourcesVpcConfig.publicAccessCidrs"))
			}}},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "associations of EKS Pod Identity", Instead: s.podIdentity},
		{Name: "access entries", Instead: s.accessEntries},
		{Name: "changes of clusters", Instead: s.controlPlane},
		{Name: "clusters of EKS", Ops: []string{"CreateCluster", "DescribeCluster"}, After: s.showEKSCluster},
		{Name: "networks of clusters", After: s.networkOfCluster},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.seq = 0 // the same test gets the same identifiers again
	s.associations, s.controlPlanes = map[string]*association{}, controlPlanes{known: map[string]*controlPlane{}}
}

// OwnInventory adds the resources that moto does not have.
func (s *Service) OwnInventory(accessKey string, regions []string) (kind string, names []string) {
	return "eks/pod-identity-association", s.associationNames(accessKey, regions)
}

// controlPlanes are the clusters of EKS, as far as moto does not know them.
type controlPlanes struct {
	known  map[string]*controlPlane // by identity
	take   time.Duration            // how long they are CREATING, UPDATING and DELETING
	broken string                   // why all are FAILED
	fails  string                   // why updates fail

	capabilities []string // the names of those of each cluster
}

// controlPlane holds the state of a cluster that moto lacks: its settings and updates, and the operation of EKS in progress with its end.
type controlPlane struct {
	settings map[string]any // members of descriptions
	update   map[string]any // members that show when the update ends
	doing    string
	until    time.Time
	updates  []map[string]any // as descriptions, the newest last
	entries  map[string]*accessEntry
}

// SetControlPlanesTake lets clusters of EKS be CREATING, UPDATING and DELETING for so long. Zero, the default, is no time.
func (s *Service) SetControlPlanesTake(d time.Duration) {
	s.Locked(func() { s.controlPlanes.take = d })
}

// BreakControlPlanes lets all clusters of EKS be FAILED, with a reason, until Reset or an empty reason.
func (s *Service) BreakControlPlanes(why string) { s.Locked(func() { s.controlPlanes.broken = why }) }

// FailControlPlaneUpdates lets updates of clusters end as Failed, with a reason, until Reset or an empty reason.
func (s *Service) FailControlPlaneUpdates(why string) {
	s.Locked(func() { s.controlPlanes.fails = why })
}

// SetClusterCapabilities lets each cluster have capabilities of EKS of these names.
func (s *Service) SetClusterCapabilities(names ...string) {
	s.Locked(func() { s.controlPlanes.capabilities = names })
}

// eksRoutes are the operations of EKS by method and path. A * in the path is a name.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Operations_Amazon_Elastic_Kubernetes_Service.html
var eksRoutes = map[string]string{
	"POST clusters": "CreateCluster", "GET clusters": "ListClusters", "GET clusters/*": "DescribeCluster",
	"DELETE clusters/*":             "DeleteCluster",
	"POST clusters/*/update-config": updateClusterConfig, "POST clusters/*/updates": updateClusterVersion,
	"GET clusters/*/updates": "ListUpdates", "GET clusters/*/updates/*": "DescribeUpdate",
	"GET clusters/*/node-groups": "ListNodegroups", "POST clusters/*/node-groups": "CreateNodegroup",
	"DELETE clusters/*/node-groups/*": "DeleteNodegroup",
	"GET clusters/*/fargate-profiles": "ListFargateProfiles", "POST clusters/*/fargate-profiles": "CreateFargateProfile",
	"DELETE clusters/*/fargate-profiles/*": "DeleteFargateProfile",
	"GET clusters/*/capabilities":          "ListCapabilities",
	"POST tags/*":                          "TagResource", "DELETE tags/*": "UntagResource", "GET tags/*": "ListTagsForResource",
}

const updateClusterConfig, updateClusterVersion = "UpdateClusterConfig", "UpdateClusterVersion"

// decodeCluster names a request about a cluster by its name.
func decodeCluster(d *proxy.Request, parts []string) {
	name := proxy.Text(d.JSON["name"])
	if len(parts) == 3 && parts[0] == "tags" && strings.HasSuffix(parts[1], ":cluster") { // tags/arn:…:cluster/NAME
		parts = []string{parts[0], parts[2]}
	}
	if len(parts) > 1 {
		name, parts[1] = parts[1], "*"
	}
	if len(parts) > 3 {
		parts[3] = "*"
	}
	if op := eksRoutes[d.HTTP.Method+" "+strings.Join(parts, "/")]; op != "" {
		d.Op, d.Resource = op, name
	}
}

// untagControlPlane: moto removes only the first of several tags.
func (s *Service) untagControlPlane(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	var last *proxy.Answer
	for _, key := range x.HTTP.URL.Query()["tagKeys"] {
		a, err := s.Ask(ctx, x, http.MethodDelete, x.HTTP.URL.EscapedPath()+"?"+url.Values{"tagKeys": {key}}.Encode(), http.Header{}, nil)
		if err != nil || !a.OK() {
			return a
		}
		last = a
	}
	return last
}

// controlPlane answers requests about clusters in the place of moto; nil for others. moto deletes a cluster at once and with
// Fargate profiles, fails to list the parts of one that does not exist, creates none again for the same request, makes updates at
// once and incompletely, and upgrades none.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterVersion.html
func (s *Service) controlPlane(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if x.HTTP.Method == x.Op { // a request that decodeEKS does not name
		return nil
	}
	if x.Op == "UntagResource" {
		return s.untagControlPlane(ctx, x)
	}
	path := "/clusters/" + url.PathEscape(x.Resource)
	if s.endedControlPlane(x) {
		if a, err := s.Ask(ctx, x, http.MethodDelete, path, http.Header{}, nil); err != nil || !a.OK() {
			return a
		}
	}
	if !slices.Contains([]string{"CreateCluster", "DeleteCluster", updateClusterConfig, updateClusterVersion, "ListNodegroups",
		"ListFargateProfiles", "ListCapabilities", "ListUpdates", "DescribeUpdate"}, x.Op) {
		return nil
	}
	found, err := s.Ask(ctx, x, http.MethodGet, path, http.Header{}, nil)
	if err != nil {
		return nil
	}
	body, _ := proxy.DecodeJSON(found.Body).(map[string]any)
	d, _ := body["cluster"].(map[string]any)
	switch {
	case x.Op == "CreateCluster" && d != nil && proxy.Text(d["clientRequestToken"]) != "" &&
		d["clientRequestToken"] == x.JSON["clientRequestToken"]:
		x.Existed = true
		return found
	case x.Op == "CreateCluster":
		return nil
	case d == nil:
		return found
	case x.Op == "ListUpdates", x.Op == "DescribeUpdate":
		return s.readUpdates(x)
	case x.Op == "ListCapabilities":
		return s.listCapabilities()
	case strings.HasPrefix(x.Op, "List"):
		return nil
	case x.Op == "DeleteCluster":
		return s.deleteControlPlane(ctx, x, d)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.updateControlPlane(x, d)
}

// listCapabilities answers in the place of moto, which knows no capabilities.
func (s *Service) listCapabilities() *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	all := []any{}
	for _, name := range s.controlPlanes.capabilities {
		all = append(all, map[string]any{"capabilityName": name, "type": "ARGOCD", "status": "ACTIVE"})
	}
	return proxy.JSONAnswer(map[string]any{"capabilities": all})
}

// endedControlPlane reports whether the deletion of the cluster of a request is over, for the first time.
func (s *Service) endedControlPlane(x *proxy.Exchange) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	id := s.Identity(x, "eks", x.Resource)
	c := s.controlPlanes.known[id]
	if c == nil || c.doing != "DELETING" || s.Now().Before(c.until) {
		return false
	}
	delete(s.controlPlanes.known, id)
	return true
}

// controlPlaneOf returns the known state of the cluster of a request.
func (s *Service) controlPlaneOf(x *proxy.Exchange) *controlPlane {
	id := s.Identity(x, "eks", x.Resource)
	if s.controlPlanes.known[id] == nil {
		s.controlPlanes.known[id] = &controlPlane{settings: map[string]any{}}
	}
	c := s.controlPlanes.known[id]
	if !s.Now().Before(c.until) {
		maps.Copy(c.settings, c.update)
		c.update = nil
	}
	return c
}

func (s *Service) refuseControlPlane(x *proxy.Exchange, c *controlPlane) *proxy.Answer {
	if !s.Now().Before(c.until) {
		return nil
	}
	return x.Refuse(http.StatusConflict, "ResourceInUseException",
		"Cannot "+x.Op+" because cluster "+x.Resource+" currently has an update in progress")
}

func (s *Service) deleteControlPlane(ctx context.Context, x *proxy.Exchange, d map[string]any) *proxy.Answer {
	for path, what := range map[string]string{"node-groups": "nodegroups", "fargate-profiles": "fargateProfileNames"} {
		var listed map[string]any
		a, err := s.Ask(ctx, x, http.MethodGet, "/clusters/"+url.PathEscape(x.Resource)+"/"+path, http.Header{}, nil)
		if err != nil || json.Unmarshal(a.Body, &listed) != nil || len(policy.List(listed[what])) > 0 {
			return x.Refuse(http.StatusConflict, "ResourceInUseException", "Cluster has "+what+" attached")
		}
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c := s.controlPlaneOf(x)
	switch refused := s.refuseControlPlane(x, c); {
	case refused != nil:
		return refused
	case c.settings["deletionProtection"] == true:
		return x.Refuse(http.StatusBadRequest, "InvalidRequestException",
			"Cannot delete cluster "+x.Resource+" because deletion protection is enabled")
	case s.controlPlanes.take == 0:
		delete(s.controlPlanes.known, s.Identity(x, "eks", x.Resource))
		return nil
	}
	c.doing, c.until = "DELETING", s.Now().Add(s.controlPlanes.take)
	d["status"] = c.doing
	return proxy.JSONAnswer(map[string]any{"cluster": d})
}

// updateControlPlane makes an update, of one type.
func (s *Service) updateControlPlane(x *proxy.Exchange, d map[string]any) *proxy.Answer {
	c := s.controlPlaneOf(x)
	if refused := s.refuseControlPlane(x, c); refused != nil {
		return refused
	}
	invalid := func(message string) *proxy.Answer {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterException", message)
	}
	changes := map[string]any{}
	for _, name := range []string{"resourcesVpcConfig", "logging", "accessConfig", "deletionProtection", "version", "upgradePolicy"} {
		if v, ok := x.JSON[name]; ok {
			changes[name] = v
		}
	}
	if len(changes) != 1 {
		return invalid("Only one type of update can be allowed.")
	}
	if to, ok := changes["version"]; ok {
		from := proxy.Text(cmp.Or(c.settings["version"], d["version"]))
		if minor(proxy.Text(to)) != minor(from)+1 {
			return invalid("Unsupported Kubernetes minor version update from " + from + " to " + proxy.Text(to))
		}
	}
	if !c.changes(d, changes) {
		return invalid("Cluster is already at the desired configuration")
	}
	if vpc, ok := changes["resourcesVpcConfig"].(map[string]any); ok {
		whole, _ := c.settings["resourcesVpcConfig"].(map[string]any)
		changes["resourcesVpcConfig"] = merged(whole, vpc)
	}
	c.update, c.doing, c.until = changes, "UPDATING", s.Now().Add(s.controlPlanes.take)
	s.seq++
	update := map[string]any{"id": fmt.Sprintf("update-%d", s.seq), "status": "Successful", "type": "ConfigUpdate",
		"createdAt": float64(s.Now().UnixMilli()) / 1000, "errors": []any{}}
	if s.controlPlanes.fails != "" {
		c.update, update["status"] = nil, "Failed"
		update["errors"] = []any{map[string]any{"errorCode": "IpNotAvailable", "errorMessage": s.controlPlanes.fails,
			"resourceIds": []any{"subnet-0000000a"}}}
	}
	c.updates = append(c.updates, update)
	return proxy.JSONAnswer(map[string]any{"update": merged(update, map[string]any{"status": "InProgress", "errors": []any{}})})
}

// readUpdates: moto knows no updates.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeUpdate.html
func (s *Service) readUpdates(x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c := s.controlPlaneOf(x)
	ids, asked := []any{}, x.HTTP.URL.Path[strings.LastIndexByte(x.HTTP.URL.Path, '/')+1:]
	for _, update := range c.updates {
		ids = append(ids, update["id"])
		if update["id"] == asked {
			if s.Now().Before(c.until) && len(ids) == len(c.updates) {
				update = merged(update, map[string]any{"status": "InProgress", "errors": []any{}})
			}
			return proxy.JSONAnswer(map[string]any{"update": update})
		}
	}
	if x.Op == "DescribeUpdate" {
		return x.Refuse(http.StatusNotFound, proxy.ResourceNotFound, "No update found for ID: "+asked)
	}
	return proxy.JSONAnswer(map[string]any{"updateIds": ids})
}

// changes reports whether an update sets another value than the cluster has.
func (c *controlPlane) changes(d, update map[string]any) bool {
	shown := c.described(d)
	for name, to := range update {
		if name != "resourcesVpcConfig" {
			return fmt.Sprint(to) != fmt.Sprint(shown[name])
		}
		have, _ := shown[name].(map[string]any)
		for setting, value := range to.(map[string]any) {
			if fmt.Sprint(value) != fmt.Sprint(have[setting]) {
				return true
			}
		}
	}
	return false
}

// described completes a description with defaults, and with the members that moto drops.
func (c *controlPlane) described(d map[string]any) map[string]any {
	vpc, _ := d["resourcesVpcConfig"].(map[string]any)
	changed, _ := c.settings["resourcesVpcConfig"].(map[string]any)
	out := merged(d, map[string]any{"accessConfig": map[string]any{"authenticationMode": "CONFIG_MAP"}, "deletionProtection": false,
		"upgradePolicy": map[string]any{"supportType": "EXTENDED"}, "platformVersion": "eks.4"})
	maps.Copy(out, c.settings)
	defaults := map[string]any{"endpointPublicAccess": true, "endpointPrivateAccess": false, "publicAccessCidrs": []any{"0.0.0.0/0"},
		"clusterSecurityGroupId": "sg-0c1a57e2c1a57e2c1"}
	out["resourcesVpcConfig"] = merged(merged(defaults, vpc), changed)
	return out
}

func minor(version string) int {
	n, _ := strconv.Atoi(version[strings.IndexByte(version, '.')+1:])
	return n
}

func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// showEKSCluster: moto shows neither defaults nor the members that it drops, and its clusters are always ACTIVE.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Cluster.html
func (s *Service) showEKSCluster(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	body, _ := proxy.DecodeJSON(a.Body).(map[string]any)
	d, ok := body["cluster"].(map[string]any)
	if !a.OK() || !ok {
		return a
	}
	if x.Op == "CreateCluster" && !x.Existed {
		delete(s.controlPlanes.known, s.Identity(x, "eks", x.Resource))
		c := s.controlPlaneOf(x)
		c.doing, c.until = "CREATING", s.Now().Add(s.controlPlanes.take)
		c.settings["version"] = "1.31" // moto's default is one that EKS does not have any more
		for _, name := range []string{"accessConfig", "deletionProtection", "version", "upgradePolicy", "computeConfig"} {
			if v, set := x.JSON[name]; set {
				c.settings[name] = v
			}
		}
	}
	c := s.controlPlaneOf(x)
	d = c.described(d)
	body["cluster"] = d
	switch {
	case s.controlPlanes.broken != "":
		d["status"], d["health"] = "FAILED", map[string]any{"issues": []any{map[string]any{"code": "Other", "message": s.controlPlanes.broken}}}
	case s.Now().Before(c.until):
		d["status"] = c.doing
		if c.doing == "CREATING" {
			delete(d, "endpoint")
			delete(d, "certificateAuthority")
		}
	}
	return a.WithJSON(body)
}

// listControlPlanes lists the names of clusters of EKS.
func listControlPlanes(ctx context.Context, l *proxy.Lister) ([]string, error) {
	text, err := l.Get(ctx, "eks", "/clusters")
	if err != nil {
		return nil, err
	}
	var body struct{ Clusters []string }
	err = json.Unmarshal(text, &body)
	return body.Clusters, err
}

// networkOfCluster: moto does not show the network of the subnets of a cluster:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigResponse.html
func (s *Service) networkOfCluster(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	var body map[string]map[string]any
	if !a.OK() || json.Unmarshal(a.Body, &body) != nil {
		return a
	}
	config, _ := body["cluster"]["resourcesVpcConfig"].(map[string]any)
	subnets := policy.List(config["subnetIds"])
	if len(subnets) == 0 || config["vpcId"] != nil && config["vpcId"] != "" {
		return a
	}
	found, err := s.AskQuery(ctx, x, "ec2", "2016-11-15", url.Values{"Action": {"DescribeSubnets"}, "SubnetId.1": {subnets[0]}})
	var answered struct {
		VPC string `xml:"subnetSet>item>vpcId"`
	}
	if err != nil || xml.Unmarshal(found.Body, &answered) != nil {
		return a
	}
	config["vpcId"] = answered.VPC
	if a.Body, err = json.Marshal(body); err != nil {
		return a
	}
	a.Header.Del("Content-Length")
	return a
}

// namedControlPlanes are clusters of EKS. A request about an association names the cluster in its path, too.
func namedControlPlanes(q *proxy.Asker) []string {
	if rest, ok := strings.CutPrefix(q.X.HTTP.URL.Path, "/clusters/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		return []string{name}
	}
	return q.Values("name")
}

// namedAssociations returns the associations of EKS Pod Identity, by cluster and identifier.
func namedAssociations(q *proxy.Asker) []string {
	parts := strings.Split(strings.Trim(q.X.HTTP.URL.Path, "/"), "/")
	if len(parts) < 3 || parts[2] != "pod-identity-associations" {
		return nil
	}
	if len(parts) == 3 {
		return []string{parts[1] + "/*"}
	}
	return []string{parts[1] + "/" + parts[3]}
}

// namedAccessEntries returns the entries of EKS, by cluster and principal. AWS chooses the last part of their ARNs.
func namedAccessEntries(q *proxy.Asker) []string {
	cluster, _, principal, _ := accessPath(q.X.HTTP)
	parts := strings.SplitN(principal, ":", 6)
	if len(parts) < 6 {
		return nil
	}
	kind, name, _ := strings.Cut(parts[5], "/")
	return []string{strings.Join([]string{cluster, kind, parts[4], name[strings.LastIndexByte(name, '/')+1:], "*"}, "/")}
}

// spellRanges writes ranges of addresses from their first address on, and IPv6 in lower case without zeros.
func spellRanges(ranges any) {
	list, _ := ranges.([]any)
	for i := range list {
		if p, err := netip.ParsePrefix(proxy.Text(list[i])); err == nil {
			list[i] = p.Masked().String()
		}
	}
}
