// SPDX-License-Identifier: Apache-2.0

package emulator

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
)

// dynamodbService holds what moto does not know of tables.
type dynamodbService struct {
	base
	creating time.Duration // how long tables are CREATING
	tables   tables
}

func (s *dynamodbService) Facts() *Facts {
	return &Facts{
		Prefix: "dynamodb",
		Requests: RequestFacts{Targets: []string{"DynamoDB_20120810"}, Keys: []string{"TableName"}, Resource: func(op string, body map[string]any) (string, bool) {
			return strings.Join(tableNames(body), ","), strings.HasPrefix(op, "Batch") || strings.HasPrefix(op, "Transact")
		}},
		Errors: ErrorFacts{Missing: map[string]awsError{"DescribeContinuousBackups": {http.StatusBadRequest, "TableNotFoundException", "Table not found: %s"}}},
		Writes: WriteFacts{
			Data:     []string{"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchWriteItem", "BatchGetItem", "TransactWriteItems", "TransactGetItems"},
			TagReads: []tagRead{{op: "ListTagsOfResource", where: "Tags"}},
		},
		Names: map[string]nameRule{"CreateTable": {"TableName", 3, 255, regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`), validation}},
		Rights: RightFacts{
			Evaluated: func(q *asker) string {
				if strings.HasPrefix(q.x.op, "Transact") {
					return actionOfParts(q.x.json)
				}
				return ""
			},
			Namings: map[string]naming{"dynamodb table/*": {names: namedTables}, "dynamodb table/*/index/*": {names: namedIndexes}},
			NotNamed: map[string]string{
				"dynamodb:GetResourcePolicy dynamodb table/*/stream/*": "the request names the ARN of a table or of a stream; imports read the policies of tables",
			},
			Dependents: []dependent{
				tagging("dynamodb:CreateTable", "dynamodb:TagResource", "dynamodb table/*"),
				{action: "dynamodb:*", needs: "kms", on: keyOfTable, page: usersOfKeys},
			},
		},
		Inventory: []inventoryKind{{"dynamodb/table", false, listJSON("dynamodb", "DynamoDB_20120810.ListTables", "TableNames", "")}},
		Pages:     [2]string{"ExclusiveStartTableName", "LastEvaluatedTableName"},
		Rewrites: []Rewrite{
			{Kind: "DynamoDBTable", Field: "globalSecondaryIndexes.nonKeyAttributes", What: anyOrder, isRecorded: true, ops: []string{"DescribeTable"}, members: reverseProjections("GlobalSecondaryIndexes")},
			{Kind: "DynamoDBTable", Field: "localSecondaryIndexes.nonKeyAttributes", What: anyOrder, isRecorded: true, ops: []string{"DescribeTable"}, members: reverseProjections("LocalSecondaryIndexes")},
		},
		Unset: map[string]string{
			"DescribeContributorInsights":         `{"ContributorInsightsStatus": "DISABLED"}`,
			"DescribeKinesisStreamingDestination": `{"KinesisDataStreamDestinations": []}`,
		},
		Events: EventFacts{Data: []string{"PutItem", "UpdateItem", "DeleteItem"}},
	}
}

func (s *dynamodbService) Corrections() []Correction {
	return []Correction{
		{Name: "tables take their time: changes", Before: s.tableNotReady},
		{Name: "tables take their time: states", Ops: []string{"CreateTable", "DescribeTable"}, After: s.showCreating},
		{Name: "changes of tables that DynamoDB refuses, and streams", Ops: []string{"CreateTable", "UpdateTable"}, Before: s.checkTableUpdate},
		{Name: "one tag of each key", Ops: []string{"TagResource"}, Before: s.dropReplacedTags},
		{Name: "encryption, classes, limits, streams and indexes of tables", Ops: []string{"CreateTable", "UpdateTable", "DeleteTable", "DescribeTable"}, After: s.finishTable},
	}
}

func (s *dynamodbService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creating, s.tables = 0, tables{known: map[string]*tableExtras{}}
}

// tables holds what moto ignores in requests about tables, or cannot keep.
type tables struct {
	known map[string]*tableExtras // by identity
	take  time.Duration           // how long an index is created and deleted
}

type tableExtras struct {
	encryption map[string]any // what the last UpdateTable asked for
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
func (s *dynamodbService) SetIndexesTake(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables.take = d
}

// extrasOf returns what is kept of the table of a request; the caller holds the lock.
func (s *dynamodbService) extrasOf(x *exchange) *tableExtras {
	id := s.identity(x, x.service, x.resource)
	if s.tables.known[id] == nil || x.op == "CreateTable" || x.op == "DeleteTable" {
		s.tables.known[id] = &tableExtras{limits: map[string]map[string]any{}}
	}
	return s.tables.known[id]
}

// phase returns the states of the table and of the index that changes; "" for neither.
func (s *dynamodbService) phase(e *tableExtras) (table, index string) {
	age := s.now().Sub(e.index.at)
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

// checkTableUpdate refuses what DynamoDB refuses, and hides streams from moto, which starts only one for each table.
func (s *dynamodbService) checkTableUpdate(ctx context.Context, x *exchange) *answer {
	if x.op == "UpdateTable" {
		_, got, err := s.askJSON(ctx, x, "DescribeTable", map[string]any{"TableName": x.json["TableName"]})
		table, _ := got["Table"].(map[string]any)
		if err != nil || table == nil {
			return nil
		}
		x.before = table
		if code, why := s.refuseTableUpdate(x); why != "" {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, code, why})
		}
	}
	if _, named := x.json["StreamSpecification"]; named {
		without := map[string]any{}
		for name, value := range x.json {
			if name != "StreamSpecification" {
				without[name] = value
			}
		}
		x.body, _ = json.Marshal(without)
	}
	return nil
}

// tableBefore is the table that a request is about as it was before.
func tableBefore(x *exchange) map[string]any {
	table, _ := x.before.(map[string]any)
	return table
}

// refuseTableUpdate: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html
func (s *dynamodbService) refuseTableUpdate(x *exchange) (code, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.extrasOf(x)
	changes := indexChanges(x)
	phase, _ := s.phase(e)
	switch {
	case phase == "UPDATING":
		return "ResourceInUseException", "Attempt to change a resource which is still in use: Table is being updated: " + x.resource
	case len(changes) > 1 || phase != "" && len(changes) > 0:
		return "LimitExceededException", "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
	}
	if on, named := member(x.json, "StreamSpecification.StreamEnabled").(bool); named && on == (e.stream != nil) {
		if on {
			return invalidTable, "Table already has an enabled stream: TableName: " + x.resource
		}
		return invalidTable, "Table has no stream to disable: TableName: " + x.resource
	}
	if len(changes) > 0 && changes[0]["Delete"] != nil && globalIndex(tableBefore(x), text(member(changes[0], "Delete.IndexName"))) == nil {
		return "ResourceNotFoundException", "Requested resource not found"
	}
	return invalidTable, cmp.Or(wrongDefinitions(x, changes), wrongCapacity(x))
}

const invalidTable = "ValidationException"

// indexChanges are the creations and deletions of global indexes that a request asks for.
func indexChanges(x *exchange) (out []map[string]any) {
	updates, _ := x.json["GlobalSecondaryIndexUpdates"].([]any)
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
		if m, _ := e.(map[string]any); text(m[key]) == name {
			return m
		}
	}
	return nil
}

func globalIndex(table map[string]any, name string) map[string]any {
	return described(table, "GlobalSecondaryIndexes", "IndexName", name)
}

// wrongDefinitions: moto fails on an index that exists, and takes any definitions of attributes with a new one.
func wrongDefinitions(x *exchange, changes []map[string]any) string {
	if len(changes) == 0 || changes[0]["Create"] == nil {
		return ""
	}
	if globalIndex(tableBefore(x), text(member(changes[0], "Create.IndexName"))) != nil {
		return "Attempting to create an index which already exists"
	}
	used := keyNames(tableBefore(x))
	for _, k := range schemaNames(changes[0]["Create"]) {
		used[k] = true
		if described(x.json, "AttributeDefinitions", "AttributeName", k) == nil {
			return "One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions: " + k
		}
	}
	definitions, _ := x.json["AttributeDefinitions"].([]any)
	for _, d := range definitions {
		if name := text(member(d.(map[string]any), "AttributeName")); !used[name] {
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
		names = append(names, text(member(k.(map[string]any), "AttributeName")))
	}
	return names
}

// wrongCapacity: moto takes a capacity that does not change, and PROVISIONED without the capacity of an index.
func wrongCapacity(x *exchange) string {
	switched := text(x.json["BillingMode"]) != "" && text(x.json["BillingMode"]) != text(member(tableBefore(x), "BillingModeSummary.BillingMode"))
	if want, named := x.json["ProvisionedThroughput"].(map[string]any); named && !switched && sameUnits(want, tableBefore(x)["ProvisionedThroughput"]) {
		return "The provisioned throughput for the table will not change. The requested value equals the current value."
	}
	given := map[string]any{}
	updates, _ := x.json["GlobalSecondaryIndexUpdates"].([]any)
	for _, u := range updates {
		change, _ := member(u.(map[string]any), "Update").(map[string]any)
		name := text(change["IndexName"])
		given[name] = change["ProvisionedThroughput"]
		if want, named := given[name].(map[string]any); named && !switched && sameUnits(want, globalIndex(tableBefore(x), name)["ProvisionedThroughput"]) {
			return "The provisioned throughput for the index " + name + " will not change. The requested value equals the current value."
		}
	}
	indexes, _ := tableBefore(x)["GlobalSecondaryIndexes"].([]any)
	for _, index := range indexes {
		if name := text(member(index.(map[string]any), "IndexName")); switched && text(x.json["BillingMode"]) == "PROVISIONED" && given[name] == nil {
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

// finishTable keeps what moto ignores in a request, and shows it in the answer.
func (s *dynamodbService) finishTable(ctx context.Context, x *exchange, a *answer) *answer {
	body, _ := decodeJSON(a.body).(map[string]any)
	if a.status != http.StatusOK || body == nil {
		return a
	}
	s.mu.Lock()
	e := s.extrasOf(x)
	if x.op == "CreateTable" || x.op == "UpdateTable" {
		s.keepTable(x, e)
	}
	for _, d := range body { // TableDescription or Table
		if table, ok := d.(map[string]any); ok && x.op != "DeleteTable" {
			s.showTable(x, e, table)
		}
	}
	s.mu.Unlock()
	if x.op == "UpdateTable" {
		s.dropDefinitions(ctx, x)
	}
	return a.withJSON(body)
}

// dropDefinitions: moto keeps the definitions of attributes that were keys of a deleted index only.
func (s *dynamodbService) dropDefinitions(ctx context.Context, x *exchange) {
	changes := indexChanges(x)
	if len(changes) == 0 || changes[0]["Delete"] == nil {
		return
	}
	_, got, err := s.askJSON(ctx, x, "DescribeTable", map[string]any{"TableName": x.json["TableName"]})
	table, _ := got["Table"].(map[string]any)
	if err != nil || table == nil {
		return
	}
	used, all := keyNames(table), table["AttributeDefinitions"].([]any)
	all = slices.DeleteFunc(all, func(d any) bool { return !used[text(member(d.(map[string]any), "AttributeName"))] })
	_, _, _ = s.askJSON(ctx, x, "UpdateTable", map[string]any{"TableName": x.json["TableName"], "AttributeDefinitions": all})
}

// keepTable keeps the settings of a request; the caller holds the lock.
func (s *dynamodbService) keepTable(x *exchange, e *tableExtras) {
	if encryption, ok := x.json["SSESpecification"].(map[string]any); ok && x.op == "UpdateTable" {
		e.encryption = encryption
	}
	e.class = cmp.Or(text(x.json["TableClass"]), e.class)
	if stream, ok := x.json["StreamSpecification"].(map[string]any); ok {
		e.stream = nil
		if on, _ := stream["StreamEnabled"].(bool); on {
			e.stream = stream
			e.streamARN = fmt.Sprintf("arn:%s:dynamodb:%s:%s:table/%s/stream/%s", partitionOf(x.region), x.region, defaultAccount, x.resource, time.Now().UTC().Format("2006-01-02T15:04:05.000000"))
		}
	}
	e.keepLimits("", x.json)
	for _, list := range []string{"GlobalSecondaryIndexes", "GlobalSecondaryIndexUpdates"} {
		entries, _ := x.json[list].([]any)
		for _, entry := range entries {
			e.keepIndex(x, entry.(map[string]any), s.now())
		}
	}
}

func (e *tableExtras) keepIndex(x *exchange, entry map[string]any, now time.Time) {
	e.keepLimits(text(entry["IndexName"]), entry)
	for _, action := range []string{"Create", "Update"} {
		if in, ok := entry[action].(map[string]any); ok {
			e.keepLimits(text(in["IndexName"]), in)
		}
	}
	if name := text(member(entry, "Create.IndexName")); name != "" {
		e.index = indexChange{name: name, at: now}
	}
	if name := text(member(entry, "Delete.IndexName")); name != "" {
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

// showTable writes into a description what moto does not show; the caller holds the lock.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SSEDescription.html
func (s *dynamodbService) showTable(x *exchange, e *tableExtras, table map[string]any) {
	if e.encryption != nil {
		delete(table, "SSEDescription")
		if enabled, _ := e.encryption["Enabled"].(bool); enabled {
			key := cmp.Or(text(e.encryption["KMSMasterKeyId"]), fmt.Sprintf("arn:%s:kms:%s:%s:key/aws-dynamodb", partitionOf(x.region), x.region, defaultAccount))
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

func (s *dynamodbService) showIndexes(e *tableExtras, table map[string]any) {
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
		name := text(d["IndexName"])
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
func (s *dynamodbService) dropReplacedTags(ctx context.Context, x *exchange) *answer {
	tags, _ := x.json["Tags"].([]any)
	var keys []string
	for _, tag := range tags {
		t, _ := tag.(map[string]any)
		keys = append(keys, text(t["Key"]))
	}
	_, _, _ = s.askJSON(ctx, x, "UntagResource", map[string]any{"ResourceArn": x.json["ResourceArn"], "TagKeys": keys}) // DynamoDB's own answer says why not
	return nil
}

// tableNotReady: a table that is being created refuses changes.
func (s *dynamodbService) tableNotReady(_ context.Context, x *exchange) *answer {
	if !isWrite(x.op) || x.op == "CreateTable" || strings.HasPrefix(x.op, "Tag") || !s.isCreating(x) {
		return nil
	}
	if x.op == "UpdateContinuousBackups" {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "ContinuousBackupsUnavailableException",
			"Backups are being enabled for the table: " + x.resource + ". Please retry later"})
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "ResourceInUseException",
		"Attempt to change a resource which is still in use: Table is being created: " + x.resource})
}

// showCreating: moto's tables are ACTIVE at once.
func (s *dynamodbService) showCreating(_ context.Context, x *exchange, a *answer) *answer {
	if a.status == http.StatusOK && s.isCreating(x) {
		a.body = bytes.Replace(a.body, []byte(`"TableStatus": "ACTIVE"`), []byte(`"TableStatus": "CREATING"`), 1)
		// moto sends a checksum, which the client would compare.
		a.header.Del("X-Amz-Crc32")
	}
	return a
}

func (s *dynamodbService) isCreating(x *exchange) bool {
	s.mu.Lock()
	d := s.creating
	s.mu.Unlock()
	return s.memory.createdWithin(x, d)
}

// SetTableCreating lets DynamoDB tables be CREATING for so long after their
// creation, during which changes to them are refused as AWS does. Zero ends it.
func (s *dynamodbService) SetTableCreating(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creating = d
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

// namedTables returns the names of a request; each part of a transaction has one.
func namedTables(q *asker) []string {
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

func namedIndexes(q *asker) []string {
	if index := text(q.x.json["IndexName"]); index != "" {
		return []string{shortName(text(q.x.json["TableName"])) + "/index/" + index}
	}
	return nil
}

// ofTableData are operations on the items of a table, which its key protects.
var ofTableData = []string{"BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"}

// keyOfTable returns what the key of a table takes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func keyOfTable(q *asker) []demand {
	name := shortName(cmp.Or(text(q.x.json["TableName"]), text(q.x.json["ResourceArn"])))
	if key := text(member(q.x.json, "SSESpecification.KMSMasterKeyId")); key != "" {
		return throughKMS(q, "dynamodb", key, map[string]string{"kms:EncryptionContext:aws:dynamodb:tableName": name},
			"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo")
	}
	if !slices.Contains(ofTableData, q.x.op) {
		return nil
	}
	var out []demand
	for _, table := range slices.Concat(tableNames(q.x.json), q.values("TableName")) {
		table = shortName(table)
		key := text(q.found("DynamoDB_20120810.DescribeTable", map[string]any{"TableName": table}, "Table.SSEDescription.KMSMasterKeyArn"))
		out = append(out, throughKMS(q, "dynamodb", key, map[string]string{"kms:EncryptionContext:aws:dynamodb:tableName": table}, "kms:Decrypt")...)
	}
	return out
}

func reverseProjections(indexes string) func(body map[string]any) {
	return func(body map[string]any) {
		list, _ := member(body, "Table."+indexes).([]any)
		for _, index := range list {
			projected, _ := index.(map[string]any)
			if attributes, _ := member(projected, "Projection.NonKeyAttributes").([]any); attributes != nil {
				slices.Reverse(attributes)
			}
		}
	}
}
