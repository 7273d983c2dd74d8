// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// typedLife describes a resource of one type, and an edit of it. NAME stands for its name.
type typedLife struct {
	properties, property, edited string
	// changes names the right that the edit needs in the service of the type.
	changes string
}

var typedLives = map[string]typedLife{
	"AWS::Kinesis::Stream": {properties: `{"Name":"NAME","RetentionPeriodHours":24}`, property: "RetentionPeriodHours", edited: `48`,
		changes: "kinesis:IncreaseStreamRetentionPeriod"},
	"AWS::DSQL::Cluster": {properties: `{"DeletionProtectionEnabled":true}`, property: "DeletionProtectionEnabled", edited: `false`,
		changes: "dsql:UpdateCluster"},
	"AWS::EC2::PrefixList": {properties: `{"PrefixListName":"NAME","AddressFamily":"IPv4","MaxEntries":2}`, property: "MaxEntries",
		edited: `3`, changes: "ec2:ModifyManagedPrefixList"},
	"AWS::SSM::Parameter": {properties: `{"Name":"/NAME/level","Type":"String","Value":"info"}`, property: "Value", edited: `"debug"`,
		changes: "ssm:PutParameter"},
	"AWS::Logs::MetricFilter": {properties: `{"LogGroupName":"NAME","FilterName":"errors","FilterPattern":"x","MetricTransformations":[{"MetricName":"a","MetricNamespace":"b","MetricValue":"1"}]}`, property: "FilterPattern", edited: `"y"`, changes: "logs:PutMetricFilter"},
	"AWS::StepFunctions::StateMachine": {properties: `{"StateMachineName":"NAME","RoleArn":"arn:aws:iam::123456789012:role/teams/team-machine","DefinitionString":"{}"}`,
		property: "DefinitionString", edited: `"{\"StartAt\":\"a\"}"`, changes: "states:UpdateStateMachine"},
}

// limitedToTypes starts an operator that may manage the types of typedLives, and has the rights to the granted ones alone. Names begin
// with team-, and roles lie below /teams/. It returns the double, whose handlers need the rights that the schemas list.
func limitedToTypes(t *testing.T, granted ...string) (*bed, *double.Double) {
	t.Helper()
	types := slices.Sorted(maps.Keys(typedLives))
	policies := policiesFor(t, permissions.Scope{NamePrefix: "team-", RolePath: "/teams/", Types: granted})
	b := &bed{kit.Limited(t, policies, "--check-interval=2s", "--types="+strings.Join(types, ","))}
	d := b.controls()
	d.SetRights(func(accessKey string, n double.Need) string {
		text, err := b.World.AWS().Refuses(b.Ctx(), accessKey, n.Action, n.Resource, n.Context, n.Tags)
		if err != nil {
			return err.Error()
		}
		return text
	})
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"states.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	config := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	b.World.AWS().EnforceIAM(false) // for the person who makes the role
	_, err := iam.NewFromConfig(config).CreateRole(b.Ctx(),
		&iam.CreateRoleInput{RoleName: aws.String("team-machine"), Path: aws.String("/teams/"), AssumeRolePolicyDocument: &trust})
	if err != nil {
		t.Fatal(err)
	}
	b.World.AWS().EnforceIAM(true)
	p := provider("aws")
	p.Spec.RolePathPrefix = "/teams/"
	b.Create(p)
	b.Ready(p)
	return b, d
}

// resource returns an object for a resource of a type.
func (l typedLife) resource(typeName, name string) *v1alpha1.AWSResource {
	raw := strings.ReplaceAll(l.properties, "NAME", name)
	_, service, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(typeName, "::", "-")), "-")
	object := name + "-" + service
	return &v1alpha1.AWSResource{ObjectMeta: metav1.ObjectMeta{Name: object,
		Annotations: map[string]string{wellknown.AnnotationDeleteData: object}},
		Spec: v1alpha1.AWSResourceSpec{CommonSpec: through("aws"), TypeName: typeName, Properties: runtime.RawExtension{Raw: []byte(raw)}}}
}

// edit changes one property.
func (l typedLife) edit(t *testing.T, o *v1alpha1.AWSResource) {
	t.Helper()
	properties := map[string]json.RawMessage{}
	if err := json.Unmarshal(o.Spec.Properties.Raw, &properties); err != nil {
		t.Fatal(err)
	}
	properties[l.property] = json.RawMessage(l.edited)
	raw, err := json.Marshal(properties)
	if err != nil {
		t.Fatal(err)
	}
	o.Spec.Properties.Raw = raw
}

// shows waits until the resource has the edited property, and the tag if there is one.
func (l typedLife) shows(b *bed, d *double.Double, o *v1alpha1.AWSResource, tag string) {
	b.Helper()
	b.Eventually(30*time.Second, o.Name+" to have the edit", func() error {
		if err := b.Get(o); err != nil {
			return err
		}
		have := d.Properties(o.Spec.TypeName, o.Status.Identifier)
		value, err := json.Marshal(have[l.property])
		tags := fmt.Sprint(have["Tags"])
		if err != nil || string(value) != l.edited || tag != "" && !strings.Contains(tags, tag) || tag == "" &&
			strings.Contains(tags, "finance") {
			return fmt.Errorf("%s and tags %s: %+v", value, tags, o.Status.Conditions)
		}
		return nil
	})
}

// A resource of each allowed type is created, edited, tagged and deleted by an operator with the rights of the printed policy and no
// others.
func TestPrivilege_ATypedLifeFitsThePrintedPolicy(t *testing.T) {
	extent.Full(t)
	b, d := limitedToTypes(t, slices.Sorted(maps.Keys(typedLives))...)
	for typeName, life := range typedLives {
		o := life.resource(typeName, "team-life")
		b.Create(o)
		b.Ready(o)
		tag := ""
		if typeName != "AWS::Logs::MetricFilter" {
			tag = "finance"
		}
		b.Edit(o, func() {
			life.edit(t, o)
			if tag != "" {
				o.Spec.Tags = map[string]v1alpha1.TagValue{"team": v1alpha1.TagValue(tag)}
			}
		})
		life.shows(b, d, o, tag)
		b.Edit(o, func() { o.Spec.Tags = nil })
		life.shows(b, d, o, "")
		b.Ready(o)
		b.Remove(o)
		if left := d.Identifiers(typeName); len(left) > 0 {
			t.Errorf("%s: %v is left", typeName, left)
		}
	}
	// The names of another team stay out of reach, and so does a role outside the path.
	for _, typeName := range []string{"AWS::Kinesis::Stream", "AWS::Logs::MetricFilter", "AWS::SSM::Parameter",
		"AWS::StepFunctions::StateMachine"} {
		stranger := typedLives[typeName].resource(typeName, "finance")
		b.Create(stranger)
		b.contains(b.Shows(stranger, "Stalled", metav1.ConditionTrue, "AccessDenied"), "AWS denies", "finance")
		if made := d.Identifiers(typeName); len(made) > 0 {
			t.Errorf("%s: %v was created", typeName, made)
		}
	}
}

// Without the rights of its type, an object names the right that is missing, and nothing is created.
func TestPrivilege_ATypeWithoutItsRightsIsDenied(t *testing.T) {
	extent.Full(t)
	b, d := limitedToTypes(t)
	for typeName, life := range typedLives {
		if typeName == "AWS::SSM::Parameter" {
			continue // the policy has its rights for SSMParameterSet
		}
		o := life.resource(typeName, "team-denied")
		b.Create(o)
		service, _, _ := strings.Cut(life.changes, ":")
		b.contains(b.Shows(o, "Stalled", metav1.ConditionTrue, "AccessDenied"), "AWS denies "+service+":", ": allow "+service+":")
		if made := d.Identifiers(typeName); len(made) > 0 {
			t.Errorf("%s: %v was created", typeName, made)
		}
	}
}
