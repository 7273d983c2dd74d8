// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// stores are the last words of the names of types whose resources hold data, or what data is read with.
var stores = []string{
	"Backup", "Broker", "Bucket", "Cache", "Catalog", "Channel", "Cluster", "Collection", "DBInstance", "DataLake", "DataSet", "Database", "Dataset", "Datastore", "Disk", "Domain", "FileSystem", "Graph", "Index",
	"FeatureGroup", "Keyspace", "KnowledgeBase", "Ledger", "LogGroup", "LogStream", "Memory", "NotebookInstance", "Queue", "ReplicationGroup", "Repository", "Secret", "Snapshot", "Space", "Store", "Stream",
	"Table", "UserPool", "Vault", "Volume", "Workspace",
}

// others are types that hold data without such a name.
var others = []string{
	"AWS::ACMPCA::CertificateAuthority", "AWS::AIOps::InvestigationGroup", "AWS::AgentRegistry::Registry", "AWS::Bedrock::Session", "AWS::Connect::Instance",
	"AWS::CustomerProfiles::ObjectType", "AWS::EC2::Instance", "AWS::EVS::Environment", "AWS::Events::Archive", "AWS::EventsV2::EventBus", "AWS::FinSpace::Environment",
	"AWS::Glue::Registry", "AWS::KMS::Key", "AWS::KMS::ReplicaKey", "AWS::Lightsail::Instance", "AWS::Location::Tracker", "AWS::MWAA::Environment",
	"AWS::PaymentCryptography::Key", "AWS::QBusiness::Application", "AWS::S3Tables::Namespace", "AWS::SES::MailManagerArchive",
	"AWS::SSM::Parameter", "AWS::SageMaker::MlflowTrackingServer", "AWS::SageMaker::PartnerApp", "AWS::StorageGateway::Tape",
}

// withoutData are types with such a name that hold none.
var withoutData = []string{
	"AWS::Amplify::Domain", "AWS::CloudWatch::MetricStream", "AWS::Cognito::UserPoolDomain", "AWS::EC2::LocalGatewayRouteTable", "AWS::EC2::RouteTable",
	"AWS::EC2::TransitGatewayMulticastDomain", "AWS::EC2::TransitGatewayPolicyTable", "AWS::EC2::TransitGatewayRouteTable", "AWS::MediaConvert::Queue",
}

// holdsData reports whether data would be lost with a resource: its type is known for that, or its schema has a protection against it.
func holdsData(schema *awsschema.Type) bool {
	if slices.Contains(withoutData, schema.Name) {
		return false
	}
	endsAs := func(word string) bool { return strings.HasSuffix(schema.Name, word) }
	return slices.Contains(others, schema.Name) || slices.ContainsFunc(stores, endsAs) || schema.IsProtectable()
}

// HoldsData implements kind.Store.
func (*resource) HoldsData(want State) bool { return want.isRead && holdsData(want.schema) }

// holds asks for a person's consent before data is lost that no API counts for all types.
func holds(want State) []kind.Hold {
	if !want.Guarded {
		return nil
	}
	return []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: "the data of the resource to be given up: a " + want.TypeName +
		" may hold data, which the operator cannot count; set annotation " +
		wellknown.AnnotationDeleteData + " to the name of the object to delete it with its data, or set deletionPolicy: Retain to keep it"}}
}
