// SPDX-License-Identifier: Apache-2.0

package ai

import (
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	gatewaysField     = aiField + ".gateways"
	typeGateway       = "AWS::BedrockAgentCore::Gateway"
	typeGatewayTarget = "AWS::BedrockAgentCore::GatewayTarget"
	typeFunction      = "AWS::Lambda::Function"
	maxGatewayName    = 48
	maxTargetName     = 100
)

// gatewayParts returns the gateways, and their targets after them.
func gatewayParts(list []nexusv1.ToolGatewaySpec) (out []part.Resource) {
	for i, g := range list {
		at := part.Entry(gatewaysField, i)
		gateway := composed(g.Name, typeGateway, at, func(k *part.Compiler) map[string]any {
			return map[string]any{"Name": part.Fitted(k.Names.Of(g.Name), maxGatewayName, "-"), "ProtocolType": "MCP", "AuthorizerType": "AWS_IAM",
				"RoleArn": resources.RoleOf(k, g.Name)}
		}).Allows().
			Tells("NEXUS_GATEWAY_URL_"+part.EnvironmentVariable(g.Name), "bedrock-agentcore/"+g.Name+"-gateway-url", "properties.GatewayUrl").
			After(functionsOf(g)...)
		// AWS's reference counts this action among those that manage permissions, which no capability may list. It calls tools.
		gateway.Behind = func(_ *part.Compiler, arn string) []iampolicy.Statement {
			return []iampolicy.Statement{{Action: []string{"bedrock-agentcore:InvokeGateway"}, Resource: []string{arn}}}
		}
		gateway.Role = gatewayRole(g)
		out = append(out, gateway)
		for j, t := range g.Targets {
			target := composed(g.Name+"-"+t.Name, typeGatewayTarget, part.Entry(at+".targets", j),
				func(k *part.Compiler) map[string]any { return targetProperties(k, g, t) }).After(g.Name)
			if t.Function != "" {
				target = target.After(string(t.Function))
			}
			out = append(out, target)
		}
	}
	return out
}

// functionsOf returns the names of the functions of a gateway, each once.
func functionsOf(g nexusv1.ToolGatewaySpec) (out []string) {
	for _, t := range g.Targets {
		if t.Function != "" {
			out = append(out, string(t.Function))
		}
	}
	return part.SortedOnce(out)
}

// targetProperties has a function called as the role of the gateway, and a server without credentials.
// https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-supported-targets.html
func targetProperties(k *part.Compiler, g nexusv1.ToolGatewaySpec, t nexusv1.GatewayTargetSpec) map[string]any {
	out := map[string]any{"Name": part.Fitted(t.Name, maxTargetName, "-"), "GatewayIdentifier": statusOf(k, g.Name, "id")}
	if t.MCPServer != nil {
		out["TargetConfiguration"] = map[string]any{"Mcp": map[string]any{"McpServer": map[string]any{"Endpoint": t.MCPServer.Endpoint}}}
		return out
	}
	out["TargetConfiguration"] = map[string]any{"Mcp": map[string]any{"Lambda": map[string]any{
		"LambdaArn":  map[string]any{"$ref": functionID(k, string(t.Function)), "field": "status.arn"},
		"ToolSchema": map[string]any{"InlinePayload": eachOf(t.Tools, toolOf)},
	}}}
	out["CredentialProviderConfigurations"] = []any{map[string]any{"CredentialProviderType": "GATEWAY_IAM_ROLE"}}
	return out
}

func toolOf(t nexusv1.GatewayTool) any {
	input := map[string]any{"Type": "object"}
	parameters, required := map[string]any{}, []any{}
	for _, p := range t.Parameters {
		parameter := map[string]any{"Type": p.Type}
		if p.Description != "" {
			parameter["Description"] = p.Description
		}
		if p.Items != "" {
			parameter["Items"] = map[string]any{"Type": p.Items}
		}
		parameters[p.Name] = parameter
		if p.Required {
			required = append(required, p.Name)
		}
	}
	if len(parameters) > 0 {
		input["Properties"] = parameters
	}
	if len(required) > 0 {
		input["Required"] = required
	}
	return map[string]any{"Name": t.Name, "Description": t.Description, "InputSchema": input}
}

// functionID is the ID of the node of a function.
func functionID(k *part.Compiler, name string) string {
	for _, r := range part.DataOf(&k.Capability.Spec).Resources {
		if r.Name == name {
			return resources.ID(k.Names, part.Resource{ResourcePart: r})
		}
	}
	return ""
}

func gatewayRole(g nexusv1.ToolGatewaySpec) *part.ServiceRole {
	return &part.ServiceRole{
		Service: "bedrock-agentcore.amazonaws.com",
		Sources: func(h part.Home) string { return h.ARN("bedrock-agentcore", "gateway/*") },
		Uses: func(k *part.Compiler) []string {
			return part.NamesIn(functionsOf(g), func(name string) string { return functionID(k, name) })
		},
		Rights: func(k *part.Compiler) ([]iampolicy.Statement, string) { return gatewayRights(k, g) },
	}
}

// gatewayRights allow a gateway to call its functions.
// https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-prerequisites-permissions.html
func gatewayRights(k *part.Compiler, g nexusv1.ToolGatewaySpec) (out []iampolicy.Statement, lacks string) {
	var arns []string
	for _, name := range functionsOf(g) {
		arn := arnOfPart(k, name)
		if arn == "" {
			lacks = functionID(k, name)
		}
		arns = part.AppendARN(arns, arn)
	}
	return part.WithResources(iampolicy.Statement{Sid: "Functions", Action: []string{"lambda:InvokeFunction"}, Resource: arns}), lacks
}

// arnOfPart is the proven ARN of a resource by the name of its part; "" until it is proven.
func arnOfPart(k *part.Compiler, name string) string {
	all := k.Parts.Resources(&k.Capability.Spec)
	i := slices.IndexFunc(all, func(r part.Resource) bool { return r.Name == name })
	if i < 0 {
		return ""
	}
	grants, _, err := awsschema.GrantsOf(resources.TypeOfResource(all[i].ResourcePart))
	if err != nil {
		k.Fail(err)
		return ""
	}
	return resources.ResourceARN(k, all[i], grants)
}

func checkGateways(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec) {
	for i, g := range aiOf(s).Gateways {
		at := part.Entry(gatewaysField, i) + ".targets"
		for j, t := range g.Targets {
			checkGatewayTarget(v, part.Entry(at, j), s, t)
		}
	}
}

func checkGatewayTarget(v *part.Verdict, at string, s *nexusv1.NexusAICapabilitySpec, t nexusv1.GatewayTargetSpec) {
	v.Require((t.Function != "") != (t.MCPServer != nil), at, "a target has exactly one of function and mcpServer")
	v.Require((t.Function != "") == (len(t.Tools) > 0), at+".tools", "tools describe what a function does: a function has some, and an MCP server lists them")
	if t.MCPServer != nil {
		checkEndpoint(v, at+".mcpServer.endpoint", t.MCPServer.Endpoint)
	}
	if t.Function != "" {
		v.Require(isFunction(s, string(t.Function)), at+".function", "%q is no function of dataServices.resources: declare one there, of kind LambdaFunction", status.Truncate(string(t.Function), part.MaxLabel))
	}
	for i, tool := range t.Tools {
		checkToolParameters(v, part.Entry(at+".tools", i)+".parameters", tool.Parameters)
	}
}

// privateNames are the last labels of names that no server on the internet has.
var privateNames = []string{"arpa", "internal", "local", "localhost", "svc"}

var publicHostPattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?[.])+([a-z]([a-z0-9-]*[a-z0-9])?)$`)

// checkEndpoint requires the URL of a server on the internet by its name. AgentCore calls it from its own network, where addresses and
// names of private networks lead elsewhere.
func checkEndpoint(v *part.Verdict, at, url string) {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
	host, _, _ = strings.Cut(host, ":")
	name := publicHostPattern.FindStringSubmatch(host)
	v.Require(name != nil && !slices.Contains(privateNames, name[3]), at,
		"%q is no name of a server on the internet, which is where AgentCore reaches servers: it reaches neither Services of the cluster nor addresses. "+
			"Give the server a public name, through spec.ingress for one of the capability", status.Truncate(host, part.MaxLabel))
}

func checkToolParameters(v *part.Verdict, at string, list []nexusv1.GatewayToolParameter) {
	for i, p := range list {
		v.Require((p.Type == "array") == (p.Items != ""), part.Entry(at, i)+".items", "is the type of the elements of an array")
	}
}

func isFunction(s *nexusv1.NexusAICapabilitySpec, name string) bool {
	return slices.ContainsFunc(part.DataOf(s).Resources, func(r nexusv1.ResourcePart) bool {
		return r.Name == name && resources.TypeOfResource(r) == typeFunction
	})
}
