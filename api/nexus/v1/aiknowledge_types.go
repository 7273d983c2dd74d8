// SPDX-License-Identifier: Apache-2.0

package v1

// KnowledgeBaseSpec declares a knowledge base of Amazon Bedrock, its data source, and the role as which Bedrock reads and writes for it.
type KnowledgeBaseSpec struct {
	// Name is the purpose, such as handbook: the workloads find the ID of the knowledge base in NEXUS_BEDROCK_KNOWLEDGE_BASE_{NAME} and that
	// of its data source in NEXUS_BEDROCK_DATA_SOURCE_{NAME}, and both in the parameters bedrock/{name}-knowledge-base and
	// bedrock/{name}-data-source.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Create declares the knowledge base.
	Create KnowledgeBaseCreateSpec `json:"create"`
	// RecreateOnLoss creates the knowledge base again when it is missing in AWS although the operator did not delete it; by default the
	// operator reports Missing. The vectors of the former one stay in the index, without a record of their documents.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// KnowledgeBaseCreateSpec declares how passages are embedded, where their vectors are, and which documents they are from. The operator
// never starts an ingestion: see docs/ai.md.
// +kubebuilder:validation:XValidation:rule="self.embeddingModelID == oldSelf.embeddingModelID",message="embeddingModelID is immutable: declare a knowledge base of another name"
// +kubebuilder:validation:XValidation:rule="self.vectorIndex == oldSelf.vectorIndex",message="vectorIndex is immutable: declare a knowledge base of another name"
type KnowledgeBaseCreateSpec struct {
	// EmbeddingModelID is the foundation model that makes the vectors, such as amazon.titan-embed-text-v2:0. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=140
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+[.][a-z0-9-]+([.:][a-z0-9-]+)*$`
	EmbeddingModelID string `json:"embeddingModelID"`
	// VectorIndex is the index of spec.ai.vectorStores in which the vectors are. Its dimension is one that the model makes, its
	// nonFilterableKeys have AMAZON_BEDROCK_TEXT and AMAZON_BEDROCK_METADATA, and no other knowledge base has it. Immutable.
	VectorIndex VectorIndexReference `json:"vectorIndex"`
	// Source names the documents.
	Source KnowledgeSourceSpec `json:"source"`
	// WorkloadsSync lets the workloads start and watch ingestions of the knowledge base; false by default.
	// +optional
	WorkloadsSync bool `json:"workloadsSync,omitempty"`
}

// VectorIndexReference names an index of spec.ai.vectorStores.
type VectorIndexReference struct {
	// Store is the name of the vector store.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Store string `json:"store"`
	// Index is the name of the index in it.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Index string `json:"index"`
}

// KnowledgeSourceSpec names the documents of a knowledge base.
type KnowledgeSourceSpec struct {
	// Bucket is the name of a bucket that dataServices.s3 of this capability creates.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Bucket string `json:"bucket"`
	// Prefix begins the keys of the objects that are documents, such as handbook/; absent: all objects. Bedrock reads no other objects.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9!_.()/=+-]*$`
	Prefix string `json:"prefix,omitempty"`
}
