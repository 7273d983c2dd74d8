// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// elasticacheService holds the cache clusters, of which moto knows little.
type elasticacheService struct {
	base
	caches            map[string]*cacheCluster // by identity
	cachesTake        time.Duration            // how long they are creating, modifying and deleting
	cacheVersionParts int                      // how many parts of versions descriptions show, unless 0
}

func (s *elasticacheService) Facts() *Facts {
	return &Facts{
		Prefix:   "elasticache",
		Requests: RequestFacts{Keys: []string{"CacheClusterId"}, ShortName: afterColon},
		Errors: ErrorFacts{
			Missing:   map[string]awsError{"": {http.StatusNotFound, "CacheClusterNotFound", "CacheCluster not found: %s"}},
			Throttled: rateExceeded,
		},
		Writes: WriteFacts{TagReads: []tagRead{{op: "ListTagsForResource", where: "TagList"}}},
		Names:  map[string]nameRule{"CreateCacheCluster": {"CacheClusterId", 1, 50, regexp.MustCompile(`^[A-Za-z](-?[A-Za-z0-9])*$`), "InvalidParameterValue"}},
		Rights: RightFacts{
			Namings: map[string]naming{
				"elasticache cluster:*":        {members: []string{"CacheClusterId"}},
				"elasticache parametergroup:*": {members: []string{"CacheParameterGroupName"}},
				"elasticache securitygroup:*":  {members: []string{"CacheSecurityGroupNames.CacheSecurityGroupName.#"}},
				"elasticache snapshot:*":       {members: []string{"FinalSnapshotIdentifier", "SnapshotName"}},
				"elasticache subnetgroup:*":    {members: []string{"CacheSubnetGroupName"}},
			},
			Dependents: []dependent{
				{action: "elasticache:CreateCacheCluster", needs: "elasticache:AddTagsToResource", with: withTags, at: []string{"elasticache cluster:*"}},
				{action: "elasticache:CreateCacheCluster", needs: "ec2:CreateNetworkInterface", never: bySLR},
				{action: "elasticache:CreateCacheCluster", needs: "ec2:DeleteNetworkInterface", never: bySLR},
				{action: "elasticache:CreateCacheCluster", needs: "ec2:DescribeNetworkInterfaces"},
				{action: "elasticache:CreateCacheCluster", needs: "ec2:DescribeSubnets"},
				{action: "elasticache:CreateCacheCluster", needs: "ec2:DescribeVpcs"},
				{action: "elasticache:CreateCacheCluster", needs: "s3:GetObject", never: "only from a snapshot file, for which there is no field"},
				{action: "elasticache:DeleteCacheCluster", needs: "ec2:CreateNetworkInterface", never: bySLR},
				{action: "elasticache:DeleteCacheCluster", needs: "ec2:DeleteNetworkInterface", never: bySLR},
				{action: "elasticache:DeleteCacheCluster", needs: "ec2:DescribeNetworkInterfaces"},
				{action: "elasticache:DeleteCacheCluster", needs: "ec2:DescribeSubnets"},
				{action: "elasticache:DeleteCacheCluster", needs: "ec2:DescribeVpcs"},
			},
		},
		Inventory: []inventoryKind{{"elasticache/cluster", false, listCaches}},
		Rewrites: []Rewrite{{Kind: "ElastiCacheCluster", Field: "engineVersion", What: "the last number of a version of Memcached is left out", isRecorded: true,
			ops: []string{"DescribeCacheClusters"}, text: func(body string) string { return memcachedVersion.ReplaceAllString(body, "$1</EngineVersion>") }}},
	}
}

const bySLR = "the service's own role does it"

func (s *elasticacheService) Corrections() []Correction {
	return []Correction{
		{Name: "requests about cache clusters", Ops: []string{"CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster"}, Before: s.prepareCacheCluster},
		{Name: "cache clusters", Ops: []string{"CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster", "DescribeCacheClusters"}, After: s.showCacheCluster},
		{Name: "tags of cache clusters", Ops: []string{"ListTagsForResource", "AddTagsToResource", "RemoveTagsFromResource"}, Before: s.refuseCacheTags},
	}
}

func (s *elasticacheService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches, s.cachesTake, s.cacheVersionParts = map[string]*cacheCluster{}, 0, 0
}

// cacheCluster holds what ElastiCache knows of a cache cluster and moto does not: it has no ModifyCacheCluster, leaves most members
// out of its descriptions, and its clusters are never gone. The members of form are those of CreateCacheCluster.
type cacheCluster struct {
	form             url.Values
	made, busy, gone time.Time // when it was made, until when it is being changed, and when it is gone
	change           string    // its state until busy
	broken           string    // its state for good
}

// SetCacheClustersTake lets cache clusters be creating, modifying and deleting for so long after each request.
func (s *elasticacheService) SetCacheClustersTake(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cachesTake = d
}

// SetCacheVersionParts lets descriptions show only so many parts of a version, such as 1.6 of 1.6.22. Zero, the default, is all.
func (s *elasticacheService) SetCacheVersionParts(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cacheVersionParts = n
}

// BreakCacheClusters puts all cache clusters into a state that only a person can end. They can be deleted without a snapshot.
func (s *elasticacheService) BreakCacheClusters(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.caches {
		c.broken = state
	}
}

// cacheOf returns the cluster of a request and the time; nil where there is none.
func (s *elasticacheService) cacheOf(x *exchange) (*cacheCluster, time.Time) {
	now := s.now()
	c := s.caches[s.identity(x, "elasticache", x.resource)]
	if c == nil || !c.gone.IsZero() && !now.Before(c.gone) {
		return nil, now
	}
	return c, now
}

// status is the state that ElastiCache reports.
func (c *cacheCluster) status(now time.Time) string {
	if now.Before(c.busy) {
		return c.change
	}
	return cmp.Or(c.broken, "available")
}

// discards reports whether a request deletes a broken cluster without a snapshot.
func (c *cacheCluster) discards(x *exchange, now time.Time) bool {
	return x.op == "DeleteCacheCluster" && c.status(now) == c.broken && x.form.Get("FinalSnapshotIdentifier") == ""
}

// prepareCacheCluster refuses what ElastiCache refuses, and keeps moto's own list: moto has no ModifyCacheCluster and refuses to
// create a cluster of the name of a deleted one, so that it is asked for a description instead.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_ModifyCacheCluster.html
func (s *elasticacheService) prepareCacheCluster(ctx context.Context, x *exchange) *answer {
	s.mu.Lock()
	c, now := s.cacheOf(x)
	deleted := c == nil && s.caches[s.identity(x, "elasticache", x.resource)] != nil
	code, message := refusedCacheRequest(x, c, now)
	s.mu.Unlock()
	switch {
	case code == "CacheClusterNotFound":
		return errorAnswer(x.request, notFound(x.request))
	case code != "":
		return errorAnswer(x.request, awsError{http.StatusBadRequest, code, message})
	}
	if snapshot := x.form.Get("FinalSnapshotIdentifier"); snapshot != "" {
		if a := s.askElastiCache(ctx, x, url.Values{"Action": {"CreateSnapshot"}, "SnapshotName": {snapshot}, "CacheClusterId": {x.resource}}); !a.ok() {
			return a
		}
	}
	if x.op == "CreateCacheCluster" && deleted {
		if a := s.replaceCacheTags(ctx, x); !a.ok() {
			return a
		}
	}
	if x.op == "ModifyCacheCluster" || deleted {
		x.body = []byte(url.Values{"Action": {"DescribeCacheClusters"}, "Version": {"2015-02-02"}, "CacheClusterId": {x.resource}}.Encode())
	}
	return nil
}

// showCacheCluster carries out the request and describes the cluster as ElastiCache does.
func (s *elasticacheService) showCacheCluster(_ context.Context, x *exchange, a *answer) *answer {
	if !a.ok() || x.form.Get("CacheClusterId") == "" { // a list
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, now := s.cacheOf(x)
	switch x.op {
	case "CreateCacheCluster":
		c = &cacheCluster{form: maps.Clone(x.form), made: now, change: "creating", busy: now.Add(s.cachesTake)}
		s.caches[s.identity(x, "elasticache", x.resource)] = c
	case "ModifyCacheCluster":
		c.modify(x.form)
		c.change, c.busy = "modifying", now.Add(s.cachesTake)
	case "DeleteCacheCluster":
		c.change, c.busy, c.gone = "deleting", now.Add(s.cachesTake), now.Add(s.cachesTake)
	}
	if c == nil {
		return notFoundAnswer(x.request)
	}
	return a.withBody(cacheAnswer(x, "<ARN>"+s.cacheARN(x)+"</ARN>"+c.describe(now, x.region, s.cacheVersionParts)))
}

// refusedCacheRequest returns the code with which ElastiCache refuses a request; "" where it accepts it.
func refusedCacheRequest(x *exchange, c *cacheCluster, now time.Time) (code, message string) {
	creates, memcached := x.op == "CreateCacheCluster", x.form.Get("Engine") == "memcached"
	if c != nil {
		memcached = c.form.Get("Engine") == "memcached"
	}
	nodes, _ := strconv.Atoi(x.form.Get("NumCacheNodes"))
	switch {
	case creates && c != nil:
		return "CacheClusterAlreadyExists", "Cache cluster " + x.resource + " already exists."
	case !creates && c == nil:
		return "CacheClusterNotFound", ""
	case c != nil && c.status(now) != "available" && !c.discards(x, now):
		return "InvalidCacheClusterState", "Cache cluster " + x.resource + " is not in available state."
	case memcached && x.form.Get("FinalSnapshotIdentifier") != "":
		return "InvalidParameterCombination", "Final snapshots are not supported for Memcached."
	case memcached && (x.form.Get("SnapshotRetentionLimit") != "" || x.form.Get("SnapshotWindow") != ""):
		return "InvalidParameterCombination", "Snapshots are not supported for Memcached."
	case !memcached && (nodes > 1 || x.form.Get("AZMode") != "" || x.form.Get("TransitEncryptionEnabled") != ""):
		return "InvalidParameterCombination", "Redis clusters have one node, and neither AZMode nor encryption in transit."
	case x.op == "ModifyCacheCluster" && nodes > 0 && c.nodes()-nodes > len(listed(x.form, "CacheNodeIdsToRemove")):
		return "InvalidParameterCombination", "CacheNodeIdsToRemove must name each node to remove."
	case x.op == "ModifyCacheCluster" && x.form.Get("NotificationTopicStatus") == "active" && x.form.Get("NotificationTopicArn") == "":
		return "InvalidParameterCombination", "NotificationTopicArn is needed."
	default:
		return "", ""
	}
}

// askElastiCache calls an operation of ElastiCache.
func (s *elasticacheService) askElastiCache(ctx context.Context, x *exchange, form url.Values) *answer {
	a, err := s.askQuery(ctx, x, "elasticache", "2015-02-02", form)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return a
}

// replaceCacheTags gives a cluster the tags of its create instead of those of the deleted one of its name, which moto keeps.
func (s *elasticacheService) replaceCacheTags(ctx context.Context, x *exchange) *answer {
	s.mu.Lock()
	arn := s.cacheARN(x)
	s.mu.Unlock()
	old := s.askElastiCache(ctx, x, url.Values{"Action": {"ListTagsForResource"}, "ResourceName": {arn}})
	forget, tag := url.Values{"Action": {"RemoveTagsFromResource"}, "ResourceName": {arn}}, url.Values{"Action": {"AddTagsToResource"}, "ResourceName": {arn}}
	for i, key := range tagKey.FindAllSubmatch(old.body, -1) {
		forget.Set(fmt.Sprintf("TagKeys.member.%d", i+1), string(key[1]))
	}
	for key, values := range x.form {
		if strings.HasPrefix(key, "Tags.") {
			tag[key] = values
		}
	}
	if a := s.askElastiCache(ctx, x, forget); !a.ok() {
		return a
	}
	return s.askElastiCache(ctx, x, tag)
}

var tagKey = regexp.MustCompile(`<Key>([^<]*)</Key>`)

func (s *elasticacheService) cacheARN(x *exchange) string {
	return fmt.Sprintf("arn:%s:elasticache:%s:%s:cluster:%s", partitionOf(x.region), x.region, s.accountOf(x.accessKey), x.resource)
}

// listed returns the values of a list of a request, whose elements are named by their number.
func listed(form url.Values, name string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(form)) {
		if strings.HasPrefix(key, name+".") {
			out = append(out, form.Get(key))
		}
	}
	return out
}

func (c *cacheCluster) nodes() int {
	n, _ := strconv.Atoi(c.form.Get("NumCacheNodes"))
	return max(1, n)
}

// modify replaces what a request names.
func (c *cacheCluster) modify(form url.Values) {
	if len(listed(form, "SecurityGroupIds")) > 0 {
		maps.DeleteFunc(c.form, func(key string, _ []string) bool { return strings.HasPrefix(key, "SecurityGroupIds.") })
	}
	for key, values := range form {
		if !strings.HasPrefix(key, "CacheNodeIdsToRemove.") {
			c.form[key] = values
		}
	}
	if form.Get("NotificationTopicArn") != "" && form.Get("NotificationTopicStatus") == "" {
		c.form.Set("NotificationTopicStatus", "active")
	}
}

// describe returns the description of the cluster, without its ARN.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_CacheCluster.html
func (c *cacheCluster) describe(now time.Time, region string, versionParts int) string {
	var b strings.Builder
	member := func(name, value string) { fmt.Fprintf(&b, "<%[1]s>%[2]s</%[1]s>", name, escape(value)) }
	get := func(name, other string) string { return cmp.Or(c.form.Get(name), other) }
	memcached := c.form.Get("Engine") == "memcached"
	version, family, port := "7.1", "redis7", "6379"
	if memcached {
		version, family, port = "1.6.22", "memcached1.6", "11211"
	}
	version, port = get("EngineVersion", version), get("Port", port)
	if !memcached && strings.Count(version, ".") < 2 { // Redis is declared by two numbers, or by 6.x
		version = strings.TrimSuffix(version, ".x") + strings.Repeat(".0", 2-strings.Count(strings.TrimSuffix(version, ".x"), "."))
	}
	if parts := strings.Split(version, "."); versionParts > 0 && len(parts) > versionParts {
		version = strings.Join(parts[:versionParts], ".")
	}
	upgrades := get("AutoMinorVersionUpgrade", "true")
	if major, _, _ := strings.Cut(version, "."); memcached || major < "6" {
		upgrades = "true" // the setting is disabled
	}
	for _, m := range [][2]string{
		{"CacheClusterId", get("CacheClusterId", "")}, {"CacheClusterStatus", c.status(now)}, {"Engine", get("Engine", "redis")}, {"EngineVersion", version},
		{"CacheNodeType", get("CacheNodeType", "")}, {"NumCacheNodes", strconv.Itoa(c.nodes())}, {"PreferredMaintenanceWindow", get("PreferredMaintenanceWindow", "mon:03:00-mon:04:00")},
		{"AutoMinorVersionUpgrade", upgrades}, {"CacheSubnetGroupName", get("CacheSubnetGroupName", "default")},
		{"TransitEncryptionEnabled", get("TransitEncryptionEnabled", "false")}, {"PreferredAvailabilityZone", region + "a"},
	} {
		if m[0] == "PreferredAvailabilityZone" && get("AZMode", "") == "cross-az" {
			m[1] = "Multiple"
		}
		member(m[0], m[1])
	}
	if !memcached {
		member("SnapshotRetentionLimit", get("SnapshotRetentionLimit", "0"))
		member("SnapshotWindow", get("SnapshotWindow", "05:00-06:00"))
	}
	if topic := get("NotificationTopicArn", ""); topic != "" {
		fmt.Fprintf(&b, "<NotificationConfiguration><TopicArn>%s</TopicArn><TopicStatus>%s</TopicStatus></NotificationConfiguration>", escape(topic), get("NotificationTopicStatus", "active"))
	}
	fmt.Fprintf(&b, "<CacheParameterGroup><CacheParameterGroupName>%s</CacheParameterGroupName></CacheParameterGroup><SecurityGroups>", escape(get("CacheParameterGroupName", "default."+family)))
	for _, id := range listed(c.form, "SecurityGroupIds") {
		fmt.Fprintf(&b, "<member><SecurityGroupId>%s</SecurityGroupId><Status>active</Status></member>", escape(id))
	}
	b.WriteString("</SecurityGroups>")
	if c.status(now) != "creating" {
		c.describeNodes(&b, port)
	}
	return b.String()
}

// describeNodes writes what a cluster has once it is made.
func (c *cacheCluster) describeNodes(b *strings.Builder, port string) {
	id := c.form.Get("CacheClusterId")
	fmt.Fprintf(b, "<CacheClusterCreateTime>%s</CacheClusterCreateTime>", c.made.UTC().Format(time.RFC3339))
	if c.form.Get("Engine") == "memcached" {
		fmt.Fprintf(b, "<ConfigurationEndpoint><Address>%s.cfg.cache.amazonaws.com</Address><Port>%s</Port></ConfigurationEndpoint>", id, port)
	}
	b.WriteString("<CacheNodes>")
	for i := range c.nodes() {
		fmt.Fprintf(b, "<CacheNode><CacheNodeId>%04[1]d</CacheNodeId><CacheNodeStatus>available</CacheNodeStatus><Endpoint><Address>%[2]s.%04[1]d.cache.amazonaws.com</Address><Port>%[3]s</Port></Endpoint></CacheNode>", i+1, id, port)
	}
	b.WriteString("</CacheNodes>")
}

// cacheAnswer returns the answer of an operation that describes one cluster.
func cacheAnswer(x *exchange, described string) []byte {
	element := "<CacheCluster>" + described + "</CacheCluster>"
	if x.op == "DescribeCacheClusters" {
		element = "<CacheClusters>" + element + "</CacheClusters>"
	}
	return fmt.Appendf(nil, `<%[1]sResponse xmlns="http://elasticache.amazonaws.com/doc/2015-02-02/"><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>`, x.op, element)
}

// refuseCacheTags: ElastiCache shows and changes no tags of a cluster that is not available.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_ListTagsForResource.html
func (s *elasticacheService) refuseCacheTags(_ context.Context, x *exchange) *answer {
	if !strings.Contains(x.form.Get("ResourceName"), ":cluster:") {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c, now := s.cacheOf(x); {
	case c == nil:
		return errorAnswer(x.request, notFound(x.request))
	case c.status(now) != "available":
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidCacheClusterState", "Cache cluster " + x.resource + " is not in available state."})
	}
	return nil
}

var memcachedVersion = regexp.MustCompile(`(<Engine>memcached</Engine><EngineVersion>[0-9]+\.[0-9]+)\.[0-9]+</EngineVersion>`)

var cacheElement = regexp.MustCompile(`(?s)<CacheCluster>.*?</CacheCluster>`)

// listCaches lists the cache clusters that moto does not keep as deleting.
func listCaches(ctx context.Context, l *lister) ([]string, error) {
	body, err := l.send(ctx, "elasticache", http.MethodPost, "application/x-www-form-urlencoded", "", []byte("Action=DescribeCacheClusters&Version=2015-02-02"))
	var names []string
	for _, element := range cacheElement.FindAll(body, -1) {
		if id := cacheID.FindSubmatch(element); id != nil && !bytes.Contains(element, []byte(">deleting<")) {
			names = append(names, string(id[1]))
		}
	}
	return names, err
}

var cacheID = regexp.MustCompile(`<CacheClusterId>([^<]*)</CacheClusterId>`)
