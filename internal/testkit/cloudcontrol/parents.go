// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"strings"
)

// parents are the types of the resources that contain those of other types, with the property that names them.
var parents = map[string]struct{ typeName, property string }{
	"AWS::Bedrock::DataSource":             {"AWS::Bedrock::KnowledgeBase", "KnowledgeBaseId"},
	"AWS::Bedrock::GuardrailVersion":       {"AWS::Bedrock::Guardrail", "GuardrailIdentifier"},
	"AWS::BedrockAgentCore::GatewayTarget": {"AWS::BedrockAgentCore::Gateway", "GatewayIdentifier"},
}

// AllowOrphans lets resources be created within others that do not exist, for tests that draw properties at random.
func (d *Double) AllowOrphans() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.allowsOrphans = true
}

// missingParent returns AWS's error text for a resource within one that does not exist; empty for every other resource.
func (d *Double) missingParent(typeName, region string, properties map[string]any) string {
	parent, within := parents[typeName]
	if !within || d.allowsOrphans {
		return ""
	}
	identifier, _ := properties[parent.property].(string)
	for _, r := range d.resources {
		isNamed := r.identifier == identifier || strings.HasSuffix(r.identifier, "/"+identifier) // an ARN, or its end
		if r.typeName == parent.typeName && isNamed && r.region == region {
			return ""
		}
	}
	return fmt.Sprintf("Resource of type '%s' with identifier '%s' was not found.", parent.typeName, identifier)
}
