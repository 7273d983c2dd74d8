// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// DefaultRegion is the region in which an inventory looks when no request has
// named another.
const DefaultRegion = "ap-southeast-1"

// Inventory lists what exists at the emulator, by kind: "s3/bucket",
// "dynamodb/table", "iam/role" and so on; kinds of which nothing exists are
// left out. It is not recorded and needs no rights. Without regions it looks in
// every one that the ledger has seen and in DefaultRegion; what lies outside
// the first region looked at is written region:name. Secrets in their recovery
// window are listed as "name (scheduled for deletion)".
//
// Two inventories that are equal mean that nothing was leaked between them.
func (p *Proxy) Inventory(ctx context.Context, regions ...string) (map[string][]string, error) {
	if len(regions) == 0 {
		regions = p.regions()
	}
	return p.InventoryOf(ctx, anyKey, regions...)
}

// InventoryOf is an inventory of the account in which an access key acts: of one that AssumeRole gave, another than Account.
func (p *Proxy) InventoryOf(ctx context.Context, accessKey string, regions ...string) (map[string][]string, error) {
	found, err := inventory(ctx, p.lister(accessKey, ""), regions)
	if names := p.state.associationNames(accessKey, regions); err == nil && len(names) > 0 {
		found["eks/pod-identity-association"] = names
	}
	return found, err
}

// InventoryAt is an inventory asked of an endpoint, as any client would.
func InventoryAt(ctx context.Context, url string, regions ...string) (map[string][]string, error) {
	if len(regions) == 0 {
		regions = []string{DefaultRegion}
	}
	return inventory(ctx, &lister{url: strings.TrimSuffix(url, "/"), key: anyKey, trip: (&Proxy{transport: newTransport()}).roundTrip}, regions)
}

// anyKey is an access key that moto does not know, and so one of its default account.
const anyKey = "inventory"

func inventory(ctx context.Context, l *lister, regions []string) (map[string][]string, error) {
	found := map[string][]string{}
	for i, region := range regions {
		for _, k := range inventoryKinds {
			if k.global && i > 0 {
				continue
			}
			l.region = region
			names, err := k.list(ctx, l)
			for again := 0; err != nil && again < 3; again++ { // what goes between two of its questions ends a list
				names, err = k.list(ctx, l)
			}
			if err != nil {
				return nil, fmt.Errorf("inventory of %s in %s: %w", k.name, region, err)
			}
			for _, name := range names {
				if i > 0 {
					name = region + ":" + name
				}
				found[k.name] = append(found[k.name], name)
			}
		}
	}
	for _, names := range found {
		slices.Sort(names)
	}
	return found, nil
}

func (p *Proxy) regions() []string {
	regions := []string{DefaultRegion}
	for _, c := range p.Calls() {
		if c.Region != "" && !slices.Contains(regions, c.Region) {
			regions = append(regions, c.Region)
		}
	}
	return regions
}

// inventoryKind lists one kind of resource.
type inventoryKind struct {
	name   string
	global bool
	list   func(context.Context, *lister) ([]string, error)
}

var inventoryKinds = []inventoryKind{
	{"s3/bucket", true, listBuckets},
	{"iam/role", true, listXML("iam", "ListRoles", "2010-05-08", "RoleName")},
	{"iam/policy", true, listXML("iam", "ListPolicies&Scope=Local", "2010-05-08", "PolicyName")},
	{"iam/instance-profile", true, listXML("iam", "ListInstanceProfiles", "2010-05-08", "InstanceProfileName")},
	{"iam/user", true, listXML("iam", "ListUsers", "2010-05-08", "UserName")},
	{"iam/oidc-provider", true, listXML("iam", "ListOpenIDConnectProviders", "2010-05-08", "Arn")},
	{"dynamodb/table", false, listJSON("dynamodb", "DynamoDB_20120810.ListTables", "TableNames", "")},
	{"glue/database", false, listJSON("glue", "AWSGlue.GetDatabases", "DatabaseList", "Name")},
	{"glue/table", false, listGlueTables},
	{"glue/crawler", false, listJSON("glue", "AWSGlue.GetCrawlers", "Crawlers", "Name")},
	{"ssm/parameter", false, listJSON("ssm", "AmazonSSM.DescribeParameters", "Parameters", "Name")},
	{"secretsmanager/secret", false, listSecrets},
	{"cognito-idp/pool", false, listJSON("cognito-idp", "AWSCognitoIdentityProviderService.ListUserPools", "UserPools", "Name")},
	{"sqs/queue", false, listJSON("sqs", "AmazonSQS.ListQueues", "QueueUrls", "")},
	{"sns/topic", false, listXML("sns", "ListTopics", "2010-03-31", "TopicArn")},
	{"rds/instance", false, listXML("rds", "DescribeDBInstances", "2014-10-31", "DBInstanceIdentifier")},
	{"rds/subnet-group", false, listXML("rds", "DescribeDBSubnetGroups", "2014-10-31", "DBSubnetGroupName")},
	{"elasticache/cluster", false, listCaches},
	{"ec2/key-pair", false, listXML("ec2", "DescribeKeyPairs", "2016-11-15", "keyName")},
	{"ec2/instance", false, listXML("ec2", "DescribeInstances&Filter.1.Name=instance-state-name&Filter.1.Value.1=pending&Filter.1.Value.2=running"+
		"&Filter.1.Value.3=stopping&Filter.1.Value.4=stopped", "2016-11-15", "instanceId")},
	{"ecr/repository", false, listJSON("ecr", "AmazonEC2ContainerRegistry_V20150921.DescribeRepositories", "repositories", "repositoryName")},
	{"ecs/cluster", false, listClusters},
	{"eks/cluster", false, listControlPlanes},
	{"lambda/function", false, listFunctions},
	{"kms/key", false, listKeys},
	{"route53/zone", true, listZones},
	{"route53/record", true, listRecords},
	{"acm/certificate", false, listJSON("acm", "CertificateManager.ListCertificates", "CertificateSummaryList", "CertificateArn")},
}

// lister asks an endpoint in one region, with an access key that stands for the account.
type lister struct {
	url    string
	key    string
	trip   func(*http.Request) (*answer, error)
	region string
}

// lister asks the emulator without being recorded and without rights.
func (p *Proxy) lister(accessKey, region string) *lister {
	return &lister{url: p.backend, key: accessKey, trip: p.roundTrip, region: region}
}

func (l *lister) send(ctx context.Context, service, method, contentType, target string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, l.url+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	return l.answerTo(r, service)
}

// get reads a path of a REST service.
func (l *lister) get(ctx context.Context, service, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+path, nil)
	if err != nil {
		return nil, err
	}
	return l.answerTo(r, service)
}

func (l *lister) answerTo(r *http.Request, service string) ([]byte, error) {
	r.Header.Set("Authorization", scope(l.key, l.region, service))
	a, err := l.trip(r)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("status %d: %.300s", a.status, a.body)
	}
	return a.body, nil
}

// pages are the names of the token in a request and in an answer.
var pages = map[string][2]string{"dynamodb": {"ExclusiveStartTableName", "LastEvaluatedTableName"}, "kms": {"Marker", "NextMarker"}}

func (l *lister) json(ctx context.Context, service, target string, request map[string]any) ([]map[string]any, error) {
	token, ok := pages[service]
	if !ok {
		token = [2]string{"NextToken", "NextToken"}
	}
	var all []map[string]any
	for {
		text, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		body, err := l.send(ctx, service, http.MethodPost, "application/x-amz-json-1.1", target, text)
		if err != nil {
			return nil, err
		}
		var page map[string]any
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, err
		}
		all = append(all, page)
		next, _ := page[token[1]].(string)
		if next == "" {
			return all, nil
		}
		request[token[0]] = next
	}
}

// listJSON lists the strings under a member, or a member of its objects.
func listJSON(service, target, list, key string) func(context.Context, *lister) ([]string, error) {
	return func(ctx context.Context, l *lister) ([]string, error) {
		request := map[string]any{}
		if service == "cognito-idp" {
			request["MaxResults"] = 60
		}
		pages, err := l.json(ctx, service, target, request)
		var names []string
		for _, page := range pages {
			items, _ := page[list].([]any)
			for _, item := range items {
				if key != "" {
					item, _ = item.(map[string]any)[key]
				}
				names = append(names, shortName(fmt.Sprint(item)))
			}
		}
		return names, err
	}
}

// listXML lists the texts of an element in the answer to a query request.
func listXML(service, action, version, element string) func(context.Context, *lister) ([]string, error) {
	pattern := regexp.MustCompile(`<` + element + `>([^<]*)</` + element + `>`)
	marker := regexp.MustCompile(`<(?:Marker|NextToken|nextToken)>([^<]+)</`)
	return func(ctx context.Context, l *lister) ([]string, error) {
		var names []string
		more := ""
		for {
			form := "Action=" + action + "&Version=" + version + more
			body, err := l.send(ctx, service, http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form))
			if err != nil {
				return nil, err
			}
			for _, m := range pattern.FindAllSubmatch(body, -1) {
				names = append(names, shortName(string(m[1])))
			}
			next := marker.FindSubmatch(body)
			if next == nil {
				return names, nil
			}
			more = "&Marker=" + url.QueryEscape(string(next[1])) + "&NextToken=" + url.QueryEscape(string(next[1]))
		}
	}
}

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

var bucketName = regexp.MustCompile(`<Name>([^<]*)</Name>`)

func listBuckets(ctx context.Context, l *lister) ([]string, error) {
	body, err := l.send(ctx, "s3", http.MethodGet, "", "", nil)
	var names []string
	for _, m := range bucketName.FindAllSubmatch(body, -1) {
		names = append(names, string(m[1]))
	}
	return names, err
}

func listGlueTables(ctx context.Context, l *lister) ([]string, error) {
	databases, err := listJSON("glue", "AWSGlue.GetDatabases", "DatabaseList", "Name")(ctx, l)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, database := range databases {
		pages, err := l.json(ctx, "glue", "AWSGlue.GetTables", map[string]any{"DatabaseName": database})
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			tables, _ := page["TableList"].([]any)
			for _, t := range tables {
				table, _ := t.(map[string]any)
				names = append(names, database+"/"+text(table["Name"]))
			}
		}
	}
	return names, nil
}

func listSecrets(ctx context.Context, l *lister) ([]string, error) {
	pages, err := l.json(ctx, "secretsmanager", "secretsmanager.ListSecrets", map[string]any{"IncludePlannedDeletion": true})
	var names []string
	for _, page := range pages {
		secrets, _ := page["SecretList"].([]any)
		for _, s := range secrets {
			secret, _ := s.(map[string]any)
			name := text(secret["Name"])
			if secret["DeletedDate"] != nil {
				name += " (scheduled for deletion)"
			}
			names = append(names, name)
		}
	}
	return names, err
}

// listKeys leaves out the keys that AWS itself keeps in the account (aws/s3 and
// the like), which come with the first use of a service and cannot be deleted.
// moto calls them CUSTOMER keys, but knows their aliases.
func listKeys(ctx context.Context, l *lister) ([]string, error) {
	ids, err := listJSON("kms", "TrentService.ListKeys", "Keys", "KeyId")(ctx, l)
	if err != nil {
		return nil, err
	}
	pages, err := l.json(ctx, "kms", "TrentService.ListAliases", map[string]any{})
	if err != nil {
		return nil, err
	}
	ofAWS := map[string]bool{}
	for _, page := range pages {
		aliases, _ := page["Aliases"].([]any)
		for _, a := range aliases {
			alias, _ := a.(map[string]any)
			if strings.HasPrefix(text(alias["AliasName"]), "alias/aws/") {
				ofAWS[text(alias["TargetKeyId"])] = true
			}
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return ofAWS[id] }), nil
}

// Diff compares two inventories and says what only the first or only the second
// has, one line each; "" if they are equal.
func Diff(before, after map[string][]string) string {
	var lines []string
	for _, kind := range inventoryKinds {
		for _, name := range before[kind.name] {
			if !slices.Contains(after[kind.name], name) {
				lines = append(lines, "- "+kind.name+" "+name)
			}
		}
		for _, name := range after[kind.name] {
			if !slices.Contains(before[kind.name], name) {
				lines = append(lines, "+ "+kind.name+" "+name)
			}
		}
	}
	return strings.Join(lines, "\n")
}
