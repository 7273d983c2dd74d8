// SPDX-License-Identifier: Apache-2.0

package ai

import (
	"cmp"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/bedrock"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/buckets"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	knowledgeBasesField = aiField + ".knowledgeBases"
	typeKnowledgeBase   = "AWS::Bedrock::KnowledgeBase"
	typeDataSource      = "AWS::Bedrock::DataSource"
	maxKnowledgeName    = 100
	keyOfTexts          = "AMAZON_BEDROCK_TEXT"
	keyOfMetadata       = "AMAZON_BEDROCK_METADATA"
)

// dimensionsOf are the numbers of values in the vectors of embedding models, where AWS documents them. Of a model that makes several, the
// knowledge base names the one.
// https://docs.aws.amazon.com/bedrock/latest/userguide/knowledge-base-supported.html
var dimensionsOf = map[string][]int32{
	"amazon.titan-embed-text-v1": {1536}, "amazon.titan-embed-text-v2:0": {256, 512, 1024},
	"cohere.embed-english-v3": {1024}, "cohere.embed-multilingual-v3": {1024},
}

// vectorUse lists the actions of a knowledge base on the vectors of its index.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
var vectorUse = []string{"s3vectors:DeleteVectors", "s3vectors:GetIndex", "s3vectors:GetVectors", "s3vectors:PutVectors",
	"s3vectors:QueryVectors"}

// sourceName is the purpose of the data source of a knowledge base.
func sourceName(knowledgeBase string) string { return knowledgeBase + "-source" }

// knowledgeBaseParts returns the knowledge bases, each with the data source that it reads. bedrock:RetrieveAndGenerate is not among the
// actions of the workloads, because AWS evaluates it for no resource.
func knowledgeBaseParts(list []nexusv1.KnowledgeBaseSpec) (out []part.Resource) {
	for i, kb := range list {
		at, variable, index := part.Entry(knowledgeBasesField, i), part.EnvironmentVariable(kb.Name),
			kb.Create.VectorIndex.Store+"-"+kb.Create.VectorIndex.Index
		actions := []nexusv1.PartAction{"bedrock:Retrieve"}
		if kb.Create.WorkloadsSync {
			actions = append(actions, "bedrock:GetIngestionJob", "bedrock:ListIngestionJobs", "bedrock:StartIngestionJob")
		}
		base := composed(kb.Name, typeKnowledgeBase, at, func(k *part.Compiler) map[string]any { return knowledgeBaseProperties(k, kb, index) }).
			Allows(actions...).
			Tells("NEXUS_BEDROCK_KNOWLEDGE_BASE_"+variable, "bedrock/"+kb.Name+"-knowledge-base", resources.ExportID).
			After(index)
		base.Role, base.RecreateOnLoss = knowledgeBaseRole(kb, index), kb.RecreateOnLoss
		source := composed(sourceName(kb.Name), typeDataSource, at, func(k *part.Compiler) map[string]any { return dataSourceProperties(k, kb) }).
			Tells("NEXUS_BEDROCK_DATA_SOURCE_"+variable, "bedrock/"+kb.Name+"-data-source", "properties.DataSourceId").
			After(kb.Name)
		out = append(out, base, source)
	}
	return out
}

func knowledgeBaseProperties(k *part.Compiler, kb nexusv1.KnowledgeBaseSpec, index string) map[string]any {
	vectors := map[string]any{"EmbeddingModelArn": bedrock.FoundationModel(k.Home, k.Home.Region, kb.Create.EmbeddingModelID)}
	if len(dimensionsOf[kb.Create.EmbeddingModelID]) > 1 {
		vectors["EmbeddingModelConfiguration"] = map[string]any{"BedrockEmbeddingModelConfiguration": map[string]any{"Dimensions": int64(dimensionOf(k, kb.Create.VectorIndex))}}
	}
	return map[string]any{
		"Name":                       part.Fitted(k.Names.Of(kb.Name), maxKnowledgeName, "-"),
		"RoleArn":                    resources.RoleOf(k, kb.Name),
		"KnowledgeBaseConfiguration": map[string]any{"Type": "VECTOR", "VectorKnowledgeBaseConfiguration": vectors},
		"StorageConfiguration": map[string]any{"Type": "S3_VECTORS", "S3VectorsConfiguration": map[string]any{
			"IndexArn": statusOf(k, index, "arn")}},
	}
}

// dimensionOf is the number of values in the vectors of an index.
// The spec of a compiler may lack the vector stores that an access leaves out.
func dimensionOf(k *part.Compiler, ref nexusv1.VectorIndexReference) int32 {
	_, index := findIndex(aiOf(&k.Capability.Spec).VectorStores, ref)
	return index.Dimension
}

// dataSourceProperties keep the vectors when the data source is deleted: they are data of the vector store, which has guards, and the
// deletion needs no rights of the role.
func dataSourceProperties(k *part.Compiler, kb nexusv1.KnowledgeBaseSpec) map[string]any {
	bucket := map[string]any{"BucketArn": map[string]any{"$ref": sourceID(k, kb), "field": "status.arn"}}
	if prefix := kb.Create.Source.Prefix; prefix != "" {
		bucket["InclusionPrefixes"] = []any{prefix}
	}
	return map[string]any{
		"Name":                    part.Fitted(k.Names.Of(sourceName(kb.Name)), maxKnowledgeName, "-"),
		"KnowledgeBaseId":         statusOf(k, kb.Name, "id"),
		"DataDeletionPolicy":      "RETAIN",
		"DataSourceConfiguration": map[string]any{"Type": "S3", "S3Configuration": bucket},
	}
}

// sourceID is the ID of the node of the bucket that a knowledge base reads.
func sourceID(k *part.Compiler, kb nexusv1.KnowledgeBaseSpec) string {
	return buckets.KindBucket + "/" + buckets.Object(k.Capability, kb.Create.Source.Bucket)
}

func knowledgeBaseRole(kb nexusv1.KnowledgeBaseSpec, index string) *part.ServiceRole {
	return &part.ServiceRole{
		Service: "bedrock.amazonaws.com",
		Sources: func(h part.Home) string { return h.ARN("bedrock", "knowledge-base/*") },
		Uses: func(k *part.Compiler) []string {
			return []string{part.KindAnyType + "/" + k.Names.Of(index), sourceID(k, kb)}
		},
		Rights: func(k *part.Compiler) ([]iampolicy.Statement, string) {
			return knowledgeBaseRights(k, kb, index)
		},
	}
}

// knowledgeBaseRights allow a knowledge base to embed texts with its model, to use the vectors of its index, and to read its source.
// https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html
func knowledgeBaseRights(k *part.Compiler, kb nexusv1.KnowledgeBaseSpec, index string) (out []iampolicy.Statement, lacks string) {
	out = append(out, iampolicy.Statement{Sid: "Embed", Action: []string{"bedrock:InvokeModel"},
		Resource: []string{bedrock.FoundationModel(k.Home, k.Home.Region, kb.Create.EmbeddingModelID)}})
	bucket := k.Owned(sourceID(k, kb), k.Home.BucketARN(buckets.NameInS3(k, kb.Create.Source.Bucket)))
	if bucket == "" {
		lacks = sourceID(k, kb)
	} else {
		out = append(out, iampolicy.Statement{Sid: "List", Action: []string{"s3:ListBucket"}, Resource: []string{bucket}},
			iampolicy.Statement{Sid: "Read", Action: []string{"s3:GetObject"}, Resource: []string{bucket + "/" + kb.Create.Source.Prefix + "*"}})
		if key := cmp.Or(k.StoreKey(buckets.Spec(k.Spec).KMSKeyArn), part.KeptKey(k)); key != "" {
			out = append(out, buckets.KeyStatement(k, part.KeyReads, key, []string{bucket}))
		}
	}
	vectors := arnOfPart(k, index)
	if vectors == "" {
		return out, part.KindAnyType + "/" + k.Names.Of(index)
	}
	return append(out, iampolicy.Statement{Sid: "Vectors", Action: vectorUse, Resource: []string{vectors}}), lacks
}

// findIndex returns the place of an index in a list of vector stores, and the index; "" without it.
func findIndex(stores []nexusv1.VectorStoreSpec, ref nexusv1.VectorIndexReference) (at string, index nexusv1.VectorIndexSpec) {
	for i, store := range stores {
		for j, declared := range store.Indexes {
			if store.Name == ref.Store && declared.Name == ref.Index {
				return part.Entry(part.Entry(vectorStoresField, i)+".indexes", j), declared
			}
		}
	}
	return "", nexusv1.VectorIndexSpec{}
}

func checkKnowledgeBases(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec, f part.Facts) {
	list, used := aiOf(s).KnowledgeBases, map[nexusv1.VectorIndexReference]bool{}
	for i, kb := range list {
		at := part.Entry(knowledgeBasesField, i) + ".create"
		v.Require(isOwnBucket(s, kb.Create.Source.Bucket), at+".source.bucket", "%q is no bucket that dataServices.s3 of the capability creates",
			status.Truncate(kb.Create.Source.Bucket, part.MaxLabel))
		checkIndexOfKnowledge(v, at, s, kb.Create)
		v.Require(!used[kb.Create.VectorIndex], at+".vectorIndex", "is that of another knowledge base, whose passages would be found by both: declare another index")
		used[kb.Create.VectorIndex] = true
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if len(list) > 0 && f.Provider.Account != "" && f.Provider.Boundary == "" {
		v.Refuse(status.ReasonNotPermitted, knowledgeBasesField, "need a permissions boundary, in which an administrator says which models may be used: "+
			"a spec.providerRef to an AWSProvider with a permissionsBoundaryARN, or the operator's --default-permissions-boundary")
	}
}

func isOwnBucket(s *nexusv1.NexusAICapabilitySpec, name string) bool {
	return slices.ContainsFunc(buckets.Selected(s), func(b nexusv1.BucketSpec) bool { return b.Name == name && b.Existing == nil })
}

// checkIndexOfKnowledge requires an index that fits the model, and that keeps the texts out of the filterable metadata: S3 Vectors limits
// that metadata to 2 KB for each vector, and an ingestion fails beyond it.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-limitations.html
func checkIndexOfKnowledge(v *part.Verdict, at string, s *nexusv1.NexusAICapabilitySpec, create nexusv1.KnowledgeBaseCreateSpec) {
	ref := create.VectorIndex
	field, index := findIndex(aiOf(s).VectorStores, ref)
	if field == "" {
		v.Require(false, at+".vectorIndex", "%s/%s is no index of spec.ai.vectorStores", status.Truncate(ref.Store, part.MaxLabel),
			status.Truncate(ref.Index, part.MaxLabel))
		return
	}
	for _, key := range []nexusv1.MetadataKey{keyOfTexts, keyOfMetadata} {
		v.Require(slices.Contains(index.NonFilterableKeys, key), field+".nonFilterableKeys",
			"lacks %s, which knowledge base %s needs: the list must have %s and %s. It is immutable: declare an index of another name where this one exists",
			key, at, keyOfTexts, keyOfMetadata)
	}
	dimensions := dimensionsOf[create.EmbeddingModelID]
	v.Require(len(dimensions) == 0 || slices.Contains(dimensions, index.Dimension), at+".embeddingModelID",
		"%s makes vectors of dimension %v, and index %s/%s has %d", create.EmbeddingModelID, dimensions, ref.Store, ref.Index, index.Dimension)
}

const (
	vectorStoresField = aiField + ".vectorStores"
	typeVectorBucket  = "AWS::S3Vectors::VectorBucket"
	typeVectorIndex   = "AWS::S3Vectors::Index"
	defaultDistance   = "cosine"
)

// vectorStoreParts returns the vector buckets and their indexes. Rights on vectors are on each index, and never on indexes that others may
// add to the bucket.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-access-management.html
func vectorStoreParts(list []nexusv1.VectorStoreSpec) (out []part.Resource) {
	for i, store := range list {
		at, variable := part.Entry(vectorStoresField, i), part.EnvironmentVariable(store.Name)
		bucket := composed(store.Name, typeVectorBucket, at, func(k *part.Compiler) map[string]any {
			return map[string]any{"VectorBucketName": k.Names.Of(store.Name)}
		}).Allows("s3vectors:GetVectorBucket", "s3vectors:ListIndexes").
			Tells("NEXUS_VECTOR_BUCKET_"+variable, "s3vectors/"+store.Name+"-bucket", "properties.VectorBucketName")
		bucket.RecreateOnLoss = store.RecreateOnLoss
		out = append(out, bucket)
		for j, index := range store.Indexes {
			resource := composed(vectorIndex(store, index), typeVectorIndex, part.Entry(at+".indexes", j), func(k *part.Compiler) map[string]any {
				return vectorIndexProperties(k, store, index)
			}).Allows("s3vectors:DeleteVectors", "s3vectors:GetIndex", "s3vectors:GetVectors", "s3vectors:ListVectors", "s3vectors:PutVectors",
				"s3vectors:QueryVectors").
				Tells("NEXUS_VECTOR_INDEX_ARN_"+variable+"_"+part.EnvironmentVariable(index.Name), "s3vectors/"+vectorIndex(store, index)+"-index-arn",
					resources.ExportARN).
				After(store.Name)
			resource.RecreateOnLoss = store.RecreateOnLoss
			out = append(out, resource)
		}
	}
	return out
}

// vectorIndex is the purpose of an index.
func vectorIndex(store nexusv1.VectorStoreSpec, index nexusv1.VectorIndexSpec) string {
	return store.Name + "-" + index.Name
}

func vectorIndexProperties(k *part.Compiler, store nexusv1.VectorStoreSpec, index nexusv1.VectorIndexSpec) map[string]any {
	out := map[string]any{
		"VectorBucketArn": statusOf(k, store.Name, "arn"), "IndexName": index.Name, "DataType": "float32",
		"Dimension": int64(index.Dimension), "DistanceMetric": cmp.Or(index.DistanceMetric, defaultDistance),
	}
	if len(index.NonFilterableKeys) > 0 {
		out["MetadataConfiguration"] = map[string]any{"NonFilterableMetadataKeys": texts(index.NonFilterableKeys)}
	}
	return out
}

// texts returns a list as properties have it.
func texts[T ~string](list []T) []any {
	out := make([]any, len(list))
	for i, text := range list {
		out[i] = string(text)
	}
	return out
}
