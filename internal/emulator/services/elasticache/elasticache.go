// SPDX-License-Identifier: Apache-2.0

// Package elasticache holds the emulator's facts and corrections for Amazon ElastiCache.
package elasticache

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

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service holds the cache clusters. moto knows little of them.
type Service struct {
	proxy.Base
	caches            map[string]*cacheCluster // by identity
	cachesTake        time.Duration            // how long they are creating, modifying and deleting
	cacheVersionParts int                      // how many parts of versions descriptions show, unless 0
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "elasticache",
		Requests: proxy.RequestFacts{Keys: []string{"CacheClusterId"}, ShortName: proxy.AfterColon},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{"": {Status: http.StatusNotFound, Code: "CacheClusterNotFound",
				Message: "CacheCluster not found: %s"}},
			Throttled: proxy.RateExceeded,
		},
		Writes: proxy.WriteFacts{TagReads: []proxy.TagRead{{Op: "ListTagsForResource", Where: "TagList"}}},
		Names: map[string]proxy.NameRule{"CreateCacheCluster": {Member: "CacheClusterId", Min: 1, Max: 50,
			Pattern: regexp.MustCompile(`^[A-Za-z](-?[A-Za-z0-9])*$`), Code: "InvalidParameterValue"}},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{
				"elasticache cluster:*":        {Members: []string{"CacheClusterId"}},
				"elasticache parametergroup:*": {Members: []string{"CacheParameterGroupName"}},
				"elasticache securitygroup:*":  {Members: []string{"CacheSecurityGroupNames.CacheSecurityGroupName.#"}},
				"elasticache snapshot:*":       {Members: []string{"FinalSnapshotIdentifier", "SnapshotName"}},
				"elasticache subnetgroup:*":    {Members: []string{"CacheSubnetGroupName"}},
			},
			Dependents: []proxy.Dependent{
				{Action: "elasticache:CreateCacheCluster", Needs: "elasticache:AddTagsToResource", With: proxy.WithTags,
					At: []string{"elasticache cluster:*"}},
				{Action: "elasticache:CreateCacheCluster", Needs: "ec2:CreateNetworkInterface", Never: bySLR},
				{Action: "elasticache:CreateCacheCluster", Needs: "ec2:DeleteNetworkInterface", Never: bySLR},
				{Action: "elasticache:CreateCacheCluster", Needs: "ec2:DescribeNetworkInterfaces"},
				{Action: "elasticache:CreateCacheCluster", Needs: "ec2:DescribeSubnets"},
				{Action: "elasticache:CreateCacheCluster", Needs: "ec2:DescribeVpcs"},
				{Action: "elasticache:CreateCacheCluster", Needs: "s3:GetObject", Never: "only from a snapshot file, for which there is no field"},
				{Action: "elasticache:DeleteCacheCluster", Needs: "ec2:CreateNetworkInterface", Never: bySLR},
				{Action: "elasticache:DeleteCacheCluster", Needs: "ec2:DeleteNetworkInterface", Never: bySLR},
				{Action: "elasticache:DeleteCacheCluster", Needs: "ec2:DescribeNetworkInterfaces"},
				{Action: "elasticache:DeleteCacheCluster", Needs: "ec2:DescribeSubnets"},
				{Action: "elasticache:DeleteCacheCluster", Needs: "ec2:DescribeVpcs"},
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "elasticache/cluster", Global: false, List: listCaches}},
		Rewrites: []proxy.Rewrite{{Kind: "ElastiCacheCluster", Field: "engineVersion",
			What: "the last number of a version of Memcached is left out", IsRecorded: true,
			Ops: []string{"DescribeCacheClusters"}, Text: func(body string) string {
				return memcachedVersion.ReplaceAllString(body,
					"$1</EngineVersion>")
			}}},
	}
}

const bySLR = "the service's own role does it"

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "requests about cache clusters",
			Ops: []string{"CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster"}, Before: s.prepareCacheCluster},
		{Name: "cache clusters",
			Ops: []string{"CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster", "DescribeCacheClusters"}, After: s.showCacheCluster},
		{Name: "tags of cache clusters",
			Ops: []string{"ListTagsForResource", "AddTagsToResource", "RemoveTagsFromResource"}, Before: s.refuseCacheTags},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Locked(func() { s.caches, s.cachesTake, s.cacheVersionParts = map[string]*cacheCluster{}, 0, 0 })
}

// cacheCluster holds the state of a cache cluster in ElastiCache that moto lacks: it has no ModifyCacheCluster, leaves most members out of
// its descriptions, and its clusters are never gone. The members of form are those of CreateCacheCluster.
type cacheCluster struct {
	form             url.Values
	made, busy, gone time.Time // when it was made, until when it is being changed, and when it is gone
	change           string    // its state until busy
	broken           string    // its state for good
}

// SetCacheClustersTake lets cache clusters be creating, modifying and deleting for so long after each request.
func (s *Service) SetCacheClustersTake(d time.Duration) { s.Locked(func() { s.cachesTake = d }) }

// SetCacheVersionParts lets descriptions show only so many parts of a version, such as 1.6 of 1.6.22. Zero, the default, is all.
func (s *Service) SetCacheVersionParts(n int) { s.Locked(func() { s.cacheVersionParts = n }) }

// BreakCacheClusters puts all cache clusters into a state that only a person can end. They can be deleted without a snapshot.
func (s *Service) BreakCacheClusters(state string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, c := range s.caches {
		c.broken = state
	}
}

// cacheOf returns the cluster of a request and the time; nil where there is none.
func (s *Service) cacheOf(x *proxy.Exchange) (*cacheCluster, time.Time) {
	now := s.Now()
	c := s.caches[s.Identity(x, "elasticache", x.Resource)]
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
func (c *cacheCluster) discards(x *proxy.Exchange, now time.Time) bool {
	return x.Op == "DeleteCacheCluster" && c.status(now) == c.broken && x.Form.Get("FinalSnapshotIdentifier") == ""
}

// prepareCacheCluster refuses the requests that ElastiCache refuses, and keeps moto's own list. moto has no ModifyCacheCluster and refuses
// to create a cluster with the name of a deleted one. The proxy asks it for a description instead.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_ModifyCacheCluster.html
func (s *Service) prepareCacheCluster(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	c, now := s.cacheOf(x)
	deleted := c == nil && s.caches[s.Identity(x, "elasticache", x.Resource)] != nil
	code, message := refusedCacheRequest(x, c, now)
	s.Mu.Unlock()
	switch {
	case code == "CacheClusterNotFound":
		return proxy.ErrorAnswer(x.Request, proxy.MissingError(x.Request))
	case code != "":
		return x.Refuse(http.StatusBadRequest, code, message)
	}
	if snapshot := x.Form.Get("FinalSnapshotIdentifier"); snapshot != "" {
		if a := s.askElastiCache(ctx, x, url.Values{"Action": {"CreateSnapshot"}, "SnapshotName": {snapshot},
			"CacheClusterId": {x.Resource}}); !a.OK() {
			return a
		}
	}
	if x.Op == "CreateCacheCluster" && deleted {
		if a := s.replaceCacheTags(ctx, x); !a.OK() {
			return a
		}
	}
	if x.Op == "ModifyCacheCluster" || deleted {
		x.Body = []byte(url.Values{"Action": {"DescribeCacheClusters"}, "Version": {"2015-02-02"}, "CacheClusterId": {x.Resource}}.Encode())
	}
	return nil
}

// showCacheCluster carries out the request and describes the cluster as ElastiCache does.
func (s *Service) showCacheCluster(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() || x.Form.Get("CacheClusterId") == "" { // a list
		return a
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c, now := s.cacheOf(x)
	switch x.Op {
	case "CreateCacheCluster":
		c = &cacheCluster{form: maps.Clone(x.Form), made: now, change: "creating", busy: now.Add(s.cachesTake)}
		s.caches[s.Identity(x, "elasticache", x.Resource)] = c
	case "ModifyCacheCluster":
		c.modify(x.Form)
		c.change, c.busy = "modifying", now.Add(s.cachesTake)
	case "DeleteCacheCluster":
		c.change, c.busy, c.gone = "deleting", now.Add(s.cachesTake), now.Add(s.cachesTake)
	}
	if c == nil {
		return proxy.NotFoundAnswer(x.Request)
	}
	return a.WithBody(cacheAnswer(x, "<ARN>"+s.cacheARN(x)+"</ARN>"+c.describe(now, x.Region, s.cacheVersionParts)))
}

// refusedCacheRequest returns the error code of ElastiCache for a request; "" if it accepts the request.
func refusedCacheRequest(x *proxy.Exchange, c *cacheCluster, now time.Time) (code, message string) {
	creates, memcached := x.Op == "CreateCacheCluster", x.Form.Get("Engine") == "memcached"
	if c != nil {
		memcached = c.form.Get("Engine") == "memcached"
	}
	nodes, _ := strconv.Atoi(x.Form.Get("NumCacheNodes"))
	switch {
	case creates && c != nil:
		return "CacheClusterAlreadyExists", "Cache cluster " + x.Resource + " already exists."
	case !creates && c == nil:
		return "CacheClusterNotFound", ""
	case c != nil && c.status(now) != "available" && !c.discards(x, now):
		return "InvalidCacheClusterState", "Cache cluster " + x.Resource + " is not in available state."
	case memcached && x.Form.Get("FinalSnapshotIdentifier") != "":
		return "InvalidParameterCombination", "Final snapshots are not supported for Memcached."
	case memcached && (x.Form.Get("SnapshotRetentionLimit") != "" || x.Form.Get("SnapshotWindow") != ""):
		return "InvalidParameterCombination", "Snapshots are not supported for Memcached."
	case !memcached && (nodes > 1 || x.Form.Get("AZMode") != "" || x.Form.Get("TransitEncryptionEnabled") != ""):
		return "InvalidParameterCombination", "Redis clusters have one node, and neither AZMode nor encryption in transit."
	case x.Op == "ModifyCacheCluster" && nodes > 0 && c.nodes()-nodes > len(listed(x.Form, "CacheNodeIdsToRemove")):
		return "InvalidParameterCombination", "CacheNodeIdsToRemove must name each node to remove."
	case x.Op == "ModifyCacheCluster" && x.Form.Get("NotificationTopicStatus") == "active" && x.Form.Get("NotificationTopicArn") == "":
		return "InvalidParameterCombination", "NotificationTopicArn is needed."
	default:
		return "", ""
	}
}

// askElastiCache calls an operation of ElastiCache.
func (s *Service) askElastiCache(ctx context.Context, x *proxy.Exchange, form url.Values) *proxy.Answer {
	a, err := s.AskQuery(ctx, x, "elasticache", "2015-02-02", form)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return a
}

// replaceCacheTags gives a cluster the tags of its create instead of those of the deleted one of its name, which moto keeps.
func (s *Service) replaceCacheTags(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	arn := s.cacheARN(x)
	s.Mu.Unlock()
	old := s.askElastiCache(ctx, x, url.Values{"Action": {"ListTagsForResource"}, "ResourceName": {arn}})
	forget, tag := url.Values{"Action": {"RemoveTagsFromResource"}, "ResourceName": {arn}}, url.Values{"Action": {"AddTagsToResource"},
		"ResourceName": {arn}}
	for i, key := range tagKey.FindAllSubmatch(old.Body, -1) {
		forget.Set(fmt.Sprintf("TagKeys.member.%d", i+1), string(key[1]))
	}
	for key, values := range x.Form {
		if strings.HasPrefix(key, "Tags.") {
			tag[key] = values
		}
	}
	if a := s.askElastiCache(ctx, x, forget); !a.OK() {
		return a
	}
	return s.askElastiCache(ctx, x, tag)
}

var tagKey = regexp.MustCompile(`<Key>([^<]*)</Key>`)

func (s *Service) cacheARN(x *proxy.Exchange) string {
	return fmt.Sprintf("arn:%s:elasticache:%s:%s:cluster:%s", proxy.PartitionOf(x.Region), x.Region, s.AccountOf(x.AccessKey), x.Resource)
}

// listed returns the values of a list of a request. Its elements are named by their number.
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

// modify replaces the settings that a request names.
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
	member := func(name, value string) { fmt.Fprintf(&b, "<%[1]s>%[2]s</%[1]s>", name, proxy.Escape(value)) }
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
		{"CacheClusterId", get("CacheClusterId", "")}, {"CacheClusterStatus", c.status(now)}, {"Engine",
			get("Engine", "redis")}, {"EngineVersion", version},
		{"CacheNodeType", get("CacheNodeType", "")}, {"NumCacheNodes", strconv.Itoa(c.nodes())}, {"PreferredMaintenanceWindow",
			get("PreferredMaintenanceWindow", "mon:03:00-mon:04:00")},
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
		fmt.Fprintf(&b, "<NotificationConfiguration><TopicArn>%s</TopicArn><TopicStatus>%s</TopicStatus></NotificationConfiguration>",
			proxy.Escape(topic), get("NotificationTopicStatus", "active"))
	}
	fmt.Fprintf(&b, "<CacheParameterGroup><CacheParameterGroupName>%s</CacheParameterGroupName></CacheParameterGroup><SecurityGroups>",
		proxy.Escape(get("CacheParameterGroupName", "default."+family)))
	for _, id := range listed(c.form, "SecurityGroupIds") {
		fmt.Fprintf(&b, "<member><SecurityGroupId>%s</SecurityGroupId><Status>active</Status></member>", proxy.Escape(id))
	}
	b.WriteString("</SecurityGroups>")
	if c.status(now) != "creating" {
		c.describeNodes(&b, port)
	}
	return b.String()
}

// describeNodes writes the members that a cluster has once it is created.
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
func cacheAnswer(x *proxy.Exchange, described string) []byte {
	element := "<CacheCluster>" + described + "</CacheCluster>"
	if x.Op == "DescribeCacheClusters" {
		element = "<CacheClusters>" + element + "</CacheClusters>"
	}
	return fmt.Appendf(nil, `<%[1]sResponse xmlns="http://elasticache.amazonaws.com/doc/2015-02-02/"><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>`, x.Op, element)
}

// refuseCacheTags: ElastiCache shows and changes no tags of a cluster that is not available.
// https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_ListTagsForResource.html
func (s *Service) refuseCacheTags(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	if !strings.Contains(x.Form.Get("ResourceName"), ":cluster:") {
		return nil
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	switch c, now := s.cacheOf(x); {
	case c == nil:
		return proxy.ErrorAnswer(x.Request, proxy.MissingError(x.Request))
	case c.status(now) != "available":
		return x.Refuse(http.StatusBadRequest, "InvalidCacheClusterState", "Cache cluster "+x.Resource+" is not in available state.")
	}
	return nil
}

var memcachedVersion = regexp.MustCompile(`(<Engine>memcached</Engine><EngineVersion>[0-9]+\.[0-9]+)\.[0-9]+</EngineVersion>`)

var cacheElement = regexp.MustCompile(`(?s)<CacheCluster>.*?</CacheCluster>`)

// listCaches lists the cache clusters that moto does not keep as deleting.
func listCaches(ctx context.Context, l *proxy.Lister) ([]string, error) {
	body, err := l.Send(ctx, "elasticache", http.MethodPost, "application/x-www-form-urlencoded", "",
		[]byte("Action=DescribeCacheClusters&Version=2015-02-02"))
	var names []string
	for _, element := range cacheElement.FindAll(body, -1) {
		if id := cacheID.FindSubmatch(element); id != nil && !bytes.Contains(element, []byte(">deleting<")) {
			names = append(names, string(id[1]))
		}
	}
	return names, err
}

var cacheID = regexp.MustCompile(`<CacheClusterId>([^<]*)</CacheClusterId>`)
