// SPDX-License-Identifier: Apache-2.0

package emulator

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
)

// eksService holds what moto does not know of clusters of EKS, and the associations of EKS Pod Identity, of which it knows nothing.
type eksService struct {
	base
	seq           int                     // number of the last update or association
	associations  map[string]*association // by identity
	controlPlanes controlPlanes
}

func (s *eksService) Facts() *Facts {
	return &Facts{
		Prefix:   "eks",
		Requests: RequestFacts{SigningNames: []string{"eks-auth"}, Decode: decodeEKS},
		Errors: ErrorFacts{
			Missing: map[string]awsError{
				"DescribePodIdentityAssociation": {http.StatusNotFound, resourceNotFound, "The specified association %s was not found."},
				"":                               {http.StatusNotFound, resourceNotFound, "No cluster found for name: %s."},
			},
			Throttled: tooManyRequests,
		},
		Writes: WriteFacts{
			CreatedID: idAt(map[string]string{"CreatePodIdentityAssociation": "association.associationId"}),
			TagReads:  []tagRead{{op: "DescribeCluster", where: "cluster.tags"}, {op: "DescribePodIdentityAssociation", where: "association.tags"}},
		},
		Names: map[string]nameRule{"CreateCluster": {"name", 1, 100, regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]*$`), "InvalidParameterException"}},
		Rights: RightFacts{
			Namings: map[string]naming{
				"eks access-entry/*/*/*/*/*":     {names: namedAccessEntries},
				"eks cluster/*":                  {names: namedControlPlanes},
				"eks podidentityassociation/*/*": {names: namedAssociations},
			},
			Dependents: []dependent{
				tagging("eks:CreateCluster", "eks:TagResource", "eks cluster/*"),
				tagging("eks:CreatePodIdentityAssociation", "eks:TagResource", "eks podidentityassociation/*/*"),
				{action: "eks:CreateCluster", needs: "ec2:DescribeSecurityGroups", page: ownRoles},
				{action: "eks:CreateCluster", needs: "ec2:DescribeSubnets", page: ownRoles},
				{action: "eks:CreateCluster", needs: "ec2:DescribeVpcs", page: ownRoles},
				hands("eks:CreateCluster", "roleArn", "eks"),
				hands("eks:CreatePodIdentityAssociation", "roleArn", "pods.eks"), hands("eks:UpdatePodIdentityAssociation", "roleArn", "pods.eks"),
				linked("eks:CreateCluster", "", "eks"),
				encrypted("eks:CreateCluster", "encryptionConfig.0.provider.keyArn", "eks", "kms:CreateGrant", "kms:DescribeKey"),
			},
			TagsOf: func(q *asker, arn, _ string) map[string]string {
				body, err := q.inside().get(q.ctx, "eks", "/tags/"+url.PathEscape(arn))
				if err != nil {
					return nil
				}
				tags, _ := decodeJSON(body).(map[string]any)
				return tagsIn(tags["tags"])
			},
		},
		Inventory: []inventoryKind{{"eks/cluster", false, listControlPlanes}},
		Rewrites: []Rewrite{{Kind: "EKSCluster", Field: "vpcConfig.publicAccessCidrs", What: "ranges get their usual spelling", IsSent: true, ops: []string{"DescribeCluster"},
			members: func(body map[string]any) { spellRanges(member(body, "cluster.resourcesVpcConfig.publicAccessCidrs")) }}},
	}
}

func (s *eksService) Corrections() []Correction {
	return []Correction{
		{Name: "associations of EKS Pod Identity", Instead: s.podIdentity},
		{Name: "access entries", Instead: s.accessEntries},
		{Name: "changes of clusters", Instead: s.controlPlane},
		{Name: "clusters of EKS", Ops: []string{"CreateCluster", "DescribeCluster"}, After: s.showEKSCluster},
		{Name: "networks of clusters", After: s.networkOfCluster},
	}
}

func (s *eksService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.associations, s.controlPlanes = map[string]*association{}, controlPlanes{known: map[string]*controlPlane{}}
}

// OwnInventory adds what moto does not have.
func (s *eksService) OwnInventory(accessKey string, regions []string) (kind string, names []string) {
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

// controlPlane holds what moto does not know of a cluster: what was set and changed, and what EKS does until when.
type controlPlane struct {
	settings map[string]any // members of descriptions
	update   map[string]any // members that show when the update ends
	doing    string
	until    time.Time
	updates  []map[string]any // as descriptions, the newest last
	entries  map[string]*accessEntry
}

// SetControlPlanesTake lets clusters of EKS be CREATING, UPDATING and DELETING for so long. Zero, the default, is no time.
func (s *eksService) SetControlPlanesTake(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controlPlanes.take = d
}

// BreakControlPlanes lets all clusters of EKS be FAILED, with a reason, until Reset or an empty reason.
func (s *eksService) BreakControlPlanes(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controlPlanes.broken = why
}

// FailControlPlaneUpdates lets updates of clusters end as Failed, with a reason, until Reset or an empty reason.
func (s *eksService) FailControlPlaneUpdates(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controlPlanes.fails = why
}

// SetClusterCapabilities lets each cluster have capabilities of EKS of these names.
func (s *eksService) SetClusterCapabilities(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controlPlanes.capabilities = names
}

// eksRoutes are the operations of EKS by method and path, in which * is a name.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Operations_Amazon_Elastic_Kubernetes_Service.html
var eksRoutes = map[string]string{
	"POST clusters": "CreateCluster", "GET clusters": "ListClusters", "GET clusters/*": "DescribeCluster", "DELETE clusters/*": "DeleteCluster",
	"POST clusters/*/update-config": updateClusterConfig, "POST clusters/*/updates": updateClusterVersion,
	"GET clusters/*/updates": "ListUpdates", "GET clusters/*/updates/*": "DescribeUpdate",
	"GET clusters/*/node-groups": "ListNodegroups", "POST clusters/*/node-groups": "CreateNodegroup", "DELETE clusters/*/node-groups/*": "DeleteNodegroup",
	"GET clusters/*/fargate-profiles": "ListFargateProfiles", "POST clusters/*/fargate-profiles": "CreateFargateProfile", "DELETE clusters/*/fargate-profiles/*": "DeleteFargateProfile",
	"GET clusters/*/capabilities": "ListCapabilities",
	"POST tags/*":                 "TagResource", "DELETE tags/*": "UntagResource", "GET tags/*": "ListTagsForResource",
}

const updateClusterConfig, updateClusterVersion = "UpdateClusterConfig", "UpdateClusterVersion"

// decodeCluster names a request about a cluster by its name.
func decodeCluster(d *request, parts []string) {
	name := text(d.json["name"])
	if len(parts) == 3 && parts[0] == "tags" && strings.HasSuffix(parts[1], ":cluster") { // tags/arn:…:cluster/NAME
		parts = []string{parts[0], parts[2]}
	}
	if len(parts) > 1 {
		name, parts[1] = parts[1], "*"
	}
	if len(parts) > 3 {
		parts[3] = "*"
	}
	if op := eksRoutes[d.http.Method+" "+strings.Join(parts, "/")]; op != "" {
		d.op, d.resource = op, name
	}
}

// untagControlPlane: moto removes only the first of several tags.
func (s *eksService) untagControlPlane(ctx context.Context, x *exchange) *answer {
	var last *answer
	for _, key := range x.http.URL.Query()["tagKeys"] {
		a, err := s.ask(ctx, x, http.MethodDelete, x.http.URL.EscapedPath()+"?"+url.Values{"tagKeys": {key}}.Encode(), http.Header{}, nil)
		if err != nil || !a.ok() {
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
func (s *eksService) controlPlane(ctx context.Context, x *exchange) *answer {
	if x.http.Method == x.op { // a request that decodeEKS does not name
		return nil
	}
	if x.op == "UntagResource" {
		return s.untagControlPlane(ctx, x)
	}
	path := "/clusters/" + url.PathEscape(x.resource)
	if s.endedControlPlane(x) {
		if a, err := s.ask(ctx, x, http.MethodDelete, path, http.Header{}, nil); err != nil || !a.ok() {
			return a
		}
	}
	if !slices.Contains([]string{"CreateCluster", "DeleteCluster", updateClusterConfig, updateClusterVersion, "ListNodegroups", "ListFargateProfiles", "ListCapabilities", "ListUpdates", "DescribeUpdate"}, x.op) {
		return nil
	}
	found, err := s.ask(ctx, x, http.MethodGet, path, http.Header{}, nil)
	if err != nil {
		return nil
	}
	body, _ := decodeJSON(found.body).(map[string]any)
	d, _ := body["cluster"].(map[string]any)
	switch {
	case x.op == "CreateCluster" && d != nil && text(d["clientRequestToken"]) != "" && d["clientRequestToken"] == x.json["clientRequestToken"]:
		x.existed = true
		return found
	case x.op == "CreateCluster":
		return nil
	case d == nil:
		return found
	case x.op == "ListUpdates", x.op == "DescribeUpdate":
		return s.readUpdates(x)
	case x.op == "ListCapabilities":
		return s.listCapabilities(x)
	case strings.HasPrefix(x.op, "List"):
		return nil
	case x.op == "DeleteCluster":
		return s.deleteControlPlane(ctx, x, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updateControlPlane(x, d)
}

// listCapabilities answers in the place of moto, which knows no capabilities.
func (s *eksService) listCapabilities(x *exchange) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []any{}
	for _, name := range s.controlPlanes.capabilities {
		all = append(all, map[string]any{"capabilityName": name, "type": "ARGOCD", "status": "ACTIVE"})
	}
	return jsonAnswer(map[string]any{"capabilities": all})
}

// endedControlPlane reports whether the deletion of the cluster of a request is over, for the first time.
func (s *eksService) endedControlPlane(x *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.identity(x, "eks", x.resource)
	c := s.controlPlanes.known[id]
	if c == nil || c.doing != "DELETING" || s.now().Before(c.until) {
		return false
	}
	delete(s.controlPlanes.known, id)
	return true
}

// controlPlaneOf returns what is known of the cluster of a request.
func (s *eksService) controlPlaneOf(x *exchange) *controlPlane {
	id := s.identity(x, "eks", x.resource)
	if s.controlPlanes.known[id] == nil {
		s.controlPlanes.known[id] = &controlPlane{settings: map[string]any{}}
	}
	c := s.controlPlanes.known[id]
	if !s.now().Before(c.until) {
		maps.Copy(c.settings, c.update)
		c.update = nil
	}
	return c
}

func (s *eksService) refuseControlPlane(x *exchange, c *controlPlane) *answer {
	if !s.now().Before(c.until) {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusConflict, "ResourceInUseException", "Cannot " + x.op + " because cluster " + x.resource + " currently has an update in progress"})
}

func (s *eksService) deleteControlPlane(ctx context.Context, x *exchange, d map[string]any) *answer {
	for path, what := range map[string]string{"node-groups": "nodegroups", "fargate-profiles": "fargateProfileNames"} {
		var listed map[string]any
		a, err := s.ask(ctx, x, http.MethodGet, "/clusters/"+url.PathEscape(x.resource)+"/"+path, http.Header{}, nil)
		if err != nil || json.Unmarshal(a.body, &listed) != nil || len(list(listed[what])) > 0 {
			return errorAnswer(x.request, awsError{http.StatusConflict, "ResourceInUseException", "Cluster has " + what + " attached"})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.controlPlaneOf(x)
	switch refused := s.refuseControlPlane(x, c); {
	case refused != nil:
		return refused
	case c.settings["deletionProtection"] == true:
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequestException", "Cannot delete cluster " + x.resource + " because deletion protection is enabled"})
	case s.controlPlanes.take == 0:
		delete(s.controlPlanes.known, s.identity(x, "eks", x.resource))
		return nil
	}
	c.doing, c.until = "DELETING", s.now().Add(s.controlPlanes.take)
	d["status"] = c.doing
	return jsonAnswer(map[string]any{"cluster": d})
}

// updateControlPlane makes an update, of one type.
func (s *eksService) updateControlPlane(x *exchange, d map[string]any) *answer {
	c := s.controlPlaneOf(x)
	if refused := s.refuseControlPlane(x, c); refused != nil {
		return refused
	}
	invalid := func(message string) *answer {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", message})
	}
	changes := map[string]any{}
	for _, name := range []string{"resourcesVpcConfig", "logging", "accessConfig", "deletionProtection", "version", "upgradePolicy"} {
		if v, ok := x.json[name]; ok {
			changes[name] = v
		}
	}
	if len(changes) != 1 {
		return invalid("Only one type of update can be allowed.")
	}
	if to, ok := changes["version"]; ok {
		from := text(cmp.Or(c.settings["version"], d["version"]))
		if minor(text(to)) != minor(from)+1 {
			return invalid("Unsupported Kubernetes minor version update from " + from + " to " + text(to))
		}
	}
	if !c.changes(d, changes) {
		return invalid("Cluster is already at the desired configuration")
	}
	if vpc, ok := changes["resourcesVpcConfig"].(map[string]any); ok {
		whole, _ := c.settings["resourcesVpcConfig"].(map[string]any)
		changes["resourcesVpcConfig"] = merged(whole, vpc)
	}
	c.update, c.doing, c.until = changes, "UPDATING", s.now().Add(s.controlPlanes.take)
	s.seq++
	update := map[string]any{"id": fmt.Sprintf("update-%d", s.seq), "status": "Successful", "type": "ConfigUpdate", "createdAt": float64(s.now().UnixMilli()) / 1000, "errors": []any{}}
	if s.controlPlanes.fails != "" {
		c.update, update["status"] = nil, "Failed"
		update["errors"] = []any{map[string]any{"errorCode": "IpNotAvailable", "errorMessage": s.controlPlanes.fails, "resourceIds": []any{"subnet-0000000a"}}}
	}
	c.updates = append(c.updates, update)
	return jsonAnswer(map[string]any{"update": merged(update, map[string]any{"status": "InProgress", "errors": []any{}})})
}

// readUpdates: moto knows no updates.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeUpdate.html
func (s *eksService) readUpdates(x *exchange) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.controlPlaneOf(x)
	ids, asked := []any{}, x.http.URL.Path[strings.LastIndexByte(x.http.URL.Path, '/')+1:]
	for _, update := range c.updates {
		ids = append(ids, update["id"])
		if update["id"] == asked {
			if s.now().Before(c.until) && len(ids) == len(c.updates) {
				update = merged(update, map[string]any{"status": "InProgress", "errors": []any{}})
			}
			return jsonAnswer(map[string]any{"update": update})
		}
	}
	if x.op == "DescribeUpdate" {
		return errorAnswer(x.request, awsError{http.StatusNotFound, resourceNotFound, "No update found for ID: " + asked})
	}
	return jsonAnswer(map[string]any{"updateIds": ids})
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

// described completes a description with defaults, and with what moto drops.
func (c *controlPlane) described(d map[string]any) map[string]any {
	vpc, _ := d["resourcesVpcConfig"].(map[string]any)
	changed, _ := c.settings["resourcesVpcConfig"].(map[string]any)
	out := merged(d, map[string]any{"accessConfig": map[string]any{"authenticationMode": "CONFIG_MAP"}, "deletionProtection": false, "upgradePolicy": map[string]any{"supportType": "EXTENDED"}, "platformVersion": "eks.4"})
	maps.Copy(out, c.settings)
	defaults := map[string]any{"endpointPublicAccess": true, "endpointPrivateAccess": false, "publicAccessCidrs": []any{"0.0.0.0/0"}, "clusterSecurityGroupId": "sg-0c1a57e2c1a57e2c1"}
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

// showEKSCluster: moto shows neither defaults nor what it drops, and its clusters are always ACTIVE.
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Cluster.html
func (s *eksService) showEKSCluster(_ context.Context, x *exchange, a *answer) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := decodeJSON(a.body).(map[string]any)
	d, ok := body["cluster"].(map[string]any)
	if !a.ok() || !ok {
		return a
	}
	if x.op == "CreateCluster" && !x.existed {
		delete(s.controlPlanes.known, s.identity(x, "eks", x.resource))
		c := s.controlPlaneOf(x)
		c.doing, c.until = "CREATING", s.now().Add(s.controlPlanes.take)
		c.settings["version"] = "1.31" // moto's default is one that EKS does not have any more
		for _, name := range []string{"accessConfig", "deletionProtection", "version", "upgradePolicy", "computeConfig"} {
			if v, set := x.json[name]; set {
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
	case s.now().Before(c.until):
		d["status"] = c.doing
		if c.doing == "CREATING" {
			delete(d, "endpoint")
			delete(d, "certificateAuthority")
		}
	}
	return a.withJSON(body)
}

// listControlPlanes lists the names of clusters of EKS.
func listControlPlanes(ctx context.Context, l *lister) ([]string, error) {
	text, err := l.get(ctx, "eks", "/clusters")
	if err != nil {
		return nil, err
	}
	var body struct{ Clusters []string }
	err = json.Unmarshal(text, &body)
	return body.Clusters, err
}

// networkOfCluster: moto does not say in which network the subnets of a cluster are:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigResponse.html
func (s *eksService) networkOfCluster(ctx context.Context, x *exchange, a *answer) *answer {
	var body map[string]map[string]any
	if !a.ok() || json.Unmarshal(a.body, &body) != nil {
		return a
	}
	config, _ := body["cluster"]["resourcesVpcConfig"].(map[string]any)
	subnets := list(config["subnetIds"])
	if len(subnets) == 0 || config["vpcId"] != nil && config["vpcId"] != "" {
		return a
	}
	found, err := s.askQuery(ctx, x, "ec2", "2016-11-15", url.Values{"Action": {"DescribeSubnets"}, "SubnetId.1": {subnets[0]}})
	var answered struct {
		VPC string `xml:"subnetSet>item>vpcId"`
	}
	if err != nil || xml.Unmarshal(found.body, &answered) != nil {
		return a
	}
	config["vpcId"] = answered.VPC
	if a.body, err = json.Marshal(body); err != nil {
		return a
	}
	a.header.Del("Content-Length")
	return a
}

// namedControlPlanes are clusters of EKS. A request about an association names the cluster in its path, too.
func namedControlPlanes(q *asker) []string {
	if rest, ok := strings.CutPrefix(q.x.http.URL.Path, "/clusters/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		return []string{name}
	}
	return q.values("name")
}

// namedAssociations returns the associations of EKS Pod Identity, by cluster and identifier.
func namedAssociations(q *asker) []string {
	parts := strings.Split(strings.Trim(q.x.http.URL.Path, "/"), "/")
	if len(parts) < 3 || parts[2] != "pod-identity-associations" {
		return nil
	}
	if len(parts) == 3 {
		return []string{parts[1] + "/*"}
	}
	return []string{parts[1] + "/" + parts[3]}
}

// namedAccessEntries returns the entries of EKS, by cluster and principal. AWS chooses the last part of their ARNs.
func namedAccessEntries(q *asker) []string {
	cluster, _, principal, _ := accessPath(q.x.http)
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
		if p, err := netip.ParsePrefix(text(list[i])); err == nil {
			list[i] = p.Masked().String()
		}
	}
}
