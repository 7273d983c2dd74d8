// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var (
	// roleARN finds the ARNs of roles, and of instance profiles, which give a role to an instance, also within documents.
	roleARN = regexp.MustCompile(`arn:[a-z-]+:iam::[0-9]*:(role|instance-profile)/[A-Za-z0-9+=,.@_/-]+`)
	// roleName matches the names of properties that name roles.
	roleName = regexp.MustCompile(`Role(s|Arns?|ARNs?|Names?)?$`)
	// otherRoles are such names of roles that are none of IAM.
	otherRoles = []string{"ApproverRoles", "AudioDashRoles", "CaptionDashRoles"}
	// profileName matches the names of properties that name an instance profile, or contain its name or its ARN.
	profileName = regexp.MustCompile(`InstanceProfile(Arn|ARN|Name)?$`)
	// templateName ends the paths of properties that name a launch template of EC2, which has an instance profile.
	templateName = regexp.MustCompile(`LaunchTemplate(Specification)?/(Id|Name)$|LaunchTemplate(Id|Name|Arn)$`)
	// roleOption and profileOption match the names of options of Elastic Beanstalk that name a role or an instance profile.
	roleOption, profileOption = regexp.MustCompile(`(?i)role`), regexp.MustCompile(`(?i)instanceprofile`)
	// escaped finds the characters that JSON within a text may write in another way, however deep it is.
	escaped = regexp.MustCompile(`\\+(/|u[0-9A-Fa-f]{4})`)
)

// variables begin the names of the namespaces that have options with names of the user's choice.
const variables = "aws:elasticbeanstalk:application:environment"

// acting is a role, an instance profile, or a launch template with one, as which a resource acts.
type acting struct {
	at                    []string
	name                  string
	isProfile, isTemplate bool
	// isHidden is set where a Secret has the name.
	isHidden bool
}

// actingAs returns the roles in a value: their ARNs wherever they are, and the values of properties and options that are named after a
// role or an instance profile, or that name a launch template. A passedRole, a passedProfile and a passedTemplate are none of them; a
// profile with the name of a role may have another one.
func actingAs(schema *awsschema.Type, at []string, value any) []acting {
	var out []acting
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below := append(slices.Clone(at), name)
			out = append(out, arnsIn(below, name)...)
			out = append(out, actingAs(schema, below, value[name])...)
		}
		out = append(out, actingByOption(at, value)...)
	case []any:
		for _, element := range value {
			out = append(out, actingAs(schema, append(slices.Clone(at), awsschema.Every), element)...)
		}
	case *kind.WriteOnly:
		if namesActing(schema, at) {
			out = append(out, acting{at: at, isHidden: true})
		}
	case passedRole:
		if namesProfile(schema, at) {
			out = append(out, acting{at: at, name: string(value), isProfile: true})
		}
	case string:
		out = rolesIn(schema, at, value)
	}
	return out
}

// namesActing reports whether a property has the name of a role, an instance profile or a launch template.
func namesActing(schema *awsschema.Type, at []string) bool {
	return namesRole(schema, at) || namesProfile(schema, at) || namesTemplate(schema, at)
}

// rolesIn returns the roles that a text names.
func rolesIn(schema *awsschema.Type, at []string, text string) []acting {
	out := arnsIn(at, text)
	if isProfile := namesProfile(schema, at); len(out) == 0 && text != "" && (isProfile || namesRole(schema, at)) {
		out = append(out, acting{at: at, name: text, isProfile: isProfile})
	}
	if text != "" && namesTemplate(schema, at) {
		out = append(out, acting{at: at, name: text, isTemplate: true})
	}
	return out
}

// arnsIn returns the roles and instance profiles that have their ARNs in a text, also within JSON.
func arnsIn(at []string, text string) []acting {
	var out []acting
	for _, arn := range roleARN.FindAllString(unescaped(text), -1) {
		out = append(out, acting{at: at, name: arn, isProfile: strings.Contains(arn, ":instance-profile/")})
	}
	return out
}

// unescaped returns a text with the characters that JSON within it, and JSON within that, may write in another way. Each round makes the
// text shorter.
func unescaped(text string) string {
	for {
		before := len(text)
		if text = unescapedOnce(text); len(text) == before {
			return text
		}
	}
}

func unescapedOnce(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(written string) string {
		written = strings.TrimLeft(written, `\`)
		if written == "/" {
			return written
		}
		code, _ := strconv.ParseUint(written[1:], 16, 16) // four digits
		return string(rune(code))
	})
}

// actingByOption returns the role, or the instance profile, that an option of Elastic Beanstalk names: {Namespace, OptionName, Value}. An
// ARN in the value is judged as every other one. https://docs.aws.amazon.com/elasticbeanstalk/latest/dg/command-options-general.html
func actingByOption(at []string, option map[string]any) []acting {
	names, isProfile := optionOf(option)
	a := acting{at: append(slices.Clone(at), "Value"), isProfile: isProfile}
	switch value := option["Value"].(type) {
	case *kind.WriteOnly:
		a.isHidden = true
	case passedRole:
		a.name = string(value)
		names = names && isProfile
	case string:
		a.name = value
		names = names && value != "" && len(arnsIn(at, value)) == 0
	default:
		return nil
	}
	if !names {
		return nil
	}
	return []acting{a}
}

// optionOf reports whether the value of an option names a role or an instance profile. A name in a Secret may be any option.
func optionOf(option map[string]any) (names, isProfile bool) {
	name, _ := option["OptionName"].(string)
	namespace, _ := option["Namespace"].(string)
	if strings.HasPrefix(namespace, variables) {
		return false, false
	}
	isProfile = isHidden(option["OptionName"]) || isHidden(option["Namespace"]) || profileOption.MatchString(name)
	return isProfile || roleOption.MatchString(name), isProfile
}

// namesRole reports whether a property is named after a role and may have any value.
func namesRole(schema *awsschema.Type, at []string) bool {
	last := awsschema.LastName(at)
	return roleName.MatchString(last) && !slices.Contains(otherRoles, last) && !schema.At(at...).IsChoice()
}

// namesProfile reports whether a property is named after an instance profile of IAM: DMS has others. One that identifies the resource names
// no other.
func namesProfile(schema *awsschema.Type, at []string) bool {
	if strings.HasPrefix(schema.Name, "AWS::DMS::") || schema.Identity.Contains(at...) {
		return false
	}
	last := awsschema.LastName(at)
	within := len(at) > 1 && profileName.MatchString(at[len(at)-2]) && slices.Contains([]string{"Arn", "Name"}, last)
	return within || profileName.MatchString(last)
}

// namesTemplate reports whether a property names a launch template. A fleet may have the instances of one run another image.
func namesTemplate(schema *awsschema.Type, at []string) bool {
	return schema.Name != kind.LaunchTemplate && templateName.MatchString(strings.Join(at, "/"))
}

// whyNot says why the resource must not act so; empty where it may. Nothing but AWS shows the role of an instance profile, or of a launch
// template, so that one is allowed only where every role of the account is.
func (a acting) whyNot(sc kind.Scope) string {
	switch {
	case sc.Deleting || sc.Observing:
		return ""
	case a.isHidden:
		return "names a role, which cannot be in a Secret: refer to an IAMRole, or declare the role"
	case (a.isProfile || a.isTemplate) && sc.Guards.Boundary == "" && sc.Guards.RolePath == "/":
		return ""
	case a.isTemplate:
		return fmt.Sprintf("names launch template %s, which may have an instance profile, whose role is not known and must be one that the provider lets be given to AWS services: refer to status.id of an AWSResource of type %s", a.name, kind.LaunchTemplate)
	case a.isProfile:
		return fmt.Sprintf("names instance profile %s, whose role is not known and must be one that the provider lets be given to AWS services: refer to status.instanceProfileArn or status.instanceProfileName of an IAMRole, or use the kind EC2Instance, which looks at the role", a.name)
	default:
		if why := kind.WhyNotPassed(sc, a.name); why != "" {
			return fmt.Sprintf("names role %s: %s", a.name, why)
		}
		return ""
	}
}

// checkRoles refuses properties with a role that the provider does not let be given to AWS services: everyone who may write objects would
// act with its rights.
func checkRoles(sc kind.Scope, schema *awsschema.Type, properties map[string]any) error {
	for _, a := range actingAs(schema, nil, properties) {
		if why := a.whyNot(sc); why != "" {
			return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.properties." + awsschema.Text(a.at), Message: why}
		}
	}
	return nil
}

// WhyNotAdopted implements kind.Adopter: an adoption would give the rights of the roles as which a resource acts to the namespace of the
// object. A role that the object declares was judged before, and one of a service has the rights that AWS gives it.
func (*resource) WhyNotAdopted(_ context.Context, sc kind.Scope, want, have State) (string, error) {
	declared := want.roles()
	for _, a := range have.roles() {
		isDeclared := slices.ContainsFunc(declared, func(d acting) bool { return d.name == a.name })
		if isDeclared || strings.Contains(a.name, ":role/aws-service-role/") {
			continue
		}
		if why := a.whyNot(sc); why != "" {
			return fmt.Sprintf("%s of the resource %s; an adoption would give the rights of that role to this namespace: have an administrator change it in AWS first",
				awsschema.Text(a.at), why), nil
		}
	}
	return want.whyUnseen(sc), nil
}

// shownElsewhere are properties that AWS never shows and that give no rights: the role is that which the service has for itself.
var shownElsewhere = []string{"AWS::ApplicationAutoScaling::ScalableTarget RoleARN"}

// whyUnseen returns why a resource must not be adopted if AWS never shows its role and the object does not declare it; empty when it may.
func (s State) whyUnseen(sc kind.Scope) string {
	if sc.Deleting || sc.Observing || sc.Guards.Boundary == "" && sc.Guards.RolePath == "/" {
		return ""
	}
	for _, at := range s.schema.NeverShown() {
		mayName := namesActing(s.schema, at) || awsschema.LastName(at) == "OptionName"
		if mayName && !slices.Contains(shownElsewhere, s.TypeName+" "+awsschema.Text(at)) && !s.declares(at) {
			return fmt.Sprintf("AWS never shows %s of the resource, which may name a role, and an adoption would give the rights of that role to this namespace: declare it, or observe the resource",
				awsschema.Text(at))
		}
	}
	return ""
}

// declares reports whether the properties have a value at a path, which replaces that of AWS. Elements of lists may be others in AWS.
func (s State) declares(at []string) bool {
	if s.Properties == nil {
		return false
	}
	var value any = s.Properties.Value
	for _, name := range at {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value != nil
}

// roles returns the roles as which a resource acts, or will.
func (s State) roles() []acting {
	if s.Properties == nil {
		return nil
	}
	return actingAs(s.schema, nil, s.Properties.Value)
}
