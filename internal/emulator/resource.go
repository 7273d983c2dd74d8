// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// nameKeys are the members of a JSON request that name what it is about, the
// most telling first. A dot leads into a member.
var nameKeys = []string{
	"TableName", "DatabaseInput.Name", "CrawlerName", "SecretId", "QueueName", "QueueUrl", "UserPoolId", "PoolName",
	"Name", "Names", "LogGroupName", "logGroupName", "RepositoryName", "repositoryName", "repositoryNames", "FunctionName", "clusterName", "cluster", "clusters", "KeyId", "AliasName",
	"CertificateArn", "DomainName", "Domain", "ResourceArn", "ResourceARN", "resourceArn", "TopicArn", "ResourceId",
}

// jsonResource names what a JSON request is about.
func jsonResource(service, op string, body map[string]any) string {
	switch service {
	case "glue":
		if name := glueTable(body); name != "" {
			return name
		}
	case "dynamodb":
		if strings.HasPrefix(op, "Batch") || strings.HasPrefix(op, "Transact") {
			return strings.Join(tableNames(body), ",")
		}
	case "cloudformation":
		return controlledResource(op, body)
	}
	for _, key := range nameKeys {
		if name := text(member(body, key)); name != "" {
			return shortName(name)
		}
	}
	return ""
}

// controlledResource names what a request to Cloud Control is about: the type and the identifier, the type alone for a creation, or the
// request that is asked for.
func controlledResource(op string, body map[string]any) string {
	name, identifier := text(body["TypeName"]), text(body["Identifier"])
	switch {
	case op == "ListResources":
		return ""
	case name == "":
		return text(body["RequestToken"])
	case identifier == "":
		return name
	default:
		return name + "/" + identifier
	}
}

// glueTable gives database/table for requests about a table, else "".
func glueTable(body map[string]any) string {
	database := text(body["DatabaseName"])
	if database == "" {
		return ""
	}
	for _, key := range []string{"TableInput.Name", "TableName", "Name"} {
		if name := text(member(body, key)); name != "" {
			return database + "/" + name
		}
	}
	return database
}

func tableNames(body map[string]any) []string {
	var names []string
	if items, ok := body["RequestItems"].(map[string]any); ok {
		for name := range items {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func member(body map[string]any, path string) any {
	var v any = body
	for part := range strings.SplitSeq(path, ".") {
		switch t := v.(type) {
		case map[string]any:
			v = t[part]
		case []any: // part is a position
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

// text gives a string, or a list of strings joined by commas.
func text(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case []any:
		parts := make([]string, 0, len(t))
		for _, e := range t {
			parts = append(parts, fmt.Sprint(e))
		}
		return strings.Join(parts, ",")
	}
	return ""
}

// formKeys are the same for the query protocol; those not listed are found by
// their endings.
var formKeys = []string{
	"RoleName", "InstanceProfileName", "UserName", "GroupName", "PolicyName", "PolicyArn", "OpenIDConnectProviderArn",
	"RoleArn", "QueueName", "QueueUrl", "TopicArn", "SubscriptionArn", "DBInstanceIdentifier", "DBSubnetGroupName", "CacheClusterId", "ResourceName",
	"ResourceArn", "Name", "Url", "LoadBalancerArn", "TargetGroupArn", "InstanceId.1", "ResourceId.1", "RouteTableId",
}

func queryResource(form url.Values) string {
	for _, key := range formKeys {
		if v := form.Get(key); v != "" {
			return shortName(v)
		}
	}
	keys := make([]string, 0, len(form))
	for key := range form {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, ending := range []string{"Id", "Name", "Id.1", "Name.1"} {
		for _, key := range keys {
			if strings.HasSuffix(key, ending) && !strings.Contains(key, "Filter") && !strings.Contains(key, "Tag") {
				return shortName(form.Get(key))
			}
		}
	}
	return ""
}

// secretSuffix holds what Secrets Manager adds to a name to make the ARN.
var secretSuffix = regexp.MustCompile(`-[A-Za-z0-9]{6}$`)

// shortName gives the name within an ARN or a queue's URL, else the text itself.
func shortName(s string) string {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return s[strings.LastIndexByte(s, '/')+1:]
	}
	parts := strings.SplitN(s, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return s
	}
	name := parts[5]
	switch parts[2] {
	case "secretsmanager":
		return secretSuffix.ReplaceAllString(strings.TrimPrefix(name, "secret:"), "")
	case "ssm":
		return strings.TrimPrefix(name, "parameter")
	case "sns": // a subscription is a part of its topic
		name, _, _ = strings.Cut(name, ":")
		return name
	case "rds", "elasticache":
		return name[strings.LastIndexByte(name, ':')+1:]
	case "iam", "sts":
		if issuer, ok := strings.CutPrefix(name, "oidc-provider/"); ok {
			return issuer
		}
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	if _, rest, ok := strings.Cut(name, "/"); ok {
		return rest
	}
	return name
}
