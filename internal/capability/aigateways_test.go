// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"strings"
	"testing"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// toolGateway declares a gateway with a function of the capability and a server.
func toolGateway(edits ...func(*nexusv1.ToolGatewaySpec)) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		withData(c)
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		c.Spec.DataServices.Resources = []nexusv1.ResourcePart{{Name: "orders-api", Kind: "LambdaFunction",
			Spec: &k8sruntime.RawExtension{Raw: []byte(`{"functionName":"{name}","role":"arn:aws:iam::123456789012:role/functions","code":{"imageUri":"123456789012.dkr.ecr.eu-central-1.amazonaws.com/orders:1"}}`)}}}
		g := nexusv1.ToolGatewaySpec{Name: "tools", Targets: []nexusv1.GatewayTargetSpec{
			{Name: "orders", Function: "orders-api", Tools: []nexusv1.GatewayTool{{Name: "find_order", Description: "Finds an order.",
				Parameters: []nexusv1.GatewayToolParameter{{Name: "id", Type: "string", Required: true}, {Name: "fields", Type: "array", Items: "string", Description: "What to return."}}}}},
			{Name: "search", MCPServer: &nexusv1.GatewayServer{Endpoint: "https://mcp.example.com/mcp"}},
		}}
		for _, edit := range edits {
			edit(&g)
		}
		c.Spec.AI = &nexusv1.AISpec{Gateways: []nexusv1.ToolGatewaySpec{g}}
	}
}

// anyGateway adds a gateway with servers.
func anyGateway(t *rapid.T, c *nexusv1.NexusAICapability) {
	if !rapid.Bool().Draw(t, "gateway") {
		return
	}
	g := nexusv1.ToolGatewaySpec{Name: "gate-" + rapid.StringMatching(`[a-z]{1,20}`).Draw(t, "gateway's name")}
	for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,9}`), 1, 3, rapid.ID).Draw(t, "targets") {
		g.Targets = append(g.Targets, nexusv1.GatewayTargetSpec{Name: name, MCPServer: &nexusv1.GatewayServer{Endpoint: "https://mcp.example.com/" + name}})
	}
	c.Spec.AI.Gateways = []nexusv1.ToolGatewaySpec{g}
}

// A gateway calls exactly its functions, as a role that AgentCore alone assumes. The components that may use it invoke it, and no others.
func TestGateways_CallTheirFunctionsAndAreInvoked(t *testing.T) {
	c := minimal(toolGateway(), with("agent", access("gateways/tools")), with("other", access("secrets/openai")))
	f := bounded(c, facts())
	g := builtWith(t, c, f)
	const (
		function = "arn:aws:lambda:eu-central-1:123456789012:function:myapp-dev-orders-api"
		gateway  = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:gateway/myapp-dev-tools"
	)
	if n, _ := g.Node("AWSResource/myapp-dev-tools"); n.Unresolved != "LambdaFunction/myapp-dev-orders-api" {
		t.Errorf("without the function, the gateway waits for %q", n.Unresolved)
	}
	f.Owned = map[string]capability.Proof{"LambdaFunction/myapp-dev-orders-api": {ARN: function}, "AWSResource/myapp-dev-tools": {ARN: gateway, Values: map[string]string{"NEXUS_GATEWAY_URL_TOOLS": "https://tools.example"}}}
	g = builtWith(t, c, f)
	for id, expected := range map[string]map[request]bool{
		"IAMRole/myapp-dev-tools.service": {{"lambda:InvokeFunction", function, ""}: true, {"lambda:InvokeFunction", function + "-2", ""}: false, {"lambda:UpdateFunctionCode", function, ""}: false,
			{"bedrock-agentcore:InvokeGateway", gateway, ""}: false},
		"IAMRole/" + roleOf(c, "agent"): {{"bedrock-agentcore:InvokeGateway", gateway, ""}: true, {"bedrock-agentcore:InvokeGateway", gateway + "-2", ""}: false,
			{"bedrock-agentcore:UpdateGateway", gateway, ""}: false, {"lambda:InvokeFunction", function, ""}: false},
		"IAMRole/" + roleOf(c, "other"): {{"bedrock-agentcore:InvokeGateway", gateway, ""}: false},
	} {
		documents := policies(t, object(t, g, id))
		for r, may := range expected {
			if got := granted(t, documents, r); got != may {
				t.Errorf("%s: %s on %s: %v", id, r.action, r.resource, got)
			}
		}
	}
	data := at(t, object(t, g, "ConfigMap/"+strings.TrimSuffix(roleOf(c, "agent"), "role")+"config"), "data").(map[string]any)
	if data["NEXUS_GATEWAY_URL_TOOLS"] != "https://tools.example" {
		t.Errorf("%v", data)
	}
	mcp := func(target string) map[string]any {
		return at(t, object(t, g, "AWSResource/myapp-dev-tools-"+target), "spec", "properties", "TargetConfiguration", "Mcp").(map[string]any)
	}
	lambda := mcp("orders")["Lambda"].(map[string]any)
	schema := lambda["ToolSchema"].(map[string]any)["InlinePayload"].([]any)[0].(map[string]any)
	input := schema["InputSchema"].(map[string]any)
	fields := input["Properties"].(map[string]any)["fields"].(map[string]any)
	if lambda["LambdaArn"].(map[string]any)["$ref"] != "LambdaFunction/myapp-dev-orders-api" || schema["Name"] != "find_order" || !slices.Equal(input["Required"].([]any), []any{"id"}) ||
		fields["Items"].(map[string]any)["Type"] != "string" {
		t.Errorf("%v", lambda)
	}
	if server := mcp("search")["McpServer"].(map[string]any); server["Endpoint"] != "https://mcp.example.com/mcp" {
		t.Errorf("%v", server)
	}
	if used := capability.UsersOf(c, "LambdaFunction", "myapp-dev-orders-api"); !slices.Equal(used, []string{"AWSResource/myapp-dev-tools", "AWSResource/myapp-dev-tools-orders"}) {
		t.Errorf("the function is used by %v", used)
	}
	if used := capability.UsersOf(c, "AWSResource", "myapp-dev-tools"); len(used) != 2 {
		t.Errorf("the gateway is used by %v", used)
	}
}

// A target has no tags, so that a later object could not find it. It is therefore not retained.
func TestGateways_TheirTargetsAreNotRetained(t *testing.T) {
	c := minimal(toolGateway(), func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = nexusv1.DeletionRetain })
	g := compile(t, c, facts())
	for id, want := range map[string]string{"tools": "Retain", "tools-orders": "Delete", "tools-search": "Delete"} {
		if got := at(t, object(t, g, "AWSResource/myapp-dev-"+id), "spec", "deletionPolicy"); got != want {
			t.Errorf("%s has %v", id, got)
		}
	}
}

func TestGateways_AreRefusedByTheirFields(t *testing.T) {
	target := func(edit func(*nexusv1.GatewayTargetSpec)) func(*nexusv1.ToolGatewaySpec) {
		return func(g *nexusv1.ToolGatewaySpec) { edit(&g.Targets[0]) }
	}
	server := func(endpoint string) func(*nexusv1.ToolGatewaySpec) {
		return func(g *nexusv1.ToolGatewaySpec) { g.Targets[1].MCPServer.Endpoint = endpoint }
	}
	parameter := func(edit func(*nexusv1.GatewayToolParameter)) func(*nexusv1.ToolGatewaySpec) {
		return target(func(t *nexusv1.GatewayTargetSpec) { edit(&t.Tools[0].Parameters[0]) })
	}
	for name, k := range map[string]struct {
		edit        func(*nexusv1.ToolGatewaySpec)
		field, text string
	}{
		"no target":      {func(g *nexusv1.ToolGatewaySpec) { g.Targets = nil }, ".targets", "Required value"},
		"a target twice": {func(g *nexusv1.ToolGatewaySpec) { g.Targets[1].Name = "orders" }, ".targets[1]", "Duplicate value"},
		"both": {target(func(t *nexusv1.GatewayTargetSpec) {
			t.MCPServer = &nexusv1.GatewayServer{Endpoint: "https://a.example"}
		}), ".targets[0]", "exactly one"},
		"neither":            {target(func(t *nexusv1.GatewayTargetSpec) { t.Function, t.Tools = "", nil }), ".targets[0]", "exactly one"},
		"no tools":           {target(func(t *nexusv1.GatewayTargetSpec) { t.Tools = nil }), ".targets[0].tools", "what a function does"},
		"no function":        {target(func(t *nexusv1.GatewayTargetSpec) { t.Function = "news" }), ".targets[0].function", "no function of"},
		"http":               {func(g *nexusv1.ToolGatewaySpec) { g.Targets[1].MCPServer.Endpoint = "http://mcp.example.com" }, ".targets[1].mcpServer.endpoint", "must be a URL that begins with https://"},
		"a Service":          {server("https://tools.myapp-dev.svc.cluster.local/mcp"), ".targets[1].mcpServer.endpoint", "no name of a server on the internet"},
		"a short Service":    {server("https://tools.myapp-dev.svc/mcp"), ".targets[1].mcpServer.endpoint", "no name of a server on the internet"},
		"metadata of AWS":    {server("https://169.254.169.254/latest/meta-data"), ".targets[1].mcpServer.endpoint", "no name of a server on the internet"},
		"a number":           {server("https://2852039166/"), ".targets[1].mcpServer.endpoint", "no name of a server on the internet"},
		"a hexadecimal one":  {server("https://0xa9.0xfe.0xa9.0xfe/"), ".targets[1].mcpServer.endpoint", "no name of a server on the internet"},
		"an instance":        {server("https://ip-10-0-0-1.ec2.internal:8443"), ".targets[1].mcpServer.endpoint", "no name of a server on the internet"},
		"a host alone":       {server("https://localhost:8443/mcp"), ".targets[1].mcpServer.endpoint", "no name of a server on the internet"},
		"a tool twice":       {target(func(t *nexusv1.GatewayTargetSpec) { t.Tools = append(t.Tools, t.Tools[0]) }), ".targets[0].tools[1]", "Duplicate value"},
		"no description":     {target(func(t *nexusv1.GatewayTargetSpec) { t.Tools[0].Description = "" }), ".targets[0].tools[0].description", "at least 1 chars"},
		"a type":             {parameter(func(p *nexusv1.GatewayToolParameter) { p.Type = "date" }), ".targets[0].tools[0].parameters[0].type", `supported values: "string", "number"`},
		"an array of what":   {parameter(func(p *nexusv1.GatewayToolParameter) { p.Type = "array" }), ".targets[0].tools[0].parameters[0].items", "type of the elements"},
		"a parameter's name": {parameter(func(p *nexusv1.GatewayToolParameter) { p.Name = "a-b" }), ".targets[0].tools[0].parameters[0].name", "must be letters, digits and '_'"},
	} {
		t.Run(name, func(t *testing.T) {
			c := minimal(toolGateway(k.edit))
			s, ok := status.AsStalled(capability.Validate(c, bounded(c, facts())))
			if !ok || s.Field != "spec.ai.gateways[0]"+k.field || !strings.Contains(s.Message, k.text) {
				t.Errorf("%v, want %s: %s", s, k.field, k.text)
			}
		})
	}
}
