// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
)

// assignedSecrets are the properties assigned by AWS that the rule on names does not fit: true is a secret.
var assignedSecrets = map[string]bool{
	"AWS::IVS::StreamKey Value":                                   true,
	"AWS::IoTManagedIntegrations::ManagedThing DeviceSpecificKey": true,
	"AWS::Route53GlobalResolver::AccessToken Value":               true,
	"AWS::WorkSpaces::Directory RegistrationCode":                 true,

	// public in DNS records
	"AWS::SES::EmailIdentity DkimDNSTokenName1":  false,
	"AWS::SES::EmailIdentity DkimDNSTokenName2":  false,
	"AWS::SES::EmailIdentity DkimDNSTokenName3":  false,
	"AWS::SES::EmailIdentity DkimDNSTokenValue1": false,
	"AWS::SES::EmailIdentity DkimDNSTokenValue2": false,
	"AWS::SES::EmailIdentity DkimDNSTokenValue3": false,
}

// isAssignedSecret reports whether the value that AWS assigned to a member is only for people with rights to the resource in AWS.
func isAssignedSecret(typeName string, at []string) bool {
	if secret, decided := assignedSecrets[typeName+" "+at[0]]; decided {
		return secret
	}
	return awsschema.IsNamedAsSecret(at...)
}

// assigned returns the properties that AWS assigned, without secrets: the status shows them to everybody who may read the object, and
// other objects can refer to them.
func (s State) assigned(properties map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range properties {
		if !s.schema.At(name).Rule().ReadOnly {
			continue
		}
		if public, ok := withoutAssignedSecrets(s.schema.Name, []string{name}, value); ok {
			out[name] = public
		}
	}
	return out
}

// withoutAssignedSecrets returns a value without the members that are secret, and whether anything of it is not.
func withoutAssignedSecrets(typeName string, at []string, value any) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			if public, ok := withoutAssignedSecrets(typeName, append(slices.Clone(at), name), member); ok {
				out[name] = public
			}
		}
		return out, len(out) > 0 || len(value) == 0
	case []any:
		out := []any{}
		for _, element := range value {
			if public, ok := withoutAssignedSecrets(typeName, append(slices.Clone(at), awsschema.Every), element); ok {
				out = append(out, public)
			}
		}
		return out, len(out) > 0 || len(value) == 0
	default:
		return value, !isAssignedSecret(typeName, at)
	}
}
