// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"regexp"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the tables: of their kind, step, access and purposes.
const (
	kindTable       = "DynamoDBTable"
	StepDynamoDB    = "DynamoDB"
	ofTables        = "dynamodb"
	maxTablePurpose = 40
)

// tableNames fits the names of tables in DynamoDB.
var tableNames = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,}$`)

// existingTables describes the ARNs of tables that exist already.
var existingTables = existingKind{noun: "table", service: "dynamodb", prefix: "table/", names: tableNames, most: 255}

// tablesPart is spec.dataServices.dynamodb.
func tablesPart() part {
	return part{
		steps: []Step{{1, StepDynamoDB, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady}},
		kinds: []kindFacts{{
			kind: kindTable, step: StepDynamoDB, removed: removal{stage: removesData + 80, steps: []string{StepDynamoDB}},
			grants: true, store: true, isBilled: true, refusal: "is declared in spec.dataServices.dynamodb",
			existing: &existingTables,
			doom:     doomTable,
		}},
		checks: []turn[checking]{at(10, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
			if d := dataOf(&c.Spec).DynamoDB; d != nil {
				checkTables(v, "spec.dataServices.dynamodb", d)
			}
		})},
		surroundings: func(v *verdict, c *nexusv1.NexusAICapability, f Facts, _ *compiler) {
			if d := dynamodbSpec(&c.Spec); d != nil {
				v.local("spec.dataServices.dynamodb.kmsKeyArn", "key", d.KMSKeyArn, f.region(c), f)
			}
		},
		compile: []func(*compiler){addTables},
		rights:  []turn[granting]{at(10, tableStatements)},
		values:  tableValues,
		entries: stores[nexusv1.TableSpec]{
			place: 10, field: ofTables, encryptedBy: "dynamodb", at: "spec.dataServices.dynamodb.tables", of: existingTable,
			declared: tablesOf, selected: selectedTables, keep: keepTables,
			describes: func(t nexusv1.TableSpec) map[string]bool {
				return map[string]bool{"hashKey": t.HashKey != nil, "rangeKey": t.RangeKey != nil, "ttl": t.TTL != nil, "pointInTimeRecovery": t.PointInTimeRecovery != nil}
			},
		}.entries(),
	}
}

func nameOfTable(t nexusv1.TableSpec) string { return t.Name }

// tablesOf returns the declared tables; none when DynamoDB is off.
func tablesOf(s *nexusv1.NexusAICapabilitySpec) []nexusv1.TableSpec {
	if d := dynamodbSpec(s); d != nil {
		return d.Tables
	}
	return nil
}

func keepTables(a accessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
	d := dynamodbSpec(s)
	if d == nil {
		return
	}
	limited := *d
	limited.Tables, data.DynamoDB = keep(a, ofTables, selectedTables(s), nameOfTable), &limited
	if len(limited.Tables) == 0 { // an empty list would stand for the default tables
		data.DynamoDB = nil
	}
}

func doomTable(c *nexusv1.NexusAICapability, want awsv1.Resource, _ bool) {
	want.(*awsv1.DynamoDBTable).Spec.DeletionProtection = new(EffectiveDeletionPolicy(c) != nexusv1.DeletionDelete)
}

// tableValues tell the application the names of the tables.
func tableValues(k *compiler) (out []value) {
	for _, t := range selectedTables(k.spec) {
		out = append(out, value{"dynamodb/" + t.Name + "-table", "NEXUS_DYNAMODB_TABLE_" + environmentVariable(t.Name), nameInDynamoDB(k, t)})
	}
	return out
}

// defaultTables are the tables of a capability that lists none.
var defaultTables = []string{"license", "transformation-system", "wxcc-task-tracking"}

// dynamodbSpec returns the declared tables' settings, or nil when DynamoDB is off.
func dynamodbSpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.DynamoDBSpec {
	if s.DataServices == nil || !isEnabled(s.DataServices.DynamoDB, func(d *nexusv1.DynamoDBSpec) *bool { return d.Enabled }) {
		return nil
	}
	return s.DataServices.DynamoDB
}

// selectedTables returns the wanted tables by name; none when DynamoDB is off.
func selectedTables(s *nexusv1.NexusAICapabilitySpec) []nexusv1.TableSpec {
	d := dynamodbSpec(s)
	if d == nil {
		return nil
	}
	return selected(d.Tables, defaultTables, func(t *nexusv1.TableSpec) *string { return &t.Name })
}

func addTables(k *compiler) {
	for _, t := range selectedTables(k.spec) {
		if e := existingTable(t); e.store != nil {
			k.observe(e, StepDynamoDB, "dynamodb", &awsv1.DynamoDBTable{Spec: awsv1.DynamoDBTableSpec{TableName: e.nameIn()}})
			continue
		}
		all := dynamodbSpec(k.spec)
		o := &awsv1.DynamoDBTable{Spec: tableSpec(k, t, all)}
		k.addGrant(k.resource(child{kindTable, k.names.Of(t.Name), StepDynamoDB, "dynamodb"}, o, k.afterKey(all.KMSKeyArn)...))
	}
}

// tableSpec says every setting, so that what a user removes goes back to its default.
func tableSpec(k *compiler, t nexusv1.TableSpec, all *nexusv1.DynamoDBSpec) awsv1.DynamoDBTableSpec {
	key := k.storeKey(all.KMSKeyArn)
	out := awsv1.DynamoDBTableSpec{
		TableName: k.names.Of(t.Name),
		HashKey:   awsv1.DynamoDBAttribute{Name: "pk", Type: "S"}, RangeKey: &awsv1.DynamoDBAttribute{Name: "sk", Type: "S"},
		BillingMode:         "PAY_PER_REQUEST",
		PointInTimeRecovery: new(boolOr(t.PointInTimeRecovery, boolOr(all.PointInTimeRecovery, true))),
		TTL:                 &awsv1.DynamoDBTTL{AttributeName: "expiresAt"},
		SSE:                 &awsv1.DynamoDBSSE{Enabled: key != "", KMSKeyID: key},
		DeletionProtection:  new(EffectiveDeletionPolicy(k.c) != nexusv1.DeletionDelete),
		RecreateOnLoss:      all.RecreateOnLoss,
	}
	if t.HashKey != nil {
		out.HashKey, out.RangeKey = awsv1.DynamoDBAttribute(*t.HashKey), nil
	}
	if t.RangeKey != nil {
		out.RangeKey = new(awsv1.DynamoDBAttribute(*t.RangeKey))
	}
	if t.TTL != nil {
		out.TTL = &awsv1.DynamoDBTTL{Enabled: t.TTL.Enabled, AttributeName: cmp.Or(t.TTL.AttributeName, "expiresAt")}
	}
	return out
}

func existingTable(t nexusv1.TableSpec) existing {
	return existing{kind: kindTable, of: &existingTables, purpose: t.Name, store: t.Existing}
}

// nameInDynamoDB is the name of a table in DynamoDB.
func nameInDynamoDB(k *compiler, t nexusv1.TableSpec) string {
	if e := existingTable(t); e.store != nil {
		return e.nameIn()
	}
	return k.names.Of(t.Name)
}

func tableStatements(k *compiler) []iampolicy.Statement {
	var arns, names []string
	for _, t := range selectedTables(k.spec) {
		if e := existingTable(t); e.store != nil {
			arns = appendARN(arns, k.external(e))
			continue
		}
		name := k.names.Of(t.Name)
		if arn := k.owned(kindTable+"/"+name, k.home.arn("dynamodb", "table/"+name)); arn != "" {
			arns, names = append(arns, arn), append(names, name)
		}
	}
	if len(arns) == 0 {
		return nil
	}
	out := []iampolicy.Statement{{Sid: "Tables", Action: []string{
		"dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:DescribeTable",
		"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:UpdateItem",
	}, Resource: arns}}
	if key := dynamodbSpec(k.spec).KMSKeyArn; key != "" && len(names) > 0 {
		out = append(out, tableKey(k, key, names))
	}
	return out
}

// tableKey allows the use of a key through DynamoDB and for the tables alone: the capability names the key, which
// may protect other data as well.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func tableKey(k *compiler, key string, tables []string) iampolicy.Statement {
	return iampolicy.Statement{Sid: "TableKey", Action: keyUse, Resource: []string{key}, Condition: iampolicy.Conditions{
		"StringEquals": {"kms:ViaService": {k.home.service("dynamodb")}},
		"StringLike":   {"kms:EncryptionContext:aws:dynamodb:tableName": k.byPrefix(tables, "")},
	}}
}

func checkTables(v *verdict, at string, d *nexusv1.DynamoDBSpec) {
	v.optional(at+".kmsKeyArn", d.KMSKeyArn, 2048, keyPattern)
	v.distinct(at+".tables", namesIn(d.Tables, func(t nexusv1.TableSpec) string { return t.Name }), maxTablePurpose)
	for i, t := range d.Tables {
		field := fmt.Sprintf("%s.tables[%d]", at, i)
		v.require(t.RangeKey == nil || t.HashKey != nil, field+".rangeKey", "needs hashKey")
		checkAttribute(v, field+".hashKey", t.HashKey)
		checkAttribute(v, field+".rangeKey", t.RangeKey)
		if t.HashKey != nil && t.RangeKey != nil {
			v.require(t.HashKey.Name != t.RangeKey.Name, field+".rangeKey.name", "is the hashKey's name too")
		}
		if t.TTL != nil {
			v.require(len(t.TTL.AttributeName) <= 255, field+".ttl.attributeName", "at most 255 characters")
		}
	}
}

func checkAttribute(v *verdict, at string, a *nexusv1.KeyAttribute) {
	if a == nil {
		return
	}
	v.require(a.Name != "" && len(a.Name) <= 255, at+".name", "1 to 255 characters")
	oneOf(v, at+".type", a.Type, "S", "N", "B")
}
