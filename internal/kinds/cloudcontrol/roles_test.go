// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The object did not declare the role of an adopted resource. The role is checked as if it did.
func TestAdoption_BringsNoRoleAlong(t *testing.T) {
	const machine, admin, team = "AWS::StepFunctions::StateMachine", "arn:aws:iam::123456789012:role/admin",
		"arn:aws:iam::123456789012:role/team/a"
	properties := func(role, definition string) string {
		return fmt.Sprintf(`{"StateMachineName":"m","RoleArn":%s,"DefinitionString":"%s"}`, role, definition)
	}
	for name, c := range map[string]struct{ have, want, refused string }{
		"a role that the provider does not pass": {properties(`"`+admin+`"`, "{}"), properties(`"`+team+`"`, "{}"),
			"RoleArn of the resource names role " + admin},
		"one in a text": {properties(`"`+team+`"`, admin), properties(`"`+team+`"`, "{}"),
			"DefinitionString of the resource names role " + admin},
		"a role that the provider passes": {properties(`"`+team+`b"`, "{}"), properties(`"`+team+`"`, "{}"), ""},
		"the role of an IAMRole that the object refers to": {properties(`"`+admin+`"`, "{}"),
			properties(`{"$ref":"IAMRole/worker","field":"status.arn"}`, "{}"), ""},
		"a role that a service has for itself": {properties(`"`+team+`"`,
			"arn:aws:iam::123456789012:role/aws-service-role/states.amazonaws.com/a"), properties(`"`+team+`"`, "{}"), ""},
		"an instance profile that nobody knows the role of": {properties(`"`+team+`"`, "arn:aws:iam::123456789012:instance-profile/a"),
			properties(`"`+team+`"`, "{}"), "DefinitionString of the resource names instance profile"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, resourceOf(machine, c.want))
			existing(t, b.Rig, machine, c.have)
			spec := &b.resource().Spec
			spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy, spec.ProviderRef.Name = b.double.Identifiers(machine)[0], v1alpha1.AdoptAlways,
				v1alpha1.DeletionRetain, "provider"
			b.AllowAdoption, b.RolePath = true, "/team/"
			b.Targets = map[string]kind.Target{"IAMRole/worker": {ID: "admin", ARN: admin}}
			if c.refused == "" {
				kindtest.Settled(t, b.Subject)
				if b.resource().Status.Ownership != v1alpha1.OwnershipOwned {
					t.Errorf("%+v", b.resource().Status)
				}
				return
			}
			if text := b.stalls(status.ReasonNotPermitted); !strings.Contains(text, c.refused) {
				t.Error(text)
			}
			if b.double.Properties(machine, spec.ImportID)["Tags"] != nil {
				t.Error("the resource has an owner")
			}
		})
	}
}

// A resource without tags needs no write to become the object's.
func TestAdoption_BringsNoRoleAlongWithoutAWrite(t *testing.T) {
	const filter = "AWS::Logs::SubscriptionFilter"
	const declared = `"LogGroupName":"shop","FilterName":"f","FilterPattern":"x","DestinationArn":"arn:aws:kinesis:ap-southeast-1:123456789012:stream/s"`
	types, _ := bundledTypes(t)
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(filter, "{"+declared+"}")), types)
	existing(t, b.Rig, filter, "{"+declared+`,"RoleArn":"arn:aws:iam::123456789012:role/admin"}`)
	spec := &b.resource().Spec
	spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy, spec.ProviderRef.Name = b.double.Identifiers(filter)[0], v1alpha1.AdoptAlways,
		v1alpha1.DeletionRetain, "provider"
	b.AllowAdoption, b.RolePath = true, "/team/"
	if text := b.stalls(status.ReasonNotPermitted); !strings.Contains(text, "role/admin") {
		t.Error(text)
	}
	if st := b.resource().Status; st.ID != "" || st.Ownership == v1alpha1.OwnershipOwned {
		t.Errorf("%+v", st)
	}
}

// Roles and instance profiles are found in options, by the names of these, and their ARNs in every text.
func TestCheckRoles_FindsThemWhereverTheyAre(t *testing.T) {
	const environment, template, machine, launch = "AWS::ElasticBeanstalk::Environment", "AWS::ElasticBeanstalk::ConfigurationTemplate",
		"AWS::StepFunctions::StateMachine", "AWS::EC2::LaunchTemplate"
	const account, group, fleet = "arn:aws:iam::123456789012:", "AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::EC2Fleet"
	launched := func(template map[string]any) map[string]any { return map[string]any{"LaunchTemplate": template} }
	_, schemaOf := bundledTypes(t)
	secret := kind.NewWriteOnly("uid", `"IamInstanceProfile"`)
	option := func(namespace string, name, value any) map[string]any {
		return map[string]any{"OptionSettings": []any{map[string]any{"Namespace": namespace, "OptionName": name, "Value": value}}}
	}
	launching := func(name, value any) map[string]any {
		return option("aws:autoscaling:launchconfiguration", name, value)
	}
	serving := func(value any) map[string]any {
		return option("aws:elasticbeanstalk:environment", "ServiceRole", value)
	}
	defined := func(text string) map[string]any {
		return map[string]any{"RoleArn": passedRole("r"), "DefinitionString": text}
	}
	for name, c := range map[string]struct {
		typeName   string
		properties map[string]any
		path       string
		refused    string
	}{
		"a profile by its name": {environment, launching("IamInstanceProfile", "admin"), "/team/",
			"OptionSettings[*].Value: names instance profile admin"},
		"a profile by its name in a template": {template, launching("IamInstanceProfile", "admin"), "/team/",
			"names instance profile admin"},
		"a profile in other letters": {environment, launching("iaminstanceprofile", "admin"), "/team/",
			"names instance profile admin"},
		"a profile by its ARN": {environment, launching("IamInstanceProfile", account+"instance-profile/admin"), "/team/",
			"names instance profile " + account},
		"a profile where every role may be passed": {environment, launching("IamInstanceProfile", "admin"), "/", ""},
		"a profile of an IAMRole":                  {environment, launching("IamInstanceProfile", passedProfile("worker")), "/team/", ""},
		"the name of a role for that of a profile": {environment, launching("IamInstanceProfile", passedRole("worker")), "/team/",
			"names instance profile worker"},
		"a profile in a Secret":               {environment, launching("IamInstanceProfile", secret), "/team/", "cannot be in a Secret"},
		"an option whose name is in a Secret": {environment, launching(secret, "admin"), "/team/", "names instance profile admin"},
		"a role by its name":                  {template, serving("admin"), "/team/", "names role admin"},
		"a role by its name with its path":    {template, serving("team/a"), "/team/", ""},
		"a role by its ARN":                   {environment, serving(account + "role/admin"), "/team/", "names role " + account},
		"a role of another account": {environment, serving("arn:aws:iam::999999999999:role/team/a"), "/team/",
			"is in account 999999999999"},
		"a role without a prefix": {environment, serving("team/a"), "", "rolePathPrefix"},
		"a role of managed updates": {environment,
			option("aws:elasticbeanstalk:managedactions", "ServiceRoleForManagedUpdates", "admin"), "/team/", "names role admin"},
		"a role of an IAMRole": {environment, serving(passedRole("worker")), "/team/", ""},
		"a variable of the application": {environment,
			option("aws:elasticbeanstalk:application:environment", "DATABASE_ROLE", "reader"), "/team/", ""},
		"another option": {environment, launching("InstanceType", "t3.micro"), "/team/", ""},
		"a role in JSON": {machine, defined(`{"R":"` + account + `role/admin"}`), "/team/",
			"DefinitionString: names role " + account},
		"a role in JSON with escapes": {machine, defined(`{"R":"` + account + `role\/admin"}`), "/team/",
			"DefinitionString: names role " + account},
		"a role in JSON with the numbers of letters": {machine, defined(`{"R":"\u0061rn:aws:iam::123456789012:role/admin"}`), "/team/",
			"DefinitionString: names role " + account},
		"a role in JSON within JSON": {machine, defined(`{"R":"{\"S\":\"` + account + `role\\/admin\"}"}`), "/team/",
			"DefinitionString: names role " + account},
		"a role as the name of a member": {machine,
			map[string]any{"DefinitionSubstitutions": map[string]any{account + "role/admin": "x"}}, "/team/", "names role " + account},
		"a profile of a launch template by its name": {launch,
			map[string]any{"LaunchTemplateData": map[string]any{"IamInstanceProfile": map[string]any{"Name": "admin"}}}, "/team/",
			"names instance profile admin"},
		"a launch template by its name": {group, launched(map[string]any{"LaunchTemplateName": "admin", "Version": "1"}), "/team/",
			"LaunchTemplate.LaunchTemplateName: names launch template admin"},
		"a launch template by its identifier": {group, launched(map[string]any{"LaunchTemplateId": "lt-0123abcd", "Version": "1"}),
			"/team/", "names launch template lt-0123abcd"},
		"a launch template of a fleet": {fleet,
			map[string]any{"LaunchTemplateConfigs": []any{map[string]any{"LaunchTemplateSpecification": map[string]any{"LaunchTemplateName": "admin"}}}}, "/team/", "names launch template admin"},
		"a launch template of nodes": {"AWS::EKS::Nodegroup", map[string]any{"LaunchTemplate": map[string]any{"Name": "admin"}},
			"/team/", "LaunchTemplate.Name: names launch template admin"},
		"a launch template in a Secret": {group, launched(map[string]any{"LaunchTemplateName": secret}), "/team/",
			"cannot be in a Secret"},
		"a launch template where all may be passed": {group, launched(map[string]any{"LaunchTemplateName": "admin"}), "/", ""},
		"a launch template of an AWSResource": {group, launched(map[string]any{"LaunchTemplateId": passedTemplate("lt-0123abcd")}),
			"/team/", ""},
		"the name of a launch template itself": {launch, map[string]any{"LaunchTemplateName": "mine"}, "/team/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := kind.Scope{Place: kind.Place{Partition: "aws", Account: "123456789012"}, Guards: kind.RoleGuards{RolePath: c.path}}
			switch err := checkRoles(sc, schemaOf(c.typeName), c.properties); {
			case c.refused == "" && err != nil:
				t.Error(err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("got %v, want %s", err, c.refused)
			}
		})
	}
}

// A role that AWS never shows cannot be judged, unless the object declares another.
func TestAdoption_BringsNoHiddenRoleAlong(t *testing.T) {
	const vocabulary, environment, target = "AWS::Transcribe::Vocabulary", "AWS::ElasticBeanstalk::Environment",
		"AWS::ApplicationAutoScaling::ScalableTarget"
	const role = `"DataAccessRoleArn":"arn:aws:iam::123456789012:role/`
	named := func(more string) string { return `{"LanguageCode":"en-US","VocabularyName":"v"` + more + "}" }
	options := `,"OptionSettings":[{"Namespace":"aws:autoscaling:launchconfiguration","OptionName":"IamInstanceProfile","Value":"admin"}]`
	scaled := `{"MaxCapacity":2,"MinCapacity":1,"ResourceId":"service/shop/web","ScalableDimension":"ecs:service:DesiredCount","ServiceNamespace":"ecs"}`
	for name, c := range map[string]struct{ typeName, have, want, path, refused string }{
		"a role":                          {vocabulary, named("," + role + `admin"`), named(""), "/team/", "AWS never shows DataAccessRoleArn"},
		"a role that the object declares": {vocabulary, named("," + role + `admin"`), named("," + role + `team/a"`), "/team/", ""},
		"a role where all may be passed":  {vocabulary, named("," + role + `admin"`), named(""), "/", ""},
		"an option": {environment, `{"ApplicationName":"shop","EnvironmentName":"shop-web"` + options + "}",
			`{"ApplicationName":"shop","EnvironmentName":"shop-web"}`, "/team/", "AWS never shows OptionSettings"},
		"a role that the service has": {target, scaled, scaled, "/team/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			types, _ := bundledTypes(t)
			b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(c.typeName, c.want)), types)
			existing(t, b.Rig, c.typeName, c.have)
			spec := &b.resource().Spec
			spec.ImportID, spec.AdoptionPolicy, spec.DeletionPolicy = b.double.Identifiers(c.typeName)[0], v1alpha1.AdoptAlways,
				v1alpha1.DeletionRetain
			b.AllowAdoption, b.RolePath = true, c.path
			if c.refused == "" {
				kindtest.Settled(t, b.Subject)
				return
			}
			if text := b.stalls(status.ReasonNotPermitted); !strings.Contains(text, c.refused) {
				t.Error(text)
			}
			if b.updates() > 0 {
				t.Error("the resource has an owner")
			}
		})
	}
}
