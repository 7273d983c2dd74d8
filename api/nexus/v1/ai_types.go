// SPDX-License-Identifier: Apache-2.0

package v1

// AISpec declares what an AI application needs in AWS beside its stores. Each entry becomes AWSResources of the capability, with rights on
// exactly these resources. An administrator allows their types with --types of the operator. No other part of the capability, in any list,
// has the name of an entry.
type AISpec struct {
	// VectorStores keep embeddings in Amazon S3 Vectors. The workloads read, write and query their vectors. Absent: none.
	// Needs AWS::S3Vectors::* in --types.
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors.html
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	VectorStores []VectorStoreSpec `json:"vectorStores,omitempty"`
	// Guardrails of Amazon Bedrock that the workloads apply. Those that exist already are named in dataServices.bedrock. Absent: none.
	// Needs AWS::Bedrock::Guardrail and AWS::Bedrock::GuardrailVersion in --types.
	// https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails.html
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Guardrails []GuardrailSpec `json:"guardrails,omitempty"`
	// InferenceProfiles through which the workloads invoke models, and in no other way: AWS reports the cost of each by its tags. The
	// role of the workloads must have a permissions boundary, as for dataServices.bedrock. Absent: none.
	// Needs AWS::Bedrock::ApplicationInferenceProfile in --types.
	// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles.html
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	InferenceProfiles []InferenceProfileSpec `json:"inferenceProfiles,omitempty"`
	// Memory of Amazon Bedrock AgentCore, in which agents keep their conversations and what they learned. Absent: none.
	// Needs AWS::BedrockAgentCore::Memory in --types.
	// https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/memory.html
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Memory []MemorySpec `json:"memory,omitempty"`
	// KnowledgeBases of Amazon Bedrock, which find passages in the documents of a bucket. Those that exist already are named in
	// dataServices.bedrock. The roles must have a permissions boundary, as for inferenceProfiles. Absent: none.
	// Needs AWS::Bedrock::KnowledgeBase and AWS::Bedrock::DataSource in --types.
	// https://docs.aws.amazon.com/bedrock/latest/userguide/knowledge-base.html
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	KnowledgeBases []KnowledgeBaseSpec `json:"knowledgeBases,omitempty"`
	// Gateways of Amazon Bedrock AgentCore, which give agents tools: functions of the capability, and servers of the Model Context Protocol.
	// Absent: none.
	// Needs AWS::BedrockAgentCore::Gateway and AWS::BedrockAgentCore::GatewayTarget in --types.
	// https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway.html
	// +optional
	// +kubebuilder:validation:MaxItems=4
	// +listType=map
	// +listMapKey=name
	Gateways []ToolGatewaySpec `json:"gateways,omitempty"`
	// AgentRuntimes of Amazon Bedrock AgentCore run agents outside of the cluster, each as a role with exactly the rights of its access; the
	// workloads invoke them. Absent: none.
	// Needs AWS::BedrockAgentCore::Runtime in --types.
	// https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/agents-tools-runtime.html
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	AgentRuntimes []AgentRuntimeSpec `json:"agentRuntimes,omitempty"`
}

// VectorStoreSpec declares the vector bucket {capabilityName}-{environment}-{name} and its indexes. S3 encrypts the vectors with its
// own keys.
type VectorStoreSpec struct {
	// Name is the purpose, the last part of the name of the vector bucket: the workloads find it in NEXUS_VECTOR_BUCKET_{NAME} and in the
	// parameter s3vectors/{name}-bucket.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Indexes of the vector bucket, at least one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Indexes []VectorIndexSpec `json:"indexes"`
	// RecreateOnLoss creates the vector bucket and its indexes again, empty, when they are missing in AWS although the operator did not
	// delete them; by default the operator reports Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// VectorIndexSpec declares one index of a vector bucket. Its vectors are numbers of type float32.
// +kubebuilder:validation:XValidation:rule="self.dimension == oldSelf.dimension",message="dimension is immutable: declare an index of another name"
// +kubebuilder:validation:XValidation:rule="(has(self.distanceMetric) ? self.distanceMetric : 'cosine') == (has(oldSelf.distanceMetric) ? oldSelf.distanceMetric : 'cosine')",message="distanceMetric is immutable, and cosine where it is absent: declare an index of another name"
// +kubebuilder:validation:XValidation:rule="has(self.nonFilterableKeys) == has(oldSelf.nonFilterableKeys) && (!has(self.nonFilterableKeys) || self.nonFilterableKeys == oldSelf.nonFilterableKeys)",message="nonFilterableKeys are immutable: declare an index of another name"
type VectorIndexSpec struct {
	// Name of the index in its vector bucket: the workloads find its ARN in NEXUS_VECTOR_INDEX_ARN_{STORE}_{NAME} and in the parameter
	// s3vectors/{store}-{name}-index-arn.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Dimension is the number of values in each vector, 1 to 4096, as the embedding model makes them. Immutable.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	Dimension int32 `json:"dimension"`
	// DistanceMetric by which vectors are compared, cosine or euclidean; default cosine. Immutable.
	// +optional
	// +kubebuilder:validation:Enum=cosine;euclidean
	DistanceMetric string `json:"distanceMetric,omitempty"`
	// NonFilterableKeys are the keys of metadata that queries return and cannot filter by, such as the text of a passage. Absent: none.
	// Immutable.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +listType=set
	NonFilterableKeys []MetadataKey `json:"nonFilterableKeys,omitempty"`
}

// MetadataKey is a key of the metadata of vectors.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
type MetadataKey string
