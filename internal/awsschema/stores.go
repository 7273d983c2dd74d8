// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"slices"
	"strings"
)

// stores are the last words of the names of types that hold data, or that data is read through.
var stores = []string{
	"Backup", "Broker", "Bucket", "Cache", "Catalog", "Channel", "Cluster", "Collection", "DBInstance", "DataLake", "DataSet", "Database",
	"Dataset", "Datastore", "Disk", "Domain", "FileSystem", "Graph", "Index",
	"FeatureGroup", "Keyspace", "KnowledgeBase", "Ledger", "LogGroup", "LogStream", "Memory", "NotebookInstance", "Queue", "ReplicationGroup",
	"Repository", "Secret", "Snapshot", "Space", "Store", "Stream",
	"Table", "UserPool", "Vault", "Volume", "Workspace",
}

// others are types that hold data without such a name.
var others = []string{
	"AWS::ACMPCA::CertificateAuthority", "AWS::AIOps::InvestigationGroup", "AWS::AgentRegistry::Registry", "AWS::Bedrock::Session",
	"AWS::Connect::Instance",
	"AWS::CustomerProfiles::ObjectType", "AWS::EC2::Instance", "AWS::EVS::Environment", "AWS::Events::Archive", "AWS::EventsV2::EventBus",
	"AWS::FinSpace::Environment",
	"AWS::Glue::Registry", "AWS::KMS::Key", "AWS::KMS::ReplicaKey", "AWS::Lightsail::Instance", "AWS::Location::Tracker",
	"AWS::MWAA::Environment",
	"AWS::PaymentCryptography::Key", "AWS::QBusiness::Application", "AWS::S3Tables::Namespace", "AWS::SES::MailManagerArchive",
	"AWS::SSM::Parameter", "AWS::SageMaker::MlflowTrackingServer", "AWS::SageMaker::PartnerApp", "AWS::StorageGateway::Tape",
}

// withoutData are types with such a name that hold none.
var withoutData = []string{
	"AWS::Amplify::Domain", "AWS::CloudWatch::MetricStream", "AWS::Cognito::UserPoolDomain", "AWS::EC2::LocalGatewayRouteTable",
	"AWS::EC2::RouteTable",
	"AWS::EC2::TransitGatewayMulticastDomain", "AWS::EC2::TransitGatewayPolicyTable", "AWS::EC2::TransitGatewayRouteTable",
	"AWS::MediaConvert::Queue",
}

// HoldsData reports whether data would be lost with a resource: its type is known for that, or its schema has a protection against it.
func (t *Type) HoldsData() bool { return holdsData(t.Name, t.IsProtectable()) }

func holdsData(typeName string, protectable bool) bool {
	return !slices.Contains(withoutData, typeName) && (slices.Contains(others, typeName) || IsNamedAsStore(typeName) || protectable)
}

// IsNamedAsStore reports whether the name of a type suggests that its resources hold data.
func IsNamedAsStore(typeName string) bool {
	return slices.ContainsFunc(stores, func(word string) bool { return strings.HasSuffix(typeName, word) })
}
