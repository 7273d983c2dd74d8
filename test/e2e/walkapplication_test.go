// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// applicationMoves change the parts of an AI application, and the store that another team made.
var applicationMoves = []move{
	{"other parts of an AI application", (*walk).otherAIParts},
	{"other parts of an AI application", (*walk).otherAIParts},
	{"the existing table used, or not", (*walk).useExisting},
	{"the consent to the existing table taken and given back", (*walk).takeConsent},
}

// The parts of an AI application: one guardrail and one profile, which people may drop, and a vector store. Its vectors cannot be made
// again, so that it stays as long as its capability.
const (
	guardrailPart = "ai/guardrails/safety"
	profilePart   = "ai/inferenceProfiles/assistant"
	vectorPart    = "ai/vectorStores/knowledge"
)

func partsOfAI(ai *nexusv1.AISpec) map[string]bool {
	return map[string]bool{guardrailPart: len(ai.Guardrails) > 0, profilePart: len(ai.InferenceProfiles) > 0,
		vectorPart: len(ai.VectorStores) > 0}
}

func (w *walk) otherAIParts() string {
	names, strength := w.some("guardrail", "profile"), w.one("LOW", "HIGH")
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		if s.AI == nil {
			s.AI = &nexusv1.AISpec{}
		}
		s.AI.Guardrails, s.AI.InferenceProfiles = nil, nil
		if slices.Contains(names, "guardrail") {
			s.AI.Guardrails = []nexusv1.GuardrailSpec{{Name: "safety", Create: nexusv1.GuardrailPolicySpec{ContentFilters: strength}}}
		}
		if bedrock := dataServices(s).Bedrock; bedrock != nil { // its models are in the region of the parts
			bedrock.Region = ""
		}
		if slices.Contains(names, "profile") {
			s.AI.InferenceProfiles = []nexusv1.InferenceProfileSpec{{Name: "assistant", ModelID: "amazon.nova-lite-v1:0"}}
		}
	})
	return fmt.Sprint(names, strength)
}

// aiResource is the kind of the objects of the parts.
const aiResource = "aws/resource"

// partOfAI names the part of an AI application to which a resource in AWS, a parameter or an object belongs; "" for everything else.
func partOfAI(kind, rest string) string {
	if kind == "ssm/parameter" {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "bedrock-"), "s3vectors-")
	} else if kind != aiResource && !strings.HasPrefix(kind, "AWS::") {
		return ""
	}
	for _, part := range []string{guardrailPart, profilePart, vectorPart} {
		if name := part[strings.LastIndex(part, "/")+1:]; rest == name || strings.HasPrefix(rest, name+"-") {
			return part
		}
	}
	return ""
}

// namesOfAI are the properties that have the names of resources of the types.
var namesOfAI = map[string]string{"AWS::S3Vectors::VectorBucket": "VectorBucketName", "AWS::S3Vectors::Index": "VectorBucketName",
	"AWS::Bedrock::Guardrail":                   "Name",
	"AWS::Bedrock::ApplicationInferenceProfile": "InferenceProfileName"}

// resourcesOfAI calls a function for each resource of the parts of an AI application of all walks.
func (w *walk) resourcesOfAI(do func(typeName, name string, properties map[string]any)) {
	for _, typeName := range []string{"AWS::S3Vectors::VectorBucket", "AWS::S3Vectors::Index", "AWS::Bedrock::Guardrail",
		"AWS::Bedrock::ApplicationInferenceProfile"} {
		for _, id := range w.types.Identifiers(typeName) {
			properties := w.types.Properties(typeName, id)
			name, _ := properties[namesOfAI[typeName]].(string)
			if strings.HasPrefix(name, w.model.prefix+"-") {
				do(typeName, name, properties)
			}
		}
	}
}

// partsOfAI is an inventory of the resources of this capability by their types.
func (w *walk) partsOfAI() map[string][]string {
	out := map[string][]string{}
	w.resourcesOfAI(func(typeName, name string, _ map[string]any) { out[typeName] = append(out[typeName], name) })
	return out
}

// chosen are values of resources of types that AWS chooses, and the identity of the object that owns one.
var chosen = regexp.MustCompile(`"([A-Za-z]*(Id|Arn|CreatedAt|UpdatedAt|CreationTime|Version)|nexus.ai/owner-uid)":"[^"]*",?`)

func (w *walk) stateOfAI() map[string]string {
	out := map[string]string{}
	w.resourcesOfAI(func(typeName, name string, properties map[string]any) {
		tags := map[string]any{} // in the form that userTag reads
		for _, tag := range properties["Tags"].([]any) {
			of := tag.(map[string]any)
			tags[of["Key"].(string)] = of["Value"]
		}
		properties["Tags"] = tags
		out[typeName+" "+name] = chosen.ReplaceAllString(jsonOf(w, properties), "")
	})
	return out
}

// railVersion is the number of the version of a guardrail, which every edit makes larger, in parameters and in settings.
var railVersion = regexp.MustCompile(`(guardrail-version"[^}]*"[Vv]alue":|GUARDRAILVERSION_SAFETY":)"[0-9]+"`)

// aiIDs returns a function that replaces the identifiers of the parts, which AWS chooses.
func (w *walk) aiIDs() func(string) string {
	var pairs []string
	w.resourcesOfAI(func(typeName, _ string, properties map[string]any) {
		for _, property := range []string{"GuardrailArn", "GuardrailId", "InferenceProfileIdentifier"} {
			if id, is := properties[property].(string); is {
				pairs = append(pairs, id[strings.LastIndex(id, "/")+1:], "ID OF "+typeName)
			}
		}
	})
	ids := strings.NewReplacer(pairs...)
	return func(s string) string { return railVersion.ReplaceAllString(ids.Replace(s), "$1~") }
}

// existingPart is the name under which the capability uses the table that another team made.
const existingPart = "legacy"

var orderItem = map[string]dynamodbtypes.AttributeValue{"id": &dynamodbtypes.AttributeValueMemberS{Value: "a"}}

// existingTable is the name of that table in AWS.
func (w *walk) existingTable() string { return "orders-of-" + w.c.Namespace }

// makeExisting creates the table of another team with an item, and lets the provider allow it.
func (w *walk) makeExisting(p *v1alpha1.AWSProvider) {
	w.foreignTable(w.existingTable())
	_, err := dynamodb.NewFromConfig(w.admin(homeAccount)).PutItem(w.Ctx(),
		&dynamodb.PutItemInput{TableName: aws.String(w.existingTable()), Item: orderItem})
	must(w.bed, 0, err)
	p.Spec.AllowedExternalARNs = w.consent()
}

func (w *walk) consent() []v1alpha1.ExternalARNPattern {
	return []v1alpha1.ExternalARNPattern{v1alpha1.ExternalARNPattern(tableARNs + w.existingTable())}
}

// checkExisting asserts that the table of the other team holds its item, and bears no mark of the operator.
func (w *walk) checkExisting() {
	w.Helper()
	if w.c.Spec.ProviderRef == nil {
		return
	}
	client := dynamodb.NewFromConfig(w.admin(homeAccount))
	item, err := client.GetItem(w.Ctx(), &dynamodb.GetItemInput{TableName: aws.String(w.existingTable()), Key: orderItem})
	if err != nil || len(item.Item) == 0 {
		w.Fatalf("the existing table lost its item: %v", err)
	}
	tags, err := client.ListTagsOfResource(w.Ctx(), &dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(tableARNs + w.existingTable())})
	if err != nil || len(tags.Tags) > 0 {
		w.Fatalf("the existing table has the tags %v: %v", tags, err)
	}
}

// existingTableOf returns the table of another team that a spec uses; "" if there is none.
func existingTableOf(s *nexusv1.NexusAICapabilitySpec) string {
	if s.DataServices == nil || s.DataServices.DynamoDB == nil {
		return ""
	}
	for _, t := range s.DataServices.DynamoDB.Tables {
		if t.Existing != nil {
			return t.Existing.Name
		}
	}
	return ""
}

// setExistingTable uses the table of another team, or with "" none.
func setExistingTable(s *nexusv1.NexusAICapabilitySpec, name string) {
	d := dataServices(s)
	if d.DynamoDB != nil {
		d.DynamoDB.Tables = slices.DeleteFunc(d.DynamoDB.Tables, func(t nexusv1.TableSpec) bool { return t.Existing != nil })
	}
	if name == "" {
		return
	}
	if d.DynamoDB == nil {
		d.DynamoDB = &nexusv1.DynamoDBSpec{}
	}
	d.DynamoDB.Tables = append(d.DynamoDB.Tables, nexusv1.TableSpec{Name: existingPart, Existing: &nexusv1.ExistingStore{Name: name}})
}

func (w *walk) useExisting() string {
	if w.c.Spec.ProviderRef == nil {
		return "no provider"
	}
	name := w.one(w.existingTable(), "")
	w.set(func(s *nexusv1.NexusAICapabilitySpec) { setExistingTable(s, name) })
	return name
}

// takeConsent has the keeper of the provider take the consent, and give it back after a moment.
func (w *walk) takeConsent() string {
	if w.c.Spec.ProviderRef == nil {
		return "no provider"
	}
	p := &v1alpha1.AWSProvider{ObjectMeta: named(w.c.Namespace, "aws")}
	w.Edit(p, func() { p.Spec.AllowedExternalARNs = nil })
	time.Sleep(time.Duration(w.rnd.IntN(1500)) * time.Millisecond)
	w.Edit(p, func() { p.Spec.AllowedExternalARNs = w.consent() })
	return ""
}
