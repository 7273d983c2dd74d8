// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"path"
	"slices"
	"strings"
)

// store is a program that applications run beside them where AWS has a service.
type store struct {
	// images are the last parts of the names of its images.
	images []string
	// instead names the part of a manifest or the object that takes its place.
	instead string
	// declare adds the part to the application; nil where it is an object beside the capability.
	declare func(*App)
}

// stores lists the programs in the order of the search.
var stores = []store{
	{images: []string{"dynamodb-local", "dynamodb"}, instead: "dataServices.dynamodb", declare: func(a *App) { addOnce(&a.Tables, "items") }},
	{images: []string{"minio", "s3mock", "s3proxy", "fake-s3", "rustfs", "seaweedfs"}, instead: "dataServices.s3",
		declare: func(a *App) { addOnce(&a.Buckets, "files") }},
	{images: []string{"elasticmq", "elasticmq-native", "goaws"}, instead: "dataServices.queues",
		declare: func(a *App) { addOnce(&a.Queues, "jobs") }},
	{images: []string{"rabbitmq", "nats", "activemq", "beanstalkd", "activemq-artemis"},
		instead: "dataServices.queues, with a client of Amazon SQS, or an AWSResource of type AWS::AmazonMQ::Broker"},
	{images: []string{"kafka", "cp-kafka", "redpanda", "zookeeper", "cp-zookeeper", "cp-schema-registry"},
		instead: "an AWSResource of type AWS::Kinesis::Stream or AWS::MSK::ServerlessCluster"},
	{images: []string{"postgres", "postgresql", "postgis", "timescaledb", "timescaledb-ha", "pgvector", "paradedb", "pgvecto-rs", "cockroach"},
		instead: "an RDSInstance with engine postgres (examples/aws/rdsinstance.yaml)"},
	{images: []string{"pgbouncer", "pgpool"}, instead: "an RDSInstance, whose endpoint the components use"},
	{images: []string{"mysql", "mariadb", "percona", "mysql-server", "percona-server"},
		instead: "an RDSInstance with engine mysql or mariadb (examples/aws/rdsinstance.yaml)"},
	{images: []string{"redis", "valkey", "redis-stack", "redis-stack-server", "keydb", "dragonfly", "memcached", "redis-cluster",
		"valkey-cluster"}, instead: "a cache cluster of AWS (docs/reference lists the kinds)"},
	{images: []string{"mongo", "mongodb", "mongodb-community-server", "ferretdb", "cassandra", "scylla", "couchdb"},
		instead: "dataServices.dynamodb, with a client of DynamoDB, or an AWSResource of type AWS::DocDB::DBCluster"},
	{images: []string{"qdrant", "weaviate", "milvus", "chroma", "chromadb", "lancedb", "vespa", "marqo"},
		instead: "an AWSResource of type AWS::S3Vectors::VectorBucket (examples/any-type/s3vectors.yaml), or an RDSInstance with pgvector"},
	{images: []string{"elasticsearch", "opensearch", "solr", "meilisearch", "typesense", "kibana", "opensearch-dashboards"},
		instead: "an AWSResource of type AWS::OpenSearchService::Domain"},
	{images: []string{"neo4j", "memgraph", "arangodb", "falkordb"}, instead: "an AWSResource of type AWS::Neptune::DBCluster"},
	{images: []string{"localstack", "localstack-pro", "moto", "motoserver"}, instead: "AWS: declare the stores in dataServices"},
	{images: []string{"ollama", "vllm-openai", "text-generation-inference", "text-embeddings-inference", "llama.cpp", "localai", "local-ai",
		"tritonserver", "sglang", "lmdeploy"},
		instead: "dataServices.bedrock.models (--model chat=MODEL), with a client of Amazon Bedrock"},
	{images: []string{"traefik", "nginx-proxy", "acme-companion", "jwilder", "caddy-docker-proxy", "ingress-nginx"},
		instead: "ingress, which leads requests to the components"},
	{images: []string{"vault", "openbao"}, instead: "secrets, which are in AWS Secrets Manager"},
	{images: []string{"keycloak", "cognito-local", "dex"}, instead: "enableCognito, with a user pool of Amazon Cognito"},
}

// addOnce adds a name to a list that does not have any.
func addOnce(list *[]string, name string) {
	if len(*list) == 0 {
		*list = []string{name}
	}
}

// lastPart returns the last part of the name of an image, without tag and digest.
func lastPart(image string) string {
	name, _, _ := strings.Cut(image, "@")
	name = path.Base(name)
	name, _, _ = strings.Cut(name, ":")
	return strings.ToLower(name)
}

// storeOf returns the program that an image runs; nil for an application's own image.
func storeOf(image string) *store {
	name := lastPart(image)
	for i := range stores {
		if slices.Contains(stores[i].images, name) {
			return &stores[i]
		}
	}
	return nil
}

// IsStore reports whether an image runs a database or another program that AWS has a service for.
func IsStore(image string) bool { return storeOf(image) != nil }

// LeaveStore records that a service is no component, because AWS has a service in its place, and declares that where a capability can.
// Hosts are the names of the service in the components.
func (a *App) LeaveStore(at, image string, hosts ...string) {
	s := storeOf(image)
	a.Left = append(a.Left, hosts...)
	if s.declare == nil {
		a.Notef("", at, "image %s becomes no component: use %s, and set the endpoint in the variables of the components; to run it as a component, name it with --keep", lastPart(image), s.instead)
		return
	}
	s.declare(a)
	a.Notef("", at, "image %s becomes no component: %s is declared in its place, and the pods have the names as variables; to run it as a component, name it with --keep", lastPart(image), s.instead)
}

// DeclareEmulated declares stores for the services that an emulator of AWS is configured to run.
func (a *App) DeclareEmulated(services string) {
	for service := range strings.SplitSeq(services, ",") {
		switch strings.TrimSpace(strings.ToLower(service)) {
		case "s3":
			addOnce(&a.Buckets, "files")
		case "dynamodb":
			addOnce(&a.Tables, "items")
		case "sqs":
			addOnce(&a.Queues, "jobs")
		case "sns":
			addOnce(&a.Topics, "events")
		}
	}
}
