// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// typesOfAttacks are generous: the services of the attacked types are allowed by patterns, and a type that has a kind by its name.
const typesOfAttacks = "--types=AWS::Kinesis::*,AWS::Logs::*,AWS::Logs::LogGroup,AWS::SSM::Parameter,AWS::StepFunctions::*,AWS::IAM::*,AWS::S3::*,AWS::Lambda::*,AWS::ElasticBeanstalk::*,AWS::EC2::LaunchTemplate,AWS::AutoScaling::AutoScalingGroup"

const (
	streamProperties = "properties: {Name: victims-events}\n"
	adopted          = "adoptionPolicy: Always\ndeletionPolicy: Retain\n"
	ofMachine        = "typeName: \"AWS::StepFunctions::StateMachine\"\n"
	ofParameter      = "typeName: \"AWS::SSM::Parameter\"\n"
	ofFilter         = "typeName: \"AWS::Logs::MetricFilter\"\nproperties: {LogGroupName: finance, FilterName: errors, FilterPattern: x, MetricTransformations: [{MetricName: a, MetricNamespace: b, MetricValue: \"1\"}]}\n"
)

// actsAs is a state machine that acts as a role.
func actsAs(role string) string {
	return ofMachine + "properties: {RoleArn: " + role + ", DefinitionString: \"{}\"}\n"
}

// encryptedWith is a stream that names a key.
func encryptedWith(key string) string {
	return "properties: {Name: NAME, StreamEncryption: {EncryptionType: KMS, KeyId: " + key + "}}\n"
}

// valued is a parameter with a value.
func valued(value string) string {
	return ofParameter + "properties: {Name: /team/NAME, Type: String, Value: " + value + "}\n"
}

// withOption is an environment of Elastic Beanstalk with an option.
func withOption(namespace, name, value string) string {
	return "typeName: \"AWS::ElasticBeanstalk::Environment\"\nproperties: {ApplicationName: NAME, EnvironmentName: NAME, OptionSettings: [{Namespace: \"" + namespace + "\", OptionName: " + name + ", Value: " + value + "}]}\n"
}

const launching, running = "aws:autoscaling:launchconfiguration", "aws:elasticbeanstalk:environment"

var attacksByAnyType = []attack{
	{wants: "a user of IAM, where its service is allowed", kind: "AWSResource",
		spec: "typeName: \"AWS::IAM::User\"\nproperties: {UserName: NAME}", reason: "NotPermitted", says: []string{"exact name"}},
	{wants: "a managed policy of IAM", kind: "AWSResource", spec: "typeName: \"AWS::IAM::ManagedPolicy\"\nproperties: {PolicyDocument: {}}",
		reason: "NotPermitted", says: []string{"exact name"}},
	{wants: "a role without the rules of its kind", kind: "AWSResource", spec: "typeName: \"AWS::IAM::Role\"\nproperties: {RoleName: NAME}",
		reason: "NotPermitted", says: []string{"kind IAMRole"}},
	{wants: "a bucket, where its service is allowed", kind: "AWSResource",
		spec: "typeName: \"AWS::S3::Bucket\"\nproperties: {BucketName: NAME}", reason: "NotPermitted", says: []string{"kind S3Bucket"}},
	{wants: "the policy of a bucket", kind: "AWSResource", spec: "typeName: \"AWS::S3::BucketPolicy\"\nproperties: {Bucket: victims-bucket}",
		reason: "NotPermitted", says: []string{"kind S3Bucket"}},
	{wants: "the policy of a stream", kind: "AWSResource", spec: "typeName: \"AWS::Kinesis::ResourcePolicy\"\nproperties: {ResourceArn: NAME}",
		reason: "NotPermitted", says: []string{"exact name"}},
	{wants: "others to call a function", kind: "AWSResource",
		spec: "typeName: \"AWS::Lambda::Permission\"\nproperties: {FunctionName: finance}", reason: "NotPermitted", says: []string{"exact name"}},
	{wants: "a type that the provider leaves out", kind: "AWSResource", spec: `providerRef: {name: narrowed}`, reason: "NotPermitted",
		says: []string{"spec.types"}},
	{wants: "another namespace's stream", kind: "AWSResource", spec: streamProperties, reason: "Conflict"},
	{wants: "another namespace's stream by adoption", kind: "AWSResource", spec: streamProperties + adopted + "importID: victims-events",
		reason: "Conflict"},
	{wants: "a stream of nobody", kind: "AWSResource", spec: "properties: {Name: nobodys-events}", reason: "Conflict",
		says: []string{"adoptionPolicy"}},
	{wants: "to adopt a stream that the provider does not let be adopted", kind: "AWSResource",
		spec: "properties: {Name: nobodys-events}\nimportID: nobodys-events\n" + adopted, reason: "Conflict", says: []string{"adoptableKinds"}},
	{wants: "a resource without tags of nobody", kind: "AWSResource", spec: ofFilter, reason: "Conflict",
		says: []string{"nexusctl import --adopt", "adoptionPolicy: Always"}},
	{wants: "to adopt a resource without tags that the provider does not let be adopted", kind: "AWSResource",
		spec: ofFilter + adopted + "importID: finance|errors", reason: "Conflict", says: []string{"adoptableKinds"}},
	{wants: "a machine to act as a role", kind: "AWSResource", spec: actsAs(`"arn:aws:iam::123456789012:role/finance-admin"`),
		reason: "NotPermitted", says: []string{"spec.properties.RoleArn", "rolePathPrefix"}},
	{wants: "a machine to act as a role outside the path", kind: "AWSResource",
		spec: actsAs(`"arn:aws:iam::123456789012:role/finance-admin"`) + throughPath, reason: "NotPermitted",
		says: []string{"spec.properties.RoleArn", "/team/"}},
	{wants: "a machine to act as a role that its definition names", kind: "AWSResource",
		spec:   ofMachine + `properties: {RoleArn: "arn:aws:iam::123456789012:role/team/a", DefinitionString: '{"R":"arn:aws:iam::123456789012:role/finance-admin"}'}` + "\n" + throughPath,
		reason: "NotPermitted", says: []string{"spec.properties.DefinitionString", "/team/"}},
	{wants: "a machine to act as a role that a Secret names", kind: "AWSResource", spec: actsAs(`{$secret: own, key: role}`),
		reason: "NotPermitted", says: []string{"spec.properties.RoleArn"}},
	{wants: "a machine to act as a role that it only observes", kind: "AWSResource",
		spec: actsAs(`{$ref: IAMRole/observed, field: status.arn}`), reason: "NotPermitted", says: []string{"IAMRole/observed", "only observes"}},
	{wants: "a machine to act as a role that its definition spells in another way", kind: "AWSResource",
		spec:   ofMachine + `properties: {RoleArn: "arn:aws:iam::123456789012:role/team/a", DefinitionString: '{"R":"arn:aws:iam::123456789012:role\/finance-admin"}'}` + "\n" + throughPath,
		reason: "NotPermitted", says: []string{"spec.properties.DefinitionString", "/team/"}},
	{wants: "instances with the profile of another", kind: "AWSResource", spec: withOption(launching, "IamInstanceProfile", "finance-admin"),
		reason: "NotPermitted", says: []string{"spec.properties.OptionSettings", "instance profile finance-admin"}},
	{wants: "instances with the profile of another, through a path", kind: "AWSResource",
		spec:   withOption(launching, "IamInstanceProfile", `"arn:aws:iam::123456789012:instance-profile/team/a"`) + throughPath,
		reason: "NotPermitted", says: []string{"spec.properties.OptionSettings", "instance-profile/team/a"}},
	{wants: "instances with a profile that a Secret names", kind: "AWSResource",
		spec: withOption(launching, "IamInstanceProfile", `{$secret: own, key: profile}`) + throughPath, reason: "NotPermitted",
		says: []string{"spec.properties.OptionSettings", "cannot be in a Secret"}},
	{wants: "instances with a profile, by an option that a Secret names", kind: "AWSResource",
		spec: withOption(launching, `{$secret: own, key: option}`, "finance-admin") + throughPath, reason: "NotPermitted",
		says: []string{"spec.properties.OptionSettings", "instance profile finance-admin"}},
	{wants: "an environment to act as a role", kind: "AWSResource", spec: withOption(running, "ServiceRole", "finance-admin") + throughPath,
		reason: "NotPermitted", says: []string{"spec.properties.OptionSettings", "names role finance-admin"}},
	{wants: "a template of environments that act as a role", kind: "AWSResource",
		spec:   "typeName: \"AWS::ElasticBeanstalk::ConfigurationTemplate\"\nproperties: {ApplicationName: NAME, OptionSettings: [{Namespace: \"" + running + "\", OptionName: ServiceRole, Value: finance-admin}]}\n" + bounded,
		reason: "NotPermitted", says: []string{"spec.properties.OptionSettings", "bounds every role"}},
	{wants: "a launch template with the profile of another", kind: "AWSResource",
		spec:   "typeName: \"AWS::EC2::LaunchTemplate\"\nproperties: {LaunchTemplateName: NAME, LaunchTemplateData: {IamInstanceProfile: {Name: finance-admin}}}\n" + throughPath,
		reason: "NotPermitted", says: []string{"spec.properties.LaunchTemplateData.IamInstanceProfile.Name", "instance profile finance-admin"}},
	{wants: "instances of a launch template with the profile of another", kind: "AWSResource",
		spec:   "typeName: \"AWS::AutoScaling::AutoScalingGroup\"\nproperties: {MinSize: \"1\", MaxSize: \"1\", LaunchTemplate: {LaunchTemplateName: finance-admin, Version: \"1\"}}\n" + throughPath,
		reason: "NotPermitted", says: []string{"spec.properties.LaunchTemplate.LaunchTemplateName", "launch template finance-admin"}},
	{wants: "a Secret that exists only elsewhere, by observing", kind: "AWSResource", spec: "managementPolicy: Observe\n" +
		valued(`{$secret: token, key: value}`), reason: "CredentialsMissing", says: []string{"NAMESPACE/token"}},
	{wants: "another namespace's Secret by a path, by observing", kind: "AWSResource", spec: "managementPolicy: Observe\n" +
		valued(`{$secret: victim-dev/token, key: value}`), reason: "InvalidSpec", says: []string{"spec.properties.Value"}},
	{wants: "a Secret that exists only elsewhere, in a property", kind: "AWSResource", spec: valued(`{$secret: token, key: value}`),
		reason: "CredentialsMissing", says: []string{"NAMESPACE/token"}},
	{wants: "another namespace's Secret by a path, in a property", kind: "AWSResource",
		spec: valued(`{$secret: victim-dev/token, key: value}`), reason: "InvalidSpec", says: []string{"spec.properties.Value"}},
	{wants: "another namespace's stream by a reference", kind: "AWSResource",
		spec: encryptedWith(`{$ref: AWSResource/victims-events, field: status.arn}`), condition: "Reconciling", reason: "Waiting",
		says: []string{"AWSResource/victims-events"}},
	{wants: "another namespace's stream by a path", kind: "AWSResource",
		spec: encryptedWith(`{$ref: AWSResource/victim-dev/victims-events, field: status.arn}`), reason: "InvalidSpec",
		says: []string{"spec.properties.StreamEncryption.KeyId"}},
	{wants: "the events in another namespace's logs", kind: "AWSResource", spec: strings.Replace(ofFilter, "finance", "victims-logs", 1),
		reason: "NotPermitted", says: []string{"spec.properties.LogGroupName", "another namespace"}},
	{wants: "another namespace's logs", kind: "AWSResource",
		spec:   "typeName: \"AWS::Logs::SubscriptionFilter\"\nproperties: {LogGroupName: victims-logs, FilterPattern: x, DestinationArn: \"arn:aws:lambda:ap-southeast-1:123456789012:function:mine\"}",
		reason: "NotPermitted", says: []string{"spec.properties.LogGroupName", "another namespace"}},
	{wants: "another namespace's stream by its consumer", kind: "AWSResource",
		spec: encryptedWith(`"arn:aws:kinesis:ap-southeast-1:123456789012:stream/victims-events/consumer/mine:1"`), reason: "NotPermitted",
		says: []string{"another namespace"}},
	{wants: "another namespace's stream by an ARN in an ARN", kind: "AWSResource",
		spec:   encryptedWith(`"arn:aws:apigateway:ap-southeast-1:kinesis:path/arn:aws:kinesis:ap-southeast-1:123456789012:stream/victims-events"`),
		reason: "NotPermitted", says: []string{"another namespace"}},
	{wants: "another namespace's stream by its ARN", kind: "AWSResource",
		spec: encryptedWith(`"arn:aws:kinesis:ap-southeast-1:123456789012:stream/victims-events"`), reason: "NotPermitted",
		says: []string{"another namespace"}},
}

// controls answers Cloud Control API by a double.
func (b *bed) controls() *double.Double {
	b.Helper()
	types, err := awstypes.Bundled()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = types.Close() })
	d := double.New(homeAccount, types, time.Now)
	b.World.AWS().Divert("cloudformation", d)
	b.World.AWS().Tag.ListTagged(d.Tagging())
	return d
}

// ofNobody creates a resource in AWS without an owner.
func (b *bed) ofNobody(typeName, properties string) {
	b.Helper()
	config := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	if _, err := cloudcontrol.NewFromConfig(config).CreateResource(b.Ctx(),
		&cloudcontrol.CreateResourceInput{TypeName: &typeName, DesiredState: &properties}); err != nil {
		b.Fatal(err)
	}
}

// What a tenant tries through the kind that manages any type, where an administrator allows whole services. None of the objects may write
// to AWS.
func TestAttack_NobodyReachesOthersThroughAnyType(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=team-*,victim-dev", typesOfAttacks)
	d := b.controls()
	b.victims()
	b.guards(b.MakeNamespace("keeper"))
	narrowed := provider("narrowed")
	narrowed.Spec.Types = []v1alpha1.TypePattern{"AWS::Logs::*"}
	b.Create(narrowed, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "own"},
		StringData: map[string]string{"role": "arn:aws:iam::123456789012:role/finance-admin", "profile": "finance-admin",
			"option": "IamInstanceProfile"}})
	b.Ready(narrowed)
	theirs := attack{kind: "AWSResource", spec: streamProperties, meta: `name: victims-events`}.object(t, 0, "victim-dev", nil)
	logs := attack{kind: "AWSResource", spec: "typeName: \"AWS::Logs::LogGroup\"\nproperties: {LogGroupName: victims-logs}",
		meta: `name: victims-logs`}.object(t, 0, "victim-dev", nil)
	b.Create(theirs, logs)
	b.Eventually(30*time.Second, "the victim's stream and logs", func() error {
		if len(d.Identifiers("AWS::Kinesis::Stream")) == 0 || len(d.Identifiers("AWS::Logs::LogGroup")) == 0 {
			return fmt.Errorf("does not exist")
		}
		return nil
	})
	b.ofNobody("AWS::Kinesis::Stream", `{"Name":"nobodys-events"}`)
	b.ofNobody("AWS::Logs::MetricFilter",
		`{"LogGroupName":"finance","FilterName":"errors","FilterPattern":"x","MetricTransformations":[{"MetricName":"a","MetricNamespace":"b","MetricValue":"1"}]}`)
	before := b.everyResource(d)
	tenant, made := b.Tenant(b.Namespace), map[int]*unstructured.Unstructured{}
	for i, a := range attacksByAnyType {
		o := a.object(t, i, b.Namespace, nil)
		if err := a.admission(a.make(t, tenant, o)); err != nil {
			t.Errorf("%s: %v", a.wants, err)
		} else {
			made[i] = o
		}
	}
	b.refuses(attacksByAnyType, made)
	if after := b.everyResource(d); after != before {
		t.Errorf("AWS has\n%s\nand had\n%s", after, before)
	}
	eventsTellNothing := b.tellsNothing(b.Namespace, "victim-dev", 10)
	for _, o := range made {
		if err := tenant.Delete(b.Ctx(), o); err != nil {
			t.Error(err)
		}
	}
	b.Quiet()
	eventsTellNothing()
	if after := b.everyResource(d); after != before {
		t.Errorf("after the deletion AWS has\n%s\nand had\n%s", after, before)
	}
}

// everyResource returns the properties of all resources that Cloud Control API shows.
func (b *bed) everyResource(d *double.Double) string {
	b.Helper()
	all := map[string]any{}
	for _, typeName := range []string{"AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::LaunchTemplate",
		"AWS::ElasticBeanstalk::ConfigurationTemplate", "AWS::ElasticBeanstalk::Environment", "AWS::Kinesis::Stream", "AWS::Logs::LogGroup",
		"AWS::Logs::MetricFilter", "AWS::Logs::SubscriptionFilter", "AWS::SSM::Parameter", "AWS::StepFunctions::StateMachine"} {
		for _, id := range d.Identifiers(typeName) {
			all[typeName+" "+id] = d.Properties(typeName, id)
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// AWS shows the value of a parameter, and those who may read the object, its plans and its events do not see it.
func TestAttack_NobodySeesASecretThroughAnyType(t *testing.T) {
	extent.Full(t)
	const canary = "canary-of-the-application"
	b := newBed(t, typesOfAttacks)
	d := b.controls()
	b.provider()
	b.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "own"}, StringData: map[string]string{"value": canary}})
	o := attack{kind: "AWSResource", spec: valued(`{$secret: own, key: value}`), meta: `name: login`}.object(t, 0, b.Namespace, nil)
	b.Create(o)
	b.Eventually(30*time.Second, "the parameter to have the value", func() error {
		for _, id := range d.Identifiers("AWS::SSM::Parameter") {
			if d.Properties("AWS::SSM::Parameter", id)["Value"] == canary {
				return nil
			}
		}
		return fmt.Errorf("%v", d.Identifiers("AWS::SSM::Parameter"))
	})
	b.Shows(o, "Ready", metav1.ConditionTrue, "Ready")
	manifest, err := json.Marshal(attack{kind: "AWSResource", spec: valued("other"), meta: `name: login`}.object(t, 0, b.Namespace, nil))
	if err != nil {
		t.Fatal(err)
	}
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{GenerateName: "plan-", Namespace: b.Namespace},
		Spec: nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{nexusv1.PlannedManifest(manifest)}}}
	if err := b.Tenant(b.Namespace).Create(b.Ctx(), q); err != nil {
		t.Fatal(err)
	}
	b.Eventually(30*time.Second, "the plan", func() error {
		if err := b.Get(q); err != nil || q.Status.Plan == "" {
			return fmt.Errorf("%+v: %v", q.Status, err)
		}
		return nil
	})
	for _, shown := range b.objectsIn(b.Namespace) {
		text, err := json.Marshal(shown.Object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), canary) {
			t.Errorf("%s/%s shows the value: %s", shown.GetKind(), shown.GetName(), text)
		}
	}
	events := &eventsv1.EventList{}
	if err := b.Client.List(b.Ctx(), events, client.InNamespace(b.Namespace)); err != nil {
		t.Fatal(err)
	}
	if len(events.Items) == 0 {
		t.Error("no event was looked at")
	}
	for _, e := range events.Items {
		if strings.Contains(e.Note, canary) {
			t.Errorf("an event shows the value: %s", e.Note)
		}
	}
}
