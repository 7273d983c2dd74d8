// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
)

const (
	vectorStoresField = aiField + ".vectorStores"
	typeVectorBucket  = "AWS::S3Vectors::VectorBucket"
	typeVectorIndex   = "AWS::S3Vectors::Index"
	// maxVectorPurpose: {cap}-{env}-{purpose} is the name of a vector bucket.
	maxVectorPurpose = 20
	maxVectorIndex   = 40
	maxVectorIndexes = 8
	maxDimension     = 4096
	defaultDistance  = "cosine"
)

// vectorStoreParts returns the vector buckets and their indexes. Rights on vectors are on each index, and never on what others may add to
// the bucket.
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
			}).Allows("s3vectors:DeleteVectors", "s3vectors:GetIndex", "s3vectors:GetVectors", "s3vectors:ListVectors", "s3vectors:PutVectors", "s3vectors:QueryVectors").
				Tells("NEXUS_VECTOR_INDEX_ARN_"+variable+"_"+part.EnvironmentVariable(index.Name), "s3vectors/"+vectorIndex(store, index)+"-index-arn", resources.ExportARN).
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

func checkVectorStores(v *part.Verdict, list []nexusv1.VectorStoreSpec) {
	v.Distinct(vectorStoresField, part.NamesIn(list, func(s nexusv1.VectorStoreSpec) string { return s.Name }), maxVectorPurpose)
	for i, store := range list {
		at := part.Entry(vectorStoresField, i) + ".indexes"
		v.Require(len(store.Indexes) >= 1 && len(store.Indexes) <= maxVectorIndexes, at, "1 to %d", maxVectorIndexes)
		v.Distinct(at, part.NamesIn(store.Indexes, func(index nexusv1.VectorIndexSpec) string { return index.Name }), maxVectorIndex)
		for j, index := range store.Indexes {
			field := part.Entry(at, j)
			v.Require(len(index.Name) >= 3, field+".name", "at least 3 characters")
			v.Require(index.Dimension >= 1 && index.Dimension <= maxDimension, field+".dimension", "1 to %d", maxDimension)
			part.OneOf(v, field+".distanceMetric", index.DistanceMetric, "", defaultDistance, "euclidean")
			v.Require(len(index.NonFilterableKeys) <= 10, field+".nonFilterableKeys", "at most 10")
			for n, key := range index.NonFilterableKeys {
				v.Require(key != "" && len(key) <= 63, fmt.Sprintf("%s.nonFilterableKeys[%d]", field, n), "1 to 63 characters")
			}
		}
	}
}
