// SPDX-License-Identifier: Apache-2.0

// Package tables is spec.dataServices.dynamodb.
package tables

import (
	"cmp"
	"fmt"
	"regexp"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the tables: of their kind, step, access and purposes.
const (
	kindTable    = "DynamoDBTable"
	StepDynamoDB = "DynamoDB"
	ofTables     = "dynamodb"
)

// tableNames fits the names of tables in DynamoDB.
var tableNames = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,}$`)

// existingTables describes the ARNs of tables that exist already.
var existingTables = part.ExistingKind{Noun: "table", Service: "dynamodb", Prefix: "table/", Names: tableNames, Most: 255}

// Part is spec.dataServices.dynamodb.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{{Number: 1, Name: StepDynamoDB, Phase: nexusv1.PhaseProvisioningDataServices,
			Condition: nexusv1.ConditionDataServicesReady}},
		Kinds: []part.KindFacts{{
			Kind: kindTable, Step: StepDynamoDB, Removed: part.Removal{Stage: part.RemovesData + 80, Steps: []string{StepDynamoDB}},
			Grants: true, Store: true, IsBilled: true, Refusal: "is declared in spec.dataServices.dynamodb",
			Existing: &existingTables,
			Doom:     doomTable,
		}},
		Checks: []part.Turn[part.Checking]{part.At(10, func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) {
			if d := part.DataOf(&c.Spec).DynamoDB; d != nil {
				checkTables(v, "spec.dataServices.dynamodb", d)
			}
		})},
		Surroundings: func(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts, _ *part.Compiler) {
			if d := dynamodbSpec(&c.Spec); d != nil {
				v.Local("spec.dataServices.dynamodb.kmsKeyArn", "key", d.KMSKeyArn, f.RegionOf(c), f)
			}
		},
		Compile: []func(*part.Compiler){addTables},
		Rights:  []part.Turn[part.Granting]{part.At(10, tableStatements)},
		Values:  tableValues,
		Entries: part.Stores[nexusv1.TableSpec]{
			Place: 10, Field: ofTables, EncryptedBy: "dynamodb", At: "spec.dataServices.dynamodb.tables", Of: existingTable,
			Declared: tablesOf, Selected: selectedTables, Keep: keepTables,
			Describes: func(t nexusv1.TableSpec) map[string]bool {
				return map[string]bool{"hashKey": t.HashKey != nil, "rangeKey": t.RangeKey != nil, "ttl": t.TTL != nil,
					"pointInTimeRecovery": t.PointInTimeRecovery != nil}
			},
		}.Entries(),
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

func keepTables(a part.AccessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
	d := dynamodbSpec(s)
	if d == nil {
		return
	}
	limited := *d
	limited.Tables, data.DynamoDB = part.Keep(a, ofTables, selectedTables(s), nameOfTable), &limited
	if len(limited.Tables) == 0 { // an empty list would stand for the default tables
		data.DynamoDB = nil
	}
}

func doomTable(c *nexusv1.NexusAICapability, want awsv1.Resource, _ bool) {
	want.(*awsv1.DynamoDBTable).Spec.DeletionProtection = new(part.EffectiveDeletionPolicy(c) != nexusv1.DeletionDelete)
}

// tableValues returns the settings with the names of the tables.
func tableValues(k *part.Compiler) (out []part.Value) {
	for _, t := range selectedTables(k.Spec) {
		out = append(out, part.Value{Parameter: "dynamodb/" + t.Name + "-table",
			Variable: "NEXUS_DYNAMODB_TABLE_" + part.EnvironmentVariable(t.Name), Text: nameInDynamoDB(k, t)})
	}
	return out
}

// defaultTables are the tables of a capability that lists none.
var defaultTables = []string{"license", "transformation-system", "wxcc-task-tracking"}

// dynamodbSpec returns the declared tables' settings, or nil when DynamoDB is off.
func dynamodbSpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.DynamoDBSpec {
	if s.DataServices == nil || !part.IsEnabled(s.DataServices.DynamoDB, func(d *nexusv1.DynamoDBSpec) *bool { return d.Enabled }) {
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
	return part.Selected(d.Tables, defaultTables, func(t *nexusv1.TableSpec) *string { return &t.Name })
}

func addTables(k *part.Compiler) {
	for _, t := range selectedTables(k.Spec) {
		if e := existingTable(t); e.Store != nil {
			k.Observe(e, StepDynamoDB, "dynamodb", &awsv1.DynamoDBTable{Spec: awsv1.DynamoDBTableSpec{TableName: e.NameIn()}})
			continue
		}
		all := dynamodbSpec(k.Spec)
		o := &awsv1.DynamoDBTable{Spec: tableSpec(k, t, all)}
		k.AddGrant(k.Resource(part.Child{Kind: kindTable, Name: k.Names.Of(t.Name), Step: StepDynamoDB, Component: "dynamodb"}, o,
			k.AfterKey(all.KMSKeyArn)...))
	}
}

// tableSpec sets every field, so that a setting that a user removes returns to its default.
func tableSpec(k *part.Compiler, t nexusv1.TableSpec, all *nexusv1.DynamoDBSpec) awsv1.DynamoDBTableSpec {
	key := k.StoreKey(all.KMSKeyArn)
	out := awsv1.DynamoDBTableSpec{
		TableName: k.Names.Of(t.Name),
		HashKey:   awsv1.DynamoDBAttribute{Name: "pk", Type: "S"}, RangeKey: &awsv1.DynamoDBAttribute{Name: "sk", Type: "S"},
		BillingMode:         "PAY_PER_REQUEST",
		PointInTimeRecovery: new(part.BoolOr(t.PointInTimeRecovery, part.BoolOr(all.PointInTimeRecovery, true))),
		TTL:                 &awsv1.DynamoDBTTL{AttributeName: "expiresAt"},
		SSE:                 &awsv1.DynamoDBSSE{Enabled: key != "", KMSKeyID: key},
		DeletionProtection:  new(part.EffectiveDeletionPolicy(k.Capability) != nexusv1.DeletionDelete),
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

func existingTable(t nexusv1.TableSpec) part.Existing {
	return part.Existing{Kind: kindTable, Of: &existingTables, Purpose: t.Name, Store: t.Existing}
}

// nameInDynamoDB is the name of a table in DynamoDB.
func nameInDynamoDB(k *part.Compiler, t nexusv1.TableSpec) string {
	if e := existingTable(t); e.Store != nil {
		return e.NameIn()
	}
	return k.Names.Of(t.Name)
}

func tableStatements(k *part.Compiler) []iampolicy.Statement {
	var arns, names []string
	for _, t := range selectedTables(k.Spec) {
		if e := existingTable(t); e.Store != nil {
			arns = part.AppendARN(arns, k.External(e))
			continue
		}
		name := k.Names.Of(t.Name)
		if arn := k.Owned(kindTable+"/"+name, k.Home.ARN("dynamodb", "table/"+name)); arn != "" {
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
	if key := dynamodbSpec(k.Spec).KMSKeyArn; key != "" && len(names) > 0 {
		out = append(out, tableKey(k, key, names))
	}
	return out
}

// tableKey allows the use of a key through DynamoDB and for the tables alone: the capability names the key, which
// may protect other data as well.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func tableKey(k *part.Compiler, key string, tables []string) iampolicy.Statement {
	return iampolicy.Statement{Sid: "TableKey", Action: part.KeyUse, Resource: []string{key}, Condition: iampolicy.Conditions{
		"StringEquals": {"kms:ViaService": {k.Home.Service("dynamodb")}},
		"StringLike":   {"kms:EncryptionContext:aws:dynamodb:tableName": k.ByPrefix(tables, "")},
	}}
}

func checkTables(v *part.Verdict, at string, d *nexusv1.DynamoDBSpec) {
	for i, t := range d.Tables {
		field := fmt.Sprintf("%s.tables[%d]", at, i)
		v.Require(t.RangeKey == nil || t.HashKey != nil, field+".rangeKey", "needs hashKey")
		if t.HashKey != nil {
			checkAttributeName(v, field+".hashKey.name", t.HashKey.Name)
		}
		if t.RangeKey != nil {
			checkAttributeName(v, field+".rangeKey.name", t.RangeKey.Name)
		}
		if t.HashKey != nil && t.RangeKey != nil {
			v.Require(t.HashKey.Name != t.RangeKey.Name, field+".rangeKey.name", "is the hashKey's name too")
		}
		if t.TTL != nil {
			checkAttributeName(v, field+".ttl.attributeName", t.TTL.AttributeName)
		}
	}
}

// checkAttributeName counts bytes: DynamoDB limits the bytes of the names, and the schema their characters.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
func checkAttributeName(v *part.Verdict, at, name string) {
	v.Require(len(name) <= maxAttributeName, at, "at most %d bytes in UTF-8", maxAttributeName)
}

const maxAttributeName = 255
