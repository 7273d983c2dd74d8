// SPDX-License-Identifier: Apache-2.0

package v1

// ToolGatewaySpec declares a gateway of Amazon Bedrock AgentCore, which gives agents tools in the Model Context Protocol. Callers sign
// their requests with credentials of AWS, as the workloads and agent runtimes that may use the gateway do.
type ToolGatewaySpec struct {
	// Name is the purpose, such as tools: the workloads find the URL of the gateway in NEXUS_GATEWAY_URL_{NAME} and in the parameter
	// bedrock-agentcore/{name}-gateway-url.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Targets have the tools, at least one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Targets []GatewayTargetSpec `json:"targets"`
}

// GatewayTargetSpec declares a function of the capability with its tools, or a server that speaks the Model Context Protocol.
// +kubebuilder:validation:XValidation:rule="has(self.function) != has(self.mcpServer)",message="a target has exactly one of function and mcpServer"
// +kubebuilder:validation:XValidation:rule="has(self.function) == has(self.tools)",message="tools describe what a function does: a function has some, and an MCP server lists them",fieldPath=".tools"
type GatewayTargetSpec struct {
	// Name of the target in the gateway, with which the names of its tools begin.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Function is the name of an entry of dataServices.resources that is a function of AWS Lambda.
	// +optional
	Function PartName `json:"function,omitempty"`
	// Tools of the function.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Tools []GatewayTool `json:"tools,omitempty"`
	// MCPServer is a server on the internet that needs no credentials.
	// +optional
	MCPServer *GatewayServer `json:"mcpServer,omitempty"`
}

// GatewayServer is a server that speaks the Model Context Protocol.
type GatewayServer struct {
	// Endpoint is the URL of the server, which begins with https://.
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https://[a-z0-9.-]+(:[0-9]+)?(/[!-~]*)?$`
	Endpoint string `json:"endpoint"`
}

// GatewayTool describes a tool to agents.
type GatewayTool struct {
	// Name of the tool.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_-]*$`
	Name string `json:"name"`
	// Description tells agents what the tool does and when to use it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description"`
	// Parameters of the tool. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Parameters []GatewayToolParameter `json:"parameters,omitempty"`
}

// GatewayToolParameter is a member of the JSON object with which agents call a tool.
// +kubebuilder:validation:XValidation:rule="(self.type == 'array') == has(self.items)",message="items is the type of the elements of an array",fieldPath=".items"
type GatewayToolParameter struct {
	// Name of the parameter.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	Name string `json:"name"`
	// Type of the value.
	// +kubebuilder:validation:Enum=string;number;integer;boolean;array;object
	Type string `json:"type"`
	// Items is the type of the elements of an array.
	// +optional
	// +kubebuilder:validation:Enum=string;number;integer;boolean;object
	Items string `json:"items,omitempty"`
	// Description tells agents what the value means.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Description string `json:"description,omitempty"`
	// Required is true for a parameter without which the tool cannot be called. Default false.
	// +optional
	Required bool `json:"required,omitempty"`
}
