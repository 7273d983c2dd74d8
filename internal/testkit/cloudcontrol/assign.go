// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"strings"
	"time"
)

// account gives resources the values that AWS assigns, and that it shows in another form.
type account struct {
	id  string
	now func() time.Time
}

// assign gives new properties the values that AWS assigns: a value for each top-level property that is read only, or that is a part of the
// identifier and was not declared. Objects and lists among them are left out.
func (a account) assign(m *model, region string, serial int, properties map[string]any) {
	if budget, is := properties["Budget"].(map[string]any); is && m.TypeName == typeBudget {
		properties["Id"] = budget["BudgetName"]
	}
	for _, pointer := range append(append([]string{}, m.ReadOnly...), m.PrimaryIdentifier...) {
		keys := path(pointer)
		if _, set := properties[keys[0]]; set || len(keys) != 1 || strings.Contains(strings.ToLower(keys[0]), "arn") {
			continue
		}
		if value := a.value(m, keys[0], serial); value != nil {
			properties[keys[0]] = value
		}
	}
	for _, pointer := range append(append([]string{}, m.ReadOnly...), m.PrimaryIdentifier...) { // an ARN contains the identifier
		keys := path(pointer)
		if _, set := properties[keys[0]]; !set && len(keys) == 1 && m.property(keys[0])["type"] == "string" {
			properties[keys[0]] = fitting(m.property(keys[0]), a.arn(m, region, serial, properties), serial)
		}
	}
}

// typeBudget is the type that has its identifier, a name, deeper in the properties.
const typeBudget = "AWS::Budgets::Budget"

// namedByARN are types with ARNs that other types and policies name by a pattern. Their own schemas have no pattern, or one that allows
// other resources as well.
var namedByARN = map[string]evaluation{
	"AWS::Bedrock::ApplicationInferenceProfile": {service: "bedrock", resource: "application-inference-profile/{InferenceProfileIdentifier}"},
	"AWS::BedrockAgentCore::Gateway":            {service: "bedrock-agentcore", resource: "gateway/{GatewayIdentifier}"},
	"AWS::BedrockAgentCore::Runtime":            {service: "bedrock-agentcore", resource: "runtime/{AgentRuntimeId}"},
	"AWS::Bedrock::KnowledgeBase":               {service: "bedrock", resource: "knowledge-base/{KnowledgeBaseId}"},
	"AWS::S3Vectors::Index":                     {resource: "{VectorBucketArn}/index/{IndexName}"},
}

// arn returns the ARN of a resource.
func (a account) arn(m *model, region string, serial int, properties map[string]any) string {
	of, known := evaluations[m.TypeName]
	if !known {
		of, known = namedByARN[m.TypeName]
	}
	if known {
		if arn := of.arn(region, a.id, properties); !strings.Contains(arn, "*") {
			return arn
		}
	}
	service, kind, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(m.TypeName, "AWS::")), "::")
	name := m.identifier(properties)
	if name == "" {
		name = fmt.Sprintf("%016x", serial)
	}
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s/%s", service, region, a.id, kind, name)
}

// value returns the value that AWS assigns to a property; nil for an object or a list.
func (a account) value(m *model, name string, serial int) any {
	schema := m.property(name)
	if options, ok := schema["enum"].([]any); ok && len(options) > 0 {
		return options[0]
	}
	switch schema["type"] {
	case "integer", "number":
		return 1
	case "boolean":
		return false
	case "string":
		if schema["format"] == "date-time" {
			return a.now().UTC().Format("2006-01-02T15:04:05Z")
		}
		return fitting(schema, fmt.Sprintf("%s-%016x", strings.ToLower(name), serial), serial)
	default:
		return nil
	}
}
