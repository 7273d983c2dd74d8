// SPDX-License-Identifier: Apache-2.0

package v1

// AgentRuntimeSpec declares an agent that Amazon Bedrock AgentCore runs outside of the cluster, and the role as which it acts.
type AgentRuntimeSpec struct {
	// Name is the purpose, such as assistant: the workloads find the ARN of the runtime, which they invoke, in
	// NEXUS_AGENT_RUNTIME_ARN_{NAME} and in the parameter bedrock-agentcore/{name}-runtime-arn.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Image of the agent for arm64, in a private repository of Amazon ECR in the account and region of the capability: AgentCore pulls from
	// no other registry. An edit makes another version of the runtime, to which AgentCore sends new sessions.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[0-9]{12}[.]dkr[.]ecr[.][a-z0-9-]+[.]amazonaws[.]com([.]cn)?/[a-z0-9]+([._/-][a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|@sha256:[a-f0-9]{64})$`
	Image string `json:"image"`
	// Protocol in which the agent is spoken to, HTTP, MCP or A2A; default HTTP.
	// +optional
	// +kubebuilder:validation:Enum=HTTP;MCP;A2A
	Protocol string `json:"protocol,omitempty"`
	// Access lists the data services, parts and secrets of the capability that the agent may use, by name or by field/name, as access of
	// a component does; the agent has their variables as well. It names neither the catalog of Glue nor an agent runtime. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Access []AccessName `json:"access,omitempty"`
	// Env are further environment variables of the agent. Their values are shown to everybody who may read the runtime in AWS.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=name
	Env []AgentVariable `json:"env,omitempty"`
}

// AgentVariable is an environment variable of an agent.
type AgentVariable struct {
	// Name of the variable; names that begin with NEXUS_ or AWS_ are not the capability's to set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('NEXUS_') && !self.startsWith('AWS_')",message="names that begin with NEXUS_ or AWS_ are set by the operator and by AWS"
	Name string `json:"name"`
	// Value of the variable.
	// +kubebuilder:validation:MaxLength=2048
	Value string `json:"value"`
}
