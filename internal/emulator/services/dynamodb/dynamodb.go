// SPDX-License-Identifier: Apache-2.0

// Package dynamodb holds the emulator's facts and corrections for Amazon DynamoDB.
package dynamodb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of tables that moto lacks.
type Service struct {
	proxy.Base
	creating time.Duration // how long tables are CREATING
	tables   tables
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "dynamodb",
		Requests: proxy.RequestFacts{Targets: []string{"DynamoDB_20120810"}, Keys: []string{"TableName"},
			Resource: func(op string, body map[string]any) (string, bool) {
				return strings.Join(tableNames(body), ","), strings.HasPrefix(op, "Batch") || strings.HasPrefix(op, "Transact")
			}},
		Errors: proxy.ErrorFacts{Missing: map[string]proxy.Error{"DescribeContinuousBackups": {Status: http.StatusBadRequest,
			Code: "TableNotFoundException", Message: "Table not found: %s"}}},
		Writes: proxy.WriteFacts{
			Data: []string{"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchWriteItem", "BatchGetItem",
				"TransactWriteItems", "TransactGetItems"},
			TagReads: []proxy.TagRead{{Op: "ListTagsOfResource", Where: "Tags"}},
		},
		Names: map[string]proxy.NameRule{"CreateTable": {Member: "TableName", Min: 3, Max: 255, Pattern: regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`),
			Code: proxy.Validation}},
		Rights: proxy.RightFacts{
			Evaluated: func(q *proxy.Asker) string {
				if strings.HasPrefix(q.X.Op, "Transact") {
					return actionOfParts(q.X.JSON)
				}
				return ""
			},
			Namings: map[string]proxy.Naming{"dynamodb table/*": {Names: namedTables}, "dynamodb table/*/index/*": {Names: namedIndexes}},
			NotNamed: map[string]string{
				"dynamodb:GetResourcePolicy dynamodb table/*/stream/*": "the request names the ARN of a table or of a stream; imports read the policies of tables",
			},
			Dependents: []proxy.Dependent{
				proxy.Tagging("dynamodb:CreateTable", "dynamodb:TagResource", "dynamodb table/*"),
				{Action: "dynamodb:*", Needs: kms.Rights, On: keyOfTable, Page: proxy.UsersOfKeys},
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "dynamodb/table", Global: false,
			List: proxy.ListJSON("dynamodb", "DynamoDB_20120810.ListTables", "TableNames", "")}},
		Pages: [2]string{"ExclusiveStartTableName", "LastEvaluatedTableName"},
		Rewrites: []proxy.Rewrite{
			{Kind: "DynamoDBTable", Field: "globalSecondaryIndexes.nonKeyAttributes", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeTable"}, Members: reverseProjections("GlobalSecondaryIndexes")},
			{Kind: "DynamoDBTable", Field: "localSecondaryIndexes.nonKeyAttributes", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeTable"}, Members: reverseProjections("LocalSecondaryIndexes")},
		},
		Unset: map[string]string{
			"DescribeContributorInsights":         `{"ContributorInsightsStatus": "DISABLED"}`,
			"DescribeKinesisStreamingDestination": `{"KinesisDataStreamDestinations": []}`,
		},
		Events: proxy.EventFacts{Data: []string{"PutItem", "UpdateItem", "DeleteItem"}},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "tables take their time: changes", Before: s.tableNotReady},
		{Name: "tables take their time: states", Ops: []string{"CreateTable", "DescribeTable"}, After: s.showCreating},
		{Name: "changes of tables that DynamoDB refuses, and streams", Ops: []string{"CreateTable", "UpdateTable"}, Before: s.checkTableUpdate},
		{Name: "one tag of each key", Ops: []string{"TagResource"}, Before: s.dropReplacedTags},
		{Name: "encryption, classes, limits, streams and indexes of tables",
			Ops: []string{"CreateTable", "UpdateTable", "DeleteTable", "DescribeTable"}, After: s.finishTable},
	}
}

// Reset forgets the state.
func (s *Service) Reset() {
	s.Locked(func() { s.creating, s.tables = 0, tables{known: map[string]*tableExtras{}} })
}

// tables holds the parts of requests about tables that moto ignores or cannot keep.
type tables struct {
	known map[string]*tableExtras // by identity
	take  time.Duration           // how long an index is created and deleted
}

type tableExtras struct {
	encryption map[string]any // as the last UpdateTable requested
	class      string
	stream     map[string]any
	streamARN  string
	limits     map[string]map[string]any // on demand, by index; "" is the table
	index      indexChange
}

// indexChange is the last creation or deletion of a global index. DynamoDB makes one at a time.
type indexChange struct {
	name    string
	deleted map[string]any // the description of a deleted one
	at      time.Time
}

// SetIndexesTake lets global indexes be created and deleted for so long: a new one is allocated in the first half of that time,
// while its table is UPDATING, and filled in the second.
func (s *Service) SetIndexesTake(d time.Duration) { s.Locked(func() { s.tables.take = d }) }

// extrasOf returns the extra state of the table of a request; the caller holds the lock.
func (s *Service) extrasOf(x *proxy.Exchange) *tableExtras {
	id := s.Identity(x, x.Service, x.Resource)
	if s.tables.known[id] == nil || x.Op == "CreateTable" || x.Op == "DeleteTable" {
		s.tables.known[id] = &tableExtras{limits: map[string]map[string]any{}}
	}
	return s.tables.known[id]
}

// phase returns the states of the table and of the index that changes; "" for neither.
func (s *Service) phase(e *tableExtras) (table, index string) {
	age := s.Now().Sub(e.index.at)
	switch {
	case e.index.name == "" || age >= s.tables.take:
		return "", ""
	case e.index.deleted != nil:
		return "UPDATING", "DELETING"
	case age >= s.tables.take/2:
		return "ACTIVE", "CREATING"
	default:
		return "UPDATING", "CREATING"
	}
}

// checkTableUpdate refuses the updates that DynamoDB refuses, and hides streams from moto. moto starts only one stream for each table.
func (s *Service) checkTableUpdate(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if x.Op == "UpdateTable" {
		_, got, err := s.AskJSON(ctx, x, "DescribeTable", map[string]any{"TableName": x.JSON["TableName"]})
		table, _ := got["Table"].(map[string]any)
		if err != nil || table == nil {
			return nil
		}
		x.Before = table
		if code, why := s.refuseTableUpdate(x); why != "" {
			return x.Refuse(http.StatusBadRequest, code, why)
		}
	}
	if _, named := x.JSON["StreamSpecification"]; named {
		without := map[string]any{}
		for name, value := range x.JSON {
			if name != "StreamSpecification" {
				without[name] = value
			}
		}
		x.Body, _ = json.Marshal(without)
	}
	return nil
}

// tableBefore is the table that a request is about as it was before.
func tableBefore(x *proxy.Exchange) map[string]any {
	table, _ := x.Before.(map[string]any)
	return table
}

// refuseTableUpdate: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html
func (s *Service) refuseTableUpdate(x *proxy.Exchange) (code, why string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	e := s.extrasOf(x)
	changes := indexChanges(x)
	phase, _ := s.phase(e)
	switch {
	case phase == "UPDATING":
		return "ResourceInUseException", "Attempt to change a resource which is still in use: Table is being updated: " + x.Resource
	case len(changes) > 1 || phase != "" && len(changes) > 0:
		return "LimitExceededException", "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
	}
	if on, named := proxy.Member(x.JSON, "StreamSpecification.StreamEnabled").(bool); named && on == (e.stream != nil) {
		if on {
			return invalidTable, "Table already has an enabled stream: TableName: " + x.Resource
		}
		return invalidTable, "Table has no stream to disable: TableName: " + x.Resource
	}
	if len(changes) > 0 && changes[0]["Delete"] != nil &&
		globalIndex(tableBefore(x), proxy.Text(proxy.Member(changes[0], "Delete.IndexName"))) == nil {
		return "ResourceNotFoundException", "Requested resource not found"
	}
	return invalidTable, cmp.Or(wrongDefinitions(x, changes), wrongCapacity(x))
}

const invalidTable = "ValidationException"

// indexChanges are the creations and deletions of global indexes that a request asks for.
func indexChanges(x *proxy.Exchange) (out []map[string]any) {
	updates, _ := x.JSON["GlobalSecondaryIndexUpdates"].([]any)
	for _, u := range updates {
		if change, _ := u.(map[string]any); change["Create"] != nil || change["Delete"] != nil {
			out = append(out, change)
		}
	}
	return out
}

func described(table map[string]any, field, key, name string) map[string]any {
	list, _ := table[field].([]any)
	for _, e := range list {
		if m, _ := e.(map[string]any); proxy.Text(m[key]) == name {
			return m
		}
	}
	return nil
}

func globalIndex(table map[string]any, name string) map[string]any {
	return described(table, "GlobalSecondaryIndexes", "IndexName", name)
}

// wrongDefinitions: moto fails on an index that exists, and takes any definitions of attributes with a new one.
func wrongDefinitions(x *proxy.Exchange, changes []map[string]any) string {
	if len(changes) == 0 || changes[0]["Create"] == nil {
		return ""
	}
	if globalIndex(tableBefore(x), proxy.Text(proxy.Member(changes[0], "Create.IndexName"))) != nil {
		return "Attempting to create an index which already exists"
	}
	used := keyNames(tableBefore(x))
	for _, k := range schemaNames(changes[0]["Create"]) {
		used[k] = true
		if described(x.JSON, "AttributeDefinitions", "AttributeName", k) == nil {
			return "One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions: " + k
		}
	}
	definitions, _ := x.JSON["AttributeDefinitions"].([]any)
	for _, d := range definitions {
		if name := proxy.Text(proxy.Member(d.(map[string]any), "AttributeName")); !used[name] {
			return "One or more parameter values were invalid: Some AttributeDefinitions are not used: " + name
		}
	}
	return ""
}

// keyNames are the names of the attributes that are keys of the table or of an index.
func keyNames(table map[string]any) map[string]bool {
	names := map[string]bool{}
	for _, k := range schemaNames(table) {
		names[k] = true
	}
	for _, field := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		list, _ := table[field].([]any)
		for _, index := range list {
			for _, k := range schemaNames(index) {
				names[k] = true
			}
		}
	}
	return names
}

func schemaNames(of any) (names []string) {
	m, _ := of.(map[string]any)
	schema, _ := m["KeySchema"].([]any)
	for _, k := range schema {
		names = append(names, proxy.Text(proxy.Member(k.(map[string]any), "AttributeName")))
	}
	return names
}

// wrongCapacity: moto takes a capacity that does not change, and PROVISIONED without the capacity of an index.
func wrongCapacity(x *proxy.Exchange) string {
	switched := proxy.Text(x.JSON["BillingMode"]) != "" &&
		proxy.Text(x.JSON["BillingMode"]) != proxy.Text(proxy.Member(tableBefore(x), "BillingModeSummary.BillingMode"))
	if want, named := x.JSON["ProvisionedThroughput"].(map[string]any); named && !switched &&
		sameUnits(want, tableBefore(x)["ProvisionedThroughput"]) {
		return "The provisioned throughput for the table will not change. The requested value equals the current value."
	}
	given := map[string]any{}
	updates, _ := x.JSON["GlobalSecondaryIndexUpdates"].([]any)
	for _, u := range updates {
		change, _ := proxy.Member(u.(map[string]any), "Update").(map[string]any)
		name := proxy.Text(change["IndexName"])
		given[name] = change["ProvisionedThroughput"]
		if want, named := given[name].(map[string]any); named && !switched &&
			sameUnits(want, globalIndex(tableBefore(x), name)["ProvisionedThroughput"]) {
			return "The provisioned throughput for the index " + name + " will not change. The requested value equals the current value."
		}
	}
	indexes, _ := tableBefore(x)["GlobalSecondaryIndexes"].([]any)
	for _, index := range indexes {
		if name := proxy.Text(proxy.Member(index.(map[string]any), "IndexName")); switched &&
			proxy.Text(x.JSON["BillingMode"]) == "PROVISIONED" && given[name] == nil {
			return "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: " + name
		}
	}
	return ""
}

func sameUnits(want map[string]any, have any) bool {
	has, _ := have.(map[string]any)
	same := func(field string) bool { return fmt.Sprint(want[field]) == fmt.Sprint(has[field]) }
	return same("ReadCapacityUnits") && same("WriteCapacityUnits")
}

// finishTable keeps the members of a request that moto ignores, and shows them in the answer.
func (s *Service) finishTable(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	body, _ := proxy.DecodeJSON(a.Body).(map[string]any)
	if a.Status != http.StatusOK || body == nil {
		return a
	}
	s.Mu.Lock()
	e := s.extrasOf(x)
	if x.Op == "CreateTable" || x.Op == "UpdateTable" {
		s.keepTable(x, e)
	}
	for _, d := range body { // TableDescription or Table
		if table, ok := d.(map[string]any); ok && x.Op != "DeleteTable" {
			s.showTable(x, e, table)
		}
	}
	s.Mu.Unlock()
	if x.Op == "UpdateTable" {
		s.dropDefinitions(ctx, x)
	}
	return a.WithJSON(body)
}

// dropDefinitions: moto keeps the definitions of attributes that were keys of a deleted index only.
func (s *Service) dropDefinitions(ctx context.Context, x *proxy.Exchange) {
	changes := indexChanges(x)
	if len(changes) == 0 || changes[0]["Delete"] == nil {
		return
	}
	_, got, err := s.AskJSON(ctx, x, "DescribeTable", map[string]any{"TableName": x.JSON["TableName"]})
	table, _ := got["Table"].(map[string]any)
	if err != nil || table == nil {
		return
	}
	used, all := keyNames(table), table["AttributeDefinitions"].([]any)
	all = slices.DeleteFunc(all, func(d any) bool { return !used[proxy.Text(proxy.Member(d.(map[string]any), "AttributeName"))] })
	_, _, _ = s.AskJSON(ctx, x, "UpdateTable", map[string]any{"TableName": x.JSON["TableName"], "AttributeDefinitions": all})
}

// keepTable keeps the settings of a request; the caller holds the lock.
func (s *Service) keepTable(x *proxy.Exchange, e *tableExtras) {
	if encryption, ok := x.JSON["SSESpecification"].(map[string]any); ok && x.Op == "UpdateTable" {
		e.encryption = encryption
	}
	e.class = cmp.Or(proxy.Text(x.JSON["TableClass"]), e.class)
	if stream, ok := x.JSON["StreamSpecification"].(map[string]any); ok {
		e.stream = nil
		if on, _ := stream["StreamEnabled"].(bool); on {
			e.stream = stream
			e.streamARN = fmt.Sprintf("arn:%s:dynamodb:%s:%s:table/%s/stream/%s", proxy.PartitionOf(x.Region), x.Region, proxy.DefaultAccount,
				x.Resource, time.Now().UTC().Format("2006-01-02T15:04:05.000000"))
		}
	}
	e.keepLimits("", x.JSON)
	for _, list := range []string{"GlobalSecondaryIndexes", "GlobalSecondaryIndexUpdates"} {
		entries, _ := x.JSON[list].([]any)
		for _, entry := range entries {
			e.keepIndex(x, entry.(map[string]any), s.Now())
		}
	}
}

func (e *tableExtras) keepIndex(x *proxy.Exchange, entry map[string]any, now time.Time) {
	e.keepLimits(proxy.Text(entry["IndexName"]), entry)
	for _, action := range []string{"Create", "Update"} {
		if in, ok := entry[action].(map[string]any); ok {
			e.keepLimits(proxy.Text(in["IndexName"]), in)
		}
	}
	if name := proxy.Text(proxy.Member(entry, "Create.IndexName")); name != "" {
		e.index = indexChange{name: name, at: now}
	}
	if name := proxy.Text(proxy.Member(entry, "Delete.IndexName")); name != "" {
		delete(e.limits, name)
		e.index = indexChange{name: name, at: now, deleted: globalIndex(tableBefore(x), name)}
	}
}

// keepLimits: -1 removes a limit.
func (e *tableExtras) keepLimits(index string, in map[string]any) {
	limits, _ := in["OnDemandThroughput"].(map[string]any)
	for name, value := range limits {
		if e.limits[index] == nil {
			e.limits[index] = map[string]any{}
		}
		e.limits[index][name] = value
		if fmt.Sprint(value) == "-1" {
			delete(e.limits[index], name)
		}
	}
}

// showTable adds to a description the members that moto does not show; the caller holds the lock.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SSEDescription.html
func (s *Service) showTable(x *proxy.Exchange, e *tableExtras, table map[string]any) {
	if e.encryption != nil {
		delete(table, "SSEDescription")
		if enabled, _ := e.encryption["Enabled"].(bool); enabled {
			key := cmp.Or(proxy.Text(e.encryption["KMSMasterKeyId"]),
				fmt.Sprintf("arn:%s:kms:%s:%s:key/aws-dynamodb", proxy.PartitionOf(x.Region), x.Region, proxy.DefaultAccount))
			table["SSEDescription"] = map[string]any{"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}
		}
	}
	if e.class != "" {
		table["TableClassSummary"] = map[string]any{"TableClass": e.class}
	}
	if e.stream != nil {
		table["StreamSpecification"] = e.stream
	}
	if e.streamARN != "" { // also after the end of the stream
		table["LatestStreamArn"] = e.streamARN
	}
	if len(e.limits[""]) > 0 {
		table["OnDemandThroughput"] = e.limits[""]
	}
	s.showIndexes(e, table)
}

func (s *Service) showIndexes(e *tableExtras, table map[string]any) {
	status, index := s.phase(e)
	if status != "" {
		table["TableStatus"] = status
	}
	indexes, _ := table["GlobalSecondaryIndexes"].([]any)
	if index == "DELETING" {
		indexes = append(indexes, e.index.deleted)
	}
	for _, i := range indexes {
		d := i.(map[string]any)
		name := proxy.Text(d["IndexName"])
		if len(e.limits[name]) > 0 {
			d["OnDemandThroughput"] = e.limits[name]
		}
		if index != "" && name == e.index.name {
			d["IndexStatus"] = index
			d["Backfilling"] = index == "CREATING" && status == "ACTIVE"
		}
	}
	table["GlobalSecondaryIndexes"] = indexes
}

// dropReplacedTags removes the tags that a request sets: moto adds a second one of a key where AWS replaces the value, and its
// pages of tags, which begin after a key, then have no end.
func (s *Service) dropReplacedTags(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	tags, _ := x.JSON["Tags"].([]any)
	var keys []string
	for _, tag := range tags {
		t, _ := tag.(map[string]any)
		keys = append(keys, proxy.Text(t["Key"]))
	}
	// DynamoDB's own answer says why not
	_, _, _ = s.AskJSON(ctx, x, "UntagResource", map[string]any{"ResourceArn": x.JSON["ResourceArn"], "TagKeys": keys})
	return nil
}

// tableNotReady: a table that is being created refuses changes.
func (s *Service) tableNotReady(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	if !x.IsWrite() || x.Op == "CreateTable" || strings.HasPrefix(x.Op, "Tag") || !s.isCreating(x) {
		return nil
	}
	if x.Op == "UpdateContinuousBackups" {
		return x.Refuse(http.StatusBadRequest, "ContinuousBackupsUnavailableException",
			"Backups are being enabled for the table: "+x.Resource+". Please retry later")
	}
	return x.Refuse(http.StatusBadRequest, "ResourceInUseException",
		"Attempt to change a resource which is still in use: Table is being created: "+x.Resource)
}

// showCreating: moto's tables are ACTIVE at once.
func (s *Service) showCreating(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if a.Status == http.StatusOK && s.isCreating(x) {
		a.Body = bytes.Replace(a.Body, []byte(`"TableStatus": "ACTIVE"`), []byte(`"TableStatus": "CREATING"`), 1)
		// moto sends a checksum, which the client would compare.
		a.Header.Del("X-Amz-Crc32")
	}
	return a
}

func (s *Service) isCreating(x *proxy.Exchange) bool {
	s.Mu.Lock()
	d := s.creating
	s.Mu.Unlock()
	return s.CreatedWithin(x, d)
}

// SetTableCreating lets DynamoDB tables be CREATING for so long after their
// creation, during which changes to them are refused as AWS does. Zero ends it.
func (s *Service) SetTableCreating(d time.Duration) { s.Locked(func() { s.creating = d }) }

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

// namedTables returns the names of a request; each part of a transaction has one.
func namedTables(q *proxy.Asker) []string {
	names := tableNames(q.X.JSON)
	if strings.HasPrefix(q.X.Op, "Transact") {
		parts, _ := q.X.JSON["TransactItems"].([]any)
		for _, part := range parts {
			for _, details := range part.(map[string]any) {
				names = append(names, proxy.Text(proxy.Member(details.(map[string]any), "TableName")))
			}
		}
	}
	if q.X.JSON["IndexName"] != nil {
		return nil // the right to the index suffices
	}
	return append(names, q.Values("TableName")...)
}

// actionOfParts is the action of the last part of a transaction, which is no action itself.
func actionOfParts(body map[string]any) (action string) {
	parts, _ := body["TransactItems"].([]any)
	for _, part := range parts {
		for op := range part.(map[string]any) {
			action = "dynamodb:" + map[string]string{"ConditionCheck": "ConditionCheckItem", "Put": "PutItem", "Delete": "DeleteItem",
				"Update": "UpdateItem", "Get": "GetItem"}[op]
		}
	}
	return action
}

func namedIndexes(q *proxy.Asker) []string {
	if index := proxy.Text(q.X.JSON["IndexName"]); index != "" {
		return []string{q.X.ShortName(proxy.Text(q.X.JSON["TableName"])) + "/index/" + index}
	}
	return nil
}

// ofTableData are operations on the items of a table, which its key protects.
var ofTableData = []string{"BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"}

// keyOfTable returns the rights that the key of a table takes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func keyOfTable(q *proxy.Asker) []policy.Demand {
	name := q.X.ShortName(cmp.Or(proxy.Text(q.X.JSON["TableName"]), proxy.Text(q.X.JSON["ResourceArn"])))
	if key := proxy.Text(proxy.Member(q.X.JSON, "SSESpecification.KMSMasterKeyId")); key != "" {
		return kms.Through(q, "dynamodb", key, map[string]string{"kms:EncryptionContext:aws:dynamodb:tableName": name},
			"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo")
	}
	if !slices.Contains(ofTableData, q.X.Op) {
		return nil
	}
	var out []policy.Demand
	for _, table := range slices.Concat(tableNames(q.X.JSON), q.Values("TableName")) {
		table = q.X.ShortName(table)
		key := proxy.Text(q.Found("DynamoDB_20120810.DescribeTable", map[string]any{"TableName": table}, "Table.SSEDescription.KMSMasterKeyArn"))
		out = append(out, kms.Through(q, "dynamodb", key, map[string]string{"kms:EncryptionContext:aws:dynamodb:tableName": table},
			"kms:Decrypt")...)
	}
	return out
}

func reverseProjections(indexes string) func(body map[string]any) {
	return func(body map[string]any) {
		list, _ := proxy.Member(body, "Table."+indexes).([]any)
		for _, index := range list {
			projected, _ := index.(map[string]any)
			if attributes, _ := proxy.Member(projected, "Projection.NonKeyAttributes").([]any); attributes != nil {
				slices.Reverse(attributes)
			}
		}
	}
}
