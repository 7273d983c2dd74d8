// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const (
	keyID    = "1234abcd-12ab-34cd-56ef-1234567890ab"
	otherARN = "arn:aws:kms:ap-southeast-1:210987654321:key/" + keyID
)

// transformed is an object with values that AWS shows in another form.
type transformed struct {
	typeName, properties string
	// property and shown are a top-level property and a text in the value that AWS shows.
	property, shown string
	// Another client sets the property to drift, which has to show as a difference at path.
	drift any
	path  string
	// fixed is true for a property that cannot be changed.
	fixed bool
}

var transformedTypes = []transformed{
	{"AWS::DAX::SubnetGroup", `{"SubnetGroupName":"Shop-Data","Description":"shop","SubnetIds":["subnet-1"]}`,
		"SubnetGroupName", "shop-data", "other-data", "Properties.SubnetGroupName", true},
	{"AWS::CloudTrail::EventDataStore", `{"Name":"audit","KmsKeyId":"` + keyID + `"}`,
		"KmsKeyId", keyARN, strings.Replace(keyARN, "1234abcd", "9999abcd", 1), "Properties.KmsKeyId", false},
	{"AWS::CloudTrail::EventDataStore", `{"Name":"audit","KmsKeyId":"` + keyARN + `"}`, "KmsKeyId", keyARN, otherARN, "Properties.KmsKeyId",
		false},
	{"AWS::Route53Resolver::ResolverRule", `{"RuleType":"FORWARD","DomainName":"example.com"}`,
		"DomainName", "example.com.", "example.org.", "Properties.DomainName", false},
	{"AWS::Personalize::MetricAttribution", `{"Name":"clicks","DatasetGroupArn":"arn:aws:personalize:ap-southeast-1:123456789012:dataset-group/shop",
		"Metrics":[{"EventType":"click","MetricName":"clicks","Expression":"SUM(DatasetType.Items.Price)"},{"EventType":"buy","MetricName":"sales","Expression":"SAMPLECOUNT()"}],
		"MetricsOutputConfig":{"RoleArn":"arn:aws:iam::123456789012:role/shop"}}`,
		"Metrics", "CLICKS", []any{map[string]any{"EventType": "VIEW", "MetricName": "CLICKS", "Expression": "SAMPLECOUNT()"}},
		"Properties.Metrics", true},
	{"AWS::Lambda::Alias", `{"FunctionName":"shop","FunctionVersion":"1","Name":"live"}`,
		"FunctionName", "arn:aws:lambda:ap-southeast-1:123456789012:function:shop", "arn:aws:lambda:ap-southeast-1:123456789012:function:shop-2",
		"Properties.FunctionName", true},
	{"AWS::Lambda::Alias", `{"FunctionName":"arn:aws:lambda:ap-southeast-1:123456789012:function:shop","FunctionVersion":"1","Name":"live"}`,
		"FunctionName", "function:shop", "arn:aws:lambda:ap-southeast-1:210987654321:function:shop", "Properties.FunctionName", true},
}

// largeTypes have schemas that are too large for the excerpt.
var largeTypes = []transformed{
	{"AWS::RDS::DBCluster", `{"DBClusterIdentifier":"Shop","Engine":"aurora-mysql","EngineVersion":"8.0","MasterUsername":"admin","MasterUserPassword":"hunter22",
		"KmsKeyId":"` + keyID + `","PreferredMaintenanceWindow":"Mon:03:00-Mon:04:00"}`, "EngineVersion", "8.0.42", "5.7.42", "Properties.EngineVersion", false},
	{"AWS::RDS::DBCluster", `{"DBClusterIdentifier":"Shop","Engine":"aurora-mysql","MasterUsername":"admin","MasterUserPassword":"hunter22",
		"PreferredMaintenanceWindow":"Mon:03:00-Mon:04:00"}`, "PreferredMaintenanceWindow", "mon:03:00-mon:04:00", "tue:03:00-tue:04:00", "Properties.PreferredMaintenanceWindow", false},
	{"AWS::ImageBuilder::ImageRecipe", `{"Name":"base","Version":"1.2.x","ParentImage":"ami-1"}`, "Version", "1.2.0", "1.3.0",
		"Properties.Version", true},
}

// AWS shows these values in another form, which the schema of the type says. No write follows, and a foreign value is a difference.
func TestTransforms_AreQuietAtRestAndShowDrift(t *testing.T) {
	for _, c := range transformedTypes {
		c.live(t, newBench(t, resourceOf(c.typeName, c.properties)))
	}
}

func TestTransforms_OfLargeSchemas(t *testing.T) {
	extent.Full(t)
	types := awstypes.Published(t)
	for _, c := range largeTypes {
		s := kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(c.typeName, c.properties))
		d := double.New(kindtest.Account, types, func() time.Time { return s.Clock })
		s.Rig.AWS.Divert("cloudformation", d)
		s.Rig.AWS.Divert("tag", d.Tagging())
		c.live(t, &bench{s, t, d})
	}
}

// live creates the object, looks at rest, and lets the property drift.
func (c transformed) live(t *testing.T, b *bench) {
	t.Helper()
	kindtest.Settled(t, b.Subject)
	id := b.resource().Status.ID
	if have := sprint(b.double.Properties(c.typeName, id)[c.property]); !strings.Contains(have, c.shown) {
		t.Fatalf("%s: AWS shows %s", c.typeName, have)
	}
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: c.typeName + " at rest", Calls: calls{"GetResource": 1}})
	if p, err := b.Decide(t.Context()); err != nil || len(p.Diff) > 0 {
		t.Fatalf("%s: %+v %v", c.typeName, p.Diff, err)
	}
	kindtest.Must(t, b.double.Set(c.typeName, id, c.property, c.drift))
	b.Clock = b.Clock.Add(time.Minute)
	if p, err := b.Decide(t.Context()); (err != nil) != c.fixed || len(p.Diff) != 1 || p.Diff[0].Path != c.path {
		t.Errorf("%s: another value makes the differences %+v (%v)", c.typeName, p.Diff, err)
	}
	if c.fixed {
		b.stalls(status.ReasonImmutable)
		return
	}
	kindtest.Settled(t, b.Subject)
	if have := sprint(b.double.Properties(c.typeName, id)[c.property]); !strings.Contains(have, c.shown) {
		t.Errorf("%s: AWS shows %s after the correction", c.typeName, have)
	}
}

// Values that AWS hides, and those of Secrets, are not given to expressions.
func TestTransforms_SeeNoSecret(t *testing.T) {
	b := newBench(t, resourceOf("AWS::Route53Resolver::ResolverRule",
		`{"RuleType":"FORWARD","DomainName":{"$secret":"dns","key":"name"},"Name":"shop"}`))
	b.Secrets = map[string]string{"dns/name": "example.com"}
	kindtest.Settled(t, b.Subject)
	kindtest.Costs(t, b.Subject, kindtest.Cost{Name: "at rest", Calls: calls{"GetResource": 1}})
	b.Secrets["dns/name"] = "example.com." // as AWS shows it, and another version of the secret all the same
	p, err := b.Decide(t.Context())
	if err != nil || len(p.Diff) != 1 || p.Diff[0].Path != "Properties.DomainName" || strings.Contains(sprint(p.Diff), "example.com") {
		t.Errorf("%+v %v", p.Diff, err)
	}
}

func sprint(value any) string { return fmt.Sprint(value) }
