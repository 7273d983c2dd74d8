// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// tableNames returns the names of a request; each part of a transaction has one.
func (q *asker) tableNames() []string {
	names := tableNames(q.x.json)
	if strings.HasPrefix(q.x.op, "Transact") {
		parts, _ := q.x.json["TransactItems"].([]any)
		for _, part := range parts {
			for _, details := range part.(map[string]any) {
				names = append(names, text(member(details.(map[string]any), "TableName")))
			}
		}
	}
	if q.x.json["IndexName"] != nil {
		return nil // the right to the index suffices
	}
	return append(names, q.values("TableName")...)
}

// actionOfParts is the action of the last part of a transaction, which is no action itself.
func actionOfParts(body map[string]any) (action string) {
	parts, _ := body["TransactItems"].([]any)
	for _, part := range parts {
		for op := range part.(map[string]any) {
			action = "dynamodb:" + map[string]string{"ConditionCheck": "ConditionCheckItem", "Put": "PutItem", "Delete": "DeleteItem", "Update": "UpdateItem", "Get": "GetItem"}[op]
		}
	}
	return action
}

func (q *asker) indexNames() []string {
	if index := text(q.x.json["IndexName"]); index != "" {
		return []string{shortName(text(q.x.json["TableName"])) + "/index/" + index}
	}
	return nil
}

// instances returns the instances that the request names, or whose association with a profile it names.
func (q *asker) instances() []string {
	if id := q.x.form.Get("AssociationId"); id != "" && strings.Contains(q.x.op, "Profile") {
		return q.described("DescribeIamInstanceProfileAssociations", url.Values{"AssociationId.1": {id}}, "instanceId")
	}
	return q.values("InstanceId", "InstanceId.#")
}

// routeTable returns what a request names, and of an association with a route table what the association is between.
func (q *asker) routeTable(field, shown string) []string {
	if id := q.x.form.Get("AssociationId"); id != "" && q.x.op == "DisassociateRouteTable" {
		filter := url.Values{"Filter.1.Name": {"association.route-table-association-id"}, "Filter.1.Value.1": {id}}
		return q.described("DescribeRouteTables", filter, shown)
	}
	return q.values(field, "NetworkInterface.#."+field)
}

// described asks EC2, and returns the first value of an element.
func (q *asker) described(op string, form url.Values, element string) []string {
	body, err := q.query("ec2", op, "2016-11-15", form)
	if err != nil {
		return nil
	}
	for _, m := range regexp.MustCompile(`<`+element+`>([^<]+)</`+element+`>`).FindAllSubmatch(body, 1) {
		return []string{string(m[1])}
	}
	return nil
}

// query asks by the query protocol in the place of the caller.
func (q *asker) query(service, op, version string, form url.Values) ([]byte, error) {
	form.Set("Action", op)
	form.Set("Version", version)
	return q.inside().send(q.ctx, service, http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
}

// controlPlanes are clusters of EKS. A request about an association names the cluster in its path, too.
func (q *asker) controlPlanes() []string {
	if rest, ok := strings.CutPrefix(q.x.http.URL.Path, "/clusters/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		return []string{name}
	}
	return q.values("name")
}

// associations returns the associations of EKS Pod Identity, by cluster and identifier.
func (q *asker) associations() []string {
	parts := strings.Split(strings.Trim(q.x.http.URL.Path, "/"), "/")
	if len(parts) < 3 || parts[2] != "pod-identity-associations" {
		return nil
	}
	if len(parts) == 3 {
		return []string{parts[1] + "/*"}
	}
	return []string{parts[1] + "/" + parts[3]}
}

// accessEntries returns the entries of EKS, by cluster and principal. AWS chooses the last part of their ARNs.
func (q *asker) accessEntries() []string {
	cluster, _, principal, _ := accessPath(q.x.http)
	parts := strings.SplitN(principal, ":", 6)
	if len(parts) < 6 {
		return nil
	}
	kind, name, _ := strings.Cut(parts[5], "/")
	return []string{strings.Join([]string{cluster, kind, parts[4], name[strings.LastIndexByte(name, '/')+1:], "*"}, "/")}
}

// subscriptionRole is the role that a request gives to a subscription of SNS.
func (q *asker) subscriptionRole() string {
	const name = "SubscriptionRoleArn"
	form := q.x.form
	if form.Get("AttributeName") == name {
		return form.Get("AttributeValue")
	}
	for key, values := range form {
		if sameMember("Attributes.entry.#.key", key) && values[0] == name {
			return form.Get(strings.TrimSuffix(key, "key") + "value")
		}
	}
	return ""
}

func (q *asker) crawlers() []string {
	if strings.Contains(q.x.op, "Crawler") {
		return q.values("Name", "CrawlerName")
	}
	return nil
}

func (q *asker) databases() []string {
	if strings.Contains(q.x.op, "Crawler") || q.x.json["ResourceArn"] != nil {
		return nil
	}
	database, _, _ := strings.Cut(q.x.resource, "/")
	return []string{database}
}

// catalogTables returns the tables that the request names, or all of its database.
func (q *asker) catalogTables() []string {
	database, table, ok := strings.Cut(q.x.resource, "/")
	switch {
	case q.x.op == "GetTables":
		return nil
	case !ok:
		table = "*"
	}
	return []string{database + "/" + table}
}

// profiles are instance profiles of IAM with their paths.
func (q *asker) profiles() []string {
	return q.inIAM("InstanceProfileName", "GetInstanceProfile", ":instance-profile/")
}

func (q *asker) roles() []string {
	if strings.HasSuffix(q.x.op, "InstanceProfile") && q.x.op != "AddRoleToInstanceProfile" {
		return nil
	}
	return append(q.inIAM("RoleName", "GetRole", ":role/"), q.values("RoleArn")...)
}

// inIAM returns the name in a member with the path that the request gives it or that it has.
func (q *asker) inIAM(field, op, before string) []string {
	name := q.x.form.Get(field)
	path := strings.Trim(q.x.form.Get("Path"), "/")
	switch {
	case name == "":
		return nil
	case path != "":
		return []string{path + "/" + name}
	case isNew(q.x.op):
		return []string{name}
	}
	return []string{q.withPath(name, field, op, before)}
}

var arnElement = regexp.MustCompile(`<Arn>([^<]+)</Arn>`)

// withPath is the name of something in IAM with its path, if it exists. It is asked of the emulator itself: IAM decides at once.
func (q *asker) withPath(name, field, op, before string) string {
	form := url.Values{"Action": {op}, "Version": {"2010-05-08"}, field: {name}}
	body, err := q.p.lister(q.x.accessKey, q.x.region).send(q.ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
	if err != nil {
		return name
	}
	for _, m := range arnElement.FindAllSubmatch(body, -1) {
		if _, whole, ok := strings.Cut(string(m[1]), before); ok {
			return whole
		}
	}
	return name
}

// roleARN is that of a role by its name or its ARN.
func (q *asker) roleARN(role string) string {
	if role == "" || strings.HasPrefix(role, "arn:") {
		return role
	}
	return "arn:" + q.partition() + ":iam::" + q.account() + ":role/" + q.withPath(role, "RoleName", "GetRole", ":role/")
}

// roleOfProfile is the ARN of the role in an instance profile, by its name or ARN.
func (q *asker) roleOfProfile(profile string) string {
	name := profile[strings.LastIndexByte(profile, '/')+1:]
	_, whole, _ := strings.Cut(q.withPath(name, "InstanceProfileName", "GetInstanceProfile", ":role"), "/")
	return "arn:" + q.partition() + ":iam::" + q.account() + ":role/" + cmp.Or(whole, "none")
}

// keys of KMS are named by identifier, ARN or alias. DeleteAlias names none.
func (q *asker) keys() []string {
	if alias := text(q.x.json["AliasName"]); q.x.op == "DeleteAlias" {
		return []string{text(q.found("TrentService.DescribeKey", map[string]any{"KeyId": alias}, "KeyMetadata.Arn"))}
	}
	return q.values("KeyId", "TargetKeyId")
}

func (q *asker) zones() []string {
	parts := strings.Split(strings.Trim(q.x.http.URL.Path, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "hostedzone" {
			return []string{parts[i+1]}
		}
	}
	if q.x.op == "ListTagsForResources" {
		return allMatches(resourceIDs, q.x.body)
	}
	return nil
}

func (q *asker) buckets() []string {
	return []string{cmp.Or(q.x.bucket, q.x.resource)} // of the control API: the resource
}

const describeSecret = "secretsmanager.DescribeSecret"

// secretARN is that of the secret which exists, or will, under the name.
func (q *asker) secretARN() string {
	id := cmp.Or(text(q.x.json["SecretId"]), text(q.x.json["Name"]))
	if strings.HasPrefix(id, "arn:") {
		return id
	}
	return cmp.Or(text(q.found(describeSecret, map[string]any{"SecretId": id}, "ARN")), q.regional("secret:"+id+"-AbCdEf"))
}
