// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// walkModel says, of a capability on a random walk, which stores must still be in AWS and what its deletion may leave
// there. It knows only what people did, and nothing of the operator.
type walkModel struct {
	// prefix begins the name of every resource of the capability.
	prefix string
	// full maps each store that holds data to its identity.
	full map[string]string
	// retained are the parts that an edit, or a deletion by hand, under the policy Retain may have left in AWS.
	retained map[string]bool
	// kept are the parts that were ever left in AWS like that. The record of the tags that people dropped since went with
	// the object, so that these may stay.
	kept map[string]bool
	// disturbed are the parts whose objects an edit dropped or a person deleted since the capability last ran as declared.
	disturbed map[string]bool
	// retaining is true from an edit to Retain until the capability runs under Delete: some of its objects may say Retain.
	retaining bool
}

func newWalkModel(prefix string) *walkModel {
	return &walkModel{prefix: prefix, full: map[string]string{}, retained: map[string]bool{}, kept: map[string]bool{},
		disturbed: map[string]bool{}}
}

var separators = regexp.MustCompile(`[^A-Za-z0-9]+`)

// partOf names the part of the capability to which a resource of an inventory belongs: a store, the catalog, a secret, a
// topic or the rest; "" when it is not this capability's.
func (m *walkModel) partOf(kind, name string) string {
	switch kind {
	case "sns/topic": // an inventory has its ARN
		name = name[strings.LastIndex(name, ":")+1:]
	case "sqs/queue": // its URL
		name = name[strings.LastIndex(name, "/")+1:]
	case "eks/pod-identity-association": // its cluster, namespace and ServiceAccount
		if strings.Contains(name, m.prefix+"-"+accessPart+"-") {
			return accessPart
		}
		if strings.HasSuffix(name, "/"+m.prefix+"-app-sa") || name == m.prefix+"-app-sa" || name == m.prefix+"-app" {
			return associationPart
		}
		return ""
	}
	plain := strings.TrimPrefix(separators.ReplaceAllString(name, "-"), "-")
	if !strings.HasPrefix(plain, m.prefix+"-") {
		return ""
	}
	rest := strings.TrimPrefix(plain, m.prefix+"-")
	if of := storeParameter.FindStringSubmatch(rest); of != nil && kind == "ssm/parameter" {
		return map[string]string{"table": "dynamodb/table/", "bucket": "s3/bucket/", "topic-arn": "sns/topic/", "queue-arn": "sqs/queue/",
			"queue-url": "sqs/queue/"}[of[2]] + of[1]
	}
	if part := partOfShape(kind, rest); part != "" {
		return part
	}
	switch {
	case slices.Contains([]string{"dynamodb/table", "s3/bucket", "secretsmanager/secret", "sns/topic", "sqs/queue", "cognito-idp/pool",
		"kms/key"}, kind):
		return kind + "/" + rest
	case strings.HasPrefix(kind, "glue/") || rest == "glue-role" || kind == "ssm/parameter" && strings.HasPrefix(rest, "glue-"):
		return "glue"
	case kind == "ssm/parameter" && strings.HasPrefix(rest, "cognito-"):
		return usersPart
	case kind == "ssm/parameter" && strings.HasPrefix(rest, "bedrock-"):
		return bedrockPart
	case kind == "ssm/parameter" && strings.HasPrefix(rest, "kms-"):
		return keyPart
	default:
		return "the rest"
	}
}

// storeParameter is a parameter that names a store. It belongs to the store, as those of the catalog and of the user pool do: one
// that Retain kept with a store which is no longer declared stays with it.
var storeParameter = regexp.MustCompile(`^(?:dynamodb|s3|sns|sqs)-(.*)-(table|bucket|topic-arn|queue-arn|queue-url)$`)

// deadLetters ends the names of queues for messages that no consumer could process.
const deadLetters = "-dlq"

// Parts of which there is at most one: the user pool, the key, what of Bedrock may be used, and the association of EKS.
const (
	usersPart       = "cognito-idp/pool/users"
	keyPart         = "kms/key/data"
	bedrockPart     = "bedrock"
	associationPart = "eks/association"
)

// partsOf are the parts that a spec declares, of those that an edit may drop.
func partsOf(s *nexusv1.NexusAICapabilitySpec) map[string]bool {
	parts := map[string]bool{"the rest": true}
	for _, name := range tablesOf(s) {
		parts["dynamodb/table/"+name] = true
	}
	for _, name := range bucketsOf(s) {
		parts["s3/bucket/"+name] = true
	}
	if s.DataServices != nil && s.DataServices.Glue != nil {
		parts["glue"] = true
	}
	if s.EnableCognito {
		parts[usersPart] = true
	}
	if s.Identity != nil && s.Identity.Mode == nexusv1.IdentityPodIdentity {
		parts[associationPart] = true
	}
	if s.DataServices != nil {
		parts[bedrockPart], parts[keyPart] = s.DataServices.Bedrock != nil, s.DataServices.KMS != nil
		for _, q := range s.DataServices.Queues {
			parts["sqs/queue/"+q.Name], parts["sqs/queue/"+q.Name+deadLetters] = true, q.DeadLetter != nil
		}
		for _, t := range s.DataServices.Topics {
			parts["sns/topic/"+t.Name] = true
		}
		for _, r := range s.DataServices.Resources {
			parts[repositoryPart+r.Name] = true
		}
	}
	if s.AI != nil {
		maps.Copy(parts, partsOfAI(s.AI))
	}
	for _, x := range s.Secrets {
		parts["secretsmanager/secret/"+x.Name] = true
	}
	for _, name := range []string{"anthropic", "api-keys", "github", "license", "openai", "wxcc"} {
		parts["secretsmanager/secret/"+name] = true
	}
	maps.DeleteFunc(parts, func(_ string, declared bool) bool { return !declared })
	return parts
}

func tablesOf(s *nexusv1.NexusAICapabilitySpec) (names []string) {
	if s.DataServices != nil && s.DataServices.DynamoDB != nil {
		for _, t := range s.DataServices.DynamoDB.Tables {
			if t.Existing == nil {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

func bucketsOf(s *nexusv1.NexusAICapabilitySpec) (names []string) {
	if s.DataServices != nil && s.DataServices.S3 != nil {
		for _, t := range s.DataServices.S3.Buckets {
			names = append(names, t.Name)
		}
	}
	return names
}

func retains(s *nexusv1.NexusAICapabilitySpec) bool {
	return s.DeletionPolicy == nexusv1.DeletionRetain
}

// edited notes an edit, after one or more that the operator may not have seen yet.
func (m *walkModel) edited(before, after *nexusv1.NexusAICapabilitySpec) {
	m.retaining = m.retaining || retains(before) || retains(after)
	declared := partsOf(after)
	for _, part := range droppable { // also what an earlier edit dropped, which may not be pruned yet
		if declared[part] {
			continue
		}
		if m.disturbed[part] = true; m.retaining {
			m.retain(part)
		}
	}
}

// deletedByHand notes that the object of a part was deleted while a policy was in force.
func (m *walkModel) deletedByHand(part string, s *nexusv1.NexusAICapabilitySpec) {
	if m.disturbed[part] = true; m.retaining || retains(s) {
		m.retain(part)
	}
}

func (m *walkModel) retain(part string) { m.retained[part], m.kept[part] = true, true }

// userTag is the tag that people give to all resources in a state, with the comma before it.
var userTag = regexp.MustCompile(`,"team":"[^"]*"`)

// same reports whether the state of a resource of a part is as that of a fresh one.
func (m *walkModel) same(part, walked, fresh string) bool {
	if m.kept[part] && !userTag.MatchString(fresh) {
		walked = userTag.ReplaceAllString(walked, "")
	}
	return walked == fresh
}

// named notes that a person allowed the loss of a store.
func (m *walkModel) named(store string) { delete(m.full, store) }

// settled notes that the capability runs as declared: what it declares goes with it under Delete.
func (m *walkModel) settled(s *nexusv1.NexusAICapabilitySpec) {
	clear(m.disturbed)
	if retains(s) {
		return
	}
	m.retaining = false
	for part := range partsOf(s) {
		delete(m.retained, part)
	}
}

// betweenObjects notes declared parts without a live object when the capability is deleted. A store whose object was deleted although
// it is declared is kept, and its next object takes it over; a deletion in between leaves it (docs/adr/0018).
func (m *walkModel) betweenObjects(s *nexusv1.NexusAICapabilitySpec, alive map[string]bool) {
	declared := partsOf(s)
	for part := range m.disturbed {
		if declared[part] && !alive[part] {
			m.retain(part)
		}
	}
}

// deleting notes the deletion of the capability. Under Delete its tables may go with their items, and its user pool with its
// users; a bucket or a queue goes only once a person emptied it. Under Retain everything may stay, and what holds data must.
func (m *walkModel) deleting(s *nexusv1.NexusAICapabilitySpec) {
	if retains(s) {
		for part := range partsOf(s) {
			m.retain(part)
		}
		for _, part := range droppable {
			m.retain(part)
		}
		return
	}
	maps.DeleteFunc(m.full, func(store, _ string) bool {
		return !strings.HasPrefix(store, "s3/") && !strings.HasPrefix(store, "sqs/")
	})
}

// lost compares the stores that hold data with those that are in AWS.
func (m *walkModel) lost(now map[string]string) []string {
	var out []string
	for _, store := range slices.Sorted(maps.Keys(m.full)) {
		if now[store] != m.full[store] {
			out = append(out, fmt.Sprintf("%s held data; it was %s and is %q", store, m.full[store], now[store]))
		}
	}
	return out
}

// residue lists what a deletion left in AWS that it should not have left.
func (m *walkModel) residue(inventory map[string][]string) []string {
	var out []string
	for kind, names := range inventory {
		for _, name := range names {
			if part := m.partOf(kind, name); part != "" && !m.retained[part] {
				out = append(out, kind+" "+name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// The judge of the walk is shown what it is for.
func TestTheWalkModelSeesLossAndResidue(t *testing.T) {
	extent.Full(t)
	spec := func(policy nexusv1.DeletionPolicy, tables ...string) *nexusv1.NexusAICapabilitySpec {
		s := &nexusv1.NexusAICapabilitySpec{DeletionPolicy: policy, DataServices: &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{}}}
		for _, name := range tables {
			s.DataServices.DynamoDB.Tables = append(s.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: name})
		}
		return s
	}
	const one, bucket = "dynamodb/table/one", "s3/bucket/notes"
	remove, keep := nexusv1.DeletionDelete, nexusv1.DeletionRetain
	there := map[string]string{one: "1", bucket: "2"}
	left := map[string][]string{"dynamodb/table": {"x-dev-one", "other-dev-one", "x-dev2-one"}, "ssm/parameter": {"/y/dev/aws/region"}}
	parameter := map[string][]string{"ssm/parameter": {"/x/dev/dynamodb/one-table"}}
	theTagsOfKeptParts(t, one, bucket)
	for name, c := range map[string]struct {
		people          func(m *walkModel)
		now             map[string]string
		left            map[string][]string
		losses, residue int
	}{
		"nothing happened":       {func(*walkModel) {}, there, nil, 0, 0},
		"a store went":           {func(*walkModel) {}, map[string]string{bucket: "2"}, nil, 1, 0},
		"a store was made again": {func(*walkModel) {}, map[string]string{one: "3", bucket: "2"}, nil, 1, 0},
		"dropped and gone": {func(m *walkModel) { m.edited(spec(remove, "one"), spec(remove)) }, map[string]string{bucket: "2"},
			nil, 1, 0},
		"named and gone":             {func(m *walkModel) { m.named(one) }, map[string]string{bucket: "2"}, nil, 0, 0},
		"another named, and gone":    {func(m *walkModel) { m.named(bucket) }, map[string]string{bucket: "2"}, nil, 1, 0},
		"deleted":                    {func(m *walkModel) { m.deleting(spec(remove, "one")) }, map[string]string{bucket: "2"}, nil, 0, 0},
		"deleted, and a full bucket": {func(m *walkModel) { m.deleting(spec(remove, "one")) }, nil, nil, 1, 0},
		"deleted under Retain":       {func(m *walkModel) { m.deleting(spec(keep, "one")) }, nil, left, 2, 0},
		"deleted, and a table stays": {func(m *walkModel) { m.deleting(spec(remove, "one")) }, there, left, 0, 1},
		"dropped under Retain": {func(m *walkModel) { m.edited(spec(keep, "one"), spec(keep)); m.deleting(spec(remove)) }, there,
			left, 0, 0},
		"declared again and deleted": {func(m *walkModel) { m.edited(spec(keep, "one"), spec(keep)); m.settled(spec(remove, "one")) }, there,
			left, 0, 1},
		"a hand's deletion under Retain": {func(m *walkModel) { m.deletedByHand(one, spec(keep, "one")) }, there, left, 0, 0},
		"a parameter of a kept store": {func(m *walkModel) { m.edited(spec(keep, "one"), spec(keep)); m.settled(spec(remove)) }, there,
			parameter, 0, 0},
		"a parameter of a dropped store": {func(m *walkModel) { m.edited(spec(remove, "one"), spec(remove)) }, there, parameter, 0, 1},
		"a hand's deletion under Delete": {func(m *walkModel) { m.deletedByHand(one, spec(remove, "one")) }, there, left, 0, 1},
		"and no object yet": {func(m *walkModel) {
			m.deletedByHand(one, spec(remove, "one"))
			m.betweenObjects(spec(remove, "one"), nil)
		}, there, left, 0, 0},
		"and another object": {func(m *walkModel) {
			m.deletedByHand(one, spec(remove, "one"))
			m.betweenObjects(spec(remove, "one"), map[string]bool{one: true})
		}, there, left, 0, 1},
		"no object, undisturbed": {func(m *walkModel) { m.betweenObjects(spec(remove, "one"), nil) }, there, left, 0, 1},
		"dropped, and its object goes": {func(m *walkModel) {
			m.edited(spec(remove, "one"), spec(remove))
			m.betweenObjects(spec(remove), nil)
		}, there, left, 0, 1},
	} {
		m := newWalkModel("x-dev")
		maps.Copy(m.full, there)
		c.people(m)
		if lost := m.lost(c.now); len(lost) != c.losses {
			t.Errorf("%s: want %d losses, got %v", name, c.losses, lost)
		}
		if residue := m.residue(c.left); len(residue) != c.residue {
			t.Errorf("%s: want %d resources left behind, got %v", name, c.residue, residue)
		}
	}
}

func theTagsOfKeptParts(t *testing.T, kept, other string) {
	m := newWalkModel("x-dev")
	m.retain(kept)
	const old, without, declared = `{"nexus.ai/owner":"x","team":"a"}`, `{"nexus.ai/owner":"x"}`, `{"nexus.ai/owner":"x","team":"b"}`
	for _, c := range []struct {
		part, walked, fresh string
		same                bool
	}{
		{kept, old, without, true}, {kept, old, declared, false}, {kept, without, declared, false}, {kept, old, old, true},
		{other, old, without, false}, {other, old, old, true},
	} {
		if m.same(c.part, c.walked, c.fresh) != c.same {
			t.Errorf("%+v is judged otherwise", c)
		}
	}
}
