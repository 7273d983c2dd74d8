// SPDX-License-Identifier: Apache-2.0

package awsschema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// open returns types that AWS publishes.
func open(t *testing.T) *awstypes.Types {
	t.Helper()
	all, err := awstypes.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() })
	return all
}

func parse(t *testing.T, all *awstypes.Types, name string) *awsschema.Type {
	t.Helper()
	text, err := all.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	of, err := awsschema.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return of
}

func TestType_IdentifiesByNameOrByWhatAWSAssigns(t *testing.T) {
	all := open(t)
	for _, row := range []struct {
		name, identifier string
		named            bool
		properties       map[string]any
	}{
		{"AWS::Kinesis::Stream", "events", true, map[string]any{"Name": "events"}},
		{"AWS::Kinesis::Stream", "", true, map[string]any{"ShardCount": 1}},
		{"AWS::EC2::PrefixList", "pl-1", false, map[string]any{"PrefixListId": "pl-1"}},
		{"AWS::Logs::MetricFilter", "group|errors", true, map[string]any{"FilterName": "errors", "LogGroupName": "group"}},
		{"AWS::Logs::MetricFilter", "", true, map[string]any{"FilterName": "errors"}},
	} {
		of := parse(t, all, row.name)
		if got := of.Identity.Of(row.properties); got != row.identifier || of.Identity.IsNamed != row.named {
			t.Errorf("%s %v: %q, by name %v", row.name, row.properties, got, of.Identity.IsNamed)
		}
	}
}

func TestType_RulesFollowThePointers(t *testing.T) {
	all := open(t)
	stream := parse(t, all, "AWS::Kinesis::Stream")
	for property, want := range map[string]awsschema.Rule{
		"Name": {CreateOnly: true}, "Arn": {ReadOnly: true}, "WarmThroughputMiBps": {WriteOnly: true}, "RetentionPeriodHours": {},
		"DesiredShardLevelMetrics": {Unordered: true}, "NoSuchProperty": {},
	} {
		if got := stream.At(property).Rule(); got != want {
			t.Errorf("%s: %+v, want %+v", property, got, want)
		}
	}
	if !stream.At("WarmThroughputObject", "CurrentMiBps").Rule().ReadOnly {
		t.Error("a member of what is read only can be written")
	}
	filter := parse(t, all, "AWS::Logs::MetricFilter")
	if !filter.At("MetricTransformations", awsschema.Every, "Dimensions").Rule().Unordered ||
		filter.At("MetricTransformations", awsschema.Every, "Unit").Rule().Unordered {
		t.Error("the order of a list within a list")
	}
	list := parse(t, all, "AWS::EC2::PrefixList")
	if list.At("Entries").Rule().Unordered {
		t.Error("a list whose order the schema keeps has none")
	}
	bundled, err := awstypes.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bundled.Close() }() // it was only read
	if !parse(t, bundled, "AWS::ApiGateway::RestApi").At("BinaryMediaTypes").Rule().Unordered {
		t.Error("a list whose elements differ, and of which the schema says nothing about the order, has one")
	}
	replication := parse(t, bundled, "AWS::SSMIncidents::ReplicationSet") // its definition of the property has no default
	if !replication.At("DeletionProtected").IsDefault(false) || replication.At("DeletionProtected").IsDefault(true) {
		t.Error("the default beside a reference")
	}
	acl := parse(t, bundled, "AWS::WAFv2::WebACL") // {} is a choice in one, and none in the other
	if !acl.At("CustomResponseBodies").SaysNothing(map[string]any{}) || acl.At("DefaultAction", "Allow").SaysNothing(map[string]any{}) {
		t.Error("a map without members")
	}
	if !acl.At("CustomResponseBodies").IsMap() || acl.At("DefaultAction").IsMap() || acl.At("DefaultAction", "Allow").IsMap() ||
		acl.At("Nothing").IsMap() {
		t.Error("the properties whose names a person chooses")
	}
	if !list.At("Entries", awsschema.Every, "Cidr").Exists() || list.At("Entries", awsschema.Every, "Color").Exists() ||
		list.At("Color").Exists() {
		t.Error("the properties that the schema knows")
	}
	if got := awsschema.Text([]string{"Entries", awsschema.Every, "Cidr"}); got != "Entries[*].Cidr" {
		t.Error(got)
	}
}

func TestType_SaysWhichTypesAPropertyNames(t *testing.T) {
	stream := parse(t, open(t), "AWS::Kinesis::Stream")
	for text, want := range map[string][]string{
		"StreamEncryption.KeyId": {"AWS::KMS::Key"}, "StreamEncryption": nil, "StreamEncryption.EncryptionType": nil, "Name": nil,
		"NoSuchProperty[3].Id": nil,
	} {
		if got := stream.At(awsschema.PathOf(text)...).Related(); !slices.Equal(got, want) {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got := awsschema.PathOf("Rules[0].Id[12]"); !slices.Equal(got, []string{"Rules", awsschema.Every, "Id", awsschema.Every}) {
		t.Errorf("%q", got)
	}
}

// AWS declares the relations of few properties, in one form. This fails if a schema listed in relationFlaws is corrected.
func TestType_RelationsOfEverySchemaThatAWSPublishes(t *testing.T) {
	extent.Full(t)
	all := awstypes.Published(t)
	related := func(name, text string) []string { return parse(t, all, name).At(awsschema.PathOf(text)...).Related() }
	for _, row := range [][3]string{
		{"AWS::EC2::VPCEndpoint", "SecurityGroupIds[0]", "AWS::EC2::SecurityGroup AWS::EC2::VPC"},
		{"AWS::RTBFabric::ResponderGateway", "SubnetIds[0]", "AWS::EC2::Subnet"},
		{"AWS::RTBFabric::ResponderGateway", "VpcId", "AWS::EC2::VPC"},
		{"AWS::DynamoDB::GlobalTable", "Replicas[0].SSESpecification.KMSMasterKeyId", "AWS::KMS::Alias AWS::KMS::Key"},
		{"AWS::Redshift::Cluster", "VpcSecurityGroupIds[0]", "AWS::EC2::SecurityGroup"},
		{"AWS::SSM::Association", "Targets[0].Values[1]", "AWS::EC2::Instance"},
		{"AWS::SSM::Association", "OutputLocation.S3Location.OutputS3BucketName", "AWS::S3::Bucket"},
	} {
		if got := strings.Join(related(row[0], row[1]), " "); got != row[2] {
			t.Errorf("%s %s: %q", row[0], row[1], got)
		}
	}
}

func TestType_ReadsAndWritesTags(t *testing.T) {
	all := open(t)
	tags := map[string]string{"team": "a", "stage": ""}
	for name, property := range map[string]string{
		"AWS::Kinesis::Stream": "Tags", "AWS::SSM::Parameter": "Tags", "AWS::Logs::MetricFilter": "",
	} {
		of := parse(t, all, name)
		if of.Tags.Property() != property || of.Tags.OnCreate() != (property != "") {
			t.Errorf("%s has its tags in %q", name, of.Tags.Property())
		}
		if property == "" {
			continue
		}
		properties := map[string]any{property: of.Tags.Write(tags)}
		if got := of.Tags.Read(properties); !maps.Equal(got, tags) {
			t.Errorf("%s: %v as %v", name, got, properties)
		}
	}
	if tags := parse(t, all, "AWS::Kinesis::Stream").Tags.Read(map[string]any{}); tags != nil {
		t.Errorf("%v", tags)
	}
}

func TestType_SaysWhatItsHandlersDo(t *testing.T) {
	all := open(t)
	stream := parse(t, all, "AWS::Kinesis::Stream")
	handlers := stream.Handlers
	if why := stream.Unmanageable(); why != "" || !handlers.Support(awsschema.List) {
		t.Error(why)
	}
	if actions := handlers.Permissions(awsschema.Delete); !slices.Contains(actions, "kinesis:DeleteStream") || !slices.IsSorted(actions) {
		t.Errorf("%v", actions)
	}
	if handlers.Timeout(awsschema.Update) != 4*time.Hour || handlers.Timeout(awsschema.Read) != 2*time.Hour {
		t.Errorf("%s, %s", handlers.Timeout(awsschema.Update), handlers.Timeout(awsschema.Read))
	}
	if why := parse(t, all, "AWS::AppMesh::Mesh").Unmanageable(); why == "" {
		t.Error("a type without handlers can be managed")
	}
	for _, text := range []string{"", "[]", "{}", `{"typeName":"AWS::A::B"}`} {
		if _, err := awsschema.Parse([]byte(text)); err == nil {
			t.Errorf("%q is a schema", text)
		}
	}
}

// The numbers of types of each shape show that the interpretation is not wrong for many of them at once.
func TestType_OfEverySchemaThatAWSPublishes(t *testing.T) {
	all := awstypes.Published(t)
	names := all.Names()
	var managed, named, tagged int
	for _, name := range names {
		of := parse(t, all, name)
		if of.Name != name {
			t.Errorf("%s calls itself %s", name, of.Name)
		}
		if of.Unmanageable() != "" {
			continue
		}
		managed++
		if of.Identity.IsNamed {
			named++
		}
		property := of.Tags.Property()
		if property == "" {
			continue
		}
		tagged++
		tags := map[string]string{"a": "1"}
		if got := of.Tags.Read(map[string]any{property: of.Tags.Write(tags)}); !maps.Equal(got, tags) {
			t.Errorf("%s: its tags are read as %v", name, got)
		}
	}
	t.Logf("of %d types %d can be managed, %d of these are named by the user and %d have tags", len(names), managed, named, tagged)
	if extent.IsFull(t) && (managed*10 < len(names)*9 || named*10 < managed*2 || tagged*10 < managed*5) {
		t.Errorf("%d managed, %d named, %d tagged of %d", managed, named, tagged, len(names))
	}
}
