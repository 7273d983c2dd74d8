// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxGlobalIndexes sets how many global secondary indexes DynamoDB allows unless the quota of the account was raised.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
const maxGlobalIndexes = 20

// Index holds the parts of an index that DynamoDB cannot change: the keys and the projection.
type Index struct {
	Keys       []Key
	Projection string
	// NonKey are the attributes of the projection INCLUDE, in order.
	NonKey []string
}

// LocalIndex is a local secondary index.
type LocalIndex struct {
	Name string
	Index
}

// declareIndexes adds the indexes of the spec, and as nil those that the operator made before.
func declareIndexes(sc kind.Scope, cr *v1alpha1.DynamoDBTable, s *TableState) {
	in, typeOf := cr.Spec, map[string]string{}
	for _, a := range in.Attributes {
		typeOf[a.Name] = a.Type
	}
	for _, k := range s.Keys {
		typeOf[k.Name] = k.Type
	}
	recorded := slices.Concat(cr.Status.ManagedIndexes, sc.Keys["GlobalIndexes"])
	s.GlobalIndexes = kind.WantedMembers(recorded, in.GlobalSecondaryIndexes, func(g v1alpha1.DynamoDBGlobalIndex) (string, *Index) {
		return g.IndexName, wantedIndex(keysOf(typeOf, g.HashKey, g.RangeKey), g.DynamoDBProjection)
	})
	s.IndexCapacity = kind.WantedMembers(nil, in.GlobalSecondaryIndexes, wantedCapacity)
	for _, l := range in.LocalSecondaryIndexes {
		s.LocalIndexes = append(s.LocalIndexes, LocalIndex{l.IndexName, *wantedIndex(keysOf(typeOf, in.HashKey.Name, l.RangeKey), l.DynamoDBProjection)})
	}
	sortByName(s.LocalIndexes)
}

func sortByName(indexes []LocalIndex) {
	slices.SortFunc(indexes, func(a, b LocalIndex) int { return cmp.Compare(a.Name, b.Name) })
}

// keysOf returns the partition key and, unless it is "", the sort key.
func keysOf(typeOf map[string]string, hashKey, rangeKey string) []Key {
	keys := []Key{{string(types.KeyTypeHash), hashKey, typeOf[hashKey]}}
	if rangeKey != "" {
		keys = append(keys, Key{string(types.KeyTypeRange), rangeKey, typeOf[rangeKey]})
	}
	return keys
}

func wantedIndex(keys []Key, p v1alpha1.DynamoDBProjection) *Index {
	return &Index{keys, cmp.Or(p.ProjectionType, string(types.ProjectionTypeAll)), inOrder(p.NonKeyAttributes)}
}

// inOrder returns the names in order; nil for none.
func inOrder(names []string) []string { return slices.Sorted(slices.Values(names)) }

// readIndexes fills in the described indexes, and returns the operation that DynamoDB is carrying out on a declared one. An index that it
// is still creating, or deletes although it is declared, does not count as present: the object waits for it.
func readIndexes(d *types.TableDescription, want TableState, have *TableState) (busy string) {
	typeOf := typesOf(d)
	for _, l := range d.LocalSecondaryIndexes {
		have.LocalIndexes = append(have.LocalIndexes, LocalIndex{aws.ToString(l.IndexName), *foundIndex(typeOf, l.KeySchema, l.Projection)})
	}
	sortByName(have.LocalIndexes)
	have.AllIndexes, have.AllCapacity, have.IndexCapacity = map[string]*Index{}, map[string]*Capacity{}, map[string]*Capacity{}
	if want.GlobalIndexes != nil {
		have.GlobalIndexes = map[string]*Index{}
	}
	for _, g := range d.GlobalSecondaryIndexes {
		name := aws.ToString(g.IndexName)
		have.AllIndexes[name], have.AllCapacity[name] = foundIndex(typeOf, g.KeySchema, g.Projection), foundCapacity(g)
		wanted, managed := want.GlobalIndexes[name]
		changes := g.IndexStatus != types.IndexStatusActive && g.IndexStatus != types.IndexStatusUpdating && g.IndexStatus != ""
		if managed && g.IndexStatus != types.IndexStatusActive {
			busy = fmt.Sprintf("the index %s is %s", name, g.IndexStatus)
		}
		if managed && !(wanted != nil && changes) {
			have.GlobalIndexes[name] = have.AllIndexes[name]
		}
	}
	return busy
}

func foundIndex(typeOf map[string]string, schema []types.KeySchemaElement, p *types.Projection) *Index {
	p = kind.NonNil(p)
	return &Index{fromKeys(typeOf, schema), string(p.ProjectionType), inOrder(p.NonKeyAttributes)}
}

// refuseIndexChange refuses other keys and another projection for an existing index. The definition refuses the edit, and
// cannot compare with an index that was made outside the operator.
func refuseIndexChange(_, _ TableState, diff kind.Diff) error {
	for _, c := range diff {
		if name, ok := strings.CutPrefix(c.Path, "GlobalIndexes["); ok && strings.Contains(name, "].") {
			name, _, _ = strings.Cut(name, "]")
			return &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.globalSecondaryIndexes", Message: fmt.Sprintf(
				"index %s exists with other keys or another projection, which DynamoDB cannot change: want %s, have %s; declare what exists, or give the index another indexName", name, c.Want, c.Have)}
		}
	}
	return nil
}

// indexPart creates and deletes global secondary indexes. An index is created before another is deleted, so that queries can
// move from one to the other, unless the table has no room for both.
func (t *table) indexPart() kind.Part[TableState] {
	return kind.Part[TableState]{Fields: []string{"GlobalIndexes"}, InCreate: true, Keys: &kind.Keys[TableState]{
		OneByOne: true, LookAfter: true,
		UnsetFirst: func(_, have TableState) bool { return len(have.AllIndexes) >= maxGlobalIndexes },
		Set:        kind.KeysCall[TableState]{Action: "dynamodb:UpdateTable", Do: t.addIndex},
		Unset:      kind.KeysCall[TableState]{Action: "dynamodb:UpdateTable", Do: t.dropIndex},
	}}
}

func (t *table) addIndex(ctx context.Context, want, have TableState, names []string) error {
	all := [][]Key{have.Keys}
	for _, name := range kind.SortedKeys(have.AllIndexes) {
		all = append(all, have.AllIndexes[name].Keys)
	}
	for _, l := range have.LocalIndexes {
		all = append(all, l.Keys)
	}
	g := globalIndex(want, names[0])
	return t.changeIndex(ctx, want, types.GlobalSecondaryIndexUpdate{Create: kind.Convert[*types.CreateGlobalSecondaryIndexAction](g)},
		definitions(append(all, want.GlobalIndexes[names[0]].Keys)...))
}

func (t *table) dropIndex(ctx context.Context, want, _ TableState, names []string) error {
	return t.changeIndex(ctx, want, types.GlobalSecondaryIndexUpdate{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &names[0]}}, nil)
}

func (t *table) changeIndex(ctx context.Context, want TableState, change types.GlobalSecondaryIndexUpdate, attributes []types.AttributeDefinition) error {
	_, err := t.api.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &want.Name, AttributeDefinitions: attributes,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{change}})
	return err
}

// globalIndex returns a wanted global index as CreateTable takes it.
func globalIndex(want TableState, name string) types.GlobalSecondaryIndex {
	index, capacity := want.GlobalIndexes[name], want.IndexCapacity[name]
	return types.GlobalSecondaryIndex{IndexName: &name, KeySchema: schemaOf(index.Keys), Projection: projectionOf(*index),
		ProvisionedThroughput: capacity.provisioned(), OnDemandThroughput: capacity.onDemand()}
}

func localIndexes(want TableState) (out []types.LocalSecondaryIndex) {
	for _, l := range want.LocalIndexes {
		out = append(out, types.LocalSecondaryIndex{IndexName: aws.String(l.Name), KeySchema: schemaOf(l.Keys), Projection: projectionOf(l.Index)})
	}
	return out
}

func projectionOf(i Index) *types.Projection {
	return &types.Projection{ProjectionType: types.ProjectionType(i.Projection), NonKeyAttributes: i.NonKey}
}

func schemaOf(keys []Key) (out []types.KeySchemaElement) {
	for _, k := range keys {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Role)})
	}
	return out
}

// definitions returns the definitions of exactly the attributes that are keys: DynamoDB refuses others.
func definitions(keys ...[]Key) (out []types.AttributeDefinition) {
	defined := map[string]bool{}
	for _, k := range slices.Concat(keys...) {
		if !defined[k.Name] {
			out = append(out, types.AttributeDefinition{AttributeName: aws.String(k.Name), AttributeType: types.ScalarAttributeType(k.Type)})
		}
		defined[k.Name] = true
	}
	return out
}
